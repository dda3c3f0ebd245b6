/* What differs between a recorded run and its repetition, for people and as JSON. */
#include <string.h>

#include "profrig/base/json_fields.h"
#include "profrig/base/table.h"
#include "profrig/base/xalloc.h"

#define SUM_DIGITS 64
#define SHOWN_DIGITS 12
#include "profrig/plan/plan.h"

JSON_TABLE(difference_fields, JSON_FIELDS(struct plan_difference, what, recorded, today));

void plan_replay_json(const struct plan_replay *r, struct json_out *j)
{
	json_obj(j, "replay");
	json_str(j, "of", r->of);
	json_str(j, "run_dir", r->dir);
	json_u64(j, "compared", r->compared);
	json_rows(j, "differences", &r->differences, difference_fields);
	json_end(j);
}

/* The first digits of a sum, by which people compare sums; other values as they are. Owned. */
static char *shown(const char *value)
{
	static const char hex[] = "0123456789abcdef";
	const char *sum = value && !strncmp(value, "sha256:", 7) ? value + 7 : value;

	if (!value)
		return xstrdup("-");
	if (strlen(sum) == SUM_DIGITS && strspn(sum, hex) == SUM_DIGITS)
		return xstrndup(value, (size_t)(sum - value) + SHOWN_DIGITS);
	return xstrdup(value);
}

void plan_replay_text(const struct plan_replay *r, FILE *f)
{
	struct table *t;

	fprintf(f, "repeats    %s, recorded in %s\n", r->of, r->dir);
	if (!r->differences.nr) {
		fprintf(f, "today      nothing differs, of %zu facts\n", r->compared);
		return;
	}
	fprintf(f, "today      %zu of %zu facts differ\n\n", r->differences.nr, r->compared);
	t = table_of_texts("replay", "differs", "recorded", "today");
	for (size_t i = 0; i < r->differences.nr; i++) {
		const struct plan_difference *d = &r->differences.v[i];

		CLEANUP(xfreep) char *then = shown(d->recorded);
		CLEANUP(xfreep) char *now = shown(d->today);

		table_texts(t, d->what, then, now);
	}
	table_write_text(t, f, 0, 100);
	table_free(t);
}
