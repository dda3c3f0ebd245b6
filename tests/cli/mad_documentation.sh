#!/usr/bin/env bash
# madengine's own documentation, command by command: it works as it stands, or is answered with what to write instead. The rows are those of the
# table in docs/madengine.md: a row without checks here fails this test, and so do checks of a row that is gone.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/fakes/machine.sh"
cp -r "$ROOT/tests/fixtures/mad" "$T/package" && cd "$T/package" || exit 1
git init -q . 2>/dev/null
host="--engine host --no-analyze"
tested=()
row() { # the first cell of a row, whose checks follow
	tested+=("$1")
	echo "# $1"
}
answered() { # word to use, command…
	local word=$1
	shift
	code "${*:1:4}: is answered" 2 "$PROFRIG" "$@"
	like "with the word" "$(cat "$T/err")" "$word"
}
accepted() { code "$*" 0 "$PROFRIG" -q "$@"; }
# the images that a build would make
images() { "$PROFRIG" -q build -n "$@" 2>"$T/err" | cut -f2 | xargs; }

row '`discover --tags T`'
for w in "--tags plain" "--tags=plain" "-t plain" "-tplain" "-t plain --verbose" "--tags plain -v"; do
	# shellcheck disable=SC2086
	accepted discover $w
	is "is the one model" "$(grep -c '^plain ' "$T/out")" 1
done
accepted discover --tags plain --tags python
is "is two" "$(grep -cE '^(plain|python) ' "$T/out")" 2
code "a data name that is nowhere" 0 "$PROFRIG" discover -t lost
like "is wrong" "$(grep '^lost ' "$T/out")" " yes$"
like "and named" "$(cat "$T/err")" "data: 'gone' is not in data.json"

row '`build --tags T`'
sed 's/FROM/ARG MAD_SYSTEM_GPU_ARCHITECTURE\nFROM/' docker/plain.ubuntu.amd.Dockerfile >docker/arch && mv docker/arch docker/plain.ubuntu.amd.Dockerfile
sed "s/'AMD'/'NVIDIA'/" docker/plain.ubuntu.amd.Dockerfile >docker/plain.ubuntu.nvidia.Dockerfile
sed "s/'UBUNTU'/'CENTOS'/" docker/plain.ubuntu.amd.Dockerfile >docker/plain.centos.amd.Dockerfile
if [ -e /dev/kfd ] || [ -e /dev/nvidiactl ]; then
	skip "build without a GPU" "there is a GPU"
else
	for w in "--tags plain" "--tags=plain" "-t plain" "-tplain" "plain"; do
		# shellcheck disable=SC2086
		is "build $w without a GPU: AMD and Ubuntu" "$(images $w)" ci-plain_plain.ubuntu.amd
	done
	accepted build -n -t plain
	is "is nothing else" "$(images -t plain -c '{"gpu_vendor": "AMD", "guest_os": "UBUNTU"}')" ci-plain_plain.ubuntu.amd
fi

row '`build --batch-manifest F`'
echo '[{"model_name": "plain", "build_new": true}, {"model_name": "image", "registry_image": "busybox:1"}]' >batch.json
accepted build -n --batch-manifest batch.json
like "has the model" "$(cat "$T/out")" "ci-plain_plain.ubuntu.amd"
answered "leave out --tags" build -n --batch-manifest batch.json -t plain

row '`build --target-archs a b`, `-a`'
for w in "--target-archs gfx90a gfx942" "--target-archs=gfx90a gfx942" "-a gfx90a gfx942" "-agfx90a,gfx942" "-a gfx90a -a gfx942" "--target-archs gfx90a,gfx942"; do
	# shellcheck disable=SC2086
	is "build $w: two images" "$(images $w -t plain -c '{"gpu_vendor": "AMD"}')" "ci-plain_plain.ubuntu.amd_gfx90a ci-plain_plain.ubuntu.amd_gfx942"
done
is "at the end of the line" "$(images -t plain -c '{"gpu_vendor": "AMD"}' -a gfx90a gfx942)" "ci-plain_plain.ubuntu.amd_gfx90a ci-plain_plain.ubuntu.amd_gfx942"

row '`build --clean-docker-cache`'
accepted build -n -t plain --clean-docker-cache

row '`build --build-on-compute`'
answered "on that node" build -t plain --build-on-compute

row '`build -s`, `--summary-output FILE`'
for w in "-s s.json" "-ss.json" "-s" "--summary-output s.json" "--summary-output=s.json" "--summary-output"; do
	# shellcheck disable=SC2086
	answered "here it is --json" build -t plain $w
done

