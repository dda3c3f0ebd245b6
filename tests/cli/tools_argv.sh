#!/usr/bin/env bash
# What every shipped tool puts in front of a workload and into its environment, to the word (tests/fixtures/tools_argv.txt; PROFRIG_UPDATE=1 writes it anew);
# and what is refused: tools that break each other, tools of another vendor, what a container would not allow.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/fakes/machine.sh"
golden=$ROOT/tests/fixtures/tools_argv.txt
amd_machine "$T/amd" 8
nvidia_machine "$T/nvidia" 2
plain_machine "$T/plain"
export PROFRIG_SYSFS_ROOT=$T/plain
cd "$T" || exit 1

one() { # TOOL
	local dir
	"$PROFRIG" -q plan --engine host --format json --tools "$1" -- ./app -x -- --y >"$T/plan" 2>/dev/null || return
	dir=$(jq -r .run_dir "$T/plan")
	echo "== $1"
	jq -r '.steps[] | select(.name == "workload") | (.argv | map(@sh) | join(" ")),
		(.env[] | select(.origin | test("yaml:")) | .name + "=" + .value), (.unset[] | "-u " + .name), (if .timeout_s != 7200 then "at most \(.timeout_s) s" else empty end)' "$T/plan"
	jq -r '.outputs[] | "> " + (.glob + " " + (.reader // "lines"))' "$T/plan"
}
"$PROFRIG" list tools --json --tools-dir "$ROOT/tools.d" | jq -r '.[].name' >"$T/names"
while read -r tool; do
	one "$tool" >"$T/one" </dev/null
	sed "s,$T/runs/[^/ ']*,RUN,g; s,$ROOT,ROOT,g" "$T/one"
done <"$T/names" >"$T/argv"
[ -z "${PROFRIG_UPDATE:-}" ] || cp "$T/argv" "$golden"
check "every tool's words are those of $golden (PROFRIG_UPDATE=1 tests/run.sh tests/cli/tools_argv.sh writes it anew)" diff -u "$golden" "$T/argv"
# docs/tools.md leaves out what tools of one row begin with: `rocprofv3_compute`, `_memory`.
grep -E '^\| `' "$ROOT/docs/tools.md" | awk -F'|' '{ n = split($2, part, "`"); stem = part[2]; sub(/_.*/, "", stem)
	for (i = 2; i <= n; i += 2) print (part[i] ~ /^_/ ? stem : "") part[i] }' | sort -u >"$T/documented"
is "every tool has its row in docs/tools.md" "$(sort "$T/names" | comm -23 - "$T/documented" | tr '\n' ' ')" ""
is "all of them have the workload's own -- behind theirs" "$(grep -c "'./app' '-x' '--' '--y'$" "$T/argv")" "$("$PROFRIG" list tools --json | jq length)"

plan() { "$PROFRIG" -q plan --check --engine host --tools "$@" -- true; }
for pair in rocprofv3,rpd rocprofv3_memory,rocprofv3_compute rocprof,rocm_trace_lite nsys,ncu nsys,rpd torch_profiler,rocprofv3 torch_profiler,nsys rocprof-sys,rocprof_sys; do
	code "two tracers of the GPU: $pair" 3 plan $pair
	like "are refused with the reason" "$(cat "$T/err")" "cannot run together \(both trace the GPU, which has room for one: gpu-tracer\): leave one out"
done
code "two that set where a log goes" 3 plan rccl_trace,nccl_trace
like "are refused with the reason" "$(cat "$T/err")" "cannot run together \(both set where NCCL and RCCL write their log"
PROFRIG_SYSFS_ROOT=$T/amd code "logs of libraries go with a tracer and samplers" 0 "$PROFRIG" -q plan --engine host \
	--tools rocprofv3_communication,rccl_trace,rocblas_trace,hipblaslt_trace,miopen_trace,tensile_trace,perf,cpu_usage -- true

