/* Runs a fuzz entry over files, or over standard input, where there is no fuzzer. */
#include "../fuzz.h"

#include "profrig/base/err.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define MAX_BYTES ((size_t)64 << 20)

static void entry_run(const char *data, size_t n)
{
	/* a copy of exactly that size, so that a sanitizer sees a read past its end */
	uint8_t *copy = xmemdup(data, n ? n : 1);

	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

static int run_stdin(void)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	char buf[65536];
	size_t n;

	strbuf_limit(&sb, MAX_BYTES);
	while ((n = fread(buf, 1, sizeof(buf), stdin)) > 0)
		strbuf_add(&sb, buf, n);
	entry_run(sb.buf, sb.len);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2)
		return run_stdin();
	for (int i = 1; i < argc; i++) {
		CLEANUP(xfreep) char *data = NULL;
		struct err e = ERR_INIT;
		size_t n = 0;

		if (fs_read(argv[i], MAX_BYTES, &data, &n, &e) < 0) {
			fprintf(stderr, "%s\n", e.msg);
			failed = 1;
			continue;
		}
		entry_run(data, n);
	}
	return failed;
}
