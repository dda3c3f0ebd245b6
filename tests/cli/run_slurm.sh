#!/usr/bin/env bash
# `profrig run` by the jobs of a cluster, on stand-ins for Slurm's programs that run each job on this machine: what it prints, how it ends, and what
# follows when the job, its queue, or profrig itself goes away. tests/slurm/run.sh has a real Slurm.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
unset "${!SLURM_@}" "${!SBATCH_@}"

# A cluster of its own for each part. A task of an array is a process, beside profrig: its row becomes RUNNING, then what its exit status says.
cluster() {
	export FAKE_SLURM=$T/cluster PATH=$ROOT/tests/fakes/slurm:$PATH
	mkdir "$FAKE_SLURM"
	cat >"$FAKE_SLURM/row" <<-'SH'
		#!/usr/bin/env bash
		# row TASK STATE: of the job's row, one writer at a time; what was cancelled stays so
		exec 9>"$FAKE_SLURM/lock"
		flock 9
		[ ! -e "$FAKE_SLURM/cancelled" ] || exit 0
		awk -F'|' -v OFS='|' -v k="$1" -v s="$2" '$2 == k && $4 ~ /PENDING|RUNNING/ { $4 = s; $6 = "n1" } { print }' "$FAKE_SLURM/rows" >"$FAKE_SLURM/rows.$1"
		mv "$FAKE_SLURM/rows.$1" "$FAKE_SLURM/rows"
	SH
	cat >"$FAKE_SLURM/task" <<-'SH'
		#!/usr/bin/env bash
		# task JOB TASK SCRIPT
		export SLURM_JOB_ID=$1 SLURM_ARRAY_TASK_ID=$2 SLURM_JOB_NUM_NODES=${NODES:-1}
		bash "$FAKE_SLURM/row" "$2" RUNNING
		setsid bash "$3" &
		echo $! >"$FAKE_SLURM/pid.$2"
		wait $! && bash "$FAKE_SLURM/row" "$2" COMPLETED || bash "$FAKE_SLURM/row" "$2" FAILED
	SH
	cat >"$FAKE_SLURM/sbatch.after" <<-'SH'
		for w; do case $w in --output=*) out=${w#*=} ;; esac; done
		for k in $(seq 0 "${tasks:-0}"); do
			setsid bash "$FAKE_SLURM/task" "$id" "$k" "$file" >>"${out//%a/$k}" 2>&1 </dev/null &
		done
	SH
	# what scancel does to the processes of jobs
	cat >"$FAKE_SLURM/scancel.do" <<-'SH'
		touch "$FAKE_SLURM/cancelled"
		for f in "$FAKE_SLURM"/pid.*; do [ ! -f "$f" ] || kill -TERM -- "-$(cat "$f")" 2>/dev/null; done
	SH
}
run() { "$PROFRIG" run --engine host --no-analyze --set slurm.cpus=1 -o "$T/runs" "$@"; }
dir() { echo "$T"/runs/slurm-*; }
events() { jq -r .ev "$(dir)/journal.ndjson" | uniq | xargs; }
status() { jq -r .status "$1/run.json"; }
begun() { [ -e "$T/begun" ]; }

goes_well() {
	cluster
	code "two runs of a command" 0 run --repeat 2 --label who=me --set env.GREETING=hello -- sh -c 'echo "$GREETING"; echo performance: 3 x/s'
	is "their directories are printed" "$(wc -l <"$T/out")" 2
	check "which are run directories" sh -c 'while read -r d; do [ "$(jq -r .status "$d/run.json")" = success ] || exit 1; done <"'"$T"'/out"'
	is "with labels" "$(jq -c '[.labels.who, .labels.repeat]' $(cat "$T/out" | sed 's,$,/run.json,') | xargs)" "[me,1] [me,2]"
	is "and what was configured" "$(cat $(sed 's,$,/steps/01-workload.out,' "$T/out") | sort | uniq -c | xargs)" "2 hello 2 performance: 3 x/s"
	is "they ran in the folder of the command" "$(jq -r '.steps[0].cwd // empty' "$(head -n 1 "$T/out")/plan.json")" "$T"
	like "each event is a line" "$(cat "$T/err")" "job 10_0 is queued.*1/2\] .*done in.*2/2\] .*done in"
	is "one submission" "$(grep -c ^sbatch "$FAKE_SLURM/calls")" 1
	is "whose name was in the journal before" "$(events)" "open plan intend submit submitted ended committed ended committed concluded"
	is "the link to the newest run" "$(readlink -f "$T/runs/latest")" "$(readlink -f "$(tail -n 1 "$T/out")")"
	code "a campaign's commands know it" 0 "$PROFRIG" campaign status --json "$(dir)"
	is "all of it is done" "$(jq -c '[.runs,.committed,.failed,.left]' "$T/out")" "[2,2,0,0]"
}

