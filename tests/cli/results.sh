#!/usr/bin/env bash
# Results of runs: values in the output, results files, lines that look like errors, and the table over all runs.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
run() { "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze "$@"; }
last() { cat "$T/out"; }
json() { jq -r "$1" "$(last)/run.json"; }
# cell COLUMN ROW: of perf.csv, rows from 1; -1 is the last
cell() {
	"$PYTHON" - "${3:-perf.csv}" "$1" "$2" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline='')))
n = int(sys.argv[3])
print(rows[n - 1 if n > 0 else n][sys.argv[2]])
PY
}
PYTHON=$(command -v python3) || { skip "results" "python3 reads the tables here" && exit 0; }

# the forms a result may have
while IFS='|' read -r text want; do
	code "a run that prints '$text'" 0 run -- printf '%s\n' "$text"
	is "its result" "$(json '.metrics | map(select(.name == "performance"))[0] | if . == null then "none" else "\(.value) \(.unit)" end')" "$want"
done <<'CASES'
performance: 14164 x|14164 x
performance: 14164/s, x|14164 x/s
performance: 1.2e+4, x|12000 x
performance: .5 x|0.5 x
performance: -3 x|-3 x
performance: 123, /s x|123 x/s
performance: 1,234 tok|1234 tok
performance: nan x|null x
performance: 12|none
val_performance: 3 q|none
CASES
for words in '\033[1;32mperformance: 5 x\033[0m' '\033[0m performance:\033[36m 5\033[0m x\033[m\n' 'a\033[mperformance: \033[36m5/s,\033[0m x'; do
	code "a line in colour" 0 run -- printf "$words"
	like "in colour: ${words//\\/}" "$(json '.metrics[] | select(.name == "performance") | "\(.value) \(.unit)"')" '^5 x(/s)?$'
done
code "what only looks like one" 0 run -- printf 'val_[32mperformance: 5 x\n' >/dev/null 2>&1
is "is none: it would have ESC in front" "$(json '[.metrics[] | select(.name == "performance")] | length')" 0
code "a value at the end of its line" 0 run -- printf 'performance: 12\nseconds passed\n'
is "takes nothing from the next" "$(json '[.metrics[] | select(.name == "performance")] | length')" 0
like "and is reported" "$(json '.warnings[] | select(.code == "W_RESULT") | .text')" "steps/01-workload.out:1: 'performance: 12' begins like a result"
code "digits in groups" 0 run -- echo 'performance: 1,234 tok'
like "are reported" "$(json '.warnings[].text')" "1,234, were read as one number"
code "a value that is no number" 0 run -- echo 'performance: nan tok'
like "is reported" "$(json '.warnings[].text')" "line 1, is not a number"
code "on the error output" 0 run -- sh -c 'echo performance: 5 x >&2'
is "a result counts too" "$(json '.metrics[0] | "\(.value) \(.detail.file)"')" "5 steps/01-workload.err"

code "as JSON" 0 run --json -- echo performance: 5 samples/s
is "the run says its result" "$(jq -r .result "$T/out")" "5 samples/s"

# all of them are kept, and which is reported is said
values='for i in 10 1 2 3; do echo performance: $i x/s; done'
code "several values" 0 run -- sh -c "$values"
is "all of them with their lines" "$(json '.metrics[0].detail | [.matches, .pick, (.values | map("\(.line):\(.value)") | join(" "))] | join(", ")')" \
	"4, last, 1:10 2:1 3:2 4:3"
while read -r pick steady want; do
	code "pick $pick of the steady part behind $steady" 0 run --set "results.pick=$pick" --set "results.steady=$steady" -- sh -c "$values"
	is "is $want" "$(json '.metrics[0].value')" "$want"
