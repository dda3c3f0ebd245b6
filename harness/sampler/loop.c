/*
 * The sampling thread. Ticks are start + k·period on CLOCK_MONOTONIC, so the period does not drift.
 * A tick whose time has passed when the one before ends is skipped and counted. The thread sleeps
 * to absolute deadlines. With short periods it uses a metronome, which costs least, and sees a stop
 * at the next tick; with longer ones it waits on a condition, which a stop or a mark ends at once.
 *
 * The lock is held for bookkeeping and writes, never during a read: a driver that takes long, or
 * hangs, delays neither a mark nor, beyond GRACE_NS, a stop. A thread that hangs is abandoned then:
 * the file is ended without it, and it frees everything itself when its read returns.
 *
 * A tick does little, because after a sleep hardly anything is in a cache: it leaves its readings
 * as numbers. Every few rounds (readings.h), or when a client asks, they are summed up and made
 * into rows. With eight devices at 1 kHz that takes a seventh less CPU time than tick by tick; more
 * rounds at once gain no more and make that one tick longer. Any holder of the lock may do this, so
 * the readings of a round before a hang are not lost.
 *
 * Rows are kept in memory as text and written in whole lines. When a write ends early (disk full),
 * the file is cut back to its last whole line.
 */
#include "read_periods.h"
#include "readings.h"
#include "sample_rows.h"
#include "samplers_private.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/door.h"
#include "profrig/base/fs.h"
#include "profrig/base/metronome.h"
#include "profrig/base/num.h"
#include "profrig/base/samples_file.h"
#include "profrig/base/sketch.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"
#include "profrig/sampler/sampler.h"

#define DEFAULT_PERIOD_S 0.1
#define MAX_REASONS 64
#define FLUSH_NS (NS_PER_S / 2)
#define FLUSH_BYTES 65536
/* Waited for in short pieces: a machine that stops for seconds uses up only one of them. */
#define GRACE_NS (2 * NS_PER_S)
#define PIECE_NS (50 * NS_PER_MS)
/*
 * A source may always have rows due (a recording played very fast). This often the loop interrupts
 * it for its other work.
 */
#define ROUND_NS (100 * NS_PER_MS)
#define TIMER_SLACK_NS 1UL
#define SHORT_NS (10 * NS_PER_MS)

struct sampling {
	const struct sampler *s;
	struct sampler_state *st;
	const struct sampler_device *dev;
	size_t nr_dev;
	struct sampler_facts *facts; /* one for each device */
	int64_t period_ns;
	char *path;
	pthread_t thread;
	bool realtime;        /* asked for */
	bool started, joined; /* started, joined: of the owner's thread */
	pid_t told;           /* told, was_paused, metronome and readings: of the sampling thread */
	bool was_paused;
	struct metronome metronome; /* for periods of up to SHORT_NS */
	struct readings readings;
	_Atomic pid_t target;
	atomic_bool paused;
	atomic_bool called; /* stop or flush_now is set */

	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t changed;
	bool stop, flush_now, ended, abandoned, orphan;
	int fd;
	struct strbuf out;  /* whole lines that are not in the file yet */
	int64_t file_bytes; /* whole lines in the file */
	int64_t flushed_ns, refreshed_ns, longest_tick_ns;
	struct sample_rows rows;
	struct sketch errors; /* of ticks, in ns */
	uint64_t graded;      /* number of ticks in errors */
	struct sampling_stats stats;
	int64_t *last_ns; /* per device: its last row */
	double read_ns_sum;
	uint64_t reads;
	struct read_periods periods; /* between reads of one device */
};

/* --- the file --- */

static void loop_fail(struct sampling *sp, int code, const char *what, const char *why)
{
	char buf[128];

	if (sp->stats.error)
		return;
	sp->stats.error = code;
	snprintf(sp->stats.error_text, sizeof(sp->stats.error_text), "%.120s: %.120s", what,
		 why ? why : strerror_r(-code, buf, sizeof(buf)));
	sampler_clean_line(sp->stats.error_text);
}

