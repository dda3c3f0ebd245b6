#!/usr/bin/env bash
# Campaigns on one machine: what they make, how they end, and that each run counts once whatever happens.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/campaigns.sh"
cd "$T" || exit 1

# ---- a campaign that works
file good 3 'echo performance: 1$A s/s' 'baseline: {env.A: "1"}'
code "a campaign" 0 c run good.yaml
is "its folder is printed" "$(cat "$T/out")" "$PWD/campaigns/good"
is "each run is committed once" "$(state campaigns/good '.cells,.runs,.committed,.running,.failed,.left,.superseded')" "[4,12,12,0,0,0,0]"
is "a result for each run, and nothing else" "$(ls -A campaigns/good/results | wc -l)" 12
check "a result names the attempt, whose folder is a run" sh -c 'for f in campaigns/good/results/*; do
	[ "$(cat $f)" = "$(basename $f).1" ] && [ "$(jq -r .id campaigns/good/runs/$(cat $f)/run.json)" = "$(cat $f)" ] || exit 1; done'
is "no other folder of runs" "$(ls -A campaigns/good/runs | wc -l)" 12
is "blocks go there and back" "$(jq -r 'select(.ev=="intend")|.run' campaigns/good/journal.ndjson | cut -d- -f2 | uniq -c | awk '{print $1 ":" $2}' | tr '\n' ' ')" "4:1 4:2 4:3 "
is "the second block is the first one backwards" "$(jq -r 'select(.ev=="intend" and .repeat==1)|.cell' campaigns/good/journal.ndjson)" \
	"$(jq -r 'select(.ev=="intend" and .repeat==2)|.cell' campaigns/good/journal.ndjson | tac)"
is "labels of a run" "$(jq -c '.labels|[.campaign,.repeat,.block]' campaigns/good/runs/*-2.1/run.json | sort -u)" '["good","2","2"]'
is "the workload has the axes' values" "$(cat campaigns/good/runs/*-1.1/steps/*workload.out | sort | tr '\n' ' ')" "performance: 11 s/s performance: 11 s/s performance: 12 s/s performance: 12 s/s "
code "run again" 2 c run good.yaml
like "says how to go on" "$(cat "$T/err")" "is there already.*campaign resume good.yaml"
code "resume of one that is done" 0 c resume campaigns/good
code "the same by its file" 0 c resume good.yaml
code "plan" 0 c plan good.yaml
like "shows cells, order and what is compared" "$(cat "$T/out")" "4 cells × 3 repeats = 12 runs.*A=1 B=x +\(baseline\).*order \(interleaved\): 1 2 3 4 \| 4 3 2 1 \| 1 2 3 4.*by earlier runs"
id=$(jq -r '.cells[0].id' campaigns/good/plan.json)
code "logs of a run" 0 c logs campaigns/good "$id-1"
like "show what it printed" "$(cat "$T/out")" "performance: 11 s/s"

# ---- ids
plan_ids() { c plan "$1" --json | jq -r '.cells[].id' | tr '\n' ' '; }
was=$(plan_ids good.yaml)
sed -i 's/repeat: 3/repeat: 4/' good.yaml
is "repeats are not in an id" "$(plan_ids good.yaml)" "$was"
mkdir elsewhere && cp good.yaml elsewhere
is "nor is the folder" "$(cd elsewhere && plan_ids good.yaml)" "$was"
sed -i 's/echo performance/echo  performance/' good.yaml
[ "$(plan_ids good.yaml)" != "$was" ] && ok "the command is" || not_ok "the command is"
mkdir -p model
printf 'model: {name: m, command: [sh, run.sh]}\n' >model/profrig.yaml
echo 'echo performance: 5 s/s' >model/run.sh
printf 'name: code\nmodels: [model]\nengine: host\nrepeat: 2\nanalyze: false\naxes: {env.A: ["1", "2"]}\n' >code.yaml
code "a model in a folder" 0 c run code.yaml
echo 'echo performance: 6 s/s' >model/run.sh
code "changed code" 2 c resume campaigns/code
like "is said, with the file, and what decides" "$(cat "$T/err")" "A=1: files of the model \(run.sh\) changed.*--keep-old.*--redo"
code "kept" 0 c resume campaigns/code --keep-old
is "it counts" "$(state campaigns/code '.committed,.left')" "[4,0]"
echo 'echo performance: 7 s/s' >model/run.sh
code "measured again" 0 c resume campaigns/code --redo
is "in cells of their own" "$(state campaigns/code '.cells,.committed,.left')" "[2,4,0]"
is "and the old runs stay" "$(ls campaigns/code/results | wc -l)" 8
touch model/other.txt
code "a file more" 2 c resume campaigns/code
rm model/other.txt

