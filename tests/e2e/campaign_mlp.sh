#!/usr/bin/env bash
# examples/mlp × {1, 2 threads} × {openblas, blis, reference} × 5 on this machine: every run is committed, with its figure.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/stress/faults.sh"
. "$ROOT/tests/stress/mlp.sh"
if need openblas mlp_file blas; then
	dir=$T/campaigns/blas
	code "the matrix runs" 0 "$PROFRIG" campaign run -o "$T/campaigns" "$T/blas.yaml"
	mlp_check blas
else
	skip "examples/mlp on three libraries" "$mlp_why"
fi
