#!/usr/bin/env bash
# Sourced by the stand-ins of vendors' benchmark programs in this folder: they take the words the real ones take and no others, measure nothing, and print
# what the real ones print.
#
#	FAKE_BENCH=crash|abort|hang|flood|junk|silent|fails|wrong|refuses|rewrites|nan|numberless	what goes wrong
#	FAKE_SOLUTION=4993	the number that hipblaslt-bench prints
#	FAKE_US=8.1	the time that they print; FAKE_US=jitter: another one each time
#	FAKE_LOG=FILE	a line for every start: the name and all words
#	FAKE_ENV=FILE	the environment of the last start
name=${0##*/}
[ -z "${FAKE_LOG:-}" ] || printf '%s\n' "$name $*" >>"$FAKE_LOG"
[ -z "${FAKE_ENV:-}" ] || env >"$FAKE_ENV"
us=${FAKE_US:-8.1}
[ "$us" != jitter ] || us=8.$((RANDOM % 900 + 100))

is() { [ "${FAKE_BENCH:-}" = "$1" ]; }
refuse() {
	echo "$name: error: $*" >&2
	exit 255
}
# one_of WORD A B C…
one_of() {
	local word=$1 w
	shift
	for w; do [ "$word" != "$w" ] || return 0; done
	return 1
}
# a_size NAME VALUE [LEAST]
a_size() {
	[[ ${2:-} =~ ^[0-9]{1,15}$ ]] && [ "$2" -ge "${3:-0}" ] || refuse "Invalid value for $1: '${2:-}'"
}
a_number() { [[ ${2:-} =~ ^-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$ ]] || refuse "Invalid value for $1: '${2:-}'"; }
# What all of them can do wrong behind their command line.
troubles() {
	if is crash; then kill -SEGV $$; fi
	if is abort; then
		echo "terminate called after throwing an instance of 'std::runtime_error'" >&2
		kill -ABRT $$
	fi
	if is hang; then sleep 600; fi
	if is flood; then yes "a line that says nothing at all"; fi
	if is junk; then
		head -c 65536 /dev/urandom
		exit 0
	fi
	if is silent; then exit 0; fi
	if is fails; then
		echo "hipErrorNoBinaryForGpu: Unable to find code object, error 209" >&2
		exit 3
	fi
	if is nan; then us=nan; fi
}
