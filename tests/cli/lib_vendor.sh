#!/usr/bin/env bash
# lib perf with vendors' benchmark programs, which stand-ins play (tests/fakes/bin): what goes right, and each thing that goes wrong.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
. "$ROOT/tests/fakes/machine.sh"
cd "$T" || exit 1
FAKES=$ROOT/tests/fakes/bin
mkdir bin
for p in rocblas-bench hipblaslt-bench MIOpenDriver all_reduce_perf benchdnn cutlass_profiler; do ln -s "$FAKES/$p" "bin/$p"; done
for p in all_gather reduce_scatter broadcast; do ln -s "$FAKES/all_reduce_perf" "bin/${p}_perf"; done
amd_machine "$T/amd" 4
nvidia_machine "$T/nvidia" 2
export PATH=$T/bin:$PATH PROFRIG_SYSFS_ROOT=$T/amd FAKE_LOG=$T/log FAKE_ENV=$T/env
unset ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES FAKE_BENCH FAKE_US
lp() { timeout 120 "$PROFRIG" -q lib perf --cache warm --precision 40% --budget 30 "$@"; }
PYTHON=/usr/bin/python3
[ -x $PYTHON ] || PYTHON=$(command -v python3)
# column FILE NAME…: the columns of these names, of all rows, behind each other
column() {
	"$PYTHON" -c 'import csv,sys
for r in csv.DictReader(open(sys.argv[1])): print("|".join(r[n] for n in sys.argv[2:]))' "$@"
}
table() { # FILE: a table of the keys on stdin
	{
		echo library,config,calls,key
		i=0
		while read -r key; do echo "x,$((++i)),1,$key"; done
	} >"$1"
}
# row BACKEND COLUMN… [OPTION…]: of a fresh table of one key
row() {
	local end=$1 cols=()
	shift
	while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do cols+=("$1"); shift; done
	rm -f r.csv
	lp one.csv -b "$end" -o r.csv "$@" >/dev/null 2>err
	column r.csv "${cols[@]}"
}
GEMM="gemm ta=N tb=T m=64 n=32 k=16 a=f32 b=f32 c=f32 d=f32 compute=f32"
CONV="conv dir=fwd n=4 c=3 k=64 g=1 in=24x24 filter=3x3 pad=1x1 stride=1x1 dilation=1x1 x=f32 w=f32 y=f32"
SUM="AllReduce count=1048576 dtype=f32 op=sum nranks=4"

# --- what a command line may be ---
table one.csv <<<"$GEMM"
code "an unknown program" 2 lp one.csv -b rocblas-test
like "lists the known ones" "$(cat err)" "there are: .*rocblas-bench hipblaslt-bench miopen-driver rccl-tests nccl-tests benchdnn cutlass-profiler"
code "one that is not installed" 4 env PATH=/usr/bin:/bin "$PROFRIG" -q lib perf one.csv -b cutlass-profiler -o none.csv
like "says where it was looked for" "$(cat err)" "cutlass_profiler is not in PATH, /usr/local/bin"
check "and leaves no table" test ! -e none.csv
code "one of two" 0 env PATH="$T/bin:/usr/bin:/bin" "$PROFRIG" -q lib perf one.csv -b miopen-driver,/usr/bin/benchdnn,rocblas-bench -o two.csv --cache warm
like "the other is skipped" "$(column two.csv backend status reason)" "/usr/bin/benchdnn.skipped.not installed: benchdnn is not in PATH"

