"""Arguments reach the program as they were written (T1, T2)."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

PROBE = "import json, sys; json.dump(sys.argv[1:], sys.stdout)"
NASTY = [
    *";&|<>()$`\\\"' *?[]#~=%!{}^\t\n\r\x0b\x0c\x1b\x7f",
    *(
        "$(id)",
        "`id`",
        "${IFS}",
        "a;rm -rf b",
        "a && b",
        "a\nb",
        "a\r\nb",
        "",
        " ",
        "--",
        "-",
        "-oProxyCommand=x",
        "--help",
    ),
    *(
        "@file",
        "é",
        "日本語",
        "\u202e",
        "\u2028",
        "\uff1b",
        "\u037e",
        "😀",
        "\x01",
        "\x80",
        "%s",
        "{{.Names}}",
        "\\0",
        "a" * 100_000,
    ),
]


def test_every_character_reaches_the_program_in_args(bench):
    _, ctx = bench.run(
        args=[sys.executable, "-I", "-S", "-X", "utf8", "-c", PROBE, *[n for n in NASTY if len(n) < 9_999]]
    )

    assert json.loads(ctx.output.out) == [n for n in NASTY if len(n) < 9_999]


def test_a_long_argument_reaches_the_program_whole(bench):
    text = "import sys; print(len(sys.argv[1]), len(sys.argv[2]))"

    _, ctx = bench.run(args=[sys.executable, "-I", "-S", "-c", text, "a" * 131_000, "b" * 131_000])

    assert ctx.output.out == b"131000 131000\n"


def test_every_character_reaches_the_program_through_a_quoted_command(bench):
    words = [n for n in NASTY if len(n) < 100]
    command = shlex.join([sys.executable, "-I", "-S", "-X", "utf8", "-c", PROBE, *words])

    _, ctx = bench.run(command=command)

    assert json.loads(ctx.output.out) == words


def test_without_shell_a_command_is_a_program_and_its_arguments(bench, tmp_path):
    (tmp_path / "b").touch()

    _, ctx = bench.run(command="echo a; rm b", cwd=str(tmp_path))

    assert ctx.output.out == b"a; rm b\n"
    assert (tmp_path / "b").exists()


def test_a_placeholder_in_a_command_is_replaced_after_the_split(bench):
    _, ctx = bench.run(command="printf '%s' 'a {{run_key}}' b")

    assert ctx.output.out == b"a j1|2030-01-01T00:00:00.000Zb"


def test_with_shell_the_text_is_given_whole(bench):
    _, ctx = bench.sh('echo a; echo "$SCHEDCORE_JOB" | tr a-z A-Z')

    assert ctx.output.out == b"a\nBACKUP\n"


@pytest.mark.parametrize("cwd", ["/usr", "/"])
def test_the_program_starts_where_it_is_told(bench, cwd):
    _, ctx = bench.run(args=["pwd"], cwd=cwd)

    assert ctx.output.out.decode() == f"{cwd}\n"


def test_without_cwd_the_program_starts_in_the_runs_own_folder(bench):
    _, ctx = bench.run(args=["pwd"])

    assert ctx.output.out.decode() == f"{ctx.folder}\n"
