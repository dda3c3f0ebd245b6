/*
 * The sampling thread. Ticks are start + k·period on CLOCK_MONOTONIC, so the period does not drift;
 * a tick whose time has passed when the one before ends is skipped and counted.
 *
 * The lock is held for bookkeeping and writes, never during a read: a driver that takes long, or
 * hangs, delays neither a mark nor, beyond GRACE_NS, a stop. A thread that hangs is left alone then
 * (abandoned): the file is ended without it, and it frees everything itself when it comes back.
 *
 * Rows are kept in memory as text and written in whole lines; when a write ends early (disk full),
 * the file is cut back to its last whole line.
 */
#include "samplers_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "profrig/clock.h"
#include "profrig/num.h"
#include "profrig/sampler.h"
#include "profrig/strbuf.h"
#include "profrig/xalloc.h"

#define DEFAULT_PERIOD_S 0.1
#define MAX_INTERVALS 65536
#define MAX_REASONS 64
#define FLUSH_NS (NS_PER_S / 2)
#define FLUSH_BYTES 65536
/* Waited for in short pieces: a machine that stands still for seconds uses up one of them. */
#define GRACE_NS (2 * NS_PER_S)
#define PIECE_NS (50 * NS_PER_MS)
/*
 * A source with rows due all the time (a recording played very fast) is left for the loop's own
 * business this often.
 */
#define ROUND_NS (100 * NS_PER_MS)
#define TIMER_SLACK_NS 1000UL

struct sampling {
	const struct sampler *s;
	struct sampler_state *st;
	const struct sampler_device *dev;
	size_t nr_dev;
	int64_t period_ns;
	char *path;
	pthread_t thread;
	bool started, joined; /* of the owner's thread */
	pid_t told;           /* of the sampling thread */
	_Atomic pid_t target;
	atomic_bool paused;

	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t changed;
	bool stop, flush_now, ended, abandoned, orphan;
	int fd;
	struct strbuf out;  /* whole lines that are not in the file yet */
	int64_t file_bytes; /* whole lines that are */
	int64_t flushed_ns, longest_tick_ns;
	struct sampling_stats stats;
	int64_t *last_ns; /* per device: its last row */
	double read_ns_sum;
	uint64_t reads;
	VEC(int64_t) intervals; /* every stride-th */
	uint64_t interval_count, interval_stride;
};

/* --- the file --- */

static void fail(struct sampling *sp, int code, const char *what, const char *why)
{
	char buf[128];

	if (sp->stats.error)
		return;
	sp->stats.error = code;
	snprintf(sp->stats.error_text, sizeof(sp->stats.error_text), "%.120s: %.120s", what,
		 why ? why : strerror_r(-code, buf, sizeof(buf)));
	sampler_clean_line(sp->stats.error_text);
}

/* The first `done` bytes of out are in the file, behind file_bytes. */
static void cut_to_whole_lines(struct sampling *sp, size_t done)
{
	const char *nl = memrchr(sp->out.buf, '\n', done);

	sp->file_bytes += nl ? nl + 1 - sp->out.buf : 0;
	/* what is not a regular file cannot be cut, and need not be */
	if (ftruncate(sp->fd, sp->file_bytes) < 0)
		return;
	lseek(sp->fd, sp->file_bytes, SEEK_SET);
}

static int flush(struct sampling *sp)
{
	size_t done = 0;
	int code = 0;

	sp->flush_now = false;
	sp->flushed_ns = clock_monotonic_ns();
	while (done < sp->out.len && code == 0) {
		ssize_t r = write(sp->fd, sp->out.buf + done, sp->out.len - done);

		if (r > 0)
			done += (size_t)r;
		else if (r == 0 || errno != EINTR)
			code = r == 0 ? -EIO : -errno;
	}
	if (code < 0)
		cut_to_whole_lines(sp, done);
	else
		sp->file_bytes += (int64_t)done;
	strbuf_clear(&sp->out);
	if (code < 0)
		fail(sp, code, sp->path, NULL);
	return code;
}

