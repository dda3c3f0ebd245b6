#!/usr/bin/env bash
# Cost of a traced call: the same program with and without the tracers, in turn; medians.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export OPENBLAS_NUM_THREADS=1
gcc -O2 tests/bench/bench_tracer.c -o "$dir/bench" -Wl,-z,dynamic-undefined-weak -lopenblas
for i in 1 2 3 4 5; do
	"$dir/bench" >>"$dir/plain"
	mkdir "$dir/$i"
	PROFRIG_BLAS_OUT=$dir/$i PROFRIG_ROCTX_OUT=$dir/$i LD_PRELOAD=$PWD/$B/libprofrig_blas.so:$PWD/$B/libprofrig_roctx.so "$dir/bench" >>"$dir/traced"
	rm -r "${dir:?}/$i"
done
median() { awk -v c="$2" '{ print $c }' "$1" | sort -g | sed -n 3p; }
plain=$(median "$dir/plain" 1) blas=$(median "$dir/traced" 1) roctx=$(median "$dir/traced" 2)
awk -v p="$plain" -v b="$blas" -v r="$roctx" 'BEGIN {
	printf "tracers: ddot of 4 elements %.0f ns plain, %.0f ns traced: %.0f ns a call (limit 1000)\n", p, b, b - p
	printf "tracers: roctx push or pop %.0f ns a call (limit 1000)\n", r
	exit !(b - p < 1000 && r < 1000) }'
