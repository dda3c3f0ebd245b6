/* compare: runs, sets of runs, cells of a campaign, traces, side by side. */
#include "cli.h"
#include "compare_file.h"
#include "compare_show.h"
#include "diff_show.h"
#include "history_show.h"
#include "trace_show.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/temps.h"
#include "profrig/base/text.h"
#include "profrig/compare/figures.h"

extern const struct command cmd_compare;
extern const struct command cmd_lib_compare;

struct compare {
	const struct command *c;
	const char *threshold, *confidence, *share, *gate, *page, *history, *memory;
	struct strvec metrics;
	bool json, strict;
	struct compare_opts o;
	VEC(struct compare_operand) operands;
	struct strvec temps; /* folders of traces that were analysed */
	VEC(double) limits;  /* of o.metrics */
	struct comparison r;
	struct diff d;
};

/* ---- options ---- */

static bool share_parse(const char *text, double *ret)
{
	return num_percent(text, strlen(text), ret) == 0 || num_f64(text, strlen(text), ret) == 0;
}

static int options_read(struct compare *cm)
{
	if (cm->threshold && !(share_parse(cm->threshold, &cm->o.threshold) &&
			       cm->o.threshold >= 0 && cm->o.threshold < 1))
		return cli_usage(cm->c, "--threshold wants a share such as 5%%, not '%.40s'",
				 cm->threshold);
	if (cm->confidence && !(share_parse(cm->confidence, &cm->o.confidence) &&
				cm->o.confidence > 0 && cm->o.confidence < 1))
		return cli_usage(cm->c, "--confidence wants a share such as 0.95, not '%.40s'",
				 cm->confidence);
	if (cm->share && !(share_parse(cm->share, &cm->o.min_share) && cm->o.min_share >= 0 &&
			   cm->o.min_share < 1))
		return cli_usage(cm->c, "--min-share wants a share such as 0.1%%, not '%.40s'",
				 cm->share);
	if (cm->gate && *cm->gate && strcmp(cm->gate, "strict") != 0)
		return cli_usage(cm->c, "--gate takes no value but 'strict', not '%.40s'",
				 cm->gate);
	cm->strict = cm->gate && *cm->gate;
	if (cm->history && (cm->gate || cm->page || cm->metrics.nr))
		return cli_usage(cm->c, "--history goes with --json alone");
	return EXIT_DONE;
}

/* ---- operands ---- */

/* A trace becomes an analysis in a folder of its own, which goes when the command ends. */
static int trace_analyze(struct compare *cm, struct compare_operand *o)
{
	CLEANUP(strvec_release) struct strvec inputs = STRVEC_INIT;
	CLEANUP(report_release) struct report rep = REPORT_INIT;
	const char *base = getenv("TMPDIR");
	CLEANUP(xfreep) char *dir = fs_temp_name(base && *base ? base : "/tmp");
	struct session_opts so;
	struct err err = ERR_INIT;
	int code;

	strvec_push(&inputs, o->path);
	strvec_push(&cm->temps, dir);
	temps_hold(dir);
	cli_session_opts(&so);
	strvec_pushl(&so.formats, "csv", "folded", NULL);
	code = analyze_to(&inputs, &so, dir, &rep);
	session_opts_release(&so);
	if (code != EXIT_DONE && code != EXIT_PARTIAL)
		return code;
	if (operand_run_add(o, dir, o->path, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_UNREADABLE;
	}
	return code;
}

static void temps_drop(struct compare *cm)
{
	for (size_t i = 0; i < cm->temps.nr; i++) {
		fs_remove_tree(cm->temps.v[i], NULL);
		temps_let_go(cm->temps.v[i]);
	}
	strvec_release(&cm->temps);
}

static int operand_take(struct compare *cm, const char *word)
{
	struct compare_operand o = OPERAND_INIT;
	struct err err = ERR_INIT;
	int code = EXIT_DONE;

	if (operand_read(word, &o, &err) < 0) {
		log_error("%s", err.msg);
		return EXIT_UNREADABLE;
	}
	if (o.kind == OPERAND_TRACE)
		code = trace_analyze(cm, &o);
	for (size_t i = 0; i < o.problems.nr; i++)
		log_warn("%s", o.problems.v[i]);
	if (o.problems.nr)
		code = exit_worse(code, EXIT_PARTIAL);
	VEC_PUSH(&cm->operands, o);
	return code;
}

static int operands_take(struct compare *cm, const struct strvec *words)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < words->nr; i++) {
		code = exit_worse(code, operand_take(cm, words->v[i]));
		if (code != EXIT_DONE && code != EXIT_PARTIAL)
			return code;
	}
	return code;
}

