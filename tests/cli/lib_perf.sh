#!/usr/bin/env bash
# lib perf: calls measured with real libraries and with stand-ins that fail in every way; resuming; hostile input; exit statuses.
# It runs alone: it compares times.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
cd "$T" || exit 1
LIB=/usr/lib/$(uname -m)-linux-gnu
lp() { timeout 300 "$PROFRIG" -q lib perf --cache warm --precision 40% --timeout 2 "$@"; }
# column FILE NAME…: the columns of these names, of all rows, behind each other
column() {
	python3 -c 'import csv,sys
for r in csv.DictReader(open(sys.argv[1])): print("|".join(r[n] for n in sys.argv[2:]))' "$@"
}

gemm() { echo "./rocblas-bench -f gemm -r s --transposeA T --transposeB N -m $1 -n 24 -k $2 --alpha 1 --lda $2 --ldb $2 --beta 0 --ldc $1"; }
{ gemm 32 48; gemm 32 48; gemm 40 16; } >a.log
"$PROFRIG" -q lib trace a.log >/dev/null

# --- what a command line may be ---
code "no input" 2 lp
code "an unknown back end" 2 lp a.log --backends gotoblas
like "lists the known ones" "$(cat err)" "no back end 'gotoblas'; there are: openblas-pthread .*reference"
code "an unknown cache mode" 2 lp a.log --cache hot
code "no precision" 2 lp a.log --precision 0%
code "no budget" 2 lp a.log --budget soon
code "no threads" 2 lp a.log --threads 0
code "more threads than processors" 2 lp a.log --threads 4000 -b /none
code "a file that is not there" 5 lp nowhere.log
code "a log without calls" 5 lp /dev/null
code "a path that is no library" 4 lp a.log -b "$T/none.so"
like "shows what would be one" "$(cat err)" "no back end loads.*none.so.*without --backends"
check "and leaves no table" test ! -e library_perf.csv

