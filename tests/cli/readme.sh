#!/usr/bin/env bash
# Every example of README.md and of --help, as it stands there: taken out of the page and out of what each command prints, run in a fresh folder in which
# the things that it names exist. A new example is run like the others and has to end with 0, unless a line below says otherwise. What is not as it stands:
#
#	- no container: `run` and `plan` get --engine host, and `build` only says what it would build (tests/e2e has the engines);
#	- no GPU but one that files play;
#	- shorter waits and fewer ranks.
. "$(dirname "$0")/../lib.sh"
export XDG_CACHE_HOME=$T/cache
. "$ROOT/tests/fakes/machine.sh"
fixtures=$ROOT/tests/fixtures

# --- what is different: by the whole example, else as it stands ---
declare -A status edit folder why
differs() { # EXAMPLE what=value…
	local example=$1 w
	shift
	for w in "$@"; do
		case $w in
		status=*) status[$example]=${w#*=} ;;  # the right exit status, where it is not 0
		edit=*) edit[$example]=${w#*=} ;;      # a script of sed
		folder=*) folder[$example]=${w#*=} ;;  # where it is run
		skip=*) why[$example]=${w#*=} ;;       # not run here
		esac
	done
	known+=("$example")
}
known=()
differs "make demo" "edit=s,^make,& -n -C $ROOT,"
differs "make test" "edit=s,^make,& -n -C $ROOT,"
differs "profrig build resnet" "edit=s,build,& -n,"
differs "profrig build resnet && profrig run --manifest build_manifest.json" "edit=s,build resnet,build -n resnet,; s,--manifest build_manifest.json,resnet,"
differs "profrig run -t inference -c \"{'docker_gpus': '0-3'}\"" folder=package
differs "profrig discover --json training" folder=package
differs "profrig run --baseline --repeat 5 examples/mlp" "edit=s,--repeat 5,--repeat 2,"
differs "profrig run --tools perf --record-after 60 --record-for 30 -- ./train" "edit=s,60,0.3,; s,30,0.3,"
differs "profrig run --idle 10 --tools gpu_power -- ./train" "edit=s,--idle 10,--idle 0.3,"
differs "mpirun -n 64 profrig-mpi analyze traces.otf2 -o out" "edit=s,-n 64,-n 2 --oversubscribe --allow-run-as-root,"
differs "profrig campaign logs campaigns/blas 3fa9c1d2e4b5-2" 'edit=s,[0-9a-f]\{12\}-2,$(campaign_run),'
differs "profrig campaign query campaigns/mlp \"SELECT label, state, count(*) FROM run JOIN cell ON cell = cell.id GROUP BY 1, 2\"" "edit=s,campaigns/mlp,campaigns/blas,"
differs "profrig mark 'epoch 3'" "edit=s,.*,profrig run -- sh -c \"&\","
differs "profrig ctl latest start" "edit=s,.*,live_run; &; rc=\$?; wait \$live; (exit \$rc),"
if ls /usr/lib/*/openblas-*/libopenblas.so.0 /usr/lib/*/blis-*/libblis.so.4 >/dev/null 2>&1; then
	differs "profrig lib perf library_trace.csv --backends openblas,blis" "edit=s,$, --cache warm --precision 50% --budget 10,"
else
	differs "profrig lib perf library_trace.csv --backends openblas,blis" "skip=neither is installed"
fi
[ -x "$B/profrig-mpi" ] && need mpi command -v mpirun || differs "mpirun -n 64 profrig-mpi analyze traces.otf2 -o out" "skip=no MPI here"
if ! need perf perf record -o "$T/perf.data" true; then
	for e in "profrig run --tools perf,cpu_power -- ./train" "profrig run --tools perf --record-after 60 --record-for 30 -- ./train"; do
		differs "$e" "skip=perf records nothing here"
	done
fi

# --- the fresh folder ---
mkdir -p "$T/bin" "$T/w/resnet" && cd "$T/w" || exit 1
cat >"$T/bin/profrig" <<P
#!/bin/sh
case \$1 in
run | plan) c=\$1; shift; exec $PROFRIG \$c --engine host "\$@" ;;
esac
exec $PROFRIG "\$@"
P
cat >train <<'P'
#!/bin/sh
# a training loop: some work between two marks
mark() { [ -z "$PROFRIG_MARK" ] || printf '%s\n' "$1" >>"$PROFRIG_MARK"; }
[ -z "$ONEDNN_VERBOSE" ] || echo "onednn_verbose,exec,cpu,eltwise,jit:uni,forward_training,data_f32::blocked:a:f0,,alg:eltwise_relu alpha:0 beta:0,64,0.01"
[ -z "$ONEDNN_VERBOSE" ] || echo "onednn_verbose,exec,cpu,matmul,gemm:jit,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,64x32:32x16:64x16,0.01"
mark warm
i=0
while [ $i -lt 60 ]; do
	i=$((i + 1))
	k=0
	while [ $k -lt 2000 ]; do k=$((k + 1)); done
	sleep 0.01
