#!/usr/bin/env bash
# What of a manifest runs: all of it, or what words, tags and their arguments choose. No engine: plans.
. "$(dirname "$0")/../lib.sh"
cd "$T" && mkdir -p docker n scripts/sc || exit 1
cat >models.json <<'J'
[{"name": "a", "scripts": "run.sh", "dockerfile": "docker/a", "tags": ["t"]},
 {"name": "b", "scripts": "run.sh", "dockerfile": "docker/b", "tags": ["t"], "args": "--x 1"},
 {"name": "unbuilt", "scripts": "run.sh", "dockerfile": "docker/u", "tags": ["t"]}]
J
echo '[{"name": "one", "scripts": "run.sh", "dockerfile": "one", "tags": ["t"]}]' >scripts/sc/models.json
echo 'echo hello' | tee run.sh >scripts/sc/run.sh
for f in a.x b.x u.x; do echo 'FROM base:1' >docker/$f; done
echo 'FROM base:1' | tee n/Dockerfile >scripts/sc/one.x
echo 'model: {name: Team/N, command: [./x], dockerfile: Dockerfile, tags: [t]}' >n/profrig.yaml
cat >m.json <<'J'
{"schema": "profrig.manifest/1", "engine": "docker",
 "built_images": {"ci-a": {"docker_image": "ci-a"}, "ci-b": {"docker_image": "ci-b:1"}, "ci-sc_one": {}, "ci-n": {}},
 "built_models": {"ci-a": {"name": "a", "word": "models.json#a:old=1"}, "ci-b": {"name": "b", "word": "models.json#b"},
  "ci-sc_one": {"name": "sc/one", "word": "scripts/sc/models.json#sc/one"}, "ci-n": {"name": "Team/N", "word": "n"}}}
J
# image and command of each run
runs() {
	PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" -q plan --json --engine docker --manifest "${m:-m.json}" "$@" 2>"$T/err" |
		jq -r '.engine as $e | (.steps[] | select(.kind == "workload") | .argv | join(" ")) as $w | [.configuration[] | select(.key == "model.image" or .key == "image") | .value][0] + ": " + $w' |
		sed 's/bash run.sh/R/' | tr '\n' ';'
}
is "all of it, with the arguments it was built with" "$(runs)" "ci-a: R --old 1;ci-b:1: R --x 1;ci-sc_one: R;ci-n: ./x;"
is "a name" "$(runs a)" "ci-a: R --old 1;"
is "a tag, in every scope; what was not built is passed over" "$(runs -t t)" "ci-a: R --old 1;ci-b:1: R --x 1;ci-sc_one: R;ci-n: ./x;"
is "an image" "$(runs ci-b:1)" "ci-b:1: R --x 1;"
is "a tag's arguments are added to the model's" "$(runs -t b:lr=1e-3:fp16)" "ci-b:1: R --x 1 --lr 1e-3 --fp16;"
is "and go before those it was built with" "$(runs -t a:lr=1)" "ci-a: R --lr 1;"
is "of all that have the tag" "$(runs -t t:lr=1)" "ci-a: R --lr 1;ci-b:1: R --x 1 --lr 1;ci-sc_one: R --lr 1;ci-n: ./x --lr 1;"
is "of all" "$(runs all:lr=1)" "ci-a: R --lr 1;ci-b:1: R --x 1 --lr 1;ci-sc_one: R --lr 1;ci-n: ./x --lr 1;"
is "of a scope's name" "$(runs -t sc/one:lr=1)" "ci-sc_one: R --lr 1;"
is "of a scope's tag" "$(runs -t sc/t:lr=1)" "ci-sc_one: R --lr 1;"
is "of a scope" "$(runs -t sc/all:lr=1)" "ci-sc_one: R --lr 1;"
is "of a YAML model, by its folder or its name" "$(runs n:k=2) $(runs -t Team/N:k=2)" "ci-n: ./x --k 2; ci-n: ./x --k 2;"
is "one model twice" "$(runs -t b:x=2 -t b:x=3,b:x=2)" "ci-b:1: R --x 1 --x 2;ci-b:1: R --x 1 --x 3;"
is "with and without" "$(runs -t b,b:x=2)" "ci-b:1: R --x 1;ci-b:1: R --x 1 --x 2;"
code "a model that has no image in it: 2" 2 "$PROFRIG" plan --manifest m.json -t unbuilt:lr=1
like "is reported, with those that have" "$(cat "$T/err")" "manifest 'm.json' has no image of model 'unbuilt:lr=1'; it has: a, b, sc/one, Team/N"
code "a word that nothing has: 2" 2 "$PROFRIG" plan --manifest m.json a sc/b:lr=1
like "is reported beside one that is there" "$(cat "$T/err")" "no image of model 'sc/b:lr=1'"
jq 'del(.schema, .engine) | .built_models |= map_values(del(.word))' m.json >theirs.json
is "a manifest of madengine alike" "$(m=theirs.json runs -t b:lr=1,sc/one:k=2,Team/N:z=1)" "ci-b:1: R --x 1 --lr 1;ci-sc_one: R --k 2;ci-n: ./x --z 1;"
is "from elsewhere, models are found by their names" "$(cd /; export MODEL_DIR=$T; m=$T/m.json runs -t a,sc/all:k=2,b:x=2)" "ci-a: R --old 1;ci-b:1: R --x 1 --x 2;ci-sc_one: R --k 2;"

