/*
 * convert: traces → one file of another format. Content that the format cannot hold is counted and
 * reported.
 */
#include "cli.h"
#include "span_filter.h"
#include "unpacked.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_fields.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/report/convert.h"
#include "profrig/session/window.h"

struct conversion {
	const struct command *c;
	struct session_opts o;
	const char *output, *to, *dialect, *window, *split, *reader, *memory;
	struct span_filter filter;
	const struct converter *converter;
	uint64_t split_bytes;
	bool json;
	struct session_trace t;
	struct replayed cut;
	struct convert_result n;
};

static int parse_size(const struct conversion *cv, uint64_t *ret)
{
	int64_t v = 0;

	if (num_bytes(cv->split, strlen(cv->split), &v) < 0 || v < 4096)
		return cli_usage(cv->c,
				 "--split-size wants a size of 4k or more such as 500M, not "
				 "'%.40s'",
				 cv->split);
	*ret = (uint64_t)v;
	return EXIT_DONE;
}

static void suffixes_add(struct strbuf *to)
{
	for (size_t i = 0; converters[i]; i++) {
		size_t last = 0;

		while (converters[i]->suffixes[last + 1])
			last++;
		strbuf_addf(to, "%s%s (%s)", i ? ", " : "", converters[i]->suffixes[last],
			    converters[i]->name);
	}
}

static int pick_converter(struct conversion *cv)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT;

	suffixes_add(&known);
	if (cv->dialect && cv->to)
		return cli_usage(cv->c, "--dialect goes without --to");
	if (cv->dialect && strcmp(cv->dialect, "torch") != 0 &&
	    strcmp(cv->dialect, "tensorboard") != 0)
		return cli_usage(cv->c, "--dialect is torch or tensorboard, not '%.40s'",
				 cv->dialect);
	if (cv->dialect)
		cv->to = "torch";
	if (!cv->output || !*cv->output)
		return cli_usage(cv->c, "no output: -o FILE, whose ending tells the format: %s",
				 known.buf);
	cv->converter = cv->to ? converter_find(cv->to) : converter_of(cv->output);
	if (!cv->converter && cv->to)
		return cli_usage(cv->c, "--to: no format '%.40s'; there are: %s", cv->to,
				 known.buf);
	if (!cv->converter)
		return cli_usage(cv->c,
				 "%.200s: its ending tells no format; there are: %s (or --to)",
				 cv->output, known.buf);
	if (!cv->split)
		return EXIT_DONE;
	if (!cv->converter->splits)
		return cli_usage(cv->c, "--split-size: %s is not written in parts",
				 cv->converter->name);
	return parse_size(cv, &cv->split_bytes);
}

/* Whether a path is one of those that a conversion writes for ranks: BASE_worker_<n>SUFFIX. */
static bool is_rank_path(const char *output, const char *path)
{
	CLEANUP(xfreep) char *rank = convert_rank_path(output, 0);
	CLEANUP(xfreep) char *whole = fs_abs(rank), *input = fs_abs(path);
	char *digit = strrchr(whole, '_') + strlen("_");
	size_t front = (size_t)(digit - whole), digits;

	if (strncmp(input, whole, front) != 0)
		return false;
	digits = strspn(input + front, "0123456789");
	return digits > 0 && strcmp(input + front + digits, digit + 1) == 0;
}

