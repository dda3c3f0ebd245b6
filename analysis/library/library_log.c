/*
 * The scanner: lines → records → rows.
 *
 * Why it is fast: most lines begin like the one before, so the last marker is tried at its place
 * first; the text behind it is hashed (XXH3) and found among the known ones. Lines of blocks are
 * found by their text (`again`). Everything else, a line without a record included, is searched for
 * all markers at once (library_marker.h).
 */
#include "library_known.h"
#include "library_marker.h"
#include "library_open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "profrig/base/num.h"
#include "profrig/base/text.h"
#include "profrig/base/u64map.h"
#include "profrig/scan/input.h"

#define TORN_MAX ((size_t)256) /* torn records that may still be joined */
#define AHEAD_MAX 4            /* records of a line that are looked at up to its end */
#define JOIN_LINES 8           /* a torn record's end is on one of so many lines behind it */
#define PIECE_BYTES ((size_t)1 << 22)
#define PREVIEW 80 /* bytes of an example */

static const struct library_parser *const parsers[] = {
#define PARSER_POINTER(name) &library_parser_##name,
	LIBRARY_PARSERS(PARSER_POINTER)
};
#define PARSERS ARRAY_LEN(parsers)

struct torn_text {
	size_t parser;
	char *text, *ends[JOIN_LINES];
	uint64_t line;
	size_t nr;
};

struct library_log {
	struct library_calls *calls;
	struct library_counts n;
	struct marker_set set;
	void *states[PARSERS];
	int64_t pid; /* by the file's name */
	uint64_t line;
	struct text_slice last_line; /* had no record */
	struct library_known known;
	struct log_mask mask; /* of the line that is read */
	struct library_key key;
	struct open_calls open;
	VEC(struct torn_text) torn;
	size_t last_mark, last_at; /* of the line before; nr: none */
	bool forgets;
};

/* "name.1234.log": tools name a process's file so. */
static int64_t pid_of_path(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *p = slash ? slash + 1 : path;
	int64_t pid = LIBRARY_NO_ID;

	for (p = p ? strchr(p, '.') : NULL; p; p = strchr(p + 1, '.')) {
		size_t n = strspn(p + 1, "0123456789");

		if (n > 0 && (p[n + 1] == '.' || !p[n + 1]))
			num_i64(p + 1, n, &pid);
	}
	return pid;
}

struct library_log *library_log_new(const char *path, struct library_calls *calls)
{
	struct library_log *log = xcalloc(1, sizeof(*log));

	log->calls = calls;
	log->pid = pid_of_path(path);
	marker_set_fill(&log->set, parsers, PARSERS);
	log->last_mark = log->set.nr;
	key_init(&log->key);
	for (size_t i = 0; i < PARSERS; i++)
		log->states[i] = xcalloc(1, parsers[i]->state_size + 1);
	return log;
}

void library_log_forgets(struct library_log *log)
{
	log->forgets = true;
}

void library_log_free(struct library_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < PARSERS; i++) {
		if (parsers[i]->release)
			parsers[i]->release(log->states[i]);
		free(log->states[i]);
	}
	for (size_t i = 0; i < log->torn.nr; i++) {
		free(log->torn.v[i].text);
		for (size_t k = 0; k < log->torn.v[i].nr; k++)
			free(log->torn.v[i].ends[k]);
	}
	VEC_RELEASE(&log->torn);
	known_release(&log->known);
	key_release(&log->key);
	free(log);
}

void library_log_freep(struct library_log **log)
{
	library_log_free(*log);
	*log = NULL;
}

void library_log_facts(const struct library_log *log, struct log_facts *f)
{
	*f = (struct log_facts){ .when = LIBRARY_WHEN_INIT, .tid = LIBRARY_NO_ID };
	f->when.pid = log->pid;
}

/* ---- texts ---- */

static enum record_is text_parse(struct library_log *log, size_t parser, struct text_slice text)
{
	enum record_is is;

	key_clear(&log->key);
	if (text.n > LIBRARY_TEXT_MAX)
		return key_bad(&log->key, "a record of %zu bytes", text.n);
	is = parsers[parser]->parse(text, &log->key);
	if (is == RECORD_CALL && (log->key.text.overflow || log->key.common.overflow))
		return key_bad(&log->key, "its key is too long");
	return is;
}

