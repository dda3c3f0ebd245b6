#!/usr/bin/env bash
# Workloads that misbehave: each ends with a complete run directory, the right status and nobody left behind. One row a fault: what it is called, exit code,
# status, a pattern for the reason, the workload as shell text, then options of run.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1

# Every process of a run carries its id.
nobody_of() { ! grep -lqsa "PROFRIG_RUN_ID=$1" /proc/[0-9]*/environ; }
fault() { # name, exit code, status, pattern, workload, options…
	local name=$1 want=$2 status=$3 pattern=$4 work=$5 dir
	shift 5
	rm -rf "$T/runs"
	code "$name" "$want" timeout 100 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze --set grace=0.5 "$@" -- bash -c "$work"
	dir=$(cat "$T/out")
	is "$name: status" "$(field "$dir/run.json" .status)" "$status"
	[ -z "$pattern" ] || like "$name: reason" "$(field "$dir/run.json" .reason)" "$pattern"
	check "$name: run.json is complete" jq -e '.ended_utc and (.steps[0].started_ns <= .steps[0].ended_ns)' "$dir/run.json"
	check "$name: nobody is left" nobody_of "$(basename "$dir")"
	# What the run called damaged cannot be read then either.
	check "$name: report accepts it" sh -c '"$0" -q report "$1"; r=$?; [ $r = 0 ] || { [ $r = 6 ] && grep -q \"damaged\" "$1/run.json"; }' "$PROFRIG" "$dir"
}
size() { stat -c %s "$(cat "$T/out")"/steps/01-workload.out; }

fault "daemonises twice" 1 failed "left 1 process running" '(setsid bash -c "(setsid sleep 300 </dev/null >/dev/null 2>&1 &)" &) ; sleep 0.3'
fault "daemonises and forgets its environment" 1 failed "left [12] process" '(setsid env -i /bin/sleep 300 </dev/null >/dev/null 2>&1 &) ; sleep 0.2'
fault "ignores INT, TERM and HUP" 1 timeout "took longer than 0.5 s.*SIGKILL" 'trap "" INT TERM HUP QUIT; while :; do sleep 0.1; done' --timeout 0.5
fault "stops itself" 1 timeout "took longer than 0.5 s" 'kill -STOP $$' --timeout 0.5
fault "kills its whole group" 1 failed "killed by SIGKILL" 'sleep 50 & kill -9 0'
fault "ends its parent's other children" 1 failed "" 'sleep 60 & disown; kill -9 $$'
fault "kills the agent" 1 failed "profrig-init was killed by SIGKILL while 'workload' ran" 'kill -9 $PPID; sleep 60'
fault "stops the agent politely" 1 failed "profrig-init was stopped .SIGTERM." 'kill -TERM $PPID; sleep 60'
fault "closes its standard output and goes on" 0 success "" 'exec >&- 2>&-; sleep 0.2'
fault "writes binary" 0 success "" 'head -c 3000000 /dev/urandom; head -c 1000 /dev/urandom >&2'
is "all of the binary is there" "$(size)" 3000000
fault "prints a gigabyte without a newline" 0 success "" 'head -c 1000000000 /dev/zero'
is "all of the gigabyte is there" "$(size)" 1000000000
fault "prints a performance line without an end" 0 success "" 'printf "performance: 12 x/s"; head -c 200000000 /dev/zero'
fault "prints faster than it is read live" 0 success "" 'head -c 300000000 /dev/zero' --live
fault "truncates its own output file" 0 success "" ': >"$PROFRIG_RUN_DIR/steps/01-workload.out"; echo end'
fault "removes its own output file" 0 success "" 'rm "$PROFRIG_RUN_DIR/steps/01-workload.out"; echo end'
cpu=(--tools cpu_usage --set 'tools[0].sampler.period_s=0.05')
fault "removes its samples" 6 partial "tool 'cpu_usage': 'samples/[^']*.csv' is missing: .*removed it" 'sleep 0.2; rm -f "$PROFRIG_RUN_DIR"/samples/*; sleep 0.2' "${cpu[@]}"
like "removes its samples: a sampler's failure" "$(field "$(cat "$T/out")/run.json" '.warnings[] | .code')" "^W_SAMPLER$"
fault "makes its samples a folder" 6 partial "samples/[^']*.csv' cannot be read: Is a directory" 'cd "$PROFRIG_RUN_DIR"/samples; sleep 0.2; f=$(ls); rm -f "$f"; mkdir "$f"' "${cpu[@]}"
code "empties its samples" 6 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze "${cpu[@]}" -- sh -c 'sleep 1.3; for f in "$PROFRIG_RUN_DIR"/samples/*; do : >"$f"; done; sleep 0.1'
like "empties its samples: reason" "$(field "$(cat "$T/out")/run.json" .reason)" "has [0-9]+ of the [0-9]+ rows that were written"
fault "leaves its samples alone" 0 success "" 'sleep 0.3' "${cpu[@]}"
fault "writes over run.json" 0 success "" 'echo nonsense >"$PROFRIG_RUN_DIR/run.json"'
code "makes run.json a folder" 1 "$PROFRIG" run -o "$T/runs" --engine host --no-analyze -- sh -c 'sleep 0.3; rm -f "$PROFRIG_RUN_DIR/run.json"; mkdir "$PROFRIG_RUN_DIR/run.json"'
like "makes run.json a folder: it is reported" "$(cat "$T/err")" "run.json could not be written"
fault "leaves 2000 files" 0 success "" 'mkdir -p "$PROFRIG_OUT"; cd "$PROFRIG_OUT" && touch $(seq 2000)'
fault "leaves a name with a newline" 0 success "" 'touch "$PROFRIG_RUN_DIR/artifacts/a
b"'
fault "leaves a loop of links" 0 success "" 'ln -s . "$PROFRIG_RUN_DIR/artifacts/loop"; ln -s loop2 "$PROFRIG_RUN_DIR/loop2"'
fault "leaves a FIFO where an artifact is looked for" 7 failed "must.json" 'mkfifo "$OUTS/must.json"; echo "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"f\"}," >"$OUTS/may.json"' \
	--tools-dir "$ROOT/tests/fixtures/tools" --tools outs
