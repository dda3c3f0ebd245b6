#!/usr/bin/env bash
# A batch file for `build`: what it says, what is wrong with one, and where images of it go. No engine: --dry-run.
. "$(dirname "$0")/../lib.sh"
cd "$T" && mkdir docker n || exit 1
cat >models.json <<'J'
[{"name": "a", "scripts": "run.sh", "dockerfile": "docker/a", "tags": ["t"]},
 {"name": "b", "scripts": "run.sh", "dockerfile": "docker/b", "tags": ["t"]},
 {"name": "c", "scripts": "run.sh", "dockerfile": "docker/c"},
 {"name": "two", "scripts": "run.sh", "dockerfile": "docker/two"}]
J
echo 'echo hello' >run.sh
for f in a.x b.x c.x two.1 two.2; do echo 'FROM base:1' >docker/$f; done
echo 'model: {name: n, command: [./x], dockerfile: Dockerfile}' >n/profrig.yaml
echo 'FROM base:1' >n/Dockerfile
batch() { "$PROFRIG" build --dry-run --batch-manifest "$@"; }

cat >good.json <<'J'
[{"model_name": "a", "build_new": true, "registry": "r1:5000", "registry_image": "team/a:7"},
 {"model_name": "b", "build_new": false, "registry_image": "r1:5000/b:1"},
 {"model_name": "c", "build_new": true},
 {"model_name": "./n", "build_new": true, "registry": "", "registry_image": "r2:5000/n"},
 {"model_name": "two", "registry": "r1:5000", "registry_image": "two:3"}]
J
code "a batch" 0 batch good.json --registry r9
row() { cut -f 1,2,4 "$T/out" | sed -n "$1p" | tr '\t' ' '; }
is "its own registry, and its own name there" "$(row 1)" "a ci-a_a.x r1:5000/team/a:7"
is "one that is not built has that image" "$(grep '^b' "$T/out" | tr '\t' ' ')" "b r1:5000/b:1 as it is r1:5000/b:1"
is "without a word of it, where --registry says" "$(row 3)" "c ci-c_c.x r9/ci-c_c.x"
is "a registry in the image's name will do, and empty texts are none" "$(row 4)" "n ci-n_dockerfile r2:5000/n"
is "an image that is not built stands in its registry, too" "$(grep '^two' "$T/out" | cut -f 2)" "r1:5000/two:3"
code "and without a registry nothing is pushed" 0 batch <(echo '[{"model_name": "t", "build_new": true}]')
is "a tag is all its models" "$(cut -f 1,2,4 "$T/out" | tr '\t\n' ' ;')" "a ci-a_a.x;b ci-b_b.x;"

cat >bad.json <<'J'
[
  {"model_name": "a", "build_new": true, "registery": "x"},
  {"build_new": true},
  {"model_name": "nixx"},
  {"model_name": "b", "build_new": "yes"},
  {"model_name": "a"},
  {"model_name": "t", "registry_image": "x/y"},
  {"model_name": "two", "build_new": true, "registry_image": "r:5000/two"},
  {"model_name": "c", "build_new": true, "registry_image": "team/c"},
  {"model_name": "n", "build_new": true, "registry": "r:5000", "registry_image": "other:5000/n"},
  {"model_name": "a:x=1", "registry_image": "r:5000/a:1"},
  "b",
  {"model_name": "twoo", "build_new": true}
]
J
code "what is wrong with one: 3" 3 batch bad.json
for words in "bad.json:2: unknown key 'registery'; did you mean 'registry'" "bad.json:3: 'model_name' is missing" \
	"bad.json:4: 'nixx' is not built \(build_new is not true\), so registry_image has to say" "bad.json:4: no model has the name or tag 'nixx'" \
	"bad.json:5: build_new: want true or false" "bad.json:6: model 'a' is there already \(bad.json:2\)" \
	"bad.json:7: 't' stands for 2 models, which cannot share registry_image 'x/y': name each of them \(a, b\)" \
	"bad.json:8: model 'two' has 2 images \(ci-two_two.1, ci-two_two.2\), and registry_image names one" \
	"bad.json:9: registry_image 'team/c' names no registry, and none is given" "bad.json:10: registry_image 'other:5000/n' is not in registry 'r:5000'" \
	"bad.json:11: model 'a:x=1' is there already \(bad.json:2\)" "bad.json:12: want \{\"model_name\"" \
	"bad.json:13: no model has the name or tag 'twoo'; did you mean 'two'" "problems in the configuration; nothing was started"; do
	like "all at once: ${words:0:52}" "$(cat "$T/err")" "$words"
done
is "and nothing is printed" "$(cat "$T/out")" ""
echo '[{"model_name": "a", "build_new": true, "colour": "red"}]' >odd.json
code "an unknown key" 3 batch odd.json
code "with --lenient" 0 batch odd.json --lenient
like "is a warning" "$(cat "$T/err")" "warning: odd.json:1: unknown key 'colour'"
echo '[{"model_name": "a", "build_new": true}, {"model_name": "broken", "build_new": true}]' >model.json
mkdir broken && echo 'model: {name: broken, command: [./x], dockerfile: nosuch}' >broken/profrig.yaml
code "what is wrong with a model of it" 3 batch model.json
like "is reported as ever" "$(cat "$T/err")" "broken/profrig.yaml:1: model.dockerfile: "
for text in '[]' '{"a": 1}' '[{"model_name": ' '' '[1'; do
	printf '%s' "$text" >torn.json
	code "no batch: '$text': 3" 3 batch torn.json
	like "with its line" "$(cat "$T/err")" "torn.json:[0-9]+: "
done

code "no such file: 2" 2 batch nosuch.json
like "is reported" "$(cat "$T/err")" "--batch-manifest: no file 'nosuch.json'"
code "with a model: 2" 2 batch good.json a
like "is reported" "$(cat "$T/err")" "--batch-manifest names the models: leave out a "
code "with tags: 2" 2 batch good.json -t a
code "with an image: 2" 2 batch good.json --use-image x
like "is reported" "$(cat "$T/err")" "leave out --use-image"

# One password, two registries: neither gets what may be the other's.
export PROFRIG_REGISTRY_USER=me PROFRIG_REGISTRY_PASSWORD=hunter2
code "one password for two registries: 3" 3 batch good.json
like "is not handed to both" "$(cat "$T/err")" "registries 'r1:5000' and 'r2:5000' would both be told the password of PROFRIG_REGISTRY_PASSWORD"
check "and not shown" sh -c "! grep -q hunter2 '$T/err' '$T/out'"
code "for one it is fine" 0 batch <(echo '[{"model_name": "a", "build_new": true, "registry": "r1:5000"}, {"model_name": "c", "build_new": true, "registry": "r1:5000"}]')
code "and there is no matter of registries where nothing is built" 0 batch <(echo '[{"model_name": "a", "registry_image": "r1:5000/a"}, {"model_name": "c", "registry_image": "r2:5000/c"}]')