static void put_header(struct sampling *sp, const struct sampling_opts *o)
{
	char host[256] = "", utc[32], period[32];
	struct clock_anchor a = clock_anchor_now();
	struct strbuf *b = &sp->out;
	bool estimated = sp->s->estimated, change_points = false;

	for (size_t d = 0; d < sp->nr_dev; d++) {
		estimated |= sp->dev[d].estimated;
		change_points |= sp->dev[d].change_points;
	}
	gethostname(host, sizeof(host) - 1);
	sampler_clean_line(host);
	num_fmt_f64(period, (double)sp->period_ns / 1e9);
	strbuf_addf(b, "# profrig samples: 1\n# source: %s\n# clock: CLOCK_MONOTONIC\n",
		    sp->s->name);
	strbuf_addf(b,
		    "# anchor: monotonic_ns=%" PRId64 " realtime_ns=%" PRId64
		    " boottime_ns=%" PRId64 "\n",
		    a.monotonic_ns, a.realtime_ns, a.boottime_ns);
	strbuf_addf(b, "# begun: %s\n# host: %s\n", clock_utc(a.realtime_ns, utc), host);
	if (o->run_id)
		strbuf_addf(b, "# run: %s\n", o->run_id);
	strbuf_addf(b, "# period_s: %s\n# storage: %s\n", period,
		    change_points ? "change" : "every");
	if (estimated)
		strbuf_addstr(b, "# estimated: yes\n");
	for (size_t d = 0; d < sp->nr_dev; d++) {
		char facts[sizeof(sp->dev[d].facts)];

		snprintf(facts, sizeof(facts), "%s", sp->dev[d].facts);
		sampler_clean_line(facts);
		strbuf_addf(b, "# device: %s: %s\n", sp->dev[d].id, facts);
	}
	strbuf_addstr(b, "t_ns");
	for (size_t d = 0; d < sp->nr_dev; d++)
		for (size_t i = 0; i < sp->dev[d].nr; i++)
			strbuf_addf(b, ",%s[%s]", sp->dev[d].series[i].name,
				    sp->dev[d].series[i].unit);
	strbuf_addch(b, '\n');
}

