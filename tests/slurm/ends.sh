#!/usr/bin/env bash
# How jobs end, and why they do not begin, on a real Slurm that has what sites have: preemption, memory limits, time limits and the signal before
# them, a prolog, nodes that are drained or down, jobs on hold, limits of partitions and QOS, modules, other users, and real torchrun and mpirun on
# two nodes. All campaigns run side by side, as most of it is waiting.
# runs alone: limits of time are reached, and jobs missed, by the clock
. "$(dirname "$0")/../lib.sh"
if ! need slurm sh -c 'PATH=$PATH:/usr/sbin:/sbin; command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged'; then
	skip "ends of jobs on a real Slurm" "no Slurm here: slurmctld slurmd slurm-client munge"
	exit
fi
. "$ROOT/tests/stress/faults.sh"
. "$ROOT/tests/campaigns.sh"
S=$ROOT/tests/slurm/starter
at_end 'kill $(jobs -p) 2>/dev/null; "$S" down "$T/cluster" 2>/dev/null'
cd "$T" || exit 1

# ---- the cluster ----
words=(nodes=8 cpus=8 prolog PreemptType=preempt/partition_prio PreemptMode=REQUEUE
	'PartitionName=requeue Nodes=n1 PreemptMode=REQUEUE' 'PartitionName=cancel Nodes=n2 PreemptMode=CANCEL'
	'PartitionName=first Nodes=n[1-2] PriorityTier=9 PreemptMode=OFF' 'PartitionName=rest Nodes=n[3-8]'
	'PartitionName=brief Nodes=n3 MaxTime=1' 'PartitionName=narrow Nodes=n[3-4] MaxNodes=1' 'PartitionName=shut Nodes=n3 State=DOWN')
accounting= memory=
if command -v mariadbd >/dev/null && command -v slurmdbd >/dev/null; then
	accounting=1 words+=(accounting AccountingStorageEnforce=associations,limits,qos)
else
	skip "limits of a QOS" "no slurmdbd, mariadb-server here"
fi
if [ "$(id -u)" = 0 ] && [ -w /sys/fs/cgroup/memory ]; then
	memory=1 words+=(memory)
else
	skip "jobs that need too much memory" "no control groups of version 1 for memory, which root may make"
fi
check "a cluster of eight nodes starts" "$S" up "$T/cluster" "${words[@]}"
eval "$("$S" env "$T/cluster")"
admin() { scontrol update "$@"; }

# ---- campaigns of four runs: 1x, 1y, 2x, 2y ----
log_of() { echo "$T/$1.log"; }
slurm() { # NAME COMMAND SETTINGS [LINES]: starts it
	file "$1" 1 "$2; echo performance: 1.5 s/s" "scheduler: slurm"$'\n'"slurm: {$3}"$'\n'"${4:-}"
	"$PROFRIG" campaign run -o "$T/campaigns" "$1.yaml" >"$(log_of "$1")" 2>&1 &
	eval "pid_$1=$!"
}
ends() { # NAME STATUS: has ended with it
	local pid=pid_$1 rc
	wait "${!pid}"
	rc=$?
	if [ $rc = "$2" ]; then ok "$1: ends with status $2"; else not_ok "$1: status $rc, wanted $2" "$(tail -n 40 "$(log_of "$1")")"; fi
}
at() { # NAME: what is looked at from now on
	dir=$T/campaigns/$1
	[ -d "$dir" ] || dir=$T/user/campaigns/$1
}
number() { squeue -h -o %F --name="pr-$(jq -r 'select(.ev=="submit")|.name' "$1/journal.ndjson" | head -n 1)"; } # FOLDER: of its first job
said() { grep -qE "$2" "$(log_of "$1")"; }
says() { # NAME PATTERN: within two minutes
	if wait_for said "$1" "$2"; then ok "$1: says $2"; else not_ok "$1: says $2" "$(cat "$(log_of "$1")")"; fi
}
# The attempts of a run, "CLASS REASON;…", jobs by a #.
attempts() { # LABEL
	rows "SELECT a.class || ' ' || coalesce(a.reason, '') FROM attempt a JOIN run r ON r.id = a.run JOIN cell c ON c.id = r.cell
		WHERE c.label = '$1' ORDER BY a.n" | tr -d '"' | sed -E 's/[0-9]+(_[0-9]+)?: /#: /; s/ $//' | paste -sd';'
}
committed() { # NAME RUNS: so many, and no others
	is "$1: $2 results, and nothing else" "$(ls -A "$dir/results" | grep -cE '^[0-9a-f]{12}-1$') $(ls -A "$dir/results" | wc -l)" "$2 $2"
	[ "$2" = 0 ] || check "$1: each names a run that ended well" results_name_runs
	is "$1: the journal commits each once" "$(jq -r 'select(.ev=="committed")|.run' "$dir/journal.ndjson" | sort | uniq -c | awk '{ n += $1 == 1 } END { print n + 0, NR }')" "$2 $2"
}

