/*
 * Folded stacks, the format of flame graph tools:
 *
 *	java;start_thread;java_start;read_[k] 12	frames root first, a blank, the count
 *	java;start_thread 0.5				counts may have decimals
 *	java;start_thread 10 12				differential: before and after
 *
 * A frame may hold blanks. A suffix of its name is its kind: _[k] kernel, _[j] compiled at run
 * time, _[i] inlined, _[w] a waiting thread; it becomes the category. A file is differential when
 * all its lines have two numbers. Blank lines and lines that begin with '#' are skipped.
 *
 * The format has no times and no threads. So the lines are put one after another on a timeline that
 * begins at 0, on one track (differential: on the tracks "before" and "after"), as spans of samples
 * (stack_spans.h). A count of 1 is 1 ns; where counts have decimals it is 10, 100 … ns, so that
 * every count in the file is whole: the fact count_ns. The clock is the file's own, without
 * meaning. Lines in any order give the same sums; only `calls`, which counts uninterrupted spans,
 * depends on the order.
 *
 * A line with a count of 0 has no length and is only counted (W_IGNORED_RECORD). A negative count
 * is ignored (W_NEGATIVE_DURATION). A last line without a line end is dropped: its count may have
 * lost digits.
 */
#include "input_sink.h"
#include "readers_private.h"
#include "stack_spans.h"
#include "tally.h"
#include "text_slice.h"

#include <errno.h>
#include <inttypes.h>

#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/model/warnings.h"
#include "profrig/scan/input.h"

#define MAX_DECIMALS 9

struct folded_line {
	struct text_slice stack, count[2]; /* in the order of the line; count[0].n = 0: only one */
};

struct folded {
	const char *path;
	struct sink *sink;
	struct input_map map;
	int decimals;
	bool differential, cut;
	uint64_t line, lines;
	struct stack_track tracks[2];
	struct stack_limit limit;
	VEC(struct stack_frame) frames;
	size_t more; /* frames that are not among them */
	str_id sampled, kernel, jit, inlined, waiting;
	struct tally bad, numbers, negative, nothing;
};

typedef void line_fn(struct folded *fo, const struct folded_line *l);

static bool number_begins(struct text_slice t)
{
	size_t i = t.n > 0 && (t.p[0] == '-' || t.p[0] == '+');

	return i < t.n && ((t.p[i] >= '0' && t.p[i] <= '9') || t.p[i] == '.');
}

/* A number in any form; num_decimal checks it later. */
static bool is_number(struct text_slice t)
{
	if (!number_begins(t))
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (!t.p[i] || !strchr("0123456789.+-eE", t.p[i]))
			return false;
	return true;
}

/* false: no stack followed by a number. */
static bool parse_line(struct text_slice text, struct folded_line *ret)
{
	struct text_slice before;

	*ret = (struct folded_line){ .stack = text };
	ret->count[1] = slice_last_word(&ret->stack);
	if (ret->stack.n == 0 || !is_number(ret->count[1]))
		return false;
	before = ret->stack;
	ret->count[0] = slice_last_word(&before);
	if (before.n == 0 || !is_number(ret->count[0]))
		ret->count[0].n = 0;
	else
		ret->stack = before;
	return true;
}

static bool is_silent(struct text_slice t)
{
	t = slice_trim(t);
	return t.n == 0 || *t.p == '#';
}

static void each_line(struct folded *fo, line_fn *take)
{
	struct text_slice rest = { fo->map.data, fo->map.len }, text;
	struct folded_line l;
	bool whole;

	fo->line = 0;
	fo->bad = (struct tally){ 0 };
	while (slice_line(&rest, &text, &whole)) {
		fo->line++;
		if (is_silent(text))
			continue;
		if (parse_line(text, &l))
			take(fo, &l);
		else
			tally_line(&fo->bad, fo->line);
	}
}

static int decimals_of(struct text_slice t)
{
	const char *dot = memchr(t.p, '.', t.n);
	size_t n = 0;

	if (!dot)
		return memchr(t.p, 'e', t.n) && memchr(t.p, '-', t.n) ? MAX_DECIMALS : 0;
	while (dot + 1 + n < t.p + t.n && dot[1 + n] >= '0' && dot[1 + n] <= '9')
		n++;
	while (n > 0 && dot[n] == '0')
		n--;
	return n > MAX_DECIMALS ? MAX_DECIMALS : (int)n;
}

