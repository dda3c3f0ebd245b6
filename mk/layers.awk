# Who may include whom (docs/architecture.md). A header belongs to the folder whose module it documents; this is the one table.
BEGIN {
	n = split("base:err door map_guard proc_watch xalloc strbuf strvec pool intern vec fs num digits bits wire comm proc temps clock metronome dynlib log progress csv csv_scan json_out table utf8 gz sum sort text u64map student paired workers moments sketch regex redact shell_words banned;" \
		  "config:cfg buildconf tool runconf placeholder results mad;devices:devices;plan:plan;engine:engine engine_image agent;sampler:sampler;image:image;data:data;run:run leftovers control runs;" \
		  "model:model sink timebase warnings lane replay;readers:reader input;attribution:counters energy idle lane profile tau_fit topology;stats:analysis ensemble;report:writer convert", part, ";")
	for (i = 1; i <= n; i++) {
		split(part[i], kv, ":")
		m = split(kv[2], h, " ")
		for (k = 1; k <= m; k++)
			room[h[k]] = kv[1]
	}
	may["base"] = "base"
	may["config"] = "base config devices"
	may["devices"] = "base devices"
	may["engine"] = "base engine"
	may["sampler"] = "base sampler"
	may["agent"] = "base engine"
	may["plan"] = "base config devices engine plan"
	may["image"] = "base config engine image"
	may["data"] = "base config data"
	may["run"] = "base config devices engine sampler plan image data run"
	may["campaign"] = "base config plan run campaign"
	may["tracers"] = ""
	may["model"] = "base model"
	may["readers"] = "base model readers"
	may["attribution"] = "base model attribution"
	may["stats"] = "base model attribution stats"
	may["report"] = "base model attribution stats report"
}
function folder(file,   p, c) {
	c = split(file, p, "/")
	if (file ~ /^include\/profrig\//) {
		sub(/\.h$/, "", p[c])
		return room[p[c]]
	}
	return p[1] == "base" ? "base" : p[2]
}
/^#[ \t]*include[ \t]+"/ {
	split($0, q, "\"")
	me = folder(FILENAME)
	if (!(me in may))
		next
	if (q[2] !~ /^profrig\//) {
		if (q[2] ~ /\//) {
			printf "%s:%d: private headers are included from their own folder only: %s\n", FILENAME, FNR, q[2]
			bad = 1
		}
		next
	}
	name = q[2]
	sub(/^profrig\//, "", name)
	sub(/\.h$/, "", name)
	if (!(name in room)) {
		printf "%s:%d: %s stands in no room of mk/layers.awk\n", FILENAME, FNR, q[2]
		bad = 1
	} else if (index(" " may[me] " ", " " room[name] " ") == 0) {
		printf "%s:%d: %s may not include %s (%s): see the table in mk/layers.awk\n", FILENAME, FNR, me, q[2], room[name]
		bad = 1
	}
}
END { exit bad }
