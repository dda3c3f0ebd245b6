#!/usr/bin/env bash
# `profrig run` by a real Slurm of two nodes on this machine: one command, a model of a madengine package on both nodes, and runs whose job fails, is
# refused, is cancelled while it runs and while it waits, whose controller dies, and whose profrig is killed.
# runs alone: calls time out by the clock
. "$(dirname "$0")/../lib.sh"
if ! need slurm sh -c 'PATH=$PATH:/usr/sbin:/sbin; command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged'; then
	skip "runs by a real Slurm" "no Slurm here: slurmctld slurmd slurm-client munge"
	exit
fi
S=$ROOT/tests/slurm/starter
at_end "$S" down "$T/cluster" 2>/dev/null
check "a cluster of two nodes starts" "$S" up "$T/cluster" nodes=2
eval "$("$S" env "$T/cluster")"
cd "$T" || exit 1

opts=(--engine host --no-analyze --set slurm.cpus=1 --set disk.min_free=0 --set disk.warn_free=0 -o "$T/runs")
run() { "$PROFRIG" run "${opts[@]}" "$@"; }
newest() { ls -d "$T"/runs/slurm-* | tail -n 1; }
status() { jq -r .status "$1/run.json"; }
jobs() { squeue -h -t "$1" -o %A; }
started() { # WORDS…: in the background; its number is $!
	rm -rf "$T/begun" "$T/go" "$T/runs"
	"$PROFRIG" run "${opts[@]}" "$@" -- sh -c "touch $T/begun; n=0; while [ ! -e $T/go ] && [ \$n -lt 900 ]; do sleep 0.1; n=\$((n + 1)); done; echo performance: 1 x/s" >"$T/out" 2>"$T/err" &
	told=$!
}
begun() { [ -e "$T/begun" ]; }
taken() { [ "$(jobs R)" = "$blocker" ]; }
waits() { [ -n "$(jobs PD)" ]; }
no_job() { [ -z "$(jobs PD,R,CG,S)" ]; }

# ---- what goes well
code "a command, twice" 0 run --repeat 2 -- sh -c 'echo "on $SLURMD_NODENAME, $SLURM_JOB_ID"; echo performance: 2 x/s'
is "two run directories" "$(while read -r d; do status "$d"; done <"$T/out" | xargs)" "success success"
like "made by jobs" "$(cat "$(head -n 1 "$T/out")/steps/01-workload.out")" "on n[12], [0-9]+"
check "no job is left" wait_for no_job
mkdir -p pkg/scripts && cd pkg || exit 1
echo 'echo "$MAD_MULTI_NODE_RUNNER|$NODE_RANK of $NNODES|$SLURMD_NODENAME"; [ "$NODE_RANK" != 0 ] || echo performance: 3 x/s' >scripts/run.sh
echo '[{"name": "net", "scripts": "scripts/run.sh", "distributed": {"launcher": "torchrun", "nnodes": 2, "nproc_per_node": 2}}]' >models.json
code "a model of a package, by a context, on two nodes" 0 run -c '{"slurm": {"partition": "main", "gpus_per_node": 0, "time": "10:00"}}' net
is "a run directory of each" "$(sed 's,.*/,,' "$T/out" | xargs)" "node-0 node-1"
is "of two nodes" "$(cat $(sed 's,$,/steps/01-workload.out,' "$T/out") | cut -d'|' -f2,3 | grep -v '^performance' | xargs)" "0 of 2|n1 1 of 2|n2"
like "with the words of the launcher" "$(head -n 1 "$(tail -n 1 "$T/out")/steps/01-workload.out")" \
	"^torchrun --nnodes=2 --node_rank=1 --nproc_per_node=2 --master_addr=[^ ]+ --master_port=[0-9]+\|"
cd "$T" || exit 1

# ---- what does not
code "a workload that fails" 1 run -- sh -c 'exit 5'
is "leaves its record" "$(jq -r .exit_code "$(cat "$T/out")/run.json")" 5
code "sbatch refuses" 4 run --set slurm.partition=nope -- true
like "with its reason" "$(cat "$T/err")" "[Ii]nvalid partition"
code "a limit of time" 1 run --set slurm.time=1s --set grace=1 -- sleep 200
like "is the workload's own" "$(cat "$T/err")" "attempt 1: [0-9]+_0: (TimeLimit|TIMEOUT)"

started
check "a job runs" wait_for begun
scancel "$(jobs R)"
wait $told
is "and is cancelled by another" $? 1
is "its record says so" "$(status "$(cat "$T/out")")" interrupted
is "it is not submitted again" "$(grep -c '"ev":"submit"' "$(newest)/journal.ndjson")" 1

check "its job is gone" wait_for no_job
blocker=$(sbatch --parsable --exclusive -N 2 -o /dev/null --wrap 'sleep 1000')
check "both nodes are taken" wait_for taken
started
check "a job waits" wait_for waits
scancel "$(jobs PD)"
wait $told
is "and is cancelled by another, before it began" $? 1
is "nothing is printed" "$(cat "$T/out")" ""
started
check "a job waits" wait_for sh -c "grep -q 'is queued' '$T/err'"
kill -INT $told
wait $told
is "Ctrl-C" $? 130
scancel "$blocker"
check "cancels it" wait_for no_job

started
check "a job runs" wait_for begun
kill -INT $told
wait $told
is "Ctrl-C" $? 130
is "ends its run" "$(status "$(cat "$T/out")")" interrupted
check "and its job" wait_for no_job

# ---- profrig and the controller
started
check "a job runs" wait_for begun
kill -KILL $told
wait $told 2>/dev/null
dir=$(newest)
code "the next run" 0 "$PROFRIG" run --engine host --no-analyze -o "$T/runs" -- true
like "names what the killed one left" "$(cat "$T/err")" "1 of 1 runs of .* have no end yet.*'profrig campaign resume "
"$S" signal "$T/cluster" ctld KILL
touch "$T/go"
"$S" start "$T/cluster" ctld
code "which ends by 'campaign resume', though the controller died meanwhile" 0 "$PROFRIG" campaign resume "$dir"
is "the job ran once" "$(ls "$dir/runs" | wc -l) $(grep -c '"ev":"submit"' "$dir/journal.ndjson")" "1 1"
is "and its run counts" "$(status "$dir/runs/$(cat "$dir"/results/*)")" success