# ---- failures
file bad 2 'test "$A" = 1'
code "runs that fail for good" 1 c run bad.yaml
is "are counted" "$(state campaigns/bad '.committed,.failed,.left,.attempts')" "[4,4,0,8]"
like "with the reason, and what to do" "$(cat "$T/err")" "exit.* 1.*failed for good.*4 runs failed for good.*retry --failed"
code "again, without a change" 1 c retry campaigns/bad --failed
is "another attempt each" "$(state campaigns/bad '.committed,.failed,.attempts')" "[4,4,12]"
code "resume does not" 1 c resume campaigns/bad
is "make them again" "$(state campaigns/bad .attempts)" "[12]"
file often 1 'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n; test $n -ge 2' 'retry: {on: [exit], workload: 2}'
code "failures that may be tried again" 0 c run often.yaml
is "as often as is said" "$(state campaigns/often '.committed,.attempts')" "[4,6]"
file metric 1 'echo nothing' 'baseline: {env.A: "1"}
gate: [{metric: performance, threshold: 5%}]'
code "a metric that a gate needs and that is missing" 1 c run metric.yaml
like "is the reason" "$(c status campaigns/metric)" "metric 'performance' is missing"

# ---- stops
file long 3 'sleep 0.2' 'budget_runs: 4'
code "a budget" 6 c run long.yaml
is "ends behind a block" "$(state campaigns/long '.committed,.left')" "[4,8]"
code "goes on" 6 c resume campaigns/long
is "with the next one" "$(state campaigns/long '.committed,.left')" "[8,4]"
file slow 3 'sleep 1.5'
c run slow.yaml >/dev/null 2>slow.err &
pid=$!
wait_for grep -q intend campaigns/slow/journal.ndjson
code "a second process" 4 c resume campaigns/slow
like "is refused by the first one's number" "$(cat "$T/err")" "works on this campaign"
code "drained" 0 c cancel campaigns/slow --drain
wait $pid
is "it ends with runs left" $? 6
is "and none is lost" "$(state campaigns/slow '.committed,.running')" "[1,0]"
c resume campaigns/slow >/dev/null 2>slow.err &
pid=$!
wait_for sh -c '[ "$(grep -c intend campaigns/slow/journal.ndjson)" = 2 ]'
sleep 0.3
code "cancelled" 0 c cancel campaigns/slow
wait $pid
is "it stops" $? 143
is "the run that was ended is no failure" "$(state campaigns/slow '.committed,.failed,.left')" "[1,0,11]"
code "nothing to cancel" 0 c cancel campaigns/slow

# ---- killed, at any moment
file killed 4 'sleep 0.0$B; echo performance: 1 s/s' ''
sed -i 's/\[x, y\]/["1", "9"]/' killed.yaml
setsid "$PROFRIG" campaign run killed.yaml >/dev/null 2>&1 &
pid=$!
wait_for test -s campaigns/killed/journal.ndjson # before it there is nothing to resume
RANDOM=${SEED:-7}
for _ in 1 2 3 4 5 6; do
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	setsid "$PROFRIG" campaign resume campaigns/killed >/dev/null 2>killed.err &
	pid=$!
done
wait $pid
is "after six kills it ends well" $? 0
is "with each run once" "$(state campaigns/killed '.runs,.committed,.left,.failed') $(ls campaigns/killed/results | wc -l)" "[16,16,0,0] 16"
check "each result names a run that ended well" sh -c 'for f in campaigns/killed/results/*; do
	[ "$(jq -r .status campaigns/killed/runs/$(cat $f)/run.json)" = success ] || exit 1; done'
check "the journal commits each run once" test "$(jq -r 'select(.ev=="committed")|.run' campaigns/killed/journal.ndjson | sort | uniq -d | wc -l)" = 0
is "a death of the campaign is no failed attempt" "$(jq -r 'select(.ev=="ended" and .class!="ok")|.class' campaigns/killed/journal.ndjson | sort -u | grep -v interrupted)" ""

