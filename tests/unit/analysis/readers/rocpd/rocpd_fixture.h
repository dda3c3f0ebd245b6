/*
 * Databases as rocprofiler-sdk makes them: every table has a suffix and a column guid. Texts are
 * made of a suffix S, as ROCPD(U1); process 100 has the thread 101.
 */
#ifndef ROCPD_FIXTURE_H
#define ROCPD_FIXTURE_H

#include "sqlite_fixture.h"

/* It never comes to an end with these. */
/* clang-format off */
#define TABLE(S, name, columns) \
	"CREATE TABLE \"rocpd_" name S "\"(id INTEGER PRIMARY KEY, guid TEXT DEFAULT '" S "', " \
	columns ");" \
	"CREATE VIEW IF NOT EXISTS rocpd_" name " AS SELECT * FROM \"rocpd_" name S "\";"
#define INTO(S, name, columns, values) \
	"INSERT INTO \"rocpd_" name S "\"(" columns ") VALUES " values ";"

#define ROCPD_TABLES(S) \
	"CREATE TABLE \"rocpd_metadata" S "\"(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);" \
	TABLE(S, "string", "string TEXT UNIQUE") \
	TABLE(S, "info_node", "machine_id TEXT, system_name TEXT, hostname TEXT") \
	TABLE(S, "info_process", "nid, ppid, pid, start, end, command TEXT, environment TEXT") \
	TABLE(S, "info_thread", "nid, ppid, pid, tid, name TEXT") \
	TABLE(S, "info_agent", "nid, pid, type TEXT, absolute_index, logical_index, type_index," \
		" name TEXT, product_name TEXT, extdata TEXT") \
	TABLE(S, "info_queue", "nid, pid, name TEXT") \
	TABLE(S, "info_stream", "nid, pid, name TEXT") \
	TABLE(S, "info_pmc", "nid, pid, agent_id, name TEXT, symbol TEXT, units TEXT," \
		" value_type TEXT") \
	TABLE(S, "info_kernel_symbol", "nid, pid, kernel_name TEXT, display_name TEXT") \
	TABLE(S, "track", "nid, pid, tid, name_id") \
	TABLE(S, "event", "category_id, stack_id, parent_stack_id, correlation_id," \
		" extdata TEXT DEFAULT '{}'") \
	TABLE(S, "arg", "event_id, position, type TEXT, name TEXT, value TEXT") \
	TABLE(S, "pmc_event", "event_id, pmc_id, value REAL") \
	TABLE(S, "region", "nid, pid, tid, start, end, name_id, event_id") \
	TABLE(S, "sample", "track_id, timestamp, event_id") \
	TABLE(S, "kernel_dispatch", "nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id," \
		" stream_id, start, end, workgroup_size_x, workgroup_size_y, workgroup_size_z," \
		" grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id") \
	TABLE(S, "memory_copy", "nid, pid, tid, start, end, name_id, dst_agent_id, src_agent_id," \
		" size, queue_id, stream_id, event_id") \
	TABLE(S, "memory_allocate", "nid, pid, tid, agent_id, type TEXT, level TEXT, start, end," \
		" address, size, queue_id, stream_id, event_id")

/* Agents: 1 a CPU, 2 and 3 GPUs. Strings 1-9. */
#define ROCPD_NAMES(S, host, pid, rank) \
	INTO(S, "metadata", "tag, value", "('schema_version', '3'), ('guid', '" S "')") \
	INTO(S, "info_node", "id, hostname", "(7, '" host "')") \
	INTO(S, "info_process", "id, nid, pid, command, environment", \
	     "(1, 7, " #pid ", 'app', '{\"HOME\":\"/\",\"OMPI_COMM_WORLD_RANK\":\"" #rank "\"}')") \
	INTO(S, "info_thread", "id, nid, pid, tid, name", "(1, 7, 1, " #pid " + 1, 'main')") \
	INTO(S, "info_agent", "id, nid, type, absolute_index, type_index, product_name, extdata", \
	     "(1, 7, 'CPU', 0, 0, 'EPYC', '{}')," \
	     " (2, 7, 'GPU', 1, 0, 'MI210', '{\"location_id\": 49408, \"domain\": 0}')," \
	     " (3, 7, 'GPU', 2, 1, 'MI210', '{}')") \
	INTO(S, "info_queue", "id, name", "(0, 'Default Queue'), (1, 'Queue 1')") \
	INTO(S, "info_stream", "id, name", "(0, 'Default Stream'), (3, 'Stream 3')") \
	INTO(S, "info_kernel_symbol", "id, kernel_name, display_name", \
	     "(1, '_Z1kv.kd', 'k'), (2, 'm', NULL)") \
	INTO(S, "string", "id, string", \
	     "(1, 'KERNEL_DISPATCH'), (2, 'HIP_RUNTIME_API'), (3, 'hipLaunchKernel')," \
	     " (4, 'MEMORY_COPY_HOST_TO_DEVICE'), (5, 'MARKER_CORE_API'), (6, 'roctxMarkA')," \
	     " (7, 'roctxThreadRangeA'), (8, 'roctxProcessRangeA'), (9, 'MEMORY_COPY')")

/* Kernels k 1000-3000, k 2000-5000, m 6000-7000, a copy 500-1500, a call 100-400. */
#define ROCPD_ROWS(S) \
	INTO(S, "event", "id, category_id, stack_id, parent_stack_id", \
	     "(1, 2, 51, 51), (2, 1, 51, 51), (3, 1, 52, 52), (4, 1, 53, 53), (5, 9, 54, 54)") \
	INTO(S, "region", "id, pid, tid, start, end, name_id, event_id", \
	     "(51, 1, 1, 100, 400, 3, 1)") \
	INTO(S, "kernel_dispatch", \
	     "id, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, end," \
	     " workgroup_size_x, workgroup_size_y, workgroup_size_z, event_id", \
	     "(1, 1, 1, 2, 1, 1, 1, 3, 1000, 3000, 64, 1, 1, 2)," \
	     " (2, 1, 1, 2, 1, 2, 1, 3, 2000, 5000, 64, 1, 1, 3)," \
	     " (3, 1, 1, 2, 2, 3, 1, 0, 6000, 7000, 64, 1, 1, 4)") \
	INTO(S, "memory_copy", \
	     "id, pid, tid, start, end, name_id, dst_agent_id, src_agent_id, size, queue_id," \
	     " stream_id, event_id", \
	     "(1, 1, 1, 500, 1500, 4, 2, 1, 4096, 0, 3, 5)")
/* clang-format on */

#define ROCPD(S) ROCPD_TABLES(S) ROCPD_NAMES(S, "node1", 100, 4) ROCPD_ROWS(S)
#define U1 "_01900000_0000_7000_8000_000000000001"
#define U2 "_01900000_0000_7000_8000_000000000002"

#endif
