#!/usr/bin/env bash
# lib compare: tables of lib perf side by side; refusals, gate, statuses, hostile tables; real measurements of a library against itself and against one that
# is slower. It runs alone: it compares times.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
cd "$T" || exit 1
lc() { timeout 60 "$PROFRIG" lib compare "$@"; }
G="gemm ta=N tb=N m=8 n=8 k=8 a=f32"
HEAD=library,config,backend,device,calls,repeats,mean_us,median_us,stddev_us,min_us,gflops,gbps,energy_j,status,reason,key,version,path,threads,cache,init,timer,ci_low_us,ci_high_us,clock_mhz,temperature_c,peak_share,processes,measured_ms,others,process_us
# row BACKEND KEY CALLS MEAN HALF [CACHE [CLOCK [ENERGY]]]
row() { awk -v b="$1" -v k="$2" -v c="$3" -v m="$4" -v h="$5" -v cache="${6:-warm}" -v clock="${7:-}" -v e="${8:-}" 'BEGIN { printf "rocblas,text of it,%s,a cpu,%s,99,%s,%s,%s,%s,10,2,%s,ok,,%s,v1,/x.so,1,%s,uniform,host,%s,%s,%s,,,4,7,0,\n", b, c, m, m, h, m, e, k, cache, m - h, m + h, clock }'; }
gone() { echo "rocblas,text of it,$1,a cpu,5,0,,,,,,,,$3,some reason,$2,v1,/x.so,1,warm,uniform,host,,,,,,,,,"; }
table() { echo "$HEAD"; cat; }
{ row one "$G" 100 10 0.1 warm 2000 0.5; row one "$G lda=9" 10 50 1; row one "dot n=9" 7 1 0.02; gone one "dot n=10" crashed; } | table >a.csv
{ row one "$G" 100 12 0.1 warm 2050 0.4; row one "$G lda=9" 10 50.1 1; row one "dot n=10" 7 1 0.02; row one "dot n=11" 7 1 0.02; } | table >b.csv

# --- what a command line may be ---
code "no file" 2 lc
code "one side alone" 2 lc a.csv
like "has nothing to compare with" "$(cat err)" "one back end, in one file"
code "a threshold that is none" 2 lc a.csv b.csv --threshold much
code "a confidence that is none" 2 lc a.csv b.csv --confidence 100%
code "what ranks" 2 lc a.csv b.csv --by weight
code "two outputs on stdout" 2 lc a.csv b.csv --json -o -
code "a file that is not there" 5 lc a.csv none.csv
echo "library,config,calls,key" >other.csv
code "another table" 5 lc a.csv other.csv
like "is named" "$(cat err)" "other.csv is no library_perf.csv: no column 'backend'"
code "a folder" 5 lc a.csv "$T"
: >empty.csv
code "an empty file" 5 lc a.csv empty.csv
echo "$HEAD" >none.csv
code "no rows" 5 lc none.csv none.csv
like "are named, with what writes them" "$(cat err)" "none.csv: no row of it can be compared"
{ row one "$G" 100 10 0.1; row two "$G" 100 10 0.1; } | table >two.csv
code "a gate does not open for a file without rows" 5 lc two.csv none.csv --gate
code "nor for one whose rows are all damaged" 5 lc two.csv <(table <<<"x") --gate
gzip -k two.csv
if command -v zstd >/dev/null; then zstd -q two.csv; else cp two.csv.gz two.csv.zst; fi # by content, not by name
code "compressed files" 0 lc two.csv.gz two.csv.zst --json
is "are read as they are" "$(jq -c '[.rows[].verdict] | unique' out)" '["same"]'
{ cat two.csv; head -c 4096 /dev/zero; } >zeros.csv
code "zeros behind the rows" 6 lc two.csv zeros.csv
like "cost what follows them alone" "$(cat err)" "zeros.csv: 1 damaged row is left out: line 4: NUL byte; what follows it is not read"

