#!/usr/bin/env bash
# Tools that Debian has, on real programs: strace, uftrace, oneDNN's own log. (perf: perf.sh; BLAS: tests/cli/tracers.sh.)
. "$(dirname "$0")/../lib.sh"
run() { # TOOLS WORDS…
	local tools=$1
	shift
	"$PROFRIG" -q run --engine host --no-analyze -o "$T/runs" --tools "$tools" "$@" >"$T/out" 2>"$T/err"
	local code=$?
	run=$(cat "$T/out")
	return $code
}
reason() { jq -r .reason "$run/run.json"; }
exit_code() { jq -r .exit_code "$run/run.json"; }
artifact() { jq -r ".artifacts[] | select(.tool == \"$1\") | .verdict" "$run/run.json" | sort -u; }

if need strace command -v strace && need strace strace -o /dev/null true; then
	echo hello >"$T/data"
	code "strace" 0 run strace -- sh -c "cat '$T/data'; exit 0"
	is "its files are valid" "$(artifact strace)" valid
	check "and hold what the program did" grep -q "openat(.*\"$T/data\".*) = " "$run"/artifacts/strace/calls.*
	is "one for each process" "$(ls "$run/artifacts/strace" | wc -l)" 2
	code "a program that fails" 1 run strace -- sh -c 'exit 11'
	is "keeps its status" "$(exit_code)" 11
	code "some calls alone" 0 run strace --set 'tools[0].options.calls=openat' -- cat "$T/data"
	is "are all there is" "$(grep -ohE '[a-z0-9_]+\(' "$run"/artifacts/strace/calls.* | sort -u)" "openat("
	code "one that is killed before a call that was asked for" 1 run strace --set 'tools[0].options.calls=mount' -- sh -c 'kill -9 $$'
	is "has an empty file" "$(artifact strace)" empty
else
	skip "strace" "strace is not installed, or may not trace here"
fi

if need uftrace command -v uftrace; then
	cat >"$T/f.c" <<-'C'
		#include <stdlib.h>
		static volatile int sum;
		__attribute__((noinline)) void inner(int i) { sum += i; }
		__attribute__((noinline)) void outer(void) { for (int i = 0; i < 50; i++) inner(i); }
		int main(int n, char **v) { outer(); return n > 1 ? atoi(v[1]) : 0; }
	C
	gcc -O1 -pg -o "$T/f" "$T/f.c"
	cd "$T" || exit 1
	code "uftrace" 0 run uftrace --set 'tools[0].options.min_time=0ns' -- ./f
	is "its trace is valid" "$(artifact uftrace)" valid
	"$PROFRIG" -q report "$run" --format csv >/dev/null 2>&1
	like "and counts the calls" "$(cut -d , -f 1,2,4 "$run/analysis/tables/functions.csv")" "host,inner,50"
	code "calls that are all too short to be kept" 7 run uftrace --set 'tools[0].options.min_time=100s' -- ./f
	is "make an empty trace" "$(artifact uftrace)" empty
	like "which is said" "$(reason)" "trace.json' of tool 'uftrace' is empty: 0 bytes"
	gcc -O1 -o "$T/plain" "$T/f.c"
	code "a program that is not instrumented" 7 run uftrace -- ./plain
	like "is reported with what to do" "$(cat "$run"/steps/*post*uftrace*.err)" "uftrace recorded no call: .*-pg"
	code "a program that fails" 1 run uftrace -- ./f 7
	is "keeps its status" "$(exit_code)" 7
else
	skip "uftrace" "uftrace is not installed"
fi

cat >"$T/d.c" <<'C'
#include <dnnl.h>
int main(void)
{
	static float a[64 * 64], b[64 * 64], c[64 * 64];
	float *data[3] = { a, b, c };
	const int arg[3] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST };
	dnnl_dims_t dims = { 64, 64 };
	dnnl_engine_t e;
	dnnl_stream_t s;
	dnnl_memory_desc_t m;
	dnnl_matmul_desc_t md;
	dnnl_primitive_desc_t pd;
	dnnl_primitive_t p;
	dnnl_exec_arg_t args[3];
	if (dnnl_engine_create(&e, dnnl_cpu, 0) || dnnl_stream_create(&s, e, dnnl_stream_default_flags) ||
	    dnnl_memory_desc_init_by_tag(&m, 2, dims, dnnl_f32, dnnl_ab) || dnnl_matmul_desc_init(&md, &m, &m, NULL, &m) ||
	    dnnl_primitive_desc_create(&pd, &md, NULL, e, NULL) || dnnl_primitive_create(&p, pd))
		return 1;
	for (int i = 0; i < 3; i++) {
		args[i].arg = arg[i];
		if (dnnl_memory_create(&args[i].memory, &m, e, data[i]))
			return 1;
	}
	for (int i = 0; i < 5; i++)
		if (dnnl_primitive_execute(p, s, 3, args))
			return 1;
	return dnnl_stream_wait(s);
}
C
if need dnnl gcc -o "$T/d" "$T/d.c" -ldnnl; then
	code "oneDNN's log" 0 run onednn_trace -- "$T/d"
	is "is valid" "$(artifact onednn_trace)" valid
	is "and has a line for each call" "$(jq -r '.artifacts[0].records' "$run/run.json")" 5
	check "as oneDNN writes it" grep -qE '^(onednn|dnnl)_verbose,[0-9.]*,?exec,cpu,matmul,.*64x64:64x64:64x64' "$run/artifacts/onednn_trace/onednn.log"
	check "with the time of each call" grep -qE '^(onednn|dnnl)_verbose,[0-9]+\.[0-9]+,exec,' "$run/artifacts/onednn_trace/onednn.log"
	code "beside other tools" 0 run onednn_trace,cpu_usage -- "$T/d"
	code "its level 2" 0 run onednn_trace --set 'tools[0].options.level=2' -- "$T/d"
	check "has what was created, too" grep -qE '^(onednn|dnnl)_verbose,[0-9.]*,?create' "$run/artifacts/onednn_trace/onednn.log"
	is "which is no call" "$(jq -r '.artifacts[0].records' "$run/run.json")" 5
	code "a program that does not use it" 7 run onednn_trace -- true
	is "has no trace" "$(artifact onednn_trace)" missing
	like "which is said" "$(reason)" "onednn.log' of tool 'onednn_trace' is missing"
	code "one that starts it and calls nothing" 7 run onednn_trace -- sh -c "'$T/d' | grep -v ,exec,"
	is "has an empty one" "$(artifact onednn_trace)" empty
	like "which is said" "$(reason)" "is empty: 0 of its lines hold _verbose,exec"
	code "one whose log is cut" 7 run onednn_trace -- sh -c "'$T/d' >all; n=\$(wc -c <all); head -c \$((n - 5)) all"
	is "has a broken one" "$(artifact onednn_trace)" damaged
	like "which is said" "$(reason)" "is damaged: its last line is cut short, after 4 whole ones"
	is "which are counted" "$(jq -r '.artifacts[0].records' "$run/run.json")" 4
else
	skip "oneDNN's log" "libdnnl-dev is not installed"
fi