row '`build -r`, `--registry`; `-m`, `--manifest-output`; `--use-image`'
for w in "--registry localhost:5000" "--registry=localhost:5000" "-r localhost:5000" "-rlocalhost:5000"; do
	# shellcheck disable=SC2086
	accepted build -n -t plain $w
	like "is where it goes" "$(cat "$T/out")" "localhost:5000/ci-plain"
done
for w in "--manifest-output m.json" "--manifest-output=m.json" "-m m.json" "-mm.json"; do accepted build -n -t plain $w; done
accepted build -n -t plain --use-image busybox:1
answered "builds nothing that --registry" build -t plain --use-image busybox:1 --registry r

row '`run --tags T`'
for w in "--tags plain" "--tags=plain" "-t plain" "-tplain" plain "-vt plain" "-t plain --verbose"; do
	# shellcheck disable=SC2086
	code "run $w" 0 "$PROFRIG" run $host $w
done
code "words behind -- are the workload's" 0 "$PROFRIG" -q run $host -- echo --live-output -o x.csv --registry
is "as they are" "$(cat runs/latest/steps/*workload.out)" "--live-output -o x.csv --registry"

row '`run -m`, `--manifest-file F`'
for w in "-m nowhere.json" "-mnowhere.json" "--manifest-file nowhere.json" "--manifest-file=nowhere.json" "-lm nowhere.json"; do
	# shellcheck disable=SC2086
	code "run $w of what is not there" 2 "$PROFRIG" -q run $host -t plain $w
	like "is read as a manifest" "$(cat "$T/err")" "nowhere.json: No such file"
done

row '`-c`, `--additional-context TEXT`; `-f`, `--additional-context-file FILE`'
echo '{"docker_env_vars": {"A": "file", "B": "file"}}' >context.json
for w in "-c {'docker_env_vars':{'A':'text'}}" "-c{'docker_env_vars':{'A':'text'}}" "--additional-context {'docker_env_vars':{'A':'text'}}" "--additional-context={'docker_env_vars':{'A':'text'}}"; do
	for f in "-f context.json" "-fcontext.json" "--additional-context-file context.json" "--additional-context-file=context.json"; do
		# shellcheck disable=SC2086
		is "$w $f" "$("$PROFRIG" -q plan $host -t plain $w $f --format json 2>"$T/err" | jq -r '[.. | objects | select(.name? == "A" or .name? == "B") | .name + "=" + .value] | unique | join(" ")')" "A=text B=file"
	done
done

row '`-l`, `--live-output` of `build` and `run`'
for w in "--live-output" "-l" "-lv" "-ql"; do
	accepted build -n -t plain $w
	accepted run $host -t plain $w
	like "shows the workload's output" "$(cat "$T/err")" "\[--epochs\]\[3\]"
done
code "run --live-output=yes" 2 "$PROFRIG" run $host -t plain --live-output=yes

row '`run --timeout S`'
for w in "--timeout -1" "--timeout=-1" "--timeout 5 --timeout -1"; do
	# shellcheck disable=SC2086
	is "$w: the model's" "$("$PROFRIG" -q plan $host -t plain $w 2>"$T/err" | grep -c 'workload, at most 360 s')" 1
done
is "--timeout 0: none" "$("$PROFRIG" -q plan $host -t plain --timeout 0 2>"$T/err" | grep -c 'workload, at most')" 0
is "--timeout 7200: said" "$("$PROFRIG" -q plan $host -t plain --timeout 7200 2>"$T/err" | grep -c 'workload, at most 7200 s')" 1
code "--timeout -2" 2 "$PROFRIG" run $host -t plain --timeout -2

row '`run --keep-alive`'
accepted run $host -t plain --keep-alive

row '`run --keep-model-dir`'
accepted run $host -t plain --keep-model-dir
check "it is kept" test -d runs/latest/work/run_directory

row '`run --skip-model-run`, `--disable-skip-gpu-arch`'
accepted run $host -t plain --skip-model-run --disable-skip-gpu-arch
is "it is skipped" "$(jq -r .status runs/latest/run.json)" skipped

