#!/usr/bin/env bash
# compare: runs, folders, campaigns, traces and tables of lib perf, side by side; refusals, gate, statuses, hostile directories; real runs of a command that
# says how fast it was.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
pc() { timeout 120 "$PROFRIG" compare "$@"; }
rows() { jq -r '.rows[] | "\(.key) \(.verdict)"' "$@"; }
# run FOLDER VALUE [UNIT]: a run that reports it; its time is not judged, as the machine is shared
cat >say.sh <<'END'
echo "performance: $(cat value)"
END
run() {
	echo "$2 ${3:-items/s}" >value
	"$PROFRIG" -q run --engine host --no-analyze "${@:4}" -o "$1" -- sh say.sh >/dev/null 2>run.err || { cat run.err; return 1; }
}
values() { local to=$1 v; shift; for v in "$@"; do run "$to" "$v" || return 1; done; }
check "runs of a command" values before 1000 1004 996 1002 998
check "that became slower" values after 801 805 797 803 799
check "and stays as it was" values again 1001 1003 997 1002 999

# --- what a command line may be ---
code "nothing" 2 pc
code "one folder alone" 2 pc before
like "has nothing to compare with" "$(cat err)" "one input alone: nothing to compare it with"
code "a threshold that is none" 2 pc before after --threshold much
code "a confidence that is none" 2 pc before after --confidence 1
code "a gate of another kind" 2 pc before after --gate=loose
code "a folder that is not there" 5 pc before none
code "a file that nothing reads" 5 pc before say.sh
code "a metric that no run has" 2 pc before after --metric speed
like "is named" "$(cat err)" "no run has a figure 'speed'"

# --- folders of runs ---
code "two folders" 0 pc before after --metric performance --json
is "have what is relied on" "$(jq -r '[.comparable.score, (.comparable.reasons | length), (.rows | length), .verdict] | @csv' out)" '1,0,1,"slower"'
is "of each row" "$(jq -r '.rows[0] | [has("key", "a", "b", "delta", "delta_rel", "ci_low", "ci_high", "p_value", "p_adj", "n", "method", "verdict")] | all' out)" true
is "and of each side" "$(jq -r '.rows[0] | (.a, .b) | [has("n", "mean", "median", "stddev")] | all' out | sort -u)" true
is "in numbers" "$(jq -r '.rows[0] | "\(.key) \(.n) \(.a.mean) \(.b.mean) \(.delta) \(.better) \(.method) \(.verdict)"' out)" "performance 10 1000 801 -199 higher welch-log-holm slower"
check "the interval holds the change" jq -e '.rows[0] | .ci_low < .delta_rel and .delta_rel < .ci_high and .ci_high < -0.15 and .p_value <= .p_adj' out
code "the other way round" 0 pc after before --metric performance --json
is "is faster" "$(rows out)" "performance faster"
code "what did not change" 0 pc before again --metric performance --json
is "is the same, which is a claim of its own" "$(rows out)" "performance same"
code "a wide threshold" 0 pc before after --metric performance --threshold 30% --json
is "sees none" "$(rows out)" "performance same"
code "without --metric" 0 pc before again --json
is "all metrics and the time are explored" "$(jq -r '[.rows[].metric] | sort | join(" ")' out)" "cpu_system cpu_user duration max_rss performance"
is "and p is adjusted for that" "$(jq -r '.adjusted, ([.rows[].method | select(. != "few")] | map(endswith("-bh")) | all)' out | paste -sd' ')" "bh true"
code "as text" 0 pc before after --metric performance
like "names the sides" "$(cat out)" "A  before  5 runs
B  after  5 runs"
like "and the figure" "$(cat out)" "-19.9 % +1000 items/s +801 items/s +-20.3 % to -19.5 % .* 5\+5  slower   performance"
like "and how p was adjusted" "$(cat out)" "p adjusted by Holm"
code "three sides" 0 pc before after again --metric performance --json
is "are each compared with the first" "$(jq -r '.rows[] | "\(.side) \(.against) \(.verdict)"' out | sort)" "B A slower
C A same"

# --- gate ---
code "a gate" 7 pc before after --metric performance --gate
like "says why" "$(cat err)" "gate: 1 figure is slower"
code "what is faster passes" 0 pc after before --metric performance --gate=strict
code "what is the same passes" 0 pc before again --metric performance --gate=strict
code "a wide threshold passes" 0 pc before after --metric performance --threshold 30% --gate
values noisy 1100 600 1000 300 900
code "what is unclear passes" 0 pc before noisy --metric performance --gate
like "and is reported" "$(cat err)" "gate: 1 figure is unclear, and passed"
code "but not a strict gate" 7 pc before noisy --metric performance --gate=strict
code "one run each says nothing" 0 pc before/latest after/latest --metric performance --gate
like "which the table states, with the reason" "$(cat out)" "1 figure has fewer than 3 runs on a side"
is "and the change is shown all the same" "$(pc before/latest after/latest --metric performance --json | jq -r '.rows[0] | "\(.verdict) \(.n) \(.delta) \(.p_value)"')" "unclear 2 -199 null"

