/*
 * campaign: which runs a command makes and in which order: models × variants × repeats.
 *
 *	struct campaign c = { .repeats = 5, .cooldown_s = 30 };
 *	m = campaign_add_model(&c);
 *	p = campaign_add_variant(m); prepare(…, p, …);	all tools first, then what to compare with
 *	campaign_full_last(m);
 *	campaign_walk(&c, &front);	calls front.run for each run, one after the other
 *	campaign_release(&c);
 *
 * Models run one after the other. A block is one run of each variant of a model (without tools,
 * with one tool alone, with all tools); a model has as many blocks as repeats. Every second block
 * goes backwards (order.h), so that a steady drift of the machine does not look like a difference
 * between variants. Before each run but the first the machine cools down.
 *
 * A run that fails stops nothing. An interrupt ends the walk: no run and no cool-down begins after
 * it, block_end and model_end of the model at hand are still called.
 */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "profrig/base/vec.h"

struct prepared;

struct campaign_model {
	VEC(struct prepared *) variants; /* in the order of the first block; owned */
};

struct campaign {
	VEC(struct campaign_model) models;
	size_t repeats;
	double cooldown_s; /* 0: none */
};

/* One run of the walk. */
struct campaign_run {
	struct prepared *prepared;
	size_t block;  /* from 0 */
	size_t nr, of; /* this one, from 1, and how many its model has */
	bool first;    /* of the whole campaign: nothing has changed since it was prepared */
};

struct campaign_front {
	void *ctx;
	const volatile sig_atomic_t *interrupt; /* not 0: a signal came */
	void (*run)(void *ctx, const struct campaign_run *run);
	/* All variants have run once more, or the walk ends in the middle of a block. */
	void (*block_end)(void *ctx);
	void (*model_end)(void *ctx);
	/* A cool-down begins (s > 0), goes on (a few times a second; NAN), has ended (0). */
	void (*cooldown)(void *ctx, double s);
};

/* The model is borrowed and valid until the next call. */
struct campaign_model *campaign_add_model(struct campaign *c);
/* Zeroed; its address does not change. */
struct prepared *campaign_add_variant(struct campaign_model *m);
/* The first variant added, all tools, goes to the end of the block. */
void campaign_full_last(struct campaign_model *m);
/* All tools. */
struct prepared *campaign_full(const struct campaign_model *m);
void campaign_walk(const struct campaign *c, const struct campaign_front *f);
void campaign_release(struct campaign *c);

#endif
