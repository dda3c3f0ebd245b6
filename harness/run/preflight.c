#include "run_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/num.h"

#define IMAGE_TIMEOUT_MS 30000
#define HELLO_TIMEOUT_MS 120000
#define ANSWER_TIMEOUT_NS (60 * NS_PER_S)

struct preflight {
	const struct plan *pl;
	const struct run_opts *o;
	struct strvec *missing;
	const struct devices *devices;
};

/* A line "what: what to do". */
static void preflight_lacks(struct preflight *pf, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void preflight_lacks(struct preflight *pf, const char *fmt, ...)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&line, fmt, ap);
	va_end(ap);
	if (!strvec_has(pf->missing, line.buf))
		strvec_push(pf->missing, line.buf);
}

static bool check_agent(struct preflight *pf)
{
	const char *dir = pf->pl->spec.lib_dir;
	CLEANUP(xfreep) char *agent = fs_join(dir, "profrig-init");

	if (access(agent, X_OK) == 0)
		return true;
	preflight_lacks(
		pf,
		"profrig-init is neither beside this program nor in '%s': run 'make', or 'make "
		"install'",
		dir);
	return false;
}

/* --- engine and image --- */

static bool check_engine(struct preflight *pf)
{
	const struct engine *e = pf->pl->engine;
	struct err err = ERR_INIT;

	if (run_engine_answers(e, &err) == 0)
		return true;
	preflight_lacks(pf, "engine '%s' does not answer (%s): %s, or choose another with --engine",
			e->name, err.msg, engine_remedy(e, err.msg));
	return false;
}

static bool image_there(const struct plan *pl)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct proc_exit x;

	engine_ask(pl->engine, ENGINE_IMAGE, &argv, .of = pl->spec.image);
	return proc_capture(argv.v, IMAGE_TIMEOUT_MS, 0, NULL, NULL, &x, NULL) == 0 && x.code == 0;
}

/*
 * Whether the image belongs to a registry, such as the configuration's: it has been built before.
 */
static bool registry_image(const struct plan *pl)
{
	const char *registry = pl->conf->build.registry.name;
	size_t n = registry ? strlen(registry) : 0;

	/* "host:5000/…" names an image of a registry, too. */
	if (n && !strncmp(pl->spec.image, registry, n) && pl->spec.image[n] == '/')
		return true;
	n = strcspn(pl->spec.image, "/");
	return pl->spec.image[n] == '/' && memchr(pl->spec.image, ':', n);
}

/* When the pull fails, an image on this machine is used. */
static void pull_failed(struct preflight *pf, bool there, const char *why)
{
	const char *image = pf->pl->spec.image;

	if (there && pf->o->notes)
		strvec_pushf(
			pf->o->notes,
			"image '%s' could not be pulled (%.300s): the one that is here is used",
			image, why);
	else if (!there)
		preflight_lacks(pf,
				"image '%s' cannot be pulled (%.300s): build it, or check its name "
				"and your "
				"login",
				image, why);
}

static int check_image(struct preflight *pf, bool *ret_there, struct err *err)
{
	const struct plan *pl = pf->pl;
	const char *policy = pl->spec.pull ? pl->spec.pull : "missing";
	const char *docker = pl->engine->name;
	struct err why = ERR_INIT;
	int r;

	*ret_there = false;
	if (!pl->spec.image || !*pl->spec.image) {
		preflight_lacks(
			pf,
			"no image for engine '%s': state model.image or --image, or use --engine "
			"host",
			docker);
		return 0;
	}
	*ret_there = image_there(pl);
	if (pf->o->dry ? *ret_there : *ret_there && strcmp(policy, "always") != 0)
		return 0;
	if (pl->conf && pl->conf->dockerfile && !*ret_there && !registry_image(pl)) {
		preflight_lacks(pf,
				"image '%s' is not there: 'profrig run --build' builds it first",
				pl->spec.image);
		return 0;
	}
	if (!strcmp(policy, "never") || pf->o->dry) {
		preflight_lacks(pf, "image '%s' is not there: %s pull %s", pl->spec.image, docker,
				pl->spec.image);
		return 0;
	}
	r = run_pull(pl, pf->o, &why);
	if (r == -EINTR)
		return err_set(err, EINTR, "interrupted");
	if (r < 0)
		pull_failed(pf, *ret_there, why.msg);
	*ret_there |= r == 0;
	return 0;
}

