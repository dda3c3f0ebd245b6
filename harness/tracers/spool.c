#include "spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GROW ((size_t)1 << 20)
#define STRING_ROOM 400 /* bytes kept free behind a string for later members */

static struct {
	const char *tracer;
	char dir[768];
	pthread_mutex_t lock;
	atomic_int state; /* 0 not opened, 1 open, -1 off */
	char path[1024];
	dev_t dev;
	ino_t ino;
	int fd; /* valid while the workload leaves it open: see own_fd */
	char *map;
	size_t map_len;
	_Atomic size_t allocated;
	_Atomic size_t pos;
	_Atomic uint64_t dropped;
	pid_t pid;
} spool = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

int64_t spool_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline void line_put(struct spool_line *l, const char *s, size_t n)
{
	if (n > SPOOL_LINE - l->len)
		n = SPOOL_LINE - l->len;
	memcpy(l->buf + l->len, s, n);
	l->len += n;
}

/* The length of a literal is known, so the copy is a few moves. */
#define PUT(l, literal) line_put(l, "" literal, sizeof(literal) - 1)

static void put_u64(struct spool_line *l, uint64_t v)
{
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	char tmp[20];
	size_t n = sizeof(tmp);

	for (; v >= 100; v /= 100) {
		n -= 2;
		memcpy(tmp + n, pairs + v % 100 * 2, 2);
	}
	if (v >= 10) {
		n -= 2;
		memcpy(tmp + n, pairs + v * 2, 2);
	} else {
		tmp[--n] = (char)('0' + v);
	}
	line_put(l, tmp + n, sizeof(tmp) - n);
}

/* ns as µs with three decimals */
static void put_us(struct spool_line *l, int64_t ns)
{
	uint64_t v = ns < 0 ? 0 : (uint64_t)ns;
	char frac[4] = { '.', (char)('0' + v / 100 % 10), (char)('0' + v / 10 % 10),
			 (char)('0' + v % 10) };

	put_u64(l, v / 1000);
	line_put(l, frac, 4);
}

/* "pid":P,"tid":T,"ts": of this thread, made once. */
static __thread struct {
	size_t len;
	char text[64];
} who __attribute__((tls_model("initial-exec")));

static void make_who(void)
{
	struct spool_line l = { .len = 0 };

	PUT(&l, "\",\"pid\":");
	put_u64(&l, (uint64_t)spool.pid);
	PUT(&l, ",\"tid\":");
	put_u64(&l, (uint64_t)syscall(SYS_gettid));
	PUT(&l, ",\"ts\":");
	memcpy(who.text, l.buf, l.len);
	who.len = l.len;
}

void spool_begin(struct spool_line *l, char ph, int64_t ts_ns, int64_t dur_ns)
{
	if (!who.len)
		make_who();
	l->len = 0;
	l->args = l->comma = false;
	PUT(l, "{\"ph\":\"");
	line_put(l, &ph, 1);
	line_put(l, who.text, who.len);
	put_us(l, ts_ns);
	if (dur_ns >= 0) {
		PUT(l, ",\"dur\":");
		put_us(l, dur_ns);
	}
	l->comma = true;
}

static void put_key(struct spool_line *l, const char *key)
{
	if (l->comma)
		PUT(l, ",");
	l->comma = true;
	PUT(l, "\"");
	line_put(l, key, strlen(key));
	PUT(l, "\":");
}

