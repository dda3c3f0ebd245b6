#include <errno.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"
#include "profrig/bench/bench_back_end.h"
#include "profrig/bench/bench_driver.h"
#include "profrig/bench/bench_vendor.h"

/* clang-format off */
#define ROW(name, family, file, package, driver) \
	{ name, family, file, package, &bench_driver_##driver },
const struct bench_back_end bench_back_ends[] = { BENCH_BACK_ENDS(ROW) { 0 } };
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

/* Where libraries of a GPU lie besides, behind the folders of LD_LIBRARY_PATH. */
static const char *const device_folders[] = { "/usr/local/cuda/lib64", "/opt/rocm/lib" };

static void folders_of(const struct bench_back_end *b, struct strvec *to)
{
	const char *more = b->driver->node ? getenv("LD_LIBRARY_PATH") : NULL;

	strvec_split(to, more ? more : "", ":");
	for (size_t i = 0; b->driver->node && i < ARRAY_LEN(device_folders); i++)
		strvec_push(to, device_folders[i]);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		strvec_push(to, folders[i]);
}

/* Owned; NULL: it is not installed. */
static char *file_find(const struct bench_back_end *b)
{
	CLEANUP(strvec_release) struct strvec in = STRVEC_INIT, files = STRVEC_INIT;

	folders_of(b, &in);
	strvec_split(&files, b->file, " ");
	for (size_t i = 0; i < in.nr * files.nr; i++) {
		char *path = fs_join(in.v[i / files.nr], files.v[i % files.nr]);

		if (path[0] == '/' && fs_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

static void end_add(struct bench_back_ends *to, const char *name, char *path, const char *package,
		    const struct bench_driver *driver)
{
	if (VEC_FIND(&to->v, e, !strcmp(e->name, name))) {
		free(path);
		return;
	}
	VEC_PUSH(&to->v, ((struct bench_end){ .name = xstrdup(name),
					      .path = path,
					      .package = package,
					      .driver = driver }));
}

/*
 * The first installed flavour, else the first one without a path. named: also one whose device is
 * not there.
 */
static bool family_add(struct bench_back_ends *to, const char *family, bool named)
{
	const struct bench_back_end *first = NULL;

	for (const struct bench_back_end *b = bench_back_ends; b->name; b++) {
		char *path;

		if (strcmp(b->family, family) != 0 ||
		    (!named && b->driver->node && !fs_exists(b->driver->node)))
			continue;
		first = first ? first : b;
		path = file_find(b);
		if (path) {
			end_add(to, b->name, path, b->package, b->driver);
			return true;
		}
	}
	if (first)
		end_add(to, first->name, NULL, first->package, first->driver);
	return first != NULL;
}

static bool flavour_add(struct bench_back_ends *to, const char *name)
{
	for (const struct bench_back_end *b = bench_back_ends; b->name; b++)
		if (!strcmp(b->name, name)) {
			end_add(to, name, file_find(b), b->package, b->driver);
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
	end_add(to, name, xstrdup_null(found.real), NULL, NULL);
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
		family_add(ret, defaults.v[i], false);
	for (size_t i = 0; i < names->nr; i++)
		if (vendor_add(ret, names->v[i]))
			continue;
		else if (names->v[i][0] == '/')
			end_add(ret, names->v[i], xstrdup(names->v[i]), NULL,
				bench_driver_of_file(names->v[i]));
		else if (!flavour_add(ret, names->v[i]) && !family_add(ret, names->v[i], true))
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
		free(e->identity.device);
	}
	VEC_RELEASE(&ends->v);
}
