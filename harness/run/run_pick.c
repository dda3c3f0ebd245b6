#include "run_priv.h"

#include <errno.h>
#include <string.h>

#define PROBE_TIMEOUT_MS 10000

int run_engine_answers(const struct engine *e, struct err *err)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	struct proc_exit x;
	int r;

	if (!e->container)
		return 0;
	engine_ask(e, ENGINE_PROBE, &argv);
	r = proc_question(argv.v, PROBE_TIMEOUT_MS, 65536, &out, &errs, &x, err);
	if (r < 0)
		return r;
	strbuf_rtrim(&errs);
	if (x.code != 0)
		return err_set(err, EHOSTDOWN, "%.300s",
			       errs.len ? errs.buf : "it does not answer");
	return 0;
}

static const struct engine *pick_auto(const char *image, char **ret_notice)
{
	CLEANUP(strbuf_release) struct strbuf tried = STRBUF_INIT;

	for (size_t i = 0; engines[i]; i++) {
		struct err why = ERR_INIT;

		if (!engines[i]->container || engines[i]->never_auto)
			continue;
		if (!image)
			continue;
		if (run_engine_answers(engines[i], &why) == 0)
			return engines[i];
		strbuf_addf(&tried, "%s%s: %s", tried.len ? "; " : "", engines[i]->name, why.msg);
	}
	if (image)
		*ret_notice = xasprintf(
			"no container engine answers, so the model runs on the host and image '%s' "
			"is not used (%s)",
			image, tried.buf);
	return engine_find("host");
}

const struct engine *run_pick_engine(const char *name, const char *image, char **ret_notice,
				     struct err *err)
{
	CLEANUP(strbuf_release) struct strbuf known = STRBUF_INIT;
	const struct engine *e;

	*ret_notice = NULL;
	if (!name || !strcmp(name, "auto"))
		return pick_auto(image, ret_notice);
	e = engine_find(name);
	if (e)
		return e;
	for (size_t i = 0; engines[i]; i++)
		strbuf_addf(&known, ", %s", engines[i]->name);
	err_set(err, ENOENT, "no engine '%s': there are auto%s", name, known.buf);
	return NULL;
}
