#!/usr/bin/env bash
# A package of models.json files: which models there are, which a word chooses, what an entry becomes, what is wrong with one.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/fakes/machine.sh"
plain_machine "$T/plain"
export PROFRIG_SYSFS_ROOT=$T/plain
cp -r "$ROOT/tests/fixtures/mad" "$T/pkg" && cd "$T/pkg" || exit 1
# Where a script is it is run each time.
mv scripts/scripted "$T/scripted"

names() { "$PROFRIG" -q discover --json "$@" 2>/dev/null | jq -r '[.[].name] | join(" ")'; }
of() { "$PROFRIG" -q discover --json "$1" 2>/dev/null | jq -r ".[0] | $2"; }
planned() { "$PROFRIG" -q plan --json --engine host "$@" 2>"$T/err"; }
workload() { planned "$@" | jq -r '.steps[] | select(.kind == "workload") | .argv | join("|")'; }
conf() { # key, arguments
	local key=$1
	shift
	planned "$@" | jq -r --arg k "$key" '.configuration[] | select(.key == $k) | .value + " (" + .origin + ")"'
}

{ printf '\357\273\277' && sed 's/$/\r/' models.json; } >"$T/marked" && cp "$T/marked" models.json
is "a byte order mark and CRLF do no harm" "$(names scoped/all plain)" "scoped/one scoped/two plain"
cp "$ROOT/tests/fixtures/mad/models.json" .

code "an engine that wants images, and models that have none" 3 "$PROFRIG" plan --engine docker --lenient python folder
like "each is reported" "$(cat "$T/err")" "for model 'python': dockerfile, env_vars.DOCKER_IMAGE_NAME or --image.*for model 'folder'"

# The tag grammar.
is "a name" "$(names plain)" "plain"
is "a tag, in every scope" "$(names inference)" "plain scoped/one"
is "a tag written as one text with commas" "$(names python)" "python"
is "a scope's tag" "$(names scoped/inference)" "scoped/one"
is "a scope's name" "$(names scoped/two)" "scoped/two"
is "a scope's all" "$(names scoped/all)" "scoped/one scoped/two"
code "an unscoped word never crosses scopes by name" 2 "$PROFRIG" discover two
like "but is asked for" "$(cat "$T/err")" "no model has the name or tag 'two'; did you mean 'scoped/two'"
is "--tags may be repeated and take commas" "$("$PROFRIG" -q plan --json --engine host -t plain,python -t scoped/two | jq -rs 'map(.model.name) | join(" ")')" \
	"plain python scoped/two"
is "what two words choose runs once" "$(names plain inference)" "plain scoped/one"
is "a tag's arguments" "$(workload plain:batch-size=32:fp16)" "bash|run.sh|--epochs|3|--batch-size|32|--fp16"
is "of a whole scope" "$(workload scoped/two:lr=1e-3)" "bash|main.slurm|--lr|1e-3"
is "a value with '=' and blanks is one word" "$(workload 'plain:x=a b=c')" "bash|run.sh|--epochs|3|--x|a b=c"
is "the same model with other arguments is another" "$(names plain:a=1 plain:a=2)" "plain plain"
code "no match" 2 "$PROFRIG" run -t nosuch
code "no match, as an operand" 2 "$PROFRIG" run nosuch
like "is reported" "$(cat "$T/err")" "no model has the name or tag 'nosuch'; 'profrig discover' lists them"
code "one of several words" 2 "$PROFRIG" plan -t plain,nosuch
code "a scope without that name" 2 "$PROFRIG" plan -t scoped/three
code "the file itself" 2 "$PROFRIG" run models.json
like "the message says how" "$(cat "$T/err")" "'models.json' holds models: choose by name or tag, profrig run -t NAME"
code "its folder" 2 "$PROFRIG" plan .
code "tags and a command" 2 "$PROFRIG" run -t plain -- true
is "YAML models stand beside them" "$(names demo)" "native scoped/two"
is "and take arguments" "$(workload native:n=5)" "./a|-x|--n|5"
like "all is both" "$(names all)" "^native plain .*scoped/one"
cp -r "$T/pkg" "$T/elsewhere"
is "MODEL_DIR is where the package is" "$(cd /; MODEL_DIR=$T/elsewhere names scoped/all)" "scoped/one scoped/two"
code "MODEL_DIR that is none" 3 env MODEL_DIR="$T/none" "$PROFRIG" plan -t plain
like "is reported" "$(cat "$T/err")" "MODEL_DIR: no folder '$T/none'"

