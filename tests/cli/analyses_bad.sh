#!/usr/bin/env bash
# What traces may have that no program does: each is counted, shown, and in or out of the tables by a stated rule; no analysis fails or hangs.
. "$(dirname "$0")/../lib.sh"

# Events on stdin, a line each without comma: trace NAME
trace() {
	{ printf '{"schemaVersion":1,"deviceProperties":[],"traceEvents":[\n' && sed '$!s/$/,/' && printf ']}\n'; } >"$T/$1.json"
}
call() { # CATEGORY NAME START DUR ARGS: on thread 1 of process 1
	printf '{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":1,"ts":%s,"dur":%s,"args":{%s}}\n' "$@"
}
launch() { call cuda_runtime cudaLaunchKernel "$1" 2 "\"correlation\":$2"; }                                                            # START CORRELATION
kernel() { printf '{"ph":"X","cat":"kernel","name":"%s","pid":0,"tid":7,"ts":%s,"dur":%s,"args":{"device":0,"stream":7%s}}\n' "$@"; } # NAME START DUR ARGS
warned() { jq -r --arg c "$2" '[.warnings[] | select(.code == $c) | .count] | add // 0' "$T/$1/analysis.json"; }
cell() { # NAME TABLE COLUMN [ROWS]: the values of a column in rows that match
	awk -F, -v want="$3" -v rows="${4-}" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i; next } rows == "" || $0 ~ rows { printf "%s%s", (n++ ? " " : ""), $at } END { print "" }' "$T/$1/tables/$2.csv"
}
analyze() { # NAME FILES…
	local name=$1
	shift
	code "$name" 0 timeout 60 "$PROFRIG" -q analyze "$@" -o "$T/$name"
	is "$name: checks hold" "$(jq -r '[.checks[] | select(.ok | not) | .name] | join(" ")' "$T/$name/analysis.json")" ""
}

# ---- groups with ranks that are missing, or stop early ----
rank() { # RANK HOW_MANY
	{
		printf '{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%d,"world_size":3},"traceEvents":[' "$1"
		for ((i = 0; i < $2; i++)); do
			((i)) && printf ,
			call cpu_op record_param_comms $((i * 100)) 9 "\"Collective name\":\"allreduce\",\"dtype\":\"Float\",\"In msg nelems\":10,\"Out msg nelems\":10,\"Group size\":3,\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1, 2]\",\"Seq\":$i" | sed "s/\"pid\":1/\"pid\":$((50 + $1))/"
			printf ,
			launch $((i * 100 + 1)) $((i + 1)) | sed "s/\"pid\":1/\"pid\":$((50 + $1))/"
			printf ,
			kernel "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)" $((i * 100 + 20 + $1)) 30 ",\"correlation\":$((i + 1))" | sed "s/\"device\":0/\"device\":$1/"
		done
		printf ']}'
	} >"$T/rank$1.json"
}
rank 0 5
rank 1 5
rank 2 3
analyze early "$T"/rank[012].json
is "instances of all ranks are measured, the others are listed" "$(cell early collective_instances complete | xargs)" "yes yes yes no no"
is "with the reason" "$(cell early collective_instances why ',no,' | xargs)" "ranks are missing ranks are missing"
is "and are in no mean" "$(cell early collectives instances) $(cell early collectives complete)" "5 3"
is "and counted" "$(warned early W_COLLECTIVE_INCOMPLETE)" 2
is "all durations are in the ranks' sums" "$(cell early collective_ranks count)" "5 5 3"
analyze missing "$T"/rank[01].json
is "a rank that has no file is missing in each" "$(cell missing collectives complete)" 0
check "and named" test "$(warned missing W_MISSING_RANKS)" -gt 0

# ---- kernels without launch, launches without kernel ----
{ launch 10 1 && kernel a 20 5 ',"correlation":1' && kernel b 40 5 ',"correlation":99' && kernel c 60 5 ''; } | trace nolaunch
analyze nolaunch "$T/nolaunch.json"
is "work without a launch is counted" "$(cell nolaunch launch_latency linked) $(cell nolaunch launch_latency unlinked)" "1 2"
is "is in the time of its device" "$(cell nolaunch busy sum_ns)" 15000
is "the idle time before it has a cause of its own" "$(cell nolaunch idle_causes total_ns no_launch)" 30000
is "what names a launch that is not there is a note" "$(warned nolaunch W_UNLINKED_WORK)" 1
is "and in no call path but its own" "$(cell nolaunch callpaths device_exclusive_ns unattributed)" 10000
{ launch 10 1 && kernel a 20 5 ',"correlation":1' && launch 30 2 && launch 40 3; } | trace nowork
analyze nowork "$T/nowork.json"
is "launches without work are counted" "$(warned nowork W_LAUNCH_WITHOUT_WORK)" 2
is "are calls of the host" "$(cell nowork functions calls cudaLaunchKernel)" 3
is "and no latency" "$(cell nowork launch_latency linked)" 1
is "a trace whose launches have work has no such note" "$(warned nolaunch W_LAUNCH_WITHOUT_WORK)" 0

