#!/usr/bin/env bash
# rocmProfileData's: -o comes first or not at all.
. "$(dirname "$0")/_tool.sh"
out=trace.rpd
if [ "${1:-}" = -o ]; then
	out=$2
	shift 2
fi
case ${1:-} in -*) refuse "cannot run '$1'" ;; esac
program "$@"
leave rpd/two-writers-v3.rpd "$out"
exit $status
