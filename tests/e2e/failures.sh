#!/usr/bin/env bash
# Every failure path of a run, caused: the run directory is complete, status, reason and exit code are right, nothing is left behind.
. "$(dirname "$0")/../lib.sh"
tools=$ROOT/tests/fixtures/tools
run() { # options… -- command
	"$PROFRIG" -q run -o "$T/runs" --engine host --tools-dir "$tools" "$@"
}
dir() { cat "$T/out"; }
json() { field "$(dir)/run.json" "$1"; }
complete() { # name: what every finished run has
	check "$1: run.json is JSON of its schema" jq -e '.schema == "profrig.run/1" and .ended_utc and (.steps | length > 0)' "$(dir)/run.json"
	check "$1: report accepts it" "$PROFRIG" -q report "$(dir)"
}

code "exit 3 of the workload is exit 1" 1 run -- /bin/sh -c 'echo out; echo err >&2; exit 3'
is "its status" "$(json '.status + " " + (.exit_code | tostring)')" "failed 3"
like "its reason" "$(json .reason)" "3"
is "its output" "$(cat "$(dir)"/steps/*workload.out "$(dir)"/steps/*workload.err | tr '\n' ' ')" "out err "
complete "exit 3"
code "--propagate gives the workload's own status" 3 run --propagate -- /bin/sh -c 'exit 3'

code "killed by a signal is exit 1" 1 run -- /bin/sh -c 'kill -SEGV $$'
is "its status and signal" "$(json '.status + " " + .signal')" "failed SIGSEGV"
complete "signal"

code "a timeout is exit 1, also when INT and TERM are ignored" 1 run --timeout 1 --set grace=0.5 -- /bin/sh -c 'trap "" INT TERM; while :; do sleep 0.2; done'
is "its status" "$(json .status)" timeout
complete "timeout"

code "forks away is exit 1, and the stray is ended" 1 run -- /bin/sh -c 'setsid sh -c "sleep 300 & echo \$! >\"$PROFRIG_RUN_DIR/artifacts/workload/stray\"; wait" </dev/null >/dev/null 2>&1 & while [ ! -s "$PROFRIG_RUN_DIR/artifacts/workload/stray" ]; do sleep 0.1; done'
like "its reason" "$(json .reason)" "left .* running"
check "no stray lives" sh -c "! kill -0 $(cat "$(dir)/artifacts/workload/stray") 2>/dev/null"
complete "forks away"

code "binary output is kept as it is" 0 run -- /bin/sh -c 'head -c 100000 /dev/urandom | tee "$PROFRIG_RUN_DIR/artifacts/workload/sent"'
check "byte for byte" cmp "$(dir)/artifacts/workload/sent" "$(ls "$(dir)"/steps/*workload.out)"
complete "binary output"

code "standard error is closed" 0 sh -c '"$0" run -o "$1/runs" --engine host -- /bin/sh -c "cat $1/runtime/profrig/*" 2>&-' "$PROFRIG" "$T"
check "progress is not written into the file that gets its number" jq -e .run_dir "$(dir)"/steps/01-workload.out

code "a pre script that fails is exit 1" 1 run --tools badpre -- /bin/sh -c 'touch "$PROFRIG_RUN_DIR/ran"'
check "the workload did not run" test ! -e "$(dir)/ran"
is "the post script did" "$(cat "$(dir)/artifacts/workload/order")" "post badpre"
like "the reason names the step" "$(json .reason)" "badpre"
complete "pre script"

good='[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"f"},'
for s in "good:echo good" "bad:echo nothing to collect >&2; exit 2" "mute:exit 2"; do echo "${s#*:}" >"$T/${s%%:*}.sh"; done
for s in "good:echo good" "bad:echo nothing to collect >&2; exit 2" "mute:exit 2"; do echo "${s#*:}" >"$T/${s%%:*}.sh"; done
code "a post script that fails is exit 1" 1 "$PROFRIG" run --no-analyze -o "$T/runs" --engine host --set "post_scripts=[{path: $T/good.sh}, {path: $T/bad.sh}]" --set "pre_scripts=[{path: $T/good.sh}]" \
	-- /bin/sh -c 'echo all is well; echo really >&2'
like "what it said last is shown" "$(grep said "$T/err")" "said +nothing to collect \(steps/.*bad.*err\)"
code "one that says nothing" 1 "$PROFRIG" run --no-analyze -o "$T/runs" --engine host --set "pre_scripts=[{path: $T/good.sh}, {path: $T/mute.sh}]" -- true
is "has nobody speak for it" "$(grep -c said "$T/err")" 0

code "outputs all there" 0 run --tools outs -- /bin/sh -c "echo '$good' >\$OUTS/must.json; echo '$good' >\$OUTS/may.json"
is "verdicts" "$(json '[.artifacts[].verdict] | join(" ")')" "valid valid"
code "a required output missing is exit 7" 7 run --tools outs -- /bin/sh -c "echo '$good' >\$OUTS/may.json"
is "its verdict" "$(json '.status + " " + (.artifacts[] | select(.path | test("must")) | .verdict)')" "failed missing"
code "a required output empty is exit 7" 7 run --tools outs -- /bin/sh -c "echo '[' >\$OUTS/must.json; echo '$good' >\$OUTS/may.json"
is "its verdict" "$(json '.artifacts[] | select(.path | test("must")) | .verdict')" "empty"
complete "empty output"
code "a required output damaged is exit 7" 7 run --tools outs -- /bin/sh -c "echo 'no trace' >\$OUTS/must.json; echo '$good' >\$OUTS/may.json"
is "its verdict" "$(json '.artifacts[] | select(.path | test("must")) | .verdict')" "damaged"
code "an optional output missing is exit 6" 6 run --tools outs -- /bin/sh -c "echo '$good' >\$OUTS/must.json"
is "its status" "$(json .status)" partial
code "a failed workload beats a missing output" 1 run --tools outs -- false

