/*
 * temps: removes temporary files and folders when a signal, or a lack of memory, ends this process
 * before they are renamed or removed. Without it Ctrl-C in a conversion leaves a hidden 10 GB file.
 *
 *	temps_hold(path)	before it is created; absolute, or the working directory stays
 *	…			written, closed
 *	rename or remove it
 *	temps_let_go(path)
 *
 *	temps_remove()		in the handler of the signal, and where memory ends, before _exit;
 *				nowhere else
 *
 * Only the process that called temps_hold removes a path; a forked child does not. Paths past
 * TEMPS_MAX at a time, and paths of PATH_MAX bytes, are not held: `doctor` finds their leftovers
 * (fs_temp_name). Any thread.
 */
#ifndef PROFRIG_TEMPS_H
#define PROFRIG_TEMPS_H

#define TEMPS_MAX 64

void temps_hold(const char *path);
/* Returns unless temps_remove has begun: before a folder is made for what is held then. */
void temps_wait(void);
void temps_let_go(const char *path);
/*
 * Async-signal-safe: no memory, no locks. From here on temps_hold and temps_wait do not return in
 * other threads, so that nothing new begins; what is held gets another name before it is removed,
 * so that what they have begun finds no place.
 */
void temps_remove(void);

#endif
