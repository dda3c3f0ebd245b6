#!/usr/bin/env bash
# The tracers inside real processes: what they write, through fork, threads, kill -9, a full disk and an old libc.
. "$(dirname "$0")/../lib.sh"

cat >"$T/prog.c" <<'C'
#include <cblas.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
extern int roctxRangePushA(const char *) __attribute__((weak));
extern int roctxRangePop(void) __attribute__((weak));
extern void roctxMarkA(const char *) __attribute__((weak));
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *, const int *, const float *,
	    const int *, const float *, float *, const int *);
void ssyrk_(const char *, const char *, const int *, const int *, const float *, const float *, const int *, const float *, float *, const int *);
static float a[64 * 64], b[64 * 64], c[64 * 64];
static void gemm(int n)
{
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}
static void *thread(void *x)
{
	for (int i = 0; i < 500; i++)
		cblas_ddot(8, (double *)a, 1, (double *)b, 1);
	return x;
}
static void mark(int sig)
{
	if (sig && roctxMarkA) roctxMarkA("tick");
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "fork") == 0) {
		gemm(8);
		for (int i = 0; i < 3; i++)
			if (fork() == 0) {
				gemm(16);
				exit(0);
			}
		while (wait(NULL) > 0)
			;
		gemm(8);
	} else if (strcmp(what, "threads") == 0) {
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, thread, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	} else if (strcmp(what, "kill") == 0) {
		if (roctxRangePushA) roctxRangePushA("outer");
		for (int i = 0; i < 100; i++)
			gemm(8);
		raise(SIGKILL);
	} else if (strcmp(what, "fortran") == 0) {
		int m = 4, n = 5, k = 6;
		float one = 1, zero = 0;
		double x[4] = { 1, 2, 3, 4 }, y[4] = { 5, 6, 7, 8 };
		sgemm_("N", "t", &m, &n, &k, &one, a, &m, b, &n, &zero, c, &m);
		cblas_dgemv(CblasRowMajor, CblasTrans, 2, 2, 1, x, 2, y, 1, 1, x, 1);
		cblas_daxpy(4, 2, x, 1, y, 1);
		cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, 2, 2, 1, x, 2, y, 2);
		double z[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, r[2];
		cblas_zdotu_sub(4, z, 1, z, 1, r);
		cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, 4, 3, -1, a, 4, 1, c, 4);
	} else if (strcmp(what, "orders") == 0) {
		/* one product by rows and by columns, and one syrk by the two interfaces */
		int n = 4, k = 3;
		float one = 1, two = 2;
		double alpha[2] = { 0, 1 }, beta[2] = { 0, 0 }, z[24] = { 1 };
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, 4, 5, 6, -1, a, 6, b, 6, 0, c, 5);
		cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, 5, 4, 6, -1, b, 6, a, 6, 0, c, 5);
		cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, 4, 3, 1, a, 4, 2, c, 4);
		ssyrk_("U", "n", &n, &k, &one, a, &n, &two, c, &n);
		cblas_zgemm(CblasColMajor, CblasNoTrans, CblasConjTrans, 2, 2, 2, alpha, z, 2, z + 8, 2, beta, z + 16, 2);
	} else if (strcmp(what, "marks") == 0) {
		if (!roctxRangePushA) return 3;
		char longname[3000];
		memset(longname, 'x', sizeof(longname) - 1);
		longname[sizeof(longname) - 1] = 0;
		if (roctxRangePushA("a\"b\\c\n\x01é") != 0) return 4;
		if (roctxRangePushA(longname) != 1) return 5;
		roctxMarkA("here");
		roctxMarkA("gr\xfc\xdf, \xed\xa0\x80, \xe2\x82");
		if (roctxRangePop() != 1 || roctxRangePop() != 0 || roctxRangePop() != -1) return 6;
	} else if (strcmp(what, "space") == 0) {
		gemm(8);
		return malloc((size_t)1 << 30) ? 0 : 8;
	} else if (strcmp(what, "signals") == 0) {
		struct itimerval often = { { 0, 200 }, { 0, 200 } };
		if (!roctxRangePushA) return 3;
		signal(SIGALRM, mark);
		setitimer(ITIMER_REAL, &often, NULL);
		for (int i = 0; i < 50000; i++) {
			roctxRangePushA("a name that fills the file soon, so that it has to grow often");
			roctxRangePop();
		}
	} else if (strcmp(what, "close") == 0) {
		static char text[3000000];
		gemm(8);
		for (int i = 3; i < 64; i++)
			close(i);
		FILE *f = fopen(argv[2], "w");
		if (!f || fileno(f) != 3 || fwrite(text, sizeof(text), 1, f) != 1 || fflush(f)) return 7;
		for (int i = 0; i < 9000; i++)
			gemm(2);
	}
	return 0;
}
C
if ! need openblas gcc -O1 "$T/prog.c" -o "$T/prog" -Wl,-z,dynamic-undefined-weak -lopenblas -lpthread; then
	skip "tracers" "OpenBLAS is not installed"
	exit 0