# --- a comparison ---
code "two files" 0 lc a.csv b.csv
like "names the sides" "$(cat out)" "A  one  a.csv  v1
B  one  b.csv  v1"
like "shows the verdicts" "$(cat out)" "B against A: 2 calls: 1 slower, 1 same; with all: slower"
like "the costly call with its interval" "$(cat out)" "\+200 µs +10.00 +12.00 +1.200 +1.1[0-9]+ to 1.2[0-9]+ .* slower +A +gemm"
like "what one side lacks" "$(cat out)" "only in A: dot n=9 \(missing\).*only in B: dot n=10 \(crashed: some reason\).*only in B: dot n=11 \(missing\)"
like "the prediction" "$(cat out)" "predicted with B: these calls take 1.70 ms instead of 1.50 ms: \+201 µs, \+13.4 % \(\+[0-9.]+ to \+[0-9.]+\), -10.0 J of 1 calls with energy"
code "as JSON" 0 lc a.csv b.csv --json
is "has what is relied on" "$(jq -r '[.comparable.score, (.comparable.reasons | length), (.rows | length), (.only_a | length), (.only_b | length), .verdict] | @csv' out)" '1,0,2,1,2,"slower"'
is "of each row" "$(jq -r '.rows[0] | [has("key", "delta", "delta_rel", "ci_low", "ci_high", "p_value", "p_adj", "n", "method", "verdict", "effect_s", "effect_rel"), (.a, .b | has("n", "mean", "median", "stddev"))] | all' out)" true
is "ranked by what they would save" "$(jq -r '.rows[] | "\(.key) \(.verdict)"' out)" "$G lda=9 same
$G slower"
is "in numbers" "$(jq -r '.rows[1] | "\(.delta) \(.effect_s * 1e6 | round) \(.effect_rel * 1e4 | round) \(.effect_j | round) \(.a.n) \(.winner) \(.tied) \(.calls)"' out)" "2 200 1333 -10 4 A false 100"
check "intervals hold their values" jq -e '.rows | all(.ci_low < .delta_rel and .delta_rel < .ci_high and .effect_s_low < .effect_s and .effect_s < .effect_s_high and .p_value <= .p_adj)' out
is "the sides" "$(jq -r '.sides[] | "\(.side) \(.backend) \(.file)"' out)" "A one a.csv
B one b.csv"
code "by calls" 0 lc a.csv b.csv --by calls --json
is "the most calls come first" "$(jq -r '.rows[0].calls' out)" 100
code "a wide threshold" 0 lc a.csv b.csv --threshold 25% --json
is "sees none" "$(jq -r '[.rows[].verdict] | unique[]' out)" same
code "a table" 0 lc a.csv b.csv -o c.csv
is "has a row for each" "$(python3 -c 'import csv; print("|".join(r["verdict"] for r in csv.DictReader(open("c.csv"))))')" "same|slower|only A|only B|only B"
code "on stdout" 0 lc a.csv b.csv -o -
check "is the same" cmp out c.csv
code "into a folder that is not there and cannot be" 4 lc a.csv b.csv -o /proc/none/c.csv

# --- gate ---
code "a gate" 7 lc a.csv b.csv --gate
like "says why" "$(cat err)" "gate: 1 call is slower by more than 5 %"
code "the other way round" 0 lc b.csv a.csv --gate
code "with a wide threshold" 0 lc a.csv b.csv --gate --threshold 25%
code "itself" 0 lc a.csv a.csv --gate

# --- refusals ---
row one "$G" 100 10 0.1 cold | table >cold.csv
row one "$G" 100 10 0.1 warm 2200 | table >clock.csv
row one "${G%f32}f64" 100 10 0.1 | table >types.csv
row one "gemv m=5" 100 10 0.1 | table >apart.csv
row one "$G" 100 10 0.1 | table >noclock.csv
for what in cold clock types; do
	code "$what" 7 lc a.csv $what.csv --json
	is "$what: unclear, and not comparable" "$(jq -r '"\(.rows[0].verdict) \(.rows[0].refused) \(.verdict) \(.comparable.score)"' out)" "unclear true not comparable 0"
	code "$what, forced" 0 lc a.csv $what.csv --json --force
	want="same false"
	# the clocks differ by more than the threshold, and so may the times
	[ $what != clock ] || want="unclear false"
	is "$what: compared" "$(jq -r '"\(.rows[0].verdict) \(.rows[0].refused)"' out)" "$want"
done
like "and says why" "$(jq -r '.rows[0].reason' out)" "types differ: gemm .*a=f64"
code "nothing in both" 7 lc a.csv apart.csv
like "is no comparison" "$(cat err)" "no call has a time in both"
code "an unknown clock" 0 lc a.csv noclock.csv

