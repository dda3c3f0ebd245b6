#!/usr/bin/env bash
# profrig sample: the samplers as a command of their own, and what runs keep of them. Machines with GPUs are folders here.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1

code "sample --help" 0 "$PROFRIG" sample --help
like "has an example" "$(cat "$T/out")" "example: profrig sample"

# gpu ROOT CARD PCI WATT USED TOTAL: a card of text files
gpu() {
	local dev=$1/sys/devices/$3
	mkdir -p "$dev/hwmon/hwmon1" "$1/sys/class/drm/card$2" "$1/proc"
	ln -sfn "../../../devices/$3" "$1/sys/class/drm/card$2/device"
	echo 0x1002 >"$dev/vendor"
	echo "${4}000000" >"$dev/hwmon/hwmon1/power1_average"
	echo "$5" >"$dev/mem_info_vram_used"
	echo "$6" >"$dev/mem_info_vram_total"
	echo 99 >"$dev/gpu_busy_percent"
}
gpu "$T/m" 0 0000:c1:00.0 750 16000000000 64000000000
gpu "$T/m" 1 0000:c6:00.0 90 0 64000000000
json() { tail -n 1 "$T/out" | jq -r "$1"; }

# --- sources, files, statuses ---
code "a source that does not exist" 2 "$PROFRIG" sample --source nvlm -- true
like "gets a suggestion" "$(cat "$T/err")" "did you mean 'nvml'"
code "one that does not work here" 4 env PROFRIG_SYSFS_ROOT="$T/none" "$PROFRIG" sample --source amdgpu -- true
code "a device that is not there" 4 env PROFRIG_SYSFS_ROOT="$T/m" "$PROFRIG" sample --source amdgpu --device 7 -- true
like "is reported with how many there are" "$(cat "$T/err")" "no device 7: 2 found"
code "a command that does not exist" 4 "$PROFRIG" sample --source procfs -o "$T/none.csv" -- nosuchprogram
check "leaves no file" test ! -e "$T/none.csv"
code "a command without --" 2 "$PROFRIG" sample true
like "the message says where it stands" "$(cat "$T/err")" "behind --"
code "a period out of reach" 2 "$PROFRIG" sample --period 0.00001 -- true
code "an option without value" 2 "$PROFRIG" sample --option idle_w -- true
code "views without a place" 2 "$PROFRIG" sample --compat madengine -- true
code "views of somebody else" 2 "$PROFRIG" sample --compat rocm -o x -- true
code "a bad option of the source" 2 "$PROFRIG" sample --source procfs --storage some -- true
code "an option that no source here has" 2 "$PROFRIG" sample --source estimate,procfs --option idle-w=35 -- true
like "gets a suggestion" "$(cat "$T/err")" "no source here has 'idle-w'; did you mean 'idle_w'"
code "the processes of no command" 2 "$PROFRIG" sample --source procfs --duration 0.1
like "are reported" "$(cat "$T/err")" "procfs reads the processes of a command"
mkdir old
code "a recording" 0 "$PROFRIG" -q sample --source estimate --option max_w=20 --period 0.02 -o "$T/old/replay.csv" -- sleep 0.1
cp "$T/old/replay.csv" "$T/kept.csv"
ln "$T/old/replay.csv" "$T/link.csv"
for to in old/replay.csv ./old/ link.csv; do
	code "played into itself: $to" 2 "$PROFRIG" sample --source replay:old/replay.csv -o $to --duration 0.1
done
like "is reported" "$(cat "$T/err")" "'old/replay.csv' is played and would be written over"
check "and the recording is as it was" cmp "$T/kept.csv" "$T/old/replay.csv"
code "a file that cannot be written" 4 "$PROFRIG" sample --source procfs -o /nonexistent/x.csv -- true

like "its options complete" "$("$PROFRIG" __complete sample --storage "" | paste -sd ' '), $("$PROFRIG" __complete sample --source am | cut -f 1)" "^every change, amdgpu$"

