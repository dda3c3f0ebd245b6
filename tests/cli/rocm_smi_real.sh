#!/usr/bin/env bash
# The real librocm_smi64 on a machine that is made here: a tmpfs over /sys/class in a mount namespace of our own, with the files that the
# kernel's AMD driver would show. What the sampler says must be what the tree holds, to the last digit, and a tree that makes the
# library abort may end nothing but its own process.
. "$(dirname "$0")/../lib.sh"

library() { ldconfig -p | grep -q librocm_smi64 && test -x "$B/profrig-rsmi"; }
if ! need rocm_smi library; then
	skip "the real librocm_smi64" "librocm_smi64 is not installed, or profrig-rsmi was not built"
	exit 0
fi
if ! need mounts unshare -m sh -c 'mount -t tmpfs tmpfs /sys/class'; then
	skip "the real librocm_smi64" "no right to a mount namespace (root has it)"
	exit 0
fi
unset PROFRIG_SYSFS_ROOT PROFRIG_RSMI_LIB

# sourced in the namespace: little-endian numbers, and a card
cat >"$T/tree.sh" <<'END'
le() { # BYTES VALUE
	local i
	for ((i = 0; i < $1; i++)); do printf "\\x$(printf %02x $((($2 >> (8 * i)) & 255)))"; done
}
# gpu_metrics MINOR WATT ENERGY: layout 1.1 (96 bytes), 1.2 (104), 1.3 (120), of kgd_pp_interface.h
gpu_metrics() {
	local size=$((96 + ($1 >= 2 ? 8 : 0) + ($1 >= 3 ? 16 : 0))) i
	le 2 $size; le 1 1; le 1 "$1"
	for i in 41 66 52 0xffff 0xffff 0xffff 87 41 0; do le 2 $i; done
	le 2 "$2"; le 8 "$3"; le 8 123456789
	for ((i = 40; i < size; i++)); do le 1 0; done
}
# card INDEX BUS WATT ENERGY [MINOR]
card() {
	local i=$1 d=/sys/class/devs/0000:$2:00.0 n=/sys/class/kfd/kfd/topology/nodes/$1 h
	h=$d/hwmon/hwmon$i
	mkdir -p "$h" "$d/drm/card$i" "$d/drm/renderD$((128 + i))" /sys/class/drm /sys/class/hwmon "$n/io_links/0"
	for h in card$i renderD$((128 + i)); do
		ln -s "../devs/0000:$2:00.0/drm/$h" /sys/class/drm/$h
		ln -s "../../../0000:$2:00.0" "$d/drm/$h/device"
	done
	h=$d/hwmon/hwmon$i
	echo 0x1002 >"$d/vendor"; echo 0x740c >"$d/device"; echo 0x1002 >"$d/subsystem_vendor"; echo 0x0b0c >"$d/subsystem_device"
	echo 113-D65201-04$i >"$d/vbios_version"; echo 0x10$i >"$d/unique_id"
	echo $((17179869184 + i)) >"$d/mem_info_vram_used"; echo 68719476736 >"$d/mem_info_vram_total"
	echo $((50 + i)) >"$d/gpu_busy_percent"
	echo amdgpu >"$h/name"; echo "$3" >"$h/power1_average"; echo 560000000 >"$h/power1_cap"
	echo edge >"$h/temp1_label"; echo 41000 >"$h/temp1_input"; echo junction >"$h/temp2_label"; echo 4${i}500 >"$h/temp2_input"
	echo vddgfx >"$h/in0_label"; echo 800 >"$h/in0_input"
	gpu_metrics "${5:-1}" 305 "$4" >"$d/gpu_metrics"
	echo $((40000 + i)) >"$n/gpu_id"; echo gfx90a >"$n/name"
	printf '%s\n' 'cpu_cores_count 0' 'simd_count 440' 'io_links_count 1' 'simd_arrays_per_engine 1' 'simd_per_cu 4' 'array_count 8' 'cu_per_simd_array 14' \
		'vendor_id 4098' 'device_id 29708' "location_id $((0x$2 << 8))" 'domain 0' "drm_render_minor $((128 + i))" 'hive_id 0' "unique_id 10$i" >"$n/properties"
	printf '%s\n' 'type 2' "node_from $i" 'node_to 0' 'weight 20' 'flags 1' >"$n/io_links/0/properties"
}
machine() {
	mount -t tmpfs tmpfs /sys/class
	card 0 c1 305000001 1000000
	card 1 c6 90500000 2000000 2
	card 2 03 560000000 4000000000 3
}
END
# within BASH_CODE: a machine of three cards, then the code; a namespace for each, so that nothing of it is left
within() { unshare -m bash -c ". '$T/tree.sh'; machine; $1"; }

code "three cards" 0 within "'$PROFRIG' -q sample --source rocm_smi --period 0.02 --duration 0.3 --json -o '$T/s.csv'"
value() { jq -r --arg n "$1" '.sources[0].series[] | select(.name == $n) | .last | tostring' "$T/out"; }
# the library numbers cards as DRM does
for row in "power.gpu0 305.000001" "power.gpu1 90.5" "power.gpu2 560" "busy.gpu0 50" "busy.gpu2 52" "vram_used.gpu0 17179869184" "vram_used.gpu2 17179869186" \
	"vram_total.gpu1 68719476736" "temperature.gpu0 40.5" "temperature.gpu2 42.5"; do
	set -- $row
	is "$1 is what the tree holds" "$(value "$1")" "$2"