/* A text that is like `text` with its last word changed: whether it is a call of another key. */
static bool other_key(struct library_log *log, size_t parser, struct text_slice text, char *key)
{
	return text_parse(log, parser, text) == RECORD_CALL && strcmp(log->key.text.buf, key) != 0;
}

/*
 * Whether a text that may have lost its end is whole all the same: its last word is of no
 * importance, or is the shortest number that its call can have there.
 */
static bool text_is_whole(struct library_log *log, size_t parser, struct text_slice text)
{
	CLEANUP(xfreep) char *more = xmalloc(text.n + 2);
	CLEANUP(xfreep) char *key = NULL;
	bool open = false;

	if (text.n >= LIBRARY_TEXT_MAX || text_parse(log, parser, text) != RECORD_CALL)
		return false;
	key = xstrdup(log->key.text.buf);
	memcpy(more, text.p, text.n);
	for (char digit = '0'; digit <= '9' && !open; digit++) {
		more[text.n] = digit;
		open = other_key(log, parser, (struct text_slice){ more, text.n + 1 }, key);
	}
	if (!open)
		return true;
	return text_parse(log, parser, (struct text_slice){ text.p, text.n - 1 }) == RECORD_BAD;
}

/* ---- records ---- */

static void example(char *buf, size_t size, uint64_t line, const char *why, struct text_slice text)
{
	CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT;

	if (buf[0])
		return;
	text_visible(&shown, text.p, text.n > PREVIEW ? PREVIEW : text.n, "");
	snprintf(buf, size, "line %" PRIu64 ": %s%s%s%s", line, why, *why ? ": " : "", shown.buf,
		 text.n > PREVIEW ? "…" : "");
}

/* A text that is a call for the first time. */
static void text_learn(struct library_log *log, size_t parser, struct text_slice config,
		       struct known_text *k)
{
	const struct library_key *key = &log->key;
	const char *library = key->library ? key->library : parsers[parser]->library;
	struct library_call c = { .library = library,
				  .operation = key->operation,
				  .key = key->text.buf,
				  .config = key->config.n ? key->config.p : config.p,
				  .config_n = key->config.n ? key->config.n : config.n,
				  .flops = key->flops,
				  .bytes = key->bytes,
				  .level = key->level,
				  .inexact = key->inexact };

	/* "rocblas" and its "rocblas_function" tell the same calls */
	if (key->common.len)
		c.common = XXH3_64bits_withSeed(key->common.buf, key->common.len,
						XXH3_64bits(library, strcspn(library, "_"))) |
			   1;
	k->library = library;
	k->row = library_calls_row(log->calls, &c);
	k->level = key->level;
	k->calls = key->calls;
	k->flops = key->flops;
	k->bytes = key->bytes;
	k->product = key->product;
}

static void call_count(struct library_log *log, const struct known_text *k,
		       struct library_when *when)
{
	when->calls *= k->calls;
	when->caller = open_calls_take(&log->open, k->library, k->row, k->level, &k->product);
	library_calls_count(log->calls, k->row, k->flops, k->bytes, when);
}

/*
 * A text that stands for a call: what it is. known: what was learned of it, NULL: to be looked up.
 * cut: it may have lost its end, and is not remembered when it has. *ret_calls: how many calls it
 * stands for.
 */
static enum record_is text_count(struct library_log *log, size_t parser,
				 const struct known_text *known, struct text_slice config, bool cut,
				 struct log_facts *f, uint64_t *ret_calls)
{
	struct known_text once = { 0 }, *k;
	XXH128_hash_t hash;

	if (!known)
		known = known_find(&log->known, parser, f->text, &hash);
	if (log->forgets && !cut) /* what is cut is a call when it is that of another one */
		known = NULL;
	if (!known) {
		bool whole = !cut || text_is_whole(log, parser, f->text);
		enum record_is is = text_parse(log, parser, f->text);

		if (is == RECORD_CALL && !whole)
			return RECORD_TORN;
		k = known_add(&log->known, hash);
		known = k = k ? k : &once;
		k->is = is;
		if (k->is == RECORD_CALL)
			text_learn(log, parser, config, k);
	} else if (known->is == RECORD_BAD) {
		text_parse(log, parser, f->text); /* says why */
	}
	f->when.tid = f->tid;
	if (known->is == RECORD_CALL)
		call_count(log, known, &f->when);
	*ret_calls = f->when.calls;
	return known->is;
}

