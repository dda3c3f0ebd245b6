#!/usr/bin/env bash
# Images: built from Dockerfiles that fit, pushed to a registry and pulled from it, run by their manifest; and secrets, which stay out of everything.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop
at_end stop_registry
mkdir -p "$T/m/docker" "$T/n" "$T/bad"
cd "$T" || exit 1

cat >m/profrig.yaml <<'Y'
model: {name: Team/Mlp, command: [/bin/sh, -c, 'cat /made; test ! -e /run/secrets/TOK'], dockerfile: docker/mlp, tags: [t]}
context: {gpu_vendor: AMD}
build:
  args: {FLAVOUR: "van $illa `x`"}
  network: none
  secrets: {TOK: {from_env: MY_TOK}, FILED: {from_file: filed}}
Y
printf 'hunter2-filed\nhunter2-second\n' >m/filed
cat >m/docker/mlp.amd.Dockerfile <<'D'
# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU'}
ARG BASE_DOCKER=base:1
FROM $BASE_DOCKER
ARG FLAVOUR
RUN --mount=type=secret,id=TOK --mount=type=secret,id=FILED test "$(cat /run/secrets/TOK)" = "$(printf '%s%s' hunter 2-env)" && cat /run/secrets/TOK /run/secrets/FILED && sleep 0.4 && echo "amd $FLAVOUR" >/made
D
sed 's/AMD/NVIDIA/; s/"amd /"nv /' m/docker/mlp.amd.Dockerfile >m/docker/mlp.nv.Dockerfile
cat >m/docker/mlp.any.Dockerfile <<'D'
FROM base:1
ARG MAD_SYSTEM_GPU_ARCHITECTURE=none
RUN echo "any $MAD_SYSTEM_GPU_ARCHITECTURE" >/made
D
cat >n/profrig.yaml <<'Y'
model: {name: n, command: [/bin/sh, -c, 'cat /made'], image: 'mine:7', dockerfile: ., tags: [t]}
build: {network: none}
Y
printf 'FROM base:1\nCOPY profrig.yaml /made\n' >n/Dockerfile
cat >bad/profrig.yaml <<'Y'
model: {name: bad, command: [true], dockerfile: bad, tags: [t]}
build: {network: none}
Y
printf 'FROM base:1\nRUN echo this went wrong; exit 9\n' >bad/bad.1.Dockerfile
printf 'FROM base:1\nRUN echo two >/made\n' >bad/bad.2.Dockerfile

export XDG_CACHE_HOME=$T/cache
mkdir -p set pkg/docker pkg/scripts/scoped
printf 'printf brought >"$PROFRIG_DATA_DIR/brought"\n' >bring.sh
echo '[]' >pkg/models.json
cat >pkg/scripts/scoped/models.json <<'J'
[{"name": "pk", "dockerfile": "../../docker/pk", "scripts": "run.sh", "tags": ["quick"], "n_gpus": "-1", "cred": "AMD_GITHUB"}]
J
echo '{"AMD_GITHUB": {"username": "someone", "password": "hunter2-github"}}' >pkg/credential.json
echo 'echo "$(cat /made), of $WHOSE, $MAD_MODEL_NAME"; echo "performance: 2 x/s"' >pkg/scripts/scoped/run.sh
cat >pkg/docker/pk.ubuntu.amd.Dockerfile <<'D'
# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU'}
ARG BASE_DOCKER=base:1
FROM $BASE_DOCKER
ARG FLAVOUR
RUN --mount=type=secret,id=AMD_GITHUB_PASSWORD test "$(cat /run/secrets/AMD_GITHUB_PASSWORD)" = "$(printf '%s%s' hunter 2-github)" && echo "$FLAVOUR" >/made && printf '#!/bin/sh\nexec /bin/sh "$@"\n' >/bin/bash && busybox chmod 755 /bin/bash
D
cat >pkg/theirs.json <<'J'
{"built_images": {"ci-scoped_pk_pk.ubuntu.amd": {"docker_image": "ci-scoped_pk_pk.ubuntu.amd", "dockerfile": "docker/pk.ubuntu.amd.Dockerfile", "base_docker": "base:1",
  "docker_sha": "", "build_duration": 1.5, "build_command": "docker build", "log_file": "x.log", "gpu_vendor": "AMD"}},
 "built_models": {"ci-scoped_pk_pk.ubuntu.amd": {"name": "scoped/pk", "dockerfile": "docker/pk", "scripts": "scripts/scoped/run.sh", "n_gpus": "-1", "tags": ["quick"], "args": ""}},
 "context": {"docker_env_vars": {"WHOSE": "theirs"}, "docker_mounts": {}, "docker_build_arg": {"FLAVOUR": "p q"}, "gpu_vendor": "AMD", "guest_os": "UBUNTU", "docker_gpus": ""},
 "credentials_required": [], "deployment_config": {"target": "local"}, "summary": {"successful_builds": ["ci-scoped_pk_pk.ubuntu.amd"], "failed_builds": []}}
