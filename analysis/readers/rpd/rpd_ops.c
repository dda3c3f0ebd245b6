/*
 * Device work. A queue is one of a GPU and of the process that wrote the row: two processes number
 * their queues alike. An op's correlation is the call that launched it first; where more than one
 * did, all of them are linked one by one.
 */
#include "copy_words.h"
#include "rpd.h"

#include <inttypes.h>
#include <strings.h>

#include "profrig/base/json_out.h"
#include "profrig/base/xalloc.h"
#include "profrig/model/warnings.h"

/* ---- what launched what ---- */

static void link_add(struct rpd *r, int64_t api, int64_t op)
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

static bool take_link(void *vp, struct sqlite_rows *q)
{
	struct rpd *r = vp;
	int64_t api, op;

	r->n.links++;
	if (sqlite_rows_i64(q, 0, &api) && sqlite_rows_i64(q, 1, &op))
		link_add(r, api, op);
	else
		db_scan_bad(&r->sc, q, "a launch without a call or without work");
	return true;
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
			r->sc.sink->ops->link(r->sc.sink, from, to, LINK_LAUNCH);
		else
			sink_warnf(r->sc.sink, W_UNLINKED_WORK,
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
	KERNEL_NAME,
};

static void launch_keep(struct rpd *r, int64_t of)
{
	if (sqlite_ids_add(&r->args_at, of, (uint32_t)r->args_of.nr))
		VEC_PUSH(&r->args_of, xstrdup(db_args_text(&r->sc)));
}

static void fact_keep(struct rpd *r, int64_t of, const struct span_facts *f, struct sqlite_rows *q,
		      int stream)
{
	struct rpd_fact fact = { .f = *f, .stream = FACT_ABSENT };
	const char *s;
	size_t n;

	if (!sqlite_ids_add(&r->fact_at, of, (uint32_t)r->facts.nr))
		return;
	if (r->captures && (s = sqlite_rows_text(q, stream, &n)))
		fact.stream = capture_handle(s, n);
	if (r->captures && f->kind == FACTS_KERNEL)
		fact.name = sqlite_rows_i64_or(q, KERNEL_NAME, 0);
	VEC_PUSH(&r->facts, fact);
}

static struct rpd_fact *fact_of(struct rpd *r, int64_t of)
{
	uint32_t at = sqlite_ids_get(&r->fact_at, of);

	return at == SQLITE_ID_NONE ? NULL : &r->facts.v[at];
}

void rpd_call_facts(struct rpd *r, int64_t api, span_id span)
{
	const struct rpd_fact *fact = r->version > 1 ? fact_of(r, api) : NULL;
	struct span_facts node = { .kind = FACTS_CAPTURE, .capture = CAPTURE_FACTS_NONE };

	if (!fact)
		return;
	db_facts_put(&r->sc, span, &fact->f);
	if (!r->captures || fact->stream == FACT_ABSENT)
		return;
	node.capture.kind = CAPTURE_NODE;
	node.capture.stream = fact->stream;
	if (fact->name)
		node.capture.name = rpd_known(r, fact->name)->name;
	db_facts_put(&r->sc, span, &node);
}

void rpd_capture_facts(struct rpd *r, enum capture_kind kind, int64_t args, span_id span)
{
	struct span_facts f = { .kind = FACTS_CAPTURE, .capture = CAPTURE_FACTS_NONE };
	size_t n;
	const char *text = rpd_args_text(r, args, &n);

	f.capture.kind = kind;
	if (text)
		capture_call_handles(text, n, &f.capture);
	db_facts_put(&r->sc, span, &f);
}

/* A copy in several ops is counted once. */
static void op_facts(struct rpd *r, int64_t id, uint32_t launch, enum span_kind kind, span_id span)
{
	bool launched = launch != SQLITE_ID_NONE;
	int64_t of = r->version == 1 ? id : launched ? r->launches.v[launch] : 0;
	struct rpd_fact *fact = r->version == 1 || launched ? fact_of(r, of) : NULL;
	struct span_facts f;

	if (!fact || (fact->f.kind == FACTS_KERNEL) != (kind == SPAN_KERNEL) ||
	    kind == SPAN_ANNOTATION)
		return;
	f = fact->f;
	if (f.kind == FACTS_COPY && fact->used)
		f.copy.bytes = FACT_ABSENT;
	fact->used = true;
	db_facts_put(&r->sc, span, &f);
}

static void copy_facts(struct rpd *r, struct sqlite_rows *q, int64_t of, int64_t bytes)
{
	struct span_facts f = { .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };

	f.copy.bytes = bytes;
	f.copy.direction = copy_direction_of_runtime(sqlite_rows_i64_or(q, COPY_KIND, -1));
	fact_keep(r, of, &f, q, COPY_STREAM);
}

/* Launches are in blocks, as the calls state them. */
static void kernel_facts(struct rpd *r, struct sqlite_rows *q, int64_t of)
{
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };

	db_facts_triple(q, KERNEL_GRID, f.kernel.grid);
	db_facts_triple(q, KERNEL_BLOCK, f.kernel.block);
	f.kernel.shared_bytes = db_fact(q, KERNEL_LDS);
	f.kernel.local_bytes = db_fact(q, KERNEL_SCRATCH);
	fact_keep(r, of, &f, q, KERNEL_STREAM);
}

