/*
 * The bytes of a log. A record is a letter and its values: numbers in 7 bits a byte, the lowest
 * first, signed ones folded (0, -1, 1, -2 …), texts with their length in front. Times are
 * differences to the time before them. Ids are those that the writer's sink returned; a text has
 * its record before its id is used.
 */
#ifndef SINK_LOG_PRIVATE_H
#define SINK_LOG_PRIVATE_H

#include "profrig/base/serial.h"
#include "profrig/base/strbuf.h"
#include "profrig/model/sink_log.h"

enum sink_log_record {
	LOG_INPUT = 'i',    /* path, reader */
	LOG_CLOCK = 'c',    /* struct input as the reader has filled it */
	LOG_END = 'e',      /* the same */
	LOG_FIELDS = 'f',   /* the same, of a reader that failed: the input goes on */
	LOG_EXPECT = 'x',   /* spans */
	LOG_STRING = 's',   /* id, text */
	LOG_TRACK = 't',    /* id, definition */
	LOG_SERIES = 'r',   /* id, definition */
	LOG_ENTER = '(',    /* track, time, name, category */
	LOG_LEAVE = ')',    /* track, time, name */
	LOG_ARGS = 'a',     /* track, text */
	LOG_KIND = 'k',     /* track, kind */
	LOG_SPAN = '-',     /* track, start, duration, name, category, correlation, kind, args */
	LOG_SAMPLE = 'v',   /* series, time, value */
	LOG_LINK = 'l',     /* span, span, kind */
	LOG_FACTS = 'F',    /* kind, span, fields of fact_forms */
	LOG_OPERANDS = 'o', /* id, four texts */
	LOG_NUMBERS = 'n',  /* id, number, numbers */
	LOG_DEVICE = 'd',   /* fields */
	LOG_WORLD = 'W',    /* fields */
	LOG_WARN = 'w',     /* code, count, text */
	LOG_LIBRARY = 'b'   /* library_calls_save */
};

/* Fields of struct input that readers set, as they are; facts, format and times beside them. */
#define LOG_INPUT_FIELDS(X) \
	X(resolution_hz) X(anchor_own_ns) X(anchor_realtime_ns) X(group) X(library)
#define LOG_INPUT_FLAGS(X) X(has_realtime_anchor) X(from_start) X(driver_numbers) X(partial)

static inline void log_put_number(struct strbuf *to, uint64_t v)
{
	unsigned char buf[10];
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		buf[n++] = (unsigned char)(v | 0x80);
	buf[n++] = (unsigned char)v;
	strbuf_add(to, buf, n);
}

static inline void log_put_signed(struct strbuf *to, int64_t v)
{
	log_put_number(to, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* Differences wrap around, and so does their sum. *before: the time written last. */
static inline void log_put_time(struct strbuf *to, int64_t *before, int64_t t_ns)
{
	log_put_signed(to, (int64_t)((uint64_t)t_ns - (uint64_t)*before));
	*before = t_ns;
}

static inline uint64_t log_take_number(struct serial_in *in)
{
	uint64_t v = 0;

	for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
		unsigned char c = (unsigned char)*in->at++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	in->bad = true;
	return 0;
}

/* facts_log.c */
struct operand_texts;
struct log_fact_ids {
	struct log_ids {
		const uint32_t *v; /* the player's by the writer's */
		size_t nr;
	} texts, operands, numbers;
};
void log_put_fact(struct strbuf *to, int64_t v);
void log_put_row(struct strbuf *to, unsigned form, const void *row);
void log_put_operands(struct strbuf *to, const struct operand_texts *t);
int64_t log_take_fact(struct serial_in *in);
void log_take_row(struct serial_in *in, unsigned form, void *row, const struct log_fact_ids *ids);
/* Borrowed from the log. */
void log_take_operands(struct serial_in *in, struct operand_texts *ret);

#endif
