/*
 * Device work. A queue is one of a GPU and of the process that wrote the row: two processes number
 * their queues alike. An op's correlation is the call that launched it first; where more than one
 * did, all of them are linked one by one.
 */
#include "rpd.h"

#include <inttypes.h>
#include <strings.h>
#include <xxhash.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* ---- what launched what ---- */

static void take_link(struct rpd *r, int64_t api, int64_t op)
{
	uint32_t first = sqlite_ids_get(&r->op_launch, op);

	sqlite_ids_add(&r->launching, api, 0);
	if (first == SQLITE_ID_NONE) {
		sqlite_ids_add(&r->op_launch, op, (uint32_t)r->launches.nr);
		VEC_PUSH(&r->launches, api);
		return;
	}
	if (r->launches.v[first] == api) {
		r->n.double_links++;
		return;
	}
	VEC_PUSH(&r->extras, (struct rpd_extra){ .api = api, .op = op, .op_span = SPAN_NONE });
}

static void want_api(struct rpd *r, int64_t api)
{
	if (sqlite_ids_add(&r->extra_apis, api, (uint32_t)r->extra_spans.nr))
		VEC_PUSH(&r->extra_spans, SPAN_NONE);
}

/* Of work with several launches the first is linked by hand too, so all their spans are kept. */
static void prepare_extras(struct rpd *r)
{
	size_t n = r->extras.nr;

	for (size_t i = 0; i < n; i++) {
		int64_t op = r->extras.v[i].op;
		uint32_t first = sqlite_ids_get(&r->op_launch, op);

		want_api(r, r->extras.v[i].api);
		if (sqlite_ids_add(&r->extra_ops, op, (uint32_t)r->extras.nr)) {
			int64_t api = r->launches.v[first];

			want_api(r, api);
			VEC_PUSH(&r->extras,
				 (struct rpd_extra){ .api = api, .op = op, .op_span = SPAN_NONE });
		}
	}
}

static void read_links(struct rpd *r)
{
	static const struct sqlite_column cols[] = { { "api_id", false }, { "op_id", false } };
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	struct err e = ERR_INIT;
	int rc;

	if (!sqlite_db_has(r->db, "rocpd_api_ops"))
		return;
	rc = sqlite_rows_table(r->db, "rocpd_api_ops", cols, ARRAY_LEN(cols), NULL, &q, &e);
	while (rc >= 0 && (rc = sqlite_rows_next(&q, &e)) > 0) {
		int64_t api, op;

		if (sqlite_rows_i64(&q, 0, &api) && sqlite_rows_i64(&q, 1, &op))
			take_link(r, api, op);
		else
			rpd_bad_row(r, &q, "a launch without a call or without work");
	}
	if (rc < 0)
		rpd_lose(r, &e);
	r->n.links = q.rows;
	sqlite_rows_close(&q, r->sink);
	prepare_extras(r);
}

void rpd_extra_api(struct rpd *r, int64_t api, span_id span)
{
	uint32_t at = sqlite_ids_get(&r->extra_apis, api);

	if (at != SQLITE_ID_NONE)
		r->extra_spans.v[at] = span;
}

static void push_extras(struct rpd *r)
{
	for (size_t i = 0; i < r->extras.nr; i++) {
		const struct rpd_extra *x = &r->extras.v[i];
		uint32_t first = sqlite_ids_get(&r->extra_ops, x->op),
			 api = sqlite_ids_get(&r->extra_apis, x->api);
		span_id from = r->extra_spans.v[api], to = r->extras.v[first].op_span;

		if (to == SPAN_NONE)
			continue; /* counted as lost */
		if (from != SPAN_NONE)
			r->sink->ops->link(r->sink, from, to, LINK_LAUNCH);
		else
			sink_warnf(r->sink, W_UNLINKED_WORK,
				   "work was launched by a call that rocpd_api does not hold");
	}
}

/* ---- arguments of launches and copies ---- */

enum { COPY_OF, COPY_SIZE, COPY_KIND, COPY_STREAM, COPY_SRC, COPY_DST };

enum {
	KERNEL_OF,
	KERNEL_GRID,
	KERNEL_BLOCK = KERNEL_GRID + 3,
	KERNEL_LDS = KERNEL_BLOCK + 3,
	KERNEL_SCRATCH,
	KERNEL_STREAM,
};

static void keep_launch(struct rpd *r, int64_t of, const char *json)
{
	if (sqlite_ids_add(&r->args_at, of, (uint32_t)r->args_of.nr))
		VEC_PUSH(&r->args_of, xstrdup(json));
}

