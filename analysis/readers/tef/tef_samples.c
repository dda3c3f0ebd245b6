/*
 * Samples of stacks beside the events of an object, as chrome://tracing has them:
 *
 *	"stackFrames": {"5": {"name": "main", "category": "app"}, "6": {"name": "f", "parent": "5"}}
 *	"samples": [{"cpu": 0, "tid": 7, "ts": 1000.0, "name": "cycles", "sf": "6", "weight": 1}]
 *
 * A sample has neither a process nor a duration, so it becomes a mark on its thread: the innermost
 * frame's name, the kind of sample as its category, the whole stack in its arguments.
 */
#include "tef.h"

#include "profrig/base/json_out.h"
#include "profrig/model/warnings.h"

/* Deeper than any stack; parents can be a circle. */
#define MAX_FRAMES 1024
#define SPARE_BYTES 65536

struct frame {
	struct json_text name;
	struct tef_id parent;
	str_id args; /* of a sample of it, once they are made */
	bool made;
};

struct tef_stacks {
	struct tef *t;
	VEC(struct frame) frames;
	struct u64map frame_at, thread_at;
	struct strbuf stack;
	size_t stack_bytes; /* of all arguments */
	uint64_t nr, stackless;
	struct tally unknown;
};

struct frame_texts {
	struct json_text name, parent;
};

static int take_frame(struct tef_stacks *sp, struct json_cur *c, const struct json_text *id)
{
	static const struct json_known fields[] = {
		JSON_INTO("name", json_take_text, struct frame_texts, name),
		JSON_INTO("parent", json_take_text, struct frame_texts, parent),
	};
	struct frame_texts texts = { .name = { .p = NULL } };
	bool object = json_peek(c) == '{';
	int r = json_members(c, fields, ARRAY_LEN(fields), &texts);
	struct tef_id own = tef_id_of(id);

	if (r < 0 || !object)
		return r;
	*u64map_at(&sp->frame_at, tef_id_key(&own)) = (uint32_t)sp->frames.nr;
	VEC_PUSH(&sp->frames,
		 (struct frame){ .name = texts.name, .parent = tef_id_of(&texts.parent) });
	return r;
}

static void take_frames(struct tef_stacks *sp)
{
	struct json_cur c = { sp->t->doc.frames, sp->t->map.data + sp->t->map.len };
	struct json_text key;
	bool some = false;
	int r = 0;

	if (!c.p)
		return;
	c.p++;
	while (r >= 0 && (r = json_member(&c, &some, &key)) > 0)
		r = take_frame(sp, &c, &key);
}

/* Threads of the events by their number, which is one of the machine's. */
static void find_threads(struct tef_stacks *sp)
{
	for (size_t i = 0; i < sp->t->tracks.nr; i++) {
		const struct track_def *d = &sp->t->tracks.v[i].def;
		uint32_t *at;

		if (d->kind != TRACK_THREAD || d->tid == PID_NONE)
			continue;
		at = u64map_at(&sp->thread_at, (uint64_t)d->tid);
		if (*at == U64MAP_NONE)
			*at = (uint32_t)i;
	}
}

static tef_slot thread_of(struct tef_stacks *sp, const struct json_text *tid)
{
	static const struct json_text absent = { .p = NULL };
	struct tef_id pid = tef_id_of(&absent), id = tef_id_of(tid);
	uint32_t at = id.type == TEF_ID_NUMBER ? u64map_get(&sp->thread_at, (uint64_t)id.number)
					       : U64MAP_NONE;

	return at != U64MAP_NONE ? at : tef_thread(sp->t, &pid, &id);
}

static struct frame *frame_of(struct tef_stacks *sp, const struct tef_id *id)
{
	uint32_t at =
		id->type == TEF_ID_NONE ? U64MAP_NONE : u64map_get(&sp->frame_at, tef_id_key(id));

	return at == U64MAP_NONE ? NULL : &sp->frames.v[at];
}

/*
 * {"stack":"main;f"}, root first. All of them take no more memory than the file: a long chain of
 * frames could be every frame's.
 */