done <<'CASES'
first 0 10
median 0 2.5
mean 1 2
max 25% 3
min 0 1
CASES
code "a pattern of one's own" 0 run --set 'results.pattern=step (?<name>\w+) took (?<value>[0-9.]+) (?<unit>\w+)' -- printf 'step a took 3 ms\nstep b took 4 ms\nstep a took 5 ms\n'
is "each name is a metric" "$(json '[.metrics[] | select(.detail) | "\(.name) \(.value) \(.unit)"] | join(", ")')" "a 5 ms, b 4 ms"
printf 'model: {name: m, command: [true]}\nresults:\n  pattern: "x(?<v>1)"\n  pick: lats\n  steady: -1\n  error_patterns: []\n  benign_patterns: ["/(/"]\ndisk: {min_free: lots}\n' >c.yaml
code "what is wrong with a rule is 3" 3 run --config c.yaml
for words in "c.yaml:3: .*no group 'value'" "c.yaml:4: .*did you mean 'last'" "c.yaml:5: .*such as 10%" "c.yaml:6: .*log_scan: off" "c.yaml:7: .*no regular expression" \
	"c.yaml:8: disk.min_free"; do
	like "told with its line: $words" "$(cat "$T/err")" "$words"
done

# results that have to be there
code "a run without the result it needs is 7" 7 run --set results.require=true -- echo nothing
is "its status and reason" "$(json '.status + ": " + .reason')" "failed: no result: the workload printed no 'performance: VALUE UNIT' (results.require)"
MAD_COLLECT_METRICS=false code "unless nobody collects them" 0 run --set results.require=true -- echo nothing
code "a result that is no number is none" 7 run --set results.require=true -- echo performance: nan x
code "a result that is there" 0 run --set results.require=true -- echo performance: 3 x
code "a run that fails, fails for its own reason" 1 run --set results.require=true -- sh -c 'exit 3'
is "which is reported" "$(json .reason)" "workload exited with status 3"

# a results file
mkdir m
rows='model , performance , metric , batch\na, 1 ,x/s,8\nb,2,x/s,16\nc,3,ms,32\nd,4,ms,64\n'
printf 'model: {name: mm, command: [sh, -c, "printf \\"%%b\\" \\"$ROWS\\" >$WHERE/res.csv"]}\nresults: {csv: res.csv}\nenv: {ROWS: "%s", WHERE: .}\n' "${rows//\\/\\\\}" >m/profrig.yaml
code "a model with a results file" 0 run --perf-csv perf.csv m
is "a row is a metric" "$(json '[.metrics[] | select(.source == "results.csv") | "\(.name)=\(.value) \(.unit) \(.detail.columns.batch)"] | join(", ")')" \
	"mm_a=1 x/s 8, mm_b=2 x/s 16, mm_c=3 ms 32, mm_d=4 ms 64"
check "the file is kept with the run" cmp m/res.csv "$(last)/results/res.csv"
is "it gives as many rows of the table" "$("$PYTHON" -c 'import csv; print(",".join(r["model"] + ":" + r["performance"] + ":" + r["batch"] for r in csv.DictReader(open("perf.csv"))))')" \
	"mm_a:1:8,mm_b:2:16,mm_c:3:32,mm_d:4:64"
code "one that was there before is none" 6 run --set 'env.WHERE=/nonexistent' --set 'model.command=[true]' --set 'results.require=false' m
touch -d '1 hour ago' m/res.csv
code "one of an earlier run neither" 6 run --set 'model.command=[true]' m
like "and it is said" "$(json '[.warnings[].text] | join("; ")')" "was there before the workload began"
rm m/res.csv
code "without it the run is partial" 6 run --set 'model.command=[true]' m
like "which says what is missing" "$(json .reason)" "no usable results file 'res.csv'"
code "or failed, where results must be" 7 run --set 'model.command=[true]' --set results.require=true m
code "a wrong one" 6 run --set 'env.ROWS=a,b\n1,2\n' m
like "is reported with its line" "$(json '[.warnings[].text] | join("; ")')" "res.csv:1: no column 'model'"
code "files of ranks" 0 run --set 'results.csv=rank*.csv' --set 'model.command=[sh, -c, "for r in 1 2 3; do printf \"model,performance,metric\nx,$r,tok/s\nx,$r,latency_ms\n\" >rank$r.csv; done"]' m
is "become one result each" "$(json '[.metrics[] | select(.source == "results.csv") | "\(.value) \(.unit) \(.detail.merge) \(.detail.merged)"] | join(", ")')" \
	"6 tok/s sum 3, 2 latency_ms mean 3"

