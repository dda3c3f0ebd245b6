#!/usr/bin/env bash
# profrig-mpi analyze: the same tables by any number of ranks, and what happens when one of them dies or sees something else.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/ranks.sh"

code "an archive of 64 threads and their queues" 0 "$make_otf2" --seed 5 --processes 8 --threads 8 --queues 1 --devices 4 --queue_depth 2 --power 1 --events 4000 \
	--resets 3 --holes 2 --wrap_bits 40 --messages 5 "$T/a"
code "analyzed by one process" 0 "$PROFRIG" -q analyze --sink profile "$T/a" -o "$T/one"
for n in 1 2 4 7; do
	code "by $n ranks" 0 ranks $n -q analyze --sink profile "$T/a" -o "$T/by$n"
	same "by $n ranks: the same" "$T/one" "$T/by$n"
done
like "rank 0 alone prints the report's path" "$(cat "$T/out")" "^$T/by7/report.html$"
is "and nobody says more" "$(cat "$T/err")" ""
check "its report is that of one process, but for the times it took" diff <(sed -E 's/"(read|model|attribute|stats|write)":[^,}]*//g' "$T/one/report.json") \
	<(sed -E 's/"(read|model|attribute|stats|write)":[^,}]*//g' "$T/by7/report.json")
code "4 ranks with 2 threads each" 0 ranks 4 -q analyze --threads 2 --format csv "$T/a" -o "$T/threads"
same "4 ranks with 2 threads each: the same" "$T/one" "$T/threads"
opts=(--attribution independent --integration trapezoid --max-gap 0.01 --exact-units --sink profile --format csv)
code "one process, other rules" 0 "$PROFRIG" -q analyze "${opts[@]}" "$T/a" -o "$T/rules"
code "4 ranks, other rules" 0 ranks 4 -q analyze "${opts[@]}" "$T/a" -o "$T/rules4"
same "other rules: the same" "$T/rules" "$T/rules4"

echo 'counters: {gpu0: [gpu0, gpu1], gpu2: [gpu2, gpu3]}' >"$T/topology.yaml"
code "one process, one counter for two devices" 0 "$PROFRIG" -q analyze --topology "$T/topology.yaml" --sink profile --format csv "$T/a" -o "$T/pairs"
code "4 ranks, one counter for two devices" 0 ranks 4 -q analyze --topology "$T/topology.yaml" --format csv "$T/a" -o "$T/pairs4"
same "queues of one counter read by two ranks: the same" "$T/pairs" "$T/pairs4"
check "that was not the same as without" test "$(diff "$T/pairs/tables/energy.csv" "$T/one/tables/energy.csv" | wc -l)" -gt 0

code "fewer locations than ranks" 0 "$make_otf2" --events 100 "$T/small"
"$PROFRIG" -q analyze --sink profile --format csv "$T/small" -o "$T/small1" >/dev/null 2>&1
code "by 4 ranks" 0 ranks 4 -q analyze --format csv "$T/small" -o "$T/small4"
same "fewer locations than ranks: the same" "$T/small1" "$T/small4"

if [ -n "${PROFRIG_TRACES:-}" ]; then
	for t in mi300a-two-kernels ping-pong ping-pong-papi; do
		code "$t by one process" 0 "$PROFRIG" -q analyze --sink profile --format csv "$PROFRIG_TRACES/otf2/$t" -o "$T/$t"
		code "$t by 3 ranks" 0 ranks 3 -q analyze --format csv "$PROFRIG_TRACES/otf2/$t" -o "$T/$t-3"
		same "$t: the same" "$T/$t" "$T/$t-3"
	done
else
	skip "recorded archives" "PROFRIG_TRACES is not set"
fi