code "a run that cannot be analysed is exit 6" 6 "$PROFRIG" run -o "$T/runs" --engine host -- /bin/sh -c 'touch "$PROFRIG_RUN_DIR/analysis"'
is "it succeeded all the same" "$(json .status)" success
like "and the summary names no report that is not there" "$(tail -n 1 "$T/err")" "report +$(dir)$"

code "a workload that cannot be started is exit 1" 1 run -- ./no-such-program
like "its reason" "$(json .reason)" "no-such-program"
complete "cannot be started"

# interrupted
background() { # options… -- command: a run in the background, its pid in $pid; waits until its workload has made $T/working
	rm -f "$T/working"
	"$PROFRIG" -q run -o "$T/runs" --engine host --tools-dir "$tools" "$@" >"$T/out" 2>"$T/err" &
	pid=$!
	wait_for test -e "$T/working" || not_ok "a run begins" "$(cat "$T/err")"
}
background --tools A -- /bin/sh -c "touch '$T/working'; exec sleep 600"
kill -INT $pid
wait $pid
is "Ctrl-C is 130" "$?" 130
is "its status" "$(json .status)" interrupted
like "post scripts ran" "$(cat "$(dir)/artifacts/workload/order")" "post A"
complete "interrupted"

(trap '' HUP && background -- /bin/sh -c "touch '$T/working'; while [ ! -e '$T/go' ]; do sleep 0.1; done" && kill -HUP $pid && touch "$T/go" && wait $pid)
is "under nohup the end of the terminal is no interrupt" "$?" 0
is "its status" "$(json .status)" success

code "a trace of a million calls" 0 sh -c 'seq 0 999999 | sed "s/.*/{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":&,\"dur\":1,\"name\":\"f\"},/; 1s/^/[/"'
mv "$T/out" "$T/large.json"
"$PROFRIG" run -o "$T/runs" --engine host --tools-dir "$tools" --tools outs --repeat 50 -- /bin/sh -c "cp '$T/large.json' \$OUTS/must.json" >"$T/out" 2>"$T/err" &
pid=$!
wait_for grep -q "profrig: read" "$T/err"
kill -INT $pid
wait $pid
is "Ctrl-C while a run is analysed is 130" "$?" 130

mkdir -p "$T/runtime/profrig"
echo '{"run_dir":"/nonexistent/x","engine":"docker","pid":1}' >"$T/runtime/profrig/20200101T000000Z-x-abcdef"
printf '#!/bin/sh\ntouch %s/asked\nwhile [ ! -e %s/go ]; do sleep 0.1; done\nexit 1\n' "$T" "$T" >"$T/docker"
chmod +x "$T/docker"
rm -f "$T/go" "$T/working"
PROFRIG_DOCKER=$T/docker "$PROFRIG" -q run -o "$T/runs" --engine host -- touch "$T/working" >"$T/out" 2>"$T/err" &
pid=$!
wait_for test -e "$T/asked"
kill -INT $pid
touch "$T/go"
wait $pid
is "Ctrl-C while leftovers are cleared away is 130" "$?" 130
check "nothing was run" test ! -e "$T/working"
rm -f "$T/runtime/profrig/20200101T000000Z-x-abcdef"

code "a workload that ends before the first sample is no failure" 0 run --tools cpu_usage --set 'tools[0].sampler.period_s=60' -- true
is "its status" "$(json .status)" success

# prerequisites and configuration: nothing is started
rm -rf "$T/runs"
code "an unknown tool on the command line is 2" 2 run --tools nosuch -- true
code "an unknown engine on the command line is 2" 2 "$PROFRIG" run -o "$T/runs" --engine nosuch -- true
printf 'model: {name: x, command: [true]}\ntools: [{name: nosuch}]\n' >"$T/c.yaml"
code "an unknown tool in a file is 3" 3 "$PROFRIG" run -o "$T/runs" --engine host --config "$T/c.yaml"
like "with file and line" "$(cat "$T/err")" "c.yaml:2"
printf 'model: {name: x, comand: [true]}\nenv: [1]\ntimeout: soon\n' >"$T/c.yaml"
code "configuration errors are 3" 3 "$PROFRIG" run -o "$T/runs" --engine host --config "$T/c.yaml"
is "all of them are reported" "$(grep -oE 'c.yaml:[123]' "$T/err" | sort -u | wc -l)" 3
like "with a suggestion" "$(cat "$T/err")" "did you mean 'command'"
code "a missing program and a missing library are 4" 4 run --tools absent -- true
like "both are named" "$(cat "$T/err")" "no-such-profiler-here.*libno-such-library.so.9"
PROFRIG_DOCKER="docker -H unix:///nonexistent/sock" code "an engine that does not answer is 4" 4 "$PROFRIG" run -o "$T/runs" --engine docker --image x -- true
if [ ! -d /sys/class/drm ]; then
	code "a GPU tool without a GPU is 4" 4 "$PROFRIG" run -o "$T/runs" --engine host --tools gpu_power -- true
fi
check "no run directory was made by any of them" test ! -e "$T/runs"
