/* Archives and manifests: what is opened has names that stay in a folder, and is read whole. */
#include "bundle_manifest.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"
#include "profrig/base/zip.h"

static int count_take(void *ctx, const void *data, size_t n, struct err *err)
{
	(void)data;
	(void)err;
	*(uint64_t *)ctx += n;
	return 0;
}

static void name_check(const char *path)
{
	CLEANUP(xfreep) char *framed = xasprintf("/%s/", path);

	if (!*path || strstr(framed, "/../") || strstr(framed, "/./") || strstr(framed, "//"))
		abort();
}

static void members_check(struct zip *z)
{
	for (size_t i = 0; i < z->nr; i++) {
		struct err err = ERR_INIT;
		uint64_t n = 0;
		int r;

		name_check(z->entry[i].path);
		if (zip_find(z, z->entry[i].path) != &z->entry[i])
			abort();
		if (z->entry[i].is_dir)
			continue;
		r = zip_read(z, &z->entry[i], count_take, &n, &err);
		if ((r == 0 && n != z->entry[i].bytes) || (r < 0 && !*err.msg))
			abort();
	}
}

static void manifest_check(const char *text, size_t n)
{
	CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT;
	struct bundle_manifest m, back;
	struct err err = ERR_INIT;

	if (bundle_manifest_parse(text, n, &m, &err) < 0) {
		if (!*err.msg)
			abort();
		return;
	}
	for (size_t i = 0; i < m.members.nr; i++)
		name_check(m.members.v[i].path);
	bundle_manifest_text(&m, &again);
	if (bundle_manifest_parse(again.buf, again.len, &back, &err) < 0 ||
	    back.members.nr != m.members.nr)
		abort();
	bundle_manifest_release(&m);
	bundle_manifest_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err err = ERR_INIT;
	struct zip z;
	int fd;

	if (n && *data == '{') {
		manifest_check((const char *)data, n);
		return 0;
	}
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || fs_write_all(fd, data, n) < 0)
		abort();
	if (zip_open_fd(fd, "fuzz", &z, &err) == 0) {
		members_check(&z);
		zip_release(&z);
	} else if (!*err.msg) {
		abort();
	}
	return 0;
}
