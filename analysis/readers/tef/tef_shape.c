/*
 * A program writes the events of a trace in a few shapes: the same members in the same order with
 * the same blanks, only the values differ. So the text between two values (", \"tid\": ") is parsed
 * once and from then on compared, 32 bytes at a time.
 *
 * The shapes form a graph: a step is the text up to a value, and has the steps that followed it,
 * the last one first. Values with few variants (ph, cat, bp) belong to the text of their step, so
 * that kernels and operators have separate successors; steps of pid, tid and the like keep their
 * last value. Args are walked in the same way where their class is read, and else skipped; where
 * facts are wanted, the places of their values are kept.
 *
 * This is exact, as equal bytes behind equal states are equal tokens. An event that fits no shape
 * (an escape in a key, an exponent, damage, …) goes to tef_event_parse, from its first byte on, and
 * if that succeeds the steps of the event are learned.
 */
#include "tef.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "profrig/base/digits.h"

#define TEXT_MAX 64 /* of a step */
#define NEXT_MAX 16
/* of these are not for categories */
#define CATS_SPARE 4
#define STEPS_MAX 600
/* Events that differ from all others teach nothing. */
#define LESSONS_MAX 5000
#define MEMO_MAX 24
#define NO_STEP UINT16_MAX

enum step_kind {
	/* the whole member is in the text */
	STEP_PH,
	STEP_CAT,
	STEP_BP,
	STEP_END,
	/* the text ends before a number */
	STEP_TIME,
	STEP_DUR,
	STEP_ID_NUMBER,
	STEP_ARG_NUMBER,
	STEP_WORD,
	/* the text ends behind a string's quote */
	STEP_TEXT,
	STEP_ID_TEXT,
	STEP_ARG_TEXT,
	STEP_STRING,
	/* the text ends behind a bracket */
	STEP_ARGS,
	STEP_NESTED
};

struct step {
	char text[TEXT_MAX];
	uint64_t mask; /* a bit for each byte of text */
	uint8_t n, kind;
	uint8_t nr_next;
	uint8_t value_at, value_n; /* where in the text a value is */
	uint8_t class;             /* of STEP_CAT */
	uint16_t known;            /* of STEP_CAT: the number of its text */
	uint8_t arg;               /* enum tef_arg */
	char open;                 /* of STEP_NESTED */
	uint8_t member;            /* enum tef_member of STEP_TEXT and STEP_ARGS */
	uint16_t field;            /* the field of the event for an id */
	uint16_t inside;           /* of STEP_ARGS: the step that its members follow */
	uint16_t next[NEXT_MAX];
	/* the last value with the byte behind it, and its meaning */
	uint8_t memo_n;
	uint32_t memo_mask;
	char memo[32];
	struct tef_id memo_id;
};

struct tef_shapes {
	const struct tef_doc *doc;
	const char *begin;
	bool fast, facts;
	unsigned int lessons, parser;
	struct tef_texts *texts;
	uint16_t nr;
	struct step steps[STEPS_MAX]; /* the first: before an event */
};

/* ---- learning ---- */

/* The text from where the value before ended; the step's own kind is not known yet. */
static bool step_text(struct step *st, const char *from, const char *to)
{
	size_t n = (size_t)(to - from);

	if (n == 0 || n > TEXT_MAX || memchr(from, 0, n))
		return false;
	memcpy(st->text, from, n);
	st->n = (uint8_t)n;
	st->mask = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
	return true;
}

/* The step behind prev that equals st; a new one when there is none. */
static uint16_t step_add(struct tef_shapes *s, uint16_t prev, const struct step *st)
{
	struct step *p = &s->steps[prev];
	uint16_t at = s->nr;

	for (size_t i = 0; i < p->nr_next; i++) {
		const struct step *o = &s->steps[p->next[i]];

		if (o->n == st->n && o->kind == st->kind && memcmp(o->text, st->text, st->n) == 0)
			return p->next[i];
	}
	if (p->nr_next >= NEXT_MAX - (st->kind == STEP_CAT ? CATS_SPARE : 0) ||
	    s->nr + 1 >= STEPS_MAX)
		return NO_STEP;
	s->steps[at] = *st;
	p->next[p->nr_next++] = at;
	s->nr++;
	if (st->kind == STEP_ARGS) {
		s->steps[at].inside = s->nr;
		s->steps[s->nr++] = (struct step){ .n = 0 };
	}
	return at;
}

