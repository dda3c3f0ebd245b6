#include "run_campaign.h"
#include "baseline.h"
#include "overhead_show.h"
#include "publish_run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/progress.h"
#include "profrig/readers/reader.h"

static int check_artifact(const char *path, const char *reader, uint64_t min_records,
			  struct run_verdict *ret, struct err *err)
{
	struct artifact_check a;

	(void)err;
	reader_check(path, reader, min_records, &a);
	*ret = (struct run_verdict){
		.unread = a.unread,
		.records = a.records,
		.first_ns = a.first_ns,
		.last_ns = a.last_ns,
	};
	snprintf(ret->verdict, sizeof(ret->verdict), "%s", a.verdict);
	snprintf(ret->reader, sizeof(ret->reader), "%s", a.reader);
	snprintf(ret->reason, sizeof(ret->reason), "%s", a.reason);
	return 0;
}

/* ctx: whether live output of the workload ended in the middle of a line. */
static void on_phase(void *ctx, const char *phase)
{
	bool *mid_line = ctx;

	if (*mid_line && progress_heard(0)) {
		fputc('\n', stderr);
		*mid_line = false;
	}
	progress_phase("%s", phase);
}

static void on_tick(void *ctx)
{
	(void)ctx;
	progress_tick();
}

static void on_note(void *ctx, const char *text)
{
	(void)ctx;
	progress_note(text);
}

static void on_bytes(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	progress_total(total);
	progress_update(done);
}

/* A writable pipe or terminal mostly takes PIPE_BUF bytes without blocking. */
static size_t on_output(void *ctx, const char *text, size_t n)
{
	struct pollfd p = { .fd = 2, .events = POLLOUT };
	bool *mid_line = ctx;
	size_t at = 0;

	while (at < n && poll(&p, 1, 0) > 0) {
		size_t part = n - at < PIPE_BUF ? n - at : PIPE_BUF;
		ssize_t w = write(2, text + at, part);
		if (w < 0 && errno == EINTR)
			break;
		if (w <= 0) /* it cannot be written any more */
			return n;
		at += (size_t)w;
	}
	if (at > 0)
		*mid_line = text[at - 1] != '\n';
	return at;
}

static void print_json(const struct prepared *p, const struct run_result *r, int code)
{
	struct json_out j;

	json_out_init(&j, stdout, 0);
	json_obj(&j, NULL);
	json_str(&j, "id", p->run_id);
	json_str(&j, "run_dir", p->run_dir);
	json_str(&j, "status", run_status_name(r->status));
	json_str(&j, "reason", r->reason[0] ? r->reason : NULL);
	json_i64(&j, "exit_code", code);
	json_i64(&j, "workload_exit_code", r->workload_code);
	json_i64(&j, "workload_signal", r->workload_signal);
	json_f64(&j, "workload_s", r->workload_s);
	json_str(&j, "result", *r->result ? r->result : NULL);
	if (p->plan.replay)
		plan_replay_json(p->plan.replay, &j);
	json_end(&j);
	putchar('\n');
	fflush(stdout);
}

static int missing_prerequisites(const struct prepared *p, const struct run_opts *ro)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	struct err err = ERR_INIT;
	int n = run_preflight(&p->plan, ro, &missing, &err);

	if (n == -EINTR)
		return cli_interrupt_code(cli_interrupt);
	for (size_t i = 0; i < missing.nr; i++)
		log_error("%s", missing.v[i]);
	if (n < 0)
		log_error("%s", err.msg);
	return n == 0 ? EXIT_DONE : EXIT_MISSING;
}

/* -v: the commands; -vv: also their environment. */
static void say_plan(const struct plan *pl)
{
	CLEANUP(xfreep) char *start = strvec_shell(&pl->engine_argv);

	log_info("%s starts: %s", pl->engine->name, start);
	for (size_t i = 0; i < pl->steps.nr; i++) {
		const struct plan_step *s = &pl->steps.v[i];
		CLEANUP(xfreep) char *argv = strvec_shell(&s->argv);

		log_info("step %s, in %s: %s", s->name, s->cwd, argv);
		for (size_t k = 0; k < s->env.nr; k++) {
			const struct plan_env *e = &s->env.v[k];

			log_debug("%s: %s=%s (%s)", s->name, e->name, e->secret ? "***" : e->value,
				  e->origin);
		}
		for (size_t k = 0; k < s->unset.nr; k++)
			log_debug("%s: %s is not inherited (%s)", s->name, s->unset.v[k].name,
				  s->unset.v[k].origin);
	}
	for (size_t i = 0; i < pl->samplers.nr; i++)
		log_info("sampler %s of %s, every %g s", pl->samplers.v[i].kind,
			 pl->samplers.v[i].tool, pl->samplers.v[i].period_s);
}

/*
 * The first try starts the run's container without asking before: a start that works proves that
 * all is there. Only when it fails are the prerequisites checked and missing images pulled.
 */
