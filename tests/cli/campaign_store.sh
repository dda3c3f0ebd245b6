#!/usr/bin/env bash
# campaign query, export, rebuild: a campaign as its process leaves it (journal, plan, real run directories, results), asked, exported, made again.
. "$(dirname "$0")/../lib.sh"
cd "$T" || exit 1
camp() { timeout 60 "$PROFRIG" campaign "$@"; }
SEQ=0
# crc32 TEXT: eight hexadecimal digits, out of the end of a gzip file
crc32() { printf %s "$1" | gzip -c | tail -c 8 | od -An -tx4 -N4 --endian=little | tr -d ' '; }
# event EV MEMBERS: one line more in the journal of $AT
event() {
	SEQ=$((SEQ + 1))
	local line
	printf -v line '{"seq":%d,"t":"2026-03-04T05:%02d:%02d.000000000Z","boot_id":"b","ev":"%s"%s' $SEQ $((SEQ / 60)) $((SEQ % 60)) "$1" "${2:+,$2}"
	printf '%s,"crc":"%s"}\n' "$line" "$(crc32 "$line")" >>"$AT/journal.ndjson"
}
# attempt CELL REPEAT N VALUE: a real run, committed
attempt() {
	local id=$1-$2.$3
	event intend "\"run\":\"$1-$2\",\"attempt\":$3,\"cell\":\"$1\",\"repeat\":$2,\"block\":$2,\"pos\":1"
	"$PROFRIG" -q run -o "$T/made" --engine host --no-analyze -- sh -c "echo performance: $4 samples/s" >"$T/where" || return 1
	mkdir -p "$AT/runs" "$AT/results"
	mv "$(cat "$T/where")" "$AT/runs/$id"
	event ended "\"run\":\"$1-$2\",\"attempt\":$3,\"state\":\"success\",\"class\":\"ok\",\"reason\":null,\"exit\":0,\"signal\":null,\"node\":null"
	echo "$id" >"$AT/results/$1-$2"
	event committed "\"run\":\"$1-$2\",\"attempt\":$3"
}
A=aaaaaaaaaaaa C=cccccccccccc
# campaign NAME: two cells, two repeats; three runs committed, one failed for good
campaign() {
	AT=$T/campaigns/$1 SEQ=0
	mkdir -p "$AT/plans"
	printf '{"schema":"profrig.campaign/1","name":"%s","repeat":2,"order":"random","seed":7,"cells":[{"id":"%s","label":"N=1","model":"m","axes":{"env.N":"1","tools":[],"x":0.1},"is_baseline":true,"baseline":null,"config":{}},{"id":"%s","label":"N=2","model":"m","axes":{"env.N":"=2","tools":["t"],"x":0.2},"is_baseline":false,"baseline":"%s","config":{}}],"gate":[],"metrics":["performance"]}' "$1" $A $C $A >"$T/plan"
	local sha
	sha=$(sha256sum <"$T/plan" | cut -c1-12)
	cp "$T/plan" "$AT/plans/$sha.json"
	event open "\"version\":\"0.1.0\",\"file\":\"x.yaml\",\"dir\":\".\",\"name\":\"$1\""
	event plan "\"plan\":\"plans/$sha.json\""
	attempt $A 1 1 10 && attempt $C 1 1 20 && attempt $C 2 1 21
	event intend "\"run\":\"$A-2\",\"attempt\":1,\"cell\":\"$A\",\"repeat\":2,\"block\":2,\"pos\":2"
	event ended "\"run\":\"$A-2\",\"attempt\":1,\"state\":\"failed\",\"class\":\"workload\",\"reason\":\"=exit, 3\",\"exit\":3"
	event failed "\"run\":\"$A-2\",\"class\":\"workload\",\"attempts\":1"
}
campaign one
printf 'name: one\nmodels: [m]\n' >one.yaml
DB=campaigns/one/store.sqlite