# --- stand-ins ---
command -v "${CC:-cc}" >/dev/null || { skip "stand-ins" "there is no compiler"; exit 0; }
stand_in() { # NAME: a library of the C on stdin, behind a ddot and a gemm that are right
	cat >"$1.c"
	"${CC:-cc}" ${2:-} -O1 -shared -fPIC -o "$1.so" "$1.c" 2>"$1.err" || not_ok "stand-in $1" "$(cat "$1.err")"
}
cat >blas.h <<'C'
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#ifndef INT
#define INT int
#endif
double cblas_ddot(INT n, const double *x, INT ix, const double *y, INT iy)
{
	double s = 0;
	for (INT i = 0; i < n; i++)
		s += x[i * ix] * y[i * iy];
	return s;
}
#define GEMM_ARGS int l, int ta, int tb, INT m, INT n, INT k, float al, const float *a, INT lda, const float *b, INT ldb, float be, float *c, INT ldc
static void right(GEMM_ARGS)
{
	(void)l;
	for (INT j = 0; j < n; j++)
		for (INT i = 0; i < m; i++) {
			float s = 0;
			for (INT p = 0; p < k; p++)
				s += (ta == 111 ? a[i + p * lda] : a[p + i * lda]) * (tb == 111 ? b[p + j * ldb] : b[j + p * ldb]);
			c[i + j * ldc] = al * s + (be ? be * c[i + j * ldc] : 0);
		}
}
#define GEMM void cblas_sgemm(GEMM_ARGS)
#define RIGHT right(l, ta, tb, m, n, k, al, a, lda, b, ldb, be, c, ldc)
C
stand_in good <<<'#include "blas.h"
GEMM { RIGHT; }'
stand_in segv <<<'#include "blas.h"
GEMM { *(volatile int *)0 = 1; }'
stand_in ill <<<'#include "blas.h"
GEMM { raise(SIGILL); }'
stand_in aborts <<<'#include "blas.h"
GEMM { fputs("** On entry parameter 9\nis bad", stderr); abort(); }'
stand_in exits <<<'#include "blas.h"
GEMM { puts("STOP"); fputs("stopped", stderr); exit(0); }'
stand_in later <<<'#include "blas.h"
GEMM { static int calls; if (++calls > 30) raise(SIGBUS); RIGHT; }'
stand_in hangs <<<'#include "blas.h"
GEMM { for (;;) pause(); }'
stand_in wrong <<<'#include "blas.h"
GEMM { RIGHT; c[m - 1 + (n - 1) * ldc] *= 1.001f; }'
stand_in nothing <<<'#include "blas.h"
GEMM { }'
stand_in lacks <<<'#include "blas.h"'
stand_in wide <<<'#define INT int64_t
#include "blas.h"
GEMM { RIGHT; }'
stand_in talks <<<'#include "blas.h"
__attribute__((constructor)) static void hello(void) { for (int i = 0; i < 100000; i++) puts("hello\thello"), fputs("hello\n", stderr); for (int fd = 3; fd < 20; fd++) if (write(fd, "ok\t1\n", 0)) continue; }
GEMM { RIGHT; }'
stand_in intrudes <<<'#include "blas.h"
GEMM { for (int fd = 3; fd < 20; fd++) if (write(fd, "nonsense\n", 9) < 0) continue; RIGHT; }'
stand_in unloadable -DX <<<'extern int nowhere_to_be_found(void); int f(void) { return nowhere_to_be_found(); }'
stand_in dies <<<'#include "blas.h"
__attribute__((constructor)) static void hello(void) { raise(SIGSEGV); }'
gemm 32 48 >one.log
all=good,segv,ill,aborts,exits,later,hangs,wrong,nothing,lacks,wide,talks,intrudes,unloadable,dies
code "stand-ins" 0 lp one.log -b "$(sed "s#\([a-z]*\)#$T/\1.so#g" <<<"$all")"
column library_perf.csv backend status reason | sed "s#$T/##g" >rows
row() { grep "^$1.so|" rows; }
like "one that works" "$(row good)" "^good.so.ok"
is "SIGSEGV" "$(row segv)" "segv.so|crashed|SIGSEGV"
is "SIGILL" "$(row ill)" "ill.so|crashed|SIGILL"
is "abort, with what it said" "$(row aborts)" "aborts.so|crashed|SIGABRT; it said: ** On entry parameter 9 is bad"
is "exit" "$(row exits)" "exits.so|crashed|the process ended with status 0; it said: stopped"
is "a crash while measuring" "$(row later)" "later.so|crashed|SIGBUS"
like "a hang" "$(row hangs)" "hangs.so.timeout.no answer within"
like "one wrong entry in a corner" "$(row wrong)" "^wrong.so.wrong.entry \(31, 23\) of C is"
like "nothing done" "$(row nothing)" "^nothing.so.wrong.entry \(0, 0\)"
is "no function" "$(row lacks)" "lacks.so|unsupported|the library has no sgemm"
like "64-bit integers work" "$(row wide)" "^wide.so.ok"
like "and are named" "$(column library_perf.csv backend version | grep wide)" "64-bit integers"
like "a library that prints" "$(row talks)" "^talks.so.ok"
like "one that writes to the socket" "$(row intrudes)" "^intrudes.so.failed.its answer is none"
like "one that does not load" "$(row unloadable)" "^unloadable.so.failed.*nowhere_to_be_found"
is "one that dies when loaded" "$(row dies)" "dies.so|crashed|SIGSEGV"
is "each has its row" "$(wc -l <rows)" 15
is "only what was measured has figures" "$(column library_perf.csv status mean_us gflops ci_low_us | awk -F'|' '($1 == "ok") != ($2 != "" && $3 != "" && $4 != "")')" ""
is "of five processes where there is time" "$(column library_perf.csv status processes | awk -F'|' '$1 == "ok" && $2 >= 5 { some = 1 } END { print some + 0 }')" 1
speeds_odd() { column "$1" status clock_mhz loop_gflops | awk -F'|' '($1 == "ok") != ($2 != "" && $3 != "") || ($2 != "" && !($2 > 200 && $2 < 8000 && $3 > 0.1 && $3 < $2 / 1000 * 256))'; }
# again where something else disturbed it
for try in 1 2 3; do
	test -n "$(speeds_odd library_perf.csv)" || break
	echo "# odd speeds: $(speeds_odd library_perf.csv)"
	rm library_perf.csv
	lp one.log -b "$(sed "s#\([a-z]*\)#$T/\1.so#g" <<<"$all")" >out 2>err