# A context of madengine's: a model of a package on two nodes, by its launcher.
goes_by_a_context() {
	local runner
	cluster
	# the stand-in of srun wants what sbatch gets
	export NODES=2 LC_ALL=C
	mkdir -p pkg/scripts && cd pkg || exit
	echo 'echo "$MAD_MULTI_NODE_RUNNER|$NODE_RANK|$MAD_MODEL_NAME|$GREETING"; [ "$NODE_RANK" != 0 ] || echo performance: 3 x/s' >scripts/run.sh
	cat >models.json <<-'JSON'
		[{"name": "net", "scripts": "scripts/run.sh", "n_gpus": "-1", "tags": ["t"],
		  "distributed": {"launcher": "torchrun", "nnodes": 2, "nproc_per_node": 4}, "slurm": {"nodes": 2, "partition": "model", "time": "01:00:00"}}]
	JSON
	code "without the section it is of one machine" 3 "$PROFRIG" plan --engine host net
	like "and says so" "$(cat "$T/err")" "models.json:2: distributed.nnodes: 2 machines, but without the section .slurm. in a context"
	echo '{"slurm": {"partition": "mi300", "gpus_per_node": 0, "output_dir": "x"}, "docker_env_vars": {"GREETING": "hi"}}' >context.json
	code "plan shows the words of sbatch and the script" 0 "$PROFRIG" plan --engine host -f context.json -o "$T/runs" net
	like "with the context's keys, the model's, and madengine's own" "$(cat "$T/out")" \
		"sbatch .*--partition=mi300 --nodes=2 --ntasks-per-node=1 --exclusive --time=60:00 .*#!/bin/bash.*srun .*campaign work .*--attempts"
	like "a key that has no effect is said" "$(cat "$T/err")" "context.json:1: slurm.output_dir: has no effect"
	check "and nothing was made" test ! -e "$T/runs"
	code "the same as JSON" 0 "$PROFRIG" plan --engine host --json -f context.json net
	is "has both" "$(jq -r 'select(.schema=="profrig.plan.slurm/1")|[.sbatch[0], (.script|startswith("#!/bin/bash"))]|@csv' "$T/out")" '"sbatch",true'
	code "the model runs" 0 run -f context.json --perf-csv "$T/perf.csv" net
	is "a run directory of each node is printed" "$(sed 's,.*/,,' "$T/out" | xargs)" "node-0 node-1"
	is "the link leads to the first one's" "$(readlink -f "$T/runs/latest")" "$(head -n 1 "$T/out")"
	runner="torchrun --nnodes=2 --node_rank=K --nproc_per_node=4 --master_addr=$(hostname) --master_port=15010"
	is "each node has its launcher's words" "$(for k in 0 1; do head -n 1 "$(sed -n $((k + 1))p "$T/out")/steps/01-workload.out"; done)" \
		"${runner/K/0}|0|net|hi
${runner/K/1}|1|net|hi"
	is "the first node has the result, which is a row" "$(tail -n +2 "$T/perf.csv" | cut -d, -f1,3,15,16,18)" "net,2,slurm,torchrun,3"
}

