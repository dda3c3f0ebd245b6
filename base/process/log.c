#include "profrig/base/log.h"
#include "log_line.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/redact.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"
#include "profrig/base/xalloc.h"

static atomic_int the_level = 1;
static atomic_bool the_color;
static atomic_bool progress_stands;
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[512];

bool log_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
}

void log_setup(int level, bool color)
{
	const char *no = getenv("NO_COLOR");

	atomic_store(&the_level, level);
	atomic_store(&the_color, color && !(no && *no) && log_terminal());
}

int log_level(void)
{
	return atomic_load_explicit(&the_level, memory_order_relaxed);
}

bool log_color(void)
{
	return atomic_load_explicit(&the_color, memory_order_relaxed);
}

void log_line_clean(struct strbuf *sb, size_t from, const char *keep)
{
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT;

	text_visible(&clean, sb->buf + from, sb->len - from, keep);
	sb->len = from;
	strbuf_add(sb, clean.buf, clean.len);
}

void log_line_write(const char *text, size_t n, bool redrawn)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	int saved = errno;

	if (atomic_exchange(&progress_stands, redrawn) && !redrawn) {
		strbuf_addstr(&sb, LOG_WIPE);
		strbuf_add(&sb, text, n);
		text = sb.buf;
		n = sb.len;
	}
	while (n > 0) {
		ssize_t r = write(STDERR_FILENO, text, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			break;
		text += r;
		n -= (size_t)r;
	}
	errno = saved;
}

__attribute__((format(printf, 3, 0))) static void emit(const char *word, const char *color,
						       const char *fmt, va_list ap)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	size_t from;

	strbuf_addstr(&sb, "profrig: ");
	if (word && log_color())
		strbuf_addf(&sb, "\033[%sm%s:\033[0m ", color, word);
	else if (word)
		strbuf_addf(&sb, "%s: ", word);
	from = sb.len;
	strbuf_vaddf(&sb, fmt, ap);
	sb.len = from + redact(sb.buf + from, sb.len - from, REDACT_MIN);
	log_line_clean(&sb, from, "\t\n");
	strbuf_addch(&sb, '\n');
	log_line_write(sb.buf, sb.len, false);
}

#define EMIT(min_level, word, color) \
	do { \
		va_list ap; \
		if (log_level() < (min_level)) \
			return; \
		va_start(ap, fmt); \
		emit(word, color, fmt, ap); \
		va_end(ap); \
	} while (0)

void log_error(const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;
	va_list args;

	va_start(args, fmt);
	strbuf_vaddf(&sb, fmt, args);
	va_end(args);
	redact_str(sb.buf);
	pthread_mutex_lock(&last_lock);
	snprintf(last_error, sizeof(last_error), "%s", sb.buf);
	pthread_mutex_unlock(&last_lock);
	EMIT(0, "error", "1;31");
}

const char *log_last_error(void)
{
	return last_error;
}

void log_warn(const char *fmt, ...)
{
	EMIT(1, "warning", "1;33");
}

void log_notice(const char *fmt, ...)
{
	EMIT(1, NULL, "");
}

void log_info(const char *fmt, ...)
{
	EMIT(2, NULL, "");
}

void log_debug(const char *fmt, ...)
{
	EMIT(3, "debug", "2");
}
