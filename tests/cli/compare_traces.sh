#!/usr/bin/env bash
# compare of traces: what changed by count and by rate, whether they compare, verdicts by iteration; generated traces, and recordings whose numbers are known.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
pc() { timeout 120 "$PROFRIG" compare "$@"; }

# trace FILE STEPS STEP_US KERNEL_US [GPU] [RANKS]: steps with a host range, one operator in each, and two kernels of it
trace() {
	python3 - "$@" <<'END'
import json, sys
path, steps, step, kernel = sys.argv[1], *map(int, sys.argv[2:5])
gpu, ranks = sys.argv[5] if len(sys.argv) > 5 else "NVIDIA H100", int(sys.argv[6]) if len(sys.argv) > 6 else 8
e = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}}]
def x(cat, name, ts, dur, pid=1, tid=1, **args):
    e.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
for i in range(steps):
    t = 1000 + i * step
    x("user_annotation", "ProfilerStep#%d" % (i + 3), t, step - 1)
    x("cpu_op", "aten::mm", t + 10, 300, **{"External id": i + 1, "Input Dims": [[8, 4], [4, 8]], "Input type": ["float", "float"]})
    for k in range(2):
        x("cuda_runtime", "cudaLaunchKernel", t + 20 + 50 * k, 10, correlation=10 * i + k + 1, **{"External id": i + 1})
        x("kernel", "gemm" if k else "split", t + 40 + 400 * k, kernel + (i * 7) % 3, 0, 7, stream=7, device=0, correlation=10 * i + k + 1)
json.dump({"deviceProperties": [{"id": 0, "name": gpu, "numSms": 132}], "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": ranks}, "traceEvents": e}, open(path, "w"))
END
}
check "traces" trace a.json 8 2000 300
check "the same thing recorded again" trace b.json 8 2000 301
check "slower kernels" trace slow.json 6 2600 420
check "a window of equal length with half as much in it" trace half.json 4 4000 600
check "another GPU and number of ranks" trace v100.json 8 2000 300 "Tesla V100" 1
check "two steps" trace two.json 2 2000 300

code "what is the same" 0 pc a.json b.json --json
is "is called so, though there is one trace of each" "$(jq -r '.verdict' out)" same
is "by its unit of work" "$(jq -r '.versus[0].trace | "\(.unit) \(.time.n_a) \(.time.n_b) \(.verdict) \(.compared)"' out)" "ProfilerStep# 8 8 same kernel"
check "effects add up exactly" jq -e '.versus[0].trace.diff | length == 5 and all(.delta_ns == .new_ns - .gone_ns + .count_effect_ns + .rate_effect_ns and .delta_ns == ([.rows[].delta_ns] | add))' out
check "and row by row" jq -e '[.versus[0].trace.diff[].rows[] | select(.count_a > 0 and .count_b > 0) | .delta_ns == .count_effect_ns + .rate_effect_ns] | all' out
is "two kernels that run as often" "$(jq -r '.versus[0].trace.diff[0] | "\(.kind) \(.common) \(.unchanged) \(.delta_ns) \(.count_effect_ns)"' out)" "kernel 2 2 16000 0"
code "slower kernels" 0 pc a.json slow.json
like "are said first" "$(cat out)" "^A .*B against A: slower; "
like "then how long a unit of work takes" "$(cat out)" "unit of work: ProfilerStep#: .* in A \(median of 8\), .* in B \(6\): \+"
like "then effects side by side" "$(cat out)" "change +by count +by rate +A +B +kernel"
code "a gate" 7 pc a.json slow.json --gate
like "counts the unit of work" "$(cat err)" "gate: a unit of work takes longer"
code "a window of equal length" 0 pc a.json half.json --json
is "does not look the same" "$(jq -r .verdict out)" slower
code "another GPU" 0 pc a.json v100.json --json
is "does not compare" "$(jq -r '.verdict, .comparable.score, (.comparable.reasons | join("; "))' out | paste -sd' ')" "not comparable 0 GPU: NVIDIA H100 in A, Tesla V100 in B; world size: 8 in A, 1 in B"
code "two steps" 0 pc a.json two.json --json
is "are too few" "$(jq -r '.verdict, (.comparable.reasons | join("; "))' out | paste -sd' ')" "not comparable iterations: 8 in A, 2, fewer than 3 steady ones in B"
code "a declared metric" 0 pc a.json b.json --metric kernels --json
is "leaves traces alone" "$(jq -r '.versus[0].trace' out)" null

