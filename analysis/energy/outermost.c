/* Which nodes are recursive calls: one walk with a count per kind, so that deep trees cost no more
 * than wide ones. */
#include <string.h>

#include "profrig/base/xalloc.h"
#include "profrig/model/lane.h"

uint8_t *nodes_outermost(const uint32_t *parent, const uint32_t *kind, uint32_t nr, size_t kinds)
{
	uint8_t *ret = xcalloc(nr + 1, 1);
	CLEANUP(xfreep) uint32_t *child = xreallocarray(NULL, nr + 1, sizeof(*child));
	CLEANUP(xfreep) uint32_t *next = xreallocarray(NULL, nr + 1, sizeof(*next));
	CLEANUP(xfreep) uint32_t *open = xcalloc(kinds + 1, sizeof(*open));
	uint32_t roots = NODE_NONE;

	memset(child, 0xff, (nr + 1) * sizeof(*child));
	for (uint32_t n = 0; n < nr; n++) {
		uint32_t *first = parent[n] == NODE_NONE ? &roots : &child[parent[n]];

		next[n] = *first;
		*first = n;
	}
	for (uint32_t n = roots; n != NODE_NONE;) {
		ret[n] = open[kind[n]]++ == 0;
		if (child[n] != NODE_NONE) {
			n = child[n];
			continue;
		}
		/* up to where a sibling is left */
		for (;;) {
			open[kind[n]]--;
			if (next[n] != NODE_NONE || parent[n] == NODE_NONE)
				break;
			n = parent[n];
		}
		n = next[n];
	}
	return ret;
}
