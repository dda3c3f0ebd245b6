/* Exposed time of collectives on random traces, found one moment at a time by the definition. */
#include "collective_exposed.h"
#include "device_random.h"

/* The collective that has a moment: the first of those that run while nothing is computed. */
static size_t owner_at(const struct works *w, const struct work_device *d, int64_t t)
{
	size_t owner = SIZE_MAX;

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		const struct work *k = &w->v.v[i];

		if (k->start_ns > t || k->end_ns <= t)
			continue;
		if (k->class == WORK_COMPUTE)
			return SIZE_MAX;
		if (k->class == WORK_COLLECTIVE && owner == SIZE_MAX)
			owner = i;
	}
	return owner;
}

static void check_device(const struct works *w, uint32_t device, const int64_t *exposed,
			 const struct table *overlap)
{
	const struct work_device *d = &w->devices.v[device];
	CLEANUP(xfreep) int64_t *want = xcalloc(w->v.nr + 1, sizeof(*want));
	size_t row = row_of(overlap, "device", model_str(w->m, d->name), NULL, NULL);
	int64_t sum = 0;

	for (int64_t t = d->first_ns; t < d->last_ns; t++) {
		size_t owner = owner_at(w, d, t);

		if (owner != SIZE_MAX)
			want[owner]++;
	}
	for (size_t i = d->first; i < d->first + d->nr; i++) {
		assert_int_equal(exposed[i], want[i]);
		sum += exposed[i];
	}
	assert_true((double)sum == num_of(overlap, row, "exposed_comm_ns"));
}

TEST(moments)
{
	uint64_t cases = test_cases(2000), devices = 0;

	for (uint64_t n = 0; n < cases; n++) {
		struct dice d = { n + 1 };
		CLEANUP(model_freep) struct model *m = random_model(&d);
		CLEANUP(table_set_release) struct table_set ts = TABLE_SET_INIT;
		struct analysis_opts o = { .shared = analysis_shared_new() };
		const struct works *w = analysis_works(m, &o);
		CLEANUP(xfreep) int64_t *exposed = collective_exposed(w);

		if (w->v.nr && m->last_ns - m->first_ns < 2000) {
			assert_int_equal(analysis_run(&analysis_overlap, m, NULL, &o, &ts, NULL),
					 0);
			for (uint32_t k = 0; k < w->devices.nr; k++, devices++)
				check_device(w, k, exposed, table_set_find(&ts, "overlap"));
		}
		analysis_shared_free(o.shared);
	}
	assert_true(devices > cases / 2);
}
