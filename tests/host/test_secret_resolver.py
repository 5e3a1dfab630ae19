"""Secrets by name: from a variable, a file or a credential of the service, read when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schedcore._host.secret_resolver import SettingsSecrets
from schedcore._host.settings import load
from schedcore.spec import SecretRefused

Resolver = Callable[..., str | None]


@pytest.fixture
def resolve(tmp_path: Path) -> Resolver:
    """Resolves a name under a ``[secrets]`` table, with variables."""

    def resolve(name: str, table: str = "", **env: str) -> str | None:
        config = tmp_path / "schedcore.toml"
        config.write_text(f"[secrets]\n{table}\n")
        return SettingsSecrets(load(config, {"HOME": "/"}), env).resolve(name)

    return resolve


def test_a_variable_is_read_at_the_time_it_is_needed():
    env = {"X": "first"}
    secrets = SettingsSecrets(load(None, {"HOME": "/"}, {"secrets": {"A": {"env": "X"}}}), env)
    env["X"] = "second"

    assert secrets.resolve("A") == "second"


def test_a_file_is_relative_to_the_settings_and_loses_its_last_line_end(resolve: Resolver, tmp_path: Path):
    (tmp_path / "token").write_text("a b \n\n")

    assert resolve("A", 'A = {file = "token"}') == "a b \n"


def test_a_credential_is_in_the_folder_that_systemd_gives_and_nowhere_else(resolve: Resolver, tmp_path: Path):
    folder = tmp_path / "credentials"
    folder.mkdir()
    (folder / "token").write_text("abc\r\n")
    (tmp_path / "passwd").write_text("no")

    assert resolve("A", 'A = {credential = "token"}', CREDENTIALS_DIRECTORY=str(folder)) == "abc"
    with pytest.raises(SecretRefused):
        resolve("A", 'A = {credential = "../passwd"}', CREDENTIALS_DIRECTORY=str(folder))


def test_a_name_that_the_settings_do_not_have_may_be_a_variable(resolve: Resolver):
    assert resolve("my-token", SCHEDCORE_SECRET_MY_TOKEN="abc") == "abc"
    assert resolve("OTHER") is None


def test_the_settings_go_before_the_variable(resolve: Resolver):
    assert resolve("A", 'A = {env = "X"}', X="named", SCHEDCORE_SECRET_A="other") == "named"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('A = {env = "NOT_SET"}', "NOT_SET"),
        ('A = {env = "EMPTY"}', "is empty"),
        ('A = {file = "none"}', "none"),
        ('A = {file = "binary"}', "not UTF-8"),
        ('A = {file = "long"}', "longer than"),
        ('A = {credential = "token"}', "CREDENTIALS_DIRECTORY"),
    ],
)
def test_a_secret_that_is_not_where_the_settings_say_is_refused_and_nobody_else_is_asked(
    resolve: Resolver, tmp_path: Path, table: str, says: str
):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_text("x" * 70_000)

    with pytest.raises(SecretRefused, match=says) as caught:
        resolve("A", table, EMPTY="", SCHEDCORE_SECRET_A="other")

    assert caught.value.field == "secrets.A"
