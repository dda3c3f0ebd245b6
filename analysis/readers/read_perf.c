/*
 * What `perf script` prints of a recording:
 *
 *	# hostname : node3				with --header
 *	# event : name = cpu-clock, …, { sample_period, sample_freq } = 99, …, freq = 1, …
 *	java 977/978 [000] 7628263.042515:   10101010 cycles:u:
 *		    7f183b22aec7 read+0x17 (/lib/libc.so.6)	leaf first
 *		          415ad5 [unknown] (/usr/bin/java)
 *							a blank line ends a stack
 *	            perf  4242 12.5: cycles:  ffff8104f45a f ([kernel.kallsyms])
 *							an event without call chains: one line
 *	java 978 [000] 7628263.1: PERF_RECORD_LOST lost 12	--show-lost-events and the like
 *
 * Of the line above a stack every part may be missing (-F); perf keeps their order. A command may
 * hold blanks. What perf_line.c makes of a line, the names of frames included, is said there.
 *
 * Time. One event of the recording is the measure: a clock (cpu-clock, task-clock), else cycles,
 * else the one with most samples. Its samples become spans as stack_spans.h says, the command as
 * their root frame, on the thread's track; swapper's, which is one thread of every CPU, on one
 * track per CPU. A sample of a clock stands for its period, which is ns; one of any other event
 * for 1/frequency where the header or the recorded command line tells it, else for the median
 * distance of neighbouring samples on one CPU (of one thread where the CPU is not shown): the fact
 * sample_ns has it, so exclusive_ns / sample_ns is a number of samples. Without times the samples
 * of a thread follow one another. Samples of other events are instants named after their event.
 *
 * The clock is perf's own; that of `perf record -k` where the header names it. Lost samples are
 * counted (W_READ_FAILED).
 */
#include "perf_line.h"
#include "readers_private.h"
#include "stack_spans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "profrig/input.h"
#include "profrig/num.h"
#include "profrig/sort.h"
#include "profrig/u64map.h"
#include "profrig/warnings.h"

#define MAX_EVENTS 4096
#define MAX_GAPS 65536
/* Beyond it frames are looked at each time they come. */
#define MAX_TEXT_BYTES ((size_t)32 << 20)
#define DEFAULT_SAMPLE_NS 1000000
#define MIN_SAMPLE_NS 1000
#define MAX_SAMPLE_NS INT64_C(10000000000)
#define MAX_TIME_NS (INT64_C(1) << 60)

struct perf_event {
	str_id name; /* of perf->names */
	uint64_t samples;
	int64_t sample_ns; /* 0: not known yet */
	bool clock;
	VEC(int64_t) gaps;
};

struct perf_thread {
	struct stack_track stack;
	int64_t last_ns; /* of its latest sample, as recorded */
};

/* What a frame's text behind its address means: names as they are and as java's. */
struct perf_known {
	str_id name[2], category;
};

struct perf_count {
	uint64_t n, line; /* how many, and where the first is */
};

struct perf {
	const char *path;
	struct sink *sink;
	struct input_map map;
	struct perf_text rest; /* not read yet */
	uint64_t line;         /* of the line before rest */
	bool first_pass;

	char host[256], clockid[32];
	int64_t cmdline_hz;
	struct intern *names; /* events and commands */
	struct u64map event_of, last_of;
	VEC(struct perf_event) events;
	VEC(int64_t) last_ns; /* by event and CPU or thread */
	uint32_t time_event;

	struct intern *texts; /* of frames, up to MAX_TEXT_BYTES of them */
	size_t text_bytes;
	VEC(struct perf_known) known; /* by id of texts */
	struct u64map of_thread, of_cpu, of_comm;
	VEC(struct perf_thread) threads;
	VEC(struct stack_frame) frames; /* leaf first */
	struct strbuf text;
	str_id category[4];
	uint64_t samples, others, records, stackless;
	int64_t behind_ns;
	struct perf_count bad, strange, numbers, backwards, lost;
	bool cut, open_end;
};

/* A sample or record, and the lines of its stack. */
struct perf_sample {
	struct perf_head head;
	struct perf_text stack;
	uint64_t line;
	bool padded; /* blanks before the command: no stack follows */
	bool ended;  /* something stands behind the stack */
};

