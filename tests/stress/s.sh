#!/usr/bin/env bash
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/stress/faults.sh"
. "$ROOT/tests/stress/slurm.sh"
cluster=$T/cluster
at_end cluster_down
check "up" cluster_up ${ACCT:-}
campaign_file far 'sleep 0.2' "$slurm_lines"
storm far ${N:-6} ${GAP:-50} ${KINDS:-campaign node slurmd ctld sbatch paused work term two}
check "no job is left" wait_for no_job
cp "$T/far.log" /tmp/w/st/far.$SEED.log; rm -rf /tmp/w/st/far.$SEED; cp -r "$dir" /tmp/w/st/far.$SEED
cp $T/grown.csv $T/anew.csv /tmp/w/st/far.$SEED
