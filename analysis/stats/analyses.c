#include "analyses_private.h"

#include <string.h>

#define ANALYSIS_AT(name) &analysis_##name,
const struct analysis *const analyses[] = { ANALYSES(ANALYSIS_AT) NULL };

const struct analysis *analysis_find(const char *name)
{
	for (size_t i = 0; analyses[i]; i++)
		if (strcmp(analyses[i]->name, name) == 0)
			return analyses[i];
	return NULL;
}

static int run_of_model(const struct analysis *a, struct model *m, const struct analysis_opts *o,
			struct table_set *out, struct err *err)
{
	struct energy_stream *stream = energy_stream_new(m, o, NULL, NULL);
	struct profile_opts po = { .threads = 1 };
	struct analysis_opts with = *o;
	struct profile *p;
	int r;

	if (a == &analysis_energy)
		po.lanes = energy_stream_reader(stream);
	p = profile_of_model(m, &po);
	with.stream = stream;
	r = a->of_profile(p, &with, out, err);
	profile_free(p);
	energy_stream_free(stream);
	return r;
}

int analysis_run(const struct analysis *a, struct model *m, const struct profile *p,
		 const struct analysis_opts *o, struct table_set *out, struct err *err)
{
	if (a->of_profile)
		return p ? a->of_profile(p, o, out, err) : run_of_model(a, m, o, out, err);
	return p && !p->of_model && !a->series_only ? ANALYSIS_LEFT_OUT : a->run(m, o, out, err);
}