static void count(const struct perf *p, struct perf_count *c)
{
	if (c->n++ == 0)
		c->line = p->line;
}

/* --- header --- */

static struct perf_text behind(struct perf_text t, const char *word)
{
	const char *at = t.n ? memmem(t.p, t.n, word, strlen(word)) : NULL;

	if (!at)
		return (struct perf_text){ NULL, 0 };
	at += strlen(word);
	return (struct perf_text){ at, t.n - (size_t)(at - t.p) };
}

static bool leading_number(struct perf_text t, int64_t *ret)
{
	size_t n = 0;

	while (n < t.n && t.p[n] >= '0' && t.p[n] <= '9')
		n++;
	return num_i64(t.p, n, ret) == 0;
}

static uint32_t event_at(struct perf *p, struct perf_text event)
{
	struct perf_text base = perf_event_base(event);
	str_id name = intern_put(p->names, base.p, base.n);
	uint32_t *at = u64map_at(&p->event_of, name);

	if (*at != U64MAP_NONE)
		return *at;
	if (p->events.nr == MAX_EVENTS) {
		*at = MAX_EVENTS - 1;
		return *at;
	}
	*at = (uint32_t)p->events.nr;
	VEC_PUSH(&p->events, (struct perf_event){ .name = name,
						  .clock = perf_text_is(base, "cpu-clock") ||
							   perf_text_is(base, "task-clock") });
	return *at;
}

static int64_t sample_ns_of(int64_t hz)
{
	return hz > 0 && hz <= 1000000 ? (1000000000 + hz / 2) / hz : 0;
}

/* "name = cycles:u, , id = …, { sample_period, sample_freq } = 99, …, freq = 1, …" */
static void take_event(struct perf *p, struct perf_text t)
{
	struct perf_text name = behind(t, "name = "), freq = behind(t, "sample_freq } = ");
	const char *comma = name.n ? memchr(name.p, ',', name.n) : NULL;
	uint32_t event;
	int64_t hz;

	if (!comma || !behind(t, ", freq = 1").p || !leading_number(freq, &hz))
		return;
	name.n = (size_t)(comma - name.p);
	event = event_at(p, name);
	p->events.v[event].sample_ns = sample_ns_of(hz);
}

/* "perf record -F 99 -a", "--freq=99" */
static void take_cmdline(struct perf *p, struct perf_text t)
{
	static const char *const options[] = { " -F ", " -F", " --freq=", " --freq " };

	for (size_t i = 0; i < ARRAY_LEN(options) && p->cmdline_hz == 0; i++)
		if (!leading_number(behind(t, options[i]), &p->cmdline_hz))
			p->cmdline_hz = 0;
}

static void take_comment(struct perf *p, struct perf_text line)
{
	struct perf_text t = perf_trim((struct perf_text){ line.p + 1, line.n - 1 });
	const char *colon = t.n ? memchr(t.p, ':', t.n) : NULL;
	struct perf_text key, value;

	if (!colon)
		return;
	key = perf_trim((struct perf_text){ t.p, (size_t)(colon - t.p) });
	value = perf_trim((struct perf_text){ colon + 1, t.n - (size_t)(colon + 1 - t.p) });
	if (perf_text_is(key, "hostname") && value.n < sizeof(p->host)) {
		memcpy(p->host, value.p, value.n);
		p->host[value.n] = '\0';
	} else if (perf_text_is(key, "event")) {
		take_event(p, value);
	} else if (perf_text_is(key, "cmdline")) {
		take_cmdline(p, value);
	} else if (perf_text_is(key, "clockid")) {
		size_t n = 0;

		while (n < value.n && n + 1 < sizeof(p->clockid) && value.p[n] != ' ')
			n++;
		memcpy(p->clockid, value.p, n);
		p->clockid[n] = '\0';
	}
}

/* --- lines → samples --- */

static bool is_indented(struct perf_text line)
{
	return line.n > 0 && (line.p[0] == ' ' || line.p[0] == '\t');
}

static bool next_is_frame(const struct perf *p)
{
	struct perf_text rest = p->rest, line;
	struct perf_frame f;
	bool whole;

	return perf_next_line(&rest, &line, &whole) && is_indented(line) &&
	       perf_frame_parse(line, &f);
}

