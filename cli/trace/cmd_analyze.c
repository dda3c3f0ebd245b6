/*
 * analyze: inputs → tables and report. report: writes the reports of a run or analysis directory
 * again. info: describes traces.
 */
#include "cli.h"
#include "mad_report.h"
#include "mail.h"
#include "unpacked.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/clock.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_fields.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/base/regex.h"
#include "profrig/base/sort.h"
#include "profrig/base/text.h"
#include "profrig/cost/ideal_cycles.h"
#include "profrig/cost/peaks.h"
#include "profrig/model/model.h"
#include "profrig/model/warnings.h"
#include "profrig/session/classes_file.h"
#include "profrig/session/counters_file.h"
#include "profrig/session/topology_file.h"

static int parse_estimate(const struct command *c, const char *name, struct energy_opts *ret)
{
	static const char *const names[] = { "both", "time", "power" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0) {
			ret->estimate = (enum energy_estimate)i;
			return EXIT_DONE;
		}
	return cli_usage(c, "--estimate is both, time or power, not '%s'", name);
}

static int parse_energy(const struct command *c, const char *integration, const char *attribution,
			double max_gap_s, struct energy_opts *ret)
{
	static const char *const names[] = { "linear", "previous", "trapezoid" };

	if (max_gap_s >= 0 && max_gap_s < 1e-9)
		return cli_usage(c, "--max-gap wants at least a nanosecond");
	ret->max_gap_ns = max_gap_s < 0     ? 0
			  : max_gap_s < 9e9 ? (int64_t)(max_gap_s * 1e9)
					    : INT64_MAX;
	if (strcmp(attribution, "independent") == 0)
		ret->independent = true;
	else if (strcmp(attribution, "shared") != 0)
		return cli_usage(c, "--attribution is shared or independent, not '%s'",
				 attribution);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(integration, names[i]) == 0) {
			ret->integration = (enum integration)i;
			return EXIT_DONE;
		}
	return cli_usage(c, "--integration is linear, previous or trapezoid, not '%s'",
			 integration);
}

static int parse_sink(const struct command *c, const char *name, enum sink_choice *ret)
{
	static const char *const names[] = { "auto", "model", "profile" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum sink_choice)i;
			return EXIT_DONE;
		}
	return cli_usage(c, "--sink is auto, model or profile, not '%s'", name);
}

int parse_reader(const struct command *c, const char *text, struct session_opts *ret)
{
	struct err err = ERR_INIT;

	if (text && reader_parse(text, &ret->reader, &ret->dialect, &err) < 0)
		return cli_usage(c, "--reader: %s", err.msg);
	return EXIT_DONE;
}

/* --counters and --tau, each NULL when not given. */
static int parse_counters(const struct command *c, const char *file, const char *tau,
			  struct counter_options *ret)
{
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	struct err err = ERR_INIT;

	if (tau && counter_options_tau(ret, tau, &err) < 0)
		return cli_usage(c, "--%s", err.msg);
	if (!file || counter_options_file(ret, file, &p, &err) == 0)
		return EXIT_DONE;
	if (!p.lines.nr)
		return cli_usage(c, "--counters: %s", err.msg);
	cli_problems(&p);
	return EXIT_CONFIG;
}

static int parse_topology(const char *file, struct topology *ret)
{
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;

	if (!file || topology_file_read(ret, file, &p) == 0)
		return EXIT_DONE;
	cli_problems(&p);
	return EXIT_CONFIG;
}

static int parse_marker(const struct command *c, const char *pattern)
{
	struct regex *re = NULL;
	struct err err = ERR_INIT;

	if (regex_new(pattern, 0, &re, &err) < 0)
		return cli_usage(c, "--marker: %s", err.msg);
	regex_free(re);
	return EXIT_DONE;
}

/* --classes and --names; file is NULL when not given. */
static int parse_names(const struct command *c, const char *file, const char *names,
		       struct class_options *ret, struct session_opts *o)
{
	CLEANUP(problems_release) struct problems p = PROBLEMS_INIT;
	struct err err = ERR_INIT;

