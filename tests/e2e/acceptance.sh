#!/usr/bin/env bash
# The black-box acceptance cases of the orchestrator that profrig takes the place of, 1 to 15, on a docker daemon and again on podman, with an image that is
# built offline and a package of models in that orchestrator's own files. Exit codes are profrig's (docs/contract.md).
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e
. "$ROOT/tests/engines.sh"
at_end engines_stop

# --- the package ---

mkdir -p "$T/pkg/scripts/m" "$T/pkg/scripts/common" "$T/pkg/scripts/S" "$T/pkg/docker"
cd "$T/pkg" || exit 1
cat >models.json <<'J'
[{"name": "dummy", "scripts": "scripts/m/run.sh", "tags": ["dummies"]},
 {"name": "dummy2", "scripts": "scripts/m/run.sh", "tags": ["dummies"], "args": "--own 1"},
 {"name": "limited", "scripts": "scripts/m/sleep.sh", "timeout": 360},
 {"name": "sleeper", "scripts": "scripts/m/sleep.sh"},
 {"name": "four", "scripts": "scripts/m/four.sh", "multiple_results": "perf_four.csv"},
 {"name": "says", "scripts": "scripts/m/says.sh"},
 {"name": "quiet", "scripts": "scripts/m/says.sh", "log_error_pattern_scan": false},
 {"name": "built", "scripts": "scripts/m/built.sh", "dockerfile": "docker/built"},
 {"name": "lists", "scripts": "scripts/m/lists.sh"},
 {"name": "broken", "scripts": "scripts/m/broken.sh"}]
J
echo '[{"name": "sname", "scripts": "run.sh", "tags": ["stag", "dummies"]}]' >scripts/S/models.json
echo 'echo "performance: 3 s"' | tee scripts/S/run.sh >/dev/null
printf 'echo "args: $*"\necho "performance: 14164 samples_per_second"\n' >scripts/m/run.sh
echo 'exec sleep 300' >scripts/m/sleep.sh
printf 'printf "model,performance,metric,temperature\\n1,11,x/s,warm\\n2,12,x/s,cold\\n3,13,x/s,warm\\n4,14,x/s,hot\\n" >perf_four.csv\n' >scripts/m/four.sh
echo 'printf "%s\n" "$SAY"' >scripts/m/says.sh
printf 'cat /etc/flavour\necho "performance: 1 x"\n' >scripts/m/built.sh
printf 'ls "/a b\\$c"\nprintf "%%s\\n" "$SAY"\n' >scripts/m/lists.sh
printf 'echo "its last words"\necho "on stderr" >&2\nexit 7\n' >scripts/m/broken.sh
echo 'echo "$2 ${1:-0}" >>"$PROFRIG_RUN_DIR/artifacts/workload/order"' >scripts/common/note.sh
printf 'echo "$1_script ${2:-0}" >>"$PROFRIG_RUN_DIR/artifacts/workload/order"\n' >scripts/common/test_echo.sh
printf 'echo "$1" >>"$PROFRIG_RUN_DIR/artifacts/workload/order"\nshift\nexec "$@"\n' >scripts/common/wrap.sh
tool() { # name
	cat <<-J
		"test_tools_$1": {"cmd": "bash ../scripts/common/wrap.sh cmd_$1", "env_vars": {"FROM_$1": "tool", "SHARED_$1": "tool"},
		  "pre_scripts": [{"path": "scripts/common/test_echo.sh", "args": "pre $1"}], "post_scripts": [{"path": "scripts/common/test_echo.sh", "args": "post $1"}]}
	J
}
echo "{\"tools\": {$(tool A), $(tool B)}}" >scripts/common/tools.json
printf '# CONTEXT {%s}\nFROM acceptance:1\nCOPY flavour.%s /etc/flavour\n' "'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU'" one >docker/built.one.Dockerfile
printf '# CONTEXT {%s}\nFROM acceptance:1\nCOPY flavour.%s /etc/flavour\n' "'gpu_vendor': 'AMD'" two >docker/built.two.Dockerfile
printf '# CONTEXT {%s}\nFROM acceptance:1\nCOPY flavour.%s /etc/flavour\n' "'gpu_vendor': 'NVIDIA'" no >docker/built.no.Dockerfile
for f in one two no; do echo "flavour $f" >docker/flavour.$f; done

