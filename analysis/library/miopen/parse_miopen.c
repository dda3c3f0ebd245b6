/*
 * MIOpen: a command of MIOpenDriver for each call (MIOPEN_ENABLE_LOGGING_CMD=1).
 *
 *	MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 4 -c 64 … -F 1 -t 1
 *	1234 MIOpen   12.345: Command [LogCmdRNN] MIOpenDriver.exe rnn -n 256 … -F 1
 *		thread and time since the line before, where they are asked for; (HIP), (OpenCL)
 *		or nothing; "LogCmdFind…" is a search and no call
 *	miopenConvolutionForward: ./bin/MIOpenDriver conv …		1.x; it tells the direction
 *	./bin/MIOpenDriver conv --batchsize 4 … --forw 1		a list, or what a shell ran
 *
 * A verb is a name and a type: conv convfp16 convbfp16 convint8; none is f32. Options that are
 * missing in a list have the driver's default, and -F 0, the default, is all directions: one call
 * with the work of three. The library logs all options; a command of its that has lost -F alone
 * counts as well, with the default.
 *
 * The driver repeats its command line, with or without its name, and the library then logs the
 * calls it makes. A command without a prefix is therefore of a lower level (library_calls.h): where
 * the log has logged commands of the same configuration in any direction, it is doubled.
 *
 * A shell's quotes, pipes, redirections and comments end a command.
 */
#include "miopen_command.h"

#include <string.h>

#define PROGRAM "MIOpenDriver"
#define LOGGED "[LogCmd"

/* ---- where a record begins ---- */

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct text_slice slice_from(struct text_slice t, size_t n)
{
	return (struct text_slice){ t.p + n, t.n - n };
}

/* "MIOpen(HIP)   1.234: ": its length; 0: it is other text. */
static size_t prefix_length(struct text_slice t)
{
	size_t n = strlen("MIOpen");

	if (!slice_begins(t, "MIOpen"))
		return 0;
	if (n < t.n && t.p[n] == '(') {
		const char *end = memchr(t.p + n, ')', t.n - n < 16 ? t.n - n : 16);

		if (!end)
			return 0;
		n = (size_t)(end - t.p) + 1;
	}
	while (n < t.n && (t.p[n] == ' ' || t.p[n] == '.' || digit(t.p[n])))
		n++;
	return n + 1 < t.n && t.p[n] == ':' && t.p[n + 1] == ' ' ? n + 2 : 0;
}

/*
 * The function in front of a command, "[LogCmdRNN]", at the end of a text; n = 0: there is none.
 * Other text may be glued to the bracket.
 */
static struct text_slice function_before(struct text_slice t)
{
	struct text_slice word;
	const char *open;

	t = slice_rtrim(t);
	word = slice_last_word(&t);
	open = memrchr(word.p, '[', word.n);
	if (open && word.p[word.n - 1] == ']')
		word = (struct text_slice){ open, word.n - (size_t)(open - word.p) };
	if ((slice_begins(word, LOGGED) && word.p[word.n - 1] == ']') ||
	    (slice_begins(word, "miopen") && word.p[word.n - 1] == ':'))
		return word;
	word.n = 0;
	return word;
}

/* The program's name with what belongs to it: "MIOpenDriver.exe", "MIOpenDriver:". */
static size_t program_length(struct text_slice t)
{
	size_t n = strlen(PROGRAM);

	if (slice_begins(slice_from(t, n), ".exe"))
		n += 4;
	return n < t.n && t.p[n] == ':' ? n + 1 : n;
}

static size_t verb_length(struct text_slice t)
{
	size_t n = 0;

	while (n < t.n && (letter(t.p[n]) || (n > 0 && digit(t.p[n]))))
		n++;
	return n;
}

static size_t blanks(struct text_slice t)
{
	size_t n = 0;

	while (n < t.n && slice_blank(t.p[n]))
		n++;
	return n;
}

/* A verb and an option follow the program; in other text words do. */
static bool command_follows(struct text_slice t)
{
	size_t n;

	t = slice_from(t, program_length(t));
	n = blanks(t);
	if (n == 0)
		return false;
	t = slice_from(t, n);
	n = verb_length(t);
	if (n == 0)
		return false;
	t = slice_from(t, n);
	n = blanks(t);
	return n > 0 && n < t.n && t.p[n] == '-';
}

static bool miopen_starts(struct text_slice line, size_t at)
{
	struct text_slice t = slice_from(line, at), before = { line.p, at };

	if (*t.p == '[')
		return true;
	if (slice_begins(t, PROGRAM)) {
		/* first: the blank behind a program bounds how far back the next one looks */
		if (!command_follows(t) || library_commented(line, at))
			return false;
		before.n -= library_path_before(line, at);
		before = function_before(before);
		return before.n == 0 || *before.p != '[';
	}
	return (at == 0 || !letter(line.p[at - 1])) && prefix_length(t) > 0;
}

/* The path of the program, and the function that 1.x logs in front of it. */
static size_t miopen_back(struct text_slice line, size_t at)
{
	size_t path = 0;
	struct text_slice function;

	if (line.p[at] != 'M')
		return 0;
	path = library_path_before(line, at);
	function = function_before((struct text_slice){ line.p, at - path });
	return function.n ? (size_t)(line.p + at - function.p) : path;
}

static bool miopen_prefixed(struct text_slice before)
{
	size_t n = 0;

	while (n < before.n && digit(before.p[n]))
		n++;
	before = slice_from(before, n);
	before = slice_from(before, blanks(before));
	before = slice_from(before, prefix_length(before));
	return before.n > 0 && !slice_is(before, "Command") && !slice_is(before, "MIOpen:") &&
	       !slice_is(before, "MIOpen(HIP):") && !slice_is(before, "MIOpen(OpenCL):");
}

