#!/usr/bin/env bash
# A campaign of 60 runs on this machine, disturbed six times: its process, a worker, an agent, all at once are killed, two go on at once, the disk is
# full. `make stress` does more of it.
. "$(dirname "$0")/../lib.sh"
SEED=${SEED:-19}
. "$ROOT/tests/stress/faults.sh"
at_end disk_down
kinds="campaign worker agent all two"
if disk_up; then kinds+=" disk"; else skip "a full disk" "needs root and a mount namespace"; fi
AGAIN=exit,output campaign_file here 'sleep 0.05'
# shellcheck disable=SC2086
storm here 6 $kinds
