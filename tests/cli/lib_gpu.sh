#!/usr/bin/env bash
# lib perf with libraries of a GPU: stand-ins with the real functions, argument orders and numbers (tests/fakes/fake_gpu_*.c), on a device whose clock moves by
# calls alone. What the real libraries do with them only a machine with a GPU can tell.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
cd "$T" || exit 1
export FAKE_GPU_FREE=8388608
FAKES=$B/tests/fakes
lp() { timeout 300 "$PROFRIG" -q lib perf --cache warm --precision 40% --timeout 5 "$@"; }
column() {
	python3 -c 'import csv,sys
for r in csv.DictReader(open(sys.argv[1])): print("|".join(r[n] for n in sys.argv[2:]))' "$@"
}
table() { # NAME: keys on stdin
	local i=0 key
	{
		echo library,config,calls,key
		while read -r key; do echo "x,$((++i)),1,$key"; done
	} >"$1.csv"
}
runtime() { cp "$FAKES/fake_gpu_runtime.so" "$1"; }
library() { # FILE: by its name
	case $1 in
	*[lL]t[.-]*) cp "$FAKES/fake_gpu_lt.so" "$1" ;;
	*) cp "$FAKES/fake_gpu_blas.so" "$1" ;;
	esac
}
# as they lie on a machine: the runtimes apart, where the loader finds them
mkdir lib own
runtime lib/libcuda.so.1
runtime lib/libamdhip64.so.6
library lib/libcublas.so.12
library lib/libcublasLt.so.12
library lib/librocblas.so.4
library lib/libhipblaslt.so.0
ALL=cublas,cublaslt,rocblas,hipblaslt
table small <<<"gemm ta=N tb=T m=5 n=6 k=7 a=f32"

# --- no device, no library ---
code "without a runtime" 4 lp small.csv -b "$T/lib/libcublas.so.12,$T/lib/libhipblaslt.so.0"
like "says that there is no device" "$(cat err)" "libcublas.so.12: no CUDA device: libcuda.so.1: .*libhipblaslt.so.0: no HIP device: libamdhip64.so.7: "
export LD_LIBRARY_PATH=$T/lib
FAKE_GPU=nodevice code "without a device" 4 lp small.csv -b "$ALL"
like "says so, with the runtime's word" "$(cat err)" "cublas: no CUDA device: CUDA_ERROR_NO_DEVICE; cublaslt: no CUDA device: CUDA_ERROR_NO_DEVICE; rocblas: no HIP device: hipErrorNoDevice; hipblaslt: no HIP device"
FAKE_GPU=none code "a count of none" 4 lp small.csv -b cublas,rocblas
like "is none" "$(cat err)" "cublas: no CUDA device: none is visible; rocblas: no HIP device: none is visible"
CUDA_VISIBLE_DEVICES='' HIP_VISIBLE_DEVICES=-1 code "devices that are hidden" 4 lp small.csv -b cublas,rocblas
like "are none" "$(cat err)" "CUDA_ERROR_NO_DEVICE.*hipErrorNoDevice"
if [ -e /dev/nvidiactl ] || [ -e /dev/kfd ] || ! need openblas test -e "/usr/lib/$(uname -m)-linux-gnu/openblas-pthread/libopenblas.so.0"; then
	skip "without a device" "there is one, or no BLAS"
