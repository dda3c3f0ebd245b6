#include "base_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include "profrig/base/clock.h"
#include "profrig/base/proc.h"
#include "profrig/base/spill.h"
#include "profrig/base/strvec.h"
#include "profrig/base/workers.h"

#define MIB ((size_t)1 << 20)
#define TMPFS 0x01021994

static char said[512];
static int times_said;

static void say(const char *text)
{
	snprintf(said, sizeof(said), "%s", text);
	times_said++;
}

/* A budget that everything is above, and files in a folder of the test's. */
static void spill_all(const char *dir, uint64_t budget)
{
	said[0] = '\0';
	times_said = 0;
	spill_begin(&(struct spill_opts){ .budget_bytes = budget,
					  .folders = (const char *const[]){ dir, NULL },
					  .say = say });
}

/* Back to the state in which other tests begin. */
static void spill_none(void)
{
	spill_begin(&(struct spill_opts){ .budget_bytes = 0 });
}

/* Whether the byte at p lies in a file without a name; p NULL: whether any does. */
static bool in_file(const void *p)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[8192];
	bool found = false;

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f)) {
		char *end;
		uintptr_t from = strtoul(line, &end, 16), to = strtoul(end + 1, NULL, 16);
		bool file = strstr(line, " rw-s ") && strstr(line, " (deleted)\n");

		found = file && (!p || ((uintptr_t)p >= from && (uintptr_t)p < to));
	}
	fclose(f);
	return found;
}

/*
 * The folder is on a disk, with room, and blocks of this malloc can lie in files: a sanitizer's
 * cannot. Else the test has nothing to look at.
 */
static bool can_spill(const char *dir)
{
	CLEANUP(xfreep) char *p = NULL;
	struct statfs st;

	if (statfs(dir, &st) < 0 || st.f_type == TMPFS)
		return false;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	spill_all(dir, 1);
	p = xmalloc(8 * MIB);
	assert_true(in_file(p + 4 * MIB));
	return true;
#endif
}

#define NEED_SPILL(dir) \
	do { \
		if (!can_spill(dir)) \
			skip(); \
	} while (0)

static void fill(uint64_t *v, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		v[i] = mix64(seed + i);
}

static void assert_filled(const uint64_t *v, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] != mix64(seed + i))
			fail_msg("word %zu of %zu has changed", i, n);
}

#define WORDS(bytes) ((bytes) / sizeof(uint64_t))

TEST_IN(test_block_and_free, dir)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	struct spill_use use;
	uint64_t *v;

	NEED_SPILL(dir);
	spill_all(dir, 1);
	assert_false(in_file(NULL));
	v = xmalloc(9 * MIB + 5);
	fill(v, WORDS(9 * MIB), 1);
	assert_true(in_file((char *)v + MIB) && in_file((char *)v + 9 * MIB));
	assert_filled(v, WORDS(9 * MIB), 1);
	spill_use(&use);
	assert_int_equal(use.blocks, 1);
	assert_true(use.bytes >= 9 * MIB && use.bytes <= 9 * MIB + 8192);
	assert_string_equal(use.folder, dir);
	/* the file has no name, so nothing stays behind however the process ends */
	assert_true(fs_list(dir, &names, NULL) >= 0);
	assert_int_equal(names.nr, 0);
	free(v);
	assert_false(in_file(NULL));
	assert_int_equal(times_said, 0);
	spill_none();
}

TEST_IN(test_small_and_below_the_budget, dir)
{
	char *small, *large;

	NEED_SPILL(dir);
	spill_all(dir, 1);
	small = xmalloc(SPILL_BLOCK - 1);
	assert_false(in_file(NULL));
	spill_all(dir, UINT64_C(1) << 50);
	large = xmalloc(64 * MIB);
	assert_false(in_file(NULL));
	free(small);
	free(large);
	spill_none();
	large = xmalloc(64 * MIB);
	assert_false(in_file(NULL));
	free(large);
}

