#!/usr/bin/env bash
# The workload is not to be trusted: whatever it puts in the place of files that profrig reads or writes later, nothing outside its run directory
# is read, written, made or removed, nothing of it is shown, and every command ends.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/engines.sh"
engines_dir=$(mktemp -d /tmp/profrig-engines.XXXXXX)
at_end 'engines_stop; rm -rf "$engines_dir"'

# What an attack would reach: its content, its modes and its times are looked at after each run.
victim() {
	V=$T/victim
	mkdir -p "$V/dir/tables" "$V/dir/folded"
	printf 'root:HOSTSECRET:1::\nError: HOSTSECRET traceback\nperformance: 777 HOSTSECRET\n' >"$V/file"
	printf 'model,performance,metric\nHOSTSECRET,1,s\n' >"$V/dir/out.csv"
	for f in functions.csv energy.csv mine.csv; do echo "HOSTSECRET,1" >"$V/dir/tables/$f"; done
	echo 'HOSTSECRET;a 1' >"$V/dir/folded/time.folded"
	echo '{"schema":"profrig.analysis/1","tables":[{"name":"HOSTSECRET"}]}' >"$V/dir/analysis.json"
	echo '# HOSTSECRET' >"$V/dir/cpu_usage.csv"
	touch -d 2020-01-01 "$V/file" "$V/dir"/* "$V/dir"/*/*
	touch -d 2020-01-01 "$V/dir" "$V"
	was=$(look)
}
look() {
	find "$V" -printf '%P %y %m %U %n %s %T@\n' -type f -exec sha256sum {} + | sort
}
# A second name that the workload makes shows in the first one's count; the content must stay.
untouched() {
	local now
	now=$(look)
	[ "$now" = "$was" ] || { diff <(echo "$was") <(echo "$now"); return 1; }
}
no_secret() { ! grep -rlE HOSTSECRET "$T/runs" "$T/out" "$T/err" 2>/dev/null; }

