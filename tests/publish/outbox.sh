#!/usr/bin/env bash
# The key publish: and the command, without real servers: bad answers, the file of lines, the outbox, what is refused, and no secret anywhere.
. "$(dirname "$0")/../lib.sh"
mkdir "$T/here" && cd "$T/here" || exit 1
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy
export WORD=s3cret-publish-word WRONG=1
mkfifo port
python3 "$ROOT/tests/fakes/publish_server.py" "$T/requests" >port &
at_end "kill $! 2>/dev/null"
read -r PORT <port
AT=http://127.0.0.1:$PORT

run() { "$PROFRIG" run --no-analyze "$@" -- sh -c 'echo performance: 5 items/s; echo performance: 6 items/s'; }
warning() { field runs/latest/run.json '.warnings[] | select(.code == "W_PUBLISH") | .text'; }
entry() { printf 'publish:\n  - {%s}\n' "$1"; }
influx_at() { entry "to: influxdb, url: \"$AT/$1\", database: a/b&c, user: u, password: {from_env: WORD}, timeout: ${2:-20}"; }
state() { "$PROFRIG" publish --status --json | jq -r --arg r "$(readlink runs/latest)" '[.[] | select(.run == $r) | .state] | join(" ")'; }

# --- a file of lines ---
entry "to: ndjson, path: tables/results.ndjson" >lines.yaml
code "a run whose file's folder is not there" 0 run --config lines.yaml
like "has a warning" "$(warning)" "tables/results.ndjson.*No such file"
like "and its status is its own" "$(field runs/latest/run.json .status)" success
mkdir tables
code "the next run" 0 run --config lines.yaml
like "is a line of the file" "$(jq -r '._id' tables/results.ndjson)" "$(readlink runs/latest)"
code "publish" 0 "$PROFRIG" publish --config lines.yaml
is "adds what waits" "$(wc -l <tables/results.ndjson)" 2
code "publish of all runs" 0 "$PROFRIG" publish --config lines.yaml runs
like "sends them" "$(cat "$T/out")" "^2 sent, 0 waiting"
is "and adds none" "$(jq -rs '[.[]._id] | unique | length' tables/results.ndjson)" 2
is "a line has the result" "$(jq -rs '.[0].metrics[] | select(.name == "performance") | "\(.value) \(.unit)"' tables/results.ndjson)" "6 items/s"
printf '%s' '{"_id":"torn' >>tables/results.ndjson
code "a run behind a torn line" 0 run --config lines.yaml
is "cuts that off" "$(jq -rs length tables/results.ndjson)" 3
printf 'notes, not JSON' >tables/notes
entry "to: ndjson, path: tables/notes" >notes.yaml
code "a run with a file of another kind" 0 run --config notes.yaml
is "leaves it alone" "$(cat tables/notes)" "notes, not JSON"
like "and says so" "$(warning)" "no JSON in its last line"
ln -s /dev/null tables/link
entry "to: ndjson, path: tables/link" >link.yaml
code "a run with a link" 0 run --config link.yaml
like "does not follow it" "$(warning)" "tables/link.*symbolic link"
mkfifo tables/fifo
entry "to: ndjson, path: tables/fifo" >fifo.yaml
code "a run with a FIFO" 0 run --config fifo.yaml
like "does not wait for it" "$(warning)" "no regular file"

mkdir plain other
entry "to: ndjson, path: plain/results.ndjson" >moved.yaml
code "a workload that moves the file's folder" 0 "$PROFRIG" run --no-analyze --config moved.yaml -- sh -c 'mv plain was; ln -s other plain'
like "is noticed" "$(warning)" "plain/results.ndjson' leads elsewhere now"
is "and nothing is written there" "$(ls other)" ""

# --- an interrupted run ---
"$PROFRIG" run --no-analyze --config lines.yaml -- sleep 60 >/dev/null 2>err.int &
pid=$!
at_end "kill $pid 2>/dev/null"
wait_for grep -q workload err.int
kill -TERM $pid
wait $pid
is "a run that is interrupted ends so" $? 143
is "and waits" "$(state)" waiting
code "until the next one" 0 run --config lines.yaml
is "takes it with it" "$(jq -r '.status' tables/results.ndjson | sort | uniq -c | tr -s ' \n' ' ')" " 1 interrupted 4 success "

