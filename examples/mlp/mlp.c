/*
 * mlp: a small real training loop on a CPU, for trying profrig without a GPU.
 *
 * A two-layer perceptron learns the function of a fixed random teacher network by mini-batch
 * gradient descent with momentum; all matrix work is sgemm of whatever BLAS it is linked with.
 * Ranges epoch / step / forward, loss, backward, update are marked with roctx when a roctx library
 * is loaded, else the marks cost one branch.
 *
 * usage: mlp [--epochs N] [--samples N] [--batch N] [--hidden N] [--seed N]
 */
#include <cblas.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern int roctxRangePushA(const char *) __attribute__((weak));
extern int roctxRangePop(void) __attribute__((weak));
extern void roctxMarkA(const char *) __attribute__((weak));

static void push(const char *name)
{
	if (roctxRangePushA)
		roctxRangePushA(name);
}

static void pop(void)
{
	if (roctxRangePop)
		roctxRangePop();
}

enum { INPUTS = 64, OUTPUTS = 16 };

struct layer {
	int in, out;
	float *w, *b;   /* w: in × out, row-major */
	float *dw, *db; /* gradients */
	float *vw, *vb; /* momentum */
};

static uint64_t rng;

static float uniform(void) /* xorshift64*, in [-1, 1) */
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (float)((double)((rng * 2685821657736338717u) >> 11) / 4503599627370496.0 - 1.0);
}

static float *floats(size_t n)
{
	float *p = calloc(n, sizeof(*p));

	if (!p) {
		fputs("mlp: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static void layer_init(struct layer *l, int in, int out)
{
	size_t n = (size_t)in * (size_t)out;
	float scale = sqrtf(3.0f / (float)in);

	*l = (struct layer){
		.in = in,
		.out = out,
		.w = floats(n),
		.b = floats((size_t)out),
		.dw = floats(n),
		.db = floats((size_t)out),
		.vw = floats(n),
		.vb = floats((size_t)out),
	};
	for (size_t i = 0; i < n; i++)
		l->w[i] = scale * uniform();
}

static void layer_free(struct layer *l)
{
	free(l->w), free(l->b), free(l->dw), free(l->db), free(l->vw), free(l->vb);
}

/* y = x·w + b */
static void layer_forward(const struct layer *l, const float *x, float *y, int rows)
{
	for (int r = 0; r < rows; r++)
		memcpy(y + (size_t)r * (size_t)l->out, l->b, sizeof(float) * (size_t)l->out);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, l->out, l->in, 1, x, l->in,
		    l->w, l->out, 1, y, l->out);
}

/* dw = xᵀ·dy / rows, db likewise, dx = dy·wᵀ (when wanted) */
static void layer_backward(struct layer *l, const float *x, const float *dy, const float *ones,
			   float *dx, int rows)
{
	float scale = 1.0f / (float)rows;

	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, l->in, l->out, rows, scale, x, l->in,
		    dy, l->out, 0, l->dw, l->out);
	cblas_sgemv(CblasRowMajor, CblasTrans, rows, l->out, scale, dy, l->out, ones, 1, 0, l->db,
		    1);
	if (dx)
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, l->in, l->out, 1, dy,
			    l->out, l->w, l->out, 0, dx, l->in);
}

static void sgd(float *w, float *v, const float *g, size_t n, float rate)
{
	for (size_t i = 0; i < n; i++) {
		v[i] = 0.9f * v[i] + g[i];
		w[i] -= rate * v[i];
	}
}

static void layer_update(struct layer *l, float rate)
{
	sgd(l->w, l->vw, l->dw, (size_t)l->in * (size_t)l->out, rate);
	sgd(l->b, l->vb, l->db, (size_t)l->out, rate);
}

struct net {
	struct layer l1, l2;
	float *h, *y, *dy, *dh; /* activations and their gradients of one batch */
	float *ones;            /* batch of them: column sums by gemv */
};

static void forward(struct net *n, const float *x, int rows)
{
	layer_forward(&n->l1, x, n->h, rows);
	for (size_t i = 0; i < (size_t)rows * (size_t)n->l1.out; i++)
		n->h[i] = tanhf(n->h[i]);
	layer_forward(&n->l2, n->h, n->y, rows);
}

/* mean squared error; fills the gradient of the output */
static double loss(struct net *n, const float *want, int rows)
{
	size_t count = (size_t)rows * OUTPUTS;
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		n->dy[i] = n->y[i] - want[i];
		sum += (double)n->dy[i] * (double)n->dy[i];
	}
	return sum / (double)count;
}