/* Called when the first `done` bytes of out are in the file, behind file_bytes. */
static void cut_to_whole_lines(struct sampling *sp, size_t done)
{
	const char *nl = memrchr(sp->out.buf, '\n', done);

	sp->file_bytes += nl ? nl + 1 - sp->out.buf : 0;
	/* only a regular file can be cut, and only there it is needed */
	if (ftruncate(sp->fd, sp->file_bytes) < 0)
		return;
	lseek(sp->fd, sp->file_bytes, SEEK_SET);
}

static int loop_flush(struct sampling *sp)
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
		loop_fail(sp, code, sp->path, NULL);
	return code;
}

/* --- readings --- */

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

static void note_row(struct sampling *sp, size_t d, int64_t t_ns, const double *v,
		     const char *reason)
{
	int64_t gap = t_ns - sp->last_ns[d];

	for (size_t i = 0; i < sp->rows.device.v[d].nr; i++)
		if (v[i] != SAMPLER_ABSENT && !isfinite(v[i]))
			count_reason(&sp->stats, reason ? reason : "read failed");
	if (sp->last_ns[d] && gap > 0) {
		if (gap > sp->stats.max_gap_ns)
			sp->stats.max_gap_ns = gap;
		read_periods_add(&sp->periods, gap);
	}
	sp->last_ns[d] = t_ns;
	sample_rows_put(&sp->rows, d, t_ns, v, &sp->out);
}

static void take_in_one(struct sampling *sp, const struct reading *rd)
{
	sp->read_ns_sum += (double)rd->took_ns;
	sp->reads++;
	if (rd->took_ns > sp->stats.read_ns_max)
		sp->stats.read_ns_max = rd->took_ns;
	if (rd->code < 0)
		loop_fail(sp, rd->code, sp->dev[rd->device].id, rd->reason);
	else if (rd->code != 1)
		note_row(sp, rd->device, rd->t_ns, rd->v, rd->reason);
}

/* Takes in all readings until now. The lock is held. */
static void sampling_take_in(struct sampling *sp)
{
	const struct reading *rd;

	while ((rd = readings_take(&sp->readings)))
		take_in_one(sp, rd);
}

/* --- the end --- */

/* Writes the last line with the figures and closes the file. The lock is held, or there is no other
 * thread. */
static void end_file(struct sampling *sp)
{
	struct sampling_stats *s = &sp->stats;

	if (sp->fd < 0)
		return;
	sampling_take_in(sp);
	s->median_period_ns = read_periods_median(&sp->periods);
	s->read_ns_mean = sp->reads ? sp->read_ns_sum / (double)sp->reads : 0;
	sample_rows_end(&sp->rows, &sp->out);
	s->rows = sp->rows.rows;
	s->failed = sp->rows.failed;
	if (sp->graded) {
		s->tick_error_median_ns = (int64_t)sketch_at(&sp->errors, (sp->graded - 1) / 2);
		s->tick_error_p99_ns =
			(int64_t)sketch_at(&sp->errors, (sp->graded * 99 + 99) / 100 - 1);
	}
	strbuf_addf(&sp->out,
		    "# end: rows=%" PRIu64 " failed=%" PRIu64 " overruns=%" PRIu64
		    " median_period_ns=%" PRId64 " max_gap_ns=%" PRId64 " ticks=%" PRIu64
		    " late=%" PRIu64 " tick_error_p99_ns=%" PRId64 " tick_error_max_ns=%" PRId64
		    "\n",
		    s->rows, s->failed, s->overruns, s->median_period_ns, s->max_gap_ns, s->ticks,
		    s->late, s->tick_error_p99_ns, s->tick_error_max_ns);
	if (s->error)
		strbuf_addf(&sp->out, "# error: %s\n", s->error_text);
	loop_flush(sp);
	if (fsync(sp->fd) < 0 && errno != EINVAL && errno != EROFS)
		loop_fail(sp, -errno, sp->path, NULL);
	if (close(sp->fd) < 0 && errno != EINTR)
		loop_fail(sp, -errno, sp->path, NULL);
	sp->fd = -1;
}

