#!/bin/sh
# setup.sh [build] [page] [test]: says what is missing on this Debian (or Ubuntu), and installs it with apt-get when that is possible
# (as root or through sudo); else prints the one line to run. Nothing is done when nothing is missing.
set -eu

build="gcc libc6-dev make libyaml-dev libjansson-dev libxxhash-dev nettle-dev libotf2-trace-dev libsqlite3-dev libisal-dev libzstd-dev libpcre2-dev zlib1g-dev libopenblas-dev libcurl4-openssl-dev libpq-dev busybox-static"
page="nodejs npm"
test="libcmocka-dev jq procps git python3 docker-registry libopenmpi-dev openmpi-bin strace uftrace protobuf-compiler libdnnl-dev debootstrap libopenblas0-serial libblis4-serial libatlas3-base libblas3 libgslcblas0"

packages=
for group in "${@:-build}"; do
	case $group in
	build) packages="$packages $build" ;;
	page) packages="$packages $page" ;;
	test) packages="$packages $test" ;;
	*) echo "setup: unknown group '$group'" >&2; exit 2 ;;
	esac
done

command -v dpkg-query >/dev/null 2>&1 || {
	echo "setup: this is no Debian system; install the counterparts of:$packages" >&2
	exit 1
}

# A tool that is there by other means (a newer node, for instance) counts.
have() {
	case $1 in
	gcc | make | npm) command -v "$1" >/dev/null 2>&1 && return 0 ;;
	nodejs) command -v node >/dev/null 2>&1 && return 0 ;;
	python3 | docker-registry | strace | uftrace | debootstrap) command -v "$1" >/dev/null 2>&1 && return 0 ;;
	libcurl4-openssl-dev) [ "$(dpkg-query -W -f '${db:Status-Status}' libcurl4-gnutls-dev 2>/dev/null)" = installed ] && return 0 ;;
	busybox-static) command -v busybox >/dev/null 2>&1 && return 0 ;;
	esac
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=
for p in $packages; do
	have "$p" || missing="$missing $p"
done
if [ -z "$missing" ]; then
	echo "setup: everything needed is installed"
	exit 0
fi
echo "setup: missing:$missing"
line="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
	as=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
	as=sudo
elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
	as=sudo
else
	echo "setup: run this as root, then again what you ran:" >&2
	echo "  apt-get update && $line" >&2
	exit 1
fi
echo "setup: installing with ${as:+$as }apt-get (this needs the network)"
apt="$as env DEBIAN_FRONTEND=noninteractive apt-get -qq"
$apt update

# npm alone is hundreds of packages: on a terminal one line says how far it is.
how_far() {
	while IFS=: read -r kind what share rest; do
		case $kind in
		dlstatus) printf '\r\033[Ksetup: fetching, %s %%' "${share%%.*}" ;;
		pmstatus) printf '\r\033[Ksetup: installing, %s %%' "${share%%.*}" ;;
		ended) printf '\r\033[K' && return "$what" ;;
		esac
	done
}
# shellcheck disable=SC2086
if [ -t 1 ]; then
	{
		rc=0
		$apt install -y -o APT::Status-Fd=1 --no-install-recommends $missing || rc=$?
		echo "ended:$rc"
	} | how_far
else
	$apt install -y --no-install-recommends $missing >/dev/null
fi
echo "setup: done"
