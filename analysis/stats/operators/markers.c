/*
 * Markers: what the device did for each range that the program marks (RPD's UserMarker, NVTX,
 * roctx, user_annotation), by kernel. Work belongs to all ranges of its launch's thread in which
 * the launch begins; a name that is open twice counts once. So markers that contain each other
 * share work, and the sums of one are a whole.
 *
 * Ranges become paths of names first, and the work of a path is added up before it is given to the
 * names of the path. So the cost is O(n) and that of the paths: (paths × kernels) × depth. Of more
 * than MARKERS_DEPTH open ranges the outermost count (W_DEEP_STACK), and there are at most
 * MARKERS_ROWS rows (W_MEMORY_LIMIT).
 */
#include "analyses_private.h"
#include "ns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/natural.h"
#include "profrig/base/u64map.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"
#include "profrig/names/api_names.h"

/* clang-format off */
#define MARKERS(X) \
	X(STR, marker) X(STR, device) X(STR, kernel) X(U64, marker_calls) X(U64, calls) \
	X(I64, total_ns) X(F64, mean_ns) X(I64, min_ns) X(I64, max_ns) X(F64, share)
/* clang-format on */
TABLE_FORM(markers, MARKERS, "one row per marked range, device and kernel that ran for it");

#define MARKERS_DEPTH 64
#define PATH_NONE UINT32_MAX

struct marker_path {
	uint32_t up; /* PATH_NONE */
	uint32_t marker;
	uint32_t depth;
	bool again; /* the marker is open above, too */
};

struct marker {
	str_id name; /* STR_NONE: no range at all */
	uint64_t calls;
	int64_t total_ns;
};

#define MARKERS_ROWS ((size_t)1 << 20)

/* Sums of a kernel on a device below a path, or below a marker. */
struct marker_sum {
	uint32_t of, kernel;
	uint64_t calls;
	int64_t total_ns, min_ns, max_ns, whole_ns; /* whole: of the marker on the device */
};
struct marker_sums {
	struct u64map at;
	VEC(struct marker_sum) v;
};

struct markers {
	const struct works *w;
	const struct model *m;
	struct u64map path_at, marker_at, kernel_at;
	VEC(struct marker_path) paths;
	VEC(struct marker) markers;
	VEC(struct marked_kernel {
		uint32_t device;
		str_id name;
	}) kernels;
	uint32_t *path_of; /* by span */
	uint8_t *is;       /* by category: 0 not asked for yet, 1 no, 2 yes */
	struct marker_sums by_path, by_marker;
	uint64_t deep, left_out; /* ranges; pieces of work, once for each range */
};

static void markers_release(struct markers *k)
{
	u64map_release(&k->path_at);
	u64map_release(&k->marker_at);
	u64map_release(&k->kernel_at);
	u64map_release(&k->by_path.at);
	u64map_release(&k->by_marker.at);
	VEC_RELEASE(&k->paths);
	VEC_RELEASE(&k->markers);
	VEC_RELEASE(&k->kernels);
	VEC_RELEASE(&k->by_path.v);
	VEC_RELEASE(&k->by_marker.v);
	free(k->path_of);
	free(k->is);
}

/* ---- ranges ---- */

static bool is_marker(struct markers *k, size_t span)
{
	str_id category = k->m->spans.category[span];
	uint8_t *is;

	if (k->m->spans.kind[span] != SPAN_HOST || category == STR_NONE)
		return false;
	is = &k->is[category];
	if (*is == 0)
		*is = marker_category(model_str(k->m, category)) ? 2 : 1;
	return *is == 2;
}

static uint32_t marker_of(struct markers *k, str_id name)
{
	uint32_t *at = u64map_at(&k->marker_at, name);

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)k->markers.nr;
		VEC_PUSH(&k->markers, (struct marker){ .name = name });
	}
	return *at;
}

