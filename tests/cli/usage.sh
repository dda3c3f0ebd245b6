#!/usr/bin/env bash
# The command line itself: help, lists, mistakes and their suggestions.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 1

code "no command is a usage error" 2 "$PROFRIG"
for what in --help --version "list samplers" "completion bash"; do
	# shellcheck disable=SC2086
	code "$what, into a full disk" 1 sh -c '"$0" "$@" >/dev/full' "$PROFRIG" $what
done
code "--help" 0 "$PROFRIG" --help
for c in run plan build sample analyze report info list doctor; do
	code "$c --help" 0 "$PROFRIG" $c --help
	like "$c --help has an example" "$(cat "$T/out")" "example: profrig $c"
done
commands=$("$PROFRIG" __man | grep -v '^profrig')
for c in "" $commands; do
	# shellcheck disable=SC2086
	code "${c:-profrig} --help" 0 "$PROFRIG" $c --help
	is "help of ${c:-profrig}: 80 columns hold it, but for examples" "$(grep -v '^example:' "$T/out" | LC_ALL=C.UTF-8 grep -cE '.{81}')" 0
	is "help of ${c:-profrig}: its columns hold" "$(sed -n '/^usage/,/^example/p' "$T/out" | sed '1,/^$/d' | LC_ALL=C.UTF-8 grep -E '^ +-' | LC_ALL=C.UTF-8 grep -vE '^.{26}  [^ ]|^ +-[^ ]*(, --[^ ]*)?( [^ ]*)?$')" ""
	cat "$T/out" >>"$T/words"
done
for l in options warnings tools readers samplers; do "$PROFRIG" list $l; done >>"$T/words" 2>&1
is "no word that stops a reader" "$(grep -nE '\b([Ii]s told|are told|[Ww]hoever|[Ss]omebody|[Nn]obody|amiss|so long)\b' "$T/words")" ""
is "nor in the documentation" "$(grep -nE '\b([Ww]hoever|[Ss]omebody|[Nn]obody|amiss)\b' README.md CONTRIBUTING.md docs/*.md docs/man/*.man | grep -v '\[nobody\]')" ""
for w in "sample S seconds before and after the workload" "pause between runs" "treat unsupported tools as warnings" "list tools, engines, runs, …" "list models and their problems"; do
	check "help says '$w'" grep -qF -- "$w" "$T/words"