/* --- needs on the workload's side --- */

struct need {
	const char *tool, *what;
};
typedef VEC(struct need) need_list;

static bool plan_lists(const struct plan *pl, const char *what)
{
	return VEC_FIND(&pl->needs, x, !strcmp(x->what, what));
}

/*
 * Libraries of the preload list: when they do not fit, the loader only warns and no trace is
 * written. That of wrap_at may not fit: programs that the workload starts by name are found without
 * it.
 */
static void preload_words(const struct plan *pl, struct strvec *words)
{
	const struct plan_step *ps = plan_workload(pl);
	const char *preload = ps ? plan_step_env(ps, "LD_PRELOAD") : NULL;
	CLEANUP(strvec_release) struct strvec all = STRVEC_INIT;

	if (preload)
		strvec_split(&all, preload, ": ");
	for (size_t i = 0; i < all.nr; i++)
		if (!plan_lists(pl, all.v[i]) && !strvec_has(words, all.v[i]) &&
		    strcmp(fs_base(all.v[i]), PLAN_WRAP_LIBRARY) != 0)
			strvec_push(words, all.v[i]);
}

/*
 * The workload's own program, behind its wrappers. NULL: there is none to check, or not yet, since
 * a script or a clone may bring it. Without a wrapper the start itself reports a missing program.
 */
static const char *program_of(const struct plan *pl)
{
	const struct plan_step *ps = plan_workload(pl);
	const struct runconf *rc = pl->conf;
	const char *program = rc && rc->command.nr ? rc->command.v[0] : NULL;

	if (!ps || !program || !*program || pl->source_dir || rc->skip_workload ||
	    strchr(program, '|') || !strvec_has(&ps->argv, program) ||
	    !strcmp(ps->argv.v[0], program))
		return NULL;
	return VEC_FIND(&pl->steps, s, s->kind == STEP_PRE && !s->tool) ? NULL : program;
}

/* The program for the probe in a container, owned; NULL: it is not probed. */
static char *program_word(const struct plan *pl)
{
	const char *program = pl->engine->container ? program_of(pl) : NULL;
	const struct plan_step *ps = plan_workload(pl);

	if (!program || !ps)
		return NULL;
	return strchr(program, '/') ? fs_join(ps->cwd, program) : xstrdup(program);
}

/* Probed beside the needs of the tools. */
static void all_words(const struct plan *pl, struct strvec *words)
{
	CLEANUP(xfreep) char *program = program_word(pl);

	preload_words(pl, words);
	if (program && !plan_lists(pl, program) && !strvec_has(words, program))
		strvec_push(words, program);
}

static json_t *probe_request(const struct plan *pl, const struct strvec *words)
{
	const struct plan_step *ps = plan_workload(pl);
	json_t *rq = json_object(), *needs = json_array(), *env = json_array();

	for (size_t i = 0; i < pl->needs.nr; i++)
		json_array_append_new(needs, json_string(pl->needs.v[i].what));
	for (size_t i = 0; i < words->nr; i++)
		json_array_append_new(needs, json_string(words->v[i]));
	/* Only the variables by which programs and libraries are found; secrets are not needed. */
	for (size_t i = 0; ps && i < ps->env.nr; i++) {
		const struct plan_env *e = &ps->env.v[i];
		CLEANUP(xfreep) char *entry = xasprintf("%s=%s", e->name, e->value);

		if (!strcmp(e->name, "PATH") || !strcmp(e->name, "LD_LIBRARY_PATH"))
			json_array_append_new(env, json_string(entry));
	}
	json_object_set_new(rq, "op", json_string("probe"));
	json_object_set_new(rq, "id", json_integer(1));
	json_object_set_new(rq, "needs", needs);
	json_object_set_new(rq, "env", env);
	json_object_set_new(rq, "inherit", json_true());
	if (ps && ps->unset.nr)
		json_object_set_new(rq, "unset", step_unset(ps));
	return rq;
}