/* An input must not be written over. */
static bool is_input(const struct strvec *inputs, const char *output, bool ranks)
{
	struct stat a, b;

	for (size_t i = 0; ranks && i < inputs->nr; i++)
		if (is_rank_path(output, inputs->v[i]))
			return true;

	for (size_t i = 0; i < inputs->nr; i++)
		if (door_stat(inputs->v[i], &a) == 0 && door_stat(output, &b) == 0 &&
		    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return true;
	return false;
}

/* Several inputs become one model, and --window cuts out a part of the time. */
static int window_cut(struct conversion *cv)
{
	struct window w = WINDOW_ALL;
	struct err err = ERR_INIT;
	struct model *whole = cv->t.m;

	if (cv->window && window_of(cv->window, cv->t.m, &w, &err) < 0)
		return cli_usage(cv->c, "--window: %s", err.msg);
	if (!cv->window && cv->t.m->inputs.nr == 1 && !span_filter_any(&cv->filter))
		return EXIT_DONE;
	cv->t.m = span_filter_cut(&cv->filter, whole, &w, &cv->cut);
	model_free(whole);
	return EXIT_DONE;
}

static int paths_of(struct conversion *cv, struct table_set *tables)
{
	const struct analysis *a = analysis_find("callpaths");
	struct analysis_opts ao = { 0 };
	struct err err = ERR_INIT;

	if (!cv->converter->wants_paths || analysis_run(a, cv->t.m, NULL, &ao, tables, &err) >= 0)
		return EXIT_DONE;
	log_error("%s", err.msg);
	return EXIT_PARTIAL;
}

static int conversion_write(struct conversion *cv)
{
	struct table_set tables = TABLE_SET_INIT;
	struct convert_job job = { .model = cv->t.m,
				   .path = cv->output,
				   .split_bytes = cv->split_bytes };
	struct err err = ERR_INIT;
	int code = paths_of(cv, &tables), r;

	if (code == EXIT_DONE) {
		job.callpaths = table_set_find(&tables, "callpaths");
		progress_phase("writing %s", fs_base(cv->output));
		r = cv->converter->write(&job, &cv->n, &err);
		progress_end();
		if (r < 0) {
			cli_write_failed(&err, true);
			code = EXIT_MISSING;
		}
	}
	table_set_release(&tables);
	return code;
}

/* ---- messages ---- */

static void say_count(struct strbuf *to, uint64_t n, const char *what)
{
	if (n)
		strbuf_addf(to, "%s%" PRIu64 " %s", to->len ? ", " : "", n, what);
}

static void say_left_out(const struct conversion *cv)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	say_count(&sb, cv->cut.spans_out, "spans");
	say_count(&sb, cv->cut.samples_out, "samples");
	say_count(&sb, cv->cut.links_out, "links");
	if (sb.len)
		log_info("outside the window and the filters: %s; %" PRIu64
			 " spans cut at the window's edges",
			 sb.buf, cv->cut.spans_cut);
	strbuf_clear(&sb);
	say_count(&sb, cv->n.spans_out, "spans");
	say_count(&sb, cv->n.samples_out, "samples");
	say_count(&sb, cv->n.links_out, "links");
	if (sb.len)
		log_notice("%s has no place for some of it, which is left out: %s",
			   cv->converter->name, sb.buf);
	if (cv->n.links_between)
		log_notice("%" PRIu64 " links lead from one part to another: no part alone shows "
			   "them",
			   cv->n.links_between);
	if (cv->n.stale)
		log_notice("%s is of an earlier conversion and no part of this one", cv->n.stale);
}

static uint64_t samples_of(const struct model *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->series.nr; i++)
		n += m->series.v[i].t_ns.nr;
	return n;
}

static void say_json(const struct conversion *cv)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_obj(&j, NULL);
	json_str(&j, "format", cv->converter->name);
	json_str(&j, "path", cv->n.first);
	json_put(&j, struct conversion, cv, n.files, n.bytes);
	json_u64(&j, "spans", cv->t.m->spans.nr - cv->n.spans_out);
	json_u64(&j, "samples", samples_of(cv->t.m) - cv->n.samples_out);
	json_u64(&j, "links", cv->t.m->links.nr - cv->n.links_out - cv->n.links_between);
	json_obj(&j, "left_out");
	json_u64(&j, "spans", cv->n.spans_out);
	json_u64(&j, "samples", cv->n.samples_out);
	json_u64(&j, "links", cv->n.links_out + cv->n.links_between);
	json_end(&j);
	json_obj(&j, "outside_window");
	json_u64(&j, "spans", cv->cut.spans_out);
	json_u64(&j, "spans_cut", cv->cut.spans_cut);
	json_u64(&j, "samples", cv->cut.samples_out);
	json_u64(&j, "links", cv->cut.links_out);
	json_end(&j);
	json_end(&j);
	putchar('\n');
}

static void say_text(const struct conversion *cv)
{
	char size[32];

	cli_put(stdout, cv->n.first, 0);
	if (cv->n.files > 1)
		printf(" and %" PRIu64 " more", cv->n.files - 1);
	printf(": %" PRIu64 " spans, %" PRIu64 " samples, %" PRIu64 " links, %s\n",
	       cv->t.m->spans.nr - cv->n.spans_out, samples_of(cv->t.m) - cv->n.samples_out,
	       cv->t.m->links.nr - cv->n.links_out - cv->n.links_between,
	       cli_si((double)cv->n.bytes, "B", size));
}