J

registry_pid=
start_registry() {
	command -v docker-registry >/dev/null || { registry_why="docker-registry is not installed"; return 1; }
	mkdir -p "$T/reg"
	# bcrypt of hunter2-registry
	printf 'me:$2b$05$abcdefghijklmnopqrstuulZu.ILEXqeNBq7QTUS3kx8ZZIO3trhO\n' >"$T/reg/htpasswd"
	for port in 5917 5923 5931; do
		cat >"$T/reg/config.yml" <<-Y
			version: 0.1
			storage: {filesystem: {rootdirectory: $T/reg/data}}
			http: {addr: "127.0.0.1:$port"}
			auth: {htpasswd: {realm: test, path: $T/reg/htpasswd}}
		Y
		docker-registry serve "$T/reg/config.yml" >"$T/reg/log" 2>&1 </dev/null &
		registry_pid=$!
		for _ in $(seq 200); do
			kill -0 $registry_pid 2>/dev/null || break
			# Who answers there may be another one.
			grep -qs "listening on 127.0.0.1:$port" "$T/reg/log" && { registry=127.0.0.1:$port; return 0; }
			sleep 0.05
		done
		kill $registry_pid 2>/dev/null
	done
	registry_why="docker-registry does not start: $(tail -n 1 "$T/reg/log")"
	return 1
}
stop_registry() { [ -z "$registry_pid" ] || { kill "$registry_pid" 2>/dev/null; wait "$registry_pid" 2>/dev/null; }; }
start_registry || case ,${PROFRIG_REQUIRE:-}, in *,registry,*) not_ok "a registry is required" "$registry_why" ;; esac

export MY_TOK=hunter2-env
build() { "$PROFRIG" build -q --engine "$engine" "$@"; }
m() { field "$(cat "$T/out")" "$1"; }
words() { $(engine_words "$engine") "$@"; }

