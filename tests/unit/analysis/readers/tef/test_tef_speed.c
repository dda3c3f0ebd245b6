/*
 * What makes reading fast must not show in what is read: events that are laid out alike, several
 * threads, and the end of the document looked for from its end. Random traces of odd values, whole
 * and damaged, are read in two ways each.
 */
#include "readers_test.h"

#include <inttypes.h>

static uint64_t seed, blank_seed;

static uint64_t dice_roll(uint64_t n)
{
	return rnd(&seed) % n;
}

static const char *word_pick(const char *const *v, size_t n)
{
	return v[dice_roll(n)];
}
#define PICK(v) word_pick((v), ARRAY_LEN(v))

/* ---- traces ---- */

/* Blanks between tokens: always the same, or each time others. */
static void gap(struct strbuf *sb, bool varied)
{
	static const char *const blanks[] = { "", " ", "\n", "\t ", "   ", "\r\n    " };

	strbuf_addstr(sb, varied ? blanks[rnd(&blank_seed) % ARRAY_LEN(blanks)] : " ");
}

static void member(struct strbuf *sb, bool varied, const char *key, const char *value)
{
	strbuf_addstr(sb, sb->buf[sb->len - 1] == '{' ? "" : ",");
	gap(sb, varied);
	strbuf_addf(sb, "\"%s\"", key);
	gap(sb, varied);
	strbuf_addch(sb, ':');
	gap(sb, varied);
	strbuf_addstr(sb, value);
	gap(sb, varied);
}

static const char *number(char *buf, size_t n)
{
	static const char *const odd[] =
		LIST("0", "007", "5.0", "-3", "1e3", "12345678901234567890", "null", "\"12\"",
		     "99999999999999.999", "0.0005", "1.12345", "9223372036854775807", "+4",
		     "\"0x10\"", "true", "7.", ".5", "1234567890123456.7", "2e", "1.2.3", "\"\"",
		     "\"\\u0031\"", "-", "9007199254740993.125");

	if (dice_roll(6) == 0)
		return PICK(odd);
	if (dice_roll(2))
		snprintf(buf, n, "%" PRIu64 ".%03" PRIu64, dice_roll(100000), dice_roll(1000));
	else
		snprintf(buf, n, "%" PRIu64, dice_roll(6));
	return buf;
}

static void args_add(struct strbuf *sb, bool varied)
{
	static const char *const keys[] = { "device", "stream", "correlation", "External id",
					    "rank",   "other",  "grid",        "Ev Idx" };
	static const char *const nested[] = { "[1, [2, \"]\"]]", "{\"device\": 3}", "\"a \\\" b\"",
					      "[]", "{}" };
	char buf[64];

	strbuf_addstr(sb, ", \"args\": {");
	for (uint64_t i = dice_roll(6); i > 0; i--)
		member(sb, varied, PICK(keys),
		       dice_roll(8) ? number(buf, sizeof(buf)) : PICK(nested));
	strbuf_addch(sb, '}');
}

static void event_add(struct strbuf *sb, bool varied)
{
	static const char *const phases[] = { "\"X\"", "\"X\"", "\"X\"", "\"X\"",  "\"X\"",
					      "\"B\"", "\"E\"", "\"i\"", "\"s\"",  "\"f\"",
					      "\"C\"", "\"b\"", "\"e\"", "\"??\"", "\"M\"" };
	static const char *const cats[] =
		LIST("\"cpu_op\"", "\"kernel\"", "\"cuda_runtime\"", "\"gpu_memcpy\"", "\"ac2g\"",
		     "\"Trace\"", "\"gpu_user_annotation\"", "\"fwdbwd\"", "\"\\u006b\"");
	static const char *const names[] =
		LIST("\"f\"", "\"aten::mm\"", "\"process_name\"", "\"say \\\"hi\\\"\"", "\"\"",
		     "\"void at::native::elementwise_kernel<4, at::Add<float>>(int, float)\"",
		     "\"\\ud83d\\ude00\"", "\"caf\xc3\xa9 \xff\"", "7");
	char buf[64];

	strbuf_addch(sb, '{');
	member(sb, varied, "ph", PICK(phases));
	if (dice_roll(20))
		member(sb, varied, "cat", PICK(cats));
	member(sb, varied, dice_roll(50) ? "name" : "n\\u0061me", PICK(names));
	member(sb, varied, "pid", dice_roll(9) ? "1" : number(buf, sizeof(buf)));
	member(sb, varied, "tid", number(buf, sizeof(buf)));
	member(sb, varied, "ts", number(buf, sizeof(buf)));
	if (dice_roll(4))
		member(sb, varied, "dur", number(buf, sizeof(buf)));
	if (dice_roll(3) == 0)
		member(sb, varied, "id", number(buf, sizeof(buf)));
	if (dice_roll(9) == 0)
		member(sb, varied, "bp", "\"e\"");
	if (dice_roll(9) == 0)
		member(sb, varied, dice_roll(2) ? "scope" : "s", "\"g\"");
	if (dice_roll(2))
		args_add(sb, varied);
	if (dice_roll(20) == 0)
		member(sb, varied, "ts", number(buf, sizeof(buf)));
	strbuf_addch(sb, '}');
}

