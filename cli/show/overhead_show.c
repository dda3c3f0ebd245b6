#include "overhead_show.h"
#include "cli.h"

#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/log.h"
#include "profrig/readers/reader.h"

/* A run that is analysed already gets one more table. */
static void add_table(const struct paired_run *pr, struct strvec *problems)
{
	CLEANUP(xfreep) char *dir = fs_join(pr->run_dir, "analysis");
	CLEANUP(analysis_marks_release)
	struct analysis_marks am = { VEC_INIT, VEC_INIT, VEC_INIT };
	struct err err = ERR_INIT;
	struct rundir run;
	struct table *t;

	if (!fs_is_dir(dir) || rundir_open(pr->run_dir, &run, NULL) < 0)
		return;
	run_marks_take(&run, &am);
	rundir_release(&run);
	t = analysis_overhead_table(&am);
	if (t && report_add_table(dir, t, &err) < 0)
		strvec_push(problems, err.msg);
}

void overhead_tables(const struct pairing *s, struct strvec *problems)
{
	for (size_t i = 0; i < s->v.nr; i++)
		if (!s->v.v[i].bare)
			add_table(&s->v.v[i], problems);
}

/* "+3.2 % (95 %: +1.1 % to +5.4 %, 5 pairs)" */
static void change_words(const struct cost_change *c, struct strbuf *to)
{
	const struct sample_effect *e = &c->effect;
	size_t n = cost_pairs(c);

	strbuf_addf(to, "%+.1f %%", 100 * (e->ratio - 1));
	if (n == 1)
		strbuf_addstr(to, " (one pair: --repeat tells how much of that is noise)");
	else if (e->method == SAMPLE_FEW)
		strbuf_addf(to, " (%zu pairs: --repeat 3 or more tells how much of that is noise)",
			    n);
	else
		strbuf_addf(to, " (95 %%: %+.1f %% to %+.1f %%, %zu pairs)", 100 * (e->low - 1),
			    100 * (e->high - 1), n);
}

static void say_cost(const struct cost *c)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (!cost_pairs(&c->time))
		return;
	change_words(&c->time, &sb);
	log_notice("overhead of %s: %s", c->of->tools, sb.buf);
	if (cost_pairs(&c->speed)) {
		strbuf_clear(&sb);
		change_words(&c->speed, &sb);
		log_notice("clean throughput %.6g %s, from runs without tools; with %s it is %s",
			   c->speed.baseline, c->of->unit, c->of->tools, sb.buf);
	}
	if (!cost_over_budget(c))
		return;
	strbuf_clear(&sb);
	change_words(&c->time, &sb);
	log_warn("%s: %s costs %s, %s than the budget of %g %%", W_OVERHEAD, c->of->tools, sb.buf,
		 !strcmp(cost_verdict(c), "over") ? "more" : "perhaps more", 100 * c->of->budget);
}

void overhead_print(const struct pairing *s)
{
	for (size_t i = 0; i < s->costs.nr; i++)
		say_cost(&s->costs.v[i]);
	if (s->clocks_differ)
		log_warn("%s%s: not all was the same but the tools", s->clocks,
			 s->clocks_differ > 1 ? ", and in other pairs too" : "");
}