done
# counts of a step that the library states as a float of 15.3 µJ
for row in "energy.gpu0 1000000" "energy.gpu1 2000000" "energy.gpu2 4000000000"; do
	set -- $row
	check "$1 is the tree's count times the library's step" awk -v e="$(value "$1")" -v n="$2" 'BEGIN { w = n * 15.3e-6; exit !(e > w * (1 - 1e-7) && e < w * (1 + 1e-7)) }'
done
like "the device is named with its address" "$(grep '^# device: gpu1' "$T/s.csv")" "pci 0000:c6:00.0, energy counts 15.3 uJ"
like "and the driver's facts are there" "$(grep '^# facts: gpu1' "$T/s.csv")" "pci=0000:c6:00.0 .*vbios=113-D65201-041 .*power_cap_w=560"
is "nothing failed" "$(jq '.sources[0].failed' "$T/out")" 0
is "nothing of the library's is on stderr" "$(cat "$T/err")" ""

code "values that move" 0 within "(sleep 0.4; echo 400000000 >/sys/class/devs/0000:c1:00.0/hwmon/hwmon0/power1_average; gpu_metrics 1 400 1600000 >/sys/class/devs/0000:c1:00.0/gpu_metrics) &
	'$PROFRIG' -q sample --source rocm_smi --device 0 --fields power,energy --period 0.01 --duration 3 --json; wait"
is "power moved" "$(value power.gpu0) $(jq '.sources[0].series[0].first' "$T/out")" "400 305.000001"
check "energy moved" awk -v e="$(value energy.gpu0)" 'BEGIN { exit !(e > 24.47 && e < 24.49) }'

# our own source on the same tree: the same figures, and 2^-16 J for the counter
code "amdgpu reads the same tree" 0 within "'$PROFRIG' -q sample --source amdgpu --period 0.02 --duration 0.2 --json"
is "its energy is the kernel's" "$(jq -r '[.sources[0].series[] | select(.name | startswith("energy")) | .last] | sort | map(tostring) | join(" ")' "$T/out")" \
	"15.2587890625 30.517578125 61035.15625"

# --- readings that fail ---
code "a file of garbage in the middle" 0 within "(sleep 0.3; echo garbage >/sys/class/devs/0000:c1:00.0/hwmon/hwmon0/power1_average) &
	'$PROFRIG' -q sample --source rocm_smi --fields power --period 0.02 --duration 1 --json -o '$T/g.csv'; wait"
check "is counted, and others go on" jq -e '.sources[0] | .failed > 0 and (.series[] | select(.name == "power.gpu1") | .failed == 0 and .samples > 10)' "$T/out"
check "and is NA, not a number" grep -qE '^[0-9]+,NA,' "$T/g.csv"
code "a card that is unplugged" 0 within "(sleep 0.3; rm -r /sys/class/devs/0000:c6:00.0) & '$PROFRIG' -q sample --source rocm_smi --fields power --period 0.02 --duration 1 --json; wait"
check "is counted too" jq -e '.sources[0] | .error == null and ([.series[] | select(.name == "power.gpu1") | .failed][0] > 0) and ([.series[] | select(.name == "power.gpu0") | .failed][0] == 0)' "$T/out"

# --- trees that the library does not survive ---
code "a tree on which the library aborts" 4 within "rm -r /sys/class/kfd/kfd/topology/nodes/0/io_links; '$PROFRIG' sample --source rocm_smi --duration 0.1"
like "ends its process alone, and is reported" "$(cat "$T/err")" "librocm_smi64 does not start: its process ended by SIGABRT"
code "auto takes the driver's files then" 0 within "rm -r /sys/class/kfd/kfd/topology/nodes/0/io_links; '$PROFRIG' -q sample --source auto --period 0.02 --duration 0.2 --json"
is "which need no library" "$(jq -r '.sources[0].source' "$T/out")" amdgpu
code "one that it refuses" 4 within "rm /sys/class/devs/*/hwmon/*/in0_label; '$PROFRIG' sample --source rocm_smi --duration 0.1"
like "is reported in its words" "$(cat "$T/err")" "rsmi_init: An error occurred during initialization"
cat >"$T/dies.sh" <<'END'
"$PROFRIG" -q run --engine host --no-analyze -o "$T/runs" --tools gpu_power --set 'tools[0].options.source=rocm_smi' --set 'tools[0].sampler.period_s=0.01' -- \
	sh -c 'touch "$1/began"; until [ -e "$1/killed" ]; do sleep 0.05; done; sleep 0.3; echo done' sh "$T" &
pid=$!
until [ -e "$T/began" ]; do sleep 0.05; done
sleep 0.4
kill -ABRT "$(pgrep -P $pid -f profrig-rsmi)"
touch "$T/killed"
wait $pid
END
export PROFRIG T
code "a library that dies in the middle of a run" 6 within ". '$T/dies.sh'"
run=$(cat "$T/out")
is "leaves the workload alone" "$(cat "$run"/steps/*workload.out)" "done"
like "is in run.json" "$(jq -r '.status + ", " + .samplers[0].error' "$run/run.json")" "^partial, gpu[0-2]: its process ended by SIGABRT$"
check "with the rows before it" jq -e '.samplers[0].rows > 10' "$run/run.json"