/* The same events for the same case, whatever the blanks. Few layouts come again and again, as in
 * real traces, and some that do not. */
static void trace_make(struct strbuf *sb, uint64_t number_of, size_t events, bool varied)
{
	strbuf_clear(sb);
	strbuf_addstr(sb, "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 2}, "
			  "\"traceEvents\": [");
	blank_seed = number_of;
	for (size_t i = 0; i < events; i++) {
		seed = number_of * 100000 + (i % 7 ? i % 40 : i);
		strbuf_addstr(sb, i ? ",\n" : "\n");
		event_add(sb, varied);
	}
	strbuf_addstr(sb, "],\n\"baseTimeNanoseconds\": 1000000000000}\n");
}

/* ---- what was read ---- */

static void spans_say(const struct model *m, struct strbuf *sb)
{
	const struct span_columns *c = &m->spans;

	for (size_t i = 0; i < c->nr; i++)
		strbuf_addf(sb,
			    "span %u %" PRId64 " %" PRId64 " '%s' '%s' %" PRIu64 " '%s' %d %" PRIu64
			    " %" PRId64 "\n",
			    c->track[i], c->start_ns[i], c->end_ns[i], model_str(m, c->name[i]),
			    model_str(m, c->category[i]), span_correlation(c, i),
			    model_str(m, span_args(c, i)), c->kind[i], span_parent(c, i),
			    c->exclusive_ns[i]);
	for (size_t i = 0; i < m->pieces.nr; i++)
		strbuf_addf(sb, "piece %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n",
			    m->pieces.v[i].span, m->pieces.v[i].parent, m->pieces.v[i].start_ns,
			    m->pieces.v[i].exclusive_ns);
	for (size_t i = 0; i < m->links.nr; i++)
		strbuf_addf(sb, "link %" PRIu64 " %" PRIu64 " %d\n", m->links.from[i],
			    m->links.to[i], m->links.kind[i]);
}

/* texts: what warnings say, which is where. */
static char *said(const struct reading *rd, bool texts)
{
	const struct model *m = rd->m;
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%d %s\n", rd->r, rd->r < 0 ? rd->err.msg : "");
	for (size_t i = 0; i < m->inputs.nr; i++) {
		const struct input *in = &m->inputs.v[i];

		strbuf_addf(&sb, "input %s %d %d %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 "\n",
			    in->format, in->clock, in->partial, in->instants, in->samples,
			    in->first_ns, in->last_ns);
		for (size_t k = 0; k < in->facts.nr; k++)
			strbuf_addf(&sb, "%s %" PRId64 "\n", in->facts.v[k].key,
				    in->facts.v[k].value);
	}
	for (size_t i = 0; i < m->tracks.nr; i++) {
		const struct track *t = &m->tracks.v[i];

		strbuf_addf(&sb, "track %d %u %" PRId64 " %" PRId64 " %d '%s' '%s'\n", t->kind,
			    t->parent, t->pid, t->tid, t->rank, model_str(m, t->device),
			    model_str(m, t->name));
	}
	spans_say(m, &sb);
	for (size_t i = 0; i < m->series.nr; i++) {
		strbuf_addf(&sb, "series '%s'\n", model_str(m, m->series.v[i].name));
		for (size_t k = 0; k < m->series.v[i].t_ns.nr; k++)
			strbuf_addf(&sb, "%" PRId64 " %.17g\n", m->series.v[i].t_ns.v[k],
				    m->series.v[i].value.v[k]);
	}
	for (size_t i = 0; i < m->warnings.nr; i++)
		strbuf_addf(&sb, "%s %" PRIu64 " %s\n", m->warnings.v[i].code,
			    m->warnings.v[i].count, texts ? m->warnings.v[i].text : "");
	return strbuf_steal(&sb);
}

static char *read_said(const struct strbuf *text, struct workers *w, bool texts)
{
	CLEANUP(xfreep) char *path = temp_file(text->buf, text->len);
	struct reading rd = { .m = model_new(), .err = ERR_INIT };
	struct read_opts o = { .keep_args = texts, .workers = w };
	char *ret, *in_text;

	model_set_workers(rd.m, w);
	rd.r = reader_find("tef")->read(path, model_sink(rd.m), &o, &rd.err);
	model_finish(rd.m);
	unlink(path);
	ret = said(&rd, texts);
	/* the name of the file is another each time */
	while ((in_text = strstr(ret, path)) != NULL)
		memset(in_text, '-', strlen(path));
	reading_release(&rd);
	return ret;
}

/* ---- tests ---- */