fails() {
	cluster
	code "a workload that fails" 1 run -- sh -c 'exit 3'
	is "leaves its directory" "$(jq -r '[.status, .exit_code]|@csv' "$(cat "$T/out")/run.json")" '"failed",3'
	like "and says why, once" "$(cat "$T/err")" "attempt 1: .*3"
	is "it is not made again" "$(grep -c ^sbatch "$FAKE_SLURM/calls")" 1
	code "with --propagate" 3 run --propagate -- sh -c 'exit 3'
	code "--json" 1 run --json -- sh -c 'kill -9 $$'
	is "has the members of a run here" "$(jq -c '[.status, .exit_code, .workload_signal, (.run_dir|test("runs/slurm-"))]' "$T/out")" '["failed",1,9,true]'
	mkdir tools
	printf 'name: need\nclass: env\nenv: {X: "1"}\noutputs: [{glob: x.json, reader: tef, required: true}]\n' >tools/need.yaml
	printf 'name: like\nclass: env\nenv: {X: "1"}\noutputs: [{glob: x.json, reader: tef, required: false}]\n' >tools/like.yaml
	code "a required output is missing" 7 run --tools-dir tools --tools need -- true
	code "an optional one" 6 run --tools-dir tools --tools like -- true
	is "which the run says" "$(status "$(cat "$T/out")")" partial
}

# What was not there, on the node: profrig begins no run, and its last word is the reason.
lacks() {
	cluster
	mkdir tools
	printf 'name: need\nclass: env\nenv: {X: "1"}\nneeds: [no-such-program]\n' >tools/need.yaml
	code "a node that lacks what a tool needs" 1 run --tools-dir tools --tools need -- true
	like "says so" "$(cat "$T/err")" "attempt 1: 10_0: .*no-such-program"
	is "and nothing is printed" "$(cat "$T/out")" ""
}

# What the site, or another user, does to the job.
cancelled_by_others() {
	cluster
	"$PROFRIG" run --engine host --no-analyze --set slurm.cpus=1 -o "$T/runs" -- sh -c "touch $T/begun; while [ ! -e $T/go ]; do sleep 0.1; done" >"$T/out" 2>"$T/err" &
	wait_for begun
	scancel_all
	wait $!
	is "a job that is cancelled" $? 1
	like "is said" "$(cat "$T/err")" "attempt 1: 10_0: "
	is "its directory says so, too" "$(status "$(cat "$T/out")")" interrupted
	is "it is not submitted again" "$(grep -c ^sbatch "$FAKE_SLURM/calls")" 1
	rm "$FAKE_SLURM/cancelled"
	touch "$T/go"
	code "'campaign retry' is what does that" 0 "$PROFRIG" campaign retry --failed "$(dir)"
	is "in a second job" "$(grep -c ^sbatch "$FAKE_SLURM/calls")" 2
}
scancel_all() { LC_ALL=C scancel -u "$(id -u)" --name="pr-$(jq -r 'select(.ev=="submit")|.name' "$(dir)/journal.ndjson")"; }

refused() {
	cluster
	echo 'echo "sbatch: error: invalid partition specified: nope" >&2; exit 1' >"$FAKE_SLURM/sbatch.do"
	code "sbatch refuses" 4 run --set slurm.partition=nope -- true
	like "and its reason is said" "$(cat "$T/err")" "invalid partition specified: nope"
	is "no directory is printed" "$(cat "$T/out")" ""
	echo 'exit 1' >"$FAKE_SLURM/scontrol.do"
	rm -rf runs
	code "no controller" 4 run -- true
	like "is said" "$(cat "$T/err")" "scontrol show config failed"
	check "and nothing is left" sh -c "! ls -d '$T'/runs/slurm-* 2>/dev/null"
}

interrupted() {
	cluster
	"$PROFRIG" run --engine host --no-analyze --set slurm.cpus=1 -o "$T/runs" -- sh -c "touch $T/begun; exec sleep 100" >"$T/out" 2>"$T/err" &
	wait_for begun
	kill -INT $!
	wait $!
	is "Ctrl-C" $? 130
	check "cancels the job" grep -q ^scancel "$FAKE_SLURM/calls"
	is "its run is complete" "$(status "$(cat "$T/out")")" interrupted
	check "and the journal has it" grep -q '"ev":"cancelled"' "$(dir)/journal.ndjson"
}