static const char *tool_of(const struct plan *pl, const char *what)
{
	const struct plan_need *n = VEC_FIND(&pl->needs, x, !strcmp(x->what, what) && x->tool);

	return n ? n->tool : NULL;
}

/* ", use the tool 'x' instead", or NULL. */
static char *other_tools(const struct plan *pl, const char *tool)
{
	const struct strvec *names = NULL;

	for (size_t i = 0; pl->conf && i < pl->conf->tools.nr; i++)
		if (!strcmp(pl->conf->tools.v[i].tool->name, tool))
			names = &pl->conf->tools.v[i].tool->instead;
	return names && names->nr ? xasprintf(", use the tool '%s' instead", names->v[0]) : NULL;
}

static void report_need(struct preflight *pf, const char *what, const char *why)
{
	const struct plan *pl = pf->pl;
	const char *tool = tool_of(pl, what);
	bool inside = pl->engine->container;
	CLEANUP(xfreep)
	char *where =
		inside ? xasprintf("in image '%s'", pl->spec.image) : xstrdup("on this machine");
	CLEANUP(xfreep)
	char *state = why ? xasprintf("does not work %s (%s)", where, why)
			  : xasprintf("is not there %s", where);

	CLEANUP(xfreep) char *instead = tool ? other_tools(pl, tool) : NULL;
	CLEANUP(xfreep) char *program = program_word(pl);

	if (tool)
		preflight_lacks(pf, "tool '%s' needs '%s', which %s: %s%s, or leave the tool out",
				tool, what, state,
				inside ? "use an image that has it" : "install it",
				instead ? instead : "");
	else if (program && !strcmp(program, what))
		preflight_lacks(pf, "no program '%s': it %s: correct the command", program_of(pl),
				state);
	else
		preflight_lacks(pf, "'%s', which LD_PRELOAD names, %s: correct the path", what,
				state);
}

static void report_probe(struct preflight *pf, const json_t *ev)
{
	const json_t *why = json_object_get(ev, "why"), *m;
	size_t i;

	json_array_foreach(json_object_get(ev, "missing"), i, m)
	{
		const char *what = json_string_value(m);

		if (what)
			report_need(pf, what, json_string_value(json_object_get(why, what)));
	}
}

static int ask_agent(struct preflight *pf, struct agent_link *l, const struct strvec *words,
		     struct err *err)
{
	int64_t until = clock_monotonic_ns() + ANSWER_TIMEOUT_NS;
	json_t *ev;
	int r = link_send(l, probe_request(pf->pl, words), err);

	while (r >= 0 && clock_monotonic_ns() < until) {
		bool answer;

		r = link_next(l, 250, &ev, err);
		if (r <= 0)
			continue;
		answer = !strcmp(event_name(ev), "probe");
		if (answer)
			report_probe(pf, ev);
		json_decref(ev);
		if (answer)
			return 0;
	}
	return r < 0 ? r : err_set(err, ETIMEDOUT, "profrig-init gave no answer");
}

int preflight_needs(const struct plan *pl, const struct run_opts *o, struct agent_link *l,
		    struct strvec *missing, struct err *err)
{
	struct preflight pf = { .pl = pl, .o = o, .missing = missing };
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	size_t before = missing->nr;
	int r = 0;

	all_words(pl, &words);
	if (pl->needs.nr + words.nr > 0)
		r = ask_agent(&pf, l, &words, err);
	return r < 0 ? r : (int)(missing->nr - before);
}

