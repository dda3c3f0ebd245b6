#!/usr/bin/env bash
# Runs on the disk: listed, removed, and never more than what was asked for.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
run() { "$PROFRIG" -q run --engine host --no-analyze "$@"; }

code "list runs where nothing ran" 0 "$PROFRIG" list runs
code "prune where nothing ran" 5 "$PROFRIG" prune --keep 1
code "a run" 0 run --label team=a --tools cpu_usage -- sh -c 'echo performance: 7 x/s'
first=$(cat "$T/out")
code "another" 1 run --label team=b -- false
second=$(cat "$T/out")
code "one to keep" 0 run --label keep=paper -- true
third=$(cat "$T/out")
code "list runs" 0 "$PROFRIG" list runs
is "the newest last" "$(tail -n +3 "$T/out" | awk '{print $1}' | tr '\n' ' ')" "runs/$(basename "$first") runs/$(basename "$second") runs/$(basename "$third") "
like "status, model, when, duration, size, result, tools, labels" "$(sed -n 3p "$T/out")" "success  sh +20[0-9-]+ [0-9:]+ +[0-9.]+s +[0-9.]+[KM] +7 x/s +cpu_usage +team=a"
code "as JSON" 0 "$PROFRIG" list runs --json
is "with numbers" "$(jq -c '.[0] | [.status, .model, .result, .tools, .labels, .live, (.duration_s > 0), (.bytes > 4096)]' "$T/out")" '["success","sh","7 x/s",["cpu_usage"],{"team":"a"},false,true,true]'
n() { "$PROFRIG" list runs --json "$@" | jq length; }
is "by label" "$(n --label team) $(n --label team=b) $(n --label team=c) $(n --label team --label keep)" "2 1 0 0"
is "by status, model and tool" "$(n --status failed) $(n --model sh) $(n --tool cpu_usage) $(n --tool perf)" "1 1 1 0"
code "a status that there is not" 2 "$PROFRIG" list runs --status fialed
like "is reported" "$(cat "$T/err")" "did you mean 'failed'"
code "a folder that is not there" 5 "$PROFRIG" list runs -o nowhere

# what is never removed
mkdir -p runs/20200101T000000Z-x-abcdef/sub runs/20200101T000000Z-y-abcdef runs/plain outside/20200101T000000Z-z-abcdef
echo data >runs/20200101T000000Z-x-abcdef/sub/file
echo '{"schema":"profrig.run/1","id":"another"}' >runs/20200101T000000Z-y-abcdef/run.json
echo '{"schema":"profrig.run/1","id":"20200101T000000Z-z-abcdef","status":"success"}' >outside/20200101T000000Z-z-abcdef/run.json
ln -s ../outside/20200101T000000Z-z-abcdef runs/20200101T000000Z-z-abcdef
run -- sh -c "touch '$T/up'; until [ -e '$T/go' ]; do sleep 0.05; done" >"$T/live" 2>&1 &
live=$!
wait_for test -e "$T/up"
is "a live run is listed as running" "$(n --status running)" 1
code "nothing said, nothing done" 2 "$PROFRIG" prune
like "it asks which" "$(cat "$T/err")" "--older-than 30d"
for bad in '--older-than soon' '--larger-than big' '--keep 0' '--status odd'; do
	code "prune $bad" 2 "$PROFRIG" prune $bad
done
code "a dry run" 0 "$PROFRIG" prune --older-than 0 --dry-run
like "says what would go" "$(cat "$T/out" "$T/err")" "runs/$(basename "$first") .*success.*runs/$(basename "$second") .*failed.*1 run is still running.*kept by its label.*would remove 2 runs, [0-9.]+K"
is "and removes nothing" "$(n)" 4
code "by status" 0 "$PROFRIG" prune --status failed
is "takes what ended so" "$(n --status failed) $(n)" "0 3"
code "all that may go" 0 "$PROFRIG" prune --older-than 0
check "leaves the live, the kept" test -d "$third" -a ! -e "$first" -a "$(n --status running)" = 1
check "what is no run, and what a link leads to" test -e runs/20200101T000000Z-x-abcdef/sub/file -a -e runs/20200101T000000Z-y-abcdef/run.json -a -d runs/plain \
	-a -L runs/20200101T000000Z-z-abcdef -a -e outside/20200101T000000Z-z-abcdef/run.json
