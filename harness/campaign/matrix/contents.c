#include "contents.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/run/run.h"

#define DEPTH_MAX 64
#define SHA_HEX 64
#define PATH_AT (SHA_HEX + 2) /* of a line */

struct walk {
	const char *root, *but;
	struct strvec *paths;
};

/* What profrig writes. */
static bool is_output(const char *dir)
{
	CLEANUP(xfreep) char *run = fs_join(dir, "run.json");
	CLEANUP(xfreep) char *journal = fs_join(dir, "journal.ndjson");

	return fs_is_file(run) || fs_is_file(journal);
}

/* rel: below the root, "" for itself. */
static int folder_walk(struct walk *w, const char *rel, size_t depth, struct err *err)
{
	CLEANUP(xfreep) char *dir = *rel ? fs_join(w->root, rel) : xstrdup(w->root);
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r;

	if (depth > DEPTH_MAX || (*rel && is_output(dir)) || (w->but && !strcmp(dir, w->but)))
		return 0;
	r = fs_list(dir, &names, err);
	for (size_t i = 0; r == 0 && i < names.nr; i++) {
		CLEANUP(xfreep) char *path = fs_join(dir, names.v[i]);
		CLEANUP(xfreep) char *below = *rel ? fs_join(rel, names.v[i]) : xstrdup(names.v[i]);
		struct stat st;

		if (door_lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && *names.v[i] != '.')
			r = folder_walk(w, below, depth + 1, err);
		else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
			strvec_push(w->paths, below);
		if (w->paths->nr > CONTENTS_FILES_MAX)
			r = err_set(err, E2BIG, "'%s' holds more than %zu files", w->root,
				    CONTENTS_FILES_MAX);
	}
	return r;
}

/* 1: it does not count. */
static int file_add(const char *dir, const char *rel, const volatile sig_atomic_t *interrupt,
		    struct strvec *to, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(dir, rel);
	char hex[SHA_HEX + 1], target[4096];
	struct stat st;
	int r = 0;

	/* a tracked file that was removed */
	if (door_lstat(path, &st) < 0)
		return errno == ENOENT ? 1 : err_sys(err, errno, "'%s'", path);
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = door_readlink(path, target, sizeof(target));

		if (n < 0)
			return err_sys(err, errno, "'%s'", path);
		fs_sha256_text(target, (size_t)n, hex);
	} else if (S_ISREG(st.st_mode)) {
		r = fs_sha256(path, interrupt, hex, err);
	} else {
		return 1;
	}
	if (r == 0)
		strvec_pushf(to, "%s %c%s", hex, st.st_mode & S_IXUSR ? '*' : ' ', rel);
	return r;
}

int contents_find(const char *dir, const char *but, const volatile sig_atomic_t *interrupt,
		  struct contents *ret, struct err *err)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT;
	struct walk w = { dir, but, &paths };
	int r = run_git_files(dir, &paths, NULL);

	if (r < 0 || paths.nr == 0) {
		strvec_clear(&paths);
		r = folder_walk(&w, "", 0, err);
	}
	strvec_sort(&paths);
	for (size_t i = 0; r >= 0 && i < paths.nr; i++)
		r = file_add(dir, paths.v[i], interrupt, &ret->files, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ret->files.nr; i++)
		strbuf_addf(&all, "%s\n", ret->files.v[i]);
	fs_sha256_text(all.buf ? all.buf : "", all.len, ret->sha);
	return 0;
}

int contents_file(const char *path, char ret[65], struct err *err)
{
	return fs_sha256(path, NULL, ret, err);
}

static void change_say(struct strbuf *to, size_t *nr, size_t max, const char *line, const char *how)
{
	if ((*nr)++ < max)
		strbuf_addf(to, "%s%s%s", to->len ? ", " : "", line + PATH_AT, how);
}

char *contents_changed(const struct strvec *before, const struct strvec *now, size_t max)
{
	struct strbuf said = STRBUF_INIT;
	size_t i = 0, k = 0, nr = 0;

	while (i < before->nr || k < now->nr) {
		const char *a = i < before->nr ? before->v[i] : NULL;
		const char *b = k < now->nr ? now->v[k] : NULL;
		int order;

		/* a line that is none has no path */
		if ((a && strlen(a) < PATH_AT) || (b && strlen(b) < PATH_AT))
			break;
		order = !a ? 1 : !b ? -1 : strcmp(a + PATH_AT, b + PATH_AT);
		if (order < 0)
			change_say(&said, &nr, max, a, " (gone)");
		else if (order > 0)
			change_say(&said, &nr, max, b, " (new)");
		else if (strcmp(a, b) != 0)
			change_say(&said, &nr, max, b, "");
		i += order <= 0;
		k += order >= 0;
	}
	if (nr > max)
		strbuf_addf(&said, ", %zu more", nr - max);
	return strbuf_steal(&said);
}

void contents_release(struct contents *c)
{
	strvec_release(&c->files);
}