# What an entry becomes.
is "a script's kind: .py" "$(workload python)" "python3|main.py"
is "a folder" "$(workload folder)" "bash|run.sh|it's|\$HOME|two words|--"
is "its tags, owner, precision" "$(of plain '[.tags[0], .owner, .precision] | join(" ")')" "inference me@example.org bf16"
is "its number of GPUs" "$(of plain .n_gpus) $(of python .n_gpus)" "2 -1"
is "and of a line" "$(of plain .from) $(of scoped/two .from)" "models.json:2 scripts/scoped/models.json:3"
is "the image's file is a prefix below the package" "$(of plain .dockerfile)" "$T/pkg/docker/plain"
is "or below the scope" "$(of scoped/one .dockerfile)" "$T/pkg/scripts/scoped/docker/one"
is "an image of its own" "$(of image .image)" "busybox:1"
is "multiple_results" "$(conf results.csv plain)" "out.csv (models.json:9)"
is "log_error_pattern_scan" "$(conf results.log_scan plain) $(conf results.log_scan python)" "off (models.json:12) fail (models.json:15)"
is "engine options are cut as a shell would" "$(conf container.options image)" "[--env, 'A=b c', --tmpfs, /x] (models.json:31)"
is "its variables" "$(conf env.MODE image)" "fast (models.json:30)"
is "skip_gpu_arch" "$(conf model.skip_gpu_arch plain)" "[gfx908, A100] (models.json:13)"
like "a deprecated one is reported" "$("$PROFRIG" plan --engine host python 2>&1 >/dev/null)" "models.json:20: this model is deprecated: use plain"
like "words that only a shell would act on are reported" "$("$PROFRIG" plan --engine host folder 2>&1 >/dev/null)" "args: '\\$' is handed on as it is"

is "what madengine hands on of the environment" "$(NCCL_DEBUG=INFO WORLD_SIZE=8 OTHER=x planned plain | jq -r '[.configuration[] | select(.origin == "the caller'"'"'s environment") | .key + "=" + .value] | sort | join(" ")')" \
	"env.NCCL_DEBUG=INFO env.WORLD_SIZE=8"
is "a model that says nothing of itself has failed" "$(conf results.require plain)" "true (models.json:2)"
is "unless that is not wanted" "$(MAD_COLLECT_METRICS=false conf results.require plain) $(conf results.require -c '{"skip_perf_collection": true}' plain)" \
	"false (models.json:2) false (--additional-context:1)"

# GPUs: as many as the model asks for, none where there are none; what is found of the machine.
amd_machine "$T/amd" 4
gpus() { env PROFRIG_SYSFS_ROOT="$T/amd" "$PROFRIG" -q plan --json --engine host "$@" 2>"$T/err" | jq -r '[.configuration[] | select(.key == "gpus") | .value + " (" + .origin + ")"] | join(" ")'; }
is "two of four" "$(gpus plain)" "0-1 (models.json:5)"
is "all of them" "$(gpus python)" "all (models.json:17)"
is "nothing is said, nothing is chosen" "$(gpus folder)" ""
is "of those that are named the first" "$(gpus --set 'gpus=1-3' plain)" "1,2 (command line)"
env PROFRIG_SYSFS_ROOT="$T/amd" "$PROFRIG" -q plan --engine host --set gpus=3 plain >"$T/out" 2>"$T/err"
like "fewer than it asks for are reported" "$(cat "$T/err")" "models.json:5: model.n_gpus: 2, but gpus names fewer: 3"
is "none on a machine without" "$(planned plain | jq '[.configuration[] | select(.key == "gpus")] | length')" 0
like "which is reported" "$("$PROFRIG" plan --engine host plain 2>&1 >/dev/null)" "this machine has no GPU, so the model gets none"
mad() { PROFRIG_SYSFS_ROOT=$1 planned "${@:2}" | jq -r '[.steps[] | select(.kind == "workload") | .env[] | select(.name | test("^MAD_(GPU|SYSTEM|RUNTIME)")) | .name + "=" + .value] | join(" ")'; }
like "what models look for of the machine" "$(mad "$T/amd" plain)" "MAD_GPU_VENDOR=AMD MAD_RUNTIME_NGPUS=2 .*MAD_SYSTEM_GPU_ARCHITECTURE=gfx942 .*MAD_SYSTEM_NGPUS=4"
is "on one without a GPU" "$(mad "$T/plain" plain)" "MAD_RUNTIME_NGPUS=0 MAD_SYSTEM_NGPUS=0"
like "the user's word goes before it" "$(mad "$T/amd" --set env.MAD_GPU_VENDOR=NVIDIA plain)" "MAD_GPU_VENDOR=NVIDIA"