# --- each with what it can measure ---
table keys.csv <<K
$GEMM
$GEMM batch=4 stride_a=0
$CONV
$SUM
eltwise prop=forward_training alg=eltwise_relu alpha=0 beta=0 data=f32:ab dims=3x5
Send count=10 dtype=bf16 peer=1 nranks=2
K
: >log
code "all programs" 0 lp keys.csv -b rocblas-bench,hipblaslt-bench,miopen-driver,rccl-tests,benchdnn,cutlass-profiler -o all.csv
is "what each has measured" "$(column all.csv status backend key | grep ^ok | cut -d'|' -f2- | sed 's/ .*//' | sort | uniq -c | awk '{ print $1, $2 }')" "1 benchdnn|eltwise
2 benchdnn|gemm
1 cutlass-profiler|gemm
2 hipblaslt-bench|gemm
1 miopen-driver|conv
1 rccl-tests|AllReduce
2 rocblas-bench|gemm"
is "all else is unsupported" "$(column all.csv status | sort | uniq -c | awk '{ print $1, $2 }')" "10 ok
26 unsupported"
is "with a reason" "$(column all.csv status reason | grep -c '^unsupported|.')" 26
is "a convolution without a layout" "$(column all.csv backend key reason | grep '^benchdnn|conv' | cut -d'|' -f3)" "benchdnn has no layout ''"
is "the key is the only thing they know" "$(grep -c 'lib\|x,' log)" 0
is "the mean is theirs" "$(column all.csv status backend mean_us | grep '^ok|rocblas' | sort -u)" "ok|rocblas-bench|8.1"
is "work is the key's" "$(column all.csv backend key gflops | grep "^rocblas-bench|$GEMM|" | cut -d'|' -f3 | cut -c 1-6)" "$(awk 'BEGIN { printf "%.6g", 2 * 64 * 32 * 16 / 8.1 / 1e3 }' | cut -c 1-6)"
is "bandwidth of a collective" "$(column all.csv backend key gbps | grep '^rccl-tests|AllReduce' | cut -d'|' -f3 | cut -c 1-6)" "$(awk 'BEGIN { printf "%.4f", 4194304 / 8.1 / 1e3 }' | cut -c 1-6)"
is "who keeps the time" "$(column all.csv status backend timer | grep ^ok | cut -d'|' -f2- | sort -u)" "benchdnn|host
cutlass-profiler|device
hipblaslt-bench|device
miopen-driver|device
rccl-tests|host
rocblas-bench|host"
is "versions and kernels" "$(column all.csv status backend version | grep ^ok | cut -d'|' -f2- | sort -u)" "benchdnn|brgemm:avx512_core
cutlass-profiler|cutlass_simt_sgemm_64x128_8x2_nt_align1
hipblaslt-bench|1000-stand-in
miopen-driver|3.5.1, 137/ConvBinWinogradRxSf2x3g1
rccl-tests|2.27.7-stand-in
rocblas-bench|4.3.0.stand-in"
is "paths are resolved" "$(column all.csv backend path | grep ^rocblas | sort -u)" "rocblas-bench|$FAKES/rocblas-bench"
is "the device is the GPU" "$(column all.csv status backend device | grep '^ok|rocblas' | sort -u)" "ok|rocblas-bench|AMD GPU gfx942"
is "what is not checked says so" "$(column all.csv status backend reason | grep ^ok | cut -d'|' -f2- | sort -u | grep -v "its result is not checked")" "cutlass-profiler|
rccl-tests|"
is "an interval from three processes" "$(column all.csv status repeats ci_low_us ci_high_us | grep '^ok' | awk -F'|' '!($2 >= 30 && $3 > 8 && $4 < 8.2)')" ""
is "started four times each: one to learn, three to measure" "$(grep -c '^rocblas-bench -f gemm -r' log)" 4
is "the first is short" "$(grep -o '^rocblas-bench -f gemm -r.* -i [0-9]*' log | sed 's/.* //' | uniq -c | awk '{ print $1, ($2 > 10) }')" "1 0
3 1"
like "rocblas-bench's words" "$(grep '^rocblas-bench -f gemm_s' log | tail -n 1)" "-r f32_r --transposeA N --transposeB T -m 64 -n 32 -k 16 .*--batch_count 4 --stride_a 0"
like "MIOpenDriver does not verify" "$(grep ^MIOpenDriver log | tail -n 1)" "-t 1 -V 0"
like "one kernel of CUTLASS is measured, and checked" "$(grep ^cutlass log | tail -n 1)" "--kernels=cutlass_simt_sgemm_64x128_8x2_nt_align1 .*--verification-enabled=true"
code "the same again" 0 lp keys.csv -b rocblas-bench,benchdnn -o all.csv
like "has its rows already" "$(cat out)" "0 new rows"

# --- cache modes: never one that was not used ---
table one.csv <<<"$GEMM"
: >log
code "cold" 0 lp one.csv --cache cold -b rocblas-bench,hipblaslt-bench,benchdnn,cutlass-profiler -o cold.csv
is "is measured by four" "$(column cold.csv status cache | sort | uniq -c | awk '{ print $1, $2 }')" "4 ok|cold"
is "each by its own option" "$(grep -o 'flush_memory_size [0-9]*\|rotating [0-9]*\|cold-cache=[a-z]*\|workspace-count=[0-9]' log | sort -u | tr '\n' ' ')" "cold-cache=all flush_memory_size 536870912 rotating 512 workspace-count=0 "
code "weights-cold" 0 lp one.csv --cache weights-cold -b rocblas-bench,hipblaslt-bench,benchdnn,cutlass-profiler -o wei.csv
is "is benchdnn's alone" "$(column wei.csv backend status | tr '\n' ' ')" "rocblas-bench|unsupported hipblaslt-bench|unsupported benchdnn|ok cutlass-profiler|unsupported "
like "others say what they have" "$(column wei.csv backend reason | grep rocblas)" "no cache mode weights-cold, but warm and cold"

