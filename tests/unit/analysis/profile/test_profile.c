#include "profile_support.h"

#define PERCENT 0.01

/* ---- random recordings ---- */

struct dice {
	uint64_t seed;
	unsigned grain; /* ns a clock tick: large ones put many calls into one moment */
	bool faults;    /* stray and foreign leaves, calls left open */
	bool back;      /* clocks that go backwards */
};

static uint64_t roll(struct dice *d, uint64_t n)
{
	return rnd(&d->seed) % n;
}

static void step_add(struct script_track *t, struct step s)
{
	VEC_PUSH(&t->steps, s);
}

static enum span_kind work_kind(struct dice *d)
{
	static const enum span_kind kinds[] = { SPAN_KERNEL, SPAN_KERNEL, SPAN_COPY, SPAN_FILL,
						SPAN_ANNOTATION };

	return kinds[roll(d, ARRAY_LEN(kinds))];
}

static void track_fill(struct script_track *t, struct dice *d, size_t steps)
{
	int open[64], depth = 0;
	int64_t now = (int64_t)roll(d, 1000);

	for (size_t i = 0; i < steps; i++) {
		int64_t tick = (int64_t)(now / d->grain * d->grain);
		uint64_t what = roll(d, 100);

		now += (int64_t)(roll(d, 3) ? roll(d, 40) : 0);
		if (d->back && roll(d, 10) == 0)
			now -= (int64_t)roll(d, 60);
		if (what < 8) {
			step_add(t, (struct step){ .what = SAMPLE,
						   .t_ns = tick,
						   .series = (int)roll(d, 3),
						   .value = roll(d, 30) ? (double)roll(d, 100)
									: NAN });
		} else if (t->kind == TRACK_COUNTER) {
			continue;
		} else if (d->faults && what < 12) {
			step_add(t, (struct step){ .what = LEAVE,
						   .t_ns = tick,
						   .name = (int)roll(d, ARRAY_LEN(names)) });
			depth -= depth > 0;
		} else if (depth < 60 && (depth == 0 || what < 55)) {
			open[depth] = (int)roll(d, ARRAY_LEN(names));
			step_add(t, (struct step){ .what = ENTER,
						   .t_ns = tick,
						   .name = open[depth++],
						   .category = (int)roll(d, 3),
						   .kind = work_kind(d) });
		} else {
			depth--;
			step_add(t, (struct step){ .what = LEAVE,
						   .t_ns = tick,
						   .name = roll(d, 2) ? open[depth] : -1 });
		}
	}
	while (!d->faults && depth > 0)
		step_add(t, (struct step){ .what = LEAVE, .t_ns = now, .name = open[--depth] });
}

static void script_fill(struct script *s, struct dice *d)
{
	size_t tracks = 1 + roll(d, 6), steps = 1 + roll(d, 300);

	for (size_t i = 0; i < tracks; i++) {
		uint64_t what = roll(d, 10);
		size_t at;

		if (what < 5)
			at = script_track(s, TRACK_THREAD, "Master thread", NULL);
		else if (what < 9)
			at = script_track(s, TRACK_QUEUE, "queue", what < 7 ? "gpu0" : "gpu10");
		else
			at = script_track(s, TRACK_COUNTER, "sensors", NULL);
		track_fill(&s->tracks.v[at], d, steps);
	}
}

/* ---- the lanes, looked at from outside ---- */

struct watch {
	struct profile *p;
	int64_t horizon_ns;
	size_t rounds, tracks;
	uint64_t hash; /* of all that was handed out */
	struct watched {
		struct lane_event last;
		bool any;
		int64_t running, covered_ns;
		VEC(int64_t) node_ns; /* THREAD: innermost time; QUEUE: Σ ends − Σ begins */
	} lanes[16];
};

