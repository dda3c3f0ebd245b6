#include "perf_line.h"
#include "stack_spans.h"

#include <ctype.h>

#include "profrig/base/num.h"

bool perf_is_indented(struct text_slice line)
{
	return line.n > 0 && (line.p[0] == ' ' || line.p[0] == '\t');
}

struct text_slice perf_behind(struct text_slice t, const char *word)
{
	const char *at = t.n ? memmem(t.p, t.n, word, strlen(word)) : NULL;

	if (!at)
		return (struct text_slice){ NULL, 0 };
	at += strlen(word);
	return (struct text_slice){ at, t.n - (size_t)(at - t.p) };
}

bool perf_leading_number(struct text_slice t, int64_t *ret)
{
	size_t n = 0;

	while (n < t.n && t.p[n] >= '0' && t.p[n] <= '9')
		n++;
	return num_i64(t.p, n, ret) == 0;
}

static bool all_digits(struct text_slice t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!isdigit((unsigned char)t.p[i]))
			return false;
	return t.n > 0;
}

/* "7628263.042515": seconds with at least a millisecond's digits behind the point. */
static bool is_time(struct text_slice t)
{
	const char *dot = memchr(t.p, '.', t.n);
	struct text_slice whole, part;

	if (!dot)
		return false;
	whole = (struct text_slice){ t.p, (size_t)(dot - t.p) };
	part = (struct text_slice){ dot + 1, t.n - whole.n - 1 };
	return all_digits(whole) && all_digits(part) && part.n >= 3 && part.n <= 9;
}

static bool parse_id(struct text_slice t, int64_t *ret)
{
	return num_i64(t.p, t.n, ret) == 0 && *ret >= -1 && *ret <= INT32_MAX;
}

/* "977/977", "977", "-1/-1"; one number alone is a thread's. */
static bool parse_ids(struct text_slice t, struct perf_head *h)
{
	const char *slash = memchr(t.p, '/', t.n);
	int64_t pid = -1, tid;

	if (!slash) {
		if (!parse_id(t, &tid))
			return false;
	} else if (!parse_id((struct text_slice){ t.p, (size_t)(slash - t.p) }, &pid) ||
		   !parse_id((struct text_slice){ slash + 1, t.n - (size_t)(slash + 1 - t.p) },
			     &tid)) {
		return false;
	}
	h->pid = pid;
	h->tid = tid;
	return true;
}

static bool parse_cpu(struct text_slice t, struct perf_head *h)
{
	int64_t cpu;

	if (t.n < 3 || t.p[0] != '[' || t.p[t.n - 1] != ']' ||
	    num_i64(t.p + 1, t.n - 2, &cpu) < 0 || cpu < 0 || cpu > 1 << 20)
		return false;
	h->cpu = (int32_t)cpu;
	return true;
}

/* Letters for the context of a sample, between CPU and time. */
static bool is_misc(struct text_slice t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!strchr("KUHGgEMPSDFip", t.p[i]) || !t.p[i])
			return false;
	return t.n > 0 && t.n <= 4;
}

/* The part before time and event: command, ids, CPU; each may be missing. */
static void parse_left(struct text_slice left, struct perf_head *h)
{
	struct text_slice before = left, word = slice_last_word(&before);

	if (is_misc(word)) {
		struct text_slice further = before, at = slice_last_word(&further);

		if (parse_cpu(at, h) || parse_ids(at, h)) {
			left = before;
			word = slice_last_word(&before);
		}
	}
	if (parse_cpu(word, h)) {
		left = before;
		word = slice_last_word(&before);
	}
	if (parse_ids(word, h))
		left = before;
	h->comm = slice_trim(left);
}

/* The next word that ends in a colon, from *at on: its start; *at is then behind the colon. */
static const char *colon_word(struct text_slice line, size_t *at, struct text_slice *ret)
{
	while (*at < line.n) {
		const char *colon = memchr(line.p + *at, ':', line.n - *at), *from;

		if (!colon)
			break;
		*at = (size_t)(colon - line.p) + 1;
		if (*at < line.n && !slice_blank(line.p[*at]))
			continue;
		for (from = colon; from > line.p && !slice_blank(from[-1]); from--)
			;
		*ret = (struct text_slice){ from, (size_t)(colon - from) };
		return from;
	}
	return NULL;
}

/* The part behind the time: period, event, and the rest. */
static void parse_right(struct text_slice right, struct perf_head *h)
{
	size_t at = 0;
	struct text_slice event, before;
	const char *from;

	right = slice_trim(right);
	h->rest = right;
	if (slice_begins(right, "PERF_RECORD_")) {
		h->record = true;
		h->event = right;
		return;
	}
	from = colon_word(right, &at, &event);
	if (!from)
		return;
	before = slice_trim((struct text_slice){ right.p, (size_t)(from - right.p) });
	if (before.n > 0 && num_u64(before.p, before.n, &h->period) < 0) {
		if (!all_digits(before))
			return;         /* some other field: no event is shown */
		h->period = UINT64_MAX; /* no period can be that */
	}
	h->has_period = before.n > 0;
	h->event = event;
	h->rest = slice_trim((struct text_slice){ right.p + at, right.n - at });
}

