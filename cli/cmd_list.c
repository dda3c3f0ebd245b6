/*
 * list: the registries and catalogues, from their tables. doctor: what works here, and how to fix
 * the rest.
 */
#include "cli.h"
#include "table_json.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profrig/base/dynlib.h"
#include "profrig/base/fs.h"
#include "profrig/base/json_out.h"
#include "profrig/base/log.h"
#include "profrig/base/num.h"
#include "profrig/base/proc.h"
#include "profrig/data/data.h"
#include "profrig/model/warnings.h"
#include "profrig/publish/publish.h"
#include "profrig/readers/reader.h"
#include "profrig/report/convert.h"
#include "profrig/sampler/sampler.h"

/* The inputs of a list; code is the exit status when it cannot be made. */
struct asked {
	const struct command *command;
	const struct strvec *tools_dirs;
	bool json;
	int code;
};

static struct table *list_tools(struct asked *a)
{
	return tools_table(a->command, a->tools_dirs, a->json, &a->code);
}

static struct table *list_engines(struct asked *unused)
{
	struct table *t = table_of_texts("engines", "name", "about");

	(void)unused;
	for (size_t i = 0; engines[i]; i++)
		table_texts(t, engines[i]->name, engines[i]->about);
	return t;
}

static struct table *list_samplers(struct asked *unused)
{
	struct table *t = table_of_texts("samplers", "name", "vendor", "about");

	(void)unused;
	for (size_t i = 0; samplers[i]; i++)
		table_texts(t, samplers[i]->name, samplers[i]->vendor, samplers[i]->about);
	return t;
}

/* The words joined with a separator; owned. words is NULL, or ends with NULL. */
static char *words_joined(const char *const *words, const char *between)
{
	struct strbuf sb = STRBUF_INIT;

	for (; words && *words; words++)
		strbuf_addf(&sb, "%s%s", sb.len ? between : "", *words);
	return strbuf_steal(&sb);
}

static struct table *list_readers(struct asked *unused)
{
	struct table *t = table_of_texts("readers", "name", "files", "dialects", "about");

	(void)unused;
	for (size_t i = 0; readers[i]; i++) {
		CLEANUP(xfreep) char *dialects = words_joined(readers[i]->dialects, ",");

		table_texts(t, readers[i]->name, readers[i]->suffixes, dialects, readers[i]->about);
	}
	return t;
}

static struct table *list_analyses(struct asked *unused)
{
	struct table *t = table_of_texts("analyses", "name", "tables", "needs", "about");

	(void)unused;
	for (size_t i = 0; analyses[i]; i++) {
		CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;

		for (size_t k = 0; analyses[i]->tables[k]; k++)
			strbuf_addf(&names, "%s%s", names.len ? "," : "",
				    analyses[i]->tables[k]->name);
		table_texts(t, analyses[i]->name, names.buf,
			    analyses[i]->needs_work        ? "single calls, device work"
			    : analyses[i]->needs_calls     ? "single calls"
			    : analyses[i]->needs_operators ? "operators of a framework"
							   : "",
			    analyses[i]->about);
	}
	return t;
}

static void columns_list(struct table *t, const struct table_form *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		const char *unit = table_field_unit(f->fields[i].name);

		table_texts(t, f->name, f->fields[i].name, table_json_type[f->fields[i].type],
			    unit);
	}
}

static struct table *list_tables(struct asked *unused)
{
	struct table *t = table_of_texts("tables", "table", "column", "type", "unit");

	(void)unused;
	for (size_t i = 0; analyses[i]; i++)
		for (size_t k = 0; analyses[i]->tables[k]; k++)
			columns_list(t, analyses[i]->tables[k]);
	return t;
}

static struct table *list_reports(struct asked *unused)
{
	struct table *t = table_of_texts("reports", "name", "about");

	(void)unused;
	for (size_t i = 0; writers[i]; i++)
		table_texts(t, writers[i]->name, writers[i]->about);
	table_texts(t, "mail",
		    "one small HTML file for mail programs, of runs and of tables of runs");
	return t;
}

static struct table *list_publishers(struct asked *unused)
{
	struct table *t = table_of_texts("publishers", "name", "about");

	(void)unused;
	for (size_t i = 0; publishers[i]; i++)
		table_texts(t, publishers[i]->name, publishers[i]->about);
	return t;
}

static struct table *list_converters(struct asked *unused)
{
	struct table *t = table_of_texts("converters", "name", "files", "about");

	(void)unused;
	for (size_t i = 0; converters[i]; i++) {
		CLEANUP(xfreep) char *files = words_joined(converters[i]->suffixes, " ");

		table_texts(t, converters[i]->name, files, converters[i]->about);
	}
	return t;
}

