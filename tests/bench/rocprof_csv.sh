#!/usr/bin/env bash
# rocprofv3's CSV against python3's csv module, which only takes the fields apart: whole processes on the same file, in turn, medians. BENCH_ROWS=500000.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
rows=${BENCH_ROWS:-500000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
awk -v n="$rows" -v calls="$dir/1_hip_api_trace.csv" 'BEGIN {
	q = "\""
	print "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\""
	print "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"" >calls
	for (i = 0; i < 160; i++) {
		name[i] = "void library::elementwise<" i ", library::add<float, float>"
		for (k = 0; k < i % 9; k++)
			name[i] = name[i] ", library::offsets<unsigned int, " k ">"
		name[i] = name[i] " >(int, library::add<float, float>, char**)"
	}
	for (i = 1; i <= n; i++) {
		t = 1550151000000000 + i * 10000
		printf "\"KERNEL_DISPATCH\",\"Agent %d\",%d,%d,%d,%d,10,%s%s%s,%d,%d,%d,0,0,8,0,16,64,1,1,1024,1024,1\n", 4 + i % 2, i % 4 + 1, i % 4 + 1, 100 + i % 3, i, q, name[i * 7 % 160], q, i, t + 5000, t + 9000 + i * 13 % 1000
		printf "\"HIP_RUNTIME_API_EXT\",\"%s\",1,%d,%d,%d,%d\n", i % 2 ? "hipLaunchKernel" : "hipGetDevice", 100 + i % 3, i, t, t + 4000 >calls
	}
}' >"$dir/1_kernel_trace.csv"
cat >"$dir/rows.py" <<'PY'
import csv, sys
for row in csv.reader(open(sys.argv[1], newline="")):
    pass
PY
seconds() {
	local from=$EPOCHREALTIME
	"$@" >/dev/null
	awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}
median() { sort -g "$1" | sed -n 4p; }
for f in 1_kernel_trace 1_hip_api_trace; do
	for i in 1 2 3 4 5 6 7; do
		seconds python3 "$dir/rows.py" "$dir/$f.csv" >>"$dir/$f.py"
		seconds "$B/profrig" -q info "$dir/$f.csv" --json >>"$dir/$f.own"
	done
	awk -v f="$f" -v n="$rows" -v p="$(median "$dir/$f.py")" -v o="$(median "$dir/$f.own")" -v b="$(stat -c %s "$dir/$f.csv")" 'BEGIN {
		printf "csv: %s, %d rows, %.0f MB: %.3f s, python3 %.3f s: %.1f times (aim 10)\n", f, n, b / 1e6, o, p, p / o }'
done
