/*
 * Event files as profrig's walk reads them and as libotf2 does: each kind of record, random
 * archives, the other byte order.
 */
#include "otf2_support.h"
#include "tests/fixtures/gen/otf2_gen.c"

/* libotf2 deprecates the records of OpenMP, and reads and writes them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* A field in a record: a byte, a number of at most that many, or a number that a map may change. */
enum field {
	U8 = 1,
	U32 = 4,
	U64 = 8,
	I64 = 8,
	TIME = 9, /* eight bytes as they are */
	REFERENCE = 16,
	STRING = REFERENCE + OTF2_MAPPING_STRING,
	REGION = REFERENCE + OTF2_MAPPING_REGION,
	GROUP = REFERENCE + OTF2_MAPPING_GROUP,
	METRIC = REFERENCE + OTF2_MAPPING_METRIC,
	COMM = REFERENCE + OTF2_MAPPING_COMM,
	PARAMETER = REFERENCE + OTF2_MAPPING_PARAMETER,
	RMA_WIN = REFERENCE + OTF2_MAPPING_RMA_WIN,
	CONTEXT = REFERENCE + OTF2_MAPPING_CALLING_CONTEXT,
	GENERATOR = REFERENCE + OTF2_MAPPING_INTERRUPT_GENERATOR,
	IO_FILE = REFERENCE + OTF2_MAPPING_IO_FILE,
	IO_HANDLE = REFERENCE + OTF2_MAPPING_IO_HANDLE,
};
typedef uint8_t T_U8;
typedef uint32_t T_U32, T_STRING, T_REGION, T_GROUP, T_COMM, T_PARAMETER, T_RMA_WIN, T_CONTEXT,
	T_GENERATOR, T_IO_FILE, T_IO_HANDLE;
typedef uint64_t T_U64, T_TIME;
typedef int64_t T_I64;

/* Type, libotf2's name, what it is counted as, how many fields, fields. Beside these: METRIC_EVENT
 * and PROGRAM_BEGIN. */