static int step_execute(const struct prepared *p, struct run_opts *ro, struct run_result *ret)
{
	CLEANUP(strvec_release) struct strvec missing = STRVEC_INIT;
	struct err err = ERR_INIT;
	int code, r;

	ro->quick = true;
	ro->missing = &missing;
	code = missing_prerequisites(p, ro);
	if (code != EXIT_DONE)
		return code;
	xalloc_last_words(
		"the run ends here; the next one, or 'profrig doctor', tidies up behind it",
		EXIT_WORKLOAD);
	r = run_execute(&p->plan, ro, ret, &err);
	for (size_t i = 0; i < missing.nr; i++)
		log_error("%s", missing.v[i]);
	ro->quick = false;
	ro->missing = NULL;
	if (r == -ENOLINK) {
		code = missing_prerequisites(p, ro);
		if (code != EXIT_DONE)
			return code;
		r = run_execute(&p->plan, ro, ret, &err);
	}
	if (r < 0 && !missing.nr)
		log_error("%s", err.msg);
	return r < 0 ? EXIT_MISSING : EXIT_DONE;
}

int note_results(const struct prepared *p, const char *status, const char *reason)
{
	CLEANUP(xfreep) char *text = NULL;
	struct err err = ERR_INIT;

	if (p->conf.results.perf_csv && !pin_holds(p, p->conf.results.perf_csv))
		err_set(&err, ELOOP,
			"not kept: '%s' is a link now, and was none when profrig began",
			p->conf.results.perf_csv);
	else if (!p->conf.results.perf_csv ||
		 run_perf_csv(&p->plan, status, reason, &cli_interrupt, &err) == 0)
		return EXIT_DONE;
	text = xasprintf("results of %s: %s", p->run_id, err.msg);
	log_error("%s", text);
	if (!status && run_note_warning(p->run_dir, W_PERF_CSV, "error", text, &err) < 0)
		log_error("%s", err.msg);
	return EXIT_PARTIAL;
}

/* An exit code, after printing all, when the model is not for the GPUs of this machine; else -1. */
static int left_out(const struct run_options *o, const struct prepared *p)
{
	CLEANUP(xfreep) char *why = NULL;
	const char *arch;

	if (o->all_archs || !p->conf.skip_gpu_arch.nr)
		return -1;
	arch = run_skip_arch(&p->conf, &p->devices);
	if (!arch)
		return -1;
	why = xasprintf("model.skip_gpu_arch leaves out %s, which this machine has", arch);
	log_notice("%s is skipped: %s (--disable-skip-gpu-arch runs it all the same)",
		   p->conf.model_name, why);
	return note_results(p, "skipped", why);
}

static int block_run(const struct run_options *o, const struct prepared *p, struct pairing *pairing,
		     size_t block)
{
	struct baseline base = { .workload_s = NAN };
	struct run_result r = { 0 };
	struct report rep = REPORT_INIT;
	bool mid_line = false;
	CLEANUP(strvec_release) struct strvec notes = STRVEC_INIT;
	struct run_opts ro = {
		.check = check_artifact,
		.events = { on_phase, p->conf.live ? on_output : NULL, &mid_line,
			    p->conf.live ? NULL : on_tick, p->conf.live ? NULL : on_note,
			    p->conf.live ? NULL : on_bytes },
		.notes = &notes,
		.interrupt = &cli_interrupt,
		.forward = cli_forward,
		.runs_dir = o->of_campaign ? NULL : p->runs_dir,
		.version = PROFRIG_VERSION,
		.build_s = p->build_s,
	};
	/* A line that is redrawn would mix with the output. */
	if (p->conf.live && log_level() > 0)
		progress_setup(1);
	say_plan(&p->plan);
	int code = step_execute(p, &ro, &r);

	for (size_t i = 0; i < notes.nr; i++)
		log_warn("%s", notes.v[i]);
	if (code != EXIT_DONE)
		return code;
	code = r.exit_code;
	xalloc_last_words("the run directory is complete", exit_worse(code, EXIT_PARTIAL));
	if (o->baseline && !p->bare)
		base = pairing_base(pairing, block);
	if (o->baseline)
		pairing_add(pairing, p, block, &r);
	else
		code = exit_worse(code, note_results(p, NULL, NULL));
	if (!o->no_analyze && r.status != RUN_SKIPPED) {
		/* the run itself is complete even when its analysis is not */
		if (analyze_run(p->run_dir, code, &rep) != EXIT_DONE)
			code = exit_worse(code, EXIT_PARTIAL);
	}
	if (!o->baseline && !o->of_campaign)
		publish_run_end(p);
	progress_end();
	run_result_over(&r);
	if (o->propagate && code == EXIT_WORKLOAD && (r.workload_code > 0 || r.workload_signal))
		code = r.workload_signal ? 128 + r.workload_signal : r.workload_code;
	if (o->json)
		print_json(p, &r, code);
	else
		printf("%s\n", p->run_dir);
	fflush(stdout);
	print_summary(p, &r, &rep, &base);
	report_release(&rep);
	run_result_release(&r);
	return code;
}

int run_alone(const struct run_options *o, const struct prepared *p)
{
	struct pairing none = { 0 };
	int code = left_out(o, p);

	if (code >= 0)
		return code;
	code = block_run(o, p, &none, 0);
	if (code != EXIT_DONE && !cli_interrupt && !fs_is_dir(p->run_dir))
		code = exit_worse(code, note_results(p, "failed", log_last_error()));
	return code;
}