done
code "a mark outside of a run" 4 env -u PROFRIG_MARK "$PROFRIG" mark x
like "says so" "$(cat "$T/err")" "not started by profrig run"
code "--version" 0 "$PROFRIG" --version
like "tells what was built in" "$(cat "$T/out")" "engines: .*host.*readers: .*tef.*page: "
code "an unknown command" 2 "$PROFRIG" analyse
like "gets a suggestion" "$(cat "$T/err")" "did you mean 'analyze'"
code "an unknown option" 2 "$PROFRIG" run --tool x -- true
code "an unknown option of another kind" 2 "$PROFRIG" run --engin host -- true
code "a misspelt option" 2 "$PROFRIG" plan --labell a=b -- true
like "gets a suggestion" "$(cat "$T/err")" "did you mean '--label'"
code "an option that only other commands have" 2 "$PROFRIG" report --json "$T"
is "is not suggested again" "$(cat "$T/err")" "profrig: error: report: unknown option '--json' ('profrig report --help' shows how)"
code "a value for a flag" 2 "$PROFRIG" run --live=yes -- true
like "is reported as such" "$(cat "$T/err")" "'--live' takes no value"
code "an empty folder for runs" 2 "$PROFRIG" run -o "" -- true
code "two unknown tools" 2 "$PROFRIG" run --tools foo,blas_trac -- true
like "are both told" "$(cat "$T/err")" "unknown tool 'foo'.*unknown tool 'blas_trac'; did you mean 'blas_trace'"
code "an unknown sampler on the command line" 2 "$PROFRIG" plan --tools gpu_power --set tools[0].options.source=nvlm -- true
like "is reported" "$(cat "$T/err")" "option 'source' of tool 'gpu_power': unknown 'nvlm'"
echo 'tools: [{name: gpu_power, options: {source: nvlm}}]' >"$T/sampler.yaml"
code "in a file" 3 "$PROFRIG" plan --config "$T/sampler.yaml" -- true
like "is reported with its place" "$(cat "$T/err")" "sampler.yaml:1: option 'source'"
code "a folder as configuration" 2 "$PROFRIG" plan --config "$T" -- true
like "is reported as such" "$(cat "$T/err")" "is a folder"
code "a configuration through a pipe" 0 "$PROFRIG" -q plan --engine host --config <(echo 'env: {PIPED: yes}') -- true
like "is read" "$(cat "$T/out")" "env.PIPED +yes"
code "no model" 2 "$PROFRIG" run
code "model and command" 2 "$PROFRIG" run examples/mlp -- true
code "a bad duration" 2 "$PROFRIG" run --timeout soon -- true
printf '#!/bin/sh\nx: y: z\n' >"$T/train.sh" && chmod +x "$T/train.sh"
code "a program as a model" 2 "$PROFRIG" run --engine host "$T/train.sh"
like "the message says what to write" "$(cat "$T/err")" "profrig run -- $T/train.sh"
code "what only containers have, on host" 0 "$PROFRIG" plan --engine host --image chk:1 --set container.network=none --set "mounts=[{host: /tmp, container: /data}]" -- true
is "is reported once, by its keys" "$(grep ignores "$T/err")" "profrig: warning: engine 'host' ignores container settings: model.image, mounts, container.network"
printf "%s\n" "model: {name: m, command: [true], image: x}" "container: {network: none, caps: [], shm_size: 1g}" >"$T/boxed.yaml"
code "of a model" 0 "$PROFRIG" plan --engine host --baseline --tools cpu_power "$T/boxed.yaml"
is "it is a notice" "$(grep "engine .host. ignores" "$T/err")" "profrig: engine 'host' ignores container settings of the model: container.network, container.shm_size"
echo "engine: host" >>"$T/boxed.yaml"
code "of one for the host" 0 "$PROFRIG" plan "$T/boxed.yaml"
like "a warning" "$(cat "$T/err")" "warning: .*ignores container settings: model.image, container.network, container.shm_size"
code "an unknown model" 2 "$PROFRIG" run nosuchmodel
mkdir "$T/empty"
for word in nosuch.yaml nosuch.json ./nosuch; do
	code "a file that is not there, and no model either: 2" 2 env -C "$T/empty" "$PROFRIG" run $word
	like "is named" "$(cat "$T/err")" "there is no file or folder '$word', and no model of that name"
done
for k in tools engines samplers readers analyses tables reports converters models options warnings runs campaigns counters; do
	code "list $k" 0 "$PROFRIG" list $k
	code "list $k --json" 0 "$PROFRIG" list $k --json
	check "list $k --json is JSON" jq -e 'type == "array"' "$T/out"
done
# what a list has and its page in docs lacks
undocumented() { "$PROFRIG" list "$1" --json | jq -r "$2" | while read -r word; do grep -qF -- "$word" "docs/$3" || echo "$word"; done; }
commands=$("$PROFRIG" --help | awk '/^  [a-z]/ && NF > 1 && $1 != "profrig" { print $1 == "lib" || $1 == "campaign" ? $1 " " $2 : $1 }')
is "docs/contract.md names every command" \
	"$(while read -r c; do sed -n '/^## Commands/,/;/p' docs/contract.md | grep -qF "\`$c\`" || echo "$c"; done <<<"$commands")" ""
is "docs/samplers.md has a row for every sampler" "$(undocumented samplers '.[] | "| `" + .name + "` |"' samplers.md)" ""
is "docs/engines.md has a column for every engine" "$(undocumented engines '.[] | "| " + .name + " |"' engines.md)" ""
is "docs/convert.md has the ending of every converter" "$(undocumented converters '.[].files | split(" ")[-1] | "| `" + .' convert.md)" ""
like "list models shows the tags" "$("$PROFRIG" list models)" "mlp +demo,cpu "
like "list tables has the columns of a table and their units" "$("$PROFRIG" list tables)" "busy +union_ns +i64 +ns"
like "list readers shows the dialects" "$("$PROFRIG" list readers)" "chrome,kineto,rocprof_v1,rocprofv3,profrig,uftrace,tensorflow,ascend"
code "list of what there is not" 2 "$PROFRIG" list tols
like "gets a suggestion" "$(cat "$T/err")" "did you mean 'tools'"
code "two lists at once" 2 "$PROFRIG" list tools engines
like "are told apart from a misspelt one" "$(cat "$T/err")" "one list at a time"
for c in "list tools" doctor; do
	code "$c without its folder of tools" 2 "$PROFRIG" $c --tools-dir "$T/none"
	is "prints no list" "$(cat "$T/out")" ""
