"""What a fault or a foreign hand may do to a ledger: each breaks the rules that it names, and no others."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CORRUPTIONS", "Corruption"]

_MINUTE = 60_000_000
_COPIED = "job_id,definition,lane,trigger,start_at,opened_at"
_ROW = "insert into {s}skipped(job_id,definition,first_slot,last_slot,slots,reason,decided_at) "
_NEW_RUN = (
    f"insert into {{s}}runs({_COPIED},scheduled_for,"
    "state,attempts,fence,host_id,lease_end,finished_at,reason) "
)
_MANUAL = _NEW_RUN.replace("trigger,", "").replace("job_id,", "trigger,job_id,") + (
    "select 1,job_id,definition,lane,start_at,"
)


class Corruption(NamedTuple):
    """``about`` is the job that a finding names, if it names one. ``on`` is the database, where it is one only."""

    name: str
    rules: str
    about: str | None
    statements: tuple[str, ...]
    on: str = "sqlite postgresql"


def _case(
    name: str, rules: str, about: str | None, *statements: str, on: str = "sqlite postgresql"
) -> Corruption:
    return Corruption(name, rules, about, statements, on)


CORRUPTIONS = (
    # -- I1: a slot is decided once
    _case(
        "a slot that ran is counted as skipped, too",
        "I1",
        "quarter",
        _ROW
        + "select job_id,definition,scheduled_for,scheduled_for,1,'overlap',opened_at from {s}runs where id={run}",
    ),
    _case(
        "two runs stand for one slot",
        "I1",
        "quarter",
        "alter table {s}runs drop constraint uq_runs_job_id_scheduled_for",
        _NEW_RUN
        + f"select {_COPIED},scheduled_for,9,0,0,null,null,opened_at,'late' from {{s}}runs where id={{run}}",
        on="postgresql",
    ),
    # -- I2: what is owed is decided, and nothing else
    _case(
        "a run is gone",
        "I2",
        "quarter",
        "delete from {s}attempts where run_id={run}",
        "delete from {s}runs where id={run}",
    ),
    _case("a skipped row is gone", "I2", "quarter", "delete from {s}skipped where id={paused}"),
    _case(
        "a run is for no slot",
        "I2",
        "quarter",
        f"update {{s}}runs set scheduled_for=scheduled_for-{_MINUTE} where id={{run}}",
    ),
    _case(
        "a run carries another definition",
        "I2",
        "quarter",
        "update {s}runs set definition=1 where id={newer}",
    ),
    _case(
        "last_slot has moved back",
        "I2 L1",
        "quarter",
        f"update {{s}}due set last_slot=last_slot-{15 * _MINUTE} where job_id={{job_quarter}}",
    ),
    _case(
        "last_slot has moved ahead of what was decided",
        "I2",
        "quarter",
        f"update {{s}}due set last_slot=last_slot+{15 * _MINUTE},next_run_at=next_run_at+{15 * _MINUTE}"
        " where job_id={job_quarter}",
    ),
    _case(
        "the next slot is passed over",
        "I2",
        "quarter",
        f"update {{s}}due set next_run_at=next_run_at+{15 * _MINUTE} where job_id={{job_quarter}}",
    ),
    _case(
        "an active job is never due",
        "I2",
        "noon",
        "update {s}due set next_run_at=null where job_id={job_noon}",
    ),
    _case(
        "a jitter is another than the hash of job and slot",
        "I2",
        "noon",
        "update {s}due set next_run_at=next_run_at+1000 where job_id={job_noon}",
    ),
    _case(
        "a count has one more left",
        "I2",
        "many",
        "update {s}due set slots_left=slots_left+1 where job_id={job_many}",
    ),
    _case(
        "a job that is done is due again",
        "I2",
        "few",
        f"update {{s}}due set next_run_at=last_slot+{30 * _MINUTE} where job_id={{job_few}}",
    ),
    _case(
        "a skipped row ends at no slot",
        "I2",
        "quarter",
        "update {s}skipped set last_slot=last_slot+1000 where id={row}",
    ),
    _case(
        "a backfill is for no slot",
        "I2",
        "quarter",
        "update {s}runs set scheduled_for=scheduled_for-1000 where job_id={job_quarter} and trigger=2",
    ),
    # -- I3: skipped rows
    _case(
        "a skipped row counts one too many",
        "I3",
        "quarter",
        "update {s}skipped set slots=slots+1 where id={row}",
    ),
    _case(
        "a skipped row counts one too few",
        "I3",
        "quarter",
        "update {s}skipped set slots=slots-1 where id={paused}",
    ),
    _case(
        "two skipped rows overlap",
        "I3",
        "quarter",
        _ROW
        + "select job_id,definition,last_slot,last_slot,1,'overlap',decided_at from {s}skipped where id={row}",
    ),
    # -- I4: coalesced rows
    _case(
        "a coalesced row points to nothing",
        "I4",
        "quarter",
        "update {s}skipped set run_id=null where id={row}",
    ),
    _case(
        "a coalesced row points to another job's run",
        "I4",
        "quarter",
        "update {s}skipped set run_id={other} where id={row}",
    ),
    _case(
        "a coalesced row points to an earlier run",
        "I4",
        "quarter",
        "update {s}skipped set run_id={run} where id={row}",
    ),
    _case(
        "a coalesced row points to a run that is not there",
        "I4 I20",
        "quarter",
        "update {s}skipped set run_id=424242 where id={row}",
    ),
    _case(
        "a coalesced row was written after its run was opened",
        "I4",
        "quarter",
        "update {s}skipped set decided_at=decided_at+1 where id={row}",
    ),
    _case(
        "a coalesced row points to a backfill",
        "I4",
        "quarter",
        "update {s}skipped set run_id=(select max(id) from {s}runs where job_id={job_quarter} and trigger=2)"
        " where id={row}",
    ),
    # -- I5: never early
    _case(
        "a run was opened before its slot",
        "I5",
        "quarter",
        "update {s}runs set opened_at=scheduled_for-1 where id={run}",
    ),
    _case(
        "a skipped row was decided before its slot",
        "I5",
        "quarter",
        "update {s}skipped set decided_at=last_slot-1 where id={paused}",
    ),
    _case(
        "a backfill was opened before its slot",
        "I5 I1",
        "quarter",
        "update {s}runs set opened_at=scheduled_for-1 where job_id={job_quarter} and trigger=2",
    ),
    _case(
        "a run started before it was opened",
        "I5",
        "quarter",
        "update {s}runs set started_at=opened_at-1 where id={run}",
    ),
    _case(
        "a run ended before it started",
        "I5",
        "flaky",
        "update {s}runs set finished_at=finished_at+1,started_at=finished_at+2 where id={tried}",
        "update {s}attempts set finished_at=finished_at+1 where run_id={tried} and number=2",
    ),
    _case(
        "an attempt ended before it started",
        "I5",
        "quarter",
        "update {s}attempts set started_at=finished_at+1 where run_id={run}",
    ),
    # -- I6: fences
    _case(
        "two attempts have one fence",
        "I6",
        "flaky",
        "update {s}attempts set fence=2 where run_id={tried} and number=1",
    ),
    _case(
        "an attempt is ahead of the run's fence",
        "I6 I9",
        "flaky",
        "update {s}runs set fence=1 where id={tried}",
    ),
    # -- I7: numbers of attempts
    _case("an attempt is gone", "I7", "flaky", "delete from {s}attempts where run_id={tried} and number=1"),
    _case(
        "an attempt was never closed",
        "I7",
        "flaky",
        "update {s}attempts set finished_at=null,outcome=null,reason=null where run_id={tried} and number=1",
    ),
    _case(
        "a run is running without an open attempt",
        "I7",
        "slow",
        "update {s}attempts set finished_at=claimed_at,outcome='ok' where run_id={open}",
    ),
    # -- I8: final is final
    _case("a final run has no end", "I8", "quarter", "update {s}runs set finished_at=null where id={run}"),
    _case(
        "a final run still holds a lease", "I8", "quarter", "update {s}runs set lease_end=1 where id={run}"
    ),
    _case(
        "a run has a state that there is not", "I8", "quarter", "update {s}runs set state=42 where id={run}"
    ),
    _case(
        "a run that ended well was claimed again",
        "I8",
        "quarter",
        "update {s}runs set attempts=2,fence=2 where id={run}",
        "insert into {s}attempts select run_id,2,2,host_id,claimed_at,started_at,finished_at,outcome,reason,text,"
        "exit_code,repair from {s}attempts where run_id={run}",
    ),
    _case(
        "a run ended a second time",
        "I8",
        "quarter",
        "update {s}runs set finished_at=finished_at+1 where id={run}",
    ),
    _case(
        "the end of a run was told twice",
        "I8",
        "quarter",
        "insert into {s}outbox(at,topic,job_id,run_id) values (1,'run.final',{job_quarter},{run})",
        "insert into {s}outbox(at,topic,job_id,run_id) values (2,'run.final',{job_quarter},{run})",
    ),
    _case(
        "a run is running without a lease", "I8", "slow", "update {s}runs set lease_end=null where id={open}"
    ),
    # -- I9: the last attempt and its fence
    _case(
        "a run ended otherwise than its last attempt",
        "I9",
        "quarter",
        "update {s}attempts set outcome='findings' where run_id={run}",
    ),
    _case(
        "a run ended under a later fence than its attempt's",
        "I9",
        "quarter",
        "update {s}runs set fence=fence+1 where id={run}",
    ),
    _case("a lost run was taken twice", "I9", "lost", "update {s}runs set fence=fence+2 where id={lost}"),
    # -- I10: lost runs
    _case(
        "a lost run was claimed again although its job says stop",
        "I10",
        "again",
        "update {s}definitions set policies=replace(policies,'\"retry\"','\"stop\"') where job_id={job_again}",
    ),
    _case(
        "a released run was claimed again",
        "I10",
        "again",
        "update {s}attempts set reason='released' where run_id={again} and number=1",
    ),
    # -- I11: overlap
    _case(
        "two runs of a job run at once",
        "I11",
        "slow",
        _MANUAL + "opened_at,scheduled_for+1000,1,1,1,host_id,lease_end,null,null"
        " from {s}runs where id={open}",
        "insert into {s}attempts(run_id,number,fence,host_id,claimed_at) select id,1,1,host_id,opened_at"
        " from {s}runs where job_id={job_slow} and trigger=1",
    ),
    _case(
        "two runs of a job wait although its rule says skip",
        "I11",
        "slow",
        _MANUAL + "opened_at+1,scheduled_for+1000,0,0,0,null,null,null,null from {s}runs where id={open}",
    ),
    # -- I14: reasons
    _case(
        "a skipped row has a reason of nobody",
        "I14",
        "quarter",
        "update {s}skipped set reason='whim' where id={paused}",
    ),
    _case(
        "a failed attempt has no reason",
        "I14",
        "flaky",
        "update {s}attempts set reason=null where run_id={tried} and number=1",
    ),
    _case(
        "an attempt ended in a way that there is not",
        "I14 I8",
        "flaky",
        "update {s}attempts set outcome='lost' where run_id={tried} and number=1",
    ),
    _case("a hold has a reason of nobody", "I14", None, "update {s}holds set reason='whim'"),
    _case(
        "a run is skipped for a reason that runs have not",
        "I14",
        "quarter",
        "update {s}runs set state=9,outcome=null,reason='whim',attempts=0 where id={run}",
        "delete from {s}attempts where run_id={run}",
    ),
    # -- I16: events
    _case(
        "an event is gone",
        "I16",
        "quarter",
        "delete from {s}events where job_id={job_quarter} and action='run'",
    ),
    _case(
        "an event of the ledger itself is gone",
        "I16",
        None,
        "delete from {s}events where job_id=0 and number=1",
    ),
    _case("a job has no events", "I16", "many", "delete from {s}events where job_id={job_many}"),
    # -- I17: states
    _case(
        "a job's state has no order",
        "I17",
        "once",
        "update {s}jobs set state='retired' where id={job_once}",
        "update {s}definitions set state='retired' where job_id={job_once} and number=2",
    ),
    _case(
        "a job and its definition in force differ",
        "I17",
        "quarter",
        "update {s}jobs set state_reason='a whim' where id={job_quarter}",
    ),
    _case(
        "an order that moved a job is gone",
        "I16 I17",
        "quarter",
        "delete from {s}events where job_id={job_quarter} and action='pause'",
    ),
    _case(
        "a run's state is not that of its outcome",
        "I17",
        "quarter",
        "update {s}runs set state=6 where id={run}",
    ),
    # -- I18, I19: texts
    _case(
        "a secret stands in an output",
        "I18",
        "quarter",
        "update {s}runs set stdout_tail='abc CANARY-1 def' where id={run}",
    ),
    _case(
        "a secret stands in an order",
        "I18",
        "quarter",
        "update {s}events set reason='it is CANARY-1' where job_id={job_quarter} and action='run'",
    ),
    _case(
        "a name is too long",
        "I19",
        "quarter",
        "update {s}jobs set name='" + "n" * 201 + "' where id={job_quarter}",
    ),
    _case("a key would break a line", "I19", None, "update {s}jobs set key='a\nb' where id={job_quarter}"),
    _case(
        "a text holds a NUL",
        "I19",
        "quarter",
        "update {s}runs set text='a' || char(0) || 'b' where id={run}",
        on="sqlite",
    ),
    # -- I20: references and the store
    _case("a run is of no job", "I20", None, "update {s}runs set job_id=4242 where id={manual}"),
    _case(
        "an attempt is of no run",
        "I20",
        None,
        "insert into {s}attempts(run_id,number,fence,host_id,claimed_at) values (424242,1,1,1,1)",
    ),
    _case(
        "a run carries a definition that is not there",
        "I20",
        "quarter",
        "update {s}runs set definition=42 where id={manual}",
    ),
    _case(
        "a run is of a host that is not there", "I20", "slow", "update {s}runs set host_id=42 where id={open}"
    ),
    _case("a run stands in no lane", "I20", "quarter", "update {s}runs set lane=42 where id={manual}"),
    _case(
        "a definition overlaps the one before",
        "I20",
        "quarter",
        "update {s}definitions set valid_to=valid_to+1 where job_id={job_quarter} and number=1",
    ),
    _case(
        "a place is held by a run that is over",
        "I20",
        "quarter",
        "insert into {s}places(group_name,run_id) values ('g',{run})",
    ),
    _case("the row of due of a job is gone", "I2 I20", "once", "delete from {s}due where job_id={job_once}"),
    _case(
        "a foreign key was broken",
        "I20",
        None,
        "insert into {s}definitions(job_id,number,valid_from,state,kind,trigger,policies,payload,tz_version,digest)"
        " values (4242,1,1,'active','noop','null','{{}}','{{}}','','')",
        on="sqlite",
    ),
    _case(
        "a chunk of the archive is of no job",
        "I20",
        None,
        "insert into {s}archive(job_id,month,first_slot,last_slot,runs,chunk) values (4242,'2026-06',1,1,1,x'00')",
        on="sqlite",
    ),
    # -- L1, L2, L4: liveness
    _case(
        "due slots are decided by nobody",
        "L1",
        "quarter",
        "delete from {s}attempts where run_id in (select id from {s}runs where job_id={job_quarter} and id>{newer}"
        " and trigger=0)",
        "delete from {s}runs where job_id={job_quarter} and id>{newer} and trigger=0",
        "update {s}due set last_slot=(select scheduled_for from {s}runs where id={newer}),next_run_at="
        f"(select scheduled_for from {{s}}runs where id={{newer}})+{15 * _MINUTE} where job_id={{job_quarter}}",
    ),
    _case(
        "an attempt is open since the day before",
        "L2",
        "slow",
        f"update {{s}}attempts set claimed_at=claimed_at-{1_440 * _MINUTE} where run_id={{open}}",
    ),
    _case(
        "a host that is marked live does not beat",
        "L4",
        None,
        f"update {{s}}hosts set beat_at=beat_at-{60 * _MINUTE} where name='first'",
    ),
)
