/*
 * Kineto (PyTorch): device work has pid = device and tid = stream, and says so again in args; its
 * category tells kernel, copy and fill apart. Runtime calls and the work they launch share
 * args.correlation. Older files have only "External id" for it. What frameworks project on the
 * device (gpu_user_annotation) has neither: it lies on the queue that work of the same pid and tid
 * names. Files merged from several ranks carry args.rank and have made pids unique. One "Trace" of
 * a made-up process spans all that the profiler recorded: it is a mark and no call, else a thread
 * that never rests would take its part of everything.
 *
 * Other accelerators write the same with words of their own: calls are of a category that ends in
 * _runtime or _driver (mtia_runtime, xpu_driver, privateuse1_runtime; of late just these words),
 * MTIA's device work is mtia_ccp_events. Their devices count as gpuN too.
 *
 * A time of 0 in a trace that otherwise has dates: the work was never timed, and would stretch the
 * trace by decades. It is left out.
 *
 * rocprof v1: pid is a kind of activity ("CPU HIP API", "COPY", "GPU0"), the real pid and tid and
 * exact times stand in args. ts and dur are whole µs with dur 0 raised to 1, so they are not used.
 */
#include "tef.h"

#include <inttypes.h>

#include "profrig/num.h"

enum kineto_class {
	CLASS_OTHER,
	CLASS_KERNEL,
	CLASS_COPY,
	CLASS_FILL,
	CLASS_NOTE,
	CLASS_RUNTIME,
	CLASS_WINDOW
};

static bool starts_with(const struct json_text *t, const char *s)
{
	return t->n >= strlen(s) && memcmp(t->p, s, strlen(s)) == 0;
}

static bool ends_with(const struct json_text *t, const char *s)
{
	size_t n = strlen(s);

	return t->n > n && memcmp(t->p + t->n - n, s, n) == 0;
}

static enum kineto_class kineto_class(const struct json_text *cat)
{
	static const struct {
		const char *cat;
		enum kineto_class class;
	} known[] = {
		{ "kernel", CLASS_KERNEL },
		{ "Kernel", CLASS_KERNEL },
		{ "concurrent_kernel", CLASS_KERNEL },
		{ "mtia_ccp_events", CLASS_KERNEL },
		{ "gpu_memcpy", CLASS_COPY },
		{ "Memcpy", CLASS_COPY },
		{ "gpu_memset", CLASS_FILL },
		{ "Memset", CLASS_FILL },
		{ "gpu_user_annotation", CLASS_NOTE },
		{ "cuda_sync", CLASS_NOTE },
		{ "cuda_event", CLASS_NOTE },
		{ "xpu_sync", CLASS_NOTE },
		{ "cuda_runtime", CLASS_RUNTIME },
		{ "cuda_driver", CLASS_RUNTIME },
		{ "Runtime", CLASS_RUNTIME },
		{ "runtime", CLASS_RUNTIME },
		{ "driver", CLASS_RUNTIME },
		{ "Trace", CLASS_WINDOW },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (json_text_is(cat, known[i].cat))
			return known[i].class;
	return ends_with(cat, "_runtime") || ends_with(cat, "_driver") ? CLASS_RUNTIME
								       : CLASS_OTHER;
}

static bool is_work(enum kineto_class class)
{
	return class == CLASS_KERNEL || class == CLASS_COPY || class == CLASS_FILL;
}

struct kineto_args {
	struct tef_id device, stream;
	struct json_text correlation, external;
	int32_t rank;
};

/* Members of args; what is broken inside is as good as absent. */
static int next_arg(struct json_cur *c, bool *some, struct json_text *key, struct json_text *value)
{
	int r;

	while ((r = json_member(c, some, key)) > 0) {
		char ch = json_peek(c);

		if (ch == '{' || ch == '[')
			r = json_skip(c);
		else if ((r = json_scalar(c, value)) == 0)
			return 1;
		if (r < 0)
			return 0;
	}
	return 0;
}

static bool open_args(const struct tef_event *ev, struct json_cur *c)
{
	*c = json_cur_of(&ev->args);
	return ev->args.p && json_open(c, '{') == 0;
}

static struct kineto_args kineto_args(const struct tef *t, const struct tef_event *ev)
{
	static const struct json_text absent = { .p = NULL };
	struct kineto_args a = { .rank = t->doc.rank };
	struct json_text key, value;
	struct json_cur c;
	bool some = false;