# Timeouts: default, model, command line; 0 is none.
limit() { planned "$@" | jq -r '.steps[] | select(.kind == "workload") | .timeout_s'; }
is "the default limit" "$(limit python)" 7200
is "the model's" "$(limit plain)" 360
is "the command line's" "$(limit --timeout 120 plain)" 120
is "the command line's 7200 is no default" "$(limit --timeout 7200 plain)" 7200
is "none" "$(limit --timeout 0 plain)" 0
is "-1 in an entry is not given" "$(limit folder)" 7200

# Data and credentials.
is "data of data.json, in the order of the providers" "$(planned data | jq -r '[.configuration[] | select(.key | test("^data.*(provider|name)$")) | .value] | join(" ")')" \
	"set local set s3"
is "named once in the list" "$(of data '.data | join(",")')" "set"
is "its endpoint" "$(conf 'data[1].endpoint' data)" "http://localhost:9000 ($T/pkg/data.json:3)"
planned data >"$T/data.json"
is "credentials are named, not read into a plan" "$(jq -r '.steps[] | select(.kind == "workload") | .env[] | select(.name == "MAD_MINIO_PASSWORD") | .value' "$T/data.json")" "***"
check "no form of the plan holds them" sh -c "! grep -q 'sesame' '$T/data.json' && ! '$PROFRIG' -q plan --engine host data | grep -q sesame && ! '$PROFRIG' -q plan --format sh --engine host data | grep -q sesame"
is "the workload has them" "$("$PROFRIG" -q run --set results.require=false --no-analyze --engine host --set 'model.command=[sh, -c, "echo $MAD_MINIO_PASSWORD"]' data >"$T/dir"; cat "$(cat "$T/dir")"/steps/*workload.out)" \
	"sesame-minio"
check "the run directory does not" sh -c "! grep -rq sesame '$(cat "$T/dir")' --exclude='*.out'"
code "data that is not in data.json" 3 "$PROFRIG" plan lost
like "is reported" "$(cat "$T/err")" "models.json:38: data: 'gone' is not in data.json"
like "and a credential that is nowhere" "$(cat "$T/err")" "models.json:37: cred: 'NOBODY' is not in credential.json"
sed 's/^{/{"may": {"local": {"path": "\/none", "optional": true}}, "typo": {"local": {"path": "\/tmp", "hom": "\/x"}, "nas": {"path": "\/tmp", "optional": "perhaps"}},/' data.json >"$T/d" && cp "$T/d" data.json
code "data that a run can do without" 0 "$PROFRIG" -q run --no-analyze --engine host --set 'model.command=[sh, -c, "echo performance: 1 x"]' --set 'model.args=[]' -c "$(jq -c '{data: {set: .may}}' data.json)" data
like "is reported" "$(jq -r '.warnings[].code' "$(cat "$T/out")/run.json")" W_DATA_MISSING
code "keys that data.json does not know" 3 "$PROFRIG" plan --engine host -c "$(jq -c '{data: {set: .typo}}' data.json)" data
like "are reported" "$(cat "$T/err")" "optional: want true or false, not 'perhaps'.*unknown key 'hom'; did you mean 'home'"
code "with --lenient they are no more than that" 0 "$PROFRIG" plan --engine host --lenient -c '{"data": {"set": {"local": {"path": "/tmp", "hom": "/x"}}}}' data
cp credential.json "$T/cred"
printf '{"MAD_MINIO": {"USERNAME": "sesame"}, "MAD_MINIO": {"USERNAME": "sesame"}}' >credential.json
code "a credential.json with a key twice" 3 "$PROFRIG" plan --engine host data
like "is reported" "$(cat "$T/err")" "credential.json' is no JSON map, or has a key twice"
check "without what stands in it" sh -c "! grep -q sesame '$T/err'"
head -c 5000000 /dev/zero >credential.json
code "one that cannot be read" 3 "$PROFRIG" plan --engine host data
like "is reported with the reason" "$(cat "$T/err")" "credential.json: .*(larger|large|big)"
cp "$T/cred" credential.json
is "MAD_SECRETS of the environment are secrets" "$(MAD_SECRETS_X=open-sesame planned plain | jq -r '.steps[0].env[] | select(.name == "MAD_SECRETS_X") | .value')" "***"

