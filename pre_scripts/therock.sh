#!/bin/sh
# Builds of TheRock have a manifest in their share folder, or are Python packages with the program rocm-sdk.
found=
for root in "${ROCM_PATH:-}" "${ROCM_HOME:-}" "$(rocm-sdk path --root 2>/dev/null)" /opt/rocm; do
	if [ -n "$root" ] && [ -d "$root/share/therock" ]; then
		found=$root
		break
	fi
done
if [ -z "$found" ] && command -v rocm-sdk >/dev/null 2>&1; then
	found=$(command -v rocm-sdk)
fi
echo "therock=${found:-no}"
echo "therock=${found:-no}" >"$PROFRIG_OUT/therock.txt"
if [ -z "$found" ] && [ "$PROFRIG_OPT_REQUIRED" = true ]; then
	echo "this ROCm is no build of TheRock: neither <ROCm>/share/therock nor rocm-sdk is there" >&2
	exit 1
fi
exit 0