static void hash_add(struct watch *w, uint64_t v)
{
	w->hash = (w->hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	w->hash ^= w->hash >> 29;
}

static int64_t *node_ns(struct watched *l, uint32_t node)
{
	while (l->node_ns.nr <= node)
		VEC_PUSH(&l->node_ns, 0);
	return &l->node_ns.v[node];
}

static void watch_event(struct watch *w, struct watched *l, bool queue, const struct lane_event *e)
{
	assert_true(e->change >= -1 && e->change <= 1);
	if (l->any)
		assert_true(e->t_ns > l->last.t_ns ||
			    (queue && e->t_ns == l->last.t_ns && e->change >= l->last.change));
	if (queue) {
		assert_int_equal(abs(e->change), 1);
		*node_ns(l, e->node) -= e->change * e->t_ns;
		l->running += e->change;
		assert_true(l->running >= 0);
	} else {
		if (l->any && l->last.node != NODE_NONE) {
			*node_ns(l, l->last.node) += e->t_ns - l->last.t_ns;
			l->covered_ns += e->t_ns - l->last.t_ns;
		}
		assert_int_equal(e->change,
				 (e->node != NODE_NONE) - (l->any && l->last.node != NODE_NONE));
	}
	l->last = *e;
	l->any = true;
	hash_add(w, (uint64_t)e->t_ns);
	hash_add(w, (uint64_t)e->node << 8 | (uint8_t)e->change);
}

static void watch_begin(void *ctx, const struct lane_feed *feeds, size_t n)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(feeds[i].nr, 0);
}

static void watch_round(void *ctx, const struct lane_feed *feeds, size_t n, int64_t horizon_ns,
			struct workers *workers)
{
	struct watch *w = ctx;

	assert_true(horizon_ns > w->horizon_ns || w->rounds == 0);
	assert_true(n <= ARRAY_LEN(w->lanes));
	assert_true(workers_count(workers) >= 1);
	for (size_t i = 0; i < n; i++) {
		bool queue = w->p->m->tracks.v[feeds[i].track].kind == TRACK_QUEUE;

		hash_add(w, feeds[i].track);
		for (size_t k = 0; k < feeds[i].nr; k++) {
			assert_true(feeds[i].v[k].t_ns < horizon_ns);
			if (w->rounds)
				assert_true(feeds[i].v[k].t_ns >= w->horizon_ns);
			watch_event(w, &w->lanes[i], queue, &feeds[i].v[k]);
		}
	}
	w->tracks = n;
	w->horizon_ns = horizon_ns;
	w->rounds++;
}

/* What the lanes told adds up to what the nodes say. */
static void watch_end(struct watch *w)
{
	size_t at = 0;

	assert_true(w->rounds == 0 || w->horizon_ns == INT64_MAX);
	for (size_t i = 0; i < w->p->tracks.nr; i++) {
		const struct profile_track *t = w->p->tracks.v[i];
		struct watched *l = &w->lanes[at];

		if (w->p->m->tracks.v[t->track].kind == TRACK_COUNTER)
			continue;
		at++;
		for (uint32_t k = 0; k < t->nodes.nr; k++)
			assert_int_equal(*node_ns(l, k), t->nodes.v[k].exclusive_ns);
		assert_int_equal(l->covered_ns, t->covered_ns);
		assert_int_equal(l->running, 0);
		assert_true(!l->any || t->queue || l->last.node == NODE_NONE);
		VEC_RELEASE(&l->node_ns);
	}
	assert_int_equal(at, w->tracks);
}

/* ---- both sinks say the same ---- */

/* Random recordings; large and tiny buffers, with and without someone who takes the lanes. */
TEST(test_same_tables)
{
	size_t cells = 0;

	for (uint64_t round = 0; round < 1500; round++) {
		struct dice d = { .seed = round + 1, .grain = 1 };
		CLEANUP(script_release) struct script s = { VEC_INIT };
		struct watch w = { .horizon_ns = INT64_MIN };
		struct profile_opts po = { .threads = 1 + round % 3 };
		struct outcome model, profile;

		d.grain = (unsigned[]){ 1, 1, 10, 200 }[round % 4];
		d.faults = round % 5 == 0;
		script_fill(&s, &d);
		model = outcome_of(&s, NULL);
		if (round % 2)
			po.buffer_bytes = 1; /* as little as there can be */
		if (round % 3 == 0) {
			po.lanes = (struct lane_reader){ .ctx = &w,
							 .begin = watch_begin,
							 .round = watch_round };
		}
		profile = outcome_begin(&po);
		w.p = profile.p;
		script_read(&s, model_sink(profile.m));
		outcome_analyse(&profile);
		if (po.lanes.round)
			watch_end(&w);
		cells += same_tables(&model, &profile, PERCENT);
		same_warnings(model.m, profile.m);
		same_inputs(model.m, profile.m);
		outcome_release(&model);
		outcome_release(&profile);
	}
	print_message("# %zu cells are equal\n", cells);
	assert_true(cells > 250000);
}

