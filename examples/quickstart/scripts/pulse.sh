#!/bin/sh
# Says where the slot was and when it really ran.
set -eu
mkdir -p "$OUT"
echo "slot $SCHEDCORE_SCHEDULED_FOR, begun $(date -u +%H:%M:%S)" | tee -a "$OUT/pulse.txt"