# replace.sh ENTRY KIND: in the run directory, or below the working directory for ./ENTRY
cat >"$T/replace.sh" <<'S'
case $1 in ./*) at=$1 ;; *) at=$PROFRIG_RUN_DIR/$1 ;; esac
mkdir -p "$(dirname "$at")" 2>/dev/null
sleep 0.1
rm -rf "$at" 2>/dev/null || mv "$at" "$at.aside" 2>/dev/null
case $2 in
file) ln -s "$V/file" "$at" ;;
folder) ln -s "$V/dir" "$at" ;;
missing) ln -s "$V/none" "$at" ;;
fifo) mkfifo "$at" 2>/dev/null || busybox mkfifo "$at" ;;
hard) ln "$V/file" "$at" ;;
device) mknod "$at" c 1 3 2>/dev/null || busybox mknod "$at" c 1 3 ;;
esac
sleep 0.25
exit 0
S
printf 'name: mt\nabout: leaves files in the working directory\nvendor: any\nclass: env\nenv: {A: "1"}\noutputs: [{glob: "./left*", match: [run], if_any: true}, {glob: "t.json", reader: tef, required: false, min_records: 1}]\n' >"$T/mt.yaml"

# attack ENGINE ENTRY KIND
attack() {
	local engine=$1 entry=$2 kind=$3 rc r bad=
	rm -rf "$T/runs"
	mkdir -p "$T/work"
	rm -rf "$T/work"/*
	cp "$T/replace.sh" "$T/work/"
	(cd "$T/work" && V=$V timeout -s KILL 60 "$PROFRIG" run -o "$T/runs" --engine "$engine" $image_words --tools-dir "$T" --tools cpu_usage,mt --set results.csv=out.csv --set "env.V=$V" \
		-- /bin/sh ./replace.sh "$entry" "$kind") >"$T/out" 2>"$T/err"
	rc=$?
	[ "$rc" -lt 124 ] || bad="run ended with $rc"
	for c in "list runs -o $T/runs" "report $T/runs/latest" "prune $T/runs --older-than 0s --dry-run" "report $T/runs/latest --format csv"; do
		timeout -s KILL 30 "$PROFRIG" $c >>"$T/out" 2>>"$T/err" </dev/null
		r=$?
		[ "$r" -lt 124 ] || bad="$bad; $c ended with $r"
	done
	# The second name is the workload's own doing.
	[ "$kind" != hard ] || rm -rf "$T/runs" "$T/work"
	diff=$(untouched) || bad="$bad; outside changed: $diff"
	leak=$(no_secret) || bad="$bad; shown in: $leak"
	[ -z "$bad" ] || not_ok "$engine: $entry as $kind" "$bad
$(tail -n 5 "$T/err")"
	attacks=$((attacks + 1))
	[ -z "$bad" ] || failed=$((failed + 1))
}

kinds="file folder missing fifo hard"
[ "$(id -u)" != 0 ] || kinds="$kinds device"
storm() { # ENGINE
	attacks=0 failed=0
	for entry in $entries; do
		for kind in $kinds; do attack "$1" "$entry" "$kind"; done
	done
	is "$1: $attacks entries were replaced; none reached what is outside" "$failed" 0
}

# A container's root leaves programs that run as their owner, and devices: none stays for a user of the host.
left_behind() { # ENGINE
	local odd
	rm -rf "$T/runs"
	mkdir -p "$T/work"
	(cd "$T/work" && timeout -s KILL 60 "$PROFRIG" -q run --no-analyze -o "$T/runs" --engine "$1" $image_words --tools-dir "$T" --tools mt -- /bin/sh -c '
		cd "$PROFRIG_OUT" || exit 9; busybox cp /bin/busybox "$PROFRIG_RUN_DIR/artifacts/mt/sh"; busybox chmod 6755 "$PROFRIG_RUN_DIR/artifacts/mt/sh"
		busybox cp /bin/busybox g; busybox chmod 2755 g; busybox mknod d c 1 3; busybox mkdir deep; busybox cp /bin/busybox deep/s; busybox chmod 4755 deep/s; ls; exit 0') >"$T/out" 2>"$T/err"
	like "$1: programs of other rights were made" "$(cat "$T/runs/latest/steps/"*workload.out 2>/dev/null | tr '\n' ' ')" "g .*|deep"
	odd=$(find "$T/runs" \( -perm /6000 -type f -o \( -type b -o -type c \) -perm /777 \) -printf '%P %m\n')
	is "$1: and none can be used" "$odd" ""
}

victim
image_words=
# Every entry that a live run has, and those that profrig makes later.
(cd "$T" && "$PROFRIG" -q run -o "$T/first" --no-analyze --engine host --tools-dir "$T" --tools cpu_usage,mt -- /bin/sh -c 'sleep 0.2; cd "$PROFRIG_RUN_DIR"; find . -mindepth 1 | sed "s,^..,,"') >"$T/out"
entries=$(cat "$(cat "$T/out")"/steps/*workload.out)
check "a live run has entries" test "$(echo "$entries" | wc -l)" -ge 12
later="analysis analysis/tables analysis/folded analysis/report.html analysis/analysis.json results results/out.csv .space baseline.json steps/engine.err samples/x.csv artifacts/mt/t.json artifacts/workload/t.json artifacts/mt/left1 ./out.csv ./left1"
entries="$entries $later"

storm host

for engine in docker podman; do
	if need "$engine" "start_${engine/docker/dockerd}" && test_image "$engine" profrig-test:1; then
		image_words="--image profrig-test:1"
		all=$entries
		# The container has no other entry of the run directory; one kind of link for those that are not there.
		entries="run.json plan.json samples samples/cpu_usage.csv steps steps/01-workload.out analysis results record.flag marks artifacts artifacts/mt artifacts/mt/t.json artifacts/workload/t.json ./out.csv ./left1"
		kinds="file folder fifo"
		storm "$engine"
		left_behind "$engine"
		entries=$all
		[ "$engine" != docker ] || stop_dockerd
	else
		skip "$engine: the storm" "${engines_why:-no $engine}"
	fi
done