static struct table *list_models(struct asked *a)
{
	struct catalog cat;
	struct err err = ERR_INIT;
	CLEANUP(xfreep) char *cwd = fs_abs(".");
	struct table *t;

	if (catalog_load(&cat, cwd, &err) < 0) {
		log_error("%s", err.msg);
		a->code = EXIT_CONFIG;
		return NULL;
	}
	t = table_of_texts("models", "name", "tags", "image", "about", "file");
	for (size_t i = 0; i < cat.models.nr; i++) {
		const struct catalog_entry *e = &cat.models.v[i];
		CLEANUP(xfreep) char *tags = words_joined((const char *const *)e->tags.v, ",");

		table_texts(t, e->name, tags, e->image, e->about, e->path);
	}
	catalog_release(&cat);
	return t;
}

static struct table *list_options(struct asked *unused)
{
	struct table *t = table_of_texts("options", "key", "type", "default", "about");

	(void)unused;
	for (const struct schema_key *k = schema_table; k->path; k++)
		table_texts(t, k->path, k->choices ? k->choices : k->type, k->def, k->about);
	return t;
}

static struct table *list_warnings(struct asked *unused)
{
	static const char *const severity[] = { "note", "warning", "error" };
	struct table *t = table_of_texts("warnings", "code", "severity", "about");

	(void)unused;
	for (size_t i = 0; warning_table[i].code; i++)
		table_texts(t, warning_table[i].code, severity[warning_table[i].severity],
			    warning_table[i].about);
	for (size_t i = 0; run_warning_table[i].code; i++)
		table_texts(t, run_warning_table[i].code, "run", run_warning_table[i].about);
	return t;
}

static struct table *list_counters(struct asked *unused)
{
	static const char *const kinds[] = { "unknown", "cumulative", "gauge" };
	static const char *const quantities[] = { "other", "energy", "power" };
	struct table *t = table_of_texts("counters", "match", "kind", "quantity", "unit", "scale",
					 "max_rate", "period_s", "tau_hint_s", "step_raw", "step");

	(void)unused;
	for (const struct counter_fact *f = counter_facts; f->pattern; f++) {
		const double v[] = { f->scale,      f->max_rate, f->period_s,
				     f->tau_hint_s, f->step_raw, f->step };
		char cells[ARRAY_LEN(v)][32] = { "" };

		/* 0 is "not known" in all of these. */
		for (size_t i = 0; i < ARRAY_LEN(v); i++)
			if (v[i] > 0)
				num_fmt_f64(cells[i], v[i]);
		table_texts(t, f->pattern, kinds[f->kind], quantities[f->quantity], f->unit,
			    cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]);
	}
	return t;
}

/* list_runs.c and list_campaigns.c print these kinds, with options and columns of their own. */
static struct table *no_table(struct asked *unused)
{
	(void)unused;
	return NULL;
}

static const struct {
	const char *kind;
	struct table *(*make)(struct asked *a); /* NULL after printing the reason */
} kinds[] = {
	{ "tools", list_tools },       { "engines", list_engines },
	{ "samplers", list_samplers }, { "readers", list_readers },
	{ "analyses", list_analyses }, { "tables", list_tables },
	{ "reports", list_reports },   { "converters", list_converters },
	{ "models", list_models },     { "options", list_options },
	{ "warnings", list_warnings }, { "runs", no_table },
	{ "counters", list_counters }, { "publishers", list_publishers },
	{ "campaigns", no_table },
};

static void table_json(const struct table *t)
{
	struct json_out j;

	json_out_init(&j, stdout, 2);
	json_arr(&j, NULL);
	for (size_t r = 0; r < table_rows(t); r++) {
		json_obj(&j, NULL);
		for (size_t k = 0; k < table_cols(t); k++)
			json_str(&j, table_column(t, k)->name, table_get_str(t, r, k));
		json_end(&j);
	}
	json_end(&j);
	putchar('\n');
}