/* clang-format off */
#define EVENTS(X) \
	X(10, BufferFlush, BUFFER_FLUSH, 1, TIME) \
	X(11, MeasurementOnOff, MEASUREMENT, 1, U8) \
	X(12, Enter, ENTER, 1, REGION) \
	X(13, Leave, LEAVE, 1, REGION) \
	X(14, MpiSend, MPI_SEND, 4, U32, COMM, U32, U64) \
	X(15, MpiIsend, MPI_ISEND, 5, U32, COMM, U32, U64, U64) \
	X(16, MpiIsendComplete, MPI_REQUEST, 1, U64) \
	X(17, MpiIrecvRequest, MPI_REQUEST, 1, U64) \
	X(18, MpiRecv, MPI_RECV, 4, U32, COMM, U32, U64) \
	X(19, MpiIrecv, MPI_IRECV, 5, U32, COMM, U32, U64, U64) \
	X(20, MpiRequestTest, MPI_REQUEST, 1, U64) \
	X(21, MpiRequestCancelled, MPI_REQUEST, 1, U64) \
	X(22, MpiCollectiveBegin, MPI_COLLECTIVE, 0) \
	X(23, MpiCollectiveEnd, MPI_COLLECTIVE, 5, U8, COMM, U32, U64, U64) \
	X(24, OmpFork, THREAD, 1, U32) \
	X(25, OmpJoin, THREAD, 0) \
	X(26, OmpAcquireLock, THREAD, 2, U32, U32) \
	X(27, OmpReleaseLock, THREAD, 2, U32, U32) \
	X(28, OmpTaskCreate, THREAD, 1, U64) \
	X(29, OmpTaskSwitch, THREAD, 1, U64) \
	X(30, OmpTaskComplete, THREAD, 1, U64) \
	X(32, ParameterString, PARAMETER, 2, PARAMETER, STRING) \
	X(33, ParameterInt, PARAMETER, 2, PARAMETER, I64) \
	X(34, ParameterUnsignedInt, PARAMETER, 2, PARAMETER, U64) \
	X(35, RmaWinCreate, RMA, 1, RMA_WIN) \
	X(36, RmaWinDestroy, RMA, 1, RMA_WIN) \
	X(37, RmaCollectiveBegin, RMA, 0) \
	X(38, RmaCollectiveEnd, RMA, 6, U8, U32, RMA_WIN, U32, U64, U64) \
	X(39, RmaGroupSync, RMA, 3, U32, RMA_WIN, GROUP) \
	X(40, RmaRequestLock, RMA, 4, RMA_WIN, U32, U64, U8) \
	X(41, RmaAcquireLock, RMA, 4, RMA_WIN, U32, U64, U8) \
	X(42, RmaTryLock, RMA, 4, RMA_WIN, U32, U64, U8) \
	X(43, RmaReleaseLock, RMA, 3, RMA_WIN, U32, U64) \
	X(44, RmaSync, RMA, 3, RMA_WIN, U32, U8) \
	X(45, RmaWaitChange, RMA, 1, RMA_WIN) \
	X(46, RmaPut, RMA, 4, RMA_WIN, U32, U64, U64) \
	X(47, RmaGet, RMA, 4, RMA_WIN, U32, U64, U64) \
	X(48, RmaAtomic, RMA, 6, RMA_WIN, U32, U8, U64, U64, U64) \
	X(49, RmaOpCompleteBlocking, RMA, 2, RMA_WIN, U64) \
	X(50, RmaOpCompleteNonBlocking, RMA, 2, RMA_WIN, U64) \
	X(51, RmaOpTest, RMA, 2, RMA_WIN, U64) \
	X(52, RmaOpCompleteRemote, RMA, 2, RMA_WIN, U64) \
	X(53, ThreadFork, THREAD, 2, U8, U32) \
	X(54, ThreadJoin, THREAD, 1, U8) \
	X(55, ThreadTeamBegin, THREAD, 1, COMM) \
	X(56, ThreadTeamEnd, THREAD, 1, COMM) \
	X(57, ThreadAcquireLock, THREAD, 3, U8, U32, U32) \
	X(58, ThreadReleaseLock, THREAD, 3, U8, U32, U32) \
	X(59, ThreadTaskCreate, THREAD, 3, COMM, U32, U32) \
	X(60, ThreadTaskSwitch, THREAD, 3, COMM, U32, U32) \
	X(61, ThreadTaskComplete, THREAD, 3, COMM, U32, U32) \
	X(62, ThreadCreate, THREAD, 2, COMM, U64) \
	X(63, ThreadBegin, THREAD, 2, COMM, U64) \
	X(64, ThreadWait, THREAD, 2, COMM, U64) \
	X(65, ThreadEnd, THREAD, 2, COMM, U64) \
	X(66, CallingContextEnter, CONTEXT_ENTER, 2, CONTEXT, U32) \
	X(67, CallingContextLeave, CONTEXT_LEAVE, 1, CONTEXT) \
	X(68, CallingContextSample, CONTEXT_SAMPLE, 3, CONTEXT, U32, GENERATOR) \
	X(69, IoCreateHandle, IO, 4, IO_HANDLE, U8, U32, U32) \
	X(70, IoDestroyHandle, IO, 1, IO_HANDLE) \
	X(71, IoDuplicateHandle, IO, 3, IO_HANDLE, IO_HANDLE, U32) \
	X(72, IoSeek, IO, 4, IO_HANDLE, I64, U8, U64) \
	X(73, IoChangeStatusFlags, IO, 2, IO_HANDLE, U32) \
	X(74, IoDeleteFile, IO, 2, U8, IO_FILE) \
	X(75, IoOperationBegin, IO, 5, IO_HANDLE, U8, U32, U64, U64) \
	X(76, IoOperationTest, IO, 2, IO_HANDLE, U64) \
	X(77, IoOperationIssued, IO, 2, IO_HANDLE, U64) \
	X(78, IoOperationComplete, IO, 3, IO_HANDLE, U64, U64) \
	X(79, IoOperationCancelled, IO, 2, IO_HANDLE, U64) \
	X(80, IoAcquireLock, IO, 2, IO_HANDLE, U8) \
	X(81, IoReleaseLock, IO, 2, IO_HANDLE, U8) \
	X(82, IoTryLock, IO, 2, IO_HANDLE, U8) \
	X(84, ProgramEnd, PROGRAM_END, 1, I64) \
	X(85, NonBlockingCollectiveRequest, MPI_COLLECTIVE, 1, U64) \
	X(86, NonBlockingCollectiveComplete, MPI_COLLECTIVE, 6, U8, COMM, U32, U64, U64, U64) \
	X(87, CommCreate, COMM, 1, COMM) \
	X(88, CommDestroy, COMM, 1, COMM)