done
code "doctor takes no names" 2 "$PROFRIG" doctor host
check "every shipped tool is whole" sh -c "! '$PROFRIG' list tools | grep BROKEN"
code "doctor" 0 "$PROFRIG" doctor
like "doctor: what fetches data" "$(cat "$T/out")" "ok +data +libcurl"
like "doctor names the host engine" "$(cat "$T/out")" "ok +engine +host"
mkdir "$T/needs"
printf '%s\n' 'name: dev' 'class: env' 'env: {A: b}' 'needs: [/dev/null, sh]' >"$T/needs/dev.yaml"
printf '%s\n' 'name: lib' 'class: env' 'env: {A: b}' 'needs: [libno-such.so.9]' >"$T/needs/lib.yaml"
printf '%s\n' 'name: wrapper' 'class: wrap' 'wrap: [no-such-program]' >"$T/needs/wrapper.yaml"
printf '%s\n' 'name: torn' 'class: wrap' 'wrapp: [x]' >"$T/needs/torn.yaml"
printf '%s\n' 'name: told' 'class: env' 'env: {A: b}' 'needs: [no-such-program]' 'install: {no-such-program: get it}' >"$T/needs/told.yaml"
PROFRIG_SYSFS_ROOT=$T/none "$PROFRIG" doctor --tools-dir "$T/needs" --json >"$T/out"
found() { jq -r ".[] | select(.kind == \"tool\" and .name == \"$1\") | .state + \" \" + .detail" "$T/out"; }
like "doctor: a device file is there" "$(found dev)" "^ok"
like "doctor: a library is not" "$(found lib)" "^no needs 'libno-such.so.9', which is not there"
like "doctor: nor the program of a wrapper" "$(found wrapper)" "^no needs 'no-such-program'"
is "doctor: what installs it" "$(jq -r '.[] | select(.name == "told") | .fix' "$T/out")" "get it"
like "doctor: a torn file" "$(found torn)" "^no .*torn.yaml:3: unknown key 'wrapp'"
like "doctor: a tool whose sampler has no sensor" "$(found rapl)" "^no sampler 'rapl' does not work here$"
PROFRIG_DOCKER=$T/nodocker "$PROFRIG" doctor --json >"$T/out" 2>"$T/err"
is "what can be fixed says how" "$(jq -r '.[] | select(.name == "docker") | .fix' "$T/out" | cut -c 1-24)" "apt-get install docker.i"
if need terminal script -qec true /dev/null; then
	for what in "run -o $T/runs -- true" "sample --source estimate --duration 0.4"; do
		is "a dumb terminal, ${what%% *}: no escape sequence" "$(TERM=dumb script -qec "$PROFRIG $what" /dev/null | grep -c "$(printf '\033')") $(TERM=xterm script -qec "$PROFRIG $what" /dev/null | grep -c "$(printf '\033')" | sed 's/[1-9].*/some/')" "0 some"
	done
	PROFRIG_DOCKER=$T/nodocker script -qec "stty cols 80; $PROFRIG doctor" /dev/null | tr -d '\r' >"$T/out"
	is "on a terminal nothing is wider than it" "$(LC_ALL=C.UTF-8 grep -cE '.{81}' "$T/out")" 0
	check "and the whole command is there" sh -c "tr -s '\n ' ' ' <'$T/out' | grep -qF 'Fix: apt-get install docker.io && systemctl start docker'"
else
	skip "the width of a terminal" "there is none to be had by script(1)"
