/*
 * What the profiler of TensorFlow and JAX tells of compiled programs (XLA) in the args of its
 * events (tsl/profiler: xplane_schema.cc, trace_events_to_json.cc). All values may be strings.
 *
 *	hlo_module, hlo_op	module and operation of device work, or of the host's thunks on a
 *				CPU
 *	program_id, run_id	of the process; of an execution
 *	correlation_id		joins a call of the driver with its work
 *	kernel_details		"regs:16 static_shared:0 dynamic_shared:0 grid:8,1,1 block:256,1,1"
 *	memcpy_details		"kind_src:pageable kind_dst:device size:4096 dest:0 async:1"
 *	Memset_details		"kind:device size:16 async:1"
 *
 * Beside its streams a device has lines that the profiler derives of their work: "XLA Modules",
 * whose events are named "jit_f(ID)" by module and program id (or a fingerprint: a number above
 * 2^31), "XLA Ops", "Steps", "Framework Ops", "Framework Name Scope", "Launch Stats", "Source
 * code". They are annotations, for as work they would count twice.
 */
#include "tef.h"

#include "profrig/base/num.h"

enum xla_arg {
	XLA_ARG_MODULE,
	XLA_ARG_OP,
	XLA_ARG_PROGRAM,
	XLA_ARG_RUN,
	XLA_ARG_CORRELATION,
	XLA_ARG_KERNEL,
	XLA_ARG_COPY,
	XLA_ARG_FILL,
	XLA_ARGS
};
static const char *const arg_keys[XLA_ARGS] = { "hlo_module",     "hlo_op",
						"program_id",     "run_id",
						"correlation_id", "kernel_details",
						"memcpy_details", "Memset_details" };

struct xla_said {
	struct json_text v[XLA_ARGS]; /* p NULL: absent */
};

enum tef_line tef_line_of(const char *thread)
{
	static const struct {
		const char *name;
		enum tef_line line;
	} lines[] = {
		{ "XLA Modules", TEF_LINE_MODULES },    { "XLA Ops", TEF_LINE_OPS },
		{ "Async XLA Ops", TEF_LINE_OPS },      { "Steps", TEF_LINE_NOTES },
		{ "Framework Ops", TEF_LINE_NOTES },    { "Framework Name Scope", TEF_LINE_NOTES },
		{ "TensorFlow Ops", TEF_LINE_NOTES },   { "TensorFlow Name Scope", TEF_LINE_NOTES },
		{ "Launch Stats", TEF_LINE_NOTES },     { "Source code", TEF_LINE_NOTES },
		{ "Host Offload Ops", TEF_LINE_NOTES },
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		if (strcmp(thread, lines[i].name) == 0)
			return lines[i].line;
	return TEF_LINE_NONE;
}

/* ---- values ---- */

static void said_walk(const struct tef_event *ev, struct xla_said *ret)
{
	struct json_text key, value;
	struct json_cur c;
	bool some = false;

	if (!json_object_of(&ev->args, &c))
		return;
	while (json_scalar_member(&c, &some, &key, &value) > 0)
		for (size_t i = 0; i < XLA_ARGS; i++)
			if (json_text_is(&key, arg_keys[i]))
				ret->v[i] = value;
}

static int64_t said_number(struct tef *t, const struct xla_said *s, enum xla_arg arg)
{
	const struct json_text *text = &s->v[arg];
	uint64_t u;
	int64_t v;

	if (!text->p || (!text->quoted && json_text_is(text, "null")))
		return FACT_ABSENT;
	if (num_i64(text->p, text->n, &v) == 0)
		return v;
	if (num_u64(text->p, text->n, &u) == 0) /* a number of 64 bits without a sign */
		return (int64_t)u;
	tef_bad_number(t, arg_keys[arg], text);
	return FACT_ABSENT;
}

static str_id said_text(struct tef *t, const struct xla_said *s, enum xla_arg arg)
{
	const struct json_text *text = &s->v[arg];

	return text->p && text->n ? tef_string(t, text) : STR_NONE;
}

/* The value of "word:value" in a list of such words. */
static struct json_text detail(const struct json_text *list, const char *word)
{
	size_t n = strlen(word);
	const char *p = list->p, *end = list->p + list->n;

