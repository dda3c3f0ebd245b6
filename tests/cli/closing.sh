#!/usr/bin/env bash
# What stands last on the terminal: what an analysis, a report or a conversion read, what is missing and why; nothing torn, nothing about a reader that
# went away.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
printf '[{"ph":"X","pid":1,"tid":1,"ts":10,"dur":2,"name":"a"},{"ph":"X","pid":1,"tid":1,"ts":13,"du' >cut.json
printf '[{"ph":"X","pid":1,"tid":1,"ts":10,"dur":2,"name":"b"}]' >whole.json
for c in "analyze -o res" "convert -o o.json"; do
	code "${c%% *} of a cut file" 6 "$PROFRIG" $c cut.json whole.json
	like "${c%% *}: what was read" "$(cat err)" "data    2 inputs \(2 tef\), 1 input incomplete"
	like "${c%% *}: what is missing" "$(cat err)" "missing cut.json: the last event is cut off at byte"
	code "${c%% *} -q of a cut file" 6 "$PROFRIG" -q $c cut.json whole.json
	like "${c%% *} -q: is not silent" "$(cat err)" "^profrig: cut.json: the last event is cut off at byte [0-9]+$"
	code "${c%% *} of what is not there" 6 "$PROFRIG" $c whole.json nowhere.json
	is "${c%% *}: which is reported once" "$(grep -c nowhere.json err)" 1
	code "${c%% *} of all that was recorded" 0 "$PROFRIG" -q $c whole.json
	is "${c%% *} -q: is silent" "$(cat err)" ""
done
for c in info "info --json" "info -q" "info --json -q"; do
	code "$c of a cut file" 6 "$PROFRIG" $c cut.json whole.json
	like "$c: says on stderr what is missing" "$(cat err)" "cut.json: the last event is cut off at byte [0-9]+$"
done
code "an analysis" 0 "$PROFRIG" analyze -o res whole.json
like "time" "$(cat err)" "time    b 2.00 µs \(100.0 %\)"
like "energy" "$(cat err)" "energy  no power or energy is in it"
"$PROFRIG" -q analyze -o res cut.json >/dev/null 2>&1
code "a report of it" 0 "$PROFRIG" report res
like "says what it lacks" "$(cat err)" "missing cut.json: the last event is cut off"
code "a run whose output is damaged" 6 "$PROFRIG" -q run -o runs --engine host --tools-dir "$ROOT/tests/fixtures/tools" -- sh -c 'cp cut.json "$PROFRIG_OUT/t.json"; echo {} >"$PROFRIG_OUT/u.json"'
check "says why with -q too" test -s err
code "a workload that fails" 1 "$PROFRIG" -q run -o runs --engine host -- sh -c 'exit 3'
like "-q: says how" "$(cat err)" "is failed: workload exited with status 3$"
code "a workload that cannot start" 1 "$PROFRIG" -q run -o runs --engine host -- ./nosuch
like "-q: says why" "$(cat err)" "is failed: workload: cannot start './nosuch': No such file or directory$"

# Lines are whole where both outputs are one file.
env=()
for i in $(seq 200); do env+=(--env "NAME_$i=$(printf 'x%.0s' $(seq 60))"); done
"$PROFRIG" plan --engine host --tools rocprof --force-tools "${env[@]}" -- true >both 2>&1
"$PROFRIG" plan --engine host --tools rocprof --force-tools "${env[@]}" -- true >/dev/null 2>err
grep -v '20[0-9]*T[0-9]*Z' err >lines
is "plan: every line of stderr is one" "$(grep -vxFf both lines)" ""
for c in "run --help" "build --help" "plan --help" "--help" "doctor" "list runs" "list tools" "list warnings" "plan --engine host -- true" "info whole.json" "analyze -q -o res whole.json --json"; do
	"$PROFRIG" $c 2>err | true
	is "${c%% -*} | head: is quiet" "${PIPESTATUS[0]} $(grep -v 'read whole.json' err)" "0 "
done
if [ -w /dev/full ]; then
	code "a full disk is no reader that went away" 1 sh -c "'$PROFRIG' list tools >/dev/full"
	like "it is reported" "$(cat err)" "cannot write to standard output"
fi
is "doctor's fixes hold no word to fill in" "$("$PROFRIG" doctor --json | jq -r '.[].fix | select(. != null)' | grep -E '[A-Z]{3,}-|COMMAND|<[a-z]+>|…' | grep -v EDITOR)" ""
is "and are such that a shell reads them" "$("$PROFRIG" doctor --json | jq -r '.[].fix | select(. != null and . != "")' | while IFS= read -r f; do bash -nc "$f" 2>&1; done)" ""
is "doctor's fixes are commands" "$("$PROFRIG" doctor --json | jq -r '.[].fix | select(. != null and . != "") | split(" ")[0]' |
	grep -vxE 'apt-get|dnf|usermod|profrig|make|systemctl|modprobe|chmod|sysctl|setcap|mount|\$\{EDITOR:-vi\}|curl|sudo|doas|podman|docker|rm')" ""