fi
printf "model: {name: a, command: [echo, hello from the workload]}\nlive: true\n" >"$T/live.yaml"
code "a run that shows its output because its file says so" 0 "$PROFRIG" run --engine host -o "$T/runs" "$T/live.yaml"
like "shows it" "$(cat "$T/err")" "hello from the workload"
code "a run with a baseline" 0 "$PROFRIG" run --baseline --set tools[0].sampler.period_s=0.05 --tools cpu_power --engine host -o "$T/based" -- sleep 0.3
is "is two, the first without tools" "$(while read -r d; do jq -r '(.tools | length | tostring) + " " + (.labels.baseline // "-")' "$d/run.json"; done <"$T/out" | tr '\n' ' ')" "0 true 1 - "
check "the second says what the tools cost" jq -e --arg id "$(basename "$(head -n 1 "$T/out")")" '[.metrics[] | select(.source == $id) | .name + " " + .unit] == ["baseline s", "overhead %"]
	and ([.metrics[] | select(.name == "baseline")][0].value | . >= 0.3 and . < 60)' "$(tail -n 1 "$T/out")/run.json"
like "and so does its summary" "$(grep -c '% \(longer\|shorter\) than without tools' "$T/err") $(grep -c 'this is the baseline' "$T/err")" "^1 2$"
code "plan of a run with a baseline" 0 "$PROFRIG" -q plan --baseline --engine host --tools cpu_power -- sleep 0.3
is "is that of both" "$(grep -c "^run " "$T/out")" 2
code "plan of a command" 0 "$PROFRIG" -q plan --engine host --tools cpu_power -- echo hello world
like "plan shows the argv" "$(cat "$T/out")" "echo hello world"
"$PROFRIG" -q plan --engine host --set env.PA=ü --set env.PB='ö ö' -- true >"$T/letters"
is "its columns hold for all letters" "$(export LC_ALL=C.UTF-8; grep '^  env.P[AB] .*command line$' "$T/letters" | while IFS= read -r line; do echo ${#line}; done | sort -u | wc -l)" 1
for f in text json sh; do code "plan --format $f" 0 "$PROFRIG" -q plan --engine host --format $f --tools blas_trace,roctx_trace examples/mlp; done
code "plan as a script is a script" 0 sh -n "$T/out"
cat >"$T/bad.yaml" <<'Y'
model: {command: [true], comand: x}
tools: [rocprof, rocprofv3]
engine: docker
pre_scripts: [nosuch.sh]
Y
code "a configuration with mistakes of every kind" 3 "$PROFRIG" run -o "$T/none" --repeat 3 --config "$T/bad.yaml"
is "all are reported, each once" "$(sed "s,$T/,,g; s/^profrig: error: //" "$T/err")" "bad.yaml:1: unknown key 'comand' in model; did you mean 'command'?
bad.yaml:2: tools 'rocprof' and 'rocprofv3' cannot run together (both trace the GPU, which has room for one: gpu-tracer): leave one out
bad.yaml:3: engine 'docker' needs an image: model.image or --image
bad.yaml:4: script 'nosuch.sh' is not there
4 problems in the configuration; nothing was started"
echo '{"model": {"command": ["true"]}, "engine": "singularity"}' >"$T/engine.json"
code "an engine that this version does not have" 3 "$PROFRIG" plan --config "$T/engine.json"
like "is reported with its place" "$(cat "$T/err")" "engine.json:1: engine: unknown 'singularity'"
code "on the command line" 2 "$PROFRIG" plan --engine singularity -- true
code "by --set" 2 "$PROFRIG" plan --set engine=singularity -- true
mkdir "$T/m1" "$T/m2"
echo 'model: {command: [true]}' >"$T/m1/profrig.yaml"
echo 'model: {command: [true], comand: x}' >"$T/m2/profrig.yaml"
code "the second of two models has a mistake" 3 "$PROFRIG" run -o "$T/none" --engine host --set foo=1 "$T/m1" "$T/m2"
is "what both have is reported once" "$(grep -c "unknown key 'foo'" "$T/err")" 1
like "and what the second has too" "$(cat "$T/err")" "m2/profrig.yaml:1: unknown key 'comand'"
code "the second of two models is unknown" 2 "$PROFRIG" run -o "$T/none" --engine host "$T/m1" nosuch
check "none of them started" test ! -e "$T/none"
code "two models" 0 "$PROFRIG" -q run -o "$T/two" --engine host --no-analyze --repeat 2 "$T/m1" "$T/m1"
is "make a run each time" "$(sort -u "$T/out" | wc -l) $(find "$T/two" -name run.json | wc -l)" "4 4"
for v in -q "" -v -vv; do "$PROFRIG" run $v -o "$T/two" --engine host --tools cpu_usage --set env.API_KEY=hunter2 -- echo x 2>&1 >/dev/null | grep -v / >"$T/v$v"; done
is "-q: nothing at all" "$(cat "$T/v-q")" ""
is "nothing asked for: no word of samplers" "$(grep -c 'sampler procfs' "$T/v")" 0
like "-v: the sampler" "$(cat "$T/v-v")" "sampler procfs of cpu_usage, every 0.1 s"
like "-vv: the environment too" "$(cat "$T/v-vv")" "debug: workload: API_KEY=\*\*\* \(command line\)"
code "--verbose before the command" 0 "$PROFRIG" --verbose -v run -o "$T/two" --engine host --no-analyze -- true
like "twice is -vv" "$(cat "$T/err")" "debug: workload: PROFRIG_RUN_ID="
code "live as a key" 0 "$PROFRIG" -q run -o "$T/two" --engine host --no-analyze --set live=true -- echo shown
is "shows the output" "$(cat "$T/err")" shown
code "a plan of two models" 0 "$PROFRIG" -q plan --engine host "$T/m1" "$T/m1"
is "prints both" "$(grep -c '^run ' "$T/out")" 2
code "which is no script" 2 "$PROFRIG" -q plan --engine host --format sh "$T/m1" "$T/m1"
code "--check tells why, also quietly" 4 "$PROFRIG" -q plan --check --engine docker --image "$T/no" -- true
like "in words" "$(cat "$T/err")" "missing: "
"$PROFRIG" run --help | sed -n 's/^ .*\(--[a-z-]*\).*/\1/p' >"$T/run-options"
"$PROFRIG" plan --help >"$T/plan-help"
check "plan takes every option of run" sh -c 'while read -r o; do grep -q -e " $o" "$2" || { echo "$o"; exit 1; }; done <"$1"' sh "$T/run-options" "$T/plan-help"
code "plan with run's options" 0 "$PROFRIG" -q plan --engine host --live --repeat 2 --no-analyze --propagate -- true
"$PROFRIG" -q plan --engine host --format json examples/mlp >"$T/out" 2>/dev/null
check "plan as JSON is JSON" jq -e '.steps | length >= 1' "$T/out"
"$PROFRIG" -q plan -o "$T/none" --engine host -- true >/dev/null 2>&1
check "plan makes nothing" test ! -e "$T/none"
printf '%s\n' 'env: {API_KEY=hunter2, B_KEY: *hunter2}' >"$T/secret1.yaml"
printf '%s\n' 'a: 1' 'a: 2' 'env:' '  API_KEY=hunter2:' '  B_KEY: !hunter2' '  C_KEY: [hunter2]' '---' >"$T/secret2.yaml"
code "secrets that lack their quotes" 3 "$PROFRIG" plan --config "$T/secret1.yaml" --config "$T/secret2.yaml" -- true
check "are not repeated in messages" sh -c "! grep hunter2 '$T/err'"
like "which say what to do" "$(cat "$T/err")" "needs quotes"
like "and what else there is in a file that ends in a mistake" "$(cat "$T/err")" "secret2.yaml:2: key 'a' is there already"
mkdir "$T/alone" && cp "$PROFRIG" "$T/alone/profrig"
if "$T/alone/profrig" doctor | grep -q '^no *agent'; then
	code "plan without profrig-init" 0 "$T/alone/profrig" plan --engine host -- true
	like "says that it is missing" "$(cat "$T/err")" "missing: profrig-init is neither"
	code "run without profrig-init" 4 "$T/alone/profrig" run -o "$T/none" --engine host -- true
	check "starts nothing" test ! -e "$T/none"
