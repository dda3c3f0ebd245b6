#include "library_mask.h"
#include "library_lanes.h"

void mask_clear(struct log_mask *m)
{
	m->n = 0;
	m->t_ns = LIBRARY_NO_TIME;
	m->dur_ns = -1;
	m->odd_time = false;
}

void mask_add(struct log_mask *m, struct text_slice t)
{
	size_t room = sizeof(m->text) - m->n, n = t.n < room ? t.n : room;

	memcpy(m->text + m->n, t.p, n);
	m->n += n;
}

void mask_word(struct log_mask *m)
{
	mask_add(m, (struct text_slice){ "\n", 1 });
}

/* The next "0x" or "0X" at or behind `at`; t.n: there is none. */
static size_t address_next(struct text_slice t, size_t at)
{
	for (; at + LANES < t.n; at += LANES) {
		lanes first = lanes_load(t.p + at), second = lanes_load(t.p + at + 1);
		size_t lane = lanes_first((lanes)((first == '0') & ((second | 0x20) == 'x')));

		if (lane < LANES)
			return at + lane;
	}
	for (; at + 1 < t.n; at++)
		if (t.p[at] == '0' && (t.p[at + 1] | 0x20) == 'x')
			return at;
	return t.n;
}

/* How many digits t begins with, at most LANES; *ret_null: all of them are 0. */
static size_t hex_digits(struct text_slice t, bool *ret_null)
{
	char copy[LANES] = { 0 };
	lanes v, letter;
	size_t n;

	if (t.n < LANES)
		memcpy(copy, t.p, t.n);
	v = lanes_load(t.n < LANES ? copy : t.p);
	letter = (v | 0x20) - 'a';
	n = lanes_first((lanes)((v - '0' > 9) & (letter > 5)));
	*ret_null = lanes_first((lanes)(v != '0')) >= n;
	return n;
}

static bool begins_word(struct text_slice t, size_t at)
{
	static const char before[] = { ' ', ',', '=', '(', '[' };

	return at == 0 || memchr(before, t.p[at - 1], sizeof(before)) != NULL;
}

static bool ends_word(struct text_slice t, size_t at)
{
	static const char behind[] = { ' ', ',', ')', ']', ';' };

	return at == t.n || memchr(behind, t.p[at], sizeof(behind)) != NULL;
}

/* The end of the address at `at`, of at most 15 digits that are not all 0; 0: it is none. */
static size_t address_end(struct text_slice t, size_t at)
{
	bool null;
	size_t n = hex_digits((struct text_slice){ t.p + at + 2, t.n - at - 2 }, &null);

	return null || n == LANES || !begins_word(t, at) || !ends_word(t, at + 2 + n) ? 0
										      : at + 2 + n;
}

static bool is_behind(struct text_slice t, size_t at, const char *word)
{
	size_t n = word ? strlen(word) : 0;

	return n > 0 && at >= n && !memcmp(t.p + at - n, word, n);
}

void mask_addresses(struct log_mask *m, struct text_slice t, const char *keep)
{
	size_t done = 0;

	for (size_t at = address_next(t, 0); at < t.n;) {
		size_t end = is_behind(t, at, keep) ? 0 : address_end(t, at);

		if (end == 0) {
			at = address_next(t, at + 2);
			continue;
		}
		mask_add(m, (struct text_slice){ t.p + done, at - done });
		mask_word(m);
		done = end;
		at = address_next(t, end);
	}
	mask_add(m, (struct text_slice){ t.p + done, t.n - done });
}
