/*
 * mad: reads the files of madengine unchanged (docs/madengine.md).
 *
 * A package is a folder with models.json, scripts/<dir>/models.json (or get_models_json.py, run
 * with python3), credential.json, data.json and scripts/common/tools.json; any of them may be
 * missing. It is $MODEL_DIR, else the working directory.
 *
 *	mad_models_load → entries, each with what is wrong with it
 *	mad_entry_matches "S/X:k=v", mad_tag_args
 *	mad_model_config → the same as a profrig.yaml would say, each value with the line it came
 *	from
 *	mad_context_config → likewise of --additional-context
 *
 * Nothing here starts a model, and no value of credential.json is kept: configurations name the
 * file and the key (secrets.*.from_file).
 */
#ifndef PROFRIG_MAD_H
#define PROFRIG_MAD_H

#include "profrig/base/cfg.h"
#include "profrig/base/strvec.h"
#include "profrig/base/vec.h"
#include "profrig/config/tool.h"

/* --- models --- */

struct mad_entry {
	char *name;  /* "dummy", "dummy2/model2": with its scope */
	char *scope; /* folder below scripts/; NULL for ./models.json */
	char *file;  /* as messages name it: "scripts/dummy2/models.json" */
	char *where; /* "models.json:12"; of a script its path alone */
	struct strvec tags;
	struct cfg_node *node;             /* a map, without empty values; of one of the files */
	bool scripted;                     /* of get_models_json.py */
	struct problems problems, unknown; /* of its values; keys that no entry has */
	struct strvec notes;               /* hints that are no problems */
};

/* Fault of a file, with its scope; NULL: ./models.json. */
struct mad_fault {
	char *scope, *text;
};

struct mad_models {
	char *dir; /* of the package, absolute */
	VEC(struct mad_entry)
	entries; /* ./models.json, then scopes by name; in order of the files */
	VEC(struct mad_fault) faults;
	VEC(struct cfg *) files; /* which own the text */
};

/*
 * Reads the package of dir ($MODEL_DIR overrides it); files are shown relative to cwd. Never fails:
 * an unreadable file is a fault. Runs the scripts one after the other, each at most a minute;
 * without `scripts` it skips them.
 */
void mad_models_load(struct mad_models *m, const char *cwd, const char *dir, bool scripts);
/*
 * Adds the entries of built_models of madengine's manifest that have a name which m has not; their
 * paths start from the package.
 */
void mad_models_add_built(struct mad_models *m, const char *manifest);
void mad_models_release(struct mad_models *m);

/*
 * A word is TAG[:KEY=VALUE[:KEY=VALUE…]]. TAG is one of
 *
 *	X	the entry of that whole name, and all with that tag, in every scope
 *	S/X	of the entries of scope S: the one named X, and all with the tag X
 *	S/all, all
 *
 * and KEY=VALUE becomes the arguments --KEY VALUE, a KEY alone --KEY.
 */
bool mad_entry_matches(const struct mad_entry *e, const char *word);
/* Where the arguments of a word begin: at its first ':', or at its end. In a path they stand behind
 * '#', as folders may have ':' in their names. Borrowed. */
const char *mad_word_args(const char *word);
/* The '#' between a file and a model's name ("models.json#NAME"); borrowed, NULL: there is none.
 * One in the name of a file or folder that is there ("x.json#y/models.json") is not it. */
const char *mad_path_hash(const char *path);
/* ":a=1:b" → --a 1 --b */
void mad_tag_args(const char *args, struct strvec *to);
/* By its whole name; NULL. */
const struct mad_entry *mad_models_find(const struct mad_models *m, const char *name);
/* The faults that could hide what word means. */
void mad_models_faults(const struct mad_models *m, const char *word, struct problems *p);

/*
 * The configuration of an entry (args: of the tag, may be NULL), layer LAYER_MODEL. Of a scripted
 * one update_model() is called first. context: the tree of mad_context_load, whose `data` overrides
 * data.json; NULL. Unknown keys are problems, or notes with `lenient`. Faults are added to p, hints
 * to notes. -EINVAL when anything was added to p; ret has the valid part.
 */
int mad_model_config(const struct mad_models *m, const struct mad_entry *e,
		     const struct strvec *args, const struct cfg *context, bool lenient,
		     struct cfg *ret, struct problems *p, struct strvec *notes);

/* --- contexts --- */

/*
 * --additional-context: JSON, or a literal of Python. file wins over base (of a manifest), text
 * over file, maps key by key at every depth; each may be NULL. -ENOENT with err: no such file (exit
 * 2); -EINVAL with problems in p (exit 3).
 */
struct mad_context_base {
	const char *text, *name; /* name: of the file it is of */
};
int mad_context_load(struct cfg *ret, const struct mad_context_base *base, const char *file,
		     const char *text, struct problems *p, struct err *err);
/*
 * The configuration of a context, layer LAYER_FILE. Relative paths start from dir, the package's.
 * Unknown keys are problems, or notes with `lenient`.
 */
int mad_context_config(const struct cfg *context, const char *dir, bool lenient, struct cfg *ret,
		       struct problems *p, struct strvec *notes);

/* --- tools.json --- */

/*
 * Adds the tools of tools.json to ts. One that ts has by that name stays, unless `over`; the tool's
 * notes report either. Scripts of it start from dir. -ENOENT or -EINVAL with err when the file
 * itself cannot be used; a fault of one tool is a problem of that tool.
 */
int mad_tools_add(struct tool_set *ts, const char *file, const char *dir, bool over,
		  struct err *err);

/* --- batch files --- */

/*
 * `build --batch-manifest FILE`: a JSON list of models, some to be built, others there already:
 *
 *	[{"model_name": "S/X", "build_new": true, "registry": "r:5000", "registry_image": "a:1"}]
 */
struct mad_batch_entry {
	char *model; /* a word, as mad_entry_matches takes it; or a YAML model */
	bool build;  /* else registry_image is the model's image */
	char *registry, *registry_image; /* NULL: not stated */
	char *where;                     /* "batch.json:3" */
};
struct mad_batch {
	VEC(struct mad_batch_entry) entries; /* those with enough data */
};
/*
 * Reads it whole: faults are added to p, unknown keys are problems, or notes with `lenient`.
 * -ENOENT with err: no such file (exit 2); -EINVAL with problems in p (exit 3), ret has the valid
 * part.
 */
int mad_batch_load(struct mad_batch *ret, const char *path, bool lenient, struct problems *p,
		   struct strvec *notes, struct err *err);
void mad_batch_release(struct mad_batch *b);

/* $MODEL_DIR when it is set and not empty, else cwd; absolute, owned. */
char *mad_package_dir(const char *cwd);

#endif
