/*
 * program_ranges: facts of compiled programs (program_facts) from the names that XLA gives its
 * ranges (names/xla_range.h), in any format, for spans of the host that have none. The device is
 * that of the thread, when its name is a launcher's.
 */
#ifndef PROGRAM_RANGES_H
#define PROGRAM_RANGES_H

struct model;

/* Before names are put into their normal form, which leaves out what is read here. */
void facts_of_programs(struct model *m);

#endif
