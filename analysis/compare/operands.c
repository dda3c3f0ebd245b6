#include "profrig/compare/operands.h"
#include "campaign_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/sample_verdict.h"
#include "profrig/base/xalloc.h"
#include "profrig/readers/reader.h"
#include "profrig/scan/input.h"

#define LIBRARY_HEADER "library,config,backend,"

void run_set_release(struct run_set *s)
{
	for (size_t i = 0; i < s->runs.nr; i++) {
		free(s->runs.v[i].dir);
		conditions_release(&s->runs.v[i].c);
	}
	VEC_RELEASE(&s->runs);
	free(s->label);
	free(s->cell);
	free(s->baseline);
	strvec_release(&s->failed);
	strvec_release(&s->axes);
	strvec_release(&s->values);
}

void operand_release(struct compare_operand *o)
{
	for (size_t i = 0; i < o->sets.nr; i++)
		run_set_release(&o->sets.v[i]);
	VEC_RELEASE(&o->sets);
	free(o->path);
	strvec_release(&o->gates);
	VEC_RELEASE(&o->thresholds);
	strvec_release(&o->problems);
	*o = (struct compare_operand)OPERAND_INIT;
}

/* ---- sets ---- */

static struct run_set *set_begin(struct compare_operand *o, const char *label)
{
	VEC_PUSH(&o->sets, ((struct run_set){ .label = xstrdup(label),
					      .cell = xstrdup(""),
					      .baseline = xstrdup(""),
					      .axes = STRVEC_INIT,
					      .values = STRVEC_INIT,
					      .failed = STRVEC_INIT }));
	return &o->sets.v[o->sets.nr - 1];
}

