/*
 * Kineto (PyTorch): device work has pid = device and tid = stream, repeated in args; its category
 * gives kernel, copy or fill. Runtime calls and the work they launch share args.correlation. Older
 * files have only "External id" for it, which elsewhere numbers operators and never equals a
 * correlation. Annotations that frameworks project on the device (gpu_user_annotation) have
 * neither: they are on the queue of the work of the same pid and tid. Files merged from several
 * ranks have args.rank and unique pids. One "Trace" of a made-up process spans the whole recording:
 * it is a mark and no call, else a thread that is always busy would take part of everything.
 *
 * Other accelerators use other words: calls have a category that ends in _runtime or _driver
 * (mtia_runtime, xpu_driver, privateuse1_runtime; newer files just these words), MTIA's device work
 * is mtia_ccp_events, except its "event_wait", which waits for another. Their devices count as gpuN
 * too.
 *
 * Work with a time of 0 in a trace with dates was never timed, and would stretch the trace by
 * decades. It is left out, and so are records of events (cuda_event) that CUPTI did not time.
 *
 * rocprof v1: pid is a kind of activity ("CPU HIP API", "COPY", "GPU0"); the real pid and tid and
 * exact times are in args. ts and dur are whole µs with dur 0 raised to 1, so they are not used.
 */
#include "tef.h"

#include <inttypes.h>

#include "profrig/base/num.h"

static bool starts_with(const struct json_text *t, const char *s)
{
	return t->n >= strlen(s) && memcmp(t->p, s, strlen(s)) == 0;
}

static bool ends_with(const struct json_text *t, const char *s)
{
	size_t n = strlen(s);

	return t->n > n && memcmp(t->p + t->n - n, s, n) == 0;
}

enum tef_class tef_kineto_class(const struct json_text *cat)
{
	static const struct {
		const char *cat;
		enum tef_class class;
	} known[] = {
		{ "kernel", TEF_CLASS_KERNEL },
		{ "Kernel", TEF_CLASS_KERNEL },
		{ "concurrent_kernel", TEF_CLASS_KERNEL },
		{ "mtia_ccp_events", TEF_CLASS_KERNEL },
		{ "gpu_memcpy", TEF_CLASS_COPY },
		{ "Memcpy", TEF_CLASS_COPY },
		{ "gpu_memset", TEF_CLASS_FILL },
		{ "Memset", TEF_CLASS_FILL },
		{ "gpu_user_annotation", TEF_CLASS_NOTE },
		{ "cuda_sync", TEF_CLASS_NOTE },
		{ "cuda_event", TEF_CLASS_NOTE },
		{ "xpu_sync", TEF_CLASS_NOTE },
		{ "cuda_runtime", TEF_CLASS_RUNTIME },
		{ "cuda_driver", TEF_CLASS_RUNTIME },
		{ "Runtime", TEF_CLASS_RUNTIME },
		{ "runtime", TEF_CLASS_RUNTIME },
		{ "driver", TEF_CLASS_RUNTIME },
		{ "Trace", TEF_CLASS_WINDOW },
		{ "ac2g", TEF_CLASS_LAUNCH },
		{ "cpu_op", TEF_CLASS_OP },
		{ "Operator", TEF_CLASS_OP },
		{ "user_annotation", TEF_CLASS_OP },
		{ "python_function", TEF_CLASS_PYTHON },
		{ "cpu_instant_event", TEF_CLASS_MEMORY },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (json_text_is(cat, known[i].cat))
			return known[i].class;
	return ends_with(cat, "_runtime") || ends_with(cat, "_driver") ? TEF_CLASS_RUNTIME
								       : TEF_CLASS_OTHER;
}

static bool is_work(enum tef_class class)
{
	return class == TEF_CLASS_KERNEL || class == TEF_CLASS_COPY || class == TEF_CLASS_FILL;
}

enum tef_arg tef_arg_of(const struct json_text *key, bool facts)
{
	static const struct {
		const char *name;
		enum tef_arg arg;
	} known[] = {
		{ "device", TEF_ARG_DEVICE },           { "stream", TEF_ARG_STREAM },
		{ "correlation", TEF_ARG_CORRELATION }, { "External id", TEF_ARG_EXTERNAL },
		{ "external id", TEF_ARG_EXTERNAL },    { "rank", TEF_ARG_RANK },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (json_text_is(key, known[i].name))
			return known[i].arg;
	return facts ? tef_fact_arg(key) : TEF_ARG_OTHER;
}

static uint64_t number_or_none(const struct json_text *text)
{
	uint64_t v;

	return num_u64(text->p, text->n, &v) < 0 ? 0 : v;
}

void tef_arg_take(struct tef_args *a, enum tef_arg arg, const struct json_text *value)
{
	int64_t rank;

	switch (arg) {
	case TEF_ARG_DEVICE:
		a->device = tef_id_of(value);
		break;
	case TEF_ARG_STREAM:
		a->stream = tef_id_of(value);
		break;
	case TEF_ARG_CORRELATION:
		a->has_correlation = true;
		a->correlation = number_or_none(value);
		break;
	case TEF_ARG_EXTERNAL:
		if (!a->has_correlation)
			a->correlation = number_or_none(value);
		break;
	case TEF_ARG_RANK:
		if (num_i64(value->p, value->n, &rank) == 0 && rank >= 0 && rank <= INT32_MAX)
			a->rank = (int32_t)rank;
		break;
	case TEF_ARG_OTHER:
	case TEF_ARG_FACTS:
	case TEF_ARG_END:
		break;
	}
}

struct tef_args tef_kineto_args(const struct tef_doc *doc, const struct json_text *args)
{
	struct tef_args a = { .rank = doc->rank };
	struct json_text key, value;
	struct json_cur c;
	bool some = false;