static void put_row(struct sampling *sp, size_t d, int64_t t_ns, const double *v)
{
	struct strbuf *b = &sp->out;
	char text[32];

	strbuf_add(b, text, num_fmt_i64(text, t_ns));
	for (size_t k = 0; k < sp->nr_dev; k++)
		for (size_t i = 0; i < sp->dev[k].nr; i++) {
			strbuf_addch(b, ',');
			if (k != d || v[i] == SAMPLER_ABSENT)
				continue;
			if (isfinite(v[i]))
				strbuf_add(b, text, num_fmt_f64(text, v[i]));
			else
				strbuf_add(b, "NA", 2);
		}
	strbuf_addch(b, '\n');
	sp->stats.rows++;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Figures, last line, file closed. The lock is held, or nobody else is there. */
static void end_file(struct sampling *sp)
{
	struct sampling_stats *s = &sp->stats;

	if (sp->fd < 0)
		return;
	if (sp->intervals.nr) {
		qsort(sp->intervals.v, sp->intervals.nr, sizeof(*sp->intervals.v), by_value);
		s->median_period_ns = sp->intervals.v[sp->intervals.nr / 2];
	}
	s->read_ns_mean = sp->reads ? sp->read_ns_sum / (double)sp->reads : 0;
	strbuf_addf(&sp->out,
		    "# end: rows=%" PRIu64 " failed=%" PRIu64 " overruns=%" PRIu64
		    " median_period_ns=%" PRId64 " max_gap_ns=%" PRId64 "\n",
		    s->rows, s->failed, s->overruns, s->median_period_ns, s->max_gap_ns);
	if (s->error)
		strbuf_addf(&sp->out, "# error: %s\n", s->error_text);
	flush(sp);
	if (fsync(sp->fd) < 0 && errno != EINVAL && errno != EROFS)
		fail(sp, -errno, sp->path, NULL);
	if (close(sp->fd) < 0 && errno != EINTR)
		fail(sp, -errno, sp->path, NULL);
	sp->fd = -1;
}

/* --- opening --- */

static void release(struct sampling *sp)
{
	sp->s->close(sp->st);
	pthread_cond_destroy(&sp->changed);
	pthread_mutex_destroy(&sp->lock);
	VEC_RELEASE(&sp->intervals);
	sampling_stats_release(&sp->stats);
	strbuf_release(&sp->out);
	free(sp->last_ns);
	free(sp->path);
	free(sp);
}

static struct sampling *new_sampling(const struct sampling_opts *o, struct sampler_state *st,
				     int64_t period_ns)
{
	struct sampling *sp = xcalloc(1, sizeof(*sp));
	pthread_condattr_t attr;

	sp->s = o->sampler;
	sp->st = st;
	sp->nr_dev = sp->s->devices(st, &sp->dev);
	sp->period_ns = sp->stats.period_ns = period_ns;
	sp->path = xstrdup(o->path);
	sp->last_ns = xcalloc(sp->nr_dev + 1, sizeof(*sp->last_ns));
	sp->interval_stride = 1;
	sp->fd = -1;
	strbuf_init(&sp->out);
	pthread_mutex_init(&sp->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&sp->changed, &attr);
	pthread_condattr_destroy(&attr);
	return sp;
}

int sampling_open(const struct sampling_opts *o, struct sampling **ret, struct err *err)
{
	double period = o->source.period_s;
	struct sampler_state *st = NULL;
	struct sampling *sp;
	int r;

	if (period == 0)
		period = DEFAULT_PERIOD_S;
	if (!(period >= 1e-4 && period <= 3600))
		return err_set(err, EINVAL, "a sampling period of %g s is outside 0.0001 … 3600",
			       period);
	r = o->sampler->open(&o->source, &st, err);
	if (r < 0)
		return err_wrap(err, r, "sampler %s", o->sampler->name);
	sp = new_sampling(o, st, (int64_t)llround(period * 1e9));
	sp->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (sp->fd < 0) {
		r = err_sys(err, errno, "cannot write %s", o->path);
		release(sp);
		return r;
	}
	put_header(sp, o);
	r = flush(sp);
	if (r < 0) {
		err_set(err, -r, "cannot write %s", sp->stats.error_text);
		close(sp->fd);
		release(sp);
		return r;
	}
	*ret = sp;
	return 0;
}

size_t sampling_devices(const struct sampling *sp, const struct sampler_device **ret)
{
	*ret = sp->dev;
	return sp->nr_dev;
}

/* --- the thread --- */

static void count_reason(struct sampling_stats *s, const char *reason)
{
	struct sampling_reason r = { .count = 1 };

	snprintf(r.text, sizeof(r.text), "%s", reason);
	for (size_t i = 0; i < s->reasons.nr; i++)
		if (strcmp(s->reasons.v[i].text, r.text) == 0) {
			s->reasons.v[i].count++;
			return;
		}
	if (s->reasons.nr < MAX_REASONS)
		VEC_PUSH(&s->reasons, r);
}

/*
 * When there are too many, every second one is dropped and from then on only every second one is
 * kept: still an even sample.
 */
static void keep_interval(struct sampling *sp, int64_t ns)
{
	if (sp->interval_count++ % sp->interval_stride != 0)
		return;
	if (sp->intervals.nr == MAX_INTERVALS) {
		for (size_t i = 0; i < MAX_INTERVALS / 2; i++)
			sp->intervals.v[i] = sp->intervals.v[2 * i];
		sp->intervals.nr = MAX_INTERVALS / 2;
		sp->interval_stride *= 2;
	}
	VEC_PUSH(&sp->intervals, ns);
}

static void note_row(struct sampling *sp, size_t d, int64_t t_ns, const double *v,
		     const char *reason)
{
	int64_t gap = t_ns - sp->last_ns[d];

	for (size_t i = 0; i < sp->dev[d].nr; i++)
		if (v[i] != SAMPLER_ABSENT && !isfinite(v[i])) {
			sp->stats.failed++;
			count_reason(&sp->stats, reason ? reason : "read failed");
		}
	if (sp->last_ns[d] && gap > 0) {
		if (gap > sp->stats.max_gap_ns)
			sp->stats.max_gap_ns = gap;
		keep_interval(sp, gap);
	}
	sp->last_ns[d] = t_ns;
	put_row(sp, d, t_ns, v);
}

/* < 0 when the thread has to end, 2 when more rows are due. */
static int read_device(struct sampling *sp, size_t d)
{
	double v[SAMPLER_MAX_SERIES];
	const char *reason = NULL;
	int64_t t0 = clock_monotonic_ns();
	int r = sp->s->read(sp->st, d, v, &reason);
	int64_t t1 = clock_monotonic_ns();
	int64_t t_ns = sp->s->stamp ? sp->s->stamp(sp->st) : t0 + (t1 - t0) / 2;

	pthread_mutex_lock(&sp->lock);
	sp->read_ns_sum += (double)(t1 - t0);
	sp->reads++;
	if (t1 - t0 > sp->stats.read_ns_max)
		sp->stats.read_ns_max = t1 - t0;
	if (sp->abandoned)
		r = -ECANCELED;
	else if (r < 0)
		fail(sp, r, sp->dev[d].id, reason);
	else if (r != 1)
		note_row(sp, d, t_ns, v, reason);
	pthread_mutex_unlock(&sp->lock);
	return r;
}

static int read_all(struct sampling *sp, int64_t begun_ns)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t d = 0; d < sp->nr_dev; d++) {
			int r = read_device(sp, d);

			if (r < 0)
				return r;
			again |= r == 2;
		}
		again = again && clock_monotonic_ns() - begun_ns < ROUND_NS;
	}
	return 0;
}

