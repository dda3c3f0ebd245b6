#include "tef_out.h"

#include "profrig/base/xalloc.h"

void span_links_init(const struct model *m, struct span_links *ret)
{
	const struct link_columns *l = &m->links;

	*ret = (struct span_links){ NULL, NULL };
	if (l->nr == 0)
		return;
	ret->first = xcalloc(m->spans.nr + 2, sizeof(*ret->first));
	ret->link = xreallocarray(NULL, 2 * l->nr, sizeof(*ret->link));
	/* counted one further on, so that filling moves each start to where it belongs */
	for (size_t i = 0; i < l->nr; i++) {
		ret->first[l->from[i] + 2]++;
		ret->first[l->to[i] + 2]++;
	}
	for (size_t i = 2; i < m->spans.nr + 2; i++)
		ret->first[i] += ret->first[i - 1];
	for (size_t i = 0; i < l->nr; i++) {
		ret->link[ret->first[l->from[i] + 1]++] = 2 * i;
		ret->link[ret->first[l->to[i] + 1]++] = 2 * i + 1;
	}
}

void span_links_release(struct span_links *l)
{
	free(l->first);
	free(l->link);
}