static uint32_t path_of(struct markers *k, uint32_t up, uint32_t marker)
{
	uint32_t *at = u64map_at(&k->path_at, u64map_pair(up, marker));
	struct marker_path p = { .up = up, .marker = marker };

	if (*at != U64MAP_NONE)
		return *at;
	*at = (uint32_t)k->paths.nr;
	p.depth = up == PATH_NONE ? 1 : k->paths.v[up].depth + 1;
	for (uint32_t i = up; i != PATH_NONE && !p.again; i = k->paths.v[i].up)
		p.again = k->paths.v[i].marker == marker;
	VEC_PUSH(&k->paths, p);
	return (uint32_t)k->paths.nr - 1;
}

/* Parents come before children. */
static void paths_find(struct markers *k)
{
	const struct span_columns *c = &k->m->spans;

	k->path_of = xmalloc((c->nr + 1) * sizeof(*k->path_of));
	for (size_t i = 0; i < c->nr; i++) {
		uint64_t parent = span_parent(c, i);
		uint32_t up = parent == SPAN_NONE ? PATH_NONE : k->path_of[parent];
		uint32_t marker;

		k->path_of[i] = up;
		if (!is_marker(k, i))
			continue;
		marker = marker_of(k, c->name[i]);
		k->markers.v[marker].calls++;
		if (up != PATH_NONE && k->paths.v[up].depth >= MARKERS_DEPTH)
			k->deep++;
		else
			k->path_of[i] = path_of(k, up, marker);
	}
}

/* ---- their work ---- */

static struct marker_sum *sum_at(struct marker_sums *sums, uint32_t of, uint32_t kernel)
{
	uint32_t *at = u64map_at(&sums->at, u64map_pair(of, kernel));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)sums->v.nr;
		VEC_PUSH(&sums->v,
			 ((struct marker_sum){ .of = of, .kernel = kernel, .min_ns = INT64_MAX }));
	}
	return &sums->v.v[*at];
}

static void sum_add(struct marker_sum *to, const struct marker_sum *s)
{
	to->calls += s->calls;
	to->total_ns = ns_add(to->total_ns, s->total_ns);
	to->min_ns = s->min_ns < to->min_ns ? s->min_ns : to->min_ns;
	to->max_ns = s->max_ns > to->max_ns ? s->max_ns : to->max_ns;
}

static uint32_t kernel_of(struct markers *k, const struct work *w)
{
	str_id name = k->m->spans.name[w->span];
	uint32_t *at = u64map_at(&k->kernel_at, u64map_pair(w->device, name));

	if (*at == U64MAP_NONE) {
		*at = (uint32_t)k->kernels.nr;
		VEC_PUSH(&k->kernels, ((struct marked_kernel){ w->device, name }));
	}
	return *at;
}

static void marker_add(struct markers *k, uint32_t marker, const struct marker_sum *s)
{
	struct marker_sums *to = &k->by_marker;

	if (to->v.nr >= MARKERS_ROWS &&
	    u64map_get(&to->at, u64map_pair(marker, s->kernel)) == U64MAP_NONE)
		k->left_out += s->calls;
	else
		sum_add(sum_at(to, marker, s->kernel), s);
}

static void works_sum(struct markers *k)
{
	uint32_t none;

	for (size_t i = 0; i < k->w->v.nr; i++) {
		const struct work *w = &k->w->v.v[i];
		uint32_t path = w->launch == SPAN_NONE ? PATH_NONE : k->path_of[w->launch];
		int64_t ns = w->end_ns - w->start_ns;

		sum_add(sum_at(&k->by_path, path, kernel_of(k, w)),
			&(struct marker_sum){ 0, 0, 1, ns, ns, ns, 0 });
	}
	none = marker_of(k, STR_NONE);
	for (size_t i = 0; i < k->by_path.v.nr; i++) {
		const struct marker_sum *s = &k->by_path.v.v[i];

		if (s->of == PATH_NONE)
			marker_add(k, none, s);
		for (uint32_t p = s->of; p != PATH_NONE; p = k->paths.v[p].up)
			if (!k->paths.v[p].again)
				marker_add(k, k->paths.v[p].marker, s);
	}
}