builds() {
	rm -rf builds runs build_manifest.json
	# Every process there is, as often as can be, while a build with secrets and a push with a password run.
	: >seen
	(while :; do grep -aohsE 'hunter[2]-(env|filed|second|registry|github)' /proc/[0-9]*/cmdline >>seen; sleep 0.02; done) &
	local watcher=$!
	local push=()
	if [ -n "${registry:-}" ]; then
		push=(--registry "$registry" --set registry.repository=team/images)
	fi
	PROFRIG_REGISTRY_USER=me PROFRIG_REGISTRY_PASSWORD=hunter2-registry code "$engine: build" 0 build "${push[@]}" m n
	kill $watcher
	wait $watcher 2>/dev/null
	is "$engine: the images that fit, several of one model" "$(m '.built_images | keys | join(" ")')" "ci-team_mlp_mlp.amd ci-team_mlp_mlp.any mine:7"
	[ -z "${registry:-}" ] || is "$engine: pushed, a tag in the name or not" "$(m '.summary.successful_pushes | length')" 3
	is "$engine: no secret in any argv" "$(sort -u seen)" ""
	check "$engine: nor in manifest, logs, output" sh -c '! grep -rl hunter2 builds build_manifest.json out err'
	check "$engine: though a step printed them" grep -q '\*\*\*' builds/*/ci-team_mlp_mlp.amd.log
	check "$engine: nor in the image's history and configuration" sh -c "! $(engine_words "$engine") history --no-trunc ci-team_mlp_mlp.amd | grep hunter2 &&
		! $(engine_words "$engine") image inspect ci-team_mlp_mlp.amd | grep hunter2"
	words save ci-team_mlp_mlp.amd >saved 2>/dev/null
	check "$engine: nor in its layers" sh -c 'test -s saved && ! grep -q hunter2 saved'
	is "$engine: nothing private is left" "$(find "$XDG_RUNTIME_DIR/profrig/.build" -mindepth 1)" ""
	is "$engine: the log of each is kept" "$(ls builds/*/ | tr '\n' ' ')" "ci-team_mlp_mlp.amd.log ci-team_mlp_mlp.any.log mine_7.log "
	is "$engine: what was asked for was built" "$(m '.summary | [(.successful_builds | length), (.failed_builds | length)] | join(" ")')" "3 0"
	like "$engine: the base image" "$(m '.built_images["ci-team_mlp_mlp.amd"] | "\(.base_docker) \(.docker_sha | length > 20)"')" "base:1 true"
	code "$engine: the manifest runs" 0 "$PROFRIG" -q run -o runs --no-analyze --perf-csv perf.csv --manifest build_manifest.json
	is "$engine: each row tells of its Dockerfile" "$(jq -r '.[] | "\(.docker_file | split("/") | last) \(.base_docker)"' perf_super.json | tr '\n' ';')" \
		"mlp.amd.Dockerfile base:1;mlp.any.Dockerfile base:1;Dockerfile base:1;"
	rm -f perf*
	is "$engine: every image once" "$(cat $(sed 's#$#/steps/01-workload.out#' out) | grep -v '^[mb ]' | tr '\n' ';')" 'amd van $illa `x`;any none;'
	is "$engine: its id is in run.json" "$(field runs/latest/run.json .image_digest)" "$(words image inspect --format '{{.Id}}' mine:7)"
	check "$engine: how long it took, too" jq -e '.durations_s.build > 0' runs/latest/run.json
	check "$engine: no secret in run directories" sh -c '! grep -rl hunter2 runs'
	# What no engine has a part in, one is enough for.
	[ -z "$done" ] || return
	code "$engine: some of its models" 0 "$PROFRIG" -q run -o runs --no-analyze --manifest build_manifest.json n
	is "$engine: one run" "$(wc -l <out)" 1
	code "$engine: a model that it has not" 2 "$PROFRIG" -q run -o runs --manifest build_manifest.json bad
	like "$engine: says which it has" "$(cat err)" "no image of model 'bad'; it has: Team/Mlp, Team/Mlp, n"
	code "$engine: with architectures" 0 build -a gfx90a,gfx942 --set model.dockerfile=m/docker/mlp.any.Dockerfile m
	is "$engine: one image each" "$(m '.built_images | keys | join(" ")')" "ci-team_mlp_mlp.any_gfx90a ci-team_mlp_mlp.any_gfx942"
	is "$engine: built for it" "$(m '.built_images["ci-team_mlp_mlp.any_gfx942"].gpu_architecture')" gfx942
	code "$engine: built and run in one" 0 "$PROFRIG" -q run --build --engine "$engine" -o runs --no-analyze --manifest both.json n
	before=$(sha256sum build_manifest.json)
	code "$engine: once more, beside the manifest of a build" 0 "$PROFRIG" -q run --build --engine "$engine" -o runs --no-analyze n
	is "$engine: which stays as it is" "$(sha256sum build_manifest.json)" "$before"
	is "$engine: that of the run lies with its logs" "$(ls builds/*/manifest.json | wc -l)" 1
	code "$engine: nor over one that is named" 2 "$PROFRIG" -q run --build --engine "$engine" -o runs --no-analyze --manifest both.json n
	code "$engine: an image that is there already" 0 build --use-image auto -m used.json n
	is "$engine: nothing was built" "$(m '.built_images["ci-n"] | "\(.docker_image) \(.status) \(.build_command)"')" "mine:7 prebuilt null"
	code "$engine: runs" 0 "$PROFRIG" -q run -o runs --no-analyze --manifest used.json
}

