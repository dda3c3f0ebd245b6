#!/usr/bin/env bash
# lib peak: what the machine can do, the store of it, and the shares that lib perf computes with it; hostile stores; exit statuses.
# It runs alone: it compares times.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
cd "$T" || exit 1
LIB=/usr/lib/$(uname -m)-linux-gnu
STORE=$XDG_CACHE_HOME/profrig/peaks.csv
HEAD=processor,host,dtype,threads,unit,gflops,gflops_median,gbps,gbps_median,ridge,stores,array_bytes,units,measured,status,reason
peak() { timeout 120 "$PROFRIG" -q lib peak "$@"; }
# column FILE NAME…: the columns of these names, of all rows, behind each other
column() {
	python3 -c 'import csv,sys
for r in csv.DictReader(open(sys.argv[1])): print("|".join(r[n] for n in sys.argv[2:]))' "$@"
}
within() { awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v >= low && v <= high) }' && ok "$1" || not_ok "$1" "$2 is not between $3 and $4"; }

# --- what a command line may be ---
code "no threads" 2 peak --threads 0
code "threads in words" 2 peak --threads 1,two
code "threads of nothing" 2 peak --threads ,
code "more threads than processors" 2 peak --threads 4000
like "says how many there are" "$(cat err)" "4000 threads need as many processors, there are [0-9]+"
code "an operand" 2 peak now
code "twice standard output" 2 peak --json -o -
check "nothing of it measures" test ! -e "$STORE"

# --- measured once, then stored ---
code "one thread" 0 timeout 120 "$PROFRIG" lib peak --threads 1
is "is a row for each type" "$(awk 'NR > 2 { print $1, $2, NF }' out)" "f32 1 7
f64 1 7"
like "under its head" "$(head -n 2 out | tail -n 1)" "^  type +threads +GFLOP/s +GB/s +flops/byte +unit +measured$"
like "measured today" "$(tail -n 1 out)" " $(date -u +%F)\$"
is "progress is on stderr" "$(cat err)" "profrig: peaks of this machine with 1 thread"
is "the store" "$(head -n 1 "$STORE")" "$HEAD"
is "has them" "$(column "$STORE" dtype threads status)" "f32|1|ok
f64|1|ok"
is "of its user alone" "$(stat -c %a "$XDG_CACHE_HOME/profrig")" 700
cp "$STORE" before.csv
cp out before.out
code "again" 0 timeout 120 "$PROFRIG" lib peak --threads 1
check "reads the store" cmp -s "$STORE" before.csv
check "says the same" cmp -s out before.out
is "and measures nothing" "$(cat err)" ""
code "as JSON" 0 peak --threads 1 --json
is "its shape" "$(jq -c '[keys, (.peaks | length), (.peaks[0] | keys)]' out)" '[["host","peaks","processor","store"],2,["array_bytes","dtype","gbps","gbps_median","gflops","gflops_median","measured","reason","ridge","status","stored","stores","threads","unit"]]'
is "says that they were stored" "$(jq -c '[.store, .peaks[].stored]' out)" "[\"$STORE\",true,true]"
is "the ridge is their ratio" "$(jq '[.peaks[] | .ridge * .gbps / .gflops | . > 0.999999 and . < 1.000001] | all' out)" true
is "f32 has twice the flops, about" "$(jq '.peaks[0].gflops / .peaks[1].gflops | . > 1.2 and . < 3' out)" true
is "the median is no more than the best" "$(jq '[.peaks[] | .gflops_median <= .gflops and .gbps_median <= .gbps] | all' out)" true
code "as CSV" 0 peak --threads 1 -o -
check "is the store's rows" cmp -s out "$STORE"
code "into a file" 0 peak --threads 1 -o sub/p.csv
check "beside the table" cmp -s out before.out
check "the same" cmp -s sub/p.csv "$STORE"
code "a file that cannot be written" 4 peak --threads 1 -o /proc/none/p.csv
code "measured anew" 0 peak --threads 1 --again --json
is "is another time" "$(column "$STORE" measured | sort -u | wc -l) $(column "$STORE" measured | grep -cf <(column before.csv measured))" "1 0"
is "and none of the store" "$(jq -c '[.peaks[].stored]' out)" "[false,false]"

