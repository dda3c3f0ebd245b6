/* What must hold of every profile, and of a profile and the model that it is made of. */
#ifndef TESTS_FUZZ_PROFILE_H
#define TESTS_FUZZ_PROFILE_H

#include "profrig/profile/profile.h"

/* What is wrong with one thread's calls; NULL: nothing. */
static inline const char *fuzz_profile_track(const struct profile_track *t, uint64_t *ret_calls)
{
	int64_t sum = 0;

	for (size_t k = 0; k < t->nodes.nr; k++) {
		if (t->nodes.v[k].exclusive_ns < 0)
			return "exclusive times are none below 0";
		sum += t->nodes.v[k].exclusive_ns;
		*ret_calls += t->nodes.v[k].calls;
	}
	return sum == t->covered_ns ? NULL : "exclusive times add up";
}

/* Of any profile. */
static inline const char *fuzz_profile(const struct profile *p)
{
	const char *wrong = NULL;
	uint64_t calls = 0;

	for (size_t i = 0; !wrong && i < p->tracks.nr; i++)
		if (!p->tracks.v[i]->queue)
			wrong = fuzz_profile_track(p->tracks.v[i], &calls);
	return wrong;
}

/* m is finished, with all columns. */
static inline const char *fuzz_profile_of_model(struct model *m)
{
	struct profile *p = profile_of_model(m, &(struct profile_opts){ .threads = 1 });
	const char *wrong = NULL;

	for (size_t i = 0; !wrong && i < p->tracks.nr; i++) {
		const struct profile_track *t = p->tracks.v[i];
		const struct track *tr = &m->tracks.v[t->track];
		int64_t exclusive = 0;
		uint64_t spans = 0, calls = 0;

		if (t->queue)
			continue;
		for (uint64_t k = tr->first_span; k < tr->first_span + tr->spans; k++) {
			exclusive += m->spans.exclusive_ns[k];
			spans += m->spans.kind[k] != SPAN_INSTANT;
		}
		wrong = fuzz_profile_track(t, &calls);
		if (!wrong && calls != spans)
			wrong = "every call of a thread is in its tree";
		if (!wrong && exclusive != t->covered_ns)
			wrong = "the tree has the time of the calls";
	}
	profile_free(p);
	return wrong;
}

#endif
