# Calls that take a path and follow what others put there. All but the files below go through door.h (and fs.h, which rests on it), so that a
# folder that is held is entered through its descriptor alone. A file is excused with the reason why no path of a workload reaches its calls.
BEGIN {
	split("open fopen opendir stat lstat access rename unlink mkdir rmdir symlink readlink chmod chown lchown truncate realpath xrealpath mkfifo mknod nftw ftw scandir " \
	      "json_load_file json_dump_file freopen creat remove link", word, " ")
	for (i in word)
		call[word[i]] = 1
	excuse["base/files/door.c"] = "is the door"
	excuse["base/core/xalloc.c"] = "xrealpath, whose callers are looked at as those of realpath are"
	excuse["base/files/fs.c"] = "fs_which: programs in PATH"
	excuse["base/files/fs_path.c"] = "the running binary"
	excuse["base/files/fs_runtime.c"] = "the folder of this user's runtime files, whose owner is checked"
	excuse["base/core/spill_trim.c"] = "/proc"
	excuse["base/process/clock.c"] = "/proc"
	excuse["base/process/proc.c"] = "/dev/null, /proc; a step's own folder"
	excuse["base/process/proc_watch.c"] = "/proc"
	excuse["base/process/progress.c"] = "the terminal"
	excuse["base/process/dynlib.c"] = "libraries of the system"
	excuse["harness/bench/bench_drivers.c"] = "libraries that the user names, which are loaded anyway"
	excuse["harness/config/conf_read.c"] = "the configuration, read before anything runs"
	excuse["harness/config/runconf.c"] = "the configuration, read before anything runs"
	excuse["harness/engine/engine_container.c"] = "device files"
	excuse["harness/run/run_sampling.c"] = "/proc; samples files go through door.h"
	excuse["harness/run/run_id.c"] = "profrig's own programs"
	excuse["harness/run/preflight.c"] = "profrig's own programs, device files"
	excuse["harness/run/run_facts.c"] = "/proc"
	excuse["harness/bench/vendor/bench_vendor.c"] = "realpath: programs in PATH"
	excuse["harness/run/run_git.c"] = "realpath: where the search for a repository begins"
	excuse["harness/run/agent_proof.c"] = "/proc"
	excuse["harness/madengine/perf_csv.c"] = "the table that the user names; a link that came in its place is refused (pin_holds)"
	excuse["harness/run/run_index.c"] = "the folder of runs: links in it are looked at, made and removed, never followed"
	excuse["harness/run/run_registry.c"] = "the registry, in a folder of this user alone"
	excuse["harness/run/sweep/run_sweep_rest.c"] = "the registry, in a folder of this user alone; /proc"
	excuse["harness/run/sweep/run_sweep_dirs.c"] = "/proc/self/fd; the rest goes through the folder that sweep_look holds"
	excuse["harness/run/sweep/run_sweep.c"] = "/proc; the registry"
	excuse["harness/run/run_source.c"] = "nftw in a folder of the run's own, before the workload starts"
	excuse["harness/run/control/control_ask.c"] = "realpath of the run that a user names"
	excuse["harness/run/run_oom.c"] = "/proc, /sys"
	excuse["harness/campaign/prepare_pins.c"] = "compares where configured paths lead"
	excuse["harness/campaign/store/store.c"] = "xrealpath of the campaign that the user names, as SQLite takes a path without links"
	excuse["harness/publish/outbox.c"] = "realpath: the folder of runs that the user names"
	excuse["harness/publish/publish.c"] = "realpath: where a run lies, to name it below its outbox"
	excuse["harness/campaign/run_replay.c"] = "realpath of the run that a user names, which is held then"
	excuse["analysis/session/output.c"] = "access: whether the user's output folder can be written to"
	excuse["analysis/session/analyze_runs.c"] = "realpath: whether two words name one run"
	excuse["cli/main.c"] = "/dev/null"
	excuse["cli/ranks_mpi.c"] = "/dev/null"
	excuse["cli/cmd_publish.c"] = "realpath of the run that a user names"
	excuse["cli/cmd_list.c"] = "profrig's own programs"
	excuse["analysis/pack/pack_walk.c"] = "realpath of what the user names; what is in a folder goes through the door"
	excuse["analysis/scan/sqlite_copy.c"] = "a folder of our own in TMPDIR"
	excuse["analysis/scan/sqlite_db.c"] = "compares what SQLite opens by its name with what the door shows"
	excuse["analysis/report/stage.c"] = "realpath of the folder that the user names; the working directory"
	excuse["analysis/report/convert/write_otf2.c"] = "exchanges the archive that the user names for the new one"
	skip["harness/agent"] = "runs where the workload does; its only paths of the run directory go through door.h"
	skip["harness/tracers"] = "runs inside the workload"
	skip["harness/sampler"] = "/proc, /sys and libraries; samples files go through door.h (loop.c, compat.c)"
	skip["harness/devices"] = "/sys and /dev"
	skip["harness/data"] = "data sets and their cache: configured paths, none that a workload names"
	skip["harness/image"] = "Dockerfiles and registries: before any run"
	doored["harness/sampler/loop.c"]
	doored["harness/madengine/compat.c"]
	doored["harness/agent/agent_step.c"]
}
FNR == 1 {
	n = split(FILENAME, part, "/")
	out = FILENAME in excuse || ((part[1] "/" part[2]) in skip && !(FILENAME in doored))
	comment = 0
}
out { next }
{
	line = $0
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	if (comment && sub(/^.*\*\//, "", line))
		comment = 0
	if (comment)
		next
	gsub(/\/\*.*\*\//, "", line)
	if (sub(/\/\*.*$/, "", line))
		comment = 1
	while (match(line, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
		name = substr(line, RSTART, RLENGTH - 1)
		before = RSTART > 1 ? substr(line, RSTART - 1, 1) : ""
		line = substr(line, RSTART + RLENGTH)
		if (name in call && before != ">" && before != "." && line !~ /^struct |^const |^void/) {
			printf "%s:%d: %s takes a path as it is: use door.h or fs.h, or say in mk/paths.awk why it may\n", FILENAME, FNR, name
			bad = 1
		}
	}
}
END { exit bad }
