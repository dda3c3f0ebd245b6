/*
 * map_guard: files that are mapped while other programs may shorten them. Without it the first
 * access to a lost page ends the process with SIGBUS, and leaves its temporary files.
 *
 *	map_guard(p, len, name)		the bytes at p are of the file called name
 *	…				a lost page reads as zeros from here on
 *	map_let_go(p)			before munmap
 *	name = map_lost()		owned: a file that lost pages since the last call, whose
 *					data is invalid; NULL: none
 *
 * At most MAP_GUARD_MAX at a time: more are not guarded. Each call sets the handler of SIGBUS; a
 * SIGBUS elsewhere ends the process. SIGBUS must not be blocked in threads that read.
 * Any thread.
 */
#ifndef PROFRIG_MAP_GUARD_H
#define PROFRIG_MAP_GUARD_H

#include <stddef.h>

#define MAP_GUARD_MAX 1024

void map_guard(const void *p, size_t len, const char *name);
void map_let_go(const void *p);
char *map_lost(void);

#endif
