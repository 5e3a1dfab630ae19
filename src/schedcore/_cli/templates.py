"""What ``schedcore init`` writes: settings that work as they are, with what else there is as comments."""

from __future__ import annotations

__all__ = ["CONFIG", "SCRIPT"]

CONFIG = """\
# Settings of schedcore. Every setting has a default; `schedcore config show` says what holds, and why.
# `schedcore config check` reads this file without starting anything.

# The ledger: a SQLite file, or PostgreSQL for more than one machine.
# ledger = "sqlite:///ledger.db"
# ledger = "postgresql://schedcore@db.example.org/schedcore"

# Where the ledger and the output of runs lie; relative to this file.
# state_folder = "state"

# The zone of jobs that name none.
# timezone = "Europe/Berlin"

# How many runs at once on this host.
# workers = 4

# More files that declare jobs.
# job_files = ["jobs.d"]

# Policies of jobs that say nothing themselves.
# [policies]
# attempts = 3
# timeout = "10m"

# Days and hours in which jobs that name the calendar do not run.
# [calendars.office]
# closed = ["saturday", "sunday", "12-25"]
# quiet = ["22:00-07:00"]

# Where secrets are; never their values.
# [secrets]
# API_TOKEN = {env = "API_TOKEN"}

# A job: what runs, and when. `schedcore serve` takes changes of this file while it runs;
# `schedcore apply` takes them at once.
[jobs.hello]
name = "Say hello"
cron = "* * * * *"                      # minute hour day month weekday
kind = "script"
payload = {args = ["{{folder}}/hello.sh", "world"]}   # {{folder}} is where this file lies
timeout = "30s"
attempts = 2                            # at most this often, 60 s apart
catch_up = "run_once"                   # after a pause of the machine: run_once, skip or all
unchecked = "an example"                # instead of: assert = {command = "test -s /what/it/makes"}
"""

SCRIPT = """\
#!/bin/sh
# What it prints is kept: schedcore runs logs RUN
set -eu
echo "hello, ${1:-you}: slot $SCHEDCORE_SCHEDULED_FOR, attempt $SCHEDCORE_ATTEMPT"
"""
