/*
 * The parts of a Dockerfile that matter before it is built:
 *
 *	# CONTEXT {'gpu_vendor': 'AMD'}		in the first five lines: for which context
 *	ARG NAME[=DEFAULT] …			arguments that may be given
 *	FROM [--platform=…] IMAGE [AS NAME]	the base image
 *	RUN --mount=type=secret,…		whether it needs secrets
 *
 * Instructions have any case; '\' at a line's end continues it (unless "# escape=`" names another
 * sign), and comment lines in between are skipped. The rest is left to the builder, which parses
 * it.
 */
#include "image_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profrig/base/fields.h"
#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"
#include "profrig/base/text.h"

#define MAX_DOCKERFILE ((size_t)4 << 20)
#define CONTEXT_LINES 5

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t\r\v\f");
}

static void add_arg(struct dockerfile *d, const char *word, size_t n, unsigned line)
{
	CLEANUP(xfreep) char *text = xstrndup(word, n);
	char *eq = strchr(text, '='), *value = NULL;

	if (eq) {
		size_t len;

		*eq++ = '\0';
		len = strlen(eq);
		if (len >= 2 && (*eq == '"' || *eq == '\'') && eq[len - 1] == *eq) {
			eq[len - 1] = '\0';
			eq++;
		}
		value = xstrdup(eq);
	}
	VEC_PUSH(&d->args,
		 ((struct conf_word){ STEAL(text), value, xasprintf("%s:%u", d->path, line) }));
}

static void arg_words(struct dockerfile *d, const char *s, unsigned line)
{
	while (*(s = skip_blanks(s))) {
		size_t n = 0;
		char quote = '\0';

		for (; s[n] && (quote || !isspace((unsigned char)s[n])); n++)
			if (quote ? s[n] == quote : strchr("\"'", s[n]) != NULL)
				quote = quote ? '\0' : s[n];
		add_arg(d, s, n, line);
		s += n;
	}
}

static void from_words(struct dockerfile *d, const char *s)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;

	strvec_split(&words, s, " \t");
	for (size_t i = 0; i < words.nr; i++) {
		if (!strncmp(words.v[i], "--", 2))
			continue;
		free(d->from);
		d->from = xstrdup(words.v[i]);
		return;
	}
}

static void dockerfile_instruction(struct dockerfile *d, const char *s, unsigned line)
{
	s = skip_blanks(s);
	if (!strncasecmp(s, "ARG", 3) && isspace((unsigned char)s[3]))
		arg_words(d, s + 3, line);
	else if (!strncasecmp(s, "FROM", 4) && isspace((unsigned char)s[4]))
		from_words(d, s + 4);
	else if (!strncasecmp(s, "RUN", 3) && isspace((unsigned char)s[3]))
		d->secrets |= strstr(s, "--mount=") && strstr(s, "type=secret");
}

static int context_line(struct dockerfile *d, const char *s, unsigned line, struct err *err)
{
	CLEANUP(xfreep) char *where = xasprintf("%s:%u", d->path, line);
	int r;

	if (*s != '#')
		return 0;
	s = skip_blanks(s + 1);
	if (strncmp(s, "CONTEXT", 7) != 0 || !strchr(" \t{", s[7]) || !s[7] || d->context.root)
		return 0;
	s = skip_blanks(s + 7);
	/* A map of texts as Python writes it is valid YAML, too. */
	r = cfg_parse_text(&d->context, s, strlen(s), where, false, LAYER_MODEL, err);
	if (r < 0)
		return err_set(err, EINVAL,
			       "%s: CONTEXT wants {'key': 'value', …} in one line, not '%.100s'",
			       where, s);
	return 0;
}

int dockerfile_parse(struct dockerfile *d, char *text, struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT;
	unsigned line = 0, began = 1;
	char *save = text, *s;
	char escape = '\\';
	int r = 0;

	while (r == 0 && (s = strsep(&save, "\n"))) {
		size_t n = strlen(s);

		line++;
		while (n > 0 && isspace((unsigned char)s[n - 1]))
			s[--n] = '\0';
		if (line <= CONTEXT_LINES)
			r = context_line(d, skip_blanks(s), line, err);
		if (!strncasecmp(s, "# escape=`", 10) && line <= CONTEXT_LINES)
			escape = '`';
		if (*skip_blanks(s) == '#')
			continue;
		if (!whole.len)
			began = line;
		if (n > 0 && s[n - 1] == escape) {
			s[n - 1] = ' ';
			strbuf_addstr(&whole, s);
			continue;
		}
		strbuf_addstr(&whole, s);
		dockerfile_instruction(d, whole.buf, began);
		strbuf_clear(&whole);
	}
	return r;
}