done
is "and the speed of the processor, which is no more than any processor has" "$(speeds_odd library_perf.csv)" ""
check "nothing is left running" bash -c '! pgrep -f "__bench [0-9]+ .*'"$T"'"'
cp library_perf.csv before.csv
code "again" 0 lp one.log -b "$T/good.so,$T/segv.so"
like "has its rows already" "$(cat out)" "0 new rows.*"
check "and writes none" cmp -s library_perf.csv before.csv
code "unless told" 0 lp one.log -b "$T/good.so" --again
is "then adds one" "$(wc -l <library_perf.csv)" 17
code "another cache mode is another row" 0 lp one.log -b "$T/good.so" --cache cold
code "and the weights" 0 lp one.log -b "$T/good.so" --cache weights-cold
is "of its own" "$(column library_perf.csv backend cache | grep good | sort | uniq -c | awk '{print $1 $2}' | sed "s#$T/##" | tr '\n' ' ')" "1good.so|cold 2good.so|warm 1good.so|weights-cold "

# --- tables as input, also hostile ones ---
code "a table" 0 lp library_trace.csv -b "$T/good.so" -o t.csv
is "has the calls of its rows" "$(column t.csv calls status | sort)" "1|ok
2|ok"
like "the summary" "$(cat out)" "t.csv: 2 new rows of 2 configurations: 2 ok.*fastest.*good.so +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+  gemm ta=T"
is "as JSON" "$(rm t.csv; lp library_trace.csv -b "$T/good.so" -o t.csv --json | jq -c '[.configurations, .rows, .status.ok, .left, (.fastest | length)]')" "[2,2,2,0,2]"
cut -d , -f 1-6 library_trace.csv | tr -d '\r' >madengine.csv
code "a table of madengine's, without keys" 0 lp madengine.csv -b "$T/good.so" -o mad.csv
is "has the same keys" "$(column mad.csv key calls status)" "$(column t.csv key calls status)"
G="gemm ta=N tb=N m=8 n=8 k=8 a=f32"
cat >hostile.csv <<H
library,config,calls,key
a,negative calls,-5,$G
b,no number,=1+1,$G lda=9
=cmd|' /C calc'!A0,"=HYPERLINK(""x"")",1,=SUM(A1)
c,huge,1,gemm ta=N tb=N m=300000 n=300000 k=300000 a=f32
d,huger,1,gemm ta=N tb=N m=99999999999 n=99999999999 k=9 a=f32
e,no key,7,
e2,./rocblas-bench -f gemm -r s --transposeA N,7,
f,negative,1,gemm ta=N tb=N m=-8 n=8 k=8 a=f32
g,other,1,conv dir=fwd n=4
h,too short,1
i,nothing to do,1,gemm ta=N tb=N m=0 n=8 k=8 a=f32
j,shell,1,\$(touch pwned) ; touch pwned
k,fine,18446744073709551615,$G
l,"two
lines",1,$G lda=10
H
code "a hostile table" 0 lp hostile.csv -b "$T/good.so" -o h.csv
is "its rows" "$(column h.csv library status | sort | tr '\n' ' ')" "'=cmd|' /C calc'!A0|skipped a|skipped b|skipped c|skipped d|skipped e2|unsupported e|unsupported f|skipped g|unsupported h|skipped i|skipped j|skipped k|ok l|ok "
like "say why" "$(column h.csv library reason | grep ^c)" "operands take .* GB, and .* GB of memory are free"
is "and are no formulas" "$(grep -cE '(^|,)"?[=@+]' h.csv)" 0
check "no shell" test ! -e pwned
is "a line each" "$(wc -l <h.csv)" 15
code "the same again" 0 lp hostile.csv -b "$T/good.so" -o h.csv
is "is known" "$(wc -l <h.csv)" 15
echo "library,calls,key" >short.csv
code "a table without a column" 5 lp short.csv -o x.csv
like "is reported" "$(cat err)" "short.csv: it has no column 'config'"
printf 'library,config,calls,key\na,"open,1,x\n' >open.csv
code "a cut table" 5 lp open.csv -o x.csv
head -c 200000 /dev/urandom >junk.csv
code "junk" 5 lp junk.csv -o x.csv
echo "something of mine" >mine.csv
code "a file of somebody else" 2 lp one.log -b "$T/good.so" -o mine.csv
is "stays" "$(cat mine.csv)" "something of mine"
code "a folder that cannot be written to" 4 lp one.log -b "$T/good.so" -o /proc/none/x.csv
code "the heaviest alone" 0 lp library_trace.csv -b "$T/good.so" -o top.csv --top 1
like "is the first" "$(column top.csv key)" "^gemm ta=T tb=N m=32 n=24 k=48 [^|]*$"
code "of a share" 0 lp library_trace.csv -b "$T/good.so" -o share.csv --min-share 50%
is "too" "$(column share.csv key)" "$(column top.csv key)"
for m in 8 9 10 11 12 13; do gemm $m 8; done >many.log
code "a budget that is used up" 6 "$PROFRIG" lib perf --cache warm --precision 40% many.log -b "$T/good.so" -o budget.csv --budget 0.4
like "says how many are left" "$(cat err)" "the budget is used up: [1-6] configurations are left"
code "and goes on" 0 lp many.log -b "$T/good.so" -o budget.csv
is "to the end" "$(column budget.csv key | sort -u | wc -l)" 6