# lines that look like errors
bad='echo performance: 3 x; echo "RuntimeError: boom"'
code "such a line is a warning" 0 run -- sh -c "$bad"
is "with its place" "$(json '.warnings[] | select(.code == "W_LOG_ERROR") | .text')" "steps/01-workload.out:2: RuntimeError: boom (pattern 'RuntimeError:')"
code "and a failure when told so, also of a run with a result" 1 run --set results.log_scan=fail -- sh -c "$bad"
like "which says why" "$(json .reason)" "looks like an error: steps/01-workload.out:2: RuntimeError: boom"
code "the scan can be switched off" 0 run --set results.log_scan=off -- sh -c "$bad"
is "and is" "$(json '.warnings | length')" 0
code "a benign text with brackets" 0 run --set results.log_scan=fail --set 'results.benign_patterns=["boom (known)"]' -- echo 'RuntimeError: boom (known)'
code "a benign regular expression" 0 run --set results.log_scan=fail --set 'results.benign_patterns=[/^Runtime.*known/]' -- echo 'RuntimeError: boom (known)'
code "patterns of one's own" 1 run --set results.log_scan=fail --set 'results.error_patterns=[kaputt]' -- echo 'all is kaputt'
for line in 'E20251230 10:00:00.123 99 generateRocpd.cpp:583] RuntimeError: x' 'W20251230 x simple_timer.cpp:55] Exception: y' 'E20251230 tool.cpp:9] FAILED' \
	'[rocprofv3] FAILED' 'rocpd_op: 7 RuntimeError:' 'Opened result file: FAILED' '12 passed, 0 FAILED'; do
	code "a profiler's line fails nothing: ${line:0:24}" 0 run --set results.log_scan=fail -- echo "$line"
done
mkdir s
echo 'echo "FAILED SystemExit RuntimeError: of a script"; echo performance: 99 wrong' >s/pre.sh
code "a script's own lines are not the workload's" 0 run --set results.log_scan=fail --set "pre_scripts=[$T/s/pre.sh]" -- echo performance: 1 right
is "nor are its results" "$(json '.metrics[0].unit')" right
export HIDDEN=hunter2secret
code "a secret that the workload prints with an error" 0 run --set 'secrets.API_TOKEN={from_env: HIDDEN}' -- sh -c 'echo "ValueError: bad key $API_TOKEN"'
check "does not reach run.json" sh -c "! grep -q hunter2secret '$(last)/run.json' && grep -q 'bad key \*\*\*' '$(last)/run.json'"

