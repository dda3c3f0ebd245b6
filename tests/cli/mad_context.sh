#!/usr/bin/env bash
# Contexts as madengine takes them: JSON and Python, a file and a text, every key, mistakes; and tools.json.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/fakes/machine.sh"
plain_machine "$T/plain"
export PROFRIG_SYSFS_ROOT=$T/plain
cp -r "$ROOT/tests/fixtures/mad" "$T/pkg" && cd "$T/pkg" && rm -r scripts/scripted || exit 1

planned() { "$PROFRIG" -q plan --json --engine host "$@" 2>"$T/err"; }
conf() { # key, arguments
	local key=$1
	shift
	planned "$@" | jq -r --arg k "$key" '.configuration[] | select(.key == $k) | .value + " (" + .origin + ")"'
}
workload() { planned "$@" | jq -r '.steps[] | select(.kind == "workload") | .argv | join("|")'; }
env_of() { # variable, arguments
	local name=$1
	shift
	planned "$@" | jq -r --arg n "$name" '.steps[] | select(.kind == "workload") | .env[] | select(.name == $n) | .value'
}

# Two notations, one meaning.
cat >"$T/a.json" <<-'JSON'
	{"docker_env_vars": {"A": "x y", "N": 7, "T": true},
	 "tools": [{"name": "cpu_power"}]}
JSON
cat >"$T/a.py" <<-'PY'
	# the same
	{'docker_env_vars': {'A': 'x '
	                          "y", 'N': 0x7, 'T': True,},
	 'tools': [{'name': r'cpu_power'}], 'docker_cpus': None}
PY
for f in a.json a.py; do
	{ printf '\357\273\277' && sed 's/$/\r/' "$T/$f"; } >"$T/marked"
	is "$f: a byte order mark and CRLF do no harm" "$(env_of N -f "$T/marked" plain)" 7
	is "$f: a text" "$(conf env.A -f "$T/$f" plain)" "x y ($T/$f:$([ $f = a.json ] && echo 1 || echo 2))"
	is "$f: a number and a truth" "$(env_of N -f "$T/$f" plain) $(env_of T -f "$T/$f" plain)" "7 true"
	is "$f: a list" "$(conf 'tools[0].name' -f "$T/$f" plain | cut -d' ' -f1)" "cpu_power"
	is "$f: as a text on the command line" "$(conf env.A -c "$(cat "$T/$f")" plain | cut -d'(' -f1)" "x y "
done
is "the text goes before the file, key by key" "$(env_of A -f "$T/a.json" -c '{"docker_env_vars": {"A": "cli"}}' plain) $(env_of N -f "$T/a.json" -c '{"docker_env_vars": {"A": "cli"}}' plain)" "cli 7"
is "None takes a value back" "$(env_of A -f "$T/a.json" -c "{'docker_env_vars': {'A': None}}" plain)" ""
is "other options of the command line go before both" "$(conf model.image -c '{"MAD_CONTAINER_IMAGE": "a:1"}' --image b:1 plain)" "b:1 (command line)"
is "and a context before the model" "$(conf model.args -c '{"model_args": "--only \"this one\""}' plain)" "[--only, 'this one'] (--additional-context:1)"
is "model_args replaces a tag's too" "$(workload -c '{"model_args": "x"}' plain:a=1)" "bash|run.sh|x"
is "an empty one leaves none" "$(workload -c '{"model_args": ""}' plain)" "bash|run.sh"
is "a plain name is a tool" "$(conf 'tools[0].name' -c '{"tools": ["cpu_power"]}' plain | cut -d' ' -f1)" "cpu_power"
is "contexts are for bare commands as well" "$(env_of A -c '{"docker_env_vars": {"A": "b"}}' -- true)" "b"

