#include "compare_file.h"
#include "cli.h"
#include "out_file.h"

#include "profrig/base/fs.h"
#include "profrig/base/xalloc.h"

int compare_file_write(const char *path, compare_write_fn *fn, const void *ctx)
{
	CLEANUP(out_file_drop) struct out_file o = OUT_FILE_INIT;
	CLEANUP(xfreep) char *dir = fs_dir(path);
	struct err err = ERR_INIT;
	int r = out_file_open(dir, fs_base(path), &o, &err);

	if (r == 0) {
		fn(ctx, o.f);
		r = out_file_commit(&o, &err);
	}
	if (r == 0)
		return EXIT_DONE;
	cli_write_failed(&err, true);
	return EXIT_MISSING;
}