/* ---- commands ---- */

struct miopen_verb {
	const char *family;
	enum record_is (*key)(struct miopen_command *c, struct library_key *k);
};

static const struct miopen_verb verbs[] = {
	{ "conv", miopen_conv },         { "CBAInfer", miopen_fusion },
	{ "pool", miopen_pool },         { "bnorm", miopen_pointwise },
	{ "softmax", miopen_pointwise }, { "activ", miopen_pointwise },
	{ "lrn", miopen_pointwise },     { "rnn_seq", miopen_rnn },
	{ "rnn", miopen_rnn },           { "gemm", miopen_gemm },
};

/* The type that a verb ends in; NULL: it is a verb of another name. */
static const struct element_type *verb_type(struct text_slice end)
{
	static const char *const types[][2] = {
		{ "", "f32" },     { "fp16", "f16" },     { "bfp16", "bf16" },
		{ "int8", "i8" },  { "fp8", "f8" },       { "bfp8", "bf8" },
		{ "fp64", "f64" }, { "fp16fp32", "f16" }, { "bfp16fp32", "bf16" },
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (slice_is(end, types[i][0]))
			return element_type(types[i][1], strlen(types[i][1]));
	return NULL;
}

static enum record_is verb_key(struct miopen_command *c, struct library_key *k)
{
	struct text_slice verb = c->w.verb;

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		size_t n = strlen(verbs[i].family);

		if (!slice_begins(verb, verbs[i].family))
			continue;
		c->type = verb_type(slice_from(verb, n));
		c->family = n;
		if (c->type)
			return verbs[i].key(c, k);
	}
	c->family = verb.n;
	return miopen_other(c, k);
}

/* Every option has a value, and there is nothing else. */
static bool words_are_whole(const struct library_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->v[i].value.n == 0 || w->v[i].name.p[0] != '-')
			return false;
	return w->nr > 0;
}

static bool words_ask_help(const struct library_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (slice_is(w->v[i].name, "--help") || slice_is(w->v[i].name, "-h") ||
		    slice_is(w->v[i].name, "-?"))
			return true;
	return false;
}

/* What two levels tell alike: the configuration in any direction. */
static void common_make(struct library_key *k)
{
	const char *dir = strstr(k->text.buf, " dir="), *end = dir ? strchr(dir + 1, ' ') : NULL;

	if (!dir) {
		strbuf_add(&k->common, k->text.buf, k->text.len);
		return;
	}
	strbuf_add(&k->common, k->text.buf, (size_t)(dir - k->text.buf));
	if (end)
		strbuf_addstr(&k->common, end);
}

/* "[LogCmdFindConvolution]", "miopenConvolutionForward:". false: it is a search. */
static bool function_read(struct text_slice f, struct miopen_command *c)
{
	static const struct {
		const char *name;
		unsigned direction;
	} names[] = { { "miopenConvolutionForward", MIOPEN_FWD },
		      { "miopenConvolutionBackwardData", MIOPEN_BWD_DATA },
		      { "miopenConvolutionBackwardWeights", MIOPEN_BWD_WEIGHTS } };

	c->logged = true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_begins(f, names[i].name))
			c->direction = names[i].direction;
	return !slice_begins(f, "[LogCmdFind") && !slice_begins(f, "miopenFind");
}

static enum record_is command_key(struct miopen_command *c, struct library_key *k)
{
	enum record_is is;

	if (c->w.too_many)
		return key_bad(k, "more than %d options", WORDS_MAX);
	if (words_ask_help(&c->w))
		return RECORD_INFO;
	if (!words_are_whole(&c->w) || c->w.verb.n >= sizeof(c->verb) ||
	    verb_length(c->w.verb) != c->w.verb.n || c->w.verb.n == 0)
		return RECORD_TORN;
	memcpy(c->verb, c->w.verb.p, c->w.verb.n);
	words_conflict(&c->w, &c->twice);
	is = verb_key(c, k);
	if (c->twice.n > 0)
		return key_bad(k, "%.*s stands twice", (int)(c->twice.n < 40 ? c->twice.n : 40),
			       c->twice.p);
	if (is == RECORD_CALL)
		common_make(k);
	return is;
}

static enum record_is miopen_parse(struct text_slice text, struct library_key *k)
{
	const char *program = memmem(text.p, text.n, PROGRAM, strlen(PROGRAM));
	struct miopen_command c;
	struct text_slice t = text, function;
	enum record_is is;
	size_t at, path;

	if (!program)
		return RECORD_TORN;
	command_init(&c);
	at = (size_t)(program - text.p);
	path = library_path_before(text, at);
	function = function_before((struct text_slice){ text.p, at - path });
	if (function.n ? !function_read(function, &c) : *text.p == '[')
		return function.n ? RECORD_INFO : RECORD_TORN;
	t = words_command(slice_from(text, at));
	words_split(&c.w, t);
	is = command_key(&c, k);
	k->level = c.logged ? LEVEL_BENCH : LEVEL_TRACE;
	k->config = (struct text_slice){ t.p - path, t.n + path };
	return is;
}

const struct library_parser library_parser_miopen = {
	.name = "MIOpen",
	.library = "miopen",
	.markers = { { LOGGED, false, false },
		     { PROGRAM, false, false },
		     { "MIOpen", false, true } },
	.starts = miopen_starts,
	.prefixed = miopen_prefixed,
	.echoes = true,
	.back = miopen_back,
	.parse = miopen_parse,
};