#define PARAMS_0(...)
#define PARAMS_1(A) , T_##A a
#define PARAMS_2(A, B) PARAMS_1(A), T_##B b
#define PARAMS_3(A, B, C) PARAMS_2(A, B), T_##C c
#define PARAMS_4(A, B, C, D) PARAMS_3(A, B, C), T_##D d
#define PARAMS_5(A, B, C, D, E) PARAMS_4(A, B, C, D), T_##E e
#define PARAMS_6(A, B, C, D, E, F) PARAMS_5(A, B, C, D, E), T_##F f
#define VALUES_0
#define VALUES_1 , a
#define VALUES_2 VALUES_1, b
#define VALUES_3 VALUES_2, c
#define VALUES_4 VALUES_3, d
#define VALUES_5 VALUES_4, e
#define VALUES_6 VALUES_5, f
/* clang-format on */

enum {
	ATTRIBUTES = 6,
	FIRST_TYPE = 10,
	METRIC_EVENT = 31,
	PARAMETER_STRING = 32,
	PROGRAM_BEGIN = 83,
	LAST_TYPE = 88,
	THREAD = 7,          /* the location of otf2_gen_simple */
	LONG_PROGRAM = 20000 /* arguments: more bytes than a walk's buffer */
};

static const struct {
	enum otf2_count count;
	size_t nr;
	enum field fields[6];
} kinds[UINT8_MAX + 1] = {
	[0 ... FIRST_TYPE - 1] = { .count = OTF2_COUNT_UNKNOWN },
	[LAST_TYPE + 1 ... UINT8_MAX] = { .count = OTF2_COUNT_UNKNOWN },
#define X(type, name, what, n, ...) [type] = { OTF2_COUNT_##what, n, { __VA_ARGS__ } },
	EVENTS(X)
#undef X
		[METRIC_EVENT] = { .count = OTF2_COUNT_METRIC },
	[PROGRAM_BEGIN] = { .count = OTF2_COUNT_PROGRAM_BEGIN },
};

/* Bytes of a value in an attribute list as they are; 0: it is a number. */
static size_t attribute_size(OTF2_Type type)
{
	static const uint8_t sizes[] = {
		[OTF2_TYPE_UINT8] = 1, [OTF2_TYPE_UINT16] = 2, [OTF2_TYPE_INT8] = 1,
		[OTF2_TYPE_INT16] = 2, [OTF2_TYPE_FLOAT] = 4,  [OTF2_TYPE_DOUBLE] = 8,
	};

	return type < ARRAY_LEN(sizes) ? sizes[type] : 0;
}

/* ---- archives ---- */

/* Of each length, and "undefined". */
static uint64_t value_draw(uint64_t *seed, enum field field)
{
	uint64_t v = rnd(seed) >> rnd(seed) % 64;

	if (rnd(seed) % 8 == 0)
		v = UINT64_MAX;
	else if (field >= REFERENCE)
		v %= 120;
	return field == U8 ? v & UINT8_MAX : field == U64 || field == TIME ? v : v & UINT32_MAX;
}

static OTF2_ErrorCode metric_write(OTF2_EvtWriter *w, OTF2_AttributeList *attributes, uint64_t t,
				   uint64_t *seed)
{
	static const OTF2_Type numbers[] = { OTF2_TYPE_UINT64, OTF2_TYPE_INT64, OTF2_TYPE_DOUBLE };
	uint8_t nr = (uint8_t)(rnd(seed) % 8 ? rnd(seed) % 9 : rnd(seed));
	OTF2_Type types[UINT8_MAX];
	OTF2_MetricValue v[UINT8_MAX];

	for (size_t i = 0; i < nr; i++) {
		types[i] = numbers[rnd(seed) % ARRAY_LEN(numbers)];
		v[i].unsigned_int = value_draw(seed, U64);
		if (types[i] == OTF2_TYPE_DOUBLE)
			v[i].floating_point = (double)(int64_t)v[i].unsigned_int / 7;
	}
	return OTF2_EvtWriter_Metric(w, attributes, t, (uint32_t)value_draw(seed, METRIC), nr,
				     types, v);
}