	if (!json_object_of(args, &c))
		return a;
	while (json_scalar_member(&c, &some, &key, &value) > 0)
		tef_arg_take(&a, tef_arg_of(&key, false), &value);
	return a;
}

/* External ids are counted apart from correlations. */
#define EXTERNAL (UINT64_C(1) << 63)

uint64_t tef_kineto_correlation(const struct tef *t, const struct tef_args *a)
{
	uint64_t v = a->correlation;

	if (v == 0)
		return 0;
	if (a->rank != t->doc.rank)
		v ^= (uint64_t)(uint32_t)(a->rank + 1) << 40;
	return a->has_correlation ? v : v ^ EXTERNAL;
}

/* The number that a word such as "GPU 3" or "cuda:3" ends in. */
static bool number_in(const char *word, size_t n, int64_t *ret)
{
	size_t at = n;

	while (at > 0 && word[at - 1] >= '0' && word[at - 1] <= '9')
		at--;
	return at > 0 && word[0] != '-' && at < n && num_i64(word + at, n - at, ret) == 0;
}

void tef_device_name(const struct tef *t, const struct tef_id *id, char *buf, size_t n)
{
	int64_t v;

	if ((tef_id_number(id, &v) || (id->type == TEF_ID_WORD && number_in(id->p, id->n, &v))) &&
	    v < 65536)
		snprintf(buf, n, "gpu%" PRId64, v);
	else
		snprintf(buf, n, "%.20s", t->opts->device ? t->opts->device : "gpu0");
}

static void keep_late(struct tef *t, const struct tef_event *ev, const struct tef_args *a,
		      const struct span_def *d)
{
	VEC_PUSH(&t->late,
		 (struct tef_late){ .pid = ev->pid, .tid = ev->tid, .rank = a->rank, .span = *d });
}

/* The queue of device work, by args, else by its pid and tid. */
static tef_slot kineto_queue(struct tef *t, const struct tef_event *ev, const struct tef_args *a)
{
	const struct tef_id *device = a->device.type == TEF_ID_NONE ? &ev->pid : &a->device;
	const struct tef_id *stream = a->stream.type == TEF_ID_NONE ? &ev->tid : &a->stream;
	tef_slot slot = tef_memo_queue(t->memo, ev, a, t->places_changed);
	char name[32];

	if (slot != TEF_SLOT_NONE)
		return slot;
	tef_device_name(t, device, name, sizeof(name));
	slot = tef_queue(t, tef_place_key(&ev->pid, &ev->tid), name, stream, a->rank);
	tef_memo_queue_add(t->memo, ev, a, t->places_changed, slot);
	return slot;
}

enum tef_class tef_kineto_class_of(const struct tef_event *ev)
{
	enum tef_class class = ev->class ? ev->class : tef_kineto_class(&ev->cat);

