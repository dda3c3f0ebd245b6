#!/usr/bin/env bash
# Results in the real servers of Debian's packages: what arrives, once however often it is sent; servers that are down; no secret anywhere.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../servers.sh"
cd "$T" || exit 1
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy
export FLUX_WORD='fl"ux\word 2' PG_WORD="p'g word=\\3"
last() { readlink runs/latest; }
run_json() { field "runs/latest/run.json" "$1"; }

# awkward: the texts that formats escape
awkward='a "quote", b=c \ é
line'
cat >work.sh <<'END'
echo "performance: 12.5 samples/s"
exit "${STATUS:-0}"
END
conf() { # file, entries
	{
		echo 'model: {name: "the model, v=1", command: [sh, work.sh]}'
		echo 'publish:'
		printf '%s\n' "$2"
	} >"$1"
}

pushed() { ask GET "http://127.0.0.1:$GATE_PORT/metrics"; }
if need pushgateway command -v prometheus-pushgateway; then
	GATE_PORT=$(free_port)
	pushgateway_start "$GATE_PORT"
	GATE_PID=$SERVER_PID
	gate="  - {to: pushgateway, url: \"http://127.0.0.1:$GATE_PORT/\", job: nightly, timeout: 20}"

	conf gate.yaml "$gate"
	code "a run with a Pushgateway" 0 "$PROFRIG" run --no-analyze --config gate.yaml --label "note=$awkward"
	first=$(last)
	like "nothing is warned of" "$(run_json '[.warnings[].code] | index("W_PUBLISH") == null')" true
	pushed >gate.txt
	check "its result is there" grep -E "^profrig_metric\{.*job=\"nightly\".*metric=\"performance\".*run=\"$first\".*unit=\"samples/s\"\} 12.5$" gate.txt
	check "with the model as it is" grep -F 'model="the model, v=1"' gate.txt
	check "and its status" grep -E '^profrig_run_info\{.*status="success".*\} 1$' gate.txt
	STATUS=3 "$PROFRIG" run --no-analyze --config gate.yaml >/dev/null 2>&1
	is "a failed run is no other failure" $? 1
	second=$(last)
	pushed >gate.txt
	check "the last run replaces the one before" grep -E "^profrig_run_success\{.*run=\"$second\"\} 0$" gate.txt
	is "of the same model" "$(grep -c '^profrig_run_success' gate.txt)" 1
	code "the earlier run, sent late" 0 "$PROFRIG" publish --config gate.yaml "runs/$first"
	like "stays behind the later one" "$(cat out)" "1 behind a later run"
	check "which is still there" grep -q "run=\"$second\"" <(pushed)

	server_stop "$GATE_PID"
	code "a run without its server" 0 "$PROFRIG" run --no-analyze --config gate.yaml
	third=$(last)
	like "has a warning" "$(run_json '.warnings[] | select(.code == "W_PUBLISH") | .text')" "1 waits in .*outbox.sqlite.*pushgateway http://127.0.0.1:$GATE_PORT nightly: "
	"$PROFRIG" publish --status --json >status.json
	is "the outbox says what waits" "$(jq -r --arg r "$third" '.[] | select(.run == $r) | "\(.state) \(.tries)"' status.json)" "waiting 1"
	check "and why" jq -e --arg r "$third" '.[] | select(.run == $r) | .error | length > 5' status.json
	check "and when it is tried again" jq -e --arg r "$third" '.[] | select(.run == $r) | .next_utc > "2020"' status.json
	code "publish says so" 6 "$PROFRIG" publish --config gate.yaml
	pushgateway_start "$GATE_PORT"
	sqlite3=$(command -v sqlite3 || true)
	[ -z "$sqlite3" ] || "$sqlite3" runs/outbox.sqlite "UPDATE outbox SET next_ns = 0"
	if [ -n "$sqlite3" ]; then
		code "the next run" 0 "$PROFRIG" run --no-analyze --config gate.yaml
		is "takes what waits with it" "$("$PROFRIG" publish --status --json | jq -r --arg r "$third" '.[] | select(.run == $r) | .state')" superseded
	else
		skip "the next run takes what waits with it" "there is no sqlite3 to turn the clock with"
	fi
	code "publish sends the rest" 0 "$PROFRIG" publish --config gate.yaml
	like "and nothing waits" "$(cat out)" "0 waiting"
