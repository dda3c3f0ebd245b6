/*
 * findings: what stands out in a trace, in words, each by a rule with its threshold. The last
 * analysis: rules read the tables of those before it, and the works and facts of the model.
 *
 *	void rule_full_queue(struct findings *f)
 *	{
 *		const struct table *t = findings_table(f, "full_queue", "queue");
 *
 *		for (size_t i = 0; t && i < table_rows(t); i++)
 *			if (col_of(t, i, "full_ns") > 0)
 *				finding_add(f, "full_queue", …);
 *	}
 *
 * A rule whose data is missing is skipped with the reason (analysis.json, `skipped`:
 * findings.full_queue): it never says that all is well.
 *
 * saves_ns is a bound: what the finding is about takes so much of the device's wall time, or of the
 * critical path, and mending it saves at most that. Severity follows from it: `high` from 10 % of
 * the wall time of the device on, `medium` from 2 % on, else `low`; a finding without a bound has
 * the severity that its rule says.
 */
#ifndef PROFRIG_FINDINGS_H
#define PROFRIG_FINDINGS_H

#include "analyses_private.h"

#include "profrig/base/strbuf.h"
#include "profrig/base/u64map.h"

#define SAVES_UNKNOWN (-1)

struct finding {
	const char *id, *severity;
	char *device; /* "" : of the whole recording */
	double value, threshold;
	int64_t saves_ns;
	char *text;
	const char *evidence; /* the table that shows it */
};

struct findings {
	struct model *m;
	const struct works *w;
	const struct iterations *it;
	const struct work_energy *we;
	struct table_set *out;
	VEC(struct finding) v;
};

/* The table of an analysis before; NULL: the rule is skipped, it needs it. */
const struct table *findings_table(struct findings *f, const char *id, const char *table);
void findings_skip(struct findings *f, const char *id, const char *reason);

/* Cells by the name of the column; NaN and "" where there is none. */
double col_of(const struct table *t, size_t row, const char *column);
const char *text_of(const struct table *t, size_t row, const char *column);

struct finding_at {
	const char *id, *device, *evidence;
	double value, threshold;
	int64_t saves_ns;
	const char *severity; /* NULL (FINDING_AT): by saves_ns */
};
#define FINDING_AT(...) (&(struct finding_at){ __VA_ARGS__, NULL })
#define FINDING_AS(...) (&(struct finding_at){ __VA_ARGS__ })
void finding_add(struct findings *f, const struct finding_at *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The device of a name in f->w; U64MAP_NONE. */
uint32_t finding_device(const struct findings *f, const char *name);
/* Wall time of a device (table overlap); NaN unknown. "" is the longest of all. */
double wall_of(const struct findings *f, const char *device);
/* "" for 1, else "s". */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}
/* "1.24 ms", into a buffer of the caller. */
struct finding_time {
	char s[32];
};
struct finding_time time_words(double ns);
/* A kernel's name as tables show it. */
struct finding_name {
	char s[256];
};
struct finding_name name_words(const char *name);

/* A rule has a row here, and is a function in one of findings_*.c. */
/* clang-format off */
#define FINDING_RULES(X) \
	X(idle) X(gaps) X(chunks) X(data_loading) X(exposed_comm) X(hidden_comm) X(copies) \
	X(full_queue) X(short_kernels) X(unlinked) X(hotspot) X(idle_start) X(throttling) \
	X(sync_calls) X(blocking_copies) X(pageable) X(steady_allocs) X(steady_modules) \
	X(slow_iterations) X(straggler) X(uneven_collectives) \
	X(gemm_far) X(gemm_kernel) X(naive_conv) X(layout_copies) X(memory_full) \
	X(tool_overhead) X(queue_order) X(early_work) X(backwards) X(rank_clocks) X(above_roofline)
#define FINDING_RULE_DECLARE(name) void rule_##name(struct findings *f);
FINDING_RULES(FINDING_RULE_DECLARE)
/* clang-format on */

#endif
