#!/usr/bin/env bash
# Campaigns of 60 runs that are disturbed N times in all, here, in containers and on a Slurm, as far as these are here: make stress
#
#	SEED=17 N=100 WHERE="local docker slurm" KEEP=FOLDER tests/stress/run.sh
#
# KEEP: a folder for what each campaign said, and for the whole of those that ended badly.
. "$(dirname "$0")/../lib.sh"
engines_dir=$T/e cluster=$T/cluster
. "$ROOT/tests/engines.sh"
. "$ROOT/tests/stress/faults.sh"
for part in docker slurm; do . "$ROOT/tests/stress/$part.sh"; done
at_end engines_stop
at_end cluster_down
at_end disk_down
N=${N:-100} where=()
kinds_local="campaign worker agent all two stopped term"
kinds_slurm="campaign two term node slurmd ctld sbatch paused work preempt prolog"
for w in ${WHERE:-local docker slurm}; do
	case $w in
	local) ! disk_up || kinds_local+=" disk" ;;
	docker)
		need_engine docker && test_image docker profrig-storm:1 || { skip docker "$engines_why" && continue; }
		;;
	slurm)
		accounting=
		command -v mariadbd >/dev/null && command -v slurmdbd >/dev/null && accounting=accounting kinds_slurm+=" dbd"
		cluster_up $accounting || { skip slurm "$(tail -n 1 "$T/cluster.log")" && continue; }
		;;
	esac
	where+=("$w")
done
[ ${#where[@]} -gt 0 ] || not_ok "nowhere to run" "${WHERE:-}"
small_disk=${disk:-} first=$SEED round=0
while [ $faults_done -lt "$N" ] && [ ${#where[@]} -gt 0 ]; do
	w=${where[round % ${#where[@]}]}
	round=$((round + 1)) SEED=$((first + round)) RANDOM=$SEED
	most=$((N - faults_done < 10 ? N - faults_done : 10))
	name=$w-$round disk=
	case $w in
	local)
		disk=$small_disk
		slots=
		[ $((round % 2)) = 0 ] || slots='slots: [{env: {S: "1"}}, {env: {S: "2"}}]'
		AGAIN=exit,output campaign_file "$name" 'sleep 0.05' "$slots"
		storm "$name" $most $kinds_local
		;;
	docker)
		ENGINE=docker IMAGE=profrig-storm:1 campaign_file "$name" 'sleep 0.05'
		storm "$name" $most campaign worker agent all two container dockerd
		check "$name: no container is left" wait_for no_container
		;;
	slurm)
		campaign_file "$name" 'sleep 0.2' "$slurm_lines"
		EVENTS=$slurm_events storm "$name" $most $kinds_slurm
		slurm_check "$name"
		;;
	esac
	rm -rf "$dir"
done
disk=$small_disk
is "that many faults" "$faults_done" "$N"