else
	skip "plan without profrig-init" "one is installed"
fi
# The tree that make install makes, under another prefix than the one it was built for.
mkdir -p "$T/inst/bin" "$T/inst/lib/profrig" "$T/inst/share/profrig" "$T/elsewhere"
cp "$PROFRIG" "$T/inst/bin/"
cp "$B/profrig-init" "$B"/libprofrig_*.so "$T/inst/lib/profrig/"
cp -r tools.d pre_scripts post_scripts "$T/inst/share/profrig/"
installed() { env -C "$T/elsewhere" -u PROFRIG_TOOLS_PATH "$T/inst/bin/profrig" "$@"; }
installed list tools --json >"$T/out"
check "installed: every tool is whole" sh -c '! grep BROKEN "$1"' sh "$T/out"
is "installed: its own tools are found" "$(field "$T/out" '[.[] | select(.name == "rpd") | .file] | .[0]')" "$T/inst/share/profrig/tools.d/rpd.yaml"
code "installed: and its agent" 0 installed -q run --engine host --tools cpu_usage --no-analyze -- true
HF_TOKEN=hunter2secret "$PROFRIG" -q plan --engine host --set 'secrets.HF_TOKEN.from_env=HF_TOKEN' --set env.API_KEY=hunter2secret -- true >"$T/out" 2>&1
check "plan shows no secret" sh -c "! grep -q hunter2secret '$T/out'"
# No place to be: relative names would lead anywhere.
gone() { (mkdir -p "$T/gone" && cd "$T/gone" && rmdir "$T/gone" && exec "$PROFRIG" "$@"); }
for c in "run -- touch $T/ran" "plan -- true" "sample -- touch $T/ran" "build x" "discover" "analyze x" "report x" "info x" "convert x -o y.json" \
	"list runs" "prune" "publish runs/x" "pack x -o y.zip" "doctor"; do
	code "in a folder that was removed: $c" 4 gone $c
	like "says what to do" "$(cat "$T/err")" "${c%% *}: the working directory is not there any more: .*; 'cd' to one that is"