static void put_text(struct rpd *r, const char *key, struct sqlite_rows *q, int col)
{
	size_t n;
	const char *s = sqlite_rows_text(q, col, &n);

	if (s && n > 0)
		json_quote(db_args_key(&r->sc, key), s, n);
}

static void put_i64(struct rpd *r, const char *key, struct sqlite_rows *q, int col)
{
	int64_t v;

	if (sqlite_rows_i64(q, col, &v))
		db_args_i64(&r->sc, key, v);
}

static void put_extent(struct rpd *r, const char *key, struct sqlite_rows *q, int col)
{
	strbuf_addf(db_args_key(&r->sc, key), "[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
		    sqlite_rows_i64_or(q, col, 1), sqlite_rows_i64_or(q, col + 1, 1),
		    sqlite_rows_i64_or(q, col + 2, 1));
}

static bool take_copy(void *vp, struct sqlite_rows *q)
{
	struct rpd *r = vp;
	int64_t of, bytes;
	bool sized = sqlite_rows_i64(q, COPY_SIZE, &bytes) && bytes >= 0;

	r->n.copies++;
	/* An empty text means that a value did not fit: unknown, and never 0. */
	if (!sized)
		r->n.copies_unsized++;
	else if (__builtin_add_overflow(r->n.copy_bytes, bytes, &r->n.copy_bytes))
		r->n.copy_bytes = INT64_MAX;
	if (!sqlite_rows_i64(q, COPY_OF, &of))
		return true;
	if (r->sc.facts)
		copy_facts(r, q, of, sized ? bytes : FACT_ABSENT);
	if (!r->sc.keep_args)
		return true;
	db_args_begin(&r->sc);
	if (sized)
		db_args_i64(&r->sc, "bytes", bytes);
	put_i64(r, "kind", q, COPY_KIND);
	put_text(r, "stream", q, COPY_STREAM);
	put_text(r, "src", q, COPY_SRC);
	put_text(r, "dst", q, COPY_DST);
	launch_keep(r, of);
	return true;
}

static void shape_keep(struct rpd *r, struct sqlite_rows *q, int64_t of)
{
	str_id shape = db_args_shape(&r->sc, q, KERNEL_GRID, KERNEL_BLOCK);

	if (shape != STR_NONE)
		sqlite_ids_add(&r->shape_at, of, shape);
}

static bool take_kernel(void *vp, struct sqlite_rows *q)
{
	struct rpd *r = vp;
	int64_t of;

	if (!sqlite_rows_i64(q, KERNEL_OF, &of))
		return false;
	if (r->sc.facts)
		kernel_facts(r, q, of);
	if (!r->sc.keep_args) {
		shape_keep(r, q, of);
		return true;
	}
	db_args_begin(&r->sc);
	put_extent(r, "grid", q, KERNEL_GRID);
	put_extent(r, "block", q, KERNEL_BLOCK);
	put_i64(r, "lds", q, KERNEL_LDS);
	put_i64(r, "scratch", q, KERNEL_SCRATCH);
	put_text(r, "stream", q, KERNEL_STREAM);
	launch_keep(r, of);
	return true;
}

#define COPY "api_ptr_id|op_ptr_id size? kind? stream? src? dst?", .take = take_copy
#define KERNEL \
	"api_ptr_id|op_ptr_id gridX? gridY? gridZ? workgroupX? workgroupY? workgroupZ? " \
	"groupSegmentSize? privateSegmentSize? stream? kernelName_id?", \
		.take = take_kernel

