/*
 * classes: what kind of work a kernel does, told from its name by one table of rules.
 *
 * Libraries and compilers have naming habits: Tensile's "Cijk_" is a matrix product,
 * "ncclDevKernel_" a collective, "triton_poi_" a fused elementwise kernel. Rules are tried in table
 * order, the first that matches wins; what none knows is "other".
 */
#ifndef PROFRIG_CLASSES_H
#define PROFRIG_CLASSES_H

struct class_rule {
	const char *class;
	/* A piece of the name in lower case. '^' in front: the name begins with it; '|' in front:
	 * no letter stands before it. */
	const char *pattern;
};

extern const struct class_rule class_rules[]; /* ends with class NULL */

/* Never NULL. */
const char *kernel_class(const char *name);

#endif