# --- figures: a library that takes 10 % longer, and the time of a loop in C ---
stand_in slow -DGOOD="\"$T/good.so\"" <<<'#include "blas.h"
#include <dlfcn.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
GEMM {
	static void (*good)(GEMM_ARGS);
	long begin, end;
	if (!good) good = dlsym(dlopen(GOOD, RTLD_NOW), "cblas_sgemm");
	begin = now(), good(l, ta, tb, m, n, k, al, a, lda, b, ldb, be, c, ldc), end = now();
	while (now() < end + (end - begin) / 10) ;
}'
gemm 60 100 >speed.log
# ratio FILE A B: of their shortest blocks, which other work on the machine disturbs least
ratio() { column "$1" backend min_us | awk -F'|' -v a="$2" -v b="$3" '{ sub(/.*[/]/, "", $1); us[$1] = $2 } END { printf "%.4f", us[a] / us[b] }'; }
within() { awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v >= low && v <= high) }' && ok "$1" || not_ok "$1" "$2 is not between $3 and $4"; }
code "one that is slower" 0 lp speed.log -b "$T/good.so,$T/slow.so" -o s.csv --precision 2%
within "by 10 %" "$(ratio s.csv slow.so good.so)" 1.06 1.14
last=$(taskset -cp $$ | grep -o '[0-9]*$')
# the shortest block with each library, on the processor that lib perf takes
loop() { taskset -c "$last" "$B/tests/bench/direct_calls" "gemm ta=T tb=N m=60 n=24 k=100 a=f32" "$@" | cut -d ' ' -f 3; }
# side by side, and again where something else disturbed one of them
for try in 1 2 3 4 5; do
	lp speed.log -b "$T/good.so" -o "loop$try.csv" --precision 2% >/dev/null
	as_loop=$(column "loop$try.csv" backend min_us | awk -F'|' -v us="$(loop "$T/good.so")" '{ printf "%.4f", $2 / us }')
	! awk -v v="$as_loop" 'BEGIN { exit !(v >= 0.8 && v <= 1.25) }' || break