/* Tables of lib perf are compared call by call, by the command that is made for them. */
static int library_hand_over(struct compare *cm, const struct strvec *words, bool *ret_done)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	size_t library = 0;

	for (size_t i = 0; i < words->nr; i++) {
		CLEANUP(operand_release) struct compare_operand o = OPERAND_INIT;

		if (!fs_is_dir(words->v[i]) && operand_read(words->v[i], &o, NULL) == 0)
			library += o.kind == OPERAND_LIBRARY;
	}
	*ret_done = library > 0;
	if (!library)
		return EXIT_DONE;
	if (library < words->nr)
		return cli_usage(cm->c, "a library_perf.csv compares with its like alone");
	if (cm->metrics.nr || cm->strict || cm->history)
		return cli_usage(
			cm->c,
			"--metric, --history and --gate=strict are not for library_perf.csv");
	strvec_push(&argv, cmd_lib_compare.name);
	if (cm->threshold)
		strvec_pushl(&argv, "--threshold", cm->threshold, NULL);
	if (cm->confidence)
		strvec_pushl(&argv, "--confidence", cm->confidence, NULL);
	if (cm->page)
		strvec_pushl(&argv, "--html", cm->page, NULL);
	if (cm->gate)
		strvec_push(&argv, "--gate");
	if (cm->json)
		strvec_push(&argv, "--json");
	strvec_push(&argv, "--");
	strvec_pushv(&argv, words->v);
	return cmd_lib_compare.main(&cmd_lib_compare, (int)argv.nr, argv.v);
}

/* ---- which figures ---- */

static bool has_kind(const struct compare *cm, enum compare_operand_kind kind)
{
	for (size_t i = 0; i < cm->operands.nr; i++)
		if (cm->operands.v[i].kind == kind)
			return true;
	return false;
}

/* What a campaign's gate declares counts where the command line declares nothing. */
static void gates_take(struct compare *cm)
{
	for (size_t i = 0; cm->gate && !cm->metrics.nr && i < cm->operands.nr; i++) {
		const struct compare_operand *o = &cm->operands.v[i];

		for (size_t k = 0; k < o->gates.nr; k++) {
			if (strvec_has(&cm->o.metrics, o->gates.v[k]))
				continue;
			strvec_push(&cm->o.metrics, o->gates.v[k]);
			VEC_PUSH(&cm->limits, cm->threshold ? NAN : o->thresholds.v[k]);
		}
	}
	cm->o.thresholds = cm->limits.v;
	strvec_pushv(&cm->metrics, cm->o.metrics.v);
}

static void selection_make(struct compare *cm)
{
	gates_take(cm);
	strvec_pushv(&cm->o.selection, cm->metrics.v);
	cm->o.declared = cm->metrics.nr > 0 || cm->gate;
	/* of all cells of a campaign it would read every table there is */
	cm->o.traces = !cm->metrics.nr && (cm->page || !has_kind(cm, OPERAND_CAMPAIGN));
	if (cm->metrics.nr)
		return;
	strvec_push(&cm->o.selection, "usual");
	if (cm->page || has_kind(cm, OPERAND_TRACE) || has_kind(cm, OPERAND_ANALYSIS))
		strvec_pushl(&cm->o.selection, "functions.exclusive_ns", "kernels.total_ns",
			     "operators.own_ns", NULL);
}

/* ---- which sets ---- */

static const struct run_set *set_like(const struct compare_operand *o, const struct run_set *s)
{
	const struct run_set *found = VEC_FIND(&o->sets, e, strcmp(e->cell, s->cell) == 0);

	return found ? found : VEC_FIND(&o->sets, e, strcmp(e->label, s->label) == 0);
}

/* Each cell against the one that its plan names. */
static int cells_pair(struct compare *cm)
{
	const struct compare_operand *o = &cm->operands.v[0];

	for (size_t i = 0; i < o->sets.nr; i++) {
		const struct run_set *s = &o->sets.v[i], *base;

		if (!*s->baseline || strcmp(s->baseline, s->cell) == 0)
			continue;
		base = VEC_FIND(&o->sets, e, strcmp(e->cell, s->baseline) == 0);
		if (base)
			comparison_add(&cm->r, base, s, base->label, s->label);
		else
			strvec_pushf(&cm->d.only, "%s: its baseline is not in the plan", s->label);
	}
	if (cm->r.versus.nr)
		return EXIT_DONE;
	return cli_usage(cm->c, "%s: no cell has a baseline; name two: %s:CELL %s:CELL", o->path,
			 o->path, o->path);
}

