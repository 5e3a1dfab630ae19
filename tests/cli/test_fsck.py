"""``schedcore fsck`` from the command line: what it prints, when it exits with 1, and where its bar goes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def ran(schedcore: Cli) -> Cli:
    """A ledger in which something has run."""
    schedcore("add", "hello", "@daily", "--", "/bin/true")
    schedcore("run", "hello")
    schedcore("tick")
    return schedcore


def corrupt(home: Path, statement: str) -> None:
    with sqlite3.connect(home / ".local/state/schedcore/ledger.db") as connection:
        connection.execute(statement)
    connection.close()


def test_nothing_wrong_is_exit_0_and_says_what_was_checked(ran: Cli) -> None:
    told = ran("fsck")

    assert told.code == 0, told.out
    assert told.lines[-1] == "what was checked is true"
    assert any(line.split()[:1] == ["I7"] and line.split()[1] == "1" for line in told.lines)
    assert "not checked: I12: not in this ledger: it keeps no deliveries" in told.lines
    assert ran("fsck", "--quiet").out == ""


def test_a_finding_is_exit_1_and_names_rule_job_and_slot(ran: Cli, home: Path) -> None:
    corrupt(home, "update runs set fence=7")

    told = ran("fsck")

    assert told.code == 1
    assert told.lines[0].startswith("I9   hello 20")
    assert "run 1: its last attempt has the fence 1, and it ended under 7" in told.lines[0]
    assert told.lines[1].startswith("  I9: see `schedcore runs show RUN`")
    assert told.lines[-1] == "1 finding"


def test_as_json_the_report_is_one_object(ran: Cli, home: Path) -> None:
    corrupt(home, "update jobs set definition=2")

    told = ran("fsck", "--json")

    (finding,) = [one for one in told.json["findings"] if one["rule"] == "I20"]
    assert told.code == 1
    assert set(told.json) == {"v", "ledger", "ok", "since", "clock", "found", "findings", "rules"}
    assert (told.json["v"], told.json["ok"], told.json["since"]) == (1, False, None)
    assert set(finding) == {"rule", "job", "slot", "run", "what", "remedy"}
    assert finding["job"] == "hello"
    assert [rule["rule"] for rule in told.json["rules"]][:3] == ["I1", "I2", "I3"]
    assert set(told.json["rules"][0]) == {"rule", "says", "checked", "of", "findings", "not_checked"}


def test_more_findings_than_are_shown_are_counted(ran: Cli, home: Path) -> None:
    corrupt(
        home,
        "with recursive n(i) as (select 1 union all select i+1 from n where i<150)"
        " insert into holds(reason,actor,since,until) select 'whim','me',1,1 from n",
    )

    told, said = ran("fsck", "--json").json, ran("fsck").lines

    assert (told["found"], len(told["findings"])) == (150, 100)
    assert said[-1] == "150 findings; 50 of them are counted only"


@pytest.mark.parametrize("since", ["24h", "2020-01-01", "2020-01-01T00:00Z"])
def test_since_is_an_instant_or_so_long_ago(ran: Cli, since: str) -> None:
    told = ran("fsck", "--since", since, "--json")

    assert told.code == 0
    assert told.json["since"] is not None
    assert next(rule["checked"] for rule in told.json["rules"] if rule["rule"] == "I7") == 1


def test_a_since_that_cannot_be_read_is_exit_2(schedcore: Cli) -> None:
    told = schedcore("fsck", "--since", "yesterday")

    assert told.code == 2
    assert "since" in told.err


def test_without_a_ledger_it_is_exit_5_and_makes_none(cli: Cli, home: Path) -> None:
    told = cli("fsck", "--json")

    assert told.code == 5
    assert json.loads(told.err)["error"]["code"] == "no_ledger"
    assert not (home / ".local/state/schedcore/ledger.db").exists()


def test_policies_that_a_host_sets_hold_where_jobs_say_nothing(ran: Cli, home: Path) -> None:
    corrupt(home, "update attempts set number=2,fence=2")
    corrupt(home, "update runs set attempts=2,fence=2")
    corrupt(
        home,
        "insert into attempts(run_id,number,fence,host_id,claimed_at,finished_at,outcome,reason) select run_id,1,1,"
        "host_id,claimed_at,claimed_at,'interrupted','lease_lost' from attempts",
    )
    assert {one["rule"] for one in ran("fsck", "--json").json["findings"]} == {"I10"}

    settings = home / "with.toml"
    settings.write_text('[policies]\non_lost = "retry"\n')

    assert ran("fsck", "--config", str(settings)).code == 0