/* The start of the run, without its directory and under another name. */
static int probe_argv(const struct preflight *pf, char *name, struct strvec *argv, struct err *err)
{
	const struct plan *pl = pf->pl;
	struct engine_spec spec = pl->spec;

	spec.run_dir = NULL;
	spec.keep = false;
	spec.name = name;
	/* A missing device was reported; the rest can still be probed. */
	if (devices_vendor(pf->devices) == GPU_NONE)
		spec.gpus = NULL;
	return pl->engine->start(&spec, argv, err);
}

static void forget_container(const struct preflight *pf, const char *name)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	struct proc_exit x;

	if (!pf->pl->engine->words[ENGINE_REMOVE])
		return;
	engine_ask(pf->pl->engine, ENGINE_REMOVE, &argv, .of = name);
	proc_capture(argv.v, IMAGE_TIMEOUT_MS, 0, NULL, NULL, &x, NULL);
}

struct run_prober {
	struct agent_link link;
	bool up;
};

struct run_prober *run_prober_new(void)
{
	struct run_prober *p = xcalloc(1, sizeof(*p));

	p->link = (struct agent_link)AGENT_LINK_INIT;
	return p;
}

static void prober_stop(struct run_prober *p)
{
	if (p->up)
		link_end(&p->link);
	link_release(&p->link);
	p->up = false;
}

void run_prober_free(struct run_prober *p)
{
	if (p)
		prober_stop(p);
	free(p);
}

static int ask_prober(struct preflight *pf, char *const *argv, const struct strvec *words,
		      struct err *err)
{
	struct run_prober *p = pf->o->prober;
	json_t *hello = NULL;
	int r = 0;

	if (!p->up) {
		r = link_open(&p->link, argv, err);
		p->up = r == 0;
		if (r == 0)
			r = link_hello(&p->link, HELLO_TIMEOUT_MS, pf->o->interrupt, &hello, err);
		json_decref(hello);
	}
	if (r == 0)
		r = ask_agent(pf, &p->link, words, err);
	if (r < 0)
		prober_stop(p);
	return r;
}

static int ask_probe(struct preflight *pf, char *const *argv, const char *name,
		     const struct strvec *words, struct err *err)
{
	struct agent_link l;
	json_t *hello = NULL;
	int r = link_open(&l, argv, err);

	if (r < 0)
		return r;
	r = link_hello(&l, HELLO_TIMEOUT_MS, pf->o->interrupt, &hello, err);
	json_decref(hello);
	if (r == 0)
		r = ask_agent(pf, &l, words, err);
	link_end(&l);
	if (r < 0)
		forget_container(pf, name);
	link_release(&l);
	return r;
}

static int check_needs(struct preflight *pf, struct err *err)
{
	const struct plan *pl = pf->pl;
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT, words = STRVEC_INIT;
	CLEANUP(xfreep)
	char *name = xasprintf("%s-probe", pl->spec.name ? pl->spec.name : "profrig");
	struct registration reg = REGISTRATION_INIT;
	struct err why = ERR_INIT;
	int r;

	all_words(pl, &words);
	/*
	 * On the host only needs are probed; a container is also started to see whether it starts.
	 */
	if (!pl->engine->container && pl->needs.nr + words.nr == 0)
		return 0;
	r = probe_argv(pf, name, &argv, err);
	if (r < 0)
		return r;
	/* Registered like a run: when profrig is killed here, a container is left, too. */
	if (pl->engine->container)
		registry_enter(pl, &reg, NULL);
	if (pf->o->prober && !pl->engine->container)
		r = ask_prober(pf, argv.v, &words, &why);
	else
		r = ask_probe(pf, argv.v, name, &words, &why);
	registry_leave(&reg);
	if (r == -EINTR)
		return err_set(err, EINTR, "interrupted");
	if (r < 0 && pl->engine->container)
		preflight_lacks(pf,
				"a container of image '%s' does not start (%s %s): try '%s run "
				"--rm %s true'",
				pl->spec.image, pl->engine->name, why.msg, pl->engine->name,
				pl->spec.image);
	else if (r < 0)
		preflight_lacks(
			pf,
			"profrig-init does not start (%s): run 'make', or install profrig again",
			why.msg);
	return 0;
}

