#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "profrig/base/map_guard.h"

#define PAGES 8
#define PAGE 4096

struct file {
	char *dir, *path;
	int fd;
	char *map;
};

static void guard_begin(struct file *f)
{
	static char bytes[PAGES * PAGE];

	memset(bytes, 'x', sizeof(bytes));
	f->dir = test_dir();
	f->path = fs_join(f->dir, "trace.json");
	f->fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(f->fd, bytes, sizeof(bytes)), sizeof(bytes));
	f->map = mmap(NULL, sizeof(bytes), PROT_READ, MAP_PRIVATE, f->fd, 0);
	assert_ptr_not_equal(f->map, MAP_FAILED);
	map_guard(f->map, sizeof(bytes), f->path);
}

static void guard_end(struct file *f)
{
	map_let_go(f->map);
	munmap(f->map, PAGES * PAGE);
	close(f->fd);
	free(f->path);
	test_dir_done(&f->dir);
}

static size_t count(const char *p, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < PAGES * PAGE; i++)
		n += p[i] == c;
	return n;
}

TEST(test_shrinks)
{
	struct file f, g;
	char *name;

	guard_begin(&f);
	guard_begin(&g);
	assert_int_equal(count(f.map, 'x'), PAGES * PAGE);
	assert_null(map_lost());
	assert_int_equal(ftruncate(f.fd, PAGE), 0);
	assert_int_equal(count(f.map, 'x'), PAGE);
	assert_int_equal(count(f.map, '\0'), (PAGES - 1) * PAGE);
	name = map_lost();
	assert_string_equal(name, f.path);
	free(name);
	assert_null(map_lost());
	assert_int_equal(count(g.map, 'x'), PAGES * PAGE);
	/* asked after it was let go */
	assert_int_equal(ftruncate(g.fd, 0), 0);
	assert_int_equal(count(g.map, 'x'), 0);
	CLEANUP(xfreep) char *path = xstrdup(g.path);
	guard_end(&g);
	name = map_lost();
	assert_string_equal(name, path);
	free(name);
	guard_end(&f);
	assert_null(map_lost());
}

static void *count_in_thread(void *arg)
{
	return (void *)(uintptr_t)count(arg, 'x');
}

TEST(test_threads)
{
	pthread_t t[8];
	CLEANUP(guard_end) struct file f;
	void *n;

	guard_begin(&f);
	assert_int_equal(ftruncate(f.fd, 2 * PAGE), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&t[i], NULL, count_in_thread, f.map), 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(pthread_join(t[i], &n), 0);
		assert_int_equal((uintptr_t)n, 2 * PAGE);
	}
	free(map_lost());
}

/* Elsewhere it stays what it is. */
TEST(test_not_guarded)
{
	CLEANUP(guard_end) struct file f;
	int status;
	pid_t pid;

	guard_begin(&f);
	map_let_go(f.map);
	assert_int_equal(ftruncate(f.fd, 0), 0);
	pid = fork();
	if (pid == 0) {
		_exit(count(f.map, 'x') ? 1 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}
