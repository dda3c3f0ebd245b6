/*
 * The journal of a campaign and what it says of runs. A line of the input that begins with '{' is
 * the middle of an event, `{"ev":"intend","run":"…"`, which gets its number and its crc here; other
 * lines are as they are.
 */
#include "campaign_state.h"
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profrig/base/fs.h"
#include "profrig/base/strbuf.h"

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void line_add(struct strbuf *to, const char *line, size_t n, uint64_t seq)
{
	CLEANUP(strbuf_release) struct strbuf sb = STRBUF_INIT;

	if (n < 2 || *line != '{') {
		strbuf_add(to, line, n);
		strbuf_addch(to, '\n');
		return;
	}
	strbuf_addf(&sb, "{\"seq\":%" PRIu64 ",", seq);
	strbuf_add(&sb, line + 1, n - 1);
	strbuf_add(to, sb.buf, sb.len);
	strbuf_addf(to, ",\"crc\":\"%08" PRIx32 "\"}\n", journal_crc(sb.buf, sb.len));
}

static void text_make(const char *data, size_t n, struct strbuf *to)
{
	uint64_t seq = 1;
	size_t at = 0;

	while (at < n) {
		const char *end = memchr(data + at, '\n', n - at);
		size_t len = end ? (size_t)(end - data) - at : n - at;

		line_add(to, data + at, len, seq++);
		at += len + 1;
	}
	/* torn, or not */
	if (n && data[n - 1] != '\n' && to->len)
		to->len--;
}

struct seen {
	struct campaign_state s;
	uint64_t nr;
	int64_t end;
};

static int event_seen(void *ctx, const struct journal_event *e, struct err *err)
{
	struct seen *k = ctx;

	must(e->seq == ++k->nr && e->ev && e->end > k->end);
	k->end = e->end;
	return campaign_state_seen(&k->s, e, err);
}

static void seen_release(struct seen *k)
{
	for (size_t i = 0; i < k->s.runs.nr; i++) {
		const struct run_state *r = &k->s.runs.v[i];
		struct attempt_name name;

		must(attempt_name_parse(r->name, &name) && name.number == 0);
		must(campaign_state_find(&k->s, r->name) == r);
		must(r->stage != RUN_COMMITTED || r->committed <= r->attempts);
		campaign_state_submitted(&k->s, r->name, r->attempts);
	}
	campaign_state_release(&k->s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static char path[64];
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(xfreep) char *torn = NULL;
	struct seen looked = { 0 }, followed = { 0 }, opened = { 0 };
	struct journal_place place = { 0 };
	struct journal_said said;
	struct journal *j = NULL;
	struct err err = ERR_INIT;
	int r, again;

	if (!*path)
		snprintf(path, sizeof(path), "%s/fuzz-journal-%d",
			 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	torn = xasprintf("%s.torn", path);
	text_make((const char *)data, n, &text);
	must(fs_write_kept(path, text.buf ? text.buf : "", text.len, FS_KEEP_NOTHING, &err) == 0);
	campaign_state_init(&looked.s);
	campaign_state_init(&followed.s);
	campaign_state_init(&opened.s);
	r = journal_look(path, event_seen, &looked, NULL, &err);
	must(r == 0 || err.msg[0]);
	again = journal_follow(path, &place, event_seen, &followed, NULL);
	must(r == again && looked.nr == followed.nr);
	again = journal_open(path, event_seen, &opened, &j, &said, NULL);
	must(r == again && looked.nr == opened.nr);
	if (r == 0) {
		must(journal_append_more(j, "intend", "aaaaaaaaaaaa-1", 1, NULL, &err) == 0);
		must(journal_append(j, "ended", "aaaaaaaaaaaa-1", 1, NULL, &err) == 0);
		must(journal_follow(path, &place, event_seen, &followed, &err) == 0);
		must(followed.nr == opened.nr + 2 && place.bytes == fs_size(path));
		must(place.bytes == journal_bytes(j));
	}
	journal_close(j);
	seen_release(&looked);
	seen_release(&followed);
	seen_release(&opened);
	unlink(path);
	unlink(torn);
	return 0;
}
