#!/usr/bin/env bash
# A secret given in every way there is, and repeated by those who should not: a command that spells it out, an engine's error message, URLs with passwords.
# It is in nothing that profrig writes: run directory, logs with -vv, plans in every format, messages, lists. (The argv of all processes: secrets.sh.)
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
export T GIVEN=hunter2-given MAD_SECRETS_HF=hunter2-mad AWS_SECRET_ACCESS_KEY=hunter2-inherited
cat >c.yaml <<'Y'
model: {name: s, command: [/bin/sh, -c, 'test -n "$HF_TOKEN"; : --password=hunter2-spelled --url https://me:hunter2-url@example.org/x ''hunter2 "quoted" value''']}
env: {MY_API_KEY: hunter2-plain, DB_PASSWORD: hunter2-spelled, ODD_SECRET: 'hunter2 "quoted" value', PROXY: "http://me:hunter2-proxy@proxy:3128"}
secrets: {HF_TOKEN: {from_env: GIVEN}, PEM: {from_env: PEM}}
labels: {where: "https://hunter2tokeninuser@example.org"}
Y
export PEM="-----BEGIN-----
hunter2-first-line-of-pem
hunter2-second-line-of-pem
-----END-----"
no_secret() { # name, files or folders…
	local name=$1 hits
	shift
	hits=$(grep -rIoaE '.{0,40}(hunter2|n2\\?-).{0,20}' "$@" 2>/dev/null | head -n 5)
	check "$name: something was written" test -s "$1" -o -d "$1"
	is "$name: no secret" "$hits" ""
}
run() { "$PROFRIG" -vv run -o "$T/runs" --config c.yaml --label link=ftp://u:hunter2-label@h/ "$@"; }

code "a run on the host" 0 run --engine host
mv out printed
no_secret "its run directory" runs
no_secret "its log with -vv" err
no_secret "its output" printed
code "report of it" 0 "$PROFRIG" -vv report "$(cat printed)"
no_secret "the reports" runs
for f in text json sh; do
	code "plan as $f" 0 "$PROFRIG" -vv plan --format $f --config c.yaml --engine host
	no_secret "plan as $f" out err
	check "plan as $f: stars in its place" grep -qF '***' out
done
code "a command on the command line" 1 run --engine host --set 'env.A_TOKEN=hunter2-set' --set 'model.command=[sh, -c, "exit 3", hunter2-set]'
no_secret "its run directory" runs
no_secret "its messages" err
mkdir -p scripts && echo '[{"name": "m", "scripts": "scripts/m.sh", "url": "https://me:hunter2-giturl@localhost:1/none"}, {"name": "n", "scripts": "scripts/n.sh"}]' >models.json
echo 'test "$MAD_SECRETS_HF" = hunter2-m""ad' | tee scripts/n.sh >scripts/m.sh
code "MAD_SECRETS of the environment" 0 "$PROFRIG" -vv run -o "$T/runs" --engine host --set results.require=false n
"$PROFRIG" -vv run -o "$T/runs" --engine host m >>out 2>>err
no_secret "their run directories" runs
no_secret "their messages" err out
code "list runs" 0 "$PROFRIG" list runs
no_secret "list runs" out

# An engine that tells everything it knows, at every question.
cat >docker <<'D'
#!/bin/sh
say() { echo "docker: Error: bad value hunter2-plain for MY_API_KEY, tried https://me:hunter2-url@registry/ with $GIVEN, $DB_PASSWORD" >&2; }
case "$1 $2" in
"version --format") echo 1 ;;
"image inspect") echo sha256:1 ;;
run*) say; exit 125 ;;
*) say; exit 1 ;;
esac
D
chmod +x docker
PROFRIG_DOCKER=$T/docker code "an engine that repeats a secret when nothing starts" 4 run --engine docker --image x
like "its message is shown" "$(cat err)" "bad value [*]{3} for MY_API_KEY"
no_secret "the message" err
# With an agent, which dies: the run directory is kept.
cat >docker <<'D'
#!/bin/sh
case "$1 $2" in
"version --format") echo 1 ;;
"image inspect") echo sha256:1 ;;
run*)
	while [ "$1" != --run ]; do shift; done
	exec 3<&0
	"$AGENT" --run "$2" <&3 3<&- &
	exec 3<&-
	while [ ! -e "$T/working" ]; do sleep 0.1; done
	kill -9 $!
	echo "docker: lost hunter2-plain and hunter2-second-line-of-pem" >&2
	exit 9 ;;
esac
D
AGENT=$B/profrig-init PROFRIG_DOCKER=$T/docker code "an engine that repeats a secret when it dies" 1 run --engine docker --image x \
	--set "model.command=[sh, -c, 'touch $T/working; sleep 60; : hunter2-given']"