# A package of models.json, its credentials and a manifest as madengine writes it.
package() {
	(
		cd "$T/pkg" || exit
		"$PROFRIG" build --engine "$engine" --set build.network=none -t quick -c "{'gpu_vendor': 'AMD', 'docker_build_arg': {'FLAVOUR': 'p q'}, 'docker_env_vars': {'WHOSE': 'ours', 'SOME_TOKEN': 'hunter2-token'}, 'model_args': '--x hunter2-github'}" -m man.json
	) >out 2>err
	is "$engine: a package's model is built" "$?" 0
	is "$engine: by the name madengine gives it" "$(field pkg/man.json '.built_images | keys | join(" ")')" "ci-scoped_pk_pk.ubuntu.amd"
	is "$engine: with its script as the package has it" "$(field pkg/man.json '.built_models[] | "\(.scripts) \(.n_gpus)"')" "scripts/scoped/run.sh -1"
	is "$engine: the context is kept for its runs, secrets are not" "$(jq -c .additional_context pkg/man.json)" '{"gpu_vendor":"AMD","docker_env_vars":{"WHOSE":"ours"}}'
	like "$engine: which is reported" "$(cat err)" "'docker_env_vars.SOME_TOKEN' of the context holds a secret, which no manifest keeps.*'model_args' of the context holds a secret"
	code "$engine: so it runs as it was built" 0 env -C pkg "$PROFRIG" -q run --engine "$engine" -o runs --no-analyze --manifest man.json
	is "$engine: with the variables of that context" "$(cd pkg && head -n 1 "$(cat "$T/out")"/steps/*workload.out)" "p q, of ours, scoped/pk"
	check "$engine: its credentials went by mount alone" sh -c "! grep -rl hunter2 pkg/man.json pkg/builds out err && ! $(engine_words "$engine") history --no-trunc ci-scoped_pk_pk.ubuntu.amd | grep hunter2"
	code "$engine: a manifest of madengine runs" 0 env MODEL_DIR="$T/pkg" "$PROFRIG" -q run --engine "$engine" -o runs --no-analyze --manifest pkg/theirs.json
	is "$engine: with the context it was built with" "$(head -n 1 "$(cat out)"/steps/*workload.out)" "p q, of theirs, scoped/pk"
	[ -z "$done" ] || return
	code "$engine: -c goes before it" 0 env MODEL_DIR="$T/pkg" "$PROFRIG" run --engine "$engine" -o runs --no-analyze --manifest pkg/theirs.json -c "{'docker_env_vars': {'WHOSE': 'mine'}}"
	is "$engine: key by key" "$(head -n 1 "$(cat out)"/steps/*workload.out)" "p q, of mine, scoped/pk"
	sed -i 's/echo "performance: 2 x.s"/echo "performance: 2 x\/s"; echo "$@"/' pkg/scripts/scoped/run.sh
	(
		cd "$T/pkg" || exit
		"$PROFRIG" -q run --engine "$engine" -o ../runs --no-analyze --set build.network=none -t quick:n=1,quick:n=2 -c "{'gpu_vendor': 'AMD', 'docker_build_arg': {'FLAVOUR': 'p q'}}"
	) >out 2>err
	is "$engine: one model with two arguments runs" "$?" 0
	is "$engine: with each of them" "$(sed 's#$#/steps#' out | while read -r d; do tail -n 1 "$d"/*workload.out; done | tr '\n' ';')" "--n 1;--n 2;"
	is "$engine: in one image" "$(field pkg/build_manifest.json '.built_images | length')" 1
	code "$engine: the manifest of it runs with others" 0 env MODEL_DIR="$T/pkg" "$PROFRIG" -q run --engine "$engine" -o runs --no-analyze --manifest pkg/build_manifest.json -t scoped/all:n=3
	is "$engine: these alone" "$(tail -n 1 "$(cat out)"/steps/*workload.out)" "--n 3"
}

