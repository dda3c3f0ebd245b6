# Who may include whom (docs/architecture.md): one row for each room. A room is the folder below base/, harness/, analysis/ (base and cli are one each), and
# a header belongs to the room that it lies in: include/profrig/<room>/ is what a room shows to others, a private header is found by its name. What no row
# allows is an error; to let a room see another one is to change a row here.
BEGIN {
	may["base"] = ""
	may["devices"] = ""
	may["engine"] = ""
	may["sampler"] = ""
	may["bench"] = "devices sampler"
	may["tracers"] = "none"
	may["agent"] = "engine"
	may["config"] = "devices engine sampler madengine"
	may["plan"] = "config devices engine"
	may["image"] = "config engine"
	may["data"] = "config"
	may["run"] = "config devices engine sampler plan image data madengine"
	may["publish"] = "config data run"
	may["madengine"] = "config plan run sampler image campaign"
	may["campaign"] = "config devices sampler plan image run madengine"
	may["model"] = "names"
	may["scan"] = "model readers"
	may["library"] = "model scan cost"
	may["readers"] = "model scan library names"
	may["counters"] = "model energy"
	may["topology"] = "model counters energy"
	may["energy"] = "model counters topology"
	may["profile"] = "model scan counters topology energy"
	may["names"] = ""
	may["hlo"] = "model scan cost"
	may["work"] = "model names"
	may["cost"] = "model names"
	may["stats"] = "model counters topology energy profile names work cost hlo"
	may["report"] = "model stats"
	may["compare"] = "scan readers"
	may["pack"] = "readers"
	may["session"] = "model scan library readers counters topology energy profile stats names work cost report config hlo"
	may["cli"] = "*"
	for (i = 1; i < ARGC; i++)
		if (ARGV[i] ~ /\.h$/ && ARGV[i] !~ /^include\//) {
			n = split(ARGV[i], p, "/")
			private[p[n]] = room_of(ARGV[i])
		}
}
function room_of(file,   p) {
	split(file, p, "/")
	if (p[1] == "include")
		return p[3]
	return p[1] == "base" || p[1] == "cli" ? p[1] : p[2]
}
function allowed(me, other) {
	return other == me || may[me] == "*" || (other == "base" && may[me] != "none") || index(" " may[me] " ", " " other " ")
}
/^#[ \t]*include[ \t]+"/ {
	split($0, q, "\"")
	me = room_of(FILENAME)
	if (!(me in may)) {
		printf "%s:1: '%s' has no row in mk/layers.awk\n", FILENAME, me
		exit bad = 1
	}
	n = split(q[2], p, "/")
	if (n == 3 && p[1] == "profrig") {
		other = p[2]
	} else if (n == 1 && (q[2] in private)) {
		other = private[q[2]]
	} else {
		printf "%s:%d: include \"profrig/<room>/%s\", or a private header by its name alone: %s\n", FILENAME, FNR, p[n], q[2]
		bad = 1
		next
	}
	if (!allowed(me, other)) {
		printf "%s:%d: %s may not include %s (%s): see the rows of mk/layers.awk\n", FILENAME, FNR, me, q[2], other
		bad = 1
	}
}
END { exit bad }