# ---- damage
cp -r campaigns/good campaigns/torn
printf '{"seq":99,"t":"20' >>campaigns/torn/journal.ndjson
code "a torn end" 0 c resume campaigns/torn --keep-old
like "is cut and said" "$(cat "$T/err")" "journal ended in the middle of a line: 17 bytes"
is "and kept" "$(cat campaigns/torn/journal.ndjson.torn)" '{"seq":99,"t":"20'
cp -r campaigns/good campaigns/hurt
sed -i '5s/"seq":5/"seq":7/' campaigns/hurt/journal.ndjson
code "a damaged line in the middle" 5 c resume campaigns/hurt
like "is named" "$(cat "$T/err")" "journal.ndjson:5: damaged: its crc is wrong"
code "and status says so, too" 5 c status campaigns/hurt
rm campaigns/good/results/"$id"-1
code "a commit that is gone" 0 c resume campaigns/good --keep-old
file odd 1 'rm -rf $PROFRIG_RUN_DIR/../../results/*; for i in 1 2 3; do mkfifo $PROFRIG_RUN_DIR/../../results/'"$id"'-$i; done; ln -s /etc/passwd $PROFRIG_RUN_DIR/../../results/x'
code "a workload that writes into results/" 0 timeout 60 "$PROFRIG" campaign run odd.yaml

# ---- slots
file slots 2 'echo $SLOT; sleep 0.3' 'slots: [{env: {SLOT: one}}, {env: {SLOT: two}}]'
code "two slots" 0 c run slots.yaml
is "a block stays in its slot" "$(for b in 1 2; do cat campaigns/slots/runs/*-$b.1/steps/*workload.out | sort -u | tr '\n' ' '; done)" "one two "

# ---- files that are wrong
bad() { # NAME PATTERN TEXT…
	printf '%b' "$3" >wrong.yaml
	code "$1" "${4:-3}" c plan wrong.yaml
	like "$1: the message" "$(cat "$T/err")" "$2"
}
H='name: w\nengine: host\nmodels: [{name: m, command: [true]}]\n'
bad "no name" "wrong.yaml:1: a campaign needs a name" 'models: [{name: m, command: [true]}]\n'
bad "a hostile name" "letters, digits" 'name: ../x\nmodels: [{name: m, command: [true]}]\n'
bad "no model" "no model: name some" 'name: w\n'
bad "an unknown key" "unknown key 'repeats'; did you mean 'repeat'" "${H}repeats: 3\n"
bad "an unknown path" "unknown key 'tiemout' in model; did you mean 'timeout'" "${H}axes: {model.tiemout: [1, 2]}\n"
bad "an empty axis" "wants a list of values" "${H}axes: {env.A: []}\n"
bad "a value twice" "this value twice" "${H}axes: {env.A: [1, \"1\"]}\n"
bad "an unequal zip" "2 values, and what it goes together with 1" "${H}axes: {z: {env.A: [1], env.B: [1, 2]}}\n"
bad "an exclude without effect" "takes away nothing" "${H}axes: {env.A: [1, 2]}\nexclude: [{env.A: 3}]\n"
bad "all excluded" "takes away all cells" "${H}axes: {env.A: [1]}\nexclude: [{env.A: 1}]\n"
bad "an axis that nothing uses" "axis 'vars.x' changes nothing" "${H}axes: {vars.x: [1, 2]}\n"
bad "a variable that there is not" "\{var.y\}: no such entry of 'vars'" "${H}env: {A: '{var.y}'}\n"
bad "too many cells" "more than 10000" "${H}axes: {$(for i in 1 2 3 4 5; do printf 'env.V%s: [1,2,3,4,5,6,7], ' $i; done)}\n"
bad "a baseline that no cell has" "no cell has all values" "${H}axes: {env.A: [1, 2]}\nbaseline: {env.A: 3}\n"
bad "a baseline of no axis" "baseline names 'env.Z'" "${H}axes: {env.A: [1, 2]}\nbaseline: {env.Z: 3}\n"
bad "a gate without a baseline" "a gate needs a baseline" "${H}gate: [{metric: performance}]\n"
bad "a threshold that is none" "threshold 'much'" "${H}axes: {env.A: [1, 2]}\nbaseline: {env.A: 1}\ngate: [{metric: performance, threshold: much}]\n"
bad "repeat 0" "repeat" "${H}repeat: 0\n"
bad "an unknown order" "order" "${H}order: backwards\n"
bad "extends that goes round" "extends goes round.*wrong.yaml → .*wrong.yaml" "${H}extends: wrong.yaml\n"
bad "extends of nothing" "extends: .*nowhere.yaml" "${H}extends: nowhere.yaml\n"
code "a secret in the file" 3 c run <(printf "${H}env: {HF_TOKEN: abc}\n")
printf "${H}env: {HF_TOKEN: abc123}\n" >wrong.yaml
code "a secret in a file" 3 c run wrong.yaml
like "is refused with advice" "$(cat "$T/err")" "secrets: \{HF_TOKEN: \{from_env: HF_TOKEN\}\}"
check "and nothing is made" test ! -e campaigns/w
code "no such file" 5 c plan nowhere.yaml
code "no such campaign" 5 c status nowhere