# --- a killed profrig ---
python3 -c 'import fcntl, time; f = open("tables/results.ndjson"); fcntl.flock(f, fcntl.LOCK_EX); print("", end="", file=open("held", "w")); time.sleep(600)' &
holder=$!
at_end "kill $holder 2>/dev/null"
wait_for test -e held
entry "to: ndjson, path: tables/results.ndjson, timeout: 0.3" >quick.yaml
code "a file that another process holds" 0 run --config quick.yaml
like "is given up" "$(warning)" "is locked by another process"
entry "to: ndjson, path: tables/results.ndjson, timeout: 60" >patient.yaml
"$PROFRIG" run --no-analyze --config patient.yaml -- true >/dev/null 2>err.kill &
pid=$!
wait_for grep -q publish err.kill
tried() { "$PROFRIG" publish --status --json | jq -e --arg r "$(readlink runs/latest)" '.[] | select(.run == $r) | .tries == 1'; }
wait_for tried
kill -9 $pid
wait $pid 2>/dev/null
kill $holder
wait $holder 2>/dev/null
is "a run whose profrig was killed meanwhile" "$(field runs/latest/run.json .status) $(state)" "success waiting"
code "is published later" 0 "$PROFRIG" publish --config lines.yaml
is "once" "$(jq -rs --arg r "$(readlink runs/latest)" '[.[] | select(._id == $r)] | length' tables/results.ndjson)" 1

# --- many at a time ---
rm -rf runs tables/results.ndjson
for i in 1 2 3 4 5 6; do run --config lines.yaml >/dev/null 2>"err.$i" & pids[i]=$!; done
bad=0
for i in 1 2 3 4 5 6; do wait "${pids[i]}" || bad=1; done
is "six runs at a time" $bad 0
is "are six lines" "$(jq -rs '[.[]._id] | unique | length' tables/results.ndjson)" 6
is "and six rows that were sent" "$("$PROFRIG" publish --status --json | jq -r '[.[] | select(.state == "sent")] | length')" 6

# --- answers ---
for row in "500:trouble \(status 500)" "503/try%20later:try later" "429:trouble" "404:no such database or path" "401:access is refused" "403:access is refused" "200:not one of such a server" "304:redirects"; do
	influx_at "status/${row%%:*}" >bad.yaml
	code "a server that says ${row%%:*}" 0 run --config bad.yaml
	like "${row%%:*} is reported" "$(warning)" "${row#*:}"
	is "${row%%:*} waits" "$(state)" waiting
done
for status in 400 413 422; do
	influx_at "status/$status/bad%20point%0d%1b[31m" >bad.yaml
	code "a server that says $status" 0 run --config bad.yaml
	like "$status is reported on one line" "$(warning)" "refuses the data \(status $status\): bad point  \[31m"
	is "$status is refused for good" "$(state)" refused
done
influx_at "moved" >bad.yaml
code "a server that redirects" 0 run --config bad.yaml
like "is not followed" "$(warning)" "redirects \(status 307\)"
is "anywhere" "$(grep -c '"path": "/taken' "$T/requests")" 0
influx_at "html" >bad.yaml
code "a server that is another one" 0 run --config bad.yaml
like "is none" "$(warning)" "not one of such a server \(status 200\): <html>Sign in</html>"
influx_at "cut" >bad.yaml
code "a server that breaks off" 0 run --config bad.yaml
is "waits" "$(state)" waiting
influx_at "slow" 1 >bad.yaml
start=$SECONDS
code "a server that never answers" 0 run --config bad.yaml
is "is given up" "$((SECONDS - start < 30))" 1
is "and waits" "$(state)" waiting
entry "to: influxdb, url: \"http://127.0.0.1:1\", database: d" >bad.yaml
code "no server" 0 run --config bad.yaml
is "waits, too" "$(state)" waiting
entry "to: postgres, connection: \"host=127.0.0.1 port=1 dbname=d\"" >bad.yaml
code "no PostgreSQL" 0 run --config bad.yaml
like "is reported" "$(warning)" "no connection|libpq is not here"
influx_at "taken" >good.yaml
code "a server that takes it" 0 run --config good.yaml
is "has it" "$(state)" sent
is "with database and credentials" "$(tail -n 1 "$T/requests" | jq -r '"\(.method) \(.path) \(.auth)"')" \
	"POST /taken/write?precision=ns&db=a%2Fb%26c Basic $(printf 'u:%s' "$WORD" | base64)"
