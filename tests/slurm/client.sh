#!/usr/bin/env bash
# The campaign's Slurm client against a real Slurm on this machine (tests/slurm/starter): arrays, packing, several nodes, dead nodes, and a controller
# that dies, hangs, forgets or is full. The program on the nodes is a stand-in that makes run directories as `campaign work` does.
# runs alone: nodes are missed, and calls time out, by the clock
. "$(dirname "$0")/../lib.sh"
if ! need slurm sh -c 'PATH=$PATH:/usr/sbin:/sbin; command -v slurmctld && command -v slurmd && command -v sbatch && command -v munged'; then
	skip "a real Slurm" "no Slurm here: slurmctld slurmd slurm-client munge"
	exit
fi
S=$ROOT/tests/slurm/starter
DRIVE=$B/tests/slurm/drive
one=$T/one
at_end 'kill $(jobs -p) 2>/dev/null; "$S" down "$one" 2>/dev/null; "$S" down "$T/beside.1/two" 2>/dev/null'
export HF_TOKEN=hf_very_secret LC_ALL=C.UTF-8

# A campaign's folder. What runs says so in `ran`, once for each attempt; `seconds` is how long an attempt takes.
folder() { # NAME [SECONDS]
	mkdir -p "$T/$1/runs"
	echo "${2:-0.2}" >"$T/$1/seconds"
	cat >"$T/$1/profrig" <<-'WORK'
		#!/bin/bash
		# campaign work DIR --attempts A,B [--node K --nodes N]
		dir=$3 list=$5 sub=
		[ -z "${7:-}" ] || sub=/node-$7
		drain=
		trap 'drain=1' USR1 TERM
		for a in ${list//,/ }; do
			[ -z "$drain" ] || break
			mkdir -p "$dir/runs/$a" && mkdir "$dir/runs/$a/${sub:-/x}" 2>/dev/null || continue
			echo "$a$sub $SLURMD_NODENAME gpus=${CUDA_VISIBLE_DEVICES:-} ${MASTER_PORT:-} ${NNODES:-} ${NPROC_PER_NODE:-} ${NODE_RANK:-} ${HF_TOKEN:-none} ${LC_ALL:-}" >>"$dir/ran"
			sleep "$(cat "$dir/seconds")"
			echo '{"schema":"profrig.run/1","status":"success"}' >"$dir/runs/$a$sub/.new"
			mv "$dir/runs/$a$sub/.new" "$dir/runs/$a$sub/run.json"
		done
	WORK
	chmod +x "$T/$1/profrig"
	mkfifo "$T/$1/words"
}
# Starts it with settings in YAML: poll, lost times are short, except where a test is about them.
begin() { # NAME SETTINGS [LOST_AFTER]
	echo "${2:-{\}}" >"$T/$1.yaml"
	"$DRIVE" "$T/$1" 0.5 2 "${3:-6}" "$T/$1.yaml" <"$T/$1/words" >"$T/$1/out" 2>"$T/$1/err" &
	eval "pid_$1=$!"
	eval "exec {words_$1}>'$T/$1/words'"
	# It has asked the controller: what befalls that one comes later.
	wait_for saw "$1" '^max '
}
tell() { # NAME WORDS…
	local fd=words_$1
	shift
	echo "$*" >&"${!fd}"
}
saw() { grep -qsE "$2" "$T/$1/out"; }
sees() { # TEST NAME PATTERN [SECONDS]
	local end=$((SECONDS + ${4:-90}))
	until saw "$2" "$3"; do
		if [ $SECONDS -ge $end ] || [ -s "$T/$2/err" ]; then
			not_ok "$1" "no '$3' in $(tail -n 40 "$T/$2/out") $(cat "$T/$2/err")"
			return 1
		fi
		sleep 0.1
	done
	ok "$1"
}
over() { # TEST NAME: all jobs have ended
	local fd=words_$2 pid=pid_$2
	echo end >&"${!fd}"
	eval "exec {words_$2}>&-"
	check "$1" timeout 120 tail --pid="${!pid}" -f /dev/null
}
times_ran() { sort "$T/$1/ran" 2>/dev/null | cut -d' ' -f1 | uniq -c | awk '{ print $1 }' | sort -u | tr '\n' ' '; }
last_of() { grep -E "^[0-9.]+ $2 " "$T/$1/out" | tail -n 1 | cut -d' ' -f2-; }

# ---- no accounting, a short memory, a small table ----
small_cluster() {
	check "a cluster without accounting starts" "$S" up "$T/two" nodes=2 MinJobAge=3 MaxJobCount=12 MaxArraySize=11
	eval "$("$S" env "$T/two")"
	folder short
	begin short '{cpus: 1, command_timeout: 5}' 25
	tell short submit m1 12 1
	sees "more jobs than an array may have" short "error: submission m1 has 12 jobs; an array of this cluster has at most 11 \(MaxArraySize\)"
	tell short submit m2 11 1
	sees "as many as it may have" short "m2/10 ended ok"
	over "end well" short
	folder gone
	begin gone '{cpus: 1}' 20
	printf '#!/bin/bash\nexit 0\n' >"$T/gone/profrig"
	tell gone submit g1 1 1
	over "a job that Slurm forgets" gone
	like "and that has no record is lost" "$(last_of gone g1/0)" "^g1/0 lost infrastructure [0-9]+_0 .*left no record within 20 s"
	folder full 1000
	begin full '{cpus: 4, command_timeout: 5}'
	tell full submit f1 11 1
	sees "the job table fills" full "f1/10 pending - [0-9]+_10"
	tell full submit f2 11 1
	sees "sbatch hangs and is ended" full "f2/0 submitting - - - - \[sbatch gave no answer in 5 s: .*temporarily unable to accept job" 60
	sees "and may be tried again" full "f2/0 refused - - - - later \[not queued, as two look-ups by name say" 60
	tell full cancel f1
	over "once there is room" full
	"$S" down "$T/two"
}
beside small_cluster

accounting=
command -v mariadbd >/dev/null && command -v slurmdbd >/dev/null && accounting=accounting
check "a cluster of three nodes starts" "$S" up "$one" $accounting
eval "$("$S" env "$one")"

# ---- an array, packed ----
folder array
begin array '{pack: 3, cpus: 1, gpus_per_node: 1}'
tell array submit x7 8 3
over "an array of 8 ends" array
is "each of its 24 attempts ran once" "$(wc -l <"$T/array/ran") $(times_ran array)" "24 1 "
is "and each job has ended well" "$(grep -c ' ended ok ' "$T/array/out")" 8
like "it has a GPU" "$(head -n 1 "$T/array/ran")" "gpus=[01] "
like "no secret, and the caller's locale" "$(head -n 1 "$T/array/ran")" " none C.UTF-8$"
check "the jobs have written nothing to their logs" test -z "$(cat "$T"/array/logs/*)"
like "the counts are clean" "$(tail -n 1 "$T/array/out")" "failed=0 timeouts=0 odd=0 strays=0 lookups=0"
like "Slurm knows the campaign" "$(squeue -h -t all -n pr-x7 -o '%k' | sort -u)" "^profrig campaign drive$"

# ---- several nodes ----
folder nodes
begin nodes '{nodes: 2, launcher: torchrun, nproc_per_node: 2, gpus_per_node: 1}'
tell nodes submit y8 1 2
over "a job of two nodes ends" nodes
is "a profrig on each node for each attempt" "$(sort "$T/nodes/ran" | sed -E 's/ n([0-9]) gpus=[01] / N /' | cut -d' ' -f1,2,4-6 | tr '\n' ';')" \
	"y8-0.1/node-0 N 2 2 0;y8-0.1/node-1 N 2 2 1;y8-0.2/node-0 N 2 2 0;y8-0.2/node-1 N 2 2 1;"
is "on two different nodes" "$(grep y8-0.1 "$T/nodes/ran" | cut -d' ' -f2 | sort -u | wc -l)" 2
like "and both records make it end well" "$(last_of nodes y8/0)" "^y8/0 ended ok [0-9]+_0 n\[?[0-9]"
folder mpi
begin mpi '{nodes: 2, launcher: mpirun, nproc_per_node: 2}'
tell mpi submit z9 1 1
over "a job for mpirun ends" mpi
like "it has one profrig, and knows nodes and processes" "$(cat "$T/mpi/ran")" "^z9-0.1 n[0-9] gpus= [0-9]+ 2 2 0 none C.UTF-8$"

# ---- cancelling; what cannot start; what is refused ----
folder cancel 600
begin cancel '{cpus: 4}'
tell cancel submit c1 5 1
sees "three of five jobs run" cancel "c1/[0-4] running" && sleep 2
tell cancel cancel c1 4
sees "one that waits is cancelled" cancel "c1/4 ended cancelled [0-9]+_4 - CANCELLED"
sleep 1.5
like "the other one that waits is not" "$(last_of cancel c1/3)" "^c1/3 pending - [0-9]+_3 - PENDING"
check "the site cannot requeue what has begun" sh -c '! scontrol requeue "$(squeue -h -n pr-c1 -t R -o %A | head -n 1)"'
tell cancel cancel c1
over "then all" cancel
is "as ours" "$(grep -c 'ended cancelled' "$T/cancel/out")" 5
is "and nothing of it is left" "$(squeue -h -t R,PD -n pr-c1)" ""
folder stuck
begin stuck '{nodes: 9}'
tell stuck submit s1 1 1
sees "a job that can never start says why" stuck "s1/0 pending - [0-9]+_0 - PENDING stuck \[Partition"
tell stuck cancel s1
over "and can be cancelled" stuck
folder refused
begin refused '{partition: nope}'
tell refused submit r1 1 1
sees "a partition that is not there is refused" refused "r1/0 refused - - - - \[sbatch: error: Batch job submission failed: Invalid partition name"
over "which ends it" refused

# ---- the controller ----
folder killed
begin killed '{}'
tell killed submit k1 4 1
sees "sbatch has printed a number" killed "k1/3 pending - [0-9]+_3"
"$S" signal "$one" ctld KILL && "$S" start "$one" ctld
tell killed submit k2 4 1
over "the controller is killed at once, and both submissions come to an end" killed
is "no attempt ran twice" "$(times_ran killed)" "1 "
ended=$(grep -cE 'k[12]/. ended ok' "$T/killed/out") lost=$(grep -cE 'k[12]/. (lost|ended) infrastructure' "$T/killed/out")
is "each job has run, or is known to be lost" "$((ended + lost))" 8
is "and those that ran are those that ended well" "$(wc -l <"$T/killed/ran")" "$ended"
# The controller gives numbers again that nodes have seen: these refuse such a job, which then ends as CANCELLED though no scancel was sent. What follows is about other things.
for ((i = 0; i < 30; i++)); do sbatch --hold -J spent -o /dev/null --wrap true >/dev/null; done
scancel --name=spent

folder paused
begin paused '{command_timeout: 4}'
"$S" signal "$one" ctld STOP
tell paused submit p1 3 1
sees "sbatch gets no answer" paused "p1/0 submitting - - - - \[sbatch gave no answer in 4 s"
"$S" signal "$one" ctld CONT
over "the submission is found by its name, or was none" paused
if saw paused 'p1/0 ended ok'; then
	is "and each attempt ran once" "$(wc -l <"$T/paused/ran") $(times_ran paused)" "3 1 "
else
	like "and may be submitted again" "$(last_of paused p1/0)" "refused - - - - later \[not queued"
fi

# sbatch gives up by itself, and the controller has its request all the same
folder asleep
begin asleep '{command_timeout: 60}' 20
"$S" signal "$one" ctld STOP
tell asleep submit a1 3 1
sees "sbatch says that its socket timed out" asleep "a1/0 submitting - - - - \[sbatch: error: Batch job submission failed: Socket timed out" 120
"$S" signal "$one" ctld CONT
sees "it was queued all the same, and is found by its name" asleep "a1/2 ended ok"
over "all of it" asleep
is "nothing ran twice" "$(wc -l <"$T/asleep/ran") $(times_ran asleep)" "3 1 "

folder stopped 8
begin stopped '{command_timeout: 5}'
tell stopped submit t1 2 1
sees "jobs run" stopped "t1/1 running"
"$S" signal "$one" ctld TERM
sees "the controller is away, which is said" stopped "trouble: squeue (failed|gave no answer)" 60
sees "the jobs end all the same, as their records say" stopped "t1/1 ended ok" 60
"$S" start "$one" ctld
over "and that is all" stopped

# ---- a node dies ----
all_there() { # or says what is the matter
	wait_for sh -c '[ "$(sinfo -h -p main -t idle -o %D)" = 3 ]' || { sinfo -N -l; squeue; tail -n 20 "$one"/logs/ctld "$one"/logs/n?; false; }
}
check "all nodes are there" all_there
folder node 1000
begin node '{nodelist: [n2], cpus: 1, pack: 2}' 4
tell node submit n1 2 2
sees "jobs run on a node" node "n1/1 running - [0-9]+_1 n2"
sleep 1
"$S" crash "$one" n2
sees "which dies: infrastructure" node "n1/0 ended infrastructure [0-9]+_0 n2 NODE_FAIL" 120
sees "both jobs" node "n1/1 ended infrastructure [0-9]+_1 n2 NODE_FAIL"
"$S" start "$one" n2
over "that is all" node
is "each job had begun its first attempt, and nothing began since" "$(sort "$T/node/ran" | cut -d' ' -f1 | tr '\n' ' ')" "n1-0.1 n1-1.1 "
folder after 1
begin after '{cpus: 4}'
tell after blame n2
tell after blame n2
tell after submit b1 4 1
check "no other node is missing" sh -c '[ "$(sinfo -h -N -p main -n n1,n3 -t idle -o %N | wc -l)" = 2 ] || { sinfo -N -l; squeue; false; }'
over "with a node left out" after
is "every job ends well, and none comes to it" "$(grep -c 'ended ok' "$T/after/out") $(grep -c ' n2 ' "$T/after/ran")" "4 0"

# The killed controller may have forgotten what was cancelled a minute before.
is "what was cancelled has not begun since" "$(wc -l <"$T/cancel/ran")" 3

# ---- another process takes over ----
folder over 3
begin over '{cpus: 1}'
tell over submit o1 3 1
sees "a process has submitted" over "o1/2 (pending|running) - [0-9]+_2"
tell over quit
wait "$pid_over"
eval "exec {words_over}>&-"
begin over '{cpus: 1}'
tell over adopt o1 3 1 announced
tell over adopt o2 1 1 announced
tell over adopt o3 1 1 known
over "the next one knows only that it was going to" over
is "it finds the jobs" "$(grep -c 'o1/. ended ok' "$T/over/out")" 3
like "and that one was never queued" "$(last_of over o2/0)" "^o2/0 refused - - - - later \[not queued"
like "and one is lost" "$(last_of over o3/0)" "^o3/0 lost infrastructure - - - \[was never seen"
is "each attempt ran once" "$(wc -l <"$T/over/ran") $(times_ran over)" "3 1 "

# ---- accounting ----
if [ -n "$accounting" ]; then
	folder acct 8
	begin acct '{cpus: 1}' 20
	tell acct submit d1 2 1
	sees "jobs run" acct "d1/1 running"
	"$S" signal "$one" dbd KILL
	over "without the accounting daemon they end as well" acct
	is "all of them" "$(grep -c 'ended ok' "$T/acct/out")" 2
fi
"$S" down "$one"
all_told