export PROFRIG_SYSFS_ROOT=$T/m
code "a folder for two sources" 0 "$PROFRIG" sample --source amdgpu,procfs --period 0.001 -o "$T/two" -- sleep 0.3
like "has one file for each" "$(cd "$T/two" && echo *)" "^amdgpu.csv procfs.csv$"
like "with marks at start and end" "$(grep '^# mark' "$T/two/amdgpu.csv" | cut -d ' ' -f 4 | paste -sd ' ')" "^workload_start workload_end$"
like "ticks accounted for at its end" "$(grep '^# end' "$T/two/amdgpu.csv")" "rows=[0-9]+ .*overruns=[0-9]+ .*ticks=[0-9]+ late=[0-9]+ tick_error_p99_ns=[0-9]+ tick_error_max_ns=[0-9]+"
like "the summary has power and memory" "$(cat "$T/err")" "gpu0 +750 W.* 16.0 GB +99.0 %"
like "and says where the files are" "$(cat "$T/err")" "written: $T/two/procfs.csv"
code "a file for one" 0 "$PROFRIG" -q sample --source procfs -o "$T/one.csv" --period 0.01 -- sleep 0.1
check "is that file" grep -q '^t_ns,cpu' "$T/one.csv"
is "-q is silent" "$(cat "$T/err")" ""
code "one source and a folder" 0 "$PROFRIG" -q sample --source procfs -o "$T/folder/" --period 0.01 -- sleep 0.1
check "is a file in it" test -s "$T/folder/procfs.csv"
code "without -o" 0 "$PROFRIG" sample --source amdgpu --period 0.01 --json -- sleep 0.2
is "nothing is kept" "$(json '.sources[0].path')" null
is "figures are reported" "$(json '.sources[0].series[] | select(.name == "power.gpu0") | .mean | round')" 750
check "every tick is" jq -e '.sources[0] | has("ticks") and has("overruns") and has("late") and has("tick_error_p99_ns") and has("tick_error_max_ns")' "$T/out"
code "the default is the GPUs, and the command's processes" 0 "$PROFRIG" sample --json --period 0.01 -- sleep 0.1
is "as said" "$(json '[.sources[].source] | join(" ")')" "amdgpu procfs"

code "a command that fails" 1 "$PROFRIG" -q sample --source procfs --period 0.01 -- sh -c 'sleep 0.1; exit 7'
code "its own status when asked" 7 "$PROFRIG" -q sample --propagate --source procfs --period 0.01 -- sh -c 'sleep 0.1; exit 7'
code "one that is killed" 137 "$PROFRIG" -q sample --propagate --source procfs --period 0.01 -- sh -c 'sleep 0.1; kill -9 $$'
code "one that is over at once" 0 "$PROFRIG" -q sample --source procfs -- true
is "its output is its own" "$("$PROFRIG" -q sample --source procfs -- echo hello)" hello
is "its input too" "$(echo hello | "$PROFRIG" -q sample --source procfs -- cat)" hello
code "an end of sampling before the command's" 0 "$PROFRIG" -q sample --source amdgpu --period 0.01 --duration 0.1 -o "$T/part.csv" -- sh -c 'sleep 0.4; echo over'
is "leaves the command alone" "$(cat "$T/out")" over
like "and says when it was" "$(grep '^# mark' "$T/part.csv" | cut -d ' ' -f 4 | paste -sd ' ')" "^workload_start sampling_end$"

# --- idle at 1 kHz ---
code "idle before and after" 0 "$PROFRIG" -q sample --source amdgpu --idle 0.3 --period 0.001 -o "$T/idle.csv" -- sleep 0.2
is "is marked" "$(grep '^# mark' "$T/idle.csv" | cut -d ' ' -f 4 | paste -sd ' ')" "idle_start idle_end workload_start workload_end idle_start idle_end"
is "for as long as was asked, and has samples" "$(awk -F '[ ,]' '/^# mark/ { m[n++] = $3 } /^[0-9]/ { t[k++] = $1 }
	END { for (i = 0; i < k; i++) c += t[i] >= m[0] && t[i] <= m[1]; d = (m[1] - m[0]) / 1e9; print (d >= 0.3 && c > 20) }' "$T/idle.csv")" 1

