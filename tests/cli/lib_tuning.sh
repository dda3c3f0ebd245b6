#!/usr/bin/env bash
# The fastest solutions as tables that PyTorch and hipBLASLt read back: from lib perf with stand-ins of hipBLASLt to the files of lib compare; what is left
# out and refused.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
. "$ROOT/tests/fakes/machine.sh"
cd "$T" || exit 1
export FAKE_GPU_FREE=8388608
lp() { timeout 300 "$PROFRIG" -q lib perf --cache warm --precision 40% --timeout 5 --budget 30 "$@"; }
lc() { timeout 60 "$PROFRIG" lib compare "$@"; }
column() {
	python3 -c 'import csv,sys
for r in csv.DictReader(open(sys.argv[1])): print("|".join(r[n] for n in sys.argv[2:]))' "$@"
}
mkdir lib bin own
cp "$B/tests/fakes/fake_gpu_runtime.so" lib/libamdhip64.so.6
cp "$B/tests/fakes/fake_gpu_lt.so" lib/libhipblaslt.so.0
cp "$B/tests/fakes/fake_gpu_blas.so" lib/librocblas.so.4
ln -s "$ROOT/tests/fakes/bin/hipblaslt-bench" bin/hipblaslt-bench
for word in nonumber varies norevision; do cp lib/libhipblaslt.so.0 own/libhipblaslt-$word.so; done
amd_machine "$T/amd" 1
export LD_LIBRARY_PATH=$T/lib PATH=$T/bin:$PATH PROFRIG_SYSFS_ROOT=$T/amd
unset ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES FAKE_BENCH FAKE_US
cat >calls.csv <<'K'
library,config,calls,key
x,1,10,gemm ta=T tb=N m=16 n=9 k=20 a=f16 b=f16 c=f16 d=f16 compute=f32
x,2,3,gemm ta=N tb=T m=5 n=6 k=7 a=f32 batch=3
x,3,1,gemm ta=N tb=N m=4 n=4 k=4 a=f64
x,4,2,dot n=10 type=f32
K

# --- numbers of the library ---
code "hipBLASLt" 0 lp calls.csv -b hipblaslt -o lt.csv
is "tells the number of its algorithm, by its function" "$(column lt.csv status solution key | sed 's/ .*//')" "ok|16009|gemm
ok|5006|gemm
ok|4004|gemm
unsupported||dot"
is "and its revision" "$(column lt.csv version | sort -u)" "hipBLASLt 1.0.1-a1b2c3-dirty"
code "libraries without one" 0 lp calls.csv -b "$T/own/libhipblaslt-nonumber.so,$T/own/libhipblaslt-varies.so,rocblas" -o none.csv
is "have no number" "$(column none.csv backend status solution | sed "s#$T/own/##" | grep '|ok|' | sort -u)" "libhipblaslt-nonumber.so|ok|
libhipblaslt-varies.so|ok|
rocblas|ok|"
head -n 2 calls.csv >one.csv
code "a revision that is none" 0 lp one.csv -b "$T/own/libhipblaslt-norevision.so" -o norev.csv
is "is not one" "$(column norev.csv version solution)" "hipBLASLt 1.0.1|16009"
code "hipblaslt-bench" 0 lp one.csv -b hipblaslt-bench -o bench.csv
is "prints its number" "$(column bench.csv status solution version)" "ok|4993|1000-stand-in"
FAKE_BENCH=numberless code "an old one" 0 lp one.csv -b hipblaslt-bench -o old_bench.csv
is "does not" "$(column old_bench.csv status solution)" "ok|"
FAKE_SOLUTION=-1 code "a number that is none" 0 lp one.csv -b hipblaslt-bench -o odd_bench.csv
is "is none" "$(column odd_bench.csv status solution)" "ok|"