/* One tick, and what is due for the file if the next is at next_ns. */
static int tick(struct sampling *sp, int64_t next_ns)
{
	int64_t begun = clock_monotonic_ns(), took;
	pid_t pid = atomic_load(&sp->target);
	int r;

	if (pid != sp->told && sp->s->target)
		sp->s->target(sp->st, pid);
	sp->told = pid;
	r = atomic_load(&sp->paused) ? 0 : read_all(sp, begun);
	if (r < 0)
		return r;
	took = clock_monotonic_ns() - begun;
	pthread_mutex_lock(&sp->lock);
	sp->stats.ticks++;
	if (took > sp->longest_tick_ns)
		sp->longest_tick_ns = took;
	if (next_ns - sp->flushed_ns >= FLUSH_NS || sp->out.len >= FLUSH_BYTES)
		r = flush(sp);
	pthread_mutex_unlock(&sp->lock);
	return r;
}

/* The next time on the grid; those that are past already are overruns. */
static int64_t next_tick(struct sampling *sp, int64_t next)
{
	int64_t late;

	next += sp->period_ns;
	late = clock_monotonic_ns() - next;
	if (late > 0) {
		int64_t missed = late / sp->period_ns + 1;

		next += missed * sp->period_ns;
		pthread_mutex_lock(&sp->lock);
		sp->stats.overruns += (uint64_t)missed;
		pthread_mutex_unlock(&sp->lock);
	}
	return next;
}

/* Until t_ns or a stop, which it returns; writes what a mark wants written. */
static bool wait_until(struct sampling *sp, int64_t t_ns)
{
	struct timespec ts = { t_ns / NS_PER_S, t_ns % NS_PER_S };
	bool stop;

	pthread_mutex_lock(&sp->lock);
	while (!sp->stop) {
		if (sp->flush_now && flush(sp) < 0)
			sp->stop = true;
		else if (pthread_cond_timedwait(&sp->changed, &sp->lock, &ts) != 0)
			break;
	}
	stop = sp->stop;
	pthread_mutex_unlock(&sp->lock);
	return stop;
}

static void sample(struct sampling *sp)
{
	int64_t next = clock_monotonic_ns();

	while (!wait_until(sp, next)) {
		if (tick(sp, next + sp->period_ns) < 0)
			return;
		next = next_tick(sp, next);
	}
	/* the last read closes the energy balance up to the end */
	tick(sp, next);
}

static void *sampling_main(void *arg)
{
	struct sampling *sp = arg;
	char name[16];
	bool orphan;

	snprintf(name, sizeof(name), "smp-%s", sp->s->name);
	pthread_setname_np(pthread_self(), name);
	/* the default lets a timer be 50 µs late */
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	sample(sp);
	pthread_mutex_lock(&sp->lock);
	sp->stats.cpu_s = (double)clock_thread_cpu_ns() / 1e9;
	end_file(sp);
	sp->ended = true;
	orphan = sp->orphan;
	pthread_cond_broadcast(&sp->changed);
	pthread_mutex_unlock(&sp->lock);
	if (orphan)
		release(sp);
	return NULL;
}

