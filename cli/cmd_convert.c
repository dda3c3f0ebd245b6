/*
 * convert: traces → one file of another format. What the format cannot hold is counted and said.
 */
#include "cli.h"
#include "window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/progress.h"
#include "profrig/report/convert.h"

struct conversion {
	const struct command *c;
	struct analyze_options o;
	const char *output, *to, *window, *split, *reader;
	const struct converter *converter;
	uint64_t split_bytes;
	bool json;
	struct model *m;
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
	return -1;
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
		return -1;
	if (!cv->converter->splits)
		return cli_usage(cv->c, "--split-size: %s is not written in parts",
				 cv->converter->name);
	return parse_size(cv, &cv->split_bytes);
}

/* An input must not be written over. */
static bool is_input(const struct strvec *inputs, const char *output)
{
	struct stat a, b;

	for (size_t i = 0; i < inputs->nr; i++)
		if (door_stat(inputs->v[i], &a) == 0 && door_stat(output, &b) == 0 &&
		    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return true;
	return false;
}

static int read_all(struct conversion *cv, const struct strvec *inputs)
{
	struct analysis_opts ao = { 0 };
	struct report_timings times = { 0 };

	cv->m = model_new();
	return analyze_read(inputs, &cv->o, cv->m, &ao, NULL, &times);
}

/* A file is one input, and a part of the time is cut out of it. */
static int cut(struct conversion *cv)
{
	struct window w = WINDOW_ALL;
	struct err err = ERR_INIT;
	struct model *whole = cv->m;

	if (cv->window && window_of(cv->window, cv->m, &w, &err) < 0)
		return cli_usage(cv->c, "--window: %s", err.msg);
	if (!cv->window && cv->m->inputs.nr == 1)
		return EXIT_DONE;
	cv->m = model_cut(whole, &w, &cv->cut);
	model_free(whole);
	return EXIT_DONE;
}

static int paths_of(struct conversion *cv, struct table_set *tables)
{
	const struct analysis *a = analysis_find("callpaths");
	struct analysis_opts ao = { 0 };
	struct err err = ERR_INIT;

	if (!cv->converter->wants_paths || analysis_run(a, cv->m, NULL, &ao, tables, &err) >= 0)
		return EXIT_DONE;
	log_error("%s", err.msg);
	return EXIT_PARTIAL;
}

static int write_out(struct conversion *cv)
{
	struct table_set tables = TABLE_SET_INIT;
	struct convert_job job = { .model = cv->m,
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

/* ---- what is said of it ---- */

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
		log_info("outside the window: %s; %" PRIu64 " spans cut at its edges", sb.buf,
			 cv->cut.spans_cut);
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
	json_u64(&j, "files", cv->n.files);
	json_u64(&j, "bytes", cv->n.bytes);
	json_u64(&j, "spans", cv->m->spans.nr - cv->n.spans_out);
	json_u64(&j, "samples", samples_of(cv->m) - cv->n.samples_out);
	json_u64(&j, "links", cv->m->links.nr - cv->n.links_out - cv->n.links_between);
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
	       cv->m->spans.nr - cv->n.spans_out, samples_of(cv->m) - cv->n.samples_out,
	       cv->m->links.nr - cv->n.links_out - cv->n.links_between,
	       cli_si((double)cv->n.bytes, "B", size));
}

static int convert(struct conversion *cv, const struct strvec *inputs)
{
	int code = read_all(cv, inputs), r;

	if (code != EXIT_DONE && code != EXIT_PARTIAL)
		return code;
	print_inputs(cv->m);
	r = cut(cv);
	if (r == EXIT_DONE)
		r = write_out(cv);
	if (r != EXIT_DONE)
		return r;
	say_left_out(cv);
	if (cv->json)
		say_json(cv);
	else
		say_text(cv);
	if (cv->o.strict)
		code = exit_worse(code, analyze_strict_code(cv->m));
	return code;
}

static int convert_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	struct conversion cv = { .c = c };
	char **rest;

	analyze_options_init(&cv.o);
	cv.o.keep_args = true;
	const struct opt opts[] = {
		{ "output", 'o', OPT_STR, &cv.output, "FILE",
		  "where to write, and in which format: NAME.json[.gz|.zst] (Trace Event Format), "
		  "NAME.otf2, "
		  "NAME.folded, NAME.speedscope.json" },
		{ "to", 0, OPT_STR, &cv.to, "FORMAT",
		  "tef, otf2, folded or speedscope, for any name of the file" },
		{ "window", 0, OPT_STR, &cv.window, "FROM:TO",
		  "only this part: ns since the start, 1.5s:2s, 10%:90%, or the name of a span" },
		{ "split-size", 0, OPT_STR, &cv.split, "SIZE",
		  "split into NAME-0.json, … of about this much text each: 500M" },
		{ "reader", 0, OPT_STR, &cv.reader, "NAME[:KIND]",
		  "read the named files with this reader ('profrig list readers')" },
		{ "strict", 0, OPT_FLAG, &cv.o.strict, NULL, "exit 6 at any warning" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &cv.json, argc, argv, &inputs, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&inputs, *rest);
	if (code < 0)
		code = parse_reader(c, cv.reader, &cv.o);
	if (code < 0 && !inputs.nr)
		code = cli_usage(c, "no input");
	if (code < 0)
		code = pick_converter(&cv);
	if (code < 0 && is_input(&inputs, cv.output))
		code = cli_usage(c, "%.200s is an input and would be written over", cv.output);
	if (code < 0) {
		CLEANUP(xfreep) char *dir = fs_dir(cv.output);

		code = output_code(dir);
		if (code == EXIT_DONE) {
			output_sweep(dir);
			code = convert(&cv, &inputs);
		}
		progress_end();
	}
	model_free(cv.m);
	convert_result_release(&cv.n);
	analyze_options_release(&cv.o);
	return code;
}

extern const struct command cmd_convert;
const struct command cmd_convert = { "convert", "INPUT… -o FILE",
				     "a trace in another format: for Perfetto, Vampir, speedscope",
				     "profrig convert run.rpd -o run.json.gz", convert_main };
