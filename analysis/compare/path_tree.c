#include "path_tree.h"

#include <string.h>

#include "profrig/base/strbuf.h"

void path_tree_release(struct path_tree *t)
{
	VEC_RELEASE(&t->v);
	u64map_release(&t->at);
}

/* ---- building ---- */

static uint32_t node_new(struct path_tree *t, uint32_t parent, str_id name)
{
	uint32_t id = (uint32_t)t->v.nr;

	VEC_PUSH(&t->v, ((struct path_node){ .parent = parent,
					     .child = PATH_NONE,
					     .last = PATH_NONE,
					     .next = PATH_NONE,
					     .partner = PATH_NONE,
					     .name = name }));
	if (parent == PATH_NONE)
		return id;
	if (t->v.v[parent].child == PATH_NONE)
		t->v.v[parent].child = id;
	else
		t->v.v[t->v.v[parent].last].next = id;
	t->v.v[parent].last = id;
	return id;
}

/* "ProfilerStep#12" → "ProfilerStep#" */
static str_id name_of(struct intern *texts, struct strbuf *buf, const char *s, size_t n)
{
	bool counted = false;

	if (!memchr(s, '#', n))
		return intern_put(texts, s, n);
	strbuf_clear(buf);
	for (size_t i = 0; i < n; i++) {
		bool digit = s[i] >= '0' && s[i] <= '9';

		counted = s[i] == '#' || (counted && digit);
		if (!(counted && digit))
			strbuf_addch(buf, s[i]);
	}
	return intern_put(texts, buf->buf, buf->len);
}

static uint32_t child_at(struct path_tree *t, uint32_t parent, str_id name)
{
	uint32_t *at = u64map_at(&t->at, u64map_pair(parent, name));

	if (*at == U64MAP_NONE)
		*at = node_new(t, parent, name);
	return *at;
}