	o->raw_names = strcmp(names, "raw") == 0;
	if (!o->raw_names && strcmp(names, "normal") != 0)
		return cli_usage(c, "--names is normal or raw, not '%s'", names);
	if (!file)
		return EXIT_DONE;
	o->classes = &ret->classes;
	if (class_options_file(ret, file, &p, &err) == 0)
		return EXIT_DONE;
	if (!p.lines.nr)
		return cli_usage(c, "--classes: %s", err.msg);
	cli_problems(&p);
	return EXIT_CONFIG;
}

/* Files of --peaks; a later one comes before those in front of it. */
static int parse_peaks(const struct command *c, const struct strvec *files, struct peaks **ret)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < files->nr; i++) {
		if (!*ret)
			*ret = peaks_new();
		if (peaks_read(*ret, files->v[i], &err) < 0)
			return cli_usage(c, "--peaks: %s", err.msg);
	}
	return EXIT_DONE;
}

/* Logs and folders of --ideal. */
static int parse_ideal(const struct command *c, const struct strvec *paths,
		       struct ideal_cycles **ret)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < paths->nr; i++) {
		if (!*ret)
			*ret = ideal_cycles_new();
		if (ideal_cycles_read(*ret, paths->v[i], &err) < 0)
			return cli_usage(c, "--ideal: %s", err.msg);
	}
	return EXIT_DONE;
}

/* SOC[:CORE] in MHz. */
static int parse_freq(const struct command *c, const char *text, struct analysis_opts *ret)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	size_t n = colon ? (size_t)(colon - text) : text ? strlen(text) : 0;

	if (!text)
		return EXIT_DONE;
	if (num_f64(text, n, &ret->soc_mhz) < 0 || !(ret->soc_mhz > 0) || ret->soc_mhz > 1e6 ||
	    (colon && (num_f64(colon + 1, strlen(colon + 1), &ret->core_mhz) < 0 ||
		       !(ret->core_mhz > 0) || ret->core_mhz > 1e6)))
		return cli_usage(c, "--freq wants SOC or SOC:CORE in MHz, not '%s'", text);
	return EXIT_DONE;
}

/* Words behind "--" are inputs too, even when they begin with '-'. */
static void operands_take_rest(char **rest, struct strvec *operands)
{
	for (; rest && *rest; rest++)
		strvec_push(operands, *rest);
}

/* Lists given as one option or as several. An empty list is an error and does not mean "all". */
static int split_lists(const struct command *c, const char *option, const struct strvec *given,
		       struct strvec *ret)
{
	for (size_t i = 0; i < given->nr; i++)
		strvec_split(ret, given->v[i], ",");
	return given->nr && !ret->nr ? cli_usage(c, "--%s names nothing", option) : EXIT_DONE;
}

static int parse_idle(const struct command *c, const struct strvec *given, struct idle_opts *ret)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < given->nr; i++)
		if (idle_state(ret, given->v[i], &err) < 0)
			return cli_usage(c, "--idle-power %.80s: %s", given->v[i], err.msg);
	return EXIT_DONE;
}

static int analyze_and_say(const struct strvec *inputs, const struct session_opts *o,
			   const char *out, bool json)
{
	struct report rep = REPORT_INIT;
	int code = analyze_to(inputs, o, out, &rep);

	progress_end();
	if (rep.dir && json)
		fputs(rep.analysis_json, stdout);
	else if (rep.dir && code != EXIT_MISSING)
		say_written(&rep, &o->formats);
	fflush(stdout);
	print_analysis(&rep, true);
	report_release(&rep);
	cli_memory_say();
	return code;
}

