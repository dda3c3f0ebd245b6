#!/usr/bin/env bash
# Each command, with one thing in it that fails: an allocation, at each place of the program that asks for memory (tests/fakes/no_memory.c tells places
# apart by their call stacks), or a system call. It ends with a status of the contract and words for it, or its result is whole.
# (error_points.sh looks closer at the calls by which a run writes.) What was tried of how many is shown; of long lists it is each EVERY-th, and MOST at most
# (EVERY=1: all, which takes an hour).
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
EVERY=${EVERY:-17} MOST=${MOST:-50}
NTH_CALL=$B/tests/e2e/nth_call
FAKE=$B/tests/fakes/no_memory.so

step_for() { # EVERY ALL: so that no more than MOST are tried
	[ "$EVERY" = 1 ] || [ $(($2 / $1)) -le $MOST ] && echo "$1" || echo $((($2 + MOST - 1) / MOST))
}
# What two results have in common: no ids, no times; nothing that profrig removes at the end of a run, which stays where that fails; not which file of a report is named, and a tool whose needs cannot be looked at does not work.
plain() { sed -E 's/[0-9]{8}T[0-9]{6}Z-[A-Za-z_]+-[0-9a-f]{6}/ID/g; s/ [0-9.]+ (µ|m)?s / TIME /g; s/[0-9.]+ (µ|m)?J/ENERGY/g; s/ +/ /g; s,/tmp/profrig-test[^/]*/,,g; s,(^|/)(analysis|o)/(tables|report.html|analysis.json)$,\1\2,; s/ (yes|no) / WORKS /' "$@" 2>/dev/null; }
keys() { jq -r 'paths | map(if type == "number" then "n" else . end) | join(".")' "$1" 2>/dev/null | sort -u; }
result() { # what a whole one looks like
	[ -d runs ] || plain out
	(cd o 2>/dev/null && find . -type f | sort && cat tables/*.csv)
	(cd runs/2* 2>/dev/null && find . -type f ! -path './analysis/folded/*' ! -path './analysis/tables/*' ! -path './.*' ! -path ./marks ! -path ./record.flag | sort)
	for f in runs/2*/run.json runs/2*/plan.json o/analysis.json; do
		[ ! -e "$f" ] || keys "$f"
	done
	[ ! -e o.json ] || md5sum <o.json
}
# judge STATUS WORDS: what is wrong with how it ended
judge() {
	local d
	case $1 in
	# a list may show what it could not look at in its place
	0) diff <(result) whole >differs || grep -qE 'BROKEN|≥' out || grep -qE 'profrig: (warning|error): ' err || head -n 5 differs | sed 's/^/status 0, but not whole: /' ;;
	1 | 2 | 3 | 4 | 5 | 6 | 7) grep -qiE "$2" err || echo "status $1 without words: $(tail -n 2 err)" ;;
	*) echo "status $1: $(tail -n 2 err)" ;;
	esac
	for d in runs/2*; do
		[ ! -d "$d" ] || "$PROFRIG" -q report "$d" >check 2>&1 || echo "report of what is left: $(cat check)"
	done
}
afresh() {
	rm -rf o o.json runs hit
	: >err
}

# --- memory ---

lacking() { # STAYS PLACE COMMAND…: what is wrong when no memory is found there
	local stays=$1 place=$2
	shift 2
	afresh
	env $stays LD_PRELOAD="$FAKE" NO_MEMORY_AT="$place" NO_MEMORY_HIT="$T/hit" timeout -s KILL 60 "$PROFRIG" "$@" >out 2>err </dev/null
	set -- $?
	[ -e hit ] || return 1
	judge "$1" memory
}
# memory NAME EVERY-TH COMMAND…
memory() {
	local name=$1 every=$2 tried=0 bad= all why place stays
	shift 2
	afresh
	rm -f list
	LD_PRELOAD=$FAKE NO_MEMORY_LIST=$T/list "$PROFRIG" "$@" >out 2>err </dev/null
	result >whole
	all=$(wc -l <list)
	every=$(step_for "$every" "$all")
	for place in $(awk -v e="$every" 'NR % e == 0' list); do
		for stays in "" NO_MEMORY_STAYS=1; do
			why=$(lacking "$stays" "$place" "$@") || continue
			tried=$((tried + 1))
			[ -z "$why" ] || bad="$bad
$stays $why, at
$(cat hit)"
		done
	done
	is "$name: without memory, an error or the whole result" "$bad" ""
	check "$name: $tried times at $((all / every)) of $all places" test "$tried" -ge $((all / every)) -a "$all" -gt 20
}

# --- system calls ---

