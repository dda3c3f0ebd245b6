#include "html_private.h"
#include "writers_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fs.h"
#include "profrig/report/writer.h"

#define DATA_PLACE "@PROFRIG_DATA@"
#define PLAIN_ROWS 200

/* 200 000 rows are more than anyone reads and load in about a second; 24 MiB of paths too. */
static const struct html_limits page_limits = { .rows = 200000, .bytes = (size_t)24 << 20 };

extern const char page_shell_start[], page_shell_end[]; /* page_shell.S */

const char *page_html(size_t *ret_len)
{
	size_t n = (size_t)(page_shell_end - page_shell_start);

	if (ret_len)
		*ret_len = n;
	return n > 0 ? page_shell_start : NULL;
}

static void write_data(const struct report *r, FILE *f)
{
	CLEANUP(xfreep) char *data = NULL;
	size_t n = 0;
	FILE *d = xmemstream(&data, &n);

	html_write_data(r, page_limits, d);
	fclose(d);
	html_write_packed(data, n, f);
}

static int write_page(const struct report *r, FILE *f, struct err *err)
{
	size_t len;
	const char *shell = page_html(&len);
	const char *place;

	if (!shell) {
		html_write_plain(r, PLAIN_ROWS, f);
		return 0;
	}
	place = memmem(shell, len, DATA_PLACE, strlen(DATA_PLACE));
	if (!place)
		return err_set(err, EINVAL, "the embedded page has no place for data");
	fwrite(shell, 1, (size_t)(place - shell), f);
	write_data(r, f);
	place += strlen(DATA_PLACE);
	fwrite(place, 1, (size_t)(shell + len - place), f);
	return 0;
}

static int html_write(const struct report *r, struct err *err)
{
	CLEANUP(xfreep) char *path = fs_join(r->dir, "report.html");
	CLEANUP(xfreep) char *text = NULL;
	size_t n = 0;
	FILE *f = xmemstream(&text, &n);
	int ret = write_page(r, f, err);

	fclose(f);
	if (ret < 0)
		return ret;
	return fs_write_atomic(path, text, n, err);
}

const struct writer writer_html = {
	.name = "html",
	.about = "report.html: one file, no network",
	.write = html_write,
	.shown = "report.html",
	.file = "report.html",
};