/* The options of analyze as given, before they are checked. */
struct analyze_words {
	struct strvec inputs, only, formats, idle;
	const char *out, *integration, *attribution, *estimate, *sink, *counters, *tau, *topology,
		*reader, *classes, *names, *memory, *freq;
	double max_gap_s;
	struct counter_options co;
	struct class_options classes_of;
	struct strvec peaks; /* --peaks */
	struct strvec ideal; /* --ideal */
	struct ideal_cycles *ideal_cycles;
	bool json;
};

static int analyze_parse(const struct command *c, struct analyze_words *w, struct session_opts *o)
{
	struct energy_opts *energy = &o->analysis.energy;
	int code = parse_energy(c, w->integration, w->attribution, w->max_gap_s, energy)
			   ?: parse_estimate(c, w->estimate, energy)
			   ?: parse_idle(c, &w->idle, &o->analysis.idle)
			   ?: parse_sink(c, w->sink, &o->sink)
			   ?: parse_reader(c, w->reader, o)
			   ?: parse_counters(c, w->counters, w->tau, &w->co)
			   ?: parse_names(c, w->classes, w->names, &w->classes_of, o)
			   ?: parse_freq(c, w->freq, &o->analysis)
			   ?: parse_ideal(c, &w->ideal, &w->ideal_cycles)
			   ?: parse_peaks(c, &w->peaks, &o->analysis.peaks);

	o->analysis.ideal = w->ideal_cycles;
	if (code == EXIT_DONE && o->skip_first < 0)
		code = cli_usage(c, "--skip-first wants a number of iterations, not %ld",
				 o->skip_first);
	if (code == EXIT_DONE && o->analysis.marker)
		code = parse_marker(c, o->analysis.marker);
	if (code == EXIT_DONE && o->window && (o->steady || o->skip_first))
		code = cli_usage(c, "--window goes without --steady and --skip-first");
	if (code == EXIT_DONE && !w->inputs.nr)
		code = cli_usage(c, "no input");
	if (code == EXIT_DONE && (!w->out || !*w->out))
		code = cli_usage(c, "no output directory: -o DIR");
	return code ?: split_lists(c, "analysis", &w->only, &o->only)
		    ?: split_lists(c, "format", &w->formats, &o->formats)
		    ?: parse_topology(w->topology, o->topology)
		    ?: cli_memory(c, w->memory, w->out);
}

static void analyze_begin(struct analyze_words *w, struct session_opts *o)
{
	*w = (struct analyze_words){ .inputs = STRVEC_INIT,
				     .only = STRVEC_INIT,
				     .formats = STRVEC_INIT,
				     .idle = STRVEC_INIT,
				     .peaks = STRVEC_INIT,
				     .ideal = STRVEC_INIT,
				     .integration = "linear",
				     .attribution = "shared",
				     .estimate = "both",
				     .sink = "auto",
				     .names = "normal",
				     .max_gap_s = -1 };
	cli_session_opts(o);
	counter_options_init(&w->co);
	class_options_init(&w->classes_of);
	o->counters = &w->co.rules;
}

static void analyze_end(struct analyze_words *w, struct session_opts *o)
{
	peaks_free(o->analysis.peaks);
	ideal_cycles_free(w->ideal_cycles);
	strvec_release(&w->ideal);
	session_opts_release(o);
	counter_options_release(&w->co);
	class_options_release(&w->classes_of);
	strvec_release(&w->peaks);
	strvec_release(&w->inputs);
	strvec_release(&w->only);
	strvec_release(&w->formats);
	strvec_release(&w->idle);
}