/* --- this machine --- */

static bool check_mounts(struct preflight *pf)
{
	const struct engine_spec *s = &pf->pl->spec;
	bool all = true;

	for (size_t i = 0; pf->pl->engine->container && i < s->mounts.nr; i++) {
		if (fs_exists(s->mounts.v[i].host))
			continue;
		preflight_lacks(
			pf,
			"mount '%s' does not exist on this machine: create it, or correct the path",
			s->mounts.v[i].host);
		all = false;
	}
	return all;
}

/* GPUs that are selected by number. */
static void check_gpu_list(struct preflight *pf)
{
	const struct runconf *rc = pf->pl->conf;
	enum gpu_vendor v = gpu_vendor_of(pf->pl->spec.gpu_vendor);
	size_t count;

	v = v ? v : devices_vendor(pf->devices);
	count = devices_count(pf->devices, v);
	for (size_t i = 0; rc && count && i < rc->gpu_list.nr; i++)
		if (!devices_gpu(pf->devices, v, rc->gpu_list.v[i]))
			preflight_lacks(
				pf,
				"gpus: GPU %d is not here (there are %zu, from 0): correct 'gpus'",
				rc->gpu_list.v[i], count);
}

static void check_vendor(struct preflight *pf, const struct tool *t)
{
	enum gpu_vendor v = gpu_vendor_of(t->vendor), here = devices_vendor(pf->devices);
	const char *why;

	/* The sampler's source reports its own needs better. */
	if (v == GPU_NONE || t->sampler_kind || devices_usable(pf->devices, v, &why))
		return;
	preflight_lacks(pf,
			"tool '%s' is for %s GPUs and none can be used here (%s%s): leave it out, "
			"run where "
			"there is one, or --force-tools",
			t->name, v == GPU_AMD ? "AMD" : "NVIDIA", why,
			here == GPU_AMD      ? "; there are AMD's"
			: here == GPU_NVIDIA ? "; there are NVIDIA's"
					     : "");
}

static void check_gpus(struct preflight *pf)
{
	const struct runconf *rc = pf->pl->conf;

	if (pf->pl->spec.gpus && devices_vendor(pf->devices) == GPU_NONE)
		preflight_lacks(
			pf,
			"gpus: no GPU can be used here (%s; %s): leave 'gpus' out, or run where "
			"there is one",
			pf->devices->amd_why, pf->devices->nvidia_why);
	check_gpu_list(pf);
	for (size_t i = 0; rc && !rc->force_tools && i < rc->tools.nr; i++)
		check_vendor(pf, rc->tools.v[i].tool);
}

/* The kernel would silently ignore processors that do not exist. */
static void check_cpus(struct preflight *pf)
{
	CLEANUP(strvec_release) struct strvec words = STRVEC_INIT;
	long have = sysconf(_SC_NPROCESSORS_CONF);
	const char *cpus = pf->pl->spec.cpus;
	const char *last;
	uint64_t n;

	if (!cpus || have < 1)
		return;
	strvec_split(&words, cpus, ",-");
	last = words.v[words.nr - 1];
	if (num_u64(last, strlen(last), &n) == 0 && n >= (uint64_t)have)
		preflight_lacks(
			pf,
			"cpus: processor %s is not here (there are %ld, from 0): correct 'cpus'",
			last, have);
}

/* Privileges that a tool needs and the container does not grant. */
static void check_privileges(struct preflight *pf)
{
	for (size_t i = 0; i < pf->pl->privileges.nr; i++) {
		const struct plan_privilege *p = &pf->pl->privileges.v[i];

		if (p->by || p->wanted)
			continue;
		preflight_lacks(
			pf,
			"tool '%s' needs %s %s in a container (%s): add --privileged-profiling, "
			"which gives this run's tools what they declare and nothing else",
			p->tool, p->security ? "the security option" : "the capability", p->what,
			p->why ? p->why : "its file says so");
	}
}

