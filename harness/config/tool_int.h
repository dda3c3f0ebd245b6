/*
 * tool_int: between the reader of one tool file and the set of all.
 */
#ifndef PROFRIG_TOOL_INT_H
#define PROFRIG_TOOL_INT_H

#include "profrig/base/fields.h"
#include "profrig/config/runconf.h"
#include "profrig/config/tool.h"

extern const struct schema_key tool_table[];
/* Members of a file, an output, an option that fields_read reads. */
extern const struct field tool_fields[], tool_output_fields[], tool_option_fields[];

/* One with nothing in it. */
struct tool *tool_new(void);
/* Never NULL: faults of the file are in the tool's problems. dirs: the search path, for its
 * scripts. */
struct tool *tool_read(const char *path, const struct strvec *dirs);
/* In the tool file's folder, that folder's parent, then dirs likewise. Absolute and owned; NULL
 * when it is nowhere. */
char *tool_find_script(const char *file, const char *path, const struct strvec *dirs);
void tool_free(struct tool *t);

/* tool_control.c: `control` and `budget` of a tool file. */
void tool_read_control(struct tool *t, const struct cfg_node *root, const struct strvec *dirs);

#endif
