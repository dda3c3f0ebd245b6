#include "perf.h"

#include "profrig/base/sort.h"

#define MAX_EVENTS 4096
#define MAX_GAPS 65536
#define DEFAULT_SAMPLE_NS 1000000
#define MIN_SAMPLE_NS 1000

/* --- header --- */

uint32_t perf_event_at(struct perf *p, struct text_slice event)
{
	struct text_slice base = perf_event_base(event);
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
						  .clock = slice_is(base, "cpu-clock") ||
							   slice_is(base, "task-clock") });
	return *at;
}

static int64_t sample_ns_of(int64_t hz)
{
	return hz > 0 && hz <= 1000000 ? (1000000000 + hz / 2) / hz : 0;
}

/* "name = cycles:u, , id = …, { sample_period, sample_freq } = 99, …, freq = 1, …" */
static void take_event(struct perf *p, struct text_slice t)
{
	struct text_slice name = perf_behind(t, "name = "),
			  freq = perf_behind(t, "sample_freq } = ");
	const char *comma = name.n ? memchr(name.p, ',', name.n) : NULL;
	uint32_t event;
	int64_t hz;

	if (!comma || !perf_behind(t, ", freq = 1").p || !perf_leading_number(freq, &hz))
		return;
	name.n = (size_t)(comma - name.p);
	event = perf_event_at(p, name);
	p->events.v[event].sample_ns = sample_ns_of(hz);
}

/* "perf record -F 99 -a", "--freq=99" */
static void take_cmdline(struct perf *p, struct text_slice t)
{
	static const char *const options[] = { " -F ", " -F", " --freq=", " --freq " };

	for (size_t i = 0; i < ARRAY_LEN(options) && p->cmdline_hz == 0; i++)
		if (!perf_leading_number(perf_behind(t, options[i]), &p->cmdline_hz))
			p->cmdline_hz = 0;
}

static void take_comment(struct perf *p, struct text_slice line)
{
	struct text_slice t = slice_trim((struct text_slice){ line.p + 1, line.n - 1 });
	const char *colon = t.n ? memchr(t.p, ':', t.n) : NULL;
	struct text_slice key, value;

	if (!colon)
		return;
	key = slice_trim((struct text_slice){ t.p, (size_t)(colon - t.p) });
	value = slice_trim((struct text_slice){ colon + 1, t.n - (size_t)(colon + 1 - t.p) });
	if (slice_is(key, "hostname") && value.n < sizeof(p->host)) {
		memcpy(p->host, value.p, value.n);
		p->host[value.n] = '\0';
	} else if (slice_is(key, "event")) {
		take_event(p, value);
	} else if (slice_is(key, "cmdline")) {
		take_cmdline(p, value);
	} else if (slice_is(key, "clockid")) {
		size_t n = 0;

		while (n < value.n && n + 1 < sizeof(p->clockid) && value.p[n] != ' ')
			n++;
		memcpy(p->clockid, value.p, n);
		p->clockid[n] = '\0';
	}
}

/* --- lines → samples --- */

static bool next_is_frame(const struct perf *p)
{
	struct text_slice rest = p->rest, line;
	struct perf_frame f;
	bool whole;

	return slice_line(&rest, &line, &whole) && perf_is_indented(line) &&
	       perf_frame_parse(line, &f);
}

/* A line in a stack that is no part of it: that of the next event, without a call chain. */
static bool ends_stack(struct text_slice line)
{
	struct perf_frame f;
	struct perf_head h;

	if (line.p[0] == '\t' || (perf_frame_parse(line, &f) && f.has_dso))
		return false;
	return perf_head_parse(line, &h) && h.timed;
}

static void take_stack(struct perf *p, struct perf_sample *s)
{
	struct text_slice line;
	struct perf_head h;
	const char *from = p->rest.p, *end = from;
	bool whole = true;

	for (;;) {
		struct text_slice rest = p->rest;

		if (!slice_line(&rest, &line, &whole))
			break;
		s->ended = slice_trim(line).n == 0 || !perf_is_indented(line) ||
			   (s->padded ? perf_head_parse(line, &h) : ends_stack(line));
		if (s->ended)
			break;
		p->rest = rest;
		p->line++;
		end = line.p + line.n;
	}
	s->stack = (struct text_slice){ from, (size_t)(end - from) };
}