fault "has an argument of 100 kB and another with newlines" 0 success "" 'test ${#X} = 100000' --set "env.X=$(head -c 100000 /dev/zero | tr '\0' x)"
fault "runs a run" 0 success "" "XDG_RUNTIME_DIR=$T/inner $PROFRIG -q run -o $T/inner-runs --engine host --no-analyze -- true"
fault "forks as fast as it can" 1 timeout "" 'f() { sleep 0.01 & }; while :; do for i in 1 2 3 4 5 6 7 8; do f; done; wait -n; done' --timeout 1

pids=/sys/fs/cgroup/pids
[ -d $pids ] || pids=/sys/fs/cgroup
if [ "$(id -u)" = 0 ] && mkdir "$pids/profrig-test-$$" 2>/dev/null; then
	group=$pids/profrig-test-$$
	if [ -e "$group/pids.max" ]; then
		echo 40 >"$group/pids.max"
		rm -rf "$T/runs"
		code "fills its limit of processes" 1 bash -c "echo \$\$ >$group/cgroup.procs; exec timeout 100 $PROFRIG -q run -o $T/runs --engine host --no-analyze --set grace=0.5 --timeout 2 -- \
			bash -c 'for i in \$(seq 100); do (trap \"\" TERM INT; sleep 300) & done 2>/dev/null; wait'"
		is "fills its limit of processes: status" "$(field "$(cat "$T/out")/run.json" .status)" timeout
		check "fills its limit of processes: nobody is left" nobody_of "$(basename "$(cat "$T/out")")"
		echo 2 >"$group/pids.max"
		rm -rf "$T/runs"
		code "no process may be started" 1 bash -c "echo \$\$ >$group/cgroup.procs; exec $PROFRIG -q run -o $T/runs --engine host --no-analyze -- true"
		like "no process may be started: reason" "$(field "$(cat "$T/out")/run.json" .reason)" "Resource temporarily unavailable"
		empty() { test ! -s "$group/cgroup.procs"; }
		wait_for empty
	else
		skip "fills its limit of processes" "no pids controller"
	fi
	rmdir "$group"
else
	skip "fills its limit of processes" "needs root and a cgroup of its own"
fi