# --- what goes wrong ---
# perf BACKEND MODE [OPTION…]: its row in BACKEND.MODE.csv
perf() {
	local end=$1 mode=$2
	shift 2
	FAKE_BENCH=$mode lp one.csv -b "$end" -o "$end.$mode.csv" "$@" >/dev/null 2>&1
}
# They take no time of the machine, so all of a program wait together.
each() { # BACKEND TIMEOUT [MODE…]
	local end=$1 timeout=$2 mode begin=$SECONDS
	shift 2
	perf "$end" hang --timeout "$timeout" &
	perf "$end" flood --timeout "$timeout" &
	for mode in crash abort junk silent fails nan refuses "$@"; do perf "$end" $mode; done
	wait
	for mode in crash abort junk silent fails nan refuses hang flood "$@"; do echo "$mode $(column "$end.$mode.csv" status reason)"; done >"$end.rows"
	like "$end crashes" "$(said "$end" crash)" "^crashed.SIGSEGV"
	like "$end aborts" "$(said "$end" abort)" "^crashed.SIGABRT; it said: terminate called"
	like "$end prints junk" "$(said "$end" junk)" "^failed.it prints no"
	like "$end prints nothing" "$(said "$end" silent)" "^failed.it prints no"
	like "$end fails" "$(said "$end" fails)" "^failed.the process ended with status 3; it said: hipErrorNoBinaryForGpu: Unable to find"
	like "$end has no number" "$(said "$end" nan)" "^failed.its [a-zA-Z]+ is 'nan'"
	like "$end refuses" "$(said "$end" refuses)" "^unsupported.."
	like "$end hangs" "$(said "$end" hang)" "^timeout.no result within [0-9.]+ s"
	like "$end prints without an end" "$(said "$end" flood)" "^timeout.no result within|^failed.it printed more than"
}
said() { sed -n "s/^$2 //p" "$1.rows"; }
each rocblas-bench 0.3 rewrites
like "stride_c < min_stride_c" "$(said rocblas-bench rewrites)" "^failed.it measured another problem: stride_c < min_stride_c"
each hipblaslt-bench 0.3 rewrites
like "a leading dimension replaced in silence" "$(said hipblaslt-bench rewrites)" "^failed.it measured another problem: lda is 72 and not 64"
each cutlass-profiler 0.06 rewrites wrong
like "another size" "$(said cutlass-profiler rewrites)" "^failed.it measured another problem: m is 72 and not 64"
like "a wrong kernel" "$(said cutlass-profiler wrong)" "^wrong.the kernel's result"
each benchdnn 0.9 wrong
like "a failed problem" "$(said benchdnn wrong)" "^failed.the process ended with status 1; it said: 0:FAILED"
like "caches that stayed warm" "$(FAKE_BENCH=rewrites row benchdnn status reason --cache cold)" "^failed.its caches were not cold"
table one.csv <<<"$CONV"
each miopen-driver 0.06 wrong
like "a failure with status 0" "$(said miopen-driver wrong)" "^failed.it failed; it said: RunForwardGPU.. FAILED"
table one.csv <<<"$SUM"
each rccl-tests 0.3 rewrites wrong
like "wrong sums" "$(said rccl-tests wrong)" "^wrong.17 elements are wrong"
like "another count" "$(said rccl-tests rewrites)" "^failed.it measured another problem: count is 1048575"
check "no program is left" bash -c '! pgrep -f "'"$T"'/b[i]n/"'