# --- which campaign ---
code "no campaign" 2 camp query
code "no SQL" 2 camp query campaigns/one
like "the tables are named" "$(cat err)" "campaign cell run attempt env artifact metric verdict"
code "too many words" 2 camp export campaigns/one x
code "no such campaign" 5 camp export nothing
code "a name alone" 5 camp export one
like "gets the directory" "$(cat err)" "the campaign is campaigns/one"
code "a folder that is none" 5 camp rebuild "$T"
like "says what it lacks" "$(cat err)" "no journal.ndjson"
echo "name: ../x" >bad.yaml
code "a name that is none" 3 camp export bad.yaml
echo "models: [x]" >bad.yaml
code "no name" 3 camp export bad.yaml
echo "name: other" >other.yaml
code "a campaign that did not begin" 5 camp export other.yaml
like "and what begins it" "$(cat err)" "profrig campaign run other.yaml"

# --- questions ---
code "rows as text" 0 camp query one.yaml "SELECT label, state, count(*) AS n FROM cell JOIN run ON run.cell = cell.id GROUP BY 1, 2 ORDER BY 1, 2"
like "have a head" "$(head -n 1 out)" "label +state +n"
like "and the counts" "$(cat out)" "N=1 +failed +1"
is "a store was made" "$(head -c 15 $DB)" "SQLite format 3"
code "CSV" 0 camp query campaigns/one --format csv "SELECT value, NULL AS none, unit FROM metric WHERE name = 'performance' ORDER BY value"
is "is CSV" "$(tr '\n' ' ' <out)" "value,none,unit 10,,samples/s 20,,samples/s 21,,samples/s "
code "JSON" 0 camp query -o campaigns one.yaml --json "SELECT id, committed FROM attempt WHERE committed ORDER BY id"
is "is JSON" "$(field out 'map(.id) | join(" ")')" "$A-1.1 $C-1.1 $C-2.1"
code "NDJSON" 0 camp query campaigns/one --format ndjson "SELECT block, avg(value) AS v FROM run JOIN attempt ON run.id = run JOIN metric ON attempt.id = attempt WHERE name = 'performance' GROUP BY 1 ORDER BY 1"
is "is NDJSON" "$(tr '\n' ' ' <out)" '{"block":1,"v":15} {"block":2,"v":21} '
code "no rows in JSON" 0 camp query campaigns/one --json "SELECT id FROM run WHERE 0"
is "are a list" "$(field out length)" 0
for sql in "DELETE FROM run" "DROP TABLE run" "ATTACH '$T/x' AS x" "PRAGMA user_version = 9" "VACUUM INTO '$T/x'" "SELECT 1; DELETE FROM run" "SELEC 1" ""; do
	code "refused: ${sql:-nothing}" 2 camp query campaigns/one "$sql"
done
code "more rows than asked for" 6 camp query campaigns/one --format csv --rows 2 "SELECT id FROM run"
is "are cut" "$(wc -l <out)" 3
code "no end" 6 camp query campaigns/one --timeout 0.5 "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
like "is ended" "$(cat err)" "longer than 0.5 s"
code "no format" 2 camp query campaigns/one --format xml "SELECT 1"
code "escapes of a terminal" 0 camp query campaigns/one "SELECT char(27) || '[2J' AS x"
is "are no escapes" "$(grep -c $'\033' out)" 0

# --- export ---
code "export" 0 camp export campaigns/one -o all.csv
is "columns" "$(head -n 1 all.csv)" "campaign,cell,label,model,env.N,tools,x,repeat,block,pos,run_state,attempt,committed,state,class,reason,exit,signal,node,job,env_sha,started_ns,ended_ns,dir,metric,key,unit,better,value"
like "a failure is a row, its text no formula" "$(grep ',failed,1,0' all.csv)" "^one,$A,N=1,m,1,\[\],0.1,2,2,2,failed,1,0,failed,workload,\"'=exit, 3\",3,"
is "figures in the order of the plan" "$(awk -F, '$(NF-4) == "performance" { printf "%s ", $NF }' all.csv)" "10 20 21 "
like "a value that looks like a formula" "$(tail -n 1 all.csv)" ",'=2,"
code "as JSON" 0 camp export campaigns/one --format json -o all.json
is "has all tables" "$(field all.json 'keys | join(" ")')" "artifacts attempts campaign cells environments metrics runs schema verdicts"
is "cells with their axes" "$(field all.json '.cells | map(.axes["env.N"]) | join(" ")')" "1 =2"
is "runs with their states" "$(field all.json '.runs | map(.state) | join(" ")')" "committed failed committed committed"
is "the environment" "$(field all.json '.environments | length')" 1
like "with the machine" "$(field all.json '.environments[0].env.host.kernel')" "."
code "as NDJSON" 0 camp export campaigns/one --format ndjson
cp out all.ndjson
is "an object a row" "$(field all.ndjson 'select(.metric == "performance") | .value' | tr '\n' ' ')" "10 20 21 "
code "no format" 2 camp export campaigns/one --format xml
code "a folder that cannot be made" 4 camp export campaigns/one -o /dev/null/x.csv