# damage: what a rank finds out of its locations is reported by rank 0
cp -r "$T/a" "$T/cut"
mapfile -t evt < <(ls -S "$T"/cut/traces/*.evt) # the largest first, which are threads and queues
truncate -s -100 "${evt[3]}"
truncate -s 1000 "${evt[20]}"
rm "${evt[40]}"
code "a damaged archive by one process: 6" 6 "$PROFRIG" -q analyze --sink profile --format csv "$T/cut" -o "$T/cut1"
code "by 4 ranks: 6" 6 ranks 4 -q analyze --format csv "$T/cut" -o "$T/cut4"
same "damaged: the same, warnings too" "$T/cut1" "$T/cut4"

# what cannot be shared
echo '[{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":5}]' >"$T/f.json"
code "what cannot be streamed is read by rank 0" 0 ranks 3 analyze --format csv "$T/f.json" -o "$T/f"
like "which says so" "$(cat "$T/err")" "rank 0 reads it alone: .*f.json is read by 'tef'"
code "other commands are not for ranks: 2" 2 ranks 2 info "$T/a"
like "which says what to do" "$(cat "$T/err")" "run 'profrig info' without mpirun"
code "a mistake on the command line: 2" 2 ranks 3 analyze "$T/a" --sink soup -o "$T/no"
is "is reported once" "$(grep -c soup "$T/err")" 1
code "no archive: 5" 5 ranks 3 analyze "$T/nothing" -o "$T/no"
is "is reported once, too" "$(grep -c 'no such file' "$T/err")" 1
code "no definitions: 5" 5 ranks 3 -q analyze "$T/a/traces/0.evt" -o "$T/no"
code "ranks that see two archives: 5" 5 timeout -k 10 120 mpirun --oversubscribe -n 2 "$MPI" -q analyze "$T/a" -o "$T/no" : -n 1 "$MPI" -q analyze "$T/small" -o "$T/no"
like "it is said which rank" "$(cat "$T/err")" "error: rank 2 on .* does not see the archive that rank 0 sees"
code "a rank that sees none: 5" 5 timeout -k 10 120 mpirun --oversubscribe -n 2 "$MPI" -q analyze "$T/a" -o "$T/no" : -n 1 "$MPI" -q analyze "$T/nothing" -o "$T/no"
like "it is said why" "$(cat "$T/err")" "error: rank 2 on .*$T/nothing: no such file"
code "only rank 0 cannot stream: 2" 2 timeout -k 10 120 mpirun --oversubscribe -n 1 "$MPI" -q analyze --sink profile "$T/a/traces/0.evt" -o "$T/no" : -n 2 "$MPI" -q analyze "$T/a" -o "$T/no"
like "it is said, and all end" "$(cat "$T/err")" "profrig: error: "
cp -r "$T/small" "$T/headless"
truncate -s 18 "$T/headless/traces.def"
code "only rank 0 cannot read it: 5" 5 timeout -k 10 120 mpirun --oversubscribe -n 1 "$MPI" -q analyze "$T/headless" -o "$T/no" : -n 2 "$MPI" -q analyze "$T/small" -o "$T/no"
like "it is said that the others can" "$(cat "$T/err")" "error: rank 0 cannot read what rank 1 on .* reads"
printf 'counters: [' >"$T/bad.yaml"
code "a rank that cannot begin" 3 timeout -k 10 120 mpirun --oversubscribe -n 2 "$MPI" -q analyze "$T/a" -o "$T/no" : -n 1 "$MPI" -q analyze --counters "$T/bad.yaml" "$T/a" -o "$T/no"
like "it is said why, too" "$(cat "$T/err")" "error: rank 2 on .*bad.yaml"
check "nothing was written" test ! -e "$T/no"

# one rank dies
code "an archive that takes some seconds" 0 "$make_otf2" --processes 4 --threads 4 --devices 4 --roots 20 --events 2000000 "$T/long"
rank_pid() { # RANK OF_MPIRUN
	local p
	for p in $(pgrep -P "$2"); do
		tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$p" && return 0
	done
	return 1
}
reads() { # PID: it has event files open
	ls -l "/proc/$1/fd" 2>/dev/null | grep -q '\.evt$'
}
for victim in 2 0; do
	mpirun --oversubscribe -n 4 "$MPI" analyze --format csv "$T/long" -o "$T/dead" >"$T/out" 2>"$T/err" &
	launcher=$!
	at_end "kill -9 $launcher 2>/dev/null"
	if wait_for rank_pid $victim $launcher && pid=$(rank_pid $victim $launcher) && wait_for reads "$pid"; then
		kill -9 "$pid"
		ok "rank $victim dies while it reads"
	else
		not_ok "rank $victim dies while it reads" "it was not found"
	fi
	left() { ! kill -0 $launcher; }
	if wait_for left; then
		wait $launcher
		is "then all end, with a failure" $? 137
	else
		not_ok "then all end, with a failure" "still there after two minutes"
	fi
	like "it is said which rank" "$(cat "$T/err")" "rank $victim .*signal 9"
	check "and nothing was written" test ! -e "$T/dead/analysis.json"
done
