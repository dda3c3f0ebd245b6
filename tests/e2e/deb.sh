#!/usr/bin/env bash
# The Debian package: builds, is clean, works where it was unpacked, and leaves nothing behind when it goes.
. "$(dirname "$0")/../lib.sh"
unset PROFRIG_TOOLS_PATH
[ "$B" = "$ROOT/build" ] || { skip "deb" "not the ordinary build folder" && exit 0; }
{ command -v dh && command -v dpkg-buildpackage && command -v fakeroot; } >/dev/null || { skip "deb" "debhelper, dpkg-dev or fakeroot is not installed" && exit 0; }
git -C "$ROOT" rev-parse >/dev/null 2>&1 || { skip "deb" "no git checkout" && exit 0; }
[ "$(id -u)" = 0 ] || { skip "deb" "dpkg --root needs root" && exit 0; }

make -C "$ROOT" --no-print-directory PAGE="$(cat "$B/gen/page.mode")" deb >"$T/log" 2>&1 || { not_ok "make deb" "$(tail -n 40 "$T/log")" && exit 0; }
ok "make deb"
deb=$(echo "$B"/deb/profrig_*.deb)
if command -v lintian >/dev/null; then
	check "lintian finds no error and no warning" sh -c "! lintian --allow-root '$deb' 2>&1 | grep '^[EW]:'"
else
	skip "lintian" "lintian is not installed"
fi
mkdir -p "$T/root/var/lib/dpkg/info" "$T/root/var/lib/dpkg/updates" "$T/w"
touch "$T/root/var/lib/dpkg/status" "$T/root/var/lib/dpkg/available"
dpkg_in() { dpkg --root="$T/root" --force-depends --force-script-chrootless --log=/dev/null "$@"; }
check "it installs" dpkg_in -i "$deb"
bin=$T/root/usr/bin/profrig
cd "$T/w" || exit 1
code "doctor" 0 "$bin" doctor --json
check "finds its agent" jq -e --arg d "$T/root" '.[] | select(.kind == "agent") | .state == "ok" and (.detail | startswith($d))' "$T/out"
code "a run" 0 "$bin" -q run --engine host --tools cpu_power -- sleep 0.2
check "leaves a report" test -s "$(cat "$T/out")/analysis/report.html"
check "manual pages are where man looks" test -s "$T/root/usr/share/man/man1/profrig-run.1.gz" -a -s "$T/root/usr/share/man/man5/profrig.yaml.5.gz"
check "and completion where shells look" test -s "$T/root/usr/share/bash-completion/completions/profrig" -a -s "$T/root/usr/share/zsh/vendor-completions/_profrig" \
	-a -s "$T/root/usr/share/fish/vendor_completions.d/profrig.fish"
check "it depends on what it needs" sh -c "dpkg -f '$deb' Depends | grep -q libotf2 || dpkg -f '$deb' Depends | grep -q libopen-trace-format2"
check "it goes" dpkg_in -P profrig
is "and leaves nothing" "$(cd "$T/root" && find . -not -path './var/lib/dpkg*' -not -type d)" ""