if [ "$(nproc)" -ge 2 ]; then
	# again where something else disturbed one of them
	for try in 1 2 3; do
		code "one and two threads" 0 peak --threads 1,2 --json --again
		two=$(jq '[.peaks[] | select(.dtype == "f32") | .gflops] | .[1] / .[0]' out)
		! awk -v v="$two" 'BEGIN { exit !(v >= 1 && v <= 2.2) }' || break
	done
	# two threads of one core do as much as one of them, and a host that is busy takes some of it
	within "two do about one to two times as much" "$two" 0.7 2.3
	is "each has its rows" "$(column "$STORE" threads | sort | uniq -c | awk '{ print $2 "x" $1 }' | tr '\n' ' ')" "1x2 2x2 "
else
	skip "two threads" "there is one processor"
fi
code "without a number" 0 peak --json
is "one and all processors" "$(jq -c '[.peaks[].threads] | unique' out)" "$( (echo 1; nproc) | sort -nu | jq -sc .)"

# --- stores that are none ---
sed -i '2s/,ok,/,ok,"/' "$STORE"
code "a damaged one" 0 timeout 120 "$PROFRIG" lib peak --threads 1
like "is reported, and measured anew" "$(cat err)" "peaks of this machine with 1 thread.*peaks.csv is damaged: line 2: quote without an end"
is "is whole again" "$(column "$STORE" dtype threads | grep -c '|1$')" 2
head -c 300000 /dev/urandom >"$STORE"
code "junk" 0 peak --threads 1
is "goes" "$(column "$STORE" dtype threads status)" "f32|1|ok
f64|1|ok"
echo mine >victim
rm "$STORE" && ln -s "$T/victim" "$STORE"
code "a link" 0 timeout 120 "$PROFRIG" lib peak --threads 1
like "is not followed" "$(cat err)" "peaks.csv"
is "nor its target written" "$(cat victim)" mine
is "but replaced" "$(column "$STORE" dtype)" "f32
f64"
code "no place for it" 0 env XDG_CACHE_HOME=/proc/none timeout 120 "$PROFRIG" lib peak --threads 1 --again
is "is said once" "$(grep -c "peaks are not stored: cannot make directory" err)" 1
is "and measures" "$(awk 'NR > 2 { print $1 }' out | tr '\n' ' ')" "f32 f64 "
code "neither HOME nor a cache" 0 env -u XDG_CACHE_HOME -u HOME timeout 120 "$PROFRIG" lib peak --threads 1
like "is said, too" "$(cat err)" "peaks are not stored: neither XDG_CACHE_HOME nor HOME names a folder"

# --- what cannot be measured ---
starved() ( # COMMAND…: with too little memory for the arrays
	ulimit -v 150000
	exec "$@"
)
rm "$STORE"
if starved "$PROFRIG" --version >/dev/null 2>&1; then
	code "no memory for the arrays" 6 starved timeout 120 "$PROFRIG" lib peak --threads 1
	is "flops are known, and bandwidth is not" "$(awk 'NR > 2 { print $1, ($3 > 0), $4, $5 }' out)" "f32 1 - -
f64 1 - -"
	like "and why" "$(cat err)" "f32, 1 thread: skipped: triad: [0-9]+ bytes for arrays: Cannot allocate memory"
	check "is not stored" test ! -e "$STORE"
else
	skip "no memory for the arrays" "profrig does not start with so little"
fi

# --- shares ---
peak --threads 1 --again >/dev/null
end=
for e in openblas-serial openblas-pthread; do
	test -e "$LIB/$e/libopenblas.so.0" && end=$e
done
if ! need openblas test -n "$end"; then
	skip "shares" "OpenBLAS is not installed"
	exit 0
