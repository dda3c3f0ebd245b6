#!/usr/bin/env bash
# Commit and state of the model's repository, of every kind of repository there is; and nothing that a repository names is ever run, for it may be
# another's, or the workload may have written it.
. "$(dirname "$0")/../lib.sh"
command -v git >/dev/null || { skip "facts of a repository" "git is not installed"; exit 0; }
cd "$T" || exit 1
export GIT_CONFIG_GLOBAL=$T/gitconfig GIT_CONFIG_NOSYSTEM=1
git config --file gitconfig user.name t
git config --file gitconfig user.email t@example.org
git config --file gitconfig protocol.file.allow always
make_repo() { # folder, more for init
	local at=$1
	shift
	git init -q "$@" "$at" && echo a >"$at/f" && mkdir "$at/sub" && echo b >"$at/sub/g" && git -C "$at" add . && git -C "$at" commit -qm one
}
run_in() { rm -rf "$T/runs" && (cd "$1" && "$PROFRIG" -q run --no-analyze -o "$T/runs" --engine host -- true >"$T/out" 2>"$T/err") && field "$T"/runs/2*/run.json '"\(.git.commit) \(.git.dirty)"'; }
is_at() { is "$1" "$(run_in "$2")" "$(git -C "$2" rev-parse HEAD) $3"; }

make_repo plain
is_at "a clean one" plain false
is_at "from a folder in it" plain/sub false
touch -d '2001-01-01' plain/f
is_at "touched, and the same" plain false
echo c >plain/f
is_at "a file that changed" plain true
is_at "outside of the folder that counts" plain/sub false
git -C plain add f
is_at "staged" plain true
git -C plain commit -qm two && rm plain/sub/g
is_at "a file that is gone" plain true
git -C plain checkout -q . && echo new >plain/untracked
is_at "untracked files do not count" plain false
git -C plain pack-refs --all && git -C plain gc -q
is_at "packed" plain false
git -C plain checkout -q --detach
is_at "no branch" plain false
git -C plain worktree add -q ../linked 2>/dev/null
is_at "a linked working tree" linked false
git -C plain update-index --split-index && is_at "an index in two parts" plain false
make_repo other --object-format=sha256
is_at "SHA-256" other false
make_repo modes && git -C modes config core.fileMode false && chmod +x modes/f
is_at "without modes of files" modes false
make_repo outer && git -C outer submodule --quiet add "file://$T/plain" part 2>/dev/null && git -C outer commit -qm two
is_at "with a submodule" outer false
git -C outer/part -c advice.detachedHead=false checkout -q HEAD~1
is_at "a submodule at another commit" outer true
git init -q empty
is "no commit yet" "$(run_in empty)" "null null"
mkdir none && is "no repository" "$(run_in none)" "null null"
if [ "$(id -u)" = 0 ]; then
	make_repo foreign && chown -R 65534 foreign
	is "another user's" "$(run_in foreign)" "$(git -C foreign -c safe.directory='*' rev-parse HEAD 2>/dev/null || git -c safe.directory="$T/foreign" -C foreign rev-parse HEAD) false"
fi

# programs that a repository names
make_repo bad
mkdir ran
arm() { # folder
	local c v
	printf '* filter=x diff=x merge=x\n' >"$1/.gitattributes"
	for v in filter.x.clean filter.x.smudge filter.x.process core.sshCommand core.pager core.fsmonitor core.editor core.askPass diff.external diff.x.textconv \
		diff.x.command merge.x.driver credential.helper core.gitProxy gpg.program core.alternateRefsCommand uploadpack.packObjectsHook alias.status pager.status; do
		c="touch $T/ran/$v"
		[ $v != alias.status ] || c="!$c"
		git -C "$1" config $v "$c" 2>/dev/null
	done
	git -C "$1" config include.path "$T/included"
	git -C "$1" config core.hooksPath "$T/hooks"
}
printf '[filter "x"]\n\tclean = touch %s/ran/included; cat\n' "$T" >included
mkdir hooks && for h in post-index-change pre-commit reference-transaction post-checkout; do printf '#!/bin/sh\ntouch %s/ran/hook-%s\n' "$T" $h >hooks/$h; chmod +x hooks/$h; cp hooks/$h bad/.git/hooks/; done
make_repo inner && git -C bad submodule --quiet add "file://$T/inner" inner 2>/dev/null && git -C bad commit -qm two
arm bad
arm bad/inner
rm -rf ran/*
sleep 1.1
touch bad/f bad/inner/f && echo changed >bad/sub/g && echo changed >bad/inner/f
commit=$(cat bad/.git/refs/heads/*)
is "a repository with programs in it" "$(run_in bad)" "$commit true"
is "runs none of them" "$(ls ran)" ""
export GIT_SSH_COMMAND="touch $T/ran/ssh" GIT_EXTERNAL_DIFF="touch $T/ran/diff" GIT_DIR=$T/plain/.git GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0="touch $T/ran/env"
is "the caller's variables for git say nothing of it" "$(run_in bad)" "$commit true"
unset GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_DIR GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
is "and run nothing" "$(ls ran)" ""
# the workload writes them, and the next run of the repetition looks again
make_repo again
cat >again/work.sh <<X
printf '[filter "x"]\n clean = "sh -c \047touch $T/ran/repeat; cat\047"\n' >>.git/config
printf '* filter=x\n' >.gitattributes; sleep 1.1; touch f
X
(cd again && "$PROFRIG" -q run --no-analyze --repeat 2 -o "$T/twice" --engine host -- sh work.sh) >out 2>err
is "what a workload writes there is not run either" "$(ls ran)" ""

# things that hang, or are no files
for what in HEAD config index packed-refs objects refs commondir; do
	rm -rf odd && make_repo odd
	rm -rf odd/.git/$what
	mkfifo odd/.git/$what
	begin=$SECONDS
	code "a FIFO for $what" 0 timeout 30 "$PROFRIG" -q run --no-analyze -o "$T/odd-runs" --set "model.dir=$T/odd" --engine host -- true
	check "$what: in time" test $((SECONDS - begin)) -lt 15
done
rm -rf odd && make_repo odd && rm odd/.git/index && mkfifo odd/.git/index
run_in odd >/dev/null
like "run.json says why nothing is known" "$(field runs/2*/run.json .git.why)" "git took longer than 3 s|git cannot read it"
is "nothing is left" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name '.profrig-*' -user "$(id -u)" -newer gitconfig)" ""
