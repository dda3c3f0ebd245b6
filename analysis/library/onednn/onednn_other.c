/*
 * Kinds of oneDNN but convolutions and products (onednn_key.h): one key for all of them, and the
 * bytes that their memories have.
 */
#include "onednn_call.h"

#include <stdio.h>
#include <string.h>

#include "profrig/base/xalloc.h"

/* ---- key ---- */

static bool name_is_plain(struct text_slice t)
{
	for (size_t i = 0; i < t.n; i++)
		if (!((t.p[i] >= 'a' && t.p[i] <= 'z') || (t.p[i] >= '0' && t.p[i] <= '9') ||
		      t.p[i] == '_'))
			return false;
	return t.n > 0 && t.n < 32;
}

/* "alg:eltwise_relu" → alg=eltwise_relu */
static void aux_word(struct library_key *k, struct text_slice word)
{
	const char *colon = word.n ? memchr(word.p, ':', word.n) : NULL;
	struct text_slice name = { word.p, colon ? (size_t)(colon - word.p) : 0 };
	char buf[40];

	if (!name_is_plain(name)) {
		key_wordn(k, "aux", word.p, word.n);
		return;
	}
	memcpy(buf, name.p, name.n);
	buf[name.n] = 0;
	key_wordn(k, buf, colon + 1, word.n - name.n - 1); /* "flags:": there are none */
}

static void aux_words(struct library_key *k, struct text_slice t)
{
	for (size_t i = 0, n = 0; i <= t.n; i++) {
		if (i < t.n && t.p[i] != ' ') {
			n++;
			continue;
		}
		aux_word(k, (struct text_slice){ t.p + i - n, n });
		n = 0;
	}
}

static void md_words(const struct onednn_call *c, struct library_key *k, struct strbuf *sb)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct onednn_md *m = &c->md[i];
		char name[40];

		if (m->none)
			continue;
		strbuf_clear(sb);
		onednn_md_text(m, true, sb);
		snprintf(name, sizeof(name), "%s%.*s", m->diff ? "diff_" : "",
			 (int)(m->name.n < 30 ? m->name.n : 30), m->name.p);
		for (char *p = name; *p; p++)
			*p = (char)(*p == ' ' || *p == '=' ? '_' : *p);
		key_wordn(k, name, sb->buf, sb->len);
	}
}

static void other_words(const struct onednn_call *c, struct library_key *k)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	struct onednn_call attrs = *c;

	if (!slice_is(c->prop, "undef"))
		key_wordn(k, "prop", c->prop.p, c->prop.n);
	aux_words(k, c->aux);
	md_words(c, k, &sb);
	strbuf_clear(&sb);
	attrs.aux.n = 0;
	onednn_with(&attrs, &sb);
	key_wordn(k, "with", sb.buf, sb.len);
	key_wordn(k, "dims", c->desc.p, c->desc.n);
}

/* ---- bytes ---- */

/* Elements of a list; 0 and *known = false: "*" is among them. */
static amount extents_product(const struct onednn_extents *e, bool *known)
{
	amount n = 1;

	for (size_t i = 0; i < e->nr; i++) {
		*known &= e->v[i] != DIM_NONE;
		n = amount_mul(n, e->v[i]);
	}
	return n;
}

/* mb · ic · the spatial extents that begin with this letter, of which a missing one is 1. */
static amount pairs_product(const struct onednn_problem *p, char letter)
{
	amount n = amount_mul(1, onednn_pair(p, "mb", 1));
	int64_t other = onednn_pair(p, "oc", -1);

	n = amount_mul(n, letter == 'o' && other >= 0 ? other : onednn_pair(p, "ic", 1));
	for (const char *axis = "dhw"; *axis; axis++) {
		const char name[3] = { letter, *axis, 0 }, in[3] = { 'i', *axis, 0 };

		n = amount_mul(n, onednn_pair(p, name, onednn_pair(p, in, 1)));
	}
	return n;
}

/* Which of the memories hold what a kind reads and writes; the others are small. */
static bool md_is_tensor(const struct onednn_call *c, const struct onednn_md *m)
{
	return !m->none && (slice_begins(m->name, "src") || slice_begins(m->name, "dst") ||
			    slice_is(m->name, "data") || slice_is(m->name, "diff") ||
			    (slice_is(m->name, "wei") && !strcmp(c->kind, "prelu")));
}