static int analyze_main(const struct command *c, int argc, char **argv)
{
	struct unpacking u = UNPACKING_INIT;
	struct analyze_words w;
	struct session_opts o;
	char **rest;

	analyze_begin(&w, &o);
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &w.out, "DIR", "where tables and report go" },
		{ "analysis", 0, OPT_LIST, &w.only, "A,B,…",
		  "only these ('profrig list analyses')" },
		{ "format", 0, OPT_LIST, &w.formats, "F,…",
		  "only these ('profrig list reports'), and csv, which is always written" },
		{ "attribution", 0, OPT_STR, &w.attribution, "HOW",
		  "shared (exact) or independent (double counting)" },
		{ "estimate", 0, OPT_STR, &w.estimate, "HOW",
		  "divide an interval's energy by time, by power, or both (docs/energy.md)" },
		{ "topology", 0, OPT_STR, &w.topology, "FILE",
		  "which processes share which device, in YAML or JSON (docs/energy.md)" },
		{ "integration", 0, OPT_STR, &w.integration, "HOW",
		  "of power: linear, previous or trapezoid" },
		{ "max-gap", 0, OPT_SECONDS, &w.max_gap_s, "S",
		  "leave energy of longer sample gaps unattributed" },
		{ "idle-power", 0, OPT_LIST, &w.idle, "W",
		  "idle power to assume where none was measured: 90, or gpu0=90,cpu=20" },
		{ "window", 0, OPT_STR, &o.window, "A:B",
		  "only this part: ns since the start, 1.5s:2s, 10%:90%, marks or spans by name; "
		  "':' for all of a run that recorded in windows" },
		{ "skip-first", 0, OPT_INT, &o.skip_first, "N", "without the first N iterations" },
		{ "steady", 0, OPT_FLAG, &o.steady, NULL,
		  "only the iterations behind the warm-up (docs/iterations.md)" },
		{ "marker", 0, OPT_STR, &o.analysis.marker, "PATTERN",
		  "names of the ranges that are iterations, a regular expression" },
		{ "align", 0, OPT_FLAG, &o.align, NULL,
		  "move ranks whose clocks differ onto a common one (docs/collectives.md)" },
		{ "sink", 0, OPT_STR, &w.sink, "KIND",
		  "auto, model (all in memory) or profile (archives, streamed)" },
		{ "reader", 0, OPT_STR, &w.reader, "NAME[:KIND]",
		  "read the named files with this reader ('profrig list readers')" },
		{ "threads", 0, OPT_INT, &o.threads, "N",
		  "threads for reading and analysing (one for each processor)" },
		MEMORY_OPT(&w.memory),
		{ "counters", 0, OPT_STR, &w.counters, "FILE",
		  "what counters mean: kind, unit, scale, filter, … (docs/energy.md)" },
		{ "classes", 0, OPT_STR, &w.classes, "FILE",
		  "rules for the classes of kernels, in YAML or JSON (docs/tables.md)" },
		{ "peaks", 0, OPT_LIST, &w.peaks, "FILE",
		  "what devices can do at most: JSON, or the table of 'lib peak' (docs/cost.md)" },
		{ "freq", 0, OPT_STR, &w.freq, "SOC[:CORE]",
		  "MHz of an accelerator's clocks: SOC is checked against its cycle counter, CORE "
		  "(1100) is for ideal times (docs/aiu.md)" },
		{ "ideal", 0, OPT_LIST, &w.ideal, "LOG|DIR",
		  "ideal cycles of an accelerator's kernels, by its compiler (docs/aiu.md)" },
		{ "names", 0, OPT_STR, &w.names, "HOW",
		  "of ranges: normal (without op_id, seq and addresses) or raw" },
		{ "tau", 0, OPT_STR, &w.tau, "S|fit",
		  "undo the low-pass filter of power readings; fit: with the time constant found "
		  "in the data" },
		{ "exact-units", 0, OPT_FLAG, &w.co.rules.exact_units, NULL,
		  "count AMD's energy counters in their own steps of 2^-16 J" },
		{ "strict", 0, OPT_FLAG, &o.strict, NULL, "exit 6 at any warning" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &w.json, argc, argv, &w.inputs, &rest);

	operands_take_rest(rest, &w.inputs);
	if (code < 0) {
		code = analyze_parse(c, &w, &o) ?: inputs_unpack(c, &w.inputs, &u);
		o.unpacked = u.dir;
		if (code == EXIT_DONE)
			code = unpacking_code(&u, analyze_and_say(&w.inputs, &o, w.out, w.json));
	}
	unpacking_release(&u);
	analyze_end(&w, &o);
	return code;
}

