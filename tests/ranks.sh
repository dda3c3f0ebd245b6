# Sourced, by bash, behind lib.sh: analyses by several ranks of MPI. MPI is the program.
#
#	ranks N ARGUMENTS…		profrig-mpi by so many ranks
#	same NAME ONE OTHER		two analyses have the same tables, and say the same in analysis.json
make_otf2=$B/tests/fixtures/gen/make_otf2
MPI=$B/profrig-mpi
if ! need mpi sh -c "command -v mpirun && test -x $MPI"; then
	skip "analyze by MPI ranks" "no MPI: libopenmpi-dev and openmpi-bin were not there when profrig was built"
	exit
fi
# more ranks than processors, as root, and not a byte beyond this machine
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_rmaps_base_oversubscribe=1
TMPDIR=$T
export TMPDIR
ranks() { # N ARGUMENTS…
	local n=$1
	shift
	timeout -k 10 120 mpirun --oversubscribe -n "$n" "$MPI" "$@" </dev/null # or it takes the lines of a loop
}
same() { # NAME ONE OTHER: tables, and all that analysis.json says but how long it took
	check "$1" diff -r "$2/tables" "$3/tables"
	check "$1, as analysis.json says" diff <(jq -S 'del(.timings_s)' "$2/analysis.json") <(jq -S 'del(.timings_s)' "$3/analysis.json")
}
