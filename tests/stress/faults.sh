# Sourced by bash, behind tests/lib.sh: campaigns that are disturbed while they run, and what must hold of them afterwards.
#
#	campaign_file NAME COMMAND [LINES]	60 runs: twelve cells, five times; ENGINE, IMAGE, AGAIN (failures of the workload that are tried again)
#	storm NAME FAULTS KIND…			runs it, does FAULTS of these kinds to it, each in turn, at random moments, goes on until all is done, and checks it
#	SEED					what is random; shown, and to be given again
#
#	campaign_check NAME CELLS REPEATS	what must hold of any campaign that has ended, in `dir`
#
# A kind is a function fault_KIND, which returns when the fault is over, or goes on to be a fault: then undo_KIND ends it. It may say
# in $excused that the campaign may end with a failure because of it. `pid` is the campaign's process, `dir` its folder.
SEED=${SEED:-$((RANDOM % 10000))}
RANDOM=$SEED
echo "# SEED=$SEED"
mark=profrig-storm-$$
faults_done=0
EVENTS=165 # of a journal that has seen 60 runs, less some

campaign_file() { # NAME COMMAND [LINES]
	cat >"$T/$1.yaml" <<-FILE
		name: $1
		models: [{name: m${IMAGE:+, image: $IMAGE}, command: [/bin/sh, -c, ': $mark; $2; echo performance: 1.5 s/s']}]
		engine: ${ENGINE:-host}
		axes: {env.A: ["1", "2"], env.B: [x, y, z], env.C: ["1", "2"]}
		repeat: 5
		gate: []
		analyze: false
		disk: {min_free: 0, warn_free: 0}
		seed: $SEED
		retry: {infrastructure: 8${AGAIN:+, on: [$AGAIN], workload: 8}}
		${3:-}
	FILE
}