void rpd_launches_read(struct rpd *r)
{
	static const struct db_table links = { "rocpd_api_ops", "api_id op_id", .take = take_link };
	/* of version 1 first */
	static const struct db_table copies[] = { { "rocpd_copyop", COPY },
						  { "rocpd_copyapi", COPY } };
	static const struct db_table kernels[] = { { "rocpd_kernelop", KERNEL },
						   { "rocpd_kernelapi", KERNEL } };
	bool now = r->version > 1;

	db_scan_table(&r->sc, &links, r);
	prepare_extras(r);
	db_scan_table(&r->sc, &copies[now], r);
	if (r->sc.keep_args || r->sc.keep_shapes || r->sc.facts)
		db_scan_table(&r->sc, &kernels[now], r);
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

/* The process of the queue, where the writer is a known process. */
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
	return r->sc.sink->ops->track(r->sc.sink, &d);
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
	return track_limit_make(&r->sc.tracks, r->sc.sink, &d);
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
	key = db_hash((uint64_t)gpu, (uint64_t)queue, (uint64_t)slot);
	if (track_limit_shares(&r->sc.tracks, &r->queue_at, key))
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

static bool text_begins(const char *s, const char *word)
{
	return strncasecmp(s, word, strlen(word)) == 0;
}

static enum span_kind kind_of_type(const char *type)
{
	if (text_begins(type, "Copy") || text_begins(type, "Memcpy") ||
	    text_begins(type, "MEMORY_COPY"))
		return SPAN_COPY;
	if (text_begins(type, "Fill") || text_begins(type, "Memset") ||
	    text_begins(type, "MEMORY_FILL"))
		return SPAN_FILL;
	if (text_begins(type, "Barrier") || text_begins(type, "Marker"))
		return SPAN_ANNOTATION;
	return SPAN_KERNEL;
}

/* CUDA's numbers are the runtime's, those of ROCm the driver's. */
static bool is_cuda_type(const char *type)
{
	return text_begins(type, "Mem")      ? type[3] != 'O'
	       : text_begins(type, "Kernel") ? type[6] == '\0'
					     : text_begins(type, "Conc");
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

static bool op_read(struct rpd *r, struct sqlite_rows *q, int64_t *id, struct span_def *d)
{
	int64_t gpu, queue = sqlite_rows_i64_or(q, OP_QUEUE, 0);

	if (!sqlite_rows_i64(q, OP_ID, id) || !sqlite_rows_i64(q, OP_GPU, &gpu) || gpu < 0 ||
	    !sqlite_rows_i64(q, OP_START, &d->start_ns)) {
		db_scan_bad(&r->sc, q, "work without an id, a device or a start");
		return false;
	}
	if (d->start_ns == 0) {
		db_scan_bad(&r->sc, q, "work whose start is 0: it was never stamped");
		return false;
	}
	if (!sqlite_rows_i64(q, OP_END, &d->end_ns)) {
		db_scan_bad(&r->sc, q, "work without an end; it has no length");
		d->end_ns = d->start_ns;
	}
	d->track = queue_of(r, gpu, queue, rpd_slot_of(*id));
	return true;
}

/* What launched the op, or the op itself (version 1), has its arguments. */
static str_id op_args(struct rpd *r, int64_t id, uint32_t launch)
{
	const char *text;

	if (r->sc.keep_args) {
		text = r->version == 1 ? rpd_launch_args(r, id) : NULL;
		return text ? sink_puts(r->sc.sink, text) : STR_NONE;
	}
	if (r->version > 1 && launch == SQLITE_ID_NONE)
		return STR_NONE;
	return sqlite_ids_get(&r->shape_at, r->version > 1 ? r->launches.v[launch] : id);
}

static void push_op(struct rpd *r, struct sqlite_rows *q, int64_t id, struct span_def *d)
{
	int64_t type = sqlite_rows_i64_or(q, OP_TYPE, 0), name = sqlite_rows_i64_or(q, OP_NAME, 0);
	uint32_t launch = sqlite_ids_get(&r->op_launch, id), extra;
	span_id span;

	d->kind = kind_of(r, type);
	d->category = rpd_known(r, type)->name;
	d->name = name == 0 ? r->empty : rpd_known(r, name)->name;
	if (d->name == r->empty)
		d->name = d->category;
	d->correlation = launch == SQLITE_ID_NONE ? 0 : (uint64_t)r->launches.v[launch] + 1;
	d->args = op_args(r, id, launch);
	span = r->sc.sink->ops->span(r->sc.sink, d);
	if (r->sc.facts)
		op_facts(r, id, launch, d->kind, span);
	r->n.unlinked += launch == SQLITE_ID_NONE && d->kind != SPAN_ANNOTATION;
	r->n.found_ops += launch != SQLITE_ID_NONE;
	if (r->extras.nr > 0 && (extra = sqlite_ids_get(&r->extra_ops, id)) != SQLITE_ID_NONE)
		r->extras.v[extra].op_span = span;
}

static bool take_op(void *vp, struct sqlite_rows *q)
{
	struct rpd *r = vp;
	struct span_def d = { .kind = SPAN_KERNEL };
	int64_t id;

	r->n.ops++;
	if (op_read(r, q, &id, &d))
		push_op(r, q, id, &d);
	return true;
}

void rpd_ops_read(struct rpd *r)
{
	static const struct db_table t = { "rocpd_op",
					   "id gpuId queueId? start end description_id? opType_id?",
					   .take = take_op, .required = true };
	uint64_t damaged = r->sc.damaged;

	db_scan_table(&r->sc, &t, r);
	/* a table that ends early loses more than its rows */
	if (r->sc.damaged == damaged && r->launches.nr > r->n.found_ops)
		r->n.lost_ops = r->launches.nr - r->n.found_ops;
	push_extras(r);
	r->sc.sink->ops->current(r->sc.sink)->driver_numbers = !r->cuda;
}

void rpd_ops_release(struct rpd *r)
{
	for (size_t i = 0; i < r->args_of.nr; i++)
		free(r->args_of.v[i]);
	VEC_RELEASE(&r->args_of);
	VEC_RELEASE(&r->facts);
	sqlite_ids_release(&r->fact_at);
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
	sqlite_ids_release(&r->shape_at);
	sqlite_ids_release(&r->slot_at);
	u64map_release(&r->queue_at);
}