static void head_init(struct perf_head *h)
{
	static const struct text_slice none = { "", 0 };

	*h = (struct perf_head){
		.comm = none, .event = none, .rest = none, .pid = -1, .tid = -1, .cpu = -1
	};
}

/* Without a time the period follows ids or a CPU: a number alone is the thread. */
static void parse_untimed(struct text_slice line, struct text_slice event, size_t at,
			  struct perf_head *h)
{
	struct text_slice left = { line.p, (size_t)(event.p - line.p) }, before = left, word;
	struct perf_head trial;

	h->event = event;
	h->record = slice_begins(event, "PERF_RECORD_");
	h->rest = slice_trim((struct text_slice){ line.p + at, line.n - at });
	word = slice_last_word(&before);
	head_init(&trial);
	if (all_digits(word)) {
		parse_left(before, &trial);
		if (trial.cpu >= 0 || trial.tid >= 0)
			h->has_period = num_u64(word.p, word.n, &h->period) == 0;
	}
	parse_left(h->has_period ? before : left, h);
}

bool perf_head_parse(struct text_slice line, struct perf_head *ret)
{
	struct text_slice word, first = { NULL, 0 };
	size_t at = 0, first_at = 0;

	line = slice_trim(line);
	head_init(ret);
	while (colon_word(line, &at, &word)) {
		if (!first.p) {
			first = word;
			first_at = at;
		}
		if (!is_time(word))
			continue;
		if (num_decimal(word.p, word.n, 9, &ret->t_ns) < 0)
			ret->t_ns = INT64_MAX; /* no time can be that */
		ret->timed = true;
		parse_left((struct text_slice){ line.p, (size_t)(word.p - line.p) }, ret);
		parse_right((struct text_slice){ line.p + at, line.n - at }, ret);
		return true;
	}
	if (!first.p || first.n == 0)
		return false;
	parse_untimed(line, first, first_at, ret);
	return ret->tid >= 0 || ret->cpu >= 0 || ret->has_period;
}

void perf_head_bare(struct text_slice line, struct perf_head *ret)
{
	head_init(ret);
	parse_left(slice_trim(line), ret);
}

/* The parenthesis that the last character closes; 0: none. */
static size_t dso_open(struct text_slice t)
{
	size_t depth = 0;

	for (size_t i = t.n; i-- > 0;) {
		depth += t.p[i] == ')';
		if (t.p[i] == '(' && --depth == 0)
			return i == 0 || slice_blank(t.p[i - 1]) ? i + 1 : 0;
	}
	return 0;
}

bool perf_address_parse(struct text_slice line, struct text_slice *ret_address,
			struct text_slice *ret_rest)
{
	struct text_slice t = slice_trim(line);
	size_t n = t.n > 2 && t.p[0] == '0' && t.p[1] == 'x' ? 2 : 0, from = n;

	while (n < t.n && isxdigit((unsigned char)t.p[n]))
		n++;
	if (n == from || n - from > 16 || (n < t.n && !slice_blank(t.p[n])))
		return false;
	*ret_address = (struct text_slice){ t.p + from, n - from };
	*ret_rest = slice_trim((struct text_slice){ t.p + n, t.n - n });
	return true;
}

bool perf_address_is_kernel(struct text_slice address)
{
	return address.n == 16 && (address.p[0] < '0' || address.p[0] > '7');
}

bool perf_frame_parse(struct text_slice line, struct perf_frame *ret)
{
	struct text_slice t;
	size_t open;

	*ret = (struct perf_frame){ .symbol = { "", 0 }, .dso = { "", 0 } };
	if (!perf_address_parse(line, &ret->address, &t))
		return false;
	ret->symbol = t;
	open = t.n > 0 && t.p[t.n - 1] == ')' ? dso_open(t) : 0;
	if (open == 0)
		return true;
	ret->has_dso = true;
	ret->dso = (struct text_slice){ t.p + open, t.n - open - 1 };
	ret->symbol = slice_trim((struct text_slice){ t.p, open - 1 });
	return true;
}

static bool is_modifiers(struct text_slice t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!t.p[i] || !strchr("ukhGHpPSDIWeb", t.p[i]))
			return false;
	return true;
}

struct text_slice perf_event_base(struct text_slice event)
{
	const char *slash = memchr(event.p, '/', event.n);
	const char *last = slash ? memrchr(event.p, '/', event.n) : NULL;
	const char *colon = event.n ? memrchr(event.p, ':', event.n) : NULL;

