"""The documents: examples run, links resolve, no path is named that is not there, tables are those of the code."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.house.error_codes import raised
from tests.house.pages import PAGES, blocks, named_blocks, rows, text_of
from tests.house.repository import PROJECTS, ROOT, declared

from schedcore._cli.main import main
from schedcore._cli.table import SECTIONS
from schedcore._ledger.migrations.views import _VIEWS
from schedcore._ledger.schema import metadata
from schedcore.domain import errors, run
from schedcore.domain.cron import parse_cron
from schedcore.domain.names import JOB_STATES
from schedcore.domain.outcome import OUTCOMES

EXAMPLES = named_blocks("README.md")
DECISIONS = sorted(path.name for path in (ROOT / "docs/decisions").glob("[0-9]*.md"))
SOURCES = [path for project in PROJECTS for path in sorted((project / "src").rglob("*.py"))]
EXITS = {name: cls.exit_code for name in errors.__all__ if hasattr(cls := getattr(errors, name), "exit_code")}
EXITS |= {"CommitUnknown": 5, "DiskFull": 5, "EmptyKey": 2, "SecretRefused": 2}
HOUR_US = 3_600_000_000


# -- README ---------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every named example of the README, as somebody would have copied them."""
    for name, (body, _) in EXAMPLES.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", [name for name, (_, printed) in EXAMPLES.items() if printed is not None])
def test_an_example_of_the_readme_prints_what_it_says(name: str, folder: Path):
    env = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    done = subprocess.run(
        [sys.executable, name], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
    )

    assert done.stdout == EXAMPLES[name][1], done.stderr


def test_the_readme_has_an_example_of_a_host_and_one_of_a_plugin():
    assert list(EXAMPLES) == ["embed.py", "greeting.py", "try_greeting.py"]


def test_the_command_line_at_a_glance_has_every_command():
    (glance,) = [text for text in blocks("README.md", "text") if text.startswith("jobs ")]
    told = []
    for line in glance.splitlines():
        group = None
        for word in line.split()[1:]:
            if "|" in word or (group and word in {f"{group} {one}" for one in told}):
                told += [f"{group} {one}" for one in word.split("|")]
                group = None
            else:
                told += [group] if group else []
                group = word
        told += [group] if group else []

    wanted = [path for section in SECTIONS.values() for path in section]
    assert sorted(told) == sorted(_glanced(wanted))


def _glanced(paths: list[str]) -> list[str]:
    """Groups of one command are written ``events tail``, without a bar: two words of their own."""
    heads = [path.split()[0] for path in paths]
    return [
        word for path in paths for word in (path.split() if heads.count(path.split()[0]) == 1 else [path])
    ]


# -- what is named is there -----------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str):
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (ROOT / page).parent / path if path else ROOT / page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)

    assert broken == []


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_is_there(page: str):
    """A word in code that looks like a path of ours: with a folder of ours in front, or a file of a room."""
    roots = [ROOT, ROOT / "src/schedcore", ROOT / "src", (ROOT / page).parent]
    named = set(re.findall(r"`((?:\w[\w.-]*/)+[\w.-]*)`", text_of(page)))
    missing = [
        path
        for path in sorted(named)
        if path.split("/")[0] in known_folders() and not any((root / path).exists() for root in roots)
    ]

    assert missing == []


def known_folders() -> set[str]:
    tops = [path.name for path in ROOT.iterdir() if path.is_dir()]
    rooms = [path.name for path in (ROOT / "src/schedcore").iterdir() if path.is_dir()]
    return {*tops, *rooms} - {"dist", "build"}


@pytest.mark.parametrize("page", PAGES)
def test_every_name_that_a_page_gives_beside_its_file_is_in_it(page: str):
    """``_engine/beat.py`` (``turn``): the second is defined in the first."""
    missing = []
    for path, names in re.findall(r"`([\w/]+\.py)` \((`\w+`(?:, `\w+`)*)\)", text_of(page)):
        written = (ROOT / "src/schedcore" / path).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names):
            if not re.search(rf"^\s*(?:def|class) {name}\b|^{name}\b", written, re.MULTILINE):
                missing.append(f"{path}: {name}")

    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_is_there(page: str):
    files = [path for folder in ("tests", "plugins") for path in (ROOT / folder).rglob("test_*.py")]
    written = "\n".join(path.read_text(encoding="utf-8") for path in files)
    named = set(re.findall(r"`(test_\w+)`", text_of(page)))

    assert [name for name in sorted(named) if f"def {name}(" not in written] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_place_of_one_machine(page: str):
    text = text_of(page)

    assert [word for word in ("/root/", "/home/", "/tmp/") if word in text] == []


def test_the_architecture_has_every_table_and_every_reading_view():
    told = [name for row in rows("ARCHITECTURE.md", "table") for name in re.findall(r"`(\w+)`", row[0])]
    views = set(re.findall(r"`(v_\w+)`", text_of("ARCHITECTURE.md")))

    assert sorted(told) == sorted(table.name for table in metadata.sorted_tables)
    assert views == set(_VIEWS)


# -- decisions ------------------------------------------------------------------------------------------


