#!/usr/bin/env bash
# Sourced after lib.sh: servers of Debian's packages, with data of their own in $T, on loopback; each ends with the script.
#
#	ask METHOD URL [USER:PASSWORD]	what a server answers, "" when it does not; the body of a POST comes from stdin
#	free_port			one that nothing listens on
#	pushgateway_start PORT; influxdb_start PORT; postgres_start PORT	as a process of ours; sets SERVER_PID
#	server_stop PID; postgres_stop PID	and waits for it
#	pg SQL				what psql prints, as the superuser of the server that postgres_start started
#
# Services that a package's installation started are none of these.

ask() {
	python3 - "$@" <<'END'
import base64, sys, urllib.request
method, url = sys.argv[1:3]
head = {}
if len(sys.argv) > 3:
    head["Authorization"] = "Basic " + base64.b64encode(sys.argv[3].encode()).decode()
try:
    rq = urllib.request.Request(url, method=method, headers=head, data=b"" if method == "POST" else None)
    sys.stdout.write(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(rq, timeout=20).read().decode())
except urllib.error.HTTPError as e:
    sys.stdout.write(e.read().decode())
except OSError:
    sys.exit(1)
END
}
influx() { # DATABASE QUERY [USER:PASSWORD]
	local q
	q=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.urlencode({"db": sys.argv[1], "epoch": "ns", "q": sys.argv[2]}))' "$1" "$2")
	shift 2
	ask POST "http://127.0.0.1:$INFLUX_PORT/query?$q" "$@"
}
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
server_stop() {
	kill "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}
pushgateway_start() {
	prometheus-pushgateway --web.listen-address="127.0.0.1:$1" >>"$T/pushgateway.log" 2>&1 &
	SERVER_PID=$!
	at_end "server_stop $SERVER_PID"
	wait_for ask GET "http://127.0.0.1:$1/-/ready"
}
influxdb_start() {
	local other
	INFLUX_PORT=$1
	other=$(free_port)
	cat >"$T/influxdb.conf" <<-END
		reporting-disabled = true
		bind-address = "127.0.0.1:$other"
		[meta]
		  dir = "$T/influx/meta"
		[data]
		  dir = "$T/influx/data"
		  wal-dir = "$T/influx/wal"
		[monitor]
		  store-enabled = false
		[http]
		  bind-address = "127.0.0.1:$1"
		  auth-enabled = true
	END
	influxd -config "$T/influxdb.conf" >>"$T/influxdb.log" 2>&1 &
	SERVER_PID=$!
	at_end "server_stop $SERVER_PID"
	wait_for ask GET "http://127.0.0.1:$1/ping"
}
# The newest server of the machine; "" when there is none.
pg_bin() {
	local d newest=
	for d in /usr/lib/postgresql/*/bin; do
		[ ! -x "$d/postgres" ] || newest=$d
	done
	[ -n "$newest" ] && echo "$newest"
}
# The server does not run as root; no word of ours needs quoting for it.
pg_as() {
	if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}
pg() {
	"$(pg_bin)/psql" -h 127.0.0.1 -p "$PG_PORT" -U owner -d "${PG_DB:-perf}" -AtqX -v ON_ERROR_STOP=1 -c "$1"
}
postgres_start() {
	local bin
	bin=$(pg_bin)
	PG_PORT=$1
	export PGPASSWORD=own-3r-word
	if [ ! -d "$T/pg" ]; then
		chmod 755 "$T"
		mkdir "$T/pg"
		echo "$PGPASSWORD" >"$T/pg.word"
		[ "$(id -u)" != 0 ] || chown postgres "$T/pg" "$T/pg.word"
		(cd / && pg_as "$bin/initdb" -D "$T/pg" -U owner --auth=scram-sha-256 --pwfile="$T/pg.word" -E UTF8 --locale=C.UTF-8 >"$T/initdb.log" 2>&1) || return 1
	fi
	(cd / && pg_as "$bin/postgres" -D "$T/pg" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off >>"$T/postgres.log" 2>&1) &
	SERVER_PID=$!
	at_end "postgres_stop $SERVER_PID"
	PG_DB=postgres wait_for pg "SELECT 1"
}
# Its first process is the one in its own file.
postgres_stop() {
	local pid
	pid=$(head -n 1 "$T/pg/postmaster.pid" 2>/dev/null) || return 0
	kill -INT "$pid" 2>/dev/null
	wait "$1" 2>/dev/null
	wait_for test ! -e "$T/pg/postmaster.pid"
}
