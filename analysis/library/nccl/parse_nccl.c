/*
 * Collectives in logs of NCCL and RCCL 2.3 to 2.30 (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=COLL; CALL
 * needs TRACE). Behind what nccl_comm.h reads, by keyword, in any order:
 *
 *	NCCL INFO AllReduce: opCount 1f sendbuff 0x… recvbuff 0x… count 8 datatype 7 op 0 root 0
 *		comm 0x… [nranks=2] stream 0x…			2.4 and later
 *		… acc (nil) … task 0 globalrank 1		RCCL has these, too
 *	NCCL INFO opCount 1f … count 8 size 32 datatype 7 op 0 comm 0x… [nranks=2] stream 0x…	2.3:
 *		no name; what has a root is a Broadcast or a Reduce
 *	NCCL CALL ncclAllReduce(7f40,7f80,8,7,0,0,0x55,0x56)	count is decimal
 *
 * RCCL's names mscclFuncX and mscclpp_ncclX are X. opCount (hexadecimal) is no id. root is the peer
 * of Send and Recv. Other INFO lines, tables that name an operation among them, are no calls.
 *
 * 2.4 to 2.21 tell AllGather and Broadcast in bytes, as datatype 0, whatever the type was: their
 * key says dtype=bytes. The version is that of the log's "NCCL version" line. Without one, types
 * are those told once the log shows what only later versions write: another datatype of these two,
 * a datatype from 10 on, [Rank r], AlltoAll, Gather or Scatter of NCCL, "AllReduce: 8 Bytes ->".
 *
 * A call is rccl's when its line, or the log up to it, shows RCCL. Its rank is globalrank, else the
 * rank in its communicator. graphMode and task tell how it was launched, and are not in the key.
 * Flops are 0 for all, reductions too; bytes are count · size, times nranks for AllGather,
 * ReduceScatter, AlltoAll, Gather and Scatter. INFO and CALL lines tell the same calls.
 */
#include "library_args.h"
#include "library_mask.h"
#include "nccl_call.h"
#include "nccl_comm.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

/* Whether AllGather and Broadcast tell the type. */
enum nccl_types { TYPES_UNKNOWN, TYPES_BYTES, TYPES_TOLD };

struct nccl_state {
	struct nccl_comms comms;
	struct strbuf text; /* of the last call, without what differs */
	enum nccl_types types;
	bool rccl, begun;
};

/* ---- names ---- */

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static struct text_slice name_first(struct text_slice t)
{
	size_t n = 0;

	while (n < t.n && name_char(t.p[n]))
		n++;
	t.n = n;
	return t;
}

/* ---- INFO lines ---- */

static bool number_read(struct text_slice v, int64_t *ret)
{
	return num_i64(v.p, v.n, ret) >= 0;
}