static void torn_keep(struct library_log *log, size_t parser, struct text_slice text)
{
	if (parsers[parser]->split || log->torn.nr >= TORN_MAX || text.n > LIBRARY_TEXT_MAX)
		return;
	VEC_PUSH(&log->torn,
		 ((struct torn_text){
			 .parser = parser, .text = xstrndup(text.p, text.n), .line = log->line }));
}

static void record_count(struct library_log *log, size_t parser, enum record_is is, uint64_t calls,
			 bool prefixed, const struct log_record *r)
{
	struct library_counts *n = &log->n;

	switch (is) {
	case RECORD_CALL:
		n->records += calls;
		n->prefixed += prefixed;
		break;
	case RECORD_DOUBLED:
		n->doubled += calls;
		break;
	case RECORD_INFO:
		n->info++;
		break;
	case RECORD_TORN:
		n->torn++;
		example(n->torn_text, sizeof(n->torn_text), r->line, "", r->text);
		torn_keep(log, parser, r->text);
		break;
	case RECORD_BAD:
		n->bad++;
		example(n->bad_text, sizeof(n->bad_text), r->line, log->key.why, r->text);
		break;
	case RECORD_FOREIGN:
	case RECORD_PART:
		break;
	}
}

static size_t parser_number(const struct library_parser *p)
{
	size_t i = 0;

	while (parsers[i] != p)
		i++;
	return i;
}

void library_log_emit(struct library_log *log, const struct library_parser *p, enum record_is is,
		      const struct log_facts *f, const struct log_record *r)
{
	size_t parser = parser_number(p);
	struct log_facts facts = *f;
	uint64_t calls = f->when.calls;

	if (is == RECORD_CALL)
		is = text_count(log, parser, NULL, r->text, false, &facts, &calls);
	record_count(log, parser, is, calls, f->prefixed, r);
}

/* Whether the line before a record is its text, from a word before its first option on. */
static bool line_is_echo(const struct log_record *r)
{
	struct text_slice echo = slice_trim(r->last_line);
	size_t at = r->text.n - echo.n;

	return echo.n > 0 && echo.n < r->text.n && slice_blank(r->text.p[at - 1]) &&
	       !memcmp(r->text.p + at, echo.p, echo.n) && !memmem(r->text.p, at, " -", 2);
}

/* ---- records like one before ---- */

/* A record of log->mask. */
static void shape_count(struct library_log *log, const struct known_shape *s)
{
	struct library_when when = LIBRARY_WHEN_INIT;

	when.pid = s->pid;
	when.rank = s->rank;
	when.t_ns = log->mask.t_ns;
	when.dur_ns = log->mask.dur_ns;
	call_count(log, &log->known.texts.v[s->text], &when);
	log->n.records += when.calls;
	log->n.prefixed += s->prefixed;
	log->n.odd_times += log->mask.odd_time;
}

/* known: of its text, or NULL. shape: hash of log->mask, under which it is remembered; NULL. */
static enum record_is record_take(struct library_log *log, size_t parser,
				  const struct known_text *known, const struct log_record *r,
				  const XXH128_hash_t *shape)
{
	const struct library_parser *p = parsers[parser];
	struct log_facts f;
	enum record_is is = RECORD_CALL;
	uint64_t calls = 1;

	library_log_facts(log, &f);
	f.text = r->text;
	f.last_doubled = p->echoes && line_is_echo(r);
	f.prefixed = p->prefixed ? p->prefixed(r->before) : !p->split && r->before.n > 0;
	if (p->split)
		is = p->split(log, log->states[parser], r, &f);
	calls = f.when.calls;
	if (is == RECORD_CALL)
		is = text_count(log, parser, known, r->text, r->cut && !p->split, &f, &calls);
	if (shape && is == RECORD_CALL)
		shape_add(&log->known, parser, *shape, &log->mask, &f);
	log->n.odd_times += f.odd_time && is == RECORD_CALL;
	if (f.last_doubled && is == RECORD_CALL && log->n.foreign > 0) {
		log->n.foreign--;
		log->n.doubled++;
	}
	if (f.last_info && r->last_line.n > 0 && log->n.foreign > 0) {
		log->n.foreign--;
		log->n.info++;
		log->last_line.n = 0;
	}
	record_count(log, parser, is, calls, f.prefixed, r);
	return is;
}

