/* How long kernels are: many short ones cost more in launches than they do. */
#include "analyses_private.h"
#include "lengths.h"
#include "ns.h"

/* clang-format off */
#define KERNEL_LENGTHS(X) \
	X(STR, device) X(STR, kernel_ns_bucket) X(I64, count) X(I64, total_ns) X(F64, share)
/* clang-format on */
TABLE_FORM(kernel_lengths, KERNEL_LENGTHS, "one row per device and length of its kernels");

struct length_sums {
	int64_t count[LENGTHS], ns[LENGTHS], total_ns;
};

static struct length_sums device_lengths(const struct works *w, uint32_t device)
{
	const struct work_device *d = &w->devices.v[device];
	struct length_sums s = { .total_ns = 0 };

	for (size_t i = d->first; i < d->first + d->nr; i++) {
		int64_t ns = w->v.v[i].end_ns - w->v.v[i].start_ns;
		size_t length = length_of(ns);

		if (w->v.v[i].class == WORK_COPY)
			continue;
		s.count[length]++;
		s.ns[length] = ns_add(s.ns[length], ns);
		s.total_ns = ns_add(s.total_ns, ns);
	}
	return s;
}

static int kernel_lengths_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
			      struct err *err)
{
	const struct works *w = analysis_works(m, o);
	struct table *t = table_make(&kernel_lengths_form);

	(void)err;
	for (uint32_t d = 0; d < w->devices.nr; d++) {
		struct length_sums s = device_lengths(w, d);

		for (size_t i = 0; i < LENGTHS; i++)
			if (s.count[i])
				table_add(t, &(struct kernel_lengths_row){
						     model_str(m, w->devices.v[d].name),
						     length_name(i), s.count[i], s.ns[i],
						     s.total_ns > 0
							     ? (double)s.ns[i] / (double)s.total_ns
							     : 0 });
	}
	if (table_rows(t) == 0) {
		table_free(t);
		return table_set_skip(out, "kernel_lengths", "the device work has no kernels");
	}
	table_set_add(out, t);
	return 0;
}

const struct analysis analysis_kernel_lengths = {
	.name = "kernel_lengths",
	.about = "kernels by length: how many are short, and what share of the time they are",
	.tables = { &kernel_lengths_form },
	.run = kernel_lengths_run,
	.needs_work = true,
};