/* The format mail takes several runs, and tables of runs (a CSV file as input always means one).
 * Runs without an analysis are analysed first. */
static int analyze_mail(const struct command *c, const struct strvec *inputs,
			const struct strvec *formats, const char *output)
{
	if (formats->nr > 1)
		return cli_usage(c, "--format mail goes alone");
	for (size_t i = 0; i < inputs->nr; i++) {
		CLEANUP(xfreep) char *done = fs_join(inputs->v[i], "analysis/analysis.json");
		CLEANUP(xfreep) char *dir = fs_join(inputs->v[i], "analysis");
		CLEANUP(strvec_release) struct strvec one = STRVEC_INIT;
		struct report rep = REPORT_INIT;
		int64_t began = clock_monotonic_ns();

		if (!run_dir_held(inputs->v[i]) || fs_exists(done))
			continue;
		strvec_push(&one, inputs->v[i]);
		analyze_runs(&one, dir, &rep);
		report_release(&rep);
		run_note_analysis(inputs->v[i], (double)(clock_monotonic_ns() - began) / 1e9, NULL);
	}
	progress_end();
	return report_mail(inputs, output);
}

static bool is_mail(const struct strvec *inputs, const struct strvec *formats)
{
	bool csv = inputs->nr && text_suffix(inputs->v[0], ".csv") && fs_is_file(inputs->v[0]);

	return strvec_has(formats, "mail") ||
	       (csv && (!formats->nr || (formats->nr == 1 && strvec_has(formats, "html"))));
}

/* Writes the reports of a run or an analysis; a run that was not analysed is analysed. */
static int report_one(const struct strvec *dirs, const struct session_opts *o)
{
	const char *dir = dirs->v[0];
	bool is_run = run_dir_held(dir), fresh = false;
	CLEANUP(xfreep) char *analysis = is_run ? fs_join(dir, "analysis") : xstrdup(dir);
	struct session_outcome out = { SESSION_WHOLE };
	struct report rep = REPORT_INIT;
	struct err err = ERR_INIT;
	int code = EXIT_UNREADABLE, r = report_load(analysis, &rep, &err);

	if (r == 0) {
		code = output_code(rep.dir);
		if (code == EXIT_DONE) {
			session_write_formats(&rep, o, &out);
			code = cli_session_code(&out);
		}
	} else if (is_run) {
		code = analyze_to(dirs, o, analysis, &rep);
		fresh = true;
	} else if (r == -ENOENT && !fs_exists(dir)) {
		log_error("there is no file or folder '%s'", dir);
	} else if (r == -ENOENT && fs_is_file(dir)) {
		log_error("%s is a file: of a table there is a page (--format html) or a mail "
			  "(--format mail), of a trace 'profrig analyze'",
			  dir);
	} else if (r == -ENOENT) {
		log_error("%s is neither a run directory nor an analysis", dir);
	} else {
		log_error("%s", err.msg);
	}
	progress_end();
	if (rep.dir && code != EXIT_MISSING)
		say_written(&rep, &o->formats);
	fflush(stdout);
	print_analysis(&rep, fresh);
	report_release(&rep);
	return code;
}

static int report_checked(const struct command *c, const struct strvec *dirs,
			  const struct strvec *formats, const char *output, struct session_opts *o)
{
	struct err err = ERR_INIT;
	int code = split_lists(c, "format", formats, &o->formats);

	if (code != EXIT_DONE)
		return code;
	if (dirs->nr && is_mail(dirs, &o->formats))
		return analyze_mail(c, dirs, &o->formats, output);
	if (output)
		return cli_usage(c, "-o goes with --format mail; other reports lie in the run");
	if (dirs->nr != 1)
		return cli_usage(c, "one run or analysis directory is wanted");
	if (session_formats_check(&o->formats, &err) == 0)
		return report_one(dirs, o);
	log_error("%s", err.msg);
	return EXIT_USAGE;
}

