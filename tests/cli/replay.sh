#!/usr/bin/env bash
# A run is repeated from its run directory: its configuration, what wins over it, what differs today, and directories that are not trusted.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$T/m" "$T/here" "$T/away" "$T/tools"
cd "$T/here" || exit 1
export TMPDIR=$T
run() { "$PROFRIG" run --no-analyze --engine host "$@"; }
again() { "$PROFRIG" run --no-analyze "$@"; }
dir() { cat "$T/out"; }
said() { cat "$(dir)"/steps/*-workload.out; }
# differences of the plan, "what: recorded > today", sorted
differs() { "$PROFRIG" -q plan --json --replay "$@" | jq -r '.replay.differences[] | "\(.what): \(.recorded) > \(.today)"' | sort; }

cat >"$T/tools/T.yaml" <<'Y'
name: T
class: wrap
wrap: [env, T_WAS=1]
options: {level: {type: int, default: 3}}
env: {T_LEVEL: "{opt.level}"}
Y
printf '#!/bin/sh\necho "performance: $N x/s"; echo "t $T_WAS $T_LEVEL key ${MY_KEY:-none} tok ${TOK:-none} $*"\n' >"$T/m/work"
chmod +x "$T/m/work"
echo 'echo pre' >"$T/m/pre.sh"
cat >"$T/m/profrig.yaml" <<'Y'
model: {command: [./work, one, "two  words"], timeout: 40}
env: {N: "7", MY_KEY: the-key-of-then}
secrets: {TOK: {from_env: GIVEN}}
pre_scripts: [pre.sh]
labels: {team: a}
Y
GIVEN=the-token-of-then code "a run" 0 run --tools-dir "$T/tools" --tools T --set 'tools[0].options.level=5' ../m
first=$(dir)
is "said what it should" "$(said)" "performance: 7 x/s
t 1 5 key the-key-of-then tok the-token-of-then one two  words"
check "holds no secret" sh -c "! grep -rqE 'the-(key|token)-of-then' '$first'/*.json"

# --- what is missing is asked for by name
cd "$T/away" || exit 1
code "without the secrets" 3 again --tools-dir "$T/tools" --replay "$first"
like "the variables are named" "$(cat "$T/err")" "env.MY_KEY: .*set the variable MY_KEY.*secrets.TOK: the variable GIVEN is not set"
check "and nothing was started" test ! -e runs
export MY_KEY=the-key-of-today GIVEN=the-token-of-today
code "without the tool" 3 again --replay "$first"
like "it says where the tool was" "$(cat "$T/err")" "unknown tool 'T'.*'$T/tools/T.yaml' when the run was recorded: name that folder with --tools-dir"

# --- the same again, from another folder
code "again" 0 again --tools-dir "$T/tools" --replay "$first"
second=$(dir)
is "said the same, with today's secrets" "$(said)" "performance: 7 x/s
t 1 5 key the-key-of-today tok the-token-of-today one two  words"
like "what it runs is shown" "$(cat "$T/err")" "replay +./work one 'two  words', in $T/m, on host"
like "nothing differs, it says" "$(cat "$T/err")" "nothing differs, of [0-9]+ facts"
check "holds no secret either" sh -c "! grep -rqE 'the-(key|token)-of-(then|today)' '$second'/*.json"
is "labels" "$(jq -c .labels "$second/run.json")" "{\"team\":\"a\",\"replay_of\":\"$(basename "$first")\"}"
is "its directory is here" "$(dirname "$second")" "$T/away/runs"
is "the same configuration" "$(jq -S '.recorded.configuration | del(.labels)' "$second/plan.json")" "$(jq -S '.recorded.configuration | del(.labels)' "$first/plan.json")"
code "a replay of a replay, by the link" 0 again --tools-dir "$T/tools" --replay runs/latest
is "names that one" "$(jq -r .labels.replay_of "$(dir)/run.json")" "$(basename "$second")"

# --- the command line wins
code "options" 0 again --tools-dir "$T/tools" --replay "$first" --set env.N=9 --tools T --timeout 5 --label team=b -o other --repeat 2 --json
is "are of this run" "$(jq -rs '.[1].run_dir' "$T/out" | xargs -I{} jq -c '[.labels.team, .metrics[0].value]' {}/run.json)" '["b",9]'
is "JSON says what is repeated" "$(jq -cs '.[1].replay | [.of, (.compared > 5), .differences]' "$T/out")" "[\"$(basename "$first")\",true,[]]"
code "a file over it" 0 again --tools-dir "$T/tools" --replay "$first" --config <(echo 'env: {N: "11"}')
like "wins too" "$(said)" "performance: 11 x/s"
for bad in "--replay $first ../m" "--replay $first -- true" "--replay $first --build" "--replay $first -t x" "--replay-foreign ../m"; do
	# shellcheck disable=SC2086
	code "run $bad" 2 again $bad
done
code "plan shows it" 0 "$PROFRIG" plan --tools-dir "$T/tools" --replay "$first"
like "in its text" "$(cat "$T/out")" "repeats +$(basename "$first"), recorded in $first.*nothing differs.*model.timeout +40 +$first/plan.json:[0-9]+"

# --- what differs
is "nothing" "$(differs "$first" --tools-dir "$T/tools")" ""
echo 'echo pre, changed' >"$T/m/pre.sh"
sum() { sha256sum "$1" | cut -d' ' -f1; }
is "a script" "$(differs "$first" --tools-dir "$T/tools")" "file $T/m/pre.sh: $(sum "$first"/scripts/01-pre.sh) > $(sum "$T/m/pre.sh")"
echo 'echo pre' >"$T/m/pre.sh"
sed -i 's/T_WAS=1/T_WAS=2/' "$T/tools/T.yaml"
like "a tool" "$(differs "$first" --tools-dir "$T/tools")" "tool T argv: env T_WAS=1 > env T_WAS=2.tool T sha256: [0-9a-f]+ > [0-9a-f]+$"
sed -i 's/T_WAS=2/T_WAS=1/' "$T/tools/T.yaml"
git -C "$T/m" init -q . && git -C "$T/m" add . && git -C "$T/m" -c user.name=n -c user.email=e commit -qm one
like "a repository" "$(differs "$first" --tools-dir "$T/tools")" "^git commit: null > [0-9a-f]{40}.git dirty: null > no$"
cd "$T/away" && code "a run of a commit" 0 again --tools-dir "$T/tools" --replay "$first"
with_git=$(dir)
echo '#' >>"$T/m/work"
is "code that changed" "$(differs "$with_git" --tools-dir "$T/tools")" "git dirty: no > yes"
jq '.host.kernel = "1.2.3" | .host.hostname = "elsewhere" | .host.cpu = "Z80" | .versions.profrig = "0.0.1" | .host.governor = "powersave"' "$with_git/run.json" >x && cp x "$with_git/run.json"
like "another machine" "$(differs "$with_git" --tools-dir "$T/tools")" "host cpu: Z80 > .*host governor: powersave > .*host hostname: elsewhere > .*host kernel: 1.2.3 > .*version profrig: 0.0.1 > "
code "the table" 0 "$PROFRIG" plan --tools-dir "$T/tools" --replay "$with_git"
like "has three columns" "$(cat "$T/out")" "differs +recorded +today.*host hostname +elsewhere +[^ ]"
mv "$T/m" "$T/gone"
code "a model that is gone" 3 again --tools-dir "$T/tools" --replay "$with_git"
like "is named, with the machine it was on" "$(cat "$T/err")" "model.dir: no folder '$T/m'.*recorded on 'elsewhere', and this is '"
mv "$T/gone" "$T/m"
code "or given" 0 again --tools-dir "$T/tools" --replay "$first" --set model.dir="$T/m"

# --- GPUs of a made-up machine
kfd() { # power cap of the card
	mkdir -p "$T/sys/sys/devices/system/cpu/cpu0/cpufreq"
	echo "$1" >"$T/sys/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
}
kfd performance
PROFRIG_SYSFS_ROOT=$T/sys code "a run with a governor" 0 run -- true
governed=$(dir)
is "has it in run.json" "$(jq -r .host.governor "$governed/run.json")" performance
kfd powersave
is "it is compared" "$(PROFRIG_SYSFS_ROOT=$T/sys differs "$governed")" "host governor: performance > powersave"

. "$ROOT/tests/fakes/machine.sh"
nvidia_machine "$T/nv" 2
PROFRIG_SYSFS_ROOT=$T/nv code "a run beside GPUs" 0 run -- true
gpus=$(dir)
is "the same GPUs" "$(PROFRIG_SYSFS_ROOT=$T/nv differs "$gpus")" ""
rm -r "$T/nv/proc/driver/nvidia/gpus/0000:02:00.0"
sed -i 's/535.104.05/550.54.15/' "$T/nv/proc/driver/nvidia/version"
is "another driver, and one GPU less" "$(PROFRIG_SYSFS_ROOT=$T/nv differs "$gpus" | grep -E '^gpu(0.*driver|1.*name)')" "gpu0 (nvidia) driver: 535.104.05 > 550.54.15
gpu1 (nvidia) name: NVIDIA H100 80GB HBM3 > null"

# --- directories that are no good
code "no directory" 2 again --replay nowhere
mkdir empty
code "an empty one" 2 again --replay empty
like "is reported" "$(cat "$T/err")" "is no run directory: it has no run.json"
bad() { # NAME WANT MESSAGE: of the folder b, made anew before
	code "$1" "$2" again --replay b
	like "$1: the message" "$(cat "$T/err")" "$3"
	rm -rf b
	cp -r "$governed" b
}
cp -r "$governed" b
rm b/plan.json
bad "no plan" 2 "it has no plan.json"
mv b/plan.json plan && ln -s ../plan b/plan.json
bad "a link as its plan" 3 "plan.json': .*link"
rm b/plan.json && mkfifo b/plan.json
bad "a FIFO as its plan" 3 "plan.json': "
ln b/plan.json second
bad "a second name of its plan" 3 "plan.json': "
jq 'del(.recorded)' b/plan.json >x && cat x >b/plan.json
bad "a plan of an earlier version" 3 "has no recorded configuration"
echo '{' >b/run.json
bad "a run.json that is none" 3 "run.json:[0-9]+: "
echo '{"schema":"profrig.run/2","id":"x"}' >b/run.json
bad "another schema" 3 "want the schema profrig.run/1"
echo '{"schema":"profrig.run/1","id":"../x"}' >b/run.json
bad "an id that is a path" 3 "is no run id"
head -c 5000000 /dev/zero | tr '\0' ' ' >>b/plan.json
bad "a plan that is too large" 3 "larger than 4 MiB"
chmod o+w b/plan.json
bad "a plan that all may write" 3 "all users may write to .*--replay-foreign"
chmod o+w b
bad "a directory that all may write" 3 "all users may write to .*--replay-foreign"
chmod o+w b
code "all the same" 0 again --replay b --replay-foreign
chmod o-w b
if [ "$(id -u)" = 0 ]; then
	chown -R 12345 b
	code "of another user" 3 again --replay b
	like "it says whose" "$(cat "$T/err")" "belongs to the user 12345: .*--replay-foreign"
	code "of another user, all the same" 0 again --replay b --replay-foreign
	chown -R 0 b && chown 12345 b/plan.json
	code "its plan of another user" 3 again --replay b
else
	skip "a directory of another user" "only root can give files away"
fi
rm -rf b
cp -r "$governed" b
jq '.recorded.configuration.model.command = ["echo", "\u001b[31mred"]' b/plan.json >x && cat x >b/plan.json
code "control characters" 0 again --replay b
check "are not printed" sh -c "! grep -q \$(printf '\\033')'\\[31m' '$T/err'"
jq '.recorded.configuration.model.comand = "x"' b/plan.json >x && cat x >b/plan.json
code "an unknown key" 3 again --replay b
like "has its place" "$(cat "$T/err")" "b/plan.json:[0-9]+: unknown key 'comand' in model; did you mean 'command'"