TEST_IN(test_calloc_is_zero, dir)
{
	NEED_SPILL(dir);
	spill_all(dir, 1);
	for (int k = 0; k < 3; k++) {
		char *p = xcalloc(3 * MIB, 2);

		assert_true(in_file(p + MIB));
		for (size_t i = 0; i < 6 * MIB; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, 6 * MIB);
		free(p);
	}
	spill_none();
}

/* From memory into a file, from file to file, and smaller again down to a few bytes. */
TEST_IN(test_other_size, dir)
{
	static const size_t sizes[] = {
		2 * MIB, 3 * MIB + 4096 + 8, 20 * MIB, 21 * MIB, 5 * MIB, MIB, 64
	};
	uint64_t *v;

	NEED_SPILL(dir);
	spill_none();
	v = xmalloc(sizes[0]);
	fill(v, WORDS(sizes[0]), 7);
	spill_all(dir, 1);
	for (size_t i = 1; i < ARRAY_LEN(sizes); i++) {
		size_t less = sizes[i] < sizes[i - 1] ? sizes[i] : sizes[i - 1];

		v = xrealloc(v, sizes[i]);
		assert_filled(v, WORDS(less), 7);
		fill(v, WORDS(sizes[i]), 7);
		if (sizes[i] > sizes[i - 1])
			assert_true(in_file((char *)v + sizes[i] / 2));
	}
	free(v);
	assert_false(in_file(NULL));
	spill_none();
}

/* realloc(3) itself may meet such a block, too: below the budget again, or in a library. */
TEST_IN(test_other_size_by_malloc, dir)
{
	uint64_t *v;

	NEED_SPILL(dir);
	spill_all(dir, 1);
	v = xmalloc(8 * MIB);
	spill_none();
	fill(v, WORDS(8 * MIB), 3);
	v = xrealloc(v, 30 * MIB);
	assert_filled(v, WORDS(8 * MIB), 3);
	fill(v, WORDS(30 * MIB), 4);
	spill_all(dir, 1);
	v = xrealloc(v, 40 * MIB);
	spill_none();
	v = xrealloc(v, 2 * MIB);
	assert_filled(v, WORDS(2 * MIB), 4);
	free(v);
	assert_false(in_file(NULL));
}

/* A child that profrig starts shares the pages until it calls exec. */
TEST_IN(test_fork, dir)
{
	struct proc_exit end;
	uint64_t *v;

	NEED_SPILL(dir);
	spill_all(dir, 1);
	v = xmalloc(4 * MIB);
	fill(v, WORDS(4 * MIB), 9);
	assert_int_equal(proc_capture(ARGV("true"), 10000, 1000, NULL, NULL, &end, NULL), 0);
	assert_int_equal(end.code, 0);
	assert_filled(v, WORDS(4 * MIB), 9);
	free(v);
	spill_none();
}