static OTF2_ErrorCode program_write(OTF2_EvtWriter *w, OTF2_AttributeList *attributes, uint64_t t,
				    uint64_t *seed)
{
	uint32_t nr = rnd(seed) % 32 ? (uint32_t)(rnd(seed) % 200) : LONG_PROGRAM;
	CLEANUP(xfreep) uint32_t *v = xcalloc(nr + 1, sizeof(*v));

	for (size_t i = 0; i <= nr; i++)
		v[i] = (uint32_t)value_draw(seed, i % 2 ? U32 : STRING);
	return OTF2_EvtWriter_ProgramBegin(w, attributes, t, v[nr], nr, v);
}

static void event_write(OTF2_EvtWriter *w, OTF2_AttributeList *attributes, uint64_t t,
			unsigned type, uint64_t *seed)
{
	uint64_t a = value_draw(seed, kinds[type].fields[0]);
	uint64_t b = value_draw(seed, kinds[type].fields[1]);
	uint64_t c = value_draw(seed, kinds[type].fields[2]);
	uint64_t d = value_draw(seed, kinds[type].fields[3]);
	uint64_t e = value_draw(seed, kinds[type].fields[4]);
	uint64_t f = value_draw(seed, kinds[type].fields[5]);
	OTF2_ErrorCode code = OTF2_ERROR_INVALID_RECORD;

	/* an end of a flush after the event would move libotf2's clock on */
	if (kinds[type].fields[0] == TIME)
		a = t;
	switch (type) {
#define X(id, name, what, n, ...) \
	case id: \
		code = OTF2_EvtWriter_##name(w, attributes, t VALUES_##n); \
		break;
		EVENTS(X)
#undef X
	case METRIC_EVENT:
		code = metric_write(w, attributes, t, seed);
		break;
	case PROGRAM_BEGIN:
		code = program_write(w, attributes, t, seed);
		break;
	default:
		break;
	}
	assert_int_equal(code, OTF2_SUCCESS);
}

static void attributes_draw(OTF2_AttributeList *list, uint64_t *seed)
{
	for (uint32_t ref = 0; ref < 4; ref++) {
		OTF2_AttributeValue v = { .uint64 = value_draw(seed, U64) };
		OTF2_Type type =
			(OTF2_Type)(OTF2_TYPE_UINT8 + rnd(seed) % OTF2_TYPE_LOCATION_GROUP);

		if (type == OTF2_TYPE_LOCATION)
			continue; /* the only reference of eight bytes */
		if (type >= OTF2_TYPE_STRING)
			v.uint64 = value_draw(seed, REFERENCE);
		OTF2_AttributeList_AddAttribute(list, 30 * ref, type, v);
	}
}

/* Dense ones name each reference from 0 on, sparse ones leave some out. */
static void maps_draw(struct otf2_gen *g, uint64_t *seed)
{
	for (unsigned type = 0; type < OTF2_MAPPING_MAX; type++) {
		bool sparse = rnd(seed) % 2;
		uint64_t nr = 1 + rnd(seed) % 150, base = rnd(seed) % 1009;
		OTF2_IdMap *map;

		if (rnd(seed) % 3 == 0)
			continue;
		map = OTF2_IdMap_Create(sparse ? OTF2_ID_MAP_SPARSE : OTF2_ID_MAP_DENSE, nr);
		for (uint64_t i = 0; i < nr; i++)
			if (!sparse || i == 0 || rnd(seed) % 2)
				OTF2_IdMap_AddIdPair(map, i, 200 + (i * 37 + base) % 1009);
		otf2_gen_map(g, THREAD, (OTF2_MappingType)type, map);
	}
}

static void archive_draw(const char *dir, uint64_t seed, size_t events)
{
	OTF2_AttributeList *list = OTF2_AttributeList_New();
	uint64_t t = rnd(&seed) >> (8 + rnd(&seed) % 50), first = t;
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, dir, 1000000000);

	for (size_t i = 0; i < events; i++) {
		unsigned type = FIRST_TYPE + (unsigned)(rnd(&seed) % (LAST_TYPE - FIRST_TYPE + 1));
		bool attributes = rnd(&seed) % 16 == 0;

		if (rnd(&seed) % 2)
			type = rnd(&seed) % 2 ? OTF2_EVENT_ENTER : OTF2_EVENT_LEAVE;
		if (rnd(&seed) % 3)
			t += rnd(&seed) >> (40 + rnd(&seed) % 24);
		if (attributes)
			attributes_draw(list, &seed);
		event_write(w, attributes ? list : NULL, t, type, &seed);
	}
	OTF2_AttributeList_Delete(list);
	if (seed % 4)
		maps_draw(g, &seed);
	/* the last one before the last event, or after it */
	for (uint64_t i = 0, nr = rnd(&seed) % 6, at = first; i < nr; i++) {
		otf2_gen_clock_offset_at(g, THREAD, at,
					 (int64_t)rnd(&seed) >> (20 + rnd(&seed) % 40));
		at += 1 + rnd(&seed) % ((t - first) / 3 + 2);
	}
	otf2_gen_close(g);
}

