out=$1 format=$2
shift 2
mkdir -p "$out"
if command -v rocprofv3 >/dev/null 2>&1; then
	exec rocprofv3 --output-format "$format" -d "$out" "$@"
fi
old=
while [ "$1" != -- ]; do
	case $1 in
	--hip-trace | --hsa-trace | --sys-trace | --stats) old="$old $1" ;;
	--runtime-trace | --kernel-trace) old="$old --hip-trace" ;;
	esac
	shift
done
shift
exec rocprof $old --roctx-trace --timestamp on -d "$out/raw" -o "$out/results.csv" "$@"
