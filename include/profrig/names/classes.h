/*
 * classes: the kind of work of a kernel, from its name by a table of rules: Tensile's "Cijk_" is a
 * matrix product, "ncclDevKernel_" a collective, "triton_poi_" a fused elementwise kernel. The
 * first rule that matches wins; without one the class is "other".
 */
#ifndef PROFRIG_CLASSES_H
#define PROFRIG_CLASSES_H

struct class_rule {
	const char *class;
	/*
	 * part of the name in lower case; '^' in front: its start; '|' in front: not after a letter
	 */
	const char *pattern;
};

extern const struct class_rule class_rules[]; /* ends with class NULL */

/* Never NULL. */
const char *kernel_class(const char *name);

#endif
