/*
 * mad_int: the parts that read madengine's files, among themselves.
 *
 *	mad_models.c	which entries there are, and which a word chooses
 *	mad_script.c	get_models_json.py, run with python3
 *	mad_check.c	is an entry sound?
 *	mad_entry.c	an entry → configuration
 *	mad_data.c	data.json and credential.json → configuration
 *	mad_context.c	a context → configuration
 *	mad_tools.c	tools.json → tools
 *	mad_batch.c	a batch file of `build`
 *	mad_tree.c	values of one tree into another, with their origin
 */
#ifndef PROFRIG_MAD_INT_H
#define PROFRIG_MAD_INT_H

#include "profrig/base/strbuf.h"
#include "profrig/madengine/mad.h"

/* --- mad_tree.c --- */

/* The map at a key of map, made when it is not there; from: its origin. */
struct cfg_node *mad_map(struct cfg *c, struct cfg_node *map, const char *key,
			 const struct cfg_node *from);
struct cfg_node *mad_list(struct cfg *c, struct cfg_node *map, const char *key,
			  const struct cfg_node *from);
/* Sets the value of a key; text is copied. */
struct cfg_node *mad_put(struct cfg *c, struct cfg_node *map, const char *key, enum cfg_kind kind,
			 const char *text, const struct cfg_node *from);
/* The scalar n, as it is written, as a text. */
void mad_put_text(struct cfg *c, struct cfg_node *map, const char *key, const struct cfg_node *n);
void mad_put_words(struct cfg *c, struct cfg_node *map, const char *key, const struct strvec *words,
		   const struct cfg_node *from);
/* At the end of a list. */
struct cfg_node *mad_add(struct cfg *c, struct cfg_node *list, enum cfg_kind kind, const char *text,
			 const struct cfg_node *from);
/* A list of scalars, or one text with commas between. */
void mad_words(const struct cfg_node *n, struct strvec *to);
/* Splits a text into words as a shell would; a problem at n when that fails. Notes expansions of a
 * shell that do not happen. */
void mad_shell_words(const struct cfg_node *n, const char *what, struct strvec *to,
		     struct problems *p, struct strvec *notes);
/* JSON has no comments, so people write them as keys: "_comment…" goes, at every depth. */
void mad_drop_comments(struct cfg_node *n);
/* An empty tree of that layer. */
void mad_tree_init(struct cfg *c, enum cfg_layer layer);
/* "file:12: text" */
void mad_note(struct strvec *notes, const struct cfg_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* secrets: for the caller's variables whose names hold MAD_SECRETS. */
void mad_env_secrets(struct cfg *ret);
/*
 * What both mean by a truth: true, false, 0, 1, and the texts yes, no, on, off, true, false, 0, 1
 * in any case. -EINVAL for all else.
 */
int mad_truth(const struct cfg_node *n);

/* --- mad_script.c --- */

/*
 * The result of list_models(), as a list of maps in ret (lines 0; always to be released). name
 * NULL: all, unchanged; else the one of this name (without scope) after its update_model(). Its
 * output goes to notes. -errno: `why` has the reason, with the script's stderr.
 */
int mad_script_list(const char *path, const char *shown, const char *dir, const char *name,
		    struct cfg *ret, struct strvec *notes, struct strbuf *why);

/* --- mad_check.c --- */

/* Empty texts and nulls of a map leave it: in models.json they mean "not given". */
void mad_drop_empty(struct cfg_node *map);
/* Adds all faults of an entry's values; hints go to notes. */
void mad_check_entry(const struct cfg_node *entry, struct problems *p, struct problems *unknown,
		     struct strvec *notes);
/* Unknown keys become problems, or notes. */
void mad_unknown(const struct problems *unknown, bool lenient, struct problems *p,
		 struct strvec *notes);

/* More than one machine, which a run that is not of Slurm has not. */
void mad_check_nodes(const struct cfg_node *entry, struct problems *p);

/* --- mad_context.c --- */

/* Whether the context sends runs to a cluster; context NULL is fine. */
bool mad_on_slurm(const struct cfg_node *context);

/* --- mad_batch.c --- */

/* mad_batch_load of a text; name: of the file, for messages. */
int mad_batch_parse(struct mad_batch *ret, const char *text, size_t n, const char *name,
		    bool lenient, struct problems *p, struct strvec *notes);

/* --- mad_entry.c --- */

/* MAD_MULTI_NODE_RUNNER of a launcher (NULL: none named) and a number of GPUs (NULL, "-1": all);
 * owned. */
char *mad_runner(const char *launcher, const char *n_gpus);

/* --- mad_data.c --- */

/*
 * data: for a comma list of names, from the context's `data` and from data.json. Only what they
 * need of credential.json becomes secrets. Unknown keys go to unknown.
 */
void mad_data_config(const char *dir, const struct cfg_node *names, const struct cfg *context,
		     struct cfg *ret, struct problems *p, struct problems *unknown);
/* secrets: for the credential that n names. Its prefix is returned, owned. */
char *mad_cred_config(const char *dir, const struct cfg_node *n, struct cfg *ret,
		      struct problems *p);

/* --- mad_wrap.c --- */

struct mad_wrap {
	const char *out, *format; /* where a recording goes, and which of rocprofv3's it is */
	const char *counters;     /* the word for a file of tools/counters; NULL: none */
	bool own_words;           /* the tool has its own words for its wrapper */
};
enum mad_wrapped {
	MAD_WRAP_AS_IT_IS,
	MAD_WRAP_OWN,     /* the tool's own words replace them */
	MAD_WRAP_ROCPROF, /* replaced; rocprofv3 or rocprof is needed */
	MAD_WRAP_RTL      /* replaced; rtl is needed */
};
/*
 * Replaces the words that start a script of madengine's scripts/common/tools by profrig's
 * counterpart. *ret_counters: "counters/NAME" where `counters` stands for that file, owned; else
 * untouched.
 */
enum mad_wrapped mad_wrap(struct strvec *words, const struct mad_wrap *to, char **ret_counters);

#endif
