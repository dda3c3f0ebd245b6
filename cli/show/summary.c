/*
 * The closing lines of a run or an analysis on stderr: status, time, energy, artifacts or inputs,
 * missing data with reasons, path of the report.
 */
#include "baseline.h"
#include "cli.h"
#include "findings_show.h"
#include "library_show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/text.h"
#include "profrig/model/warnings.h"
#include "profrig/names/short_name.h"
#include "profrig/report/headline.h"

#define COST_WIDTH 40

/* none: printed where no call was recorded. Kernels and what is too long have short names. */
static void where_time(const struct headline *h, const char *none)
{
	VEC(const char *) full = VEC_INIT;
	bool device = h->costs.nr && strcmp(h->cost_scope, "device") == 0;
	char **names;

	fputs("  time    ", stderr);
	for (size_t i = 0; i < h->costs.nr; i++)
		VEC_PUSH(&full, h->costs.v[i].name);
	names = short_names(full.v, full.nr, COST_WIDTH);
	for (size_t i = 0; i < h->costs.nr; i++) {
		const struct headline_cost *c = &h->costs.v[i];
		char b[32];

		fputs(i ? ", " : "", stderr);
		cli_put(stderr, device || short_width(c->name) > COST_WIDTH ? names[i] : c->name,
			0);
		fprintf(stderr, " %s (%.1f %%)", cli_si(c->ns / 1e9, "s", b), 100 * c->share);
	}
	fprintf(stderr, "%s\n", h->costs.nr ? "" : none);
	short_names_free(names, full.nr);
	VEC_RELEASE(&full);
}

#define SAID_LINES 5
#define SAID_TAIL ((size_t)16 << 10)

/* The last non-blank lines of a file, first to last; a line whose beginning was cut off is left
 * out. */
static void last_words(const char *path, struct strvec *ret)
{
	CLEANUP(xfclosep) FILE *f = path ? door_fopen(path, "re") : NULL;
	CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
	char text[SAID_TAIL + 1];
	int64_t size = path ? fs_size(path) : 0;
	bool cut = size > (int64_t)SAID_TAIL;

	if (!f || (cut && fseeko(f, (off_t)(size - (int64_t)SAID_TAIL), SEEK_SET) < 0))
		return;
	text[fread(text, 1, SAID_TAIL, f)] = '\0';
	strvec_split(&lines, text, "\n");
	for (size_t i = lines.nr > SAID_LINES ? lines.nr - SAID_LINES : 0; i < lines.nr; i++) {
		char *line = lines.v[i];

		if (cut && i == 0 && lines.nr > 1)
			continue;
		if (strlen(line) > 160)
			line[160] = '\0';
		/* A progress bar's carriage return becomes a blank. */
		for (char *s = line; *s; s++)
			*s = strchr("\t\r", *s) ? ' ' : *s;
		strvec_push(ret, line);
	}
}

/* file: the file of the line; NULL: a later line names it. */
static void say_line(const char *head, const char *line, const char *file)
{
	fputs(head, stderr);
	cli_put(stderr, line, 0);
	if (file)
		fprintf(stderr, " (%s)", file);
	fputc('\n', stderr);
}

/*
 * A failed run shows the last lines of the failing step: its error output, else its output. With
 * live output they are on the screen already.
 */
static bool said_last(const struct prepared *p, const struct run_result *r,
		      const struct report *rep)
{
	if (r->status == RUN_SUCCESS || r->status == RUN_PARTIAL)
		return false;
	for (size_t i = p->plan.steps.nr; i-- > 0;) {
		const struct plan_step *s = &p->plan.steps.v[i];
		CLEANUP(strvec_release) struct strvec lines = STRVEC_INIT;
		const char *from = s->err;

		if (r->failed_step ? i + 1 != r->failed_step : s->kind == STEP_POST)
			continue;
		last_words(from, &lines);
		if (!lines.nr)
			last_words(from = s->out, &lines);
		for (size_t k = 0; k < lines.nr && !p->conf.live; k++)
			say_line(k ? "          " : "  said    ", lines.v[k],
				 k + 1 < lines.nr ? NULL : fs_below(p->run_dir, from));
		if (lines.nr)
			return !table_set_find(&rep->tables, "functions");
	}
	return false;
}

