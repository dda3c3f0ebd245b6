/* Rules about iterations, ranks, collectives, kernels and memory. */
#include "findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/sort.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/facts.h"
#include "profrig/names/kernel_name.h"

#define SLOW_ITERATION 1.5
#define STRAGGLER_SHARE 0.5
#define STRAGGLER_COUNT 10
#define COLLECTIVE_RATIO 5
#define COLLECTIVE_CALLS 10
#define GEMM_PCT 30
#define GEMM_SHARE 0.05
#define KERNEL_SHARE 0.01 /* of the works' time; below it a kernel's kind is no matter */
#define LAYOUT_SHARE 0.05
#define MEMORY_SHARE 0.9

/* ---- iterations ---- */

static void slow_of_group(struct findings *f, const struct iteration_group *g)
{
	size_t nr = g->nr - g->steady, slow = 0;
	int64_t *v = xcalloc(nr + 1, sizeof(*v)), median, worst = 0, more = 0;

	for (size_t i = 0; i < nr; i++)
		v[i] = iteration_ns(&f->it->v.v[g->first + g->steady + i]);
	median = median_i64(v, nr);
	for (size_t i = 0; i < nr; i++)
		if ((double)v[i] > SLOW_ITERATION * (double)median) {
			slow++;
			more += v[i] - median;
			worst = v[i] > worst ? v[i] : worst;
		}
	free(v);
	if (slow)
		finding_add(f,
			    FINDING_AT("slow_iterations", "", "iterations",
				       (double)worst / (double)median, SLOW_ITERATION, more),
			    "%zu of %zu iterations take more than 1.5 times the median of %s; the "
			    "slowest %s",
			    slow, nr, time_words((double)median).s, time_words((double)worst).s);
}

void rule_slow_iterations(struct findings *f)
{
	bool any = false;

	for (size_t g = 0; g < f->it->groups.nr; g++)
		if (f->it->groups.v[g].nr - f->it->groups.v[g].steady >= 3) {
			slow_of_group(f, &f->it->groups.v[g]);
			any = true;
		}
	if (!any)
		findings_skip(f, "slow_iterations", "needs three iterations behind the warm-up");
}

/* ---- collectives ---- */

void rule_straggler(struct findings *f)
{
	const struct table *t = findings_table(f, "straggler", "collective_ranks");
	double count = 0;

	for (size_t i = 0; t && i < table_rows(t); i++)
		count += col_of(t, i, "last_count");
	for (size_t i = 0; t && i < table_rows(t); i++) {
		double last = col_of(t, i, "last_count"), wait = col_of(t, i, "caused_wait_ns");

		if (count >= STRAGGLER_COUNT && last > STRAGGLER_SHARE * count)
			finding_add(
				f,
				FINDING_AT("straggler", "", "collective_ranks", last / count,
					   STRAGGLER_SHARE, (int64_t)wait),
				"rank %s comes last to %.0f of %.0f collectives, and the others "
				"wait %s for it",
				text_of(t, i, "rank"), last, count, time_words(wait).s);
	}
}

void rule_uneven_collectives(struct findings *f)
{
	const struct table *t = findings_table(f, "uneven_collectives", "kernels");

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double calls = col_of(t, i, "calls"), most = col_of(t, i, "max_ns");
		double mean = col_of(t, i, "total_ns") / calls;

		if (strcmp(text_of(t, i, "class"), "collective") == 0 &&
		    calls >= COLLECTIVE_CALLS && most > COLLECTIVE_RATIO * mean)
			finding_add(f,
				    FINDING_AT("uneven_collectives", text_of(t, i, "device"),
					       "kernels", most / mean, COLLECTIVE_RATIO,
					       SAVES_UNKNOWN),
				    "the longest %s of %s takes %.0f times their mean of %s",
				    name_words(text_of(t, i, "name")).s, text_of(t, i, "device"),
				    most / mean, time_words(mean).s);
	}
}

/* ---- kernels and operators ---- */

static double works_ns(const struct findings *f)
{
	double ns = 0;

	for (size_t i = 0; i < f->w->v.nr; i++)
		ns += (double)(f->w->v.v[i].end_ns - f->w->v.v[i].start_ns);
	return ns;
}

static bool is_gemm_op(const char *op)
{
	static const char *const words[] = { "mm", "linear", "matmul" };
	size_t n = strlen(op);

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t k = strlen(words[i]);

		if (n >= k && strcmp(op + n - k, words[i]) == 0)
			return true;
	}
	return false;
}

void rule_gemm_far(struct findings *f)
{
	const struct table *t = findings_table(f, "gemm_efficiency", "perf");
	double all = works_ns(f);
	bool any = false;

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double pct = col_of(t, i, "pct_of_attainable"), ns = col_of(t, i, "total_ns");

		any |= !isnan(pct);
		if (is_gemm_op(text_of(t, i, "op")) && pct < GEMM_PCT && ns > GEMM_SHARE * all)
			finding_add(f,
				    FINDING_AT("gemm_efficiency", "", "perf", pct, GEMM_PCT,
					       (int64_t)(ns * (1 - pct / 100))),
				    "%s of %.60s reaches %.0f %% of what its roofline allows, and "
				    "takes %.0f %% of the devices' time",
				    text_of(t, i, "op"), text_of(t, i, "shapes"), pct,
				    100 * ns / all);
	}
	if (t && !any)
		findings_skip(f, "gemm_efficiency", "the peaks of the device are not known");
}

