/*
 * out_writer MB [MB_PER_S]: a workload that prints lines of 64 bytes to stdout, in writes of 64
 * KiB, as fast as they are taken or at a steady rate. Says on stderr, in seconds, how long it was
 * kept waiting in write(2) and how long it all took: "<in write> <all>".
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/num.h"

#define BLOCK ((size_t)65536)
#define LINE 64

static int write_block(const char *block)
{
	for (size_t at = 0; at < BLOCK;) {
		ssize_t n = write(1, block + at, BLOCK - at);

		if (n <= 0)
			return -1;
		at += (size_t)n;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char block[BLOCK];
	int64_t mb = 0, rate = 0, in_write = 0, begin = clock_monotonic_ns();

	if (argc < 2 || num_i64(argv[1], strlen(argv[1]), &mb) < 0 ||
	    (argc > 2 && num_i64(argv[2], strlen(argv[2]), &rate) < 0)) {
		fputs("usage: out_writer MB [MB_PER_S]\n", stderr);
		return 2;
	}
	memset(block, 'x', BLOCK);
	for (size_t i = LINE - 1; i < BLOCK; i += LINE)
		block[i] = '\n';
	for (int64_t done = 0; done < mb * 1000000; done += (int64_t)BLOCK) {
		int64_t t = clock_monotonic_ns();

		if (write_block(block) < 0) {
			perror("out_writer");
			return 1;
		}
		in_write += clock_monotonic_ns() - t;
		if (rate > 0)
			clock_sleep_until_ns(begin + (done + (int64_t)BLOCK) * 1000 / rate);
	}
	fprintf(stderr, "%.4f %.4f\n", (double)in_write / 1e9,
		(double)(clock_monotonic_ns() - begin) / 1e9);
	return 0;
}