static str_id make_args(struct tef_stacks *sp, const struct frame *leaf)
{
	const struct frame *path[MAX_FRAMES];
	struct strbuf *names = &sp->t->text;
	size_t n = 0;

	for (; leaf && n < MAX_FRAMES; leaf = frame_of(sp, &leaf->parent))
		path[n++] = leaf;
	strbuf_clear(names);
	while (n-- > 0 && sp->stack_bytes + names->len <= sp->t->map.len + SPARE_BYTES) {
		if (path[n]->name.p)
			json_decode(&path[n]->name, names);
		strbuf_addstr(names, n > 0 ? ";" : "");
	}
	strbuf_clear(&sp->stack);
	strbuf_addstr(&sp->stack, "{\"stack\":");
	json_quote(&sp->stack, names->buf, names->len);
	strbuf_addch(&sp->stack, '}');
	sp->stack_bytes += sp->stack.len;
	if (sp->stack_bytes > sp->t->map.len + SPARE_BYTES)
		return STR_NONE;
	return sp->t->sink->ops->string(sp->t->sink, sp->stack.buf, sp->stack.len);
}

static str_id stack_args(struct tef_stacks *sp, struct frame *leaf)
{
	if (!sp->t->opts->keep_args || !leaf)
		return STR_NONE;
	if (!leaf->made) {
		leaf->args = make_args(sp, leaf);
		leaf->made = true;
	}
	sp->stackless += leaf->args == STR_NONE;
	return leaf->args;
}

struct sample {
	struct json_text tid, ts, name, frame;
};

static void sample_push(struct tef_stacks *sp, const struct sample *s)
{
	struct span_def d = { .kind = SPAN_INSTANT };
	struct tef_id id = tef_id_of(&s->frame);
	struct frame *leaf = frame_of(sp, &id);

	if (!tef_time(sp->t, &(struct tef_event){ .ts = { .p = s->ts.p, .n = s->ts.n } },
		      &d.start_ns))
		return;
	if (!leaf && id.type != TEF_ID_NONE)
		tally_byte(&sp->unknown, sp->t->at);
	d.end_ns = d.start_ns;
	d.args = stack_args(sp, leaf);
	d.name = tef_string(sp->t, leaf ? &leaf->name : &s->name);
	d.category = tef_string(sp->t, &s->name);
	tef_span(sp->t, thread_of(sp, &s->tid), &d);
	sp->nr++;
}

void tef_samples_push(struct tef *t)
{
	static const struct json_known fields[] = {
		JSON_INTO("tid", json_take_text, struct sample, tid),
		JSON_INTO("ts", json_take_text, struct sample, ts),
		JSON_INTO("name", json_take_text, struct sample, name),
		JSON_INTO("sf", json_take_text, struct sample, frame),
	};
	struct tef_stacks sp = { .t = t, .stack = STRBUF_INIT };
	struct json_cur c = { t->doc.samples, t->map.data + t->map.len };
	bool some = false;

	if (!c.p)
		return;
	take_frames(&sp);
	find_threads(&sp);
	c.p++;
	while (json_element(&c, &some) > 0) {
		struct sample s = { .tid = { .p = NULL } };

		t->at = (size_t)(c.p - t->map.data);
		if (json_peek(&c) != '{') {
			tef_bad_event(t, "sample that is no object");
			if (json_skip(&c) < 0)
				break;
			continue;
		}
		if (json_members(&c, fields, ARRAY_LEN(fields), &s) < 0)
			break; /* the walk over the events reports this damage */
		sample_push(&sp, &s);
	}
	sink_fact(t->sink, "stack_samples", (int64_t)sp.nr);
	tally_warn(&sp.unknown, t->sink, W_UNKNOWN_REFERENCE, "samples whose frame is not listed");
	sink_warn(t->sink, W_IGNORED_RECORD, sp.stackless,
		  "stacks of samples that take more than the file has");
	VEC_RELEASE(&sp.frames);
	strbuf_release(&sp.stack);
	u64map_release(&sp.frame_at);
	u64map_release(&sp.thread_at);
}
