#!/bin/sh
# nsys_jax.sh OUT CONDITION ARGS [WORDS…] -- PROGRAM…: `nsys profile` of a JAX program. ARGS are the user's options of nsys, WORDS profrig's.
#
# - An option of ours is left out when the user gives it, as --name=x, --name x, -n x or -nx.
# - The report is OUT/nsys[.rank<N>]; one that is there already, or an --output of the user's, ends it before the program starts.
# - XLA_FLAGS and JAX_TRACEBACK_IN_LOCATIONS_LIMIT are added to, and never overwritten.
# - The status is the program's. A signal that nsys itself sends at the end of a capture range or a duration (--kill) is the planned end: 0.
set -f
out=$1 condition=$2 args=$3
shift 3
words=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	words="$words $1"
	shift
done
shift

say() { echo "nsys_jax: $*" >&2; }
refuse() {
	say "$@"
	exit 2
}

# given NAME LETTER: whether the user gave the option; its value in $value. LETTER is _ where there is none.
given() {
	value=
	take=
	for word in $args $words; do
		if [ -n "$take" ]; then
			value=$word
			return 0
		fi
		case $word in
		"--$1="*) value=${word#*=} ;;
		"--$1" | "-$2") take=1 && continue ;;
		"-$2"?*) value=${word#-?} ;;
		*) continue ;;
		esac
		return 0
	done
	[ -n "$take" ]
}
# ours NAME LETTER VALUE
ours() {
	given "$1" "$2" || add="$add --$1=$3"
}

rank=${SLURM_PROCID:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}}
name=${rank:+.rank$rank}

if ! sh -c "$condition"; then
	say "this process${rank:+ (rank $rank)} runs without nsys: the condition '$condition' does not hold" 2>&1 | tee "$out/unprofiled$name.$$.log" >&2
	exec "$@"
fi

given output o && refuse "nsys's --output is {out} of the tool; it cannot be set (given: '$value')"
[ ! -e "$out/nsys$name.nsys-rep" ] || name=$name.$$
[ ! -e "$out/nsys$name.nsys-rep" ] || refuse "$out/nsys$name.nsys-rep is there already"

add=
ours cuda-graph-trace _ node
ours cpuctxsw _ none
ours python-sampling _ true
ours trace t cublas,cuda,cudnn,cusolver,nvtx,osrt
ours export _ sqlite
ours force-overwrite f true

case " ${XLA_FLAGS:-} " in
*xla_dump_to=*) ;;
*) XLA_FLAGS="${XLA_FLAGS:+$XLA_FLAGS }--xla_dump_to=$out/dump" ;;
esac
case " $XLA_FLAGS " in
*xla_dump_hlo_as_proto*) ;;
*) XLA_FLAGS="$XLA_FLAGS --xla_dump_hlo_as_proto=true" ;;
esac
export XLA_FLAGS
export JAX_TRACEBACK_IN_LOCATIONS_LIMIT="${JAX_TRACEBACK_IN_LOCATIONS_LIMIT--1}"

# Whether nsys ends the program: at the end of a capture range, unless that only stops the recording, or of a duration.
ends=
if given capture-range c && [ "$value" != none ]; then
	given capture-range-end _ || value=stop-shutdown
	case $value in stop-shutdown | repeat-shutdown:*) ends=1 ;; esac
fi
given duration d && [ "$value" != 0 ] && ends=1
given kill _ || value=sigterm
case $value in
none) ends= ;;
sigkill) planned=137 ;;
sigterm) planned=143 ;;
*) planned=$((128 + value)) ;;
esac
[ -n "$ends" ] || exec nsys profile $args $words $add "--output=$out/nsys$name" "$@"
nsys profile $args $words $add "--output=$out/nsys$name" "$@"
status=$?
if [ $status -eq $planned ]; then
	say "nsys ended the program ($value), as planned: status $status counts as 0"
	exit 0
fi
exit $status