error_of() { # CALL: how it may well fail; nothing: it does not, or not by what a machine lacks
	case $1 in
	*stat* | read | pread64 | lseek | fsync | fdatasync | getdents64 | rename* | renameat* | readlink* | symlink* | ftruncate | fallocate | copy_file_range | chmod | fchmod*) echo EIO ;;
	write | pwrite64 | mkdir*) echo ENOSPC ;;
	open | openat | openat2 | socket | pipe2 | eventfd2 | timerfd_create | pidfd_open | epoll_create1 | dup*) echo EMFILE ;;
	mmap | mremap) echo ENOMEM ;;
	clone | clone3 | vfork) echo EAGAIN ;;
	access | faccessat* | unlink* | getcwd | ioctl | flock | bind | listen | prctl | prlimit64 | sysinfo | getrandom | sched_getaffinity | statfs | fstatfs) echo EACCES ;;
	esac
}
# calls NAME EVERY-TH COMMAND…
calls() {
	local name=$1 every=$2 tried=0 bad= all=0 at=0 why call error first last n rc
	shift 2
	strace -o calls "$PROFRIG" --version >/dev/null
	awk -F'(' '{ n[$1]++ } END { for (c in n) print c, n[c] }' calls >at_start
	afresh
	strace -o calls "$PROFRIG" "$@" >out 2>err </dev/null
	result >whole
	awk -F'(' 'FNR == NR { first[$1] = $2 } FNR != NR { n[$1]++ } END { for (c in n) print c, first[c] + 0, n[c] }' FS=' ' at_start FS='(' calls |
		while read -r call first last; do
			error=$(error_of "$call")
			[ -z "$error" ] || [ "$first" -ge "$last" ] || echo "$call $error $first $last"
		done | sort >counts
	all=$(awk '{ n += $4 - $3 } END { print n }' counts)
	every=$(step_for "$every" "$all")
	while read -r call error first last; do
		for ((n = first + 1; n <= last; n++)); do
			at=$((at + 1))
			[ $((at % every)) = 0 ] || continue
			afresh
			timeout -s KILL 60 "$NTH_CALL" "$call" "$n" "error=$error" calls "$PROFRIG" "$@" >out 2>err </dev/null
			rc=$?
			[ $rc != 125 ] || bad="$bad
$call: $(cat err)"
			grep -q INJECTED calls || continue
			tried=$((tried + 1))
			why=$(judge $rc 'profrig: (error|warning): |^ *(partial|note|warning) |^(failed|timeout|partial)  .*: .')
			[ -z "$why" ] || bad="$bad
$why, at $n of $last $(grep -h INJECTED calls | cut -c1-150)"
		done
	done <counts
	is "$name: a call fails, an error or the whole result" "$bad" ""
	check "$name: $tried of $all calls failed" test "$tried" -ge $((all / every / 2)) -a "$all" -gt 10
}

cat >t.json <<'J'
{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":10,"name":"f"},{"ph":"B","pid":1,"tid":1,"ts":2,"name":"g","args":{"a":"b"}},
{"ph":"E","pid":1,"tid":1,"ts":5},{"ph":"C","pid":1,"ts":1,"name":"c","args":{"v":3}}]}
J
tools="--engine host --tools-dir $ROOT/tests/fixtures/tools --tools A,cpu_usage"
first=$("$PROFRIG" -q run -o r $tools -- sh -c 'sleep 0.25; echo performance: 3 it/s') || not_ok "a first run" "$first"
few() { [ "$EVERY" -gt "$1" ] && echo "$1" || echo "$EVERY"; }
each() { # memory or calls
	"$1" plan "$(few 5)" plan $tools -- sh -c 'echo performance: 3 it/s'
	"$1" "list tools" "$EVERY" list tools
	"$1" "list runs" "$(few 2)" list runs -o r
	"$1" prune "$(few 2)" prune r --older-than 1d --dry-run
	"$1" info "$(few 3)" info t.json
	"$1" convert "$(few 3)" convert t.json -o o.json
	"$1" analyze "$EVERY" analyze t.json "$first" -o o --threads 1
	"$1" report "$EVERY" report "$first"
	"$1" run "$EVERY" run -o runs $tools -- sh -c 'sleep 0.05; echo performance: 3 it/s'
}
if [[ -z ${ASAN_OPTIONS:-} ]] && LD_PRELOAD=$FAKE "$PROFRIG" --version >/dev/null 2>&1; then
	each memory
else
	skip "without memory" "profrig cannot be preloaded here"
fi
if need strace strace -o /dev/null true && need strace "$NTH_CALL" write 1 error=EIO "$T/calls" true; then
	each calls
else
	skip "calls that fail" "strace cannot trace here"
fi