/* ---- both readers at once ---- */

/* The walk goes on by one record for each that libotf2 delivers. */
struct both {
	struct otf2_walk walk;
	struct otf2_location l;
	bool apply; /* maps and clock */
	int64_t counts[OTF2_COUNT_NR];
};

static void field_same(struct both *b, struct otf2_fields *f, unsigned field, uint64_t want)
{
	uint64_t v = field == U8     ? otf2_byte(f)
		     : field == TIME ? otf2_full(f, 8)
				     : otf2_number(f, field == U64 ? 8 : 4);

	if (b->apply && field >= REFERENCE)
		v = otf2_global(&b->l, (OTF2_MappingType)(field - REFERENCE), v);
	if (b->apply && field == TIME)
		v = otf2_corrected(&b->l, v);
	if (v != want)
		fail_msg("record %" PRIu64 ": %" PRIu64 ", libotf2: %" PRIu64, b->walk.records, v,
			 want);
}

static void fields_end(const struct both *b, const struct otf2_fields *f)
{
	if (f->p != f->end || f->bad)
		fail_msg("record %" PRIu64 ": %zd bytes are left%s", b->walk.records, f->end - f->p,
			 f->bad ? ", bad" : "");
}

static void attributes_same(struct both *b, const OTF2_AttributeList *list)
{
	struct otf2_fields f = otf2_walk_attributes(&b->walk);
	uint32_t nr = OTF2_AttributeList_GetNumberOfElements(list);

	assert_int_equal(f.p < f.end ? otf2_number(&f, 4) : 0, nr);
	for (uint32_t i = 0; i < nr; i++) {
		OTF2_AttributeValue v = { .uint64 = 0 };
		OTF2_AttributeRef ref;
		OTF2_Type type;
		size_t n;

		assert_int_equal(OTF2_AttributeList_GetAttributeByIndex(list, i, &ref, &type, &v),
				 OTF2_SUCCESS);
		field_same(b, &f, REFERENCE + OTF2_MAPPING_ATTRIBUTE, ref);
		field_same(b, &f, U8, type);
		n = attribute_size(type);
		if (n)
			assert_int_equal(otf2_full(&f, n),
					 otf2_bytes((unsigned char *)&v, n, false));
		else if (type == OTF2_TYPE_UINT32 || type == OTF2_TYPE_INT32)
			field_same(b, &f, U32, v.uint32);
		else if (type < OTF2_TYPE_STRING)
			field_same(b, &f, U64, v.uint64);
		else
			field_same(b, &f, REFERENCE + type - OTF2_TYPE_STRING, v.uint32);
	}
	fields_end(b, &f);
}

static struct otf2_fields record_same(struct both *b, unsigned type, uint64_t t,
				      const OTF2_AttributeList *attributes)
{
	struct otf2_record r;

	if (!otf2_walk_next(&b->walk, &r))
		fail_msg("after %" PRIu64 " records: %s", b->walk.records, b->walk.why);
	if (type)
		assert_int_equal(r.type, type);
	assert_int_equal(b->apply ? otf2_corrected(&b->l, r.ticks) : r.ticks, t);
	attributes_same(b, attributes);
	b->counts[kinds[r.type].count]++;
	return r.fields;
}

static OTF2_CallbackCode event_same(struct both *b, unsigned type, uint64_t t,
				    const OTF2_AttributeList *attributes, const uint64_t *v)
{
	struct otf2_fields f = record_same(b, type, t, attributes);

	for (size_t i = 0; i < kinds[type].nr; i++)
		field_same(b, &f, kinds[type].fields[i], v[i]);
	fields_end(b, &f);
	return OTF2_CALLBACK_SUCCESS;
}