/* A member whose value is part of the text; from: where the value before it ended. */
static bool step_whole(struct step *st, enum step_kind kind, const char *from,
		       const struct json_text *value)
{
	if (!value->quoted || value->escaped || !step_text(st, from, value->p + value->n + 1))
		return false;
	st->kind = kind;
	st->value_at = (uint8_t)(value->p - from);
	st->value_n = (uint8_t)value->n;
	return true;
}

/* A member whose value differs. */
static bool step_scalar(struct step *st, const char *from, const struct json_text *value,
			enum step_kind number, enum step_kind text)
{
	st->kind = value->quoted ? text : number;
	return step_text(st, from, value->p);
}

static bool step_of_member(struct step *st, enum tef_member member, const char *from,
			   const struct json_text *v)
{
	st->member = (uint8_t)member;
	switch (member) {
	case TEF_PH:
		return v->n == 1 && step_whole(st, STEP_PH, from, v);
	case TEF_BP:
		return step_whole(st, STEP_BP, from, v);
	case TEF_CAT:
		st->class = (uint8_t)tef_kineto_class(v);
		return step_whole(st, STEP_CAT, from, v) ||
		       (v->quoted && step_scalar(st, from, v, STEP_TEXT, STEP_TEXT));
	case TEF_NAME:
	case TEF_SCOPE:
		return v->quoted && step_scalar(st, from, v, STEP_TEXT, STEP_TEXT);
	case TEF_TS:
		return step_scalar(st, from, v, STEP_TIME, STEP_TEXT);
	case TEF_DUR:
		return step_scalar(st, from, v, STEP_DUR, STEP_TEXT);
	case TEF_PID:
		st->field = offsetof(struct tef_event, pid);
		return step_scalar(st, from, v, STEP_ID_NUMBER, STEP_ID_TEXT);
	case TEF_TID:
		st->field = offsetof(struct tef_event, tid);
		return step_scalar(st, from, v, STEP_ID_NUMBER, STEP_ID_TEXT);
	case TEF_ID:
		st->field = offsetof(struct tef_event, id);
		return step_scalar(st, from, v, STEP_ID_NUMBER, STEP_ID_TEXT);
	case TEF_OTHER:
		return step_scalar(st, from, v, STEP_WORD, STEP_STRING);
	case TEF_ARGS:
	case TEF_ATTR:
	case TEF_NATIVE:
	case TEF_TDUR:
	case TEF_ID2:
		break;
	}
	return false;
}

static bool step_of_arg(struct step *st, enum tef_arg arg, const char *from,
			const struct json_text *v)
{
	st->arg = (uint8_t)arg;
	if (arg == TEF_ARG_OTHER || arg >= TEF_ARG_FACTS)
		return step_scalar(st, from, v, STEP_WORD, STEP_STRING);
	if (arg == TEF_ARG_DEVICE || arg == TEF_ARG_STREAM) {
		st->field = arg == TEF_ARG_DEVICE ? offsetof(struct tef_event, kineto.device)
						  : offsetof(struct tef_event, kineto.stream);
		return step_scalar(st, from, v, STEP_ID_NUMBER, STEP_ID_TEXT);
	}
	return step_scalar(st, from, v, STEP_ARG_NUMBER, STEP_ARG_TEXT);
}

/* Adds the step behind prev; false when there is no room. */
static bool step_take(struct tef_shapes *s, uint16_t *prev, const struct step *st)
{
	uint16_t at = step_add(s, *prev, st);

	if (at != NO_STEP)
		*prev = at;
	return at != NO_STEP;
}

static bool learn_scalar(struct tef_shapes *s, uint16_t *prev, struct json_cur *c, const char *from,
			 const struct json_text *key, bool in_args)
{
	struct step st = { .inside = NO_STEP };
	struct json_text value;

	if (json_scalar(c, &value) < 0)
		return false;
	if (in_args)
		return step_of_arg(&st, tef_arg_of(key, s->facts), from, &value) &&
		       step_take(s, prev, &st);
	if (!step_of_member(&st, tef_member_of(key), from, &value))
		return false;
	if (st.kind == STEP_CAT)
		st.known = tef_texts_number(s->texts, &value);
	if (step_take(s, prev, &st))
		return true;
	/* too many categories to have a step each */
	return st.kind == STEP_CAT && step_scalar(&st, from, &value, STEP_TEXT, STEP_TEXT) &&
	       step_take(s, prev, &st);
}

static bool learn_members(struct tef_shapes *s, uint16_t *prev, struct json_cur *c,
			  const char *from, bool in_args);