# --- the end by a signal ---
end_by() { # SIGNAL WANT ARGUMENTS…
	local sig=$1 want=$2 pid rc t0 ms
	shift 2
	rm -f "$T/sig.csv"
	"$PROFRIG" sample --source amdgpu --period 0.001 -o "$T/sig.csv" "$@" 2>"$T/err" &
	pid=$!
	wait_for grep -q '^[0-9]' "$T/sig.csv"
	t0=$(date +%s%N)
	kill -"$sig" "$pid"
	wait "$pid"
	rc=$?
	ms=$((($(date +%s%N) - t0) / 1000000))
	is "$sig ends it${1:+ with a command}" "$rc" "$want"
	check "at once, not after seconds ($ms ms)" test "$ms" -lt 5000
	like "with a summary" "$(cat "$T/err")" "gpu0 +750 W"
	check "and a whole file" grep -q '^# end' "$T/sig.csv"
}
end_by INT 0
end_by TERM 143
end_by INT 130 --duration 60
end_by INT 130 -- sh -c 'echo $$ >pid; exec sleep 60'
check "and the command is gone" sh -c '! kill -0 "$(cat pid)"'

# --- the reference's views ---
export TZ=UTC
code "views beside the samples" 0 "$PROFRIG" sample --source amdgpu --period 0.05 --compat madengine -o "$T/views" -- sleep 0.2
like "are reported" "$(cat "$T/err")" "written: $T/views/gpu_info_vram_profiler_output.csv"
mkdir -p "$T/beside"
code "beside a file" 0 "$PROFRIG" -q sample --source amdgpu --period 0.05 --compat madengine -o "$T/beside/s.csv" -- sleep 0.3
for d in views beside; do
	p=$T/$d/gpu_info_power_profiler_output.csv v=$T/$d/gpu_info_vram_profiler_output.csv
	is "$d: power has the reference's header" "$(head -n 1 "$p" | tr -d '\r')" "time,Power(Watt) GPU0,Power(Watt) GPU1"
	is "$d: memory too" "$(head -n 1 "$v" | tr -d '\r')" "time,vram(%) GPU0,vram(%) GPU1"
	like "$d: time of day, W" "$(sed -n 2p "$p" | tr -d '\r')" "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6},750,90$"
	like "$d: occupancy in %, not activity" "$(sed -n 2p "$v" | tr -d '\r')" "\.[0-9]{6},25,0$"
	is "$d: a row for each tick" "$(($(wc -l <"$p") - 1))" "$(sed -n 's/.* ticks=\([0-9]*\).*/\1/p' "$T/$d"/[as]*.csv)"
done
code "no GPU in what was sampled" 6 "$PROFRIG" -q sample --source procfs --compat madengine -o "$T/p.csv" --period 0.01 -- sleep 0.1
(sleep 0.3; echo nonsense >"$T/m/sys/devices/0000:c1:00.0/hwmon/hwmon1/power1_average") &
code "a reading that fails" 0 "$PROFRIG" -q sample --source amdgpu --period 0.02 --compat madengine -o "$T/fail" -- sleep 0.7
wait
like "is an empty field" "$(tail -n 1 "$T/fail/gpu_info_power_profiler_output.csv" | tr -d '\r')" "^[^,]+,,90$"
check "never 0.0 or N/A" sh -c "! grep -qE 'N/A|NA|,0\.0|,0,' '$T/fail/gpu_info_power_profiler_output.csv'"
echo 750000000 >"$T/m/sys/devices/0000:c1:00.0/hwmon/hwmon1/power1_average"

# --- in runs: both views, stacked ---
mkdir -p "$T/tools"
for k in power vram; do
	[ $k = power ] && fields=power || fields=vram_used,vram_total
	cat >"$T/tools/views_$k.yaml" <<-EOF
		name: views_$k
		about: the $k of GPUs, as madengine left it
		vendor: any
		class: sampler
		sampler: {kind: amdgpu, device: all, period_s: 0.05}
		options:
		  fields: {type: string, default: "$fields", about: series}
		  compat: {type: string, default: madengine, about: view}
	EOF