/* A line in a stack that is no part of it: the next event's, which has no call chain. */
static bool ends_stack(struct perf_text line)
{
	struct perf_frame f;
	struct perf_head h;

	if (line.p[0] == '\t' || (perf_frame_parse(line, &f) && f.has_dso))
		return false;
	return perf_head_parse(line, &h) && h.timed;
}

static void take_stack(struct perf *p, struct perf_sample *s)
{
	struct perf_text line;
	const char *from = p->rest.p, *end = from;
	bool whole = true;

	while (!s->padded) {
		struct perf_text rest = p->rest;

		if (!perf_next_line(&rest, &line, &whole))
			break;
		s->ended = perf_trim(line).n == 0 || !is_indented(line) || ends_stack(line);
		if (s->ended)
			break;
		p->rest = rest;
		p->line++;
		end = line.p + line.n;
	}
	s->stack = (struct perf_text){ from, (size_t)(end - from) };
}

static bool head_of(const struct perf *p, struct perf_text line, struct perf_sample *s)
{
	s->padded = is_indented(line);
	if (perf_head_parse(line, &s->head))
		return true;
	if (s->padded || !next_is_frame(p))
		return false;
	perf_head_bare(line, &s->head);
	return true;
}

/* false at the end. A line that belongs to nothing is counted in the first pass. */
static bool next_sample(struct perf *p, struct perf_sample *ret)
{
	struct perf_text line;
	bool whole;

	while (perf_next_line(&p->rest, &line, &whole)) {
		p->line++;
		*ret = (struct perf_sample){ .line = p->line };
		if (line.n > 0 && line.p[0] == '#') {
			if (p->first_pass)
				take_comment(p, line);
		} else if (perf_trim(line).n == 0) {
			continue;
		} else if (head_of(p, line, ret)) {
			take_stack(p, ret);
			return true;
		} else if (p->first_pass) {
			count(p, &p->bad);
		}
	}
	return false;
}

/* --- first pass: which event is the time, and how much a sample of it --- */

/* For a clock's events, what they stand for; for others, how far apart they are. */
static void note_gap(struct perf *p, uint32_t event, const struct perf_head *h)
{
	struct perf_event *ev = &p->events.v[event];
	bool period = ev->clock && h->has_period;
	uint32_t place = h->cpu >= 0 ? (uint32_t)h->cpu : (uint32_t)h->tid | 1U << 31;
	uint32_t *at;
	int64_t gap;

	if (ev->sample_ns || ev->gaps.nr == MAX_GAPS)
		return;
	if (period && h->period > 0 && h->period <= (uint64_t)MAX_SAMPLE_NS)
		VEC_PUSH(&ev->gaps, (int64_t)h->period);
	if (period || !h->timed || h->t_ns > MAX_TIME_NS)
		return;
	at = u64map_at(&p->last_of, u64map_pair(event, place));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)p->last_ns.nr;
		VEC_PUSH(&p->last_ns, h->t_ns);
		return;
	}
	gap = h->t_ns - p->last_ns.v[*at];
	p->last_ns.v[*at] = h->t_ns;
	if (gap >= MIN_SAMPLE_NS && gap <= MAX_SAMPLE_NS)
		VEC_PUSH(&ev->gaps, gap);
}

static int rank_of(const struct perf *p, const struct perf_event *ev)
{
	static const char *const cycles[] = { "cycles", "cpu-cycles", "ref-cycles", "" };

	if (ev->clock)
		return 2;
	for (size_t i = 0; i < ARRAY_LEN(cycles); i++)
		if (strcmp(intern_str(p->names, ev->name), cycles[i]) == 0)
			return 1;
	return 0;
}

static void choose_event(struct perf *p)
{
	struct perf_event *ev, *best;

	p->time_event = 0;
	for (uint32_t i = 1; i < p->events.nr; i++) {
		ev = &p->events.v[i];
		best = &p->events.v[p->time_event];
		if (!best->samples || (ev->samples && rank_of(p, ev) > rank_of(p, best)) ||
		    (rank_of(p, ev) == rank_of(p, best) && ev->samples > best->samples))
			p->time_event = i;
	}
	if (!p->events.nr)
		return;
	best = &p->events.v[p->time_event];
	if (best->sample_ns == 0)
		best->sample_ns = sample_ns_of(p->cmdline_hz);
	if (best->sample_ns == 0 && best->gaps.nr)
		best->sample_ns = median_i64(best->gaps.v, best->gaps.nr);
	if (best->sample_ns == 0)
		best->sample_ns = DEFAULT_SAMPLE_NS;
}