/* --- opening --- */

static void sampling_release(struct sampling *sp)
{
	sp->s->close(sp->st);
	pthread_cond_destroy(&sp->changed);
	pthread_mutex_destroy(&sp->lock);
	read_periods_release(&sp->periods);
	sampling_stats_release(&sp->stats);
	sample_rows_release(&sp->rows);
	sketch_release(&sp->errors);
	strbuf_release(&sp->out);
	free(sp->facts);
	free(sp->last_ns);
	readings_release(&sp->readings);
	free(sp->path);
	free(sp);
}

/* Options that all sources share. */
struct loop_options {
	int64_t period_ns;
	bool changes, realtime;
};

static int loop_options(const struct sampler_opts *o, struct loop_options *ret, struct err *err)
{
	double period = o->period_s == 0 ? DEFAULT_PERIOD_S : o->period_s;
	const char *storage = sampler_option(o, "storage", "every");
	const char *realtime = sampler_option(o, "realtime", "no");

	if (!(period >= 1e-4 && period <= 3600))
		return err_set(err, EINVAL, "a sampling period of %g s is outside 0.0001 … 3600",
			       period);
	ret->period_ns = (int64_t)llround(period * 1e9);
	ret->changes = strcmp(storage, "change") == 0;
	if (!ret->changes && strcmp(storage, "every") != 0)
		return err_set(err, EINVAL, "option storage wants every or change, not '%.40s'",
			       storage);
	ret->realtime = strcmp(realtime, "yes") == 0 || strcmp(realtime, "true") == 0;
	if (!ret->realtime && strcmp(realtime, "no") != 0 && strcmp(realtime, "false") != 0)
		return err_set(err, EINVAL, "option realtime wants yes or no, not '%.40s'",
			       realtime);
	return 0;
}

static bool any_change_points(const struct sampling *sp)
{
	for (size_t d = 0; d < sp->nr_dev; d++)
		if (sp->dev[d].change_points)
			return true;
	return false;
}

static struct sampling *new_sampling(const struct sampling_opts *o, struct sampler_state *st,
				     const struct loop_options *lo)
{
	struct sampling *sp = xcalloc(1, sizeof(*sp));
	pthread_condattr_t attr;

	sp->s = o->sampler;
	sp->st = st;
	sp->nr_dev = sp->s->devices(st, &sp->dev);
	sp->period_ns = sp->stats.period_ns = lo->period_ns;
	sp->realtime = lo->realtime;
	sample_rows_init(&sp->rows, sp->dev, sp->nr_dev, lo->changes || any_change_points(sp));
	sp->facts = xcalloc(sp->nr_dev + 1, sizeof(*sp->facts));
	for (size_t d = 0; sp->s->facts && d < sp->nr_dev; d++)
		sp->s->facts(st, d, &sp->facts[d]);
	sp->path = xstrdup(o->path);
	sp->last_ns = xcalloc(sp->nr_dev + 1, sizeof(*sp->last_ns));
	readings_init(&sp->readings, sp->dev, sp->nr_dev);
	read_periods_init(&sp->periods);
	sp->fd = -1;
	strbuf_init(&sp->out);
	pthread_mutex_init(&sp->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&sp->changed, &attr);
	pthread_condattr_destroy(&attr);
	return sp;
}

static void put_header(struct sampling *sp, const struct sampling_opts *o)
{
	struct sample_header h = { .source = sp->s->name,
				   .run_id = o->run_id,
				   .period_ns = sp->period_ns,
				   .estimated = sp->s->estimated,
				   .facts = sp->facts };

	for (size_t d = 0; d < sp->nr_dev; d++)
		h.estimated |= sp->dev[d].estimated;
	sample_rows_header(&sp->rows, &h, &sp->out);
}