# the table over all runs
rm -f perf*
T_OUT=$T/out
code "the first row" 0 run --perf-csv perf.csv --label who=me --set model.precision=bf16 --set model.n_gpus=8 --set 'model.tags=[a, b]' -- sh -c 'echo performance: 14164 samples/s' --epochs '3 4'
is "29 columns as madengine's, in its order" "$(head -n 1 perf.csv | cut -d, -f1-29)" "model,n_gpus,nnodes,gpus_per_node,training_precision,pipeline,args,tags,docker_file,base_docker,docker_sha,docker_image,git_commit,machine_name,deployment_type,launcher,gpu_architecture,performance,metric,relative_change,status,build_duration,test_duration,dataname,data_provider_type,data_size,data_download_duration,build_number,additional_docker_run_options"
is "then ours" "$(head -n 1 perf.csv | cut -d, -f30-)" "run_id,started_utc,ended_utc,run_status,reason,phase,exit_code,signal,tools,profiled,baseline,baseline_run_id,overhead_percent,pick,matches,owner,engine,labels,profrig_version,run_dir,extra"
is "the result" "$(cell performance 1) $(cell metric 1) $(cell status 1) $(cell training_precision 1) $(cell n_gpus 1) $(cell tags 1) $(cell labels 1)" "14164 samples/s SUCCESS bf16 8 a,b who=me"
like "the arguments, as a shell wants them" "$(cell args 1)" "--epochs '3 4'"
is "the run" "$(cell run_id 1)" "$(basename "$(cat "$T_OUT")")"
code "a run that fails has its row" 1 run --perf-csv perf.csv -- sh -c 'echo performance: 3 x; kill -SEGV $$'
is "with all that is known" "$(cell status -1) $(cell run_status -1) $(cell signal -1) $(cell reason -1)" "FAILURE failed SIGSEGV workload was killed by SIGSEGV"
code "a time limit" 1 run --perf-csv perf.csv --timeout 0.2 --set grace=1 -- sleep 30
like "says so" "$(cell run_status -1) $(cell reason -1)" "timeout workload took longer than 0.2 s"
code "a run that cannot be set up is 4" 4 env PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" -q run -o "$T/runs" --engine docker --image nosuch --perf-csv perf.csv -- true
like "and has its row" "$(cell status -1) $(cell docker_image -1) $(cell reason -1)" "FAILURE nosuch engine 'docker' does not answer"
echo 'echo ran >>$PROFRIG_RUN_DIR/ran' >s/note.sh
mkdir df && printf 'ARG BASE_DOCKER=debian:12\nFROM $BASE_DOCKER\n' >df/Dockerfile
printf 'model: {name: d, command: [bash, run.sh, --fast, "a b"], image: "x:1", dockerfile: Dockerfile}\n' >df/profrig.yaml
code "a model with a Dockerfile" 4 env PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" -q run -o "$T/runs" --engine docker --perf-csv df.csv df
is "has it in its row, and what it begins with" "$(cell docker_file 1 df.csv) $(cell base_docker 1 df.csv)" "$T/df/Dockerfile debian:12"
is "arguments are what stands behind the script, and no formula" "$(cell args 1 df.csv)" "'--fast 'a b'"
code "without the workload" 0 run --perf-csv perf.csv --skip-model-run --tools cpu_usage --set "pre_scripts=[$T/s/note.sh]" --set "post_scripts=[$T/s/note.sh]" -- sh -c 'echo never >>$PROFRIG_RUN_DIR/ran'
is "the scripts run" "$(tr '\n' ' ' <"$(last)/ran")" "ran ran "
is "and it is skipped" "$(cell status -1) $(json .status)" "SKIPPED skipped"
is "no row was lost" "$(wc -l <perf.csv)" 6
check "perf_entry has the last alone" sh -c '[ "$(wc -l <perf_entry.csv)" = 2 ] && jq -e "length == 1 and .[0].status == \"SKIPPED\"" perf_entry.json'
check "perf_super has all, in two forms" sh -c '[ "$(wc -l <perf_super.csv)" = 6 ] && jq -e "length == 5 and .[0].performance == \"14164\" and .[0].configs == null" perf_super.json'
check "perf_entry_super has the last alone, with what perf_super adds" sh -c '[ "$(wc -l <perf_entry_super.csv)" = 2 ] && [ "$(head -n 1 perf_entry_super.csv)" = "$(head -n 1 perf_super.csv)" ] &&
	jq -e "length == 1 and .[0].status == \"SKIPPED\" and (.[0] | has(\"configs\") and has(\"multi_results\"))" perf_entry_super.json && jq -e ".[0] | has(\"configs\") | not" perf_entry.json'
code "a results file of ten thousand rows" 0 run --perf-csv many.csv --set results.csv=r.csv -- sh -c 'echo model,performance,metric >r.csv; i=0; while [ $i -lt 10000 ]; do echo m$i,$i,q; i=$((i + 1)); done >>r.csv'
check "takes seconds, not minutes" test "$(jq -s '(.[0].ended_utc | .[:19] + "Z" | fromdate) as $e | (now - $e) < 9' "$(last)/run.json")" = true
is "and has its rows" "$(wc -l <many.csv)" 10001
printf 'lr,steps\n0.1,10\n0.2,20\n' >conf.csv
code "a --config of the workload" 0 run --perf-csv perf.csv -- echo performance: 1 x --config conf.csv
is "is in perf_super" "$(jq -c '.[-1].configs' perf_super.json)" '[{"lr":"0.1","steps":"10"},{"lr":"0.2","steps":"20"}]'
is "and in perf_entry_super" "$(jq -c '.[].configs' perf_entry_super.json)$(cell configs -1 perf_entry_super.csv)" '[{"lr":"0.1","steps":"10"},{"lr":"0.2","steps":"20"}][{"lr":"0.1","steps":"10"},{"lr":"0.2","steps":"20"}]'
code "two results of a file" 0 run --perf-csv two.csv --set results.csv=res.csv -- sh -c 'printf "model,performance,metric,batch\nx,1,tok,8\ny,2,tok,16\n" >res.csv'
is "are both in perf_entry_super, with the file's other columns" "$(jq -c '[.[] | [.model, .multi_results.batch]]' two_entry_super.json) $(cell batch 2 two_entry_super.csv) $(cell multi_results 2 two_entry_super.csv)" \
	'[["sh_x","8"],["sh_y","16"]] 16 {"batch":"16"}'
