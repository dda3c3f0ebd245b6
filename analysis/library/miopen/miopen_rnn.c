/*
 * The key of MIOpenDriver's recurrent layers: rnn, rnn_seq.
 *
 *	-n batch (a list: of each step, the last one of the rest) -k steps -W input -H hidden
 *	-l layers -r 1 both ways -m lstm|gru|tanh|relu -b bias -q algorithm -c inference
 *	-p 1: the input is taken as it is, without a product
 *	-F 1 forward, 2 backward data, 4 backward weights, their sum, 0 all
 *
 * Flops: 2·gates·batch·steps·hidden·(input + hidden) for each layer and way; lstm has 4 gates, gru
 * 3, the others 1; the input of a further layer is all outputs of the one before. Each direction
 * has as many. Bytes: x, y and the weights once each.
 */
#include "miopen_command.h"

#include <string.h>

#include "profrig/base/num.h"
#include "profrig/base/xalloc.h"

static const struct option_name name_n = { "-n", "--batchsize" };
static const struct option_name name_forw = { "-F", "--forw" };

struct rnn {
	int64_t steps, input, hidden, layers, both_ways, input_mode;
	int64_t batch; /* of all steps together */
	int gates;
	unsigned directions;
};

/* The batches of all steps. false: it is no list, or longer than the steps. */
static bool rnn_batches(struct text_slice list, struct rnn *r)
{
	int64_t nr = 0, last = 0;

	r->batch = 0;
	while (list.n > 0) {
		const char *comma = memchr(list.p, ',', list.n);
		size_t n = comma ? (size_t)(comma - list.p) : list.n;

		if (num_i64(list.p, n, &last) < 0 || last < 1 || last > DIM_MAX || nr >= r->steps)
			return false;
		if (__builtin_add_overflow(r->batch, last, &r->batch))
			return false;
		nr++;
		n += comma != NULL;
		list.p += n;
		list.n -= n;
	}
	return nr > 0 && !__builtin_mul_overflow(last, r->steps - nr, &last) &&
	       !__builtin_add_overflow(r->batch, last, &r->batch);
}

static int rnn_gates(const struct text_slice *mode)
{
	static const struct {
		const char *name;
		int gates;
	} modes[] = { { "lstm", 4 }, { "gru", 3 }, { "tanh", 1 }, { "relu", 1 } };

	for (size_t i = 0; mode && i < ARRAY_LEN(modes); i++)
		if (slice_is(*mode, modes[i].name))
			return modes[i].gates;
	return 0;
}

static enum record_is rnn_read(struct miopen_command *c, struct rnn *r, struct library_key *k)
{
	static const struct option_name names[] = {
		{ "-k", "--seq_len" },   { "-W", "--in_h" },        { "-H", "--hid_h" },
		{ "-l", "--num_layer" }, { "-r", "--bidirection" }, { "-p", "--inputmode" }
	};
	int64_t v[] = { DIM_NONE, DIM_NONE, DIM_NONE, DIM_NONE, 0, 0 }, forw = 0;
	const struct text_slice *batch = command_get(c, name_n);

	if (!command_ints(c, names, v, ARRAY_LEN(v)) || !command_int(c, name_forw, &forw) || !batch)
		return RECORD_TORN;
	for (size_t i = 0; i < 4; i++)
		if (v[i] == DIM_NONE)
			return RECORD_TORN;
	r->gates = rnn_gates(command_get(c, (struct option_name){ "-m", "--mode" }));
	/* the library writes -F behind these: it has lost more */
	if (r->gates == 0 || (c->logged && !command_get(c, name_forw) &&
			      (!command_get(c, names[4]) || !command_get(c, names[5]))))
		return RECORD_TORN;
	for (size_t i = 0; i < 4; i++)
		if (!command_in_range(k, names[i].name + 2, v[i], 1))
			return RECORD_BAD;
	if (forw < 0 || forw > MIOPEN_ALL)
		return key_bad(k, "-F %lld is no direction", (long long)forw);
	if (v[4] < 0 || v[4] > 1 || v[5] < 0 || v[5] > 1)
		return key_bad(k, "its mode is none");
	r->steps = v[0], r->input = v[1], r->hidden = v[2], r->layers = v[3];
	r->both_ways = v[4], r->input_mode = v[5];
	r->directions = forw ? (unsigned)forw : MIOPEN_ALL;
	return rnn_batches(*batch, r)
		       ? RECORD_CALL
		       : key_bad(k, "-n is no list of batches of %lld steps", (long long)r->steps);
}

/* The products of one layer and way: elements of its weights, `input` wide. */
static amount rnn_weights(const struct rnn *r, int64_t input)
{
	return amount_mul(amount_mul((amount)r->gates, r->hidden), input + r->hidden);
}

static bool rnn_work(const struct rnn *r, const struct element_type *type, struct library_key *k)
{
	int64_t ways = r->both_ways ? 2 : 1, nr = __builtin_popcount(r->directions);
	amount weights = rnn_weights(r, r->input_mode ? 0 : r->input);
	amount elements, flops;

	weights += amount_mul(rnn_weights(r, ways * r->hidden), r->layers - 1);
	weights = amount_mul(weights, ways);
	flops = amount_mul(amount_mul(weights, 2), r->batch);
	elements = weights + amount_mul(amount_mul(1, r->batch), r->input + ways * r->hidden);
	return key_work(k, amount_mul(flops, nr),
			amount_mul(amount_mul(elements, type->bits) / 8, nr));
}

enum record_is miopen_rnn(struct miopen_command *c, struct library_key *k)
{
	static const char *const names[3] = { "fwd", "bwd_data", "bwd_weights" };
	struct rnn r = { 0 };
	enum record_is is = rnn_read(c, &r, k);
	const char *family = c->verb[3] == '_' ? "rnn_seq" : "rnn";

	if (is != RECORD_CALL)
		return is;
	key_begin(k, family, c->verb);
	command_directions(k, r.directions, names);
	command_next_word(c, k, (struct option_name){ "-m", "--mode" }, "mode", NULL);
	command_next_word(c, k, name_n, "n", NULL);
	key_int(k, "steps", r.steps);
	key_int(k, "in", r.input);
	key_int(k, "hidden", r.hidden);
	key_int(k, "layers", r.layers);
	if (r.both_ways)
		key_word(k, "ways", "2");
	if (r.input_mode)
		key_word(k, "input", "skipped");
	command_next_word(c, k, (struct option_name){ "-b", "--bias" }, "bias", NULL);
	key_word(k, "x", c->type->name);
	command_next_word(c, k, (struct option_name){ "-q", "--rnnalgo" }, "algorithm", "0");
	command_next_word(c, k, (struct option_name){ "-c", "--fwdtype" }, "inference", "0");
	command_ignore_run(c);
	command_rest(c, k);
	return rnn_work(&r, c->type, k) ? RECORD_CALL : RECORD_BAD;
}