/* The context that the Dockerfile asks for instead; owned, NULL: it fits. */
static char *dockerfile_misfit(const struct dockerfile *d, const struct build_conf *b)
{
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;

	CFG_EACH(n, d->context.root, CFG_MAP) {
		for (size_t k = 0; k < b->context.nr; k++)
			if (!strcmp(b->context.v[k].name, n->key) && n->s &&
			    strcasecmp(b->context.v[k].value, n->s) != 0)
				strbuf_addf(&why, "%s%s %s", why.len ? " and " : "wants ", n->key,
					    n->s);
	}
	return why.len ? strbuf_steal(&why) : NULL;
}

static int dockerfile_look_at(struct dockerfiles *all, const char *path, const struct build_conf *b,
			      struct err *err)
{
	struct dockerfile d = { .path = xstrdup(path) };
	CLEANUP(xfreep) char *text = NULL;
	size_t n;
	int r;

	cfg_init(&d.context);
	r = fs_read(path, MAX_DOCKERFILE, &text, &n, err);
	if (r == 0)
		r = dockerfile_parse(&d, text, err);
	if (r == 0)
		d.why = dockerfile_misfit(&d, b);
	VEC_PUSH(&all->v, d);
	return r;
}

static bool is_dockerfile_name(const char *name)
{
	return !strcmp(name, "Dockerfile") || !strncmp(name, "Dockerfile.", 11) ||
	       text_suffix(name, ".Dockerfile");
}

/* Files of editors, and lists of files that a build context leaves out. */
static bool is_leftover(const char *name)
{
	return text_suffix(name, "~") || text_suffix(name, ".bak") || text_suffix(name, ".orig") ||
	       text_suffix(name, ".dockerignore");
}

static int dockerfile_candidates(const char *path, struct strvec *to, struct err *err)
{
	bool folder = fs_is_dir(path);
	CLEANUP(xfreep) char *dir = folder ? xstrdup(path) : fs_dir(path);
	CLEANUP(xfreep) char *prefix = xasprintf("%s.", fs_base(path));
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;
	int r;

	if (fs_is_file(path)) {
		strvec_push(to, path);
		return 0;
	}
	r = fs_list(dir, &names, err);
	for (size_t i = 0; r == 0 && i < names.nr; i++) {
		CLEANUP(xfreep) char *full = fs_join(dir, names.v[i]);

		if (!is_leftover(names.v[i]) && fs_is_file(full) &&
		    (folder ? is_dockerfile_name(names.v[i])
			    : !strncmp(names.v[i], prefix, strlen(prefix))))
			strvec_push(to, full);
	}
	if (r < 0 || to->nr)
		return r;
	if (folder)
		return err_set(err, ENOENT, "folder '%s' holds no Dockerfile", path);
	return err_set(err, ENOENT, "there is neither '%s' nor '%s.*'", path, path);
}

int dockerfiles_find(const char *path, const struct build_conf *b, struct dockerfiles *ret,
		     struct err *err)
{
	CLEANUP(strvec_release) struct strvec paths = STRVEC_INIT;
	int r;

	*ret = (struct dockerfiles){ .v = VEC_INIT };
	r = dockerfile_candidates(path, &paths, err);
	for (size_t i = 0; r == 0 && i < paths.nr; i++)
		r = dockerfile_look_at(ret, paths.v[i], b, err);
	return r;
}

FIELD_TABLE(arg_fields, TEXT_FIELDS(struct conf_word, name, value, origin));
FIELD_TABLE(file_fields, TEXT_FIELDS(struct dockerfile, path, why, from),
	    FIELD_VEC(struct dockerfile, args, arg_fields));

void dockerfile_release(struct dockerfile *d)
{
	fields_release(d, file_fields);
	cfg_release(&d->context);
}

void dockerfiles_release(struct dockerfiles *all)
{
	for (size_t i = 0; i < all->v.nr; i++)
		dockerfile_release(&all->v.v[i]);
	VEC_RELEASE(&all->v);
}

const char *dockerfile_arg(const struct dockerfile *d, const struct build_conf *b, const char *name)
{
	const struct conf_word *given = VEC_FIND(&b->args, x, !strcmp(x->name, name));
	const struct conf_word *own = VEC_FIND(&d->args, x, !strcmp(x->name, name) && x->value);

	return given ? given->value : own ? own->value : NULL;
}