else
	code "a library that is found" 0 lp small.csv -o default.csv
	is "is not measured by default without a device" "$(column default.csv backend | grep -E "${ALL//,/|}")" ""
fi

# --- every operation ---
table ops <<'K'
gemm ta=N tb=T m=13 n=7 k=15 a=f64 lda=20 alpha=-1 beta=0.5
gemm ta=T tb=N m=16 n=9 k=20 a=f32 alpha=other
gemm ta=T tb=N m=16 n=9 k=20 a=f32 compute=tf32
gemm ta=T tb=N m=16 n=9 k=20 a=f16 b=f16 c=f16 d=f16 compute=f32
gemm ta=N tb=N m=6 n=9 k=40 a=bf16 compute=f32 batch=3 beta=1
gemm ta=C tb=N m=13 n=9 k=11 a=f32c compute=f32 alpha=1+2i beta=1
gemm ta=T tb=C m=8 n=9 k=11 a=f64c batch=4 stride_b=0
gemm ta=C tb=T m=8 n=9 k=11 a=f32 batch=2 ldc=10
gemv trans=T m=50 n=30 type=f32 incx=-2 incy=3 beta=1
gemv trans=C m=20 n=30 type=f64c lda=64
gemv trans=C m=20 n=30 type=f32
syrk uplo=L trans=N n=21 k=12 type=f32 beta=1
syrk uplo=U trans=C n=21 k=12 type=f64
syrk uplo=U trans=T n=21 k=12 type=f64c
trsm side=L uplo=U trans=T diag=N m=20 n=11 type=f64 alpha=0.5
trsm side=R uplo=L trans=C diag=U m=20 n=11 type=f32c
trsm side=L uplo=L trans=N diag=U m=6 n=11 type=f32 batch=2
axpy n=1000 type=f32c alpha=2+1i incy=2
axpy n=1000 type=f64 alpha=2
dot n=1000 type=f32 incx=2
dotu n=100 type=f64c
dotc n=100 type=f32c batch=3
K
code "every operation" 0 lp ops.csv -b "$ALL" -o ops_perf.csv
is "22 by each" "$(column ops_perf.csv backend | sort | uniq -c | tr -s ' ' | tr '\n' ';')" " 22 cublas; 22 cublaslt; 22 hipblaslt; 22 rocblas;"
is "is right with a BLAS" "$(column ops_perf.csv backend status key reason | grep -E '^(cublas|rocblas)\|' | grep -v '|ok|')" ""
is "products with the others" "$(column ops_perf.csv backend status key reason | grep -E '^(cublaslt|hipblaslt)\|' | grep '|gemm' | grep -v '|ok|')" ""
is "which have no more" "$(column ops_perf.csv backend status reason key | grep lt | grep -v '|gemm' | cut -d'|' -f 1-3 | sort | uniq -c | tr -s ' ')" " 14 cublaslt|unsupported|cuBLASLt has products of matrices alone
 14 hipblaslt|unsupported|hipBLASLt has products of matrices alone"
is "timed by the device's clock" "$(column ops_perf.csv status timer mean_us min_us stddev_us key | grep ^ok | grep -v -e batch=2 -e batch=3 | cut -d'|' -f 2-5 | sort -u)" "device|1953.125|1953.125|0"
is "also batches, which are one call of gemm alone" "$(column ops_perf.csv status key mean_us | grep ^ok | grep -E 'batch=[23]' | sed 's/ [^|]*//' | sort -u)" "ok|dotc|5859.375
ok|gemm|1953.125
ok|trsm|3906.25"
is "the device is the GPU" "$(column ops_perf.csv backend device clock_mhz | LC_ALL=C sort -u)" "cublaslt|NVIDIA Stand-in 1|
cublas|NVIDIA Stand-in 1|
hipblaslt|AMD Stand-in 1|
rocblas|AMD Stand-in 1|"
is "versions, files" "$(column ops_perf.csv version path | sort -u | sed "s#$T/##")" "cuBLAS 12.3.4|lib/libcublas.so.12
cuBLASLt 12.3.4|lib/libcublasLt.so.12
hipBLASLt 1.0.1-a1b2c3-dirty|lib/libhipblaslt.so.0
rocBLAS 4.1.2.abcdef|lib/librocblas.so.4"
like "flops are those of the key" "$(column ops_perf.csv backend key gflops | grep '^cublas|gemm ta=T tb=N m=16 n=9 k=20 a=f16')" "compute=f32.0.0029491[0-9]*$"
FAKE_GPU_CALL_NS=3906250 code "twice as slow" 0 lp small.csv -b cublas,hipblaslt -o slow.csv
is "is twice the time" "$(column slow.csv mean_us)" "3906.25
3906.25"
table others <<'K'
gemm ta=N tb=N m=8 n=8 k=8 a=f16 compute=f16
gemm ta=N tb=N m=8 n=8 k=8 a=f8 compute=f32
gemm ta=N tb=N m=8 n=8 k=8 a=f16 c=f32
gemm ta=N tb=N m=8 n=8 k=8 a=f16 compute=f32 epilogue=RELU
conv dir=fwd n=4
gemm ta=N tb=N m=3000000000 n=8 k=1 a=f16
K
code "what they lack" 0 lp others.csv -b cublas,cublaslt -o others_perf.csv
is "has rows with reasons" "$(column others_perf.csv backend status reason key | grep '^cublas|' | cut -d'|' -f 2,3 | LC_ALL=C sort)" "unsupported|its sizes need 64-bit integers
unsupported|no BLAS computes f8
unsupported|no BLAS has c=f32 with a=f16
unsupported|no BLAS has compute=f16 with a=f16
unsupported|no BLAS has epilogue=RELU
unsupported|no BLAS has the operation conv"
is "also in cuBLASLt" "$(column others_perf.csv backend status | grep -c '^cublaslt|unsupported')" 6

# --- cache modes ---
for mode in cold weights-cold; do
	code "$mode" 0 timeout 300 "$PROFRIG" -q lib perf --cache $mode --precision 40% ops.csv -b cublas,rocblas -o "$mode.csv" --top 22
	is "is right, too" "$(column $mode.csv status timer | sort | uniq -c | tr -s ' ')" " 44 ok|device"
done

# --- each fails in its own way, the others go on ---
cd own || exit 1
for word in ok crash hang wrong error later unsupported; do library "libcublas-$word.so.12"; done
for word in ok wrong noalgo old; do library "libhipblaslt-$word.so"; done
for word in ok crash notf32 unsupported; do library "librocblas_$word.so"; done
library libcublasLt-noalgo.so
library "$T/own/other.so"
ln -s librocblas_ok.so link.so
cp "$FAKES/fake_gpu_runtime.so" librocblas-empty.so
cd ..
ends() { local f; for f in "$@"; do printf '%s%s' "${sep-}" "$T/own/$f"; local sep=,; done; }
row() { column failed.csv backend status reason | sed "s#$T/own/##" | grep "^$1|"; }
table tf32 <<<"gemm ta=N tb=T m=5 n=6 k=7 a=f32 compute=tf32"
code "failures" 0 lp tf32.csv --timeout 2 -o failed.csv -b "$(ends libcublas-{ok,crash,hang,wrong,error,later,unsupported}.so.12 libhipblaslt-{ok,wrong,noalgo,old}.so librocblas_{ok,crash,notf32,unsupported}.so libcublasLt-noalgo.so other.so link.so librocblas-empty.so)"
is "each has its row" "$(column failed.csv backend | wc -l)" 19
like "cuBLAS by a path" "$(row libcublas-ok.so.12)" "\|ok\|"
is "a crash" "$(row libcublas-crash.so.12)" "libcublas-crash.so.12|crashed|SIGSEGV"
like "a hang" "$(row libcublas-hang.so.12)" "timeout.no answer within"
like "a wrong entry" "$(row libcublas-wrong.so.12)" "wrong.entry \(4, 5\) of C is 1000"
is "an error" "$(row libcublas-error.so.12)" "libcublas-error.so.12|failed|cuBLAS says 13, the GPU program failed to execute"
is "an error while measuring" "$(row libcublas-later.so.12)" "libcublas-later.so.12|failed|cuBLAS says 13, the GPU program failed to execute"
is "what a device does not support" "$(row libcublas-unsupported.so.12)" "libcublas-unsupported.so.12|unsupported|cuBLAS says 15, the functionality requested is not supported"
like "hipBLASLt by a path" "$(row libhipblaslt-ok.so)" "\|ok\|"
like "its wrong entry" "$(row libhipblaslt-wrong.so)" "wrong.entry \(4, 5\)"
is "no algorithm" "$(row libhipblaslt-noalgo.so)" "libhipblaslt-noalgo.so|unsupported|hipBLASLt has no algorithm for it"
is "in cuBLASLt" "$(row libcublasLt-noalgo.so)" "libcublasLt-noalgo.so|unsupported|cuBLASLt has no algorithm for it"
is "a version with other numbers" "$(row libhipblaslt-old.so)" "libhipblaslt-old.so|failed|hipBLASLt 0.3.0 is older than 0.7"
like "rocBLAS by a path" "$(row librocblas_ok.so)" "\|ok\|"
is "its crash" "$(row librocblas_crash.so)" "librocblas_crash.so|crashed|SIGSEGV"
is "a device without TF32" "$(row librocblas_notf32.so)" "librocblas_notf32.so|unsupported|the device does not compute in tf32"
like "a name that tells nothing is a BLAS" "$(row other.so)" "unsupported.no BLAS of a processor computes in tf32"
like "unless it is a link" "$(row link.so)" "\|ok\|"
is "a file without its functions" "$(row librocblas-empty.so)" "librocblas-empty.so|failed|the library has no rocblas_create_handle"
check "nothing is left running" bash -c '! pgrep -f "__bench [0-9]+ .*'"$T"'"'
FAKE_GPU=oom code "a full device" 0 lp small.csv -b "$ALL" -o oom.csv
is "is reported" "$(column oom.csv backend status reason | LC_ALL=C sort)" "cublaslt|skipped|a workspace of 32 MiB: CUDA_ERROR_OUT_OF_MEMORY
cublas|skipped|memory of the device: CUDA_ERROR_OUT_OF_MEMORY
hipblaslt|skipped|a workspace of 32 MiB: hipErrorOutOfMemory
rocblas|skipped|memory of the device: hipErrorOutOfMemory"
FAKE_GPU_FREE=1000 code "little memory" 0 lp small.csv -b cublas -o little.csv
like "a quarter of it is too little" "$(column little.csv status reason)" "skipped.its operands take .* GB, and .* GB of memory are free for a back end"
FAKE_GPU=lost code "a kernel that fails behind the call" 0 lp small.csv -b cublas,rocblas -o lost.csv
is "is reported by the runtime" "$(column lost.csv status reason)" "failed|the call: CUDA_ERROR_LAUNCH_FAILED
failed|the call: hipErrorLaunchFailure"

# --- a runtime that came with its library, and a library that lacks a function ---
if command -v "${CC:-cc}" >/dev/null; then
	mkdir wheel
	"${CC:-cc}" -shared -fPIC -Wl,-soname,libamdhip64.so.6 -o wheel/libamdhip64.so.6 "$ROOT/tests/fakes/fake_gpu_runtime.c" 2>cc.err || not_ok "the runtime compiles" "$(cat cc.err)"
	# shellcheck disable=SC2016
	"${CC:-cc}" -DLACKS_SDOT -shared -fPIC -Wl,--no-as-needed -Wl,-rpath,'$ORIGIN' -o wheel/librocblas.so "$ROOT/tests/fakes/fake_gpu_blas.c" wheel/libamdhip64.so.6 2>cc.err || not_ok "the library compiles" "$(cat cc.err)"
	table dots <<'K'
dot n=10 type=f32
dot n=10 type=f64
K
	LD_LIBRARY_PATH='' code "a library with its runtime" 0 lp dots.csv -b "$T/wheel/librocblas.so" -o wheel.csv
	is "works, but for what it lacks" "$(column wheel.csv key status reason | sort)" "dot n=10 type=f32|unsupported|the library has no rocblas_sdot
dot n=10 type=f64|ok|"
else
	skip "a library with its runtime" "there is no compiler"
fi

# --- killed at any moment, then resumed: each pair once ---
head -n 9 ops.csv >k.csv
for i in {1..6}; do
	"$PROFRIG" -q lib perf --cache warm --precision 40% k.csv -b cublas,rocblas -o killed.csv >/dev/null 2>&1 &
	pid=$!
	sleep "0.$((RANDOM % 900 + 100))"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
done
code "resumed behind 6 kills" 0 lp k.csv -b cublas,rocblas -o killed.csv
is "every pair once" "$(column killed.csv key backend status | sort | uniq -c | awk '{print $1}' | sort | uniq -c | tr -s ' ')" " 16 1"
check "no child is left" bash -c '! pgrep -f "__bench [0-9]+ .*'"$T"'"'
