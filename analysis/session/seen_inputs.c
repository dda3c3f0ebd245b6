#include "seen_inputs.h"

#include <sys/stat.h>

#include "profrig/base/door.h"
#include "profrig/base/fs.h"

static bool place_of(const char *path, const struct reader *reader, struct seen_place *ret)
{
	CLEANUP(xfreep) char *whole = fs_abs(path);
	CLEANUP(xfreep) char *parent = fs_dir(whole);
	struct stat st, up;

	if (door_stat(path, &st) < 0 || door_stat(parent, &up) < 0)
		return false;
	*ret = (struct seen_place){ .dev = st.st_dev,
				    .ino = st.st_ino,
				    .parent_dev = up.st_dev,
				    .parent_ino = up.st_ino,
				    .reader = reader,
				    .is_dir = S_ISDIR(st.st_mode) };
	return true;
}

/* An archive's directory and the anchor file in it. */
static bool place_holds(const struct seen_place *dir, const struct seen_place *file)
{
	return dir->is_dir && !file->is_dir && dir->reader == file->reader &&
	       dir->dev == file->parent_dev && dir->ino == file->parent_ino;
}

static uint64_t place_key(dev_t dev, ino_t ino)
{
	return (uint64_t)dev * UINT64_C(0x9e3779b97f4a7c15) ^ ino;
}

/* The first place under a key; NULL: none. */
static const struct seen_place *place_at(const struct seen_inputs *seen, const struct u64map *map,
					 dev_t dev, ino_t ino)
{
	uint32_t i = u64map_get(map, place_key(dev, ino));

	return i == U64MAP_NONE ? NULL : &seen->places.v[i];
}

static bool place_is_seen(const struct seen_inputs *seen, const struct seen_place *p)
{
	const struct seen_place *same = place_at(seen, &seen->by_place, p->dev, p->ino);
	const struct seen_place *dir =
		place_at(seen, &seen->by_place, p->parent_dev, p->parent_ino);
	const struct seen_place *inside = place_at(seen, &seen->by_parent, p->dev, p->ino);

	return (same && same->dev == p->dev && same->ino == p->ino) ||
	       (dir && place_holds(dir, p)) || (inside && place_holds(p, inside));
}

static void place_add(struct seen_inputs *seen, const struct seen_place *p)
{
	uint32_t *here = u64map_at(&seen->by_place, place_key(p->dev, p->ino));
	uint32_t *inside;

	if (*here == U64MAP_NONE)
		*here = (uint32_t)seen->places.nr;
	inside = u64map_at(&seen->by_parent, place_key(p->parent_dev, p->parent_ino));
	/* An archive in a folder may also be named by the folder. */
	if (*inside == U64MAP_NONE || (p->reader && p->reader->claims))
		*inside = (uint32_t)seen->places.nr;
	VEC_PUSH(&seen->places, *p);
}

bool seen_before(struct seen_inputs *seen, const char *path, const struct reader *reader)
{
	struct seen_place p;

	if (!place_of(path, reader, &p))
		return false;
	if (place_is_seen(seen, &p))
		return true;
	place_add(seen, &p);
	return false;
}

void seen_inputs_release(struct seen_inputs *seen)
{
	VEC_RELEASE(&seen->places);
	u64map_release(&seen->by_place);
	u64map_release(&seen->by_parent);
}
