out=$1 mode=lite
shift
mkdir -p "$out"
[ -z "$RTL_MODE" ] || mode=$RTL_MODE
exec rtl trace --mode "$mode" -o "$out/trace.db" -- "$@"