static void put_text(struct json_out *j, const char *key, struct sqlite_rows *q, int col)
{
	size_t n;
	const char *s = sqlite_rows_text(q, col, &n);

	if (s && n > 0)
		json_strn(j, key, s, n);
}

static void put_i64(struct json_out *j, const char *key, struct sqlite_rows *q, int col)
{
	int64_t v;

	if (sqlite_rows_i64(q, col, &v))
		json_i64(j, key, v);
}

static void put_extent(struct json_out *j, const char *key, struct sqlite_rows *q, int col)
{
	json_arr(j, key);
	for (int i = 0; i < 3; i++)
		json_i64(j, NULL, sqlite_rows_i64_or(q, col + i, 1));
	json_end(j);
}

static void take_copy(struct rpd *r, struct sqlite_rows *q)
{
	int64_t of, bytes;
	bool sized = sqlite_rows_i64(q, COPY_SIZE, &bytes) && bytes >= 0;
	struct json_out j;

	r->n.copies++;
	/* An empty text stands for what did not fit: unknown, and never 0. */
	if (!sized)
		r->n.copies_unsized++;
	else if (__builtin_add_overflow(r->n.copy_bytes, bytes, &r->n.copy_bytes))
		r->n.copy_bytes = INT64_MAX;
	if (!r->opts->keep_args || !sqlite_rows_i64(q, COPY_OF, &of))
		return;
	j = rpd_json_begin(r);
	if (sized)
		json_i64(&j, "bytes", bytes);
	put_i64(&j, "kind", q, COPY_KIND);
	put_text(&j, "stream", q, COPY_STREAM);
	put_text(&j, "src", q, COPY_SRC);
	put_text(&j, "dst", q, COPY_DST);
	keep_launch(r, of, rpd_json_end(r, &j));
}

static void take_kernel(struct rpd *r, struct sqlite_rows *q)
{
	int64_t of;
	struct json_out j;

	if (!r->opts->keep_args || !sqlite_rows_i64(q, KERNEL_OF, &of))
		return;
	j = rpd_json_begin(r);
	put_extent(&j, "grid", q, KERNEL_GRID);
	put_extent(&j, "block", q, KERNEL_BLOCK);
	put_i64(&j, "lds", q, KERNEL_LDS);
	put_i64(&j, "scratch", q, KERNEL_SCRATCH);
	put_text(&j, "stream", q, KERNEL_STREAM);
	keep_launch(r, of, rpd_json_end(r, &j));
}

static void read_arguments(struct rpd *r, const char *table, const struct sqlite_column *cols,
			   size_t n, void (*take)(struct rpd *, struct sqlite_rows *))
{
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	struct err e = ERR_INIT;
	int rc;

	if (!sqlite_db_has(r->db, table))
		return;
	rc = sqlite_rows_table(r->db, table, cols, n, NULL, &q, &e);
	while (rc >= 0 && (rc = sqlite_rows_next(&q, &e)) > 0)
		take(r, &q);
	if (rc < 0)
		rpd_lose(r, &e);
	sqlite_rows_close(&q, r->sink);
}

void rpd_launches_read(struct rpd *r)
{
	static const struct sqlite_column copy[] = {
		[COPY_OF] = { "api_ptr_id|op_ptr_id", false },
		[COPY_SIZE] = { "size", true },
		[COPY_KIND] = { "kind", true },
		[COPY_STREAM] = { "stream", true },
		[COPY_SRC] = { "src", true },
		[COPY_DST] = { "dst", true },
	};
	static const struct sqlite_column kernel[] = {
		[KERNEL_OF] = { "api_ptr_id|op_ptr_id", false },
		[KERNEL_GRID] = { "gridX", true },
		{ "gridY", true },
		{ "gridZ", true },
		[KERNEL_BLOCK] = { "workgroupX", true },
		{ "workgroupY", true },
		{ "workgroupZ", true },
		[KERNEL_LDS] = { "groupSegmentSize", true },
		[KERNEL_SCRATCH] = { "privateSegmentSize", true },
		[KERNEL_STREAM] = { "stream", true },
	};
	bool old = r->version == 1;

	read_links(r);
	read_arguments(r, old ? "rocpd_copyop" : "rocpd_copyapi", copy, ARRAY_LEN(copy), take_copy);
	if (r->opts->keep_args)
		read_arguments(r, old ? "rocpd_kernelop" : "rocpd_kernelapi", kernel,
			       ARRAY_LEN(kernel), take_kernel);
}

const char *rpd_launch_args(struct rpd *r, int64_t of)
{
	uint32_t at = sqlite_ids_get(&r->args_at, of);

	return at == SQLITE_ID_NONE ? NULL : r->args_of.v[at];
}