static int report_main(const struct command *c, int argc, char **argv)
{
	struct session_opts o;
	CLEANUP(strvec_release) struct strvec dirs = STRVEC_INIT, formats = STRVEC_INIT;
	const char *output = NULL, *memory = NULL;
	struct mad_report mad = { NULL, NULL };
	char **rest;

	cli_session_opts(&o);
	const struct opt opts[] = {
		{ "format", 0, OPT_LIST, &formats, "F,…",
		  "only these ('profrig list reports'); mail: one file of several runs" },
		{ "output", 'o', OPT_STR, &output, "FILE", "mail: where to write it" },
		MEMORY_OPT(&memory),
		MAD_REPORT_OPTS(&mad),
		{ 0 },
	};
	int code = cli_parse(c, opts, NULL, argc, argv, &dirs, &rest);
	if (code < 0)
		code = mad_report_words(c, &mad, &dirs, &formats, &output);
	operands_take_rest(rest, &dirs);
	if (code < 0)
		code = cli_memory(c, memory,
				  output    ? output
				  : dirs.nr ? dirs.v[0]
					    : NULL)
			       ?: report_checked(c, &dirs, &formats, output, &o);
	session_opts_release(&o);
	return code;
}

struct totals {
	uint64_t tracks, spans, instants, samples, series, links;
	int64_t first_ns, last_ns;
	bool partial;
};

static struct totals totals_of(const struct model *m)
{
	struct totals t = { .tracks = m->tracks.nr, .first_ns = INT64_MAX, .last_ns = INT64_MIN };

	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];
		t.spans += in->spans;
		t.instants += in->instants;
		t.samples += in->samples;
		t.series += in->series;
		t.partial |= in->partial;
		t.first_ns = in->first_ns < t.first_ns ? in->first_ns : t.first_ns;
		t.last_ns = in->last_ns > t.last_ns ? in->last_ns : t.last_ns;
	}
	t.links = m->links.nr;
	if (t.first_ns > t.last_ns)
		t.first_ns = t.last_ns = 0;
	return t;
}

static const char *clock_name(enum trace_clock c)
{
	static const char *const names[] = { "own", "CLOCK_MONOTONIC", "CLOCK_REALTIME",
					     "CLOCK_BOOTTIME" };

	return names[c];
}

/*
 * Tracks and series of one device mostly follow each other; devices_unique removes other repeats.
 */
static void device_add(struct strvec *devices, const char *id)
{
	if (*id && !(devices->nr && strcmp(devices->v[devices->nr - 1], id) == 0))
		strvec_push(devices, id);
}

static void devices_unique(struct strvec *devices)
{
	size_t nr = 0;

	strvec_sort(devices);
	for (size_t i = 0; i < devices->nr; i++) {
		if (nr && strcmp(devices->v[nr - 1], devices->v[i]) == 0)
			free(devices->v[i]);
		else
			devices->v[nr++] = devices->v[i];
	}
	devices->nr = nr;
	if (nr)
		devices->v[nr] = NULL;
}

static void devices_of(const struct model *m, struct strvec *devices)
{
	for (size_t i = 0; i < m->tracks.nr; i++)
		device_add(devices, model_str(m, m->tracks.v[i].device));
	for (size_t i = 0; i < m->series.nr; i++) {
		struct counter_info ci = counter_info(m, (series_id)i);

		device_add(devices, ci.device);
	}
	devices_unique(devices);
}

static void info_ranks_json(struct json_out *j, const struct model *m)
{
	CLEANUP(xfreep) int64_t *ranks = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*ranks));
	size_t nr = 0;

	for (size_t i = 0; i < m->tracks.nr; i++)
		if (m->tracks.v[i].rank != RANK_NONE)
			ranks[nr++] = m->tracks.v[i].rank;
	sort_i64(ranks, nr);
	json_arr(j, "ranks");
	for (size_t i = 0; i < nr; i++)
		if (i == 0 || ranks[i - 1] != ranks[i])
			json_i64(j, NULL, ranks[i]);
	json_end(j);
}