fi
cat >ops.csv <<'K'
library,config,calls,key
x,1,1,gemm ta=N tb=N m=256 n=256 k=256 a=f32
x,2,1,gemm ta=N tb=N m=1024 n=1024 k=1024 a=f64
x,3,1,gemm ta=N tb=N m=512 n=512 k=512 a=f32c
x,4,1,axpy n=4000000 type=f64
x,5,1,conv dir=fwd n=4
K
# An OpenBLAS that is older than the processor takes its narrower kernels.
column "$STORE" unit 2>/dev/null | grep -q avx512 && export OPENBLAS_CORETYPE=SKYLAKEX
lp() { timeout 300 "$PROFRIG" -q lib perf --cache warm --precision 10% -b "$end" ops.csv "$@"; }
code "lib perf" 0 lp -o p.csv --json
is "every row that is ok has a share, and no other" "$(column p.csv status peak_share | sed 's/|$/|none/; s/|[0-9].*/|some/' | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" "4 ok|some 1 unsupported|none "
is "and so has the fastest" "$(jq -c '[.fastest[].peak_share != null]' out)" "[true,true,true,true,false]"
is "it is gflops by the roofline of the store" "$(python3 - "$STORE" p.csv <<'P'
import csv, sys
peak = {r["dtype"]: r for r in csv.DictReader(open(sys.argv[1]))}
work = {"1": ("f32", 2 * 256**3, 3 * 4 * 256**2), "2": ("f64", 2 * 1024**3, 3 * 8 * 1024**2),
	"3": ("f32", 8 * 512**3, 3 * 8 * 512**2), "4": ("f64", 2 * 4e6, 3 * 8 * 4e6)}
for r in csv.DictReader(open(sys.argv[2])):
	if r["status"] != "ok":
		continue
	dtype, flops, bytes = work[r["config"]]
	p = peak[dtype]
	share = float(r["gflops"]) / min(float(p["gflops"]), flops / bytes * float(p["gbps"]))
	if abs(float(r["peak_share"]) / share - 1) > 1e-3 or len(r["peak_share"]) > 8:
		print(r["config"], r["peak_share"], share)
P
)" ""
# how near the best block of a product comes to the loop's peak; again where something else disturbed one of them
best() { column p.csv config gflops mean_us min_us | awk -F'|' -v c="$1" -v peak="$(column "$STORE" dtype gflops | awk -F'|' -v t="$2" '$1 == t { print $2 }')" '$1 == c { printf "%.4f", $2 * $3 / $4 / peak }'; }
for try in 1 2 3; do
	sgemm=$(best 1 f32) dgemm=$(best 2 f64) axpy=$(column p.csv config peak_share | sed -n 's/^4|//p')
	! awk -v a="$sgemm" -v b="$dgemm" -v c="$axpy" 'BEGIN { exit !(a >= 0.3 && a <= 1.05 && b <= 1.05 && c >= 0.1 && c <= 2) }' || break
	rm p.csv
	peak --threads 1 --again >/dev/null
	lp -o p.csv >/dev/null
done
within "an sgemm is near the peak, and not above it" "$sgemm" 0.3 1.05
within "a large dgemm is not above it" "$dgemm" 0.05 1.05
# with the memory of a host that others use, too: a wide band about 1
within "axpy is limited by memory" "$axpy" 0.05 4
sed -E -i 's/^([^,]*,[^,]*,f32,1,[^,]*),[^,]*/\1,0.5/' "$STORE"
code "a peak that was too low" 0 timeout 300 "$PROFRIG" lib perf --cache warm --precision 50% -b "$end" ops.csv -o low.csv
like "is noticed" "$(cat err)" "rows that are faster than the peak of this machine: 2; .*'profrig lib peak --threads 1 --again'"
like "shares are above 1" "$(column low.csv config peak_share | grep '^1')" "^1.[0-9]{2}"
code "without peaks" 0 lp -o none.csv --no-peak
is "there are no shares" "$(column none.csv peak_share | sort -u)" ""
rm "$STORE"
code "peaks that are not stored" 0 timeout 300 "$PROFRIG" lib perf --cache warm --precision 50% -b "$end" ops.csv --top 1 -o q.csv
like "are measured first" "$(cat err)" "^profrig: peaks of this machine with 1 thread"
is "and stored" "$(column "$STORE" threads status)" "1|ok
1|ok"
code "a place that cannot be written to" 0 env XDG_CACHE_HOME=/proc/none timeout 300 "$PROFRIG" lib perf --cache warm --precision 50% -b "$end" ops.csv --top 1 -o q.csv --again
is "is said once" "$(grep -c "peaks are not stored" err)" 1
like "and costs no share" "$(column q.csv peak_share | tail -n 1)" "^[0-9.]+$"
