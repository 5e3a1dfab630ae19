#!/bin/sh
# Greets, once.
set -eu
mkdir -p "$OUT"
echo "hello from run $SCHEDCORE_RUN of job $SCHEDCORE_JOB" | tee "$OUT/once.txt"