# Vendor by detection.
code "a tool for AMD where there is no GPU" 4 plan hipblaslt_trace
like "the message says why" "$(cat "$T/err")" "tool 'hipblaslt_trace' is for AMD GPUs and none can be used here \(no AMD GPU in /sys/class/kfd/kfd/topology/nodes\)"
PROFRIG_SYSFS_ROOT=$T/nvidia code "and on a machine of NVIDIA's" 4 plan hipblaslt_trace
like "the message says what is there" "$(cat "$T/err")" "no AMD GPU in [^;]*; there are NVIDIA's"
PROFRIG_SYSFS_ROOT=$T/amd code "a tool for NVIDIA on a machine of AMD's" 4 plan nccl_trace
like "is reported too" "$(cat "$T/err")" "tool 'nccl_trace' is for NVIDIA GPUs .*there are AMD's"
PROFRIG_SYSFS_ROOT=$T/nvidia code "forced, it is taken" 0 plan hipblaslt_trace --force-tools
PROFRIG_SYSFS_ROOT=$T/amd code "a tool for AMD on AMD's" 0 plan hipblaslt_trace
code "a run is refused alike" 4 "$PROFRIG" -q run -o "$T/none" --engine host --tools hipblaslt_trace -- true
check "and nothing was made" test ! -e "$T/none"
rm "$T/amd/dev/kfd"
PROFRIG_SYSFS_ROOT=$T/amd code "GPUs without their driver's file" 4 plan hipblaslt_trace
like "say what to look for" "$(cat "$T/err")" "/dev/kfd is not there: is the driver amdgpu loaded"
: >"$T/amd/dev/kfd"
PROFRIG_SYSFS_ROOT=$T/amd code "what a tool needs and is not there" 4 plan rocprof-sys
like "comes with a tool that may be" "$(cat "$T/err")" "tool 'rocprof-sys' needs 'rocprof-sys-run', which is not there on this machine: install it, use the tool 'rocprofv3' instead, or leave"

# GPUs and processors of containers.
export PROFRIG_SYSFS_ROOT=$T/amd
docker() { "$PROFRIG" -q plan --engine docker --image img "$@" -- true; }
start() { grep '^start' "$T/out"; }
code "gpus: 0,2-4,5-5,7" 0 docker --set "gpus='0,2-4,5-5,7'"
like "are those render nodes" "$(start)" "--device /dev/kfd --device /dev/dri/renderD128 --device /dev/dri/renderD144 --device /dev/dri/renderD152 --device /dev/dri/renderD160 --device /dev/dri/renderD168 --device /dev/dri/renderD184 --entry"
code "cpus: 14-18,32,44-44,62" 0 docker --set "cpus='14-18,32,44-44,62'"
like "are a cpuset" "$(start)" "--cpuset-cpus 14-18,32,44,62 "
code "a GPU that is not there" 4 "$PROFRIG" -q plan --check --engine host --set gpus="'1,9'" -- true
like "is named" "$(cat "$T/err")" "gpus: GPU 9 is not here \(there are 8, from 0\)"
code "a wrong list" 3 docker --set "cpus=4-2"
like "is reported" "$(cat "$T/err")" "cpus: want all, or numbers such as 0-7,16, not '4-2'"
PROFRIG_SYSFS_ROOT=$T/nvidia docker --set "gpus='0,1'" >"$T/out"
like "NVIDIA's by docker" "$(start)" "--gpus '\"device=0,1\"' "
PROFRIG_SYSFS_ROOT=$T/nvidia "$PROFRIG" -q plan --engine podman --image img --set gpus=0 -- true >"$T/out" 2>/dev/null
like "by podman without a CDI file" "$(start)" "--device /dev/nvidiactl --device /dev/nvidia-uvm --device /dev/nvidia0 "
mkdir -p "$T/nvidia/etc/cdi" && : >"$T/nvidia/etc/cdi/nvidia.yaml"
PROFRIG_SYSFS_ROOT=$T/nvidia "$PROFRIG" -q plan --engine podman --image img --set gpus=0 -- true >"$T/out" 2>/dev/null
like "and with one" "$(start)" "--device nvidia.com/gpu=0 "
code "apptainer" 0 "$PROFRIG" -q plan --engine apptainer --image /images/x.sif --set gpus=1 --tools hipblaslt_trace -- true
like "shows all GPUs" "$(start)" "apptainer --quiet exec --cleanenv --contain --no-home --pid --bind .* --rocm /images/x.sif /.profrig/profrig-init --run "
like "and says which by a variable" "$(cat "$T/out")" "HIP_VISIBLE_DEVICES +1 "