/* ---- queues ---- */

void rpd_writer(struct rpd *r, int64_t id, int64_t pid)
{
	int64_t slot = rpd_slot_of(id);
	uint32_t at;

	if (r->writer.pid == pid && r->writer.slot == slot && r->slots.nr > 0)
		return;
	r->writer.pid = pid;
	r->writer.slot = slot;
	at = sqlite_ids_get(&r->slot_at, slot);
	if (at == SQLITE_ID_NONE) {
		sqlite_ids_add(&r->slot_at, slot, (uint32_t)r->slots.nr);
		VEC_PUSH(&r->slots, (struct rpd_slot){ .pid = pid });
	} else if (r->slots.v[at].pid != pid) {
		r->slots.v[at].several = true;
	}
}

/* The process whose queue it is, where the writer is known to be one. */
static track_id owner_of(struct rpd *r, int64_t slot)
{
	uint32_t at = sqlite_ids_get(&r->slot_at, slot);

	if (at == SQLITE_ID_NONE || r->slots.v[at].several)
		return TRACK_NONE;
	return rpd_process(r, r->slots.v[at].pid);
}

static track_id device_track(struct rpd *r, const char *host, const char *device, uint64_t key)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_DEVICE;
	d.host = host;
	d.device = device;
	d.key = key;
	return r->sink->ops->track(r->sink, &d);
}

static track_id queue_new(struct rpd *r, const struct rpd_queue *q)
{
	struct track_def d = TRACK_DEF_INIT;
	int64_t gpu = q->gpu, queue = q->queue, node = 0;
	char device[32], host[32];

	if (r->gpu_stride > 0 && gpu >= r->gpu_stride) {
		node = gpu / r->gpu_stride;
		gpu %= r->gpu_stride;
		queue %= r->gpu_stride;
	}
	snprintf(device, sizeof(device), "gpu%" PRId64, gpu);
	d.kind = TRACK_QUEUE;
	d.host = rpd_host(node, host);
	d.device = device;
	d.parent = device_track(r, d.host, device, (uint64_t)q->gpu);
	d.owner = owner_of(r, q->slot);
	d.tid = queue;
	d.key = r->queues.nr;
	return track_limit_make(&r->tracks, r->sink, &d);
}

/* There are few; the one of the op before is mostly the one. */
static track_id queue_of(struct rpd *r, int64_t gpu, int64_t queue, int64_t slot)
{
	struct rpd_queue q = { .gpu = gpu, .queue = queue, .slot = slot };
	uint64_t key;
	uint32_t *at;

	if (r->queue < r->queues.nr) {
		const struct rpd_queue *last = &r->queues.v[r->queue];

		if (last->gpu == gpu && last->queue == queue && last->slot == slot)
			return last->track;
	}
	key = XXH3_64bits((int64_t[]){ gpu, queue, slot }, 3 * sizeof(int64_t));
	if (track_limit_shares(&r->tracks, &r->queue_at, key))
		return queue_new(r, &q);
	at = u64map_at(&r->queue_at, key);
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)r->queues.nr;
		q.track = queue_new(r, &q);
		VEC_PUSH(&r->queues, q);
	}
	r->queue = *at;
	return r->queues.v[*at].track;
}

/* ---- ops ---- */

enum { OP_ID, OP_GPU, OP_QUEUE, OP_START, OP_END, OP_NAME, OP_TYPE };

static bool begins(const char *s, const char *word)
{
	return strncasecmp(s, word, strlen(word)) == 0;
}

static enum span_kind kind_of_type(const char *type)
{
	if (begins(type, "Copy") || begins(type, "Memcpy") || begins(type, "MEMORY_COPY"))
		return SPAN_COPY;
	if (begins(type, "Fill") || begins(type, "Memset") || begins(type, "MEMORY_FILL"))
		return SPAN_FILL;
	if (begins(type, "Barrier") || begins(type, "Marker"))
		return SPAN_ANNOTATION;
	return SPAN_KERNEL;
}

/* CUDA's numbers are the runtime's, those of ROCm the driver's. */
static bool is_cuda_type(const char *type)
{
	return begins(type, "Mem")      ? type[3] != 'O'
	       : begins(type, "Kernel") ? type[6] == '\0'
					: begins(type, "Conc");
}

static enum span_kind kind_of(struct rpd *r, int64_t type_id)
{
	const char *type;

	if (r->kind.known && r->kind.type == type_id)
		return r->kind.kind;
	type = sqlite_strings_text(&r->names, type_id);
	r->kind.known = true;
	r->kind.type = type_id;
	r->kind.kind = kind_of_type(type ? type : "");
	r->cuda |= type && is_cuda_type(type);
	return r->kind.kind;
}

