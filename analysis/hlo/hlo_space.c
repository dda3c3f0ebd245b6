/*
 * The programs in an XSpace file: the plane "/host:metadata" has a row of event_metadata (4) for
 * each module, named "jit_f(17)", 17 being the program's id, with the HloProto as a stat of bytes.
 */
#include "hlo_private.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/protobuf.h"
#include "profrig/scan/input.h"

/* The number behind the last '('; HLO_ABSENT. */
static int64_t id_of(const struct pb_field *name)
{
	const char *p = (const char *)name->data,
		   *at = name->len ? memrchr(p, '(', name->len) : NULL;
	uint64_t id;

	if (!at || p[name->len - 1] != ')' ||
	    num_u64(at + 1, (size_t)(p + name->len - 1 - (at + 1)), &id) < 0)
		return HLO_ABSENT;
	return (int64_t)id;
}

/* The last field of a number that is bytes; false: there is none. */
static bool bytes_in(const struct pb_field *of, uint32_t number, struct pb_field *ret)
{
	struct pb_cursor c = pb_inside(of);
	bool found = false;
	struct pb_field f;

	while (pb_next(&c, &f)) {
		if (f.number != number || !pb_is_bytes(&f))
			continue;
		*ret = f;
		found = true;
	}
	return found;
}

static int row_read(struct hlo_programs *p, const struct pb_field *entry, const char *path,
		    struct err *err)
{
	struct pb_field row, name = { .len = 0 }, stat, proto;
	struct hlo_module m = HLO_MODULE_NONE;
	int r;

	if (!bytes_in(entry, 2, &row) || !bytes_in(&row, 5, &stat) || !bytes_in(&stat, 6, &proto))
		return 0;
	bytes_in(&row, 2, &name);
	r = hlo_parse_proto(p, (const char *)proto.data, proto.len, &m, path, err);
	if (r == 0 && id_of(&name) != HLO_ABSENT)
		m.id = id_of(&name);
	hlo_module_add(p, &m, r == 0);
	return r;
}

static int plane_read(struct hlo_programs *p, const struct pb_field *plane, const char *path,
		      struct err *err)
{
	static const char programs[] = "/host:metadata";
	struct pb_cursor c = pb_inside(plane);
	struct pb_field f, name;
	int r = 0, one;

	if (!bytes_in(plane, 2, &name) || name.len != strlen(programs) ||
	    memcmp(name.data, programs, name.len) != 0)
		return 0;
	while (pb_next(&c, &f)) {
		if (f.number != 4 || !pb_is_bytes(&f))
			continue;
		one = row_read(p, &f, path, r < 0 ? NULL : err);
		r = one < 0 ? one : r;
	}
	return r;
}

int hlo_read_space(struct hlo_programs *p, const char *path, struct err *err)
{
	struct input_map map;
	struct pb_cursor c;
	struct pb_field f;
	int r = input_map(path, 0, &map, err), one;

	if (r < 0)
		return r;
	c = pb_cursor_of(map.data, map.len);
	while (pb_next(&c, &f)) {
		one = f.number == 1 && pb_is_bytes(&f) ? plane_read(p, &f, path, err) : 0;
		r = one < 0 ? one : r;
	}
	input_unmap(&map);
	return r;
}
