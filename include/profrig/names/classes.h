/*
 * classes: the kind of work of a kernel, from its name by a table of rules: Tensile's "Cijk_" is a
 * matrix product, "ncclDevKernel_" a collective, "triton_poi_" a fused elementwise kernel. The
 * first rule that matches wins; without one the class is "other". Mangled names are demangled
 * before.
 *
 * A user's rules (--classes FILE, classes_file.h) come before the built-in ones, or replace them.
 * They are in the model (model.classes), so that all analyses of it agree.
 */
#ifndef PROFRIG_CLASSES_H
#define PROFRIG_CLASSES_H

#include <stdbool.h>

#include "profrig/base/vec.h"

struct class_rule {
	const char *class;
	/*
	 * part of the name in lower case; '^' in front: its start; '|' in front: not after a letter
	 */
	const char *pattern;
};

extern const struct class_rule class_rules[]; /* ends with class NULL */

struct kernel_classes {
	VEC(struct class_rule) rules; /* texts are borrowed */
	bool alone;                   /* without the built-in ones */
};

/* Never NULL. kc NULL: the built-in rules. */
const char *kernel_class_by(const struct kernel_classes *kc, const char *name);
const char *kernel_class(const char *name);

#endif