static bool head_of(const struct perf *p, struct text_slice line, struct perf_sample *s)
{
	s->padded = perf_is_indented(line);
	if (perf_head_parse(line, &s->head))
		return true;
	if (s->padded || !next_is_frame(p))
		return false;
	perf_head_bare(line, &s->head);
	return true;
}

bool perf_next_sample(struct perf *p, struct perf_sample *ret)
{
	struct text_slice line;
	bool whole;

	while (slice_line(&p->rest, &line, &whole)) {
		p->line++;
		*ret = (struct perf_sample){ .line = p->line };
		if (line.n > 0 && line.p[0] == '#') {
			if (p->first_pass)
				take_comment(p, line);
		} else if (slice_trim(line).n == 0) {
			continue;
		} else if (head_of(p, line, ret)) {
			take_stack(p, ret);
			return true;
		} else if (p->first_pass) {
			tally_line(&p->bad, p->line);
		}
	}
	return false;
}

/* --- first pass: which event is the time, and how much a sample of it --- */

/* The period of a clock's events; for others, their distance. */
static void note_gap(struct perf *p, uint32_t event, const struct perf_head *h)
{
	struct perf_event *ev = &p->events.v[event];
	bool period = ev->clock && h->has_period;
	uint32_t place = h->cpu >= 0 ? (uint32_t)h->cpu : (uint32_t)h->tid | 1U << 31;
	uint32_t *at;
	int64_t gap;

	if (ev->sample_ns || ev->gaps.nr == MAX_GAPS)
		return;
	if (period && h->period > 0 && h->period <= (uint64_t)PERF_MAX_SAMPLE_NS)
		VEC_PUSH(&ev->gaps, (int64_t)h->period);
	if (period || !h->timed || h->t_ns > PERF_MAX_TIME_NS)
		return;
	at = u64map_at(&p->last_of, u64map_pair(event, place));
	if (*at == U64MAP_NONE) {
		*at = (uint32_t)p->last_ns.nr;
		VEC_PUSH(&p->last_ns, h->t_ns);
		return;
	}
	gap = h->t_ns - p->last_ns.v[*at];
	p->last_ns.v[*at] = h->t_ns;
	if (gap >= MIN_SAMPLE_NS && gap <= PERF_MAX_SAMPLE_NS)
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

void perf_survey(struct perf *p)
{
	struct perf_sample s = { .ended = true };

	p->first_pass = true;
	p->rest = (struct text_slice){ p->map.data, p->map.len };
	p->open_end = false;
	while (perf_next_sample(p, &s)) {
		uint32_t event;

		p->open_end = s.stack.n > 0 && !s.padded && !s.ended;
		if (s.head.record)
			continue;
		p->samples++;
		event = perf_event_at(p, s.head.event);
		p->events.v[event].samples++;
		if (s.head.has_period && s.head.period > 0 && s.head.period < UINT64_MAX) {
			p->events.v[event].periods++;
			p->events.v[event].period_sum += (double)s.head.period;
		}
		note_gap(p, event, &s.head);
	}
	choose_event(p);
	p->first_pass = false;
	u64map_release(&p->last_of);
	VEC_RELEASE(&p->last_ns);
}

/* --- the end of the text --- */

/* The line that ends at `end`. */
static struct text_slice line_before(const char *data, size_t end)
{
	const char *nl = end ? memrchr(data, '\n', end) : NULL;
	size_t from = nl ? (size_t)(nl - data) + 1 : 0;

	return (struct text_slice){ data + from, end - from };
}

void perf_drop_tail(struct perf *p)
{
	const char *d = p->map.data;
	size_t n = p->map.len;
	struct text_slice line;

	while (n > 0 && d[n - 1] == 0)
		n--;
	p->map.len = n;
	if (n == 0 || d[n - 1] == '\n')
		return;
	p->cut = true;
	line = line_before(d, n);
	n = (size_t)(line.p - d);
	if (!perf_is_indented(line)) {
		p->map.len = n;
		return;
	}
	while (n > 0) {
		line = line_before(d, n - 1);
		if (slice_trim(line).n == 0 || (perf_is_indented(line) && ends_stack(line)))
			break;
		n = (size_t)(line.p - d);
		if (!perf_is_indented(line))
			break;
	}
	p->map.len = n;
}