static int inputs_convert(struct conversion *cv, const struct strvec *inputs)
{
	struct err err = ERR_INIT;
	int r;

	if (session_read(inputs, &cv->o, &cv->t, &err) < 0)
		return cli_session_failed(&cv->t.outcome, &err);
	print_inputs(cv->t.m);
	r = window_cut(cv);
	if (r == EXIT_DONE)
		r = conversion_write(cv);
	if (r != EXIT_DONE)
		return r;
	say_left_out(cv);
	if (cv->json)
		say_json(cv);
	else
		say_text(cv);
	if (cv->o.strict)
		session_strict(cv->t.m, &cv->o, &cv->t.outcome);
	return cli_session_code(&cv->t.outcome);
}

static int convert_checked(struct conversion *cv, struct strvec *inputs)
{
	CLEANUP(unpacking_release) struct unpacking u = UNPACKING_INIT;
	CLEANUP(xfreep) char *dir = NULL;
	int code = parse_reader(cv->c, cv->reader, &cv->o) ?: span_filter_begin(&cv->filter, cv->c);

	if (code == EXIT_DONE && !inputs->nr)
		code = cli_usage(cv->c, "no input");
	if (code == EXIT_DONE)
		code = pick_converter(cv);
	if (code == EXIT_DONE && is_input(inputs, cv->output, cv->converter->ranks))
		code = cli_usage(cv->c, "%.200s is an input and would be written over", cv->output);
	if (code != EXIT_DONE)
		return code;
	cv->o.file_facts = cv->converter->ranks;
	dir = fs_dir(cv->output);
	code = output_code(dir) ?: inputs_unpack(cv->c, inputs, &u);
	if (code == EXIT_DONE) {
		session_output_sweep(dir, &cv->o, &cv->t.outcome);
		cv->o.unpacked = u.dir;
		code = unpacking_code(&u, inputs_convert(cv, inputs));
	}
	progress_end();
	return code;
}

static int convert_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct conversion cv = { .c = c, .filter = SPAN_FILTER_INIT };
	char **rest;

	cli_session_opts(&cv.o);
	cv.o.sink = SINK_MODEL;
	cv.o.keep_args = true;
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &cv.output, "FILE",
		  "where to write, and in which format: NAME.json[.gz|.zst] (Trace Event Format), "
		  "NAME.otf2, … ('profrig list converters')" },
		{ "to", 0, OPT_STR, &cv.to, "FORMAT",
		  "the format, for any name of the file ('profrig list converters')" },
		{ "window", 0, OPT_STR, &cv.window, "FROM:TO",
		  "only this part: ns since the start, 1.5s:2s, 10%:90%, or the name of a span" },
		{ "dialect", 0, OPT_STR, &cv.dialect, "NAME",
		  "torch or tensorboard: as PyTorch's profiler, NAME_worker_0.pt.trace.json, … for "
		  "each rank" },
		{ "only-names", 0, OPT_STR, &cv.filter.names, "PATTERN",
		  "only spans whose names match, a regular expression" },
		{ "only-categories", 0, OPT_LIST, &cv.filter.categories, "A,B,…",
		  "only spans of these categories" },
		{ "limit", 0, OPT_INT, &cv.filter.limit, "N", "only the first N of them" },
		{ "split-size", 0, OPT_STR, &cv.split, "SIZE",
		  "split into NAME-0.json, … of about this much text each: 500M" },
		{ "reader", 0, OPT_STR, &cv.reader, "NAME[:KIND]",
		  "read the named files with this reader ('profrig list readers')" },
		MEMORY_OPT(&cv.memory),
		{ "strict", 0, OPT_FLAG, &cv.o.strict, NULL, "exit 6 at any warning" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &cv.json, argc, argv, &inputs, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&inputs, *rest);
	if (code < 0)
		code = cli_memory(c, cv.memory, cv.output) ?: convert_checked(&cv, &inputs);
	span_filter_release(&cv.filter);
	session_trace_release(&cv.t);
	convert_result_release(&cv.n);
	session_opts_release(&cv.o);
	return code;
}

extern const struct command cmd_convert;
const struct command cmd_convert = { "convert", "INPUT… -o FILE",
				     "a trace in another format: for Perfetto, Vampir, speedscope",
				     "profrig convert run.rpd -o run.json.gz", convert_main };