/* ---- lines ---- */

/* Whether a search would find this one first; several may begin alike. */
static bool marker_begins(const struct marker_set *set, size_t mark, struct text_slice line)
{
	if (!marker_is_at(set, mark, line, 0))
		return false;
	for (size_t m = set->v[mark].last; m < set->nr; m = set->v[m].last)
		if (marker_is_at(set, m, line, 0))
			return false;
	return true;
}

/* The first marker, which is mostly where the line before had it. */
static struct found_marker marker_first(struct library_log *log, struct text_slice line)
{
	struct found_marker f = { log->last_mark, log->last_at };

	if (f.at == 0 && f.mark < log->set.nr && !log->forgets &&
	    marker_begins(&log->set, f.mark, line))
		return f;
	marker_find(&log->set, line, 0, &f);
	log->last_mark = f.mark;
	log->last_at = f.at;
	return f;
}

/*
 * An info marker ends the record before it, and begins none. What is before a marker begins behind
 * the marker before it.
 */
static size_t record_begin(const struct library_log *log, struct text_slice line, size_t least,
			   struct found_marker f)
{
	const struct marker_place *m = &log->set.v[f.mark];
	const struct library_parser *p = parsers[m->parser];
	size_t begin = p->back && !m->m->info ? f.at - p->back(line, f.at) : f.at;
	const char *cr = memrchr(line.p + begin, '\r', f.at - begin);

	if (cr) /* what stands in front of a CR is no part of the record */
		begin = (size_t)(cr + 1 - line.p);
	return begin > least ? begin : least;
}

/*
 * The record of marker f from `begin` to `end`, or to a CR, without blanks behind it. (In place: a
 * copy that is made right behind its halves waits for them.)
 */
static void record_at(const struct library_log *log, struct text_slice line, struct found_marker f,
		      size_t begin, size_t end, struct log_record *ret)
{
	size_t before = begin < LIBRARY_BEFORE_MAX ? begin : LIBRARY_BEFORE_MAX, n = end - begin;
	const char *p = line.p + begin, *cr = memchr(p, '\r', n);

	if (cr)
		n = (size_t)(cr - p);
	ret->cut = !cr && n > 0 && !slice_blank(p[n - 1]);
	ret->text = slice_rtrim((struct text_slice){ p, n });
	ret->marker = f.at - begin;
	ret->before = slice_trim((struct text_slice){ p - before, before });
	ret->last_line = log->last_line;
	ret->line = log->line;
	ret->alone = false;
}

/* Behind a CR there may be more of a line. */
static bool record_ends_line(const struct log_record *r, struct text_slice line)
{
	const char *end = r->text.p + r->text.n;

	return slice_trim((struct text_slice){ end, (size_t)(line.p + line.n - end) }).n == 0;
}

/* The record of marker f, when it goes on to the end of its line and is known as a call: it has
 * no other marker in it, then. NULL: it may have. */
static const struct known_text *record_ahead(const struct library_log *log, struct text_slice line,
					     struct found_marker f, size_t begin,
					     struct log_record *ret)
{
	size_t parser = log->set.v[f.mark].parser;
	const struct known_text *k;
	XXH128_hash_t hash;

	/* longer ones are no calls, and a line of many markers must not be hashed from each of
	 * them to its end */
	if (parsers[parser]->split || log->forgets || line.n - begin > LIBRARY_TEXT_MAX)
		return NULL;
	record_at(log, line, f, begin, line.n, ret);
	if (!record_ends_line(ret, line))
		return NULL;
	k = known_find(&log->known, parser, ret->text, &hash);
	return k && k->is == RECORD_CALL ? k : NULL;
}

/*
 * The same where the parser splits: true: the record is like one before, and counted. Else it is to
 * be split; *ret_hash is that of its mask where *ret_masked.
 */
static bool record_again(struct library_log *log, struct text_slice line, struct found_marker f,
			 size_t begin, XXH128_hash_t *ret_hash, bool *ret_masked)
{
	size_t parser = log->set.v[f.mark].parser;
	const struct library_parser *p = parsers[parser];
	const struct known_shape *s;
	struct log_record r;

	*ret_masked = false;
	if (!p->mask || log->forgets || log->last_line.n > 0 || line.n - begin > LIBRARY_TEXT_MAX)
		return false;
	record_at(log, line, f, begin, line.n, &r);
	if (!record_ends_line(&r, line))
		return false;
	mask_clear(&log->mask);
	if (!p->mask(log->states[parser], &r, &log->mask))
		return false;
	*ret_masked = true;
	*ret_hash =
		shape_hash(&log->mask, parser, p->version ? p->version(log->states[parser]) : 0);
	s = shape_find(&log->known, *ret_hash);
	if (s)
		shape_count(log, s);
	return s != NULL;
}

