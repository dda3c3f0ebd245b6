#!/usr/bin/env bash
# Logs of libraries beside a trace of the same session: which kernels their calls ran, and how long.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1

# PyTorch's words: 3 products of rocBLAS in two operators, 2 collectives, kernels on one stream
python3 - <<'P'
import json
events = []
def add(name, cat, ts, dur, tid=77, pid=77, **args):
    events.append({"ph": "X", "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
def launch(ts, correlation, kernel, at, dur):
    add("hipExtModuleLaunchKernel", "cuda_runtime", ts, 1, correlation=correlation)
    add(kernel, "kernel", at, dur, tid=7, pid=0, correlation=correlation, device=0, stream=7)
add("aten::mm", "cpu_op", 0, 100)
add("rocblas_sgemm", "user_annotation", 10, 20); launch(12, 1, "Cijk_small", 200, 5)
add("rocblas_sgemm", "user_annotation", 40, 20); launch(42, 2, "Cijk_large", 210, 40)
add("aten::bmm", "cpu_op", 110, 50)
add("rocblas_sgemm", "user_annotation", 120, 20); launch(122, 3, "Cijk_small", 260, 7)
kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
add("ncclAllReduce", "user_annotation", 170, 4); launch(172, 4, kernel, 300, 20)
add("ncclAllReduce", "user_annotation", 175, 5); launch(178, 5, kernel, 320, 28)
json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "MI300X"}], "traceEvents": events}, open("rank.pt.trace.json", "w"))
P
gemm() { echo "./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m $1 -n 100 -k 50 --alpha 1 --lda $1 --ldb 50 --beta 0 --ldc $1"; }
{ gemm 100; gemm 1000; gemm 100; } >rocblas.77.log
collective() { echo "node1:77:77 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count $1 datatype 7 op 0 root 0 comm 0x10 [nranks=2] stream 0x3"; }
{ collective 8; collective 1024; } >nccl.log
rows() { python3 - "$1/tables/library_calls.csv" "${@:2}" <<'P'
import csv, sys
for r in csv.DictReader(open(sys.argv[1], newline="")):
    print("|".join(r[c] for c in sys.argv[2:]))
P
}

code "a log alone" 0 "$PROFRIG" analyze rocblas.77.log -o alone
like "has no spans, but calls" "$(tr '\n' '|' <err)" "  time    no spans are in it\\|  library rocblas 3 calls, 12.0 Mflop \\(library_calls.csv\\)\\|"
code "a trace and two logs" 0 "$PROFRIG" -q analyze rank.pt.trace.json rocblas.77.log nccl.log -o both
is "each configuration has its time and its kernel" "$(rows both operation trace_calls trace_ns kernels kernel called_by unmatched)" \
	"sgemm|1|40000|1|Cijk_large|aten::mm|
sgemm|2|12000|1|Cijk_small|aten::bmm|
AllReduce|1|28000|1|ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)|ncclAllReduce|
AllReduce|1|20000|1|ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)|ncclAllReduce|"
is "10^7 flops in 40 us, twice 10^6 in 12" "$(rows both trace_tflops | sed -n 1,2p | awk '{ printf "%.6f ", $1 }')" "0.250000 0.166667 "
is "shares are of all work on devices" "$(rows both trace_share | awk '{ printf "%.2f ", $1; s += $1 } END { printf "%.6f", s }')" "0.40 0.12 0.28 0.20 1.000000"
is "nothing is warned of" "$(jq -c '[.warnings[].code]' both/analysis.json)" "[]"
code "in another order of the files" 0 "$PROFRIG" -q analyze nccl.log rocblas.77.log rank.pt.trace.json -o turned
check "the table is the same" cmp both/tables/library_calls.csv turned/tables/library_calls.csv
code "a part of it" 0 "$PROFRIG" -q analyze rank.pt.trace.json rocblas.77.log --window 0us:100us -o window
is "has no times: logs are not cut" "$(rows window trace_calls unmatched | sort -u)" "0|logs are not cut to windows"

gemm 100 >>rocblas.77.log
code "a log with one call more" 0 "$PROFRIG" -q analyze rank.pt.trace.json rocblas.77.log nccl.log -o more
is "is not matched, and says why" "$(rows more operation trace_calls trace_ns unmatched | sed -n 1,2p)" \
	"sgemm|0||the log has 4 such calls, the trace 3