# --- several sides, old and hostile tables ---
{ row one "$G" 100 10 0.1; row two "$G" 100 8 0.1; row three "$G" 100 8.01 0.1; } | table >three.csv
code "three back ends of one file, and a file" 0 lc three.csv b.csv --json
is "are compared with the first" "$(jq -r '.rows[] | "\(.side) \(.verdict) \(.winner) \(.tied)"' out)" "B faster B true
C faster B true
D slower B true"
awk -F, -v OFS=, '{ NF -= 4; print }' a.csv >old.csv
code "a table of an earlier profrig" 0 lc old.csv b.csv --json
is "has wider intervals" "$(jq -r '.rows[1] | "\(.verdict) \(.a.n) \(.n)"' out)" "slower 99 198"
{ head -n 2 a.csv; row one "=HYPERLINK(\"x\")" 1 2 0.1; row one "<script>&" 1 2 0.1; row one "k
l" 1 2 0.1 2>/dev/null | tail -n 1; row one "x$(printf '\033[31m')" 1 2 0.1; row one neg 1 -2 0.1; } >hostile.csv
code "a hostile table" 6 lc hostile.csv hostile.csv -o h.csv
like "is reported with the line" "$(cat err)" "hostile.csv: 2 damaged rows are left out: line 5: another number of cells"
check "shows no control bytes" bash -c '! grep -q "$(printf "\033")" out'
is "and no formulas" "$(grep -cE '(^|,)"?[=@+]' h.csv)" 0
head -c -1 b.csv >cut.csv
code "a cut table" 6 lc a.csv cut.csv
like "loses a row" "$(cat err)" "cut.csv: 1 damaged row is left out: line 5: it has no end"
head -c 100000 /dev/urandom >junk.csv
code "junk" 5 lc a.csv junk.csv

# --- the page ---
{ row one "<script>alert(1)</script>&\"'" 100 12 0.1; row one "$G" 100 12 0.1 warm 2050; gone one "dot n=10" crashed; } | table >page.csv
{ row one "<script>alert(1)</script>&\"'" 100 10 0.1; row one "$G" 100 10 0.1; row one "dot n=10" 7 1 0.02; } | table >page2.csv
code "a page" 0 lc page.csv page2.csv three.csv --html p.html
is "is well-formed, with its drawings" "$(python3 - p.html <<'P'
import html.parser, sys
class Page(html.parser.HTMLParser):
    open, seen, marks = [], [], 0
    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.seen.append(tag)
        self.marks += tag == "path" and (dict(attrs).get("class") or "").startswith("mark ")
        for name, value in attrs:
            if name in ("src", "href") or name.startswith("on"):
                print("loads", value)
    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            print("not closed", tag)
p = Page()
p.feed(open(sys.argv[1]).read())
print(p.open, "script" in p.seen, p.seen.count("svg") >= 5, p.marks > 8, p.seen.count("rect") >= 3)
P
)" "[] False True True True"
check "its texts are escaped" grep -q '&#60;script&#62;alert(1)' p.html
check "it is dark where that is preferred" grep -q 'prefers-color-scheme:dark' p.html
for svg in 1 2 3 4 5; do
	awk -v n=$svg '/<svg[^>]*role="img"/ { at++ } at == n { print } /<\/svg>/ && at == n { exit }' p.html >one.svg
	check "drawing $svg is XML" python3 -c 'import xml.etree.ElementTree as e; t = e.parse("one.svg").getroot(); assert t[0].tag == "title" and t[0].text'
done
code "a page of what is refused" 7 lc a.csv cold.csv --html r.html
code "a page that cannot be written" 4 lc page.csv page2.csv --html /proc/none/p.html

# --- real ones: a library against itself, and against one that takes 10 % longer ---
command -v "${CC:-cc}" >/dev/null || { skip "real measurements" "there is no compiler"; exit 0; }
cat >good.c <<'C'
double cblas_ddot(int n, const double *x, int ix, const double *y, int iy)
{
	double s = 0;
	for (int i = 0; i < n; i++)
		s += x[i * ix] * y[i * iy];
	return s;
}
void cblas_sgemm(int l, int ta, int tb, int m, int n, int k, float al, const float *a, int lda, const float *b, int ldb, float be, float *c, int ldc)
{
	(void)l;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			float s = 0;
			for (int p = 0; p < k; p++)
				s += (ta == 111 ? a[i + p * lda] : a[p + i * lda]) * (tb == 111 ? b[p + j * ldb] : b[j + p * ldb]);
			c[i + j * ldc] = al * s + (be ? be * c[i + j * ldc] : 0);
		}
}
C
# a tenth of the columns is computed twice, by the same code
cat >slow.c <<'C'
#include <dlfcn.h>
typedef void gemm_f(int l, int ta, int tb, int m, int n, int k, float al, const float *a, int lda, const float *b, int ldb, float be, float *c, int ldc);
typedef double dot_f(int n, const double *x, int ix, const double *y, int iy);
static void *good(const char *name)
{
	static void *lib;
	if (!lib) lib = dlopen(GOOD, RTLD_NOW);
	return dlsym(lib, name);
}
double cblas_ddot(int n, const double *x, int ix, const double *y, int iy) { return ((dot_f *)good("cblas_ddot"))(n, x, ix, y, iy); }
void cblas_sgemm(int l, int ta, int tb, int m, int n, int k, float al, const float *a, int lda, const float *b, int ldb, float be, float *c, int ldc)
{
	static gemm_f *f;
	if (!f) f = good("cblas_sgemm");
	f(l, ta, tb, m, n, k, al, a, lda, b, ldb, be, c, ldc);
	f(l, ta, tb, m, n / 10, k, al, a, lda, b, ldb, be, c, ldc);
}
C
for l in good slow; do "${CC:-cc}" -O1 -shared -fPIC -DGOOD="\"$T/good.so\"" -o $l.so $l.c -ldl || not_ok "$l.c" "does not compile"; done
cp good.so same.so
printf 'library,config,calls,key\nx,1,100,gemm ta=N tb=N m=40 n=40 k=60 a=f32\nx,2,50,gemm ta=T tb=N m=64 n=20 k=80 a=f32\nx,3,9,gemm ta=N tb=N m=16 n=90 k=40 a=f32\n' >calls.csv
lp() { timeout 120 "$PROFRIG" -q lib perf calls.csv --cache warm "$@" >/dev/null; }
verdicts() { lc "$@" --json 2>>log | jq -r '.rows[].verdict' | sort | uniq -c | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }'; }
different=
wrong=
slower=
for i in 1 2 3 4 5; do
	lp -b "$T/good.so,$T/slow.so" -o "s$i.csv"
	slower=$(verdicts "s$i.csv")
	wrong+=$(grep -E 'faster|same' <<<"$slower")
	# other work may hide 10 %, and never turns it over
	[ "$slower" != "3 slower" ] || break