/* Counters measure overlapping parts, so each is shown alone and only the first few are shown. */
static void where_energy(const struct headline *h, const char *none)
{
	size_t shown = 0, left = 0;
	char b[32];

	fputs("  energy  ", stderr);
	for (size_t i = 0; i < h->counters.nr; i++) {
		const struct headline_counter *c = &h->counters.v[i];

		if (strcmp(c->view, "host") != 0 || isnan(c->total_j) || c->outranked)
			continue;
		if (shown == 3) {
			left++;
			continue;
		}
		fputs(shown++ ? ", " : "", stderr);
		cli_put(stderr, c->counter, 60);
		fprintf(stderr, " %s%s", cli_si(c->j, "J", b), c->estimated ? " (estimated)" : "");
	}
	if (left)
		fprintf(stderr, " and %zu more", left);
	fprintf(stderr, "%s\n", shown ? "" : none);
}

static const char *const severity[] = { "error", "warning", "note" };

#define CODES_SHOWN 3

/* Of one severity. */
struct kinds {
	size_t nr;
	struct strvec codes; /* the first ones */
};

/* Adds the kinds of warning in a run.json or analysis.json that are not in *codes yet. */
static void count_kinds(const char *text, struct strvec *codes,
			struct kinds kinds[ARRAY_LEN(severity)])
{
	json_t *doc = text ? json_loads(text, 0, NULL) : NULL, *w;
	size_t i;

	json_array_foreach(json_object_get(doc, "warnings"), i, w)
	{
		const char *code = json_string_value(json_object_get(w, "code"));
		const char *s = json_string_value(json_object_get(w, "severity"));
		if (!code || !s || strvec_has(codes, code))
			continue;
		strvec_push(codes, code);
		for (size_t k = 0; k < ARRAY_LEN(severity); k++) {
			if (strcmp(s, severity[k]) != 0)
				continue;
			if (kinds[k].nr++ < CODES_SHOWN)
				strvec_push(&kinds[k].codes, code);
		}
	}
	json_decref(doc);
}

/* ---- what is missing ---- */

#define MISSING_LINES 5

/* An input of an analysis; borrowed. */
struct read_input {
	const char *path, *reader, *why; /* why: the first error of the input, or NULL */
	bool partial, told;              /* told: the error was printed during reading */
};
struct read_inputs {
	VEC(struct read_input) v;
};

/* fresh: errors of unreadable inputs were printed during this analysis. */
static void facts_of_json(const json_t *doc, bool fresh, struct read_inputs *ret)
{
	const json_t *in, *w;
	size_t i;

	json_array_foreach(json_object_get(doc, "inputs"), i, in)
	{
		const char *path = json_string_value(json_object_get(in, "path"));
		const char *reader = json_string_value(json_object_get(in, "reader"));

		VEC_PUSH(&ret->v, ((struct read_input){ .path = path ? path : "",
							.reader = reader ? reader : "",
							.partial = json_is_true(
								json_object_get(in, "partial")) }));
	}
	json_array_foreach(json_object_get(doc, "warnings"), i, w)
	{
		const char *of = json_string_value(json_object_get(w, "input"));
		const char *s = json_string_value(json_object_get(w, "severity"));
		const char *code = json_string_value(json_object_get(w, "code"));

		for (size_t k = 0; of && s && !strcmp(s, "error") && k < ret->v.nr; k++)
			if (!ret->v.v[k].why && !strcmp(ret->v.v[k].path, of)) {
				ret->v.v[k].why = json_string_value(json_object_get(w, "text"));
				ret->v.v[k].told = fresh && code && !strcmp(code, W_UNREADABLE);
			}
	}
}

static void facts_of_model(const struct model *m, struct read_inputs *ret)
{
	for (size_t i = 0; i < m->inputs.nr; i++)
		VEC_PUSH(&ret->v, ((struct read_input){ .path = m->inputs.v[i].path,
							.reader = m->inputs.v[i].reader,
							.partial = m->inputs.v[i].partial }));
	for (size_t i = 0; i < m->warnings.nr; i++) {
		const struct warning *w = &m->warnings.v[i];

		if (w->severity == SEV_ERROR && w->input < ret->v.nr && !ret->v.v[w->input].why) {
			ret->v.v[w->input].why = w->text;
			ret->v.v[w->input].told = !strcmp(w->code, W_UNREADABLE);
		}
	}
}

static void incomplete_say(size_t partial)
{
	if (partial)
		fprintf(stderr, ", %zu input%s incomplete", partial, partial == 1 ? "" : "s");
}