# ---- another user ----
user=nobody
user_runs() { # COMMAND…
	runuser -u "$user" -- env -u PROFRIG_TOOLS_PATH HOME="$T/user" XDG_RUNTIME_DIR="$T/user/runtime" "$@"
}
user_ready() {
	[ "$(id -u)" = 0 ] && id "$user" && command -v runuser || return 1
	mkdir -p "$T/user/runtime" "$T/bin" && chmod 711 "$T" && chmod 700 "$T/user/runtime" && chown -R "$user" "$T/user" &&
		cp "$B"/profrig "$B"/profrig-init "$B"/libprofrig_*.so "$T/bin" && chmod -R go+rX "$T/bin" "$T/cluster/etc" && user_runs "$T/bin/profrig" --version || return 1
	[ -z "$accounting" ] || { sacctmgr -i add account everyone && sacctmgr -i add user "$user" account=everyone; }
}
others=
if user_ready >/dev/null 2>&1; then others=1; else skip "campaigns of another user" "not root, or $user cannot come to $T"; fi
of_user() { # NAME: its file is there
	chown "$user" "$1.yaml"
	user_runs "$T/bin/profrig" campaign run -o "$T/user/campaigns" "$T/$1.yaml" >"$(log_of "$1")" 2>&1 &
	eval "pid_$1=$!"
}
twice() { # NAME COMMAND SETTINGS: two runs on two nodes, two processes each, of another user
	cat >"$1.yaml" <<-FILE
		name: $1
		models: [{name: m, command: [sh, -c, '$2']}]
		engine: host
		axes: {env.A: ["1", "2"]}
		env: {GLOO_SOCKET_IFNAME: lo, OMP_NUM_THREADS: "1", OMPI_MCA_btl: "tcp,self", OMPI_MCA_btl_tcp_if_include: lo, OMPI_MCA_oob_tcp_if_include: lo}
		repeat: 1
		analyze: false
		scheduler: slurm
		slurm: {partition: rest, nodes: 2, nodelist: ["n[7-8]"], nproc_per_node: 2, cpus: 2, pack: 2, time: 10m, $3}
	FILE
	of_user "$1"
}
torch= mpi=
if [ -n "$others" ]; then
	# Of torchrun 1.13 no output stays where it is under Python 3.11 unless something is redirected.
	if need torch /usr/bin/python3 -c 'import torch.distributed' && command -v torchrun >/dev/null; then
		torch=1
		cat >"$T/bin/reduce.py" <<-'PY'
			import os, torch, torch.distributed as dist
			dist.init_process_group("gloo")
			rank, world = dist.get_rank(), dist.get_world_size()
			x = torch.arange(4, dtype=torch.int64) * (rank + 1)
			dist.all_reduce(x)
			assert torch.equal(x, torch.arange(4) * (world * (world + 1) // 2)), x
			# the line and its end in one, as the other ranks write there, too
			os.write(1, b"rank %d of %d on %s: %s\n" % (rank, world, os.environb[b"SLURMD_NODENAME"], str(x.tolist()).encode()))
			if rank == 0:
			    print("performance: %d.5 s/s" % world, flush=True)
		PY
		twice torch "exec torchrun --redirects 2 --tee 2 --nnodes \$NNODES --node_rank \$NODE_RANK --nproc_per_node \$NPROC_PER_NODE --master_addr \$MASTER_ADDR --master_port \$MASTER_PORT $T/bin/reduce.py" \
			"launcher: torchrun${memory:+, mem: 1000M}"
	else
		skip "torchrun on two nodes" "python3-torch is not installed"
	fi
	if need mpi sh -c 'command -v mpicc && command -v mpirun'; then
		mpi=1
		cat >"$T/reduce.c" <<-'C'
			#include <mpi.h>
			#include <stdio.h>
			#include <stdlib.h>
			int main(int argc, char **argv)
			{
				int rank, size, one, sum;
				MPI_Init(&argc, &argv);
				MPI_Comm_rank(MPI_COMM_WORLD, &rank);
				MPI_Comm_size(MPI_COMM_WORLD, &size);
				one = rank + 1;
				MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
				printf("rank %d of %d on %s: %d\n", rank, size, getenv("SLURMD_NODENAME"), sum);
				if (rank == 0)
					printf("performance: %d.5 s/s\n", size);
				MPI_Finalize();
				return sum != size * (size + 1) / 2;
			}
		C
		mpicc -o "$T/bin/reduce" "$T/reduce.c"
		twice mpi "exec mpirun $T/bin/reduce" "launcher: mpirun${memory:+, mem: 500M}"
	else
		skip "mpirun on two nodes" "no mpicc, mpirun here: libopenmpi-dev openmpi-bin"
	fi
fi

# ---- all begin ----
touch "$T/cluster/prolog-n4"
admin nodename=n5 state=drain reason=disk
"$S" signal "$T/cluster" n6 KILL
admin nodename=n6 state=down reason=fan
# one that is in the way of 1y until the file go-NAME is there
hangs() { echo "[ \"\$A\$B\" != 1y ] || { echo >>$T/at-$1; [ -e $T/go-$1 ] || { for i in \$(seq 600); do [ -e $T/go-$1 ] && break; sleep 0.3; done; }; }"; }
slurm requeue "$(hangs requeue)" 'partition: requeue, cpus: 2, pack: 4'
slurm cancel "$(hangs cancel)" 'partition: cancel, cpus: 2, pack: 2'
slurm timeout "$(hangs timeout)" 'partition: rest, nodelist: [n3], time: 1m, cpus: 1, pack: 2'
slurm ending "$(hangs ending)" 'partition: rest, nodelist: [n3], cpus: 1, pack: 4'
slurm ending2 "$(hangs ending2)" 'partition: rest, nodes: 2, nodelist: ["n[7-8]"], cpus: 1, pack: 4'
slurm prolog true 'partition: rest, nodelist: [n4], cpus: 2, pack: 2'
slurm drained true 'partition: rest, nodelist: [n5], pack: 4'
slurm down true 'partition: rest, nodelist: [n6], pack: 4'
slurm brief true 'partition: brief, time: 5m, pack: 4'
slurm narrow true 'partition: narrow, nodes: 2'
slurm shut true 'partition: shut, pack: 2'
if [ -n "$memory" ]; then
	slurm oom '[ "$A$B" != 1y ] || exec tail -n 1 /dev/zero' 'partition: rest, nodelist: [n3], cpus: 1, mem: 100M' 'retry: {on: [oom], workload: 1}'
	slurm hog true 'partition: rest, nodelist: [n3], cpus: 1, mem: 100M, pack: 4, setup: ["tail -n 1 /dev/zero || exit 9"]'
fi
if [ -n "$accounting" ]; then
	sacctmgr -i add qos tiny set MaxWall=1 >/dev/null
	sacctmgr -i add qos strict set MaxWall=1 Flags=DenyOnLimit >/dev/null
	sacctmgr -i modify account root set qos=normal,tiny,strict >/dev/null
	slurm qos true 'partition: rest, nodelist: [n3], cpus: 1, qos: tiny, time: 5m, pack: 4'
	slurm deny true 'partition: rest, nodelist: [n3], cpus: 1, qos: strict, time: 5m, pack: 4'
fi
# modules of a site whose shells have the function, then those of Debian's package
module() { [ "$*" = "load site/1.0" ] && export SITE=here; }
export -f module
slurm site 'test "$SITE" = here' 'partition: rest, nodelist: [n3], cpus: 1, modules: [site/1.0], pack: 4'
slurm missing true 'partition: rest, nodelist: [n3], cpus: 1, modules: [site/2.0], pack: 4' 'retry: {infrastructure: 0}'
unset -f module
modules=
if need modules test -r /usr/share/modules/init/bash; then
	modules=1
	mkdir -p "$T/modules/gcc"
	printf '#%%Module\nsetenv SITE there\n' >"$T/modules/gcc/12"
	MODULEPATH=$T/modules slurm debian 'test "$SITE" = there' 'partition: rest, nodelist: [n3], cpus: 1, modules: [gcc/12], pack: 4'
else
	skip "modules of Debian's package" "environment-modules is not installed"
fi
if [ -n "$others" ]; then
	file held 1 'echo performance: 1.5 s/s' $'scheduler: slurm\nslurm: {partition: rest, nodelist: [n5], pack: 4}'
	of_user held
fi

# ---- preemption: of one that holds four runs, and of one twice ----
lines() { [ "$(cat "$T/at-$1" 2>/dev/null | wc -l)" -ge "$2" ]; }
preempted() { # NODE
	check "a job of a higher partition takes $1" sbatch --wait -p first -w "$1" --exclusive -o /dev/null --wrap true
}
check "requeue: runs" wait_for lines requeue 1
preempted n1
touch go-requeue
check "cancel: runs" wait_for lines cancel 1
preempted n2

# ---- the signal of --signal=B:USR1@60, as a minute before the limit of a longer job ----
for name in ending ending2; do
	check "$name: runs" wait_for lines "$name" 1
	check "$name: its time ends" scancel -b -s USR1 "$(number "$T/campaigns/$name")_0"
	sleep 1
	touch "go-$name"
done

# ---- what does not begin ----
nodes_gone='nodes that it asks for are down, drained or reserved$'
says drained "job [0-9]+_0 waits: ReqNodeNotAvail, UnavailableNodes:n5: $nodes_gone"
says down "job [0-9]+_0 waits: ReqNodeNotAvail, UnavailableNodes:n6: $nodes_gone"
if [ -n "$others" ]; then
	says held "job [0-9]+_0 waits: ReqNodeNotAvail"
	held=$(number "$T/user/campaigns/held")
	scontrol hold "$held"
	says held "job [0-9]+_0 waits: JobHeldAdmin: an administrator holds it$"
fi
admin nodename=n5 state=resume
"$S" start "$T/cluster" n6
says brief "job [0-9]+_0 waits: PartitionTimeLimit: the partition's limit of time is lower$"
admin partitionname=brief maxtime=10
says narrow "4 jobs wait, such as [0-9]+_0: PartitionNodeLimit: the partition gives a job no such number of nodes$"
says shut "2 jobs wait, such as [0-9]+_0: PartitionDown: the partition is down$"
admin partitionname=shut state=up
kill -TERM "$pid_narrow"
if [ -n "$accounting" ]; then
	says qos "job [0-9]+_0 waits: QOSMaxWallDurationPerJobLimit: a limit of its QOS$"
	says deny 'Job violates accounting/QOS policy .*: 1 job is handed over again in 30 s$'
	sacctmgr -i modify qos tiny,strict set MaxWall=10 >/dev/null
fi
check "cancel: runs again" wait_for lines cancel 2
preempted n2
touch go-cancel

# ---- how they end ----
says prolog "attempt 1: [0-9]+_0: CANCELLED, not by this campaign: Error running slurm prolog: 1$"
says prolog "wait(s:|, such as [0-9]+_0:) ReqNodeNotAvail, UnavailableNodes:n4: $nodes_gone"
rm "$T/cluster/prolog-n4"
admin nodename=n4 state=resume
[ -z "$others" ] || scontrol release "$held"
well="requeue cancel ending ending2 prolog drained down brief shut site${accounting:+ qos deny}${modules:+ debian}${others:+ held}${torch:+ torch}${mpi:+ mpi}"
for name in $well; do ends "$name" 0; done
for name in missing timeout ${memory:+oom hog}; do ends "$name" 1; done
ends narrow 143
is "no job is left" "$(squeue -h -t R,PD,CG -o %i)" ""
"$PROFRIG" doctor --fix >/dev/null 2>&1 # of what Slurm killed
[ -z "$others" ] || is "all that jobs of another user wrote is that user's" "$(find "$T/user" ! -user "$user")" ""
for name in $well; do
	at "$name"
	case $name in
	torch | mpi) campaign_check "$name" 2 1 ;;
	requeue | cancel | prolog) campaign_check "$name" 4 1 ;;
	*) committed "$name" 4 ;;
	esac