	while (p && (size_t)(end - p) > n) {
		const char *stop = memchr(p, ' ', (size_t)(end - p));

		if (memcmp(p, word, n) == 0 && p[n] == ':')
			return (struct json_text){ .p = p + n + 1,
						   .n = (size_t)((stop ? stop : end) - p) - n - 1 };
		p = stop ? stop + 1 : NULL;
	}
	return (struct json_text){ .p = NULL };
}

static int64_t detail_number(const struct json_text *list, const char *word)
{
	struct json_text text = detail(list, word);
	int64_t v;

	return text.p && num_i64(text.p, text.n, &v) == 0 ? v : FACT_ABSENT;
}

/* "8,1,1" */
static void detail_axes(const struct json_text *list, const char *word, int64_t *to)
{
	struct json_text text = detail(list, word);
	const char *p = text.p, *end = text.p ? text.p + text.n : NULL;

	for (int i = 0; i < 3 && p && p < end; i++) {
		const char *stop = memchr(p, ',', (size_t)(end - p));
		int64_t v;

		if (num_i64(p, (size_t)((stop ? stop : end) - p), &v) == 0)
			to[i] = v;
		p = stop ? stop + 1 : NULL;
	}
}

static enum memory_kind detail_memory(const struct json_text *list, const char *word)
{
	static const struct {
		const char *word;
		enum memory_kind kind;
	} known[] = { { "pageable", MEMORY_PAGEABLE }, { "pinned", MEMORY_PINNED },
		      { "device", MEMORY_DEVICE },     { "device_static", MEMORY_DEVICE },
		      { "managed", MEMORY_MANAGED },   { "managed_static", MEMORY_MANAGED },
		      { "array", MEMORY_ARRAY } };
	struct json_text text = detail(list, word);

	for (size_t i = 0; text.p && i < ARRAY_LEN(known); i++)
		if (json_text_is(&text, known[i].word))
			return known[i].kind;
	return MEMORY_UNKNOWN;
}

/* ---- facts ---- */

static enum copy_direction direction_of(enum memory_kind from, enum memory_kind to)
{
	bool host_from = from == MEMORY_PAGEABLE || from == MEMORY_PINNED;
	bool host_to = to == MEMORY_PAGEABLE || to == MEMORY_PINNED;

	if (from == MEMORY_UNKNOWN || to == MEMORY_UNKNOWN)
		return COPY_UNKNOWN;
	return host_from ? (host_to ? COPY_H2H : COPY_H2D) : host_to ? COPY_D2H : COPY_D2D;
}

static void work_facts(struct tef *t, const struct xla_said *s, span_id span)
{
	const struct json_text *k = &s->v[XLA_ARG_KERNEL], *c = &s->v[XLA_ARG_COPY];
	const struct json_text *m = &s->v[XLA_ARG_FILL];
	struct span_facts f = { .kind = FACTS_KERNEL, .kernel = KERNEL_FACTS_NONE };
	int64_t still, dynamic;

	if (k->p) {
		detail_axes(k, "grid", f.kernel.grid);
		detail_axes(k, "block", f.kernel.block);
		f.kernel.registers = detail_number(k, "regs");
		still = detail_number(k, "static_shared");
		dynamic = detail_number(k, "dynamic_shared");
		if (still != FACT_ABSENT && dynamic != FACT_ABSENT &&
		    !__builtin_add_overflow(still, dynamic, &still))
			f.kernel.shared_bytes = still;
		t->sink->ops->facts(t->sink, span, &f);
	}
	if (c->p || m->p) {
		f = (struct span_facts){ .kind = FACTS_COPY, .copy = COPY_FACTS_NONE };
		f.copy.bytes = detail_number(c->p ? c : m, "size");
		f.copy.from = c->p ? detail_memory(c, "kind_src") : MEMORY_UNKNOWN;
		f.copy.to = c->p ? detail_memory(c, "kind_dst") : detail_memory(m, "kind");
		f.copy.direction = direction_of(f.copy.from, f.copy.to);
		t->sink->ops->facts(t->sink, span, &f);
	}
}

/* "jit_f(12)": the module, and its number. The name of the span becomes the module's. */
static void module_take(struct tef *t, const struct tef_event *ev, struct program_facts *f,
			struct span_def *d)
{
	struct json_text name = ev->name, number = { .p = NULL };
	size_t at = name.p ? name.n : 0;
	int64_t v;