static void backward(struct net *n, const float *x, int rows)
{
	layer_backward(&n->l2, n->h, n->dy, n->ones, n->dh, rows);
	for (size_t i = 0; i < (size_t)rows * (size_t)n->l1.out; i++)
		n->dh[i] *= 1 - n->h[i] * n->h[i];
	layer_backward(&n->l1, x, n->dh, n->ones, NULL, rows);
}

static double step(struct net *n, const float *x, const float *want, int rows)
{
	push("step");
	push("forward");
	forward(n, x, rows);
	pop();
	push("loss");
	double l = loss(n, want, rows);
	pop();
	push("backward");
	backward(n, x, rows);
	pop();
	push("update");
	layer_update(&n->l1, 0.05f);
	layer_update(&n->l2, 0.05f);
	pop();
	pop();
	return l;
}

/*
 * Inputs are uniform noise, targets what a fixed random network answers: learnable, so the loss
 * must fall.
 */
static void make_data(float *x, float *want, int samples)
{
	struct net teacher = { .h = floats((size_t)samples * 32), .y = want };

	layer_init(&teacher.l1, INPUTS, 32);
	layer_init(&teacher.l2, 32, OUTPUTS);
	for (size_t i = 0; i < (size_t)samples * INPUTS; i++)
		x[i] = uniform();
	forward(&teacher, x, samples);
	layer_free(&teacher.l1);
	layer_free(&teacher.l2);
	free(teacher.h);
}

static int number(const char *s, const char *what)
{
	char *end;
	long v = strtol(s, &end, 10);

	if (*end || v < 1 || v > 1 << 24) {
		fprintf(stderr, "mlp: --%s wants a whole number from 1, not '%s'\n", what, s);
		exit(2);
	}
	return (int)v;
}

int main(int argc, char **argv)
{
	static const struct option opts[] = { { "epochs", 1, 0, 0 }, { "samples", 1, 0, 0 },
					      { "batch", 1, 0, 0 },  { "hidden", 1, 0, 0 },
					      { "seed", 1, 0, 0 },   { 0 } };
	int value[] = { 5, 16384, 256, 512, 7 }, o, which;

	while ((o = getopt_long(argc, argv, "", opts, &which)) == 0)
		value[which] = number(optarg, opts[which].name);
	if (o != -1 || optind < argc) {
		fputs("usage: mlp [--epochs N] [--samples N] [--batch N] [--hidden N] [--seed N]\n",
		      stderr);
		return 2;
	}
	int epochs = value[0], samples = value[1], batch = value[2], hidden = value[3];
	if (batch > samples)
		batch = samples;
	rng = (uint64_t)value[4] * 0x9e3779b97f4a7c15u | 1;

	push("data");
	float *x = floats((size_t)samples * INPUTS), *want = floats((size_t)samples * OUTPUTS);
	make_data(x, want, samples);
	pop();
	struct net n = {
		.h = floats((size_t)batch * (size_t)hidden),
		.y = floats((size_t)batch * OUTPUTS),
		.dy = floats((size_t)batch * OUTPUTS),
		.dh = floats((size_t)batch * (size_t)hidden),
		.ones = floats((size_t)batch),
	};
	for (int i = 0; i < batch; i++)
		n.ones[i] = 1;
	layer_init(&n.l1, INPUTS, hidden);
	layer_init(&n.l2, hidden, OUTPUTS);

	struct timespec t0, t1;
	double first = 0, last = 0;
	long done = 0;
	clock_gettime(CLOCK_MONOTONIC, &t0);
	for (int e = 1; e <= epochs; e++) {
		double sum = 0;
		int steps = 0;
		push("epoch");
		for (int at = 0; at + batch <= samples; at += batch, steps++)
			sum += step(&n, x + (size_t)at * INPUTS, want + (size_t)at * OUTPUTS,
				    batch);
		pop();
		done += (long)steps * batch;
		last = sum / steps;
		first = e == 1 ? last : first;
		printf("epoch %d loss %.6f\n", e, last);
		fflush(stdout);
	}
	clock_gettime(CLOCK_MONOTONIC, &t1);
	if (roctxMarkA)
		roctxMarkA("trained");
	double s = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
	printf("performance: %.0f samples/s\n", (double)done / s);
	layer_free(&n.l1);
	layer_free(&n.l2);
	free(n.h), free(n.y), free(n.dy), free(n.dh), free(n.ones), free(x), free(want);
	if (epochs > 1 && !(last < first)) {
		fprintf(stderr, "mlp: the loss did not fall (%.6f, then %.6f)\n", first, last);
		return 1;
	}
	return 0;
}