	a.device = a.stream = tef_id_of(&absent);
	if (!open_args(ev, &c))
		return a;
	while (next_arg(&c, &some, &key, &value)) {
		int64_t rank;

		if (json_text_is(&key, "device"))
			a.device = tef_id_of(&value);
		else if (json_text_is(&key, "stream"))
			a.stream = tef_id_of(&value);
		else if (json_text_is(&key, "correlation"))
			a.correlation = value;
		else if (json_text_is(&key, "External id") || json_text_is(&key, "external id"))
			a.external = value;
		else if (json_text_is(&key, "rank") && num_i64(value.p, value.n, &rank) == 0 &&
			 rank >= 0 && rank <= INT32_MAX)
			a.rank = (int32_t)rank;
	}
	return a;
}

/* Every rank of a merged file counts its correlations from the start. */
static uint64_t kineto_correlation(const struct tef *t, const struct kineto_args *a)
{
	const struct json_text *text = a->correlation.p ? &a->correlation : &a->external;
	uint64_t v;

	if (!text->p || num_u64(text->p, text->n, &v) < 0 || v == 0)
		return 0;
	return a->rank == t->doc.rank ? v : v ^ (uint64_t)(uint32_t)(a->rank + 1) << 40;
}

static void device_name(const struct tef *t, const struct tef_id *id, char *buf, size_t n)
{
	if (id->type == TEF_ID_NUMBER && id->number < 65536)
		snprintf(buf, n, "gpu%" PRId64, id->number);
	else
		snprintf(buf, n, "%.20s", t->opts->device ? t->opts->device : "gpu0");
}

static void keep_late(struct tef *t, const struct tef_event *ev, const struct kineto_args *a,
		      const struct span_def *d)
{
	VEC_PUSH(&t->late,
		 (struct tef_late){ .pid = ev->pid, .tid = ev->tid, .rank = a->rank, .span = *d });
}

bool tef_kineto_span(struct tef *t, const struct tef_event *ev)
{
	enum kineto_class class = kineto_class(&ev->cat);
	struct span_def d = { .kind = SPAN_HOST };
	struct kineto_args a;
	char device[32];

	if (class == CLASS_OTHER)
		return false;
	if (!tef_extent(t, ev, &d.start_ns, &d.end_ns))
		return true;
	if (is_work(class) && d.start_ns == t->doc.base_ns &&
	    t->doc.clock == TRACE_CLOCK_REALTIME) {
		tef_bad_event(t, "device work whose time is 0");
		return true;
	}
	a = kineto_args(t, ev);
	d.name = tef_string(t, &ev->name);
	d.category = tef_string(t, &ev->cat);
	d.args = tef_args(t, &ev->args);
	d.correlation =
		class == CLASS_NOTE || class == CLASS_WINDOW ? 0 : kineto_correlation(t, &a);
	if (class == CLASS_RUNTIME) {
		tef_span(t, tef_thread(t, &ev->pid, &ev->tid), &d);
		return true;
	}
	if (class == CLASS_WINDOW) {
		d.kind = SPAN_ANNOTATION;
		tef_span(t, tef_window(t, &ev->pid, &ev->tid), &d);
		return true;
	}
	d.kind = class == CLASS_KERNEL ? SPAN_KERNEL
		 : class == CLASS_COPY ? SPAN_COPY
		 : class == CLASS_FILL ? SPAN_FILL
				       : SPAN_ANNOTATION;
	if (class == CLASS_NOTE && a.device.type == TEF_ID_NONE) {
		keep_late(t, ev, &a, &d);
		return true;
	}
	device_name(t, a.device.type == TEF_ID_NONE ? &ev->pid : &a.device, device, sizeof(device));
	tef_span(t,
		 tef_queue(t, tef_place_key(&ev->pid, &ev->tid), device,
			   a.stream.type == TEF_ID_NONE ? &ev->tid : &a.stream, a.rank),
		 &d);
	return true;
}

void tef_late_push(struct tef *t)
{
	for (size_t i = 0; i < t->late.nr; i++) {
		struct tef_late *l = &t->late.v[i];
		tef_slot slot = u64map_get(&t->places, tef_place_key(&l->pid, &l->tid));
		char device[32];

		if (slot == TEF_SLOT_NONE || t->tracks.v[slot].def.kind != TRACK_QUEUE) {
			device_name(t, &l->pid, device, sizeof(device));
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

	switch (kineto_class(&ev->cat)) {
	case CLASS_OTHER:
		return json_text_is(&ev->cat, "cpu_op") || json_text_is(&ev->cat, "ac2g") ||
		       json_text_is(&ev->cat, "user_annotation");
	case CLASS_NOTE:
		return 1;
	default:
		break;
	}
	if (starts_with(&ev->cat, "mtia_"))
		return 2;
	/* "kernel" alone might be an operating system's. */
	if (!open_args(ev, &c))
		return 0;
	while (next_arg(&c, &some, &key, &value))
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
	static const struct json_text absent = { .p = NULL };
	struct rocprof_args a = { .pid = tef_id_of(&absent) };
	struct json_text key, value;
	struct json_cur c;
	bool some = false;

	a.tid = a.device = a.stream = a.pid;
	if (!open_args(ev, &c))
		return a;
	while (next_arg(&c, &some, &key, &value)) {
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

/* Which activity this is: GPU<n>, COPY and OPS run on a device, the rest on the host. */
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
	d.name = tef_string(t, &ev->name);
	d.category = activity ? sink_puts(t->sink, activity) : tef_string(t, &ev->cat);
	d.args = tef_args(t, &ev->args);
	if (!activity || !rocprof_on_device(activity, ev, &kind)) {
		tef_slot slot =
			tef_thread_at(t, place, a.pid.type == TEF_ID_NONE ? &ev->pid : &a.pid,
				      a.tid.type == TEF_ID_NONE ? &ev->tid : &a.tid);

		*u64map_at(&t->places, place) = slot;
		tef_span(t, slot, &d);
		return true;
	}
	d.kind = kind;
	if (a.device.type == TEF_ID_NONE && strncmp(activity, "GPU", 3) == 0) {
		struct json_text digits = { .p = activity + 3,
					    .n = strspn(activity + 3, "0123456789") };

		a.device = tef_id_of(&digits);
	}
	device_name(t, &a.device, device, sizeof(device));
	tef_span(t,
		 tef_queue(t, place, device, a.stream.type == TEF_ID_NONE ? &ev->tid : &a.stream,
			   t->doc.rank),
		 &d);
	return true;
}

int tef_rocprof_signal(const struct tef_event *ev)
{
	struct rocprof_args a = rocprof_args(ev);

	return a.begin.p && a.end.p ? 2 : 0;
}
