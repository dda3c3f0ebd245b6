/*
 * map_guard: files that are mapped while others may shorten them. Without it the first look at a
 * page that is gone ends the process with SIGBUS, and leaves its temporary files.
 *
 *	map_guard(p, len, name)		the bytes at p are of the file called name
 *	…				a page that is gone reads as zeros from here on
 *	map_let_go(p)			before munmap
 *	name = map_lost()		owned: of a file that lost pages since this was last asked;
 *					NULL: of none. What was read of it counts for nothing
 *
 * At most MAP_GUARD_MAX at a time: more are not guarded. Each call sets the handler of SIGBUS; a
 * SIGBUS elsewhere ends the process as ever. SIGBUS must not be blocked in threads that read.
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
