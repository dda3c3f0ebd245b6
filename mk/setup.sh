#!/bin/sh
# setup.sh [build] [page] [test]: says what is missing on this Debian (or Ubuntu), and installs it with apt-get when that is possible
# (as root or through sudo); else prints the one line to run. Nothing is done when nothing is missing.
set -eu

build="gcc libc6-dev make pkg-config libyaml-dev libjansson-dev libxxhash-dev nettle-dev libotf2-trace-dev libisal-dev libzstd-dev libpcre2-dev libopenblas-dev busybox-static"
page="nodejs npm"
test="libcmocka-dev jq procps"

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
	pkg-config) command -v pkg-config >/dev/null 2>&1 && return 0 ;;
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
export DEBIAN_FRONTEND=noninteractive
$as apt-get update -qq
# shellcheck disable=SC2086
$as apt-get install -y -qq --no-install-recommends $missing >/dev/null
echo "setup: done"
