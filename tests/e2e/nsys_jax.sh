#!/usr/bin/env bash
# JAX programs under Nsight Systems: which words nsys gets, what becomes of XLA_FLAGS, of a process that is not profiled, and of the program's status.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/fakes/machine.sh"
nvidia_machine "$T/nvidia" 1
export PATH=$ROOT/tests/fakes/bin:$PATH FAKE_LOG=$T/log FAKE_NSYS=$T/nsys PROFRIG_SYSFS_ROOT=$T/nvidia

run() { # OPTION=VALUE… -- CMD…
	local sets=()
	: >"$T/log"
	: >"$T/nsys"
	while [ "$1" != -- ]; do
		sets+=(--set "tools[0].options.$1")
		shift
	done
	"$PROFRIG" -q run --engine host --no-analyze -o "$T/runs" --tools nsys_jax "${sets[@]}" "$@" >"$T/out" 2>"$T/err"
	local code=$?
	run=$(cat "$T/out")
	return $code
}
option() { sed -n "s/^--$1 //p" "$T/nsys" | xargs; }
status() { jq -r '.status + " " + (.exit_code | tostring)' "$run/run.json"; }
env_of() { sed -n "s/^$1=//p" "$run/steps"/*workload.out; }

code "a run" 0 run -- gpuapp one -- two
is "the words of a JAX program" "$(for o in cuda-graph-trace cpuctxsw python-sampling trace export; do option $o; done | xargs)" "node none true cublas,cuda,cudnn,cusolver,nvtx,osrt sqlite"
is "the workload has its own" "$(grep -c '^gpuapp one -- two$' "$T/log")" 1
is "its export is read" "$(jq -r '.artifacts[] | "\(.path) \(.verdict)"' "$run/run.json")" "artifacts/nsys_jax/nsys.sqlite valid"
check "XLA's dumps lie beside it" test -s "$run/artifacts/nsys_jax/dump/module_0001.jit_f.hlo.pb"

# Every spelling of an option of the user's counts: none is overridden.
for given in "--trace=cuda,nvtx" "--trace cuda,nvtx" "-t cuda,nvtx"; do
	code "nsys with $given" 0 run "args=$given" -- gpuapp
	is "keeps it, and gets it once" "$(option trace)" "cuda,nvtx"
	is "the others are added" "$(option cuda-graph-trace) $(option python-sampling)" "node true"
done
code "others in two words" 0 run "args=--cuda-graph-trace graph --cpuctxsw process-tree --python-sampling=false -f false --sample none" -- gpuapp
is "stay, each once" "$(for o in cuda-graph-trace cpuctxsw python-sampling force-overwrite trace; do option $o; done | xargs)" "graph process-tree false false cublas,cuda,cudnn,cusolver,nvtx,osrt"

# An output of the user's is refused before the program starts.
for given in "-o x" "--output x" "--output=x"; do
	code "nsys with $given" 1 run "args=$given" -- gpuapp
	is "is refused, and the program did not run" "$(grep -c '^gpuapp' "$T/log")" 0
	like "with the reason" "$(cat "$run"/steps/*workload.err)" "nsys_jax: nsys's --output is .*it cannot be set"
done
mkdir "$T/there"
: >"$T/there/nsys.rank3.nsys-rep"
(cd "$T" && SLURM_PROCID=3 sh "$ROOT/tools.d/nsys_jax/nsys_jax.sh" "$T/there" true "" -- gpuapp >/dev/null 2>&1)
is "a report that is there is not written over" "$(stat -c %s "$T/there/nsys.rank3.nsys-rep") $(find "$T/there" -name 'nsys.rank3.*.nsys-rep' | wc -l)" "0 1"

# XLA's flags are added to.
code "flags of the user's" 0 run -- sh -c 'env'
like "are none: ours" "$(env_of XLA_FLAGS)" "^--xla_dump_to=.*/artifacts/nsys_jax/dump --xla_dump_hlo_as_proto=true$"
is "with whole tracebacks" "$(env_of JAX_TRACEBACK_IN_LOCATIONS_LIMIT)" -1
XLA_FLAGS=--xla_gpu_autotune_level=2 code "flags of another kind" 0 run -- sh -c 'env'
like "stay in front" "$(env_of XLA_FLAGS)" "^--xla_gpu_autotune_level=2 --xla_dump_to=[^ ]*/dump --xla_dump_hlo_as_proto=true$"
XLA_FLAGS="--xla_dump_to=$T/mine --xla_dump_hlo_as_proto=false" JAX_TRACEBACK_IN_LOCATIONS_LIMIT=10 code "a dump of the user's" 0 run -- sh -c 'env'
is "is where it was" "$(env_of XLA_FLAGS) $(env_of JAX_TRACEBACK_IN_LOCATIONS_LIMIT)" "--xla_dump_to=$T/mine --xla_dump_hlo_as_proto=false 10"

# A process that is not profiled says so, and its status counts.
SLURM_PROCID=9 code "a condition that does not hold" 0 run 'condition=test $SLURM_PROCID -lt 8' -- gpuapp
is "nsys did not start" "$(grep -c '^nsys ' "$T/log")" 0
is "the program did" "$(grep -c '^gpuapp' "$T/log")" 1
like "which is said" "$(cat "$run"/steps/*workload.err)" "nsys_jax: this process \(rank 9\) runs without nsys: the condition 'test .SLURM_PROCID -lt 8' does not hold"
like "and recorded" "$(jq -r '.artifacts[] | "\(.path) \(.verdict) \(.records)"' "$run/run.json")" "^artifacts/nsys_jax/unprofiled.rank9.[0-9]+.log valid 1$"
GPUAPP_STATUS=5 SLURM_PROCID=9 code "one that fails" 1 run 'condition=test $SLURM_PROCID -lt 8' -- gpuapp
is "keeps its status" "$(status)" "failed 5"
SLURM_PROCID=3 code "a condition that holds" 0 run 'condition=test $SLURM_PROCID -lt 8' -- gpuapp
check "is profiled, under the name of its rank" test -s "$run/artifacts/nsys_jax/nsys.rank3.sqlite"

# The program's status is kept; only an end by nsys itself is none.
GPUAPP_STATUS=7 code "a program that fails" 1 run -- gpuapp
is "has its status" "$(status)" "failed 7"
FAKE_NSYS_ENDS=15 code "a signal without a reason" 1 run -- gpuapp
is "is a failure" "$(status)" "failed 143"
for given in "--capture-range=cudaProfilerApi" "-c cudaProfilerApi" "-c nvtx --capture-range-end repeat-shutdown:3" "-d 5" "--duration=5 --kill sigterm" "--duration 5 --kill=15"; do
	FAKE_NSYS_ENDS=15 code "nsys ends it: $given" 0 run "args=$given" -- gpuapp
	like "which is said" "$(cat "$run"/steps/*workload.err)" "nsys ended the program .*, as planned: status 143 counts as 0"
done
FAKE_NSYS_ENDS=9 code "by SIGKILL" 0 run "args=-d 5 --kill=sigkill" -- gpuapp
for given in "-c cudaProfilerApi --capture-range-end=stop" "-d 5 --kill=none" "-d 5 --kill=sigkill" "-d 0"; do
	FAKE_NSYS_ENDS=15 code "no end of nsys's: $given" 1 run "args=$given" -- gpuapp
done