done
stack() { "$PROFRIG" -q run --tools-dir "$T/tools" --engine host -o "$T/runs" --no-analyze --tools "$1" -- sleep 0.2; }
for tools in views_power views_vram views_power,views_vram; do
	code "a run with $tools" 0 stack $tools
	run=$(cat "$T/out")
	for k in power vram; do
		f=$run/artifacts/views_$k/gpu_info_${k}_profiler_output.csv
		case $tools in
		*$k*) check "leaves its view in the tool's folder ($k)" grep -q '^20' "$f" ;;
		*) check "and no other ($k)" test ! -e "$f" ;;
		esac
	done
done
code "idle time at 1 kHz in a run" 0 "$PROFRIG" -q run --tools-dir "$T/tools" --engine host -o "$T/runs" --no-analyze --idle 0.3 --tools views_power --set 'tools[0].sampler.period_s=0.001' -- sleep 0.1
check "has its windows, full of samples" jq -e --rawfile s "$(cat "$T/out")/samples/views_power.csv" '[$s | split("\n")[] | select(test("^[0-9]")) | split(",")[0] | tonumber] as $t
	| .idle | length == 2 and all(. as $w | ($w.end_ns - $w.start_ns >= 3e8) and ([$t[] | select(. >= $w.start_ns and . <= $w.end_ns)] | length > 100))' "$(cat "$T/out")/run.json"
t0=$(date +%s%N)
code "the end of two stacked samplers" 0 stack views_power,views_vram
run=$(cat "$T/out") ms=$((($(date +%s%N) - t0) / 1000000))
check "takes no seconds ($ms ms in all)" test "$ms" -lt 8000
is "and leaves no process" "$(pgrep -f "$(basename "$run")")" ""
is "power is in W" "$(sed -n 2p "$run/artifacts/views_power/gpu_info_power_profiler_output.csv" | tr -d '\r' | cut -d , -f 2)" 750
is "memory is occupancy" "$(sed -n 2p "$run/artifacts/views_vram/gpu_info_vram_profiler_output.csv" | tr -d '\r' | cut -d , -f 2)" 25

# --- what is known of a device ---
dev=$T/m/sys/devices/0000:c1:00.0
echo 300000000 >"$dev/hwmon/hwmon1/power1_cap"
echo 560000000 >"$dev/hwmon/hwmon1/power1_cap_default"
echo 113-D65201 >"$dev/vbios_version"
mkdir -p "$T/m/proc/4711/fd" "$T/m/proc/4711/fdinfo"
ln -s /dev/dri/renderD128 "$T/m/proc/4711/fd/3"
printf 'drm-driver:\tamdgpu\ndrm-pdev:\t0000:c1:00.0\ndrm-memory-vram:\t2048 KiB\n' >"$T/m/proc/4711/fdinfo/3"
echo python3 >"$T/m/proc/4711/comm"
code "a card that others use, and that is capped" 0 stack views_power
run=$(cat "$T/out")
is "run.json has its facts" "$(jq -r '.devices[0].start | "\(.pci) \(.power_cap_w) \(.power_cap_default_w) \(.vbios)"' "$run/run.json")" "0000:c1:00.0 300 560 113-D65201"
is "who holds it" "$(jq -r '.devices[0].other_processes[0] | "\(.pid) \(.name) \(.vram_bytes)"' "$run/run.json")" "4711 python3 2097152"
is "both are warned of" "$(jq -r '[.warnings[].code] | join(" ")' "$run/run.json")" "W_DEVICE_SHARED W_POWER_CAP"
like "the samples have them too" "$(grep '^# facts: gpu0' "$run/samples/views_power.csv")" "power_cap_w=300 .*other_processes=1"
echo 400000000 >"$dev/hwmon/hwmon1/power1_cap"
is "another cap is reported to a repetition" "$("$PROFRIG" -q plan --json --tools-dir "$T/tools" --replay "$run" | jq -r '.replay.differences[] | select(.what | endswith("power_cap_w")) | "\(.what): \(.recorded) > \(.today)"')" "gpu0 (amdgpu) power_cap_w: 300 > 400"
echo 300000000 >"$dev/hwmon/hwmon1/power1_cap"
check "ticks are in run.json" jq -e '.samplers[0] | has("late") and has("tick_error_p99_ns") and has("tick_error_max_ns") and has("realtime")' "$run/run.json"
code "sample warns likewise" 0 "$PROFRIG" sample --source amdgpu --period 0.05 -- sleep 0.1
like "of both" "$(cat "$T/err")" "python3 \(pid 4711, 2 MB\).*gpu0 may draw 300 W"