/* Whether the line is one of a block, and equal to an earlier one. */
static bool line_again(struct library_log *log, struct text_slice line)
{
	size_t parser;

	if (log->last_at > 0 || log->last_mark == log->set.nr || log->forgets)
		return false;
	parser = log->set.v[log->last_mark].parser;
	return parsers[parser]->again && parsers[parser]->again(log->states[parser], line);
}

/* A line of many records, or none. last: the text ends here, without a line end. */
static bool line_records(struct library_log *log, struct text_slice line, bool last)
{
	struct found_marker f = marker_first(log, line);
	size_t least = 0, begin, end;
	bool seen = false, info = false;
	int tries = AHEAD_MAX;

	while (f.mark < log->set.nr) {
		struct found_marker next;
		const struct marker_place *m = &log->set.v[f.mark];
		const struct known_text *known;
		bool masked = false;
		XXH128_hash_t shape;
		enum record_is is;
		struct log_record r;

		begin = record_begin(log, line, least, f);
		least = f.at + m->n;
		if (m->m->info) {
			info = true;
			marker_find(&log->set, line, least, &f);
			continue;
		}
		known = tries > 0 ? record_ahead(log, line, f, begin, &r) : NULL;
		if (known) {
			record_take(log, m->parser, known, &r, NULL);
			return true;
		}
		if (tries > 0 && !last && record_again(log, line, f, begin, &shape, &masked))
			return true;
		tries -= tries > 0;
		marker_find(&log->set, line, least, &next);
		end = next.mark < log->set.nr ? record_begin(log, line, least, next) : line.n;
		record_at(log, line, f, begin, end, &r);
		r.cut &= last || next.mark < log->set.nr;
		r.alone = begin == 0 && next.mark == log->set.nr && record_ends_line(&r, line);
		masked &= next.mark == log->set.nr;
		is = record_take(log, m->parser, NULL, &r, masked ? &shape : NULL);
		log->n.cut |= is == RECORD_TORN && last && next.mark == log->set.nr;
		seen |= is != RECORD_FOREIGN;
		f = next;
	}
	if (!seen && info) {
		log->n.info++;
		return true;
	}
	return seen;
}

/* A text without a record may be the end of a torn one. */
static void torn_end_keep(struct library_log *log, struct text_slice line)
{
	for (size_t i = log->torn.nr; i-- > 0;) {
		struct torn_text *t = &log->torn.v[i];

		if (t->line + JOIN_LINES < log->line)
			return;
		if (t->nr < JOIN_LINES && t->line < log->line && line.n <= LIBRARY_TEXT_MAX)
			t->ends[t->nr++] = xstrndup(line.p, line.n);
	}
}

static bool line_is_owned(const struct library_log *log, struct text_slice line)
{
	for (size_t i = 0; i < PARSERS; i++)
		if (parsers[i]->owns && parsers[i]->owns(log->states[i], line))
			return true;
	return false;
}

static void log_line(struct library_log *log, struct text_slice line, bool whole)
{
	log->line++;
	log->n.lines++;
	if (whole && line_again(log, line)) {
		log->n.info++;
		log->last_line.n = 0;
		return;
	}
	if (line_records(log, line, !whole)) {
		log->last_line.n = 0;
		return;
	}
	line = slice_rtrim(line);
	if (line_is_owned(log, line)) {
		log->n.info++;
		log->last_line.n = 0;
		return;
	}
	log->n.foreign++;
	log->last_line = line;
	if (log->torn.nr > 0)
		torn_end_keep(log, line);
}

void library_log_text(struct library_log *log, const char *text, size_t n)
{
	struct text_slice rest = { text, n }, line;
	bool whole;

	if (log->line == 0)
		rest = slice_behind_mark(text, n);
	log->last_line = (struct text_slice){ text, 0 };
	while (slice_line(&rest, &line, &whole))
		log_line(log, line, whole);
	log->last_line = (struct text_slice){ NULL, 0 };
}

