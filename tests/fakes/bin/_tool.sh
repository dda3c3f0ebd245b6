#!/usr/bin/env bash
# Sourced by the stand-ins of profilers in this folder: they take the words the real ones take and no others, run what they are given, and leave files as
# the real ones do, made of recordings in tests/fixtures.
#
#	FAKE_TOOL=empty	what they leave has no records
#	FAKE_TOOL=dies	they end by a signal, before the program has run
#	FAKE_TOOL=fails	they end with status 3 after the program, and leave nothing
#	FAKE_LOG=FILE	a line for every start: the name and all words
FIXTURES=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../fixtures" && pwd)
name=${0##*/}
[ -z "${FAKE_LOG:-}" ] || printf '%s\n' "$name $*" >>"$FAKE_LOG"

refuse() {
	echo "$name: error: $*" >&2
	exit 2
}
# one_of WORD A B C…
one_of() {
	local word=$1 w
	shift
	for w; do [ "$word" != "$w" ] || return 0; done
	return 1
}
# all_of A,B,C WORDS…: every part is one of the words
all_of() {
	local part parts
	IFS=, read -ra parts <<<"$1"
	shift
	for part in "${parts[@]}"; do one_of "$part" "$@" || return 1; done
}
# The program; its status is ours.
program() {
	[ $# -gt 0 ] || refuse "no application"
	case ${FAKE_TOOL:-} in
	dies) kill -KILL $$ ;;
	esac
	"$@"
	status=$?
	if [ "${FAKE_TOOL:-}" = fails ]; then
		exit 3
	fi
}
# leave FIXTURE FILE: a copy, without its records when asked
leave() {
	mkdir -p "$(dirname "$2")"
	if [ "${FAKE_TOOL:-}" != empty ]; then
		cp "$FIXTURES/$1" "$2"
		return
	fi
	case $1 in
	*.csv) head -n 1 "$FIXTURES/$1" >"$2" ;;
	*.json) echo '{"traceEvents": []}' >"$2" ;;
	*) : >"$2" ;;
	esac
}
