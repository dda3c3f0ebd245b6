/*
 * Traces as PyTorch's profiler writes them, for TensorBoard's plug-in (torch_tb_profiler) and
 * Holistic Trace Analysis: a file for each rank, `<base>_worker_<rank>.pt.trace.json[.gz]`. Beside
 * what write_tef.c writes they have:
 *
 *	{"schemaVersion":1, "distributedInfo":{"rank":r,"world_size":n},
 *	 "deviceProperties":[{"id":0,"name":"gpu0"}, …]		at the place of its number
 *	"cat" of every span: kernel, gpu_memcpy, gpu_memset, gpu_user_annotation; cuda_runtime,
 *		user_annotation, cpu_op, or the span's own when it is one of Kineto's
 *	"args" of device work: device (the pid too), stream, correlation; of its call: correlation
 *	"cat":"ac2g" of launches
 *
 * Both tools end on a span without a category. The plug-in takes a device's number as a place in
 * deviceProperties, and HTA one integer rank for each file. The member "profrig" of a span keeps
 * its own category ("cat") and how many bytes of its arguments are made up ("added").
 *
 * Tracks without a rank, where others have one, are in the file of the first.
 */
#include "converters_private.h"
#include "tef_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/sort.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/replay.h"

/* ---- the members of a file ---- */

static void number_put(struct strbuf *to, const char *key, int64_t v)
{
	if (v != FACT_ABSENT)
		strbuf_addf(to, ",\"%s\":%" PRId64, key, v);
}

/* What the trace says of a device of this number; one that it does not describe has its place. */
static void device_put(const struct model *m, int64_t number, struct strbuf *to)
{
	const struct device_facts *d = VEC_FIND(&m->facts.devices, one, one->number == number);

	strbuf_addf(to, "%s{\"id\":%" PRId64 ",\"name\":", number ? "," : "", number);
	if (!d || d->name == STR_NONE)
		strbuf_addf(to, "\"gpu%" PRId64 "\"", number);
	else
		json_quote(to, model_str(m, d->name), intern_len(m->strings, d->name));
	if (d) {
		number_put(to, "totalGlobalMem", d->memory);
		number_put(to, "computeMajor", d->capability_major);
		number_put(to, "computeMinor", d->capability_minor);
		number_put(to, "warpSize", d->warp);
		number_put(to, "numSms", d->units);
	}
	strbuf_addch(to, '}');
}

void torch_head(const struct model *m, const struct tef_torch *torch, struct strbuf *to)
{
	int64_t last = -1;

	for (size_t i = 0; i < m->tracks.nr; i++) {
		int64_t k = tef_device_index(model_str(m, m->tracks.v[i].device));

		last = k > last && k < TORCH_DEVICES_MAX ? k : last;
	}
	strbuf_addf(to,
		    "\"schemaVersion\":1,\"distributedInfo\":{\"rank\":%" PRId64
		    ",\"world_size\":%" PRId64 "},\"deviceProperties\":[",
		    torch->rank, torch->ranks);
	for (int64_t k = 0; k <= last; k++)
		device_put(m, k, to);
	strbuf_addstr(to, "],");
}

static bool is_kineto(const char *cat)
{
	return text_in_list("cpu_op|user_annotation|cuda_runtime|cuda_driver|python_function|"
			    "cpu_instant_event|mtia_runtime|xpu_runtime|privateuse1_runtime|"
			    "overhead|Trace",
			    '|', cat);
}

/* Waits and records of events, which Kineto writes on queues too. */
static bool is_kineto_wait(const char *cat)
{
	return text_in_list("cuda_sync|cuda_event|xpu_sync", '|', cat);
}

/* The span's own text where it is the same, so that a caller sees that it was kept. */
static const char *or_own(const char *own, const char *cat)
{
	return strcmp(own, cat) == 0 ? own : cat;
}

const char *torch_category(const struct model *m, uint64_t span, bool launches)
{
	static const char *const of_work[] = { [SPAN_HOST] = "gpu_user_annotation",
					       [SPAN_KERNEL] = "kernel",
					       [SPAN_COPY] = "gpu_memcpy",
					       [SPAN_FILL] = "gpu_memset",
					       [SPAN_ANNOTATION] = "gpu_user_annotation",
					       [SPAN_INSTANT] = "gpu_user_annotation" };
	const char *own = model_str(m, m->spans.category[span]);
	enum span_kind kind = (enum span_kind)m->spans.kind[span];

	if (m->tracks.v[m->spans.track[span]].kind == TRACK_QUEUE)
		return is_kineto_wait(own) ? own : or_own(own, of_work[kind]);
	if (is_kineto(own))
		return own;
	if (launches || span_correlation(&m->spans, span))
		return or_own(own, "cuda_runtime");
	return kind == SPAN_ANNOTATION ? "user_annotation" : "cpu_op";
}

static bool has_member(const char *args, size_t n, const char *key)
{
	return args && memmem(args, n, key, strlen(key));
}

