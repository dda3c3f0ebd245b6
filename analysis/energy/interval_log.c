#include "interval_log.h"

#include "profrig/base/mix.h"

#define PUBLISH_EVERY 1024

static unsigned block_level(uint64_t block)
{
	return (unsigned)__builtin_ctzll(mix64(block) | UINT64_C(1) << (LOG_LEVELS - 1));
}

unsigned interval_log_first_level(uint64_t n)
{
	unsigned level = 0;

	while (n >> level > LOG_INTERVALS)
		level++;
	return level;
}

unsigned interval_log_level(uint64_t interval)
{
	return block_level(interval / LOG_BLOCK);
}

unsigned interval_log_level_near(uint64_t interval)
{
	unsigned own = interval_log_level(interval), other = 0;

	if (interval % LOG_BLOCK == 0 && interval)
		other = interval_log_level(interval - 1);
	else if (interval % LOG_BLOCK == LOG_BLOCK - 1)
		other = interval_log_level(interval + 1);
	return own > other ? own : other;
}

static uint64_t budget_most(const struct log_budget *b, unsigned level)
{
	return b->intervals >> level > LOG_PLENTY ? b->most : LOG_MORE * b->most;
}

/* Drops levels until the rest fits. */
static void budget_check(struct log_budget *b)
{
	unsigned level = atomic_load_explicit(&b->level, memory_order_relaxed), was = level;
	uint64_t above = 0;

	for (unsigned k = level; k < LOG_LEVELS; k++)
		above += atomic_load_explicit(&b->entries[k], memory_order_relaxed);
	while (above > budget_most(b, level) && level + 1 < LOG_LEVELS)
		above -= atomic_load_explicit(&b->entries[level++], memory_order_relaxed);
	while (was < level && !atomic_compare_exchange_weak(&b->level, &was, level))
		;
}

void interval_log_publish(struct interval_log *l)
{
	if (!l->budget)
		return;
	for (unsigned k = 0; k < LOG_LEVELS; k++) {
		if (l->news[k])
			atomic_fetch_add_explicit(&l->budget->entries[k], l->news[k],
						  memory_order_relaxed);
		l->news[k] = 0;
	}
	l->pending = 0;
	budget_check(l->budget);
}

void interval_log_settle(struct interval_log *l)
{
	unsigned level =
		l->budget ? atomic_load_explicit(&l->budget->level, memory_order_relaxed) : 0;
	size_t kept = 0;

	if (level <= l->level)
		return;
	l->level = level;
	for (size_t i = 0; i < l->v.nr; i++) {
		if (interval_log_level_near(l->v.v[i].interval) >= level)
			l->v.v[kept++] = l->v.v[i];
	}
	l->v.nr = kept;
}

void interval_log_add(struct interval_log *l, struct log_entry e)
{
	VEC_PUSH(&l->v, e);
	l->news[interval_log_level_near(e.interval)]++;
	if (++l->pending < PUBLISH_EVERY)
		return;
	interval_log_publish(l);
	interval_log_settle(l);
}

void interval_log_release(struct interval_log *l)
{
	VEC_RELEASE(&l->v);
	*l = (struct interval_log){ 0 };
}

/* ---- from one rank to another ---- */

void interval_log_save(const struct interval_log *l, struct strbuf *to)
{
	uint64_t nr = l->v.nr;

	SERIAL_PUT(to, nr);
	SERIAL_PUT_ARRAY(to, l->v.v, l->v.nr);
}

void interval_log_load(struct interval_log *l, struct serial_in *from)
{
	uint64_t nr;

	SERIAL_TAKE(from, nr);
	if (from->bad || nr > (uint64_t)(from->end - from->at) / sizeof(*l->v.v)) {
		from->bad = true;
		return;
	}
	VEC_RESERVE(&l->v, nr);
	serial_take(from, l->v.v + l->v.nr, nr * sizeof(*l->v.v));
	l->v.nr += nr;
}

void log_budget_save(const struct log_budget *b, struct strbuf *to)
{
	for (unsigned k = 0; k < LOG_LEVELS; k++) {
		uint64_t nr = atomic_load(&b->entries[k]);

		SERIAL_PUT(to, nr);
	}
}

void log_budget_load(struct log_budget *b, struct serial_in *from)
{
	for (unsigned k = 0; k < LOG_LEVELS; k++) {
		uint64_t nr = 0;

		SERIAL_TAKE(from, nr);
		atomic_fetch_add(&b->entries[k], nr);
	}
	budget_check(b);
}
