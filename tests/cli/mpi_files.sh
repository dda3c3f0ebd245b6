#!/usr/bin/env bash
# profrig-mpi analyze of many files of any format: the tables of one process, by ranks that read for rank 0 and by ranks that keep the calls.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/ranks.sh"

code "an archive of 64 threads and their queues" 0 "$make_otf2" --seed 5 --processes 8 --threads 8 --queues 1 --devices 4 --queue_depth 2 --power 1 --events 1000 \
	--resets 3 --holes 2 --wrap_bits 40 --messages 5 "$T/a"
code "a small one" 0 "$make_otf2" --events 100 "$T/small"

# files of any format: other ranks read some of them for rank 0
shared() { # NAME RANKS WANTED INPUT…: the same tables and statuses as one process, and files were read by others
	local name=$1 n=$2 want=$3
	shift 3
	code "$name by one process" "$want" "$PROFRIG" -q analyze --format csv "$@" -o "$T/s1"
	code "$name by $n ranks" "$want" ranks "$n" -v analyze --format csv "$@" -o "$T/s$n"
	like "$name: others read" "$(cat "$T/err")" "[1-9][0-9]* of [0-9]+ files were read by other ranks"
	same "$name: the same" "$T/s1" "$T/s$n"
	rm -rf "$T/s1" "$T/s$n"
}
while read -r n want name; do # some folders have one file, which is nothing to share
	shared "$name" "$n" "$want" "$ROOT/tests/fixtures/$name" "$ROOT/tests/fixtures/folded"
done <<-'E'
	2 6 tef
	3 0 rpd
	2 0 rocpd
	4 0 nsys
	2 0 samples
	3 0 perf
	2 0 folded
	4 0 speedscope
	3 0 perfetto
	3 6 metrics_csv
	3 6 rocprof_csv
	2 6 ncu_csv
	2 0 rocprof_db
	2 0 xplane