done
is "one that takes 10 % longer is slower" "$slower" "3 slower"
is "and never faster, or the same" "$wrong" ""
code "the gate closes" 7 lc "s$i.csv" --gate
for i in 1 2; do
	lp -b "$T/good.so,$T/same.so" -o "t$i.csv"
	different+=$(verdicts "t$i.csv" | grep -E 'faster|slower')
done
is "a library does not differ from itself" "$different" ""
# a host that slows down by 80 % in a third of the time: phases of 12 ms hit blocks of one library and not of the other
cat >phases.c <<'C'
#include <dlfcn.h>
#include <time.h>
typedef void gemm_f(int l, int ta, int tb, int m, int n, int k, float al, const float *a, int lda, const float *b, int ldb, float be, float *c, int ldc);
typedef double dot_f(int n, const double *x, int ix, const double *y, int iy);
static void *of(const char *name)
{
	static void *lib;
	if (!lib) lib = dlopen(LIB, RTLD_NOW);
	return dlsym(lib, name);
}
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
/* the bits of a product, by the time alone: the same in all processes */
static int slow(long ns) { unsigned long x = (unsigned long)(ns / 12000000) * 0x9e3779b97f4a7c15UL; x ^= x >> 32; x *= 0xbf58476d1ce4e5b9UL; return (x >> 40) % 3 == 0; }
double cblas_ddot(int n, const double *x, int ix, const double *y, int iy) { return ((dot_f *)of("cblas_ddot"))(n, x, ix, y, iy); }
void cblas_sgemm(int l, int ta, int tb, int m, int n, int k, float al, const float *a, int lda, const float *b, int ldb, float be, float *c, int ldc)
{
	static gemm_f *f;
	long begin, end;
	if (!f) f = of("cblas_sgemm");
	begin = now(), f(l, ta, tb, m, n, k, al, a, lda, b, ldb, be, c, ldc), end = now();
	if (slow(begin)) while (now() < end + (end - begin) * 8 / 10) ;
}
C
for l in good same slow; do "${CC:-cc}" -O1 -shared -fPIC -DLIB="\"$T/$l.so\"" -o phases_$l.so phases.c -ldl || not_ok "phases.c" "does not compile"; done
different=
for i in 1 2 3 4 5; do
	lp -b "$T/phases_good.so,$T/phases_same.so,$T/phases_slow.so" -o "w$i.csv"
	lc "w$i.csv" --json >w.json 2>>log
	different+=$(jq -r '.rows[] | select(.side == "B") | .verdict' w.json | grep -E 'faster|slower')
	slower=$(jq -r '.rows[] | select(.side == "C") | .verdict' w.json | sort | uniq -c | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }')
	[ "$slower" != "3 slower" ] || break
done
is "with phases of the host, one that takes 10 % longer is slower" "$slower" "3 slower"
is "and a library does not differ from itself" "$different" ""
check "figures agree with the ratio" jq -e '.rows | all((.delta - .a.mean * .delta_rel | fabs) < 1e-6 * .a.mean and (.effect_s - .calls * .delta * 1e-6 | fabs) < 1e-9)' w.json
# between two files the machine itself may have changed: what is seen of that is in their errors, and not all of it is seen
alike=0
for i in 1 2 3 4 5; do
	lp -b "$T/good.so" -o "u$i.csv"
	lp -b "$T/good.so" -o "v$i.csv"
	verdicts "u$i.csv" "v$i.csv" | tee -a two_files | grep -qE 'faster|slower' || alike=$((alike + 1))
	[ $alike -lt 3 ] || break
done
is "nor in three of five pairs of files: $(tr '\n' ' ' <two_files)" "$alike" 3
