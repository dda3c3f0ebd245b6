#!/usr/bin/env bash
# Who shares which device: --topology FILE, what a run directory tells, the table that shows it.
. "$(dirname "$0")/../lib.sh"

# A run of 10 s on node1: two processes of ranks 0 and 1, calls over all of it, a kernel of each from 1 to 9 s on its own device 0 or 1; four sampled
# devices of 100, 200, 300 and 400 W. run DIR ENGINE "ENV OBJECTS" "GPUS"
run() {
	local d=$1 base=1700000000000000 r
	mkdir -p "$d/samples" "$d/artifacts/k"
	cat >"$d/run.json" <<-END
		{"schema": "profrig.run/1", "id": "r", "model": "m", "status": "success", "host": {"hostname": "node1"}, "engine": "$2",
		 "clocks": [{"monotonic_ns": 1000000000, "realtime_ns": 1700000000000000000, "boottime_ns": 1000000000, "at": "start"}],
		 "steps": [{"name": "workload", "started_ns": 1000000000, "ended_ns": 11000000000, "exit_code": 0}],
		 "artifacts": [{"tool": "k", "path": "artifacts/k/0.json", "reader": "tef", "verdict": "valid"}, {"tool": "k", "path": "artifacts/k/1.json", "reader": "tef", "verdict": "valid"}]}
	END
	cat >"$d/plan.json" <<-END
		{"schema": "profrig.plan/1", "configuration": [${4:+{\"key\": \"gpus\", \"value\": \"$4\"\}}], "steps": [{"name": "workload", "env": [$3]}]}
	END
	for r in 0 1; do
		cat >"$d/artifacts/k/$r.json" <<-END
			{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A"}], "distributedInfo": {"backend": "nccl", "rank": $r, "world_size": 2}, "traceEvents": [
			{"ph": "X", "cat": "cpu_op", "name": "main", "pid": $((500 + r)), "tid": $((500 + r)), "ts": $base, "dur": 10000000, "args": {"External id": 1}},
			{"ph": "X", "cat": "kernel", "name": "gemm", "pid": $r, "tid": 7, "ts": $((base + 1000000)), "dur": 8000000, "args": {"device": $r, "stream": 7, "correlation": 9}}]}
		END
	done
	{
		echo "# clock: CLOCK_MONOTONIC"
		echo "t_ns,energy.gpu0[J],energy.gpu1[J],energy.gpu2[J],energy.gpu3[J]"
		echo "1000000000,0,0,0,0"
		echo "11000000000,1000,2000,3000,4000"
	} >"$d/samples/gpu_power.csv"
}
sharing() { sed 1d "$1/tables/sharing.csv" | grep "^energy.gpu$2,.*,$3," | cut -d, -f4- | paste -sd' '; }
# energy DIR GPU VIEW: exclusive_j of main or gemm, by rank
energy() { grep -E "^energy.gpu$2,[^,]*,$3,.*,(main|gemm)," "$1/tables/energy.csv" | sort | cut -d, -f8 | paste -sd' '; }
unattributed() { grep -E "^energy.gpu$2,[^,]*,$3,,\[unattributed\]," "$1/tables/energy.csv" | cut -d, -f8; }
held() { jq -e '.checks | length > 0 and all(.ok)' "$1/analysis.json"; }

# what is found out without a file
run "$T/plain" host ""
code "a run of two ranks on two devices" 0 "$PROFRIG" -q analyze "$T/plain" -o "$T/o"
is "gpu0 is rank 0's" "$(sharing "$T/o" 0 host)" "rank 0 (node1:500),queues,1"
is "all of it" "$(energy "$T/o" 0 host)" 1000
is "gpu1 is rank 1's" "$(energy "$T/o" 1 host)" 2000
is "gpu2 may be anybody's" "$(energy "$T/o" 2 host)" "1500 1500"
is "which the table says" "$(sharing "$T/o" 2 host)" "rank 0 (node1:500),node,1 rank 1 (node1:501),node,1"
is "the kernel on gpu0" "$(energy "$T/o" 0 device)" 800
check "the sums hold" held "$T/o"

run "$T/hip" host '{"name": "HIP_VISIBLE_DEVICES", "value": "2,3"}'
code "a run that saw devices 2 and 3 as 0 and 1" 0 "$PROFRIG" -q analyze "$T/hip" -o "$T/o"
is "its kernel of device 0 ran on gpu2" "$(energy "$T/o" 2 device)" 2400
is "and the one of device 1 on gpu3" "$(energy "$T/o" 3 device)" 3200
is "nothing ran on gpu0" "$(energy "$T/o" 0 device)" ""
is "nobody saw gpu0" "$(sharing "$T/o" 0 host)" "[nobody],,"
is "so its energy is nobody's" "$(unattributed "$T/o" 0 host)" 1000
is "why is said" "$(sharing "$T/o" 2 device | cut -d, -f2)" visible_devices
check "the sums hold there too" held "$T/o"

run "$T/box" docker '{"name": "ROCR_VISIBLE_DEVICES", "value": "1,0"}' "1,3"
code "a container of devices 1 and 3, turned round" 0 "$PROFRIG" -q analyze "$T/box" -o "$T/o"
is "device 0 is gpu3" "$(energy "$T/o" 3 device)" 3200
is "device 1 is gpu1" "$(energy "$T/o" 1 device)" 1600
run "$T/uuid" host '{"name": "ROCR_VISIBLE_DEVICES", "value": "GPU-1234"}'
code "devices by their UUID" 0 "$PROFRIG" -q analyze "$T/uuid" -o "$T/o"
is "tell nothing, which is noted" "$(jq -r '.warnings[] | select(.code == "W_VISIBLE_DEVICES").text' "$T/o/analysis.json")" "ROCR_VISIBLE_DEVICES='GPU-1234' is no list of indexes"
is "the numbers are taken as they are" "$(energy "$T/o" 0 device)" 800

# a file
cat >"$T/one.yaml" <<END
sharing:
  - {ranks: "0-1", devices: gpu2, weight: 2}
  - {processes: 501, devices: [gpu0, "node1:gpu1"]}
counters: {gpu1: [gpu0, 1]}
END
code "a topology file" 0 "$PROFRIG" -q analyze --topology "$T/one.yaml" "$T/plain" -o "$T/o"
is "names who shares" "$(sharing "$T/o" 0 host)" "rank 1 (node1:501),file,1"
is "with a weight" "$(sharing "$T/o" 2 host)" "rank 0 (node1:500),file,2 rank 1 (node1:501),file,2"
is "a counter of two devices has the work of both" "$(energy "$T/o" 1 device)" "800 800"
is "one because of its number, one because of the file" "$(sharing "$T/o" 1 device)" "gpu0 queue 7,file,1 gpu1 queue 7,index,1"
is "rank 1 has all of gpu0" "$(energy "$T/o" 0 host)" 1000
check "the sums hold with a file" held "$T/o"
echo '{"sharing": [{"ranks": 0, "visible": 3}, {"ranks": 1, "visible": [2, "gpu0"]}]}' >"$T/two.json"
code "the same in JSON, with each rank's own numbers" 0 "$PROFRIG" -q analyze --topology "$T/two.json" "$T/plain" -o "$T/o"
is "device 0 of rank 0 is gpu3" "$(energy "$T/o" 3 device) $(energy "$T/o" 3 host)" "3200 4000"
is "device 1 of rank 1 is gpu0" "$(energy "$T/o" 0 device) $(energy "$T/o" 0 host)" "800 1000"
echo "discover: false" >"$T/none.yaml"
code "a file may switch discovery off" 0 "$PROFRIG" -q analyze --topology "$T/none.yaml" "$T/hip" -o "$T/o"
is "then the node shares" "$(energy "$T/o" 0 host)" "500 500"
printf 'sharing:\n  - {ranks: 5, devices: gpu0}\n  - {ranks: 0, devices: [gpu7]}\n' >"$T/idle.yaml"
code "rules that match nothing" 0 "$PROFRIG" -q analyze --topology "$T/idle.yaml" "$T/plain" -o "$T/o"
is "are named" "$(jq -r '.warnings[] | select(.code == "W_TOPOLOGY").text' "$T/o/analysis.json")" "$T/idle.yaml:2: the rule matches no process; $T/idle.yaml:3: no counter and no queue has the device 'gpu7'"
code "and end in 6 under --strict" 6 "$PROFRIG" -q analyze --strict --topology "$T/idle.yaml" "$T/plain" -o "$T/o"

# a bad file
cat >"$T/bad.yaml" <<'END'
shareing: []
sharing:
  - {rank: "0", devices: gpu0}
  - {ranks: "3-1", devices: gpu0}
  - {ranks: "0"}
  - {devices: [], weight: 0}
  - {devices: [gpu0, {a: b}], weight: many}
  - gpu0
  - {visible: [0, 0, "node1:gpu1", -1]}
  - {devices: ":gpu0", local_ranks: 99999999999}
counters: {"gpu*": gpu0, gpu1: ["node1:gpu0"], gpu2: []}
discover: perhaps
END
code "a bad file is 3" 3 "$PROFRIG" -q analyze --topology "$T/bad.yaml" "$T/plain" -o "$T/no"
check "nothing is written" test ! -e "$T/no"
sed "s|$T/||; s/^profrig: error: //" "$T/err" >"$T/got"
cat >"$T/want" <<'END'
bad.yaml:1: topology: unknown key 'shareing'; did you mean 'sharing'?
bad.yaml:3: sharing: unknown key 'rank'; did you mean 'ranks'?
bad.yaml:4: '3-1' is no list of ranks such as 0-3,8
bad.yaml:5: sharing: the rule names no device: 'devices' or 'visible'
bad.yaml:6: devices: want a word or a list of words
bad.yaml:6: weight: want a number above 0
bad.yaml:7: devices[1]: want a word
bad.yaml:7: weight: want a number above 0
bad.yaml:8: sharing: want a map
bad.yaml:9: visible: gpu0 stands there twice
bad.yaml:9: 'node1:gpu1' is no GPU such as 2 or gpu2
bad.yaml:9: '-1' is no list of devices such as 0-3 or gpu0
bad.yaml:10: '99999999999' is no list of ranks such as 0-3,8
bad.yaml:10: ':gpu0' is no device such as gpu0 or node3:gpu2
bad.yaml:11: counters: 'gpu*' is no device such as gpu0 or node3:gpu2
bad.yaml:11: 'node1:gpu0': want the id of a device on the counter's node, such as gpu1
bad.yaml:11: counters: want a word or a list of words
bad.yaml:12: discover: want true or false
18 problems in the configuration; nothing was started
END
check "all of it at once, each with its line" diff "$T/want" "$T/got"
for text in "sharing: {a: b}" "counters: [gpu0]" "- a" "sharing: [" "a: 1
a: 2"; do
	echo "$text" >"$T/bad.yaml"
	code "'$(head -n 1 "$T/bad.yaml")' is 3" 3 "$PROFRIG" -q analyze --topology "$T/bad.yaml" "$T/plain" -o "$T/no"
	like "with its line" "$(cat "$T/err")" "bad.yaml:[0-9]+: "
done
code "a file that is not there is 3" 3 "$PROFRIG" -q analyze --topology "$T/nothing.yaml" "$T/plain" -o "$T/no"
code "an empty one says nothing" 0 "$PROFRIG" -q analyze --topology /dev/null "$T/plain" -o "$T/o"

# independent: everybody gets everything, and every place says so
code "independent attribution" 0 "$PROFRIG" -q analyze --attribution independent "$T/plain" -o "$T/o"
is "both ranks get all of gpu2" "$(energy "$T/o" 2 host)" "3000 3000"
is "every row of the tables is labelled" "$(sed -s 1d "$T/o/tables/energy.csv" "$T/o/tables/energy_totals.csv" "$T/o/tables/energy_callpaths.csv" | grep -vc double_counting)" 0
is "and the analysis" "$(jq -r '.warnings[] | select(.code == "W_DOUBLE_COUNTING").severity' "$T/o/analysis.json")" warning
check "and the page" grep -q 'W_DOUBLE_COUNTING' "$T/o/report.html"
check "the checks compare with what the sharers had together" held "$T/o"

# files of ranks that name no host: each counts (rank + 1) * 1000 J of "device 0", which is its own; a kernel from 1 to 9 s
lone() {
	local r
	mkdir -p "$1"
	for r in $(seq 0 $(($2 - 1))); do
		cat >"$1/rank$r.json" <<-END
			{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A"}], "distributedInfo": {"backend": "nccl", "rank": $r, "world_size": $2}, "traceEvents": [
			{"ph": "X", "cat": "cpu_op", "name": "main", "pid": 500, "tid": 500, "ts": 1000000, "dur": 10000000, "args": {"External id": 1}},
			{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2000000, "dur": 8000000, "args": {"device": 0, "stream": 7, "correlation": 9}},
			{"ph": "C", "name": "rocm_smi:::energy_count:device=0", "pid": 500, "ts": 1000000, "args": {"value": 0}},
			{"ph": "C", "name": "rocm_smi:::energy_count:device=0", "pid": 500, "ts": 11000000, "args": {"value": $((r + 1))000000000}}]}
		END
	done
}
lone "$T/lone" 5
code "ranks that name no host, each with a counter of device 0" 0 "$PROFRIG" -q analyze "$T/lone" -o "$T/o"
of_rank() { grep -E "^[^,]*,rank$1:gpu0,$2,.*,(main|gemm)," "$T/o/tables/energy.csv" | cut -d, -f8; }
is "rank 3 has all of its own" "$(of_rank 3 host)" 4000
is "and its kernel" "$(of_rank 3 device)" 3200
is "so many rows of functions, kernels and idle time as ranks" "$(sed 1d "$T/o/tables/energy.csv" | wc -l)" 20
is "why is said of each" "$(sed 1d "$T/o/tables/sharing.csv" | grep -c 'rank[0-4]:gpu0,device,rank[0-4]:gpu0 queue 7,rank,1$')" 5
check "the sums hold for each" held "$T/o"
echo '{"sharing": [{"ranks": "0-4", "devices": "rank0:gpu0"}]}' >"$T/lone.json"
code "a topology that knows better" 0 "$PROFRIG" -q analyze --topology "$T/lone.json" "$T/lone" -o "$T/o"
is "all share rank 0's" "$(of_rank 0 host | paste -sd' ')" "200 200 200 200 200"
is "and each has its own" "$(of_rank 3 host)" 4000
