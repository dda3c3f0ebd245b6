# Sourced by bash, behind faults.sh: a Slurm of four nodes and its faults. cluster=FOLDER.
starter=$ROOT/tests/slurm/starter
cluster_up() { # WORD…
	"$starter" up "$cluster" nodes=4 prolog PreemptType=preempt/partition_prio PreemptMode=REQUEUE \
		'PartitionName=first Nodes=n[1-4] PriorityTier=9 PreemptMode=OFF' "$@" 2>>"$T/cluster.log" && eval "$("$starter" env "$cluster")"
}
cluster_down() { "$starter" down "$cluster" 2>/dev/null; }
of_cluster() { "$starter" "$1" "$cluster" "${@:2}" >>"$log" 2>&1; }
slurm_lines='scheduler: slurm
slurm: {cpus: 1, pack: 3, max_jobs: 4, command_timeout: 8, time: 10m}'
slurm_events=60 # they come in waves, of all that one submission holds
some_node() { echo "n$((RANDOM % 4 + 1))"; }

# A node loses its power, and comes back before it is missed, or behind that.
fault_node() {
	local n
	n=$(some_node)
	note "$n"
	of_cluster crash "$n"
	pause $((RANDOM % 40000))
	of_cluster start "$n"
}
# Its daemon alone dies: what runs there goes on.
fault_slurmd() {
	local n
	n=$(some_node)
	note "$n"
	of_cluster signal "$n" KILL
	pause $((RANDOM % 40000))
	of_cluster start "$n"
}
fault_ctld() {
	of_cluster signal ctld KILL
	pause $((RANDOM % 10000))
	of_cluster start ctld
}
submits() { grep -c '"ev":"submit"' "$dir/journal.ndjson"; }
# True once the journal announces one more submission.
next_submit() {
	local n until=$((SECONDS + 20))
	n=$(submits)
	while [ "$(submits)" = "$n" ]; do
		[ $SECONDS -lt $until ] && alive || return 1
		sleep 0.01
	done
}
# The controller dies with what it has just taken in.
fault_sbatch() {
	next_submit || return 0
	pause $((RANDOM % 120))
	fault_ctld
}
fault_paused() {
	of_cluster signal ctld STOP
	next_submit
	pause $((RANDOM % 12000))
	of_cluster signal ctld CONT
}
fault_dbd() {
	of_cluster signal dbd KILL
	pause $((RANDOM % 8000))
	of_cluster start dbd
}
# A job of a higher partition takes a node from those that run there.
fault_preempt() {
	local n
	n=$(some_node)
	note "$n"
	timeout 60 sbatch --wait -p first -w "$n" --exclusive -J "$mark" -o /dev/null --wrap 'sleep 1' >>"$log" 2>&1
	scancel -n "$mark"
}
# The prolog of a node fails, which drains it, until an administrator has a look.
fault_prolog() {
	local n
	n=$(some_node)
	note "$n"
	touch "$cluster/prolog-$n"
	pause $((RANDOM % 10000))
	rm "$cluster/prolog-$n"
	pause 1000 # for what it has failed just now
	scontrol update nodename="$n" state=resume >>"$log" 2>&1
}
# The profrig of one job.
fault_work() {
	local p words
	for p in $(shuffled /proc/[0-9]*); do
		words=()
		{ mapfile -d '' -t words <"$p/cmdline"; } 2>/dev/null
		case "${words[*]}" in *"profrig campaign work $dir "*) kill -KILL "${p#/proc/}" && return ;; esac
	done
} 2>/dev/null
slurm_check() { # NAME
	is "$1: what was never queued is no failed attempt" "$(jq -r 'select(.ev=="ended" and .class=="infrastructure" and (.reason|test("not queued")))|.run' "$dir/journal.ndjson")" ""
	check "$1: no job is left" wait_for no_job
}
no_job() { [ -z "$(squeue -h -t PD,R,CG,S -o %i)" ]; }
