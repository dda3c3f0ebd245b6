#!/usr/bin/env bash
# Names: of ranges, which lose the numbers of single calls (--names), in both sinks and by several ranks, and never in what convert writes; classes of
# kernels by a file (--classes).
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/ranks.sh"

# 4 threads call 50 times each, every time by another name; a step, an address, and a kernel whose name looks like one of them
jq -n '[range(4) as $t | range(50) as $i | {ph: "X", pid: 1, tid: ($t + 1), ts: ($i * 100), dur: 60, name: "aten::mm, seq = \($i), op_id = \($t * 50 + $i)", cat: "user"},
	{ph: "X", pid: 1, tid: ($t + 1), ts: ($i * 100 + 10), dur: 20, name: "object at 0x7f00\(10 + $i)", cat: "user"},
	{ph: "X", pid: 1, tid: ($t + 1), ts: ($i * 100 + 70), dur: 20, name: "Step#\($i % 2)", cat: "user"}]' >"$T/host.json"
code "to an archive" 0 "$PROFRIG" -q convert "$T/host.json" -o "$T/a.otf2"
code "and back" 0 "$PROFRIG" -q convert "$T/a.otf2" -o "$T/back.json"
is "convert keeps all names" "$(grep -o 'op_id = [0-9]*' "$T/back.json" | sort -u | wc -l)" 200

rows() { # DIR: name,calls,variants of the host's functions
	jq -r '.tables.functions | [.columns[].name] as $n | .data as $d | [range($d[0] | length)] | map(. as $r | [$d[] | .[$r]] | [$n, .] | transpose | map({(.[0]): .[1]}) | add)
		| sort_by(.name)[] | "\(.name),\(.calls),\(.variants)"' "$1/report.json"
}
for sink in model profile; do
	code "$sink: an archive" 0 "$PROFRIG" -q analyze "$T/a.otf2" --sink $sink --format csv,json -o "$T/$sink"
	is "$sink: four rows, with the names that they had" "$(rows "$T/$sink" | xargs -d '\n' | tr ' ' _)" "Step#0,100,1_Step#1,100,1_aten::mm,200,200_object_at_0x*,200,50"
	is "$sink: paths too" "$(cut -d, -f2 "$T/$sink/tables/callpaths.csv" | sort -u | grep -c .)" 5
	code "$sink: names as they are" 0 "$PROFRIG" -q analyze "$T/a.otf2" --sink $sink --names raw --format csv,json -o "$T/raw-$sink"
	is "$sink: names as they are: a row for each" "$(rows "$T/raw-$sink" | wc -l)" 252
done
code "a Trace Event file" 0 "$PROFRIG" -q analyze "$T/host.json" --format csv,json -o "$T/tef"
is "a Trace Event file: the same rows" "$(rows "$T/tef")" "$(rows "$T/model")"
if [ -x "${B:-$ROOT/build}/profrig-mpi" ]; then
	code "by 3 ranks" 0 ranks 3 -q analyze --sink profile --format csv,json "$T/a.otf2" -o "$T/ranks"
	is "by 3 ranks: the same rows" "$(rows "$T/ranks")" "$(rows "$T/profile")"
fi
code "no such way" 2 "$PROFRIG" -q analyze "$T/host.json" --names short -o "$T/no"

traces=${PROFRIG_TRACES:-}
if [ -z "$traces" ]; then
	case ,${PROFRIG_REQUIRE:-}, in *,traces,*) not_ok "PROFRIG_TRACES is required" ;; esac
	skip "real recordings" "PROFRIG_TRACES is not set"
else
	code "a recording of NVTX ranges" 0 "$PROFRIG" -q analyze "$traces/nsys/h100-2gpu/h100_2gpu_1s.sqlite" --format csv,json -o "$T/h100"
	is "16782 ranges of 16582 names are 176 rows" "$(jq -r '.tables.functions | [.columns[].name] as $n | .data | transpose | map([$n, .] | transpose | map({(.[0]): .[1]}) | add)
		| map(select(.category == "nvtx")) | "\(map(.calls) | add) \(map(.variants) | add) \(length)"' "$T/h100/report.json")" "16782 16582 176"
	code "a recording of MI300X" 0 "$PROFRIG" -q analyze "$traces/tef/tracelens-mi300-qwen" --analysis gemm --format csv -o "$T/qwen"
	is "tiles of 8944x1024 by 1024x2816 on 304 units" "$(awk -F, '$6 == 128 && $7 == 224 { printf "%s %s %.6f %.6f", $2, $10, $11, $12 }' "$T/qwen/tables/gemm.csv")" "tensile 3 0.964912 0.998214"
fi

# ---- classes ----

jq -n '[{ph: "X", pid: 0, tid: 7, ts: 0, dur: 10, name: "My_Fused_thing", cat: "kernel", args: {device: 0, stream: 7}},
	{ph: "X", pid: 0, tid: 7, ts: 20, dur: 10, name: "ampere_sgemm_32x32_tn", cat: "kernel", args: {device: 0, stream: 7}},
	{ph: "X", pid: 0, tid: 7, ts: 40, dur: 5, name: "_Z15softmax_warp_fwIfEvT_", cat: "kernel", args: {device: 0, stream: 7}}]' >"$T/kernels.json"
classes() { cut -d, -f2,4 "$1/tables/kernel_classes.csv" | tail -n +2 | sort | xargs; }
code "kernels" 0 "$PROFRIG" -q analyze "$T/kernels.json" --format csv -o "$T/k"
is "kernels by the built-in rules" "$(classes "$T/k")" "gemm,10000 other,10000 softmax,5000"
cat >"$T/classes.yaml" <<'END'
classes:
  - {class: attention, pattern: "|MY_fused_"}
  - {class: mine, pattern: "^softmax"}
END
code "with rules" 0 "$PROFRIG" -q analyze "$T/kernels.json" --classes "$T/classes.yaml" --format csv -o "$T/k1"
is "rules come first" "$(classes "$T/k1")" "attention,10000 gemm,10000 mine,5000"
echo 'built_in: false' >>"$T/classes.yaml"
code "with nothing but rules" 0 "$PROFRIG" -q analyze "$T/kernels.json" --classes "$T/classes.yaml" --format csv -o "$T/k2"
is "rules alone" "$(classes "$T/k2")" "attention,10000 mine,5000 other,10000"
printf 'classes:\n  - {class: "Two Words", pattern: x}\n  - {class: a, patern: x}\n  - {class: a, pattern: "^"}\n' >"$T/bad.yaml"
code "bad rules" 3 "$PROFRIG" -q analyze "$T/kernels.json" --classes "$T/bad.yaml" -o "$T/no"
like "each is named with its line" "$(tr '\n' ' ' <"$T/err")" "bad.yaml:3: .*did you mean .pattern.*bad.yaml:2: class: .Two Words.*bad.yaml:4: pattern: .\^. has no text"
code "no such file" 2 "$PROFRIG" -q analyze "$T/kernels.json" --classes "$T/none.yaml" -o "$T/no"
finish
