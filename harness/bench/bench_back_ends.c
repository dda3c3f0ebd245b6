#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_back_end.h"
#include "profrig/bench/bench_vendor.h"

/* clang-format off */
#define ROW(...) { __VA_ARGS__ },
const struct bench_back_end bench_back_ends[] = { BENCH_BACK_ENDS(ROW) { NULL, NULL, NULL, NULL } };
/* clang-format on */

/* Folders of libraries: Debian's by architecture, others'. */
static const char *const folders[] = {
#ifdef __x86_64__
	"/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/usr/lib/aarch64-linux-gnu",
#endif
	"/usr/lib64", "/usr/lib", "/usr/local/lib"
};

/* Owned; NULL: it is not installed. */
static char *file_find(const struct bench_back_end *b)
{
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		char *path = fs_join(folders[i], b->file);

		if (fs_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

static void end_add(struct bench_back_ends *to, const char *name, char *path, const char *package)
{
	if (VEC_FIND(&to->v, e, !strcmp(e->name, name))) {
		free(path);
		return;
	}
	VEC_PUSH(&to->v,
		 ((struct bench_end){ .name = xstrdup(name), .path = path, .package = package }));
}

/* The first installed flavour, else the first one without a path. */
static bool family_add(struct bench_back_ends *to, const char *family)
{
	const struct bench_back_end *first = NULL;

	for (const struct bench_back_end *b = bench_back_ends; b->name; b++) {
		char *path;

		if (strcmp(b->family, family) != 0)
			continue;
		first = first ? first : b;
		path = file_find(b);
		if (path) {
			end_add(to, b->name, path, b->package);
			return true;
		}
	}
	if (first)
		end_add(to, first->name, NULL, first->package);
	return first != NULL;
}

static bool flavour_add(struct bench_back_ends *to, const char *name)
{
	for (const struct bench_back_end *b = bench_back_ends; b->name; b++)
		if (!strcmp(b->name, name)) {
			end_add(to, name, file_find(b), b->package);
			return true;
		}
	return false;
}

static bool vendor_add(struct bench_back_ends *to, const char *name)
{
	struct bench_vendor_end found, *vendor;

	if (!bench_vendor_find(name, &found))
		return false;
	if (VEC_FIND(&to->v, e, !strcmp(e->name, name))) {
		bench_vendor_end_release(&found);
		return true;
	}
	end_add(to, name, xstrdup_null(found.real), NULL);
	vendor = xmalloc(sizeof(*vendor));
	*vendor = found;
	to->v.v[to->v.nr - 1].vendor = vendor;
	return true;
}

static int unknown(const char *name, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT;

	for (const struct bench_back_end *b = bench_back_ends; b->name; b++)
		strbuf_addf(&known, "%s%s", known.len ? " " : "", b->name);
	for (const char *const *n = bench_vendor_names; *n; n++)
		strbuf_addf(&known, " %s", *n);
	return err_set(err, EINVAL,
		       "no back end '%.60s'; there are: %s, and paths that begin "
		       "with /",
		       name, known.buf);
}

int bench_back_ends_find(const struct strvec *names, struct bench_back_ends *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec defaults = STRVEC_INIT;
	bool found = false;

	if (!names->nr)
		strvec_split(&defaults, BENCH_FAMILIES_DEFAULT, " ");
	for (size_t i = 0; i < defaults.nr; i++)
		family_add(ret, defaults.v[i]);
	for (size_t i = 0; i < names->nr; i++)
		if (vendor_add(ret, names->v[i]))
			continue;
		else if (names->v[i][0] == '/')
			end_add(ret, names->v[i], xstrdup(names->v[i]), NULL);
		else if (!flavour_add(ret, names->v[i]) && !family_add(ret, names->v[i]))
			return unknown(names->v[i], err);
	/* what is there by default, and not what could be */
	for (size_t i = ret->v.nr; !names->nr && i-- > 0;)
		if (!ret->v.v[i].path) {
			free(ret->v.v[i].name);
			memmove(&ret->v.v[i], &ret->v.v[i + 1],
				(--ret->v.nr - i) * sizeof(*ret->v.v));
		}
	for (size_t i = 0; i < ret->v.nr; i++)
		found |= ret->v.v[i].path != NULL;
	if (!found && ret->v.nr && ret->v.v[0].vendor) {
		CLEANUP(xfreep) char *missing = bench_vendor_missing(ret->v.v[0].vendor);

		return err_set(err, ENOENT, "no back end is installed: %s", missing);
	}
	if (!found)
		return err_set(err, ENOENT, "no back end is installed: apt-get install %s",
			       ret->v.nr && ret->v.v[0].package ? ret->v.v[0].package
								: "libopenblas0-pthread");
	return 0;
}

void bench_back_ends_release(struct bench_back_ends *ends)
{
	for (size_t i = 0; i < ends->v.nr; i++) {
		struct bench_end *e = &ends->v.v[i];

		if (e->vendor)
			bench_vendor_end_release(e->vendor);
		free(e->vendor);
		free(e->name);
		free(e->path);
		free(e->reason);
		free(e->identity.path);
		free(e->identity.version);
	}
	VEC_RELEASE(&ends->v);
}