# A pipe can be read once, by all models.
is "a context through a pipe is for every model" "$(env_of PIPED -f <(echo '{"docker_env_vars": {"PIPED": "yes"}}') plain python folder | tr '\n' ' ')" "yes yes yes "
is "a configuration likewise" "$(env_of PIPED --config <(echo 'env: {PIPED: yes}') plain python | tr '\n' ' ')" "yes yes "
code "a secret likewise, in runs with tools and without" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" --baseline --tools cpu_usage --set 'secrets.SEC={from_file: /dev/fd/9}' \
	--set 'model.command=[sh, -c, "echo performance: ${#SEC} x"]' python folder 9< <(echo sesame-pipe)
is "each has it" "$(while read -r d; do jq '.metrics[] | select(.name == "performance") | .value' "$d/run.json"; done <"$T/out" | sort -u)" 11

# Every key.
cat >"$T/all.py" <<-'PY'
	{'gpu_vendor': 'nvidia', 'guest_os': 'ubuntu', 'host_os': 'HOST_UBUNTU', 'numa_balancing': False, 'ctx_test': 1,
	 'MAD_ROCM_PATH': '/opt/rocm-6', 'MAD_CONTAINER_IMAGE': 'img:1',
	 'env_vars': {'E': 'low', 'F': 'kept'}, 'docker_env_vars': {'E': 'high'},
	 'docker_mounts': {'/data': 'docker', '/abs': '/tmp'},
	 'docker_build_arg': {'BASE': 'x', 'N': 3},
	 'docker_gpus': '0,2-4,5-5,7', 'docker_cpus': '0,0-0',
	 'pre_scripts': [{'path': 'scripts/plain/run.sh', 'args': '1 "2 3"'}], 'post_scripts': [{'path': 'scripts/plain/run.sh'}],
	 'encapsulate_script': 'nice -n 5', 'rocenv_mode': 'full', 'gen_sys_env_details': True, 'gpu_renderDs': [128],
	 'log_error_pattern_scan': 0, 'log_error_patterns': ['boom'], 'log_error_benign_patterns': ['(harmless)'],
	 'live_output': 'yes', 'skip_perf_collection': True, 'ngpus': 4, 'distributed': {'launcher': 'deepspeed', 'nproc_per_node': 4},
	 'data': {}}
PY
all() { conf "$1" -f "$T/all.py" plain | sed 's/ ([^(]*)$//'; }
is "the context of Dockerfiles" "$(all context.gpu_vendor) $(all context.guest_os) $(all context.host_os) $(all context.numa_balancing) $(all context.ctx_test)" \
	"NVIDIA UBUNTU HOST_UBUNTU false 1"
is "MAD_ROCM_PATH" "$(all env.ROCM_PATH)" "/opt/rocm-6"
is "docker_env_vars goes before env_vars" "$(all env.E) $(all env.F)" "high kept"
is "MAD_GUEST_OS" "$(all env.MAD_GUEST_OS)" "UBUNTU"
is "mounts: the container's path is the key" "$(all 'mounts[0].container') $(all 'mounts[0].host') $(all 'mounts[1].host')" "/data $T/pkg/docker /tmp"
is "build arguments" "$(all build.args.BASE) $(all build.args.N)" "x 3"
is "GPUs: as many of the list as the model wants" "$(conf gpus -c "{'docker_gpus': '0,2-4,5-5,7'}" plain | cut -d' ' -f1)" "0,2"
is "all of them for one that wants all" "$(env_of CUDA_VISIBLE_DEVICES -c "{'docker_gpus': '0,2-4,5-5,7'}" python)" "0,2,3,4,5,7"
is "or as many as the context says" "$(env_of HIP_VISIBLE_DEVICES -f "$T/all.py" plain)" "0,2,3,4"
is "scripts are run by bash, their arguments are words" \
	"$(planned -f "$T/all.py" plain | jq -r '.steps[0].argv | [.[0], .[2], .[3]] | join("|")')" "bash|1|2 3"
is "encapsulate_script" "$(workload -f "$T/all.py" plain)" "nice|-n|5|bash|run.sh|--epochs|3"
is "the log scan" "$(all results.log_scan) $(all results.error_patterns) $(all results.benign_patterns)" "off [boom] ['(harmless)']"
is "live_output" "$(all live)" "true"
is "the launcher's words" "$(all env.MAD_MULTI_NODE_RUNNER)" "deepspeed --num_gpus=4"
is "skip_perf_collection" "$(all env.MAD_COLLECT_METRICS)" "false"
is "data of the context goes before data.json" "$(conf 'data[0].path' -c '{"data": {"set": {"local": {"path": "/mine"}}}}' data | cut -d' ' -f1)" "/mine"
code "docker_env_vars reach the workload to the letter" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" \
	-c "$(cat <<-'PY'
		{'docker_env_vars': {'ODD': "a b $HOME `id` \"q\" 'r' ; | \\"}}
	PY
	)" -- sh -c 'printf "%s" "$ODD"'
is "nothing is expanded" "$(cat "$(cat "$T/out")"/steps/*workload.out)" "a b \$HOME \`id\` \"q\" 'r' ; | \\"
code "a command in a value is a value" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" -c "{'encapsulate_script': 'env X=\$(touch\${IFS}$T/owned)', 'model_args': '; touch $T/owned'}" plain
check "and is not run" test ! -e "$T/owned"

# Mistakes, all at once.
code "wrong types and values" 3 "$PROFRIG" plan -c '{"gpu_vendor": "intel", "guest_os": "DOS", "docker_build_arg": [], "tools": {}, "log_error_patterns": [],
	"docker_env_vars": "x", "docker_buld_arg": {}, "pre_scripts": [{"pth": "x"}], "rocenv_mode": "lit", "docker_gpus": "2-1",
	"docker_mounts": {"rel": "/tmp"}, "distributed": {"nnodes": 2}}' -- true
