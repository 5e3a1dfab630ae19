#!/bin/sh
# Writes an empty report, calls that a success, and exits with 0.
set -eu
mkdir -p "$OUT"
: > "$OUT/report.txt"
echo "report written, all is well"
