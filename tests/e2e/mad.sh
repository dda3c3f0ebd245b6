#!/usr/bin/env bash
# A package of models.json files on every engine: scripts, arguments, limits, contexts, tools.json; odd characters reach the engine as they are.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

mkdir -p "$T/p k/scripts/m" "$T/p k/scripts/common" "$T/p k/data \$x" && cd "$T/p k" || exit 1
echo seen >"data \$x/file"
cat >models.json <<-'JSON'
	[{"name": "a/b c", "scripts": "scripts/m", "args": "one 'two words' $HOME", "tags": ["odd"], "n_gpus": "1", "timeout": 360,
	  "additional_docker_run_options": "--env 'OPT=a b' --tmpfs /scratch", "env_vars": {"MODE": "fast"}, "multiple_results": "r.csv"},
	 {"name": "sleeper", "scripts": "scripts/m/sleep.sh", "timeout": 2},
	 {"name": "fails", "scripts": "scripts/m/fail.sh"},
	 {"name": "dock", "scripts": "scripts/m/made.sh", "dockerfile": "docker/img"},
	 {"name": "wrong", "scripts": "scripts/m/made.sh", "dockerfile": "docker/wrong"},
	 {"name": "undocked", "scripts": "scripts/m/made.sh", "env_vars": {"DOCKER_IMAGE_NAME": "profrig-mad:1"}}]
JSON
cat >scripts/m/run.sh <<-'SH'
	printf '[%s]' "$@" "$ODD" "$MODE" "$OPT" "$MAD_MODEL_NAME"
	echo
	cat beside ../scripts/common/shared
	[ ! -e "/d a" ] || cat "/d a/file"
	[ ! -d /scratch ] || echo scratch
	touch ../scripts/common/no 2>/dev/null && echo "the package can be written to"
	echo mine >here && printf 'model,performance,metric\nx,1,q\ny,2,q\n' >../r.csv
	echo "performance: 5 q"
SH
echo beside >scripts/m/beside && echo shared >scripts/common/shared
printf 'cat /made || echo no image of its own\necho "performance: 1 q"\n' >scripts/m/made.sh
echo 'sleep 300' >scripts/m/sleep.sh
printf 'echo "what it said"\nexit 7\n' >scripts/m/fail.sh
echo 'echo "pre $1" >>"$PROFRIG_RUN_DIR/artifacts/workload/order"' >scripts/common/pre.sh
echo 'echo "post $1" >>"$PROFRIG_RUN_DIR/artifacts/workload/order"' >scripts/common/post.sh
printf 'echo "cmd $1" >>"$PROFRIG_RUN_DIR/artifacts/workload/order"\nshift\nexec "$@"\n' >scripts/common/wrap.sh
cat >scripts/common/tools.json <<-'JSON'
	{"tools": {"A": {"cmd": "bash ../scripts/common/wrap.sh A", "pre_scripts": [{"path": "scripts/common/pre.sh", "args": "A"}],
	                 "post_scripts": [{"path": "scripts/common/post.sh", "args": "A"}]},
	           "B": {"cmd": "bash ../scripts/common/wrap.sh B", "pre_scripts": [{"path": "scripts/common/pre.sh", "args": "B"}],
	                 "post_scripts": [{"path": "scripts/common/post.sh", "args": "B"}]}}}
