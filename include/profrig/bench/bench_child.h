/*
 * bench_child: the process that loads one library and calls it (`profrig __bench FD CPUS DRIVER
 * LIBRARY`).
 *
 * It speaks over a socket, FD, so that prints of the library do not get between these lines. Both
 * sides send lines of fields with tabs between them:
 *
 *	parent				child
 *					hello WIDE THREADS PATH VERSION DEVICE
 *	op CACHE ROTATE LIMIT KEY	ok BYTES FILL_NS CHOSEN SOLUTION
 *	check				ok ERROR NS	the result is right
 *	block N				ok NS ALL_NS CLOCK LOOP
 *							N calls took NS by the driver's timer,
 *							ALL_NS with the untimed one; in front of
 *							them CLOCK MHz and LOOP GFLOP/s, by
 *							bench_speed.h; 0: by a device
 *	drop				ok NS		the operands' memory is free again
 *
 * ROTATE: bytes over which operands change; LIMIT: bytes that it may have. Instead of each answer
 * it may say "no STATUS REASON", with the names of bench_status. It ends when the socket does, and
 * with its parent. It runs on CPUS ("0,1") alone, leaves no core, and writes no file, but for what
 * the runtime of a device keeps.
 */
#ifndef PROFRIG_BENCH_CHILD_H
#define PROFRIG_BENCH_CHILD_H

#define BENCH_CHILD_COMMAND "__bench"

/* Until the other side closes; the process then ends without running what the library left. */
_Noreturn void bench_child_main(int fd, const char *cpus, const char *driver, const char *library);

#endif
