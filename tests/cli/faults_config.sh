#!/usr/bin/env bash
# Configurations of a size or depth that nobody writes by hand: read in time that grows with their size and no faster, errors still with file and line.
# Time is that of the processor, so that a busy machine does not fail the test.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
head='model: {name: x, command: [true]}'

spent() { # command…: milliseconds of processor time, to $ms; its exit status to $rc
	local TIMEFORMAT='%U %S' t
	t=$({ time "$@" >out 2>err; echo $? >rc; } 2>&1)
	rc=$(cat rc)
	ms=$(awk '{ printf "%d", ($1 + $2) * 1000 }' <<<"$t")
}
best() { # command…: the lesser of two
	local i least=
	for i in 1 2; do
		spent "$@"
		[ -n "$least" ] && [ "$least" -le "$ms" ] || least=$ms
	done
	ms=$least
}
plan() { "$PROFRIG" -q plan --engine host --config "$@"; }
linear() { # name, limit in ms for 10 000 lines, exit status, generator of lines N
	local name=$1 limit=$2 want=$3 small
	$4 10000 >a.yaml
	$4 40000 >b.yaml
	best plan a.yaml
	small=$ms
	is "$name: exit" "$rc" "$want"
	check "$name: 10 000 lines in $small ms of $limit" test "$small" -lt "$limit"
	cp err err.a
	best plan b.yaml
	check "$name: four times as many take $ms ms: no more than six times" test "$ms" -le $((6 * small + 60))
	mv err.a err
}
mounts() { echo "$head"; echo "mounts:"; seq "$1" | sed 's|.*|  - {host: /tmp, container: /m&}|'; }
words() { echo "model:"; echo "  name: x"; echo "  command:"; echo "  - 'true'"; seq "$1" | sed 's|.*|  - word&|'; }
tags() { echo "model: {name: x, command: [true]}"; echo "pre_scripts:"; seq "$1" | sed 's|.*|  - {path: /no/such/script&.sh}|'; }
comments() { echo "$head"; seq "$1" | sed 's|.*|# comment &|'; }
unknown_tools() { echo "$head"; echo "tools:"; seq "$1" | sed 's|.*|  - {name: nosuch&}|'; }
wrong() { echo "$head"; echo "mounts:"; seq "$1" | sed 's|.*|  - {host: /tmp, contaner: /m&}|'; }

linear "mounts" 250 0 mounts
linear "words of a command" 250 0 words
linear "comments" 100 0 comments
linear "a list with an error in every line" 400 3 wrong
like "a list with an error in every line: file, line and what was meant" "$(cat err)" "a.yaml:3: .*contaner.*container"
check "a list with an error in every line: not ten thousand messages" test "$(wc -l <err)" -le 1000
linear "tools that do not exist" 400 3 unknown_tools
like "tools that do not exist: file and line" "$(head -n 1 err)" "a.yaml:3: unknown tool 'nosuch1'"
tags 4000 >a.yaml
spent plan a.yaml
is "4000 scripts that do not exist" "$rc" 3
check "4000 scripts that do not exist: $ms ms" test "$ms" -lt 1000

{ mounts 10000; echo "timeuot: 5"; } >late.yaml
spent plan late.yaml
is "an error in the last of 10 000 lines" "$rc" 3
like "an error in the last of 10 000 lines: its line" "$(cat err)" "late.yaml:10003: .*timeuot"

{ echo "$head"; printf 'labels: {a: "'; head -c 1000000 /dev/zero | tr '\0' x; echo '"}'; } >long.yaml
spent plan long.yaml
is "a line of a megabyte" "$rc" 0
check "a line of a megabyte: $ms ms" test "$ms" -lt 300
{ echo "$head"; printf 'nonsense: "'; head -c 1000000 /dev/zero | tr '\0' x; echo '"'; } >long.yaml
spent plan long.yaml
is "an error in a line of a megabyte" "$rc" 3
check "an error in a line of a megabyte is reported in a line" test "$(wc -c <err)" -lt 1000
{ echo "$head"; head -c 1000000 /dev/zero | tr '\0' k; echo ': 1'; } >long.yaml
spent plan long.yaml
is "a key of a megabyte" "$rc" 3
check "a key of a megabyte is reported in a line" test "$(wc -c <err)" -lt 1000

deep() { # open, close, times
	local i
	i=$(head -c "$3" /dev/zero)
	printf '%s' "$(head -c "$3" /dev/zero | sed "s|\x00|$1|g")1$(head -c "$3" /dev/zero | sed "s|\x00|$2|g")"
} 2>/dev/null
for n in 200 5000 100000; do
	{ echo "$head"; printf 'labels: '; deep '{a: ' '}' $n; echo; } >deep.yaml
	spent plan deep.yaml
	is "YAML $n deep" "$rc" 3
	like "YAML $n deep: says so" "$(head -c 300 err)" "deep.yaml:[12]: "
	check "YAML $n deep: $ms ms" test "$ms" -lt 1000
	{ printf '{"model": '; deep '[' ']' $n; echo '}'; } >deep.json
	spent plan deep.json
	is "JSON $n deep" "$rc" 3
	check "JSON $n deep: $ms ms" test "$ms" -lt 1000
done
{ echo "a: &a [x, x, x, x, x, x, x, x, x, x]"; for l in b c d e f g h i; do echo "$l: &$l [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]" | sed "s/\*a/*$(printf %s "$l" | tr 'b-i' 'a-h')/g"; done; } >bomb.yaml
spent plan bomb.yaml
is "aliases of aliases of aliases" "$rc" 3
check "aliases of aliases of aliases: $ms ms" test "$ms" -lt 1000

mkdir many
seq 10000 | while read -r i; do printf 'name: t%s\nclass: env\nenv: {T%s: "1"}\n' "$i" "$i" >"many/t$i.yaml"; done
printf 'name: torn\nclas: env\n' >many/torn.yaml
spent "$PROFRIG" -q plan --engine host --tools-dir many --tools t77 -- true
is "10 000 tools: one of them" "$rc" 0
check "10 000 tools: $ms ms" test "$ms" -lt 2500
like "10 000 tools: it is the right one" "$(cat out)" "T77=1|T77 *= *1|T77"
spent "$PROFRIG" -q plan --engine host --tools-dir many --tools t777777 -- true
is "10 000 tools and one that is not among them" "$rc" 2
spent "$PROFRIG" -q plan --engine host --tools-dir many --tools torn -- true
is "10 000 tools and the torn one" "$rc" 3
like "10 000 tools and the torn one: file and line" "$(cat err)" "torn.yaml:[12]: "