	if (class == TEF_CLASS_KERNEL && starts_with(&ev->cat, "mtia_") &&
	    json_text_is(&ev->name, "event_wait"))
		return TEF_CLASS_NOTE;
	return class;
}

bool tef_kineto_put(struct tef *t, const struct tef_event *ev, enum tef_class class,
		    const struct tef_args *a, struct span_def *d)
{
	span_id span;

	if (!tef_class_is_kineto(class))
		return false;
	if ((is_work(class) || class == TEF_CLASS_NOTE) && d->start_ns == t->doc.base_ns &&
	    t->doc.clock == TRACE_CLOCK_REALTIME) {
		tef_bad_event(t, is_work(class) ? "device work whose time is 0"
						: "a note on a device whose time is 0");
		return true;
	}
	if (class == TEF_CLASS_WINDOW) {
		d->kind = SPAN_ANNOTATION;
		tef_span(t, tef_window(t, &ev->pid, &ev->tid), d);
		return true;
	}
	d->correlation = class == TEF_CLASS_NOTE ? 0 : tef_kineto_correlation(t, a);
	if (class == TEF_CLASS_RUNTIME) {
		span = tef_span(t, tef_thread(t, &ev->pid, &ev->tid), d);
		tef_facts_put(t, ev, class, d->name, span);
		return true;
	}
	d->kind = class == TEF_CLASS_KERNEL ? SPAN_KERNEL
		  : class == TEF_CLASS_COPY ? SPAN_COPY
		  : class == TEF_CLASS_FILL ? SPAN_FILL
					    : SPAN_ANNOTATION;
	if (class == TEF_CLASS_NOTE && a->device.type == TEF_ID_NONE) {
		keep_late(t, ev, a, d);
		return true;
	}
	span = tef_span(t, kineto_queue(t, ev, a), d);
	tef_facts_put(t, ev, class, d->name, span);
	if (t->flex && ev->at)
		tef_flex_note(t, ev, a->device.type == TEF_ID_NONE ? &ev->pid : &a->device, d,
			      span);
	return true;
}

static str_id kernel_args(struct tef *t, const struct tef_event *ev)
{
	struct launch_shape shape = { { 0 } };

	return t->opts->keep_shapes && !t->opts->keep_args && tef_facts_shape(ev, &shape)
		       ? launch_shapes_put(&t->launches, t->sink, &shape)
		       : tef_kernel_args(t, &ev->args);
}

bool tef_kineto_span(struct tef *t, const struct tef_event *ev)
{
	enum tef_class class = tef_kineto_class_of(ev);
	struct span_def d = { .kind = SPAN_HOST };
	struct tef_args read;
	const struct tef_args *a = &ev->kineto;

	if (!tef_class_is_kineto(class))
		return false;
	if (!tef_extent(t, ev, &d.start_ns, &d.end_ns))
		return true;
	if (!ev->args_known) {
		read = tef_kineto_args(&t->doc, &ev->args);
		a = &read;
	}
	d.name = tef_name_of(t, ev);
	d.category = tef_category_of(t, ev);
	d.args = class == TEF_CLASS_KERNEL ? kernel_args(t, ev) : tef_args(t, &ev->args);
	return tef_kineto_put(t, ev, class, a, &d);
}

void tef_late_push(struct tef *t)
{
	for (size_t i = 0; i < t->late.nr; i++) {
		struct tef_late *l = &t->late.v[i];
		tef_slot slot = u64map_get(&t->places, tef_place_key(&l->pid, &l->tid));
		char device[32];

		if (slot == TEF_SLOT_NONE || t->tracks.v[slot].def.kind != TRACK_QUEUE) {
			tef_device_name(t, &l->pid, device, sizeof(device));
			slot = tef_queue(t, 0, device, &l->tid, l->rank);
		}
		tef_span(t, slot, &l->span);
	}
}

int tef_kineto_signal(const struct tef_event *ev)
{
	struct json_text key, value;
	struct json_cur c;
	bool some = false;

	switch (tef_kineto_class(&ev->cat)) {
	case TEF_CLASS_OP:
		return 1;
	case TEF_CLASS_OTHER:
	case TEF_CLASS_PYTHON:
	case TEF_CLASS_MEMORY:
		return 0;
	case TEF_CLASS_LAUNCH:
	case TEF_CLASS_NOTE:
		return 1;
	default:
		break;
	}
	if (starts_with(&ev->cat, "mtia_"))
		return 2;
	/* "kernel" alone might be an operating system's. */
	if (!json_object_of(&ev->args, &c))
		return 0;
	while (json_scalar_member(&c, &some, &key, &value) > 0)
		if (json_text_is(&key, "correlation") || json_text_is(&key, "stream") ||
		    json_text_is(&key, "External id"))
			return 2;
	return 0;
}

struct rocprof_args {
	struct json_text begin, end;
	struct tef_id pid, tid, device, stream;
};

static struct rocprof_args rocprof_args(const struct tef_event *ev)
{
	struct rocprof_args a = { .pid.type = TEF_ID_NONE };
	struct json_text key, value;
	struct json_cur c;
	bool some = false;