# ---- processes ----
pid=
at_end '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null'
# The children of a process, whichever of its threads started them.
children() { cat /proc/"$1"/task/*/children 2>/dev/null; }
alive() { kill -0 "$pid" 2>/dev/null; }
events() { { wc -l <"$dir/journal.ndjson" || echo 0; } 2>/dev/null; }
note() { echo "$(date +%T.%3N) $*" >>"$log"; }
pause() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; } # MS

# A process in a session of its own, as Ctrl-C and kills are for it alone.
begin() { # WORDS OF campaign
	note "campaign $*: $(events) events"
	setsid "$PROFRIG" campaign "$@" >>"$log" 2>&1 </dev/null &
	pid=$!
}

# ---- faults on every campaign ----
fault_campaign() {
	excused=1
	kill -KILL "$pid"
}
# Everything at once, as when the machine loses power and this one continues.
fault_all() {
	excused=1
	local p q
	for p in $(children "$pid"); do
		for q in $(children "$p"); do kill -KILL "$q"; done
		kill -KILL "$p"
	done
	kill -KILL "$pid"
} 2>/dev/null
# Two go on at once: one of them works, the other one is refused.
fault_two() {
	excused=1
	kill -KILL "$pid"
	{ wait "$pid"; } 2>/dev/null
	setsid "$PROFRIG" campaign resume "$dir" >>"$log" 2>&1 </dev/null &
	second=$!
	begin resume "$dir"
}
undo_two() {
	# the one that was refused has ended, or will; the other one is the campaign's
	excused=
	wait_for one_is_left
	alive || pid=$second
}
one_is_left() { ! alive || ! kill -0 "$second"; }
fault_term() {
	excused=1
	kill -TERM "$pid"
}
fault_stopped() {
	kill -STOP "$pid"
	pause $((RANDOM % 700))
	kill -CONT "$pid"
}
# ---- on this machine ----
fault_worker() {
	local p
	for p in $(children "$pid"); do kill -KILL "$p"; done
} 2>/dev/null
# profrig-init, on the host or in a container.
fault_agent() {
	local p words
	for p in /proc/[0-9]*; do
		words=()
		{ mapfile -d '' -t words <"$p/cmdline"; } 2>/dev/null
		[ "${words[1]:-}" = --run ] && [ -d "$dir/runs/${words[2]%-*}" ] && kill -KILL "${p#/proc/}"
	done
} 2>/dev/null
# Needs a file system that can be filled: disk=FOLDER, where the campaigns are. A workload that finds it full fails, and when there is room again nothing
# shows why: AGAIN=exit,output.
fault_disk() {
	excused=1
	cat /dev/zero >"$disk/filler" 2>/dev/null
	pause $((200 + RANDOM % 1500))
	rm "$disk/filler"
}

# ---- the storm ----
# Some events of the journal later, so that all faults come before its end, and at any moment behind one. False: the campaign's process has ended.
moment() { # FAULTS LEFT
	local now until
	now=$(events)
	until=$((now + RANDOM % (now < EVENTS ? 2 * (EVENTS - now) / ($1 + 1) + 1 : 1)))
	[ $((RANDOM % 4)) -ne 0 ] || until=0
	while [ "$(events)" -lt $until ]; do
		alive || return 1
		sleep 0.03
	done
	pause $((RANDOM % 300))
	alive
}
shuffled() { printf '%s\n' "$@" | awk -v seed=$RANDOM 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort | cut -f2; }

begun() { [ -s "$dir/journal.ndjson" ] || ! alive; }
# Goes on with what has ended, until it has ended well. $odd: statuses that nothing explains.
run_on() {
	local rc
	{ wait "$pid"; } 2>/dev/null
	rc=$?
	note "status $rc${excused:+, excused}"
	[ -n "$excused" ] || [ $rc -eq 0 ] || odd+=" $rc"
	excused=
	[ $rc -ne 0 ] || return 1
	tries=$((tries + 1))
	[ $tries -lt 60 ] || { odd+=" endless" && return 1; }
	# a failure that stays one is not tried again and again
	[ -s "$dir/journal.ndjson" ] && [ $rc -ne 1 ] || { odd+=" failed" && return 1; }
	begin resume "$dir"
}
storm() { # NAME FAULTS KIND…
	local name=$1 all=$2 left=$2 todo=() kind excused='' odd='' tries=0 start=$SECONDS
	shift 2
	dir=${disk:-$T}/campaigns/$name log=$T/$name.log
	begin run -o "${disk:-$T}/campaigns" "$T/$name.yaml"
	wait_for begun || return 1
	while :; do
		if [ "$left" -gt 0 ] && moment "$left"; then
			[ ${#todo[@]} -gt 0 ] || mapfile -t todo < <(shuffled "$@")
			kind=${todo[0]} todo=("${todo[@]:1}") left=$((left - 1))
			faults_done=$((faults_done + 1))
			note "fault: $kind"
			"fault_$kind"
			! declare -F "undo_$kind" >/dev/null || "undo_$kind"
			sleep 0.05
		fi
		if ! alive || [ "$left" -eq 0 ]; then
			run_on || break
		fi
	done 2>>"$log"
	echo "# $name: $((all - left)) faults, $((tries + 1)) processes, $((SECONDS - start)) s"
	storm_check "$name" "$odd"
}

# ---- what must hold ----
results_name_runs() { # every file in results/ names a run directory that ended well
	local f a n
	for f in "$dir"/results/*; do
		a=$(cat "$f")
		[ "${a%.*}" = "${f##*/}" ] || { echo "$f names $a" && return 1; }
		for n in "$dir/runs/$a"/run.json "$dir/runs/$a"/node-*/run.json; do
			[ ! -f "$n" ] || [ "$(jq -r .status "$n")" = success ] || { echo "$n: $(jq -c '[.status,.reason]' "$n")" && return 1; }
		done
		[ -f "$dir/runs/$a/run.json" ] || [ -f "$dir/runs/$a/node-0/run.json" ] || { echo "$a has no run.json" && return 1; }
	done
}
# Attempts that ended well and do not count, by their folders, and as the store has them.
superseded_there() {
	local d n a
	for d in "$dir"/runs/*; do
		n=$d/run.json a=${d##*/}
		[ -f "$n" ] || n=$d/node-0/run.json
		[ -f "$n" ] && [ "$(jq -r .status "$n")" = success ] && [ "$(cat "$dir/results/${a%.*}")" != "$a" ] && echo "$a"
	done
}
superseded_listed() {
	rows "SELECT id FROM attempt WHERE state = 'superseded' ORDER BY id"
}
rows() { "$PROFRIG" campaign query "$dir" "$1" --format csv 2>/dev/null | tr -d '\r' | tail -n +2; }
export_same() { # the store that grew, and one made anew
	"$PROFRIG" campaign export "$dir" -o "$T/grown.csv" && "$PROFRIG" campaign rebuild "$dir" && "$PROFRIG" campaign export "$dir" -o "$T/anew.csv" &&
		cmp "$T/grown.csv" "$T/anew.csv"
}
nothing_left() {
	local left
	left=$(commands_with "$mark" && commands_with "campaign work $dir")
	[ -z "$left" ] || { echo "$left" && return 1; }
}
campaign_check() { # NAME CELLS REPEATS
	local name=$1 runs=$(($2 * $3))
	is "$name: status" "$("$PROFRIG" campaign status --json "$dir" | jq -c '[.cells,.runs,.committed,.running,.failed,.left,.live]')" "[$2,$runs,$runs,0,0,0,false]"
	is "$name: $runs results, and nothing else" "$(ls -A "$dir/results" | grep -cE "^[0-9a-f]{12}-[1-$3]$") $(ls -A "$dir/results" | wc -l)" "$runs $runs"
	check "$name: each names a run that ended well" results_name_runs
	is "$name: the journal commits each run once" "$(jq -r 'select(.ev=="committed")|.run' "$dir/journal.ndjson" | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | xargs)" "$runs 1"
	is "$name: it begins no attempt twice" "$(jq -r 'select(.ev=="intend")|"\(.run).\(.attempt)"' "$dir/journal.ndjson" | sort | uniq -d)" ""
	is "$name: superseded attempts are listed" "$(superseded_listed | sort | xargs)" "$(superseded_there | sort | xargs)"
	is "$name: status counts them" "$("$PROFRIG" campaign status --json "$dir" | jq .superseded)" "$(superseded_there | wc -l)"
	is "$name: each has its figure in the store, once" "$(rows "SELECT count(*) || ' ' || count(DISTINCT a.run) FROM attempt a JOIN metric m ON m.attempt = a.id
		WHERE a.committed AND m.name = 'performance'")" "$runs $runs"
	check "$name: the store made anew exports the same" export_same
	check "$name: no process is left" wait_for nothing_left
	is "$name: none is registered" "$(ls -A "$XDG_RUNTIME_DIR/profrig" 2>/dev/null)" ""
}
fails=0
eval "lib_$(declare -f not_ok)"
not_ok() {
	fails=$((fails + 1))
	lib_not_ok "$@"
}
storm_check() { # NAME ODD
	local before=$fails
	# what a killed job left is for the next profrig on its node
	! grep -q '^scheduler: slurm' "$T/$1.yaml" || "$PROFRIG" doctor --fix >>"$log" 2>&1
	is "$1: it ends well, and no process of it ended for another reason" "$2" ""
	campaign_check "$1" 12 5
	[ $fails = $before ] || grep -v ': done in' "$log" | cut -c1-240 | tail -n 80 | sed 's/^/# /'
	[ -n "${KEEP:-}" ] || return 0
	cp "$log" "$KEEP/$1.$SEED.log"
	[ $fails = $before ] || cp -r "$dir" "$T/grown.csv" "$T/anew.csv" "$KEEP"
}

# ---- a small disk, for fault_disk ----
disk_up() { # true when there is one
	[ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /mnt 2>/dev/null || return 1
	mkdir "$T/disk" && mount -t tmpfs -o size=64m none "$T/disk" && disk=$T/disk
}
disk_down() { [ -z "${disk:-}" ] || umount -l "$disk"; }