static void sets_pair(struct compare *cm, size_t at)
{
	const struct compare_operand *a = &cm->operands.v[0], *b = &cm->operands.v[at];
	const char *name_a = cm->d.sides.v[0].name, *name_b = cm->d.sides.v[at].name;

	for (size_t i = 0; i < b->sets.nr; i++) {
		const struct run_set *s = &b->sets.v[i];
		const struct run_set *base = a->sets.nr == 1 ? &a->sets.v[0] : set_like(a, s);
		bool cells = b->sets.nr > 1;

		if (!base)
			strvec_pushf(&cm->d.only, "only in %s: %s", name_b, s->label);
		else if (!cells)
			comparison_add(&cm->r, base, s, name_a, name_b);
		else if (strcmp(base->cell, s->cell) != 0 || a->sets.nr > 1)
			comparison_add(&cm->r, base, s, a->sets.nr > 1 ? name_a : base->label,
				       s->label);
	}
	for (size_t i = 0; a->sets.nr > 1 && i < a->sets.nr; i++)
		if (!set_like(b, &a->sets.v[i]))
			strvec_pushf(&cm->d.only, "only in %s: %s", name_a, a->sets.v[i].label);
}

static int operands_pair(struct compare *cm)
{
	const struct compare_operand *a = &cm->operands.v[0];

	if (cm->operands.nr == 1 && a->kind == OPERAND_CAMPAIGN)
		return cells_pair(cm);
	if (cm->operands.nr == 1)
		return cli_usage(cm->c, "one input alone: nothing to compare it with");
	for (size_t i = 1; i < cm->operands.nr; i++) {
		const struct compare_operand *b = &cm->operands.v[i];

		if (a->sets.nr > 1 && b->kind != OPERAND_CAMPAIGN)
			return cli_usage(cm->c, "%s has %zu cells: name one, %s:CELL", a->path,
					 a->sets.nr, a->path);
		sets_pair(cm, i);
	}
	if (!cm->r.versus.nr)
		return cli_usage(cm->c, "no cell of the campaigns is in both");
	return EXIT_DONE;
}

static void sides_make(struct compare *cm, const struct strvec *words)
{
	for (size_t i = 0; i < cm->operands.nr; i++) {
		const struct compare_operand *o = &cm->operands.v[i];
		struct diff_side side = { .word = words->v[i] };
		char name[16];

		side.name = xstrdup(compare_side_name((uint32_t)i, name));
		side.cells = o->kind == OPERAND_CAMPAIGN ? o->sets.nr : 0;
		for (size_t k = 0; k < o->sets.nr; k++) {
			side.runs += o->sets.v[k].runs.nr;
			side.failed += o->sets.v[k].failed.nr;
		}
		VEC_PUSH(&cm->d.sides, side);
	}
}

/* ---- outputs ---- */

static void page_write(const void *ctx, FILE *f)
{
	diff_page(&((const struct compare *)ctx)->d, f);
}

/* A folder unless the name says that it is a file. */
static bool is_folder(const char *path)
{
	return fs_is_dir(path) || text_suffix(path, "/") || !strchr(fs_base(path), '.');
}

static int files_write(const struct compare *cm)
{
	CLEANUP(xfreep) char *page = NULL;
	int code;

	if (!cm->page)
		return EXIT_DONE;
	if (!is_folder(cm->page))
		return compare_file_write(cm->page, page_write, cm);
	code = trace_folder_write(cm->page, &cm->r);
	page = fs_join(cm->page, "report.html");
	return code == EXIT_DONE ? compare_file_write(page, page_write, cm) : code;
}

static int outputs_write(const struct compare *cm)
{
	int code = files_write(cm);

	if (cm->json)
		diff_json(&cm->d, stdout);
	else
		diff_text(&cm->d, stdout, log_color() && isatty(STDOUT_FILENO));
	return code;
}