data() {
	# The user inside is another one, and the folder we are in is mounted.
	chmod 755 "$T"
	printf theirs >set/theirs
	code "$engine: data in a container" 0 "$PROFRIG" -q run --no-analyze --engine "$engine" --image mine:7 -o runs --set container.user=1000:1000 \
		--set "data=[{name: s, provider: local, path: set}, {name: h, provider: script, path: bring.sh, home: /at/home}, {name: none, provider: nas, path: nix, optional: true}]" \
		-- sh -c 'cat "$PROFRIG_DATA_S/theirs" /at/home/brought; echo " $PROFRIG_DATA_S $MAD_DATAHOME $PROFRIG_DATA_H ${PROFRIG_DATA_NONE-unset}"; touch "$PROFRIG_DATA_S/x" /at/home/x; test -z "$(ls /data/none)" && echo empty'
	is "$engine: where it belongs, for any user; what is not there is empty" "$(tr '\n' ' ' <"$(cat out)"/steps/01-workload.out | sed 's/  *$//')" \
		"theirsbrought /data/s /data/s /at/home unset empty"
	check "$engine: not to be written to" sh -c 'test ! -e set/x && ! ls cache/profrig/data/*/data/x 2>/dev/null'
	is "$engine: run.json tells of all three" "$(field "$(cat out)/run.json" '[.data[].provider] | tostring')" '["local","script",null]'
}

fails() {
	code "$engine: one that cannot be built: 1" 1 "$PROFRIG" build --engine "$engine" bad
	like "$engine: its last words" "$(cat err)" "this went wrong"
	like "$engine: where the rest is" "$(cat err)" "the whole of it: .*/builds/.*/ci-bad_bad.1.log"
	is "$engine: the others went on, and the manifest tells both" "$(m '[(.built_images | keys[]), (.failed_images | keys[]), (.summary.failed_builds[])] | join(" ")')" \
		"ci-bad_bad.2 ci-bad_bad.1 ci-bad_bad.1"
	code "$engine: what was built runs" 0 "$PROFRIG" run -o runs --no-analyze --manifest build_manifest.json
	like "$engine: what was not is said" "$(cat err)" "'ci-bad_bad.1' could not be built and does not run"
	[ -z "$done" ] || return
	code "$engine: too slow: 1" 1 build --set build.timeout=0.3 --clean-cache m
	like "$engine: says so" "$(cat err)" "took longer than 0.3 s"
	code "$engine: nothing fits: 3" 3 build --set context.guest_os=CENTOS --set model.dockerfile=m/docker/mlp.amd.Dockerfile m
	like "$engine: says what it wants" "$(cat err)" "mlp.amd.Dockerfile wants guest_os UBUNTU"
	"$PROFRIG" build -q --engine "$engine" --clean-cache --set model.dockerfile=m/docker/mlp.amd.Dockerfile m >out 2>err &
	local pid=$!
	wait_for sh -c 'grep -qs "van" builds/*/ci-team_mlp_mlp.amd.log && ls -A "$XDG_RUNTIME_DIR/profrig/.build" | grep -q private'
	kill -INT $pid
	wait $pid
	is "$engine: interrupted: 130" "$?" 130
	is "$engine: nothing private is left then" "$(find "$XDG_RUNTIME_DIR/profrig/.build" -mindepth 1)" ""
	"$PROFRIG" build -q --engine "$engine" --clean-cache m >out 2>err &
	pid=$!
	wait_for sh -c 'ls -A "$XDG_RUNTIME_DIR/profrig/.build" | grep -q private'
	kill -9 $pid
	wait $pid 2>/dev/null
	wait_for sh -c "! pgrep -f '[D]ockerfile -t ci-team_mlp_mlp.amd'"
	code "$engine: what a killed one left goes with the next" 0 build --use-image x n
	is "$engine: it is gone" "$(find "$XDG_RUNTIME_DIR/profrig/.build" -mindepth 1)" ""
}

