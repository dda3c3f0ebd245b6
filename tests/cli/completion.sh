#!/usr/bin/env bash
# Completion in real shells, and the manual pages: both out of the tables that the command line is parsed by.
# It runs alone: it measures a time.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$T/bin" "$T/w/m" && ln -s "$PROFRIG" "$T/bin/profrig"
export PATH=$T/bin:$PATH
cd "$T/w" || exit 1
printf 'model: {name: resnet, about: a model, command: [true]}\n' >m/profrig.yaml
profrig -q run --engine host --no-analyze -- true >"$T/run"
run_id=$(basename "$(cat "$T/run")")

# in_bash WORD…: what the shell would offer for the line
in_bash() {
	bash --norc --noprofile -c '
		eval "$(profrig completion bash)"
		[[ $(complete -p profrig) == *"-F _profrig profrig" ]] || echo not registered
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		_profrig 2>&1
		printf "%s\n" "${COMPREPLY[@]}"' bash profrig "$@" | tr '\n' ' '
}
in_fish() { fish --no-config -c 'profrig completion fish | source; complete -C "$argv"' -- "$*" | cut -f1 | tr '\n' ' '; }
# Types the line and a tab into a shell of its own, and shows what the line then is.
in_zsh() {
	zsh -f -c '
		zmodload zsh/zpty
		zpty z zsh -f -i
		zpty -w z "PS1=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; print rea\"\"dy"
		local out= chunk i
		for ((i = 0; i < 200; i++)); do zpty -r -t z chunk && out+=$chunk; [[ $out == *ready* ]] && break; sleep 0.05; done
		zpty -w -n z "print -r -- $2"$'"'\t'"'
		sleep 0.7
		zpty -w z "#end"
		out=
		for ((i = 0; i < 100; i++)); do zpty -r -t z chunk && out+=$chunk; [[ $out == *"#end"* ]] && break; sleep 0.05; done
		zpty -d z
		print -r -- "$out"' zsh "$1" "$2" 2>&1 | tr -d '\r\007' | tr '\n' ' '
}

every() { # shell, function
	local ask=$2
	like "$1: commands" "$($ask pru)" "^prune ?$"
	like "$1: options" "$($ask run --cool)" "^--cooldown ?$"
	like "$1: of this command only" "$($ask prune --o)" "^--older-than ?$"
	like "$1: tools" "$($ask run --tools blas)" "blas_trace"
	like "$1: engines" "$($ask run --engine po)" "podman"
	like "$1: models" "$($ask run resn)" "resnet"
	like "$1: runs" "$($ask report runs/2)" "runs/$run_id"
	like "$1: lists" "$($ask list warn)" "^warnings ?$"
	like "$1: a live run, then what to do with it" "$($ask ctl lat) $($ask ctl latest sta)" "^latest +start status ?$"
	like "$1: samplers" "$($ask sample --source proc)" "^procfs ?$"
	like "$1: converters" "$($ask convert --to spee)" "^speedscope ?$"
	like "$1: publishers" "$($ask publish --to infl)" "^influxdb ?$"
	like "$1: statuses" "$($ask prune --status fai)" "failed"
}
every bash in_bash
is "bash: every command" "$(in_bash '' | tr ' ' '\n' | sort | xargs)" "$(printf '\n%s' "$(profrig --help | awk '/^  [a-z]/ && NF > 1 && $1 != "profrig" {print $1}' | sort -u)" | xargs)"
is "bash: behind a comma" "$(in_bash run --tools perf,blas_t)" "perf,blas_trace "
is "bash: what stands there already is not offered" "$(in_bash run --tools blas_trace,blas)" " "
is "bash: behind an equals sign" "$(in_bash run --engine = po)" "podman "
is "bash: right behind it" "$(in_bash plan --format = '' | tr ' ' '\n' | sort | xargs)" "json sh text"
like "bash: files where files go" "$(in_bash run --config m/prof)" "m/profrig.yaml"
like "bash: folders where folders go" "$(in_bash run -o ru)" "^runs "
like "bash: a command behind --" "$(in_bash run -- m/prof)" "m/profrig.yaml"
is "bash: nothing where nobody knows" "$(in_bash run --timeout 1)" " "
touch 'm/two words.yaml'
is "bash: names with blanks stay whole" "$(in_bash run --config m/two)" "m/two words.yaml "
literal() { # what is offered at each place of every command, where it is a word that stands for others
	local c o
	for c in $(profrig __man | grep -v '^profrig'); do
		profrig __complete "$c" ''
		for o in $(profrig __complete "$c" -- | cut -f1); do profrig __complete "$c" "$o" ''; done
		profrig __complete "$c" tool ''
	done | cut -f1 | grep -E '…|^[A-Z]{2,}$|^[A-Z_]+\['
}
is "no NAME… is offered anywhere" "$(literal)" ""
is "bash: a list's tool by its name" "$(in_bash list tool blas_t)" "blas_trace "
is "bash: nothing behind a list" "$(in_bash list tools '')" " "
if command -v fish >/dev/null; then
	every fish "in_fish profrig"