static void info_warnings_json(struct json_out *j, const struct model *m)
{
	static const char *const severity[] = { "note", "warning", "error" };

	json_arr(j, "warnings");
	for (size_t i = 0; i < m->warnings.nr; i++) {
		json_obj(j, NULL);
		json_str(j, "code", m->warnings.v[i].code);
		json_str(j, "severity", severity[m->warnings.v[i].severity]);
		json_u64(j, "count", m->warnings.v[i].count);
		json_str(j, "text", m->warnings.v[i].text);
		json_end(j);
	}
	json_end(j);
}

/* links: the model kept them, so they can be counted. */
static void info_json(const struct model *m, bool links)
{
	struct json_out j;
	struct totals t = totals_of(m);
	const struct input *in = m->inputs.nr ? &m->inputs.v[0] : NULL;
	CLEANUP(strvec_release) struct strvec devices = STRVEC_INIT;

	devices_of(m, &devices);
	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "format", in ? in->format : NULL);
	json_str(&j, "reader", in ? in->reader : NULL);
	json_put(&j, struct totals, &t, partial, tracks, spans, instants, samples, series);
	if (links)
		json_u64(&j, "links", t.links);
	else
		json_nil(&j, "links");
	json_i64(&j, "start_ns", t.first_ns);
	json_i64(&j, "end_ns", t.last_ns);
	json_words(&j, "devices", &devices);
	info_ranks_json(&j, m);
	json_obj(&j, "clock");
	json_str(&j, "kind", in ? clock_name(in->clock) : NULL);
	json_f64(&j, "resolution_hz", in ? in->resolution_hz : 0);
	json_bool(&j, "realtime_anchor", in && in->has_realtime_anchor);
	if (in && in->has_realtime_anchor) {
		json_i64(&j, "anchor_own_ns", in->anchor_own_ns);
		json_i64(&j, "anchor_realtime_ns", in->anchor_realtime_ns);
	}
	json_end(&j);
	json_obj(&j, "definitions");
	for (size_t i = 0; in && i < in->facts.nr; i++)
		json_i64(&j, in->facts.v[i].key, in->facts.v[i].value);
	json_end(&j);
	info_warnings_json(&j, m);
	json_end(&j);
	putchar('\n');
}

/* One input; texts from its file are untrusted. */
static void info_input(const struct input *in)
{
	bool any = in->first_ns <= in->last_ns;
	char a[32];

	cli_put(stdout, in->path, 0);
	fputs("\n  format    ", stdout);
	cli_put(stdout, in->format ? in->format : in->reader, 0);
	printf(" (reader %s)%s\n", in->reader, in->partial ? ", PARTIAL" : "");
	printf("  clock     %s, %s\n", clock_name(in->clock),
	       cli_si(in->resolution_hz, "ticks/s", a));
	printf("  time      %s from %" PRId64 " to %" PRId64 " ns\n",
	       cli_si(any ? (double)(in->last_ns - in->first_ns) / 1e9 : 0, "s", a),
	       any ? in->first_ns : 0, any ? in->last_ns : 0);
	printf("  content   %" PRIu64 " spans, %" PRIu64 " instants, %" PRIu64
	       " samples in %" PRIu64 " series, %" PRIu64 " tracks\n",
	       in->spans, in->instants, in->samples, in->series, in->tracks);
	for (size_t k = 0; k < in->facts.nr; k++)
		printf("%s%s %" PRId64, k % 6 == 0 ? (k ? "\n            " : "  records   ") : ", ",
		       in->facts.v[k].key, in->facts.v[k].value);
	if (in->facts.nr)
		putchar('\n');
}