/* The result of sources by their lists: all of them (concat), or repeated to the same extents. */
static amount result_elements(const struct onednn_call *c, bool *known)
{
	const struct onednn_problem *p = &c->problem;
	struct onednn_extents most = p->list[0];
	amount sum = 0;

	for (size_t i = 0; i < p->lists; i++) {
		amount n = extents_product(&p->list[i], known);

		sum = amount_add(sum, n);
		*known &= p->list[i].nr == most.nr;
		for (size_t d = 0; d < most.nr && *known; d++)
			if (p->list[i].v[d] > most.v[d])
				most.v[d] = p->list[i].v[d];
	}
	return strcmp(c->kind, "concat") ? extents_product(&most, known) : sum;
}

/* at: which of the tensors it is. */
static amount md_elements(const struct onednn_call *c, const struct onednn_md *m, size_t at,
			  bool *known)
{
	const struct onednn_problem *p = &c->problem;

	if (p->pairs > 0)
		return pairs_product(p, slice_begins(m->name, "dst") ? 'o' : 'i');
	if (p->lists == 1)
		return extents_product(&p->list[0], known);
	if (!strcmp(c->kind, "prelu"))
		return extents_product(&p->list[slice_is(m->name, "wei")], known);
	if (at < p->lists)
		return extents_product(&p->list[at], known);
	return result_elements(c, known);
}

/*
 * Bits that a kind moves: its sources and its result, each once; data is both, and so is diff,
 * which is data's gradient. false: not known.
 */
static bool tensors_bits(const struct onednn_call *c, amount *ret)
{
	size_t tensors = 0, at = 0;
	bool known = true;

	for (size_t i = 0; i < c->nr; i++)
		tensors += md_is_tensor(c, &c->md[i]);
	if (tensors == 0 || (c->problem.lists > 1 && c->problem.lists != tensors &&
			     c->problem.lists + 1 != tensors && strcmp(c->kind, "prelu") != 0))
		return false;
	for (size_t i = 0; i < c->nr && known; i++) {
		const struct onednn_md *m = &c->md[i];
		bool both = slice_is(m->name, "diff") ||
			    (slice_is(m->name, "data") && (m->diff || onednn_is_forward(c)));
		amount n;

		if (!md_is_tensor(c, m))
			continue;
		if (!m->type)
			return false;
		n = amount_mul(amount_mul(md_elements(c, m, at++, &known), m->type->bits),
			       both ? 2 : 1);
		*ret = amount_add(*ret, n);
	}
	return known;
}

/* ---- flops ---- */

static bool kind_moves_data(const char *kind)
{
	static const char *const kinds[] = { "reorder",
					     "eltwise",
					     "pooling",
					     "softmax",
					     "logsoftmax",
					     "batch_normalization",
					     "layer_normalization",
					     "group_normalization",
					     "lrn",
					     "binary",
					     "sum",
					     "concat",
					     "reduction",
					     "prelu",
					     "resampling",
					     "shuffle",
					     "simple_sum",
					     "simple_concat" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i], kind))
			return true;
	return false;
}

static int64_t spatial_size(const struct onednn_problem *p)
{
	amount n = 1;

	for (const char *axis = "dhw"; *axis; axis++) {
		const char name[3] = { 'i', *axis, 0 };

		n = amount_mul(n, onednn_pair(p, name, 1));
	}
	return n > DIM_MAX ? DIM_MAX : (int64_t)n;
}

/* false: a type is not known. */
static bool ip_bytes(const struct onednn_call *c, int64_t mb, int64_t oc, amount depth, amount *ret)
{
	const struct onednn_md *src = onednn_md_named(c->md, c->nr, "src");
	const struct onednn_md *wei = onednn_md_named(c->md, c->nr, "wei");
	const struct onednn_md *dst = onednn_md_named(c->md, c->nr, "dst");

	if (!src || !wei || !dst || !src->type || !wei->type || !dst->type)
		return false;
	*ret = (amount_mul(amount_mul(depth, mb), src->type->bits) +
		amount_mul(amount_mul(depth, oc), wei->type->bits) +
		amount_mul(amount_mul(amount_mul(1, mb), oc), dst->type->bits)) /
	       8;
	return true;
}

static enum record_is ip_work(const struct onednn_call *c, struct library_key *k)
{
	const struct onednn_problem *p = &c->problem;
	int64_t mb = onednn_pair(p, "mb", DIM_NONE), ic = onednn_pair(p, "ic", DIM_NONE);
	int64_t oc = onednn_pair(p, "oc", DIM_NONE);
	amount depth = amount_mul(amount_mul(1, ic), spatial_size(p)), bytes = 0;
	bool typed;

