#include "nccl_comm.h"

#include <string.h>
#include <xxhash.h>

#include "profrig/base/num.h"
#include "profrig/model/library_calls.h"

#define CHAIN_MAX 64 /* processes of one pid that are compared with a host with glued text */
#define NS_PER_S INT64_C(1000000000)
#define YEAR_MAX 2261 /* the last whole one whose nanoseconds fit */

void nccl_comms_release(struct nccl_comms *c)
{
	VEC_RELEASE(&c->processes);
	VEC_RELEASE(&c->comms);
	u64map_release(&c->by_name);
	u64map_release(&c->by_pid);
	u64map_release(&c->by_address);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool nccl_address(struct text_slice t, uint64_t *ret)
{
	*ret = 0;
	if (slice_is(t, "(nil)"))
		return true;
	if (t.n < 3 || t.n > 18 || t.p[0] != '0' || t.p[1] != 'x')
		return false;
	for (size_t i = 2; i < t.n; i++) {
		int digit = hex_digit(t.p[i]);

		if (digit < 0)
			return false;
		*ret = *ret << 4 | (unsigned)digit;
	}
	return true;
}

/* ---- time ---- */

/* A number of n digits; -1: it is none. */
static int64_t stamp_digits(const char *p, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		v = v * 10 + (p[i] - '0');
	}
	return v;
}