#define CALLBACK(name, ...) \
	static OTF2_CallbackCode on_##name(OTF2_LocationRef location UNUSED, OTF2_TimeStamp time, \
					   uint64_t position UNUSED, void *user, \
					   OTF2_AttributeList *attributes __VA_ARGS__)
#define X(type, name, what, n, ...) \
	CALLBACK(name, PARAMS_##n(__VA_ARGS__)) \
	{ \
		const uint64_t v[] = { 0 VALUES_##n }; \
\
		return event_same(user, type, time, attributes, v + 1); \
	}
EVENTS(X)
#undef X

CALLBACK(Metric, , uint32_t metric, uint8_t nr, const OTF2_Type *types, const OTF2_MetricValue *v)
{
	struct otf2_fields f = record_same(user, METRIC_EVENT, time, attributes);

	field_same(user, &f, METRIC, metric);
	field_same(user, &f, U8, nr);
	for (size_t i = 0; i < nr; i++) {
		field_same(user, &f, U8, types[i]);
		field_same(user, &f, U64, v[i].unsigned_int);
	}
	fields_end(user, &f);
	return OTF2_CALLBACK_SUCCESS;
}

CALLBACK(ProgramBegin, , uint32_t program, uint32_t nr, const uint32_t *arguments)
{
	struct otf2_fields f = record_same(user, PROGRAM_BEGIN, time, attributes);

	field_same(user, &f, STRING, program);
	field_same(user, &f, U32, nr);
	for (size_t i = 0; i < nr; i++)
		field_same(user, &f, STRING, arguments[i]);
	fields_end(user, &f);
	return OTF2_CALLBACK_SUCCESS;
}

CALLBACK(Unknown)
{
	record_same(user, 0, time, attributes);
	return OTF2_CALLBACK_SUCCESS;
}

static void callbacks_register(OTF2_Reader *reader, OTF2_EvtReader *events, struct both *b)
{
	OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();

	OTF2_EvtReaderCallbacks_SetUnknownCallback(c, on_Unknown);
	OTF2_EvtReaderCallbacks_SetMetricCallback(c, on_Metric);
	OTF2_EvtReaderCallbacks_SetProgramBeginCallback(c, on_ProgramBegin);
#define X(type, name, what, n, ...) OTF2_EvtReaderCallbacks_Set##name##Callback(c, on_##name);
	EVENTS(X)
#undef X
	assert_int_equal(OTF2_Reader_RegisterEvtCallbacks(reader, events, c, b), OTF2_SUCCESS);
	OTF2_EvtReaderCallbacks_Delete(c);
}

static void local_read(OTF2_Reader *reader, struct otf2_local *local)
{
	OTF2_DefReaderCallbacks *c = otf2_local_callbacks();
	OTF2_DefReader *defs;
	uint64_t read;

	assert_int_equal(OTF2_Reader_OpenDefFiles(reader), OTF2_SUCCESS);
	defs = OTF2_Reader_GetDefReader(reader, THREAD);
	assert_int_equal(OTF2_Reader_RegisterDefCallbacks(reader, defs, c, local), OTF2_SUCCESS);
	assert_int_equal(OTF2_Reader_ReadAllLocalDefinitions(reader, defs, &read), OTF2_SUCCESS);
	OTF2_Reader_CloseDefReader(reader, defs);
	OTF2_Reader_CloseDefFiles(reader);
	OTF2_DefReaderCallbacks_Delete(c);
}

/* libotf2 reads the archive, and the walk the file at evt. Leaves the counts in b. */
static void both_read(const char *archive, const char *evt, bool apply, struct both *b)
{
	CLEANUP(xfreep) char *anchor = fs_join(archive, "traces.otf2");
	struct otf2_local local = { .compared = false };
	OTF2_Reader *reader = OTF2_Reader_Open(anchor);
	OTF2_EvtReader *events;
	struct otf2_record r;
	uint64_t read;

	*b = (struct both){ .l.local = &local, .apply = apply };
	assert_int_equal(OTF2_Reader_SetSerialCollectiveCallbacks(reader), OTF2_SUCCESS);
	assert_int_equal(OTF2_Reader_SelectLocation(reader, THREAD), OTF2_SUCCESS);
	local_read(reader, &local);
	assert_int_equal(OTF2_Reader_OpenEvtFiles(reader), OTF2_SUCCESS);
	events = OTF2_Reader_GetEvtReader(reader, THREAD);
	callbacks_register(reader, events, b);
	assert_int_equal(OTF2_EvtReader_ApplyMappingTables(events, apply), OTF2_SUCCESS);
	assert_int_equal(OTF2_EvtReader_ApplyClockOffsets(events, apply), OTF2_SUCCESS);
	assert_int_equal(otf2_walk_open(&b->walk, evt, OTF2_CHUNK_SIZE_MIN, OTF2_FILE_EVENTS, NULL),
			 0);
	assert_int_equal(OTF2_Reader_ReadAllLocalEvents(reader, events, &read), OTF2_SUCCESS);
	assert_int_equal(b->walk.records, read);
	assert_false(otf2_walk_next(&b->walk, &r));
	assert_true(b->walk.complete);
	otf2_walk_close(&b->walk);
	OTF2_Reader_CloseEvtReader(reader, events);
	OTF2_Reader_CloseEvtFiles(reader);
	OTF2_Reader_Close(reader);
	VEC_RELEASE(&local.clock);
}

/* What `info` says of the archive. */
static void facts_same(const char *archive, const struct both *b)
{
	static const char *const names[] = {
#define X(id, name) name,
		OTF2_COUNTS(X)
#undef X
	};
	CLEANUP(model_freep) struct model *m = model_new();

	/* a corrected time may be out of a model's range, and the archive is whole all the same */
	assert_int_equal(reader_otf2.read(archive, model_sink(m), NULL, NULL), 0);
	model_finish(m);
	assert_int_equal(fact(m, "events"), b->walk.records);
	for (size_t i = 0; i < OTF2_COUNT_NR; i++) {
		int64_t want = b->counts[i] ? b->counts[i] : -1; /* no fact */

		if (fact(m, names[i]) != want)
			fail_msg("%s: %" PRId64 ", not %" PRId64, names[i], fact(m, names[i]),
				 want);
	}
}

IN_PLACE(every_kind)
{
	CLEANUP(xfreep) char *evt = fs_join(p->archive, "traces/7.evt");
	struct otf2_record r;
	struct otf2_walk walk;
	struct otf2_gen *g;
	OTF2_EvtWriter *w = otf2_gen_simple(&g, p->archive, 1000000000);
	uint64_t seed = 1;
	struct both b;

	for (unsigned type = FIRST_TYPE; type <= LAST_TYPE; type++)
		event_write(w, NULL, 1000 + type / 3, type, &seed);
	otf2_gen_close(g);
	assert_int_equal(otf2_walk_open(&walk, evt, OTF2_CHUNK_SIZE_MIN, OTF2_FILE_EVENTS, NULL),
			 0);
	for (unsigned type = FIRST_TYPE; type <= LAST_TYPE; type++) {
		assert_true(otf2_walk_next(&walk, &r));
		assert_int_equal(r.type, type);
		assert_int_equal(r.ticks, 1000 + type / 3);
	}
	assert_false(otf2_walk_next(&walk, &r));
	assert_true(walk.complete);
	otf2_walk_close(&walk);
	both_read(p->archive, evt, false, &b);
	facts_same(p->archive, &b);
}

/* Gives every third string parameter a type of a later libotf2. */
static void unknown_make(const char *evt)
{
	CLEANUP(xfreep) char *data = NULL;
	struct otf2_walk walk;
	struct otf2_record r;
	size_t n, nr = 0;

	assert_int_equal(fs_read(evt, SIZE_MAX >> 1, &data, &n, NULL), 0);
	assert_int_equal(otf2_walk_open(&walk, evt, OTF2_CHUNK_SIZE_MIN, OTF2_FILE_EVENTS, NULL),
			 0);
	while (otf2_walk_next(&walk, &r)) {
		uint64_t at = walk.next - (uint64_t)(walk.end - r.fields.p) - 2;

		if (r.type == PARAMETER_STRING && nr++ % 3 == 0) {
			assert_int_equal(data[at], PARAMETER_STRING);
			data[at] = (char)(LAST_TYPE + 1 + nr % 100);
		}
	}
	otf2_walk_close(&walk);
	assert_int_equal(fs_write_atomic(evt, data, n, NULL), 0);
}

IN_PLACE(random_archives)
{
	CLEANUP(xfreep) char *evt = fs_join(p->archive, "traces/7.evt");
	uint64_t records = 0, pieces = 0, unknown = 0, seeds = test_cases(40);

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct both b;

		archive_draw(p->archive, seed * UINT64_C(7919), 1 + 700 * (seed % 40));
		if (seed % 2)
			unknown_make(evt);
		both_read(p->archive, evt, false, &b);
		facts_same(p->archive, &b);
		both_read(p->archive, evt, true, &b);
		records += b.walk.records;
		pieces += b.l.clock_piece;
		unknown += (uint64_t)b.counts[OTF2_COUNT_UNKNOWN];
		assert_int_equal(fs_remove_tree(p->archive, NULL), 0);
	}
	print_message("%" PRIu64 " archives, %" PRIu64 " records, %" PRIu64
		      " of unknown types, %" PRIu64 " comparisons of clocks passed\n",
		      seeds, records, unknown, pieces);
}

/* ---- the other byte order ---- */

static unsigned char *bytes_turn(unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		unsigned char c = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = c;
	}
	return p + n;
}

