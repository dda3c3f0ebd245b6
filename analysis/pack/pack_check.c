#include "bundle_in.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/progress.h"
#include "profrig/base/xalloc.h"
#include "profrig/pack/pack.h"

/* A damaged archive has as many problems as members; the first ones tell enough. */
#define PROBLEMS_MAX 1000

void pack_checked_release(struct pack_checked *c)
{
	strvec_release(&c->problems);
}

static void problem_add(struct pack_checked *c, const char *text)
{
	if (c->problems.nr < PROBLEMS_MAX)
		strvec_push(&c->problems, text);
	else if (c->problems.nr == PROBLEMS_MAX)
		strvec_push(&c->problems, "and more");
}

static void members_check(struct bundle_in *b, struct pack_checked *c)
{
	for (size_t i = 0; i < b->zip.nr; i++) {
		const struct zip_entry *e = &b->zip.entry[i];
		struct err err = ERR_INIT;
		char sha256[65];

		if (!bundle_in_has(b, e))
			continue;
		if (bundle_in_read(b, e, NULL, NULL, sha256, &err) < 0)
			problem_add(c, err.msg);
		c->members++;
		c->bytes += e->bytes;
		progress_update(c->bytes);
	}
	for (size_t i = 0; i < b->manifest.members.nr; i++) {
		const char *path = b->manifest.members.v[i].path;

		if (!zip_find(&b->zip, path)) {
			CLEANUP(xfreep)
			char *text = xasprintf("%s: member %s of its manifest is missing",
					       b->zip.name, path);

			problem_add(c, text);
		}
	}
}

int pack_check(const char *path, struct pack_checked *ret, struct err *err)
{
	struct bundle_in b;
	int r;

	*ret = (struct pack_checked){ .problems = STRVEC_INIT };
	r = bundle_in_open(path, &b, err);
	if (r < 0)
		return r;
	ret->has_manifest = b.has_manifest;
	members_check(&b, ret);
	bundle_in_release(&b);
	return 0;
}
