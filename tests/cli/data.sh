#!/usr/bin/env bash
# Data sets: every provider, everything that goes wrong on the way, the cache, and credentials that stay where they belong.
. "$(dirname "$0")/../lib.sh"
if ! need python3 python3 -c 'import http.server'; then
	skip "data" "python3 is missing"
	exit 0
fi
mkdir -p "$T/www/bucket/train/deep" "$T/www/public" "$T/m" "$T/home"
cd "$T" || exit 1
export HOME=$T/home XDG_CACHE_HOME=$T/cache no_proxy=127.0.0.1
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION http_proxy HTTP_PROXY all_proxy ALL_PROXY
head -c 300000 /dev/urandom >www/big
printf 'hello\n' >www/small
: >www/empty
sha=$(sha256sum <www/big | cut -d' ' -f1)
python3 "$ROOT/tests/fakes/data_server.py" "$T/www" "$T/port" "$T/requests" >"$T/server.log" 2>&1 &
server=$!
at_end "kill $server 2>/dev/null"
wait_for test -s port || { not_ok "the server starts" "$(cat server.log)"; exit 0; }
url=http://127.0.0.1:$(cat port)

# run DATA… [-- COMMAND…]: a run on host with these entries; its directory is $R
run() {
	local list= cmd=(sh -c 'cat "$PROFRIG_DATA_D"/* | sha256sum')
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		list="$list${list:+, }{$1}"
		shift
	done
	[ $# -eq 0 ] || { shift; cmd=("$@"); }
	"$PROFRIG" -q run --no-analyze -o runs --engine host --set "data=[$list]" ${EXTRA:+$EXTRA} -- "${cmd[@]}" >out 2>err
	local rc=$?
	R=$(cat out)
	return $rc
}
d() { field "$R/run.json" ".data[0].$1"; }
got() { cut -d' ' -f1 "$R/steps/01-workload.out"; }
gets() { grep -c "^GET $1" requests; }
entry() { echo cache/profrig/data/http-*; }
fresh() { rm -rf cache; : >requests; }
D="name: d"

# --- http ---
fresh
code "http" 0 run "$D, provider: http, path: '$url/file/big'"
is "http: what the workload reads" "$(got)" "$sha"
is "http: run.json tells" "$(d 'name') $(d provider) $(d source) $(d files) $(d bytes) $(d fetched_bytes) $(d cached) $(d sha256)" \
	"d http $url/file/big 1 300000 300000 false $sha"
check "http: and how long it took" jq -e '.data[0].seconds > 0 and .durations_s.data > 0' "$R/run.json"
is "http: the file keeps its name" "$(ls "$R/data/d/")" big
code "http: again" 0 run "$D, provider: http, path: '$url/file/big'"
is "http: from the cache, after a look whether it changed" "$(d cached) $(d fetched_bytes) $(gets /file/big) $(got)" "true 0 1 $sha"
code "http: with its checksum" 0 run "$D, provider: http, path: '$url/file/big', sha256: $sha"
cp www/big big.kept
head -c 200000 /dev/urandom >www/big
code "http: a file that changed is fetched again" 0 run "$D, provider: http, path: '$url/file/big'"
is "http: the new one" "$(got)" "$(sha256sum <www/big | cut -d' ' -f1)"
code "http: not the one it must be" 1 run "$D, provider: http, path: '$url/file/big', sha256: $sha"
like "http: says so, and the run directory too" "$(field "$R/run.json" '"\(.status) \(.phase) \(.reason)"')" "^failed data data 'd' cannot be had: .*its SHA-256 is .*, and data.sha256 says $sha"
cp big.kept www/big
code "http: an empty file" 0 run "$D, provider: http, path: '$url/file/empty'"
is "http: is there" "$(d bytes) $(ls "$R/data/d/")" "0 empty"

faults() { # what, path, more
	fresh
	code "http: $1" 0 run "$D, provider: http, path: '$url/$2'"
	is "http: $1: whole" "$(got)" "$sha"
}
faults "an answer that breaks off is taken up" cutonce/100000/big
like "http: where it ended, if it is still the same" "$(grep '^GET' requests | tail -n 1)" 'range=bytes=100000- if-range="[0-9a-f]{32}" 206'
is "http: nothing came twice" "$(d fetched_bytes)" 300000
faults "answers that all break off" cut/50000/big
is "http: one after the other" "$(gets /cut)" 6
faults "a server that knows no parts" norange/big
is "http: begins again" "$(d fetched_bytes)" 450000
faults "trouble that passes" fail/2/big
faults "a redirect" redirect/big
faults "no HEAD" nohead/big
faults "neither ETag nor date" bare/big
code "http: then it is fetched each time" 0 run "$D, provider: http, path: '$url/bare/big'"
is "http: since nobody knows whether it changed" "$(d cached)" false
code "http: unless its checksum is known" 0 run "$D, provider: http, path: '$url/bare/big', sha256: $sha"
is "http: then no server is asked" "$(d cached)" true
fresh
code "http: a file that changes in the middle" 0 run "$D, provider: http, path: '$url/change/100000/big'"
is "http: is the new one, whole" "$(got)" "$(python3 -c 'import sys; sys.stdout.buffer.write(bytes(b ^ 1 for b in open("www/big", "rb").read()))' | sha256sum | cut -d' ' -f1)"
fresh
code "http: a wrong length" 1 run "$D, provider: http, path: '$url/short/big'"
like "http: after some tries" "$(field "$R/run.json" .reason)" "given up after 6 tries"
is "http: the workload did not run" "$(field "$R/run.json" '[.steps[].name] | length')" 0
for what in "file/none:it is not there .status 404." "loop/big:Maximum .* redirects"; do
	rm -rf none
	code "http: ${what%%:*}: 4" 4 "$PROFRIG" run -o none --engine host --set "data=[{$D, provider: http, path: '$url/${what%%:*}'}]" -- true
	like "http: says why" "$(cat err)" "data 'd' is nowhere \(http $url/${what%%:*}: ${what#*:}"
	check "http: nothing was started" test ! -e none
done
code "http: nobody there: 4" 4 run "$D, provider: http, path: 'http://127.0.0.1:1/x'"
code "http: optional, then" 0 run "$D, provider: http, path: 'http://127.0.0.1:1/x', optional: true" -- sh -c 'test -z "${PROFRIG_DATA_D+x}${MAD_DATAHOME+x}"'
is "http: the workload ran without, and run.json says so" "$(d error | cut -c1-4) $(d provider) $(field "$R/run.json" '.warnings[].code')" "http null W_DATA_MISSING"

# --- resumed by another run, two at once, damage ---
fresh
"$PROFRIG" -q run --no-analyze -o runs --engine host --set "data=[{$D, provider: http, path: '$url/slow/20/big'}]" -- true >out 2>err &
pid=$!
wait_for sh -c 'test "$(cat cache/profrig/data/http-*/part/* 2>/dev/null | wc -c)" -gt 50000'
kill -INT $pid
wait $pid
is "an interrupt ends the fetching: 130" "$?" 130
R=$(cat out)
is "the run directory says where it was" "$(field "$R/run.json" '"\(.status) \(.phase)"')" "interrupted data"
is "and is the latest" "$(readlink runs/latest)" "${R##*/}"
code "the next run goes on" 0 run "$D, provider: http, path: '$url/slow/20/big'"
is "it is whole" "$(got)" "$sha"
check "part of it had come before" jq -e '.data[0].fetched_bytes < 260000' "$R/run.json"
fresh
for i in 1 2; do
	"$PROFRIG" -q run --no-analyze -o runs$i --engine host --set "data=[{$D, provider: http, path: '$url/slow/5/big'}]" -- sh -c 'cat "$PROFRIG_DATA_D"/* | sha256sum' >out$i 2>err$i &
	pids[i]=$!
done
wait "${pids[1]}"; a=$?
wait "${pids[2]}"; b=$?
is "two runs at once" "$a $b" "0 0"
is "fetch it once" "$(gets /slow)" 1
is "both read it" "$(cat runs[12]/latest/steps/01-workload.out | cut -d' ' -f1 | uniq)" "$sha"
f=$(echo cache/profrig/data/http-*/data/big)
check "what is cached cannot be written by mistake" sh -c "test \"\$(stat -c %a $f)\" = 444"
chmod 644 "$f"
printf XXXXXXXX | dd of="$f" bs=1 seek=7 conv=notrunc 2>/dev/null
code "damage is found" 0 run "$D, provider: http, path: '$url/slow/5/big'"
is "and mended" "$(d cached) $(got)" "false $sha"
chmod 644 "$f"; truncate -s 10 "$f"
code "a file that was cut is found" 0 run "$D, provider: http, path: '$url/slow/5/big'"
is "and mended, too" "$(d cached) $(got)" "false $sha"
kill $server; wait $server 2>/dev/null
code "without the server, what was fetched before will do" 0 run "$D, provider: http, path: '$url/slow/5/big'"
is "with a warning" "$(d cached) $(field "$R/run.json" '.warnings[].code') $(got)" "true W_DATA_SOURCE $sha"
rm port
python3 "$ROOT/tests/fakes/data_server.py" "$T/www" "$T/port" "$T/requests" >"$T/server.log" 2>&1 &
server=$!
at_end "kill $server 2>/dev/null"
wait_for test -s port
url=http://127.0.0.1:$(cat port)

# --- credentials ---
quiet() { check "$1: no secret in run directory, cache, output" sh -c '! grep -rl hunter2 runs cache out err'; }
fresh
code "user and password" 0 env U=me P=hunter2-http bash -c "$(declare -f run); PROFRIG=$PROFRIG; run \"$D, provider: http, path: '$url/user/big', user_env: U, password_env: P\""
quiet "user and password"
code "a token" 0 env TOK=hunter2-bearer bash -c "$(declare -f run); PROFRIG=$PROFRIG; run \"$D, provider: http, path: '$url/bearer/big', token_env: TOK\""
quiet "a token"
code "none: 4" 4 run "$D, provider: http, path: '$url/user/small'"
like "says so" "$(cat err)" "access is refused .status 401."
code "a password in the address: 3" 3 run "$D, provider: http, path: 'http://me:hunter2-http@127.0.0.1/x'"
quiet "a password in the address"
code "a signed address" 0 run "$D, provider: http, path: '$url/file/big?X-Amz-Signature=hunter2-sig'"
like "is shown without what it is signed with" "$(d source)" "/file/big.…$"
check "in run.json" sh -c "! grep -q hunter2 '$R/run.json'"

# --- s3 ---
head -c 20000 /dev/urandom >www/bucket/train/cut.bin
printf 'a b\n' >'www/bucket/train/deep/a b+c&é%.txt'
printf '1\n' >www/bucket/train/one
printf '2\n' >www/bucket/train/two
printf 'no\n' >www/bucket/train2
printf 'all\n' >www/public/open.txt
S3="$D, provider: s3, endpoint: '$url/s3', region: test-region-1"
export AWS_ACCESS_KEY_ID=AKIDTEST AWS_SECRET_ACCESS_KEY=hunter2-s3secret
fresh
code "s3: a prefix, page by page, signed" 0 run "$S3, path: 's3://bucket/train'" -- sh -c 'cd "$PROFRIG_DATA_D" && find . -type f | sort && cat one two deep/*'
is "s3: all of it and nothing else" "$(cat "$R/steps/01-workload.out")" "./cut.bin
./deep/a b+c&é%.txt
./one
./two
1
2
a b"
is "s3: run.json" "$(d provider) $(d source) $(d files) $(d bytes)" "s3 s3://bucket/train at $url/s3 4 20008"
is "s3: the hash of a folder is as the documentation says" "$(d sha256)" \
	"$(cd www/bucket/train && find . -type f -printf '%P\n' | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum | sed 's/^\\//' | sha256sum | cut -d' ' -f1)"
quiet "s3"
like "s3: an object that breaks off is taken up" "$(grep 'GET /s3/bucket/train/cut.bin' requests | tail -n 1)" "range=bytes=5000- .* 206"
: >requests
printf 'two\n' >www/bucket/train/two
rm www/bucket/train/one
code "s3: what changed" 0 run "$S3, path: bucket/train/" -- sh -c 'cd "$PROFRIG_DATA_D" && find . -type f | sort | tr "\n" " "; cat two'
is "s3: is all that is fetched; what is gone goes" "$(cat "$R/steps/01-workload.out") $(grep -c 'GET /s3/bucket/train/' requests)" "./cut.bin ./deep/a b+c&é%.txt ./two two 1"
code "s3: one object" 0 run "$S3, path: 's3://bucket/train/two'" -- sh -c 'cat "$PROFRIG_DATA_D/two"'
code "s3: nothing of that name: 4" 4 run "$S3, path: s3://bucket/nix"
like "s3: says so" "$(cat err)" "there is no object of that name"
code "s3: no such bucket: 4" 4 run "$S3, path: s3://nix/a"
AWS_SECRET_ACCESS_KEY=hunter2-wrong code "s3: a wrong key: 4" 4 run "$S3, path: s3://bucket/train2"
like "s3: the server's word for it" "$(cat err)" "SignatureDoesNotMatch"
code "s3: another region: 4" 4 run "$D, provider: s3, endpoint: '$url/s3', region: elsewhere, path: s3://bucket/train2"
# Several at a time: each is far away, the server says how many are asked for at once.
mkdir -p www/bucket/many www/bucket/holes www/bucket/stop
for i in $(seq 10 29); do echo "far $i" >www/bucket/many/far-$i; done
head -c 20000 /dev/urandom >www/bucket/many/cut
: >requests
code "s3: many objects" 0 run "$S3, path: s3://bucket/many" -- sh -c 'cd "$PROFRIG_DATA_D" && ls | wc -l && cat far-*'
is "s3: all of them, each in its place" "$(cat "$R/steps/01-workload.out")" "$(ls www/bucket/many | wc -l; cat www/bucket/many/far-*)"
like "s3: several at a time, at most eight" "$(grep ^FAR requests | sort -k 2 -n | tail -n 1)" '^FAR [2-8]$'
is "s3: what of them was fetched" "$(d files) $(d bytes) $(grep -c 'GET /s3/bucket/many/far-' requests)" "21 20140 20"
is "s3: the hash does not ask for the order" "$(d sha256)" "$(cd www/bucket/many && find . -type f -printf '%P\n' | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)"
: >requests
code "s3: many again" 0 run "$S3, path: s3://bucket/many" -- true
is "s3: are there" "$(d cached) $(grep -c 'GET /s3/bucket/many/' requests)" "true 0"
for i in $(seq 10 29); do echo "$i" >www/bucket/holes/$i; done
echo x >www/bucket/holes/5-gone
code "s3: one of many that is gone" 1 run "$S3, path: s3://bucket/holes" -- true
like "s3: is named" "$(field "$R/run.json" .reason)" "5-gone: it is not there .status 404."
: >requests
code "s3: the next try" 0 run "$S3, path: s3://bucket/holes" -- sh -c 'cat "$PROFRIG_DATA_D"/*'
is "s3: has all" "$(sort "$R/steps/01-workload.out" | tr '\n' ' ')" "$(cat www/bucket/holes/* | sort | tr '\n' ' ')"
check "s3: and kept what came before" test "$(grep -c 'GET /s3/bucket/holes/' requests)" -lt 21
head -c 4000000 /dev/urandom >www/bucket/stop/1-slow
echo x >www/bucket/stop/2-gone
: >requests
code "s3: one that fails ends one that would take minutes" 1 timeout 60 "$PROFRIG" -q run --no-analyze -o runs --engine host --set "data=[{$S3, path: s3://bucket/stop}]" -- true
: >requests
"$PROFRIG" -q run --no-analyze -o runs --engine host --set "data=[{$S3, path: s3://bucket/stop}]" -- true >out 2>err &
pid=$!
wait_for grep -q 1-slow requests
kill -INT $pid
code "s3: an interrupt ends it too" 130 wait $pid
rm -r www/bucket/stop
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
code "s3: without credentials: 4" 4 run "$S3, path: s3://bucket/train2"
like "s3: says what is missing" "$(cat err)" "no credentials are set .AWS_ACCESS_KEY_ID"
code "s3: open to all" 0 run "$S3, path: s3://public/open.txt" -- sh -c 'cat "$PROFRIG_DATA_D/open.txt"'
quiet "s3, at last"

# --- local, nas ---
mkdir -p set/sub; printf 1 >set/a; printf 2 >set/sub/b
code "local" 0 run "$D, provider: local, path: set" -- sh -c 'cat "$PROFRIG_DATA_D/a" "$PROFRIG_DATA_D/sub/b"; test "$MAD_DATAHOME" = "$PROFRIG_DATA_D" && test "$MAD_DATANAME" = d'
is "local: as it is" "$(cat "$R/steps/01-workload.out") $(d provider) $(d files) $(d bytes) $(d at_least) $(d sha256)" "12 local 2 2 false null"
mkdir big; (cd big && seq -f 'f%06.0f' 100003 | xargs touch && printf 1 >f100000)
code "local: more files than are counted" 0 run "$D, provider: local, path: big" -- sh -c 'ls "$PROFRIG_DATA_D/" | wc -l'
is "local: run.json says that there are more" "$(cat "$R/steps/01-workload.out") $(d files) $(d at_least)" "100003 100001 true"
like "local: so does a note" "$(field "$R/run.json" '.warnings[] | .code + " " + .severity + " " + .text')" "^W_DATA_UNCOUNTED note data 'd' from .*/big is large: at least 100001 files with [01] bytes, the rest was not counted$"
code "local: of so many with a checksum all are looked at: 1" 1 run "$D, provider: local, path: big, sha256: $sha"
is "local: and counted" "$(d at_least)" false
rm -r big
code "local: a file" 0 run "$D, provider: local, path: set/a" -- sh -c 'cat "$PROFRIG_DATA_D"'
code "local: a checksum that does not hold: 1" 1 run "$D, provider: local, path: set, sha256: $sha"
code "local: not there: 4" 4 run "$D, provider: local, path: nix"
like "local: says where that is written" "$(cat err)" "data 'd' is nowhere \(local .*/nix: .*No such file or directory\): correct its entry .command line."
code "nas: with a copy" 0 run "$D, provider: nas, path: set, mirrorlocal: mirror" -- sh -c 'cat "$PROFRIG_DATA_D/sub/b"; rm -f "$PROFRIG_DATA_D/../../../set/zzz"'
check "nas: the copy is there" sh -c 'test "$(cat mirror/nas-*/data/sub/b)" = 2'
code "nas: again" 0 run "$D, provider: nas, path: set, mirrorlocal: mirror" -- true
is "nas: nothing is copied twice" "$(d cached) $(d fetched_bytes)" "true 0"
printf 22 >set/sub/b
code "nas: what changed is" 0 run "$D, provider: nas, path: set, mirrorlocal: mirror" -- sh -c 'cat "$PROFRIG_DATA_D/sub/b"'
is "nas: the new one" "$(cat "$R/steps/01-workload.out") $(d fetched_bytes)" "22 2"
mkdir -p real/inner src/hollow/deep; echo 9 >real/inner/file; echo t >src/top
ln -s ../real src/shard0; ln -s ../../real/inner/file src/hollow/file
list='cd "$PROFRIG_DATA_D/" && find . | LC_ALL=C sort | tr "\n" " "'
all=". ./hollow ./hollow/deep ./hollow/file ./shard0 ./shard0/inner ./shard0/inner/file ./top "
# A file that becomes a folder, and a folder that becomes a file.
mkdir turns; echo 1 >turns/a
code "nas: a file" 0 run "$D, provider: nas, path: turns, mirrorlocal: mirror3" -- true
rm turns/a; mkdir -p turns/a/b; echo 2 >turns/a/b/c; echo 3 >turns/a/d
code "nas: that becomes a folder" 0 run "$D, provider: nas, path: turns, mirrorlocal: mirror3" -- sh -c 'cd "$PROFRIG_DATA_D" && cat a/b/c a/d'
is "nas: is one" "$(cat "$R/steps/01-workload.out")" "2
3"
rm -r turns/a; echo 4 >turns/a
code "nas: that becomes a file" 0 run "$D, provider: nas, path: turns, mirrorlocal: mirror3" -- sh -c 'cat "$PROFRIG_DATA_D/a"'
is "nas: is one again" "$(cat "$R/steps/01-workload.out") $(d files)" "4 1"
N="$D, provider: nas, path: src, mirrorlocal: mirror2"
sum=$(cd src && find -L . -type f -printf '%P\n' | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
code "nas: a copy of folders behind links" 0 run "$N" -- sh -c "$list; test -z \"\$(find . -type l)\""
is "nas: has all that is there, empty folders too" "$(cat "$R/steps/01-workload.out")" "$all"
is "nas: its sum is that of the recipe" "$(d sha256) $(d files) $(field "$R/run.json" '.warnings | length')" "$sum 3 0"
code "nas: in place it has the same" 0 run "$D, provider: nas, path: src, sha256: $sum" -- true
is "nas: in place it counts alike" "$(d files) $(d bytes)" "3 6"
rm -r src/hollow; ln -s . src/round; ln -s nowhere src/broken; ln -s loop src/loop; mkfifo src/pipe
code "nas: what cannot be copied" 0 run "$N" -- sh -c "$list"
is "nas: is left out, and what is gone goes" "$(cat "$R/steps/01-workload.out")" ". ./shard0 ./shard0/inner ./shard0/inner/file ./top "
like "nas: and reported" "$(field "$R/run.json" '.warnings[] | .code + " " + .text')" "^W_DATA_LEFT_OUT data 'd' from .*/src: .*: broken: a broken link, and 3 more$"
rm -r src/round src/broken src/loop src/pipe; mkdir src/empty2
code "nas: nothing left out" 0 run "$N" -- sh -c "$list"
is "nas: a new empty folder comes too" "$(cat "$R/steps/01-workload.out") $(field "$R/run.json" '.warnings | length')" ". ./empty2 ./shard0 ./shard0/inner ./shard0/inner/file ./top  0"

# --- script ---
cat >links.sh <<S
cd "\$PROFRIG_DATA_DIR" && ln -s $T/real there && ln -s $T/src/top top && ln -s nowhere broken && mkdir hollow
S
code "script: that leaves links" 0 run "$D, provider: script, path: links.sh" -- sh -c "$list; test -z \"\$(find . -type l)\""
is "script: has what they lead to" "$(cat "$R/steps/01-workload.out")" ". ./hollow ./there ./there/inner ./there/inner/file ./top "
is "script: which stays where it was, as it was" "$(cat real/inner/file src/top | tr '\n' ' ')$(stat -c %a src/top)" "9 t 644"
like "script: what leads nowhere is reported" "$(field "$R/run.json" '.warnings[] | .code + " " + .text')" "^W_DATA_LEFT_OUT .*: broken: a broken link$"
cat >bring.sh <<'S'
echo "brings $1"
test "$1" != fail || { echo no way >&2; exit 3; }
test "$1" != nothing || exit 0
test "$1" != slow || sleep 60
mkdir "$PROFRIG_DATA_DIR/x" && echo "$1" >"$MAD_DATAHOME/x/y" && echo "$PROFRIG_DATA_NAME" >>calls
S
fresh
code "script" 0 run "$D, provider: script, path: bring.sh, args: [v1]" -- sh -c 'cat "$PROFRIG_DATA_D/x/y"'
is "script: what it brought" "$(cat "$R/steps/01-workload.out") $(d provider)" "v1 script"
code "script: again" 0 run "$D, provider: script, path: bring.sh, args: [v1]" -- true
is "script: does not run twice" "$(wc -l <calls)" 1
code "script: with other arguments" 0 run "$D, provider: script, path: bring.sh, args: [v2]" -- sh -c 'cat "$PROFRIG_DATA_D/x/y"'
echo '# another one' >>bring.sh
code "script: another script" 0 run "$D, provider: script, path: bring.sh, args: [v2]" -- true
is "script: runs again" "$(wc -l <calls)" 3
code "script: fails: 1" 1 run "$D, provider: script, path: bring.sh, args: [fail]" -- true
like "script: how, and where its output is" "$(field "$R/run.json" .reason)" "ended with status 3 .no way.; its output: .*/script.log"
code "script: brings nothing: 1" 1 run "$D, provider: script, path: bring.sh, args: [nothing]" -- true
code "script: too slow: 1" 1 run "$D, provider: script, path: bring.sh, args: [slow], timeout: 0.3" -- true
like "script: says so" "$(field "$R/run.json" .reason)" "took longer than 0.3 s"
code "script: not there: 4" 4 run "$D, provider: script, path: nix.sh"

# --- order ---
order() { run "$@" -- true && d provider; }
L="$D, provider: local, path: set" N="$D, provider: nas, path: set" H="$D, provider: http, path: '$url/file/small'" C="$D, provider: script, path: bring.sh, args: [v9]"
M="$D, provider: s3, endpoint: '$url/s3', path: s3://public/open.txt"
is "the script comes first" "$(order "$H" "$N" "$L" "$M" "$C")" script
is "then local" "$(order "$H" "$N" "$M" "$L")" local
is "then s3 with an endpoint" "$(order "$H" "$N" "$M")" s3
is "then nas" "$(order "$H" "$N")" nas
is "what is not there is passed over" "$(order "$D, provider: local, path: nix" "$H")" http
is "which run.json tells" "$(R=$(cat out); field "$R/run.json" '.warnings[].code')" W_DATA_SOURCE
code "all that was tried is reported: 4" 4 run "$D, provider: local, path: nix" "$D, provider: nas, path: nax"
like "with the reason of each" "$(cat err)" "local .*/nix: .*; nas .*/nax: "

# --- several, configuration, plan ---
code "two data sets" 0 run "$L" "name: e-2, provider: local, path: set/a" -- sh -c 'cat "$PROFRIG_DATA_E_2"; test "$MAD_DATANAME" = d,e-2'
code "what is wrong with entries is reported at once: 3" 3 run "name: 'a/b', provider: local, path: x" "name: x, provider: ftp, path: y" "$D, provider: http, path: ftp://x, sha256: abc" "name: q.r, provider: local, path: set" "name: q-r, provider: local, path: set"
is "all five" "$(grep -cE "data.name: want|provider.*ftp|want http://|64 hexadecimal|would both be PROFRIG_DATA_Q_R" err)" 5
"$PROFRIG" plan --engine host --set "data=[{$L}, {name: w, provider: local, path: nix}]" -- true >out 2>err
like "plan shows where it will be" "$(cat out)" "PROFRIG_DATA_D +.*/data/d +data 'd'"
like "and what is missing" "$(cat err)" "missing: data 'w' is nowhere"
code "another cache" 0 "$PROFRIG" -q run --no-analyze -o runs --engine host --data-cache elsewhere --set "data=[{$H}]" -- true
check "is used" sh -c 'test -s elsewhere/http-*/data/small'
code "a cache that cannot be written: 1" 1 "$PROFRIG" -q run --no-analyze -o runs --engine host --data-cache /proc/nix --set "data=[{$H}]" -- true

# --- a full disk ---
mkdir small
if mount -t tmpfs -o size=256k none small 2>/dev/null; then
	at_end "umount -l $T/small"
	code "too little room: 1" 1 "$PROFRIG" -q run --no-analyze -o runs --engine host --data-cache small --set "data=[{$D, provider: http, path: '$url/file/big'}]" -- true
	like "told before it is full" "$(field "$(cat out)/run.json" .reason)" "it needs 300.0 kB more and .* has 2[0-9][0-9].[0-9] kB left: make room"
	fresh
	mkdir set2; cp www/big set2/
	code "a disk that fills up: 1" 1 "$PROFRIG" -q run --no-analyze -o runs --engine host --set "data=[{$D, provider: nas, path: set2, mirrorlocal: small}]" -- true
	like "says so" "$(field "$(cat out)/run.json" .reason)" "No space left on device"
else
	skip "a full disk" "no tmpfs can be mounted here"
fi
