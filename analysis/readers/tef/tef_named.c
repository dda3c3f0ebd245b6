/*
 * Timelines with devices in names only: there are no categories, and pids are made up.
 *
 * TensorFlow: a process for each stream, named "/device:GPU:0/stream:7 Compute" or
 * "/gpu:0/context#0/stream#7:Kernel Compute"; copies are in "/device:GPU:0/memcpy Compute". Newer
 * files have a process for each device, "/device:GPU:0", with threads named "Stream #7(Compute)".
 * JAX's profiler is the same one (tef_xla.c has its lines and args). "stream:all" and "memcpy"
 * repeat the numbered streams, where there are such: then their spans are shown, but are no work.
 * "/job:…/device:GPU:0 Compute" has the host's times of operators.
 *
 * Ascend (msprof, torch_npu): the process "Ascend Hardware", labelled "NPU 3", has threads named
 * "Stream 7"; args["Task Type"] gives operators, copies and waits of streams. Flows lead from the
 * calls of CANN to their work.
 */
#include "tef.h"

static const char ascend[] = "Ascend Hardware";

/* The digits at p as text. */
static struct json_text digits_at(const char *p)
{
	return (struct json_text){ .p = p, .n = strspn(p, "0123456789") };
}

/* The position behind the last of the words in name; NULL without any. */
static const char *text_behind(const char *name, const char *const *words)
{
	for (; *words; words++) {
		const char *at = strstr(name, *words);

		if (at)
			return at + strlen(*words);
	}
	return NULL;
}

static const char *device_in(const char *name)
{
	static const char *const words[] = { "/device:GPU:", "/gpu:", NULL };
	const char *p = text_behind(name, words);

	return p && digits_at(p).n > 0 ? p : NULL;
}

/* The stream's number or word, in the name of a process or of a thread. */
static const char *stream_in(const char *name)
{
	static const char *const words[] = { "/stream:", "/stream#", NULL };
	static const char thread[] = "Stream #";

	if (strncmp(name, thread, sizeof(thread) - 1) == 0)
		return name + sizeof(thread) - 1;
	return text_behind(name, words);
}

bool tef_tensorflow_signal(struct tef *t, const struct tef_event *ev)
{
	const char *name;
	bool process = json_text_is(&ev->name, "process_name");

	if (!process && !json_text_is(&ev->name, "thread_name"))
		return false;
	name = tef_said(t, ev, "name");
	if (!name)
		return false;
	if (process ? strcmp(name, "/host:CPU") == 0
		    : tef_line_of(name) != TEF_LINE_NONE && strcmp(name, "Steps") != 0)
		return true;
	if (process && !device_in(name))
		return false;
	return stream_in(name) || (process && strstr(name, "/memcpy"));
}

bool tef_ascend_signal(struct tef *t, const struct tef_event *ev)
{
	const char *name = json_text_is(&ev->name, "process_name") ? tef_said(t, ev, "name") : NULL;

	return name && strncmp(name, ascend, sizeof(ascend) - 1) == 0;
}

/* Whether the file has numbered streams of the device. */
static bool has_numbers(const struct tef *t, const char *device)
{
	struct json_text want = digits_at(device);

	for (size_t i = 0; i < t->names.nr; i++) {
		const char *of = device_in(t->names.v[i]), *stream = stream_in(t->names.v[i]);
		struct json_text is = of ? digits_at(of) : want;

		if (stream && digits_at(stream).n > 0 && is.n == want.n &&
		    memcmp(is.p, want.p, is.n) == 0)
			return true;
	}
	return false;
}

static tef_slot queue_of(struct tef *t, uint64_t place, const struct json_text *device,
			 const struct json_text *stream, const struct tef_id *tid)
{
	struct tef_id number = tef_id_of(device);
	struct tef_id queue = stream->n > 0 ? tef_id_of(stream) : *tid;
	char name[32];

	tef_device_name(t, &number, name, sizeof(name));
	return tef_queue(t, place, name, &queue, t->doc.rank);
}