# --- what is not comparable ---
for v in 1 2 3; do run tokens "80$v" tokens/s; done
code "other units" 0 pc before tokens --json
is "are refused" "$(jq -r '.verdict, .comparable.score, (.comparable.reasons[0]), ([.rows[].verdict] | unique | join(" "))' out | paste -sd'|')" "not comparable|0|unit of performance: 'items/s' in A, 'tokens/s' in B|unclear"
code "by a gate, too" 7 pc before tokens --gate
for v in 1 2 3; do run traced "100$v" items/s --tools strace; done
if [ -d traced ] && ls traced/*/run.json >/dev/null 2>&1; then
	code "runs with tools beside runs without" 7 pc before traced --gate
	like "are refused" "$(cat out)" "refused: tools: none in A, strace in B"
else
	skip "runs with tools" "strace does not work here"
fi
"$PROFRIG" -q run --engine host --no-analyze -o after -- sh -c 'exit 3' >/dev/null 2>&1
code "a run that failed" 0 pc before after --metric performance --json
is "does not count, and is reported" "$(jq -r '.comparable.score, .rows[0].b.n, .comparable.reasons[0], .sides[1].failed' out | paste -sd'|')" "0.9|5|B: 1 of 6 runs did not end well and do not count|1"
mkdir only_failed && cp -r after/latest/ only_failed/one
code "failed runs alone" 7 pc before only_failed --gate
like "refuse" "$(cat out)" "refused: B has no run that ended well: one: failed"
for v in 1 2 3; do echo "100$v items/s" >value; "$PROFRIG" -q run --engine host --no-analyze -o other -- sh ./say.sh >/dev/null; done
code "another command" 0 pc before other --metric performance --gate
like "is a soft reason" "$(cat out)" "comparable by 0.90.*differs: command: sh say.sh in A, sh ./say.sh in B"

# --- tables ---
# analysis FOLDER FUNCTION_NS…: an analysis directory with functions f0, f1, …
analysis() {
	local to=$1 i=0 v
	shift
	mkdir -p "$to/tables"
	echo '{"schema":"profrig.analysis/1"}' >"$to/analysis.json"
	{
		echo "scope,name,category,calls,inclusive_ns,exclusive_ns"
		for v in "$@"; do echo "host,\"f$((i++))<a, b>\",,1,$v,$v"; done
	} >"$to/tables/functions.csv"
}
analysis one 100 200 300
analysis two 100 400
code "two analyses" 0 pc one two --json
is "are compared by function" "$(jq -r '.rows[] | "\(.key) \(.metric) \(.verdict) \(.delta)"' out | sort)" "f0<a, b> functions.exclusive_ns unclear 0
f1<a, b> functions.exclusive_ns unclear 200
f2<a, b> functions.exclusive_ns gone null"
code "small rows" 0 pc one two --min-share 30% --json
is "are left out" "$(jq -r '[.rows[].key] | join(" ")' out)" "f2<a, b> f1<a, b>"
check "and counted" jq -e '.notes | any(. == "1 figure has a smaller share than 30 % on both sides, and is left out")' out
code "what is gone" 7 pc one two --metric functions.exclusive_ns --gate=strict
like "fails a strict gate" "$(cat err)" "gate: 1 figure is gone from B"
for i in 1 2 3; do
	run withA 1 && run withB 1
	analysis "withA/latest/analysis" 10000$i 20000$i
	analysis "withB/latest/analysis" 10000$i 30000$i
done
code "tables of runs" 7 pc withA withB --metric functions.exclusive_ns --gate --json
is "are judged over the runs" "$(rows out | sort)" "f0<a, b> same
f1<a, b> slower"
printf 'main;load 100000\nmain;solve;<b>gemm</b> 900000\nmain;old 40000\n' >a.folded
printf 'main;load 120000\nmain;solve;<b>gemm</b> 600000\nmain;fresh 30000\n' >b.folded
code "two traces" 0 pc a.folded b.folded -o page.html --json
is "are analysed on the way" "$(rows out | sort)" "<b>gemm</b> unclear
fresh new
load unclear
main unclear
old gone
solve unclear"
is "and nothing of that stays" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name '.profrig-*.tmp' -newer b.folded | wc -l)" 0
check "the page is whole" grep -q '</html>' page.html
check "has the flame graph" grep -q '<svg class="flame"' page.html
check "with what changed" grep -q 'gemm&#60;/b&#62;: 900 µs in A, 600 µs in B; its own part -300 µs; changes with all above it: 300 µs' page.html
check "the change of a frame is that of all above it" grep -q 'main: 1.04 ms in A, 750 µs in B; its own part as it was; changes with all above it: 390 µs' page.html
check "and what has no width" grep -q '1 frame of A has no width, as B lacks it: old (40.0 µs)' page.html
check "the same as wide as in A" grep -q '1 frame of B has no width, as A lacks it: fresh (30.0 µs)' page.html
is "with a switch between the three" "$(grep -c 'type="radio"' page.html)" 3
is "the widths of the change" "$(sed -n '/class="of-change"/,/<\/div>/p' page.html | grep -oE 'width="[0-9.]+"[^>]*><title>[^:]+' | sed 's/" .*<title>/ /; s/width="//' | xargs)" "1200.00 all 1200.00 main 923.08 solve 923.08 &#60;b&#62;gemm&#60;/b&#62; 61.54 load 92.31 fresh 123.08 old"
is "no text of a trace is markup" "$(grep -c '<b>gemm' page.html)" 0
is "nor is there a script or an address" "$(grep -cE '<script|https?:' page.html)" 0
code "a page that cannot be written" 4 pc before again -o /proc/none/page.html

# --- a campaign ---
mkdir -p k/runs k/results
cat >k/plan.json <<'END'
{"schema":"profrig.campaign/1","name":"k","repeat":4,"order":"interleaved","seed":1,
 "cells":[{"id":"aaaaaaaaaaa1","label":"T=1","model":"x","axes":{"env.T":"1"},"is_baseline":true,"baseline":null,"config":{}},
  {"id":"aaaaaaaaaaa2","label":"T=2","model":"x","axes":{"env.T":"2"},"is_baseline":false,"baseline":"aaaaaaaaaaa1","config":{}},
  {"id":"bbbbbbbbbbb3","label":"T=3 slow","model":"x","axes":{"env.T":"3"},"is_baseline":false,"baseline":"aaaaaaaaaaa1","config":{}}],
 "gate":[{"metric":"performance","threshold":"5%"}],"metrics":["performance"]}
END
# commit CELL REPEAT VALUE
commit() {
	run made "$3" items/s --label campaign=k --label "cell=$1" --label "repeat=$2" --label "block=$2" || return 1
	mv "made/$(readlink made/latest)" "k/runs/$1-$2.1"
	echo "$1-$2.1" >"k/results/$1-$2"
}
drift=(1000 900 800 700)
for b in 1 2 3 4; do
	d=${drift[b - 1]}
	commit aaaaaaaaaaa1 $b "$d"
	commit aaaaaaaaaaa2 $b "$((d + b))"
	commit bbbbbbbbbbb3 $b "$((d * 8 / 10 + b))"
done
cp -r k/runs/aaaaaaaaaaa2-1.1 k/runs/aaaaaaaaaaa2-1.2 # an attempt that is not committed
cp -r k/runs/aaaaaaaaaaa2-1.1 k/runs/cccccccccccc-1.1 # a cell of an older plan
echo cccccccccccc-1.1 >k/results/cccccccccccc-1
code "a campaign" 0 pc k --metric performance --json
is "is compared by its plan, blocks as pairs" "$(jq -r '.rows[] | "\(.side)|\(.against)|\(.verdict)|\(.method)|\(.n)"' out)" "T=2|T=1|same|paired-log-holm|8
T=3 slow|T=1|slower|paired-log-holm|8"
code "its gate" 7 pc k --gate --json
is "declares the metric" "$(jq -r '[.rows[].metric] | unique | join(" ")' out)" performance
code "two cells" 0 pc k:T=1 k:bbb --metric performance --json
is "by label and by the beginning of an id" "$(rows out)" "performance slower"
code "a cell's id that several have" 5 pc k:aaa k:bbb
like "is refused" "$(cat err)" "several cells' ids begin so"
code "a campaign against one of its cells" 2 pc k k:T=1
code "a cell against its campaign" 0 pc k:T=1 k --metric performance --json
is "has all others" "$(jq -r '.rows[] | "\(.side) \(.verdict)"' out)" "T=2 same
T=3 slow slower"
cp -r k k2
code "two campaigns" 0 pc k k2 --metric performance --json
is "are matched cell by cell" "$(jq -r '.rows | length' out)" 3
rm k2/results/bbbbbbbbbbb3-4
code "a run that is missing" 0 pc k2 --metric performance
like "is a soft reason" "$(cat out)" "T=3 slow: 1 of 4 runs of the plan are missing"
echo ../../before/latest >k2/results/bbbbbbbbbbb3-4
code "a result that names no attempt" 6 pc k2 --metric performance
like "is reported" "$(cat err)" "k2/results/bbbbbbbbbbb3-4: it names no attempt of its run"

# --- history ---
# made FOLDER VALUE…: runs a day apart
made() {
	local to=$1 i=0 v
	shift
	for v in "$@"; do
		mkdir -p "$to/r$((++i))"
		printf '{"schema":"profrig.run/1","id":"r%d","status":"success","clocks":[{"realtime_ns":%d000000000}],"metrics":[{"name":"performance","value":%s,"unit":"items/s"}]}' \
			$i $((1700000000 + 86400 * i)) "$v" >"$to/r$i/run.json"
	done
}
made series 100 101 99 100 102 98 100 101 99 100 80 81 79 80 82 78 80 81 79 80
code "a history" 0 pc --history performance series --json
is "is in the order of time" "$(jq -r '[.runs[].value] | join(" ")' out)" "100 101 99 100 102 98 100 101 99 100 80 81 79 80 82 78 80 81 79 80"
is "and tells where the level changes" "$(jq -r '.changes[] | "\(.at) \(.run) \(.before) \(.after) \(.verdict)"' out)" "10 series/r11 100 80 slower"
code "as text" 0 pc --history performance series
like "has the change between its runs" "$(cat out)" "series/r10
  ---- 100 items/s → 80 items/s, -20.0 %, p 0.001: slower
  2023-"
code "of what no run has" 2 pc --history speed series
code "of runs with other units" 7 pc --history performance series tokens
code "with a gate" 2 pc --history performance series --gate
code "of a function" 0 pc --history 'functions.exclusive_ns:f1<a, b>' withA withB --json
is "has its key behind a colon" "$(jq -r '[.runs[].value] | length' out)" 6

# --- tables of lib perf ---
HEAD=library,config,backend,device,calls,repeats,mean_us,median_us,stddev_us,min_us,gflops,gbps,energy_j,status,reason,key
perf() { printf '%s\nrocblas,x,one,a cpu,5,99,%s,%s,0.01,%s,1,1,,ok,,dot n=9\n' "$HEAD" "$1" "$1" "$1"; }
perf 10 >a.csv
perf 20 >b.csv
code "two tables of lib perf" 0 pc a.csv b.csv --json
"$PROFRIG" lib compare a.csv b.csv --json >want.json 2>/dev/null
check "are compared as lib compare does" cmp want.json out
code "with a gate" "$("$PROFRIG" lib compare a.csv b.csv --gate >/dev/null 2>&1; echo $?)" pc a.csv b.csv --gate
code "beside a run" 2 pc a.csv before

# --- hostile directories ---
mkdir bad
for what in empty torn wrong nan; do mkdir -p bad/$what; done
: >bad/empty/run.json
head -c 400 before/latest/run.json >bad/torn/run.json
echo '{"schema":"profrig.run/9"}' >bad/wrong/run.json
echo '{"schema":"profrig.run/1","status":"success","metrics":[{"name":"performance","value":NaN}]}' >bad/nan/run.json
for what in empty torn wrong nan; do
	code "a run.json that is $what" 5 pc before bad/$what
	like "is named" "$(cat err)" "bad/$what/run.json"
done
mkdir -p bad/fifo bad/link
mkfifo bad/fifo/run.json
ln -s ../../before/latest/run.json bad/link/run.json
code "a FIFO is not waited for" 5 pc before bad/fifo
code "a link is not followed" 5 pc before bad/link
cp -r before some
mkdir some/odd && : >some/odd/run.json
code "a damaged run in a folder" 6 pc some after --metric performance --json
is "is left out" "$(jq -r '.rows[0].a.n' out)" 5
like "and is reported" "$(cat err)" "some/odd/run.json"
mkdir -p odd
for i in 1 2 3; do
	mkdir odd/$i
	echo '{"schema":"profrig.run/1","status":"success","metrics":[{"name":"performance","value":"12","unit":"items/s"},{"name":"a\u001b[31m;b","value":-1,"unit":"\u001b]0;x"},{"name":"z","value":0,"unit":""}],"tools":"x","labels":3}' >odd/$i/run.json
done
code "values that are none" 0 pc odd odd
like "are counted" "$(cat out)" "6 values are no finite number"
is "and control characters are shown as such" "$(grep -c $'\033' out)" 0
mkdir -p way
ln -s "$T/one/tables" way/tables
cp one/analysis.json way/
code "tables behind a link" 6 pc way one --metric functions.exclusive_ns --json
is "are not read" "$(rows out | sort | head -n 1)" "f0<a, b> new"