/* --- the owner --- */

int sampling_start(struct sampling *sp, struct err *err)
{
	sigset_t all, old;
	int r;

	assert(!sp->started);
	/*
	 * Signals are for the owner's threads; and a pipe whose reader is gone, or a file at its
	 * size limit, is an error here, not an end.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&sp->thread, NULL, sampling_main, sp);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return err_sys(err, r, "sampler %s: cannot start a thread", sp->s->name);
	sp->started = true;
	return 0;
}

void sampling_target(struct sampling *sp, pid_t pid)
{
	atomic_store(&sp->target, pid);
}

void sampling_pause(struct sampling *sp, bool pause)
{
	atomic_store(&sp->paused, pause);
}

void sampling_mark(struct sampling *sp, const char *name)
{
	char text[201];
	int64_t t_ns = clock_monotonic_ns();
	size_t n;

	snprintf(text, sizeof(text), "%s", name);
	n = strlen(text);
	/* half a character at the cut */
	if (n == sizeof(text) - 1) {
		while (n > 0 && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
			n--;
		if (n > 0 && (unsigned char)text[n - 1] >= 0xc0)
			n--;
		text[n] = '\0';
	}
	sampler_clean_line(text);
	pthread_mutex_lock(&sp->lock);
	if (sp->fd >= 0) {
		strbuf_addf(&sp->out, "# mark: %" PRId64 " %s\n", t_ns, text);
		sp->flush_now = true;
		if (sp->started)
			pthread_cond_broadcast(&sp->changed);
		if (!sp->started || sp->out.len > 2 * FLUSH_BYTES)
			flush(sp);
	}
	pthread_mutex_unlock(&sp->lock);
}

/* Waits for the thread; a read that hangs is given up. */
static void end_thread(struct sampling *sp)
{
	int64_t pieces;

	pthread_mutex_lock(&sp->lock);
	sp->stop = true;
	pthread_cond_broadcast(&sp->changed);
	pieces = (GRACE_NS + 2 * sp->longest_tick_ns) / PIECE_NS;
	while (!sp->ended && !sp->abandoned && pieces > 0) {
		int64_t next = clock_monotonic_ns() + PIECE_NS;
		struct timespec ts = { next / NS_PER_S, next % NS_PER_S };

		if (pthread_cond_timedwait(&sp->changed, &sp->lock, &ts) != 0)
			pieces--;
	}
	if (!sp->ended && !sp->abandoned) {
		fail(sp, -ETIMEDOUT, sp->s->name, "a read hangs");
		end_file(sp);
		sp->abandoned = true;
	}
	pthread_mutex_unlock(&sp->lock);
}

void sampling_stop(struct sampling *sp, struct sampling_stats *ret)
{
	if (sp->started && !sp->joined && !sp->abandoned) {
		end_thread(sp);
		if (!sp->abandoned) {
			pthread_join(sp->thread, NULL);
			sp->joined = true;
		}
	}
	pthread_mutex_lock(&sp->lock);
	end_file(sp);
	if (ret) {
		*ret = sp->stats;
		sp->stats.reasons.v = NULL;
		sp->stats.reasons.nr = sp->stats.reasons.cap = 0;
	}
	pthread_mutex_unlock(&sp->lock);
}

void sampling_stats_release(struct sampling_stats *s)
{
	VEC_RELEASE(&s->reasons);
}

void sampling_free(struct sampling *sp)
{
	bool ours = true;

	if (!sp)
		return;
	sampling_stop(sp, NULL);
	if (sp->abandoned) {
		pthread_mutex_lock(&sp->lock);
		ours = sp->ended;
		sp->orphan = !ours;
		if (!ours)
			pthread_detach(sp->thread);
		pthread_mutex_unlock(&sp->lock);
		if (ours)
			pthread_join(sp->thread, NULL);
	}
	if (ours)
		release(sp);
}