static void check_samplers(struct preflight *pf)
{
	for (size_t i = 0; i < pf->pl->samplers.nr; i++) {
		const struct plan_sampler *ps = &pf->pl->samplers.v[i];
		struct err why = ERR_INIT;
		CLEANUP(xfreep) char *what = NULL;

		if (run_sampler_probe(ps, &why) == 0)
			continue;
		what = strcmp(ps->kind, "auto") == 0
			       ? xstrdup("no sampler of a GPU works here")
			       : xasprintf("sampler '%s' does not work here", ps->kind);
		preflight_lacks(pf, "tool '%s': %s (%s): leave it out, or see 'profrig doctor'",
				ps->tool, what, why.msg);
	}
}

/*
 * Checked here, as wrappers give poor messages about a program that cannot be started. The search
 * is the step's: its PATH and its folder.
 */
static void check_program(struct preflight *pf)
{
	const struct plan_step *ps = plan_workload(pf->pl);
	const char *program = program_of(pf->pl), *search = getenv("PATH");
	CLEANUP(xfreep) char *path = NULL;

	if (!program || pf->pl->engine->container || pf->o->prober || !fs_is_dir(ps->cwd))
		return;
	if (plan_step_env(ps, "PATH"))
		search = plan_step_env(ps, "PATH");
	if (strchr(program, '/')) {
		path = fs_join(ps->cwd, program);
		if (!fs_exists(path))
			preflight_lacks(pf, "no program '%s' (in %s): correct the command", program,
					ps->cwd);
		else if (access(path, X_OK) < 0 || fs_is_dir(path))
			preflight_lacks(
				pf,
				"'%s' (in %s) may not be executed: 'chmod +x' it, or name the "
				"program that reads it",
				program, ps->cwd);
	} else if (search) {
		path = fs_which(program, search);
		if (!path)
			preflight_lacks(
				pf,
				"no program '%s' in PATH: correct the command, or name it with its "
				"folder",
				program);
	}
}

/* Whether the start of the run's own container can replace the remaining checks. */
static bool may_be_tried(const struct plan *pl)
{
	const char *policy = pl->spec.pull ? pl->spec.pull : "missing";

	return pl->engine->container && pl->spec.image && *pl->spec.image &&
	       strcmp(policy, "always") != 0;
}

int run_preflight(const struct plan *pl, const struct run_opts *o, struct strvec *missing,
		  struct err *err)
{
	CLEANUP(devices_release) struct devices found = { .gpus = VEC_INIT };
	struct preflight pf = { pl, o, missing, pl->devices ? pl->devices : &found };
	size_t before = missing->nr;
	bool there = true, mounts, agent;
	int r = 0;

	if (o->events.phase)
		o->events.phase(o->events.ctx, "probe");
	run_disk_room(pl, missing);
	agent = check_agent(&pf);
	mounts = check_mounts(&pf);
	if (!pl->devices)
		devices_find(&found, devices_root());
	check_gpus(&pf);
	check_cpus(&pf);
	check_privileges(&pf);
	check_samplers(&pf);
	check_program(&pf);
	r = run_data_check(pl, o, missing, NULL);
	if (r < 0)
		return err_set(err, EINTR, "interrupted");
	if (o->quick && missing->nr == before && may_be_tried(pl))
		return 0;
	if (!check_engine(&pf))
		return (int)(missing->nr - before);
	if (pl->engine->container)
		r = check_image(&pf, &there, err);
	/* With a missing mount or agent the engine would report only that. */
	if (r == 0 && there && mounts && agent && !(o->dry && pl->engine->container))
		r = check_needs(&pf, err);
	return r < 0 ? r : (int)(missing->nr - before);
}
