#!/usr/bin/env bash
# Results from containers: values, results files, rows of the table for every end a run can have, kills for lack of memory, and whose the files are.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
chmod 755 "$T"
cd "$T" || exit 1
PYTHON=$(command -v python3)
col() { "$PYTHON" -c 'import csv, sys; print(list(csv.DictReader(open(sys.argv[1], newline="")))[-1][sys.argv[2]])' "$1" "$2"; }
json() { jq -r "$1" "$(cat "$T/out")/run.json"; }

results() { # engine
	local e=$1 d=$T/$1 run
	mkdir -p "$d"
	run() { "$PROFRIG" -q run -o "$d/runs" --no-analyze --engine "$e" --image profrig-test:1 --perf-csv "$d/perf.csv" "$@"; }
	code "$e: a run with a result" 0 run -- sh -c 'echo performance: 14164/s, samples; id -u'
	is "$e: is a row" "$(col "$d/perf.csv" performance) $(col "$d/perf.csv" metric) $(col "$d/perf.csv" status) $(col "$d/perf.csv" docker_image) $(col "$d/perf.csv" engine)" \
		"14164 samples/s SUCCESS profrig-test:1 $e"
	like "$e: of an image with a digest" "$(col "$d/perf.csv" docker_sha)" "[0-9a-f]{12}"
	is "$e: silent by default" "$(cat "$T/err")" ""
	code "$e: live" 0 "$PROFRIG" run --live -o "$d/runs" --no-analyze --engine "$e" --image profrig-test:1 -- echo performance: 14164 x
	like "$e: shows the line" "$(cat "$T/err")" "performance: 14164 x"
	code "$e: a failing workload" 1 "$PROFRIG" run -o "$d/runs" --no-analyze --engine "$e" --image profrig-test:1 --perf-csv "$d/perf.csv" -- sh -c 'echo one; echo words before the end >&2; exit 9'
	like "$e: shows what it said last" "$(cat "$T/err")" "said    words before the end \(steps/"
	is "$e: all of it is in its files" "$(cat "$(cat "$T/out")"/steps/*-workload.out "$(cat "$T/out")"/steps/*-workload.err | tr '\n' ' ')" "one words before the end "
	is "$e: is a row too" "$(col "$d/perf.csv" status) $(col "$d/perf.csv" exit_code) $(col "$d/perf.csv" reason)" "FAILURE 9 workload exited with status 9"
	code "$e: an image that is not there is 4" 4 "$PROFRIG" -q run -o "$d/runs" --engine "$e" --image nosuch:1 --set container.pull=never --perf-csv "$d/perf.csv" -- true
	like "$e: and a row" "$(col "$d/perf.csv" status) $(col "$d/perf.csv" docker_image) $(col "$d/perf.csv" reason)" "FAILURE nosuch:1 image 'nosuch:1' is not there"
	code "$e: a time limit" 1 run --timeout 0.5 --set grace=1 -- sleep 60
	like "$e: is a row with its reason" "$(col "$d/perf.csv" run_status) $(col "$d/perf.csv" reason)" "timeout workload took longer than 0.5 s"
	code "$e: scripts alone" 0 run --skip-model-run -- sh -c 'exit 1'
	is "$e: are a row" "$(col "$d/perf.csv" status)" SKIPPED
	mkdir -p "$d/m"
	printf 'model: {name: rows, command: [sh, -c, "echo model,performance,metric,batch >res.csv; for i in 1 2 3 4; do echo $i,$i.5,x/s,8 >>res.csv; done"]}\nresults: {csv: res.csv, require: true}\n' >"$d/m/profrig.yaml"
	code "$e: a results file" 0 run "$d/m"
	is "$e: its four rows" "$("$PYTHON" -c 'import csv, sys; print([r["model"] + " " + r["performance"] for r in csv.DictReader(open(sys.argv[1])) if r["model"].startswith("rows_")])' "$d/perf.csv")" \
		"['rows_1 1.5', 'rows_2 2.5', 'rows_3 3.5', 'rows_4 4.5']"
	code "$e: one that needs a result and has none is 7" 7 run --set results.require=true -- true
	if [ -n "$(sed -n '/memory/p' /proc/self/cgroup)$(cat /sys/fs/cgroup/cgroup.controllers 2>/dev/null | grep memory)" ]; then
		code "$e: too much memory" 1 run --set 'container.options=[--memory=32m]' -- dd if=/dev/zero of=/dev/null bs=600M count=1
		like "$e: says so" "$(json '.reason')" "killed by the kernel for lack of memory \(OOM\)|after the kernel had killed"
		is "$e: as a warning too" "$(json '[.warnings[] | select(.code == "W_OOM")] | length')" 1
		code "$e: to be killed otherwise" 1 run -- sh -c 'kill -9 $$'
		like "$e: is told apart" "$(json '.reason')" "killed by SIGKILL, not by profrig, and for no lack of memory"
	else
		skip "$e: too much memory" "no memory cgroup"
	fi
	foreign=$(find "$d" ! -user "$(id -un)" | head -n 3)
	is "$e: every file is the caller's" "$foreign" ""
	code "$e: a workload of another user" 0 run --set container.user=1000 -- sh -c 'echo x >$PROFRIG_OUT/made; mkdir $PROFRIG_OUT/deep; echo y >$PROFRIG_OUT/deep/er; id -u'
	is "$e: was that user" "$(cat "$(cat "$T/out")"/steps/*-workload.out)" 1000
	check "$e: left files" test -s "$(cat "$T/out")/artifacts/workload/deep/er" -o -s "$(find "$(cat "$T/out")" -name er)"
	is "$e: that are the caller's now" "$(find "$d" ! -user "$(id -un)" | head -n 3)" ""
}