static bool learn_nested(struct tef_shapes *s, uint16_t *prev, struct json_cur *c, const char *from,
			 const struct json_text *key, bool in_args)
{
	enum tef_member member = in_args ? TEF_OTHER : tef_member_of(key);
	struct step st = { .inside = NO_STEP, .kind = STEP_NESTED, .open = *c->p };
	struct json_cur inside = { c->p + 1, c->end };
	uint16_t at;

	if (in_args)
		st.arg = (uint8_t)tef_arg_of(key, s->facts);
	st.member = (uint8_t)member;
	if ((member == TEF_ARGS || member == TEF_ATTR) && st.open == '{')
		st.kind = STEP_ARGS;
	else if (member != TEF_OTHER)
		return false;
	if (!step_text(&st, from, c->p + 1) || json_skip(c) < 0 || !step_take(s, prev, &st))
		return false;
	at = s->steps[*prev].inside;
	if (at != NO_STEP)
		learn_members(s, &at, &inside, inside.p, true);
	return true;
}

/* Learns the members of an object that was opened, and moves behind it. */
static bool learn_members(struct tef_shapes *s, uint16_t *prev, struct json_cur *c,
			  const char *from, bool in_args)
{
	struct json_text key;
	bool some = false, ok = true;
	int r;

	while (ok && (r = json_member(c, &some, &key)) > 0) {
		char ch = json_peek(c);

		ok = ch == '{' || ch == '[' ? learn_nested(s, prev, c, from, &key, in_args)
					    : learn_scalar(s, prev, c, from, &key, in_args);
		from = c->p;
	}
	if (ok && r == 0 && (some || in_args)) {
		struct step st = { .inside = NO_STEP, .kind = STEP_END };

		ok = step_text(&st, from, c->p) && step_take(s, prev, &st);
	}
	return ok;
}

static void shape_learn(struct tef_shapes *s, struct json_cur c)
{
	uint16_t prev = 0;
	const char *from = c.p;

	if (s->lessons++ < LESSONS_MAX && json_open(&c, '{') == 0)
		learn_members(s, &prev, &c, from, false);
}

/* ---- following ---- */

#ifdef __x86_64__
#define FAST __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define FAST_INLINE FAST __attribute__((always_inline)) static inline

FAST_INLINE __m256i load32(const char *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

FAST_INLINE uint32_t equal32(const char *a, const char *b)
{
	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load32(a), load32(b)));
}

/* The step's text holds no zero, so that it never reaches behind the end. */
FAST_INLINE bool stands_at(const struct step *st, const char *p)
{
	if (~equal32(p, st->text) & (uint32_t)st->mask)
		return false;
	return st->n <= 32 || (~equal32(p + 32, st->text + 32) & (uint32_t)(st->mask >> 32)) == 0;
}

FAST_INLINE struct step *step_behind(struct tef_shapes *s, struct step *from, const char *p)
{
	for (size_t i = 0; i < from->nr_next; i++) {
		uint16_t at = from->next[i];

		if (!stands_at(&s->steps[at], p))
			continue;
		if (i > 0) {
			from->next[i] = from->next[0];
			from->next[0] = at;
		}
		return &s->steps[at];
	}
	return NULL;
}

/* Behind the closing quote of the string that begins at p; NULL when there is none. */
FAST_INLINE const char *string_take(const char *p, const char *end, struct json_text *ret)
{
	const __m256i quote = _mm256_set1_epi8('"'), back = _mm256_set1_epi8('\\');
	const char *from = p;
	bool escaped = false;

	while (p < end) {
		__m256i v = load32(p);
		uint32_t m = (uint32_t)_mm256_movemask_epi8(
			_mm256_or_si256(_mm256_cmpeq_epi8(v, quote), _mm256_cmpeq_epi8(v, back)));

		if (!m) {
			p += 32;
			continue;
		}
		p += __builtin_ctz(m);
		if (p >= end)
			return NULL;
		if (*p == '"') {
			*ret = (struct json_text){
				.p = from, .n = (size_t)(p - from), .escaped = escaped, .quoted = 1
			};
			return p + 1;
		}
		escaped = true;
		p += 2;
	}
	return NULL;
}

FAST_INLINE uint32_t not_digits(const char *p)
{
	__m256i v = _mm256_sub_epi8(load32(p), _mm256_set1_epi8('0'));

	return ~(uint32_t)_mm256_movemask_epi8(
		_mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(9)), v));
}

