#!/usr/bin/env bash
# Tables of a part of the time: --window, and the windows in which a run recorded. Of run directories made here whose answers are known.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/contract.sh"

# a_run DIR WINDOWS MARKS: 100 W from 10 s to 20 s, 20 W before and behind; calls a (8..14 s) with b inside (9..12 s), a again (16..22 s)
a_run() {
	mkdir -p "$1/samples" "$1/artifacts/t"
	cat >"$1/run.json" <<END
{"schema": "profrig.run/1", "id": "20240101T000000Z-a-0a1b2c", "model": "a", "status": "success", "engine": "host", "host": {"hostname": "n"},
 "clocks": [{"monotonic_ns": 1000000000, "realtime_ns": 1700000000000000000, "boottime_ns": 1000000000, "at": "begin"}], "idle": ${4:-[]},
 "windows": $2, "marks": $3,
 "steps": [{"name": "workload", "kind": "workload", "started_ns": 6000000000, "ended_ns": 24000000000, "exit_code": 0, "pid": 7}],
 "artifacts": [{"tool": "t", "path": "artifacts/t/t.json", "reader": "tef", "verdict": "valid", "records": 3}]}
END
	cat >"$1/artifacts/t/t.json" <<'END'
[{"ph":"M","pid":7,"tid":7,"ts":0,"name":"profrig","args":{"tracer":"roctx","version":"1","clock":"CLOCK_MONOTONIC","host":"n","exe":"x"}},
{"ph":"X","pid":7,"tid":7,"ts":8000000,"dur":6000000,"name":"a"},
{"ph":"X","pid":7,"tid":7,"ts":9000000,"dur":3000000,"name":"b"},
{"ph":"X","pid":7,"tid":7,"ts":16000000,"dur":6000000,"name":"a"}]
END
	awk 'BEGIN {
		printf "# profrig samples: 1\n# source: nvml\n# clock: CLOCK_MONOTONIC\n# host: n\n# storage: every\n# device: gpu0: A\n"
		print "t_ns,power.gpu0[W],energy.gpu0[J]"
		for (i = 0; i <= 75; i++) {
			t = 0.7 + i * 0.4; work = t < 10 ? 0 : t > 20 ? 10 : t - 10
			printf "%.0f,%s,%.9f\n", t * 1e9, (t >= 10 && t < 20 ? 100 : 20), 20 * (t - work) + 100 * work
		}
	}' >"$1/samples/gpu_power.csv"
}
cell() { # ANALYSIS TABLE KEYCOLUMNS=VALUES… COLUMN: of the first row that fits
	local dir=$1 table=$2 col=${*: -1} filter=true kv
	for kv in "${@:3:$#-3}"; do filter="$filter and .[\$n | index(\"${kv%%=*}\")] == \"${kv#*=}\""; done
	jq -r --arg t "$table" --arg k "$col" ".tables[\$t] | (.columns | map(.name)) as \$n | .data | transpose | map(select($filter))[0][\$n | index(\$k)]" "$dir/report.json"
}
near() {
	if awk -v a="$2" -v b="$3" -v e="$4" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && a != "null" && d <= e) }'; then ok "$1"; else not_ok "$1" "got $2, want $3 ± $4"; fi
}
window() { jq -r '.window | "\(.start_ns) \(.end_ns) \(.of)"' "$1/analysis.json"; }
holds() { check "$1: every check holds" jq -e '.checks | length > 0 and all(.ok)' "$2/analysis.json"; }

a_run "$T/whole" '[]' '[]'
code "the whole" 0 "$PROFRIG" -q analyze "$T/whole" -o "$T/w"
is "says so" "$(jq -r .window.of "$T/w/analysis.json")" all
origin=700000000 # the first sample