static struct tef_named tensorflow_place(struct tef *t, uint64_t place, const struct tef_id *pid,
					 const struct tef_id *tid)
{
	const char *process = tef_process_name(t, pid), *thread = tef_thread_name(t, place);
	const char *device = process ? device_in(process) : NULL, *stream = NULL;
	struct tef_named n = { .queue = TEF_SLOT_NONE };
	struct json_text number, of;
	bool memcpy_only;

	if (thread && !device)
		device = device_in(thread);
	if (!device)
		return n;
	n.line = thread ? tef_line_of(thread) : TEF_LINE_NONE;
	if (n.line != TEF_LINE_NONE) {
		of = digits_at(device);
		number = (struct json_text){ .p = thread, .n = strlen(thread) };
		n.again = true;
		n.queue = queue_of(t, place, &of, &number, tid);
		tef_name_as(t, n.queue, place);
		return n;
	}
	stream = process ? stream_in(process) : NULL;
	if (!stream && thread)
		stream = stream_in(thread);
	memcpy_only = process && strstr(process, "/memcpy");
	if (!stream && !memcpy_only)
		return n;
	of = digits_at(device);
	number = stream ? digits_at(stream) : (struct json_text){ .p = NULL };
	n.copies = memcpy_only || (stream && strncmp(stream + number.n, ":Memcpy", 7) == 0);
	n.again = number.n == 0 && has_numbers(t, device);
	if (number.n == 0)
		number = memcpy_only ? (struct json_text){ .p = "memcpy", .n = 6 }
				     : (struct json_text){ .p = "all", .n = 3 };
	n.queue = queue_of(t, place, &of, &number, tid);
	return n;
}

static struct tef_named ascend_place(struct tef *t, uint64_t place, const struct tef_id *pid,
				     const struct tef_id *tid)
{
	const char *process = tef_process_name(t, pid), *thread = tef_thread_name(t, place);
	const char *label = tef_process_label(t, pid);
	struct tef_named n = { .queue = TEF_SLOT_NONE };
	struct json_text device = { .p = NULL }, stream = { .p = NULL };

	if (!process || strncmp(process, ascend, sizeof(ascend) - 1) != 0)
		return n;
	if (label && strncmp(label, "NPU ", 4) == 0)
		device = digits_at(label + 4);
	if (thread && strncmp(thread, "Stream ", 7) == 0)
		stream = digits_at(thread + 7);
	if (device.n == 0)
		device.p = NULL;
	n.queue = queue_of(t, place, &device, &stream, tid);
	return n;
}

static struct tef_named *named_at(struct tef *t, const struct tef_id *pid, const struct tef_id *tid)
{
	uint64_t place = tef_place_key(pid, tid);
	uint32_t at = u64map_get(&t->named_at, place);

	if (at == U64MAP_NONE) {
		struct tef_named n = t->doc.dialect == TEF_ASCEND
					     ? ascend_place(t, place, pid, tid)
					     : tensorflow_place(t, place, pid, tid);

		at = (uint32_t)t->named.nr;
		VEC_PUSH(&t->named, n);
		*u64map_at(&t->named_at, place) = at;
	}
	return &t->named.v[at];
}

static bool text_begins(const char *p, size_t n, const char *word)
{
	size_t len = strlen(word);

	return n >= len && strncasecmp(p, word, len) == 0;
}

static enum span_kind tensorflow_kind(const struct tef_named *n, const char *name, size_t len)
{
	if (n->again)
		return SPAN_ANNOTATION;
	if (n->copies || text_begins(name, len, "memcpy"))
		return SPAN_COPY;
	return text_begins(name, len, "memset") ? SPAN_FILL : SPAN_KERNEL;
}

/* A task's type; older files have none where the name is just that. */
static enum span_kind ascend_kind(const char *type, size_t len)
{
	static const char *const idle[] = { "_WAIT", "_RECORD", "PROFILING_" };

	for (size_t i = 0; i < ARRAY_LEN(idle); i++)
		if (memmem(type, len, idle[i], strlen(idle[i])))
			return SPAN_ANNOTATION;
	return text_begins(type, len, "MEMCPY") || text_begins(type, len, "SDMA") ||
			       text_begins(type, len, "PCIE_DMA")
		       ? SPAN_COPY
		       : SPAN_KERNEL;
}

bool tef_named_put(struct tef *t, const struct tef_event *ev, struct span_def *d)
{
	const struct tef_id *tid = ev->tid.type == TEF_ID_NONE ? &ev->pid : &ev->tid;
	const struct tef_named *n;
	const char *type;

	if (t->doc.dialect != TEF_ASCEND && t->doc.dialect != TEF_TENSORFLOW)
		return false;
	n = named_at(t, &ev->pid, tid);
	if (n->queue == TEF_SLOT_NONE && t->doc.dialect == TEF_TENSORFLOW && tef_xla_tells(ev)) {
		tef_xla_put(t, ev, n, tef_thread(t, &ev->pid, &ev->tid), d);
		return true;
	}
	if (n->queue == TEF_SLOT_NONE)
		return false;
	if (t->doc.dialect == TEF_TENSORFLOW) {
		d->kind = tensorflow_kind(n, ev->name.p ? ev->name.p : "", ev->name.n);
		tef_xla_put(t, ev, n, n->queue, d);
		return true;
	}
	type = tef_said(t, ev, "Task Type");
	d->kind = type ? ascend_kind(type, strlen(type))
		       : ascend_kind(ev->name.p ? ev->name.p : "", ev->name.n);
	tef_span(t, n->queue, d);
	return true;
}