done
check "and does nothing" test ! -e "$T/ran" -a ! -e /runs
code "help is there" 0 gone run --help
code "and completion" 0 gone completion bash
# The workload's program is looked for before anything starts.
mkdir -p "$T/prog/bin" && printf 'echo hi\n' >"$T/prog/script" && printf '#!/bin/sh\necho from path\n' >"$T/prog/bin/mine" && chmod +x "$T/prog/bin/mine"
prog_plan() { (cd "$T/prog" && exec "$PROFRIG" plan --engine host --tools-dir "$ROOT/tests/fixtures/tools" "$@"); }
prog() { (cd "$T/prog" && exec "$PROFRIG" -q run -o "$T/prog/runs" --engine host --no-analyze --tools-dir "$ROOT/tests/fixtures/tools" "$@"); }
for c in "./nosuch" "nosuch" "/no/such"; do
	code "no program behind a wrapper: $c" 4 prog --tools A,cpu_usage -- "$c"
	like "is named" "$(cat "$T/err")" "error: no program '$c'.*correct the command"
done
code "no executable behind a wrapper" 4 prog --tools A -- ./script
like "is reported" "$(cat "$T/err")" "'./script' .in .*/prog. may not be executed: 'chmod .x'"
check "and nothing is there" test ! -e "$T/prog/runs"
code "plan tells too" 0 prog_plan --tools A -- ./nosuch
like "what is missing" "$(cat "$T/err")" "missing: no program './nosuch'"
code "no program, not wrapped" 1 prog -- ./nosuch
like "is the run's reason" "$(field "$(cat "$T/out")/run.json" .reason)" "cannot start './nosuch': No such file"
PATH=$T/prog/bin:$PATH code "a program in the caller's PATH" 0 prog --tools A -- mine
code "a program in the workload's PATH" 0 prog --tools A --set "env.PATH=$T/prog/bin:$PATH" -- mine
printf '#!/bin/sh\ncp %s/prog/bin/mine %s/prog/later\n' "$T" "$T" >"$T/prog/pre.sh"
code "a program that a pre script makes" 0 prog --tools A --set "pre_scripts=[{path: $T/prog/pre.sh}]" -- ./later