static bool year_is_leap(int64_t y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

/* Since 1970; -1: there is no such day. */
static int64_t stamp_days(int64_t year, int64_t month, int64_t day)
{
	static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t before = year - 1, days = day - 1;

	if (year < 1970 || year > YEAR_MAX || month < 1 || month > 12 || day < 1 ||
	    day > lengths[month - 1] + (month == 2 && year_is_leap(year)))
		return -1;
	for (int m = 0; m < month - 1; m++)
		days += lengths[m];
	days += month > 2 && year_is_leap(year);
	return days + 365 * (year - 1970) + (before / 4 - before / 100 + before / 400) -
	       (1969 / 4 - 1969 / 100 + 1969 / 400);
}

/* All of t is "2026-11-26 10:00:00.123456"; 'T' or '_' may stand for the blank. */
static bool stamp_parse(struct text_slice t, int64_t *ret_ns)
{
	int64_t days, hour, minute, second_ns;

	if (t.n < 19 || t.p[4] != '-' || t.p[7] != '-' ||
	    (t.p[10] != ' ' && t.p[10] != 'T' && t.p[10] != '_') || t.p[13] != ':' ||
	    t.p[16] != ':' || (t.n > 19 && t.p[19] != '.'))
		return false;
	days = stamp_days(stamp_digits(t.p, 4), stamp_digits(t.p + 5, 2), stamp_digits(t.p + 8, 2));
	hour = stamp_digits(t.p + 11, 2);
	minute = stamp_digits(t.p + 14, 2);
	if (days < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
	    stamp_digits(t.p + 17, 2) < 0 || num_decimal(t.p + 17, t.n - 17, 9, &second_ns) < 0 ||
	    second_ns >= 61 * NS_PER_S)
		return false;
	*ret_ns = (days * 86400 + hour * 3600 + minute * 60) * NS_PER_S + second_ns;
	return true;
}

/* Cuts the time off the end of t, where there is one. */
static void stamp_cut(struct text_slice *t, int64_t *ret_ns)
{
	const char *end = t->p + t->n, *open;
	struct text_slice rest = *t;

	if (t->n == 0)
		return;
	if (end[-1] == ']') {
		open = memrchr(t->p, '[', t->n);
		if (open &&
		    stamp_parse((struct text_slice){ open + 1, (size_t)(end - open) - 2 }, ret_ns))
			t->n = (size_t)(open - t->p);
		return;
	}
	for (int words = 0; words < 2; words++) {
		struct text_slice word = slice_last_word(&rest);

		if (stamp_parse((struct text_slice){ word.p, (size_t)(end - word.p) }, ret_ns)) {
			*t = rest;
			return;
		}
	}
}

/* ---- processes ---- */

static bool host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static bool process_is(const struct nccl_process *p, struct text_slice host, int64_t pid)
{
	return p->pid == pid && p->host_n == host.n && !memcmp(p->host, host.p, host.n);
}

static bool host_ends(struct text_slice host, const struct nccl_process *p)
{
	return p->host_n < host.n && !memcmp(host.p + host.n - p->host_n, p->host, p->host_n);
}

static uint32_t process_new(struct nccl_comms *c, uint64_t hash, struct text_slice host,
			    int64_t pid)
{
	uint32_t *last, i = (uint32_t)c->processes.nr;
	struct nccl_process *p;

	if (c->processes.nr >= NCCL_PROCESSES_MAX || host.n >= NCCL_HOST_MAX)
		return U64MAP_NONE;
	last = u64map_at(&c->by_pid, (uint64_t)pid);
	VEC_PUSH(&c->processes,
		 ((struct nccl_process){ .host_n = host.n, .pid = pid, .before = *last }));
	p = &c->processes.v[i];
	memcpy(p->host, host.p, host.n);
	*last = i;
	*u64map_at(&c->by_name, hash) = i;
	c->changes++;
	return i;
}

/* *ret_glued: the host is the end of the word. */
static uint32_t process_of(struct nccl_comms *c, struct text_slice host, int64_t pid,
			   bool *ret_glued)
{
	uint64_t hash = XXH3_64bits_withSeed(host.p, host.n, (uint64_t)pid);
	uint32_t i = u64map_get(&c->by_name, hash);
	const struct nccl_process *p;

	*ret_glued = false;
	if (i != U64MAP_NONE && process_is(&c->processes.v[i], host, pid))
		return i;
	i = u64map_get(&c->by_pid, (uint64_t)pid);
	for (int steps = 0; i != U64MAP_NONE && steps < CHAIN_MAX; steps++, i = p->before) {
		p = &c->processes.v[i];
		if (host_ends(host, p)) {
			*ret_glued = true;
			return i;
		}
	}
	return process_new(c, hash, host, pid);
}

/* ---- the text in front of a record ---- */

/* Cuts "[0]" off the end, and blanks. */
static void device_cut(struct text_slice *t)
{
	size_t n = t->n;

	if (n < 3 || t->p[n - 1] != ']')
		return;
	n--;
	while (n > 0 && ((t->p[n - 1] >= '0' && t->p[n - 1] <= '9') || t->p[n - 1] == '-'))
		n--;
	if (n > 0 && t->p[n - 1] == '[') {
		t->n = n - 1;
		*t = slice_rtrim(*t);
	}
}

/* Cuts ":65704" off the end. */
static bool id_cut(struct text_slice *t, int64_t *ret)
{
	size_t n = t->n;

	while (n > 0 && t->p[n - 1] >= '0' && t->p[n - 1] <= '9')
		n--;
	if (n == 0 || t->p[n - 1] != ':' || num_i64(t->p + n, t->n - n, ret) < 0)
		return false;
	t->n = n - 1;
	return true;
}

struct nccl_origin nccl_origin_read(struct nccl_comms *c, struct text_slice before)
{
	struct nccl_origin o = { .pid = LIBRARY_NO_ID,
				 .tid = LIBRARY_NO_ID,
				 .t_ns = LIBRARY_NO_TIME,
				 .process = U64MAP_NONE,
				 .foreign = before.n > 0 };
	struct text_slice rest = slice_rtrim(before), host;
	int64_t pid, tid;
	bool glued;

	device_cut(&rest);
	if (!id_cut(&rest, &tid) || !id_cut(&rest, &pid))
		return o;
	host.n = 0;
	while (host.n < rest.n && host_char(rest.p[rest.n - host.n - 1]))
		host.n++;
	rest.n -= host.n;
	host.p = rest.p + rest.n;
	if (host.n == 0)
		return o;
	o.pid = pid;
	o.tid = tid;
	o.process = process_of(c, host, pid, &glued);
	rest = slice_rtrim(rest);
	stamp_cut(&rest, &o.t_ns);
	o.foreign = glued || slice_trim(rest).n > 0;
	return o;
}

void nccl_stamp_cut(struct text_slice *before, int64_t *ret_ns)
{
	const char *end = before->n && *before->p == '[' ? memchr(before->p, ']', before->n) : NULL;
	size_t n = end ? (size_t)(end - before->p) : 0;

	if (n == 0 || !stamp_parse((struct text_slice){ before->p + 1, n - 1 }, ret_ns))
		return;
	*before = (struct text_slice){ end + 1, before->n - n - 1 };
}

/* ---- communicators ---- */

static uint64_t comm_hash(uint32_t process, uint64_t address)
{
	return address ^ (uint64_t)(process + 1) << 48;
}

const struct nccl_comm *nccl_comms_find(const struct nccl_comms *c, uint32_t process,
					uint64_t address)
{
	uint32_t i = u64map_get(&c->by_address, comm_hash(process, address));
	const struct nccl_comm *comm = i != U64MAP_NONE ? &c->comms.v[i] : NULL;

	return comm && comm->rank >= 0 && comm->address == address && comm->process == process
		       ? comm
		       : NULL;
}

static void comm_set(struct nccl_comms *c, const struct nccl_comm *comm)
{
	uint64_t hash = comm_hash(comm->process, comm->address);
	uint32_t i = u64map_get(&c->by_address, hash);

	c->changes++;
	if (i != U64MAP_NONE) {
		c->comms.v[i] = *comm;
	} else if (comm->rank >= 0 && c->comms.nr < NCCL_COMMS_MAX) {
		*u64map_at(&c->by_address, hash) = (uint32_t)c->comms.nr;
		VEC_PUSH(&c->comms, *comm);
	}
}

static bool comm_ends(struct text_slice text)
{
	static const char *const ends[] = { "Destroy COMPLETE", "Abort COMPLETE" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (memmem(text.p, text.n, ends[i], strlen(ends[i])))
			return true;
	return false;
}

/* The number behind a name; a number that ends the text may have lost its end. */
static void comm_number(struct text_slice *rest, int64_t *ret)
{
	struct text_slice word;

	if (*ret < 0 && slice_word(rest, &word) && rest->n > 0 && num_i64(word.p, word.n, ret) < 0)
		*ret = -1;
}

void nccl_comms_learn(struct nccl_comms *c, uint32_t process, struct text_slice text)
{
	struct nccl_comm comm = { .process = process, .rank = -1 };
	int64_t rank = -1, nranks = -1;
	struct text_slice rest, word;
	bool known = false;

	if (!memmem(text.p, text.n, "comm 0x", 7))
		return;
	for (rest = text; slice_word(&rest, &word);) {
		if (slice_is(word, "rank"))
			comm_number(&rest, &rank);
		else if (slice_is(word, "nranks") || slice_is(word, "nRanks"))
			comm_number(&rest, &nranks);
		else if (!known && slice_is(word, "comm") && slice_word(&rest, &word))
			known = rest.n > 0 && nccl_address(word, &comm.address);
	}
	if (!known)
		return;
	if (comm_ends(text)) {
		comm_set(c, &comm);
	} else if (rank >= 0 && rank < nranks && nranks <= INT32_MAX) {
		comm.rank = (int32_t)rank;
		comm.nranks = nranks;
		comm_set(c, &comm);
	}
}
