#!/bin/sh
# Adds a line for its slot.
set -eu
mkdir -p "$OUT"
echo "$SCHEDCORE_SCHEDULED_FOR" >> "$OUT/minutes.txt"
echo "this is minute number $(wc -l < "$OUT/minutes.txt" | tr -d ' ') since the first start"
