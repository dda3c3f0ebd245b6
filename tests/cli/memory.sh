#!/usr/bin/env bash
# --memory: beyond a budget large arrays lie in files without a name, and no table changes by that.
. "$(dirname "$0")/../lib.sh"

# Three ranks: threads with nested calls, a queue with kernels that correlate, a counter. Half a million calls, so that columns are large blocks.
mkdir -p "$T/job" "$T/tmp"
for r in 0 1 2; do
	awk -v r=$r 'BEGIN {
		printf "{\"distributedInfo\": {\"rank\": %d, \"world_size\": 3}, \"traceEvents\": [\n", r
		for (i = 0; i < 55000; i++) {
			t = i * 10 + r
			printf "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":9,\"name\":\"f%d\"},\n", 100 + r, t, i % 97
			printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":2,\"name\":\"cudaLaunchKernel\",\"args\":{\"correlation\":%d}},\n", 100 + r, t + 1, i + 1
			printf "{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":%d,\"tid\":7,\"ts\":%d,\"dur\":%d,\"name\":\"k%d\",\"args\":{\"correlation\":%d,\"device\":%d,\"stream\":7}},\n", r, t + 4, 3 + i % 5, i % 31, i + 1, r
		}
		printf "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}}]}\n", 100 + r
	}' >"$T/job/$r.json"
done
gzip -1 "$T/job/2.json"
export TMPDIR=$T/tmp

as_in_memory() { # NAME DIR: the tables of DIR are those without a budget
	check "$1" diff -r "$T/all/tables" "$2/tables"
	check "$1: folded stacks" diff -r "$T/all/folded" "$2/folded"
}

code "all in memory" 0 "$PROFRIG" -v analyze --memory 0 "$T/job" -o "$T/all"
check "it says nothing of files" sh -c "! grep -q 'arrays in files' '$T/err'"
code "by itself" 0 "$PROFRIG" -v analyze "$T/job" -o "$T/itself"
check "a small input stays in memory" sh -c "! grep -q 'arrays in files' '$T/err'"
as_in_memory "the tables are the same" "$T/itself"
for n in 1 2; do
	code "nothing in memory, $n threads" 0 "$PROFRIG" -v analyze --threads $n --memory 1 "$T/job" -o "$T/files"
	like "it says how much lay where" "$(cat "$T/err")" "beyond the memory allowed: [0-9]+ arrays in files in .*, [0-9.]+[KMG] in all"
	as_in_memory "the tables are the same, $n threads" "$T/files"
done
code "a budget that some arrays are above" 0 "$PROFRIG" -v analyze --memory 60M "$T/job" -o "$T/some"
as_in_memory "the tables are the same" "$T/some"
code "the variable does it, too" 0 env PROFRIG_MEMORY=1 "$PROFRIG" -v analyze "$T/job" -o "$T/variable"
like "it says so" "$(cat "$T/err")" "arrays in files"
as_in_memory "the tables are the same" "$T/variable"
code "the option comes first" 0 env PROFRIG_MEMORY=1 "$PROFRIG" -v analyze --memory 0 "$T/job" -o "$T/variable"
check "nothing lies in files" sh -c "! grep -q 'arrays in files' '$T/err'"
is "no file is left" "$(ls -A "$T/tmp")" ""

for c in "info $T/job" "compare --json $T/job/0.json $T/job/1.json" "convert $T/job/0.json -o $T/0.otf2 --json" "report $T/all --format csv"; do
	code "${c%% *}" 0 "$PROFRIG" -q $c
	cp "$T/out" "$T/want"
	code "${c%% *} with files" 0 "$PROFRIG" -q ${c%% *} --memory 1 ${c#* }
	if [ "${c%% *}" = convert ]; then continue; fi
	check "${c%% *} says the same" diff "$T/want" "$T/out"
done
check "the archive holds the calls" sh -c "'$PROFRIG' info '$T/0.otf2' --json | jq -e '.spans == 165000'"

code "no size" 2 "$PROFRIG" analyze --memory lots "$T/job" -o "$T/no"
like "is a usage error" "$(cat "$T/err")" "--memory wants a size such as 4G or 500M, not 'lots'"
code "no size in the variable" 2 env PROFRIG_MEMORY=-1 "$PROFRIG" info "$T/job"
like "names the variable" "$(cat "$T/err")" "PROFRIG_MEMORY wants a size"

# A disk without space: the limit of a file's size stands for it.
code "no space: memory serves" 0 bash -c "ulimit -f 512; exec '$PROFRIG' info --memory 1 '$T/job'"
is "says so once" "$(grep -c 'more memory is taken than --memory allows: no space in' "$T/err")" 1

# Killed with all its arrays in files.
"$PROFRIG" -q analyze --memory 1 "$T/job" -o "$T/killed" &
p=$!
wait_for grep -q "rw-s.*deleted" /proc/$p/maps
kill -KILL $p
wait $p 2>/dev/null
is "nothing stays behind after SIGKILL" "$(ls -A "$T/tmp")" ""

. "$ROOT/tests/ranks.sh"
for sink in model profile; do
	code "two ranks, $sink" 0 ranks 2 -q analyze --memory 0 --sink $sink "$T/job" -o "$T/ranks"
	code "two ranks, $sink, with files" 0 ranks 2 -q analyze --memory 1 --sink $sink "$T/job" -o "$T/ranks-files"
	same "two ranks, $sink: the same" "$T/ranks" "$T/ranks-files"
done
