/*
 * The output of `perf script`:
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
 * Every part of the line above a stack may be missing (-F); perf keeps their order. A command may
 * hold blanks. perf_line.c parses lines and names of frames.
 *
 * Time. One event of the recording gives the time: a clock (cpu-clock, task-clock), else cycles,
 * else the one with most samples. Its samples become spans (stack_spans.h), with the command as
 * root frame, on the thread's track; swapper's, which is one thread of every CPU, on one track per
 * CPU. The weight of a clock's sample is its period, in ns; that of any other event 1/frequency
 * where the header or the recorded command line has it, else the median distance of neighbouring
 * samples on one CPU (of one thread where the CPU is not shown): the fact sample_ns. Where all
 * samples of the event have periods that vary, weights are proportional to them. Without times the
 * samples of a thread follow one another. Samples of other events are instants named after their
 * event.
 *
 * The clock is perf's own; that of `perf record -k` where the header names it. Lost samples are
 * counted (W_LOST_EVENTS).
 */
#include "input_sink.h"
#include "perf.h"
#include "readers_private.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "profrig/model/warnings.h"

/* Beyond it frames are parsed at each occurrence. */
#define MAX_TEXT_BYTES ((size_t)32 << 20)

static track_id process_track(struct perf *p, const struct perf_head *h)
{
	CLEANUP(xfreep) char *name = xstrndup(h->comm.p, h->comm.n);
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_PROCESS;
	d.host = p->host[0] ? p->host : NULL;
	d.pid = h->pid;
	d.name = h->pid == h->tid && *name ? name : NULL;
	return h->pid > 0 ? track_limit_make(&p->tracks, p->sink, &d) : TRACK_NONE;
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
	return track_limit_make(&p->tracks, p->sink, &d);
}

