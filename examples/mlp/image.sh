#!/bin/sh
# Builds mlp:demo from what is on this machine: image.sh [engine command…]   (default: docker)
# The image holds /model/mlp, the shared libraries it needs at their own paths, and busybox as /bin/sh.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- docker
[ -x ./mlp ] || { echo "image.sh: ./mlp is not built: run 'make' first" >&2; exit 1; }
busybox=$(command -v busybox) || { echo "image.sh: busybox is missing: apt-get install busybox-static" >&2; exit 1; }

root=rootfs
rm -rf "$root"
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/model" "$root/tmp" "$root/etc"
cp ./mlp "$root/model/mlp"
cp "$busybox" "$root/bin/busybox"
for tool in sh cat ls echo env sleep kill ps mkdir rm true false; do
	ln -s busybox "$root/bin/$tool"
done

copy() { # a library at its own path, links followed
	mkdir -p "$root$(dirname "$1")"
	[ -e "$root$1" ] || cp -L "$1" "$root$1"
}
ldd ./mlp | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i }' | while read -r lib; do
	copy "$lib"
done
# what a preloaded library of any age may ask for beside libc
libc=$(ldd ./mlp | awk '/libc\.so\.6/ { print $3 }')
for name in libdl.so.2 libpthread.so.0 librt.so.1; do
	[ ! -e "$(dirname "$libc")/$name" ] || copy "$(dirname "$libc")/$name"
done
"$@" build -t mlp:demo .