/* "  data    3 inputs (otf2, 2 samples), 1 input incomplete", without an end of line */
static void inputs_line(const struct read_inputs *f)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	CLEANUP(xfreep) size_t *count = xcalloc(f->v.nr + 1, sizeof(*count));
	size_t partial = 0;

	for (size_t i = 0; i < f->v.nr; i++) {
		const char *reader = *f->v.v[i].reader ? f->v.v[i].reader : "unreadable";
		size_t k = 0;

		partial += f->v.v[i].partial;
		while (k < names.nr && strcmp(names.v[k], reader) != 0)
			k++;
		if (k == names.nr)
			strvec_push(&names, reader);
		count[k]++;
	}
	fprintf(stderr, "  data    %zu input%s", f->v.nr, f->v.nr == 1 ? "" : "s");
	for (size_t k = 0; k < names.nr; k++) {
		fputs(k ? ", " : " (", stderr);
		if (count[k] > 1)
			fprintf(stderr, "%zu ", count[k]);
		cli_put(stderr, names.v[k], 30);
	}
	fputs(names.nr ? ")" : "", stderr);
	incomplete_say(partial);
}

static void missing_line(const char *path, const char *why)
{
	bool quiet = log_level() == 0;

	fputs(quiet ? "profrig: " : "  missing ", stderr);
	/* most reasons name the file themselves */
	if (!why || !strstr(why, path)) {
		cli_put(stderr, path, 0);
		fputs(why ? ": " : " is incomplete", stderr);
	}
	if (why)
		cli_put(stderr, why, 400);
	fputc('\n', stderr);
}

/* Printed also with -q: an exit code alone gives no reason. */
static void missing_say(const struct read_inputs *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->v.nr; i++)
		if (f->v.v[i].partial && !f->v.v[i].told && nr++ < MISSING_LINES)
			missing_line(f->v.v[i].path, f->v.v[i].why);
	if (nr > MISSING_LINES)
		fprintf(stderr, "          and %zu more: analysis.json names all\n",
			nr - MISSING_LINES);
}

/* Warnings and notes of data that are in no input, one line for each kind. */
static void hidden_say(const json_t *doc)
{
	static const char *const hides[] = { W_MISSING_RANKS, W_COLLECTIVE_INCOMPLETE,
					     W_UNTERMINATED, W_LOST_EVENTS };
	const json_t *w;
	size_t i;

	for (size_t k = 0; k < ARRAY_LEN(hides); k++) {
		const char *text = NULL, *input = NULL;
		size_t nr = 0;

		json_array_foreach(json_object_get(doc, "warnings"), i, w)
		{
			const char *code = json_string_value(json_object_get(w, "code"));

			if (!code || strcmp(code, hides[k]) != 0 || nr++)
				continue;
			text = json_string_value(json_object_get(w, "text"));
			input = json_string_value(json_object_get(w, "input"));
		}
		if (!text)
			continue;
		fputs("  missing ", stderr);
		if (input && !strstr(text, input)) {
			cli_put(stderr, input, 0);
			fputs(": ", stderr);
		}
		cli_put(stderr, text, 300);
		if (nr > 1)
			fprintf(stderr, " (and %zu more)", nr - 1);
		fputc('\n', stderr);
	}
}

/* Energy that is in no call because the clocks of calls and samples have nothing in common. */
static void unjoined_say(const json_t *doc, const struct headline *h)
{
	const char *why = NULL;
	const json_t *w;
	size_t i;

	json_array_foreach(json_object_get(doc, "warnings"), i, w)
	{
		const char *code = json_string_value(json_object_get(w, "code"));

		if (!why && code && !strcmp(code, W_NOT_ALIGNED))
			why = json_string_value(json_object_get(w, "text"));
	}
	for (i = 0; why && i < h->counters.nr; i++) {
		const struct headline_counter *c = &h->counters.v[i];
		char a[32], b[32];

		if (strcmp(c->view, "host") != 0 || !(c->unattributed_j > 0.01 * c->total_j))
			continue;
		fprintf(stderr, "  missing %s of %s of ", cli_si(c->unattributed_j, "J", a),
			cli_si(c->total_j, "J", b));
		cli_put(stderr, c->counter, 60);
		fputs(" are in no call: ", stderr);
		cli_put(stderr, why, 300);
		fputc('\n', stderr);
		break;
	}
}

