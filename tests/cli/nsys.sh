#!/usr/bin/env bash
# Nsight Systems exports: what info and analyze say of them, whole, cut and odd; the file itself stays as it was.
. "$(dirname "$0")/../lib.sh"

FIX=$ROOT/tests/fixtures/nsys/two-processes.sqlite
warns() { jq -r "[.warnings[] | select(.code == \"$2\") | .count] | add // 0" "$1"; }

code "info" 0 "$PROFRIG" -q info --json "$FIX"
is "names the reader and the schema" "$(jq -r '.reader + ": " + .format' "$T/out")" "nsys: Nsight Systems 2026.1 (schema 3.24.14)"
is "counts spans, marks, samples, links" "$(jq -c '[.spans, .instants, .samples, .links]' "$T/out")" "[10,1,2,3]"
is "knows devices and when it was" "$(jq -c '[.devices, .start_ns, .end_ns]' "$T/out")" '[["gpu0"],10,800]'

cp "$FIX" "$T/a.sqlite"
before=$(sha256sum <"$T/a.sqlite")
code "analyze" 0 "$PROFRIG" -q analyze "$T/a.sqlite" -o "$T/o"
is "kernels of both processes" "$(sed -n 2p "$T/o/tables/kernels.csv" | cut -d, -f1,2,4,5 | tr -d '"')" "gpu0,void k<int>(int),3,250"
check "a kernel is projected on the range around its launch" grep -q '^.*,step;cudaLaunchKernel,.*,100,100$' "$T/o/tables/callpaths.csv"
is "the kernel without a launch is reported" "$(warns "$T/o/analysis.json" W_UNLINKED_WORK)" 1
is "the file is as it was" "$(sha256sum <"$T/a.sqlite")" "$before"
is "and nothing lies beside it" "$(cd "$T" && echo a.sqlite*)" a.sqlite
code "a note is no warning under --strict" 0 "$PROFRIG" -q analyze --strict "$T/a.sqlite" -o "$T/o"

code "payloads of NCCL's ranges" 0 "$PROFRIG" -q analyze "$ROOT/tests/fixtures/nsys/nccl.sqlite" -o "$T/nccl"
is "tell size and group, also of a group of one" "$(sed 1d "$T/nccl/tables/collective_instances.csv" | cut -d, -f1,3-6 | xargs)" \
	"0x1234abcd,ncclAllReduce,4096,2,yes 0x1234abcd,ncclAllGather,2048,2,yes 0x1234abcd,ncclBroadcast,512,2,yes 0x1234abcd,ncclReduceScatter,512,2,yes"
is "and the ranks" "$(sed 1d "$T/nccl/tables/collective_ranks.csv" | cut -d, -f1-3 | xargs)" "0,4,8000 1,4,6800"
is "what could not be read is counted" "$(jq -c '[.warnings[] | [.code, .count]]' "$T/nccl/analysis.json")" '[["W_IGNORED_RECORD",1],["W_BAD_EVENT",1]]'

xla=$ROOT/tests/fixtures/nsys/xla.sqlite
code "ranges of XLA" 0 "$PROFRIG" -q analyze "$xla" -o "$T/xla"
is "name modules, operations and passes" "$(sed 1d "$T/xla/tables/functions.csv" | cut -d, -f1,2,4 | grep host | grep -v cuda | LC_ALL=C sort | xargs -d '\n')" \
	"host,XlaCompile jit_step,1 host,XlaCompileBackend,2 host,XlaPass algsimp,2 host,XlaPass fusion,1 host,all-reduce-start.2,6 host,fusion.1,14 host,fusion.3,6 host,jit_init,1 host,jit_step,8 host,ncclAllReduce,6 host,wrapped_add,2"
code "without another program in reach" 0 env -i PATH=/nonexistent "$PROFRIG" -q analyze "$xla" --format csv,json -o "$T/alone"
is "it gives the same" "$(cd "$T/alone/tables" && cat *.csv | cksum)" "$(cd "$T/xla/tables" && cat *.csv | cksum)"
is "waits of modules are those of collectives" "$(awk -F, 'NR > 1 { s += $14 } END { print s }' "$T/xla/tables/program_modules.csv")" \
	"$(awk -F, 'NR > 1 { s += $4 } END { print s }' "$T/xla/tables/collective_ranks.csv")"
is "threads that launch by their device" "$(sed '1d; s/,.*//' "$T/xla/tables/callpaths.csv" | grep -o 'XlaLauncher.*' | sort -u | xargs)" "XlaLauncher 4 XlaLauncher 5"
is "sources add up, without a dump too" "$(jq -r '.checks[] | select(.name | startswith("program_sources")) | .ok' "$T/xla/analysis.json") $(awk '{ s += $NF } END { print s }' "$T/xla/folded/source.folded")" \
	"true $(awk -F, 'NR > 1 { s += $3 } END { print s }' "$T/xla/tables/program_sources.csv")"
is "executions on devices, the last one cut" "$(sed 1d "$T/xla/tables/program_modules.csv" | cut -d, -f1-4,6,16,17 | xargs)" "gpu0,4,jit_init,1,1,1,0 gpu0,4,jit_step,4,13,2,1 gpu1,5,jit_step,4,13,2,1"
is "collectives by module, execution and operation" "$(sed 1d "$T/xla/tables/collective_instances.csv" | cut -d, -f1,2,5,6,24 | xargs)" \
	"jit_step,0,2,yes,all-reduce-start.2 jit_step,1,2,yes,all-reduce-start.2 jit_step,2,2,yes,all-reduce-start.2"
is "a compilation whose moments count once" "$(sed 1d "$T/xla/tables/compile.csv" | cut -d, -f2,6 | xargs -d '\n')" \
	"XlaCompile jit_step,30000 XlaCompileBackend,30000 XlaPass algsimp,30000 XlaPass fusion,10000"
is "iterations behind the warm-up" "$(sed '1d; s/"[^"]*"//' "$T/xla/tables/iterations.csv" | cut -d, -f2,6 | xargs)" \
	"jit_step,no jit_step,no jit_step,yes jit_step,yes jit_step,no jit_step,no jit_step,yes jit_step,yes"
is "and what belongs nowhere" "$(warns "$T/xla/analysis.json" W_OP_WITHOUT_MODULE)" 1
code "the warm-up left out" 0 "$PROFRIG" -q analyze "$xla" --steady -o "$T/steady"
is "leaves the steady ones" "$(sed 1d "$T/steady/tables/program_modules.csv" | cut -d, -f1,3,4 | xargs)" "gpu0,jit_step,2 gpu1,jit_step,2"

gzip -k "$T/a.sqlite"
code "a packed file" 0 "$PROFRIG" -q info --json "$T/a.sqlite.gz"
is "is the same" "$(jq -c '[.reader, .spans, .links]' "$T/out")" '["nsys",10,3]'

head -c -100 "$FIX" >"$T/cut.sqlite"
code "a cut file is partial: 6" 6 "$PROFRIG" -q analyze "$T/cut.sqlite" -o "$T/cut"
check "which is said" jq -e '.inputs[0].partial' "$T/cut/analysis.json"
head -c 3000 "$FIX" >"$T/lost.sqlite"
code "one of which nothing is left is an error: 5" 5 "$PROFRIG" -q analyze "$T/lost.sqlite" -o "$T/lost"
like "that names the file" "$(cat "$T/err")" "lost.sqlite"