/* A thread is identified by its ids, else by its CPU, else by its command. */
static uint32_t thread_at(struct perf *p, const struct perf_head *h)
{
	bool idle = h->tid <= 0 && h->cpu >= 0;
	uint32_t *at, id = (uint32_t)p->threads.nr;
	struct u64map *map;
	uint64_t key;
	track_id track;

	if (idle) {
		map = &p->of_cpu;
		key = u64map_pair((uint32_t)h->cpu, h->tid == 0);
	} else if (h->tid > 0) {
		map = &p->of_thread;
		key = u64map_pair((uint32_t)h->pid, (uint32_t)h->tid);
	} else {
		map = &p->of_comm;
		key = intern_put(p->names, h->comm.p, h->comm.n);
	}
	if (track_limit_shares(&p->tracks, map, key)) {
		map = &p->of_thread; /* all that come now are one, with the last id there is */
		key = UINT64_MAX;
		p->tracks.asked++;
	}
	at = u64map_at(map, key);
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

static struct perf_known line_learn(struct perf *p, struct text_slice line)
{
	struct perf_known k;
	struct perf_frame f;

	perf_frame_parse(line, &f);
	for (int java = 0; java < 2; java++) {
		struct text_slice name;

		if (!perf_frame_slice(&f, java, &name)) {
			strbuf_clear(&p->text);
			perf_frame_name(&f, java, &p->text);
			name = (struct text_slice){ p->text.buf, p->text.len };
		}
		k.name[java] = p->sink->ops->string(p->sink, name.p, name.n);
		stack_named(&p->limit, k.name[java], name.n);
	}
	f.address.n = 0;
	k.category = category_id(p, perf_frame_category(&f));
	return k;
}

/* The memory budget has no room for its name. */
static struct perf_known unknown_frame(struct perf *p)
{
	str_id deeper = sink_puts(p->sink, "[deeper]");

	p->unnamed++;
	return (struct perf_known){ { deeper, deeper }, category_id(p, STACK_SAMPLED) };
}

/* Most frames of a recording repeat an earlier one at another address. */
static struct perf_known known_frame(struct perf *p, struct text_slice line, struct text_slice text)
{
	str_id id;
	struct perf_known k;

	if (text.n == 0 && mem_budget_has(&p->limit.memory, 0))
		return line_learn(p, line); /* its name is its address */
	id = intern_find(p->texts, text.p, text.n);
	if (id != STR_NONE)
		return p->known.v[id];
	if (!mem_budget_has(&p->limit.memory, 0))
		return unknown_frame(p);
	k = line_learn(p, line);
	mem_budget_take(&p->limit.memory, text.n + MEM_STRING);
	if (p->text_bytes + text.n < MAX_TEXT_BYTES) {
		p->text_bytes += text.n;
		intern_put(p->texts, text.p, text.n);
		VEC_PUSH(&p->known, k);
	}
	return k;
}

static void add_frame(struct perf *p, struct text_slice line, bool java)
{
	struct text_slice address, text;
	struct perf_known k;

	if (!perf_address_parse(line, &address, &text)) {
		tally_line(&p->strange, p->line);
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
	struct text_slice rest = s->stack, line, comm = s->head.comm;
	bool java = slice_is(comm, "java"), whole;
	struct perf_frame f;
	size_t n;

	VEC_CLEAR(&p->frames);
	if ((s->padded || s->stack.n == 0) && perf_frame_parse(s->head.rest, &f) &&
	    (f.has_dso || f.address.n >= 4))
		add_frame(p, s->head.rest, java); /* and no tracepoint's fields */
	while (slice_line(&rest, &line, &whole))
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
		struct stack_frame swap = p->frames.v[i];

		p->frames.v[i] = p->frames.v[n - 1 - i];
		p->frames.v[n - 1 - i] = swap;
	}
}

/* Cycles that passed since the sample before are time, so they share the time that all of them have
 * together. */
static int64_t share_of(const struct perf_event *ev, uint64_t period)
{
	double mean = ev->period_sum / (double)ev->periods;
	double ns = round((double)ev->sample_ns * ((double)period / mean));

	return ns < 1 ? 1 : ns > (double)PERF_MAX_SAMPLE_NS ? PERF_MAX_SAMPLE_NS : (int64_t)ns;
}

static int64_t weight_of(struct perf *p, const struct perf_event *ev, const struct perf_head *h)
{
	if (!ev->clock && h->has_period && ev->periods == ev->samples)
		return share_of(ev, h->period);
	if (!ev->clock || !h->has_period)
		return ev->sample_ns;
	if (h->period > 0 && h->period <= (uint64_t)PERF_MAX_SAMPLE_NS)
		return (int64_t)h->period;
	tally_line(&p->numbers, p->line);
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
	struct text_slice words = perf_behind(h->event, "lost ");
	int64_t n;

	p->records++;
	if (!slice_begins(h->event, "PERF_RECORD_LOST"))
		return;
	if (p->lost.nr == 0)
		p->lost.at = p->line;
	p->lost.nr += perf_leading_number(words, &n) && n > 0 ? (uint64_t)n : 1;
}

static void push_sample(struct perf *p, const struct perf_sample *s)
{
	uint32_t event = perf_event_at(p, s->head.event), at;
	const struct perf_event *ev = &p->events.v[event];
	struct perf_thread *th;
	int64_t t_ns = s->head.t_ns, weight_ns, behind_ns;

	if (s->head.timed && (t_ns > PERF_MAX_TIME_NS || t_ns < 0)) {
		tally_line(&p->numbers, p->line);
		return;
	}
	at = thread_at(p, &s->head);
	th = &p->threads.v[at];
	if (event != p->time_event) {
		/* a mark is nothing but its time and its name */
		if (s->head.timed && s->head.event.n > 0)
			push_instant(p, th->stack.id, &s->head);
		else
			tally_line(&p->vague, p->line);
		return;
	}
	take_frames(p, s);
	weight_ns = weight_of(p, ev, &s->head);
	if (!s->head.timed)
		t_ns = th->stack.end_ns;
	if (s->head.timed && t_ns < th->last_ns)
		tally_line(&p->backwards, p->line);
	th->last_ns = s->head.timed ? t_ns : th->last_ns;
	p->limit.samples += p->unnamed > 0;
	p->limit.frames += p->unnamed;
	p->unnamed = 0;
	behind_ns = stack_push(p->sink, &p->limit, &th->stack, t_ns, weight_ns, p->frames.v,
			       p->frames.nr, 0);
	if (behind_ns < 0)
		tally_line(&p->numbers, p->line);
	else if (behind_ns > p->behind_ns && t_ns >= th->last_ns)
		p->behind_ns = behind_ns;
}

static void read_samples_of(struct perf *p)
{
	struct perf_sample s;

	p->rest = (struct text_slice){ p->map.data, p->map.len };
	p->line = 0;
	while (perf_next_sample(p, &s)) {
		mem_budget_read(&p->limit.memory, (size_t)(p->rest.p - p->map.data));
		if (s.head.record)
			take_record(p, &s.head);
		else
			push_sample(p, &s);
	}
	for (size_t i = 0; i < p->threads.nr; i++)
		stack_close(p->sink, &p->threads.v[i].stack);
}

/* --- the whole --- */

static void perf_begin(struct perf *p)
{
	struct input *in = input_begin(p->sink, p->path, "perf");
	const char *id = p->clockid;

	input_format(in, "perf script (sampled stacks)",
		     strcmp(id, "monotonic") == 0  ? TRACE_CLOCK_MONOTONIC
		     : strcmp(id, "realtime") == 0 ? TRACE_CLOCK_REALTIME
		     : strcmp(id, "boottime") == 0 ? TRACE_CLOCK_BOOTTIME
						   : TRACE_CLOCK_OWN);
	p->sink->ops->clock(p->sink);
}

static void facts_put(struct perf *p)
{
	sink_fact(p->sink, "stack_samples", (int64_t)(p->samples - p->others - p->vague.nr));
	sink_fact(p->sink, "sample_ns", p->events.v[p->time_event].sample_ns);
	sink_fact(p->sink, "other_events", (int64_t)p->others);
	sink_fact(p->sink, "without_stack", (int64_t)p->stackless);
	sink_fact(p->sink, "max_shift_ns", p->behind_ns);
	sink_fact(p->sink, "records", (int64_t)p->records);
}

static int perf_finish(struct perf *p)
{

	facts_put(p);
	tally_warn(&p->bad, p->sink, W_BAD_EVENT, "lines that belong to no sample");
	tally_warn(&p->vague, p->sink, W_BAD_EVENT, "lines whose event or time cannot be read");
	tally_warn(&p->strange, p->sink, W_IGNORED_RECORD, "lines of stacks that are no frames");
	tally_warn(&p->numbers, p->sink, W_BAD_NUMBER, "times or periods out of range");
	tally_warn(&p->backwards, p->sink, W_TIME_ORDER, "samples before the one before them");
	tally_warn(&p->lost, p->sink, W_LOST_EVENTS, "samples or records that perf lost");
	stack_limit_warn(&p->limit, p->sink);
	track_limit_warn(&p->tracks, p->sink);
	if (p->open_end && !p->cut)
		sink_warnf(p->sink, W_UNTERMINATED,
			   "no blank line behind the last stack: frames may be missing there");
	if (p->cut)
		sink_warnf(p->sink, W_TRUNCATED,
			   "the last line has no line end, so its sample may be cut; it was not "
			   "used");
	return input_finish(p->sink, &p->map, p->cut || p->limit.lost, "no samples");
}

static void perf_release(struct perf *p)
{
	input_unmap(&p->map);
	intern_free(p->names);
	intern_free(p->texts);
	VEC_RELEASE(&p->known);
	u64map_release(&p->event_of);
	u64map_release(&p->of_thread);
	u64map_release(&p->of_cpu);
	u64map_release(&p->of_comm);
	for (size_t i = 0; i < p->events.nr; i++)
		VEC_RELEASE(&p->events.v[i].gaps);
	VEC_RELEASE(&p->events);
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
	mem_budget_init(&p.limit.memory, &p.map);
	perf_drop_tail(&p);
	perf_survey(&p);
	if (p.samples == 0 && (p.bad.nr > 0 || p.map.len == 0))
		return err_set(err, p.bad.nr ? EINVAL : ENODATA,
			       "%s: line %" PRIu64 ": no sample of 'perf script' in it", path,
			       p.bad.nr ? p.bad.at : 1);
	input_rewind(&p.map);
	perf_begin(&p);
	if (p.events.nr == 0)
		perf_event_at(&p, (struct text_slice){ "", 0 });
	p.limit.category = category_id(&p, STACK_SAMPLED);
	read_samples_of(&p);
	return perf_finish(&p);
}

/* Kinds of lines of a text, for the probe. */
struct perf_signs {
	unsigned heads, whole_heads, frames, others, odd, comments;
};

static void see_line(struct perf_signs *n, struct text_slice line)
{
	struct perf_frame f;
	struct perf_head h;
	bool indented = perf_is_indented(line);

	if (line.p[0] == '#') {
		n->comments += slice_begins(line, "# cmdline : ") ||
			       slice_begins(line, "# event : name = ");
	} else if (indented && perf_frame_parse(line, &f) && (f.has_dso || line.p[0] == '\t')) {
		n->frames++;
	} else if (perf_head_parse(line, &h) && (h.tid >= 0 || (h.timed && h.event.n > 0))) {
		n->heads++;
		n->whole_heads += h.timed && h.tid >= 0;
	} else {
		n->odd += indented;
		n->others += !indented;
	}
}

/* Several signs: perf's header, lines with a time and an event, frames below them. */
static int probe_perf(const struct probe *pr)
{
	struct text_slice rest = { (const char *)pr->head, pr->head_len }, line;
	struct perf_signs n = { .heads = 0 };
	bool whole;

	if (pr->is_dir || !pr->head || memchr(pr->head, 0, pr->head_len))
		return 0;
	for (int i = 0; i < 400 && slice_line(&rest, &line, &whole); i++)
		if (slice_trim(line).n > 0)
			see_line(&n, line);
	if (n.heads == 0 && n.frames == 0)
		return n.comments >= 2 ? 60 : 0;
	if (n.others > (n.heads + n.frames) / 4 || n.odd > n.heads + n.frames)
		return 0;
	if (n.heads && n.frames)
		return 90;
	if (n.frames || n.comments)
		return 75;
	/* what ftrace and other logs look like, but for a thread's id where perf has it */
	return n.whole_heads * 2 < n.heads ? 0 : n.heads > 1 ? 40 : 20;
}

const struct reader reader_perf = {
	.name = "perf",
	.about = "samples of call stacks as perf script prints them",
	.suffixes = ".perf .txt[.gz|.zst]",
	.probe = probe_perf,
	.read = read_perf,
};