static void survey(struct perf *p)
{
	struct perf_sample s = { .ended = true };

	p->first_pass = true;
	p->rest = (struct perf_text){ p->map.data, p->map.len };
	p->open_end = false;
	while (next_sample(p, &s)) {
		uint32_t event;

		p->open_end = s.stack.n > 0 && !s.ended;
		if (s.head.record)
			continue;
		p->samples++;
		event = event_at(p, s.head.event);
		p->events.v[event].samples++;
		note_gap(p, event, &s.head);
	}
	choose_event(p);
	p->first_pass = false;
}

/* --- second pass --- */

static track_id process_track(struct perf *p, const struct perf_head *h)
{
	CLEANUP(xfreep) char *name = xstrndup(h->comm.p, h->comm.n);
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_PROCESS;
	d.host = p->host[0] ? p->host : NULL;
	d.pid = h->pid;
	d.name = h->pid == h->tid && *name ? name : NULL;
	return h->pid > 0 ? p->sink->ops->track(p->sink, &d) : TRACK_NONE;
}

static track_id thread_track(struct perf *p, const struct perf_head *h, bool idle)
{
	CLEANUP(xfreep) char *comm = xstrndup(h->comm.p, h->comm.n);
	CLEANUP(xfreep)
	char *name = idle && h->cpu >= 0 ? xasprintf("%s/%" PRId32, comm, h->cpu) : xstrdup(comm);
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_THREAD;
	d.host = p->host[0] ? p->host : NULL;
	d.parent = process_track(p, h);
	if (!idle) {
		d.pid = h->pid > 0 ? h->pid : PID_NONE;
		d.tid = h->tid > 0 ? h->tid : PID_NONE;
	}
	d.name = *name ? name : NULL;
	d.key = p->threads.nr;
	return p->sink->ops->track(p->sink, &d);
}

/* Threads are told apart by their ids; what has none by its CPU, else by its command. */
static uint32_t thread_at(struct perf *p, const struct perf_head *h)
{
	bool idle = h->tid <= 0 && h->cpu >= 0;
	uint32_t *at, id = (uint32_t)p->threads.nr;
	track_id track;

	if (idle)
		at = u64map_at(&p->of_cpu, u64map_pair((uint32_t)h->cpu, h->tid == 0));
	else if (h->tid > 0)
		at = u64map_at(&p->of_thread, u64map_pair((uint32_t)h->pid, (uint32_t)h->tid));
	else
		at = u64map_at(&p->of_comm, intern_put(p->names, h->comm.p, h->comm.n));
	if (*at != U64MAP_NONE)
		return *at;
	*at = id;
	track = thread_track(p, h, idle);
	VEC_PUSH(&p->threads, (struct perf_thread){ STACK_TRACK_INIT(track), INT64_MIN });
	return id;
}

static str_id category_id(struct perf *p, const char *category)
{
	static const char *const all[] = { STACK_SAMPLED, STACK_SAMPLED_KERNEL,
					   STACK_SAMPLED_INLINED, STACK_SAMPLED_JIT };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (strcmp(all[i], category) != 0)
			continue;
		if (p->category[i] == STR_NONE)
			p->category[i] = sink_puts(p->sink, category);
		return p->category[i];
	}
	return 0;
}

static struct perf_known learn(struct perf *p, struct perf_text line)
{
	struct perf_known k;
	struct perf_frame f;

	perf_frame_parse(line, &f);
	for (int java = 0; java < 2; java++) {
		strbuf_clear(&p->text);
		perf_frame_name(&f, java, &p->text);
		k.name[java] = p->sink->ops->string(p->sink, p->text.buf, p->text.len);
	}
	f.address.n = 0;
	k.category = category_id(p, perf_frame_category(&f));
	return k;
}

/* Most frames of a recording were seen before, at another address. */
static struct perf_known known_frame(struct perf *p, struct perf_text line, struct perf_text text)
{
	str_id id;
	struct perf_known k;

