#include "library_show.h"
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LIBRARIES_SHOWN 3

/* One library; its name is borrowed. */
struct logged_library {
	const char *name;
	uint64_t calls;
	double flops, ns;
};

struct logged_libraries {
	VEC(struct logged_library) v;
};

bool has_library_calls(const struct report *rep)
{
	return table_set_find(&rep->tables, "library_calls") != NULL;
}

static double or_0(double v)
{
	return isnan(v) ? 0 : v;
}

static void libraries_sum(const struct table *t, struct logged_libraries *ret)
{
	int library = table_find_col(t, "library"), calls = table_find_col(t, "calls");
	int flops = table_find_col(t, "flops"), ns = table_find_col(t, "logged_ns");

	if (library < 0 || calls < 0 || flops < 0 || ns < 0)
		return;
	for (size_t i = 0; i < table_rows(t); i++) {
		const char *name = table_get_str(t, i, (size_t)library);
		struct logged_library *s = VEC_FIND(&ret->v, x, strcmp(x->name, name) == 0);

		if (!s) {
			VEC_PUSH(&ret->v, ((struct logged_library){ name, 0, 0, 0 }));
			s = &ret->v.v[ret->v.nr - 1];
		}
		s->calls += table_get_u64(t, i, (size_t)calls);
		s->flops += or_0(table_get_f64(t, i, (size_t)flops));
		s->ns += or_0(table_get_f64(t, i, (size_t)ns));
	}
}

static void one_say(const struct logged_library *s)
{
	char b[32];

	cli_put(stderr, s->name, 30);
	fprintf(stderr, " %" PRIu64 " call%s", s->calls, s->calls == 1 ? "" : "s");
	if (s->flops > 0)
		fprintf(stderr, ", %s", cli_si(s->flops, "flop", b));
	if (s->ns > 0)
		fprintf(stderr, ", %s", cli_si(s->ns / 1e9, "s", b));
}

void library_say(const struct report *rep)
{
	const struct table *t = table_set_find(&rep->tables, "library_calls");
	struct logged_libraries found = { VEC_INIT };

	if (!t)
		return;
	libraries_sum(t, &found);
	fputs("  library ", stderr);
	for (size_t i = 0; i < found.v.nr && i < LIBRARIES_SHOWN; i++) {
		fputs(i ? "; " : "", stderr);
		one_say(&found.v.v[i]);
	}
	if (found.v.nr > LIBRARIES_SHOWN)
		fprintf(stderr, "; and %zu more", found.v.nr - LIBRARIES_SHOWN);
	fputs(" (library_calls.csv)\n", stderr);
	VEC_RELEASE(&found.v);
}