	if (!json_object_of(&ev->args, &c))
		return a;
	while (json_scalar_member(&c, &some, &key, &value) > 0) {
		if (json_text_is(&key, "BeginNs"))
			a.begin = value;
		else if (json_text_is(&key, "EndNs"))
			a.end = value;
		else if (json_text_is(&key, "pid"))
			a.pid = tef_id_of(&value);
		else if (json_text_is(&key, "tid"))
			a.tid = tef_id_of(&value);
		else if (json_text_is(&key, "dev-id"))
			a.device = tef_id_of(&value);
		else if (json_text_is(&key, "stream-id"))
			a.stream = tef_id_of(&value);
	}
	return a;
}

/* The kind of activity: GPU<n>, COPY and OPS run on a device, the rest on the host. */
static bool rocprof_on_device(const char *activity, const struct tef_event *ev,
			      enum span_kind *kind)
{
	if (strncmp(activity, "GPU", 3) != 0 && strcmp(activity, "COPY") != 0 &&
	    strcmp(activity, "OPS") != 0)
		return false;
	if (strstr(activity, "Barrier") || starts_with(&ev->name, "Barrier") ||
	    starts_with(&ev->name, "Marker"))
		*kind = SPAN_ANNOTATION;
	else if (starts_with(&ev->name, "Copy"))
		*kind = SPAN_COPY;
	else if (starts_with(&ev->name, "Fill"))
		*kind = SPAN_FILL;
	else
		*kind = activity[0] == 'C' ? SPAN_COPY : SPAN_KERNEL;
	return true;
}

bool tef_rocprof_span(struct tef *t, const struct tef_event *ev)
{
	const char *activity = tef_process_name(t, &ev->pid);
	uint64_t place = tef_place_key(&ev->pid, &ev->tid);
	struct rocprof_args a = rocprof_args(ev);
	struct span_def d = { .kind = SPAN_HOST };
	enum span_kind kind;
	char device[32];

	if (!a.begin.p || !a.end.p)
		return false;
	if (num_i64(a.begin.p, a.begin.n, &d.start_ns) < 0 ||
	    num_i64(a.end.p, a.end.n, &d.end_ns) < 0) {
		tef_bad_number(t, "BeginNs or EndNs", &a.begin);
		return true;
	}
	d.name = tef_name_of(t, ev);
	d.category = activity ? sink_puts(t->sink, activity) : tef_category_of(t, ev);
	d.args = tef_args(t, &ev->args);
	if (!activity || !rocprof_on_device(activity, ev, &kind)) {
		tef_slot slot =
			tef_thread_at(t, place, a.pid.type == TEF_ID_NONE ? &ev->pid : &a.pid,
				      a.tid.type == TEF_ID_NONE ? &ev->tid : &a.tid);

		tef_place_set(t, place, slot);
		tef_span(t, slot, &d);
		return true;
	}
	d.kind = kind;
	if (a.device.type == TEF_ID_NONE && strncmp(activity, "GPU", 3) == 0) {
		struct json_text digits = { .p = activity + 3,
					    .n = strspn(activity + 3, "0123456789") };

		a.device = tef_id_of(&digits);
	}
	tef_device_name(t, &a.device, device, sizeof(device));
	tef_span(t,
		 tef_queue(t, place, device, a.stream.type == TEF_ID_NONE ? &ev->tid : &a.stream,
			   t->doc.rank),
		 &d);
	return true;
}

int tef_rocprof_signal(const struct tef_event *ev)
{
	static const char key[] = "\"BeginNs\"";
	struct rocprof_args a;

	if (ev->ph != 'X' || !ev->args.p || !memmem(ev->args.p, ev->args.n, key, sizeof(key) - 1))
		return 0;
	a = rocprof_args(ev);
	return a.begin.p && a.end.p ? 2 : 0;
}