entry "to: pushgateway, url: \"$AT/html\", user: u, password: {from_env: WORD}" >bad.yaml
code "a gateway that is another server" 0 run --config bad.yaml
like "is none, too" "$(warning)" "not one of such a server"

# --- the outbox ---
code "publish with a failure" 6 "$PROFRIG" publish --config bad.yaml
like "counts" "$(cat "$T/out")" "0 sent, [0-9]+ waiting, 0 refused"
code "publish --json" 6 "$PROFRIG" publish --config bad.yaml --json
check "is JSON" jq -e '.sent == 0 and .waiting > 0 and (.errors | length == 1)' "$T/out"
code "another target than those" 2 "$PROFRIG" publish --config bad.yaml --to influxdb
like "is a wrong word" "$(cat "$T/err")" "publish: in the configuration has pushgateway"
code "no configuration" 2 "$PROFRIG" publish runs/latest
code "no such configuration" 2 "$PROFRIG" publish --config nothing.yaml runs/latest
code "one without the key" 2 "$PROFRIG" publish --config "$ROOT/examples/mlp/profrig.yaml" runs/latest
code "no such run" 5 "$PROFRIG" publish --config good.yaml runs/nothing
code "a folder without an outbox" 0 "$PROFRIG" publish --status -o tables
code "the table" 0 "$PROFRIG" publish --status
like "has what waits" "$(cat "$T/out")" "waiting"
rm -rf "runs/$(readlink runs/latest)"
code "a run that was removed" 6 "$PROFRIG" publish --config bad.yaml
like "is reported" "$(cat "$T/out")" "1 whose run was removed"

code "a run" 0 run --config good.yaml
cp -r "runs/$(readlink runs/latest)" copy
sed -i "s/\"id\": \"[^\"]*\"/\"id\": \"20200101T000000Z-other-abcdef\"/" "runs/$(readlink runs/latest)/run.json"
code "a run that says it is another one" 5 "$PROFRIG" publish --config good.yaml runs/latest
like "is refused" "$(cat "$T/err")" "says that it is the run '20200101T000000Z-other-abcdef'"
ln -sf /etc/passwd "runs/$(readlink runs/latest)/run.json"
code "a run.json that is a link" 5 "$PROFRIG" publish --config good.yaml runs/latest
rm "runs/$(readlink runs/latest)/run.json"
mkfifo "runs/$(readlink runs/latest)/run.json"
code "a run.json that is a FIFO" 5 "$PROFRIG" publish --config good.yaml runs/latest
truncate -s 100M copy/run.json
code "a run.json of 100 MB" 5 "$PROFRIG" publish --config good.yaml copy
rm -rf "runs/$(readlink runs/latest)" copy

for what in "ln -s $T/elsewhere.sqlite runs/outbox.sqlite" "mkfifo runs/outbox.sqlite" "cp $ROOT/README.md runs/outbox.sqlite" "mkdir runs/outbox.sqlite"; do
	rm -rf runs/outbox.sqlite
	$what
	code "an outbox by '${what%% *}'" 0 run --config good.yaml
	like "is none" "$(warning)" "not published: .*outbox.sqlite"
	code "and publish says so" 6 "$PROFRIG" publish --config good.yaml
done
check "and made no file elsewhere" test ! -e "$T/elsewhere.sqlite"
rm -rf runs/outbox.sqlite

# --- a campaign's directory ---
mkdir -p camp/runs camp/results
touch camp/journal.ndjson
one=$(run --label campaign=night --label cell=aaa 2>/dev/null)
for a in aaa-1.1 aaa-1.2 aaa-2.1; do cp -r "$one" "camp/runs/$a"; done
echo aaa-1.2 >camp/results/aaa-1
code "a campaign" 0 "$PROFRIG" publish --config lines.yaml camp
like "is published" "$(cat "$T/out")" "2 sent"
like "without superseded attempts" "$(cat "$T/err")" "superseded attempts: 1 left out"
is "by ids of its own" "$(jq -r 'select(.campaign == "night") | ._id | sub("^[0-9]{8}T[0-9]{6}Z-"; "")' tables/results.ndjson | sort | tr '\n' ' ')" "night-aaa-1.2 night-aaa-2.1 "
check "with an outbox in its directory" test -f camp/outbox.sqlite
code "again" 0 "$PROFRIG" publish --config lines.yaml camp
is "it is the same" "$(jq -rs '[.[] | select(.campaign == "night")] | length' tables/results.ndjson)" 2