def test_decisions_are_numbered_without_a_gap_and_listed():
    index = text_of("docs/decisions/README.md")

    assert [int(name[:4]) for name in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    assert [name for name in DECISIONS if f"]({name})" not in index] == []


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_has_its_four_parts_and_its_number(name: str):
    text = text_of(f"docs/decisions/{name}")
    parts = re.findall(r"^\*\*(.+)\.\*\*$", text, re.MULTILINE)

    assert text.startswith(f"# {name[:4]}. ")
    assert parts == ["Context", "Decision", "Consequences", "How a breach would be noticed"]


def test_every_decision_that_the_sources_refer_to_is_there():
    numbers = {
        number
        for path in SOURCES
        for number in re.findall(r"docs/decisions/(\d{4})", path.read_text(encoding="utf-8"))
    }

    assert numbers - {name[:4] for name in DECISIONS} == set()


# -- errors ---------------------------------------------------------------------------------------------

ERRORS = {row[0].strip("`"): row[1] for row in rows("docs/errors.md", "code")}


def test_every_error_that_is_raised_has_a_row_and_no_other_has():
    assert sorted(ERRORS) == sorted(raised())


@pytest.mark.parametrize("code", sorted(raised()))
def test_a_row_tells_the_exit_code(code: str):
    told = {int(number) for number in ERRORS[code].split(" or ")}
    wanted = {EXITS[made] for made in raised()[code] if made in EXITS}

    assert told >= wanted
    assert wanted == told or "the command line" in raised()[code]


def test_errors_are_listed_once():
    codes = [row[0] for row in rows("docs/errors.md", "code")]

    assert len(codes) == len(set(codes))


# -- words ----------------------------------------------------------------------------------------------


def first(title: str) -> list[str]:
    return [row[0].strip("`") for row in rows("docs/glossary.md", title)]


def test_the_glossary_has_every_state_and_trigger():
    assert first("job state") == list(JOB_STATES.own)
    assert first("run state") == [state.word for state in run.RunState]
    assert first("run trigger") == [trigger.word for trigger in run.RunTrigger]
    assert set(OUTCOMES) <= set(re.findall(r"`(\w+)`", text_of("docs/glossary.md")))


def test_the_glossary_has_every_reason():
    told = [(row[0].strip("`"), row[1]) for row in rows("docs/glossary.md", "reason")]
    lists = {
        "skipped": run.SKIP_REASONS,
        "hold": run.HOLD_REASONS,
        "failed": run.FAILED_REASONS,
        "blocked": run.BLOCKED_REASONS,
        "interrupted": run.INTERRUPTED_REASONS,
        "cancelled": run.CANCELLED_REASONS,
    }

    assert told == [(reason, kind) for kind, reasons in lists.items() for reason in reasons]


# -- cron -----------------------------------------------------------------------------------------------


def test_the_example_of_the_cron_page_says_what_the_command_says():
    (example,) = blocks("docs/cron.md", "console")
    command, _, printed = example.partition("\n")

    result = CliRunner().invoke(main, shlex.split(command.removeprefix("$ schedcore ")))

    assert result.output == printed


@pytest.mark.parametrize(
    ("expression", "night", "firings"),
    [
        ("*/15 2 * * *", "skipped", 0),
        ("*/15 2 * * *", "repeated", 8),
        ("15,30 2 * * *", "skipped", 1),
        ("15,30 2 * * *", "repeated", 2),
        ("0 0-23 * * *", "repeated", 24),
        ("0 * * * *", "repeated", 25),
    ],
)
def test_the_surprises_of_the_cron_page_are_so(expression: str, night: str, firings: int):
    day = {"skipped": (1_774_738_800_000_000, 23), "repeated": (1_792_879_200_000_000, 25)}
    begin, hours = day[night]

    fires = parse_cron(expression, "Europe/Paris").count_between(begin - 1, begin + hours * HOUR_US - 1)

    assert fires == firings


# -- service --------------------------------------------------------------------------------------------


def test_the_unit_file_calls_a_command_that_there_is():
    unit = configparser.ConfigParser(strict=False)
    unit.optionxform = str
    unit.read(ROOT / "examples/systemd/schedcore.service", encoding="utf-8")
    service = unit["Service"]

    assert service["ExecStart"].split()[1:] == ["serve"]
    assert service["Type"] == "notify"
    assert service["KillMode"] == "mixed"
    assert int(service["TimeoutStopSec"]) > 30 + 10 + 2


# -- one version, one name ------------------------------------------------------------------------------


def test_the_readme_names_the_distribution_and_the_one_that_is_not_ours():
    text = text_of("README.md")

    assert f"`{declared(ROOT)['name']}`" in text
    assert "somebody else's project" in text


def test_one_sentence_stands_on_one_line():
    """A line of prose that ends in the middle of a sentence would be joined with the next in a diff."""
    wrong = []
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
        for line in prose.splitlines():
            begins = re.match(r"[A-Za-z`*\[]", line.strip()) and not line.startswith(("#", "|"))
            if begins and line.rstrip()[-1] not in ".:;,!?)*" and not line.strip().startswith("- "):
                wrong.append(f"{page}: {line}")

    assert wrong == []
