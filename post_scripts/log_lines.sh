#!/bin/sh
# log_lines.sh FILE PATTERN: the lines of the workload's output that hold PATTERN (an extended regular expression), as $PROFRIG_OUT/FILE, unchanged: those of
# stderr, then those of stdout. The output itself stays as it is. What nobody logged leaves no file behind, so that it is missed. A line that matches and has no
# end was cut: it comes last and without an end, so that it is seen to be.
# Logs are bytes; in other locales invalid ones would not match.
LC_ALL=C
export LC_ALL
out=$PROFRIG_OUT/$1 pattern=$2 ended=y
lf='
'

# Status 1 of grep is no match; above, lines are missing.
lines() { # LOG [-m N]
	log=$1
	shift
	grep -aE "$@" -e "$pattern" "$log"
	[ $? -le 1 ] || exit 2
}
# The dot keeps the line end, which the shell would drop, as it drops a NUL; of that bash warns.
is_cut() { # LOG
	{ last=$(tail -c 1 "$1" && echo .); } 2>/dev/null
	[ "$last" != "$lf." ] && tail -n 1 "$1" | grep -aqE -e "$pattern"
}
whole_lines() { # LOG…
	for log; do
		if is_cut "$log"; then
			all=$(lines "$log" -c) || exit
			[ "$all" -eq 1 ] || lines "$log" -m $((all - 1))
		else
			lines "$log"
		fi
	done
}
cut_lines() { # LOG…
	for log; do
		is_cut "$log" || continue
		[ "$ended" ] || echo
		tail -n 1 "$log"
		ended=
	done
}

cd "$PROFRIG_RUN_DIR/steps" || exit
logs=
# Not *-workload: a user's script may have that name. One file for both streams is read once.
for log in [0-9][0-9]-workload.err [0-9][0-9][0-9]-workload.err [0-9][0-9]-workload.out [0-9][0-9][0-9]-workload.out; do
	[ -s "$log" ] || continue
	[ "$logs" ] && [ "$log" -ef "${logs% }" ] && continue
	logs="$logs$log "
done
# shellcheck disable=SC2086 # names without blanks
{
	whole_lines $logs
	cut_lines $logs
} >"$out" || exit
[ -s "$out" ] || rm -f "$out"