is "in perf_entry they stand beside the rest" "$(jq -c '[.[] | [.batch, .multi_results]]' two_entry.json)" '[["8",null],["16",null]]'
code "the next run" 0 run --perf-csv two.csv -- echo performance: 3 z
is "takes their place" "$(jq -r '.[].metric' two_entry_super.json) $(jq length two_super.json)" "z 3"
mkdir full && mkdir full/p_entry_super.json
code "one that cannot be written" 6 "$PROFRIG" run -o "$T/runs" --engine host --no-analyze --perf-csv full/p.csv -- echo performance: 1 x
like "is reported" "$(cat "$T/err")" "p_entry_super.json"
code "who starts the processes, in a configuration" 0 run --perf-csv l.csv --set model.launcher=deepspeed -- echo performance: 1 x
is "is column launcher" "$(cell launcher -1 l.csv)" deepspeed
code "nobody said" 0 run --perf-csv l.csv -- echo performance: 1 x
is "is empty, as relative_change is" "$(cell launcher -1 l.csv)|$(cell relative_change -1 l.csv)" "|"
mkdir pkg && echo 'echo performance: 1 x' >pkg/run.sh
echo '[{"name": "m", "scripts": "run.sh", "distributed": {"launcher": "torchrun", "nnodes": 1}}, {"name": "n", "scripts": "run.sh"}]' >pkg/models.json
export MODEL_DIR=$T/pkg
code "a model's distributed.launcher" 0 run --perf-csv l.csv -t m
is "is it, too" "$(cell model -1 l.csv) $(cell launcher -1 l.csv)" "m torchrun"
code "a context's goes before it" 0 run --perf-csv l.csv -t m -c "{'distributed': {'launcher': 'deepspeed'}}"
is "alike" "$(cell model -1 l.csv) $(cell launcher -1 l.csv)" "m deepspeed"
mkdir pkg/s && echo 'echo performance: 1 x' >pkg/s/run.sh
printf 'lr,api_key\n0.1,hunter2\n' >pkg/s/c.csv && printf 'a: [1, x]\nb: {c: 0.5, token: hunter2, none: }\n' >pkg/s/c.yaml && echo '[true' >pkg/s/torn.json
echo '[{"name": "s", "scripts": "s/run.sh"}]' >pkg/models.json
code "configurations beside a package's script" 0 run --perf-csv c.csv -t s:config=c.csv,s:config=c.yaml,s:config=torn.json,s:config=none.csv,s:config
is "are found, secrets are masked, and what cannot be read is its name" "$(jq -c '.[].configs' c_super.json | tr '\n' ' ')" \
	'[{"lr":"0.1","api_key":"***"}] {"a":[1,"x"],"b":{"c":0.5,"token":"***","none":null}} "torn.json" "none.csv" null '
echo '[{"name": "n", "scripts": "run.sh"}]' >pkg/models.json
code "a model without one" 0 run --perf-csv l.csv -t n
is "has none" "$(cell model -1 l.csv) $(cell launcher -1 l.csv)" "n "
unset MODEL_DIR

code "a run under a tracer" 0 run --perf-csv perf.csv --baseline --tools-dir "$ROOT/tests/fixtures/tools" --tools A,cpu_power -- echo performance: 5 samples/s
is "its throughput is marked, and that of the baseline is not" "$(cell metric -2) $(cell profiled -2) $(cell baseline -2) | $(cell metric -1) $(cell profiled -1) $(cell tools -1)" \
	"samples/s no yes | samples/s (profiled) yes A+cpu_power"
is "it names the baseline" "$(cell baseline_run_id -1)" "$(cell run_id -2)"
like "and what it cost" "$(cell overhead_percent -1)" "^-?[0-9.e+]+$"
code "a sampler alone marks nothing" 0 run --perf-csv perf.csv --tools cpu_power -- echo performance: 5 samples/s
is "but is named" "$(cell metric -1) $(cell profiled -1) $(cell tools -1)" "samples/s no cpu_power"