/* Bytes of all tables and warnings, and of the lanes. */
static uint64_t result_hash(const struct script *s, unsigned threads, size_t buffer_bytes)
{
	struct watch w = { .horizon_ns = INT64_MIN };
	struct profile_opts po = { .threads = threads,
				   .buffer_bytes = buffer_bytes,
				   .lanes = { &w, watch_begin, watch_round } };
	struct outcome o = outcome_begin(&po);
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	w.p = o.p;
	script_read(s, model_sink(o.m));
	outcome_analyse(&o);
	for (size_t i = 0; i < o.ts.tables.nr; i++)
		table_write_csv(o.ts.tables.v[i], f);
	for (size_t i = 0; i < o.m->warnings.nr; i++)
		fprintf(f, "%s %s %" PRIu64 "\n", o.m->warnings.v[i].code, o.m->warnings.v[i].text,
			o.m->warnings.v[i].count);
	fclose(f);
	for (size_t i = 0; i < n; i++)
		hash_add(&w, (unsigned char)text[i]);
	watch_end(&w);
	free(text);
	outcome_release(&o);
	return w.hash;
}

/* Byte by byte, whatever the number of threads; with many rounds. */
TEST(test_threads)
{
	for (uint64_t round = 0; round < 8; round++) {
		struct dice d = { .seed = 77 + round, .grain = 3, .faults = round % 2 };
		CLEANUP(script_release) struct script s = { VEC_INIT };
		uint64_t one;

		for (size_t i = 0; i < 12; i++) {
			size_t at = script_track(&s, i % 3 ? TRACK_THREAD : TRACK_QUEUE,
						 i % 2 ? "worker" : "Master thread",
						 i % 3   ? NULL
						 : i % 2 ? "gpu1"
							 : "gpu0");

			track_fill(&s.tracks.v[at], &d, 4000);
		}
		one = result_hash(&s, 1, 1);
		for (unsigned threads = 2; threads <= 8; threads *= 2)
			assert_true(result_hash(&s, threads, 1) == one);
	}
}

/* ---- the longest calls ---- */

struct span_rank {
	int64_t start_ns, ns;
	uint32_t depth;
};

static int span_rank_cmp(const void *pa, const void *pb)
{
	const struct span_rank *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->depth > b->depth) - (a->depth < b->depth);
}

/* All calls of a track of the model, the longest first. */
static size_t spans_rank(const struct model *m, const struct track *t, struct span_rank *v)
{
	CLEANUP(xfreep) uint32_t *depths = model_depths(m);
	size_t nr = 0;

	for (uint64_t i = t->first_span; i < t->first_span + t->spans; i++) {
		int64_t ns = m->spans.end_ns[i] - m->spans.start_ns[i];
		bool queue = t->kind == TRACK_QUEUE;

		if (ns > 0 && (queue ? span_is_work(m, i) : t->kind == TRACK_THREAD))
			v[nr++] = (struct span_rank){ m->spans.start_ns[i], ns,
						      queue ? 0 : depths[i] };
	}
	qsort(v, nr, sizeof(*v), span_rank_cmp);
	return nr;
}

static void longest_same(const struct profile_track *a, const struct profile_track *b)
{
	assert_int_equal(a->longest.nr, b->longest.nr);
	for (size_t i = 0; i < a->longest.nr; i++) {
		assert_int_equal(a->longest.v[i].start_ns, b->longest.v[i].start_ns);
		assert_int_equal(a->longest.v[i].end_ns, b->longest.v[i].end_ns);
		if (!a->queue)
			assert_int_equal(a->nodes.v[a->longest.v[i].node].depth,
					 b->nodes.v[b->longest.v[i].node].depth);
	}
}