done
within "as a loop in C measures it" "$as_loop" 0.8 1.25

# --- energy: a processor of 20 W and 61 °C, whose counter moves each millisecond ---
zone=$T/sys-root/sys/class/powercap/intel-rapl:0
mkdir -p "$zone" "$T/sys-root/sys/class/hwmon/hwmon0" "$T/sys-root/sys/class/hwmon/hwmon1"
echo package-0 >"$zone/name"
echo 262143328850 >"$zone/max_energy_range_uj"
echo coretemp >"$T/sys-root/sys/class/hwmon/hwmon0/name"
echo 61000 >"$T/sys-root/sys/class/hwmon/hwmon0/temp1_input"
echo nvme >"$T/sys-root/sys/class/hwmon/hwmon1/name"
echo 99000 >"$T/sys-root/sys/class/hwmon/hwmon1/temp1_input"
printf '%020d\n' 0 >"$zone/energy_uj"
cat >counter.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_WRONLY);
	struct timespec b, t;

	clock_gettime(CLOCK_MONOTONIC, &b);
	for (int i = 0; i < 60000; i++) {
		char text[32];

		clock_gettime(CLOCK_MONOTONIC, &t);
		snprintf(text, sizeof(text), "%020lld\n",
			 ((t.tv_sec - b.tv_sec) * 1000000000LL + t.tv_nsec - b.tv_nsec) / 50);
		if (pwrite(fd, text, 21, 0) != 21)
			return 1;
		usleep(1000);
	}
	return 0;
}
C
"${CC:-cc}" -O1 -o counter counter.c || not_ok "counter.c" "does not compile"
./counter "$zone/energy_uj" &
counter=$!
# blocks, and what is between them; again where something else disturbed one of both
for try in 1 2 3; do
	PROFRIG_SYSFS_ROOT=$T/sys-root lp speed.log -b "$T/good.so" -o "joules$try.csv" >/dev/null
	of_time=$(column "joules$try.csv" energy_j mean_us | awk -F'|' '{ printf "%.4f", $1 / ($2 * 20e-6) }')
	! awk -v v="$of_time" 'BEGIN { exit !(v >= 0.9 && v <= 1.25) }' || break
done
kill $counter
wait $counter 2>/dev/null
within "a call's joules are its time at 20 W" "$of_time" 0.9 1.25
is "and how warm it is behind it" "$(column joules1.csv temperature_c)" 61
PROFRIG_SYSFS_ROOT=$T/sys-root code "with a counter that stands still" 0 lp speed.log -b "$T/good.so" -o still.csv
is "there is no figure" "$(column still.csv energy_j status)" "|ok"
PROFRIG_SYSFS_ROOT=$T/none code "without a counter" 0 lp speed.log -b "$T/good.so" -o none.csv
is "there is none either" "$(column none.csv energy_j temperature_c status)" "||ok"