	if (text.n == 0)
		return learn(p, line); /* its name is its address */
	id = intern_find(p->texts, text.p, text.n);
	if (id != STR_NONE)
		return p->known.v[id];
	k = learn(p, line);
	if (p->text_bytes < MAX_TEXT_BYTES) {
		p->text_bytes += text.n;
		intern_put(p->texts, text.p, text.n);
		VEC_PUSH(&p->known, k);
	}
	return k;
}

static void add_frame(struct perf *p, struct perf_text line, bool java)
{
	struct perf_text address, text;
	struct perf_known k;

	if (!perf_address_parse(line, &address, &text)) {
		count(p, &p->strange);
		return;
	}
	k = known_frame(p, line, text);
	if (perf_address_is_kernel(address) && k.category != category_id(p, STACK_SAMPLED_INLINED))
		k.category = category_id(p, STACK_SAMPLED_KERNEL);
	VEC_PUSH(&p->frames, (struct stack_frame){ k.name[java], k.category, STR_NONE });
}

/* Root first. */
static void take_frames(struct perf *p, const struct perf_sample *s)
{
	struct perf_text rest = s->stack, line, comm = s->head.comm;
	bool java = perf_text_is(comm, "java"), whole;
	size_t n;

	VEC_CLEAR(&p->frames);
	if (s->head.rest.n > 0 && s->stack.n == 0)
		add_frame(p, s->head.rest, java);
	while (perf_next_line(&rest, &line, &whole))
		add_frame(p, line, java);
	p->stackless += p->frames.nr == 0;
	if (comm.n > 0)
		VEC_PUSH(&p->frames,
			 (struct stack_frame){ p->sink->ops->string(p->sink, comm.p, comm.n),
					       category_id(p, STACK_SAMPLED), STR_NONE });
	if (p->frames.nr == 0)
		VEC_PUSH(&p->frames,
			 (struct stack_frame){ sink_puts(p->sink, "[unknown]"),
					       category_id(p, STACK_SAMPLED), STR_NONE });
	n = p->frames.nr;
	for (size_t i = 0; i < n / 2; i++) {
		struct stack_frame f = p->frames.v[i];

		p->frames.v[i] = p->frames.v[n - 1 - i];
		p->frames.v[n - 1 - i] = f;
	}
}

static int64_t weight_of(struct perf *p, const struct perf_event *ev, const struct perf_head *h)
{
	if (!ev->clock || !h->has_period)
		return ev->sample_ns;
	if (h->period > 0 && h->period <= (uint64_t)MAX_SAMPLE_NS)
		return (int64_t)h->period;
	count(p, &p->numbers);
	return ev->sample_ns;
}

static void push_instant(struct perf *p, track_id track, const struct perf_head *h)
{
	struct span_def d = { .track = track,
			      .start_ns = h->t_ns,
			      .end_ns = h->t_ns,
			      .kind = SPAN_INSTANT,
			      .args = STR_NONE };

	d.name = p->sink->ops->string(p->sink, h->event.p, h->event.n);
	d.category = category_id(p, STACK_SAMPLED);
	p->sink->ops->span(p->sink, &d);
	p->others++;
}

/* "PERF_RECORD_LOST lost 12", "PERF_RECORD_LOST_SAMPLES lost 3" */
static void take_record(struct perf *p, const struct perf_head *h)
{
	struct perf_text words = behind(h->event, "lost ");
	int64_t n;

	p->records++;
	if (!perf_text_begins(h->event, "PERF_RECORD_LOST"))
		return;
	if (p->lost.n == 0)
		p->lost.line = p->line;
	p->lost.n += leading_number(words, &n) && n > 0 ? (uint64_t)n : 1;
}