# Several arguments of one model: one image, several runs.
code "one model with several arguments is built once" 0 "$PROFRIG" build --dry-run -t b:x=2,b:x=3
is "to one image" "$(cut -f 1,2 "$T/out" | tr '\t' ' ')" "b ci-b_b.x"
like "which is said" "$(cat "$T/err")" "named with several arguments has one image"
is "and has a run of each" "$(PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" -q plan --build --json --engine docker -t b:x=2,b:x=3 2>/dev/null | jq -r '.steps[] | select(.kind == "workload") | .argv | join(" ")' | tr '\n' ';')" \
	"bash run.sh --x 1 --x 2;bash run.sh --x 1 --x 3;"

# Where the models are: beside the manifest, where it was built, here; never another of the same path.
mkdir -p q r far && printf 'model: {name: bm, command: [cat, /greet], dockerfile: Dockerfile, tags: [greets]}\n' >q/profrig.yaml
printf 'model: {name: other, command: [echo, wrong]}\n' >r/profrig.yaml
echo '{"schema": "profrig.manifest/1", "engine": "docker", "built_images": {"ci-bm": {}}, "built_models": {"ci-bm": {"name": "bm", "word": "profrig.yaml"}}}' |
	tee q/build_manifest.json >r/build_manifest.json
in_dir() { (cd "$1" && shift && runs "$@"); }
is "a manifest of another folder: the model beside it" "$(m=../q/build_manifest.json in_dir r)" "ci-bm: cat /greet;"
is "from where there is none" "$(m=../q/build_manifest.json in_dir far)" "ci-bm: cat /greet;"
is "from above" "$(m=q/build_manifest.json runs)" "ci-bm: cat /greet;"
is "by its name, with arguments" "$(m=../q/build_manifest.json in_dir r bm:k=1)" "ci-bm: cat /greet --k 1;"
is "by its tag" "$(m=../q/build_manifest.json in_dir r -t greets)" "ci-bm: cat /greet;"
cp q/build_manifest.json far/m.json
is "a manifest that was carried away: the model here" "$(m=../far/m.json in_dir q)" "ci-bm: cat /greet;"
jq --arg q "$T/q" '.folder = $q' q/build_manifest.json >far/m.json
is "or where it was built" "$(m=far/m.json runs)" "ci-bm: cat /greet;"
is "of a package too, with its arguments" "$(m=../m.json in_dir r)" "ci-a: R --old 1;ci-b:1: R --x 1;ci-sc_one: R;ci-n: ./x;"
is "or the one here that has its name" "$(m=r/build_manifest.json runs)" "ci-bm: cat /greet;"
code "another model of that path alone: 3" 3 env -C r PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" plan --manifest build_manifest.json
like "is reported" "$(cat "$T/err")" "image 'ci-bm' of manifest 'build_manifest.json' was built for model 'bm', but the model found for it is 'other'"

# Which of a model's Dockerfiles it was, and what that began with, stands in the table of results.
jq '.built_images |= {"ci-b": {"docker_image": "ci-b:1", "dockerfile": "docker/b.x", "base_docker": "told:2"}, "ci-b2": {"docker_image": "ci-b:2", "dockerfile": "docker/b.y"}}
	| .built_models |= {"ci-b": ."ci-b", "ci-b2": ."ci-b"}' m.json >two.json
code "two images of a model, and no engine" 4 env PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" -q run --engine docker --manifest two.json --perf-csv perf.csv
is "each row has its Dockerfile and its base" "$(jq -r '.[] | [.docker_image, .docker_file, .base_docker] | join(" ")' perf_super.json | tr '\n' ';')" \
	"ci-b:1 docker/b.x told:2;ci-b:2 docker/b.y ;"