else
	skip "Pushgateway" "prometheus-pushgateway is not installed"
fi

if need influxdb command -v influxd; then
	influxdb_start "$(free_port)"
	influx "" "CREATE USER root WITH PASSWORD 'r00t' WITH ALL PRIVILEGES" >/dev/null
	influx "" 'CREATE DATABASE "perf db"' root:r00t >/dev/null
	influx "" "CREATE USER writer WITH PASSWORD '$(printf %s "$FLUX_WORD" | sed 's/\\/\\\\/g')'" root:r00t >/dev/null
	influx "" 'GRANT WRITE ON "perf db" TO writer' root:r00t >/dev/null
	flux="  - {to: influxdb, url: \"http://127.0.0.1:$INFLUX_PORT\", database: perf db, user: writer, password: {from_env: FLUX_WORD}, timeout: 20}"
	conf flux.yaml "$flux"
	code "a run with an InfluxDB" 0 "$PROFRIG" run --no-analyze --config flux.yaml --label "cell=$awkward" --label 'campaign=c=1, d\' --label "note=$awkward"
	first=$(last)
	influx "perf db" 'SELECT * FROM profrig_metric WHERE "metric" = '"'performance'" root:r00t >flux.json
	is "its result is there" "$(jq -r '.results[0].series[0] | [.columns, .values[0]] | transpose | map({(.[0]): .[1]}) | add | "\(.value) \(.unit) \(.model) \(.run)"' flux.json)" "12.5 samples/s the model, v=1 $first"
	is "with the labels as tags" "$(jq -r '.results[0].series[0] | [.columns, .values[0]] | transpose | map({(.[0]): .[1]}) | add | "\(.campaign)|\(.cell)"' flux.json)" 'c=1, d/|a "quote", b=c \ é?line'
	influx "perf db" 'SELECT * FROM profrig_run' root:r00t >flux.json
	is "and as fields" "$(jq -r '.results[0].series[0] | [.columns, .values[0]] | transpose | map({(.[0]): .[1]}) | add | .label_note' flux.json)" "$awkward"
	is "with the run's own time" "$(jq -r '.results[0].series[0].values[0][0]' flux.json | cut -c 1-16)" \
		"$(python3 -c 'import sys, datetime; print(int((datetime.datetime.fromisoformat(sys.argv[1][:-1]) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(microseconds=1)))' "$(run_json .ended_utc)")"
	code "sent again" 0 "$PROFRIG" publish --config flux.yaml runs/latest
	like "it is sent" "$(cat out)" "1 sent, 0 waiting"
	is "and still one point" "$(influx "perf db" 'SELECT count(success) FROM profrig_run' root:r00t | jq '.results[0].series[0].values[0][1]')" 1
	is "as is each metric" "$(influx "perf db" 'SELECT count(value) FROM profrig_metric' root:r00t | jq '.results[0].series[0].values[0][1]')" "$(run_json '[.metrics[] | select(.value != null)] | length')"
	FLUX_WORD=wr0ng-word-99 "$PROFRIG" run --no-analyze --config flux.yaml >out 2>err
	is "a wrong password fails no run" $? 0
	like "but is warned of" "$(cat err)" "access is refused \(status 401\)"
	check "without the password" sh -c '! grep -r wr0ng-word-99 out err runs'
	sed 's/perf db/no such db/' flux.yaml >nodb.yaml
	code "a run without its database" 0 "$PROFRIG" run --no-analyze --config nodb.yaml
	like "says that there is none" "$(cat err)" "no such database or path"
	code "what waits is sent with the right one" 0 "$PROFRIG" publish --config flux.yaml
	is "and all points are there" "$(influx "perf db" 'SELECT count(success) FROM profrig_run' root:r00t | jq '.results[0].series[0].values[0][1]')" 2