row '`run -o`, `--output X.csv`'
for w in "-o a.csv" "-ob.csv" "--output c.csv" "--output=d.csv" "-lo e.csv" "--output f.CSV"; do
	# shellcheck disable=SC2086
	accepted run $host -t plain $w
	name=${w##*[ =]}
	check "$w is the table" test -f "${name#-o}"
done
accepted run $host -o "$T/elsewhere" -t plain
check "-o DIR is where runs go" test -e "$T/elsewhere/latest/run.json"
accepted run $host -o "$T/both" -o both.csv -t plain
check "both" test -f both.csv -a -e "$T/both/latest/run.json"

row '`run --tools-config FILE`'
mkdir -p scripts/common/tools
echo '{"_comment": 1, "tools": {"mine": {"cmd": "bash ../scripts/common/tools/rocprof_wrapper.sh --hip-trace --", "env_vars": {"_comment": "x", "MINE": "1"}}}}' >scripts/common/tools.json
accepted plan $host -t plain --force-tools --tools-config scripts/common/tools.json -c '{"tools": [{"name": "mine"}]}'
like "its tool is there" "$(cat "$T/out")" "rocprof_output csv --hip-trace --kernel-trace -- bash run.sh"
is "without its comments" "$(grep -c _comment "$T/out")" 0
code "one that is not there" 2 "$PROFRIG" run $host -t plain --tools-config=nowhere.json

row '`run --data-config FILE`'
for w in "--data-config data.json" "--data-config=data.json" "--data-config"; do answered "--config FILE" run $host -t plain $w; done
row '`run --force-mirror-local PATH`'
for w in "--force-mirror-local /tmp" "--force-mirror-local=/tmp"; do answered "mirrorlocal=PATH" run $host -t plain $w; done

row '`run --sys-env-details`, `--ignore-deprecated`'
accepted run $host -t python --sys-env-details --ignore-deprecated

row '`run --clean-docker-cache`'
answered "build --clean-cache" run $host -t plain --clean-docker-cache
row '`run -r`, `--registry`; `--manifest-output`'
for w in "--registry localhost:5000" "--registry=localhost:5000" "-r localhost:5000" "-rlocalhost:5000"; do answered "build --registry" run $host -t plain $w; done
answered "build --manifest-output" run $host -t plain --manifest-output m.json
row '`run -s`, `--summary-output FILE`'
for w in "-s s.json" "-ss.json" "--summary-output=s.json" "-s"; do answered "here it is --json" run $host -t plain $w; done
row '`run --cleanup-perf`'
answered "perf-csv FILE" run $host -t plain --cleanup-perf

row '`report to-html --csv-file-path perf.csv`'
for w in "to-html --csv-file-path a.csv" "to-html --csv-file-path=a.csv" "to-html --csv-file a.csv" "--csv-file-path a.csv to-html" "-v to-html --csv-file-path a.csv"; do
	rm -f a.html
	# shellcheck disable=SC2086
	code "report $w" 0 "$PROFRIG" -q report $w
	check "is a page" test -s a.html
done
answered "csv-file-path FILE" report to-html
answered "csv-file-path FILE" report to-html a.csv
answered "goes with to-email" report to-html --csv-file-path a.csv --directory .

row '`report to-email --directory D -o FILE`'
for w in "--directory . -o mail.html" "--directory=. --output=mail.html" "--dir . -omail.html" "--output mail.html"; do
	rm -f mail.html
	# shellcheck disable=SC2086
	code "report to-email $w" 0 "$PROFRIG" -q report to-email $w
	check "is a mail" test -s mail.html
done
code "report to-email" 0 "$PROFRIG" -q report to-email
check "is run_results.html" test -s run_results.html
answered "no CSV file" report to-email --dir docker

row '`database`'
for w in "" "--csv-file perf.csv --database-name x --collection-name y" "-f perf.csv --db x -c y" "--help"; do
	# shellcheck disable=SC2086
	answered "mongoimport --db DB --collection NAME --type csv" database $w
done

row 'tags such as `dummy2:dummy_2`'
for w in scoped:one scoped/one; do
	accepted discover -t $w
	like "is the model of the scope" "$(cat "$T/out")" "scoped/one"
done

row 'keys `_comment…`'
code "comments in a context" 0 "$PROFRIG" -q plan $host -t plain -c '{"_comment": "why", "tools": [{"name": "test_tools_A", "_comment2": "x", "env_vars": {"_comment": "x"}}],
	"docker_env_vars": {"_comment": "x"}, "docker_mounts": {"_comment_1": "x"}, "pre_scripts": [{"path": "scripts/plain/run.sh", "_comment": "x"}]}'
is "are nowhere" "$(grep -c _comment "$T/out")" 0
jq '.[0] += {"_comment": "why", "env_vars": {"_comment": "x"}}' models.json >m.json && mv m.json models.json
code "and in models.json" 0 "$PROFRIG" -q plan $host -t plain
is "are nowhere" "$(grep -c _comment "$T/out")" 0