like "and says what it leaves" "$(cat "$T/err")" "x-abcdef: .*left alone.*y-abcdef: its run.json is of another run: left alone"
touch go
wait $live
is "the live one ended well" "$(jq -r .status "$(cat "$T/live")/run.json")" success
rm -rf runs/2020* outside

# a removal that is cut short
victim=$(cat "$T/live")
mv "$victim" "runs/.$(basename "$victim").removed"
is "is no run any more" "$(n)" 1
code "is said" 0 "$PROFRIG" prune --older-than 1w -n
like "by a dry run" "$(cat "$T/err")" "would finish removing 1 run"
code "and finished by the next" 0 "$PROFRIG" prune --older-than 1w
check "all of it" test ! -e "runs/.$(basename "$victim").removed"
is "latest follows" "$(readlink runs/latest)" "$(basename "$third")"

# by number and by size
for i in 1 2 3 4 5 6; do
	run -- sh -c 'head -c 1000000 /dev/zero >$PROFRIG_OUT/big' >/dev/null 2>&1
done
newest=$(readlink runs/latest)
code "by number" 0 "$PROFRIG" prune --keep 4
is "keeps the newest, and what is kept anyway" "$(n)" 5
code "by size" 0 "$PROFRIG" prune --larger-than 2.5M
is "takes the oldest first" "$(n) $("$PROFRIG" list runs --json | jq -r '.[-1].id')" "3 $newest"
code "of one that takes no more" 0 "$PROFRIG" prune --larger-than 2.5M
is "nothing" "$(n)" 3
code "a young run is not old" 0 "$PROFRIG" prune --older-than 1h
is "and stays" "$(n)" 3

# several at once, and thousands
for i in 1 2 3; do "$PROFRIG" -q prune --keep 1 >/dev/null 2>&1 & pids="${pids:-} $!"; done
for p in $pids; do wait "$p"; done
is "prunes side by side leave what they should" "$(n)" 2
mkdir many
for i in $(seq 1000 2999); do
	d=many/20250101T0${i:0:1}${i:1:2}${i:3:1}0Z-m-00$i
	mkdir "$d"
	sed "s/\"id\": *\"[^\"]*\"/\"id\": \"$(basename "$d")\"/" "$third/run.json" >"$d/run.json"
done
start=$(date +%s%N)
is "2000 runs are listed" "$("$PROFRIG" list runs -o many --json | jq length)" 2000
ms=$((($(date +%s%N) - start) / 1000000))
check "in less than five seconds ($ms ms)" test $ms -lt 5000

# room on the disk
code "less room than there must be" 4 run --set disk.min_free=4000T -- touch "$T/ran"
like "is reported, with what to do" "$(cat "$T/err")" "only [0-9.]+[MGT] .*free.*profrig prune"
check "and nothing was started" test ! -e "$T/ran"
code "plan tells it too" 4 "$PROFRIG" plan --check --engine host --set disk.min_free=4000T -- true
code "less room than there should be" 0 "$PROFRIG" run --engine host --no-analyze --set disk.warn_free=4000T -- true
like "is a warning" "$(cat "$T/err")" "warning: .*free"
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=4m none small 2>/dev/null; then
	at_end "umount -l '$T/small'"
	code "a small disk" 4 run -o small/runs -- true
	like "is reported by its folder" "$(cat "$T/err")" "small/runs"
	code "unless it is known to do" 0 run -o small/runs --set disk.min_free=0 -- true
else
	skip "a small disk" "needs root and tmpfs"
fi