static size_t terminal_width(void)
{
	struct winsize w;

	return isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

static int list_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release) struct strvec what = STRVEC_INIT, dirs = STRVEC_INIT;
	CLEANUP(strvec_release) struct strvec labels = STRVEC_INIT;
	struct run_filter filter = { .sizes = true };
	const char *folder = NULL;
	bool json = false;
	char **rest;
	const struct opt opts[] = {
		{ "tools-dir", 0, OPT_LIST, &dirs, "DIR",
		  "look for tools here first (repeatable)" },
		{ "output", 'o', OPT_STR, &folder, "DIR",
		  "runs, campaigns: of this folder (./runs, ./campaigns)" },
		{ "status", 0, OPT_STR, &filter.status, "STATUS", "runs: with this status" },
		{ "model", 0, OPT_STR, &filter.model, "NAME", "runs: of this model" },
		{ "tool", 0, OPT_STR, &filter.tool, "NAME", "runs: with this tool" },
		{ "label", 0, OPT_LIST, &labels, "K[=V]", "runs: with this label (repeatable)" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &json, argc, argv, &what, &rest);

	if (code >= 0)
		return code;
	if (what.nr == 1 && !strcmp(what.v[0], "tool"))
		return cli_usage(c, "list tool wants a NAME: 'profrig list tools' has them all");
	if (what.nr > 1 && !strcmp(what.v[0], "tool")) {
		strvec_remove(&what, 0);
		return tools_print(c, &dirs, &what, json);
	}
	if (what.nr == 1 && !strcmp(what.v[0], "tools") && log_level() >= 2 && !json)
		return tools_print(c, &dirs, NULL, false);
	filter.labels = labels;
	if (what.nr == 1 && !strcmp(what.v[0], "runs"))
		return cli_known_status(c, filter.status)
			       ? list_runs(folder ? folder : "runs", &filter, json)
			       : EXIT_USAGE;
	if (what.nr == 1 && !strcmp(what.v[0], "campaigns"))
		return list_campaigns(folder, json);
	for (size_t i = 0; what.nr == 1 && i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].kind, what.v[0]) == 0) {
			struct asked a = { c, &dirs, json, EXIT_DONE };
			struct table *t = kinds[i].make(&a);
			if (!t)
				return a.code;
			if (json)
				table_json(t);
			else
				table_write_text(t, stdout, 0, terminal_width());
			table_free(t);
			return EXIT_DONE;
		}
	const char *names[ARRAY_LEN(kinds) + 1] = { NULL };
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		names[i] = kinds[i].kind;
	if (what.nr > 1)
		return cli_usage(c, "one list at a time, not '%s' and '%s'", what.v[0], what.v[1]);
	const char *near = what.nr ? cfg_did_you_mean(what.v[0], names) : NULL;
	if (near)
		return cli_usage(c, "there is no list of '%s'; did you mean '%s'?", what.v[0],
				 near);
	return cli_usage(c, "say what: %s", c->usage);
}

/* doctor */

/* A fix by a package manager that is missing here is left out. */
static bool can_be_run(const char *fix)
{
	static const char *const managers[] = { "apt-get", "dnf" };
	bool asks = false;

	for (size_t i = 0; i < ARRAY_LEN(managers); i++) {
		CLEANUP(xfreep) char *at = NULL;

		if (!strstr(fix, managers[i]))
			continue;
		at = fs_which(managers[i], getenv("PATH"));
		if (at)
			return true;
		asks = true;
	}
	return !asks;
}

static void finding_row(struct table *t, const char *kind, const char *name, bool ok,
			const char *detail, const char *fix)
{
	table_texts(t, ok ? "ok" : "no", kind, name, detail,
		    ok || !fix || !can_be_run(fix) ? "" : fix, "");
}

static bool doctor_engine(struct table *t, const struct engine *e)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, errs = STRBUF_INIT;
	struct proc_exit how = { 0 };
	struct err err = ERR_INIT;

	if (!e->container) {
		finding_row(t, "engine", e->name, true, e->about, NULL);
		return true;
	}
	engine_ask(e, ENGINE_PROBE, &argv);
	int r = proc_capture(argv.v, 10000, 4096, &out, &errs, &how, &err);
	bool ok = r == 0 && how.code == 0;
	strbuf_rtrim(&out);
	strbuf_rtrim(&errs);
	char *nl = strchr(errs.buf, '\n');
	if (nl)
		*nl = 0;
	const char *words = ok ? out.buf : r < 0 ? err.msg : errs.buf;
	finding_row(t, "engine", e->name, ok, words, engine_remedy(e, words));
	return ok;
}

/* What `build` can do with an engine that answers. */
static void doctor_builder(struct table *t, const struct engine *e)
{
	CLEANUP(strvec_release) struct strvec argv = STRVEC_INIT;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct proc_exit how = { 0 };

	e->build(NULL, &argv);
	bool runs = proc_capture(argv.v, 10000, 1 << 20, &out, NULL, &how, NULL) == 0;
	bool secrets = runs && how.code == 0 && strstr(out.buf, "--secret");
	finding_row(t, "builder", e->name, secrets,
		    secrets ? "builds images, with secrets that stay out of them"
			    : "builds images, but none that need secrets (no BuildKit); podman "
			      "builds these too",
		    "apt-get install docker-buildx || apt-get install docker-buildx-plugin");
}

