#include "drive_show.h"
#include "cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "profrig/base/clock.h"
#include "profrig/base/log.h"
#include "profrig/base/strbuf.h"

#define LAST 5 /* finished runs that are shown */
#define RUNNING_MAX 16
#define WIDTH 80

struct running_line {
	char run[48], label[160];
	uint32_t attempt;
	int64_t since_ns;
};

struct drive_show {
	bool live;    /* a terminal */
	size_t lines; /* that are drawn */
	VEC(struct running_line) running;
	char *last[LAST];
	size_t nr_last;
	char note[200];
	struct drive_moment now;
	size_t cells;
	int64_t begin_ns;
};

static void duration_add(struct strbuf *to, double s)
{
	if (!(s >= 0))
		strbuf_addstr(to, "?");
	else if (s < 10)
		strbuf_addf(to, "%.2f s", s);
	else if (s < 120)
		strbuf_addf(to, "%.0f s", s);
	else if (s < 7200)
		strbuf_addf(to, "%.0f min", s / 60);
	else
		strbuf_addf(to, "%.1f h", s / 3600);
}

struct drive_show *drive_show_new(size_t cells)
{
	struct drive_show *s = xcalloc(1, sizeof(*s));

	s->live = log_terminal() && log_level() == 1;
	s->cells = cells;
	s->begin_ns = clock_monotonic_ns();
	return s;
}

bool drive_show_ticks(const struct drive_show *s)
{
	return s->live;
}

/* ---- the terminal ---- */

static size_t terminal_width(void)
{
	struct winsize w;

	return ioctl(2, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : WIDTH;
}

/* One line, cut at the width: by bytes that begin a character. */
static void line_put(struct drive_show *s, const char *text)
{
	size_t width = terminal_width() - 1, n = 0, at = 0;

	while (text[at] && n < width) {
		at++;
		while ((text[at] & 0xc0) == 0x80)
			at++;
		n++;
	}
	fprintf(stderr, "%.*s\033[K\n", (int)at, text);
	s->lines++;
}

static void wipe(struct drive_show *s)
{
	if (s->lines)
		fprintf(stderr, "\033[%zuA\033[J", s->lines);
	s->lines = 0;
}

static void bar_add(struct strbuf *to, const struct drive_moment *m)
{
	size_t width = 24;
	size_t done = m->runs ? (size_t)(m->committed * width / m->runs) : 0;
	size_t failed = m->runs ? (size_t)((m->failed * width + m->runs - 1) / m->runs) : 0;

	for (size_t i = 0; i < width; i++)
		strbuf_addstr(to, i < done ? "█" : i < done + failed ? "▒" : "░");
}

static void head_put(struct drive_show *s)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	const struct drive_moment *m = &s->now;

	bar_add(&sb, m);
	strbuf_addf(&sb, " %" PRIu64 "/%" PRIu64 " done", m->committed, m->runs);
	if (m->failed)
		strbuf_addf(&sb, ", %" PRIu64 " failed", m->failed);
	strbuf_addf(&sb, ", block %" PRIu64 "/%" PRIu64 ", ", m->block, m->blocks);
	duration_add(&sb, (double)(clock_monotonic_ns() - s->begin_ns) / 1e9);
	if (!isnan(m->eta_s)) {
		strbuf_addstr(&sb, ", about ");
		duration_add(&sb, m->eta_s);
		strbuf_addstr(&sb, " left");
	}
	line_put(s, sb.buf);
}

static void draw(struct drive_show *s)
{
	wipe(s);
	head_put(s);
	for (size_t i = 0; i < s->running.nr && i < RUNNING_MAX; i++) {
		const struct running_line *l = &s->running.v[i];
		CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb, "  ▸ %s  %s  ", l->run, l->label);
		if (l->attempt > 1)
			strbuf_addf(&sb, "(attempt %" PRIu32 ") ", l->attempt);
		duration_add(&sb, (double)(clock_monotonic_ns() - l->since_ns) / 1e9);
		line_put(s, sb.buf);
	}
	for (size_t i = 0; i < s->nr_last; i++)
		line_put(s, s->last[i]);
	if (*s->note)
		line_put(s, s->note);
	fflush(stderr);
}