static void survey_line(struct folded *fo, const struct folded_line *l)
{
	fo->lines++;
	fo->differential &= l->count[0].n > 0;
	for (int i = 0; i < 2; i++) {
		int d = l->count[i].n ? decimals_of(l->count[i]) : 0;

		if (d > fo->decimals)
			fo->decimals = d;
	}
}

/* Cuts "_[k]" off a frame. */
static str_id category_of(const struct folded *fo, struct text_slice *frame)
{
	const char *tail = frame->p + frame->n - 4;
	str_id category;

	if (frame->n <= 4 || tail[0] != '_' || tail[1] != '[' || tail[3] != ']')
		return fo->sampled;
	switch (tail[2]) {
	case 'k':
		category = fo->kernel;
		break;
	case 'j':
		category = fo->jit;
		break;
	case 'i':
		category = fo->inlined;
		break;
	case 'w':
		category = fo->waiting;
		break;
	default:
		return fo->sampled;
	}
	frame->n -= 4;
	return category;
}

static void add_frame(struct folded *fo, struct text_slice frame)
{
	str_id category = category_of(fo, &frame);
	str_id name = fo->sink->ops->string(fo->sink, frame.p, frame.n);

	stack_named(&fo->limit, name, frame.n);
	VEC_PUSH(&fo->frames, (struct stack_frame){ name, category, STR_NONE });
}

static void take_frames(struct folded *fo, struct text_slice stack)
{
	VEC_CLEAR(&fo->frames);
	fo->more = 0;
	for (;;) {
		const char *semi = memchr(stack.p, ';', stack.n);
		struct text_slice frame = { stack.p, semi ? (size_t)(semi - stack.p) : stack.n };
		bool room =
			fo->frames.nr < STACK_MAX_FRAMES && mem_budget_has(&fo->limit.memory, 0);

		if (room)
			add_frame(fo, frame);
		else
			fo->more++;
		if (!semi)
			return;
		stack.n -= (size_t)(semi + 1 - stack.p);
		stack.p = semi + 1;
	}
}

static void push_count(struct folded *fo, struct stack_track *t, struct text_slice count)
{
	int64_t weight_ns;

	bool number = num_decimal(count.p, count.n, fo->decimals, &weight_ns) == 0;

	if (number && weight_ns <= 0)
		tally_line(weight_ns < 0 ? &fo->negative : &fo->nothing, fo->line);
	else if (!number || stack_push(fo->sink, &fo->limit, t, t->end_ns, weight_ns, fo->frames.v,
				       fo->frames.nr, fo->more) < 0)
		tally_line(&fo->numbers, fo->line);
}

static void push_line(struct folded *fo, const struct folded_line *l)
{
	struct text_slice stack = l->stack;

	/* "operator new 3 12" among lines with one number: the 3 is of the name */
	if (!fo->differential && l->count[0].n > 0)
		stack.n = (size_t)(l->count[0].p + l->count[0].n - stack.p);
	mem_budget_read(&fo->limit.memory, (size_t)(stack.p + stack.n - fo->map.data));
	take_frames(fo, stack);
	if (fo->differential)
		push_count(fo, &fo->tracks[0], l->count[0]);
	push_count(fo, &fo->tracks[fo->differential], l->count[1]);
}

static track_id make_track(struct folded *fo, const char *name, uint64_t key)
{
	struct track_def d = TRACK_DEF_INIT;

	d.kind = TRACK_THREAD;
	d.name = name;
	d.key = key;
	return fo->sink->ops->track(fo->sink, &d);
}

static void folded_begin(struct folded *fo)
{
	struct sink *s = fo->sink;

	input_format(input_begin(s, fo->path, "folded"),
		     fo->differential ? "folded stacks (sampled, differential)"
				      : "folded stacks (sampled)",
		     TRACE_CLOCK_OWN);
	s->ops->clock(s);
	fo->sampled = fo->limit.category = sink_puts(s, STACK_SAMPLED);
	fo->kernel = sink_puts(s, STACK_SAMPLED_KERNEL);
	fo->jit = sink_puts(s, STACK_SAMPLED_JIT);
	fo->inlined = sink_puts(s, STACK_SAMPLED_INLINED);
	fo->waiting = sink_puts(s, "sampled waiting");
	fo->tracks[0].id = make_track(fo, fo->differential ? "before" : "stacks", 0);
	if (fo->differential)
		fo->tracks[1].id = make_track(fo, "after", 1);
}