# What is wrong with an entry.
mkdir "$T/bad" && cd "$T/bad" && mkdir -p scripts/both scripts/torn
printf 'x' >scripts/run.sh
cat >models.json <<-'JSON'
	[
	  {"name": "a", "scripts": "scripts/run.sh", "n_gpus": "two", "timeout": "soon", "tags": {"x": 1}, "dockerfle": "x",
	   "args": "it's", "skip_gpu_arch": 7, "env_vars": ["A"], "log_error_patterns": [], "nnodes": 2,
	   "distributed": {"nnodes": 4, "launcher": "torchrun"}, "log_error_pattern_scan": "perhaps"},
	  {"name": "twice", "scripts": "scripts/none.sh"},
	  {"name": "twice", "scripts": "scripts/run.sh", "slurm": {"nodes": 1}},
	  {"scripts": "scripts/run.sh", "tags": ["nameless"]},
	  {"name": "good", "scripts": "scripts/run.sh", "tags": ["fine"], "colour": "red", "url": "", "data": null}
	]
JSON
code "a wrong entry" 3 "$PROFRIG" plan a
for words in "models.json:2: n_gpus: want a number of GPUs, or -1 for all, not 'two'" "models.json:2: timeout: want a time" \
	"models.json:2: tags: want a list of words, or one text with commas, not a map" "models.json:2: unknown key 'dockerfle'; did you mean 'dockerfile'" \
	"models.json:3: args: a ' without the one that ends it" "models.json:3: env_vars: want a map, not a list" \
	"models.json:3: log_error_patterns: is empty" "models.json:3: nnodes: 2 machines, but without the section" \
	"models.json:4: distributed.nnodes: 4 machines" "models.json:4: log_error_pattern_scan: want true or false, not 'perhaps'"; do
	like "all at once: ${words:0:44}" "$(cat "$T/err")" "$words"
done
code "scripts that are not there" 3 "$PROFRIG" plan twice
check "are one mistake, not two" sh -c "! grep -q model.command '$T/err'"
code "two of one name" 3 "$PROFRIG" plan twice
like "are reported" "$(cat "$T/err")" "models.json:5: there is another model 'twice' \(models.json:6\)"
like "with all else" "$(cat "$T/err")" "models.json:5: scripts: no file '$T/bad/scripts/none.sh'"
code "a nameless one" 3 "$PROFRIG" plan -t nameless
like "is reported" "$(cat "$T/err")" "models.json:7: 'name' is missing"
code "a wrong entry stops no other" 3 "$PROFRIG" plan --engine host fine
like "but an unknown key does" "$(cat "$T/err")" "models.json:8: unknown key 'colour'"
code "unless --lenient" 0 "$PROFRIG" plan --engine host --lenient fine
like "which tells it" "$(cat "$T/err")" "warning: models.json:8: unknown key 'colour'"
code "discover tells of all" 3 "$PROFRIG" discover
like "and prints them" "$(cat "$T/out")" "good .*fine"
echo '[]' >scripts/both/models.json && : >scripts/both/get_models_json.py
printf '[\n{"name": 1,]' >scripts/torn/models.json
code "models.json beside get_models_json.py" 3 "$PROFRIG" plan -t both/x
like "is reported" "$(cat "$T/err")" "scripts/both/models.json: get_models_json.py is there, too"
code "torn JSON" 3 "$PROFRIG" plan -t torn/x
like "is reported with its line" "$(cat "$T/err")" "scripts/torn/models.json:2: "
code "of another scope it is no matter" 2 "$PROFRIG" plan -t clean/x
mv scripts/both scripts/torn "$T"
printf '[{"name": "x:y", "scripts": "scripts/run.sh", "tags": ["t"]},\n {"name": "x\\ny", "scripts": "scripts/run.sh"}]' >models.json
code "names that no word could say" 3 "$PROFRIG" discover
like "are reported" "$(cat "$T/err")" "models.json:1: name: 'x:y' holds a ':', which a tag cannot name.*models.json:2: name: want at most 100 bytes of plain text"
check "and no file is taken for something else" sh -c "! grep -q 'map of keys' '$T/err'"
code "chosen by a tag" 3 "$PROFRIG" plan -t t
like "it is reported, too" "$(cat "$T/err")" "models.json:1: name: 'x:y' holds a ':'"
echo '[]' >models.json
code "no entry at all" 2 "$PROFRIG" discover
like "is reported" "$(cat "$T/err")" "there is no model here: models.json lists none"
mv "$T/both" "$T/torn" scripts
echo '{"name": "a"}' >models.json
code "a map instead of a list" 3 "$PROFRIG" discover
like "is reported" "$(cat "$T/err")" "models.json:1: want a list of models"