# From 11 s to 17.1 s: the edges lie between samples.
code "a window in seconds since the start" 0 "$PROFRIG" -q analyze --window 10.3s:16.4s "$T/whole" -o "$T/a"
is "is reported" "$(window "$T/a")" "10300000000 16400000000 10.3s:16.4s"
is "calls are cut at its edges" "$(cell "$T/a" functions name=a exclusive_ns) $(cell "$T/a" functions name=b exclusive_ns) $(cell "$T/a" functions name=a calls)" "3100000000 1000000000 2"
is "and counted" "$(jq -r '.window | "\(.spans_cut) \(.spans_outside)"' "$T/a/analysis.json")" "3 0"
near "energy of the counter is cut there too" "$(cell "$T/a" energy_totals counter=energy.gpu0 view=host total_j)" 610 1e-6
near "of the power too" "$(cell "$T/a" energy_totals counter=power.gpu0 view=host total_j)" 610 1e-6
near "to a gets what it drew" "$(cell "$T/a" energy counter=energy.gpu0 name=a exclusive_j)" 310 1e-6
near "and b" "$(cell "$T/a" energy counter=energy.gpu0 name=b exclusive_j)" 100 1e-6
near "what no call covers" "$(cell "$T/a" energy counter=energy.gpu0 name='[unattributed]' exclusive_j)" 200 1e-6
near "the counter's total is the same" "$(cell "$T/a" counters series=energy.gpu0 total)" 610 1e-6
near "its mean" "$(cell "$T/a" counters series=power.gpu0 mean)" 100 1e-9
near "its least" "$(cell "$T/a" counters series=power.gpu0 min)" 100 0
is "its samples are those inside" "$(cell "$T/a" counters series=power.gpu0 samples)" 16
holds "in a window" "$T/a"
table_contract "$T/a" functions
table_contract "$T/a" energy
table_contract "$T/a" counters

# The parts of a cut add up to the whole.
for how in linear previous trapezoid; do
	for part in all :9.123456s 9.123456s:13.777s 13.777s:; do
		code "$how, $part" 0 "$PROFRIG" -q analyze --format json --integration $how $([ $part = all ] || echo --window $part) "$T/whole" -o "$T/p-$part"
	done
	for c in energy.gpu0 power.gpu0; do
		sum=$(for part in :9.123456s 9.123456s:13.777s 13.777s:; do cell "$T/p-$part" energy_totals counter=$c view=host total_j; done | awk '{ s += $1 } END { printf "%.12g", s }')
		near "$how: the parts of $c add up" "$sum" "$(cell "$T/p-all" energy_totals counter=$c view=host total_j)" 1e-6
		sum=$(for part in :9.123456s 9.123456s:13.777s 13.777s:; do cell "$T/p-$part" energy counter=$c name=a exclusive_j; done | awk '{ s += $1 } END { printf "%.12g", s }')
		near "$how: and what a got of it" "$sum" "$(cell "$T/p-all" energy counter=$c name=a exclusive_j)" 1e-6
	done
done

# So do those of devices: who shares what is known of the whole, and one that idles in a window has its row there.
"$B/tests/fixtures/gen/make_otf2" --processes 3 --queues 2 --devices 3 --events 400 --power 1 --tail_us 40000 "$T/devices" >/dev/null
sums() { for a in "$@"; do tail -n +2 "$a/tables/energy_totals.csv"; done | awk -F, '{ k = $1 " " $2 " " $3; for (i = 4; i <= 6; i++) s[k, i] += $i; n[k]++ } END { for (k in n) print k, n[k], s[k, 4], s[k, 5], s[k, 6] }' OFMT=%.9g | sort; }
parts=(:20% 20%:35.5% 35.5%:80% 80%:99.9999% 99.9999%:)
for part in : "${parts[@]}"; do code "devices in $part" 0 "$PROFRIG" -q analyze --format csv --window "$part" "$T/devices" -o "$T/d-$part"; done
same=$(join -j 1 <(sums "$T/d-:" | sed 's/ /~/; s/ /~/') <(sums "${parts[@]/#/$T/d-}" | sed 's/ /~/; s/ /~/') | awk '{ for (i = 3; i <= 5; i++) { d = $i - $(i + 4); if (d < 0) d = -d; if (d > 1e-6) print }; if ($6 != 5) print }')
is "the parts of all views add up" "$same" ""
is "there are both views of each counter" "$(sums "$T/d-:" | wc -l)" 12
sharing() { jq -r '.tables.sharing.data | transpose | map(map(tostring) | join(" ")) | join("\n")' "$1/report.json" | sort; }
code "who shares what" 0 "$PROFRIG" -q analyze --window : "$T/devices" -o "$T/d1"
code "who shares what, in a window" 0 "$PROFRIG" -q analyze --window 99.9999%: "$T/devices" -o "$T/d2"
is "is the same" "$(sharing "$T/d2")" "$(sharing "$T/d1")"