/* "; 2 warnings (W_SPAN_OVERLAP, W_BAD_EVENT); 1 note": notes are no warnings, and not named. */
static void warnings_say(const struct report *rep)
{
	CLEANUP(strvec_release) struct strvec codes = STRVEC_INIT;
	struct kinds kinds[ARRAY_LEN(severity)] = { { 0, STRVEC_INIT },
						    { 0, STRVEC_INIT },
						    { 0, STRVEC_INIT } };

	count_kinds(rep->run_json, &codes, kinds);
	count_kinds(rep->analysis_json, &codes, kinds);
	for (size_t k = 0; k < ARRAY_LEN(severity); k++) {
		size_t nr = kinds[k].nr;

		if (nr)
			fprintf(stderr, "; %zu %s%s", nr, severity[k], nr == 1 ? "" : "s");
		for (size_t i = 0; i < kinds[k].codes.nr && k + 1 < ARRAY_LEN(severity); i++)
			fprintf(stderr, "%s%s%s", i ? ", " : " (", kinds[k].codes.v[i],
				i + 1 == kinds[k].codes.nr ? nr > i + 1 ? ", …)" : ")" : "");
		strvec_release(&kinds[k].codes);
	}
}

/* "; 9 of 9 checks hold; 2 warnings" */
static void held_say(const struct report *rep)
{
	size_t good = 0, checks = rep->tables.checks.nr;

	for (size_t i = 0; i < checks; i++)
		good += rep->tables.checks.v[i].ok;
	if (checks)
		fprintf(stderr, "; %zu of %zu checks hold", good, checks);
	warnings_say(rep);
	fputc('\n', stderr);
}

static void collected_say(const struct run_result *r, const struct report *rep)
{
	fprintf(stderr, "  data    %llu artifact%s%s", (unsigned long long)r->artifacts,
		r->artifacts == 1 ? "" : "s",
		r->artifacts && !r->artifacts_bad && !r->artifacts_unread ? " valid" : "");
	if (r->artifacts_bad)
		fprintf(stderr, ", %llu of them missing, empty or damaged",
			(unsigned long long)r->artifacts_bad);
	if (r->artifacts_unread)
		fprintf(stderr, ", %llu of them not checked",
			(unsigned long long)r->artifacts_unread);
	fprintf(stderr, "; %llu sample%s", (unsigned long long)r->samples,
		r->samples == 1 ? "" : "s");
	held_say(rep);
}

/* ", 2.1 % longer than without tools" */
static void overhead_say(const struct run_result *r, const struct baseline *base)
{
	double more = r->workload_s / base->workload_s - 1;
	/* The duration of a failed run says nothing about its tools. */
	bool good = r->status == RUN_SUCCESS || r->status == RUN_PARTIAL;

	if (good && isfinite(more))
		fprintf(stderr, ", %.1f %% %s than without tools", fabs(100 * more),
			more < 0 ? "shorter" : "longer");
}

/* With -q: how a failed run ended, and what a good one lacks. */
static void print_quietly(const struct prepared *p, const struct run_result *r,
			  const struct report *rep)
{
	json_t *doc = rep->analysis_json ? json_loads(rep->analysis_json, 0, NULL) : NULL;
	struct read_inputs facts = { VEC_INIT };

	if (r->status != RUN_SUCCESS && r->status != RUN_SKIPPED)
		log_error("%s is %s: %s", p->run_id, run_status_name(r->status), r->reason);
	facts_of_json(doc, true, &facts);
	missing_say(&facts);
	VEC_RELEASE(&facts.v);
	json_decref(doc);
}

/* Tools in front of the workload take time before and after it. */
static void around_say(const struct headline *h)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	char b[32];

	for (size_t i = 0; i < h->around.nr; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", h->around.v[i]);
	if (!names.len)
		return;
	fputs(", with ", stderr);
	cli_put(stderr, names.buf, 60);
	fprintf(stderr, " around it: its events span %s", cli_si(h->around_ns / 1e9, "s", b));
}

static void and_word(const char *before, const char *word)
{
	if (!*word)
		return;
	fputs(before, stderr);
	cli_put(stderr, word, 0);
}