# ---- an engine that is down
printf 'name: down\nengine: docker\nmodels: [{name: m, image: "x:1", command: [true]}]\nrepeat: 1\n' >down.yaml
export PROFRIG_DOCKER=false
code "an engine that does not answer" 4 c run down.yaml
like "is said before anything begins" "$(cat "$T/err")" "engine 'docker' does not answer.*start it"
check "and nothing is made" test ! -e campaigns/down/journal.ndjson
unset PROFRIG_DOCKER

# ---- extends, vars, when
printf 'vars: {n: "7"}\nenv: {BASE: "1", N: "{var.n}"}\nrepeat: 9\n' >base.yaml
printf 'name: more\nextends: base.yaml\nengine: host\nrepeat: 1\nanalyze: false\nmodels: [{name: m, command: [sh, -c, "echo $BASE $N $W"]}]\naxes: {env.A: ["1", "2"]}\nenv: {W: {value: only2, when: {env.A: ["2"]}}}\n' >more.yaml
code "a file that extends another one" 0 c run more.yaml
is "has its values, variables and conditions" "$(cat campaigns/more/runs/*/steps/*workload.out | sort | tr '\n' ',')" "1 7,1 7 only2,"
rm base.yaml more.yaml
code "goes on with its copies" 0 c resume campaigns/more
code "init" 0 c init "$ROOT/examples/mlp" -o made.yaml
code "gives a file that can be planned" 0 c plan made.yaml
code "and is not written over" 2 c init x -o made.yaml

# ---- the verdict
cat >judged.yaml <<'EOF'
name: judged
models: [{name: m, command: [sh, -c, 'case $S in slow) t=88;; *) t=100;; esac; echo performance: $t.$(date +%N | cut -c1-2) s/s']}]
engine: host
axes: {env.S: [base, slow, equal]}
repeat: 6
analyze: false
baseline: {env.S: base}
gate: [{metric: performance, threshold: 5%}]
EOF
code "a gate that fails" 7 c run judged.yaml
like "names the cell" "$(cat "$T/err")" "gate: 1 cell is slower"
is "verdicts are in the store" "$(c query campaigns/judged --format csv "SELECT verdict FROM verdict ORDER BY verdict" | xargs)" "verdict same slower"
code "again" 7 c resume campaigns/judged
is "adds no verdict twice" "$(grep -c '"ev":"verdict"' campaigns/judged/journal.ndjson)" 1
code "without the gate" 0 sh -c "sed 's/judged/free/; /^gate/d' judged.yaml >free.yaml; $PROFRIG campaign run free.yaml"
like "the verdict is shown all the same" "$(cat "$T/err")" "S=slow against S=base.*slower"
c export campaigns/judged -o before.csv 2>/dev/null
code "rebuild" 0 c rebuild campaigns/judged
c export campaigns/judged -o after.csv 2>/dev/null
check "gives the same bytes" cmp before.csv after.csv