done
for name in drained down brief shut site ${accounting:+qos deny} ${modules:+debian} ${others:+held}; do
	at "$name"
	is "$name: one attempt for each" "$(jq -r 'select(.ev=="ended")|.class' "$dir/journal.ndjson" | sort | uniq -c | xargs)" "4 ok"
done
at requeue
is "requeue: 1x was done, 1y preempted and made again" "$(attempts 'A=1 B=x') $(attempts 'A=1 B=y')" "ok infrastructure #: PREEMPTED;ok"
early='interrupted #: the job ended before it began'
is "requeue: 2x, 2y had not begun, which is no failure" "$(attempts 'A=2 B=x') $(attempts 'A=2 B=y')" "$early;ok $early;ok"
for name in ending ending2; do
	at "$name"
	is "$name: the run that the signal found ends well" "$(attempts 'A=1 B=x') $(attempts 'A=1 B=y')" "ok ok"
	is "$name: the others are of another job" "$(attempts 'A=2 B=x') $(attempts 'A=2 B=y')" "$early;ok $early;ok"
done
at cancel
is "cancel: 1y was preempted twice" "$(attempts 'A=1 B=y')" "infrastructure #: PREEMPTED;infrastructure #: PREEMPTED;ok"
is "cancel: which is no fault of its node, the one of its partition" "$(jq -r 'select(.ev=="ended" and .class=="infrastructure")|.node' "$dir/journal.ndjson" | xargs)" "n2 n2"
is "cancel: the others were done" "$(attempts 'A=1 B=x') $(attempts 'A=2 B=x') $(attempts 'A=2 B=y')" "ok ok ok"
at prolog
like "prolog: one attempt of each had failed" "$(attempts 'A=2 B=y')" '^infrastructure #: CANCELLED, not by this campaign: Error running slurm prolog: 1;ok$'
at narrow
committed narrow 0
is "narrow: its jobs are cancelled" "$(attempts 'A=1 B=x')" "interrupted #: CANCELLED (PartitionNodeLimit)"
at missing
committed missing 0
is "missing: says which module" "$(attempts 'A=2 B=y')" "infrastructure #: FAILED (NonZeroExitCode): profrig: module load site/2.0 failed"
at timeout
committed timeout 3
is "timeout: 1y has failed" "$(attempts 'A=1 B=y')" "workload #: TIMEOUT (TimeLimit)"
is "timeout: in the word of retry.on" "$(jq -r 'select(.ev=="ended" and .class=="workload")|.kind' "$dir/journal.ndjson")" timeout
is "timeout: the others were done" "$(attempts 'A=1 B=x') $(attempts 'A=2 B=x') $(attempts 'A=2 B=y')" "ok ok ok"
if [ -n "$memory" ]; then
	full='workload was killed by the kernel for lack of memory (OOM): its memory cgroup is full'
	at oom
	committed oom 3
	is "oom: 1y has failed, again as often as the file says" "$(attempts 'A=1 B=y')" "workload $full;workload $full"
	is "oom: the others were done" "$(attempts 'A=1 B=x') $(attempts 'A=2 B=x') $(attempts 'A=2 B=y')" "ok ok ok"
	at hog
	committed hog 0
	like "hog: a job that never came to its runs is the workload's" "$(attempts 'A=1 B=x')" '^workload #: OUT_OF_MEMORY \(OutOfMemory\): [^;]*oom-kill[^;]*$'
	is "hog: in the word of retry.on" "$(jq -r 'select(.ev=="ended")|.kind' "$dir/journal.ndjson" | sort | uniq -c | xargs)" "4 oom"
fi
for name in ${torch:+torch} ${mpi:+mpi}; do
	at "$name"
	sum=10
	[ "$name" = mpi ] || sum='[0, 10, 20, 30]'
	is "$name: four ranks on two nodes have the sum, in both runs" \
		"$(cat "$dir"/runs/*/steps/*workload.out "$dir"/runs/*/node-?/steps/*workload.out 2>/dev/null | grep '^rank' | sort | uniq -c | sed -E 's/^ +//')" \
		"$(for r in '0 of 4 on n7' '1 of 4 on n7' '2 of 4 on n8' '3 of 4 on n8'; do echo "2 rank $r: $sum"; done)"
	is "$name: their figure" "$(rows "SELECT DISTINCT value FROM metric WHERE name = 'performance'")" 4.5
done