# --- files ---
code "a folder" 0 pc a.json slow.json v100.json -o out.dir/
is "has tables of all pairs" "$(tail -n +2 out.dir/tables/comparability.csv | grep -o '[A-C],A$' | sort | uniq -c | xargs)" "10 B,A 10 C,A"
is "with the columns of docs/tables.md" "$(head -1 out.dir/tables/diff.csv)" "kind,name,count_a,count_b,total_a_ns,total_b_ns,delta_ns,count_effect_ns,rate_effect_ns,state,side,against"
is "and rows" "$(grep '^kernel,gemm,' out.dir/tables/diff.csv | cut -d, -f1-4,10- | paste -sd' ')" "kernel,gemm,8,6,decreased,B,A kernel,gemm,8,8,unchanged,C,A"
like "and facts" "$(cat out.dir/tables/comparability.csv)" "world size,8,1,refused,C,A"
like "and a page" "$(cat out.dir/report.html)" "Comparable\?.*by count"
code "a page alone" 0 pc a.json slow.json -o alone.html
check "is a file" test -f alone.html
code "a folder that cannot be written" 4 pc a.json slow.json -o /proc/none/

# --- analyses and runs ---
for t in a slow; do "$PROFRIG" -q analyze $t.json -o an.$t >/dev/null 2>&1; done
code "analyses" 0 pc an.a an.slow --json
is "are judged as their traces" "$(jq -r '.verdict, .versus[0].trace.unit' out | paste -sd' ')" "slower ProfilerStep#"
is "analysis.json has what the input says of its machine" "$(jq -r '.inputs[0] | "\(.devices[0].name) \(.devices[0].units) \(.world.size) \(.world.backend)"' an.a/analysis.json)" "NVIDIA H100 132 8 nccl"

traces=${PROFRIG_TRACES:-}
if [ -z "$traces" ]; then
	case ,${PROFRIG_REQUIRE:-}, in *,traces,*) not_ok "PROFRIG_TRACES is required" ;; esac
	skip "recordings" "PROFRIG_TRACES is not set"
	exit 0
fi
tef=$traces/tef
code "two ranks" 0 pc "$tef/hta-two-rank/sampled_rank-0.json.gz" "$tef/hta-two-rank/sampled_rank-1.json.gz" --json
kind() { jq -c --arg k "$1" ".versus[0].trace.diff[] | select(.kind == \$k) | $2" out; }
is "kernels by name" "$(kind kernel '[.names_a, .names_b, .new, .gone, .increased, .decreased, .unchanged]')" "[194,183,0,11,0,10,173]"
is "their time" "$(kind kernel '[.total_a_ns, .total_b_ns, .delta_ns]')" "[606519000,651026000,44507000]"
is "which is that of what is gone, of counts and of rates" "$(kind kernel '[.new_ns, .gone_ns, .count_effect_ns, .rate_effect_ns] | map(round)')" "[0,28232000,-6926350,79665350]"
is "operators by name" "$(kind cpu_op '[.names_a, .names_b, .new, .gone, .increased, .decreased, .unchanged]')" "[162,153,3,12,25,29,96]"
is "and how many they have in common" "$(kind cpu_op '.overlap * 1e6 | round')" 909091
code "two machines" 0 pc "$tef/hta-ns-resolution" "$tef/hta-nccl" --json
is "do not compare" "$(jq -r .verdict out)" "not comparable"
is "for these reasons" "$(jq -r '.comparable.reasons[]' out)" "GPU: Tesla V100-SXM2-32GB in A, NVIDIA A100-PG509-200 in B
world size: 1 in A, 2 in B
kernel names: 34 of 113 in common (77 in A, 70 in B)"
is "kernels by name" "$(kind kernel '[.names_a, .names_b, .new, .gone, .common, .delta_ns]')" "[77,70,36,43,34,-305621262]"
is "operators by name" "$(kind cpu_op '[.names_a, .names_b, .common, .decreased]')" "[89,89,89,89]"
is "which are compared instead" "$(jq -r '.versus[0].trace.compared' out)" operator
code "a recording and itself" 0 pc "$tef/hta-ns-resolution" "$tef/hta-ns-resolution" --json
is "are the same" "$(jq -r .verdict out)" same