sgemm|0||the log has 4 such calls, the trace 3"
is "the collectives are" "$(rows more operation trace_calls | tail -n 2 | sort -u)" "AllReduce|1"
is "which is noted" "$(jq -r '.warnings[] | "\(.code) \(.severity) \(.count)"' more/analysis.json)" "W_LIBRARY_UNMATCHED note 4"
mv rocblas.77.log rocblas.78.log
code "the log of another process" 0 "$PROFRIG" -q analyze rank.pt.trace.json rocblas.78.log -o other
is "has no calls there" "$(rows other trace_calls unmatched | sort -u)" "0|the trace has no such calls"

# oneDNN counts its times from the epoch, PyTorch, too
python3 - <<'P'
import json
base = 1700000000000000
events = [{"ph": "X", "name": n, "cat": "cpu_op", "pid": 77, "tid": 77, "ts": ts, "dur": dur, "args": {}} for n, ts, dur in
          (("aten::conv2d", 1000, 500), ("aten::mkldnn_convolution", 1010, 400), ("aten::relu", 2000, 100))]
json.dump({"schemaVersion": 1, "baseTimeNanoseconds": base * 1000, "deviceProperties": [], "traceEvents": events}, open("cpu.pt.trace.json", "w"))
with open("onednn.log", "w") as f:
    for us, ms in ((1020, 0.3), (2050, 0.2)):
        f.write(f"onednn_verbose,{(base + us) / 1000:.3f},exec,cpu,convolution,jit:avx2,forward_training,src_f32::blocked:abcd:f0 "
                f"wei_f32::blocked:Acdb16a:f0 dst_f32::blocked:aBcd16b:f0,,alg:convolution_direct,mb1_ic1oc1_ih1oh1kh1sh1dh0ph0_iw1ow1kw1sw1dw0pw0,{ms}\n")
P
code "primitives of oneDNN" 0 "$PROFRIG" -q analyze cpu.pt.trace.json onednn.log -o dnn
is "are those of the operator that is open meanwhile" "$(rows dnn calls trace_calls trace_ns called_by unmatched)" \
	"2|1|300000|aten::mkldnn_convolution|no fitting operator is open during all of a call, or several are"

# recordings; none has a log of its session, so the log is made of what MANIFEST.md knows of it
traces=${PROFRIG_TRACES:-}
if [ -z "$traces" ]; then
	case ,${PROFRIG_REQUIRE:-}, in *,traces,*) not_ok "PROFRIG_TRACES is required" ;; esac
	skip "real recordings" "PROFRIG_TRACES is not set"
	exit 0
fi
line() { echo "node1:2910249:$1 [0] NCCL INFO $2: opCount 0 sendbuff 0x1 recvbuff 0x2 count $3 datatype $4 op 0 root 0 comm 0x10 [nranks=2] stream 0x3"; }
for i in 1 2 3; do
	line 2910249 Broadcast 53120 7
	line 2910249 Broadcast 53 4
	for count in 2049000 7875584 6563840 6637568 2431040; do line 2919752 AllReduce $count 7; done
done >nccl.log
code "PyTorch on two GPUs" 0 "$PROFRIG" -q analyze "$traces/tef/hta-nccl/nccl_data.json.gz" nccl.log -o hta
is "three iterations of five AllReduce and two Broadcast" "$(rows hta operation calls trace_calls | sort | uniq -c | awk '{ print $1, $2 }')" "5 AllReduce|3|3
2 Broadcast|3|3"
is "have the time of their kernels" "$(rows hta operation trace_ns | awk -F'|' '{ s[$1] += $2 } END { print s["AllReduce"], s["Broadcast"] }')" "46762159 114334"
is "of the first AllReduce, as the trace has them" "$(rows hta key trace_ns | awk -F'|' '/count=2049000 / { print $2 }')" "$(zcat "$traces/tef/hta-nccl/nccl_data.json.gz" |
	jq '[.traceEvents[] | select(.cat == "kernel" and (.name | startswith("ncclKernel_AllReduce")))] | sort_by(.ts) | [.[0, 5, 10].dur] | add * 1000 | round')"
cp "$traces/liblog/blas-torch-linear/blas.json" blas.json
code "the BLAS tracer's file" 0 "$PROFRIG" -q analyze blas.json -o blas
is "is trace and log: all calls have the time that is logged" "$(rows blas calls logged_ns | tr '\n' ' ')" "$(rows blas trace_calls trace_ns | tr '\n' ' ')"
is "25 products and one dot" "$(rows blas operation trace_calls | awk -F'|' '{ s[$1] += $2 } END { print s["sgemm"], s["sdot"] }')" "25 1"
