#!/usr/bin/env bash
# perf record as a tool: a real recording, its text read back; what plan says of capabilities; how failures are reported.
. "$(dirname "$0")/../lib.sh"

plan() { "$PROFRIG" -q plan --engine "$1" ${2:+--image "$2"} ${3:+"$3"} --tools perf --set tools[0].options.call_graph=dwarf -- /bin/true; }
code "plan for docker" 0 plan docker some:image
like "says which capability the tool lacks" "$(cat "$T/out")" 'lacks the capability SYS_ADMIN, which --privileged-profiling gives: '
is "and does not give it" "$(grep '^start' "$T/out" | grep -c SYS_ADMIN)" 0
code "plan of privileged profiling" 0 plan docker some:image --privileged-profiling
like "says which capability the container gets" "$(cat "$T/out")" 'gives the container the capability SYS_ADMIN \(container.privileged_profiling\): '
like "and gives it" "$(grep '^start' "$T/out")" '--cap-add[ =]SYS_ADMIN'
like "the wrapper has the option" "$(cat "$T/out")" 'perf record --quiet -e cycles -F 997 --call-graph dwarf -k CLOCK_MONOTONIC -o [^ ]*/artifacts/perf/perf.data -- /bin/true'
code "plan on host" 0 plan host
is "says nothing of capabilities" "$(grep -c capability "$T/out")" 0
code "an unknown way to find stacks is refused" 3 "$PROFRIG" -q plan --tools perf --set tools[0].options.call_graph=lbr -- /bin/true

if ! need perf command -v perf; then
	skip "a recording" "perf is not installed"
	exit 0
fi
if ! need perf perf record --quiet -e cycles -k CLOCK_MONOTONIC -o "$T/probe" -- true; then
	skip "a recording" "the kernel does not let perf record: perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)"
	exit 0
fi

busy='i=0; while [ $i -lt 600000 ]; do i=$((i + 1)); done'
code "a profile of any program" 0 "$PROFRIG" -q run --engine host -o "$T/runs" --tools perf,cpu_power -- /bin/sh -c "$busy"
run=$(cat "$T/out")
is "the artifact was read and is valid" "$(field "$run/run.json" '.artifacts[] | select(.tool == "perf") | .reader + " " + .verdict')" "perf valid"
check "it has samples" jq -e '.artifacts[] | select(.tool == "perf") | .records > 3' "$run/run.json"
check "the command is the root of its time" grep -q '^host,sh,sampled,' "$run/analysis/tables/functions.csv"
check "times add up" jq -e '.checks | length > 0 and all(.ok)' "$run/analysis/analysis.json"
is "its clock is the samplers'" "$(jq '[.warnings[] | select(.code == "W_NOT_ALIGNED")] | length' "$run/analysis/analysis.json")" 0
is "energy is attributed to sampled functions" "$(awk -F, '$5 == "sh" || $4 == "sh" { n++ } END { print (n > 0) }' "$run"/analysis/tables/energy.csv)" 1
code "the closing lines" 0 "$PROFRIG" run --engine host -o "$T/said" --tools perf -- /bin/sh -c "sleep 0.5; $busy"
like "say what perf added to the time" "$(cat "$T/err")" "success +sh in .* with perf around it: its events span [0-9.]+ m?s"
code "info" 0 "$PROFRIG" -q info --json "$run/artifacts/perf/stacks.perf"
is "says reader and clock" "$(jq -r '.reader + " " + .format' "$T/out")" "perf perf script (sampled stacks)"
sampled=$(jq '.definitions.stack_samples' "$T/out")
is "as many samples as perf wrote" "$sampled" "$(perf script -f -i "$run/artifacts/perf/perf.data" -F pid 2>/dev/null </dev/null | grep -c '[0-9]')"

code "a failing workload keeps its status" 1 "$PROFRIG" -q run --engine host -o "$T/runs" --no-analyze --tools perf -- /bin/sh -c "$busy; exit 7"
is "which is its own" "$(field "$(cat "$T/out")/run.json" '.status + " " + (.exit_code | tostring)')" "failed 7"
code "an event that nobody knows" 1 "$PROFRIG" -q run --engine host -o "$T/runs" --no-analyze --tools perf --set tools[0].options.event=nosuch -- /bin/sh -c "$busy"
like "is reported before the workload starts" "$(cat "$(cat "$T/out")"/steps/*pre*perf*.err)" "perf cannot record 'nosuch' here"