check "its words are kept" grep -qF 'lost ***' "$(cat out)/steps/engine.err"
like "in the reason too" "$(field "$(cat out)/run.json" .reason)" 'lost [*]{3} and [*]{3}'
no_secret "its run directory" runs
no_secret "its messages" err

echo 'model: {name: s, command: [true]}
secrets: {HF_TOKEN: hunter2-wrong-place}
env: {MY_KEY: [hunter2-list]}
tooools: hunter2-key' >bad.yaml
code "a configuration with secrets in the wrong places" 3 "$PROFRIG" -vv run --config bad.yaml --engine host
sed -i '/tooools/d' err
no_secret "its messages" err

# One of the caller's own, which no configuration names, spelled out all the same.
rm -rf runs
export HF_TOKEN=hunter2-callers MY_KEY=$T/hunter-path-of-a-key
touch "$MY_KEY"
code "a command that spells out a variable of the caller's" 0 "$PROFRIG" -vv run -o "$T/runs" --engine host --tools cpu_usage --label "t=$HF_TOKEN" -- sh -c true -H "Authorization: Bearer $HF_TOKEN" "$MY_KEY"
mv out printed
no_secret "its run directory" runs
no_secret "its messages" err printed
check "the path of a key is none" grep -qF "$MY_KEY" "$(cat printed)/run.json"
for f in text json sh; do
	code "its plan as $f" 0 "$PROFRIG" -vv plan --format $f --engine host -- sh -c true "$HF_TOKEN"
	no_secret "its plan as $f" out err
done
unset HF_TOKEN MY_KEY
# Quotes, a slash in front as base64 has it, what URLs, pages and tables write differently: in each file and format, and in tables for spreadsheets.
for value in "hunter2-it's-mine" 'hunter2-"both"-'"'"'kinds'"'" '/hunter2+of/base64==' 'hunter2 & <more>, "x"; %y' "hunter2\\back\\slash'"; do
	rm -rf runs perf* m.html
	export HF_TOKEN=$value
	code "a secret that is $value" 0 "$PROFRIG" -vv run -o "$T/runs" --engine host --tools cpu_usage --perf-csv perf.csv --label "x=$HF_TOKEN" --label "y=echo '${HF_TOKEN//"'"/"'\\''"}'" \
		-- sh -c 'echo "performance: 3 it/s"' "$HF_TOKEN" "echo '${HF_TOKEN//"'"/"'\\''"}'"
	mv out printed
	no_secret "its run directory" runs
	no_secret "its messages" err printed
	check "tables were written" test -s perf.csv
	no_secret "its tables" perf*
	for f in text json sh; do
		code "its plan as $f" 0 "$PROFRIG" -vv plan --format $f --engine host --label "x=$HF_TOKEN" -- sh -c true "$HF_TOKEN"
		no_secret "its plan as $f" out err
	done
	# a table of an older run, or of another program
	sed 's/[*][*][*]/hunter2-in-a-table/g' perf.csv >old.csv
	HF_TOKEN=hunter2-in-a-table code "a mail of a table" 0 "$PROFRIG" report old.csv --format mail -o m.html
	no_secret "the mail" m.html
done
unset HF_TOKEN
# Values that a JSON document has elsewhere: what is written stays one, and stays what it says.
for value in 00000000 started_utc duration_s "$(basename "$T")"; do
	code "a secret that is '$value'" 0 "$PROFRIG" -q run -o "$T/runs" --engine host --tools cpu_usage --set "env.API_KEY='$value'" -- sleep 0.1
	run=$(cat out)
	check "'$value': run.json is JSON" jq -e '.started_utc and (.samplers[0].period_ns == 100000000)' "$run/run.json"
	check "'$value': plan.json is JSON" jq -e .run_id "$run/plan.json"
	like "'$value': the run is listed" "$("$PROFRIG" list runs 2>&1)" "$(basename "$run").* success .* cpu_usage"
done

# Too short to be told from a word: such a value is reported.
printf 'secrets: {PIN: {from_env: SHORT}, LONG: {from_env: EIGHT}, REPO_USERNAME: {from_env: SHORT}}\n' >short.yaml
export SHORT=s3cr3t7 EIGHT=hunter28
code "a short secret" 0 "$PROFRIG" run --no-analyze -o "$T/short" --config short.yaml --engine host -- true
is "is warned of, by its name and its place" "$(grep warning: err)" "profrig: warning: short.yaml:1: secrets.PIN: its value is shorter than 8 characters, too short to be masked in whole files such as run.json where a command repeats it: take a longer one"
SHORT='' code "an empty one" 0 "$PROFRIG" run --no-analyze -o "$T/short" --config short.yaml --engine host -- true
is "is none" "$(grep warning: err)" ""
