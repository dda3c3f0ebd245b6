/* Tables of Nsight Systems exports, small. Process 10 has the thread 11, process 20 the thread 21.
 */
#ifndef NSYS_FIXTURE_H
#define NSYS_FIXTURE_H

#include "sqlite_fixture.h"

/* hardware 0, machine 1 */
#define PID(pid) "(281474976710656 + " #pid " * 16777216)"
#define TID(pid, tid) "(281474976710656 + " #pid " * 16777216 + " #tid ")"
#define PID_10 PID(10)
#define PID_20 PID(20)
#define TID_10_11 TID(10, 11)
#define TID_20_21 TID(20, 21)

#define NSYS_STRINGS \
	"CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);" \
	"INSERT INTO StringIds VALUES (1, 'k'), (2, 'void k<int>(int)'), (3, 'cudaLaunchKernel')," \
	" (4, 'cudaMemcpy'), (5, 'worker'), (6, 'registered'), (7, 'cudaGraphLaunch')," \
	" (8, 'NCCL'), (9, 'Buffer flush'), (10, 'poll');"

#define NSYS_KERNEL \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER," \
	" deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER," \
	" globalPid INTEGER, demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER);"
#define NSYS_MEMCPY \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, \"end\" INTEGER," \
	" deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER," \
	" globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
#define NSYS_RUNTIME \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER," \
	" eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER," \
	" returnValue INTEGER);"
#define NSYS_NVTX \
	"CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, eventType INTEGER, text TEXT," \
	" globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER," \
	" int64Value INTEGER);"
#define NSYS_NAMES \
	"CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);" \
	"CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);" \
	"INSERT INTO PROCESSES VALUES (" PID_10 \
	", 10, 'python3'), (" PID(30) ", 30, 'idle');" \
				      "INSERT INTO ThreadNames VALUES (5, 20, " TID_10_11 ");"

#define NSYS_BASE NSYS_STRINGS NSYS_KERNEL NSYS_MEMCPY NSYS_RUNTIME NSYS_NVTX NSYS_NAMES

/* Two processes whose calls have the same number 1; each launches one kernel. */
#define NSYS_SMALL \
	NSYS_BASE "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES" \
		  " (100, 200, 0, " TID_10_11 ", 1, 3, 0)," \
		  " (110, 210, 0, " TID_20_21 ", 1, 3, 0);" \
		  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES" \
		  " (300, 400, 0, 1, 7, 1, " PID_10 ", 2, 1, NULL)," \
		  " (310, 410, 0, 1, 7, 1, " PID_20 ", 2, 1, NULL);"

#endif