# Models of a models.json see the machine in their environment; others do not.
mkdir -p "$T/package/scripts"
echo '[{"name": "dummy", "dockerfile": "", "scripts": "scripts/run.sh", "n_gpus": "2", "owner": "", "training_precision": "", "tags": ["dummies"], "args": ""}]' >"$T/package/models.json"
echo 'echo hello' >"$T/package/scripts/run.sh"
cd "$T/package" || exit 1
code "a model of a models.json" 0 "$PROFRIG" -q plan --engine docker --image img dummy
for v in 'MAD_GPU_VENDOR +AMD +this machine' 'MAD_SYSTEM_NGPUS +8 +this machine' 'MAD_RUNTIME_NGPUS +2 +this machine' 'MAD_SYSTEM_GPU_ARCHITECTURE +gfx942 +this machine'; do
	like "has $v" "$(cat "$T/out")" "$v"
done
cd "$T" || exit 1
is "a command is not" "$(docker --set gpus=all | grep -c MAD_)" 0

# Least privilege.
code "nothing is given to a container" 0 docker --tools perf,hipblaslt_trace --set gpus=all
is "that nobody asked for" "$(start | grep -cE -e '--(privileged|cap-add|security-opt|network|ipc|user|pid)')" 0
code "privileged profiling of a tool that declares nothing" 0 docker --tools hipblaslt_trace --privileged-profiling
is "gives nothing" "$(start | grep -cE -e '--(privileged|cap-add|security-opt)')" 0
code "of perf" 0 docker --tools perf --privileged-profiling
like "gives what perf declares" "$(start)" " --cap-add SYS_ADMIN --entry"
like "and says why" "$(cat "$T/out")" "gives the container the capability SYS_ADMIN \(container.privileged_profiling\): the engines' seccomp profiles"
code "a tool that only wants it" 0 docker --tools rocprof-sys
like "says what it would do with it" "$(cat "$T/out")" "would use the capability PERFMON, which --privileged-profiling gives: samples of the CPU read perf events"

code "multi-pass tools say how often" 0 "$PROFRIG" -q plan --engine host --tools rocprofv3_full -- true
like "the workload runs" "$(cat "$T/out")" "runs the workload at least 7 times: once for each line 'pmc:' of counters/full_profile.txt"
like "and for how long at most" "$(cat "$T/out")" "01 workload, at most 50400 s"
is "counters are data: each file has groups" "$(grep -LE '^pmc: [A-Z]' "$ROOT"/tools.d/counters/*.txt | wc -l)" 0

code "list tool" 0 "$PROFRIG" list tool rocprofv3_memory perf
like "shows options with defaults" "$(cat "$T/out")" "counters +file +default counters/memory_bound.txt"
like "and of every one that is asked for" "$(cat "$T/out")" "frequency +int +default 997"
code "list tool of one that unsets variables" 0 "$PROFRIG" list tool cublas_trace
like "shows which" "$(cat "$T/out")" "unset +CUBLASLT_LOG_MASK"
is "in JSON too" "$("$PROFRIG" list tool --json cublas_trace | jq -r '.[0].unset | join(" ")')" CUBLASLT_LOG_MASK
code "list tool of nothing" 2 "$PROFRIG" list tool
like "wants a name" "$(cat "$T/err")" "list tool wants a NAME"
code "list tool of what there is not" 2 "$PROFRIG" list tool rocprofv4
like "has a suggestion" "$(cat "$T/err")" "did you mean 'rocprofv3'"
code "list tool --json" 0 "$PROFRIG" list tool perf --json
is "is a list of objects" "$(jq -r '.[0] | .name + " " + (.options | length | tostring)' "$T/out")" "perf 3"
code "list tools -v" 0 "$PROFRIG" list -v tools
is "shows all of them so" "$(grep -c '^  class ' "$T/out")" "$("$PROFRIG" list tools --json | jq length)"
is "list tools says what works here" "$("$PROFRIG" list tools --json | jq -r '[.[] | select(.name == "rocprofv3" or .name == "cpu_power") | .here] | join(" ")')" "yes no"
