#!/usr/bin/env bash
# The disk of the runs is full, at each phase of a run: what is left is a readable directory with a clear reason and the right exit code, or nothing at all.
. "$(dirname "$0")/../lib.sh"
if [ "$(id -u)" != 0 ] || ! unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
	skip "a full disk" "needs root and a mount namespace"
	exit 0
fi
disk=$T/disk
mkdir "$disk"
at_end "umount -l '$disk' 2>/dev/null"
new_disk() { # size
	umount -l "$disk" 2>/dev/null
	mount -t tmpfs -o "size=$1" none "$disk"
}
fill() { cat /dev/zero >"$disk/$1" 2>/dev/null; }
fault() { # name, exit code, status ("" = no directory may be there), pattern, options and command of run
	local name=$1 want=$2 status=$3 pattern=$4 dir
	shift 4
	code "$name" "$want" "$PROFRIG" run -o "$disk/runs" --engine host --set "disk.min_free=${floor:-0}" --set disk.warn_free=0 "$@"
	dir=$(find "$disk/runs" -maxdepth 1 -name '2*' 2>/dev/null | head -n 1)
	is "$name: status" "$([ -z "$dir" ] || field "$dir/run.json" .status)" "$status"
	is "$name: nobody is registered" "$(ls -A "$T/runtime/profrig" 2>/dev/null)" ""
	if [ -n "$dir" ]; then
		like "$name: reason" "$(field "$dir/run.json" '(.reason // "") + " " + ([.warnings[].text] | join(" "))')" "$pattern"
		check "$name: run.json is complete" jq -e '.ended_utc and .schema == "profrig.run/1"' "$dir/run.json"
	else
		like "$name: says so" "$(cat "$T/err")" "$pattern"
		is "$name: nothing is left" "$(ls -A "$disk/runs" 2>/dev/null)" ""
	fi
	mount -o remount,size=100m "$disk"
	[ -z "$dir" ] || check "$name: report accepts it when there is room again" "$PROFRIG" -q report "$dir"
}
new_disk 4m
floor=64M
fault "less room than a run wants" 4 "" "disk.min_free.*make room" -- true
floor=
fill filler
fault "full before the run" 4 "" "no space.*-o DIR|space" -- true
new_disk 4m
head -c 4100000 /dev/zero >"$disk/filler"
fault "room for a folder and little more" 6 success "no space could be set aside" -- true
new_disk 6m
fault "a workload that prints too much" 1 failed "disk of the run directory is full" --no-analyze -- sh -c 'head -c 50000000 /dev/zero; exit 0'
new_disk 6m
fault "a workload that fails because of it" 1 failed "exited with status 1|disk of the run directory is full" --no-analyze -- sh -c 'head -c 50000000 /dev/zero >"$PROFRIG_RUN_DIR/x"'
new_disk 6m
fault "errors that do not fit" 1 failed "disk of the run directory is full" --no-analyze -- sh -c 'head -c 50000000 /dev/zero >&2; exit 0'
new_disk 6m
fault "samples that do not fit" 1 failed "disk of the run directory is full" --no-analyze --tools cpu_usage --set 'tools[0].sampler.period_s=0.01' -- \
	sh -c "cat /dev/zero >$disk/filler 2>/dev/null; sleep 2.5; exit 0"
new_disk 6m
mkdir -p "$T/tools/post_scripts"
printf '#!/bin/sh\ncat /dev/zero >"$PROFRIG_RUN_DIR/fill" 2>/dev/null; exit 0\n' >"$T/tools/fill.sh"
printf 'name: pre\nclass: script\npre_scripts: [{path: fill.sh}]\n' >"$T/tools/pre.yaml"
printf 'name: post\nclass: script\npost_scripts: [{path: fill.sh}]\n' >"$T/tools/post.yaml"
chmod +x "$T/tools/fill.sh"
fault "a pre script fills it" 1 failed "disk of the run directory is full" --no-analyze --tools-dir "$T/tools" --tools pre -- true
new_disk 6m
fault "a post script fills it" 1 failed "disk of the run directory is full" --no-analyze --tools-dir "$T/tools" --tools post -- true
new_disk 6m
fault "artifacts that do not fit" 1 failed "disk of the run directory is full|must.json" --no-analyze --tools-dir "$ROOT/tests/fixtures/tools" --tools outs -- \
	sh -c '{ echo "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"f\"},"; cat /dev/zero; } >"$OUTS/must.json" 2>/dev/null; exit 0'
new_disk 6m
good='[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"f"},'
fault "no room for the analysis" 6 success "" --tools-dir "$ROOT/tests/fixtures/tools" --tools outs -- \
	sh -c "echo '$good' | tee \$OUTS/may.json >\$OUTS/must.json; head -c 5690000 /dev/zero >$disk/filler; exit 0"
like "no room for the analysis: says so" "$(cat "$T/err")" "/analysis/[a-z./]*: No space left on device: make room there"
check "no room for the analysis: names no file that is only there until it is whole" bash -c "! grep -F .profrig- '$T/err'"
