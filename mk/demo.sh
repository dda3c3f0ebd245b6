#!/bin/sh
# demo.sh [engine]: runs the example model profiled and says where its report is.
# Without an engine: docker when it answers, else podman, else the host.
set -eu
cd "$(dirname "$0")/.."
profrig=${B:-build}/profrig
engine=${1:-auto}

answers() { # engine command…
	"$@" version >/dev/null 2>&1
}
if [ "$engine" = auto ]; then
	if answers ${PROFRIG_DOCKER:-docker}; then
		engine=docker
	elif answers ${PROFRIG_PODMAN:-podman}; then
		engine=podman
	else
		engine=host
		echo "demo: no container engine answers, so the example runs on the host"
	fi
fi
case $engine in
docker) set -- ${PROFRIG_DOCKER:-docker} ;;
podman) set -- ${PROFRIG_PODMAN:-podman} ;;
*) set -- ;;
esac
if [ $# -gt 0 ]; then
	echo "demo: building the image mlp:demo with $engine"
	examples/mlp/image.sh "$@" >/dev/null
fi
dir=$("$profrig" run --engine "$engine" examples/mlp)
echo
echo "demo: look at $dir/analysis/report.html"