JSON
context=$(cat <<-'PY'
	{'docker_env_vars': {'ODD': 'a b $HOME `id` "q" \'s\''}, 'docker_mounts': {'/d a': 'data $x'},
	 'tools': [{'name': 'A'}, {'name': 'B', 'cmd': "bash ../scripts/common/wrap.sh 'B too'"}],
	 'pre_scripts': [{'path': 'scripts/common/pre.sh', 'args': "'the user'"}], 'post_scripts': [{'path': 'scripts/common/post.sh', 'args': 'user'}],
	 'encapsulate_script': 'env X=1'}
PY
)
want='pre B pre A pre the user cmd B too cmd A post user post A post B'
all() { # engine, whether the folder can be written to
	local d
	run() { "$PROFRIG" -q run --no-analyze -o "$T/runs-$1" --engine "$@"; }
	code "$1: a model of models.json" 0 run "$1" ${IMAGE:+--image $IMAGE} -c "$context" -t odd:k=v
	d=$(cat "$T/out")
	is "$1: words and variables are as they were written" "$(grep '^\[' "$d"/steps/*workload.out)" \
		"[one][two words][\$HOME][--k][v][a b \$HOME \`id\` \"q\" 's'][fast][$OPT][a/b c]"
	is "$1: its files, the package's, a mount" "$(grep -v '^\[' "$d"/steps/*workload.out | tr '\n' ' ')" "$2"
	is "$1: the tools' order, the user's scripts, an overridden command" "$(tr '\n' ' ' <"$d/artifacts/workload/order" | sed 's/ $//')" "$want"
	is "$1: several results" "$(jq -c '[.metrics[] | select(.source | test("csv")) | .value]' "$d/run.json")" "[1,2]"
	check "$1: its own folder is gone" test ! -e "$d/work/run_directory"
	is "$1: a name with a slash and a blank" "$(jq -r .model "$d/run.json")" "a/b c"
	SECONDS=0
	code "$1: the model's limit" 1 run "$1" ${IMAGE:+--image $IMAGE} sleeper
	check "$1: holds" test $SECONDS -lt 60
	is "$1: and is reported" "$(jq -r .status "$(cat "$T/out")/run.json")" "timeout"
	code "$1: the command line's goes before it" 1 run "$1" ${IMAGE:+--image $IMAGE} --timeout 1 sleeper
	like "$1: and is reported" "$(jq -r .reason "$(cat "$T/out")/run.json")" "longer than 1 s"
	code "$1: a script that fails" 1 run "$1" ${IMAGE:+--image $IMAGE} fails
	is "$1: has its output and its status" "$(cat "$(cat "$T/out")"/steps/*workload.out) $(jq .exit_code "$(cat "$T/out")/run.json")" "what it said 7"
}
images() { # engine: run builds the images of entries that have a dockerfile, and runs in each that fits
	local d list
	docker_run() { "$PROFRIG" -q run --no-analyze -o "$T/built-$1" --engine "$1" --set build.network=none -c "{'gpu_vendor': 'AMD', 'docker_build_arg': {'WHO': 'a \$b'}}" "${@:2}"; }
	mkdir -p docker && rm -f build_manifest.json
	for v in one two; do printf "# CONTEXT {'gpu_vendor': 'AMD'}\nFROM profrig-mad:1\nARG WHO\nRUN echo \"$v \$WHO\" >/made\n" >docker/img.$v.Dockerfile; done
	printf "# CONTEXT {'gpu_vendor': 'NVIDIA'}\nFROM profrig-mad:1\nRUN false\n" >docker/img.nv.Dockerfile
	code "$1: a model with a dockerfile is built first" 0 docker_run "$1" -t dock,undocked
	list=$(while read -r d; do jq -r '.model + ":"' "$d/run.json"; cat "$d"/steps/*workload.out; done <"$T/out" | grep -v performance | sort | tr '\n' ' ')
	is "$1: every Dockerfile that fits runs, and the other model as it is" "$list" "dock: dock: no image of its own one a \$b two a \$b undocked: "
	is "$1: the manifest can be run again" "$("$PROFRIG" -q run --no-analyze -o "$T/built-$1" --manifest build_manifest.json -t dock 2>"$T/err" | wc -l)" 2
	code "$1: none that fits" 3 docker_run "$1" -c "{'guest_os': 'CENTOS', 'gpu_vendor': 'nope'}" -t dock
	sed -i "s/'AMD'/'AMD', 'guest_os': 'CENTOS'/" docker/img.*.Dockerfile
	code "$1: with another system" 3 docker_run "$1" -t dock
	like "$1: what was looked at is reported" "$(cat "$T/err")" "img.one.Dockerfile.*CENTOS"
	code "$1: with --image nothing is built" 0 docker_run "$1" --image profrig-mad:1 -t dock
	sed -i "s/, 'guest_os': 'CENTOS'//" docker/img.*.Dockerfile
	code "$1: a plan builds nothing" 0 "$PROFRIG" -q plan --json --engine "$1" -c "{'gpu_vendor': 'AMD'}" -t dock,undocked
	printf 'FROM profrig-mad:1\nRUN exit 9\n' >docker/wrong.x && rm -f perf*
	code "$1: what can be built runs, also when others cannot" 1 docker_run "$1" --perf-csv perf.csv -t wrong:n=1,dock
	is "$1: and what cannot has its rows" "$(jq -r '.[] | [.model, .status, .docker_image, .args, .reason] | join(" ")' perf_super.json | sort | tr '\n' ';')" \
		"dock SUCCESS ci-dock_img.one  ;dock SUCCESS ci-dock_img.two  ;wrong FAILURE ci-wrong_wrong.x --n 1 image 'ci-wrong_wrong.x' could not be built: $1 build ended with status 9;"
	code "$1: models that need no image run, too" 1 docker_run "$1" -t wrong,undocked
	is "$1: one" "$(wc -l <"$T/out")" 1
	code "$1: alone it is a failure" 1 docker_run "$1" --perf-csv perf2.csv wrong
	is "$1: with its row" "$(jq -r '.[].status' perf2_super.json)" FAILURE
	rm -f perf*
	code "$1: a plan of them" 0 "$PROFRIG" -q plan --json --engine "$1" -c "{'gpu_vendor': 'AMD'}" -t dock,undocked
	is "$1: and has the images there would be" "$(jq -r '.configuration[] | select(.key == "model.image") | .value' "$T/out" | tr '\n' ' ')" "ci-dock_img.one ci-dock_img.two profrig-mad:1 "
}
OPT=
all host "beside shared the package can be written to performance: 5 q "
rm -f scripts/common/no
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		printf '#!/bin/sh\nexec /bin/sh "$@"\n' >"$T/bash"
		chmod +x "$T/bash"
		if test_image $engine profrig-mad:1 "$T/bash"; then
			OPT='a b' IMAGE=profrig-mad:1 all $engine "beside shared seen scratch performance: 5 q "
			check "$engine: nothing was written into the package" test ! -e scripts/common/no
			code "$engine: as another user" 0 "$PROFRIG" -q run --no-analyze -o "$T/runs-$engine" --engine $engine --image profrig-mad:1 --set container.user=user fails \
				--set 'model.command=[sh, -c, "touch here && id -u; echo performance: 1 q"]'
			is "$engine: who can write there" "$(cat "$(cat "$T/out")"/steps/*workload.out | head -n 1)" 1000
			images $engine
			is "$engine: no container is left" "$($(engine_words $engine) ps -aq --filter label=profrig.run)" ""
		else
			not_ok "$engine: test image" "$engines_why"
		fi
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
