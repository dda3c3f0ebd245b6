#include "track_limit.h"

#include "profrig/model/warnings.h"

track_id track_limit_make(struct track_limit *l, struct sink *s, const struct track_def *d)
{
	struct track_def other = TRACK_DEF_INIT;

	if (l->asked++ < MAX_TRACKS)
		return s->ops->track(s, d);
	other.kind = d->kind;
	other.name = "others";
	other.key = UINT64_MAX - (uint64_t)d->kind;
	return s->ops->track(s, &other);
}

void track_limit_warn(const struct track_limit *l, struct sink *s)
{
	if (l->asked > MAX_TRACKS)
		s->ops->warn(s, W_BAD_EVENT, l->asked - MAX_TRACKS,
			     "more threads, queues and devices than can be true: what lies on "
			     "these is shown on one track of each kind");
}