# --- what may pass: a library that comes later, a damaged row of a key that is there whole ---
KEY="gemm ta=N tb=N m=8 n=8 k=8 a=f32"
printf 'library,config,calls,key\r\nx,one,5,%s\r\nx,one,abc,%s\r\n' "$KEY" "$KEY" >damaged.csv
rm -f come.so
code "a library that is missing" 0 lp damaged.csv -b "$T/good.so,$T/come.so" -o pass/by/come.csv --cache warm
is "has a row, and a damaged row has no key" "$(column pass/by/come.csv backend status key | sed "s#$T/##" | LC_ALL=C sort)" "come.so|failed|$KEY
come.so|skipped|
good.so|ok|$KEY
good.so|skipped|"
code "again" 0 lp damaged.csv -b "$T/good.so,$T/come.so" -o pass/by/come.csv --cache warm
is "it has no second one" "$(wc -l <pass/by/come.csv)" 5
cp good.so come.so
code "when it is there" 0 lp damaged.csv -b "$T/good.so,$T/come.so" -o pass/by/come.csv --cache warm
is "it is measured" "$(column pass/by/come.csv backend status key | sed "s#$T/##" | tail -1)" "come.so|ok|$KEY"
code "and then no more" 0 lp damaged.csv -b "$T/good.so,$T/come.so" -o pass/by/come.csv --cache warm
is "so it stays" "$(wc -l <pass/by/come.csv)" 6

# --- tables that are cut, and compressed ones ---
printf 'library,config,calls,key\nx,one,12,%s\nx,two,3,%s beta=0' "$KEY" "$KEY" >cut.csv
code "a table that is cut" 6 lp cut.csv -b "$T/good.so" -o cut_perf.csv --cache warm
is "its last row is not measured" "$(column cut_perf.csv status key reason | sed '/^ok/s/its time drifts.*//')" "ok|$KEY|
skipped||line 3 of cut.csv has no end: it may be cut"
{ head -2 cut.csv; } >whole.csv
gzip -k whole.csv
if command -v zstd >/dev/null; then zstd -q whole.csv; else cp whole.csv.gz whole.csv.zst; fi # by content, not by name
code "compressed tables" 0 lp whole.csv.gz whole.csv.zst -b "$T/good.so" -o whole_perf.csv --cache warm
is "are read as they are" "$(column whole_perf.csv status calls)" "ok|24"
code "rows on stdout" 2 lp whole.csv -b "$T/good.so" -o -
like "have no file to be found in" "$(cat err)" "-o wants a file"

# --- killed at any moment, then resumed: each pair once ---
killed() {
	local m i pid
	for m in 8 16 24 32 40; do gemm $m 8; done >k.log
	for i in {1..20}; do
		"$PROFRIG" -q lib perf --cache warm --precision 40% k.log -b "$1" -o k.csv >/dev/null 2>&1 &
		pid=$!
		sleep "$((RANDOM % 2)).$((RANDOM % 900 + 100))"
		kill -9 $pid 2>/dev/null
		wait $pid 2>/dev/null
	done
	code "resumed behind 20 kills" 0 lp k.log -b "$1" -o k.csv
	is "every pair once" "$(column k.csv key backend | sort | uniq -c | awk '{print $1}' | sort | uniq -c | tr -s ' ')" " 10 1"
	is "no line is torn" "$(column k.csv status | sort | uniq -c | tr -s ' ')" " 10 ok"
	check "no child is left" bash -c '! pgrep -f "__bench [0-9]+ .*'"${1%%,*}"'"'
}
cp good.so good2.so
beside killed "$T/good.so,$T/good2.so"
all_told