else
	skip "InfluxDB" "influxdb is not installed"
fi

if need postgres pg_bin && need postgres postgres_start "$(free_port)"; then
	PG_DB=postgres pg "CREATE DATABASE perf" && pg "CREATE ROLE writer LOGIN PASSWORD '$(printf %s "$PG_WORD" | sed "s/'/''/g")'" &&
		pg "GRANT CREATE ON SCHEMA public TO writer"
	pgsql="  - {to: postgres, connection: \"host=127.0.0.1 port=$PG_PORT dbname=perf user=writer\", password: {secret: PG_WORD}, timeout: 20}"
	conf pg.yaml "$pgsql
secrets: {PG_WORD: {from_env: PG_WORD}}"
	owner=$PGPASSWORD
	unset PGPASSWORD
	code "a run with a PostgreSQL" 0 "$PROFRIG" run --no-analyze --config pg.yaml --label "note=$awkward" --label 'cell='"'"'); DROP TABLE profrig_run; --'
	first=$(last)
	is "and no notice of the server" "$(grep -c NOTICE err)" 0
	export PGPASSWORD=$owner
	is "its result is there" "$(pg "SELECT m.value, m.unit, r.model, r.status FROM profrig_metric m JOIN profrig_run r USING (run) WHERE run = '$first' AND name = 'performance'")" "12.5|samples/s|the model, v=1|success"
	is "with its labels" "$(pg "SELECT labels->>'note' FROM profrig_run")" "$awkward"
	is "and no statement in them is one" "$(pg "SELECT cell FROM profrig_run")" "'); DROP TABLE profrig_run; --"
	is "its times" "$(pg "SELECT to_char(ended AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM profrig_run")" "$(run_json .ended_utc)"
	code "sent again" 0 "$PROFRIG" publish --config pg.yaml runs/latest
	is "it is one run" "$(pg "SELECT count(*) FROM profrig_run")" 1
	is "with each metric once" "$(pg "SELECT count(*) FROM profrig_metric")" "$(run_json '[.metrics[] | select(.value != null)] | length')"
	pg "REVOKE CREATE ON SCHEMA public FROM writer"
	STATUS=4 "$PROFRIG" run --no-analyze --config pg.yaml >/dev/null 2>err
	is "a failed run of a user who may make no table" $? 1
	is "is there, too" "$(pg "SELECT status, exit_code FROM profrig_run WHERE run = '$(last)'")" "failed|4"
	PG_WORD=wr0ng-word-77 "$PROFRIG" run --no-analyze --config pg.yaml >out 2>err
	like "a wrong password is warned of" "$(cat err)" "no connection: .*password authentication failed"
	check "without the password" sh -c '! grep -r wr0ng-word-77 out err runs'
	pg "ALTER TABLE profrig_metric ADD CHECK (name <> 'performance') NOT VALID"
	code "a run that the database's rules forbid" 0 "$PROFRIG" run --no-analyze --config pg.yaml
	is "is refused for good" "$("$PROFRIG" publish --status --json | jq -r --arg r "$(last)" '.[] | select(.run == $r) | .state')" refused
	is "and not there by half" "$(pg "SELECT count(*) FROM profrig_run WHERE run = '$(last)'")" 0
	postgres_stop "$SERVER_PID"
	# it takes connections and says nothing
	python3 -c 'import socket, sys, time; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); time.sleep(100)' "$PG_PORT" &
	mute=$!
	at_end "kill $mute"
	sed 's/timeout: 20/timeout: 1/' pg.yaml >mute.yaml
	wait_for python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$PG_PORT"
	code "a server that says nothing" 0 "$PROFRIG" run --no-analyze --config mute.yaml
	like "is given up" "$(cat err)" "the server does not answer in 1 s"
else
	skip "PostgreSQL" "postgresql is not installed"
fi

check "no secret is in what profrig wrote" sh -c '! grep -rF -e "fl\"ux" -e "fl\\\\\"ux" -e "g word=" -e "own-3r-word" runs out err'