/* The n <= 16 digits before p; 16 bytes before it can be read. */
FAST_INLINE uint64_t known_digits(const char *p, unsigned int n)
{
	return (uint64_t)digits_join(
		_mm_maddubs_epi16(digits_load(p, n), _mm_set1_epi16(1 << 8 | 10)));
}

/* A number ends here: what follows could not be part of it. */
FAST_INLINE bool word_ends(const char *p, const char *end)
{
	return p < end && !json_is_word(*p);
}

/* A scalar that is no string, as json_scalar delimits it. */
FAST_INLINE const char *word_take(const char *p, const char *end, struct json_text *ret)
{
	const char *from = p;

	while (json_is_word(*p))
		p++;
	*ret = (struct json_text){ .p = from, .n = (size_t)(p - from) };
	return p > from && p < end ? p : NULL;
}

/* A time in µs: digits, and perhaps three more behind a point. Of any other number, or one that is
 * out of range with add_ns, the text is kept. */
FAST_INLINE const char *us_take(const char *p, const char *end, int64_t add_ns, struct tef_us *ret)
{
	uint32_t stop = not_digits(p);
	unsigned int n = (unsigned int)_tzcnt_u32(stop), all = n;
	struct json_text text;
	uint64_t ns;

	if (n > 0 && n <= 16 && p[n] == '.')
		all = (unsigned int)_tzcnt_u32(_blsr_u32(stop));
	if (n > 0 && n <= 16 && (all == n || all == n + 4) && word_ends(p + all, end)) {
		ns = known_digits(p + n, n) * 1000 + (all > n ? known_digits(p + all, 3) : 0);
		if (add_ns < TEF_TIME_MAX && ns <= (uint64_t)(TEF_TIME_MAX - add_ns)) {
			*ret = (struct tef_us){ .ns = (int64_t)ns, .known = 1 };
			return p + all;
		}
	}
	p = word_take(p, end, &text);
	*ret = (struct tef_us){ .p = text.p, .n = text.n };
	return p;
}

FAST_INLINE const char *number_take(const char *p, const char *end, uint64_t *ret)
{
	unsigned int n = (unsigned int)_tzcnt_u32(not_digits(p));

	if (n == 0 || n > 16 || !word_ends(p + n, end))
		return NULL;
	*ret = known_digits(p + n, n);
	return p + n;
}

FAST_INLINE void memo_set(struct step *st, const char *p, size_t n, const struct tef_id *id)
{
	st->memo_n = 0;
	if (n >= MEMO_MAX || !p[n])
		return;
	memcpy(st->memo, p, n + 1);
	st->memo_n = (uint8_t)(n + 1);
	st->memo_mask = (UINT32_C(1) << (n + 1)) - 1;
	st->memo_id = *id;
}

FAST_INLINE bool memo_stands_at(const struct step *st, const char *p)
{
	return st->memo_n > 0 && (~equal32(p, st->memo) & st->memo_mask) == 0;
}

FAST_INLINE const char *id_number_take(struct step *st, const char *p, const char *end,
				       struct tef_id *ret)
{
	const char *from = p;
	uint64_t v;

	if (memo_stands_at(st, p)) {
		*ret = st->memo_id;
		return p + st->memo_n - 1;
	}
	p = number_take(p, end, &v);
	if (p && (*from != '0' || p == from + 1)) {
		*ret = (struct tef_id){ .number = (int64_t)v, .type = TEF_ID_NUMBER };
	} else {
		struct json_text text;

		p = word_take(from, end, &text);
		if (!p)
			return NULL;
		*ret = tef_id_of(&text);
	}
	memo_set(st, from, (size_t)(p - from), ret);
	return p;
}

FAST_INLINE const char *id_text_take(struct step *st, const char *p, const char *end,
				     struct tef_id *ret)
{
	struct json_text t;

	if (memo_stands_at(st, p)) {
		*ret = st->memo_id;
		return p + st->memo_n;
	}
	p = string_take(p, end, &t);
	if (!p)
		return NULL;
	*ret = tef_id_of(&t);
	if (!t.escaped)
		memo_set(st, t.p, t.n, ret);
	return p;
}

FAST_INLINE const char *nested_take(const char *p, const char *end, char open, unsigned int above)
{
	struct json_cur c = { p, end };

	return json_skip_open(&c, open, above) < 0 ? NULL : c.p;
}

FAST_INLINE const char *arg_number_take(const struct step *st, const char *p, const char *end,
					struct tef_args *a)
{
	const char *from = p;
	struct json_text text;
	uint64_t v;