static void push_sample(struct perf *p, const struct perf_sample *s)
{
	uint32_t event = event_at(p, s->head.event), at;
	const struct perf_event *ev = &p->events.v[event];
	struct perf_thread *th;
	int64_t t_ns = s->head.t_ns, weight_ns, behind_ns;

	if (s->head.timed && (t_ns > MAX_TIME_NS || t_ns < 0)) {
		count(p, &p->numbers);
		return;
	}
	at = thread_at(p, &s->head);
	th = &p->threads.v[at];
	if (event != p->time_event) {
		push_instant(p, th->stack.id, &s->head);
		return;
	}
	take_frames(p, s);
	weight_ns = weight_of(p, ev, &s->head);
	if (!s->head.timed)
		t_ns = th->stack.end_ns;
	if (s->head.timed && t_ns < th->last_ns)
		count(p, &p->backwards);
	th->last_ns = s->head.timed ? t_ns : th->last_ns;
	behind_ns = stack_push(p->sink, &th->stack, t_ns, weight_ns, p->frames.v, p->frames.nr);
	if (behind_ns < 0)
		count(p, &p->numbers);
	else if (behind_ns > p->behind_ns && t_ns >= th->last_ns)
		p->behind_ns = behind_ns;
}

static void read_samples_of(struct perf *p)
{
	struct perf_sample s;

	p->rest = (struct perf_text){ p->map.data, p->map.len };
	p->line = 0;
	while (next_sample(p, &s)) {
		if (s.head.record)
			take_record(p, &s.head);
		else
			push_sample(p, &s);
	}
	for (size_t i = 0; i < p->threads.nr; i++)
		stack_close(p->sink, &p->threads.v[i].stack);
}

/* --- the whole --- */

static void tell(struct perf *p, const char *code, const struct perf_count *c, const char *what)
{
	char text[200];

	if (c->n == 0)
		return;
	snprintf(text, sizeof(text), "%s, first on line %" PRIu64, what, c->line);
	p->sink->ops->warn(p->sink, code, c->n, text);
}

static void tell_clock(struct perf *p)
{
	struct input *in = p->sink->ops->current(p->sink);
	const char *id = p->clockid;

	free(in->format);
	in->format = xstrdup("perf script (sampled stacks)");
	in->clock = strcmp(id, "monotonic") == 0  ? TRACE_CLOCK_MONOTONIC
		    : strcmp(id, "realtime") == 0 ? TRACE_CLOCK_REALTIME
		    : strcmp(id, "boottime") == 0 ? TRACE_CLOCK_BOOTTIME
						  : TRACE_CLOCK_OWN;
	p->sink->ops->clock(p->sink);
}

static void tell_facts(struct perf *p)
{
	sink_fact(p->sink, "stack_samples", (int64_t)(p->samples - p->others));
	sink_fact(p->sink, "sample_ns", p->events.v[p->time_event].sample_ns);
	sink_fact(p->sink, "other_events", (int64_t)p->others);
	sink_fact(p->sink, "without_stack", (int64_t)p->stackless);
	sink_fact(p->sink, "max_shift_ns", p->behind_ns);
	sink_fact(p->sink, "records", (int64_t)p->records);
}

static int finish(struct perf *p)
{
	struct input *in = p->sink->ops->current(p->sink);

	tell_facts(p);
	tell(p, W_BAD_EVENT, &p->bad, "lines that belong to no sample");
	tell(p, W_IGNORED_RECORD, &p->strange, "lines of stacks that are no frames");
	tell(p, W_BAD_NUMBER, &p->numbers, "times or periods out of range");
	tell(p, W_TIME_ORDER, &p->backwards, "samples before the one before them");
	tell(p, W_READ_FAILED, &p->lost, "samples or records that perf lost");
	if (p->open_end && !p->cut)
		sink_warnf(p->sink, W_UNTERMINATED,
			   "no blank line behind the last stack: frames may be missing there");
	if (p->cut)
		sink_warnf(p->sink, W_TRUNCATED,
			   "the last line has no line end, so its sample may be cut; it was not "
			   "used");
	if (p->map.truncated)
		sink_warnf(p->sink, W_TRUNCATED, "compressed data: %s", p->map.why);
	if (in->spans == 0)
		sink_warnf(p->sink, W_EMPTY_INPUT, "%s holds no samples", p->path);
	in->partial = p->cut || p->map.truncated;
	p->sink->ops->input_end(p->sink);
	return in->partial ? READ_PARTIAL : 0;
}

/* The line that ends at `end`. */
static struct perf_text line_before(const char *data, size_t end)
{
	const char *nl = end ? memrchr(data, '\n', end) : NULL;
	size_t from = nl ? (size_t)(nl - data) + 1 : 0;

	return (struct perf_text){ data + from, end - from };
}