/* Counts a torn text with this end as a call, where the whole is that of another one. */
static bool torn_join_with(struct library_log *log, const struct torn_text *t, const char *end)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct library_when when = LIBRARY_WHEN_INIT;
	const struct known_text *k;
	XXH128_hash_t hash;

	strbuf_addstr(&text, t->text);
	strbuf_addstr(&text, end);
	k = known_find(&log->known, t->parser, (struct text_slice){ text.buf, text.len }, &hash);
	if (!k || k->is != RECORD_CALL)
		return false;
	when.pid = log->pid;
	when.late = true;
	log->open.nr = 0;
	call_count(log, k, &when);
	log->n.torn--;
	log->n.records += when.calls;
	return true;
}

/* What was cut may have had its end all the same, or has it on a later line. */
static void torn_join(struct library_log *log, const struct torn_text *t)
{
	if (torn_join_with(log, t, ""))
		return;
	for (size_t i = 0; i < t->nr; i++)
		if (torn_join_with(log, t, t->ends[i])) {
			log->n.foreign--;
			log->n.joined++;
			return;
		}
}

void library_log_end(struct library_log *log, struct library_counts *ret)
{
	uint64_t doubled = log->calls->doubled;

	for (size_t i = 0; i < PARSERS; i++)
		if (parsers[i]->end)
			parsers[i]->end(log, log->states[i]);
	for (size_t i = 0; i < log->torn.nr; i++)
		torn_join(log, &log->torn.v[i]);
	if (log->n.torn == 0)
		log->n.torn_text[0] = 0;
	library_calls_settle(log->calls);
	doubled = log->calls->doubled - doubled;
	log->n.doubled += doubled;
	log->n.records -= doubled;
	*ret = log->n;
}

/* ---- files ---- */

void library_counts_add(struct library_counts *to, const struct library_counts *from)
{
	to->lines += from->lines;
	to->records += from->records;
	to->doubled += from->doubled;
	to->info += from->info;
	to->torn += from->torn;
	to->bad += from->bad;
	to->foreign += from->foreign;
	to->cut |= from->cut;
	to->odd_times += from->odd_times;
	to->joined += from->joined;
	to->prefixed += from->prefixed;
	if (!to->torn_text[0])
		memcpy(to->torn_text, from->torn_text, sizeof(to->torn_text));
	if (!to->bad_text[0])
		memcpy(to->bad_text, from->bad_text, sizeof(to->bad_text));
}

struct library_probe library_log_probe(const char *text, size_t n)
{
	CLEANUP(library_calls_freep) struct library_calls *calls = library_calls_new();
	CLEANUP(library_log_freep) struct library_log *log = library_log_new(NULL, calls);
	struct library_counts c;

	library_log_text(log, text, n);
	library_log_end(log, &c);
	return (struct library_probe){ c.records + c.doubled, c.info + c.torn + c.bad, c.lines };
}

/* The text in pieces of whole lines, so that pages behind them can be freed. */
static void map_read(struct library_log *log, const struct input_map *m)
{
	size_t at = 0, walk = 0;

	while (at < m->len) {
		size_t n = m->len - at;

		if (n > PIECE_BYTES) {
			const char *end = memchr(m->data + at + PIECE_BYTES, '\n', n - PIECE_BYTES);

			n = end ? (size_t)(end + 1 - m->data) - at : n;
		}
		library_log_text(log, m->data + at, n);
		at += n;
		if (at >= walk)
			walk = input_walk(m, at);
	}
}

static void map_release(struct input_map *m)
{
	input_unmap(m);
}

int library_log_read(const char *path, struct library_calls *calls, struct library_counts *ret,
		     struct err *err)
{
	CLEANUP(map_release) struct input_map m = { 0 };
	CLEANUP(library_calls_freep) struct library_calls *own = NULL;
	CLEANUP(library_log_freep) struct library_log *log = NULL;
	int r = input_map(path, 0, &m, err);

	if (r < 0)
		return r;
	own = calls->rows.nr ? library_calls_new() : NULL;
	log = library_log_new(path, own ? own : calls);
	map_read(log, &m);
	library_log_end(log, ret);
	if (own)
		library_calls_merge(calls, own);
	if (!m.truncated)
		return 0;
	err_set(err, EIO, "%s: %s", path, m.why);
	return 1;
}