/* Whether they are those that sorting all spans gives; returns how many there are. */
static size_t longest_check(const struct model *m, const struct profile_track *t)
{
	const struct track *track = &m->tracks.v[t->track];
	CLEANUP(xfreep) struct span_rank *all = xcalloc(track->spans + 1, sizeof(*all));
	size_t nr = spans_rank(m, track, all), there = 0;

	assert_int_equal(t->longest.nr, nr < PROFILE_LONGEST ? nr : PROFILE_LONGEST);
	for (size_t i = 0; i < t->longest.nr; i++) {
		const struct profile_call *c = &t->longest.v[i];

		assert_true(i == 0 || t->longest.v[i - 1].start_ns <= c->start_ns);
		for (size_t k = 0; k < t->longest.nr; k++) {
			if (all[k].start_ns != c->start_ns || all[k].ns != c->end_ns - c->start_ns)
				continue;
			all[k].ns = -1;
			there++;
			break;
		}
	}
	assert_int_equal(there, t->longest.nr);
	return there;
}

/* Of a model and of what is read along, the same calls: the longest of all spans. */
TEST(test_longest)
{
	size_t full = 0;

	for (uint64_t round = 0; round < 300; round++) {
		struct dice d = { .seed = round + 1, .grain = round % 2 ? 1 : 20 };
		CLEANUP(script_release) struct script s = { VEC_INIT };
		struct profile_opts po = { .threads = 1 + round % 3, .buffer_bytes = 1 };
		struct outcome model, read;
		struct profile *p;

		script_fill(&s, &d);
		model = outcome_of(&s, NULL);
		read = outcome_begin(&po);
		script_read(&s, model_sink(read.m));
		outcome_analyse(&read);
		p = profile_of_model(model.m, &po);
		for (size_t i = 0; i < p->tracks.nr; i++) {
			full += longest_check(model.m, p->tracks.v[i]) == PROFILE_LONGEST;
			for (size_t k = 0; k < read.p->tracks.nr; k++) {
				if (read.p->tracks.v[k]->track == p->tracks.v[i]->track)
					longest_same(p->tracks.v[i], read.p->tracks.v[k]);
			}
		}
		profile_free(p);
		outcome_release(&model);
		outcome_release(&read);
	}
	assert_true(full > 100);
}

/* A clock that goes backwards: the same warnings, and the same calls with the same durations. */
TEST(test_backwards)
{
	static const char *const columns[] = { "scope",  "name",    "category", "calls",
					       "min_ns", "mean_ns", "max_ns",   "stddev_ns" };

	for (uint64_t round = 0; round < 300; round++) {
		struct dice d = { .seed = round + 5, .grain = 1, .faults = true, .back = true };
		CLEANUP(script_release) struct script s = { VEC_INIT };
		struct outcome o[2];

		script_fill(&s, &d);
		o[0] = outcome_begin(NULL);
		script_read(&s, model_sink(o[0].m));
		o[1] = outcome_begin(&(struct profile_opts){ .threads = 2 });
		script_read(&s, model_sink(o[1].m));
		same_warnings(o[0].m, o[1].m);
		for (size_t k = 0; k < 2; k++) {
			outcome_analyse(&o[k]);
			if (table_set_find(&o[k].ts, "functions"))
				table_sort(table_set_find(&o[k].ts, "functions"),
					   (const int[]){ 0, 1, 2 }, 3);
		}
		for (size_t c = 0; c < ARRAY_LEN(columns); c++) {
			const struct table *a = table_set_find(&o[0].ts, "functions");
			const struct table *b = table_set_find(&o[1].ts, "functions");
			size_t col;

			assert_int_equal(!a, !b);
			if (!a)
				break;
			assert_int_equal(table_rows(a), table_rows(b));
			col = (size_t)table_find_col(a, columns[c]);
			for (size_t r = 0; r < table_rows(a); r++)
				assert_true(same_cell(a, b, r, col, 0));
		}
		outcome_release(&o[0]);
		outcome_release(&o[1]);
	}
}

/* ---- single things ---- */