	if (slash && last > slash) {
		struct text_slice inner = { slash + 1, (size_t)(last - slash - 1) };
		const char *comma = memchr(inner.p, ',', inner.n);

		if (comma)
			inner.n = (size_t)(comma - inner.p);
		if (inner.n > 0 && !memchr(inner.p, '=', inner.n))
			return inner;
		event.n = (size_t)(last + 1 - event.p);
		return event;
	}
	if (colon && !is_modifiers((struct text_slice){ colon + 1,
							event.n - (size_t)(colon + 1 - event.p) }))
		return event;
	if (colon)
		event.n = (size_t)(colon - event.p);
	return event;
}

/* "f+0x1c" → "f" */
static struct text_slice without_offset(struct text_slice t)
{
	size_t n = t.n;

	while (n > 0 && isxdigit((unsigned char)t.p[n - 1]))
		n--;
	if (n >= 3 && n < t.n && memcmp(t.p + n - 3, "+0x", 3) == 0)
		t.n = n - 3;
	return t;
}

/* Where the arguments begin. A Go method such as "http.(*Client).Do" has none. */
static size_t arguments_at(struct text_slice t)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *go = t.n ? memmem(t.p, t.n, ".(", 2) : NULL;

	if (go && memmem(go, t.n - (size_t)(go - t.p), ").", 2))
		return t.n;
	for (size_t i = 0; i < t.n; i++)
		if (t.p[i] == '(' &&
		    !slice_begins((struct text_slice){ t.p + i, t.n - i }, anonymous))
			return i;
	return t.n;
}

static void add_unknown(const struct perf_frame *f, struct strbuf *out)
{
	struct text_slice dso = f->dso;
	const char *slash = dso.n ? memrchr(dso.p, '/', dso.n) : NULL;

	if (slash)
		dso = (struct text_slice){ slash + 1, dso.n - (size_t)(slash + 1 - dso.p) };
	if (!f->has_dso && f->symbol.n == 0) {
		strbuf_addstr(out, "0x");
		strbuf_add(out, f->address.p, f->address.n);
	} else if (dso.n == 0 || slice_is(dso, "[unknown]")) {
		strbuf_addstr(out, "[unknown]");
	} else {
		strbuf_addch(out, '[');
		strbuf_add(out, dso.p, dso.n);
		strbuf_addch(out, ']');
	}
}

bool perf_frame_slice(const struct perf_frame *f, bool java, struct text_slice *ret)
{
	struct text_slice t = without_offset(f->symbol);
	size_t end = arguments_at(t);

	t = slice_trim((struct text_slice){ t.p, end > 0 ? end : t.n });
	*ret = t;
	return t.n > 0 && !slice_is(t, "[unknown]") && !(java && t.p[0] == 'L') &&
	       t.p == f->symbol.p && !memchr(t.p, '"', t.n) && !memchr(t.p, '\'', t.n) &&
	       !memchr(t.p, ';', t.n);
}

void perf_frame_name(const struct perf_frame *f, bool java, struct strbuf *out)
{
	struct text_slice t = without_offset(f->symbol);
	size_t from = out->len, end;

	if (t.n == 0 || slice_is(t, "[unknown]")) {
		add_unknown(f, out);
	} else {
		end = arguments_at(t);
		strbuf_add(out, t.p, end > 0 ? end : t.n);
		strbuf_rtrim(out);
		if (java && out->buf[from] == 'L' && strchr(out->buf + from, '/')) {
			memmove(out->buf + from, out->buf + from + 1, out->len - from);
			out->len--;
		}
	}
	end = from;
	for (size_t i = from; i < out->len; i++) {
		char c = out->buf[i];

		if (c != '"' && c != '\'')
			out->buf[end++] = c == ';' ? ':' : c;
	}
	out->len = end;
	out->buf[end] = '\0';
	if (out->len == from)
		strbuf_addstr(out, "[unknown]");
}

/* A map that a program writes of the code it makes, or an object made of one. */
static bool is_jit(struct text_slice dso)
{
	const char *slash = dso.n ? memrchr(dso.p, '/', dso.n) : NULL;
	struct text_slice name = dso;

	if (slash)
		name = (struct text_slice){ slash + 1, dso.n - (size_t)(slash + 1 - dso.p) };
	return slice_begins(name, "jitted-") || (slice_begins(name, "perf-") && name.n > 4 &&
						 memcmp(name.p + name.n - 4, ".map", 4) == 0);
}

const char *perf_frame_category(const struct perf_frame *f)
{
	if (slice_is(f->dso, "inlined"))
		return STACK_SAMPLED_INLINED;
	if (perf_address_is_kernel(f->address) || slice_begins(f->dso, "[kernel") ||
	    slice_begins(f->dso, "[guest"))
		return STACK_SAMPLED_KERNEL;
	return is_jit(f->dso) ? STACK_SAMPLED_JIT : STACK_SAMPLED;
}