# What --additional-context told the build is for the run, too; what the run itself states goes before it.
jq '.additional_context = {"docker_env_vars": {"A": "built", "B": "built"}, "encapsulate_script": "nice", "model_args": "--z 3"}' m.json >told.json
env_of() { PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" -q plan --json --engine docker --manifest "${m:-told.json}" "$@" 2>"$T/err" |
	jq -r '[.steps[] | select(.kind == "workload") | .env[] | select(.name == "A" or .name == "B") | .value] | join(" ")'; }
is "the build's context: words" "$(m=told.json runs b)" "ci-b:1: nice R --z 3;"
is "and variables" "$(env_of b)" "built built"
is "the run's own goes before it, key by key" "$(env_of b -c '{"docker_env_vars": {"A": "run"}}')" "run built"
like "plans say where it is from" "$(PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" -q plan --engine docker --manifest told.json b 2>&1)" "env.B +built +told.json:"
jq 'del(.schema, .engine, .additional_context) | .context = {"docker_env_vars": {"A": "theirs", "B": "theirs"}}' m.json >told2.json
is "of madengine's manifest as well" "$(m=told2.json env_of b -c '{"docker_env_vars": {"A": "run"}}')" "run theirs"

# A package that MODEL_DIR named, in a folder of any name: later MODEL_DIR is not needed.
odd="$T/odd #1:a,b"
mkdir -p "$odd/docker" && cp -r run.sh scripts models.json "$odd" && sed -i 's/"a"/"odd"/' "$odd/models.json" && echo 'FROM base:1' >"$odd/docker/a.x" && mkdir -p away
is "a package's folder may have '#', ':' and ',' in its name" "$(cd away && MODEL_DIR=$odd "$PROFRIG" -q discover --json odd:n=1 2>/dev/null | jq -r ".[].args | tostring")" '["--n","1"]'
for word in odd odd:n=1; do
	is "and is planned, $word" "$(cd away && PROFRIG_DOCKER=/nonexistent/docker MODEL_DIR=$odd "$PROFRIG" -q plan --build --json --engine docker "$word" 2>/dev/null | jq -r '.steps[] | select(.kind == "workload") | .argv | join(" ")')" \
		"bash run.sh$(case $word in *:*) echo ' --n 1' ;; esac)"
done
jq --arg w "$odd/models.json#odd:old=2" --arg s "$odd/scripts/sc/models.json#sc/one" --arg f "$T/away" \
	'.folder = $f | .built_images |= {"ci-a", "ci-sc_one"} | .built_models = {"ci-a": {"name": "odd", "word": $w}, "ci-sc_one": {"name": "sc/one", "word": $s}}' m.json >away/m.json
is "a manifest of it runs without MODEL_DIR" "$(m=m.json in_dir away)" "ci-a: R --old 2;ci-sc_one: R;"
is "from anywhere, with arguments" "$(m=$T/away/m.json in_dir r -t odd:n=3,sc/t)" "ci-a: R --n 3;ci-sc_one: R;"

# What madengine built knows its models itself; scripts are beside it.
mkdir -p bq/scripts && echo 'echo hello' >bq/scripts/run.sh
cat >bq/build_manifest.json <<'J'
{"built_images": {"ci-bq_bq": {"docker_image": "ci-bq_bq"}}, "context": {},
 "built_models": {"ci-bq_bq": {"name": "bq", "dockerfile": "docker/bq", "scripts": "scripts/run.sh", "n_gpus": "-1", "tags": ["t"], "args": "--z 1"}}}
J
is "a manifest of madengine's without a models.json" "$(m=bq/build_manifest.json in_dir . bq:lr=2) $(m=../bq/build_manifest.json in_dir far)" "ci-bq_bq: R --z 1 --lr 2; ci-bq_bq: R --z 1;"
is "with one that has not the model" "$(m=build_manifest.json in_dir bq -t bq) $(cp bq/build_manifest.json bq.json && mkdir -p scripts && cp run.sh scripts && m=bq.json runs)" "ci-bq_bq: R --z 1; ci-bq_bq: R --z 1;"
rm bq/scripts/run.sh
code "without its scripts: 3" 3 env -C bq PROFRIG_DOCKER=/nonexistent/docker "$PROFRIG" plan --manifest build_manifest.json
like "which are named" "$(cat "$T/err")" "scripts: no file '$T/bq/scripts/run.sh'"
