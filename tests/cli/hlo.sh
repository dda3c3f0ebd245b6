#!/usr/bin/env bash
# Dumps of XLA beside a trace: sizes and groups of collectives, from text and from protos, in a folder and in a run directory.
. "$(dirname "$0")/../lib.sh"

TRACE=$ROOT/tests/fixtures/xplane/gpu.xplane.pb DUMP=$ROOT/tests/fixtures/hlo
NAME=module_0017.jit_train_step.sm_9.0_gpu_after_optimizations
row() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["collective"], $at["dtype"], $at["bytes"], $at["ranks"], $at["instances"], $at["complete"], $at["busbw_gbps"] }' "$1/tables/collectives.csv"; }
warns() { jq -c '[.warnings[] | select(.code | startswith("W_HLO")) | [.code, .count]]' "$1/analysis.json"; }
KNOWN="all-reduce f32 1048576 2 3 3 29.959314285714285"

code "a trace alone" 0 "$PROFRIG" -q analyze "$TRACE" --format csv,json -o "$T/alone"
is "knows no size" "$(row "$T/alone")" "allreduce   2 3 3 "
for kind in txt hlo.pb; do
	code "with its dump ($kind)" 0 "$PROFRIG" -q analyze "$TRACE" "$DUMP/$NAME.$kind" --format csv,json -o "$T/$kind"
	is "knows size and bandwidth" "$(row "$T/$kind")" "$KNOWN"
	is "and warns of nothing" "$(warns "$T/$kind")" "[]"
done
check "text and proto: the same tables" diff -r -x program_sources.csv "$T/txt/tables" "$T/hlo.pb/tables"
sources() { sed 1d "$1/tables/program_sources.csv" | grep loop_add_fusion | cut -d, -f1-3; }
is "the text has the source" "$(sources "$T/txt")" "[GPU active];main (train.py:30);step (train.py:12);loop_add_fusion,8,200000"
is "which this proto lacks" "$(sources "$T/hlo.pb")" "[GPU active];[Unknown];loop_add_fusion,4,200000"
code "a folder of dumps, of both kinds" 0 "$PROFRIG" -q analyze "$DUMP" "$TRACE" --format csv,json -o "$T/folder"
is "is the same" "$(row "$T/folder")" "$KNOWN"
gzip -c "$DUMP/$NAME.txt" >"$T/$NAME.txt.gz"
code "compressed" 0 "$PROFRIG" -q analyze "$TRACE" "$T/$NAME.txt.gz" --format csv,json -o "$T/gz"
is "is the same, too" "$(row "$T/gz")" "$KNOWN"

sed 's/jit_train_step/jit_other/' "$DUMP/$NAME.txt" >"$T/module_0017.jit_other.after_optimizations.txt"
code "the dump of another module" 0 "$PROFRIG" -q analyze "$TRACE" "$T/module_0017.jit_other.after_optimizations.txt" --format csv,json -o "$T/other"
is "is told" "$(warns "$T/other")" '[["W_HLO_MISSING",18]]'
sed 's/all-reduce-start\.1/all-reduce-start.7/' "$DUMP/$NAME.txt" >"$T/module_0017.jit_train_step.after_optimizations.txt"
code "a dump of another compilation" 0 "$PROFRIG" -q analyze "$TRACE" "$T/module_0017.jit_train_step.after_optimizations.txt" --format csv,json -o "$T/comp"
is "is told, too" "$(warns "$T/comp")" '[["W_HLO_OTHER",6]]'
head -c 900 "$DUMP/$NAME.txt" >"$T/$NAME.txt"
code "a dump that is cut: 6" 6 "$PROFRIG" -q analyze "$TRACE" "$T/$NAME.txt" --format csv,json -o "$T/cut"
like "says where" "$(jq -r '.warnings[].text' "$T/cut/analysis.json")" "$NAME.txt: line [0-9]+: the text ends early"
head -c 300 "$DUMP/$NAME.hlo.pb" >"$T/$NAME.hlo.pb"
code "a proto that is cut: 6" 6 "$PROFRIG" -q analyze "$TRACE" "$T/$NAME.hlo.pb" --format csv,json -o "$T/cut2"
like "says where" "$(jq -r '.warnings[].text' "$T/cut2/analysis.json")" "$NAME.hlo.pb: offset [0-9]+: "
code "dumps alone: 5" 5 "$PROFRIG" -q analyze "$DUMP" -o "$T/none"

code "a run that leaves both" 0 sh -c "cd '$T' && '$PROFRIG' -q run --no-analyze --engine host --tools cpu_usage --set 'post_scripts=[]' -- sh -c 'mkdir \"\$PROFRIG_OUT/xla\" && cp $DUMP/* \"\$PROFRIG_OUT/xla\"'"
code "and the trace" 0 "$PROFRIG" -q analyze "$T/runs/latest/" "$TRACE" --format csv,json -o "$T/run"
is "the run's dump is found" "$(row "$T/run")" "$KNOWN"
