# Sourced by bash, behind faults.sh: examples/mlp with one and two threads, on three BLAS libraries, five times.
#
#	mlp_file NAME [LINES]	$T/NAME.yaml; 1: what it needs is not here, and $mlp_why says what
mlp_file() {
	local from=/usr/lib/$(uname -m)-linux-gnu lib
	for lib in openblas-pthread blis-serial blas; do
		[ -e "$from/$lib/libblas.so.3" ] || { mlp_why="no $from/$lib/libblas.so.3" && return 1; }
	done
	mkdir -p "$T/mlp"
	cp "$ROOT/examples/mlp/profrig.yaml" "$T/mlp"
	# linked by the name that all of them have
	${CC:-cc} -O2 "$ROOT/examples/mlp/mlp.c" -o "$T/mlp/mlp" -Wl,-z,dynamic-undefined-weak "$from/blas/libblas.so.3" -lm || { mlp_why="it does not link" && return 1; }
	cat >"$T/$1.yaml" <<-FILE
		name: $1
		models: [mlp]
		engine: host
		model: {command: [sh, -c, "ldd mlp | grep -F libblas.so.3; exec ./mlp --epochs 1 --batch 256 --hidden 256"]}
		axes:
		  env.LD_LIBRARY_PATH: [$from/openblas-pthread, $from/blis-serial, $from/blas]
		  threads: {env.OPENBLAS_NUM_THREADS: ["1", "2"], env.BLIS_NUM_THREADS: ["1", "2"]}
		repeat: 5
		baseline: {env.LD_LIBRARY_PATH: $from/blas}
		gate: [{metric: performance, threshold: 5%}]
		disk: {min_free: 0, warn_free: 0}
		${2:-}
	FILE
}
# The six cells, each with the library that it names.
mlp_check() { # NAME
	campaign_check "$1" 6 5
	is "$1: each run had the library of its cell" "$(mlp_libraries | sort | uniq -c | xargs)" "10 blas 10 blis-serial 10 openblas-pthread"
	is "$1: the verdict: openblas and blis are faster than reference" \
		"$("$PROFRIG" campaign query "$dir" --format csv "SELECT count(*) FROM verdict WHERE metric = 'performance' AND verdict = 'faster'" | tail -1)" 4
	check "$1: in a report" grep -q "4 faster" "$dir/report.html"
}
mlp_libraries() {
	local f
	for f in "$dir"/results/*; do
		sed -nE 's,.*libblas.so.3 => .*/([a-z-]+)/libblas.so.3 .*,\1,p' "$dir/runs/$(cat "$f")"/steps/*workload.out
	done
}
