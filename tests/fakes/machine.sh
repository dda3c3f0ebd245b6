#!/usr/bin/env bash
# Sourced by tests: folders that play a machine with GPUs (PROFRIG_SYSFS_ROOT).
#
#	amd_machine DIR N	N GPUs gfx942 with render nodes 128, 136, …
#	nvidia_machine DIR N	N GPUs
#	plain_machine DIR	none
plain_machine() { mkdir -p "$1/sys/class/drm" "$1/dev" "$1/proc"; }
amd_machine() {
	local i node
	plain_machine "$1"
	mkdir -p "$1/dev/dri"
	: >"$1/dev/kfd"
	for ((i = 0; i < $2; i++)); do
		node=$1/sys/class/kfd/kfd/topology/nodes/$((i + 1))
		mkdir -p "$node"
		echo $((1000 + i)) >"$node/gpu_id"
		printf '%s\n' 'cpu_cores_count 0' 'simd_count 1216' 'gfx_target_version 90402' "location_id $((49664 + 256 * i))" 'domain 0' \
			"drm_render_minor $((128 + 8 * i))" "unique_id $((77 + i))" >"$node/properties"
		: >"$1/dev/dri/renderD$((128 + 8 * i))"
	done
}
nvidia_machine() {
	local i gpu
	plain_machine "$1"
	: >"$1/dev/nvidiactl"
	for ((i = 0; i < $2; i++)); do
		gpu=$1/proc/driver/nvidia/gpus/0000:0$((i + 1)):00.0
		mkdir -p "$gpu"
		printf 'Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-0000000%d-0000-0000-0000-000000000000\nDevice Minor: \t %d\n' $i $i >"$gpu/information"
	done
	echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023' >"$1/proc/driver/nvidia/version"
}