TEST(layouts)
{
	CLEANUP(strbuf_release) struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	for (uint64_t i = 0; i < test_cases(60); i++) {
		CLEANUP(xfreep) char *alike = NULL, *varied = NULL;

		trace_make(&a, i, 400, false);
		trace_make(&b, i, 400, true);
		alike = read_said(&a, NULL, false);
		varied = read_said(&b, NULL, false);
		if (strcmp(alike, varied) != 0)
			fail_msg("case %" PRIu64 " depends on blanks", i);
	}
}

/* Something that does not belong there. */
static void damage(struct strbuf *sb)
{
	static const char *const bits[] = {
		"\"", "{", "}", "[", "],", ",", "\\", "{}", "},{", "x"
	};
	size_t at = dice_roll(sb->len);
	const char *bit = PICK(bits);

	switch (dice_roll(4)) {
	case 0:
		sb->buf[at] = (char)dice_roll(256);
		break;
	case 1:
		memcpy(sb->buf + (at < sb->len - 8 ? at : 0), bit, strlen(bit));
		break;
	case 2:
		memset(sb->buf + at, 0, dice_roll(sb->len - at) / 50);
		break;
	default:
		if (dice_roll(8) == 0)
			sb->len = at;
		break;
	}
}

TEST(threads)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct workers *pools[] = { workers_new(2), workers_new(3) };

	for (uint64_t i = 0; i < test_cases(40); i++) {
		CLEANUP(xfreep) char *one = NULL;

		/* more than is read by one thread alone */
		trace_make(&text, i, 1000, i % 3 == 0);
		seed = i;
		for (uint64_t k = dice_roll(4); k > 0; k--)
			damage(&text);
		one = read_said(&text, NULL, true);
		for (size_t k = 0; k < ARRAY_LEN(pools); k++) {
			if (strcmp(one, kept(read_said(&text, pools[k], true))) != 0)
				fail_msg("case %" PRIu64 " depends on threads", i);
		}
	}
	workers_free(pools[0]);
	workers_free(pools[1]);
}

/* One event that is larger than what a thread takes at a time, and holds what looks like events. */
TEST(large_event)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct workers *w = workers_new(2);
	CLEANUP(xfreep) char *one = NULL, *two = NULL;
	const char *fake = ",\n{\"ph\": \"X\", \"name\": \"no\", \"ts\": 1, \"dur\": 1}";

	strbuf_addstr(&text, "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 2, "
			     "\"pid\": 1, \"tid\": 1, \"args\": {\"x\": [0");
	for (int i = 0; i < 5000; i++)
		strbuf_addstr(&text, fake);
	strbuf_addstr(&text, "]}}");
	for (int i = 0; i < 5000; i++)
		strbuf_addstr(&text, fake);
	strbuf_addstr(&text, "]");
	one = read_said(&text, NULL, true);
	two = read_said(&text, w, true);
	assert_string_equal(one, two);
	assert_has(one, "\nevents 5001\n");
	workers_free(w);
}

/* What stands behind the events counts, wherever it is. */
TEST(behind_events)
{
	static const char event[] =
		"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0,"
		" \"tid\": 7, \"ts\": 1, \"dur\": 1, \"args\": {\"stream\": 7}}";
	static const struct {
		const char *before, *behind;
		size_t pad;
		int32_t rank;
		int64_t first_ns;
	} docs[] = {
		{ "", "", 0, RANK_NONE, 1000 },
		{ "", ", \"distributedInfo\": {\"rank\": 5}", 0, 5, 1000 },
		{ "", ", \"distributedInfo\": {\"rank\": 5}, \"x\": [1]", 0, 5, 1000 },
		{ "", ", \"distributedInfo\": {\"rank\": 5}, \"baseTimeNanoseconds\": 7", 0, 5,
		  1007 },
		/* so far from the end that the end of another array is taken for that of the events
		 */
		{ "", ", \"distributedInfo\": {\"rank\": 5}", 100000, 5, 1000 },
		{ "", "", 100000, RANK_NONE, 1000 },
		{ "\"distributedInfo\": {\"rank\": 4}, ", "", 100000, 4, 1000 },
		{ "\"distributedInfo\": {\"rank\": 4}, ", ", \"distributedInfo\": {\"rank\": 5}",
		  100000, 5, 1000 },
		{ "", ", \"baseTimeNanoseconds\": 9", 100000, RANK_NONE, 1009 },
	};

	for (size_t i = 0; i < ARRAY_LEN(docs); i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "{%s\"traceEvents\": [%s, %s]%s, \"pad\": \"", docs[i].before,
			    event, event, docs[i].behind);
		for (size_t k = 0; k < docs[i].pad; k++)
			strbuf_addch(&text, 'x');
		strbuf_addstr(&text, "\", \"list\": [], \"n\": 1}");
		READING rd = read_bytes("tef", text.buf, text.len);
		expect_read(&rd, 0, "inputs=1 spans=2");
		assert_int_equal(track_of(rd.m, 0)->rank, docs[i].rank);
		assert_int_equal(rd.m->inputs.v[0].first_ns, docs[i].first_ns);
	}
}
