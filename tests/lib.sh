# Sourced by test scripts (bash): TAP lines, a scratch folder, and what a test needs to find profrig.
#
#	check NAME COMMAND…		ok when the command succeeds; its output is shown when it does not
#	is NAME GOT WANT		ok when equal
#	like NAME TEXT PATTERN		ok when TEXT matches the extended regular expression
#	code NAME WANT COMMAND…	ok when the exit status is WANT; stdout in $T/out, stderr in $T/err
#	skip NAME REASON		not run here
#	wait_for COMMAND…		repeats the command until it succeeds: true, or false after two minutes, which no machine that works needs
#	beside COMMAND…			its checks run beside what follows, in a folder and a runtime directory of their own ($T): for what mostly waits
#	all_told			waits for them, and shows theirs among ours
#	commands_with TEXT		the command lines, of all processes, that have it in them; starts none, as that for each process takes seconds
#	need WORD COMMAND…		true when COMMAND works; else skips are in order, unless PROFRIG_REQUIRE names WORD: then the test fails
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${B:-build} in /*) ;; *) B=$ROOT/${B:-build} ;; esac
export B
PROFRIG=$B/profrig
T=$(mktemp -d "${TMPDIR:-/tmp}/profrig-test.XXXXXX")
TAP_N=0
export XDG_RUNTIME_DIR=$T/runtime
mkdir -p "$XDG_RUNTIME_DIR"
export PROFRIG_TOOLS_PATH=$ROOT/tools.d
. "$ROOT/tests/python.sh"
AT_END=()

at_end() { AT_END+=("$*"); }
finish() {
	local rc=$? c
	for c in "${AT_END[@]:-}"; do
		[ -z "$c" ] || eval "$c"
	done
	rm -rf "$T"
	[ $rc -eq 0 ] || echo "not ok $((TAP_N + 1)) - the script ended with status $rc"
	echo "1..$TAP_N"
}
trap finish EXIT

ok() {
	TAP_N=$((TAP_N + 1))
	echo "ok $TAP_N - $1"
}
not_ok() {
	TAP_N=$((TAP_N + 1))
	echo "not ok $TAP_N - $1"
	[ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/# /' | head -n 60
}
skip() {
	TAP_N=$((TAP_N + 1))
	echo "ok $TAP_N - $1 # SKIP $2"
}
check() {
	local name=$1
	shift
	if "$@" >"$T/check" 2>&1; then ok "$name"; else not_ok "$name" "status $? of: $*
$(cat "$T/check")"; fi
}
is() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got:  $2
want: $3"; fi
}
like() {
	if [[ $2 =~ $3 ]]; then ok "$1"; else not_ok "$1" "no match for: $3
in: $2"; fi
}
code() {
	local name=$1 want=$2 got
	shift 2
	"$@" >"$T/out" 2>"$T/err"
	got=$?
	if [ "$got" = "$want" ]; then ok "$name"; else not_ok "$name" "status $got, wanted $want, of: $*
$(tail -n 20 "$T/err")"; fi
}
wait_for() {
	local until=$((SECONDS + 120))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || { echo "# two minutes were not enough for: $*" >&2; return 1; }
		sleep 0.05
	done
}
commands_with() {
	local p words
	for p in /proc/[0-9]*; do
		words=()
		{ mapfile -d '' -t words <"$p/cmdline"; } 2>/dev/null
		case "${words[*]}" in *"$1"*) printf '%s\n' "${words[*]}" ;; esac
	done
}
need() {
	local word=$1
	shift
	"$@" >/dev/null 2>&1 && return 0
	case ,${PROFRIG_REQUIRE:-}, in *,"$word",*) not_ok "$word is required here" "failed: $*" ;; esac
	return 1
}
BESIDE=()
beside() {
	local mine=$T/beside.$((${#BESIDE[@]} + 1))
	mkdir -p "$mine/runtime"
	(
		trap - EXIT
		cd "$mine" || exit 1
		T=$mine XDG_RUNTIME_DIR=$mine/runtime
		"$@"
		exit 0
	) >"$mine.tap" 2>&1 &
	BESIDE+=("$!")
}
all_told() {
	local n line
	for n in "${!BESIDE[@]}"; do
		wait "${BESIDE[n]}" || not_ok "what runs beside ended with status $?"
		while IFS= read -r line; do
			case $line in
			"ok "*) ok "${line#* - }" ;;
			"not ok "*) not_ok "${line#* - }" ;;
			*) printf '%s\n' "$line" ;;
			esac
		done <"$T/beside.$((n + 1)).tap"
	done
	BESIDE=()
}
# field FILE EXPRESSION: a value out of a JSON file, with python-free means: profrig's own build has jansson only, so jq when there, else python3, else node
field() {
	if command -v jq >/dev/null; then
		jq -r "$2" "$1"
	else
		echo "tests need jq" >&2
		return 1
	fi
}