/* A word that names no figure would pass every gate. */
static int metrics_check(const struct compare *cm)
{
	for (size_t i = 0; i < cm->metrics.nr; i++) {
		const struct strvec one = { (char *[]){ cm->metrics.v[i], NULL }, 1, 0 };
		bool found =
			!strcmp(cm->metrics.v[i], "metrics") || !strcmp(cm->metrics.v[i], "usual");

		for (size_t k = 0; k < cm->r.rows.nr && !found; k++)
			found = figures_selected(&one, cm->r.rows.v[k].name, false);
		if (!found)
			return cli_usage(cm->c,
					 "no run has a figure '%.60s'; docs/compare.md lists those "
					 "of tables, which 'profrig analyze' and 'report' make",
					 cm->metrics.v[i]);
	}
	if (cm->r.rows.nr || comparison_score(&cm->r) <= 0)
		return EXIT_DONE;
	log_error("neither side has a figure: no metric, no time, no table");
	return EXIT_UNREADABLE;
}

/* ---- the gate ---- */

static size_t verdicts(const struct comparison *c, enum compare_verdict v)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->versus.nr; i++)
		nr += c->versus.v[i].of[v];
	return nr;
}

static bool strict_fails(const struct compare *cm, enum compare_verdict v, const char *why)
{
	size_t nr = verdicts(&cm->r, v);

	if (!nr)
		return false;
	(cm->strict ? log_error : log_warn)("gate: %zu %s %s%s", nr,
					    nr == 1 ? "figure is" : "figures are", why,
					    cm->strict ? "" : ", and passed (--gate=strict fails)");
	return cm->strict;
}

static void refusal_say(const struct compare *cm)
{
	void (*say)(const char *fmt, ...) = cm->gate ? log_error : log_warn;

	for (size_t i = 0; i < cm->r.versus.nr; i++) {
		const struct compare_versus *v = &cm->r.versus.v[i];

		for (size_t k = 0; v->comparable.hard && k < v->comparable.reasons.nr; k++)
			say("%s", v->comparable.reasons.v[k]);
	}
	say("not comparable");
}

/* A unit of work that takes longer is no row. */
static size_t units_slower(const struct comparison *c)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->versus.nr; i++) {
		const struct compare_versus *v = &c->versus.v[i];

		nr += v->trace && v->trace->judged && !v->comparable.hard &&
		      v->verdict == COMPARE_SLOWER;
	}
	return nr;
}

static int gate_code(const struct compare *cm)
{
	size_t slower = verdicts(&cm->r, COMPARE_SLOWER), units = units_slower(&cm->r);
	bool refused = comparison_score(&cm->r) <= 0, fails = refused || slower || units;

	if (refused)
		refusal_say(cm);
	if (!cm->gate)
		return EXIT_DONE;
	if (slower)
		log_error("gate: %zu %s slower", slower, slower == 1 ? "figure is" : "figures are");
	if (units)
		log_error("gate: a unit of work takes longer");
	if (!refused)
		fails |= strict_fails(cm, COMPARE_UNCLEAR, "unclear");
	fails |= strict_fails(cm, COMPARE_GONE, "gone from B");
	return fails ? EXIT_GATE : EXIT_DONE;
}

static int inputs_compare(struct compare *cm, const struct strvec *words)
{
	struct err err = ERR_INIT;
	int code = operands_take(cm, words), r;

	if (code != EXIT_DONE && code != EXIT_PARTIAL)
		return code;
	selection_make(cm);
	comparison_init(&cm->r, &cm->o);
	cm->d.c = &cm->r;
	sides_make(cm, words);
	r = operands_pair(cm);
	if (r == EXIT_DONE && comparison_run(&cm->r, &err) < 0) {
		log_error("%s", err.msg);
		r = EXIT_UNREADABLE;
	}
	for (size_t i = 0; i < cm->r.problems.nr; i++)
		log_warn("%s", cm->r.problems.v[i]);
	if (cm->r.problems.nr)
		code = exit_worse(code, EXIT_PARTIAL);
	if (r == EXIT_DONE)
		r = metrics_check(cm);
	if (r == EXIT_DONE) {
		code = exit_worse(code, outputs_write(cm));
		code = exit_worse(code, gate_code(cm));
	}
	comparison_release(&cm->r);
	return exit_worse(code, r);
}

/* ---- history ---- */