/* Reports what a portable profrig lacks on a machine whose libraries it cannot use. */
static bool doctor_libraries(struct table *t)
{
	struct err err = ERR_INIT;
	CLEANUP(xfreep) char *detail = NULL;

	if (dynlib_possible(&err) == 0)
		return true;
	detail =
		xasprintf("%s; the samplers nvml and rocm_smi and data sets from web servers are "
			  "lacking. A system with glibc 2.31 or newer, such as Debian 11, has them",
			  err.msg);
	finding_row(t, "program", "libraries", false, detail, NULL);
	return false;
}

static void doctor_transfer(struct table *t, bool libraries)
{
	struct err err = ERR_INIT;
	bool ok = data_transfer_works(&err) == 0;

	finding_row(t, "data", "libcurl", ok, ok ? "data sets from web servers and S3" : err.msg,
		    libraries ? "apt-get install libcurl4" : NULL);
}

static void doctor_sampler(struct table *t, const struct sampler *s)
{
	struct err err = ERR_INIT;
	struct sampler_opts so = { .device = "all", .period_s = 0.1 };
	bool ok = sampler_probe(s, &so, &err) == 0;

	finding_row(t, "sampler", s->name, ok, ok ? s->about : err.msg, NULL);
}

static void doctor_gpu(struct table *t, const struct gpu *g, const char *why, const char *driver)
{
	CLEANUP(xfreep) char *id = xasprintf("%s gpu%d", gpu_vendor_name(g->vendor), g->index);
	CLEANUP(strbuf_release) struct strbuf detail = STRBUF_INIT;

	strbuf_addstr(&detail, g->name);
	if (*g->arch && !strstr(g->name, g->arch))
		strbuf_addf(&detail, ", %s", g->arch);
	if (g->memory_bytes > 0)
		strbuf_addf(&detail, ", %.0f GiB", (double)g->memory_bytes / (1 << 30));
	if (*g->pci)
		strbuf_addf(&detail, ", pci %s", g->pci);
	if (*driver)
		strbuf_addf(&detail, ", %s %s", g->vendor == GPU_AMD ? "ROCm" : "driver", driver);
	if (*why)
		strbuf_addf(&detail, "; %s", why);
	finding_row(t, "gpu", id, !*why, detail.buf, "");
}

/* One row for each GPU, or a row that says there is none, since users look for it. */
static void doctor_gpus(struct table *t)
{
	CLEANUP(devices_release) struct devices d;

	devices_find(&d, devices_root());
	if (!*devices_root())
		devices_ask_nvml(&d);
	for (size_t i = 0; i < d.gpus.nr; i++) {
		bool amd = d.gpus.v[i].vendor == GPU_AMD;

		doctor_gpu(t, &d.gpus.v[i], amd ? d.amd_why : d.nvidia_why,
			   amd ? d.rocm : d.driver);
	}
	if (!d.gpus.nr) {
		CLEANUP(xfreep) char *why = xasprintf("%s; %s", d.amd_why, d.nvidia_why);

		finding_row(t, "gpu", "none", false, why, "");
	}
}

static void doctor_tool(struct table *t, const struct command *c, const struct strvec *dirs,
			const struct tool *tool)
{
	CLEANUP(strbuf_release) struct strbuf detail = STRBUF_INIT;
	const char *fix;
	bool ok = tool_works(c, dirs, tool, &detail, &fix);

	finding_row(t, "tool", tool->name, ok,
		    !ok           ? detail.buf
		    : tool->about ? tool->about
				  : "",
		    fix);
}

/* A row for each tool. On a terminal the tools of a vendor without a GPU here share one row. */
static void doctor_tools(struct table *t, const struct command *c, const struct strvec *dirs,
			 const struct tool_set *ts, bool all)
{
	CLEANUP(devices_release) struct devices d;
	size_t absent[GPU_NVIDIA + 1] = { 0 };

	devices_find(&d, devices_root());
	for (size_t i = 0; i < ts->tools.nr; i++) {
		const struct tool *tool = ts->tools.v[i];
		enum gpu_vendor v = gpu_vendor_of(tool->vendor);

		if (!all && v != GPU_NONE && !devices_usable(&d, v, NULL) &&
		    !tool->problems.lines.nr)
			absent[v]++;
		else
			doctor_tool(t, c, dirs, tool);
	}
	for (enum gpu_vendor v = GPU_AMD; v <= GPU_NVIDIA; v++) {
		const char *name = v == GPU_AMD ? "AMD" : "NVIDIA", *why = NULL;
		CLEANUP(xfreep) char *row = xasprintf("%zu for %s", absent[v], name);
		CLEANUP(xfreep) char *detail = NULL;

		if (!absent[v])
			continue;
		devices_usable(&d, v, &why);
		detail = xasprintf("%s; 'profrig list tools' names them", why);
		finding_row(t, "tools", row, false, detail, "");
	}
}