# get_models_json.py
cd "$T/pkg" || exit 1
if command -v python3 >/dev/null; then
	mv "$T/scripted" scripts/
	is "a script's models" "$(names scripted/all)" "scripted/first scripted/second"
	is "by a tag" "$(names made)" "scripted/first scripted/second"
	is "the class has madengine's defaults" "$(of scripted/first '[.n_gpus, .timeout] | join(" ")')" "-1 7200"
	is "update_model() of what is chosen" "$(workload scripted/second)" "bash|run.sh|--updated|yes"
	is "what it prints does not get between" "$(of scripted/first .name)" "scripted/first"
	like "and is reported" "$("$PROFRIG" discover scripted/first 2>&1 >/dev/null)" "get_models_json.py: it printed
    said on stdout"
	is "its script is below its folder" "$(conf model.copy scripted/first)" "$T/pkg/scripts/scripted (scripts/scripted/get_models_json.py)"
	mkdir -p "$T/fail/scripts/s" && cd "$T/fail" || exit 1
	printf 'print("about to fail")\nraise ValueError("no models today")\n' >scripts/s/get_models_json.py
	code "a script that fails" 3 env -u PYTHONUNBUFFERED "$PROFRIG" plan -t s/x
	like "is reported with what it said" "$(cat "$T/err")" "scripts/s/get_models_json.py: failed \(status 1\).*about to fail.*ValueError: no models today"
	echo 'x = 1' >scripts/s/get_models_json.py
	code "one without list_models()" 3 "$PROFRIG" plan -t s/x
	like "is reported" "$(cat "$T/err")" "it defines no list_models"
	printf 'def list_models():\n    return [{"name": "x"}]\n' >scripts/s/get_models_json.py
	code "one that lists something else" 3 "$PROFRIG" plan -t s/x
	like "is reported" "$(cat "$T/err")" "list_models\(\) gives a dict, want a CustomModel"
	printf 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n' >scripts/s/get_models_json.py
	code "one that dies" 3 "$PROFRIG" plan -t s/x
	like "is reported" "$(cat "$T/err")" "was killed by SIGKILL"
	code "other models do not need it" 0 "$PROFRIG" plan --engine host "$T/pkg/native"
else
	skip "get_models_json.py" "python3 is not installed"
fi

# What is there by a name goes before what that name may say.
mkdir -p "$T/odd/pkg.json#y" "$T/odd/own.yaml#z" && cd "$T/odd" || exit 1
echo '[{"name": "m1", "dockerfile": "d/x", "scripts": "run.sh", "n_gpus": "0", "tags": ["t"]}]' >"pkg.json#y/models.json"
echo 'echo "hi $*"' >"pkg.json#y/run.sh"
printf 'model: {name: own, command: [echo, hi]}\n' >"own.yaml#z/profrig.yaml"
for path in ./own.yaml#z own.yaml#z/profrig.yaml "$T/odd/own.yaml#z"; do
	code "a folder with a file's end and # in its name: ${path#"$T"}" 0 "$PROFRIG" -q plan --engine host "$path"
done
code "a package of such a name" 0 env MODEL_DIR="$T/odd/pkg.json#y" "$PROFRIG" -q plan --engine host -t t
code "with arguments" 0 env MODEL_DIR="$T/odd/pkg.json#y" "$PROFRIG" -q plan --engine host --format json -t m1:epochs=2
like "has them" "$(jq -c '[.. | .argv? // empty]' "$T/out")" '"--epochs","2"'
code "in such a folder" 0 sh -c "cd 'pkg.json#y' && exec '$PROFRIG' -q plan --engine host -t m1"
cp "own.yaml#z/profrig.yaml" "file.yaml#t"
code "a file of such a name" 0 "$PROFRIG" -q plan --engine host ./file.yaml#t