row 'key `timeout_multiplier`'
code "timeout_multiplier" 3 "$PROFRIG" -q plan $host -t plain -c '{"timeout_multiplier": 2}'
like "is answered" "$(cat "$T/err")" "write --timeout S"
jq '.[0] += {"timeout_multiplier": 2}' models.json >"$T/m.json" && mkdir "$T/other" && cp -r ./* "$T/other" && mv "$T/m.json" "$T/other/models.json"
like "of a model too" "$(env -C "$T/other" "$PROFRIG" -q plan $host -t plain 2>&1)" "did you mean 'timeout'"

# What profrig has in the place of the wrapper scripts, with stand-ins for the profilers.
amd_machine "$T/amd" 2
export PROFRIG_SYSFS_ROOT=$T/amd FAKE_LOG=$T/log
wrapped() { # TOOL CMD PATH: run with it
	PATH=$3 code "$1 with $2" 0 "$PROFRIG" -q run $host -c "{'tools': [{'name': '$1', 'cmd': '$2'}]}" -- gpuapp one -- two
	is "leaves records" "$(jq -r '[.artifacts[] | select(.verdict == "valid" and .records > 0)] | length > 0' runs/latest/run.json)" true
	check "the workload has its words" grep -q '^gpuapp one -- two$' "$T/log"
	rm -f "$T/log"
}
new=$ROOT/tests/fakes/bin:$PATH
mkdir "$T/old"
for p in rocprof gpuapp _tool.sh; do ln -s "$ROOT/tests/fakes/bin/$p" "$T/old/$p"; done
row '`cmd` with `rocprof_wrapper.sh`'
W="bash ../scripts/common/tools/rocprof_wrapper.sh"
wrapped rocprof "$W --hip-trace --" "$new"
wrapped rocprof "$W --runtime-trace" "$new"
wrapped rocprof_sys "$W --sys-trace --" "$T/old:/usr/bin:/bin"
wrapped rocprofv3 "$W --runtime-trace --stats --output-format pftrace -d ./rocprof_output --" "$new"
wrapped rocprofv3_compute "$W --hip-trace --kernel-trace -i ../scripts/common/tools/counters/memory_bound.txt --output-format=pftrace -d ./rocprof_output --" "$new"
is "with the counters that are named" "$(jq -r '[.. | .counters? // empty] | first' runs/latest/plan.json)" counters/memory_bound.txt
row '`cmd` with `rtl_trace_wrapper.sh`, `get_library_trace.py`, `runTracer.sh`'
wrapped rocm_trace_lite "bash ../scripts/common/tools/rtl_trace_wrapper.sh" "$new"
code "with its mode" 0 env PATH="$new" "$PROFRIG" -q plan $host -c "{'tools': [{'name': 'rocm_trace_lite', 'cmd': 'bash ../scripts/common/tools/rtl_trace_wrapper.sh', 'env_vars': {'RTL_MODE': 'default'}}]}" -- true
like "is the tool's own" "$(cat "$T/out")" "run  rtl trace --mode default -o "
code "get_library_trace.py" 0 "$PROFRIG" -q plan $host -c "{'tools': [{'name': 'rocblas_trace', 'cmd': 'python3 ../scripts/common/tools/get_library_trace.py'}]}" -- true
like "is no program in front" "$(cat "$T/out")" "run  true"
code "runTracer.sh" 0 "$PROFRIG" -q plan $host --force-tools -c "{'tools': [{'name': 'rpd', 'cmd': './rocmProfileData/rpd_tracer/runTracer.sh'}]}" -- true
like "has its output" "$(cat "$T/out")" "run  runTracer.sh -o .*/trace.rpd true"

row 'tools `rocprof` and `rpd` together'
for w in "rocprof rpd" "rpd rocprof"; do
	set -- $w
	PATH=$new PYTHONPATH=$ROOT/tests/fakes/python code "$w" 0 "$PROFRIG" -q plan $host -c "{'tools': [{'name': '$1'}, {'name': '$2'}]}" -- gpuapp
	is "are both in front of the workload" "$(grep '^ *run ' -A40 "$T/out" | grep -cE 'runTracer.sh -o|exec rocprofv3 ')" 2
done

# plan takes every word of run
code "plan with run's words" 0 "$PROFRIG" -q plan $host -l --keep-alive --timeout -1 -o p.csv --sys-env-details --ignore-deprecated -t plain
answered "here it is --json" plan -s x -t plain

# Every row has its checks, and the checks their rows.
is "the rows of docs/madengine.md are those of this test" "$(sed -n '/^| madengine |/,/^$/p' "$ROOT/docs/madengine.md" | sed '1,2d' | sed -n 's/^| \(.*\) | .*/\1/p' | sed 's/ | .*//' | sort)" "$(printf '%s\n' "${tested[@]}" | sort)"
is "what madengine alone has is not in --help" "$("$PROFRIG" run --help | grep -cE -- '--(live-output|keep-alive|manifest-file|summary-output)')" 0
is "nor completed" "$("$PROFRIG" __complete run --live-)" ""