# --- ranks ---
mpirun_stand_in() {
	cat >bin/mpirun <<'M'
#!/bin/bash
# -n N PROGRAM…: one process that knows of N; FAKE_MPI=no: N of them that do not know of each other; FAKE_SLOTS: of a machine
[ -z "${FAKE_LOG:-}" ] || echo "mpirun $*" >>"$FAKE_LOG"
[ "$1" = -n ] || exit 2
n=$2
shift 2
if [ -n "${FAKE_SLOTS:-}" ] && [ "$n" -gt "$FAKE_SLOTS" ]; then echo "There are not enough slots available in the system to satisfy the $n slots" >&2; exit 1; fi
if [ "${FAKE_MPI:-}" = no ]; then for ((i = 0; i < n; i++)); do "$@"; done; exit; fi
FAKE_RANKS=$n exec "$@"
M
	chmod +x bin/mpirun
}
# the mpirun of the machine is none of these tests
clean=$T/bin:$T/tools
mkdir tools
for p in bash env awk sed cat yes head sleep readlink dirname timeout grep rm; do ln -s "$(command -v $p)" "tools/$p"; done
row_clean() { PATH=$clean row "$@"; }
is "four GPUs in one process" "$(: >log; row rccl-tests status; grep -o -- '-g [0-9]' log | sort -u)" "ok
-g 4"
is "a list of visible ones" "$(HIP_VISIBLE_DEVICES=0,1 row_clean rccl-tests status reason)" "unsupported|it needs 4 ranks: 2 GPUs can be seen, and there is no mpirun"
mpirun_stand_in
is "with mpirun" "$(: >log; HIP_VISIBLE_DEVICES=0,1 row_clean rccl-tests status; grep -o '^mpirun -n [0-9]* [^ ]* .*' log | sed "s#$T/##; s/ -n [0-9]* -w.*-c/ -c/" | sort -u)" "ok
mpirun -n 4 bin/all_reduce_perf -b 4194304 -e 4194304 -d float -o sum -g 1 -c 1 -a 3"
like "a build without MPI" "$(FAKE_MPI=no HIP_VISIBLE_DEVICES=0 row_clean rccl-tests status reason)" "^failed.it ran 4 tests instead of one: it has no MPI"
is "too few slots" "$(FAKE_SLOTS=2 HIP_VISIBLE_DEVICES=0 row_clean rccl-tests status reason)" "unsupported|4 ranks cannot be had here"
is "of NVIDIA's none is here" "$(: >log; row_clean nccl-tests status; grep -c ^mpirun log)" "ok
4"
is "of NVIDIA's there are two" "$(: >log; table one.csv <<<"AllGather count=1024 dtype=bytes nranks=2"; PROFRIG_SYSFS_ROOT=$T/nvidia row_clean nccl-tests status device; grep -o '^all_gather_perf -b 2048 -e 2048 -d int8 -g 2' log | sort -u)" "ok|NVIDIA H100 80GB HBM3
all_gather_perf -b 2048 -e 2048 -d int8 -g 2"
table one.csv <<<"AllGather count=1023 dtype=bytes nranks=2"
is "counts that are rounded" "$(row rccl-tests status reason)" "unsupported|rccl-tests has counts of whole 16 bytes alone for AllGather"

# --- hostile keys and tables: nothing of them is a word of a command ---
{
	echo library,config,calls,key
	echo "x,1,1,\$(touch pwned) ; touch pwned"
	echo "x,2,1,gemm ta=N tb=N m=8;touch n=8 k=8 a=f32"
	echo "x,3,1,gemm ta=N tb=N m=8 n=8 k=8 a=f32 --yaml=/etc/passwd"
	echo "x,4,1,gemm ta=N tb=N m=-8 n=8 k=8 a=f32"
	echo "x,5,1,gemm ta=N tb=N m=99999999999999999999 n=8 k=8 a=f32"
	echo "x,6,1,eltwise prop=forward_training alg=eltwise_relu data=f32:ab dims=--batch=/etc/passwd"
	echo "x,7,,"
	echo "x,8,1,"
} >hostile.csv
: >log
code "a hostile table" 0 lp hostile.csv -b rocblas-bench,benchdnn -o hostile_perf.csv
is "is not measured" "$(column hostile_perf.csv status | sort | uniq -c | awk '{ print $2 }' | tr '\n' ' ')" "skipped unsupported "
is "by any program" "$(cat log)" ""
check "and starts nothing else" test ! -e pwned

# --- the environment of the programs ---
table one.csv <<<"$GEMM"
is "variables that change what is measured are not there" "$(HIPBLASLT_TUNING_FILE=x HIPBLASLT_TUNING_OVERRIDE_FILE=x ROCBLAS_LAYER=2 NCCL_DEBUG=INFO MIOPEN_ENABLE_LOGGING_CMD=1 ONEDNN_VERBOSE=1 LC_ALL=C.UTF-8 NCCL_ALGO=Ring row hipblaslt-bench status; grep -E '^(HIPBLASLT|ROCBLAS|NCCL|MIOPEN|ONEDNN|LC_ALL)' env)" "ok
NCCL_ALGO=Ring
LC_ALL=C"
is "threads and processors of benchdnn" "$(row benchdnn status; grep -E ^OMP_NUM env)" "ok
OMP_NUM_THREADS=1"
is "times that differ" "$(FAKE_US=jitter; export FAKE_US; rm -f j.csv; timeout 120 "$PROFRIG" -q lib perf one.csv --cache warm --precision 0.01% -b rocblas-bench -o j.csv >/dev/null; column j.csv status reason | sed 's/[0-9.]* %/N %/')" "ok|the standard error stays at N %; its result is not checked"
is "by a path" "$(row "$T/bin/rocblas-bench" backend status)" "$T/bin/rocblas-bench|ok"
