#!/usr/bin/env bash
# Campaigns on a real Slurm of four nodes on this machine, with accounting and without: examples/mlp on three BLAS libraries, runs on two nodes each,
# and 60 runs that are disturbed six times. `make stress` does more of it.
# runs alone: nodes are missed, and calls time out, by the clock
. "$(dirname "$0")/../lib.sh"
if ! need slurm sh -c 'PATH=$PATH:/usr/sbin:/sbin; command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged'; then
	skip "campaigns on a real Slurm" "no Slurm here: slurmctld slurmd slurm-client munge"
	exit
fi
SEED=${SEED:-19}
. "$ROOT/tests/stress/faults.sh"
. "$ROOT/tests/stress/slurm.sh"
. "$ROOT/tests/stress/mlp.sh"
at_end cluster_down

lines='scheduler: slurm
slurm: {cpus: 2, pack: 6, max_running: 1}'
matrix() { # NAME
	if need openblas mlp_file "$1" "$lines"; then
		dir=$T/campaigns/$1
		code "$1: the matrix runs" 0 "$PROFRIG" campaign run -o "$T/campaigns" "$T/$1.yaml"
		mlp_check "$1"
		is "$1: a block is one job" "$(jq -c 'select(.ev=="submit")|.jobs[]|[.[]|split("-")[1]]|unique|length' "$dir/journal.ndjson" | sort -u)" 1
	else
		skip "$1: examples/mlp on three libraries" "$mlp_why"
	fi
}

# ---- without accounting ----
cluster=$T/plain
check "a cluster of four nodes starts" cluster_up
matrix plain

# ---- two nodes for each run ----
says='echo "$NODE_RANK of $NNODES, $NPROC_PER_NODE each, $MASTER_ADDR:$MASTER_PORT on $SLURMD_NODENAME"; test "$NODE_RANK" != 0 || echo performance: 3 s/s'
cat >"$T/two.yaml" <<-FILE
	name: two
	models: [{name: m, command: [sh, -c, '$says']}]
	engine: host
	axes: {env.A: ["1", "2"]}
	repeat: 2
	analyze: false
	gate: []
	disk: {min_free: 0, warn_free: 0}
	scheduler: slurm
	slurm: {nodes: 2, launcher: plain, nproc_per_node: 2, pack: 2}
FILE
dir=$T/campaigns/two log=$T/two.log
code "runs on two nodes" 0 "$PROFRIG" campaign run -o "$T/campaigns" "$T/two.yaml"
campaign_check two 2 2
is "two: each has a run directory of each node" "$(for d in "$dir"/runs/*; do ls "$d" | xargs; done | sort | uniq -c | xargs)" "4 node-0 node-1"
is "two: they know their places" "$(cat "$dir"/runs/*/node-0/steps/*workload.out "$dir"/runs/*/node-1/steps/*workload.out | grep -oE '^[01] of 2, 2 each' | sort | uniq -c | xargs)" \
	"4 0 of 2, 2 each 4 1 of 2, 2 each"
is "two: both agree on where they meet" "$(for d in "$dir"/runs/*; do sed -n 's/.*each, \(.*\) on .*/\1/p' "$d"/node-?/steps/*workload.out | sort -u | wc -l; done | sort -u)" 1
is "two: on two nodes" "$(for d in "$dir"/runs/*; do sed -n 's/.* on \(n[1-4]\)$/\1/p' "$d"/node-?/steps/*workload.out | sort -u | wc -l; done | sort -u)" 2
is "two: with labels" "$(jq -r .labels.node "$dir"/runs/*/node-1/run.json | sort | uniq -c | xargs)" "4 1"
# one that fails on its second node
sed 's/name: two/name: half/; s/test "$NODE_RANK" != 0 || echo/test "$NODE_RANK" = 0 \&\& echo/' "$T/two.yaml" >"$T/half.yaml"
code "a run that fails on its second node" 1 "$PROFRIG" campaign run -o "$T/campaigns" "$T/half.yaml"
is "has failed" "$("$PROFRIG" campaign status --json "$T/campaigns/half" | jq -c '[.committed,.failed,.attempts]')" "[0,4,4]"
cluster_down

# ---- with accounting, and faults ----
kinds="campaign sbatch paused work slurmd ctld"
accounting=
if command -v mariadbd >/dev/null && command -v slurmdbd >/dev/null; then
	accounting=accounting kinds+=" dbd"
else
	skip "accounting" "no slurmdbd, mariadb-server here"
fi
cluster=$T/kept
check "a cluster starts" cluster_up $accounting
[ -z "$accounting" ] || matrix kept
campaign_file far 'sleep 0.2' "$slurm_lines"
# shellcheck disable=SC2086
EVENTS=$slurm_events storm far 6 $kinds
slurm_check far
