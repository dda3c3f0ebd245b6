#!/usr/bin/env bash
# What tools cost: runs with and without them in pairs, intervals, budgets, the gate. Tools made here cost what is asked of them.
# It runs alone: it compares times.
. "$(dirname "$0")/../lib.sh"

mkdir "$T/tools"
cat >"$T/tools/heavy.yaml" <<'END'
name: heavy
about: makes the workload sleep twice as long
class: env
env: {HEAVY: "1"}
budget: 20%
END
cat >"$T/tools/light.yaml" <<'END'
name: light
about: costs nothing
class: env
env: {LIGHT: "1"}
budget: 100%
END
cat >"$T/work.sh" <<'END'
sleep 0.1; [ -z "${HEAVY:-}" ] || sleep 0.1
[ -z "${HEAVY:-}" ] && echo "performance: 1000 tokens/s" || echo "performance: 500 tokens/s"
END
run() { "$PROFRIG" run --engine host -o "$T/runs" --tools-dir "$T/tools" "$@" -- sh "$T/work.sh"; }
kinds() { while read -r d; do jq -r '[.tools[].name] | if . == [] then "-" else join("+") end' "$d/run.json"; done <"$T/out" | tr '\n' ' '; }
last() { tail -n 1 "$T/out"; }
cost() { jq -r --arg t "$1" ".overhead[] | select(.tools == \$t) | $2" "$(with_tools)/baseline.json"; }
with_tools() { while read -r d; do [ ! -e "$d/baseline.json" ] || echo "$d"; done <"$T/out" | tail -n 1; }

code "no tool to compare with: 2" 2 run --baseline
like "is reported" "$(cat "$T/err")" "and 'sh' has no tool: name some with --tools"
check "before anything runs" test ! -e "$T/runs"
code "three pairs" 0 run --no-analyze --tools heavy --baseline --repeat 3
is "go there and back" "$(kinds)" "- heavy heavy - - heavy "
check "the cost has an interval" jq -e '.method == "paired log ratios, Student t" and .confidence == 0.95 and (.overhead | length == 1) and
	(.overhead[0] | .pairs == 3 and .overhead > 0.5 and .overhead < 1.5 and .ci_low < .overhead and .overhead < .ci_high)' "$(last)/baseline.json"
is "by the tests of compare" "$(cost heavy '"\(.change) \(.method) \(.verdict) \(.p_value < 0.05)"')" "slower paired-log over true"
is "throughput is compared as well" "$(cost heavy '"\(.baseline_performance | round) \(.tools_performance | round) \(.performance_ratio) \(.unit)"')" "1000 500 0.5 tokens/s"
is "and all runs are listed" "$(jq -r '[.runs[] | "\(.block)\(.tools)"] | join(" ")' "$(last)/baseline.json")" "0 0heavy 1heavy 1 2 2heavy"
like "the closing lines say it" "$(cat "$T/err")" 'overhead of heavy: \+[0-9.]+ % \(95 %: .* 3 pairs\)'
like "clean figures are those of runs without tools" "$(cat "$T/err")" 'clean throughput 1000 tokens/s, from runs without tools; with heavy it is -50.0 %'
like "and that the budget is exceeded" "$(cat "$T/err")" 'warning: W_OVERHEAD: heavy costs \+.*more than the budget of 20 %'
is "every profiled run knows" "$(while read -r d; do jq -r '[.metrics[].name | select(startswith("overhead"))] | join(",")' "$d/run.json"; done <"$T/out" | tr '\n' ' ')" \
	" overhead,overhead_mean,overhead_low,overhead_high overhead,overhead_mean,overhead_low,overhead_high   overhead,overhead_mean,overhead_low,overhead_high "
is "and warns" "$(jq -r '[.warnings[].code] | join(" ")' "$(last)/run.json")" W_OVERHEAD
is "a run without tools is marked as one" "$(while read -r d; do jq -r '.labels.baseline // "-"' "$d/run.json"; done <"$T/out" | tr '\n' ' ')" "true - - true true - "

