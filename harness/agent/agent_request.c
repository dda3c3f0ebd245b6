#include "agent_priv.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

#define MAX_WAIT_MS INT64_C(3600000)

int request_strings(const json_t *rq, const char *key, struct strvec *out, struct err *err)
{
	const json_t *list = json_object_get(rq, key);

	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return err_set(err, EINVAL, "'%s' is not a list", key);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *s = json_string_value(json_array_get(list, i));

		if (!s)
			return err_set(err, EINVAL, "'%s'[%zu] is not a string", key, i);
		strvec_push(out, s);
	}
	return 0;
}

static size_t name_len(const char *entry)
{
	return strcspn(entry, "=");
}

static void env_put(struct strvec *env, const char *entry)
{
	size_t n = name_len(entry);

	for (size_t i = 0; i < env->nr; i++) {
		if (strncmp(env->v[i], entry, n) != 0 || env->v[i][n] != '=')
			continue;
		strvec_remove(env, i);
		break;
	}
	strvec_push(env, entry);
}

const char *env_get(const struct strvec *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->nr; i++)
		if (!strncmp(env->v[i], name, n) && env->v[i][n] == '=')
			return env->v[i] + n + 1;
	return NULL;
}

static bool env_names(const struct strvec *names, const char *entry)
{
	size_t n = name_len(entry);

	for (size_t i = 0; i < names->nr; i++)
		if (!strncmp(names->v[i], entry, n) && !names->v[i][n])
			return true;
	return false;
}

int request_env(const json_t *rq, struct strvec *out, struct err *err)
{
	CLEANUP(strvec_release) struct strvec set = STRVEC_INIT, unset = STRVEC_INIT;
	bool inherit = json_is_true(json_object_get(rq, "inherit"));
	int r = request_strings(rq, "env", &set, err);

	if (r == 0)
		r = request_strings(rq, "unset", &unset, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < unset.nr; i++)
		if (!*unset.v[i] || strchr(unset.v[i], '='))
			return err_set(err, EINVAL, "'unset'[%zu] is no name", i);
	for (char **e = environ; inherit && *e; e++)
		if (!env_names(&unset, *e))
			strvec_push(out, *e);
	for (size_t i = 0; i < set.nr; i++) {
		size_t n = name_len(set.v[i]);

		if (n == 0 || set.v[i][n] != '=')
			return err_set(err, EINVAL, "'env'[%zu] is not NAME=value", i);
		env_put(out, set.v[i]);
	}
	return 0;
}

static int64_t request_int(const json_t *rq, const char *key, int64_t def)
{
	const json_t *v = json_object_get(rq, key);

	return json_is_integer(v) ? (int64_t)json_integer_value(v) : def;
}

static int64_t request_ms(const json_t *rq, const char *key, int64_t def)
{
	int64_t v = request_int(rq, key, def);

	return v < 0 ? 0 : v > MAX_WAIT_MS ? MAX_WAIT_MS : v;
}

static void op_probe(struct agent *a, int64_t id, const json_t *rq)
{
	CLEANUP(strvec_release) struct strvec needs = STRVEC_INIT, env = STRVEC_INIT;
	struct err err = ERR_INIT;

	if (request_strings(rq, "needs", &needs, &err) < 0 || request_env(rq, &env, &err) < 0) {
		event_error(&a->out, "probe %lld: %s", (long long)id, err.msg);
		return;
	}
	/* A probe without an environment uses the agent's. */
	if (env.nr == 0)
		strvec_pushv(&env, environ);
	probe_needs(a, id, &needs, &env);
}

static void op_signal(struct agent *a, int64_t id, const json_t *rq, bool forward)
{
	int64_t sig = request_int(rq, "sig", 0);
	int index = step_find(a, id);

	if (index < 0)
		event_error(&a->out, "signal: no step %lld", (long long)id);
	else if (sig < 1 || sig >= NSIG)
		event_error(&a->out, "signal: %lld is not a signal", (long long)sig);
	else if (forward)
		step_forward(a, index, (int)sig);
	else
		step_signal(a, index, (int)sig);
}

static void op_reap(struct agent *a, int64_t id, const json_t *rq)
{
	int index = step_find(a, id);

	if (index < 0)
		event_error(&a->out, "reap: no step %lld", (long long)id);
	else
		kill_tree_of_step(a, id, index, request_ms(rq, "wait_ms", 0),
				  request_ms(rq, "grace_ms", 200));
}