fi
export OPENBLAS_NUM_THREADS=1

traced() { # name, arguments → folder $T/name, where it writes
	local d=$T/$1
	mkdir -p "$d"
	PROFRIG_BLAS_OUT=$d PROFRIG_ROCTX_OUT=$d LD_PRELOAD=$B/libprofrig_blas.so:$B/libprofrig_roctx.so timeout 120 "$T/prog" "$@" 2>"$d/stderr"
}
# events FOLDER FILTER: counts, after closing the array and dropping padding
events() {
	for f in "$1"/*.json; do
		tr -d '\000' <"$f" | sed -e '1s/^\[//' -e 's/,$//' | grep . || true
	done | jq -s "[.[] | select($2)] | length"
}

traced fork
is "fork: one file per process" "$(ls "$T"/fork/blas-*.json | wc -l)" 4
is "fork: every call once" "$(events "$T/fork" '.name == "sgemm"')" 5
is "fork: children are told apart" "$(for f in "$T"/fork/blas-*.json; do tr -d '\000' <"$f" | sed -e '1s/^\[//' -e 's/,$//' | grep . ; done | jq -s '[.[] | select(.name == "sgemm") | .pid] | unique | length')" 4
traced threads
is "threads: no call is lost or torn" "$(events "$T/threads" '.name == "ddot"')" 2000
is "threads: four thread ids" "$(tr -d '\000' <"$(ls "$T"/threads/blas-*.json)" | sed -e '1s/^\[//' -e 's/,$//' | grep . | jq -s '[.[] | select(.name == "ddot") | .tid] | unique | length')" 4
traced kill
is "kill -9: every finished call is in the file" "$(events "$T/kill" '.name == "sgemm"')" 100
is "kill -9: the open range is in the file" "$(events "$T/kill" '.ph == "B" and .name == "outer"')" 1
code "kill -9: profrig reads it" 0 "$PROFRIG" info --json "$(ls "$T"/kill/blas-*.json)"
is "kill -9: 100 spans" "$(field "$T/out" .spans)" 100
code "kill -9: an open range is a span" 0 "$PROFRIG" info --json "$(ls "$T"/kill/roctx-*.json)"
is "kill -9: with its warning" "$(field "$T/out" '[.warnings[].code] | index("W_OPEN_SPAN") != null')" true
traced close "$T/close.data"
is "a workload that closes our descriptor: its own file is left alone" "$? $(wc -c <"$T/close.data")" "0 3000000"
is "and no call is lost" "$(events "$T/close" '.name == "sgemm"')" 9001
(ulimit -v 1500000 && traced space)
is "a limit of the address space: most of it is the workload's" "$? $(events "$T/space" '.name == "sgemm"')" "0 1"
traced signals
is "a signal handler that marks does not hang" "$?" 0
is "and loses nothing" "$(events "$T/signals" '.ph == "B" or .ph == "E"')" 100000
traced fortran
args_of() { # FOLDER NAME
	tr -d '\000' <"$(ls "$1"/blas-*.json)" | sed -e '1s/^\[//' -e 's/,$//' | grep . | jq -c "select(.name == \"$2\") | .args"
}
one() { args_of "$T/fortran" "$1"; }
is "fortran sgemm: dimensions, flops, bytes" "$(one sgemm)" '{"m":4,"n":5,"k":6,"ta":"N","tb":"T","flops":240,"bytes":296,"lda":4,"ldb":5,"ldc":4,"order":"col","alpha":"1","beta":"0","int":32}'
is "dgemv transposed, y is read" "$(one dgemv)" '{"m":2,"n":2,"ta":"T","flops":8,"bytes":80,"lda":2,"incx":1,"incy":1,"order":"row","alpha":"1","beta":"1","int":32}'
is "daxpy" "$(one daxpy)" '{"n":4,"flops":8,"bytes":96,"incx":1,"incy":1,"alpha":"x","int":32}'
is "dtrsm" "$(one dtrsm)" '{"m":2,"n":2,"ta":"N","flops":8,"bytes":80,"lda":2,"ldb":2,"order":"row","side":"L","uplo":"U","diag":"U","alpha":"1","int":32}'
is "zdotu through _sub" "$(one zdotu)" '{"n":4,"flops":32,"bytes":128,"incx":1,"incy":1,"int":32}'
is "ssyrk, c is read" "$(one ssyrk)" '{"n":4,"k":3,"ta":"T","flops":48,"bytes":112,"lda":4,"ldc":4,"order":"row","uplo":"L","alpha":"-1","beta":"1","int":32}'
traced orders
is "orders: by rows, by columns" "$(args_of "$T/orders" sgemm | jq -c '[.m, .n, .ta, .tb, .order]' | tr '\n' ' ')" '[4,5,"N","T","row"] [5,4,"T","N","col"] '
is "orders: a complex factor is neither 0 nor 1" "$(args_of "$T/orders" zgemm | jq -c '[.alpha, .beta]')" '["x","0"]'
# A BLAS with 64-bit integers under the plain names, as Debian's libblas64: some of them travel on the stack, some are negative.
cat >"$T/wide.c" <<'C'
#include <stdint.h>
#include <stdio.h>
typedef int64_t i64;
double cblas_ddot(i64 n, const double *x, i64 ix, const double *y, i64 iy);
void cblas_dgemm(int o, int ta, int tb, i64 m, i64 n, i64 k, double al, const double *a, i64 lda, const double *b, i64 ldb, double be, double *c, i64 ldc);
#ifdef LIB
double cblas_ddot(i64 n, const double *x, i64 ix, const double *y, i64 iy)
{
	return n == 4 && ix == -1 && iy == -((i64)1 << 40) && x[0] == 1 && y[0] == 2;
}
void cblas_dgemm(int o, int ta, int tb, i64 m, i64 n, i64 k, double al, const double *a, i64 lda, const double *b, i64 ldb, double be, double *c, i64 ldc)
{
	*c = o == 101 && ta == 111 && tb == 112 && m == 2 && n == 3 && k == 5 && al == 1 && *a == 1 && lda == -7 && *b == 2 && ldb == (i64)1 << 33 && be == 0 && ldc == -9;
}
#else
int main(void)
{
	double x = 1, y = 2, c = 0, d = cblas_ddot(4, &x, -1, &y, -((i64)1 << 40));
	cblas_dgemm(101, 111, 112, 2, 3, 5, 1, &x, -7, &y, (i64)1 << 33, 0, &c, -9);
	printf("%g %g\n", d, c);
	return 0;
}
#endif
C
gcc -O1 -shared -fPIC -DLIB "$T/wide.c" -o "$T/libwide.so" && gcc -O1 "$T/wide.c" -o "$T/wide" -L"$T" -lwide -Wl,-rpath,"$T" || not_ok "wide: build"
mkdir -p "$T/wide.d"
is "64-bit integers under plain names arrive whole" "$(PROFRIG_BLAS_OUT=$T/wide.d LD_PRELOAD=$B/libprofrig_blas.so "$T/wide")" "1 1"
# plain names count as 32 bits
is "and their figures are right" "$(args_of "$T/wide.d" dgemm)" '{"m":2,"n":3,"k":5,"ta":"N","tb":"T","flops":60,"bytes":248,"lda":-7,"ldb":0,"ldc":-9,"order":"row","alpha":"1","beta":"0","int":32}'

# The same from a plugin, as Python loads its extensions: the BLAS is in no global scope, and not called like one.
cat >"$T/host.c" <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *h = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
	return h ? ((int (*)(void))dlsym(h, "run"))() : 3;
}
C
gcc -O1 -shared -fPIC -Dmain=run "$T/wide.c" -o "$T/libplugin.so" -L"$T" -lwide -Wl,-rpath,"$T" && gcc -O1 "$T/host.c" -o "$T/host" -ldl || not_ok "plugin: build"
mkdir -p "$T/plugin.d"
is "a BLAS that only a plugin sees is found" "$(PROFRIG_BLAS_OUT=$T/plugin.d LD_PRELOAD=$B/libprofrig_blas.so "$T/host" "$T/libplugin.so" 2>&1)" "1 1"
is "and traced" "$(events "$T/plugin.d" '.name == "ddot" or .name == "dgemm"')" 2

# Every way to name them: plain, with 64-bit integers, as in Python wheels.
cat >"$T/names.c" <<'C'
#include <stdint.h>
#define EACH(X) X(, int, _, ) X(, int64_t, _64_, 64_) X(, int64_t, _64, _64) X(scipy_, int, _, ) X(scipy_, int64_t, _64_, 64_)
#define DECLARE(P, I, F, C) \
	void P##dgemm##F(const char *, const char *, const I *, const I *, const I *, const double *, const double *, const I *, const double *, const I *, \
			 const double *, double *, const I *); \
	float P##sdsdot##F(const I *, const float *, const float *, const I *, const float *, const I *); \
	double P##cblas_dsdot##C(I, const float *, I, const float *, I); \
	float P##cblas_sdsdot##C(I, float, const float *, I, const float *, I); \
	void P##cblas_zdotc_sub##C(I, const void *, I, const void *, I, void *);
EACH(DECLARE)
#ifdef LIB
#define DEFINE(P, I, F, C) \
	void P##dgemm##F(const char *ta, const char *tb, const I *m, const I *n, const I *k, const double *al, const double *a, const I *lda, const double *b, \
			 const I *ldb, const double *be, double *c, const I *ldc) { *c += *m * *n * *k; } \
	float P##sdsdot##F(const I *n, const float *s, const float *x, const I *ix, const float *y, const I *iy) { return *s + *n; } \
	double P##cblas_dsdot##C(I n, const float *x, I ix, const float *y, I iy) { return n * ix * iy; } \
	float P##cblas_sdsdot##C(I n, float s, const float *x, I ix, const float *y, I iy) { return s + n; } \
	void P##cblas_zdotc_sub##C(I n, const void *x, I ix, const void *y, I iy, void *r) { *(double *)r += n; }
EACH(DEFINE)
#else
int main(void)
{
	double d = 1, c = 0, r = 0, sum = 0;
	float x = 1;
#define USE(P, I, F, C) \
	{ \
		I m = 2, n = 3, k = 4; \
		P##dgemm##F("N", "N", &m, &n, &k, &d, &d, &m, &d, &m, &d, &c, &m); \
		P##cblas_zdotc_sub##C(3, &x, 1, &x, 1, &r); \
		sum += P##sdsdot##F(&n, &x, &x, &m, &x, &m) + P##cblas_dsdot##C(3, &x, 2, &x, -1) + P##cblas_sdsdot##C(3, 2, &x, 1, &x, 1); \
	}
	EACH(USE)
	return !(c == 5 * 24 && r == 5 * 3 && sum == 5 * (4 - 6 + 5));
}
#endif
C
gcc -O1 -shared -fPIC -DLIB "$T/names.c" -o "$T/libnames.so" && gcc -O1 "$T/names.c" -o "$T/names" -L"$T" -lnames -Wl,-rpath,"$T" || not_ok "names: build"
mkdir -p "$T/names.d"
check "every way of naming: values come back" env PROFRIG_BLAS_OUT="$T/names.d" LD_PRELOAD="$B/libprofrig_blas.so" "$T/names"
is "every way of naming: each call once" "$(for n in dgemm zdotc sdsdot dsdot; do events "$T/names.d" ".name == \"$n\""; done | tr '\n' ' ')" "5 5 10 5 "

traced marks
is "marks: push and pop levels as documented" "$?" 0
is "marks: hostile text survives" "$(tr -d '\000' <"$(ls "$T"/marks/roctx-*.json)" | sed -e '1s/^\[//' -e 's/,$//' | grep . | jq -rs '[.[] | select(.ph == "B") | .name][0]')" "$(printf 'a"b\\c\n\001é')"
is "marks: a name of 3000 bytes is cut" "$(tr -d '\000' <"$(ls "$T"/marks/roctx-*.json)" | sed -e '1s/^\[//' -e 's/,$//' | grep . | jq -rs '[.[] | select(.ph == "B") | .name][1] | endswith("...")')" true
is "marks: text that is no UTF-8 becomes it" "$(tr -d '\000' <"$(ls "$T"/marks/roctx-*.json)" | iconv -f UTF-8 -t UTF-8 2>&1 | grep -c 'gr\\ufffd\\ufffd, \\ufffd\\ufffd\\ufffd, \\ufffd\\ufffd"')" 1
is "marks: the stray pop writes nothing" "$(events "$T/marks" '.ph == "E"')" 2

# The process ends while its first event makes the file, in a libc that takes its time.
cat >"$T/exit.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef LIB
int gethostname(char *name, size_t n)
{
	usleep(400000);
	strncpy(name, "slow", n);
	return 0;
}
__attribute__((destructor)) static void end(void)
{
	usleep(200000);
}
#else
extern void roctxMarkA(const char *) __attribute__((weak));
static void *marks(void *x)
{
	while (roctxMarkA)
		roctxMarkA("x");
	return x;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, marks, NULL);
	usleep(100000);
	exit(0);
}
#endif
C
gcc -shared -fPIC -DLIB "$T/exit.c" -o "$T/libslow.so" && gcc "$T/exit.c" -o "$T/exit" -Wl,-z,dynamic-undefined-weak -lpthread || not_ok "exit: build"
mkdir -p "$T/exit.d"
PROFRIG_ROCTX_OUT=$T/exit.d LD_PRELOAD=$B/libprofrig_roctx.so:$T/libslow.so "$T/exit"
is "an exit while the file is made does not end in SIGBUS" "$?" 0

# A program that was linked with ROCm's library, which gives its symbols a version, where that library is not.
cat >"$T/roctx.c" <<'C'
#include <stdint.h>
#include <stdio.h>
#ifdef LIB
int roctxRangePushA(const char *m) { printf("push %s\n", m); return 7; }
int roctxRangePop(void) { puts("pop"); return 7; }
uint64_t roctxRangeStartA(const char *m) { printf("start %s\n", m); return 42; }
void roctxRangeStop(uint64_t id) { printf("stop %d\n", (int)id); }
#else
int roctxRangePushA(const char *);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *);
void roctxRangeStop(uint64_t);
int main(void)
{
	int push = roctxRangePushA("a"), pop;
	roctxRangeStop(roctxRangeStartA("b"));
	pop = roctxRangePop();
	return push || pop;
}
#endif
C
echo 'ROCTX_4.1 { global: roctx*; local: *; };' >"$T/roctx.map"
mkdir -p "$T/rocm" "$T/roctx.d"
gcc -shared -fPIC -DLIB "$T/roctx.c" -o "$T/rocm/libroctx64.so" -Wl,-soname,libroctx64.so.4 -Wl,--version-script="$T/roctx.map" &&
	gcc "$T/roctx.c" -o "$T/roctx" -L"$T/rocm" -lroctx64 && gcc -shared -fPIC -DLIB "$T/roctx.c" -o "$T/libother.so" || not_ok "roctx: build"
is "a program linked with ROCm's library starts without it, and in silence" "$(PROFRIG_ROCTX_OUT=$T/roctx.d LD_PRELOAD=$B/libprofrig_roctx.so "$T/roctx" 2>&1) $?" " 0"
is "its ranges are recorded" "$(events "$T/roctx.d" '.ph == "B" or .ph == "E" or .ph == "b" or .ph == "e"')" 4
is "another library behind ours is called too" "$(PROFRIG_ROCTX_OUT=$T/roctx.d LD_PRELOAD=$B/libprofrig_roctx.so:$T/libother.so "$T/roctx" 2>&1 | tr '\n' ' ')" "push a start b stop 42 pop "

mkdir -p "$T/none"
PROFRIG_BLAS_OUT=$T/missing/dir LD_PRELOAD=$B/libprofrig_blas.so "$T/prog" fork 2>"$T/none/err"
is "a folder that cannot be written: the workload goes on" "$?" 0
like "and one line says so" "$(head -n 1 "$T/none/err")" "profrig blas tracer: .*the workload goes on"
LD_PRELOAD=$B/libprofrig_blas.so "$T/prog" threads
is "no folder at all: calls are only passed on" "$?" 0

if [ "$(id -u)" = 0 ] && mkdir -p "$T/small" && mount -t tmpfs -o size=64k tmpfs "$T/small" 2>/dev/null; then
	at_end "umount '$T/small'"
	PROFRIG_BLAS_OUT=$T/small LD_PRELOAD=$B/libprofrig_blas.so "$T/prog" fork 2>"$T/err"
	is "a full disk ends tracing and not the workload" "$?" 0
	like "and says so" "$(cat "$T/err")" "No space left"
else
	skip "a full disk ends tracing and not the workload" "needs root and tmpfs"
fi

newest=$(objdump -T "$B"/libprofrig_*.so | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -n 1)
is "nothing newer than glibc 2.17 is needed" "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -n 1)" GLIBC_2.17
is "the marker library stands in for ROCm's" "$(objdump -p "$B/libprofrig_roctx.so" | awk '/SONAME/{print $2}')" libroctx64.so.4
