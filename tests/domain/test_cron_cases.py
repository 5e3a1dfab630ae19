"""Every line of the corpus: what fires, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.domain import oracle
from tests.domain.moments import firings, utc

from schedcore.domain.cron import parse_cron
from schedcore.domain.errors import Refused

CASES = [json.loads(line) for line in (Path(__file__).parent / "cron_cases.jsonl").read_text().splitlines()]
FIRING = [case for case in CASES if "error" not in case]
REFUSED = [case for case in CASES if "error" in case]


def ids(case: dict[str, str]) -> str:
    return case["id"]


def test_the_corpus_is_whole():
    assert (len(FIRING), len(REFUSED)) == (141, 52)


@pytest.mark.parametrize("case", FIRING, ids=ids)
def test_a_case_fires_as_written(case: dict[str, str]):
    cron = parse_cron(case["expr"], case["tz"])

    assert firings(cron, utc(case["after"]), 5) == [utc(one) for one in case["next"]], case["why"]


@pytest.mark.parametrize("case", FIRING, ids=ids)
def test_a_case_counts_what_it_fires(case: dict[str, str]):
    cron = parse_cron(case["expr"], case["tz"])
    after, slots = utc(case["after"]), [utc(one) for one in case["next"]]

    assert cron.count_between(after, slots[-1]) == 5
    assert cron.count_between(slots[0], slots[-1] - 1) == 3
    assert cron.newest(after, slots[-1], 3) == slots[-3:]
    assert cron.newest(after, slots[-1], 9) == slots


@pytest.mark.parametrize("case", REFUSED, ids=ids)
def test_a_case_is_refused_and_says_what_to_write(case: dict[str, str]):
    with pytest.raises(Refused) as refused:
        parse_cron(case["expr"], case["tz"])

    assert refused.value.code in {"bad_cron", "never_fires", "unknown_zone"}
    assert refused.value.message
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("case", [c for c in FIRING if "2011" not in c["after"]], ids=ids)
def test_the_oracle_agrees_with_a_case(case: dict[str, str]):
    after, slots = utc(case["after"]) // 60_000_000, [utc(one) // 60_000_000 for one in case["next"]]
    expression = oracle.Expression(case["expr"])
    end = min(slots[-1], after + 4 * oracle.DAY)
    window = oracle.Window(case["tz"], after - 3 * oracle.DAY, end - after + 4 * oracle.DAY)

    found = [utc for utc in window.firings(expression) if after < utc <= end]

    assert found == [slot for slot in slots if slot <= end]
