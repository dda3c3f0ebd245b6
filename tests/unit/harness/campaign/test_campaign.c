/* The order of runs: models × variants × repeats, ABBA, cool-downs, interrupts, failures. */
#include "campaign.h"
#include "prepare.h"
#include "test.h"

#include <math.h>

#include "profrig/base/clock.h"
#include "profrig/base/strbuf.h"

struct walk {
	struct campaign c;
	struct strbuf said;
	volatile sig_atomic_t interrupt;
	size_t runs, interrupt_at, interrupt_after; /* the cool-down, the run; from 1, 0 never */
	size_t cooldowns;
};

static void on_run(void *ctx, const struct campaign_run *run)
{
	struct walk *w = ctx;

	strbuf_addf(&w->said, "%s%s%zu %zu/%zu ", run->first ? "first " : "", run->prepared->run_id,
		    run->block, run->nr, run->of);
	if (++w->runs == w->interrupt_after)
		w->interrupt = SIGINT;
}

static void on_block_end(void *ctx)
{
	strbuf_addstr(&((struct walk *)ctx)->said, "| ");
}

static void on_model_end(void *ctx)
{
	strbuf_addstr(&((struct walk *)ctx)->said, "; ");
}

static void on_cooldown(void *ctx, double s)
{
	struct walk *w = ctx;

	if (isnan(s))
		return;
	strbuf_addstr(&w->said, s > 0 ? "(" : ") ");
	if (s > 0 && ++w->cooldowns == w->interrupt_at)
		w->interrupt = SIGTERM;
}

/* words: for each model the letters of its variants, all tools first. */
static void walk_begin(struct walk *w, size_t repeats, const char *const *words)
{
	*w = (struct walk){ .c = { .repeats = repeats }, .said = STRBUF_INIT };
	for (; *words; words++) {
		struct campaign_model *m = campaign_add_model(&w->c);

		for (const char *p = *words; *p; p++)
			campaign_add_variant(m)->run_id = xasprintf("%c", *p);
		campaign_full_last(m);
		assert_string_equal(campaign_full(m)->run_id, ((char[]){ **words, 0 }));
	}
}

static void walk_is(struct walk *w, const char *want)
{
	const struct campaign_front front = {
		.ctx = w,
		.interrupt = &w->interrupt,
		.run = on_run,
		.block_end = on_block_end,
		.model_end = on_model_end,
		.cooldown = on_cooldown,
	};

	campaign_walk(&w->c, &front);
	assert_string_equal(w->said.buf, want);
	strbuf_release(&w->said);
	campaign_release(&w->c);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(orders)
{
	struct walk w;

	walk_begin(&w, 1, WORDS("F"));
	walk_is(&w, "first F0 1/1 | ; ");
	walk_begin(&w, 3, WORDS("F"));
	walk_is(&w, "first F0 1/3 | F1 2/3 | F2 3/3 | ; ");
	walk_begin(&w, 2, WORDS("F", "G"));
	walk_is(&w, "first F0 1/2 | F1 2/2 | ; G0 1/2 | G1 2/2 | ; ");
}

TEST(there_and_back)
{
	struct walk w;

	walk_begin(&w, 3, WORDS("FB"));
	walk_is(&w, "first B0 1/6 F0 2/6 | F1 3/6 B1 4/6 | B2 5/6 F2 6/6 | ; ");
	walk_begin(&w, 2, WORDS("FBxy", "GC"));
	walk_is(&w, "first B0 1/8 x0 2/8 y0 3/8 F0 4/8 | F1 5/8 y1 6/8 x1 7/8 B1 8/8 | ; "
		    "C0 1/4 G0 2/4 | G1 3/4 C1 4/4 | ; ");
}

/* Before every run but the first, also between two models. */
TEST(cooldowns)
{
	struct walk w;
	int64_t began;

	walk_begin(&w, 2, WORDS("FB", "G"));
	w.c.cooldown_s = 0.02;
	began = clock_monotonic_ns();
	walk_is(&w, "first B0 1/4 () F0 2/4 | () F1 3/4 () B1 4/4 | ; () G0 1/2 | () G1 2/2 | ; ");
	assert_true(clock_monotonic_ns() - began >= 5 * 20 * NS_PER_MS);
}

/* What has ended is still concluded; nothing begins. */
TEST(interrupts)
{
	struct walk w;

	walk_begin(&w, 3, WORDS("FB", "G"));
	w.interrupt_after = 3;
	walk_is(&w, "first B0 1/6 F0 2/6 | F1 3/6 | ; ");
	walk_begin(&w, 3, WORDS("FB", "G"));
	w.interrupt_after = 2;
	walk_is(&w, "first B0 1/6 F0 2/6 | ; ");
	walk_begin(&w, 1, WORDS("F", "G"));
	w.c.cooldown_s = 3600;
	w.interrupt_at = 1;
	walk_is(&w, "first F0 1/1 | ; () | ; ");
	walk_begin(&w, 1, WORDS("F"));
	w.interrupt = SIGINT;
	walk_is(&w, "");
}
