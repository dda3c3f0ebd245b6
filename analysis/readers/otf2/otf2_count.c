#include "otf2_private.h"

/*
 * Records that no analysis asks for yet, by family. They are counted, and their times belong to the
 * range of the trace. One callback of the right type per kind, made from this list: kind, family,
 * what follows the common head.
 */
/* clang-format off */
#define COUNTED(X)                                                                                 \
	X(Unknown, UNKNOWN)                                                                        \
	X(BufferFlush, BUFFER_FLUSH, OTF2_TimeStamp)                                               \
	X(MeasurementOnOff, MEASUREMENT, OTF2_MeasurementMode)                                     \
	X(MpiIsendComplete, MPI_REQUEST, uint64_t)                                                 \
	X(MpiRequestTest, MPI_REQUEST, uint64_t)                                                   \
	X(MpiRequestCancelled, MPI_REQUEST, uint64_t)                                              \
	X(MpiCollectiveBegin, MPI_COLLECTIVE)                                                      \
	X(MpiCollectiveEnd, MPI_COLLECTIVE, OTF2_CollectiveOp, OTF2_CommRef, uint32_t, uint64_t,   \
	  uint64_t)                                                                                \
	X(NonBlockingCollectiveRequest, MPI_COLLECTIVE, uint64_t)                                  \
	X(NonBlockingCollectiveComplete, MPI_COLLECTIVE, OTF2_CollectiveOp, OTF2_CommRef,          \
	  uint32_t, uint64_t, uint64_t, uint64_t)                                                  \
	X(CommCreate, COMM, OTF2_CommRef)                                                          \
	X(CommDestroy, COMM, OTF2_CommRef)                                                         \
	X(OmpFork, THREAD, uint32_t)                                                               \
	X(OmpJoin, THREAD)                                                                         \
	X(OmpAcquireLock, THREAD, uint32_t, uint32_t)                                              \
	X(OmpReleaseLock, THREAD, uint32_t, uint32_t)                                              \
	X(OmpTaskCreate, THREAD, uint64_t)                                                         \
	X(OmpTaskSwitch, THREAD, uint64_t)                                                         \
	X(OmpTaskComplete, THREAD, uint64_t)                                                       \
	X(ThreadFork, THREAD, OTF2_Paradigm, uint32_t)                                             \
	X(ThreadJoin, THREAD, OTF2_Paradigm)                                                       \
	X(ThreadTeamBegin, THREAD, OTF2_CommRef)                                                   \
	X(ThreadTeamEnd, THREAD, OTF2_CommRef)                                                     \
	X(ThreadAcquireLock, THREAD, OTF2_Paradigm, uint32_t, uint32_t)                            \
	X(ThreadReleaseLock, THREAD, OTF2_Paradigm, uint32_t, uint32_t)                            \
	X(ThreadTaskCreate, THREAD, OTF2_CommRef, uint32_t, uint32_t)                              \
	X(ThreadTaskSwitch, THREAD, OTF2_CommRef, uint32_t, uint32_t)                              \
	X(ThreadTaskComplete, THREAD, OTF2_CommRef, uint32_t, uint32_t)                            \
	X(ThreadCreate, THREAD, OTF2_CommRef, uint64_t)                                            \
	X(ThreadBegin, THREAD, OTF2_CommRef, uint64_t)                                             \
	X(ThreadWait, THREAD, OTF2_CommRef, uint64_t)                                              \
	X(ThreadEnd, THREAD, OTF2_CommRef, uint64_t)                                               \
	X(RmaWinCreate, RMA, OTF2_RmaWinRef)                                                       \
	X(RmaWinDestroy, RMA, OTF2_RmaWinRef)                                                      \
	X(RmaCollectiveBegin, RMA)                                                                 \
	X(RmaCollectiveEnd, RMA, OTF2_CollectiveOp, OTF2_RmaSyncLevel, OTF2_RmaWinRef, uint32_t,   \
	  uint64_t, uint64_t)                                                                      \
	X(RmaGroupSync, RMA, OTF2_RmaSyncLevel, OTF2_RmaWinRef, OTF2_GroupRef)                     \
	X(RmaRequestLock, RMA, OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)                  \
	X(RmaAcquireLock, RMA, OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)                  \
	X(RmaTryLock, RMA, OTF2_RmaWinRef, uint32_t, uint64_t, OTF2_LockType)                      \
	X(RmaReleaseLock, RMA, OTF2_RmaWinRef, uint32_t, uint64_t)                                 \
	X(RmaSync, RMA, OTF2_RmaWinRef, uint32_t, OTF2_RmaSyncType)                                \
	X(RmaWaitChange, RMA, OTF2_RmaWinRef)                                                      \
	X(RmaPut, RMA, OTF2_RmaWinRef, uint32_t, uint64_t, uint64_t)                               \
	X(RmaGet, RMA, OTF2_RmaWinRef, uint32_t, uint64_t, uint64_t)                               \
	X(RmaAtomic, RMA, OTF2_RmaWinRef, uint32_t, OTF2_RmaAtomicType, uint64_t, uint64_t,        \
	  uint64_t)                                                                                \
	X(RmaOpCompleteBlocking, RMA, OTF2_RmaWinRef, uint64_t)                                    \
	X(RmaOpCompleteNonBlocking, RMA, OTF2_RmaWinRef, uint64_t)                                 \
	X(RmaOpTest, RMA, OTF2_RmaWinRef, uint64_t)                                                \
	X(RmaOpCompleteRemote, RMA, OTF2_RmaWinRef, uint64_t)                                      \
	X(CallingContextSample, CONTEXT_SAMPLE, OTF2_CallingContextRef, uint32_t,                  \
	  OTF2_InterruptGeneratorRef)                                                              \
	X(IoCreateHandle, IO, OTF2_IoHandleRef, OTF2_IoAccessMode, OTF2_IoCreationFlag,            \
	  OTF2_IoStatusFlag)                                                                       \
	X(IoDestroyHandle, IO, OTF2_IoHandleRef)                                                   \
	X(IoDuplicateHandle, IO, OTF2_IoHandleRef, OTF2_IoHandleRef, OTF2_IoStatusFlag)            \
	X(IoSeek, IO, OTF2_IoHandleRef, int64_t, OTF2_IoSeekOption, uint64_t)                      \
	X(IoChangeStatusFlags, IO, OTF2_IoHandleRef, OTF2_IoStatusFlag)                            \
	X(IoDeleteFile, IO, OTF2_IoParadigmRef, OTF2_IoFileRef)                                    \
	X(IoOperationBegin, IO, OTF2_IoHandleRef, OTF2_IoOperationMode, OTF2_IoOperationFlag,      \
	  uint64_t, uint64_t)                                                                      \
	X(IoOperationTest, IO, OTF2_IoHandleRef, uint64_t)                                         \
	X(IoOperationIssued, IO, OTF2_IoHandleRef, uint64_t)                                       \
	X(IoOperationComplete, IO, OTF2_IoHandleRef, uint64_t, uint64_t)                           \
	X(IoOperationCancelled, IO, OTF2_IoHandleRef, uint64_t)                                    \
	X(IoAcquireLock, IO, OTF2_IoHandleRef, OTF2_LockType)                                      \
	X(IoReleaseLock, IO, OTF2_IoHandleRef, OTF2_LockType)                                      \
	X(IoTryLock, IO, OTF2_IoHandleRef, OTF2_LockType)                                          \
	X(ProgramBegin, PROGRAM_BEGIN, OTF2_StringRef, uint32_t, const OTF2_StringRef *)           \
	X(ProgramEnd, PROGRAM_END, int64_t)
/* clang-format on */

#define X(kind, family, ...) \
	static OTF2_CallbackCode count_##kind( \
		OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user, \
		OTF2_AttributeList *attributes __VA_OPT__(, ) __VA_ARGS__) \
	{ \
		(void)location, (void)position, (void)attributes; \
		otf2_tick(user, OTF2_COUNT_##family, time); \
		return OTF2_CALLBACK_SUCCESS; \
	}
COUNTED(X)
#undef X

int otf2_count_callbacks(OTF2_EvtReaderCallbacks *c)
{
	int bad = 0;

#define X(kind, ...) \
	bad |= OTF2_EvtReaderCallbacks_Set##kind##Callback(c, count_##kind) != OTF2_SUCCESS;
	COUNTED(X)
#undef X
	return bad;
}