static void last_push(struct drive_show *s, char *line)
{
	if (s->nr_last == LAST) {
		free(s->last[0]);
		memmove(s->last, s->last + 1, (LAST - 1) * sizeof(*s->last));
		s->nr_last--;
	}
	s->last[s->nr_last++] = line;
}

/* ---- what is said ---- */

static void running_drop(struct drive_show *s, const char *run)
{
	for (size_t i = 0; i < s->running.nr; i++)
		if (!strcmp(s->running.v[i].run, run)) {
			s->running.v[i] = s->running.v[--s->running.nr];
			return;
		}
}

static void running_add(struct drive_show *s, const struct drive_moment *m)
{
	struct running_line l = { .attempt = m->attempt, .since_ns = clock_monotonic_ns() };

	snprintf(l.run, sizeof(l.run), "%s", m->run);
	snprintf(l.label, sizeof(l.label), "%s", m->label);
	VEC_PUSH(&s->running, l);
}

/* "3fa9c1d2e4b5-2 OMP_NUM_THREADS=1: done in 2.31 s"; owned; NULL: nothing to say. */
static char *words_of(const struct drive_moment *m)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (m->run)
		strbuf_addf(&sb, "%s %s: ", m->run, m->label);
	switch (m->what) {
	case DRIVE_COMMITTED:
		strbuf_addstr(&sb, "done in ");
		duration_add(&sb, m->run_s);
		if (*m->text)
			strbuf_addf(&sb, ", %s", m->text);
		break;
	case DRIVE_SUPERSEDED:
		strbuf_addstr(&sb, "done, but another attempt counts already");
		break;
	case DRIVE_ENDED:
		strbuf_addf(&sb, "attempt %" PRIu32 ": %s", m->attempt,
			    *m->text ? m->text : "ended");
		break;
	case DRIVE_WAITS:
		strbuf_addstr(&sb, "again in ");
		duration_add(&sb, m->wait_s);
		break;
	case DRIVE_FAILED:
		strbuf_addstr(&sb, "failed for good");
		break;
	case DRIVE_SETTLED:
	case DRIVE_NOTE:
	case DRIVE_DRAINS:
		strbuf_addstr(&sb, m->text);
		break;
	default:
		return NULL;
	}
	return strbuf_steal(&sb);
}

static void moment_keep(struct drive_show *s, const struct drive_moment *m)
{
	s->now = *m;
	if (m->what == DRIVE_BEGINS)
		running_add(s, m);
	else if (m->what == DRIVE_COMMITTED || m->what == DRIVE_ENDED ||
		 m->what == DRIVE_SUPERSEDED)
		running_drop(s, m->run);
	if (m->what == DRIVE_COOLS)
		snprintf(s->note, sizeof(s->note), "  cool-down, %.0f s%s%s", m->wait_s,
			 *m->text ? ", " : "", m->text);
	else if (m->what == DRIVE_DRAINS)
		snprintf(s->note, sizeof(s->note), "  %s", m->text);
	else if (m->what == DRIVE_BEGINS && !strncmp(s->note, "  cool", 6))
		*s->note = 0;
}

void drive_show_moment(void *ctx, const struct drive_moment *m)
{
	struct drive_show *s = ctx;
	char *words = words_of(m);

	moment_keep(s, m);
	if (!s->live) {
		if (words)
			log_notice("[%" PRIu64 "/%" PRIu64 "] %s", m->committed + m->failed,
				   m->runs, words);
		free(words);
		return;
	}
	if (words) {
		last_push(s, xasprintf("  %s", words));
		free(words);
	}
	draw(s);
}

void drive_show_free(struct drive_show *s)
{
	if (!s)
		return;
	wipe(s);
	fflush(stderr);
	for (size_t i = 0; i < s->nr_last; i++)
		free(s->last[i]);
	VEC_RELEASE(&s->running);
	free(s);
}