/* The member of this name that is a number; NULL: there is none. */
static int64_t *call_member(struct nccl_call *c, struct text_slice name)
{
	const struct {
		const char *name;
		int64_t *to;
	} members[] = {
		{ "count", &c->count },     { "datatype", &c->datatype },
		{ "op", &c->redop },        { "root", &c->root },
		{ "size", &c->size },       { "sendcount", &c->count },
		{ "recvcount", &c->count }, { "peer", &c->root },
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (slice_is(name, members[i].name))
			return members[i].to;
	return NULL;
}

/* Buffers and what tells how a call was launched. */
static bool member_is_left_out(struct text_slice name)
{
	static const char *const names[] = { "opCount", "sendbuff", "recvbuff",
					     "stream",  "task",     "graphMode" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

/*
 * A member that is not known is a word with a number behind it; returns as member_read. last: the
 * number may have lost its end.
 */
static int member_more(struct nccl_call *c, struct text_slice name, struct text_slice value,
		       bool last)
{
	int64_t v;

	if (name_first(name).n != name.n || name.n > NCCL_NAME_MAX || !number_read(value, &v))
		return 0;
	if (last || c->mores == NCCL_MORE_MAX)
		return -1;
	c->more[c->mores++] = (struct call_member){ name, value };
	return 1;
}

/* "[nranks=2]" */
static bool nranks_read(struct nccl_call *c, struct text_slice word)
{
	size_t n = strlen("[nranks=");

	return slice_begins(word, "[nranks=") && word.p[word.n - 1] == ']' &&
	       number_read((struct text_slice){ word.p + n, word.n - n - 1 }, &c->nranks);
}

/* What only RCCL has; false: the member is another one. */
static bool member_rccl(struct nccl_call *c, struct text_slice name, struct text_slice value,
			bool last)
{
	if (slice_is(name, "acc"))
		c->acc = !slice_is(value, "(nil)");
	else if (slice_is(name, "globalrank"))
		c->rank = !last && number_read(value, &c->rank) ? c->rank : NCCL_NONE;
	else if (!slice_is(name, "task"))
		return false;
	c->rccl = true;
	return true;
}

/* 1: the member was read; 0: the text goes on with something else; -1: it is torn. */
static int member_read(struct nccl_call *c, struct text_slice *rest, bool cut)
{
	struct text_slice ahead = *rest, name, value;
	bool last, comm;
	int64_t *to;

	if (!slice_word(&ahead, &name))
		return 0;
	if (name.p[0] == '[') {
		*rest = ahead;
		return nranks_read(c, name) ? 1 : slice_begins(name, "[nranks") ? -1 : 0;
	}
	to = call_member(c, name);
	comm = slice_is(name, "comm");
	c->has_stream |= slice_is(name, "stream");
	if (!slice_word(&ahead, &value))
		return to || comm ? -1 : 0;
	*rest = ahead;
	last = cut && ahead.n == 0;
	if (to)
		return *to == NCCL_NONE && !last && number_read(value, to) ? 1 : -1;
	if (comm) { /* as the last word it may have lost its end */
		c->has_comm = !c->has_comm && ahead.n > 0 && nccl_address(value, &c->comm);
		return c->has_comm ? 1 : -1;
	}
	if (member_rccl(c, name, value, last) || member_is_left_out(name))
		return 1;
	return member_more(c, name, value, last);
}

/* All versions write nranks or the stream behind the members that a call needs. */
static enum record_is members_read(struct nccl_call *c, struct text_slice rest, bool cut)
{
	bool behind;
	int r;

	do {
		r = member_read(c, &rest, cut);
	} while (r > 0);
	behind = c->nranks != NCCL_NONE || c->has_stream;
	return r == 0 && c->count != NCCL_NONE && c->datatype != NCCL_NONE && c->has_comm && behind
		       ? RECORD_CALL
		       : RECORD_TORN;
}

/* text: behind the marker and [Rank r]. */
static enum record_is info_read(struct nccl_call *c, struct text_slice text, bool cut)
{
	struct text_slice name = name_first(text);
	struct text_slice rest = { text.p + name.n, text.n - name.n };

	if (slice_is(name, "opCount"))
		return members_read(c, text, cut);
	if (name.n == 0 || name.n > NCCL_NAME_MAX || rest.n == 0 || *rest.p != ':')
		return RECORD_INFO;
	rest.p++, rest.n--;
	nccl_call_name(c, name);
	if (slice_begins(rest, " opCount ") || (c->operation && slice_begins(rest, " sendbuff ")))
		return members_read(c, rest, cut);
	if (c->operation && (rest.n == 0 || slice_begins(rest, " o")))
		return RECORD_TORN;
	return RECORD_INFO;
}

/* ---- CALL lines ---- */

/* "7f40,7f80,8,…,(nil))…": up to the bracket that is not opened; false: there is none. */
static bool arguments_end(struct text_slice *t)
{
	int depth = 0;

	for (size_t i = 0; i < t->n; i++) {
		depth += (t->p[i] == '(') - (t->p[i] == ')');
		if (depth < 0) {
			t->n = i;
			return true;
		}
	}
	return false;
}

static enum record_is call_read(struct nccl_call *c, struct text_slice text)
{
	struct text_slice name = name_first(text), args[8];
	struct text_slice rest = { text.p + name.n, text.n - name.n };
	size_t n;

	nccl_call_name(c, name);
	if (!c->operation || rest.n == 0 || *rest.p != '(')
		return RECORD_INFO;
	rest.p++, rest.n--;
	if (!arguments_end(&rest))
		return RECORD_TORN;
	n = args_split(rest, args, ARRAY_LEN(args));
	if (n != ARRAY_LEN(args) || !number_read(args[2], &c->count) ||
	    !number_read(args[3], &c->datatype) || !number_read(args[4], &c->redop) ||
	    !number_read(args[5], &c->root) || !nccl_address(args[6], &c->comm))
		return RECORD_TORN;
	c->has_comm = true;
	return RECORD_CALL;
}

/* ---- what the log shows of its version ---- */

/* "NCCL version 2.27.7+cuda13.0", "RCCL version : 2.27.7-HEAD:…" */
static void version_read(struct nccl_state *s, struct text_slice text)
{
	int64_t v[2];

	s->rccl |= text.p[0] == 'R';
	text.p += strlen("NCCL version");
	text.n -= strlen("NCCL version");
	while (text.n > 0 && (slice_blank(*text.p) || *text.p == ':'))
		text.p++, text.n--;
	for (int i = 0; i < 2; i++) {
		size_t n = 0;

		while (n < text.n && text.p[n] >= '0' && text.p[n] <= '9')
			n++;
		if (!number_read((struct text_slice){ text.p, n }, &v[i]))
			return;
		n += n < text.n;
		text.p += n, text.n -= n;
	}
	s->types = v[0] == 2 && v[1] >= 4 && v[1] <= 21 ? TYPES_BYTES : TYPES_TOLD;
}

static bool text_is_version(struct text_slice t)
{
	return slice_begins(t, "NCCL version ") || slice_begins(t, "RCCL version ");
}

static void types_are_told(struct nccl_state *s)
{
	if (s->types == TYPES_UNKNOWN)
		s->types = TYPES_TOLD;
}

/* "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE …" */
static bool text_is_tuning(const struct nccl_call *c, struct text_slice text)
{
	return c->operation && memmem(text.p, text.n, " Bytes -> Algo ", 15);
}

static void version_of_call(struct nccl_state *s, const struct nccl_call *c)
{
	const struct nccl_operation *op = c->operation;

	if (c->datatype >= 10 || (op && op->bytes && c->datatype != 0) ||
	    (op && op->late && !s->rccl && !c->rccl))
		types_are_told(s);
}

static void info_learn(struct nccl_state *s, const struct nccl_call *c, uint32_t process,
		       struct text_slice text)
{
	if (text_is_version(text))
		version_read(s, text);
	else if (slice_begins(text, "RCCL ") || slice_begins(text, "RCCL_"))
		s->rccl = true;
	else if (text_is_tuning(c, text))
		types_are_told(s);
	else
		nccl_comms_learn(&s->comms, process, text);
}

/* Cuts "[Rank 3] " (2.29 and later). */
static bool rank_cut(struct text_slice *t)
{
	const char *end;

	if (!slice_begins(*t, "[Rank "))
		return false;
	end = memchr(t->p, ']', t->n);
	if (!end)
		return false;
	t->n -= (size_t)(end + 1 - t->p);
	t->p = end + 1;
	*t = slice_trim(*t);
	return true;
}

/* What the lines before tell of a call. */
static void call_complete(struct nccl_state *s, uint32_t process, struct nccl_call *c)
{
	const struct nccl_comm *comm = nccl_comms_find(&s->comms, process, c->comm);

	if (comm && c->nranks == NCCL_NONE)
		c->nranks = comm->nranks;
	if (comm && c->rank == NCCL_NONE)
		c->rank = comm->rank;
	version_of_call(s, c);
	s->rccl |= c->rccl;
	c->rccl = s->rccl;
	c->bytes =
		c->operation && c->operation->bytes && c->datatype == 0 && s->types != TYPES_TOLD;
}

static void state_begin(struct nccl_state *s)
{
	if (s->begun)
		return;
	strbuf_init(&s->text);
	strbuf_limit(&s->text, LIBRARY_TEXT_MAX);
	s->begun = true;
}

static enum record_is nccl_split(struct library_log *log, void *state, const struct log_record *r,
				 struct log_facts *f)
{
	struct nccl_state *s = state;
	struct text_slice text = r->text;
	struct nccl_origin o;
	struct nccl_call c;
	enum record_is is;
	char kind = text.p[5]; /* Info Call Warn Trace version */

	(void)log;
	state_begin(s);
	if (kind == 'v')
		version_read(s, text);
	if (kind != 'I' && kind != 'C')
		return RECORD_INFO;
	o = nccl_origin_read(&s->comms, r->before);
	f->prefixed = o.foreign;
	f->when.t_ns = o.t_ns;
	f->tid = o.tid;
	if (o.pid != LIBRARY_NO_ID)
		f->when.pid = o.pid;
	text = slice_trim(
		(struct text_slice){ text.p + strlen("NCCL INFO"), text.n - strlen("NCCL INFO") });
	if (rank_cut(&text))
		types_are_told(s);
	nccl_call_init(&c, kind);
	is = kind == 'C' ? call_read(&c, text) : info_read(&c, text, r->cut);
	if (is == RECORD_INFO)
		info_learn(s, &c, o.process, text);
	if (is != RECORD_CALL)
		return is;
	call_complete(s, o.process, &c);
	if (c.rank >= 0 && c.rank <= INT32_MAX)
		f->when.rank = (int32_t)c.rank;
	nccl_call_text(&c, &s->text);
	f->text = (struct text_slice){ s->text.buf, s->text.len };
	return RECORD_CALL;
}

/* Cuts "NAME: opCount 1f" off the front, and adds it without the number. */
static void mask_count(struct log_mask *m, struct text_slice *rest)
{
	static const char word[] = ": opCount ";
	const char *colon = memchr(rest->p, ':', rest->n);
	size_t begin = colon ? (size_t)(colon - rest->p) + sizeof(word) - 1 : 0, n = begin;

	if (!colon ||
	    !slice_begins((struct text_slice){ colon, rest->n - (size_t)(colon - rest->p) }, word))
		return;
	while (n < rest->n && ((rest->p[n] >= '0' && rest->p[n] <= '9') ||
			       (rest->p[n] >= 'a' && rest->p[n] <= 'f')))
		n++;
	if (n == begin || n == rest->n || !slice_blank(rest->p[n]))
		return;
	mask_add(m, (struct text_slice){ rest->p, begin });
	mask_word(m);
	rest->p += n, rest->n -= n;
}

/*
 * A communicator's address tells the rank, so it stays, as do host, process and thread. CALL lines
 * have buffers without 0x.
 */
static bool nccl_mask(const void *state, const struct log_record *r, struct log_mask *m)
{
	struct text_slice before = r->before, rest = r->text;

	(void)state;
	if (rest.p[5] != 'I')
		return false;
	nccl_stamp_cut(&before, &m->t_ns);
	mask_add(m, before);
	mask_word(m);
	mask_count(m, &rest);
	mask_addresses(m, rest, "comm ");
	return true;
}

static uint64_t nccl_version(const void *state)
{
	const struct nccl_state *s = state;

	return s->comms.changes * 8 + (uint64_t)s->types * 2 + s->rccl;
}

static void nccl_release(void *state)
{
	struct nccl_state *s = state;

	nccl_comms_release(&s->comms);
	if (s->begun)
		strbuf_release(&s->text);
}

const struct library_parser library_parser_nccl = {
	.name = "NCCL",
	.library = "nccl",
	.markers = { { "NCCL INFO ", false, false },
		     { "NCCL CALL ", false, false },
		     { "NCCL WARN ", false, false },
		     { "NCCL TRACE ", false, false },
		     { "NCCL version ", true, false },
		     { "RCCL version ", true, false } },
	.split = nccl_split,
	.mask = nccl_mask,
	.version = nccl_version,
	.parse = nccl_call_key,
	.state_size = sizeof(struct nccl_state),
	.release = nccl_release,
};