	p = number_take(p, end, &v);
	if (!p) {
		p = word_take(from, end, &text);
		if (p)
			tef_arg_take(a, (enum tef_arg)st->arg, &text);
		return p;
	}
	switch (st->arg) {
	case TEF_ARG_CORRELATION:
		a->has_correlation = true;
		a->correlation = v;
		return p;
	case TEF_ARG_EXTERNAL:
		if (!a->has_correlation)
			a->correlation = v;
		return p;
	default:
		if (v <= INT32_MAX)
			a->rank = (int32_t)v;
		return p;
	}
}

/* The field for the id of a step. */
static inline struct tef_id *id_of(struct tef_event *ev, const struct step *st)
{
	return (struct tef_id *)(void *)((char *)ev + st->field);
}

/* Steps with the same meaning in an event and in its args; NULL also for unexpected ones. */
FAST_INLINE const char *value_take(struct step *st, const char *p, const char *end,
				   struct tef_event *ev, unsigned int above)
{
	struct json_text unused;

	switch ((enum step_kind)st->kind) {
	case STEP_ID_NUMBER:
		return id_number_take(st, p, end, id_of(ev, st));
	case STEP_ID_TEXT:
		return id_text_take(st, p, end, id_of(ev, st));
	case STEP_WORD:
		return word_take(p, end, &unused);
	case STEP_STRING:
		return string_take(p, end, &unused);
	case STEP_NESTED:
		return nested_take(p, end, st->open, above);
	default:
		return NULL;
	}
}

/* Keeps where the value of a fact stands. p: behind the step's text; to: behind the value. */
FAST_INLINE const char *said_keep(const struct step *st, const char *from, const char *p,
				  const char *to, struct tef_event *ev)
{
	if (st->arg < TEF_ARG_FACTS || !to)
		return to;
	p -= st->kind != STEP_WORD; /* its quote or bracket */
	return tef_said_add(ev, st->arg, (size_t)(p - from), (size_t)(to - p)) ? to : NULL;
}

/* Args from behind their '{'; NULL when they fit no shape. */
FAST static const char *follow_args(struct tef_shapes *s, struct step *st, const char *p,
				    const char *end, struct tef_event *ev)
{
	const char *from = p;
	struct json_text text;

	while (p) {
		st = step_behind(s, st, p);
		if (!st)
			return NULL;
		p += st->n;
		switch ((enum step_kind)st->kind) {
		case STEP_END:
			return p;
		case STEP_ARG_NUMBER:
			p = arg_number_take(st, p, end, &ev->kineto);
			break;
		case STEP_ARG_TEXT:
			p = string_take(p, end, &text);
			if (p)
				tef_arg_take(&ev->kineto, (enum tef_arg)st->arg, &text);
			break;
		default:
			p = said_keep(st, from, p, value_take(st, p, end, ev, 1), ev);
			break;
		}
	}
	return NULL;
}

/* p: behind the '{'. */
FAST_INLINE const char *args_take(struct tef_shapes *s, const struct step *st, const char *p,
				  const char *end, struct tef_event *ev)
{
	const char *from = p - 1, *to = NULL;

	if (st->member == TEF_ATTR && ev->args.p && !ev->attr)
		return nested_take(p, end, '{', 0);
	ev->attr = st->member == TEF_ATTR;
	ev->args_known = false;
	ev->nr_said = 0;
	if (tef_args_wanted(s->doc, s->facts, ev->class)) {
		ev->kineto = (struct tef_args){ .rank = s->doc->rank };
		to = follow_args(s, &s->steps[st->inside], p, end, ev);
		ev->args_known = to != NULL;
	}
	if (!to)
		to = nested_take(p, end, '{', 0);
	if (to)
		ev->args = (struct json_text){ .p = from, .n = (size_t)(to - from) };
	return to;
}

FAST_INLINE const char *text_take(struct tef_event *ev, const struct step *st, const char *p,
				  const char *end)
{
	struct json_text t;

	p = string_take(p, end, &t);
	if (!p)
		return NULL;
	switch ((enum tef_member)st->member) {
	case TEF_NAME:
		ev->name = t;
		break;
	case TEF_CAT:
		ev->cat = t;
		ev->class = TEF_CLASS_UNKNOWN;
		break;
	case TEF_TS:
		ev->ts = (struct tef_us){ .p = t.p, .n = t.n };
		break;
	case TEF_DUR:
		ev->dur = (struct tef_us){ .p = t.p, .n = t.n };
		break;
	default:
		tef_scope_set(ev, &t);
		break;
	}
	return p;
}