printf 'model,performance,metric,status\nold,1,x,SUCCESS\n' >theirs.csv
code "a table of another program" 0 run --perf-csv theirs.csv -- echo performance: 7 y
is "keeps its columns and rows" "$(sed -n '1,3p' theirs.csv | tr '\n' ';')" "model,performance,metric,status;old,1,x,SUCCESS;echo,7,y,SUCCESS;"
printf 'model,performance\ntorn,' >torn.csv
code "a table whose last row is torn" 0 run --perf-csv torn.csv -- echo performance: 7 y
is "keeps what is there" "$(tail -n 2 torn.csv | tr '\n' ';')" "torn,;echo,7;"
echo 'a,b' >other.csv
code "a file that is no such table" 6 "$PROFRIG" run -o "$T/runs" --engine host --no-analyze --perf-csv other.csv -- echo performance: 7 y
like "is left alone, and that is said" "$(cat other.csv) $(cat "$T/err")" "^a,b .*no table of runs"
mkdir -p folder.csv
for to in other.csv folder.csv /proc/nope.csv; do
	code "no table, quietly: $to" 6 run --perf-csv "$to" -- echo performance: 7 y
	like "is an error" "$(cat "$T/err")" "^profrig: error: results of [^ ]*: not kept: '[^']*$to'"
	is "stands in run.json" "$(field "$(cat "$T/out")/run.json" '"\(.status) \(.warnings[] | .code + " " + .severity)"')" "success W_PERF_CSV error"
done
code "no table and a run that fails" 1 run --perf-csv other.csv -- false
code "no table and a run that cannot be set up" 4 run --perf-csv other.csv --engine docker --image "$T/no" -- true
code "no table and two runs with a baseline" 6 run --perf-csv other.csv --baseline --tools cpu_usage -- echo performance: 7 y
code "no table, and analysed" 6 "$PROFRIG" -q run -o "$T/runs" --engine host --perf-csv other.csv --json -- echo performance: 7 y
is "the warning stays" "$(jq .exit_code "$T/out") $(field "$(jq -r .run_dir "$T/out")/run.json" '[.warnings[] | .code] | index("W_PERF_CSV") != null')" "6 true"

# many at once: no row is lost or torn
for i in 1 2 3 4 5 6 7 8; do
	run --perf-csv race.csv --repeat 3 -- echo "performance: $i x" >/dev/null 2>&1 &
	pids="${pids:-} $!"
done
for p in $pids; do wait "$p"; done
is "runs side by side keep all rows" "$("$PYTHON" -c 'import csv; r = list(csv.DictReader(open("race.csv"))); print(len(r), len({x["run_id"] for x in r}), sorted({x["performance"] for x in r}) == list("12345678"))')" "24 24 True"
is "and one header" "$(grep -c '^model,' race.csv)" 1
is "perf_super.json too" "$(jq length race_super.json)" 24
mkdir -p beside/q_entry.csv/x beside/q_super.json
code "companions that cannot be written" 6 run --perf-csv beside/q.csv -- echo performance: 1 x
like "are named, and the table is not" "$(cat "$T/err")" "results of [^ ]*: '[^']*beside/q.csv' has them; '[^']*beside/q_entry.csv', '[^']*beside/q_super.json' lack them: "
is "the table has them" "$(wc -l <beside/q.csv)" 2
is "and the other companions" "$(jq length beside/q_entry.json beside/q_entry_super.json)" "1
1"
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
	at_end "umount -l '$T/small'"
	code "a table on a small disk" 0 run --perf-csv small/p.csv -- echo performance: 1 x
	before=$(cat small/p.csv)
	dd if=/dev/zero of=small/fill bs=1k count=128 2>/dev/null
	for i in 1 2 3 4 5 6 7 8 9 10; do "$PROFRIG" run -o "$T/runs" --engine host --no-analyze --perf-csv small/p.csv -- echo performance: $i x >/dev/null 2>"$T/err" || break; done
	like "that is full is reported and fails no run" "$(cat "$T/err")" "results of [^ ]*: (not kept|'[^']*small/p.csv' has them; '.*' lacks? them): .*No space left"
	check "and holds whole rows only" "$PYTHON" -c 'import csv; r = list(csv.reader(open("small/p.csv"))); assert len({len(x) for x in r}) == 1'