# --- real libraries ---
real() { # WORD FILE: whether it is there
	need "$1" test -e "$LIB/$2"
}
ends=
real openblas openblas-serial/libopenblas.so.0 && ends+=,openblas-serial
real openblas openblas-pthread/libopenblas.so.0 && ends+=,openblas-pthread
test -e "$LIB/openblas-openmp/libopenblas.so.0" && ends+=,openblas-openmp
real blis blis-serial/libblis.so.4 && ends+=,blis-serial
test -e "$LIB/blis-pthread/libblis.so.4" && ends+=,blis-pthread
real atlas atlas/libblas.so.3 && ends+=,atlas
real reference blas/libblas.so.3 && ends+=,reference
real gsl libgslcblas.so.0 && ends+=,gsl
ends=${ends#,}
if [ -z "$ends" ]; then
	skip "real libraries" "no BLAS is installed"
else
	n=$(tr , '\n' <<<"$ends" | wc -l)
	{
		echo library,config,calls,key
		i=0
		while read -r key; do echo "x,$((++i)),1,$key"; done <<'K'
gemm ta=N tb=T m=33 n=17 k=65 a=f64 lda=40 alpha=-1 beta=0.5
gemm ta=C tb=N m=13 n=9 k=21 a=f32c compute=f32 alpha=1+2i beta=1
gemm ta=T tb=C m=13 n=9 k=21 a=f64c batch=4 stride_b=0
gemv trans=T m=50 n=30 type=f32 incx=-2 incy=3 beta=1
gemv trans=C m=50 n=30 type=f64c lda=64
ger m=50 n=30 type=f64 lda=64 incx=-2 incy=3 alpha=-1
geru m=50 n=30 type=f32c alpha=2+1i
gerc m=50 n=30 type=f64c incy=-1 alpha=other
syrk uplo=L trans=N n=31 k=12 type=f32 beta=1
syrk uplo=U trans=T n=31 k=12 type=f64c
trsm side=L uplo=U trans=T diag=N m=20 n=11 type=f64 alpha=0.5
trsm side=R uplo=L trans=C diag=U m=20 n=11 type=f32c
axpy n=1000 type=f32c alpha=2+1i incy=2
axpy n=1000 type=f64 alpha=2
dot n=1000 type=f32 incx=2
dotu n=100 type=f64c
dotc n=100 type=f32c
K
	} >ops.csv
	code "every operation with $ends" 0 lp ops.csv -b "$ends" -o ops_perf.csv --budget 400
	is "all right" "$(column ops_perf.csv status backend key reason | grep -v ^ok)" ""
	is "each with each" "$(column ops_perf.csv key | wc -l)" $((17 * n))
	like "by the file that was loaded" "$(column ops_perf.csv path | sort -u)" "^$LIB/"
	if test -e "$LIB/blas/libblas.so.3"; then
		stand_in fortran <<C
#include <dlfcn.h>
typedef double any(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
#define F(name) \\
	double name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j, void *k, void *l, void *m, void *n, void *o) \\
	{ \\
		static any *to; \\
		if (!to) \\
			to = (any *)dlsym(dlopen("$LIB/blas/libblas.so.3", RTLD_NOW | RTLD_LOCAL), #name); \\
		return to(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o); \\
	}
#define ALL(f) F(s##f) F(d##f) F(c##f) F(z##f)
ALL(gemm_) ALL(gemv_) ALL(geru_) ALL(gerc_) F(sger_) F(dger_) ALL(syrk_) ALL(trsm_) ALL(axpy_) F(sdot_) F(ddot_)
C
		code "every operation by functions of Fortran alone" 0 lp ops.csv -b "$T/fortran.so" -o fortran.csv --budget 200
		is "all right but complex sums, which compilers return differently" "$(column fortran.csv status key | grep -v '^ok' | sort)" \
			"unsupported|dotc n=100 type=f32c
unsupported|dotu n=100 type=f64c"
	fi
	if real openblas openblas-serial/libopenblas.so.0 && test -e "$LIB/blas/libblas.so.3"; then
		code "two of them" 0 lp speed.log -b openblas-serial,reference -o two.csv --precision 2%
		within "differ as in a loop in C" "$(loop "$LIB/blas/libblas.so.3" "$LIB/openblas-serial/libopenblas.so.0" | tr '\n' ' ' |
			awk -v a="$(ratio two.csv reference openblas-serial)" '{ printf "%.4f", a / ($1 / $2) }')" 0.75 1.33
		is "two threads of one that has one are noted" "$(lp speed.log -b openblas-serial --threads 2 -o three.csv >/dev/null; column three.csv threads reason | grep -oE '^2[|]|the library uses 1 threads' | paste -sd ' ')" "2| the library uses 1 threads"
	fi
fi