static uint64_t number_turn(unsigned char **p)
{
	size_t n = **p == UINT8_MAX ? 0 : **p;
	uint64_t v = otf2_bytes(*p + 1, n, false);

	*p = bytes_turn(*p + 1, n);
	return v;
}

static void numbers_turn(unsigned char **p, uint64_t n)
{
	while (n--)
		number_turn(p);
}

static unsigned char *attributes_turn(unsigned char *p)
{
	for (uint64_t nr = number_turn(&p); nr; nr--) {
		size_t n;

		number_turn(&p);
		n = attribute_size(*p++);
		if (n)
			p = bytes_turn(p, n);
		else
			number_turn(&p);
	}
	return p;
}

static unsigned char *fields_turn(unsigned char *p, unsigned type)
{
	if (type == METRIC_EVENT) {
		number_turn(&p);
		for (size_t nr = *p++; nr; nr--) {
			p++;
			number_turn(&p);
		}
	} else if (type == PROGRAM_BEGIN) {
		number_turn(&p);
		numbers_turn(&p, number_turn(&p));
	}
	for (size_t i = 0; i < kinds[type].nr; i++) {
		if (kinds[type].fields[i] == U8)
			p++;
		else if (kinds[type].fields[i] == TIME)
			p = bytes_turn(p, 8);
		else
			number_turn(&p);
	}
	return p;
}