void run_set_add(struct compare_operand *o, struct run_set *s, const char *dir)
{
	struct compared_run run = { .c = CONDITIONS_INIT };
	struct err err = ERR_INIT;

	if (conditions_read(dir, &run.c, &err) < 0) {
		strvec_push(&o->problems, err.msg);
	} else if (!run.c.ended_well) {
		strvec_pushf(&s->failed, "%s: %.40s", fs_base(dir),
			     *run.c.status ? run.c.status : "no status");
		conditions_release(&run.c);
	} else {
		run.dir = xstrdup(dir);
		VEC_PUSH(&s->runs, run);
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct compared_run *a = pa, *b = pb;

	if (a->c.started_ns != b->c.started_ns)
		return a->c.started_ns < b->c.started_ns ? -1 : 1;
	return strcmp(a->dir, b->dir);
}

void run_set_sort(struct run_set *s)
{
	if (s->runs.nr)
		qsort(s->runs.v, s->runs.nr, sizeof(*s->runs.v), by_start);
}

int operand_run_add(struct compare_operand *o, const char *dir, const char *label, struct err *err)
{
	struct conditions c = CONDITIONS_INIT;
	int r = conditions_read(dir, &c, err);

	if (r < 0)
		return r;
	conditions_release(&c);
	run_set_add(o, set_begin(o, label), dir);
	return 0;
}

/* ---- which kind ---- */

static bool is_analysis(const char *dir)
{
	CLEANUP(xfreep) char *path = fs_join(dir, "analysis.json");

	return fs_is_file(path);
}

/* Directories of a folder that may be runs, sorted; links and hidden ones are none. */
static int folder_list(const char *dir, struct strvec *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r = fs_list(dir, &names, err);

	for (size_t i = 0; i < names.nr && ret->nr < OPERAND_RUNS_MAX; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		CLEANUP(xfreep) char *run = fs_join(path, "run.json");
		struct stat st;

		if (*names.v[i] == '.' || door_lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		if (door_lstat(run, &st) == 0)
			strvec_push(ret, path);
	}
	return r;
}

static bool is_library(const char *path)
{
	char head[sizeof(LIBRARY_HEADER)];
	int64_t n = input_head(path, head, sizeof(head) - 1, NULL);

	return n == (int64_t)sizeof(head) - 1 &&
	       memcmp(head, LIBRARY_HEADER, sizeof(head) - 1) == 0;
}

/* "DIR:CELL", where DIR is a campaign: the length of DIR, else 0. */
static size_t cell_split(const char *word)
{
	for (const char *colon = strchr(word, ':'); colon; colon = strchr(colon + 1, ':')) {
		CLEANUP(xfreep) char *dir = xstrndup(word, (size_t)(colon - word));

		if (*dir && fs_is_dir(dir) && campaign_is(dir))
			return (size_t)(colon - word);
	}
	return 0;
}

static int folder_read(const char *dir, const struct strvec *runs, struct compare_operand *o)
{
	struct run_set *s = set_begin(o, dir);

	o->kind = OPERAND_FOLDER;
	for (size_t i = 0; i < runs->nr; i++)
		run_set_add(o, s, runs->v[i]);
	run_set_sort(s);
	return 0;
}

/* An ensemble has the analysis of each of its runs in each/. */
static int analysis_read(const char *dir, struct compare_operand *o, struct err *err)
{
	CLEANUP(xfreep) char *each = fs_join(dir, "each");
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct run_set *s = NULL;

	if (fs_is_dir(each) && fs_list(each, &names, err) < 0)
		return -EIO;
	for (size_t i = 0; i < names.nr && i < OPERAND_RUNS_MAX; i++) {
		CLEANUP(xfreep) char *run = fs_join(each, names.v[i]);

		if (*names.v[i] == '.' || !is_analysis(run))
			continue;
		s = s ? s : set_begin(o, dir);
		run_set_add(o, s, run);
	}
	return s ? 0 : operand_run_add(o, dir, dir, err);
}

static int folder_kind(const char *word, struct compare_operand *o, struct err *err)
{
	CLEANUP(strvec_release) struct strvec runs = STRVEC_INIT;
	CLEANUP(xfreep) char *document = fs_join(word, "run.json");
	struct stat st;
	int r;

	if (rundir_is(word) || door_lstat(document, &st) == 0) {
		o->kind = OPERAND_RUN;
		return operand_run_add(o, word, word, err);
	}
	if (campaign_is(word)) {
		o->kind = OPERAND_CAMPAIGN;
		return campaign_cells_read(word, NULL, o, err);
	}
	if (is_analysis(word)) {
		o->kind = OPERAND_ANALYSIS;
		return analysis_read(word, o, err);
	}
	r = folder_list(word, &runs, err);
	if (r < 0)
		return r;
	if (runs.nr)
		return folder_read(word, &runs, o);
	o->kind = OPERAND_TRACE;
	return 0;
}

static int word_read(const char *word, struct compare_operand *o, struct err *err)
{
	struct stat st;
	size_t split;

	if (door_stat(word, &st) < 0) {
		int code = errno;

		split = cell_split(word);
		if (!split)
			return err_sys(err, code, "%s", word);
		o->kind = OPERAND_CELL;
		free(o->path);
		o->path = xstrndup(word, split);
		code = campaign_cells_read(o->path, word + split + 1, o, err);
		return code < 0 ? err_wrap(err, code, "'%s'", word + split + 1) : 0;
	}
	if (S_ISDIR(st.st_mode))
		return folder_kind(word, o, err);
	o->kind = is_library(word) ? OPERAND_LIBRARY : OPERAND_TRACE;
	return 0;
}

int operand_read(const char *word, struct compare_operand *ret, struct err *err)
{
	struct compare_operand o = OPERAND_INIT;
	int r;

	o.path = xstrdup(word);
	r = word_read(word, &o, err);
	if (r < 0) {
		operand_release(&o);
		return r;
	}
	*ret = o;
	return 0;
}

/* ---- two sets ---- */

static const char *axis_value(const struct run_set *s, const char *axis)
{
	for (size_t i = 0; i < s->axes.nr; i++)
		if (strcmp(s->axes.v[i], axis) == 0)
			return s->values.v[i];
	return "";
}

uint32_t run_sets_exempt(const struct run_set *a, const struct run_set *b)
{
	uint32_t bits = 0;

	if (!*a->cell || !*b->cell)
		return 0;
	for (size_t i = 0; i < a->axes.nr; i++)
		if (strcmp(a->values.v[i], axis_value(b, a->axes.v[i])) != 0)
			bits |= conditions_exempt(a->axes.v[i]);
	for (size_t i = 0; i < b->axes.nr; i++)
		if (strcmp(b->values.v[i], axis_value(a, b->axes.v[i])) != 0)
			bits |= conditions_exempt(b->axes.v[i]);
	return bits;
}

static bool set_blocked(const struct run_set *s, const char *campaign)
{
	for (size_t i = 0; i < s->runs.nr; i++)
		if (s->runs.v[i].c.block == SAMPLE_BLOCK_NONE ||
		    strcmp(s->runs.v[i].c.campaign, campaign) != 0)
			return false;
	return s->runs.nr > 0;
}

bool run_sets_blocked(const struct run_set *a, const struct run_set *b)
{
	const char *campaign = a->runs.nr ? a->runs.v[0].c.campaign : "";

	return set_blocked(a, campaign) && set_blocked(b, campaign);
}
