#!/usr/bin/env bash
# Idle power on every engine: waited for, sampled, found by analysis; interrupted and killed while it is waited for.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

run() { # options… -- command
	"$PROFRIG" -q run -o "$T/runs" --engine "$engine" ${IMAGE:+--image $IMAGE} --tools cpu_power --set tools[0].sampler.period_s=0.02 "$@"
}
dir() { tail -n 1 "$T/out"; }
json() { field "$(dir)/run.json" "$1"; }

around() { # engine
	engine=$1
	code "$1: a run with idle time" 0 run --idle 0.5 -- /bin/sh -c 'echo work'
	is "$1: when it was" "$(json '[.idle[].when] | join(" ")')" "before after"
	check "$1: around the workload, as long as asked" jq -e '(.steps[] | select(.name == "workload")) as $w | .idle[0] as $a | .idle[1] as $b
		| $a.end_ns - $a.start_ns >= 500000000 and $a.end_ns <= $w.started_ns and $w.ended_ns <= $b.start_ns and $b.end_ns - $b.start_ns >= 500000000
		and .durations_s.idle >= 1' "$(dir)/run.json"
	check "$1: samplers ran in both" awk -F, -v w="$(json '.idle | map("\(.start_ns) \(.end_ns)") | join(" ")')" '
		BEGIN { split(w, t, " ") }
		/^[0-9]/ { before += $1 >= t[1] && $1 <= t[2]; after += $1 >= t[3] && $1 <= t[4] }
		END { exit !(before >= 5 && after >= 5) }' "$(dir)/samples/cpu_power.csv"
}
around host
for e in docker podman; do
	need_engine $e
	case $? in
	0)
		if test_image $e profrig-test:1; then
			IMAGE=profrig-test:1 around $e
		else
			not_ok "$e: test image" "$engines_why"
		fi
		;;
	1) skip "$e" "$engines_why" ;;
	2) not_ok "$e is required" "$engines_why" ;;
	esac
done
engine=host IMAGE=

code "repeated, each with a baseline" 0 run --idle 0.2 --repeat 2 --baseline --cooldown 0.3 --no-analyze -- true
is "only profiled runs have idle time" "$(while read -r d; do jq -r '.idle | length' "$d/run.json"; done <"$T/out" | tr "\n" " ")" "0 2 2 0 "
check "and the cooldown is between them" jq -es '[.[] | [.clocks[0].monotonic_ns, .clocks[-1].monotonic_ns]] | . as $c | [range(1; length)] | length == 3 and all($c[.][0] - $c[. - 1][1] >= 300000000)' \
	$(sed 's,$,/run.json,' "$T/out")

# Signals while profrig waits. The file of samples is there before the wait begins.
background() { # words to wait for in its progress, options… -- command
	local words=$1
	shift
	"$PROFRIG" run -o "$T/runs" --engine host --tools cpu_power "$@" >"$T/out" 2>"$T/err" &
	pid=$!
	wait_for grep -q "$words" "$T/err" || not_ok "a run begins" "$(cat "$T/err")"
}
background "idle 600 s before" --idle 600 -- touch "$T/worked"
kill -INT $pid
wait $pid
is "Ctrl-C before the workload is 130" "$?" 130
is "its status" "$(json '.status + " " + .phase')" "interrupted idle"
check "and the workload never ran" test ! -e "$T/worked"
check "report accepts it" "$PROFRIG" -q report "$(dir)"

background "idle 2 s after" --idle 2 -- touch "$T/worked"
kill -TERM $pid
wait $pid
is "SIGTERM after the workload is 143" "$?" 143
is "its status, and the workload's own" "$(json '.status + " " + .phase + " " + (.exit_code | tostring)')" "interrupted idle 0"
check "it did not wait for the end" jq -e '.idle[1] | .when == "after" and .end_ns - .start_ns < 2000000000' "$(dir)/run.json"

background "idle 600 s before" --idle 600 -- true
kill -KILL $pid
wait $pid 2>/dev/null
killed=$(ls -d "$T"/runs/2* | tail -n 1)
code "the next run finishes off one killed while it waited" 0 "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- true
is "its status" "$(field "$killed/run.json" .status)" interrupted
nobody() { ! pgrep -f -- "--run $(basename "$killed")"; }
check "nothing of it is left" nobody
check "report accepts it" "$PROFRIG" -q report "$killed"

background "cooldown 600 s" --repeat 3 --cooldown 600 --no-analyze -- true
kill -TERM $pid
wait $pid
is "SIGTERM in a cooldown is 143" "$?" 143
is "one run was made, and it is whole" "$(wc -l <"$T/out") $(json .status)" "1 success"

# What cannot be measured is said and not waited for.
code "idle without a sampler" 0 "$PROFRIG" run -o "$T/runs" --engine host --idle 600 --no-analyze -- true
like "is reported" "$(cat "$T/err")" "no tool of this run samples power or energy"
is "and in run.json" "$(json '([.warnings[].code] | join(" ")) + (.idle | tostring)')" "W_IDLE_UNSAMPLED[]"
code "idle with a sampler that reads no power" 0 "$PROFRIG" run -o "$T/runs" --engine host --tools cpu_usage --idle 600 --no-analyze -- sleep 0.3
like "is reported" "$(cat "$T/err")" "no tool of this run samples power or energy"
code "plan shows it" 0 "$PROFRIG" plan --engine host --tools cpu_power --idle 1.5 -- true
like "where the samplers stand" "$(cat "$T/out")" "samplers, beside the workload and 1.5 s before and after it"
code "a duration that is none" 2 "$PROFRIG" run --idle soon -- true
code "longer than an hour" 3 "$PROFRIG" run --engine host --idle 2h -- true
like "is refused" "$(cat "$T/err")" "idle: 7200 is not between 0 and 3600"
code "a cooldown of more than a day" 2 "$PROFRIG" run --cooldown 48h -- true