# And call paths: a track has one name in all parts, and work that was launched in another part keeps its path.
cat >"$T/launched.json" <<'END'
{"schemaVersion": 1, "traceEvents": [
{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}}, {"ph": "M", "name": "thread_name", "pid": 2, "tid": 2, "args": {"name": "main"}},
{"ph": "X", "cat": "cpu_op", "name": "step", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
{"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": 10, "dur": 5, "args": {"correlation": 7}},
{"ph": "X", "cat": "cpu_op", "name": "later", "pid": 2, "tid": 2, "ts": 150, "dur": 200},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 50, "dur": 250, "args": {"device": 0, "stream": 7, "correlation": 7}}
]}
END
for part in : :120us 120us:200us 200us:; do code "paths in $part" 0 "$PROFRIG" -q analyze --format csv --window "$part" "$T/launched.json" -o "$T/l-$part"; done
paths() { for a in "$@"; do tail -n +2 "$a/tables/callpaths.csv"; done | awk -F, '{ k = $1 "," $2; for (i = 5; i <= 8; i++) s[k, i] += $i; n[k] } END { for (k in n) print k, s[k, 5], s[k, 6], s[k, 7], s[k, 8] }' | sort; }
is "paths of the parts add up" "$(paths "$T/l-:120us" "$T/l-120us:200us" "$T/l-200us:")" "$(paths "$T/l-:")"
like "with the work that was launched before" "$(cat "$T/l-200us:/tables/callpaths.csv")" "step;launch,1,0,0,0,100000,100000"
holds "of paths in a window" "$T/l-200us:"

# Marks.
marks='[{"name": "warm", "t_ns": 11000000000, "uncertainty_ns": 1200, "stamped": "received", "by": "workload"}, {"name": "end", "t_ns": 13000000000, "uncertainty_ns": 0, "stamped": "made", "by": "ann"},
 {"name": "warm", "t_ns": 17000000000, "uncertainty_ns": null, "stamped": "received", "by": "x"}, {"name": "odd", "t_ns": -4}, 7, {"t_ns": "x"}]'
a_run "$T/marked" '[]' "$marks"
code "marks" 0 "$PROFRIG" -q analyze "$T/marked" -o "$T/m"
is "are a table" "$(jq -r '.tables.marks.data | transpose | map(map(tostring) | join(" ")) | join(", ")' "$T/m/report.json")" \
	"warm 10300000000 1200 received workload, end 12300000000 0 made ann, warm 16300000000 null received x"
is "and instants of a track" "$(jq -r '[.inputs[] | select(.reader == "run") | "\(.instants) \(.tracks) \(.partial)"] | join(",")' "$T/m/analysis.json")" "3 1 false"
is "that no function is" "$(awk -F, 'NR > 1 { print $2 }' "$T/m/tables/functions.csv" | sort | tr '\n' ' ')" "a b "
code "from mark to mark" 0 "$PROFRIG" -q analyze --window warm:end "$T/marked" -o "$T/m1"
is "is its window" "$(window "$T/m1")" "10300000000 12300000000 warm:end"
near "with its energy" "$(cell "$T/m1" energy_totals counter=energy.gpu0 view=host total_j)" 200 1e-6
code "from a mark to the next of its name" 0 "$PROFRIG" -q analyze --window warm:warm "$T/marked" -o "$T/m2"
is "is its window" "$(window "$T/m2")" "10300000000 16300000000 warm:warm"
code "a mark and a time" 0 "$PROFRIG" -q analyze --window warm:90% "$T/marked" -o "$T/m3"
is "mix" "$(window "$T/m3" | cut -d' ' -f 1)" 10300000000
code "the name of a call" 0 "$PROFRIG" -q analyze --window b "$T/marked" -o "$T/m4"
is "is its time" "$(window "$T/m4")" "8300000000 11300000000 b"
for bad in 'end:warm:x' nosuch 5s:2s warm:nosuch 'a%:5' ''; do
	code "--window '$bad' is a usage error" 2 "$PROFRIG" analyze --window "$bad" "$T/marked" -o "$T/bad"
done
like "with the reason" "$(cat "$T/err")" "is no window: FROM:TO"
a_run "$T/epochs" '[]' '[{"name": "epoch 0", "t_ns": 11000000000}, {"name": "epoch 2", "t_ns": 13000000000}]'
why() { "$PROFRIG" -q "$2" --window "$1" "$T/epochs" -o "$T/bad${3:-}" 2>&1 >/dev/null | sed "s/.*\(the window .*\)/\1/; s/ (.profrig .* shows how)//"; }
for c in "analyze" "convert .json"; do
	like "${c% *}: a mark that is not there is named" "$(why nope: $c)" "^the window 'nope:': no mark or span is called 'nope' "
	like "${c% *}: behind another one too" "$(why 'epoch 0:nope' $c)" "^the window 'epoch 0:nope': no mark or span is called 'nope' "
	is "${c% *}: marks the wrong way round" "$(why 'epoch 2:epoch 0' $c)" "the window 'epoch 2:epoch 0' ends before it begins: no 'epoch 0' comes after the first 'epoch 2'"
	is "${c% *}: a mark that comes once" "$(why 'epoch 0:epoch 0' $c)" "the window 'epoch 0:epoch 0' ends before it begins: no second 'epoch 0' comes after the first 'epoch 0'"
	is "${c% *}: a mark before a time" "$(why '12.5s:epoch 0' $c)" "the window '12.5s:epoch 0' ends before it begins: no 'epoch 0' comes after '12.5s'"
