/*
 * path_tree: call paths of two traces as trees, and which node of one is which of the other.
 *
 *	path_tree_add(&a, texts, "main;solve;gemm", 15, 3, 900, 0);	…	each path of A, of B
 *	path_trees_match(&a, &b);
 *	… path_text(&a, i, &b, texts), path_text(&b, k, NULL, texts) …
 *	path_tree_release(&a); path_tree_release(&b);
 *
 * Paths of all tracks lie in one tree: names joined by ';'. Digits behind a '#' are left out of
 * names, as they count iterations (ProfilerStep#12).
 *
 * Matching goes level by level from the roots. Children of one name are one node, so that names
 * alone decide, and their order says nothing. What then has no partner is looked for below those
 * nodes of the other side that have none either, PATH_WRAPPERS levels deep at most: a wrapper that
 * one side has around some calls (a compiled module, a parallel one) does not make all of them
 * new. The nearest one counts, of equal levels the first. O(nodes · PATH_WRAPPERS).
 */
#ifndef PATH_TREE_H
#define PATH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profrig/base/intern.h"
#include "profrig/base/u64map.h"
#include "profrig/base/vec.h"

#define PATH_WRAPPERS 4
#define PATH_NODES_MAX ((size_t)1 << 22)
#define PATH_NONE UINT32_MAX

struct path_node {
	uint32_t parent, child, last, next; /* of siblings in the order of adding; PATH_NONE */
	uint32_t partner;                   /* in the other tree; PATH_NONE */
	bool wraps;                         /* something that was matched through it; no partner */
	str_id name;
	uint64_t calls;
	int64_t host_ns, device_ns;
};

struct path_tree {
	VEC(struct path_node) v; /* the first is the root, which has no name */
	struct u64map at;        /* parent and name → node */
	size_t left_out;         /* paths beyond PATH_NODES_MAX nodes */
};

void path_tree_release(struct path_tree *t);
/* Amounts of equal paths add up. */
void path_tree_add(struct path_tree *t, struct intern *texts, const char *path, size_t n,
		   uint64_t calls, int64_t host_ns, int64_t device_ns);
/* Names must be ids of one intern. */
void path_trees_match(struct path_tree *a, struct path_tree *b);
/*
 * The path of a node by its names; of one with a partner in `other` (NULL: none counts) that of the
 * partner, so that both have one text. Longer ones than PATH_TEXT_MAX begin with "…".
 */
#define PATH_TEXT_MAX 4096
const char *path_text(const struct path_tree *t, uint32_t node, const struct path_tree *other,
		      struct intern *texts);

#endif
