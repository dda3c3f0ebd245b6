/*
 * otf2_count ANCHOR: reads every event of an archive through libotf2 and does nothing but count
 * them, one location after the other on one thread. What this takes is what reading the archive
 * costs at least; `make bench-otf2` measures analyze by it.
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

struct counts {
	unsigned long enters, leaves, values;
	OTF2_Reader *reader;
	OTF2_LocationRef *locations;
	size_t nr, cap;
};

static void otf2_check(OTF2_ErrorCode code, const char *what)
{
	if (code == OTF2_SUCCESS)
		return;
	fprintf(stderr, "otf2_count: %s: %s\n", what, OTF2_Error_GetDescription(code));
	exit(2);
}
#define CHECK(call) otf2_check((call), #call)

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *user, OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct counts *c = user;

	(void)location, (void)time, (void)position, (void)attributes, (void)region;
	c->enters++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
				  void *user, OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct counts *c = user;

	(void)location, (void)time, (void)position, (void)attributes, (void)region;
	c->leaves++;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric(OTF2_LocationRef location, OTF2_TimeStamp time,
				   uint64_t position, void *user, OTF2_AttributeList *attributes,
				   OTF2_MetricRef metric, uint8_t nr, const OTF2_Type *types,
				   const OTF2_MetricValue *values)
{
	struct counts *c = user;

	(void)location, (void)time, (void)position, (void)attributes, (void)metric, (void)types,
		(void)values;
	c->values += nr;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef ref, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef group)
{
	struct counts *c = user;

	(void)name, (void)type, (void)events, (void)group;
	if (c->nr == c->cap) {
		c->cap = 2 * c->cap + 64;
		c->locations = realloc(c->locations, c->cap * sizeof(*c->locations));
		if (!c->locations)
			exit(2);
	}
	c->locations[c->nr++] = ref;
	CHECK(OTF2_Reader_SelectLocation(c->reader, ref));
	return OTF2_CALLBACK_SUCCESS;
}

static void definitions(struct counts *c)
{
	OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(c->reader);
	OTF2_GlobalDefReaderCallbacks *cb = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t n;

	CHECK(OTF2_GlobalDefReaderCallbacks_SetLocationCallback(cb, on_location));
	CHECK(OTF2_Reader_RegisterGlobalDefCallbacks(c->reader, defs, cb, c));
	OTF2_GlobalDefReaderCallbacks_Delete(cb);
	CHECK(OTF2_Reader_ReadAllGlobalDefinitions(c->reader, defs, &n));
	CHECK(OTF2_Reader_OpenDefFiles(c->reader));
	for (size_t i = 0; i < c->nr; i++) {
		OTF2_DefReader *local = OTF2_Reader_GetDefReader(c->reader, c->locations[i]);

		if (!local)
			continue;
		CHECK(OTF2_Reader_ReadAllLocalDefinitions(c->reader, local, &n));
		CHECK(OTF2_Reader_CloseDefReader(c->reader, local));
	}
	CHECK(OTF2_Reader_CloseDefFiles(c->reader));
}

static void events(struct counts *c)
{
	OTF2_EvtReaderCallbacks *cb = OTF2_EvtReaderCallbacks_New();
	uint64_t n;

	CHECK(OTF2_EvtReaderCallbacks_SetEnterCallback(cb, on_enter));
	CHECK(OTF2_EvtReaderCallbacks_SetLeaveCallback(cb, on_leave));
	CHECK(OTF2_EvtReaderCallbacks_SetMetricCallback(cb, on_metric));
	CHECK(OTF2_Reader_OpenEvtFiles(c->reader));
	for (size_t i = 0; i < c->nr; i++) {
		OTF2_EvtReader *r = OTF2_Reader_GetEvtReader(c->reader, c->locations[i]);

		CHECK(OTF2_Reader_RegisterEvtCallbacks(c->reader, r, cb, c));
		CHECK(OTF2_Reader_ReadAllLocalEvents(c->reader, r, &n));
		CHECK(OTF2_Reader_CloseEvtReader(c->reader, r));
	}
	CHECK(OTF2_Reader_CloseEvtFiles(c->reader));
	OTF2_EvtReaderCallbacks_Delete(cb);
}

int main(int argc, char **argv)
{
	struct counts c = { 0 };

	if (argc != 2 || !(c.reader = OTF2_Reader_Open(argv[1]))) {
		fprintf(stderr, "otf2_count: which archive?\n");
		return 2;
	}
	CHECK(OTF2_Reader_SetSerialCollectiveCallbacks(c.reader));
	definitions(&c);
	events(&c);
	CHECK(OTF2_Reader_Close(c.reader));
	free(c.locations);
	printf("%lu enters, %lu leaves, %lu values\n", c.enters, c.leaves, c.values);
	return 0;
}