user() { setpriv --reuid=1000 --regid=1000 --clear-groups env HOME="$T/user-$engine/home" XDG_RUNTIME_DIR="$T/user-$engine/run" TMPDIR="$T/user-$engine/home" "$@"; }
# podman of that user's own, without root anywhere; its words, or nothing where that does not work.
rootless_podman() {
	local u=$T/user-podman words
	mkdir -p "$u/home/img/bin" "$u/run"
	cp "$(command -v busybox)" "$u/home/img/bin/busybox"
	for a in sh id echo mkdir true; do ln -sf busybox "$u/home/img/bin/$a"; done
	chown -R 1000:1000 "$u"
	words="podman --root $u/home/root --runroot $u/run/podman --tmpdir $u/home/tmp --storage-driver vfs --events-backend file --cgroup-manager cgroupfs --runtime runc"
	tar -C "$u/home/img" --owner=0 --group=0 -cf - . | user $words import - profrig-test:1 >"$T/import" 2>&1 && user $words run --rm --network none profrig-test:1 true >>"$T/import" 2>&1 || return 1
	echo "$words"
}
# As somebody who is not root: what root wrote in the container is his all the same.
as_user() { # engine, words of the engine
	local u=$T/user-$1
	mkdir -p "$u/m" "$u/run" "$u/home"
	printf 'model: {name: mine, command: [sh, -c, "id -u; echo x >>here; echo y >$PROFRIG_OUT/out; mkdir -p sub; echo z >sub/file"]}\n' >"$u/m/profrig.yaml"
	echo old >"$u/m/before"
	chown 1000:1000 "$u" "$u/home" "$u/run"
	chown -R 1000:1000 "$u/m"
	chown 0:0 "$u/m/before"
	(
		cd "$u" || exit 1
		code "$1: run by a user" 0 user "PROFRIG_${1^^}=$2" "$PROFRIG" -q run -o runs --no-analyze --engine "$1" --image profrig-test:1 m
		is "$1: root inside" "$(cat "$u"/runs/2*/steps/*-workload.out)" 0
		is "$1: nothing of root's is left" "$(find "$u/runs" "$u/m" ! -user 1000 ! -name before)" ""
		is "$1: what was there before is not touched" "$(stat -c %u "$u/m/before")" 0
		code "$1: and can be removed" 0 user "$PROFRIG" -q prune runs --older-than 0
		check "$1: all of it" sh -c "! ls '$u'/runs/2* 2>/dev/null"
		echo "$TAP_N" >"$T/n"
	)
	TAP_N=$(cat "$T/n")
}

[ -n "$PYTHON" ] || { skip "results in containers" "python3 reads the tables here" && exit 0; }
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		if ! test_image $engine profrig-test:1; then
			skip "$engine" "$engines_why"
			continue
		fi
		results $engine
		if [ $engine = docker ] && command -v setpriv >/dev/null && setpriv --reuid=1000 --regid=1000 --clear-groups test -x "$PROFRIG"; then
			chmod 755 "$engines_dir" "$engines_dir/docker" "$engines_dir/docker/config" && chmod 666 "$engines_dir/docker/sock"
			as_user docker "$PROFRIG_DOCKER"
		fi
		if [ $engine = podman ] && command -v setpriv >/dev/null && setpriv --reuid=1000 --regid=1000 --clear-groups test -x "$PROFRIG"; then
			chmod 755 "$engines_dir" "$engines_dir/podman" "$(dirname "$CONTAINERS_CONF")"
			if words=$(rootless_podman); then
				as_user podman "$words"
			else
				skip "podman without root" "$(tail -n 1 "$T/import")"
			fi
		fi
		;;
	1) skip "$engine" "$engines_why" ;;
	*) not_ok "$engine is required" "$engines_why" ;;
	esac
done