# --- energy of known power, through analysis ---
awk 'BEGIN {
	print "# profrig samples: 1\n# clock: CLOCK_MONOTONIC\nt_ns,power.gpu0[W]"
	for (i = 0; i <= 1000; i++) printf "%d,%.17g\n", 1e9 + i * 1e6, 200 + 100 * sin(20 * i / 1000)
}' >"$T/curve.csv"
code "a known curve is played at 1 kHz" 0 "$PROFRIG" -q sample --source "replay:$T/curve.csv" --period 0.001 --duration 1.3 --json -o "$T/played.csv"
played=$(json '.sources[0].series[0].integral')
code "and analysed" 0 "$PROFRIG" -q analyze "$T/played.csv" -o "$T/a"
total=$(jq -r '.tables.counters | (.columns | map(.name)) as $n | .data | transpose | .[] | select(.[0] | startswith("power")) | .[$n | index("total")]' "$T/a/report.json")
# ∫ = 200 + 100/20·(1 − cos 20); trapezoids of 1 ms: at most 1·1e-6/12·100·400 = 0.0033 J off
for e in "$played" "$total"; do
	check "its energy is that of the closed form within the bound ($e J)" awk -v e="$e" 'BEGIN { d = e - (200 + 5 * (1 - cos(20))); exit !(d < 0.0034 && d > -0.0034) }'
done

# --- the live line ---
if need terminal script -qec true /dev/null; then
	live() { # COLUMNS ARGUMENTS…
		local cols=$1
		shift
		script -qec "stty cols $cols; LC_ALL=${LOCALE:-C.UTF-8} $PROFRIG sample --source amdgpu --period 0.01 --duration 0.4 $*" /dev/null | tr -d '\n' | tr '\r' '\n' | sed -n 's/^\x1b\[K//p' | grep 'gpu0\|^[0-9]* s' | sed 's/sampled for.*//'
	}
	live 200 >"$T/line"
	like "the live line has time, power, energy, memory, use" "$(grep gpu1 "$T/line" | tail -n 1)" "^[0-9]+ s  2 GPUs 840 W .*J  gpu0 750 W .* J 16.0 GB 99 %  gpu1 90.0 W .* 99 %$"
	check "and the power's history" grep -q '█' "$T/line"
	live 40 >"$T/line"
	check "no line is wider than a terminal of 40" sh -c "grep -q gpu0 '$T/line' && ! LC_ALL=C.UTF-8 grep -E '.{40}' '$T/line'"
	like "which says what it left out" "$(tail -n 1 "$T/line")" "2 GPUs 840 W .*gpu0 750 W \+1$"
	live 64 >"$T/line"
	like "and tells less of each where that lets all fit" "$(tail -n 1 "$T/line")" "gpu0 750 W 99 %  gpu1 90.0 W 99 %$"
	check "no history where the terminal has no such letters" sh -c "! printf '%s' \"\$1\" | grep -q '[▁█]'" sh "$(LOCALE=C live 200)"
	check "no colour" sh -c "! script -qec 'NO_COLOR=1 $PROFRIG sample --source amdgpu --duration 0.3' /dev/null | grep -q '\[[0-9;]*m'"
	is "not with a command that writes there" "$(script -qec "$PROFRIG -q sample --source amdgpu -- sh -c 'sleep 0.6; echo out'" /dev/null | tr -d '\r')" out
else
	skip "the live line" "there is no terminal to be had by script(1)"
fi