void print_summary(const struct prepared *p, const struct run_result *r, const struct report *rep,
		   const struct baseline *base)
{
	char b[32];
	bool color = log_color();
	const char *paint = !color                     ? ""
			    : r->status == RUN_SUCCESS ? "\033[32m"
			    : r->status == RUN_PARTIAL ? "\033[33m"
						       : "\033[31m";
	CLEANUP(headline_release) struct headline h = { .split_of = "" };

	if (log_level() == 0) {
		print_quietly(p, r, rep);
		return;
	}
	fprintf(stderr, "%s%s%s  ", paint, run_status_name(r->status), color ? "\033[0m" : "");
	cli_put(stderr, p->conf.model_name, 0);
	fprintf(stderr, " in %s on %s", cli_si(r->workload_s, "s", b), p->engine->name);
	and_word(", image ", p->engine->container && p->conf.image ? p->conf.image : "");
	headline_make(rep, &h);
	around_say(&h);
	and_word(", ", r->result);
	overhead_say(r, base);
	and_word(": ", r->reason);
	fputc('\n', stderr);
	if (r->status == RUN_SKIPPED) {
		fprintf(stderr, "  report  %s\n", p->run_dir);
		return;
	}
	/* after a failure no tools are recommended */
	bool good = r->status == RUN_SUCCESS || r->status == RUN_PARTIAL;
	findings_say(rep);
	if (!said_last(p, r, rep))
		where_time(&h, p->bare                  ? "not traced: this is the baseline"
			       : has_library_calls(rep) ? "no spans were recorded"
			       : good ? "no spans were recorded: add a tracing tool "
					"('profrig list tools')"
				      : "no spans were recorded");
	library_say(rep);
	where_energy(&h, p->bare ? "not sampled: this is the baseline"
			 : good  ? "no power or energy was sampled: add cpu_power or gpu_power"
				 : "no power or energy was sampled");
	collected_say(r, rep);
	json_t *doc = rep->analysis_json ? json_loads(rep->analysis_json, 0, NULL) : NULL;
	struct read_inputs facts = { VEC_INIT };
	facts_of_json(doc, true, &facts);
	missing_say(&facts);
	hidden_say(doc);
	unjoined_say(doc, &h);
	VEC_RELEASE(&facts.v);
	json_decref(doc);
	CLEANUP(xfreep) char *page = rep->dir ? writer_path(writer_find("html"), rep) : NULL;
	fprintf(stderr, "  report  %s\n", page && fs_exists(page) ? page : p->run_dir);
}

/* "  data    13 runs, all successful", without an end of line. False: it is no ensemble. */
static bool runs_line(const struct report *rep, const struct read_inputs *f)
{
	const struct table *t = table_set_find(&rep->tables, "runs");
	int status = t ? table_find_col(t, "status") : -1;
	size_t nr = t ? table_rows(t) : 0, bad = 0, partial = 0;

	if (status < 0)
		return false;
	for (size_t i = 0; i < nr; i++)
		bad += strcmp(table_get_str(t, i, (size_t)status), "success") != 0;
	for (size_t i = 0; i < f->v.nr; i++)
		partial += f->v.v[i].partial;
	fprintf(stderr, "  data    %zu run%s, ", nr, nr == 1 ? "" : "s");
	if (bad)
		fprintf(stderr, "%zu of them not successful", bad);
	else
		fputs("all successful", stderr);
	incomplete_say(partial);
	return true;
}

void print_analysis(const struct report *rep, bool fresh)
{
	json_t *doc = rep->analysis_json ? json_loads(rep->analysis_json, 0, NULL) : NULL;
	struct read_inputs facts = { VEC_INIT };
	CLEANUP(headline_release) struct headline h = { .split_of = "" };

	if (!doc)
		return;
	headline_make(rep, &h);
	facts_of_json(doc, fresh, &facts);
	if (log_level() > 0) {
		findings_say(rep);
		where_time(&h,
			   has_library_calls(rep) ? "no spans are in it" : "no calls are in it");
		library_say(rep);
		where_energy(&h, "no power or energy is in it");
		if (!runs_line(rep, &facts))
			inputs_line(&facts);
		held_say(rep);
	}
	missing_say(&facts);
	if (log_level() > 0) {
		hidden_say(doc);
		unjoined_say(doc, &h);
	}
	VEC_RELEASE(&facts.v);
	json_decref(doc);
}

void print_inputs(const struct model *m)
{
	struct read_inputs facts = { VEC_INIT };

	facts_of_model(m, &facts);
	if (log_level() > 0) {
		inputs_line(&facts);
		fputc('\n', stderr);
	}
	missing_say(&facts);
	VEC_RELEASE(&facts.v);
}