/* "functions.exclusive_ns:main": a name and a key. */
static int history_collect(struct compare *cm, struct history *h, struct err *err)
{
	size_t n = strcspn(cm->history, ":");
	CLEANUP(xfreep) char *name = xstrndup(cm->history, n);
	const char *key = cm->history[n] ? cm->history + n + 1 : "";
	int r = 0;

	for (size_t i = 0; i < cm->operands.nr && r == 0; i++)
		for (size_t k = 0; k < cm->operands.v[i].sets.nr && r == 0; k++)
			r = history_add(h, &cm->operands.v[i].sets.v[k], name, key, err);
	return r < 0 ? r : history_finish(h, err);
}

static int history_show(struct compare *cm, const struct strvec *words)
{
	CLEANUP(history_release) struct history h = HISTORY_INIT;
	struct err err = ERR_INIT;
	int code = operands_take(cm, words), r;

	if (code != EXIT_DONE && code != EXIT_PARTIAL)
		return code;
	r = history_collect(cm, &h, &err);
	if (r < 0) {
		log_error("%s", err.msg);
		return r == -EINVAL ? EXIT_GATE : EXIT_UNREADABLE;
	}
	for (size_t i = 0; i < h.problems.nr; i++)
		log_warn("%s", h.problems.v[i]);
	if (!h.v.nr)
		return cli_usage(cm->c, "no run has a figure '%.60s' (of a table: NAME:KEY)",
				 cm->history);
	(cm->json ? history_json : history_text)(&h, cm->history, stdout);
	return h.problems.nr ? exit_worse(code, EXIT_PARTIAL) : code;
}

static void compare_release(struct compare *cm)
{
	for (size_t i = 0; i < cm->operands.nr; i++)
		operand_release(&cm->operands.v[i]);
	VEC_RELEASE(&cm->operands);
	for (size_t i = 0; i < cm->d.sides.nr; i++)
		free(cm->d.sides.v[i].name);
	VEC_RELEASE(&cm->d.sides);
	VEC_RELEASE(&cm->limits);
	strvec_release(&cm->d.only);
	strvec_release(&cm->metrics);
	strvec_release(&cm->o.metrics);
	strvec_release(&cm->o.selection);
	temps_drop(cm);
}

static int compare_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	CLEANUP(compare_release)
	struct compare cm = { .c = c,
			      .metrics = STRVEC_INIT,
			      .temps = STRVEC_INIT,
			      .o = COMPARE_OPTS_INIT,
			      .d = { .only = STRVEC_INIT } };
	char **rest;
	bool done = false;
	const struct opt opts[] = {
		{ "metric", 0, OPT_LIST, &cm.metrics, "M,…",
		  "judge these alone: performance, duration, functions, kernels.total_ns, …" },
		{ "threshold", 0, OPT_STR, &cm.threshold, "SHARE",
		  "smaller differences are none (5%)" },
		{ "confidence", 0, OPT_STR, &cm.confidence, "SHARE", "of intervals (0.95)" },
		{ "min-share", 0, OPT_STR, &cm.share, "SHARE",
		  "leave out rows of tables with less of the whole on both sides (0)" },
		{ "gate", 0, OPT_MAYBE, &cm.gate, "strict",
		  "exit with 7 when a figure is slower, or A and B do not compare; strict: also "
		  "when one is unclear or gone" },
		{ "output", 'o', OPT_STR, &cm.page, "FILE.html|DIR",
		  "a page: ranked tables, flame graphs of the difference; a folder with it and the "
		  "tables diff and comparability" },
		{ "history", 0, OPT_STR, &cm.history, "METRIC",
		  "instead: this figure of all runs by time, and where its level changes; of a "
		  "table NAME:KEY" },
		MEMORY_OPT(&cm.memory),
		{ 0 },
	};
	int code = cli_parse(c, opts, &cm.json, argc, argv, &words, &rest);

	for (; code < 0 && rest && *rest; rest++)
		strvec_push(&words, *rest);
	if (code < 0 && !words.nr)
		code = cli_usage(c, "nothing to compare");
	if (code >= 0)
		return code;
	code = options_read(&cm) ?: cli_memory(c, cm.memory, cm.page);
	if (code == EXIT_DONE)
		code = library_hand_over(&cm, &words, &done);
	if (code != EXIT_DONE || done)
		return code;
	return cm.history ? history_show(&cm, &words) : inputs_compare(&cm, &words);
}

const struct command cmd_compare = {
	"compare", "A B…", "runs, sets of runs, cells of a campaign or traces, side by side",
	"profrig compare runs/before runs/after --metric performance --gate", compare_main
};