/* Takes a last sample whose last line has no end off the text: nobody can see what is missing. */
static void drop_tail(struct perf *p)
{
	const char *d = p->map.data;
	size_t n = p->map.len;
	struct perf_text line;

	while (n > 0 && d[n - 1] == 0)
		n--;
	p->map.len = n;
	if (n == 0 || d[n - 1] == '\n')
		return;
	p->cut = true;
	line = line_before(d, n);
	n = (size_t)(line.p - d);
	if (!is_indented(line)) {
		p->map.len = n;
		return;
	}
	while (n > 0) {
		line = line_before(d, n - 1);
		if (perf_trim(line).n == 0 || (is_indented(line) && ends_stack(line)))
			break;
		n = (size_t)(line.p - d);
		if (!is_indented(line))
			break;
	}
	p->map.len = n;
}

static void perf_release(struct perf *p)
{
	input_unmap(&p->map);
	intern_free(p->names);
	intern_free(p->texts);
	VEC_RELEASE(&p->known);
	u64map_release(&p->event_of);
	u64map_release(&p->last_of);
	u64map_release(&p->of_thread);
	u64map_release(&p->of_cpu);
	u64map_release(&p->of_comm);
	for (size_t i = 0; i < p->events.nr; i++)
		VEC_RELEASE(&p->events.v[i].gaps);
	VEC_RELEASE(&p->events);
	VEC_RELEASE(&p->last_ns);
	for (size_t i = 0; i < p->threads.nr; i++)
		VEC_RELEASE(&p->threads.v[i].stack.open);
	VEC_RELEASE(&p->threads);
	VEC_RELEASE(&p->frames);
	strbuf_release(&p->text);
}

static int read_perf(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	CLEANUP(perf_release)
	struct perf p = { .path = path, .sink = s, .text = STRBUF_INIT };
	int r = input_map(path, 0, &p.map, err);

	(void)o;
	if (r < 0)
		return r;
	p.names = intern_new();
	p.texts = intern_new();
	VEC_PUSH(&p.known, (struct perf_known){ .category = 0 }); /* id 0 is the empty text */
	memset(p.category, 0xff, sizeof(p.category));
	drop_tail(&p);
	survey(&p);
	if (p.samples == 0 && (p.bad.n > 0 || p.map.len == 0))
		return err_set(err, p.bad.n ? EINVAL : ENODATA,
			       "%s: line %" PRIu64 ": no sample of 'perf script' in it", path,
			       p.bad.n ? p.bad.line : 1);
	s->ops->input(s, path, "perf");
	tell_clock(&p);
	if (p.events.nr == 0)
		event_at(&p, (struct perf_text){ "", 0 });
	read_samples_of(&p);
	return finish(&p);
}

/* Several signs: perf's header, lines with a time and an event, frames below them. */
static int probe_perf(const struct probe *pr)
{
	struct perf_text rest = { (const char *)pr->head, pr->head_len }, line;
	unsigned heads = 0, frames = 0, others = 0, comments = 0;
	bool whole;

	if (pr->is_dir || !pr->head || memchr(pr->head, 0, pr->head_len))
		return 0;
	for (int i = 0; i < 400 && perf_next_line(&rest, &line, &whole); i++) {
		struct perf_frame f;
		struct perf_head h;

		if (perf_trim(line).n == 0)
			continue;
		if (line.p[0] == '#')
			comments += perf_text_begins(line, "# cmdline : ") ||
				    perf_text_begins(line, "# event : name = ");
		else if (is_indented(line) && perf_frame_parse(line, &f) && f.has_dso)
			frames++;
		else if (perf_head_parse(line, &h) && (h.timed || h.tid >= 0) && h.event.n > 0)
			heads++;
		else
			others++;
	}
	if (heads == 0 && frames == 0)
		return comments >= 2 ? 60 : 0;
	if (others > (heads + frames) / 4)
		return 0;
	return heads && frames ? 90 : frames || comments ? 75 : heads > 1 ? 40 : 20;
}

const struct reader reader_perf = {
	.name = "perf",
	.about = "samples of call stacks as perf script prints them",
	.suffixes = ".perf .txt[.gz|.zst]",
	.probe = probe_perf,
	.read = read_perf,
};