/* Many calls of many sizes: medians within a percent, everything else exact. */
TEST(test_percentiles)
{
	CLEANUP(script_release) struct script s = { VEC_INIT };
	size_t at = script_track(&s, TRACK_THREAD, "T", NULL);
	struct outcome model, profile;
	uint64_t seed = 11;
	int64_t now = 0;

	for (int i = 0; i < 60000; i++) {
		int name = (int)(rnd(&seed) % 3);

		step_add(&s.tracks.v[at],
			 (struct step){ .what = ENTER, .t_ns = now, .name = name });
		now += (int64_t)(rnd(&seed) >> (24 + rnd(&seed) % 40)) + 1;
		step_add(&s.tracks.v[at],
			 (struct step){ .what = LEAVE, .t_ns = now, .name = name });
	}
	model = outcome_of(&s, NULL);
	profile = outcome_of(&s, &(struct profile_opts){ .threads = 1 });
	same_tables(&model, &profile, SKETCH_ERROR);
	outcome_release(&model);
	outcome_release(&profile);
}

/* Recursion 100 000 deep: paths are cut alike, functions count every call. */
TEST(test_deep)
{
	CLEANUP(script_release) struct script s = { VEC_INIT };
	size_t at = script_track(&s, TRACK_THREAD, "T", NULL);
	struct outcome model, profile;
	int64_t now = 0;

	for (int i = 0; i < 100000; i++)
		step_add(&s.tracks.v[at],
			 (struct step){ .what = ENTER, .t_ns = now++, .name = i % 3 ? 1 : 2 });
	for (int i = 0; i < 100000; i++)
		step_add(&s.tracks.v[at],
			 (struct step){ .what = LEAVE, .t_ns = now++, .name = -1 });
	model = outcome_of(&s, NULL);
	profile = outcome_of(&s, &(struct profile_opts){ .threads = 1 });
	same_tables(&model, &profile, PERCENT);
	same_warnings(model.m, profile.m);
	outcome_release(&model);
	outcome_release(&profile);
}

/* A queue that begins and ends 5000 pieces at one moment fills any buffer with no time to hand
 * out; a clock of a second puts 20 000 calls of 8 names into one moment. */
TEST(test_one_moment)
{
	CLEANUP(script_release) struct script s = { VEC_INIT };
	size_t queue = script_track(&s, TRACK_QUEUE, "Q", "gpu0"), thread;
	struct outcome model, profile;

	thread = script_track(&s, TRACK_THREAD, "T", NULL);
	for (int i = 0; i < 10000; i++)
		step_add(&s.tracks.v[queue], (struct step){ .what = i < 5000 ? ENTER : LEAVE,
							    .t_ns = i < 5000 ? 10 : 20,
							    .name = 5,
							    .kind = SPAN_KERNEL });
	step_add(&s.tracks.v[thread], (struct step){ .what = ENTER, .t_ns = 5, .name = 0 });
	for (int i = 0; i < 40000; i++)
		step_add(&s.tracks.v[thread], (struct step){ .what = i % 2 ? LEAVE : ENTER,
							     .t_ns = 15,
							     .name = i / 2 % 8,
							     .category = i / 16 % 3 });
	step_add(&s.tracks.v[thread], (struct step){ .what = LEAVE, .t_ns = 25, .name = 0 });
	model = outcome_of(&s, NULL);
	profile = outcome_of(&s, &(struct profile_opts){ .threads = 2, .buffer_bytes = 1 });
	same_tables(&model, &profile, PERCENT);
	assert_int_equal(profile.p->devices.v[0].max_concurrency, 5000);
	outcome_release(&model);
	outcome_release(&profile);
}

TEST(test_choice)
{
	const uint64_t gib = UINT64_C(1) << 30;

	assert_false(profile_is_better(0, gib));
	assert_false(profile_is_better(UINT64_MAX, 0)); /* memory unknown */
	assert_false(profile_is_better(5500000, gib));  /* 264 MB, of 268 */
	assert_true(profile_is_better(5600000, gib));
	assert_true(profile_is_better(100000000, 8 * gib));
	assert_false(profile_is_better(100000000, 64 * gib));
}
