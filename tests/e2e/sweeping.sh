#!/usr/bin/env bash
# Sweeping touches what it can prove to be a dead run's, and nothing else: not by an id that others may copy, not through links, not in folders of other
# users. A run lives until its analysis is written.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
export XDG_RUNTIME_DIR=$T/xdg PROFRIG
mkdir -m 700 xdg other
id=20250101T000000Z-x-abcdef
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
quick() { "$PROFRIG" -q run --no-analyze --engine host "$@" -- true; }

# begin DIR: a run that waits; its pid in $pid, its directory in $dir
begin() {
	"$PROFRIG" -q run --no-analyze -o "$1" --engine host -- sh -c 'touch "$PROFRIG_RUN_DIR/artifacts/workload/working"; exec sleep 100' >/dev/null 2>err &
	pid=$!
	wait_for test -e "$1/latest/artifacts/workload/working" || not_ok "a run begins" "$(cat err)"
	dir=$(readlink -f "$1/latest")
}
alive() { pgrep -f "profrig-init --run $(basename "$dir")"; }
ended() { ! alive; }

# A dead run that another registry knows is finished off by what its lock says.
begin runs
agent=$(pgrep -f "profrig-init --run $(basename "$dir")" | head -n 1)
kill -STOP "$agent"
kill -9 $pid
wait $pid 2>/dev/null
mkdir -p "$dir/.inside/artifacts" "$dir/.hidden"
check "the agent of a killed run that is stopped stays" alive
XDG_RUNTIME_DIR=$T/other code "the next run, with another registry" 0 quick -o runs
check "ends it" ended
is "and marks the run" "$(field "$dir/run.json" .status)" interrupted
check "what containers were shown is gone" test ! -e "$dir/.inside" -a ! -e "$dir/.hidden"

# The id of a live run, copied.
begin live
lid=$(basename "$dir")
mkdir -p "copies/$lid"
cp "$dir/run.json" "$dir/.lock" "copies/$lid/"
XDG_RUNTIME_DIR=$T/other code "a folder with a copy of a live run" 0 quick -o copies
check "the live run goes on" kill -0 $pid
check "so does its agent" alive
XDG_RUNTIME_DIR=$T/other code "doctor --fix of that folder" 0 "$PROFRIG" doctor -o copies --fix
check "the live run goes on then too" kill -0 $pid
jq -c '.agent = 1 | .dir_ino = 1' "$dir/.lock" >"copies/$lid/.lock"
XDG_RUNTIME_DIR=$T/other code "a lock that names another folder" 0 quick -o copies
is "is no proof of this one" "$(field "copies/$lid/run.json" .status)" running
kill -INT $pid
wait $pid 2>/dev/null

if [ "$(id -u)" = 0 ]; then
	chmod 755 "$T"
	# Of another user: neither marked nor removed nor a reason to end anything.
	mkdir -m 1777 shared
	begin live
	nobody sh -c "mkdir shared/$(basename "$dir") && cd shared/$(basename "$dir") && touch .lock .reserve &&
		echo '{\"schema\":\"profrig.run/1\",\"status\":\"running\",\"engine\":\"host\"}' >run.json"
	XDG_RUNTIME_DIR=$T/other code "a run directory of another user" 0 quick -o shared
	check "ends nothing" kill -0 $pid
	is "is not marked" "$(jq -r .status "shared/$(basename "$dir")/run.json")" running
	check "nor emptied" test -e "shared/$(basename "$dir")/.reserve"
	kill -INT $pid
	wait $pid 2>/dev/null

	# The runtime folder of another user, as after sudo -E.
	mkdir -m 700 theirs && chown 65534:65534 theirs
	XDG_RUNTIME_DIR=$T/theirs code "XDG_RUNTIME_DIR of another user" 0 quick -o runs
	check "nothing is made there" test -z "$(ls -A theirs)"
	XDG_RUNTIME_DIR=$T/theirs code "that user" 0 nobody env HOME=/tmp "$PROFRIG" list engines
fi
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	export -f quick
	cat >mounts.sh <<-'M'
		# A link in the place of a run directory, to where others mounted; and a dead run in which something is mounted.
		mount -t tmpfs none elsewhere/m && touch elsewhere/m/precious
		mount -t tmpfs none "$1/artifacts/m" || exit 3
		quick -o mixed >/dev/null
		mountpoint -q elsewhere/m && echo "elsewhere stays"
		mountpoint -q "$1/artifacts/m" || echo "its own goes"
	M
	mkdir -p elsewhere/m "mixed/${id%f}0/artifacts/m"
	mkdir -m 1777 -p mixed
	touch elsewhere/.lock "mixed/${id%f}0/.lock"
	ln -s "$T/elsewhere" "mixed/$id"
	echo '{"schema":"profrig.run/1","status":"running","engine":"host"}' | tee elsewhere/run.json >"mixed/${id%f}0/run.json"
	ln -s "$T/elsewhere" "mixed/${id%f}0/artifacts/link"
	is "mounts in a dead run's own directory, and others" "$(unshare -m --propagation private bash mounts.sh "mixed/${id%f}0" 2>&1)" "elsewhere stays
its own goes"
	is "a link in the place of a run is not followed" "$(jq -r .status elsewhere/run.json)" running
else
	lacks mounts "mounts" "needs root and a mount namespace of its own"
fi

# Analysis is part of a run's life.
python3 - <<'P'
with open("t.json", "w") as f:
    f.write('{"traceEvents":[')
    for i in range(1500000):
        f.write('{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":5,"name":"f%d"},' % (i % 7, i * 10, i % 100))
    f.write('{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"z"}]}')
P
for try in 1 2 3 4 5; do
	rm -rf a
	"$PROFRIG" -q run -o a --engine host -- sh -c 'cp t.json "$PROFRIG_OUT/t.json"' >out 2>err &
	pid=$!
	until grep -qs '"status": "success"' a/latest/run.json || ! kill -0 $pid 2>/dev/null; do :; done
	kill -STOP $pid 2>/dev/null && [ -e a/latest/.lock ] && break
	wait $pid
done
echo "# caught in its analysis at try $try"
is "a run that is being analysed lives" "$("$PROFRIG" list runs -o a --json | jq -r '.[0] | "\(.status) \(.live)"')" "success true"
code "prune" 0 "$PROFRIG" prune a --older-than 0s
check "leaves it" test -e a/latest/run.json
kill -CONT $pid
wait $pid
is "it ends well" $? 0
is "and lives no more" "$("$PROFRIG" list runs -o a --json | jq -r '.[0] | "\(.status) \(.live)"')" "success false"
check "its lock is gone" test ! -e a/latest/.lock

# A directory that went away takes the success with it.
code "a workload that removes its run directory" 1 "$PROFRIG" -q run -o v --engine host -- sh -c 'until rm -rf "$PROFRIG_RUN_DIR" 2>/dev/null; do :; done'
like "says so" "$(cat err)" "run.json|run directory|No such file"