	if (p->pairs == 0 || mb == DIM_NONE || ic == DIM_NONE || oc == DIM_NONE)
		return RECORD_TORN;
	if (depth > DIM_MAX)
		return key_bad(k, "its sizes multiply to more than 2^48");
	typed = ip_bytes(c, mb, oc, depth, &bytes);
	if (!key_work(k, amount_mul(amount_mul(amount_mul(2, mb), oc), (int64_t)depth), bytes))
		return RECORD_BAD;
	if (!typed)
		k->bytes = LIBRARY_UNKNOWN;
	key_product(k, 0, oc, mb, (int64_t)depth);
	return RECORD_CALL;
}

static bool text_has(struct text_slice t, const char *what)
{
	return t.n > 0 && memmem(t.p, t.n, what, strlen(what)) != NULL;
}

static int rnn_gates(struct text_slice aux)
{
	return text_has(aux, "lstm") ? 4 : text_has(aux, "gru") || text_has(aux, "augru") ? 3 : 1;
}

/* l1t10mb16sic512slc512dhc512dic512: layers, steps, channels of source and of hidden state */
static enum record_is rnn_work(const struct onednn_call *c, struct library_key *k)
{
	const struct onednn_problem *p = &c->problem;
	int64_t hidden = onednn_pair(p, "dhc", onednn_pair(p, "dic", DIM_NONE));
	int64_t slc = onednn_pair(p, "slc", DIM_NONE), sic = onednn_pair(p, "sic", DIM_NONE);
	amount n = amount_mul(amount_mul(2, rnn_gates(c->aux)), onednn_pair(p, "l", -1));

	if (hidden == DIM_NONE || slc == DIM_NONE || sic == DIM_NONE || slc > DIM_MAX ||
	    sic > DIM_MAX || onednn_pair(p, "l", DIM_NONE) == DIM_NONE ||
	    onednn_pair(p, "t", DIM_NONE) == DIM_NONE || onednn_pair(p, "mb", DIM_NONE) == DIM_NONE)
		return RECORD_CALL; /* flops unknown */
	n = amount_mul(amount_mul(n, onednn_pair(p, "t", -1)), onednn_pair(p, "mb", -1));
	n = amount_mul(amount_mul(n, hidden), slc + sic);
	n = amount_mul(n, text_has(c->aux, "bidirectional") ? 2 : 1);
	if (!key_work(k, amount_mul(n, onednn_is_forward(c) ? 1 : 2), 0))
		return RECORD_BAD;
	k->bytes = LIBRARY_UNKNOWN;
	return RECORD_CALL;
}

static enum record_is data_work(const struct onednn_call *c, struct library_key *k)
{
	amount bits = 0;
	bool known = tensors_bits(c, &bits);

	if (!key_work(k, 0, known ? bits / 8 : 0))
		return RECORD_BAD;
	if (!known)
		k->bytes = LIBRARY_UNKNOWN;
	return RECORD_CALL;
}

/* Only paddings are less than 0. */
static bool pairs_are_sane(const struct onednn_problem *p, struct library_key *k)
{
	for (size_t i = 0; i < p->pairs; i++) {
		const struct onednn_pair *v = &p->pair[i];

		if (v->v > DIM_MAX || (v->v < 0 && *v->name.p != 'p')) {
			key_bad(k, "%.*s=%lld is no size", (int)(v->name.n < 8 ? v->name.n : 8),
				v->name.p, (long long)v->v);
			return false;
		}
	}
	for (size_t i = 0; i < p->lists; i++)
		for (size_t d = 0; d < p->list[i].nr; d++)
			if (p->list[i].v[d] > DIM_MAX) {
				key_bad(k, "%lld is no size", (long long)p->list[i].v[d]);
				return false;
			}
	return true;
}

enum record_is onednn_other_key(const struct onednn_call *c, const char *family,
				struct library_key *k)
{
	bool ip = !strcmp(family, "ip"), rnn = !strcmp(c->kind, "rnn");
	bool moves = kind_moves_data(c->kind);

	if (!c->has_problem && (ip || rnn || moves || !strcmp(family, "matmul")))
		return RECORD_TORN;
	if (c->has_problem && !pairs_are_sane(&c->problem, k))
		return RECORD_BAD;
	key_begin(k, family, c->kind);
	other_words(c, k);
	if (ip)
		return ip_work(c, k);
	if (rnn)
		return rnn_work(c, k);
	if (!strcmp(family, "matmul"))
		return onednn_matmul_work(c, k);
	return moves ? data_work(c, k) : RECORD_CALL;
}
