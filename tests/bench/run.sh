#!/usr/bin/env bash
# What `profrig run` adds to a command: start-up of the binary, a run on the host, in docker, in podman, and output passing through.
# Medians, runs of the two sides in turn, each figure with its aim. BENCH_N=20 rounds. Exit 1 when an aim is missed.
set -u
cd "$(dirname "$0")/../.." || exit 1
case ${B:-build} in /*) ;; *) B=$PWD/${B:-build} ;; esac
PROFRIG=$B/profrig
N=${BENCH_N:-20}
T=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/profrig-bench.XXXXXX")
engines_dir=$T/e
. tests/engines.sh
trap 'engines_stop; rm -rf "$T"' EXIT
export XDG_RUNTIME_DIR=$T PROFRIG_TOOLS_PATH=$PWD/tools.d
cd "$T" || exit 1
missed=0

# EPOCHREALTIME is the shell's own clock: no process is started to read it.
once() { # command…: its time in ms, to $ms
	local a=${EPOCHREALTIME/[.,]/} b
	"$@" >/dev/null 2>"$T/err" || { echo "failed: $*" >&2; cat "$T/err" >&2; exit 1; }
	b=${EPOCHREALTIME/[.,]/}
	ms=$(((b - a) / 1000)).$(printf %03d $(((b - a) % 1000)))
}
median() { sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2 }'; }
aim() { # name, figure, unit, aim (empty: none)
	local word=
	if [ -n "$4" ]; then
		word=$(awk -v f="$2" -v a="$4" 'BEGIN { print f <= a ? "met" : "MISSED" }')
		[ "$word" = met ] || missed=1
		word="   aim $4: $word"
	fi
	printf '%-58s %9.2f %-5s%s\n' "$1" "$2" "$3" "$word"
}
added() { # name, aim in ms, bare command words, "--", command words of profrig
	local name=$1 limit=$2 bare=() i
	shift 2
	while [ "$1" != -- ]; do bare+=("$1"); shift; done
	shift
	once "${bare[@]}"
	once "$@"
	for i in $(seq "$N"); do
		once "${bare[@]}"
		echo "$ms" >>"$T/bare"
		once "$@"
		echo "$ms" >>"$T/ours"
	done
	local b o
	b=$(median <"$T/bare") o=$(median <"$T/ours")
	rm -f "$T/bare" "$T/ours"
	aim "$name: bare" "$b" ms ""
	aim "$name: with profrig" "$o" ms ""
	aim "$name: added" "$(awk -v o="$o" -v b="$b" 'BEGIN { print o - b }')" ms "$limit"
}
startup() { # limit in ms or "", argument…
	local i limit=$1
	shift
	once "$PROFRIG" "$@"
	for i in $(seq "$N"); do once "$PROFRIG" "$@"; echo "$ms"; done >"$T/ours"
	aim "start-up: profrig $*" "$(median <"$T/ours")" ms "$limit"
	rm -f "$T/ours"
}
startup 5 --version
startup 5 list readers
# Every tool is asked whether it works here.
startup "" list tools
added host 15 /bin/true -- "$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze -- /bin/true
for engine in docker podman; do
	if need_engine $engine && test_image $engine profrig-test:1; then
		words=$(engine_words $engine)
		run="$words run --rm -i --init=false --pull=never --log-driver=none -v $B:/.profrig:ro -v $T:$T --workdir $T profrig-test:1 /bin/true"
		limit=
		[ $engine = podman ] || limit=150
		# shellcheck disable=SC2086
		added $engine "$limit" $words run --rm profrig-test:1 /bin/true -- \
			"$PROFRIG" -q run -o "$T/runs" --engine $engine --image profrig-test:1 --no-analyze -- /bin/true
		# shellcheck disable=SC2086
		for i in $(seq "$N"); do once $run; echo "$ms"; done >"$T/ours"
		aim "$engine: bare, with the options of a profiled run" "$(median <"$T/ours")" ms ""
	else
		echo "$engine: not measured: $engines_why"
	fi
done

# Output: how long the workload is kept waiting, beside a shell that sends it to a file of the same disk.
W=$B/tests/bench/out_writer
bare() { # MB RATE: "<in write> <all>"
	"$W" "$@" >"$T/bare.out" 2>"$T/bare.err" && cat "$T/bare.err"
	rm -f "$T/bare.out"
}
ours() { # options for run, "--", MB RATE
	local opts=()
	while [ "$1" != -- ]; do opts+=("$1"); shift; done
	shift
	"$PROFRIG" -q run -o "$T/runs" --engine host --no-analyze "${opts[@]}" -- "$W" "$@" 2>/dev/null >"$T/dir" && cat "$(cat "$T/dir")"/steps/*.err
	rm -rf "$T/runs"
}
through() { # name, MB, rate ("" = full speed), options for run
	local name=$1 mb=$2 rate=$3 i b o
	shift 3
	for i in $(seq 5); do
		bare "$mb" $rate | cut -d' ' -f2 >>"$T/b"
		ours "$@" -- "$mb" $rate | cut -d' ' -f2 >>"$T/o"
	done
	b=$(median <"$T/b") o=$(median <"$T/o")
	rm -f "$T/b" "$T/o"
	aim "output, $name: to a file" "$(awk -v m="$mb" -v s="$b" 'BEGIN { print m / s }')" MB/s ""
	aim "output, $name: through profrig" "$(awk -v m="$mb" -v s="$o" 'BEGIN { print m / s }')" MB/s ""
	aim "output, $name: time beside a file" "$(awk -v o="$o" -v b="$b" 'BEGIN { print o / b }')" x 1.05
}
through "100 MB/s" 200 100
through "100 MB/s with --live" 200 100 --live
through "full speed" 500 ""
through "full speed with --live" 500 "" --live
exit $missed
