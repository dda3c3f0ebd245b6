/*
 * progress_update must cost nothing in the inner loop, so it does not read the clock each time:
 * `threshold` is the count at which the next look at it is due, estimated from the rate until now.
 * A thread that reaches it looks; the lock decides between several.
 */
#include "profrig/base/progress.h"
#include "log_line.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profrig/base/clock.h"
#include "profrig/base/log.h"
#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/xalloc.h"

#define PATIENCE_MS 200
#define MAX_NOTE 200

#define REDRAW_NS (100 * NS_PER_MS)
#define LOOK_NS (20 * NS_PER_MS)

static _Atomic uint64_t threshold = UINT64_MAX;

static struct {
	pthread_mutex_t lock;
	int mode;
	struct strbuf phase, note;
	uint64_t total;
	bool items; /* counts are not bytes */
	int64_t began_ns;
	int64_t drawn_ns;
	bool shown;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .phase = STRBUF_INIT, .note = STRBUF_INIT };

static void set_threshold(uint64_t v)
{
	atomic_store_explicit(&threshold, v, memory_order_relaxed);
}

static size_t terminal_width(void)
{
	struct winsize ws;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		return ws.ws_col;
	return 80;
}

static void add_bytes(struct strbuf *sb, double v)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	size_t u = 0;

	while (v >= 999.5 && u + 1 < ARRAY_LEN(units)) {
		v /= 1000;
		u++;
	}
	strbuf_addf(sb, v < 9.95 && u > 0 ? "%.1f %s" : "%.0f %s", v, units[u]);
}

/* Shortens to a number of terminal cells, one per code point. The end is cut, as the phase is read
 * from the left. */
static void cut_to_width(struct strbuf *sb, size_t width)
{
	size_t cells = 0;

	for (size_t i = 0; i < sb->len; i++) {
		if (((unsigned char)sb->buf[i] & 0xc0) == 0x80)
			continue;
		if (cells++ == width) {
			sb->len = i;
			sb->buf[i] = '\0';
			return;
		}
	}
}

static void progress_draw(uint64_t done, int64_t now)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	double elapsed_s = (double)(now - state.began_ns) / (double)NS_PER_S;

	strbuf_add(&text, state.phase.buf, state.phase.len);
	if (state.total) {
		double share = (double)done / (double)state.total;

		strbuf_addf(&text, "  %.0f %%", 100 * (share < 1 ? share : 1));
	}
	if (done && !state.items && elapsed_s > 0) {
		strbuf_addstr(&text, "  ");
		add_bytes(&text, (double)done / elapsed_s);
		strbuf_addstr(&text, "/s");
	} else if (elapsed_s >= 120) {
		strbuf_addf(&text, "  %.0f min %02d s", floor(elapsed_s / 60),
			    (int)fmod(elapsed_s, 60));
	} else if (elapsed_s >= 1) {
		strbuf_addf(&text, "  %d s", (int)elapsed_s);
	}
	if (state.note.len)
		strbuf_addf(&text, "  %s", state.note.buf);
	/* The last cell stays free: some terminals wrap when it is written. */
	cut_to_width(&text, terminal_width() - 1);
	strbuf_addstr(&out, LOG_WIPE);
	strbuf_add(&out, text.buf, text.len);
	if (!progress_heard(0))
		return;
	log_line_write(out.buf, out.len, true);
	state.shown = true;
	state.drawn_ns = now;
}

/* Makes text of unknown origin fit for a terminal, before it is cut to the terminal's width. */
static void words_clean(struct strbuf *sb)
{
	if (sb->len)
		sb->len = redact(sb->buf, sb->len, REDACT_MIN);
	log_line_clean(sb, 0, "");
}

void progress_setup(int enabled)
{
	pthread_mutex_lock(&state.lock);
	state.mode = log_level() > 0 ? enabled : 0;
	pthread_mutex_unlock(&state.lock);
	set_threshold(UINT64_MAX);
}

void progress_phase(const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&state.lock);
	if (state.mode > 0) {
		strbuf_clear(&state.phase);
		va_start(ap, fmt);
		strbuf_vaddf(&state.phase, fmt, ap);
		va_end(ap);
		words_clean(&state.phase);
		strbuf_clear(&state.note);
		state.total = 0;
		state.items = false;
		state.began_ns = clock_monotonic_ns();
	}
	if (state.mode == 1) {
		CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;

		strbuf_addf(&line, "profrig: %s\n", state.phase.buf);
		if (progress_heard(PATIENCE_MS))
			log_line_write(line.buf, line.len, false);
	} else if (state.mode == 2) {
		/* Drawn at once: a phase may be all that is shown for hours. */
		progress_draw(0, state.began_ns);
		set_threshold(1);
	}
	pthread_mutex_unlock(&state.lock);
}

static void total_set(uint64_t total, bool items)
{
	pthread_mutex_lock(&state.lock);
	state.total = total;
	state.items = items;
	pthread_mutex_unlock(&state.lock);
}

void progress_total(uint64_t total)
{
	total_set(total, false);
}

void progress_items(uint64_t total)
{
	total_set(total, true);
}

static void progress_look(uint64_t done)
{
	int64_t now = clock_monotonic_ns();
	int64_t elapsed = now - state.began_ns;
	double step;

	if (now - state.drawn_ns >= REDRAW_NS)
		progress_draw(done, now);
	/* The count that comes in during LOOK_NS at the rate until now, at most as much as has come
	 * until now. */
	step = elapsed > LOOK_NS ? (double)done * (double)LOOK_NS / (double)elapsed : (double)done;
	if (step < 1)
		step = 1;
	set_threshold(step < 0x1p62 && done < UINT64_MAX / 2 ? done + (uint64_t)step : UINT64_MAX);
}

void progress_update(uint64_t done)
{
	if (done < atomic_load_explicit(&threshold, memory_order_relaxed))
		return;
	if (pthread_mutex_trylock(&state.lock))
		return;
	if (state.mode == 2)
		progress_look(done);
	pthread_mutex_unlock(&state.lock);
}

void progress_tick(void)
{
	int64_t now = clock_monotonic_ns();

	pthread_mutex_lock(&state.lock);
	if (state.mode == 2 && state.shown && now - state.drawn_ns >= NS_PER_S)
		progress_draw(0, now);
	pthread_mutex_unlock(&state.lock);
}

void progress_note(const char *note)
{
	int64_t now = clock_monotonic_ns();

	pthread_mutex_lock(&state.lock);
	if (state.mode == 2 && state.shown) {
		strbuf_clear(&state.note);
		strbuf_addstr(&state.note, note);
		words_clean(&state.note);
		cut_to_width(&state.note, MAX_NOTE);
		if (now - state.drawn_ns >= REDRAW_NS)
			progress_draw(0, now);
	}
	pthread_mutex_unlock(&state.lock);
}

bool progress_heard(int patience_ms)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&p, 1, patience_ms) > 0;
}

void progress_end(void)
{
	pthread_mutex_lock(&state.lock);
	set_threshold(UINT64_MAX);
	if (state.shown && progress_heard(0))
		log_line_write("", 0, false);
	state.shown = false;
	strbuf_release(&state.phase);
	strbuf_release(&state.note);
	pthread_mutex_unlock(&state.lock);
}