# --- words ---

run() { # options, models
	"$PROFRIG" run --no-analyze -o "$T/runs" --engine "$engine" --image acceptance:1 --tools-config scripts/common/tools.json "$@"
}
plan() { "$PROFRIG" plan --engine "$engine" --image acceptance:1 --json "$@"; }
dir() { tail -n 1 "$T/out"; }
json() { field "$(dir)/run.json" "$1"; }
order() { tr '\n' ';' <"$(dir)/artifacts/workload/order"; }
output() { cat "$(dir)"/steps/*workload.out; }
result() { json '[.metrics[] | select(.name == "performance") | "\(.value) \(.unit)"] | join(", ")'; }
rows() { # column[=value]: of perf.csv
	python3 - "$T/perf.csv" "$1" <<'P'
import csv, sys
print(",".join(r[sys.argv[2]] for r in csv.DictReader(open(sys.argv[1]))))
P
}
containers() { $(engine_words "$engine") ps -aq --filter label=profrig.run; }
none_there() { test -z "$(containers)"; }

case_1() {
	code "$e 1: a stack of two tools" 0 run --tools test_tools_A,test_tools_B dummy
	is "$e 1: the order of a stack" "$(order)" "pre_script B;pre_script A;cmd_B;cmd_A;post_script A;post_script B;"
	code "$e 1: the same for two models in one call" 0 run --tools test_tools_A,test_tools_B dummies
	is "$e 1: nothing piles up from model to model" "$(for d in $(cat "$T/out"); do tr '\n' ';' <"$d/artifacts/workload/order"; echo; done | sort -u | wc -l)" 1
}
case_2() {
	code "$e 2: scripts of the context" 0 run -c '{"pre_scripts": [{"path": "scripts/common/test_echo.sh", "args": "pre one"}, {"path": "scripts/common/test_echo.sh", "args": "pre"}],
		"post_scripts": [{"path": "scripts/common/test_echo.sh", "args": "post two"}, {"path": "scripts/common/test_echo.sh", "args": "post"}]}' dummy
	is "$e 2: in the order of the list, before and after, with their args" "$(order)" "pre_script one;pre_script 0;post_script two;post_script 0;"
}
case_3() {
	code "$e 3: a tool's cmd and env from the context" 0 run -c '{"tools": [{"name": "test_tools_A", "cmd": "bash ../scripts/common/wrap.sh mine", "env_vars": {"FROM_A": "context"}}]}' dummy
	like "$e 3: the cmd is the context's" "$(order)" "mine;"
	is "$e 3: env_vars key by key" "$(field "$(dir)/plan.json" '[.steps[] | select(.kind == "workload") | .env[] | select(.name | endswith("_A")) | .name + "=" + .value] | sort | join(" ")')" \
		"FROM_A=context SHARED_A=tool"
}
case_4() {
	local both='[{name: gpu_info_power_profiler, options: {source: replay, file: @POWER, sampling_rate: 0.02}}, {name: gpu_info_vram_profiler, options: {source: replay, file: @VRAM, sampling_rate: 0.02}}]'
	both=${both/@POWER/$T/power.csv} both=${both/@VRAM/$T/vram.csv}
	code "$e 4: power and VRAM tools, stacked" 0 "$PROFRIG" run --no-analyze -o "$T/runs" --engine "$engine" --image acceptance:1 --set "tools=$both" -- sleep 0.6
	is "$e 4: a CSV each" "$(cd "$(dir)" && find . -name 'gpu_info_*_profiler_output.csv' -size +0 | sort | tr '\n' ' ')" \
		"./artifacts/gpu_info_power_profiler/gpu_info_power_profiler_output.csv ./artifacts/gpu_info_vram_profiler/gpu_info_vram_profiler_output.csv "
	like "$e 4: power has its header" "$(head -n 1 "$(dir)"/artifacts/gpu_info_power_profiler/*_output.csv)" '^time,Power\(Watt\) GPU0'
	like "$e 4: VRAM has its header" "$(head -n 1 "$(dir)"/artifacts/gpu_info_vram_profiler/*_output.csv)" '^time,vram\(%\) GPU0'
}
# What the libraries print when their variables are set; no library is there.
case_5() {
	traced() { # tool, pattern of its rows, shell text
		PROFRIG_SYSFS_ROOT=$T/amd code "$e 5: $1" 0 "$PROFRIG" run --no-analyze -o "$T/runs" --engine "$engine" --image acceptance:1 --tools "$1" -- sh -c "$3"
		check "$e 5: $1 gives '$2'" grep -rqE -- "$2" "$(dir)/artifacts/$1"
	}
	traced rocblas_trace rocblas-bench 'test $((ROCBLAS_LAYER & 2)) = 2 && echo "./rocblas-bench -f gemm -r f32_r --transposeA N -m 4 -n 4 -k 4" >&2'
	traced miopen_trace MIOpenDriver 'test -n "$MIOPEN_ENABLE_LOGGING_CMD" && echo "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1" >&2'
	traced tensile_trace Cijk 'test -n "$TENSILE_DB" && echo "Running kernel: Cijk_Ailk_Bljk_SB_MT64x64x16"'
	traced rccl_trace 'NCCL +INFO +.*AllReduce' 'test "$NCCL_DEBUG" = INFO && f=${NCCL_DEBUG_FILE/\%h/h} && echo "h:1:2 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2" >"${f/\%p/1}"'
}
case_6() {
	is "$e 6: the model's limit of 360" "$(plan limited | jq '.steps[] | select(.kind == "workload") | .timeout_s')" 360
	is "$e 6: the command line's 120 beats it" "$(plan --timeout 120 limited | jq '.steps[] | select(.kind == "workload") | .timeout_s')" 120
	is "$e 6: 7200 by default" "$(plan sleeper | jq '.steps[] | select(.kind == "workload") | .timeout_s')" 7200
	is "$e 6: 0 is none" "$(plan --timeout 0 limited | jq '.steps[] | select(.kind == "workload") | .timeout_s // 0')" 0
	SECONDS=0
	code "$e 6: a sleeper of 300 s with 3" 1 run --timeout 3 --set grace=1 sleeper
	check "$e 6: ends at about 3 s: $SECONDS" test $SECONDS -ge 3 -a $SECONDS -lt 40
	is "$e 6: its status" "$(json .status)" timeout
}
case_7() {
	code "$e 7: a run" 0 run dummy
	check "$e 7: no container is left" wait_for none_there
	check "$e 7: no model folder is left" test ! -e "$(dir)/work/run_directory"
	code "$e 7: a run that keeps" 0 run --keep --keep-model-dir dummy
	is "$e 7: its container is left" "$(containers | wc -l)" 1
	check "$e 7: its folder is left" test -d "$(dir)/work/run_directory"
	$(engine_words "$engine") rm -f "profrig-$(basename "$(dir)")" >/dev/null 2>&1
}
case_8() {
	code "$e 8: a run" 0 run dummy
	check "$e 8: is silent about the workload's output" sh -c "! grep -q '^performance:' '$T/err'"
	code "$e 8: a live run" 0 run --live dummy
	check "$e 8: shows the performance line" grep -q "performance: 14164 samples_per_second" "$T/err"
}
case_9() {
	local line want
	while IFS='|' read -r line want; do
		code "$e 9: '$line'" 0 run --set env.SAY="'$line'" --set results.require=false says
		is "$e 9: '$line' is a result" "$(result)" "$want"
	done <<-'L'
		performance: 14164 x|14164 x
		performance: 14164/s, x|14164 x/s
		performance: 1.2e+4, x|12000 x
		performance: .5 x|0.5 x
		performance: -3 x|-3 x
		performance: 123, /s x|123 x/s
	L
	code "$e 9: no metric" 7 run --set env.SAY='"performance: 12"' says
	is "$e 9: is no result" "$(result)" ""
}
case_10() {
	rm -f "$T/perf.csv"
	code "$e 10: four results in a file" 0 run --perf-csv "$T/perf.csv" four
	is "$e 10: four rows" "$(rows model)" "four_1,four_2,four_3,four_4"
	is "$e 10: their values" "$(rows performance)" "11,12,13,14"
	check "$e 10: the further column is kept" grep -qr '"temperature"' "$(dir)/run.json"
}
case_11() {
	scan() { # name, exit, line, options…
		local n=$1 want=$2 line=$3
		shift 3
		code "$e 11: $n" "$want" run --set env.SAY="\"$line\nperformance: 5 x\"" "$@"
	}
	scan "an error word fails a run that has a metric" 1 "RuntimeError: no" says
	scan "a benign literal with brackets exempts it" 0 "RuntimeError: known (really)" -c '{"log_error_benign_patterns": ["known (really)"]}' says
	scan "a benign expression exempts it" 0 "RuntimeError: code 17" -c '{"log_error_benign_patterns": ["^RuntimeError: code \\d+$"]}' says
	scan "scan false" 0 "RuntimeError: no" -c '{"log_error_pattern_scan": false}' says
	scan "scan \"no\"" 0 "RuntimeError: no" -c '{"log_error_pattern_scan": "no"}' says
	scan "scan 0" 0 "RuntimeError: no" -c '{"log_error_pattern_scan": 0}' says
	scan "a profiler's own lines" 0 "E20251230 12:00:00.1 1 generateRocpd.cpp:1] FAILED" says
	scan "the model says no" 0 "RuntimeError: no" quiet
	scan "the context beats the model" 1 "RuntimeError: no" -c '{"log_error_pattern_scan": true}' quiet
}
case_12() {
	names() { "$PROFRIG" discover --json "$@" 2>"$T/err" | jq -r '[.. | objects | select(has("tags") and has("name")) | .name] | sort | join(" ")'; }
	is "$e 12: S/tag" "$(names S/stag)" "S/sname"
	is "$e 12: S/all" "$(names S/all)" "S/sname"
	is "$e 12: S/name" "$(names S/sname)" "S/sname"
	is "$e 12: a tag without a scope" "$(names dummies)" "S/sname dummy dummy2"
	code "$e 12: a name without its scope is no match" 2 run sname
	code "$e 12: no match" 2 run nosuch
	code "$e 12: words behind a name" 0 run dummy2:batch-size=32
	is "$e 12: land in its arguments" "$(output | head -n 1)" "args: --own 1 --batch-size 32"
}
case_13() {
	echo '{"docker_env_vars": {"SAY": "performance: 1 file", "KEPT": "file"}}' >"$T/ctx.json"
	code "$e 13: -c and -f" 0 run -f "$T/ctx.json" -c '{"docker_env_vars": {"SAY": "performance: 2 text"}}' says
	is "$e 13: -c beats -f" "$(result)" "2 text"
	is "$e 13: key by key" "$(field "$(dir)/plan.json" '.steps[] | select(.kind == "workload") | .env[] | select(.name == "KEPT") | .value')" file
	is "$e 13: gpus" "$(plan -c '{"docker_gpus": "0,2-4,5-5,7"}' dummy 2>/dev/null | jq -r '.. | strings' | grep -oE 'renderD1[0-9]+|device=[0-9,]+|gpu=[0-9]$' | sort -u | tr '\n' ' ')" \
		"renderD128 renderD130 renderD131 renderD132 renderD133 renderD135 "
	is "$e 13: cpus" "$(plan -c '{"docker_cpus": "14-18,32,44-44,62"}' dummy 2>/dev/null | jq -r '.. | strings' | grep -A1 -E '^--cpuset-cpus' | tr -d '\n')" "--cpuset-cpus14-18,32,44,62"
	if [ -z "${no_build:-}" ]; then
		code "$e 13: build" 0 "$PROFRIG" build --engine "$engine" -o "$T/builds" -m "$T/manifest-$e.json" -c '{"gpu_vendor": "AMD", "guest_os": "UBUNTU"}' built
		is "$e 13: the Dockerfiles of the context are built, the other is not" "$(jq '.built_images | length' "$T/manifest-$e.json")" 2
		code "$e 13: all of them run" 0 "$PROFRIG" run --no-analyze -o "$T/runs" --engine "$engine" --manifest "$T/manifest-$e.json"
		is "$e 13: each in its image" "$(for d in $(cat "$T/out"); do head -n 1 "$d"/steps/*workload.out; done | sort | tr '\n' ';')" "flavour one;flavour two;"
	else
		skip "$e 13: build" "$no_build"
	fi
}
case_14() {
	rm -f "$T/perf.csv"
	code "$e 14: an image that is not there" 4 "$PROFRIG" run --no-analyze -o "$T/runs" --engine "$engine" --image nosuch:9 --set container.pull=never --perf-csv "$T/perf.csv" dummy
	is "$e 14: a row FAILURE, in a table that was not there before" "$(rows status)" FAILURE
	code "$e 14: the model is not to run" 0 run --perf-csv "$T/perf.csv" --skip-model-run --tools test_tools_A dummy
	is "$e 14: a row SKIPPED" "$(rows status)" FAILURE,SKIPPED
	is "$e 14: its scripts run" "$(order)" "pre_script A;post_script A;"
	code "$e 14: a model that fails" 1 run --perf-csv "$T/perf.csv" --tools test_tools_A broken
	is "$e 14: what it said is kept" "$(cat "$(dir)"/steps/*workload.out "$(dir)"/steps/*workload.err | tr '\n' ';')" "its last words;on stderr;"
	like "$e 14: and what it said last is shown" "$(cat "$T/err")" "on stderr|its last words"
	like "$e 14: its post scripts run" "$(order)" "post_script A;"
}
case_15() {
	local bad
	for bad in '{"gpu_vendor": "ATI"}' '{"guest_os": "BEOS"}' '{"docker_build_arg": ["x"]}' '{"tools": {"name": "x"}}' '{"log_error_patterns": []}' '{"slurm": {}, "k8s": {}}' '{"toools": []}'; do
		code "$e 15: $bad" 3 run -c "$bad" dummy
	done
	code "$e 15: names and paths that need quotes" 0 run -c '{"docker_env_vars": {"SAY": "performance: 7 x $HOME `id` \"q\" '\''s'\'' "}, "docker_mounts": {"/a b$c": "'"$T"'/odd $d"}}' lists
	like "$e 15: reach the engine to the letter" "$(output)" 'file .with. \$odd'
	like "$e 15: values too" "$(output)" 'performance: 7 x \$HOME `id` "q" '"'s' "
}
. "$ROOT/tests/fakes/machine.sh"
amd_machine "$T/amd" 2
{ echo 't_ns,power.gpu0[W]' && seq 200 | awk '{ print $1 * 10000000 "," 100 + $1 % 7 }'; } >"$T/power.csv"
{ echo 't_ns,vram_used.gpu0[bytes],vram_total.gpu0[bytes]' && seq 200 | awk '{ print $1 * 10000000 "," 1000000 * $1 ",1000000000" }'; } >"$T/vram.csv"
mkdir "$T/odd \$d" && touch "$T/odd \$d/file 'with' \$odd"
# Scripts are run by bash, which a busybox image has under another name.
printf '#!/bin/sh\nexec /bin/sh "$@"\n' >"$T/bash" && chmod +x "$T/bash"
for engine in ${ACCEPTANCE_ENGINES:-docker podman}; do
	e=$engine
	need_engine $engine
	case $? in
	0)
		no_build=
		test_image $engine acceptance:1 "$T/bash" || not_ok "$engine: test image" "$engines_why"
		for c in ${ACCEPTANCE_CASES:-1 2 3 4 5 6 7 8 9 10 11 12 13 14 15}; do case_$c; done
		;;
	1) skip "$engine" "$engines_why" ;;
	2) not_ok "$engine is required" "$engines_why" ;;
	esac
done