/*
 * A new file appears together with its header, so that a kill leaves a readable file or none. An
 * existing file is overwritten, whatever its type.
 */
static int open_file(struct sampling *sp, struct err *err)
{
	bool fresh = !fs_exists(sp->path);
	int r = fresh ? fs_write_kept(sp->path, sp->out.buf, sp->out.len, FS_KEEP_NOTHING, NULL)
		      : 0;

	if (r < 0)
		return err_sys(err, -r, "cannot write %s", sp->path);
	sp->fd = door_open(sp->path, O_WRONLY | O_CREAT | (fresh ? O_APPEND : O_TRUNC), 0644);
	if (sp->fd < 0)
		return err_sys(err, errno, "cannot write %s", sp->path);
	if (fresh) {
		sp->file_bytes = (int64_t)sp->out.len;
		strbuf_clear(&sp->out);
		return 0;
	}
	r = loop_flush(sp);
	return r < 0 ? err_set(err, -r, "cannot write %s", sp->stats.error_text) : 0;
}

int sampling_open(const struct sampling_opts *o, struct sampling **ret, struct err *err)
{
	struct sampler_state *st = NULL;
	struct loop_options lo = { 0 };
	struct sampling *sp;
	int r = loop_options(&o->source, &lo, err);

	if (r < 0)
		return r;
	r = o->sampler->open(&o->source, &st, err);
	if (r < 0)
		return err_wrap(err, r, "sampler %s", o->sampler->name);
	sp = new_sampling(o, st, &lo);
	put_header(sp, o);
	r = open_file(sp, err);
	if (r < 0) {
		if (sp->fd >= 0)
			close(sp->fd);
		sampling_release(sp);
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

const struct sampler_facts *sampling_facts(const struct sampling *sp, size_t d)
{
	assert(d < sp->nr_dev);
	return &sp->facts[d];
}

/* --- the thread --- */

/*
 * Reads all devices from *now on, one after the other: a read begins when the one before ends, and
 * the end of the last is set in *now. Returns < 0 when the thread has to end, 2 when more rows are
 * due.
 */
static int read_round(struct sampling *sp, int64_t *now)
{
	int64_t begun = *now, ended;
	int ret = 0;

	for (size_t d = 0; d < sp->nr_dev && ret >= 0; d++) {
		struct reading *rd = readings_next(&sp->readings);

		rd->reason = NULL;
		rd->code = sp->s->read(sp->st, d, rd->v, &rd->reason);
		ended = clock_monotonic_ns();
		rd->took_ns = ended - begun;
		rd->t_ns = sp->s->stamp ? sp->s->stamp(sp->st) : begun + rd->took_ns / 2;
		if (rd->code < 0 || rd->code == 2)
			ret = rd->code;
		readings_add(&sp->readings);
		begun = ended;
	}
	*now = begun;
	return ret;
}

/* Reads rounds while more rows are due, up to ROUND_NS; returns 0 or < 0. */
static int sampling_read_due(struct sampling *sp, int64_t *now)
{
	int64_t end = *now + ROUND_NS;
	int r;

	while ((r = read_round(sp, now)) == 2 && *now < end) {
		pthread_mutex_lock(&sp->lock);
		if (sp->abandoned)
			r = -ECANCELED;
		else if (readings_full(&sp->readings))
			sampling_take_in(sp);
		pthread_mutex_unlock(&sp->lock);
		if (r < 0)
			break;
	}
	return r < 0 ? r : 0;
}

/* Notes by how much a tick began late. */
static void note_tick_error(struct sampling *sp, int64_t error_ns)
{
	sketch_add(&sp->errors, error_ns > 0 ? (uint64_t)error_ns : 0);
	sp->graded++;
	if (error_ns > sp->stats.tick_error_max_ns)
		sp->stats.tick_error_max_ns = error_ns;
	if (error_ns > sp->period_ns / 2)
		sp->stats.late++;
}

/* At a pause the unwritten unchanged values are written; after it all values are written anew. */
static void note_pause(struct sampling *sp, bool paused)
{
	if (paused == sp->was_paused)
		return;
	sp->was_paused = paused;
	pthread_mutex_lock(&sp->lock);
	sampling_take_in(sp);
	if (paused)
		sample_rows_end(&sp->rows, &sp->out);
	sample_rows_refresh(&sp->rows);
	pthread_mutex_unlock(&sp->lock);
}

/* Work on file and readings that is due when the next tick is at next_ns. The lock is held. */
static int loop_upkeep(struct sampling *sp, int64_t next_ns)
{
	bool due = next_ns - sp->flushed_ns >= FLUSH_NS;
	int r = 0;

	if (due || readings_full(&sp->readings))
		sampling_take_in(sp);
	if (due || sp->out.len >= FLUSH_BYTES)
		r = loop_flush(sp);
	if (next_ns - sp->refreshed_ns >= FLUSH_NS) {
		sampling_take_in(sp);
		sample_rows_refresh(&sp->rows);
		sp->refreshed_ns = next_ns;
	}
	return r;
}

/*
 * One tick, due at due_ns (0: outside of the grid), and the file work that is due when the next
 * tick is at next_ns.
 */
static int loop_tick(struct sampling *sp, int64_t due_ns, int64_t next_ns)
{
	int64_t begun = clock_monotonic_ns(), now;
	pid_t pid = atomic_load(&sp->target);
	bool paused = atomic_load(&sp->paused);
	int r;

	if (pid != sp->told && sp->s->target)
		sp->s->target(sp->st, pid);
	sp->told = pid;
	note_pause(sp, paused);
	now = clock_monotonic_ns();
	r = paused ? 0 : sampling_read_due(sp, &now);
	pthread_mutex_lock(&sp->lock);
	if (sp->abandoned)
		r = -ECANCELED;
	if (r == 0) {
		sp->stats.ticks++;
		if (due_ns)
			note_tick_error(sp, begun - due_ns);
		if (now - begun > sp->longest_tick_ns)
			sp->longest_tick_ns = now - begun;
		r = loop_upkeep(sp, next_ns);
	}
	pthread_mutex_unlock(&sp->lock);
	return r;
}

/* The next time on the grid; times that have passed are overruns. */
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

/* Waits until t_ns or a stop, and returns whether to stop; flushes the file when a mark asks for
 * it. */
static bool wait_until(struct sampling *sp, int64_t t_ns)
{
	struct timespec ts = { t_ns / NS_PER_S, t_ns % NS_PER_S };
	bool slept = sp->period_ns <= SHORT_NS, stop;

	if (slept)
		metronome_wait(&sp->metronome, t_ns);
	if (slept && !atomic_load(&sp->called))
		return false;
	pthread_mutex_lock(&sp->lock);
	atomic_store(&sp->called, sp->stop);
	while (!sp->stop) {
		if (sp->flush_now && loop_flush(sp) < 0)
			sp->stop = true;
		else if (slept || pthread_cond_timedwait(&sp->changed, &sp->lock, &ts) != 0)
			break;
	}
	stop = sp->stop;
	pthread_mutex_unlock(&sp->lock);
	return stop;
}

/*
 * The last read completes the energy balance up to the end. When it is late, the missed ticks are
 * counted as overruns, too.
 */
static void last_tick(struct sampling *sp, int64_t next)
{
	int64_t late = clock_monotonic_ns() - next, missed = late / sp->period_ns;

	if (late < 0) {
		loop_tick(sp, 0, next);
		return;
	}
	pthread_mutex_lock(&sp->lock);
	sp->stats.overruns += (uint64_t)missed;
	pthread_mutex_unlock(&sp->lock);
	loop_tick(sp, next + missed * sp->period_ns, next);
}

static void sample_from(struct sampling *sp, int64_t next)
{
	sp->refreshed_ns = next;
	while (!wait_until(sp, next)) {
		if (loop_tick(sp, next, next + sp->period_ns) < 0)
			return;
		next = next_tick(sp, next);
	}
	last_tick(sp, next);
}

static void loop_run(struct sampling *sp)
{
	int64_t start = clock_monotonic_ns();
	bool is_short = sp->period_ns <= SHORT_NS;

	if (is_short)
		metronome_start(&sp->metronome, start, sp->period_ns);
	sample_from(sp, start);
	if (is_short)
		metronome_release(&sp->metronome);
}

/* The lowest real-time priority already precedes all threads without one. */
static void ask_realtime(struct sampling *sp)
{
	struct sched_param p = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
	int r = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p) < 0 ? -errno : 0;

	pthread_mutex_lock(&sp->lock);
	sp->stats.realtime = r == 0;
	sp->stats.realtime_error = r;
	pthread_mutex_unlock(&sp->lock);
}

static void *sampling_main(void *arg)
{
	struct sampling *sp = arg;
	char name[16];
	bool orphan;

	snprintf(name, sizeof(name), "smp-%s", sp->s->name);
	pthread_setname_np(pthread_self(), name);
	/* by default a timer may be 50 µs late */
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	if (sp->realtime)
		ask_realtime(sp);
	loop_run(sp);
	pthread_mutex_lock(&sp->lock);
	sp->stats.cpu_s = (double)clock_thread_cpu_ns() / 1e9;
	end_file(sp);
	sp->ended = true;
	orphan = sp->orphan;
	pthread_cond_broadcast(&sp->changed);
	pthread_mutex_unlock(&sp->lock);
	if (orphan)
		sampling_release(sp);
	return NULL;
}

/* --- the owner --- */

int sampling_start(struct sampling *sp, struct err *err)
{
	sigset_t all, old;
	int r;

	assert(!sp->started);
	/*
	 * Signals are left to the owner's threads. A broken pipe, or a file at its size limit,
	 * gives an error here and no signal.
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
	/* drops a character that was cut */
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
		sampling_take_in(sp);
		samples_mark_put(t_ns, text, &sp->out);
		sp->flush_now = true;
		atomic_store(&sp->called, true);
		if (sp->started)
			pthread_cond_broadcast(&sp->changed);
		if ((!sp->started || sp->out.len > 2 * FLUSH_BYTES) && loop_flush(sp) < 0)
			sp->stop = true;
	}
	pthread_mutex_unlock(&sp->lock);
}

/* Waits for the thread; a read that hangs is abandoned. */
static void end_thread(struct sampling *sp)
{
	int64_t pieces;

	pthread_mutex_lock(&sp->lock);
	sp->stop = true;
	atomic_store(&sp->called, true);
	pthread_cond_broadcast(&sp->changed);
	pieces = (GRACE_NS + 2 * sp->longest_tick_ns) / PIECE_NS;
	while (!sp->ended && !sp->abandoned && pieces > 0) {
		int64_t next = clock_monotonic_ns() + PIECE_NS;
		struct timespec ts = { next / NS_PER_S, next % NS_PER_S };

		if (pthread_cond_timedwait(&sp->changed, &sp->lock, &ts) != 0)
			pieces--;
	}
	if (!sp->ended && !sp->abandoned) {
		loop_fail(sp, -ETIMEDOUT, sp->s->name, "a read hangs");
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

void sampling_summary(struct sampling *sp, size_t d, size_t i, struct sampling_summary *ret)
{
	assert(d < sp->nr_dev && i < sp->dev[d].nr);
	pthread_mutex_lock(&sp->lock);
	if (sp->fd >= 0)
		sampling_take_in(sp);
	*ret = sp->rows.device.v[d].summary[i];
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
		sampling_release(sp);
}