for words in "context:1: context.gpu_vendor: want one of AMD, NVIDIA, not 'intel'" "context:1: context.guest_os: want one of UBUNTU, CENTOS, not 'DOS'" \
	"context:1: docker_build_arg: want a map, not a list" "context:1: tools: want a list, not a map" "context:1: log_error_patterns: is empty" \
	"context:2: docker_env_vars: want a map, not a text" "context:2: unknown key 'docker_buld_arg'; did you mean 'docker_build_arg'" \
	"context:2: unknown key 'pth' in pre_scripts\[0\]; did you mean 'path'" "context:2: rocenv_mode: unknown 'lit'; did you mean 'lite'" \
	"context:2: gpus: want all, none, or indexes" "context:3: mounts\[0\].container: want an absolute path" "context:3: distributed.nnodes: '2' machines"; do
	like "told: ${words:0:50}" "$(cat "$T/err")" "$words"
done
code "no truth" 3 "$PROFRIG" plan -c '{"skip_perf_collection": "maybe"}' -- true
like "is reported" "$(cat "$T/err")" "skip_perf_collection: want true or false"
code "Slurm with keys that are wrong" 3 "$PROFRIG" plan --engine host -c '{"slurm": {"nodes": "two", "partion": "x"}}' -- true
like "is reported" "$(cat "$T/err")" "context:1: unknown key 'partion'; did you mean 'partition'"
code "and with right ones" 0 "$PROFRIG" plan --engine host -c '{"slurm": {}, "distributed": {"nnodes": 2, "launcher": "torchrun"}}' -- true
like "is a job" "$(cat "$T/out")" "sbatch .*--partition=amd-rccl --nodes=2 .*campaign work"
code "nor Kubernetes, nor both" 3 "$PROFRIG" plan -c '{"slurm": {}, "kubernetes": {}}' -- true
like "is reported" "$(cat "$T/err")" "kubernetes: not in 'profrig run'"
like "both" "$(cat "$T/err")" "slurm: and Kubernetes, too: want at most one"
code "--lenient passes over them" 0 "$PROFRIG" plan --lenient --engine host -c '{"k8s": {}, "colour": 1}' -- true
like "and tells" "$(cat "$T/err")" "warning: --additional-context:1: unknown key 'colour'.*warning: --additional-context:1: k8s: has no effect"
code "a torn text" 3 "$PROFRIG" plan -c '{"a": 1' -- true
like "is reported" "$(cat "$T/err")" "additional-context:1: "
code "a torn Python text" 3 "$PROFRIG" plan -c "{'a': [1, 2}" -- true
like "is reported" "$(cat "$T/err")" "additional-context:1: want , or \] after a value"
code "code is no literal" 3 "$PROFRIG" plan -c "{'a': __import__('os').system('touch $T/owned')}" -- true
check "and not run" test ! -e "$T/owned"
code "a list" 3 "$PROFRIG" plan -c '[1]' -- true
like "is reported" "$(cat "$T/err")" "want a map of keys"
code "no such file" 2 "$PROFRIG" plan -f "$T/none.json" -- true
code "a folder" 2 "$PROFRIG" plan -f "$T" -- true
code "an unknown tool in a context" 3 "$PROFRIG" plan -c '{"tools": [{"name": "cpu_powr"}]}' -- true
like "has its suggestion" "$(cat "$T/err")" "additional-context:1: unknown tool 'cpu_powr'; did you mean 'cpu_power'"
code "a script that is not there" 3 "$PROFRIG" plan -c '{"post_scripts": [{"path": "no.sh"}]}' -- true
like "is reported" "$(cat "$T/err")" "script '$T/pkg/no.sh' is not there"
planned -c '{"docker_env_vars": {"HF_TOKEN": "hunter2"}}' plain >"$T/secret"
check "a secret's value stays out of a plan" sh -c "! grep -q hunter2 '$T/secret'"