code "the gate" 7 run -q --no-analyze --tools heavy --baseline --repeat 2 --gate
code "with a budget that is large enough" 0 run -q --no-analyze --tools heavy --baseline --repeat 2 --gate --overhead-budget 1000%
is "two pairs have no interval" "$(cost heavy '"\(.pairs) \(.ci_low) \(.change) \(.method)"')" "2 null unclear few"
is "and no metrics of it" "$(jq -r '[.metrics[].name | select(startswith("overhead"))] | join(",")' "$(with_tools)/run.json")" "overhead,overhead_mean"
check "latest is a run with the tool, not the last one" sh -c 'test -e "$0/latest/baseline.json" && test "$(readlink "$0/latest")" != "$(basename "$1")"' "$T/runs" "$(last)"
is "is reported in baseline.json" "$(cost heavy '"\(.budget) \(.verdict)"')" "10 within"
code "a tool within its budget" 0 run -q --no-analyze --tools light --baseline --repeat 2 --gate
code "a budget for the stack" 7 run -q --no-analyze --tools light,heavy --baseline --set overhead.budget=10% --gate
code "each tool alone" 0 run --tools light,heavy --baseline=tools --repeat 2
is "latest has all of them" "$(jq -r '[.tools[].name] | join("+")' "$T/runs/latest/run.json")" "light+heavy"
is "in turn" "$(kinds)" "- light heavy light+heavy light+heavy heavy light - "
is "all of them are reported" "$(jq -r '[.overhead[] | .tools + (if .alone then " alone" else "" end)] | join("; ")' "$(with_tools)/baseline.json")" "light alone; heavy alone; light,heavy"
like "by their budgets" "$(cost heavy .verdict) $(cost light .verdict)" "^(over|unclear) within$"
run_dir=$(while read -r d; do [ "$(jq '.tools | length' "$d/run.json")" != 2 ] || echo "$d"; done <"$T/out" | head -n 1)
check "the analysis has the table" test "$(head -n 1 "$run_dir/analysis/tables/overhead.csv")" = "tools,set,pairs,overhead,ci_low,ci_high,baseline_s,tools_s,baseline_performance,tools_performance,performance_ratio,performance_low,performance_high,budget,unit,verdict"
is "with three rows, listed once" "$(jq -r '[.tables[] | select(.name == "overhead") | .rows | tostring] | join(",")' "$run_dir/analysis/analysis.json") $(jq -r '.tables.overhead.data[0] | length' "$run_dir/analysis/report.json")" "3 3"
check "and so has the page" grep -q overhead_mean "$run_dir/analysis/report.html"
cp "$run_dir/analysis/tables/overhead.csv" "$T/before"
code "analysed again" 0 "$PROFRIG" -q analyze "$run_dir" -o "$T/again"
check "it has the same" cmp "$T/before" "$T/again/tables/overhead.csv"
code "report of it" 0 "$PROFRIG" -q report "$run_dir"

code "one pair" 0 run --no-analyze --tools heavy --baseline
like "says that it knows nothing of noise" "$(cat "$T/err")" 'overhead of heavy: \+.* % \(one pair: --repeat tells how much of that is noise\)'
is "and has no interval" "$(cost heavy '"\(.pairs) \(.ci_low)"')" "1 null"

# A run that fails is no half of a pair.
cat >"$T/fails.sh" <<'END'
[ -n "${HEAVY:-}" ] && [ ! -e "$0.once" ] && { : >"$0.once"; exit 3; }
sleep 0.1
END
code "a workload that fails once" 1 "$PROFRIG" run --engine host -o "$T/runs" --no-analyze --tools-dir "$T/tools" --tools heavy --baseline --repeat 3 -- sh "$T/fails.sh"
is "leaves two pairs" "$(cost heavy .pairs)" 2
is "only those that ended well are compared" "$(grep -c '^failed .*without tools' "$T/err") $(grep -c '^success .*without tools' "$T/err")" "0 1"
code "one that always fails" 1 "$PROFRIG" run --engine host -o "$T/runs" --no-analyze --tools-dir "$T/tools" --tools heavy --baseline --gate --repeat 2 -- false
is "none" "$(cost heavy '"\(.pairs) \(.overhead) \(.verdict)"')" "0 null "

for bad in '--baseline=some' '--gate' '--overhead-budget 5%' '--baseline --overhead-budget ten' '--baseline --overhead-budget -3%'; do
	# shellcheck disable=SC2086
	"$PROFRIG" run --engine host -o "$T/none" $bad -- true >"$T/out" 2>"$T/err"
	got=$?
	check "'$bad' is refused ($got)" test $got = 2 -o $got = 3
done
check "and nothing ran" test ! -e "$T/none"
code "a tool's budget that is none" 3 "$PROFRIG" run --engine host --tools-dir "$T/tools" --set 'overhead.budget=fast' -- true
like "is reported with the way to write it" "$(cat "$T/err")" "overhead.budget: want a percentage such as 10%, not 'fast'"
code "plan shows all kinds" 0 "$PROFRIG" -q plan --engine host --tools-dir "$T/tools" --tools light,heavy --baseline=tools -- true
is "of run" "$(grep -c '^run  ' "$T/out")" 4