void torch_members(const struct model *m, uint64_t span, const char *args, size_t n,
		   struct strbuf *to)
{
	const struct track *t = &m->tracks.v[m->spans.track[span]];
	int64_t device = tef_device_index(model_str(m, t->device));
	uint64_t correlation = span_correlation(&m->spans, span);

	if (t->kind == TRACK_QUEUE && device >= 0 && !has_member(args, n, "\"device\""))
		strbuf_addf(to, "\"device\":%" PRId64 ",", device);
	if (t->kind == TRACK_QUEUE && t->tid != PID_NONE && !has_member(args, n, "\"stream\""))
		strbuf_addf(to, "\"stream\":%" PRId64 ",", t->tid);
	if (correlation && correlation <= INT64_MAX && !has_member(args, n, "\"correlation\""))
		strbuf_addf(to, "\"correlation\":%" PRIu64 ",", correlation);
}

/* ---- one file for each rank ---- */

static const char *const suffixes[] = { ".pt.trace.json.gz", ".pt.trace.json", NULL };

char *convert_rank_path(const char *path, int64_t rank)
{
	static const char *const plain[] = { ".json.gz", ".json", ".gz" };
	const char *end = NULL;
	bool gz = text_suffix(path, ".gz") != NULL;

	for (size_t i = 0; !end && suffixes[i]; i++)
		end = text_suffix(path, suffixes[i]);
	for (size_t i = 0; !end && i < ARRAY_LEN(plain); i++)
		end = text_suffix(path, plain[i]);
	return xasprintf("%.*s_worker_%" PRId64 ".pt.trace.json%s",
			 (int)(end ? end - path : (ptrdiff_t)strlen(path)), path, rank,
			 gz ? ".gz" : "");
}

struct rank_pick {
	const struct model *m;
	int64_t rank, first;
};

static bool is_of_rank(const struct rank_pick *p, track_id t)
{
	int32_t rank = t == TRACK_NONE ? RANK_NONE : p->m->tracks.v[t].rank;

	return (rank == RANK_NONE ? p->first : rank) == p->rank;
}

static bool track_of_rank(void *ctx, track_id t)
{
	return is_of_rank(ctx, t);
}

static bool span_of_rank(void *ctx, uint64_t span)
{
	const struct rank_pick *p = ctx;

	return is_of_rank(p, p->m->spans.track[span]);
}

static bool series_of_rank(void *ctx, series_id s)
{
	const struct rank_pick *p = ctx;

	return is_of_rank(p, p->m->series.v[s].track);
}

/* Ascending, each once; rank 0 when there is none. */
static size_t ranks_of(const struct model *m, int64_t **ret)
{
	int64_t *v = xreallocarray(NULL, m->tracks.nr + 1, sizeof(*v));
	size_t nr = 0, to = 0;

	for (size_t i = 0; i < m->tracks.nr; i++)
		if (m->tracks.v[i].rank != RANK_NONE)
			v[nr++] = m->tracks.v[i].rank;
	if (nr == 0)
		v[nr++] = 0;
	sort_i64(v, nr);
	for (size_t i = 0; i < nr; i++)
		if (to == 0 || v[to - 1] != v[i])
			v[to++] = v[i];
	*ret = v;
	return to;
}

static int rank_write(const struct convert_job *job, const struct tef_torch *torch, int64_t first,
		      struct convert_result *ret, struct replayed *n, struct err *err)
{
	static const struct window all = WINDOW_ALL;
	struct rank_pick pick = { job->model, torch->rank, first };
	const struct replay_pick of = { track_of_rank, span_of_rank, series_of_rank, &pick };
	CLEANUP(xfreep) char *path = convert_rank_path(job->path, torch->rank);
	struct model *part = model_pick(job->model, &all, &of, n);
	struct convert_job one = { .model = part, .path = path };
	int r;

	/* the files are one recording, so their correlations are */
	part->inputs.v[0].group = native_group(job->model);
	r = tef_write(&one, torch, ret, err);
	model_free(part);
	return r;
}

static int write_torch(const struct convert_job *job, struct convert_result *ret, struct err *err)
{
	CLEANUP(xfreep) int64_t *ranks = NULL;
	size_t nr = ranks_of(job->model, &ranks);
	uint64_t links = job->model->links.nr;
	int64_t size = ranks[nr - 1] + 1;
	int r = 0;

	for (size_t i = 0; i < job->model->facts.worlds.nr; i++)
		if (job->model->facts.worlds.v[i].size > size)
			size = job->model->facts.worlds.v[i].size;
	for (size_t i = 0; r == 0 && i < nr; i++) {
		struct tef_torch torch = { ranks[i], size };
		struct replayed n;

		r = rank_write(job, &torch, ranks[0], ret, &n, err);
		links -= n.links;
	}
	if (r < 0)
		return r;
	ret->links_between += links;
	ret->stale = convert_rank_path(job->path, ranks[nr - 1] + 1);
	if (!fs_exists(ret->stale))
		free(STEAL(ret->stale));
	return 0;
}

const struct converter converter_torch = {
	.name = "torch",
	.about = "as PyTorch's profiler, a file for each rank: for TensorBoard and HTA",
	.suffixes = suffixes,
	.ranks = true,
	.write = write_torch,
};