/* ---- the table ---- */

static int cmp_sum(const void *pa, const void *pb, void *ctx)
{
	const struct markers *k = ctx;
	const struct marker_sum *a = pa, *b = pb;
	const struct marker *ma = &k->markers.v[a->of], *mb = &k->markers.v[b->of];
	const struct marked_kernel *ka = &k->kernels.v[a->kernel], *kb = &k->kernels.v[b->kernel];

	if (a->of != b->of) {
		if ((ma->name == STR_NONE) != (mb->name == STR_NONE))
			return ma->name == STR_NONE ? 1 : -1;
		if (ma->total_ns != mb->total_ns)
			return ma->total_ns > mb->total_ns ? -1 : 1;
		return strcmp(model_str(k->m, ma->name), model_str(k->m, mb->name));
	}
	if (ka->device != kb->device)
		return ka->device < kb->device ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(model_str(k->m, ka->name), model_str(k->m, kb->name));
}

static void sums_sort(struct markers *k)
{
	struct marker_sums *s = &k->by_marker;

	for (size_t i = 0; i < s->v.nr; i++)
		k->markers.v[s->v.v[i].of].total_ns =
			ns_add(k->markers.v[s->v.v[i].of].total_ns, s->v.v[i].total_ns);
	qsort_r(s->v.v, s->v.nr, sizeof(*s->v.v), cmp_sum, k);
	for (size_t i = 0, to; i < s->v.nr; i = to) {
		int64_t whole = 0;

		for (to = i; to < s->v.nr && s->v.v[to].of == s->v.v[i].of &&
			     k->kernels.v[s->v.v[to].kernel].device ==
				     k->kernels.v[s->v.v[i].kernel].device;
		     to++)
			whole = ns_add(whole, s->v.v[to].total_ns);
		for (size_t j = i; j < to; j++)
			s->v.v[j].whole_ns = whole;
	}
}

static struct table *markers_table(const struct markers *k)
{
	struct table *t = table_make(&markers_form);

	for (size_t i = 0; i < k->by_marker.v.nr; i++) {
		const struct marker_sum *s = &k->by_marker.v.v[i];
		const struct marker *of = &k->markers.v[s->of];
		const struct marked_kernel *kernel = &k->kernels.v[s->kernel];
		double total = (double)s->total_ns;

		table_add(t,
			  &(struct markers_row){
				  of->name == STR_NONE ? "[no marker]" : model_str(k->m, of->name),
				  model_str(k->m, k->w->devices.v[kernel->device].name),
				  model_str(k->m, kernel->name), of->calls, s->calls, s->total_ns,
				  total / (double)s->calls, s->min_ns, s->max_ns,
				  s->whole_ns > 0 ? total / (double)s->whole_ns : NAN });
	}
	return t;
}

static int markers_run(struct model *m, const struct analysis_opts *o, struct table_set *out,
		       struct err *err)
{
	CLEANUP(markers_release)
	struct markers k = { .w = analysis_works(m, o),
			     .m = m,
			     .is = xcalloc(intern_count(m->strings) + 1, 1) };

	(void)err;
	paths_find(&k);
	if (k.markers.nr == 0)
		return table_set_skip(out, "markers",
				      "the inputs hold no ranges that a program "
				      "marks");
	works_sum(&k);
	if (k.deep)
		model_warn(m, UINT32_MAX, W_DEEP_STACK, k.deep,
			   "marked ranges inside %d others have no rows of their own in markers",
			   MARKERS_DEPTH);
	if (k.left_out)
		model_warn(m, UINT32_MAX, W_MEMORY_LIMIT, k.left_out,
			   "pieces of work are in no row of markers, which has %zu", MARKERS_ROWS);
	sums_sort(&k);
	table_set_add(out, markers_table(&k));
	return 0;
}

const struct analysis analysis_markers = {
	.name = "markers",
	.about = "device work by the ranges that the program marks, and by kernel",
	.tables = { &markers_form },
	.run = markers_run,
	.needs_work = true,
	.needs_calls = true,
};