/* Bytes of the multi-byte character at s; 0 when it is no UTF-8. */
static size_t text_multibyte(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c = s[0] & (0xffu >> (n + 1));

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* Writes one character that is not plain ASCII; returns how many bytes of s it has. */
static size_t put_special(struct spool_line *l, const char *s)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*s;

	if (c >= 0x80) {
		size_t n = text_multibyte((const unsigned char *)s);

		if (n)
			line_put(l, s, n);
		else
			PUT(l, "\\ufffd");
		return n ? n : 1;
	}
	if (c == '"' || c == '\\') {
		PUT(l, "\\");
		line_put(l, s, 1);
	} else {
		char e[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
		line_put(l, e, 6);
	}
	return 1;
}

static void put_escaped(struct spool_line *l, const char *s)
{
	size_t limit = SPOOL_LINE - STRING_ROOM;

	while (*s && l->len < limit) {
		size_t run = 0, room = limit - l->len;
		while (run < room && (unsigned char)s[run] >= 0x20 &&
		       (unsigned char)s[run] < 0x80 && s[run] != '"' && s[run] != '\\')
			run++;
		line_put(l, s, run);
		s += run;
		if (*s && l->len < limit)
			s += put_special(l, s);
	}
	if (*s)
		PUT(l, "...");
}

void spool_str(struct spool_line *l, const char *key, const char *value)
{
	put_key(l, key);
	PUT(l, "\"");
	put_escaped(l, value ? value : "(null)");
	PUT(l, "\"");
}

void spool_int(struct spool_line *l, const char *key, int64_t value)
{
	put_key(l, key);
	if (value < 0) {
		PUT(l, "-");
		put_u64(l, 0 - (uint64_t)value);
	} else {
		put_u64(l, (uint64_t)value);
	}
}

void spool_args(struct spool_line *l)
{
	PUT(l, ",\"args\":{");
	l->args = true;
	l->comma = false;
}

/*
 * Signals are blocked while the lock is held: a handler that writes an event would wait for the
 * lock of the code it interrupted. (pthread_sigmask is newer than 2.17; this is the same call.)
 */
static void spool_lock(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
	pthread_mutex_lock(&spool.lock);
}

static void spool_unlock(const sigset_t *before)
{
	pthread_mutex_unlock(&spool.lock);
	sigprocmask(SIG_SETMASK, before, NULL);
}

static bool is_own(int fd)
{
	struct stat st;

	/* glibc's fstat is newer than 2.17 */
	return fd >= 0 && syscall(SYS_fstat, fd, &st) == 0 && st.st_dev == spool.dev &&
	       st.st_ino == spool.ino;
}

/*
 * The file's descriptor or -errno. A workload that closes every descriptor it finds (daemons do)
 * also closes the tracer's. The number may then be that of a file of its own, which must not be
 * grown or cut instead.
 */
static int own_fd(void)
{
	if (is_own(spool.fd))
		return spool.fd;
	spool.fd = open(spool.path, O_RDWR | O_CLOEXEC);
	if (spool.fd < 0)
		return -errno;
	if (!is_own(spool.fd)) {
		close(spool.fd);
		spool.fd = -1;
		return -ESTALE;
	}
	return spool.fd;
}

/*
 * Allocates blocks, so that a store into the mapping cannot fail on a full disk (SIGBUS would kill
 * the workload).
 */
static int spool_allocate(int fd, size_t from, size_t n)
{
	static const char zeros[65536];

	if (fallocate(fd, 0, (off_t)from, (off_t)n) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	for (size_t at = from; at < from + n; at += sizeof(zeros)) {
		ssize_t w = pwrite(fd, zeros, sizeof(zeros), (off_t)at);
		if (w != (ssize_t)sizeof(zeros))
			return w < 0 ? -errno : -ENOSPC;
	}
	return 0;
}

static void spool_complain(const char *what, int code)
{
	char text[1024];
	int n = snprintf(text, sizeof(text), "profrig %s tracer: %s: %s; the workload goes on\n",
			 spool.tracer, what, strerror(code));

	if (n > 0 && write(2, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1) < 0)
		return;
}

/* Makes room up to `need` bytes; false when that is impossible. */
static bool spool_grow(size_t need)
{
	sigset_t before;
	bool ok = true;

	spool_lock(&before);
	size_t have = atomic_load(&spool.allocated);
	while (ok && have < need) {
		int r = have + GROW > spool.map_len ? -EFBIG : own_fd();

		if (r >= 0)
			r = spool_allocate(r, have, GROW);
		if (r < 0) {
			if (atomic_exchange(&spool.state, -1) == 1)
				spool_complain(spool.dir, -r);
			ok = false;
		} else {
			have += GROW;
			atomic_store(&spool.allocated, have);
		}
	}
	spool_unlock(&before);
	return ok;
}

static void spool_append(const char *s, size_t n)
{
	size_t at = atomic_fetch_add(&spool.pos, n);

	if (at + n > atomic_load_explicit(&spool.allocated, memory_order_acquire) &&
	    !spool_grow(at + n)) {
		atomic_fetch_add(&spool.dropped, 1);
		return;
	}
	memcpy(spool.map + at, s, n);
}

void spool_commit(struct spool_line *l)
{
	if (l->args)
		PUT(l, "}},\n");
	else
		PUT(l, "},\n");
	spool_append(l->buf, l->len);
}

static void first_line(void)
{
	struct spool_line l;
	char exe[512], host[256];
	const char *given = getenv("PROFRIG_HOST"); /* a container's own name is not its host's */
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = 0;
	if (gethostname(host, sizeof(host)))
		host[0] = 0;
	host[sizeof(host) - 1] = 0;
	spool_append("[\n", 2);
	spool_begin(&l, 'M', 0, -1);
	spool_str(&l, "name", "profrig");
	spool_args(&l);
	spool_str(&l, "tracer", spool.tracer);
	spool_str(&l, "version", PROFRIG_VERSION);
	spool_str(&l, "clock", "CLOCK_MONOTONIC");
	spool_str(&l, "host", given && *given ? given : host);
	spool_str(&l, "exe", strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe);
	spool_commit(&l);
}

static int open_file(void)
{
	struct stat st;
	struct rlimit space;
	size_t len = (size_t)1 << 36;

	spool.pid = getpid();
	/* a recycled pid inside one run must not overwrite an earlier process's file */
	for (int i = 0; i < 1000 && spool.fd < 0; i++) {
		snprintf(spool.path, sizeof(spool.path), i ? "%s/%s-%ld.%d.json" : "%s/%s-%ld.json",
			 spool.dir, spool.tracer, (long)spool.pid, i);
		spool.fd = open(spool.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (spool.fd < 0 && errno != EEXIST)
			return -errno;
	}
	if (spool.fd < 0)
		return -EEXIST;
	if (syscall(SYS_fstat, spool.fd, &st) < 0)
		return -errno;
	spool.dev = st.st_dev;
	spool.ino = st.st_ino;
	/*
	 * Only address space is reserved: the file grows under the mapping. When it is limited
	 * (batch systems do that), most of it is left to the workload.
	 */
	if (getrlimit(RLIMIT_AS, &space) == 0)
		while (len > GROW && len > space.rlim_cur / 16)
			len >>= 1;
	do {
		spool.map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
				 spool.fd, 0);
		spool.map_len = len;
		len >>= 2;
	} while (spool.map == MAP_FAILED && len >= GROW);
	return spool.map == MAP_FAILED ? -ENOMEM : 0;
}

static bool open_once(void)
{
	sigset_t before;

	spool_lock(&before);
	int state = atomic_load(&spool.state);
	if (state == 0) {
		int r = open_file();
		if (r == 0)
			r = spool_allocate(spool.fd, 0, GROW);
		if (r < 0) {
			spool_complain(spool.dir, -r);
			state = -1;
		} else {
			atomic_store(&spool.pos, 0);
			atomic_store(&spool.allocated, GROW);
			first_line();
			state = 1;
		}
		atomic_store(&spool.state, state);
	}
	spool_unlock(&before);
	return state == 1;
}

bool spool_enabled(void)
{
	int state = atomic_load_explicit(&spool.state, memory_order_acquire);

	return state == 1 || (state == 0 && open_once());
}

static void after_fork_child(void)
{
	who.len = 0;
	pthread_mutex_init(&spool.lock, NULL);
	if (spool.map && spool.map != MAP_FAILED)
		munmap(spool.map, spool.map_len);
	if (is_own(spool.fd))
		close(spool.fd);
	spool.map = NULL;
	spool.fd = -1;
	atomic_store(&spool.dropped, 0);
	atomic_store(&spool.state, spool.dir[0] ? 0 : -1);
}

void spool_setup(const char *tracer, const char *env_dir)
{
	const char *dir = getenv(env_dir);

	spool.tracer = tracer;
	if (!dir || !*dir || strlen(dir) >= sizeof(spool.dir)) {
		atomic_store(&spool.state, -1);
		return;
	}
	memcpy(spool.dir, dir, strlen(dir) + 1);
	pthread_atfork(NULL, NULL, after_fork_child);
}

/* 64 when /proc gives no answer. */
static size_t other_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	size_t n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n ? n - 1 : 64;
}

__attribute__((destructor)) static void spool_end(void)
{
	sigset_t before;

	if (spool.pid != getpid())
		return;
	/*
	 * also waits for a thread that is opening the file, which would switch recording on again
	 */
	spool_lock(&before);
	atomic_store(&spool.state, -1);
	size_t end = atomic_load(&spool.pos), have = atomic_load(&spool.allocated);
	if (atomic_load(&spool.dropped))
		spool_complain("events were dropped", ENOSPC);
	/* a thread inside append() must still find its page: leaves room for a line of each */
	end += other_threads() * SPOOL_LINE;
	int fd = spool.map && end < have ? own_fd() : -1;
	if (fd >= 0 && ftruncate(fd, (off_t)end) < 0)
		spool_complain(spool.dir, errno);
	spool_unlock(&before);
}
