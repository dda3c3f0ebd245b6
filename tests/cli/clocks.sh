#!/usr/bin/env bash
# The mean clock of a run, in run.json, and what comparisons and campaigns make of it. Files stand for the kernel's, and a
# library made here for NVIDIA's.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1

cpus=$T/fake/sys/devices/system/cpu
for c in /sys/devices/system/cpu/cpu[0-9]*; do mkdir -p "$cpus/${c##*/}/cpufreq"; done
mkdir "$T/fake/proc"
ln -s /proc/stat "$T/fake/proc/stat"
cat >clock.sh <<END
for c in $cpus/cpu*/cpufreq; do echo \$1 >\$c/scaling_cur_freq; done
END
cat >work.sh <<'END'
end=$(($(date +%s%N) + 150000000))
while [ $(date +%s%N) -lt $end ]; do :; done
echo performance: 10 items/s
END
sh clock.sh 2500000
export PROFRIG_NVML_LIB=$T/none.so
fake() { PROFRIG_SYSFS_ROOT=$T/fake "$@"; }
run() { "$PROFRIG" -q run --engine host --no-analyze -o runs "$@" -- sh work.sh; }
clocks() { jq -c '[.metrics[] | select(.name | endswith("clock_mhz")) | [.name, .value, .unit, .source]]' runs/latest/run.json; }

code "a run where frequencies can be read" 0 fake run
is "has the mean while it ran, and where it comes from" "$(clocks)" '[["clock_mhz",2500,"MHz","scaling_cur_freq"]]'
none() { PROFRIG_SYSFS_ROOT=$T/none "$@"; }
code "where nothing tells" 0 none run
is "there is no such metric" "$(clocks)" '[]'

echo 60 300000 1500 >gpu
gpu() {
	PROFRIG_SYSFS_ROOT=$T/none FAKE_NVML_NOW=$T/gpu FAKE_NVML_COUNT=2 PROFRIG_NVML_LIB=$B/tests/fakes/fake_nvml.so "$@"
}
code "a run that was given a GPU" 0 gpu run --set 'gpus="0"'
is "has its clock" "$(clocks)" '[["gpu_clock_mhz",1500,"MHz","nvml"]]'
code "all GPUs" 0 gpu run --set 'gpus="all"'
is "the mean of theirs" "$(clocks)" '[["gpu_clock_mhz",1740,"MHz","nvml"]]'
code "a sampler with clocks" 0 gpu run --tools gpu_power --set 'tools[0].options.fields="power,clock"' --set 'tools[0].sampler.device="gpu0"'
is "gives its own readings" "$(clocks)" '[["gpu_clock_mhz",1500,"MHz","nvml"]]'
code "a sampler of GPUs without clocks" 0 gpu run --tools gpu_power
is "tells which GPUs are read" "$(clocks)" '[["gpu_clock_mhz",1740,"MHz","nvml"]]'
code "no GPU that is known" 0 gpu run
is "is no reason to look for one" "$(clocks)" '[]'

# ---- two sets of runs
one() { # DIR KHZ
	sh clock.sh "$2"
	fake "$PROFRIG" -q run --engine host --no-analyze -o "$1" -- sh work.sh >/dev/null
}
for i in 1 2 3; do
	one slow 2000000
	one near 2080000
	one fast 2200000
done
code "runs at one clock" 0 "$PROFRIG" compare --json slow near
is "compare" "$(jq -c '[.comparable.score, .comparable.reasons]' "$T/out")" '[1,[]]'
code "runs at another one" 0 "$PROFRIG" compare --json slow fast
is "less so" "$(jq -c '[.comparable.score, .comparable.reasons]' "$T/out")" '[0.9,["clock of processors: 2000 MHz in A, 2200 MHz in B"]]'
is "and it is no figure" "$(jq '[.rows[] | select(.metric == "clock_mhz")] | length' "$T/out")" 0
code "unless it is named" 0 "$PROFRIG" compare --json slow fast --metric clock_mhz
is "and then neither is better" "$(jq -c '[.rows[] | [.metric, .better, (.delta | round)]]' "$T/out")" '[["clock_mhz","none",200]]'

# ---- with and without a tool
mkdir tools
printf 'name: t\nabout: none\nclass: env\nenv: {HAS_TOOL: "1"}\n' >tools/t.yaml
cat >tool.sh <<END
[ "\$HAS_TOOL" = 1 ] && [ -e $T/hot ] && sh $T/clock.sh 1800000 || sh $T/clock.sh 2000000
sh $T/work.sh
END
paired() { fake "$PROFRIG" run --engine host --no-analyze -o paired --tools-dir tools --tools t --baseline --repeat 2 -- sh "$T/tool.sh"; }
code "runs with and without a tool at one clock" 0 paired
is "say nothing of it" "$(grep -c clock_mhz "$T/err") $(jq .clocks_differ paired/latest/baseline.json)" "0 0"
touch hot
code "at two" 0 paired
like "do" "$(cat "$T/err")" 'warning: clock_mhz differs 11\.1 % within pair 1, 1800 to 2000 MHz, and in other pairs too'
is "in baseline.json, too" "$(jq .clocks_differ paired/latest/baseline.json)" 2

# ---- a campaign: from its sixth run on the machine is faster
campaign() { # NAME AXIS
	cat >"$1.yaml" <<END
name: $1
engine: host
models: [{name: m, command: [sh, $T/step.sh]}]
axes: {env.$2: ["1", "2"]}
baseline: {env.$2: "1"}
repeat: 3
analyze: false
END
	: >made
}
cat >step.sh <<END
cd $T
echo x >>made
[ \$(grep -c x made) -lt 6 ] && sh clock.sh 2000000 || sh clock.sh 2150000
sh work.sh
END
campaign plain N
code "a campaign whose clock changes" 0 fake "$PROFRIG" campaign run --json plain.yaml
is "counts the blocks in which it did" "$(jq .clocks_differ "$T/out")" 1
like "and says where" "$(cat "$T/err")" 'warning: clock_mhz differs 7\.5 % within block 3: 2000 MHz in [0-9a-f]+-3\.1, 2150 MHz in [0-9a-f]+-3\.1\.'
code "its report" 0 "$PROFRIG" campaign report --json campaigns/plain
is "has it" "$(jq -c '[.clocks[] | [.metric, .model, .block, .low, .high, .by_axis]]' "$T/out")" '[["clock_mhz","m",3,2000,2150,false]]'
is "as a reason to be less sure" "$(jq -r '.verdict.reasons[]' "$T/out")" 'N=2 against N=1: clock of processors: differs 7.5 % within block 3, 2000 to 2150 MHz'
check "the page says it" grep -q 'clock_mhz differs 7.5 % within block 3' campaigns/plain/report.html
is "the store has the clock of each run" "$("$PROFRIG" campaign query campaigns/plain --format csv "SELECT count(*), min(value), max(value), min(unit) FROM metric WHERE name = 'clock_mhz'" | tail -1)" "6,2000,2150,MHz"
campaign varied CPU_FREQ
code "an axis that varies it" 0 fake "$PROFRIG" campaign run --json varied.yaml
is "flags nothing" "$(jq .clocks_differ "$T/out") $(grep -c differs "$T/err") $("$PROFRIG" campaign report --json campaigns/varied 2>/dev/null | jq -c '[.verdict.reasons, .clocks[0].by_axis]')" "0 0 [[],true]"