/* Files of a workload that runs as root in the container would belong to root on the host. */
static void op_own(struct agent *a, int64_t id, const json_t *rq)
{
	const char *dir = json_string_value(json_object_get(rq, "dir"));
	struct fs_owned owned = { 0 };
	struct event ev;

	if (dir && *dir == '/')
		fs_own_below(dir, request_int(rq, "since_ns", 0), &owned);
	event_begin(&ev, "owned");
	json_i64(&ev.j, "id", id);
	json_u64(&ev.j, "changed", owned.changed);
	json_u64(&ev.j, "failed", owned.failed);
	event_end(&ev, &a->out);
}

/* Held before the first step, after which the name may lead elsewhere. */
static void op_hold(struct agent *a, const json_t *rq)
{
	const char *dir = json_string_value(json_object_get(rq, "dir"));
	struct err err = ERR_INIT;

	if (!dir)
		event_error(&a->out, "request 'hold' without 'dir'");
	else if (door_hold(dir, &err) < 0)
		event_error(&a->out, "%s", err.msg);
}

/* No other request is served before, as its events could not carry the key. */
static void op_key(struct agent *a, const json_t *rq)
{
	const char *key = json_string_value(json_object_get(rq, "key"));

	if (*a->out.key) {
		event_error(&a->out, "request 'key' again");
	} else if (!key || strlen(key) != AGENT_KEY_LEN ||
		   strspn(key, "0123456789abcdef") != AGENT_KEY_LEN) {
		fputs("profrig-init: the first request brings no key\n", stderr);
		a->done = true;
	} else {
		memcpy(a->out.key, key, AGENT_KEY_LEN + 1);
		say_hello(a);
	}
}

static void carry_out(struct agent *a, const json_t *rq)
{
	const char *op = json_string_value(json_object_get(rq, "op"));
	int64_t id = request_int(rq, "id", -1);

	if (!*a->out.key || (op && !strcmp(op, "key")))
		op_key(a, rq);
	else if (!op)
		event_error(&a->out, "request without 'op'");
	else if (!strcmp(op, "end"))
		kill_tree_whole(a);
	else if (id < 0)
		event_error(&a->out, "request '%.64s' without 'id'", op);
	else if (!strcmp(op, "probe"))
		op_probe(a, id, rq);
	else if (!strcmp(op, "start"))
		step_start(a, id, rq);
	else if (!strcmp(op, "signal"))
		op_signal(a, id, rq, false);
	else if (!strcmp(op, "forward"))
		op_signal(a, id, rq, true);
	else if (!strcmp(op, "reap"))
		op_reap(a, id, rq);
	else if (!strcmp(op, "own"))
		op_own(a, id, rq);
	else if (!strcmp(op, "hold"))
		op_hold(a, rq);
	else
		event_error(&a->out, "unknown request '%.64s'", op);
}

static void one_line(struct agent *a, const char *line, size_t n)
{
	json_error_t jerr;
	json_t *rq;

	while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' '))
		n--;
	if (n == 0 || a->ending)
		return;
	rq = json_loadb(line, n, JSON_REJECT_DUPLICATES, &jerr);
	if (!rq)
		event_error(&a->out, "not JSON: %s", jerr.text);
	else if (!json_is_object(rq))
		event_error(&a->out, "request is not an object");
	else
		carry_out(a, rq);
	json_decref(rq);
}

void requests_feed(struct agent *a, const char *data, size_t n)
{
	while (n > 0) {
		const char *end = memchr(data, '\n', n);
		size_t len = end ? (size_t)(end - data) : n;

		if (!a->skipping && a->in.len + len > AGENT_MAX_LINE) {
			event_error(&a->out, "request over %zu bytes", AGENT_MAX_LINE);
			a->skipping = true;
			strbuf_release(&a->in);
		}
		if (!a->skipping)
			strbuf_add(&a->in, data, len);
		if (!end)
			return;
		if (!a->skipping)
			one_line(a, a->in.buf, a->in.len);
		strbuf_clear(&a->in);
		a->skipping = false;
		data = end + 1;
		n -= len + 1;
	}
}