done
check "and nothing is written" test ! -e "$T/bad/analysis.json"
code "tef with marks" 0 "$PROFRIG" -q convert "$T/marked" -o "$T/marked.json"
check "has them" grep -q '"warm"' "$T/marked.json"
code "convert takes marks too" 0 "$PROFRIG" -q convert --window warm:end "$T/marked" -o "$T/part.json"

# The windows of a run are what is reported of it.
windows='[{"name": "1", "start_ns": 9000000000, "end_ns": 11000000000, "by": "ann"}, {"name": "2", "start_ns": 19000000000, "end_ns": 21000000000, "by": "bob"}, {"name": "3", "start_ns": 5, "end_ns": 2}, null]'
a_run "$T/run" "$windows" '[]' '[{"when": "before", "start_ns": 1000000000, "end_ns": 5800000000}]'
code "a run that recorded in windows" 0 "$PROFRIG" -q analyze "$T/run" -o "$T/r"
is "is reported of them" "$(window "$T/r") $(jq -c '.window.parts | length' "$T/r/analysis.json")" "8300000000 20300000000 windows of the run 2"
is "their table" "$(jq -r '.tables.windows.data | transpose | map(map(tostring) | join(" ")) | join(", ")' "$T/r/report.json")" "1 8300000000 10300000000 ann, 2 18300000000 20300000000 bob"
near "energy of both" "$(cell "$T/r" energy_totals counter=energy.gpu0 view=host total_j)" 240 1e-6
is "calls in both" "$(cell "$T/r" functions name=a inclusive_ns) $(cell "$T/r" functions name=a exclusive_ns) $(cell "$T/r" functions name=b exclusive_ns)" "4000000000 2000000000 2000000000"
near "the time between counts for nothing" "$(cell "$T/r" energy counter=energy.gpu0 name='[unattributed]' exclusive_j)" 0 1e-9
near "idle power is measured outside" "$(cell "$T/r" idle_power counter=energy.gpu0 level_w)" 20 1e-6
near "and splits what was drawn inside" "$(cell "$T/r" energy counter=energy.gpu0 name=b static_j)" 40 1e-6
holds "of windows" "$T/r"
code "all of it" 0 "$PROFRIG" -q analyze --window : "$T/run" -o "$T/r2"
is "on request" "$(window "$T/r2" | cut -d" " -f 3-) $(cell "$T/r2" functions name=a inclusive_ns)" "all 12000000000"
code "another window" 0 "$PROFRIG" -q analyze --window 10.3s:11.3s "$T/run" -o "$T/r3"
near "is not theirs" "$(cell "$T/r3" energy_totals counter=energy.gpu0 view=host total_j)" 100 1e-6
code "report of such a run" 0 "$PROFRIG" -q report "$T/run"
is "is of its windows too" "$(jq -r .window.of "$T/run/analysis/analysis.json")" "windows of the run"

# What keeps no single calls cannot be cut.
"$B/tests/fixtures/gen/make_otf2" --seed 3 --threads 2 --events 4000 "$T/otf2" >/dev/null
code "a window of an archive" 0 "$PROFRIG" -q analyze --window 10%:90% "$T/otf2" -o "$T/o"
is "is read into memory" "$(jq -r .sink "$T/o/analysis.json")" model
code "--sink profile and a window" 2 "$PROFRIG" analyze --sink profile --window 10%:90% "$T/otf2" -o "$T/o2"
like "exclude each other" "$(cat "$T/err")" "--window cuts single calls"
a_run "$T/stream" "$windows" '[]'
rm -r "$T/stream/artifacts/t" && cp -r "$T/otf2" "$T/stream/artifacts/t"
jq '.artifacts[0] |= (.path = "artifacts/t/traces.otf2" | .reader = "otf2")' "$T/stream/run.json" >"$T/x" && mv "$T/x" "$T/stream/run.json"
code "a run with windows, streamed" 0 "$PROFRIG" -q analyze --sink profile "$T/stream" -o "$T/o3"
is "is all of it, and says so" "$(jq -r '.window.of + " " + ([.warnings[].code | select(. == "W_WINDOW_IGNORED")] | join(" "))' "$T/o3/analysis.json")" "all W_WINDOW_IGNORED"