else
	skip "a full disk leaves whole rows" "needs root and tmpfs"
fi

# a model that is not for this machine's GPU: a driver's files, in a mount namespace of their own
printf 'model: {name: picky, command: [touch, %s/ran], skip_gpu_arch: [gfx908, A100]}\n' "$T" >picky.yaml
with_gpu() { # model of the GPU, words for profrig
	unshare -m sh -c 'mount -t tmpfs none /proc/driver && mkdir -p /proc/driver/nvidia/gpus/0 && printf "Model: \t %s\n" "$1" >/proc/driver/nvidia/gpus/0/information && shift && exec "$@"' \
		sh "$1" "$PROFRIG" run -o "$T/runs" --engine host --no-analyze --perf-csv gpu.csv "${@:2}" picky.yaml
}
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /proc/driver 2>/dev/null; then
	code "a model left out on this GPU" 0 with_gpu "NVIDIA A100-SXM4-80GB"
	check "does not run" test ! -e ran
	like "that is said" "$(cat "$T/err")" "picky is skipped: model.skip_gpu_arch leaves out NVIDIA A100-SXM4-80GB"
	is "and is a row" "$(cell status -1 gpu.csv) $(cell model -1 gpu.csv) $(cell gpu_architecture -1 gpu.csv)" "SKIPPED picky NVIDIA A100-SXM4-80GB"
	code "unless it is wanted all the same" 0 with_gpu "NVIDIA A100-SXM4-80GB" --disable-skip-gpu-arch
	check "then it runs" test -e ran
	code "on another GPU" 0 with_gpu "NVIDIA H100 80GB HBM3"
	is "it runs" "$(jq -r .status "$(last)/run.json")" success
else
	skip "a model left out on this GPU" "needs root and /proc/driver"
fi

# The table's lock may be held by somebody who never lets go, and a workload may put something else in its place.
cd "$T" && mkdir -p lock && cd lock || exit 1
touch t.csv
flock t.csv sleep 60 &
holder=$!
wait_for sh -c '! flock -n t.csv true'
"$PROFRIG" -q run --no-analyze -o "$T/runs" --engine host --perf-csv t.csv -- true >out 2>err &
pid=$!
wait_for grep -qs '"status": "success"' "$T/runs/latest/run.json"
sleep 0.3
kill -INT $pid
SECONDS=0
wait $pid
is "a table whose lock is held: Ctrl-C is 130" $? 130
check "at once" test $SECONDS -le 5
like "says who has it" "$(cat err)" "another process holds the lock of '.*t.csv'"
kill $holder
is "nothing was written" "$(cat t.csv)" ""
echo mine >victim
code "a workload that makes the table a link" 6 "$PROFRIG" -q run --no-analyze -o "$T/runs" --engine host --perf-csv new.csv -- ln -s victim new.csv
like "says so" "$(cat "$T/err")" "is a link now, and was none when profrig began"
is "what it led to is as it was" "$(cat victim)" mine
mkfifo fifo.csv
code "a FIFO in its place" 6 timeout 60 "$PROFRIG" -q run --no-analyze -o "$T/runs" --engine host --perf-csv fifo.csv -- true
like "is no table" "$(cat "$T/err")" "is no regular file"

# What a spreadsheet would take for a formula is none in the table; numbers and JSON stay as they are.
mkdir sheet && echo true >sheet/run.sh
for arg in '=1+1' '+a' '@b' '-5'; do
	printf 'model: {name: s, command: [bash, run.sh, "%s"]}\n' "$arg" >sheet/profrig.yaml
	code "an argument $arg" 0 "$PROFRIG" -q run --no-analyze -o "$T/runs" --engine host --perf-csv sheet.csv sheet
done
is "what would be formulas is none, numbers stay" "$(for i in 1 2 3 4; do cell args $i sheet.csv; done | tr '\n' ' ')" "'=1+1 '+a '@b -5 "
is "the companions keep what was said" "$(jq -r '.[0].args' sheet_entry.json)" -5