	if (at > 2 && name.p[at - 1] == ')') {
		while (at > 1 && name.p[at - 2] >= '0' && name.p[at - 2] <= '9')
			at--;
		if (at > 2 && name.p[at - 2] == '(' && at < name.n) {
			number = (struct json_text){ .p = name.p + at - 1, .n = name.n - at };
			name.n = at - 2;
		}
	}
	if (!name.p || name.n == 0)
		return;
	d->name = tef_string(t, &name);
	if (f->module == STR_NONE)
		f->module = d->name;
	if (!number.p)
		return;
	if (num_i64(number.p, number.n, &v) == 0 && v <= INT32_MAX)
		f->program_id = f->program_id == FACT_ABSENT ? v : f->program_id;
	else
		f->fingerprint = tef_string(t, &number);
}

static enum program_kind kind_of(const struct tef_named *n, const struct span_def *d)
{
	if (n->line == TEF_LINE_MODULES)
		return PROGRAM_MODULE;
	return n->line == TEF_LINE_NONE && d->kind != SPAN_HOST ? PROGRAM_WORK : PROGRAM_OP;
}

static bool program_of(struct tef *t, const struct tef_event *ev, const struct tef_named *n,
		       const struct xla_said *s, struct span_def *d, struct program_facts *f)
{
	*f = PROGRAM_FACTS_NONE;
	f->kind = kind_of(n, d);
	f->module = said_text(t, s, XLA_ARG_MODULE);
	f->op = said_text(t, s, XLA_ARG_OP);
	f->program_id = said_number(t, s, XLA_ARG_PROGRAM);
	f->run = said_number(t, s, XLA_ARG_RUN);
	if (n->line == TEF_LINE_MODULES)
		module_take(t, ev, f, d);
	else if (n->line == TEF_LINE_OPS && f->op == STR_NONE)
		f->op = d->name;
	return n->line == TEF_LINE_NOTES  ? false
	       : n->line == TEF_LINE_NONE ? f->op != STR_NONE
					  : true;
}

bool tef_xla_tells(const struct tef_event *ev)
{
	return ev->args.p && (memmem(ev->args.p, ev->args.n, "hlo_", 4) ||
			      memmem(ev->args.p, ev->args.n, "_id\"", 4) ||
			      memmem(ev->args.p, ev->args.n, "_details\"", 9));
}

span_id tef_xla_put(struct tef *t, const struct tef_event *ev, const struct tef_named *n,
		    tef_slot slot, struct span_def *d)
{
	struct span_facts f = { .kind = FACTS_PROGRAM };
	struct xla_said s = { .v = { { .p = NULL } } };
	int64_t correlation;
	bool some;
	span_id span;

	if (tef_xla_tells(ev))
		said_walk(ev, &s);
	correlation = said_number(t, &s, XLA_ARG_CORRELATION);
	if (correlation > 0 && n->line == TEF_LINE_NONE)
		d->correlation = (uint64_t)correlation;
	some = program_of(t, ev, n, &s, d, &f.program);
	span = tef_span(t, slot, d);
	if (!t->opts->facts || t->opts->file_facts || t->sink->counts_only)
		return span;
	if (some)
		t->sink->ops->facts(t->sink, span, &f);
	if (d->kind != SPAN_HOST && n->line == TEF_LINE_NONE)
		work_facts(t, &s, span);
	return span;
}