# ---- enough, and what follows
file enough 40 'echo performance: 10$A.$(date +%N | cut -c1-2) s/s' 'stop_when: {metric: performance, within: 3%, first: 4}
steps: [[list, runs, -o, "{dir}/runs"], [info, nowhere]]'
code "a campaign that stops when it knows enough" 6 c run enough.yaml
is "has as many blocks as that took" "$(state campaigns/enough '.runs,.committed,.left')" "[16,16,0]"
like "its steps ran, and their ends are known" "$(cat "$T/err")" "step 1, list runs.*: done.*step 2, info nowhere: exit status 5"
is "what a step printed" "$(grep -c 'campaign=enough' campaigns/enough/steps/01-list.out)" 16
code "goes on with what there is" 0 c resume campaigns/enough
is "and does no step twice" "$(grep -c '"ev":"step"' campaigns/enough/journal.ndjson) $(state campaigns/enough .runs)" "2 [16]"
bad "stop_when cell by cell" "with order: sequential there are none" "${H}order: sequential\nstop_when: {within: 2%}\n"
bad "a step that is no list" "a step is a list of words" "${H}steps: [compare]\n"

# ---- publishing
file sent 2 'test "$A" = 1' 'publish: [{to: ndjson, path: sent.ndjson}]'
code "a campaign whose results are published" 1 c run sent.yaml
is "those of committed runs, once each" "$(jq -r ._id sent.ndjson | sort -u | wc -l) $(wc -l <sent.ndjson)" "4 4"

# ---- a machine that gets hot, as files of the kernel say
heat=$PWD/fake/sys/class/thermal/thermal_zone0/temp
count=$PWD/fake/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count
mkdir -p "${heat%/*}" "${count%/*}"
echo 40000 >"$heat"
echo 7 >"$count"
export PROFRIG_NVML_LIB=$PWD/none.so
hot() { PROFRIG_SYSFS_ROOT=$PWD/fake c "$@"; }
one() { # NAME REPEAT COMMAND LINES
	file "$@"
	sed -i '/^axes/d' "$1.yaml"
}
events() { jq -c "select(.ev==\"$2\")|$3" "campaigns/$1/journal.ndjson" | xargs; }
one cools 3 "echo 60000 >$heat" 'cooldown: {seconds: 0.2, limit: 40s}'
(while [ -e "$heat" ]; do sleep 1; grep -qx 60000 "$heat" && echo 42500 >"$heat"; done) 2>/dev/null &
code "a cool-down that waits for the machine" 0 hot run cools.yaml
like "says what it looks at" "$(cat "$T/err")" "cool-downs wait for 1 temperature: 40.0 °C before the first run"
is "once, before the first run, and no limit was reached" "$(events cools idle ".temperature_c|floor") $(events cools intend .cooldown)" "40 null null null"
check "it is cool for five seconds before the next run" jq -es 'def s: .t|sub("\\..*";"Z")|fromdate;
	[.[]|select(.ev=="ended" or .ev=="intend")] | [range(2;6;2) as $i | (.[$i]|s) - (.[$i-1]|s)] | all(. >= 5 and . < 30)' campaigns/cools/journal.ndjson
rm "$heat"
wait
echo 40000 >"$heat"
one limit 2 "echo 70000 >$heat" 'cooldown: {seconds: 0.1, temperature: 2, limit: 2s}'
code "a cool-down with a limit" 0 hot run --json limit.yaml
is "is in the journal and counted" "$(events limit intend .cooldown) $(jq -c '[.cooldown_limit,.committed]' "$T/out")" "null limit [1,2]"
is "and said" "$(grep -c 'ended at its limit of 2 s (70.0 °C): the next run begins' "$T/err")" 1
gpu() { # NVML's library made here: one GPU
	PROFRIG_SYSFS_ROOT=$PWD/none FAKE_NVML_COUNT=1 FAKE_NVML_NOW=$PWD/gpu PROFRIG_NVML_LIB=$B/tests/fakes/fake_nvml.so c "$@"
}
echo 35 60000 1980 >gpu
one gpus 2 "echo 60 300000 1980 >$PWD/gpu" 'cooldown: {seconds: 0.1, limit: 30s}'
(wait_for grep -qx '60 300000 1980' gpu && sleep 2 && echo 37 61000 1980 >gpu) &
code "a cool-down that waits for a GPU" 0 gpu run gpus.yaml
wait $!
like "says so" "$(cat "$T/err")" "cool-downs wait for 1 temperature and the power of 1 GPU: 35.0 °C and 60.0 W of GPUs before the first run"
is "and is over when it has cooled down" "$(events gpus idle '.gpu_power_w|floor') $(events gpus intend .cooldown)" "60 null null"
check "after five seconds" jq -es 'def s: .t|sub("\\..*";"Z")|fromdate;
	[.[]|select(.ev=="ended" or .ev=="intend")] | (.[2]|s) - (.[1]|s) | . >= 6 and . < 25' campaigns/gpus/journal.ndjson
