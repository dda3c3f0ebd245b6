/*
 * library_seeds FAMILY DIR: what fuzzing the logs of one library begins with, files of a few
 * records each (tests/fixtures/gen/library_lines.h). Without arguments the names of the families.
 */
#include "tests/fixtures/gen/library_lines.c"

#include <stdio.h>
#include <string.h>

#define SEEDS 8

static const struct library_family *family_named(const char *name)
{
	const struct library_family *f = library_families;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f->name ? f : NULL;
}

/* Two records of one configuration, and one of another. */
static int seed_write(const struct library_family *f, const char *dir, int i)
{
	char path[4096], record[LINES_RECORD_MAX];
	uint64_t seed = (uint64_t)i + 1;
	FILE *out;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s.%d", dir, f->name, i) >= sizeof(path))
		return 1;
	out = fopen(path, "we");
	if (!out) {
		perror(path);
		return 1;
	}
	fputs(i % 2 ? f->begin : "", out);
	for (int k = 0; k < 3; k++)
		fwrite(record, 1,
		       f->record(record, sizeof(record), 977 * (uint64_t)i + (uint64_t)k / 2,
				 &seed),
		       out);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	const struct library_family *f = argc == 3 ? family_named(argv[1]) : NULL;
	int r = 0;

	if (f) {
		for (int i = 0; i < SEEDS && r == 0; i++)
			r = seed_write(f, argv[2], i);
		return r;
	}
	for (f = library_families; f->name; f++)
		printf("%s\n", f->name);
	return argc != 1;
}