done
mark end
echo 'performance: 123 samples/s'
P
chmod +x "$T/bin/profrig" train
echo 'publish: [{to: ndjson, path: results.ndjson}]' >publish.yaml
printf '%s\n' 'model: {name: resnet, command: ["./../train"], dockerfile: Dockerfile}' >resnet/profrig.yaml
echo "FROM scratch" >resnet/Dockerfile
cp -r "$ROOT/examples" .
mkdir package && cp -r "$fixtures/mad/." package
cp "$fixtures/rpd/v1.rpd" run.rpd
gzip -c "$fixtures/tef/kineto.json" >trace.json.gz
# Steps of a training: one launch and one kernel each.
for t in rank0 before after; do
	jq -nc '[range(6) | (. * 1000) as $t | {ph: "X", cat: "user_annotation", name: "ProfilerStep#\(.)", pid: 1, tid: 1, ts: $t, dur: 900},
		{ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: ($t + 10), dur: 5, args: {correlation: (. + 1)}},
		{ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7, ts: ($t + 20), dur: 800, args: {device: 0, stream: 7, correlation: (. + 1)}}]' | gzip >$t.json.gz
done
"$PROFRIG" -q convert run.rpd -o big.otf2 >/dev/null && cp -r big.otf2/. . || exit 1
jq '.[0].tags += ["training"]' "$fixtures/mad/models.json" >package/models.json
echo "./rocblas-bench -f gemm -r s --transposeA N --transposeB T -m 64 -n 32 -k 16 --alpha 1 --lda 64 --ldb 32 --beta 0 --ldc 64" >rocblas.log
echo "host:1:2 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f1 recvbuff 0x7f2 count 2097152 datatype 7 op 0 root 0 comm 0x5 [nranks=2] stream 0x6" >nccl.0.log
nvidia_machine "$T/nvidia" 4
export PROFRIG_SYSFS_ROOT=$T/nvidia PROFRIG_NVML_LIB=$B/tests/fakes/fake_nvml.so PATH=$T/bin:$B:$PATH
for i in 1 2 3; do # for compare
	for to in before after; do "$PROFRIG" -q run --engine host --no-analyze -o runs/$to -- sh -c "echo performance: 12$i samples/s" >/dev/null; done
done
printf 'name: blas\nmodels: [{name: m, command: [echo, "performance: 5 s/s"]}]\nengine: host\naxes: {env.A: ["1", "2"]}\nrepeat: 3\nanalyze: false\nbaseline: {env.A: "1"}\n' >blas.yaml
campaign_run() { # of blas.yaml, the first one
	echo "$(jq -r '.cells[0].id' campaigns/blas/plan.json)-2"
}
live_run() { # a run that waits for `ctl`
	"$PROFRIG" -q run --engine host --tools perf --record-start manual --no-analyze -- ./train >/dev/null 2>&1 &
	live=$!
	wait_for sh -c 'profrig ctl latest status'
}

# --- all of them ---
tried() { # where it stands, the example
	local from=$1 e=$2 line
	if [ -n "${why[$e]:-}" ]; then
		skip "$from: $e" "${why[$e]}"
		return
	fi
	line=$(sed "${edit[$e]:-}" <<<"$e")
	[ "$line" = "$e" ] || echo "# as: $line"
	cd "$T/w/${folder[$e]:-.}" || exit 1
	eval "$line" >"$T/out" 2>"$T/err"
	local got=$?
	cd "$T/w" || exit 1
	if [ "$got" = "${status[$e]:-0}" ]; then ok "$from: $e"; else not_ok "$from: $e" "status $got, wanted ${status[$e]:-0}
$(tail -n 20 "$T/err")"; fi
}
mapfile -t readme < <(awk '/^```sh/ {s = 1; next} /^```/ {s = 0} s && NF' "$ROOT/README.md" | sed 's/[[:blank:]]*# .*//')
check "README.md has examples" test "${#readme[@]}" -gt 20
for e in "${readme[@]}"; do tried README.md "$e"; done
# one library and itself
python3 -c 'import csv, sys
rows = list(csv.reader(open("library_perf.csv")))
first = next(r for r in rows[1:] if r[rows[0].index("status")] == "ok")[rows[0].index("backend")]
csv.writer(sys.stdout).writerows(r for r in rows if r is rows[0] or r[rows[0].index("backend")] == first)' >before.csv && cp before.csv after.csv || exit 1
mapfile -t commands < <("$PROFRIG" --help | sed -n '/^usage/,/^profrig COMMAND/s/^  \([a-z]\+\( [a-z]\+\)\?\)  .*/\1/p')
for c in "${commands[@]}"; do
	mapfile -t examples < <("$PROFRIG" $c --help | sed -n 's/^example: //p')
	check "$c --help has an example" test "${#examples[@]}" -gt 0
	for e in "${examples[@]}"; do
		readme+=("$e")
		tried "$c --help" "$e"
	done
done
mapfile -t first < <("$PROFRIG" --help | sed -n '/First steps:/,$s/^  \(profrig [^ ]*\( [^ ]\+\)*\).*/\1/p')
check "--help has first steps" test "${#first[@]}" -gt 0
cp train program
for e in "${first[@]}"; do tried "--help" "$e"; done
for e in "${known[@]}"; do
	printf '%s\n' "${readme[@]}" | grep -qxF -- "$e" || not_ok "what this test says of: $e" "no such example is left"
done
