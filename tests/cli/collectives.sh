#!/usr/bin/env bash
# Collectives of ranks whose traces lie in files of their own, with clocks that differ.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../contract.sh"

# Rank N of three, its clock N ms ahead: rank_trace RANK OFFSET_MS >FILE
rank_trace() {
	awk -v r="$1" -v off="$2" 'BEGIN {
		printf "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%d,\"world_size\":3},\"traceEvents\":[", r
		for (i = 0; i < 12; i++) {
			start = i * 5000 + (r * 7 + i * 3) % 10 * 10 + off * 1000 + 1000000
			end = i * 5000 + 400 + off * 1000 + 1000000
			printf "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"Collective name\":\"allreduce\",\"dtype\":\"Float\",\"In msg nelems\":%d,\"Out msg nelems\":%d,\"Group size\":3,\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1, 2]\",\"Seq\":%d}},", (i ? "," : ""), 100 + r, start - 8, 1000, 1000, i + 4
			printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernelExC\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":2,\"args\":{\"correlation\":%d}},", 100 + r, start - 7, i + 1
			printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)\",\"pid\":%d,\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"device\":%d,\"stream\":7,\"correlation\":%d}}", r, start, end - start, r, i + 1
		}
		print "]}"
	}'
}

column() { # table, column: its values, in one line
	awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i; next } { printf "%s%s", (NR > 2 ? " " : ""), $at } END { print "" }' "$1"
}

for r in 0 1 2; do
	rank_trace $r 0 >"$T/same$r.json"
	rank_trace $r $((r * 40)) >"$T/apart$r.json"
done

run_ok() { # name, arguments…
	local name=$1
	shift
	check "analyze $name" "$PROFRIG" analyze -q "$@" -o "$T/$name"
}

run_ok same "$T"/same[012].json
run_ok apart "$T"/apart[012].json
run_ok moved --align "$T"/apart[012].json
table_contract "$T/apart" collectives collective_instances collective_ranks alignment

for n in apart moved; do
	for t in collectives collective_ranks; do
		check "clocks that differ do not change $t ($n)" cmp "$T/same/tables/$t.csv" "$T/$n/tables/$t.csv"
	done
done
is "one clock stays" "$(column "$T/same/tables/alignment.csv" used)" "no no no"
is "three clocks are aligned" "$(column "$T/apart/tables/alignment.csv" used)" "yes yes yes"
is "their offsets" "$(column "$T/apart/tables/alignment.csv" offset_ns)" "-40000000 0 40000000"
is "--align leaves none" "$(column "$T/moved/tables/alignment.csv" offset_ns)" "0 0 0"
check "and says how far it moved them" jq -e '.warnings | any(.code == "W_CLOCK_ALIGNED" and .count == 3)' "$T/moved/analysis.json"

run_ok two "$T"/same[01].json
is "with a rank missing nothing is measured" "$(column "$T/two/tables/collectives.csv" complete)" 0
check "which is a warning" jq -e '.warnings | any(.code == "W_COLLECTIVE_INCOMPLETE")' "$T/two/analysis.json"
is "but clocks are compared" "$(column "$T/two/tables/alignment.csv" events)" "12 12"

# Traces without sizes, beside logs of NCCL.
for r in 0 1 2; do
	sed 's/"In msg nelems":1000,"Out msg nelems":1000,//g; s/"dtype":"Float",//g' "$T/same$r.json" >"$T/bare$r.json"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo "n1:$((900 + r)):$((900 + r)) [$r] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 acc (nil) count 1000 datatype 7 op 0 root 0 comm 0x10 [nranks=3] stream 0x3 task 0 globalrank $r"
	done >"$T/nccl.$((900 + r)).log"
done
run_ok bare "$T"/bare[012].json
is "sizes that nothing tells are unknown" "$(column "$T/bare/tables/collectives.csv" bytes)" ""
run_ok logged "$T"/bare[012].json "$T"/nccl.*.log
is "a log of each rank tells them" "$(column "$T/logged/tables/collectives.csv" bytes)" 4000
is "with bandwidth" "$(column "$T/logged/tables/collectives.csv" busbw_gbps)" "$(column "$T/same/tables/collectives.csv" busbw_gbps)"
is "and where they are from" "$(column "$T/logged/tables/collective_instances.csv" source | tr ' ' '\n' | sort | uniq -c | xargs)" "12 log"
is "a size of the trace says so, too" "$(column "$T/same/tables/collective_instances.csv" source | tr ' ' '\n' | sort -u)" trace
sed -i '$d' "$T/nccl.901.log"
run_ok fewer "$T"/bare[012].json "$T"/nccl.*.log
is "of other numbers of calls none is taken" "$(column "$T/fewer/tables/collectives.csv" bytes)" ""
is "with the reason" "$(jq -r '.skipped[] | select(.name == "collectives.sizes") | .reason' "$T/fewer/analysis.json")" "rank 1: the log of NCCL has 11 calls of allreduce, the trace has 12"