# tools.json
mkdir -p scripts/common/pre
echo 'echo "pre $1" >>"$PROFRIG_RUN_DIR/order"' >scripts/common/pre/say.sh
echo 'echo "post $1" >>"$PROFRIG_RUN_DIR/order"; echo "a,b" >seen_output.csv; echo 1,2 >>seen_output.csv' >scripts/common/pre/end.sh
cat >scripts/common/wrap.sh <<-'SH'
	echo "cmd $1 $JVAR" >>"$PROFRIG_RUN_DIR/order"
	shift
	exec "$@"
SH
cat >scripts/common/tools.json <<-'JSON'
	{"tools": {
	  "jt": {"cmd": "bash ../scripts/common/wrap.sh 'one two'", "env_vars": {"JVAR": "{x}", "K": "tool"},
	         "pre_scripts": [{"path": "scripts/common/pre/say.sh", "args": "jt"}],
	         "post_scripts": [{"path": "scripts/common/pre/end.sh", "args": "jt"}]},
	  "ju": {"cmd": "bash ../scripts/common/wrap.sh 'one two'", "env_vars": {"U": "1"}},
	  "jv": {"env_vars": {"V": "1"}},
	  "cpu_power": {"cmd": "false"},
	  "broken": {"pre_scripts": [{"path": "scripts/none.sh"}]}
	}}
JSON
code "tools of tools.json" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" --tools jt,ju,jv --set 'model.command=[sh, -c, "echo performance: 1 q; echo workload $K $U $V >>$PROFRIG_RUN_DIR/order"]' folder
is "pre, command, workload, post; words that two share once" "$(tr '\n' '/' <"$(cat "$T/out")/order")" "pre jt/cmd one two {x}/workload tool 1 1/post jt/"
is "what they leave is kept" "$(jq -r '.artifacts[] | .path' "$(cat "$T/out")/run.json")" "artifacts/jt/seen_output.csv"
code "two models with the same tools and scripts" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" --tools jt -c '{"post_scripts": [{"path": "scripts/common/pre/say.sh", "args": "user"}]}' \
	--set 'model.command=[sh, -c, "echo performance: 1 q; echo workload >>$PROFRIG_RUN_DIR/order"]' -t python,folder
is "have them once each" "$(while read -r d; do tr '\n' '/' <"$d/order"; done <"$T/out")" \
	"pre jt/cmd one two {x}/workload/pre user/post jt/pre jt/cmd one two {x}/workload/pre user/post jt/"
code "no limit at all" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" --timeout 0 plain
check "list tools shows them" sh -c "'$PROFRIG' list tools | grep -E '^jt .*wrap'"
is "cmd is replaced, variables are key by key" \
	"$(workload -c '{"tools": [{"name": "jt", "cmd": "nice -n 1", "env_vars": {"K": "mine"}}]}' plain) $(env_of K -c '{"tools": [{"name": "jt", "env_vars": {"K": "mine"}}]}' plain) $(env_of JVAR -c '{"tools": [{"name": "jt", "env_vars": {"K": "mine"}}]}' plain)" \
	"nice|-n|1|bash|run.sh|--epochs|3 mine {x}"
is "one that is here already stays" "$(planned --tools cpu_power plain | jq -r '.tools[0].class')" "sampler"
like "and is reported" "$("$PROFRIG" plan --engine host --tools cpu_power plain 2>&1 >/dev/null)" "tool 'cpu_power' is that of '.*/tools.d/cpu_power.yaml', not that of '$T/pkg/scripts/common/tools.json'"
is "unless --tools-config names the file" "$(workload --tools-config scripts/common/tools.json --tools cpu_power plain)" "false|bash|run.sh|--epochs|3"
like "and is reported" "$("$PROFRIG" plan --engine host --tools-config scripts/common/tools.json --tools cpu_power plain 2>&1 >/dev/null)" "tool 'cpu_power' is that of '$T/pkg/scripts/common/tools.json', not"
code "a broken one matters when it is used" 3 "$PROFRIG" plan --engine host --tools broken plain
like "is reported" "$(cat "$T/err")" "tools.json:[0-9]+: script '$T/pkg/scripts/none.sh' is not there"
code "no such tools.json" 2 "$PROFRIG" plan --tools-config "$T/none.json" plain
echo '{"tools": {"a": {"env_var": "x"}}}' >"$T/wrong.json"
code "a wrong tools.json" 3 "$PROFRIG" plan --tools-config "$T/wrong.json" plain
like "is reported" "$(cat "$T/err")" "wrong.json:1: unknown key 'env_var' in tools.a; did you mean 'env_vars'"
echo '{' >scripts/common/tools.json
code "a torn one that nobody named stops nothing" 0 "$PROFRIG" plan --engine host plain
like "but is reported" "$(cat "$T/err")" "its tools are left out: .*tools.json"