# --- made again ---
same() {
	local f
	for f in csv json ndjson; do
		camp export campaigns/one --format $f -o again.$f 2>>"$T/err" && cmp all.$f again.$f || return 1
	done
}
code "rebuild" 0 camp rebuild campaigns/one
like "says what is in it" "$(cat out)" "14 events, 2 cells, 3 of 4 runs committed, 1 failed"
check "exports are equal" same
code "rebuild as JSON" 0 camp rebuild one.yaml --json
is "counts" "$(field out '[.events, .cells, .runs, .committed, .failed, .left, .unread] | join(" ")')" "14 2 4 3 1 0 0"
rm $DB
code "deleted" 0 camp query campaigns/one "SELECT count(*) FROM run"
like "is said" "$(cat err)" "store.sqlite: missing; made again"
check "and equal" same
head -c 3000 $DB >cut && cat cut >$DB
code "cut" 0 camp query campaigns/one "SELECT count(*) FROM run"
like "is said" "$(cat err)" "made again from the journal"
check "and equal" same
check "the damaged one is kept" cmp cut $DB.damaged
code "behind" 0 camp query campaigns/one "SELECT 1"
event intend "\"run\":\"$A-2\",\"attempt\":2,\"cell\":\"$A\",\"repeat\":2,\"block\":2,\"pos\":2"
code "a store behind its journal" 0 camp query campaigns/one --format csv "SELECT state FROM run WHERE id = '$A-2'"
is "is up to date" "$(tail -n 1 out)" running
printf '{"seq":16,"t":"2026' >>campaigns/one/journal.ndjson
cp campaigns/one/journal.ndjson torn
code "a torn journal" 0 camp query campaigns/one "SELECT 1"
check "is left alone" cmp torn campaigns/one/journal.ndjson
code "and a rebuild" 0 camp rebuild campaigns/one
check "leaves it, too" cmp torn campaigns/one/journal.ndjson
sed -i '3s/intend/intent/' campaigns/one/journal.ndjson
code "a journal that is damaged in the middle" 5 camp rebuild campaigns/one
like "is named with the line" "$(cat err)" "journal.ndjson:3: damaged: its crc is wrong"

# --- what a run directory may hold ---
campaign two
rm "$AT/runs/$A-1.1/run.json" "$AT/runs/$C-1.1/run.json"
ln -s "$T/campaigns/one/runs/$A-1.1/run.json" "$AT/runs/$A-1.1/run.json"
mkfifo "$AT/runs/$C-1.1/run.json"
code "a link and a FIFO in place of run.json" 6 camp rebuild campaigns/two
like "are counted" "$(cat err)" "2 attempts that ended well have no run directory that can be read"
camp export campaigns/two >out 2>err
is "and have no figures" "$(grep -c ',performance,' out)" 1
rm "$AT/results/$C-2"
code "a commit that results/ does not have" 6 camp rebuild campaigns/two
like "does not count" "$(cat out)" "2 of 4 runs committed"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$T"
	code "where nothing can be written" 0 setpriv --reuid=65534 --clear-groups env HOME=/nonexistent "$PROFRIG" campaign query "$T/campaigns/two" "SELECT 1"
fi
