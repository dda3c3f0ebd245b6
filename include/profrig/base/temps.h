/*
 * temps: files and folders that must not outlive this process when a signal (or want of memory)
 * ends it before their owner could rename or remove them: Ctrl-C in the middle of a conversion
 * would leave its hidden half of 10 GB.
 *
 *	temps_hold(path)	before it is created; absolute, or the working directory stays
 *	…			written, closed
 *	rename or remove it
 *	temps_let_go(path)
 *
 *	temps_remove()		in the handler of the signal, and where memory ends, before _exit;
 *				nowhere else
 *
 * Only the process that holds a path removes it: a child between fork and exec has them too. More
 * than TEMPS_MAX at a time, and paths of PATH_MAX bytes, are not held: what they would leave is
 * found by `doctor` (fs_temp_name). Any thread.
 */
#ifndef PROFRIG_TEMPS_H
#define PROFRIG_TEMPS_H

#define TEMPS_MAX 64

void temps_hold(const char *path);
void temps_let_go(const char *path);
/*
 * Async-signal-safe: no memory, no locks. From here on temps_hold does not return in other threads,
 * so that nothing new begins.
 */
void temps_remove(void);

#endif
