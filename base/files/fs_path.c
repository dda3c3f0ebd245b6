/* The half of fs.h that handles names only. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

char *fs_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (*name == '/' || n == 0)
		return xstrdup(name);
	if (!*name)
		return xstrdup(dir);
	return xasprintf("%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

/* Adds the parts of a path to a clean absolute path; sb is "" for the root. */
static void add_parts(struct strbuf *sb, const char *path)
{
	for (;;) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0)
			return;
		if (n == 2 && !memcmp(path, "..", 2)) {
			char *last = strrchr(sb->buf, '/');

			if (last) {
				*last = '\0';
				sb->len = (size_t)(last - sb->buf);
			}
		} else if (n != 1 || *path != '.') {
			strbuf_addch(sb, '/');
			strbuf_add(sb, path, n);
		}
		path += n;
	}
}

char *fs_abs(const char *path)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (*path != '/') {
		CLEANUP(xfreep) char *cwd = getcwd(NULL, 0);

		if (!cwd && errno == ENOMEM)
			xalloc_failed();
		if (!cwd)
			return xstrdup(path);
		add_parts(&sb, cwd);
	}
	add_parts(&sb, path);
	if (sb.len == 0)
		strbuf_addch(&sb, '/');
	return strbuf_steal(&sb);
}

const char *fs_below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	if (n && dir[n - 1] == '/')
		n--;
	if (strncmp(path, dir, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path[n] ? path + n + 1 : path + n;
}

const char *fs_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *fs_dir(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n == 0)
		return xstrdup(".");
	while (n > 1 && path[n - 1] == '/')
		n--;
	return xstrndup(path, n);
}

char *fs_self_dir(void)
{
	char buf[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", buf, sizeof(buf) - 1);

	if (n <= 0)
		return xstrdup(".");
	buf[n] = '\0';
	return fs_dir(buf);
}
