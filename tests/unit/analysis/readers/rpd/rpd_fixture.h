/* Tables of the three versions of RPD as their tracers make them, and strings that tests use. */
#ifndef RPD_FIXTURE_H
#define RPD_FIXTURE_H

#include "sqlite_fixture.h"

#define KEY "id integer PRIMARY KEY AUTOINCREMENT, "
#define RPD_COMMON \
	"CREATE TABLE rocpd_metadata(" KEY "tag text, value text);" \
	"CREATE TABLE rocpd_string(" KEY "string text NOT NULL);" \
	"CREATE TABLE rocpd_api_ops(" KEY "api_id integer, op_id integer);" \
	"CREATE TABLE rocpd_monitor(" KEY "deviceType text, deviceId integer, monitorType text," \
	" start integer, end integer, value text);"

/* 1 '' 2 UserMarker 3 hipLaunchKernel 4 hipMemcpy 5 KernelExecution 6 CopyHostToDevice 7 k */
#define RPD_STRINGS \
	"INSERT INTO rocpd_string(string) VALUES (''), ('UserMarker'), ('hipLaunchKernel')," \
	" ('hipMemcpy'), ('KernelExecution'), ('CopyHostToDevice'), ('k'), ('FillBuffer')," \
	" ('ApiTable::writeRows'), ('root'), ('mid'), ('a'), ('b');"

#define RPD_STRINGS_1 "CREATE TABLE rocpd_string(" KEY "string text NOT NULL);" RPD_STRINGS

#define RPD_API_2 \
	"CREATE TABLE rocpd_api(" KEY "pid integer, tid integer, start integer, end integer," \
	" apiName_id integer, args_id integer);"
#define RPD_OP_2 \
	"CREATE TABLE rocpd_op(" KEY "gpuId integer, queueId integer, sequenceId integer," \
	" completionSignal text, start integer, end integer, description_id integer," \
	" opType_id integer);"
#define RPD_LAUNCH_2 \
	"CREATE TABLE rocpd_kernelapi(api_ptr_id integer PRIMARY KEY, stream text, gridX integer," \
	" gridY integer, gridZ integer, workgroupX integer, workgroupY integer," \
	" workgroupZ integer, groupSegmentSize integer, privateSegmentSize integer," \
	" kernelName_id integer);" \
	"CREATE TABLE rocpd_copyapi(api_ptr_id integer PRIMARY KEY, stream text, size integer," \
	" width integer, height integer, kind integer, dst text, src text, dstDevice integer," \
	" srcDevice integer, sync bool, pinned bool);"

#define RPD_2 \
	RPD_COMMON RPD_API_2 RPD_OP_2 RPD_LAUNCH_2 RPD_STRINGS \
		"INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '2');"

#define RPD_3 \
	RPD_COMMON RPD_LAUNCH_2 RPD_STRINGS \
		"CREATE TABLE rocpd_ustring(" KEY "string text NOT NULL);" \
		"CREATE TABLE rocpd_api(" KEY \
		"pid integer, tid integer, start integer, end integer," \
		" apiName_id integer, category_id integer, domain_id integer, args_id integer);" \
		"CREATE TABLE rocpd_op(" KEY "gpuId integer, queueId integer, sequenceId integer," \
		" start integer, end integer, description_id integer, opType_id integer);" \
		"CREATE TABLE rocpd_stackframe(" KEY "api_ptr_id integer, depth integer," \
		" name_id integer);" \
		"CREATE TABLE rocpd_counter(" KEY "value real, op_id integer, name_id integer);" \
		"INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '3')," \
		" ('gpu_stride', '1000'), ('pid_stride', '10000000'), ('session_count', '1');"

#endif