# --- PyTorch ---
code "a table for PyTorch, of one side" 0 lc lt.csv --tunableop t.csv
like "has a line for each product" "$(cat t.csv)" "^Validator,HIPBLASLT_VERSION,1.0.1-a1b2c3-dirty
GemmTunableOp_Half_TN,tn_16_9_20_ld_20_20_16,Gemm_Hipblaslt_16009,[0-9.e-]+
GemmStridedBatchedTunableOp_float_NT,nt_5_6_7_B_3_ld_5_6_5,Gemm_Hipblaslt_5006,[0-9.e-]+$"
like "tells what it lacks" "$(cat err)" "t.csv: PyTorch rejects it until .*PT_VERSION.*PYTORCH_TUNABLEOP_ENABLED=1.*t.csv: 1 key \(1 call\) is left out: not each PyTorch offers hipBLASLt for them"
printf 'Validator,PT_VERSION,2.6.0\nValidator,HIPBLASLT_VERSION,1.0.1-a1b2c3-dirty\nGemmTunableOp_float_NN,nn_1_1_1,Default,1\n' >theirs.csv
code "with PyTorch's validators" 0 lc lt.csv --tunableop t.csv --tunableop-validators theirs.csv
is "has them, and nothing else of it" "$(head -n 3 t.csv | cut -d, -f 1-3)" "Validator,PT_VERSION,2.6.0
Validator,HIPBLASLT_VERSION,1.0.1-a1b2c3-dirty
GemmTunableOp_Half_TN,tn_16_9_20_ld_20_20_16,Gemm_Hipblaslt_16009"
is "says nothing of them" "$(grep -c 'PT_VERSION' err)" 0
printf 'Validator,HIPBLASLT_VERSION,0.9.0-beef\n' >odd.csv
code "with those of another build" 0 lc lt.csv --tunableop t.csv --tunableop-validators odd.csv
like "warns" "$(cat err)" "there is no validator PT_VERSION.*numbers are those of hipBLASLt 1.0.1-a1b2c3-dirty, and the validators say 0.9.0-beef"
cp t.csv before.csv
printf 'Validator,PT_VERSION,2.6\x1b[0m\n' >hostile.csv
code "hostile validators" 5 lc lt.csv --tunableop t.csv --tunableop-validators hostile.csv
like "are refused with the line" "$(cat err)" "hostile.csv: line 1 is no Validator,NAME,VALUE"
truncate -s 1G huge.csv
code "a huge file of them" 5 lc lt.csv --tunableop t.csv --tunableop-validators huge.csv
check "and the table stays" cmp t.csv before.csv
code "validators alone" 2 lc lt.csv --tunableop-validators theirs.csv
code "with rocBLAS and a comparison" 0 lc lt.csv none.csv --tunableop both.csv --json
check "which is printed" jq -e '.sides | length == 4' out

# --- hipBLASLt ---
code "a tuning file" 0 lc lt.csv --hipblaslt-tuning h.txt
is "begins with the revision" "$(head -n 1 h.txt)" "Git Version: a1b2c3-dirty"
is "has 37 columns" "$(awk -F, 'NR > 1 { print NF }' h.txt | sort -u)" 37
is "a line for each" "$(awk -F, 'NR > 1 && NR % 2 { print $1, $2, $4, $5, $6, $7, $18, $22, $35 }' h.txt)" "T N 1 16 9 20 f16_r f32_r 16009
N T 3 5 6 7 f32_r f32_r 5006
N N 1 4 4 4 f64_r f64_r 4004"
code "of hipblaslt-bench" 0 lc bench.csv --hipblaslt-tuning hb.txt --tunableop tb.csv
is "has its revision" "$(head -n 1 hb.txt)" "Git Version: stand-in"
code "without a revision" 2 lc norev.csv --hipblaslt-tuning no.txt --tunableop no.csv
like "is refused" "$(cat err)" "no.txt: its rows do not tell hipBLASLt's revision.*--hipblaslt-revision"
check "and nothing is written" test ! -e no.txt -a ! -e no.csv
code "a stated one" 0 lc norev.csv --hipblaslt-tuning no.txt --hipblaslt-revision beef-1
is "is taken" "$(head -n 1 no.txt)" "Git Version: beef-1"
code "another than the rows have" 2 lc lt.csv --hipblaslt-tuning no2.txt --hipblaslt-revision beef-1
like "is refused, too" "$(cat err)" "revision a1b2c3-dirty, not of beef-1"
code "one that is no word" 2 lc lt.csv --hipblaslt-tuning no2.txt --hipblaslt-revision "a
b"
code "a revision alone" 2 lc lt.csv --hipblaslt-revision a
code "both in one file" 2 lc lt.csv --hipblaslt-tuning x --tunableop x
sed -n 1,2p lt.csv >p1.csv
sed -n '1p; 3p' lt.csv | sed s/1.0.1-a1b2c3-dirty/2.0.0/ >p2.csv
code "two builds" 2 lc p1.csv p2.csv --tunableop x
like "have no table in common" "$(cat err)" "x: solutions of 'hipBLASLt 1.0.1-a1b2c3-dirty' on 'AMD Stand-in 1' and of 'hipBLASLt 2.0.0' on .*cannot stand in one table"
check "and none is left" test ! -e x