code "no sensor" 0 env PROFRIG_SYSFS_ROOT="$PWD/none" "$PROFRIG" campaign run -o none limit.yaml
is "is said once, and the time counts" "$(grep -c 'neither a temperature nor a power can be read here: cool-downs are 0.1 s' "$T/err")" 1
one stopped 2 "echo 70000 >$heat" 'cooldown: {limit: 10m}'
echo 40000 >"$heat"
PROFRIG_SYSFS_ROOT=$PWD/fake "$PROFRIG" campaign run stopped.yaml >/dev/null 2>&1 &
wait_for grep -q '"committed"' campaigns/stopped/journal.ndjson
sleep 1
kill -TERM $!
wait $!
is "SIGTERM ends a cool-down" "$? $(state campaigns/stopped .committed,.left)" "143 [1,1]"
echo 41000 >"$heat"
code "resume" 0 hot resume campaigns/stopped
like "goes on with the idle machine of then" "$(cat "$T/err") $(events stopped idle '.temperature_c|floor')" "40.0 °C before the first run.* 40$"

# ---- a processor that is throttled
throttles='n=$(cat '$count'); if [ $n -lt $TO ]; then echo $((n + 1)) >'$count'; fi'
one throttled 1 "${throttles/\$TO/9}" ''
code "a run while the processor is throttled" 0 hot run --json throttled.yaml
is "is an extra one, each time" "$(events throttled ended '[.class,.throttled]')" "[invalid,1] [invalid,1] [ok,null]"
like "which is said" "$(cat "$T/err")" "attempt 1: the processor was throttled 1 time"
is "nothing is left behind" "$(state campaigns/throttled '.committed,.failed,.attempts,.superseded') $(jq .throttled "$T/out")" "[1,0,3,0] 0"
is "the store has the reason" "$(c query campaigns/throttled --format csv "SELECT class, reason FROM attempt WHERE n = 1" | tail -1)" "invalid,the processor was throttled 1 time"
one flagged 1 "${throttles/\$TO/999}" 'retry: {invalid: 1}'
code "one that always is" 0 hot run --json flagged.yaml
is "counts in the end" "$(events flagged ended '[.class,.throttled]') $(jq -c '[.throttled,.committed]' "$T/out")" "[invalid,1] [ok,1] [1,1]"
like "and is flagged" "$(cat "$T/err")" "throttled 1 time, and it counts: no extra run is left \(retry.invalid\)"
code "resume of it" 0 hot resume campaigns/flagged
is "changes nothing" "$(state campaigns/flagged .committed,.attempts,.superseded)" "[1,2,0]"
one last 1 true 'cooldown: 10m'
code "no pause follows the last run" 0 timeout 60 "$PROFRIG" campaign run last.yaml
bad "a cool-down that is none" "cooldown: want a time" "${H}cooldown: soon\n"
bad "a limit below the pause" "cooldown.limit is less" "${H}cooldown: {seconds: 10, limit: 5}\n"
bad "a share of nothing" "cooldown.power 'much'" "${H}cooldown: {power: much}\n"
bad "an idle machine beside other slots" "beside other slots" "${H}cooldown: {}\nslots: [{env: {A: x}}, {env: {A: y}}]\n"

# ---- a job whose time ends: SIGUSR1, which the workload does not get
file time 1 '[ ! -e again ] || { touch began; sleep 2; }'
code "four runs" 0 "$PROFRIG" campaign run time.yaml
rm -r campaigns/time/results/*
touch again
names=$(jq -r 'select(.ev=="committed")|.run + ".2"' campaigns/time/journal.ndjson | paste -sd,)
"$PROFRIG" campaign work "$PWD/campaigns/time" --attempts "$names" >work.out 2>&1 &
wait_for test -e began
kill -USR1 $!
wait $!
is "the job ends well" $? 0
is "the run that it found ends well, and none begins" "$(ls campaigns/time/results | wc -l) $(ls -d campaigns/time/runs/*.2 | wc -l) $(jq -r .status campaigns/time/runs/*.2/run.json)" "1 1 success"