/* The newest NVIDIA architecture of the devices that inputs describe, as sm_N; 0 unknown. */
static int64_t device_arch(const struct findings *f)
{
	int64_t most = 0;

	for (size_t i = 0; i < f->m->facts.devices.nr; i++) {
		const struct device_facts *d = &f->m->facts.devices.v[i];
		int64_t arch =
			d->capability_major == FACT_ABSENT
				? 0
				: 10 * d->capability_major + (d->capability_minor == FACT_ABSENT
								      ? 0
								      : d->capability_minor);

		most = arch > most ? arch : most;
	}
	return most;
}

static void gemm_kernel_add(struct findings *f, const struct table *t, size_t row, const char *id,
			    double value, double threshold, const char *what)
{
	double ns = col_of(t, row, "total_ns");

	finding_add(f, FINDING_AT(id, "", "gemm", value, threshold, (int64_t)ns),
		    "a matrix product %s: %s (%s)", what, name_words(text_of(t, row, "name")).s,
		    time_words(ns).s);
}

void rule_gemm_kernel(struct findings *f)
{
	const struct table *t = findings_table(f, "gemm_kernel", "gemm");
	int64_t arch = device_arch(f);
	double all = works_ns(f);

	for (size_t i = 0; t && i < table_rows(t); i++) {
		struct kernel_name k;

		if (!(col_of(t, i, "total_ns") > KERNEL_SHARE * all))
			continue;
		kernel_name_parse(text_of(t, i, "name"), &k);
		if (k.align == 1)
			gemm_kernel_add(f, t, i, "gemm_align", 1, 2,
					"reads element by element (align1): pad its dimensions");
		if (k.arch && arch && (int64_t)k.arch / 10 < arch / 10)
			gemm_kernel_add(f, t, i, "gemm_old_kernel", k.arch, (double)arch,
					"has a kernel of an older architecture");
		if (k.path == KERNEL_PATH_SIMT && k.in && strcmp(k.in, "f32") == 0 && arch >= 80)
			gemm_kernel_add(f, t, i, "gemm_simt", (double)arch, 80,
					"in FP32 does without the matrix units, which TF32 has");
	}
}

void rule_naive_conv(struct findings *f)
{
	const struct table *t = findings_table(f, "naive_conv", "kernels");

	for (size_t i = 0; t && i < table_rows(t); i++)
		if (strstr(text_of(t, i, "name"), "naive_conv"))
			finding_add(f,
				    FINDING_AT("naive_conv", text_of(t, i, "device"), "kernels",
					       col_of(t, i, "share"), 0,
					       (int64_t)col_of(t, i, "total_ns")),
				    "%s: MIOpen found no better convolution than its fallback: %s",
				    text_of(t, i, "device"), name_words(text_of(t, i, "name")).s);
}

static bool is_layout_copy(const char *name)
{
	static const char *const parts[] = { "nchwToNhwc", "nhwcToNchw", "transpose", "Transpose",
					     "permute" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

void rule_layout_copies(struct findings *f)
{
	const struct table *t = findings_table(f, "layout_copies", "kernels");
	double all = works_ns(f), ns = 0;

	for (size_t i = 0; t && i < table_rows(t); i++)
		if (is_layout_copy(text_of(t, i, "name")))
			ns += col_of(t, i, "total_ns");
	if (ns > LAYOUT_SHARE * all)
		finding_add(f,
			    FINDING_AT("layout_copies", "", "kernels", ns / all, LAYOUT_SHARE,
				       (int64_t)ns),
			    "%.0f %% of the devices' time changes the layout of tensors (%s)",
			    100 * ns / all, time_words(ns).s);
}

/* ---- memory ---- */

static double memory_of_device(const struct findings *f, const char *name)
{
	const char *n = strrchr(name, '/');
	double ret = NAN;

	n = n ? n + 1 : name;
	for (size_t i = 0; strncmp(n, "gpu", 3) == 0 && i < f->m->facts.devices.nr; i++) {
		const struct device_facts *d = &f->m->facts.devices.v[i];

		if (d->memory > 0 && d->number == strtoll(n + 3, NULL, 10))
			ret = (double)d->memory;
	}
	return ret;
}

void rule_memory_full(struct findings *f)
{
	const struct table *t = findings_table(f, "memory_full", "memory");
	bool any = false;

	for (size_t i = 0; t && i < table_rows(t); i++) {
		double all = memory_of_device(f, text_of(t, i, "device"));
		double peak = col_of(t, i, "reserved");

		if (isnan(peak))
			peak = col_of(t, i, "peak");
		any |= !isnan(all);
		if (peak > MEMORY_SHARE * all)
			finding_add(f,
				    FINDING_AS("memory_full", text_of(t, i, "device"), "memory",
					       peak / all, MEMORY_SHARE, SAVES_UNKNOWN, "medium"),
				    "the allocator holds %.0f %% of the memory of %s at its peak",
				    100 * peak / all, text_of(t, i, "device"));
	}
	if (t && !any)
		findings_skip(f, "memory_full",
			      "the inputs do not say how much memory devices have");
}