static void info_text(const struct model *m, bool links)
{
	CLEANUP(strvec_release) struct strvec devices = STRVEC_INIT;

	for (size_t i = 0; i < m->inputs.nr; i++)
		info_input(&m->inputs.v[i]);
	devices_of(m, &devices);
	if (links)
		printf("links       %zu\n", m->links.nr);
	else
		puts("links       not counted, as this was too large to be kept (--sink model)");
	for (size_t i = 0; i < devices.nr; i++) {
		fputs(i ? ", " : "devices     ", stdout);
		cli_put(stdout, devices.v[i], 0);
		fputs(i + 1 == devices.nr ? "\n" : "", stdout);
	}
	for (size_t i = 0; i < m->warnings.nr; i++) {
		printf("warning     %s ×%" PRIu64 ": ", m->warnings.v[i].code,
		       m->warnings.v[i].count);
		cli_put(stdout, m->warnings.v[i].text, 0);
		putchar('\n');
	}
}

/* Inputs larger than memory are counted while they are read. */
static int info_print(const struct strvec *inputs, struct session_opts *o, bool json)
{
	CLEANUP(session_trace_release) struct session_trace t;
	struct err err = ERR_INIT;
	int r = session_read(inputs, o, &t, &err);

	if (r < 0)
		cli_session_failed(&t.outcome, &err);
	progress_end();
	if (r == 0 && json)
		info_json(t.m, !t.profile);
	else if (r == 0)
		info_text(t.m, !t.profile);
	fflush(stdout);
	if (t.outcome.end == SESSION_PARTIAL)
		print_inputs(t.m);
	return cli_session_code(&t.outcome);
}

static int info_checked(const struct command *c, struct strvec *inputs, const char *sink,
			const char *reader, bool json, struct session_opts *o)
{
	CLEANUP(unpacking_release) struct unpacking u = UNPACKING_INIT;
	int code = parse_sink(c, sink, &o->sink) ?: parse_reader(c, reader, o);

	if (code == EXIT_DONE && !inputs->nr)
		code = cli_usage(c, "no input");
	if (code == EXIT_DONE)
		code = inputs_unpack(c, inputs, &u);
	o->unpacked = u.dir;
	return code != EXIT_DONE ? code : unpacking_code(&u, info_print(inputs, o, json));
}

static int info_main(const struct command *c, int argc, char **argv)
{
	struct session_opts o;
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	const char *sink = "auto", *reader = NULL, *memory = NULL;
	bool json = false;
	char **rest;

	cli_session_opts(&o);
	const struct opt opts[] = {
		{ "reader", 0, OPT_STR, &reader, "NAME[:KIND]",
		  "read the named files with this reader ('profrig list readers')" },
		{ "sink", 0, OPT_STR, &sink, "KIND",
		  "auto, model (all in memory) or profile (archives larger than memory)" },
		{ "threads", 0, OPT_INT, &o.threads, "N",
		  "threads for reading (one for each processor)" },
		MEMORY_OPT(&memory),
		{ 0 },
	};
	int code = cli_parse(c, opts, &json, argc, argv, &inputs, &rest);
	operands_take_rest(rest, &inputs);
	if (code < 0)
		code = cli_memory(c, memory, NULL)
			       ?: info_checked(c, &inputs, sink, reader, json, &o);
	session_opts_release(&o);
	return code;
}

extern const struct command cmd_analyze, cmd_report, cmd_info;
const struct command cmd_analyze = { "analyze", "INPUT… -o DIR",
				     "run directories and traces → tables and a report",
				     "profrig analyze traces.otf2 -o out", analyze_main };
const struct command cmd_report = { "report", "DIR | RUN… | TABLE.csv…",
				    "write the reports of a run or analysis again",
				    "profrig report runs/latest --format html", report_main };
const struct command cmd_info = { "info", "INPUT…",
				  "format, clock, counts, devices and warnings of a trace",
				  "profrig info traces.otf2 --json", info_main };