# --- what has no line ---
code "rows without numbers" 0 lc none.csv --tunableop empty.csv --hipblaslt-tuning empty.txt
like "are a warning" "$(cat err)" "empty.csv: .*empty.csv: no product has a solution with a number: it is not written.*empty.txt: .*it is not written"
check "no file" test ! -e empty.csv -a ! -e empty.txt
python3 - <<'P'
import csv
rows = list(csv.DictReader(open("lt.csv")))
def write(name, solutions, back_end=None):
    with open(name, "w", newline="") as f:
        w = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        w.writeheader()
        for r, s in zip(rows, solutions):
            w.writerow(dict(r, solution=s))
write("bad.csv", ["-1", "1e9", "=1+1"])
write("part.csv", ["4993", "Gemm", ""])
with open("roc.csv", "w", newline="") as f:
    w = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
    w.writeheader()
    for r in rows[:3]:
        w.writerow(r)
        w.writerow(dict(r, backend="rocblas", version="rocBLAS 5", solution="", mean_us="0.001", median_us="0.001", min_us="0.001", ci_low_us="0.001", ci_high_us="0.001"))
P
code "numbers that are none" 5 lc bad.csv --tunableop bad.txt
like "leave no row" "$(cat err)" "bad.csv: 3 damaged rows are left out: line 2: solution '-1'.*no row of it can be compared"
code "one of three" 6 lc part.csv --tunableop part.txt
is "is a line" "$(grep -v ^Validator part.txt | cut -d, -f 1-3)" "GemmTunableOp_Half_TN,tn_16_9_20_ld_20_20_16,Gemm_Hipblaslt_4993"
like "the others are counted" "$(cat err)" "1 damaged row is left out: line 3: solution 'Gemm'"
code "rocBLAS is faster" 0 lc roc.csv --tunableop roc.txt --hipblaslt-tuning roc2.txt
like "but has no numbers" "$(cat err)" "roc.txt: 2 keys \(13 calls\) are left out: rocBLAS is fastest, by its own choice, which has no number"
check "so PyTorch gets none" test ! -e roc.txt
is "and hipBLASLt its own" "$(grep -c ^transA roc2.txt)" 3
cut -d, -f 1-31 lt.csv >earlier.csv
code "a table of an earlier profrig" 0 lc earlier.csv --tunableop earlier.txt
like "has no numbers" "$(cat err)" "hipBLASLt is fastest in rows without a number"
code "is gone on with" 0 lp calls.csv -b hipblaslt,rocblas -o earlier.csv
is "in its own columns" "$(awk -F, '{ print NF }' earlier.csv | sort -u)" 31
code "a file that cannot be written" 4 lc lt.csv --tunableop /proc/none/t.csv