/* A member that is all in its step's text, which ends at p. */
FAST_INLINE void whole_take(struct tef_event *ev, const struct step *st, const char *p)
{
	const char *value = p - st->n + st->value_at;

	switch ((enum step_kind)st->kind) {
	case STEP_PH:
		ev->ph = *value;
		break;
	case STEP_BP:
		ev->enclosing = st->value_n == 1 && *value == 'e';
		break;
	default:
		ev->cat = (struct json_text){ .p = value, .n = st->value_n, .quoted = 1 };
		ev->class = st->class;
		ev->known.cat = st->known;
		break;
	}
}

/* By hand: the compiler's string instruction has a long start-up. */
FAST_INLINE void event_clear(struct tef_event *ev, const char *at)
{
	char *p = (char *)ev;
	size_t i = 0;

	for (; i + 32 <= offsetof(struct tef_event, said); i += 32)
		_mm256_storeu_si256((__m256i *)(void *)(p + i), _mm256_setzero_si256());
	for (; i < offsetof(struct tef_event, said); i += 8)
		memset(p + i, 0, 8);
	ev->at = at;
	ev->known.name = ev->known.cat = TEF_TEXT_NONE;
}

/* Behind the event at p; NULL when it fits no shape. */
FAST static const char *shape_follow(struct tef_shapes *s, const char *p, const char *end,
				     struct tef_event *ev)
{
	struct step *st = &s->steps[0];

	event_clear(ev, p);
	while (p) {
		st = step_behind(s, st, p);
		if (!st)
			return NULL;
		p += st->n;
		switch ((enum step_kind)st->kind) {
		case STEP_END:
			return p;
		case STEP_PH:
		case STEP_BP:
		case STEP_CAT:
			whole_take(ev, st, p);
			break;
		case STEP_TIME:
			p = us_take(p, end, s->doc->base_ns, &ev->ts);
			break;
		case STEP_DUR:
			p = us_take(p, end, 0, &ev->dur);
			break;
		case STEP_TEXT:
			p = text_take(ev, st, p, end);
			break;
		case STEP_ARGS:
			p = args_take(s, st, p, end, ev);
			break;
		default:
			p = value_take(st, p, end, ev, 0);
			break;
		}
	}
	return NULL;
}

static bool is_fast(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2");
}
#else
static const char *shape_follow(struct tef_shapes *s, const char *p, const char *end,
				struct tef_event *ev)
{
	(void)s, (void)p, (void)end, (void)ev;
	return NULL;
}

static bool is_fast(void)
{
	return false;
}
#endif

/* Flows and metadata have no use for it. */
static bool is_named(char ph)
{
	return ph != 's' && ph != 'f' && ph != 't' && ph != 'M' && ph != 'C';
}

static void texts_know(struct tef_shapes *s, struct tef_event *ev, bool cat)
{
	ev->known.parser = (uint8_t)s->parser;
	if (cat)
		ev->known.cat = tef_texts_number(s->texts, &ev->cat);
	if (is_named(ev->ph))
		ev->known.name = tef_texts_number(s->texts, &ev->name);
}

int tef_shapes_parse(struct tef_shapes *s, struct json_cur *c, struct tef_event *ret)
{
	struct json_cur from = *c;
	int r;

	/* numbers are read backwards from their end, at most 16 bytes */
	if (s->fast && c->p - s->begin >= 16) {
		const char *to = shape_follow(s, c->p, c->end, ret);

		if (to) {
			c->p = to;
			texts_know(s, ret, ret->cat.p && ret->class == TEF_CLASS_UNKNOWN);
			return 0;
		}
	}
	r = tef_event_parse(c, ret);
	if (r == 0) {
		texts_know(s, ret, true);
		if (s->fast)
			shape_learn(s, from);
	}
	return r;
}

struct tef_shapes *tef_shapes_new(const struct tef_doc *doc, const char *begin, unsigned parser,
				  bool facts)
{
	struct tef_shapes *s = xmalloc(sizeof(*s));

	s->doc = doc;
	s->begin = begin;
	s->parser = parser;
	s->texts = tef_texts_new();
	s->fast = is_fast();
	s->facts = facts;
	s->lessons = 0;
	s->nr = 1;
	s->steps[0] = (struct step){ .n = 0 };
	return s;
}

void tef_shapes_free(struct tef_shapes *s)
{
	if (!s)
		return;
	tef_texts_free(s->texts);
	free(s);
}
