#!/usr/bin/env bash
# Whole runs with tools that no test machine has, on stand-ins that take the words the real ones take and leave what the real ones leave: a run is a success
# with records counted; what leaves no records, dies or refuses its words fails the run; the workload's own words and status survive; the loggers of libraries.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/fakes/machine.sh"
amd_machine "$T/amd" 2
nvidia_machine "$T/nvidia" 2
export PATH=$ROOT/tests/fakes/bin:$PATH PYTHONPATH=$ROOT/tests/fakes/python FAKE_LOG=$T/log

run() { # TOOLS WORDS…: into $T/runs, its folder in $run
	local tools=$1
	shift
	: >"$T/log"
	"$PROFRIG" -q run --engine host --no-analyze -o "$T/runs" --tools "$tools" "$@" >"$T/out" 2>"$T/err"
	local code=$?
	run=$(cat "$T/out")
	return $code
}
status() { jq -r '.status + " " + (.exit_code | tostring)' "$run/run.json"; }
records() { jq -r "[.artifacts[] | select(.verdict == \"valid\" and .records > 0)] | length" "$run/run.json"; }

# TOOL MACHINE [how often the workload runs, OPTION=VALUE…]
whole() {
	local tool=$1 machine=$2 times=${3:-1} sets=()
	shift 2
	[ $# -eq 0 ] || shift
	for o in "$@"; do sets+=(--set "tools[0].options.$o"); done
	export PROFRIG_SYSFS_ROOT=$T/$machine
	GPUAPP_STATUS=0 code "$tool${*:+ with $*}: a run" 0 run "$tool" "${sets[@]}" -- gpuapp one -- two
	check "$tool: has records" test "$(records)" -gt 0
	is "$tool: the workload ran, with all of its words" "$(grep -c '^gpuapp one -- two$' "$T/log")" "$times"
	GPUAPP_STATUS=5 code "$tool: a workload that fails" 1 run "$tool" "${sets[@]}" -- gpuapp
	is "$tool: has its own status" "$(status)" "failed 5"
}
# TOOL MACHINE: those that leave a file in any case
judged() {
	export PROFRIG_SYSFS_ROOT=$T/$2
	FAKE_TOOL=empty code "$1: no records are no success" 7 run "$1" -- gpuapp
	like "$1: which is reported" "$(jq -r .reason "$run/run.json")" "output .* of tool '$1' is (empty|damaged|missing)"
	FAKE_TOOL=dies code "$1: that dies" 1 run "$1" -- gpuapp
	is "$1: is a failure with its signal" "$(jq -r .signal "$run/run.json")" SIGKILL
}
for tool in rocprofv3 rocprofv3_communication rocprofv3_lightweight rocprofv3_agent rocprofv3_perfetto rocprofv3_api_overhead rocprofv3_pc_sampling; do
	whole $tool amd
done
whole rocprofv3 amd 1 format=csv
whole rocprofv3 amd 1 format=json
whole rocprofv3_perfetto amd 1 format=pftrace
whole rocprofv3_compute amd 4
whole rocprofv3_memory amd 6 format=csv
whole rocprofv3_full amd 7
whole rocprofv3_agent_counter amd 1
whole rocprofv3_pc_sampling amd 1 method=stochastic unit=cycles interval=1048576
for tool in rocprof rocprof_hip_only rocprof_sys rocm_trace_lite rocm_trace_lite_default rocprof-sys rocblas_trace hipblaslt_trace miopen_trace tensile_trace rccl_trace; do
	whole $tool amd
done
whole rocprof-compute amd 3
for tool in nsys nsys_jax ncu nccl_trace cublas_trace cudnn_trace; do whole $tool nvidia; done
whole mkl_trace amd
# What rocprofv3 records of, in a window: the calls that switch it must be in the program.
export PROFRIG_SYSFS_ROOT=$T/amd
for tool in rocprofv3 rocprofv3_communication rocprofv3_compute rocprofv3_full rocprofv3_lightweight rocprofv3_memory rocprofv3_agent rocprofv3_agent_counter rocprofv3_api_overhead \
	rocprofv3_perfetto rocprofv3_pc_sampling; do
	code "$tool: a window" 0 run "$tool" --record-after 0.001 -- gpuapp
	check "$tool: has records of it" test "$(records)" -gt 0
	check "$tool: by regions" grep -q '^rocprofv3 .*--selected-regions' "$T/log"
done
for trace in kernel-trace hip-trace memory-copy-trace marker-trace sys-trace; do
	code "rocprofv3 with $trace: a window" 0 run rocprofv3 --set "tools[0].options.trace=$trace" --record-after 0.001 -- gpuapp
done
for tool in rocprofv3 rocprofv3_memory rocprof rocm_trace_lite rocprof-sys rocprof-compute; do judged $tool amd; done
for tool in nsys nsys_jax ncu; do judged $tool nvidia; done

# What the first generation takes and leaves, where there is nothing newer.
mkdir "$T/old"
for p in rocprof gpuapp _tool.sh; do ln -s "$ROOT/tests/fakes/bin/$p" "$T/old/$p"; done
export PROFRIG_SYSFS_ROOT=$T/amd
PATH=$T/old:/usr/bin:/bin code "rocprof of old ROCm" 0 run rocprof -- gpuapp one -- two
is "takes the workload's words as they are" "$(grep -c '^gpuapp one -- two$' "$T/log")" 1
is "and its trace counts" "$(jq -r '.artifacts[] | .path + " " + .verdict' "$run/run.json")" "artifacts/rocprof/results.json valid"
PATH=$T/old:/usr/bin:/bin FAKE_TOOL=empty code "its empty trace" 7 run rocprof -- gpuapp

if need python3 command -v python3; then
	export PROFRIG_SYSFS_ROOT=$T/plain
	plain_machine "$T/plain"
	whole rpd plain
	judged rpd plain
else
	skip "rpd" "python3 is not installed"
fi

# Stacks: every tool keeps the -- that is its own, and the workload its.
export PROFRIG_SYSFS_ROOT=$T/amd
code "two wrappers" 0 run rocprofv3,test_tools_A,test_tools_B -- gpuapp -- --x
is "are in order, the workload innermost" "$(tr '\n' ' ' <"$run/steps/"*-workload.out)" "cmd_B cmd_A words: -- --x "
is "and started once each" "$(cut -d ' ' -f 1 "$T/log" | tr '\n' ' ')" "rocprofv3 gpuapp "
is "pre scripts before, post scripts behind" "$(cd "$run/steps" && cat -- *.out | grep -v words | tr '\n' ' ')" \
	"pre_script B pre_script A cmd_B cmd_A post_script A post_script B "
code "wrappers of both kinds" 0 run strace,rocm_trace_lite -- gpuapp -- --x
like "in one line" "$(jq -c '.steps[] | select(.name == "workload") | .argv' "$run/run.json")" 'rtl","trace","--mode","lite","-o","[^"]*","--","strace",.*,"--","gpuapp","--","--x"'

# A tool's words replaced from where it is used, its variables key by key.
code "words of one's own" 0 run test_tools_A --set 'tools[0].wrap=[sh, -c, "echo mine; exec \"$@\"", x]' -- gpuapp
is "stand in the place of the tool's" "$(head -n 1 "$run"/steps/*-workload.out)" mine
code "a variable of one's own" 0 run rccl_trace --set 'tools[0].env.NCCL_DEBUG_SUBSYS=COLL' -- sh -c 'gpuapp; echo "$NCCL_DEBUG $NCCL_DEBUG_SUBSYS"'
is "replaces that one" "$(tail -n 1 "$run"/steps/*-workload.out)" "INFO COLL"
code "scripts of one's own" 0 run test_tools_A --set "pre_scripts=[{path: $ROOT/tests/fixtures/plan/stack/scripts/user.sh, args: [one]}, {path: $ROOT/tests/fixtures/plan/stack/scripts/user.sh}]" -- true
is "run behind the tool's, in order" "$(ls "$run/steps" | grep '^0.-pre.*out' | tr '\n' ' ')" "01-pre-test_tools_A-test_echo.out 02-pre-user.out 03-pre-user-2.out "

# Power and memory under the names and variables of another orchestrator.
mkdir -p "$T/amd/sys/class/drm/card0/device/hwmon/hwmon3" "$T/amd/sys/class/drm/card1/device/hwmon/hwmon4"
for i in 0 1; do
	d=$T/amd/sys/class/drm/card$i/device
	echo 0x1002 >"$d/vendor"
	echo "$((750 + i))000000" >"$d/hwmon/hwmon$((3 + i))/power1_average"
	echo $((1 << 30)) >"$d/mem_info_vram_used"
	echo $((4 << 30)) >"$d/mem_info_vram_total"
	echo 97 >"$d/mem_busy_percent"
done
code "power and memory tables" 0 run gpu_info_power_profiler,gpu_info_vram_profiler --set 'tools[0].env={POWER_DEVICE: all, POWER_SAMPLING_RATE: "0.05"}' \
	--set 'tools[1].options={sampling_rate: 0.05}' -- sleep 0.4
power=$run/artifacts/gpu_info_power_profiler/gpu_info_power_profiler_output.csv vram=$run/artifacts/gpu_info_vram_profiler/gpu_info_vram_profiler_output.csv
is "the one of power" "$(head -n 1 "$power" | tr -d '\r')" "time,Power(Watt) GPU0,Power(Watt) GPU1"
like "is in watts" "$(sed -n 2p "$power" | tr -d '\r')" ",750(\.0+)?,751(\.0+)?$"
is "the one of memory" "$(head -n 1 "$vram" | tr -d '\r')" "time,vram(%) GPU0,vram(%) GPU1"
like "is occupancy, not activity" "$(sed -n 2p "$vram" | tr -d '\r')" ",25(\.0+)?,25(\.0+)?$"
check "samples have all of it, in bytes" grep -q 'vram_used.gpu0\[bytes\]' "$run/samples/gpu_info_vram_profiler.csv"
is "the period is the variable's" "$(jq -r '.samplers[] | select(.tool == "gpu_info_power_profiler") | .period_ns' "$run/run.json")" 50000000
code "some devices" 0 run gpu_info_power_profiler --set 'tools[0].env={POWER_DEVICE: "1", POWER_OUTPUT_FILE: mine.csv, POWER_SAMPLING_RATE: "0.05"}' -- sleep 0.3
is "are those, under the name that was asked for" "$(head -n 1 "$run/artifacts/gpu_info_power_profiler/mine.csv" | tr -d '\r')" "time,Power(Watt) GPU1"
code "a wrong rate" 3 run gpu_info_power_profiler --set 'tools[0].env.POWER_SAMPLING_RATE=soon' -- true
like "is a problem of the configuration" "$(cat "$T/err")" "option 'sampling_rate' of tool 'gpu_info_power_profiler': want a number"

# Loggers: what the libraries said is kept, whole, and counted.
plain_machine "$T/plain"
code "all loggers of AMD's libraries" 0 run rocblas_trace,hipblaslt_trace,miopen_trace,tensile_trace,rccl_trace -- gpuapp
line() { grep -rhoE "$2" "$run/artifacts/$1" | head -n 1; }
is "rocBLAS" "$(line rocblas_trace 'rocblas-bench -f [a-z_]+')" "rocblas-bench -f gemm_ex"
is "every call has its line" "$(grep -rc rocblas-bench "$run/artifacts/rocblas_trace" | cut -d : -f 2)" 2
is "and its function" "$(line rocblas_trace 'rocblas_function: "[a-z_]+"')" 'rocblas_function: "rocblas_gemm_ex"'
is "hipBLASLt" "$(line hipblaslt_trace 'hipblaslt-bench .* -m [0-9]+')" "hipblaslt-bench --api_method c -m 4096"
is "MIOpen" "$(line miopen_trace 'MIOpenDriver [a-z]+')" "MIOpenDriver conv"
like "of which thread" "$(line miopen_trace '.*')" "^[0-9]+ MIOpen\(HIP\): Command"
is "Tensile" "$(line tensile_trace 'Cijk[^ ]*')" "Cijk_Alik_Bljk_SB_MT32x32x32_SN_1LDSB0"
like "RCCL" "$(line rccl_trace '.*')" "^\[20[0-9-]+ [0-9:]+\.[0-9]{6}\] .*NCCL INFO .*AllReduce"
is "records are counted" "$(jq -r '[.artifacts[] | .records] | add' "$run/run.json")" 7
like "the workload's log is left as it is" "$(cat "$run"/steps/*-workload.err)" "rocblas-bench.*MIOpenDriver"
like "its output too" "$(cat "$run"/steps/*-workload.out)" "words: .*Running kernel"
GPUAPP_STATUS=7 code "a failure behind loggers" 1 run rocblas_trace,hipblaslt_trace -- gpuapp
is "is the workload's" "$(status)" "failed 7"
is "and the log is kept" "$(jq -r '[.artifacts[] | select(.verdict == "valid")] | length' "$run/run.json")" 2
# What is inherited neither switches a log off nor diverts it; what is stated stays.
diverted() { # TOOL MACHINE NAME=VALUE…
	local tool=$1
	export PROFRIG_SYSFS_ROOT=$T/$2
	shift 2
	code "$tool where ${*%%=*} is inherited" 0 env "$@" "$PROFRIG" -q run --engine host --no-analyze -o "$T/runs" --tools "$tool" -- gpuapp
	run=$(cat "$T/out")
	check "$tool: has records" test "$(records)" -gt 0
	code "$tool: ${*%%=*} of the configuration" 7 "$PROFRIG" -q run --engine host --no-analyze -o "$T/runs" --tools "$tool" --set "env={$(printf '"%s", ' "${@/=/\": \"}")}" -- gpuapp
}
diverted hipblaslt_trace amd HIPBLASLT_LOG_LEVEL=1
diverted rocblas_trace amd ROCBLAS_LOG_PATH=/dev/null
diverted rocblas_trace amd ROCBLAS_LOG_BENCH_PATH=/dev/null ROCBLAS_LOG_PROFILE_PATH=/dev/null
diverted mkl_trace plain MKL_VERBOSE_OUTPUT_FILE=/dev/null
export PROFRIG_SYSFS_ROOT=$T/nvidia
CUBLASLT_LOG_MASK=1 code "cublas_trace where CUBLASLT_LOG_MASK is inherited" 0 run cublas_trace -- gpuapp
check "has calls of cuBLASLt" grep -q cublasLtMatmul "$run"/artifacts/cublas_trace/cublaslt.*.log
export PROFRIG_SYSFS_ROOT=$T/amd
MIOPEN_ENABLE_LOGGING_ELAPSED_TIME=1 code "miopen_trace where times are inherited" 0 run miopen_trace -- gpuapp
check "has none" grep -q 'MIOpen(HIP): Command' "$run/artifacts/miopen_trace/miopen.log"
mkdir "$T/tools"
printf '%s\n' 'name: leave_out' 'about: what a workload inherits' 'class: env' 'env: {GIVEN: g}' 'unset: [STALE, SET, GIVEN, OTHER]' >"$T/tools/leave_out.yaml"
words='echo "${STALE-none} ${SET-none} ${GIVEN-none} ${OTHER-none} ${KEPT-none}"'
STALE=1 SET=1 GIVEN=1 OTHER=1 KEPT=1 code "a tool that unsets variables" 0 run leave_out --tools-dir "$T/tools" --set env.SET=mine --set "tools[0].env.OTHER=''" -- sh -c "$words"
is "leaves out what only the caller has set" "$(cat "$run"/steps/*-workload.out)" "none mine g  1"
is "plan.json names it" "$(jq -c '[.steps[].unset[].name]' "$run/plan.json")" '["STALE"]'
STALE=1 code "the plan as a script" 0 "$PROFRIG" -q plan --engine host -o "$T/runs" --format sh --tools leave_out --tools-dir "$T/tools" -- sh -c "$words"
STALE=1 SET=1 sh "$T/out"
is "does the same" "$(cat "$(sed -n 's,.*</dev/null >\(.*-workload.out\) .*,\1,p' "$T/out")")" "none none g none none"
code "a name that is none" 3 run leave_out,bad --tools-dir "$T/tools" --tools-dir "$(mkdir "$T/bad" && printf '%s\n' 'name: bad' 'class: env' 'env: {A: b}' 'unset: [A-B]' >"$T/bad/bad.yaml" && echo "$T/bad")" -- true
like "is reported with its place" "$(cat "$T/err")" "bad.yaml:4: unset: 'A-B' is no name of a variable"
code "a workload that calls no library" 7 run miopen_trace -- true
like "is reported" "$(jq -r .reason "$run/run.json")" "output 'artifacts/miopen_trace/miopen.log' of tool 'miopen_trace' is missing"
code "two processes" 0 run hipblaslt_trace,rccl_trace -- sh -c 'gpuapp & gpuapp & wait'
is "have a file each" "$(ls "$run/artifacts/hipblaslt_trace" "$run/artifacts/rccl_trace" | grep -c '\.log$')" 4

# therock_check tells and does not stop.
export PROFRIG_SYSFS_ROOT=$T/plain
plain_machine "$T/plain"
ROCM_PATH='' code "ROCm that is no build of TheRock" 0 run therock_check -- true
is "is reported" "$(cat "$run/artifacts/therock_check/therock.txt")" "therock=no"
ROCM_PATH='' code "unless it has to be one" 1 run therock_check --set 'tools[0].options.required=true' -- true
mkdir -p "$T/rocm/share/therock"
ROCM_PATH=$T/rocm code "one that is" 0 run therock_check --set 'tools[0].options.required=true' -- true
is "is found" "$(cat "$run/artifacts/therock_check/therock.txt")" "therock=$T/rocm"
