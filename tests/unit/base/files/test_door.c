/* A held folder is entered through its descriptor alone: what others put there leads nowhere. */
#include "test.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "profrig/base/door.h"

struct ground {
	char top[64], run[80], victim[80];
};

static char *in(const char *dir, const char *name)
{
	return fs_join(dir, name);
}

static void door_put(const char *dir, const char *name, const char *text)
{
	FILE *f = fopen(kept(in(dir, name)), "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int door_setup(void **state)
{
	struct ground *g = xcalloc(1, sizeof(*g));

	snprintf(g->top, sizeof(g->top), "/tmp/profrig-door.XXXXXX");
	assert_non_null(mkdtemp(g->top));
	snprintf(g->run, sizeof(g->run), "%s/run", g->top);
	snprintf(g->victim, sizeof(g->victim), "%s/victim", g->top);
	assert_int_equal(mkdir(g->run, 0755), 0);
	assert_int_equal(mkdir(g->victim, 0755), 0);
	door_put(g->victim, "file", "precious");
	door_put(g->run, "plain", "mine");
	assert_int_equal(door_hold(g->run, NULL), 0);
	*state = g;
	return 0;
}

static int door_teardown(void **state)
{
	struct ground *g = *state;

	door_let_go(g->run);
	fs_remove_tree(g->top, NULL);
	free(g);
	return 0;
}

#define DOOR_TEST(f) TEST_OF(f, struct ground *g, door_setup, door_teardown)

static void assert_untouched(const struct ground *g)
{
	CLEANUP(xfreep) char *text = NULL;
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	assert_int_equal(fs_read(kept(in(g->victim, "file")), 100, &text, NULL, NULL), 0);
	assert_string_equal(text, "precious");
	assert_int_equal(fs_list(g->victim, &names, NULL), 0);
	assert_int_equal(names.nr, 1);
}

/* Every way of opening and changing a name must fail, with this reason where it opens. */
static void assert_refused(const struct ground *g, const char *rel, int reason)
{
	CLEANUP(xfreep) char *path = in(g->run, rel);
	static const int flags[] = { O_RDONLY,
				     O_WRONLY,
				     O_RDWR,
				     O_WRONLY | O_TRUNC,
				     O_WRONLY | O_CREAT,
				     O_WRONLY | O_CREAT | O_TRUNC,
				     O_WRONLY | O_CREAT | O_APPEND,
				     O_RDONLY | O_NONBLOCK };

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		errno = 0;
		assert_int_equal(door_open(path, flags[i], 0644), -1);
		assert_int_equal(errno, reason);
	}
	assert_null(door_fopen(path, "re"));
	assert_null(door_fopen(path, "we"));
	assert_false(fs_is_file(path));
	assert_untouched(g);
}

DOOR_TEST(test_plain_files_open)
{
	CLEANUP(xfreep) char *path = in(g->run, "plain"), *odd = xasprintf("%s//./plain", g->run);
	CLEANUP(xfreep) char *text = NULL, *again = NULL;
	struct stat st;

	assert_int_equal(fs_read(path, 100, &text, NULL, NULL), 0);
	assert_string_equal(text, "mine");
	assert_int_equal(fs_read(odd, 100, &again, NULL, NULL), 0);
	assert_true(door_holds(odd) && door_holds(g->run) && !door_holds(g->victim));
	assert_int_equal(door_stat(textf("%s/none/../plain", g->run), &st), -1);
	assert_int_equal(fs_write_atomic(path, "new", 3, NULL), 0);
	assert_int_equal(fs_size(path), 3);
	assert_int_equal(door_chmod(path, 0600), 0);
	assert_int_equal(door_stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

DOOR_TEST(test_links_lead_nowhere)
{
	CLEANUP(xfreep) char *link = in(g->run, "link"), *dir = in(g->run, "dir");
	CLEANUP(strvec_release) struct strvec found = STRVEC_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(symlink(kept(in(g->victim, "file")), link), 0);
	assert_int_equal(symlink(g->victim, dir), 0);
	assert_int_equal(symlink("plain", kept(in(g->run, "back"))), 0);
	assert_int_equal(symlink(kept(in(g->victim, "made")), kept(in(g->run, "dangling"))), 0);
	assert_refused(g, "link", DOOR_LINK);
	assert_refused(g, "dir/file", DOOR_LINK);
	assert_refused(g, "back", DOOR_LINK);
	assert_refused(g, "dangling", DOOR_LINK);
	assert_null(door_opendir(dir));
	assert_int_equal(door_chmod(link, 0777), -1);
	assert_int_equal(fs_mkdirs(dir, 0777, &err), -ENOTDIR);
	assert_true(fs_mkdirs(kept(in(g->run, "dir/sub/x")), 0777, NULL) < 0);
	CLEANUP(xfreep) char *written = in(g->run, "dir/w");
	assert_true(fs_write_atomic(written, "x", 1, NULL) < 0);
	assert_true(fs_remove_tree(written, NULL) < 0);
	CLEANUP(xfreep) char *gone = in(g->run, "dir/file");
	assert_true(fs_remove_tree(gone, NULL) < 0);
	assert_int_equal(door_unlink(gone), -1);
	assert_int_equal(door_rename(gone, written), -1);
	assert_int_equal(fs_usage(dir, NULL), 0);
	/* They are listed, so that each is refused by its name. */
	assert_int_equal(fs_glob(g->run, "*", &found, NULL), 0);
	assert_true(strvec_has(&found, "link") && strvec_has(&found, "dangling"));
	assert_int_equal(fs_remove_tree(dir, NULL), 0);
	assert_untouched(g);
}

DOOR_TEST(test_a_whole_file_takes_a_links_place)
{
	CLEANUP(xfreep) char *link = in(g->run, "link");

	assert_int_equal(symlink(kept(in(g->victim, "file")), link), 0);
	assert_int_equal(fs_write_atomic(link, "x", 1, NULL), 0);
	assert_true(fs_is_file(link));
	assert_untouched(g);
}

DOOR_TEST(test_the_way_stays_inside)
{
	assert_refused(g, "../victim/file", DOOR_OUTSIDE);
	assert_refused(g, "x/../../victim/file", ENOENT);
}

DOOR_TEST(test_what_is_no_file_is_not_opened)
{
	CLEANUP(xfreep) char *fifo = in(g->run, "fifo");
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	alarm(20); /* a FIFO that is opened waits for ever */
	assert_int_equal(mkfifo(fifo, 0666), 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.100s", kept(in(g->run, "sock")));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	close(fd);
	assert_int_equal(mkdir(kept(in(g->run, "sub")), 0755), 0);
	assert_refused(g, "fifo", DOOR_NO_FILE);
	assert_refused(g, "sock", DOOR_NO_FILE);
	assert_refused(g, "sub", EISDIR);
	fd = door_open_fifo(fifo, O_RDWR);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(door_open_fifo(kept(in(g->run, "plain")), O_RDWR), -1);
	if (geteuid() == 0) {
		if (mknod(kept(in(g->run, "dev")), S_IFCHR | 0666, makedev(1, 3)) == 0)
			assert_refused(g, "dev", DOOR_NO_FILE);
	}
	alarm(0);
}

DOOR_TEST(test_second_names_are_refused)
{
	CLEANUP(xfreep) char *hard = in(g->run, "hard");

	assert_int_equal(link(kept(in(g->victim, "file")), hard), 0);
	{
		errno = 0;
		assert_int_equal(door_open(hard, O_WRONLY | O_TRUNC, 0), -1);
		assert_int_equal(errno, DOOR_HARD_LINK);
		assert_int_equal(door_open(hard, O_RDONLY, 0), -1);
		assert_int_equal(door_chmod(hard, 0777), -1);
	}
	assert_untouched(g);
}

DOOR_TEST(test_owners)
{
	CLEANUP(xfreep) char *path = in(g->run, "plain");
	int fd;

	if (geteuid() != 0) {
		skip();
		return;
	}
	assert_int_equal(chown(path, 4711, 4711), 0);
	fd = door_open(path, O_RDONLY, 0);
	assert_true(fd >= 0);
	close(fd);
	door_expect(g->run, 100000, 65536);
	assert_int_equal(door_open(path, O_RDONLY, 0), -1);
	assert_int_equal(errno, DOOR_OWNER);
	assert_int_equal(chown(path, 100000 + 65535, 0), 0);
	fd = door_open(path, O_RDONLY, 0);
	assert_true(fd >= 0);
	close(fd);
}

/* What has the folder's name later is another folder. */
DOOR_TEST(test_the_folder_that_was_held_counts)
{
	CLEANUP(xfreep) char *aside = in(g->top, "aside"), *text = NULL;

	assert_int_equal(rename(g->run, aside), 0);
	assert_int_equal(symlink(g->victim, g->run), 0);
	assert_int_equal(fs_read(kept(in(g->run, "plain")), 100, &text, NULL, NULL), 0);
	assert_string_equal(text, "mine");
	CLEANUP(xfreep) char *made = in(g->run, "made");
	assert_int_equal(fs_write_atomic(made, "x", 1, NULL), 0);
	assert_untouched(g);
	assert_int_equal(unlink(g->run), 0);
	assert_int_equal(rename(aside, g->run), 0);
	assert_true(fs_is_file(made));
}

DOOR_TEST(test_what_is_left_out)
{
	CLEANUP(xfreep) char *sys = in(g->run, "sys"), *link = in(sys, "card0");
	CLEANUP(xfreep) char *through = in(link, "file"), *text = NULL;

	assert_int_equal(mkdir(sys, 0755), 0);
	assert_int_equal(symlink(g->victim, link), 0);
	assert_int_equal(fs_read(through, 100, &text, NULL, NULL), -ELOOP);
	door_leave_out(sys);
	door_leave_out(sys);
	assert_false(door_holds(sys));
	assert_true(door_holds(g->run));
	assert_int_equal(fs_read(through, 100, &text, NULL, NULL), 0);
	assert_string_equal(text, "precious");
	/* Held for itself it is held as ever. */
	assert_int_equal(door_hold(link, NULL), 0);
	assert_true(door_holds(through));
	door_let_go(link);
	assert_false(door_holds(through));
}

DOOR_TEST(test_inner_folders_and_counts)
{
	CLEANUP(xfreep) char *sub = in(g->run, "sub"), *link = in(g->run, "out");

	assert_int_equal(mkdir(sub, 0755), 0);
	assert_int_equal(symlink(g->victim, link), 0);
	assert_true(door_hold(link, NULL) < 0);
	assert_int_equal(door_hold(sub, NULL), 0);
	assert_int_equal(door_hold(sub, NULL), 0);
	door_let_go(sub);
	assert_refused(g, "sub/../link", DOOR_OUTSIDE);
	door_let_go(sub);
	assert_true(door_holds(sub)); /* by the outer one */
}

/* Others swap a file for a link as fast as they can: what is opened is never the victim's. */
static atomic_int swapping;

static void *folder_swap(void *ctx)
{
	const struct ground *g = ctx;
	CLEANUP(xfreep) char *spot = in(g->run, "spot"), *link = in(g->run, "spot.link");
	CLEANUP(xfreep) char *plain = in(g->run, "spot.plain");

	while (swapping) {
		int fd;

		(void)!symlink(kept(in(g->victim, "file")), link);
		rename(link, spot);
		fd = open(plain, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		close(fd);
		rename(plain, spot);
	}
	return NULL;
}

/* A call makes a file a terabyte long; who reads it is busy for hours. */
DOOR_TEST(test_hollow)
{
	CLEANUP(xfreep) char *path = in(g->run, "plain");
	static const char block[1 << 16] = "written";
	int fd;

	assert_int_equal(truncate(path, (off_t)1 << 30), 0);
	fd = door_open(path, O_RDONLY, 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	assert_int_equal(door_open(path, O_RDONLY, 0), -1);
	assert_int_equal(errno, DOOR_HOLLOW);
	assert_null(door_fopen(path, "re"));
	/* what is written to, is not read */
	fd = door_open(path, O_WRONLY, 0);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, ((off_t)1 << 30) + 1), 0);
	for (off_t at = 0; at <= (off_t)1 << 26; at += (off_t)sizeof(block))
		assert_int_equal(pwrite(fd, block, sizeof(block), at), sizeof(block));
	close(fd);
	fd = door_open(path, O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
}

DOOR_TEST(test_race)
{
	CLEANUP(xfreep) char *spot = in(g->run, "spot");
	pthread_t t;

	swapping = 1;
	assert_int_equal(pthread_create(&t, NULL, folder_swap, g), 0);
	for (int i = 0; i < 20000; i++) {
		int fd = door_open(spot, i % 2 ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0644);
		struct stat st;

		if (fd < 0)
			continue;
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_size, 0);
		close(fd);
	}
	swapping = 0;
	pthread_join(t, NULL);
	assert_untouched(g);
}

/* A kernel without openat2(2), as old container engines' filters make any. */
static void forbid_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_LEN(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		abort();
}

int main(int argc, char **argv)
{
	int status = 0;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "without-openat2")) {
		forbid_openat2();
		return tests_run(NULL, NULL);
	}
	pid = fork();
	if (pid == 0) {
		execl("/proc/self/exe", argv[0], "without-openat2", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return tests_run(NULL, NULL) || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