# ---- host spans that overlap ----
{ call cpu_op p 0 10 '' && call cpu_op q 5 10 '' && call cpu_op r 12 10 '' && launch 6 1 && kernel a 20 5 ',"correlation":1'; } | trace overlap
analyze overlap "$T/overlap.json"
is "overlaps are counted" "$(warned overlap W_SPAN_OVERLAP)" 2
is "every moment has one call" "$(cell overlap functions exclusive_ns '^host' | tr ' ' '\n' | paste -sd+ | bc)" 22000
is "durations stay" "$(cell overlap functions inclusive_ns '^host,[pqr]')" "10000 10000 10000"

# ---- sizes of nothing, sizes that cannot be, shapes that are none ----
{
	n=0
	while read -r dims; do
		n=$((n + 1))
		call cpu_op aten::mm $((n * 20)) 10 "\"Input Dims\":$dims,\"Input type\":[\"float\",\"float\"]"
		launch $((n * 20 + 2)) $n
		kernel gemm $((500 + n * 20)) 5 ",\"correlation\":$n"
	done <<-'E'
		[[0,0],[0,5]]
		[[2,3],[3,4]]
		[[1000000000000000000,1000000000000000000],[1000000000000000000,4]]
		"no list"
		[[2,-3],[3,4]]
		[[2,3],[5,4]]
		[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],[3,4]]
		[[2.5,3],[3,4]]
		{"a":[1]}
		[[[[[[[[2]]]]]]]]
	E
	launch 300 90 && kernel empty 900 0 ',"correlation":90'
	printf '{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":910,"dur":%s,"args":{"device":0,"stream":7,"bytes":%s}}\n' 0 0 5 -7 5 9223372036854775807 5 4096
} | trace sizes
analyze sizes "$T/sizes.json"
rows() { grep -c "$2" "$T/sizes/tables/$1.csv"; }
like "an operator whose sizes can be has flops" "$(grep -F '"[[2,3],[3,4]]"' "$T/sizes/tables/operators.csv")" ',1,1,1,5000,5000,10000,48,104,'
like "of nothing it has none, which is a number" "$(grep -F '"[[0,0],[0,5]]"' "$T/sizes/tables/operators.csv")" ',1,1,1,5000,5000,10000,0,0,'
is "what cannot be has neither, and is in the table with its time" "$(rows operators '^aten::mm,.*,5000,5000,10000,,,')" 6
is "two of them tell no shape" "$(rows operators '^aten::mm,,"\[""float"",""float""\]",2,2,2,10000,10000,')" 1
is "both are counted" "$(warned sizes W_BAD_FACT) $(warned sizes W_BAD_SHAPES)" "9 7"
is "only two have a rate" "$(sed 1d "$T/sizes/tables/perf.csv" | wc -l)" 2
is "work without length is work" "$(grep -c '^gpu0,empty,other,1,0,0,0,0,0,' "$T/sizes/tables/kernels.csv")" 1
is "copies of no size and of absurd ones are copies" "$(grep -c '^gpu0,Memcpy HtoD (Pageable -> Device),copy,4,15000,0,' "$T/sizes/tables/kernels.csv")" 1

# ---- flows in a circle, work that starts before its launch ----
flow() { printf '{"ph":"%s","id":%s,"cat":"f","name":"f","pid":1,"tid":%s,"ts":%s,"bp":"e"}\n' "$@"; } # s|f ID THREAD AT
{
	for i in 0 1 2 3; do
		at=$((i * 100))
		call user_annotation "ProfilerStep#$i" $at 90 ''
		call cpu_op A $((at + 1)) 20 ''
		call cpu_op B $((at + 40)) 10 '' | sed 's/"tid":1/"tid":2/'
		flow s $((i * 2 + 1)) 1 $((at + 5)) && flow f $((i * 2 + 1)) 2 $((at + 45))
		flow s $((i * 2 + 2)) 2 $((at + 46)) && flow f $((i * 2 + 2)) 1 $((at + 6))
		launch $((at + 10)) $((i + 1))
		kernel early $((at + 4)) 30 ",\"correlation\":$((i + 1))"
		call cuda_runtime cudaDeviceSynchronize $((at + 50)) 20 ''
	done
} | trace circle
analyze circle "$T/circle.json"
is "the critical path ends, and covers each step" "$(awk -F, 'NR > 1 { s[$1] += $3 } END { for (k in s) print s[k] }' "$T/circle/tables/critical_path.csv" | sort -u)" 90000
is "work before its launch is counted" "$(cell circle launch_latency early)" 4
is "its latency is negative, not cut off" "$(cell circle launch_latency min_ns)" -6000