int runs_together(const struct run_options *o, const struct strvec *dirs)
{
	CLEANUP(xfreep) char *runs = fs_dir(dirs->v[0]);
	CLEANUP(xfreep) char *out = xasprintf("%s/ensemble-%s", runs, fs_base(dirs->v[0]));
	struct report rep = REPORT_INIT;
	int code;

	if (dirs->nr < 2 || o->no_analyze || cli_interrupt)
		return EXIT_DONE;
	cli_exit_at_signal("profrig: interrupted: the runs are complete\n");
	code = analyze_runs(dirs, out, &rep);
	cli_exit_at_signal(NULL);
	progress_end();
	if (rep.dir)
		log_notice("mean, spread and outliers of these %zu runs: %s", dirs->nr, rep.dir);
	report_release(&rep);
	return code == EXIT_DONE ? EXIT_DONE : EXIT_PARTIAL;
}

/* The results of a campaign. */
struct running {
	const struct run_options *o;
	struct pairing pairing; /* of the current model, as dirs */
	struct strvec dirs;     /* of the model's runs with tools */
	int code;
};

static void running_on_cooldown(void *ctx, double s)
{
	(void)ctx;
	if (isnan(s))
		progress_tick();
	else if (s > 0)
		progress_phase("cooldown %g s", s);
	else
		progress_end();
}

static void say_problems(struct strvec *problems)
{
	for (size_t i = 0; i < problems->nr; i++)
		log_warn("%s", problems->v[i]);
	strvec_clear(problems);
}

/* The overhead of a run is known when its pair has ended; it goes into the table of results with
 * it. */
static void running_on_block_end(void *ctx)
{
	struct running *rg = ctx;
	CLEANUP(strvec_release) struct strvec problems = STRVEC_INIT;

	for (size_t i = 0; i < rg->pairing.v.nr; i++) {
		struct paired_run *pr = &rg->pairing.v.v[i];

		if (pr->noted)
			continue;
		pr->noted = true;
		pairing_pair(&rg->pairing, i, &problems);
		say_problems(&problems);
		rg->code = exit_worse(rg->code, note_results(pr->prepared, NULL, NULL));
		publish_run_end(pr->prepared);
	}
}

static int prepare_next(struct prepared *p)
{
	struct err err = ERR_INIT;

	if (prepare_again(p, &err) == 0)
		return EXIT_DONE;
	log_error("%s", err.msg);
	return EXIT_CONFIG;
}

static void running_on_run(void *ctx, const struct campaign_run *cr)
{
	struct running *rg = ctx;
	struct prepared *p = cr->prepared;
	int r = cr->first ? EXIT_DONE : prepare_next(p);
	int skipped;

	if (cr->of > 1)
		log_notice("run %zu/%zu of %s", cr->nr, cr->of, p->conf.model_name);
	skipped = r == EXIT_DONE ? left_out(rg->o, p) : -1;
	if (skipped >= 0) {
		rg->code = exit_worse(rg->code, skipped);
		return;
	}
	if (r == EXIT_DONE)
		r = block_run(rg->o, p, &rg->pairing, cr->block);
	/* A run that could not even be set up has a result, too. */
	if (r != EXIT_DONE && !cli_interrupt && !fs_is_dir(p->run_dir))
		r = exit_worse(r, note_results(p, "failed", log_last_error()));
	rg->code = exit_worse(rg->code, r);
	if (!p->bare && fs_is_dir(p->run_dir))
		strvec_push(&rg->dirs, p->run_dir);
}

static void running_on_model_end(void *ctx)
{
	struct running *rg = ctx;
	const struct run_options *o = rg->o;
	CLEANUP(strvec_release) struct strvec problems = STRVEC_INIT;

	if (o->baseline) {
		bool over = pairing_conclude(&rg->pairing, &problems);

		if (!o->no_analyze)
			overhead_tables(&rg->pairing, &problems);
		say_problems(&problems);
		overhead_print(&rg->pairing);
		if (over && o->gate)
			rg->code = exit_worse(rg->code, EXIT_GATE);
	}
	if (rg->dirs.nr == (size_t)o->repeat)
		rg->code = exit_worse(rg->code, runs_together(o, &rg->dirs));
	pairing_release(&rg->pairing);
	strvec_clear(&rg->dirs);
}

int run_campaign(const struct run_options *o, const struct campaign *cp)
{
	CLEANUP(xfreep) char *room = run_disk_warning(&campaign_full(&cp->models.v[0])->plan);
	struct running rg = { .o = o, .dirs = STRVEC_INIT };
	const struct campaign_front front = {
		.ctx = &rg,
		.interrupt = &cli_interrupt,
		.run = running_on_run,
		.block_end = running_on_block_end,
		.model_end = running_on_model_end,
		.cooldown = running_on_cooldown,
	};

	if (room)
		log_warn("%s (disk.warn_free)", room);
	campaign_walk(cp, &front);
	strvec_release(&rg.dirs);
	return rg.code;
}