else
	skip "fish" "fish is not installed"
fi
if command -v zsh >/dev/null; then
	mkdir "$T/zfun" && profrig completion zsh >"$T/zfun/_profrig"
	check "zsh: the script is one" zsh -n "$T/zfun/_profrig"
	zsh_is() {
		local got
		got=$(in_zsh "$T/zfun" "$2")
		like "zsh: $1" "$got" "$3"
	}
	# print's own words are files; what follows | is a command of its own
	zsh_is commands 'x | profrig pru' 'profrig prune'
	zsh_is options 'x | profrig run --cool' 'profrig run --cooldown'
	zsh_is tools 'x | profrig run --tools blas_t' 'blas_trace'
	zsh_is models 'x | profrig run resn' 'profrig run resnet'
	zsh_is runs 'x | profrig report runs/20' "runs/$run_id"
else
	skip "zsh" "zsh is not installed"
fi
code "a shell that there is no script for" 2 profrig completion csh
start=$(date +%s%N)
for i in 1 2 3 4 5 6 7 8 9 10; do profrig __complete run --tools '' >/dev/null; done
ms=$((($(date +%s%N) - start) / 10000000))
check "asking takes less than a tenth of a second ($ms ms)" test $ms -lt 100

# the manual
[ -d "$B/man" ] || { skip "manual pages" "make man has not been run" && exit 0; }
for c in $(profrig __man); do
	f=$B/man/profrig-$c.1
	[ "$c" != profrig ] || f=$B/man/profrig.1
	[ "$c" != profrig.yaml ] || f=$B/man/profrig.yaml.5
	profrig __man "$c" "$ROOT/docs/man/$c.man" >"$T/page"
	check "a page for $c" sh -c "test -s '$f' && grep -q '^.SH DESCRIPTION' '$T/page'"
	if command -v mandoc >/dev/null; then
		check "without a warning of mandoc" sh -c "! mandoc -Tlint -W warning '$f' | grep ."
	fi
	if command -v groff >/dev/null; then
		check "nor of groff" sh -c "[ -z \"\$(groff -man -ww -K utf8 -Tutf8 '$f' 2>&1 >/dev/null)\" ]"
	fi
	case $c in profrig*) continue ;; esac
	tr -d '\\' <"$T/page" >"$T/plain"
	is "with every option of --help" "$(profrig "$c" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u | while read -r o; do grep -qF -- "$o" "$T/plain" || echo "$o"; done)" ""
done

# what documentation says there is: every option named in it is one of a command
options=$(for c in $(profrig __man | grep -v '^profrig'); do profrig "$c" --help | grep -oE -- '--[a-z][a-z-]+'; done | sort -u)
names=$(profrig __man | grep -v '^profrig' | paste -sd '|')
missing=$(cat "$ROOT/README.md" "$ROOT"/docs/*.md "$ROOT"/docs/man/*.man | sed 's/\\-/-/g' | grep -oE "profrig ($names)[^\`|#]*" |
	sed 's/ -- .*//' | grep -oE -- ' --[a-z][a-z-]+' | tr -d ' ' | sort -u | while read -r o; do grep -qxF -- "$o" <<<"$options" || echo "$o"; done)
is "no documented option is missing" "$missing" ""