# Models of a file, two logins at once: the registry by another name is another one.
batch() {
	local other=localhost:${registry#*:}
	mkdir -p o && sed 's/: n,/: o,/; s/mine:7/other:7/' n/profrig.yaml >o/profrig.yaml && cp n/Dockerfile o/
	jq --arg o "$other" '.[$o] = (.[] | {username, password})' credential.json >both.json && mv both.json credential.json
	cat >batch.json <<-J
		[{"model_name": "n", "build_new": true, "registry": "$registry", "registry_image": "team/n:batch"},
		 {"model_name": "o", "build_new": true, "registry_image": "$other/team/o:batch"},
		 {"model_name": "bad", "build_new": false, "registry_image": "base:1"}]
	J
	cp credential.json both.json && jq --arg o "$other" '.[$o].password = "wrong-word"' both.json >credential.json
	code "$engine: one of two logins that is refused: 4" 4 build --batch-manifest batch.json -m none.json
	like "$engine: says where" "$(cat err)" "login to registry '$other' as 'me' is refused"
	check "$engine: and nothing was built" test ! -e none.json
	mv both.json credential.json
	code "$engine: a batch" 0 build --batch-manifest batch.json -m batched.json
	is "$engine: each image went to its own registry" "$(field batched.json '[.built_images[] | .model + " " + .registry_image] | sort | join(", ")')" \
		"bad base:1, n $registry/team/n:batch, o $other/team/o:batch"
	is "$engine: with a digest" "$(field batched.json '[.built_images[].repo_digest | select(. != null and startswith("sha256") == false) | split("@")[0]] | contains(["'"$registry"'/team/n"])')" true
	is "$engine: what was not built" "$(field batched.json '.built_images[] | select(.model == "bad") | "\(.status) \(.build_command)"')" "prebuilt null"
	words image rm -f mine:7 "$registry/team/n:batch" >/dev/null 2>&1
	code "$engine: its manifest runs" 0 "$PROFRIG" -q run --set registry.name="$registry" -o runs --no-analyze --manifest batched.json
	is "$engine: what was built, what was pulled, and what was there" "$(sed 's#$#/run.json#' out | xargs jq -r '.model + " " + .image' | tr '\n' ';')" \
		"n $registry/team/n:batch;o other:7;bad base:1;"
	words tag "$registry/team/n:batch" mine:7
}

registries() {
	if [ -z "${registry:-}" ]; then
		skip "$engine: registry" "$registry_why"
		return
	fi
	local r=$registry/team/images:ci-team_mlp_mlp.any
	export PROFRIG_REGISTRY_USER=me PROFRIG_REGISTRY_PASSWORD=hunter2-registry
	code "$engine: pushed" 0 build --registry "$registry" --set registry.repository=team/images --set model.dockerfile=m/docker/mlp.any.Dockerfile m
	is "$engine: by that name" "$(m '.built_images["ci-team_mlp_mlp.any"].registry_image')" "$r"
	like "$engine: its digest" "$(m '.built_images["ci-team_mlp_mlp.any"].repo_digest')" "^$registry/team/images@sha256:[0-9a-f]{64}$"
	check "$engine: no login is left where others look" sh -c "! grep -rqs '$registry' '$engines_dir/docker/config' \"\$HOME/.docker/config.json\" \"\${XDG_RUNTIME_DIR}/containers\""
	words image rm -f ci-team_mlp_mlp.any "$r" >/dev/null 2>&1
	code "$engine: pulled by a run" 0 "$PROFRIG" -q run --set registry.name="$registry" -o runs --no-analyze --manifest build_manifest.json
	is "$engine: what ran" "$(field runs/latest/run.json .image)" "$r"
	is "$engine: its name by digest in run.json" "$(field runs/latest/run.json .image_repo_digest)" "$(field build_manifest.json '.built_images["ci-team_mlp_mlp.any"].repo_digest')"
	check "$engine: no password in it" sh -c '! grep -rl hunter2 runs build_manifest.json'
	words image rm -f "$r" >/dev/null 2>&1
	[ -z "$done" ] || return
	PROFRIG_REGISTRY_PASSWORD=wrong-word code "$engine: a login that is refused: 4" 4 build --registry "$registry" m
	like "$engine: says where" "$(cat err)" "login to registry '$registry' as 'me' is refused"
	check "$engine: not with what" sh -c '! grep wrong-word err'
	unset PROFRIG_REGISTRY_USER PROFRIG_REGISTRY_PASSWORD
	echo "{\"$registry\": {\"username\": \"me\", \"password\": \"hunter2-registry\", \"repository\": \"of/credentials\"}}" >credential.json
	code "$engine: a login of credential.json" 0 build --registry "$registry" --set model.dockerfile=m/docker/mlp.any.Dockerfile m
	is "$engine: and its repository" "$(m '.built_images["ci-team_mlp_mlp.any"].registry_image')" "$registry/of/credentials:ci-team_mlp_mlp.any"
	batch
	rm credential.json
	code "$engine: a push without a login: 1" 1 build --registry "$registry" --set model.dockerfile=m/docker/mlp.any.Dockerfile m
	like "$engine: the manifest has the reason" "$(m '.push_failures["ci-team_mlp_mlp.any"]')" "[a-z]"
	code "$engine: a pull that fails, and no such image: 4" 4 "$PROFRIG" -q run --engine "$engine" --image "$registry/none:1" -o none -- true
	check "$engine: nothing was started" test ! -e none
	words tag mine:7 "$registry/mine:7" >/dev/null 2>&1
	code "$engine: a pull that fails, and the image is here: it runs" 0 "$PROFRIG" run --no-analyze --engine "$engine" --image "$registry/mine:7" --set container.pull=always -o runs -- /bin/sh -c true
	like "$engine: with a warning" "$(cat err)" "could not be pulled .*: the one that is here is used"
	is "$engine: and in run.json" "$(field runs/latest/run.json '.warnings[].code')" W_PULL_FAILED
}

done=
for engine in docker podman; do
	need_engine $engine
	case $? in
	0)
		test_image $engine base:1 || not_ok "$engine: test image" "$engines_why"
		if [ $engine = docker ] && ! env DOCKER_BUILDKIT=1 $PROFRIG_DOCKER build --help 2>/dev/null | grep -q -- --secret; then
			code "docker: secrets need BuildKit: 4" 4 build m
			like "docker: says what to do" "$(cat err)" "BuildKit.*install its buildx plug-in, or use --engine podman"
			code "docker: the rest is built without" 0 build n
			code "docker: also where there are secrets that no step mounts" 0 build --set 'secrets.API_TOKEN={from_env: PATH}' n
			# Debian's own client has it, wherever another one stands in front.
			if [ -x /usr/bin/docker ] && env DOCKER_BUILDKIT=1 /usr/bin/$PROFRIG_DOCKER build --help 2>/dev/null | grep -q -- --secret; then
				export PROFRIG_DOCKER="/usr/bin/$PROFRIG_DOCKER"
			else
				skip "docker: builds with secrets" "no BuildKit"
				continue
			fi
		fi
		builds
		registries
		package
		data
		fails
		done=$engine
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
