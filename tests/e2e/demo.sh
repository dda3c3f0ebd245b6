#!/usr/bin/env bash
# The example model, profiled on every engine: its report has the flame graph epoch;step;phase;sgemm with estimated energy, and all files are as users rely on.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/contract.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
cd "$ROOT" || exit 1

report() { # engine
	local engine=$1 dir a
	code "$engine: the example runs" 0 "$PROFRIG" run -o "$T/$engine" --engine "$engine" examples/mlp
	dir=$(cat "$T/out")
	a=$dir/analysis
	is "$engine: five lines close it" "$(grep -cE '^(success|  (time|energy|data|report) )' "$T/err")" 5
	like "$engine: the energy is said to be estimated" "$(grep '^  energy' "$T/err")" "estimated"
	run_contract "$dir"
	is "$engine: status" "$(field "$dir/run.json" '.status + " " + .engine')" "success $engine"
	is "$engine: every artifact is valid" "$(field "$dir/run.json" '[.artifacts[].verdict] | unique | join(" ")')" valid
	like "$engine: the performance line is a metric" "$(field "$dir/run.json" '.metrics[] | select(.unit == "samples/s") | .value')" '^[0-9]+'
	table_contract "$a" functions callpaths counters energy energy_totals energy_callpaths timeline
	for phase in forward backward; do
		like "$engine: time of epoch;step;$phase;sgemm" "$(cat "$a"/folded/time.folded)" "epoch;step;$phase;sgemm [0-9]+"
		like "$engine: energy of epoch;step;$phase;sgemm" "$(cat "$a"/folded/energy-*cpu0.folded)" "epoch;step;$phase;sgemm [0-9]+"
	done
	is "$engine: every energy row is flagged estimated" "$(jq '.tables.energy | (.columns | map(.name) | index("flags")) as $i | [.data[$i][] | select(test("estimated") | not)] | length' "$a/report.json")" 0
	check "$engine: the page is one file" test -s "$a/report.html"
	check "$engine: the page fetches nothing" sh -c "! grep -oE '(src|href)=\"(https?:)?//[^\"]*' '$a/report.html'"
	is "$engine: sgemm calls" "$(jq '.tables.functions as $f | ($f.columns | map(.name)) as $n | [range($f.data[0] | length)] | map(select($f.data[$n | index("name")][.] == "sgemm")) | map($f.data[$n | index("calls")][.]) | add' "$a/report.json")" 102
	check "$engine: epochs are nested in time order" jq -e '.tables.callpaths.data[1] | index("epoch;step;update") != null' "$a/report.json"
	check "$engine: the workload's CPU was sampled" jq -e '.tables.counters.data[0] | index("cpu.proc") != null' "$a/report.json"
}
check "the example is built" test -x examples/mlp/mlp
report host
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		check "$engine: the image is built offline" examples/mlp/image.sh $(engine_words $engine)
		report $engine
		is "$engine: no container is left" "$($(engine_words $engine) ps -aq --filter label=profrig.run)" ""
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
