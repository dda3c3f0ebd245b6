/*
 * get_models_json.py. Such a script imports CustomModel from madengine and returns objects of it,
 * so list_models.py provides a class of that name when madengine is not installed. Output of the
 * script goes to stderr, so that stdout holds only profrig's JSON.
 */
#include "mad_int.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"

#define SCRIPT_TIMEOUT_MS 60000
#define MAX_OUTPUT ((size_t)4 << 20)
#define MAX_WORDS 2000

/* list_models.py (mk/embed.mk). argv: the script, the package's folder, NAME to update or "". */
extern const char embedded_list_models_py[];

/* The entries come from a script, so they have no lines. */
static void drop_lines(struct cfg_node *n)
{
	n->line = 0;
	for (size_t i = 0; i < n->nr; i++)
		drop_lines(n->child[i]);
}

/* The script's output, on lines of their own below the message; only the end when it is long. */
static void add_words(struct strbuf *sb, struct strbuf *said)
{
	const char *text = said->buf;

	strbuf_rtrim(said);
	if (said->len > MAX_WORDS) {
		text = said->buf + said->len - MAX_WORDS;
		text = strchr(text, '\n') ? strchr(text, '\n') + 1 : text;
		strbuf_addstr(sb, "\n    …");
	}
	while (*text) {
		size_t n = strcspn(text, "\n");

		strbuf_addf(sb, "\n    %.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static int script_failed(const char *shown, const struct proc_exit *x, struct strbuf *errs,
			 struct strbuf *why)
{
	const char *name = proc_signal_name(x->signal);

	if (x->signal)
		strbuf_addf(why, "%s: was killed by %s", shown, name ? name : "a signal");
	else
		strbuf_addf(why, "%s: failed (status %d)", shown, x->code);
	add_words(why, errs);
	return -EIO;
}

int mad_script_list(const char *path, const char *shown, const char *dir, const char *name,
		    struct cfg *ret, struct strvec *notes, struct strbuf *why)
{
	/* unbuffered: the script's output and Python's messages stay in order */
	char *argv[] = { (char *)"python3",
			 (char *)"-uc",
			 (char *)embedded_list_models_py,
			 (char *)path,
			 (char *)dir,
			 (char *)(name ? name : ""),
			 NULL };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct proc_exit x = { .code = -1 };
	int r = proc_capture(argv, SCRIPT_TIMEOUT_MS, MAX_OUTPUT, &out, &errs, &x, &err);

	cfg_init(ret);
	if (r == -ETIMEDOUT) {
		strbuf_addf(why, "%s: took longer than %d s", shown, SCRIPT_TIMEOUT_MS / 1000);
		add_words(why, &errs);
		return r;
	}
	if (r < 0) {
		strbuf_addf(why, "%s: %s", shown, err.msg);
		return r;
	}
	if (x.code != 0)
		return script_failed(shown, &x, &errs, why);
	r = out.overflow
		    ? err_set(&err, EFBIG, "%s: more than %zu bytes of models", shown, MAX_OUTPUT)
		    : cfg_parse_value(ret, out.buf, out.len, shown, CFG_JSON, LAYER_MODEL, &err);
	if (r < 0) {
		strbuf_addstr(why, err.msg);
		add_words(why, &errs);
		return r;
	}
	mad_drop_comments(ret->root);
	drop_lines(ret->root);
	if (errs.len > 0) {
		CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT;

		strbuf_addf(&note, "%s: it printed", shown);
		add_words(&note, &errs);
		if (!strvec_has(notes, note.buf))
			strvec_push(notes, note.buf);
	}
	return 0;
}