static bool take_op(struct rpd *r, struct sqlite_rows *q, int64_t *id, struct span_def *d)
{
	int64_t gpu, queue = sqlite_rows_i64_or(q, OP_QUEUE, 0);

	if (!sqlite_rows_i64(q, OP_ID, id) || !sqlite_rows_i64(q, OP_GPU, &gpu) || gpu < 0 ||
	    !sqlite_rows_i64(q, OP_START, &d->start_ns)) {
		rpd_bad_row(r, q, "work without an id, a device or a start");
		return false;
	}
	if (d->start_ns == 0) {
		rpd_bad_row(r, q, "work whose start is 0: it was never stamped");
		return false;
	}
	if (!sqlite_rows_i64(q, OP_END, &d->end_ns)) {
		rpd_bad_row(r, q, "work without an end; it has no length");
		d->end_ns = d->start_ns;
	}
	d->track = queue_of(r, gpu, queue, rpd_slot_of(*id));
	return true;
}

static void push_op(struct rpd *r, struct sqlite_rows *q, int64_t id, struct span_def *d)
{
	int64_t type = sqlite_rows_i64_or(q, OP_TYPE, 0), name = sqlite_rows_i64_or(q, OP_NAME, 0);
	uint32_t launch = sqlite_ids_get(&r->op_launch, id), extra;
	const char *launch_args;
	span_id span;

	d->kind = kind_of(r, type);
	d->category = rpd_known(r, type)->name;
	d->name = name == 0 ? r->empty : rpd_known(r, name)->name;
	if (d->name == r->empty)
		d->name = d->category;
	d->correlation = launch == SQLITE_ID_NONE ? 0 : (uint64_t)r->launches.v[launch] + 1;
	launch_args = r->version == 1 && r->opts->keep_args ? rpd_launch_args(r, id) : NULL;
	d->args = launch_args ? sink_puts(r->sink, launch_args) : STR_NONE;
	span = r->sink->ops->span(r->sink, d);
	r->n.unlinked += launch == SQLITE_ID_NONE && d->kind != SPAN_ANNOTATION;
	r->n.found_ops += launch != SQLITE_ID_NONE;
	if (r->extras.nr > 0 && (extra = sqlite_ids_get(&r->extra_ops, id)) != SQLITE_ID_NONE)
		r->extras.v[extra].op_span = span;
}

void rpd_ops_read(struct rpd *r)
{
	static const struct sqlite_column cols[] = {
		[OP_ID] = { "id", false },         [OP_GPU] = { "gpuId", false },
		[OP_QUEUE] = { "queueId", true },  [OP_START] = { "start", false },
		[OP_END] = { "end", false },       [OP_NAME] = { "description_id", true },
		[OP_TYPE] = { "opType_id", true },
	};
	CLEANUP(sqlite_rows_release) struct sqlite_rows q = { .db = NULL };
	struct err e = ERR_INIT;
	int rc = sqlite_rows_table(r->db, "rocpd_op", cols, ARRAY_LEN(cols), NULL, &q, &e);

	while (rc >= 0 && (rc = sqlite_rows_next(&q, &e)) > 0) {
		struct span_def d = { .kind = SPAN_KERNEL };
		int64_t id;

		if (take_op(r, &q, &id, &d))
			push_op(r, &q, id, &d);
	}
	if (rc < 0)
		rpd_lose(r, &e);
	r->n.ops = q.rows;
	/* a table that ends early loses more than its rows */
	if (rc >= 0 && r->launches.nr > r->n.found_ops)
		r->n.lost_ops = r->launches.nr - r->n.found_ops;
	sqlite_rows_close(&q, r->sink);
	push_extras(r);
	r->sink->ops->current(r->sink)->driver_numbers = !r->cuda;
}

void rpd_ops_release(struct rpd *r)
{
	for (size_t i = 0; i < r->args_of.nr; i++)
		free(r->args_of.v[i]);
	VEC_RELEASE(&r->args_of);
	VEC_RELEASE(&r->launches);
	VEC_RELEASE(&r->extras);
	VEC_RELEASE(&r->extra_spans);
	VEC_RELEASE(&r->queues);
	VEC_RELEASE(&r->slots);
	sqlite_ids_release(&r->op_launch);
	sqlite_ids_release(&r->launching);
	sqlite_ids_release(&r->extra_apis);
	sqlite_ids_release(&r->extra_ops);
	sqlite_ids_release(&r->args_at);
	sqlite_ids_release(&r->slot_at);
	u64map_release(&r->queue_at);
}