/* No space: memory serves, and a line says so once. */
TEST_IN(test_no_space, dir)
{
	struct rlimit before, little = { MIB, MIB };
	struct spill_use use;
	uint64_t *v[3];

	NEED_SPILL(dir);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	little.rlim_max = before.rlim_max;
	spill_all(dir, 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	for (size_t i = 0; i < 2; i++) {
		v[i] = xcalloc(4, MIB);
		fill(v[i], WORDS(4 * MIB), i);
	}
	assert_false(in_file(NULL));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(times_said, 1);
	assert_non_null(strstr(said, "no space in "));
	assert_non_null(strstr(said, "File too large"));
	spill_use(&use);
	assert_int_equal(use.refused, 2);
	assert_int_equal(use.blocks, 0);
	v[2] = xmalloc(4 * MIB);
	assert_true(in_file((char *)v[2] + MIB));
	for (size_t i = 0; i < 2; i++)
		assert_filled(v[i], WORDS(4 * MIB), i);
	for (size_t i = 0; i < 3; i++)
		free(v[i]);
	spill_none();
}

/* A folder in memory frees nothing, and the next one is taken; a folder that is not there yet
 * stands for the one above it. */
TEST_IN(test_folders, dir)
{
	struct statfs st;
	char *later, *p;

	NEED_SPILL(dir);
	later = fs_join(dir, "not/yet");
	if (statfs("/dev/shm", &st) == 0 && st.f_type == TMPFS) {
		spill_all("/dev/shm", 1);
		p = xmalloc(2 * MIB);
		assert_false(in_file(NULL));
		assert_non_null(strstr(said, "no folder on a disk"));
		free(p);
	}
	spill_begin(&(struct spill_opts){
		.budget_bytes = 1,
		.folders = (const char *const[]){ "/dev/shm", "/dev/null", later, NULL },
		.say = say });
	p = xmalloc(2 * MIB);
	assert_true(in_file(p + MIB));
	assert_false(fs_exists(later));
	free(later);
	free(p);
	spill_none();
}

/* A mapping of the caller's own. */
TEST_IN(test_map, dir)
{
	const size_t n = 4 * MIB;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct statfs st;

	assert_true(p != MAP_FAILED);
	if (statfs(dir, &st) < 0 || st.f_type == TMPFS)
		skip();
	spill_all(dir, 1);
	assert_true(spill_wanted(n));
	assert_true(spill_map(p, n));
	assert_true(in_file(p) && in_file(p + n - 1));
	memset(p, 1, n);
	munmap(p, n);
	assert_false(in_file(NULL));
	spill_none();
}

static uint64_t resident_bytes(void)
{
	CLEANUP(xfreep) char *text = NULL;
	uint64_t pages;
	size_t at;

	assert_int_equal(fs_read("/proc/self/statm", 256, &text, NULL, NULL), 0);
	at = strcspn(text, " ") + 1;
	assert_int_equal(num_u64(text + at, strcspn(text + at, " "), &pages), 0);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Pages beyond the budget are given back, and come back with what was in them. */
TEST_IN(test_trim, dir)
{
	enum { BLOCKS = 4, BUDGET_MIB = 64 };
	const size_t n = 48 * MIB;
	struct spill_use use = { 0 };
	uint64_t *v[BLOCKS];

	NEED_SPILL(dir);
	spill_all(dir, BUDGET_MIB * MIB);
	for (size_t i = 0; i < BLOCKS; i++) {
		v[i] = xmalloc(n);
		fill(v[i], WORDS(n), i);
	}
	for (int k = 0; k < 2000 && (!use.trims || resident_bytes() > BUDGET_MIB * MIB); k++) {
		usleep(10000);
		spill_use(&use);
	}
	assert_true(use.trims > 0);
	assert_true(resident_bytes() <= BUDGET_MIB * MIB);
	assert_true(use.most_bytes >= 2 * n);
	for (size_t i = 0; i < BLOCKS; i++) {
		assert_filled(v[i], WORDS(n), i);
		free(v[i]);
	}
	assert_int_equal(times_said, 0);
	spill_none();
}

/* Blocks come and go in several threads, while the trimmer walks over what was there. */
static void churn(void *ctx, size_t job, unsigned worker)
{
	uint64_t seed = job + 1;
	uint64_t *v = NULL;
	size_t had = 0;

	(void)ctx;
	(void)worker;
	for (int k = 0; k < 12; k++) {
		size_t n = MIB + splitmix64(&seed) % (6 * MIB) / 8 * 8;

		if (splitmix64(&seed) % 3 == 0) {
			free(v);
			v = NULL;
			had = 0;
		}
		v = xrealloc(v, n);
		assert_filled(v, WORDS(had < n ? had : n), job);
		fill(v, WORDS(n), job);
		had = n;
	}
	free(v);
}

TEST_IN(test_threads, dir)
{
	struct workers *w;

	NEED_SPILL(dir);
	spill_all(dir, MIB);
	w = workers_new(4);
	workers_run(w, 16, churn, NULL);
	workers_free(w);
	assert_false(in_file(NULL));
	spill_none();
}
