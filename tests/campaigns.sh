# Sourced, by bash, behind lib.sh: campaigns of four cells on the host.
#
#	c ARGUMENTS…				profrig campaign
#	state CAMPAIGN JQ			JQ of its status, as one line
#	file NAME REPEAT COMMAND [MORE LINES]	writes NAME.yaml: COMMAND by env.A (1, 2) and env.B (x, y)
c() { "$PROFRIG" campaign "$@"; }
state() { c status --json "$1" | jq -c "[$2]"; }
file() {
	cat >"$1.yaml" <<-EOF
		name: $1
		models: [{name: m, command: [sh, -c, '$3']}]
		engine: host
		axes: {env.A: ["1", "2"], env.B: [x, y]}
		repeat: $2
		analyze: false
		${4:-}
	EOF
}
