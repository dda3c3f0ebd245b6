/*
 * flex_text: traces of FLEX (AIU accelerators), whose stamps follow from their events' times.
 *
 *	struct flex_text ft = { .mhz = 560, .zero = 77 };
 *	flex_work(&ft, 0, 7, "add_1 Cmpt Exec", 1000, 2000, "");	pid, tid, name, ns
 *	flex_host(&ft, 0, 5, "Launch", 900, 3000);
 *	READING rd = read_text("tef", flex_end(&ft));
 *
 * Work has five stamps, modulo 2^32: those of its phase at its start and end, the others at the
 * next of the two. `more` are further args: ",\"Power\":\"5\"".
 */
#ifndef PROFRIG_FLEX_TEXT_H
#define PROFRIG_FLEX_TEXT_H

#include "test.h"

#include <inttypes.h>
#include <math.h>

#include "profrig/base/strbuf.h"

struct flex_text {
	double mhz;
	uint64_t zero;     /* the counter at time 0 */
	bool pairs;        /* B and E, hexadecimal stamps in `attr` */
	struct strbuf sb;  /* the events */
	struct strbuf end; /* what flex_end returned */
};

static inline uint64_t flex_cycles(const struct flex_text *ft, int64_t t_ns)
{
	return ft->zero + (uint64_t)llround((double)t_ns * ft->mhz / 1e3);
}

static inline void flex_time(struct strbuf *sb, const char *key, int64_t ns)
{
	strbuf_addf(sb, ",\"%s\":%" PRId64 ".%03" PRId64, key, ns / 1000, ns % 1000);
}

static inline void flex_event(struct flex_text *ft, int64_t pid, const char *tid, const char *name,
			      int64_t start_ns, int64_t end_ns, const char *args)
{
	struct strbuf *sb = &ft->sb;

	for (int i = 0; i < (ft->pairs ? 2 : 1); i++) {
		strbuf_addf(sb, "%s{\"name\":\"%s\",\"ph\":\"%c\",\"pid\":%" PRId64 ",\"tid\":%s",
			    sb->len ? ",\n" : "", name, ft->pairs ? "BE"[i] : 'X', pid, tid);
		flex_time(sb, "ts", i ? end_ns : start_ns);
		if (!ft->pairs)
			flex_time(sb, "dur", end_ns - start_ns);
		if (*args)
			strbuf_addf(sb, ",\"%s\":{%s}", ft->pairs ? "attr" : "args", args);
		strbuf_addch(sb, '}');
	}
}

static inline int flex_phase(const char *name)
{
	static const char *const words[] = { "DmaI", "Prep", "Exec", "DmaO" };

	for (int i = 0; i < 4; i++)
		if (strcmp(name + strlen(name) - 4, words[i]) == 0)
			return i;
	return -1;
}

static inline void flex_work_on(struct flex_text *ft, int64_t pid, const char *tid,
				const char *name, int64_t start_ns, int64_t end_ns,
				const char *more)
{
	CLEANUP(strbuf_release) struct strbuf args = STRBUF_INIT;
	int phase = flex_phase(name);

	for (int i = 0; i < 5; i++) {
		uint64_t c = flex_cycles(ft, i <= (phase < 0 ? 0 : phase) ? start_ns : end_ns);

		strbuf_addf(&args,
			    ft->pairs ? "%s\"TS%d\":\"0x%" PRIx64 "\""
				      : "%s\"TS%d\":\"%" PRIu64 "\"",
			    i ? "," : "", i + 1, c & UINT32_MAX);
	}
	strbuf_addstr(&args, more);
	flex_event(ft, pid, tid, name, start_ns, end_ns, args.buf);
}

#define flex_work(ft, pid, tid, name, start, end, more) \
	flex_work_on((ft), (pid), #tid, (name), (start), (end), (more))
#define flex_host(ft, pid, tid, name, start, end) \
	flex_event((ft), (pid), #tid, (name), (start), (end), "")

static inline const char *flex_end(struct flex_text *ft)
{
	strbuf_clear(&ft->end);
	strbuf_addf(&ft->end, "[\n%s\n]\n", ft->sb.buf ? ft->sb.buf : "");
	return ft->end.buf;
}

static inline void flex_release(struct flex_text *ft)
{
	strbuf_release(&ft->sb);
	strbuf_release(&ft->end);
}

#define FLEX_TEXT CLEANUP(flex_release) struct flex_text
#define FLEX_TEXT_INIT(...) \
	{ \
		.sb = STRBUF_INIT, .end = STRBUF_INIT, __VA_ARGS__ \
	}

#endif