# --- with --baseline ---
rm -rf runs tables/results.ndjson
code "a run with a baseline" 0 run --config lines.yaml --baseline --tools cpu_power
is "is two" "$(jq -rs '[.[].labels[] | select(.name == "baseline")] | length' tables/results.ndjson) $(wc -l <tables/results.ndjson)" "1 2"
is "and has its overhead" "$(jq -rs '[.[].metrics[] | select(.name == "overhead")] | length' tables/results.ndjson)" 1

# --- mistakes ---
wrong() { # NAME WANTED_WORDS ENTRY
	entry "$3" >wrong.yaml
	code "$1" 3 run --config wrong.yaml
	like "$1: says so" "$(cat "$T/err")" "$2"
	code "$1, for publish" 3 "$PROFRIG" publish --config wrong.yaml
	like "$1, for publish: says so" "$(cat "$T/err")" "wrong.yaml:2: .*$2"
	check "$1: shows no password" sh -c '! grep -q hidden-word err out'
}
wrong "a password in an url" "take the user and password out of url" 'to: influxdb, url: "http://u:hidden-word@host", database: d'
wrong "one with a slash" "take the user and password out of url" 'to: influxdb, url: "http://u:hidden-word/2@host", database: d'
wrong "one without a scheme" "take the user and password out of url" 'to: pushgateway, url: "u:hidden-word@host"'
wrong "one in words that are no connection" "take the password out of connection" 'to: postgres, connection: "u:hidden-word@host/d"'
wrong "one in a connection" "take the password out of connection" 'to: postgres, connection: "host=h password = hidden-word"'
wrong "one in the url of a connection" "take the password out of connection" 'to: postgres, connection: "postgresql://u:hidden-word@h/d"'
wrong "a password that is written out" "publish\[0\].password: want a map" 'to: influxdb, url: "http://h", database: d, password: hidden-word'
wrong "a password from nowhere" "variable NOT_SET_AT_ALL is not set" 'to: influxdb, url: "http://h", database: d, password: {from_env: NOT_SET_AT_ALL}'
wrong "a secret that is none" "secrets has no entry 'NOPE'" 'to: influxdb, url: "http://h", database: d, password: {secret: NOPE}'
wrong "another target's key" "influxdb has no key 'job'" 'to: influxdb, url: "http://h", database: d, job: j'
wrong "a missing key" "influxdb needs database" 'to: influxdb, url: "http://h"'
wrong "no url" "want an url such as" 'to: pushgateway, url: "host:9091"'
wrong "an unknown target" "mongo" 'to: mongo'
wrong "an unknown key" "did you mean 'url'" 'to: pushgateway, ulr: "http://h", url: "http://h"'
printf 'publish:\n  - {to: ndjson, path: a}\n  - {to: ndjson, path: ./a}\n' >wrong.yaml
code "a target twice" 3 "$PROFRIG" publish --config wrong.yaml
like "is said" "$(cat "$T/err")" "wrong.yaml:3: .*named twice"
printf 'name: c\nmodels: [m]\naxes: {tools: [[]]}\npublish:\n  - {to: ndjson, path: c.ndjson}\n' >camp.yaml
code "a campaign's file" 0 "$PROFRIG" publish --config camp.yaml camp
check "is one to publish by" test -s c.ndjson
"$PROFRIG" plan --config good.yaml -- true >plan.txt 2>&1
check "a plan shows no password" sh -c '! grep -q "$WORD" plan.txt'

check "no password is in what profrig wrote" sh -c '! grep -rqF "$WORD" runs camp ../out ../err plan.txt *.ndjson'
code "the list of publishers" 0 "$PROFRIG" list publishers
like "names them" "$(cat "$T/out")" "ndjson"
