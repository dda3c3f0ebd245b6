#!/usr/bin/env bash
# The machine's clock is set while a run is on (for profrig alone, by a preloaded library): durations and samples do not notice, a run does not end before
# it began, outputs are found, ids differ, the order of runs is right.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
export CLOCK_STEP_FILE=$T/step
shim=$B/tests/fakes/clock_step.so
check "the library is built (make test-build)" test -e "$shim"
mkdir tools
cat >tools/here.yaml <<'Y'
name: here
class: env
env: {HERE: "1"}
outputs: [{glob: "./here-*.json", reader: tef, required: true}]
Y
good='[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"f"},'
seconds() { date -ud "$1" +%s.%N; }

jump() { # name, before the workload, in it, after it (seconds, "" none)
	local name=$1 dir d now
	rm -f here-*.json step
	[ -z "$2" ] || echo "$2" >step
	now=$(date +%s)
	code "$name" 0 env LD_PRELOAD="$shim" "$PROFRIG" -q run -o runs --engine host --timeout 60 --tools-dir "$ROOT/tests/fixtures/tools" --tools outs,cpu_usage \
		--set 'tools[1].sampler.period_s=0.02' -- \
		sh -c "sleep 0.15; rm -f step; [ -z '$3' ] || echo '$3' >step; sleep 0.15; [ -z '$4' ] || echo '$4' >step; echo '$good' >\$OUTS/must.json; echo '$good' >\$OUTS/may.json"
	dir=$(cat out)
	rm -f step
	check "$name: no duration is negative, none is long" jq -e '[.durations_s[] | select(. != null)] | all(. >= 0 and . < 60)' "$dir/run.json"
	check "$name: it does not end before it began" jq -e '.ended_utc >= .started_utc' "$dir/run.json"
	d=$(awk -v a="$(seconds "$(field "$dir/run.json" .started_utc)")" -v b="$(seconds "$(field "$dir/run.json" .ended_utc)")" 'BEGIN { print (b - a < 60) ? "short" : b - a }')
	is "$name: its times of day lie as far apart as it took" "$d" short
	check "$name: steps are in order" jq -e '[.steps[] | select(.started_ns > .ended_ns)] | length == 0' "$dir/run.json"
	check "$name: CLOCK_MONOTONIC of its clocks only grows" jq -e '[.clocks[].monotonic_ns] | . == sort' "$dir/run.json"
	is "$name: outputs are found" "$(field "$dir/run.json" '[.artifacts[].verdict] | join(" ")')" "valid valid"
	check "$name: samples go on at their pace" awk -F, '/^[0-9]/ { if (n++ && ($1 <= last || $1 - last > 1e9)) bad = 1; last = $1 } END { exit bad || n < 5 }' "$dir/samples/cpu_usage.csv"
	is "$name: it is said" "$(field "$dir/run.json" '[.warnings[] | select(.code == "W_CLOCK_STEP")] | length')" "$5"
	check "$name: report accepts it" "$PROFRIG" -q report "$dir"
}
jump "an hour forward" "" 3600 3600 1
jump "an hour back" "" -3600 -3600 1
jump "back and forth" "" -86400 86400 1
jump "a wrong clock from the beginning, then right" 5000000 "" "" 1
jump "before 1970" "" -4000000000 -4000000000 1
jump "no step" "" "" "" 0

# What a tool leaves in the workload's own folder is told from what was there by its time, which is the new clock's. Files have the machine's own time, so
# a step back is one from a wrong clock to the right one.
fetch() { # name, before the workload, in it
	rm -rf cwd step
	mkdir cwd
	echo '{}' >cwd/old.json
	touch -d '2 days ago' cwd/old.json
	[ -z "$2" ] || echo "$2" >step
	code "$1: outputs in the workload's folder" 0 env LD_PRELOAD="$shim" sh -c "cd cwd && exec $PROFRIG -q run -o ../runs --engine host --no-analyze --tools-dir ../tools --tools here -- \
		sh -c 'sleep 0.1; rm -f $T/step; [ -z \"$3\" ] || echo \"$3\" >$T/step; sleep 0.1; echo \"\$GOOD\" >here-1.json'"
	is "$1: outputs in the workload's folder are found" "$(field "$(cat out)/run.json" '[.artifacts[].verdict] | join(" ")')" valid
	check "$1: what was there before stays" test -e cwd/old.json
	rm -f step
}
export GOOD=$good
fetch "no step" "" ""
fetch "an hour back" 3600 ""

for i in 1 2 3; do
	[ $i = 2 ] && echo -7200 >step
	LD_PRELOAD=$shim "$PROFRIG" -q run -o many --engine host --no-analyze -- true
	[ $i != 2 ] || rm -f step
done >ids
is "ids differ" "$(sort -u ids | wc -l)" 3
is "'latest' is the last one" "$(readlink many/latest)" "$(basename "$(tail -n 1 ids)")"
echo 7200 >step
LD_PRELOAD=$shim "$PROFRIG" list runs --json -o many >out 2>err || "$PROFRIG" list runs --json many >out 2>err
check "list runs has no negative duration" jq -e '[.. | .duration_s? // empty | tonumber? // empty] | all(. >= 0)' out