static int64_t ns_sum(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

void path_tree_add(struct path_tree *t, struct intern *texts, const char *path, size_t n,
		   uint64_t calls, int64_t host_ns, int64_t device_ns)
{
	CLEANUP(strbuf_release) struct strbuf buf = STRBUF_INIT;
	const char *end = path + n;
	struct path_node *node;
	uint32_t at = 0;

	if (!t->v.nr)
		node_new(t, PATH_NONE, STR_NONE);
	for (const char *s = path; s <= end;) {
		const char *stop = memchr(s, ';', (size_t)(end - s));

		stop = stop ? stop : end;
		if (t->v.nr >= PATH_NODES_MAX) {
			t->left_out++;
			return;
		}
		at = child_at(t, at, name_of(texts, &buf, s, (size_t)(stop - s)));
		s = stop + 1;
	}
	node = &t->v.v[at];
	node->calls = calls > UINT64_MAX - node->calls ? UINT64_MAX : node->calls + calls;
	node->host_ns = ns_sum(node->host_ns, host_ns);
	node->device_ns = ns_sum(node->device_ns, device_ns);
}

/* ---- matching ---- */

struct pairs {
	VEC(struct path_pair { uint32_t a, b; }) v;
};

static void pair_make(struct path_tree *a, uint32_t x, struct path_tree *b, uint32_t y,
		      struct pairs *to)
{
	a->v.v[x].partner = y;
	b->v.v[y].partner = x;
	VEC_PUSH(&to->v, ((struct path_pair){ x, y }));
}

static bool is_alone(const struct path_tree *t, uint32_t node)
{
	return t->v.v[node].partner == PATH_NONE;
}

/* It may get a partner. */
static bool is_free(const struct path_tree *t, uint32_t node)
{
	return is_alone(t, node) && !t->v.v[node].wraps;
}

static bool has_alone(const struct path_tree *t, uint32_t node)
{
	for (uint32_t c = t->v.v[node].child; c != PATH_NONE; c = t->v.v[c].next)
		if (is_alone(t, c))
			return true;
	return false;
}

/* Whether nothing between a node and one above it has a partner; then all of it wraps. */
static bool wrappers_take(struct path_tree *t, uint32_t node, uint32_t top)
{
	for (uint32_t up = t->v.v[node].parent; up != top; up = t->v.v[up].parent)
		if (!is_alone(t, up))
			return false;
	for (uint32_t up = t->v.v[node].parent; up != top; up = t->v.v[up].parent)
		t->v.v[up].wraps = true;
	return true;
}

struct found {
	VEC(uint32_t) nodes;
	struct u64map at; /* name → node */
};

static void children_add(const struct path_tree *t, uint32_t node, struct found *f)
{
	for (uint32_t c = t->v.v[node].child; c != PATH_NONE; c = t->v.v[c].next)
		if (is_alone(t, c))
			VEC_PUSH(&f->nodes, c);
}

/* Nodes below the children that have no partner, through such ones alone, level by level. */
static void below_find(const struct path_tree *t, uint32_t node, struct found *f)
{
	size_t from = 0;

	children_add(t, node, f);
	for (int level = 0; level < PATH_WRAPPERS && from < f->nodes.nr; level++) {
		size_t to = f->nodes.nr;

		for (; from < to; from++)
			children_add(t, f->nodes.v[from], f);
		for (size_t i = to; i < f->nodes.nr; i++) {
			uint32_t *at = u64map_at(&f->at, t->v.v[f->nodes.v[i]].name);

			if (*at == U64MAP_NONE)
				*at = f->nodes.v[i];
		}
	}
}

/* Children of x without a partner, below wrappers of y. swapped: x is in B. */
static void wrapped_match(struct path_tree *a, uint32_t x, struct path_tree *b, uint32_t y,
			  bool swapped, struct pairs *to)
{
	struct found f = { .nodes = VEC_INIT, .at = U64MAP_INIT };

	if (!has_alone(a, x) || !has_alone(b, y))
		return;
	below_find(b, y, &f);
	for (uint32_t c = a->v.v[x].child; c != PATH_NONE; c = a->v.v[c].next) {
		uint32_t m = is_free(a, c) ? u64map_get(&f.at, a->v.v[c].name) : U64MAP_NONE;

		if (m == U64MAP_NONE || !is_free(b, m) || !wrappers_take(b, m, y))
			continue;
		if (swapped)
			pair_make(b, m, a, c, to);
		else
			pair_make(a, c, b, m, to);
	}
	VEC_RELEASE(&f.nodes);
	u64map_release(&f.at);
}

void path_trees_match(struct path_tree *a, struct path_tree *b)
{
	struct pairs todo = { VEC_INIT };

	if (!a->v.nr || !b->v.nr)
		return;
	pair_make(a, 0, b, 0, &todo);
	while (todo.v.nr) {
		struct path_pair p = todo.v.v[--todo.v.nr];

		for (uint32_t c = a->v.v[p.a].child; c != PATH_NONE; c = a->v.v[c].next) {
			uint32_t m = u64map_get(&b->at, u64map_pair(p.b, a->v.v[c].name));

			if (m != U64MAP_NONE && is_free(a, c) && is_free(b, m))
				pair_make(a, c, b, m, &todo);
		}
		wrapped_match(a, p.a, b, p.b, false, &todo);
		wrapped_match(b, p.b, a, p.a, true, &todo);
	}
	VEC_RELEASE(&todo.v);
}

/* ---- texts ---- */

const char *path_text(const struct path_tree *t, uint32_t node, const struct path_tree *other,
		      struct intern *texts)
{
	static const char cut[] = { '\xe2', '\x80', '\xa6', ';' }; /* "…;" */
	char buf[PATH_TEXT_MAX];
	size_t at = sizeof(buf);

	if (other && t->v.v[node].partner != PATH_NONE) {
		node = t->v.v[node].partner;
		t = other;
	}
	for (bool first = true; t->v.v[node].parent != PATH_NONE; first = false) {
		size_t n = intern_len(texts, t->v.v[node].name);

		if (n + 1 + sizeof(cut) > at) {
			at -= sizeof(cut);
			memcpy(buf + at, cut, sizeof(cut));
			break;
		}
		if (!first)
			buf[--at] = ';';
		at -= n;
		memcpy(buf + at, intern_str(texts, t->v.v[node].name), n);
		node = t->v.v[node].parent;
	}
	return intern_str(texts, intern_put(texts, buf + at, sizeof(buf) - at));
}