static int folded_finish(struct folded *fo)
{
	struct sink *s = fo->sink;
	int64_t unit = 1;

	for (int i = 0; i < fo->decimals; i++)
		unit *= 10;
	sink_fact(s, "stacks", (int64_t)fo->lines);
	sink_fact(s, "count_ns", unit);
	tally_warn(&fo->bad, s, W_BAD_EVENT, "lines that are no stack with a count");
	tally_warn(&fo->numbers, s, W_BAD_NUMBER, "counts that are no numbers or too large");
	tally_warn(&fo->negative, s, W_NEGATIVE_DURATION, "negative counts");
	tally_warn(&fo->nothing, s, W_IGNORED_RECORD, "counts of 0");
	stack_limit_warn(&fo->limit, s);
	if (fo->cut)
		sink_warnf(s, W_TRUNCATED,
			   "the last line has no line end, so its count may be cut; it was not "
			   "used");
	return input_finish(s, &fo->map, fo->cut, "no stacks");
}

static void drop_tail(struct folded *fo)
{
	const char *end;
	size_t whole;

	while (fo->map.len > 0 && fo->map.data[fo->map.len - 1] == 0)
		fo->map.len--;
	end = fo->map.len ? memrchr(fo->map.data, '\n', fo->map.len) : NULL;
	whole = end ? (size_t)(end - fo->map.data) + 1 : 0;
	fo->cut = whole < fo->map.len;
	fo->map.len = whole;
}

static void folded_release(struct folded *fo)
{
	input_unmap(&fo->map);
	VEC_RELEASE(&fo->frames);
	for (int i = 0; i < 2; i++)
		VEC_RELEASE(&fo->tracks[i].open);
}

static int read_folded(const char *path, struct sink *s, const struct read_opts *o, struct err *err)
{
	CLEANUP(folded_release)
	struct folded fo = { .path = path, .sink = s, .differential = true };
	int r = input_map(path, 0, &fo.map, err);

	(void)o;
	if (r < 0)
		return r;
	drop_tail(&fo);
	mem_budget_init(&fo.limit.memory, &fo.map);
	each_line(&fo, survey_line);
	if (fo.lines == 0 && fo.bad.nr > 0)
		return err_set(err, EINVAL,
			       "%s: line %" PRIu64 ": not 'frame;frame;frame count', nor is any "
			       "other line",
			       path, fo.bad.at);
	if (fo.lines == 0)
		return err_set(err, ENODATA, "%s: offset 0: no whole line of stacks in it", path);
	input_rewind(&fo.map);
	folded_begin(&fo);
	each_line(&fo, push_line);
	for (int i = 0; i <= fo.differential; i++)
		stack_close(s, &fo.tracks[i]);
	return folded_finish(&fo);
}

/* Whether the text is folded: every line a stack with a number, some stack of several frames; a
 * list of words with numbers counts only with the file's suffix. */
static int probe_folded(const struct probe *p)
{
	struct text_slice rest = { (const char *)p->head, p->head_len }, text;
	unsigned lines = 0, deep = 0;
	bool named = text_suffix(p->name, ".folded") || text_suffix(p->name, ".collapsed"), whole;

	if (p->is_dir || !p->head || memchr(p->head, 0, p->head_len))
		return 0;
	while (slice_line(&rest, &text, &whole) && whole) {
		struct folded_line l;

		if (is_silent(text))
			continue;
		if (!parse_line(text, &l))
			return named && lines > 0 ? 20 : 0;
		if (!named && memmem(l.stack.p, l.stack.n, "; ", 2))
			return 0;
		lines++;
		deep += memchr(l.stack.p, ';', l.stack.n) != NULL;
	}
	if (lines == 0)
		return named ? 10 : 0;
	return named ? 90 : deep * 2 >= lines ? 70 : deep ? 30 : 0;
}

const struct reader reader_folded = {
	.name = "folded",
	.about = "folded stacks of flame graph tools",
	.suffixes = ".folded[.gz|.zst]",
	.probe = probe_folded,
	.read = read_folded,
};