static unsigned char *record_turn(unsigned char *p)
{
	/* one number each, without a length */
	static const char alone[] = { 12, 13, 16, 17, 20, 21, 24, 28, 29, 30, 0 };
	unsigned type = *p++;
	uint64_t n;

	if (type == OTF2_MARK_TIME)
		return bytes_turn(p, 8);
	if (strchr(alone, (int)type))
		return fields_turn(p, type);
	n = *p++;
	if (n == UINT8_MAX) {
		n = otf2_bytes(p, 8, false);
		p = bytes_turn(p, 8);
	}
	if (type == ATTRIBUTES)
		return attributes_turn(p);
	return type > LAST_TYPE ? p + n : fields_turn(p, type);
}

static void file_turn(const char *from, const char *to)
{
	CLEANUP(xfreep) char *data = NULL;
	size_t n;

	assert_int_equal(fs_read(from, SIZE_MAX >> 1, &data, &n, NULL), 0);
	for (size_t at = 0; at < n; at += OTF2_CHUNK_SIZE_MIN) {
		unsigned char *p = (unsigned char *)data + at;

		p[1] = 0x23;
		p = bytes_turn(bytes_turn(p + 2, 8), 8);
		while (*p >= OTF2_MARK_TIME)
			p = record_turn(p);
	}
	assert_int_equal(fs_write_atomic(to, data, n, NULL), 0);
}

IN_PLACE(big_endian)
{
	CLEANUP(xfreep) char *evt = fs_join(p->archive, "traces/7.evt");
	CLEANUP(xfreep) char *turned = fs_join(p->archive, "turned.evt");

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct both b;

		archive_draw(p->archive, seed * UINT64_C(104729), 3000 * seed);
		unknown_make(evt);
		file_turn(evt, turned);
		both_read(p->archive, turned, false, &b);
		both_read(p->archive, turned, true, &b);
		assert_true(b.walk.big_endian);
		/* libotf2 reads it, too */
		assert_int_equal(rename(turned, evt), 0);
		both_read(p->archive, evt, true, &b);
		facts_same(p->archive, &b);
		assert_int_equal(fs_remove_tree(p->archive, NULL), 0);
	}
}