E
if [ -n "${PROFRIG_TRACES:-}" ]; then
	for t in aiu liblog nsys rocprof rpd stacks tef otf2; do
		shared "recordings of $t" 4 0 "$PROFRIG_TRACES/$t"
	done
	shared "files of several formats" 3 0 "$PROFRIG_TRACES"/{rpd,tef,stacks}/*
else
	skip "recordings of other formats" "PROFRIG_TRACES is not set"
fi
event() { # PID TS: an event of a process
	printf '{"ph":"X","name":"f%s","pid":%s,"tid":%s,"ts":%s,"dur":5},\n' "$1" "$1" "$1" "$2"
}
mkdir "$T/many"
for i in $(seq 40); do # every second one is of the process of the one before, and the times overlap
	{ printf '[\n' && for k in $(seq $((i * 7 % 50))); do event $((i / 2)) $((k * 3 + i)); done && printf '{}]\n'; } >"$T/many/$i.json"
done
gzip "$T/many/7.json"
if command -v zstd >/dev/null; then zstd -q --rm "$T/many/8.json"; fi
: >"$T/many/empty.json"
echo '{"traceEvents":[{"ph":"X","name":"cut","pid":1,"tid":1,"ts":1,"dur":2},{"ph":' >"$T/many/cut.json"
shared "many files, one cut, two compressed" 4 6 "$T/many"
shared "with other options" 3 6 "$T/many" --window 10%:60% --strict
shared "a model that was asked for" 2 6 "$T/many" --sink model --threads 2
shared "two archives" 2 0 "$T/a" "$T/small" --format csv
shared "an archive beside other calls" 3 0 "$T/small" "$ROOT/tests/fixtures/speedscope"
cp "$T/many/3.json" "$T/again.json"
ln "$T/again.json" "$T/other.json"
shared "a file that is named twice" 3 0 "$T/again.json" "$T/many/5.json" "$T/other.json" "$T/again.json"
code "a run" 0 sh -c "cd '$T' && '$PROFRIG' -q run --no-analyze --engine host --tools cpu_usage --set 'post_scripts=[]' -- sh -c 'cp many/9.json many/11.json \"\$PROFRIG_OUT\"'"
cp -r "$T/runs/latest/" "$T/run2"
shared "a run directory" 2 0 "$T/runs/latest/"
code "an ensemble by one process" 0 "$PROFRIG" -q analyze --format csv "$T/runs/latest/" "$T/run2" -o "$T/e1"
code "by 3 ranks" 0 ranks 3 -q analyze --format csv "$T/runs/latest/" "$T/run2" -o "$T/e3"
same "an ensemble: the same" "$T/e1" "$T/e3"
check "an ensemble: its runs, too" diff -r --exclude=analysis.json "$T/e1/each" "$T/e3/each"

# --sink profile: each rank keeps the calls of its files, and rank 0 gets sums
cat >"$T/near.py" <<'E'
# Two analyses have the same tables, but for median_ns and p95_ns, which are at most 1/128 off.
import csv, os, sys
a, b = (os.path.join(d, 'tables') for d in sys.argv[1:3])
bad = 0
if sorted(os.listdir(a)) != sorted(os.listdir(b)):
    sys.exit(f'{sorted(os.listdir(a))} != {sorted(os.listdir(b))}')
for f in os.listdir(a):
    with open(os.path.join(a, f)) as x, open(os.path.join(b, f)) as y:
        x, y = list(csv.DictReader(x)), list(csv.DictReader(y))
    if len(x) != len(y):
        sys.exit(f'{f}: {len(x)} rows, not {len(y)}')
    for p, q in zip(x, y):
        for k in p:
            near = k in ('median_ns', 'p95_ns') and abs(float(p[k]) - float(q[k])) <= float(p[k]) / 128 + 1
            if p[k] != q[k] and not near:
                print(f, k, p[k], q[k], p)
                bad = 1
sys.exit(bad)
E
facts() { # what analysis.json says, but for how it was made
	jq -S 'del(.timings_s, .sink, .tables) | .warnings |= (map(select(.code != "W_APPROXIMATE" and .code != "W_OUTSIDE_SAMPLES" and .code != "W_NOT_IN_PROFILE")) | sort_by([.input, .code]))' "$1/analysis.json"
}
# Analyses that a profile has the data for.
of_sums=$("$PROFRIG" list analyses --json | jq -r '[.[] | select(.needs == "") | .name] | join(",")')
spread() { # NAME RANKS WANTED INPUT…: the tables of a model in one process
	local name=$1 n=$2 want=$3
	shift 3
	code "$name in a model" "$want" "$PROFRIG" -q analyze --sink model --analysis "$of_sums" --format csv "$@" -o "$T/s1"
	code "$name over $n ranks" "$want" ranks "$n" -v analyze --sink profile --analysis "$of_sums" --format csv "$@" -o "$T/s$n"
	is "$name: no rank has it all" "$(jq -r .sink "$T/s$n/analysis.json")" profile
	check "$name over ranks: the same" python3 "$T/near.py" "$T/s1" "$T/s$n"
	check "$name over ranks, as analysis.json says" diff <(facts "$T/s1") <(facts "$T/s$n")
	rm -rf "$T/s1" "$T/s$n"
}
if need python3 python3 -c 'import csv'; then
	while read -r n want name; do
		spread "$name" "$n" "$want" "$ROOT/tests/fixtures/$name"
	done <<-'E'
		3 6 tef
		2 0 rpd
		3 0 rocpd
		2 0 nsys
		3 0 samples
		2 0 perf
		3 0 folded
		2 0 speedscope
		2 0 xplane
		2 0 perfetto
		4 6 metrics_csv
		2 6 rocprof_csv
		2 6 ncu_csv
		3 0 rocprof_db
	E
	if [ -n "${PROFRIG_TRACES:-}" ]; then
		for t in aiu nsys rocprof rpd stacks tef otf2; do
			spread "recordings of $t" 3 0 "$PROFRIG_TRACES/$t"
		done
	else
		skip "recordings of other formats over ranks" "PROFRIG_TRACES is not set"
	fi
	spread "many files" 4 6 "$T/many"
	spread "two archives with power" 3 0 "$T/a" "$T/small"
	spread "an archive with power beside calls of others" 4 0 "$T/a" "$T/many/10.json" "$T/many/11.json" "$T/many/12.json" "$ROOT/tests/fixtures/perf"
	spread "other rules" 2 0 "$T/a" "$T/small" "$T/many/20.json" --attribution independent --integration trapezoid --max-gap 0.01 --exact-units
	spread "a run directory" 2 0 "$T/runs/latest/"
	code "device work over ranks" 0 ranks 2 -q analyze --sink profile --analysis queue,overlap --format csv "$ROOT/tests/fixtures/rpd" -o "$T/skips"
	is "single calls of it are not kept" "$(jq -r '.skipped | map(.name + ": " + .reason) | unique | join(", ")' "$T/skips/analysis.json")" \
		"overlap: calls were streamed and are not kept (--sink model keeps them), queue: calls were streamed and are not kept (--sink model keeps them)"
	code "any number of ranks" 0 ranks 5 -q analyze --sink profile --format csv "$T/a" "$T/many/9.json" "$T/small" -o "$T/s5"
	code "2 ranks" 0 ranks 2 -q analyze --threads 2 --sink profile --format csv "$T/a" "$T/many/9.json" "$T/small" -o "$T/s2"
	same "any number of ranks and threads: the same" "$T/s5" "$T/s2"
else
	skip "tables of models over ranks" "python3 is missing"
fi
code "an ensemble over 3 ranks" 0 ranks 3 -q analyze --sink profile --format csv "$T/runs/latest/" "$T/run2" -o "$T/e4"
check "an ensemble over ranks: the same" diff -r "$T/e1/tables" "$T/e4/tables"
if [ -n "${PROFRIG_TRACES:-}" ]; then
	code "logs of libraries need the calls" 0 ranks 3 analyze --sink profile --format csv "$PROFRIG_TRACES/liblog" -o "$T/l3"
	like "which is said" "$(cat "$T/err")" "rank 0 has all calls: .* is the log of a library"
fi
code "ranks that see other files: 5" 5 timeout -k 10 120 mpirun --oversubscribe -n 2 "$MPI" -q analyze --sink profile "$T/many" -o "$T/no" : -n 1 "$MPI" -q analyze --sink profile "$T/many/9.json" "$T/many/10.json" -o "$T/no"
like "it is said which" "$(cat "$T/err")" "rank [0-2] does not see the files that rank [0-2] sees"
