/*
 * get_models_json.py. Such a script imports CustomModel from madengine and gives objects of it; so
 * the driver below brings a class of that name along, unless the real one is installed. What the
 * script prints goes to stderr, so that stdout holds our JSON alone.
 */
#include "mad_int.h"

#include <errno.h>
#include <string.h>

#include "profrig/base/proc.h"
#include "profrig/base/strbuf.h"

#define SCRIPT_TIMEOUT_MS 60000
#define MAX_OUTPUT ((size_t)4 << 20)
#define MAX_WORDS 2000

/* argv: PATH of the script, folder of the package, NAME to update or nothing. */
static const char driver[] =
	"import importlib.util, json, os, sys, types\n"
	"from dataclasses import asdict, dataclass, field\n"
	"path, root, name = sys.argv[1], sys.argv[2], sys.argv[3]\n"
	"sys.argv = [path]\n"
	"out = os.fdopen(os.dup(1), 'w', encoding='utf-8')\n"
	"os.dup2(2, 1)\n"
	"os.chdir(root)\n"
	"sys.path[0] = os.path.dirname(path)\n"
	"sys.dont_write_bytecode = True\n"
	"\n"
	"@dataclass\n"
	"class CustomModel:\n"
	"    name: str\n"
	"    dockerfile: str = ''\n"
	"    dockercontext: str = ''\n"
	"    scripts: str = ''\n"
	"    url: str = ''\n"
	"    cred: str = ''\n"
	"    owner: str = ''\n"
	"    data: str = ''\n"
	"    n_gpus: str = '-1'\n"
	"    timeout: int = 7200\n"
	"    training_precision: str = ''\n"
	"    tags: list = field(default_factory=list)\n"
	"    args: str = ''\n"
	"    multiple_results: str = ''\n"
	"    skip_gpu_arch: str = ''\n"
	"    additional_docker_run_options: str = ''\n"
	"\n"
	"    def to_dict(self):\n"
	"        return asdict(self)\n"
	"\n"
	"    def update_model(self):\n"
	"        pass\n"
	"\n"
	"def there(module):\n"
	"    try:\n"
	"        return importlib.util.find_spec(module) is not None\n"
	"    except (ImportError, ValueError):\n"
	"        return False\n"
	"\n"
	"if not there('madengine'):\n"
	"    for n in ('madengine', 'madengine.utils', 'madengine.utils.discover_models',\n"
	"              'madengine.tools', 'madengine.tools.discover_models'):\n"
	"        m = types.ModuleType(n)\n"
	"        m.__path__ = []\n"
	"        m.CustomModel = CustomModel\n"
	"        sys.modules[n] = m\n"
	"        if '.' in n:\n"
	"            above, _, last = n.rpartition('.')\n"
	"            setattr(sys.modules[above], last, m)\n"
	"spec = importlib.util.spec_from_file_location('get_models_json', path)\n"
	"script = importlib.util.module_from_spec(spec)\n"
	"spec.loader.exec_module(script)\n"
	"if not hasattr(script, 'list_models'):\n"
	"    sys.exit('it defines no list_models()')\n"
	"models = list(script.list_models())\n"
	"for m in models:\n"
	"    if not hasattr(m, 'to_dict') or not hasattr(m, 'name'):\n"
	"        sys.exit('list_models() gives a %s, want a CustomModel' % type(m).__name__)\n"
	"if name:\n"
	"    models = [m for m in models if m.name == name][:1]\n"
	"    for m in models:\n"
	"        m.update_model()\n"
	"json.dump([m.to_dict() for m in models], out)\n"
	"out.close()\n";

/* The script has no lines that stand for its entries. */
static void drop_lines(struct cfg_node *n)
{
	n->line = 0;
	for (size_t i = 0; i < n->nr; i++)
		drop_lines(n->child[i]);
}

/* What it said, on lines of their own below the message; the last of it when it is long. */
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

static int failed(const char *shown, const struct proc_exit *x, struct strbuf *errs,
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
	/* unbuffered: what it printed and what Python says of it stay in order */
	char *argv[] = { (char *)"python3",
			 (char *)"-uc",
			 (char *)driver,
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
		return failed(shown, &x, &errs, why);
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