# profrig is killed while its job runs: the job goes on, and the next profrig says how to wait for it.
killed() {
	cluster
	"$PROFRIG" run --engine host --no-analyze --set slurm.cpus=1 -o "$T/runs" -- sh -c "touch $T/begun; while [ ! -e $T/go ]; do sleep 0.1; done; echo performance: 1 x/s" \
		>"$T/out" 2>"$T/err" &
	wait_for begun
	kill -KILL $!
	wait $! 2>/dev/null
	is "profrig is killed, and prints nothing" "$(cat "$T/out")" ""
	code "the next run" 0 "$PROFRIG" run --engine host --no-analyze -o "$T/runs" -- true
	like "names what was left, and what waits for it" "$(cat "$T/err")" "1 of 1 runs of .*/slurm-.* have no end yet.*'profrig campaign resume .*/slurm-"
	touch "$T/go"
	code "which it does" 0 "$PROFRIG" campaign resume "$(dir)"
	is "the job was submitted once" "$(grep -c ^sbatch "$FAKE_SLURM/calls")" 1
	is "and its run counts" "$(status "$(dir)/runs/$(cat "$(dir)"/results/*)")" success
	code "then nothing is left" 0 "$PROFRIG" run --engine host --no-analyze -o "$T/runs" -- true
	check "to be said" sh -c "! grep -q 'no end yet' '$T/err'"
}

# What cannot be, before anything is submitted.
wrong() {
	cluster
	mkdir m && printf 'model: {name: m, command: ["true"]}\nslurm: {partition: other}\n' >m/profrig.yaml
	printf 'slurm: {partion: gpu, nodes: 0, options: ["--wrap=x"]}\n' >bad.yaml
	code "wrong keys" 3 run --config bad.yaml -- true
	for words in "bad.yaml:1: unknown key 'partion'" "bad.yaml:1: nodes: 0 is not between" "slurm.options\[0\]: '--wrap=x': is given by profrig"; do
		like "all at once: $words" "$(cat "$T/err")" "$words"
	done
	mkdir n && printf 'model: {name: n, command: ["true"]}\nengine: host\n' >n/profrig.yaml
	code "models of different jobs" 3 "$PROFRIG" run -o runs m n
	like "are reported" "$(cat "$T/err")" "slurm: models 'm' and 'n' do not ask for the same jobs"
	code "--baseline" 2 run --baseline --tools cpu_power -- true
	code "--cooldown" 2 run --cooldown 1 -- true
	code "plan says so, too" 2 "$PROFRIG" plan --engine host --set slurm.cpus=1 --cooldown 1 -- true
	code "as a script" 2 "$PROFRIG" plan --engine host --set slurm.cpus=1 --format sh -- true
	MY_TOKEN=x code "a secret of the caller's" 3 run --set 'secrets.A.from_env=MY_TOKEN' -- true
	like "that jobs would not have" "$(cat "$T/err")" "secrets.A: jobs do not inherit MY_TOKEN.*slurm.export"
	code "a secret's value" 3 run --set 'env.MY_TOKEN=x' -- true
	like "which a folder would keep" "$(cat "$T/err")" "env.MY_TOKEN: .*from_file"
	is "nothing was submitted" "$(cat "$FAKE_SLURM/calls" 2>/dev/null)" ""
	code "slurm: null takes it back" 0 "$PROFRIG" run --engine host --no-analyze -o runs --set slurm=null m
	like "so it ran here" "$(cat "$T/out")" "runs/2[0-9T]+Z-m-"
}

parts=(goes_well goes_by_a_context lacks fails cancelled_by_others refused interrupted killed wrong)
for part in "${PARTS:-${parts[@]}}"; do
	for p in $part; do beside "$p"; done
done
all_told