/* On a terminal the command that fixes a problem follows the problem. */
static void doctor_text(const struct table *t)
{
	struct table *text = table_of_texts("doctor", "state", "kind", "name", "detail");

	for (size_t r = 0; r < table_rows(t); r++) {
		const char *detail = table_get_str(t, r, 3), *fix = table_get_str(t, r, 4);
		bool ended = *detail && strchr(".?!", detail[strlen(detail) - 1]);
		CLEANUP(xfreep)
		char *both = xasprintf("%s%s Fix: %s", detail, ended ? "" : ".", fix);

		table_texts(text, table_get_str(t, r, 0), table_get_str(t, r, 1),
			    table_get_str(t, r, 2), *fix ? both : detail);
	}
	table_write_text(text, stdout, 0, terminal_width());
	table_free(text);
}

static int doctor_main(const struct command *c, int argc, char **argv)
{
	CLEANUP(strvec_release)
	struct strvec operands = STRVEC_INIT, dirs = STRVEC_INIT;
	bool json = false, container = false, fix = false;
	const char *runs_dir = "runs";
	char **rest;
	struct tool_set ts;
	const struct opt opts[] = {
		{ "tools-dir", 0, OPT_LIST, &dirs, "DIR",
		  "look for tools here first (repeatable)" },
		{ "output", 'o', OPT_STR, &runs_dir, "DIR", "where run directories are (./runs)" },
		{ "fix", 0, OPT_FLAG, &fix, NULL,
		  "finish off killed runs and remove what they left" },
		{ 0 },
	};
	int code = cli_parse(c, opts, &json, argc, argv, &operands, &rest);

	if (code < 0 && operands.nr)
		code = cli_usage(c, "'%s': nothing is to be named", operands.v[0]);
	if (code >= 0)
		return code;
	code = load_tools(c, &dirs, &ts);
	if (code != EXIT_DONE)
		return code;
	tool_set_all(&ts);
	/* bytes: of leftovers */
	struct table *t =
		table_of_texts("doctor", "state", "kind", "name", "detail", "fix", "bytes");
	CLEANUP(xfreep) char *lib = run_lib_dir();
	CLEANUP(xfreep) char *agent = fs_join(lib, "profrig-init");
	bool there = access(agent, X_OK) == 0;
	finding_row(t, "agent", "profrig-init", there,
		    there ? lib : "neither beside this program nor in ../lib/profrig from it",
		    "make install");
	bool open = proc_may_trace();
	finding_row(t, "host", "verdicts", !open,
		    open ? "not protected: a workload with CAP_SYS_PTRACE, as root has, may change "
			   "what is said of it; in a container, or as a user, it cannot"
			 : "a workload cannot change what is said of it",
		    NULL);
	for (size_t i = 0; engines[i]; i++) {
		bool answers = doctor_engine(t, engines[i]);

		container |= answers && engines[i]->container;
		if (answers && engines[i]->build)
			doctor_builder(t, engines[i]);
	}
	doctor_transfer(t, doctor_libraries(t));
	doctor_gpus(t);
	for (size_t i = 0; samplers[i]; i++)
		doctor_sampler(t, samplers[i]);
	doctor_tools(t, c, &dirs, &ts, json);
	tool_works_end();
	tool_set_release(&ts);
	finding_row(t, "page", "report.html", page_html(NULL) != NULL,
		    page_html(NULL) ? "interactive page built in"
				    : "plain tables only; the page is built with node and npm",
		    "make PAGE=1");
	doctor_leftovers(t, runs_dir, fix);
	if (json)
		table_json(t);
	else
		doctor_text(t);
	table_free(t);
	if (!json && !container)
		puts("\nno container engine answers, so runs use the host");
	return EXIT_DONE;
}

extern const struct command cmd_list, cmd_doctor;
const struct command cmd_list = {
	"list",
	"tools|engines|samplers|readers|analyses|tables|reports|converters|models|options"
	" | warnings|runs|campaigns|counters|publishers | tool NAME…",
	"list tools, engines, runs, …", "profrig list tools", list_main
};
const struct command cmd_doctor = { "doctor", "",
				    "what works on this machine, and what would fix the rest",
				    "profrig doctor", doctor_main };
