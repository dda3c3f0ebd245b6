/*
 * classes_file: a user's rules for the classes of kernels, as --classes takes them:
 *
 *	classes:
 *	  - {class: attention, pattern: "|my_fused_"}
 *	  - {class: moe, pattern: expert}
 *	built_in: true
 *
 * The first rule whose pattern is in a kernel's name decides; patterns are those of classes.h, in
 * any case. Behind the rules come the built-in ones, unless built_in is false.
 *
 * Life cycle: class_options_init, class_options_file, session_opts.classes = &o.classes, …,
 * class_options_release after the analysis.
 */
#ifndef PROFRIG_SESSION_CLASSES_FILE_H
#define PROFRIG_SESSION_CLASSES_FILE_H

#include "profrig/base/cfg.h"
#include "profrig/base/strvec.h"
#include "profrig/names/classes.h"

struct class_options {
	struct cfg file; /* owns the names of the classes */
	struct strvec patterns;
	struct kernel_classes classes;
};
void class_options_init(struct class_options *o);
void class_options_release(struct class_options *o);
/* As counter_options_file. */
int class_options_file(struct class_options *o, const char *path, struct problems *p,
		       struct err *err);

#endif
