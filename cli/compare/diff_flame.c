/*
 * Differential flame graphs: the stacks of either side, as wide as they took there, or as wide as
 * what changed in and above them, in the colour of the change: frames whose own part grew are red,
 * those where it shrank blue, the stronger the more of the whole change is theirs. Frames that the
 * other side alone has have no width there; the largest are listed. SVGs without a script: a title
 * for each frame, and radio buttons whose state the style sheet reads choose between the widths of
 * B, of A and of the change.
 */
#include "cli.h"
#include "diff_show.h"

#include <math.h>
#include <string.h>

#include "profrig/compare/flame_diff.h"

#define WIDTH 1200.0
#define HEIGHT 17
#define LEVELS 60
#define FRAMES_SHOWN 4000
#define NARROWEST 0.4 /* units of the drawing */
#define CHAR_WIDTH 6.6
#define GONE_SHOWN 10

enum widths { OF_B, OF_A, OF_CHANGE };

struct drawing {
	const struct html_out *h;
	const struct flame_diff *f;
	const char *unit;
	enum widths of;
	double total, most; /* of the side; the largest change of a frame's own part */
	size_t shown, narrow, deep;
	int levels;
};

/* "time" and "device" are ns, "energy-…" µJ. */
static const char *unit_of(const char *name)
{
	return strncmp(name, "energy-", 7) == 0 ? "J" : "s";
}

static double scale_of(const char *unit)
{
	return *unit == 'J' ? 1e-6 : 1e-9;
}

static double width_of(const struct drawing *d, const struct flame_frame *fr)
{
	return d->of == OF_A ? fr->a : d->of == OF_B ? fr->b : fr->change;
}

static char *amount(const struct drawing *d, double v, char *buf)
{
	return cli_si(v * scale_of(d->unit), d->unit, buf);
}

static void title_put(const struct drawing *d, const struct flame_frame *fr)
{
	char a[32], b[32], own[32], all[32];
	double change = fr->own_b - fr->own_a;
	CLEANUP(xfreep)
	char *part = change < 0   ? xasprintf("-%s", amount(d, -change, own))
		     : change > 0 ? xasprintf("+%s", amount(d, change, own))
				  : xstrdup("as it was");
	CLEANUP(xfreep)
	char *words = xasprintf("%s: %s in A, %s in B; its own part %s; changes with all above "
				"it: %s",
				intern_str(d->f->texts, fr->name), amount(d, fr->a, a),
				amount(d, fr->b, b), part, amount(d, fr->change, all));

	fputs("<title>", d->h->f);
	html_text(d->h, words);
	fputs("</title>", d->h->f);
}

static void frame_put(struct drawing *d, const struct flame_frame *fr, double x, double width,
		      int level)
{
	double change = d->most > 0 ? (fr->own_b - fr->own_a) / d->most : 0;
	int y = (d->levels - 1 - level) * HEIGHT;
	size_t fits = width > 3 * CHAR_WIDTH ? (size_t)((width - 4) / CHAR_WIDTH) : 0;
	const char *name = intern_str(d->f->texts, fr->name);

	fprintf(d->h->f, "<g><rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"",
		change > 0   ? "more"
		: change < 0 ? "less"
			     : "even",
		x, y, width, HEIGHT - 1);
	fprintf(d->h->f, " fill-opacity=\"%.3f\">", 0.10 + 0.50 * fmin(1, fabs(change)));
	title_put(d, fr);
	fputs("</rect>", d->h->f);
	if (fits) {
		size_t n = strlen(name), cut = n < fits ? n : fits;

		while (cut && cut < n && (name[cut] & 0xc0) == 0x80)
			cut--;
		if (cut) {
			CLEANUP(xfreep) char *text = xstrndup(name, cut);

			fprintf(d->h->f, "<text x=\"%.2f\" y=\"%d\">", x + 2, y + HEIGHT - 5);
			html_text(d->h, text);
			fputs("</text>", d->h->f);
		}
	}
	fputs("</g>\n", d->h->f);
	d->shown++;
}

/* Draws, or with `only` just finds the number of levels. */
static void frames_walk(struct drawing *d, bool only)
{
	struct {
		uint32_t frame;
		double x;
	} stack[LEVELS];
	int level = 0;

	stack[0].frame = 0;
	stack[0].x = 0;
	while (level >= 0) {
		uint32_t at = stack[level].frame;
		const struct flame_frame *fr = at == FLAME_NONE ? NULL : &d->f->v.v[at];
		double width = fr ? width_of(d, fr) / d->total * WIDTH : 0;

		if (!fr) {
			level--;
			continue;
		}
		stack[level].frame = fr->next;
		if (width < NARROWEST || (!only && d->shown >= FRAMES_SHOWN)) {
			d->narrow += !only && width > 0;
			continue;
		}
		if (only && level + 1 > d->levels)
			d->levels = level + 1;
		if (!only)
			frame_put(d, fr, stack[level].x, width, level);
		if (level + 1 < LEVELS) {
			stack[level + 1].frame = fr->first;
			stack[level + 1].x = stack[level].x;
			stack[level].x += width;
			level++;
		} else {
			d->deep += !only && fr->first != FLAME_NONE;
			stack[level].x += width;
		}
	}
}

/* ---- frames without a width ---- */

struct gone {
	const struct flame_frame *v[GONE_SHOWN];
	size_t nr, all;
};

static double there_of(const struct drawing *d, const struct flame_frame *fr)
{
	return d->of == OF_A ? fr->b : fr->a;
}

/* The outermost frame of each stack that the side lacks, the largest of them. */
static void gone_find(const struct drawing *d, struct gone *ret)
{
	const struct flame_diff *f = d->f;

	*ret = (struct gone){ .nr = 0 };
	for (size_t i = 1; i < f->v.nr; i++) {
		const struct flame_frame *fr = &f->v.v[i];
		double here = width_of(d, fr), there = there_of(d, fr);
		size_t at;

		if (here > 0 || !(there > 0) || !(width_of(d, &f->v.v[fr->parent]) > 0))
			continue;
		ret->all++;
		for (at = ret->nr; at > 0 && there_of(d, ret->v[at - 1]) < there; at--)
			if (at < GONE_SHOWN)
				ret->v[at] = ret->v[at - 1];
		if (at < GONE_SHOWN)
			ret->v[at] = fr;
		ret->nr += ret->nr < GONE_SHOWN;
	}
}

static void gone_put(const struct drawing *d)
{
	struct gone gone;
	struct strbuf sb = STRBUF_INIT;
	char buf[32];

	gone_find(d, &gone);
	if (gone.nr) {
		strbuf_addf(&sb, "%zu %s of %s %s no width, as %s lacks %s: ", gone.all,
			    gone.all == 1 ? "frame" : "frames", d->of == OF_A ? "B" : "A",
			    gone.all == 1 ? "has" : "have", d->of == OF_A ? "A" : "B",
			    gone.all == 1 ? "it" : "them");
		for (size_t i = 0; i < gone.nr; i++)
			strbuf_addf(&sb, "%s%.100s (%s)", i ? ", " : "",
				    intern_str(d->f->texts, gone.v[i]->name),
				    amount(d, there_of(d, gone.v[i]), buf));
		html_note(d->h, sb.buf);
	}
	strbuf_release(&sb);
}

/* ---- a graph ---- */

static void svg_put(struct drawing *d, const char *name)
{
	for (size_t i = 0; i < d->f->v.nr; i++)
		d->most = fmax(d->most, fabs(d->f->v.v[i].own_b - d->f->v.v[i].own_a));
	frames_walk(d, true);
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Flame graph: ",
	      d->h->f);
	html_text(d->h, name);
	fprintf(d->h->f,
		"\"><svg class=\"flame\" role=\"img\" viewBox=\"0 0 %.0f %d\" "
		"aria-label=\"stacks %s, coloured by their change\">\n",
		WIDTH, d->levels * HEIGHT,
		d->of == OF_A   ? "of A"
		: d->of == OF_B ? "of B"
				: "as wide as what changed in them");
	frames_walk(d, false);
	fputs("</svg></div>\n", d->h->f);
}

static void limits_note(const struct drawing *d)
{
	CLEANUP(xfreep)
	char *words = xasprintf("%zu frames are drawn, %zu are too narrow%s%s%s.", d->shown,
				d->narrow, d->deep ? ", and those above level 60 are left out" : "",
				d->f->cut ? "; stacks too deep or too many were cut" : "",
				d->f->bad ? "; lines that are no stacks were left out" : "");

	html_note(d->h, words);
}

static const struct {
	const char *id, *words;
} widths[] = {
	[OF_B] = { "b", "widths of B" },
	[OF_A] = { "a", "widths of A" },
	[OF_CHANGE] = { "change", "widths of the change" },
};

/* A drawing with what is said below it. */
static void side_put(const struct drawing *of, enum widths w, double total, const char *name)
{
	struct drawing d = *of;

	d.of = w;
	d.total = total;
	fprintf(d.h->f, "<div class=\"of-%s\">\n", widths[w].id);
	svg_put(&d, name);
	limits_note(&d);
	if (w != OF_CHANGE)
		gone_put(&d);
	else
		html_note(d.h, "A frame is as wide as what its own part and those of the frames "
			       "above it grew or shrank by, added up: growth does not hide what "
			       "shrank.");
	fputs("</div>\n", d.h->f);
}

static void width_button(const struct html_out *h, const char *group, enum widths w)
{
	const char *id = widths[w].id;

	fprintf(h->f,
		"<input type=\"radio\" class=\"to-%s\" name=\"%s\" id=\"%s-%s\"%s><label "
		"for=\"%s-%s\">%s</label>\n",
		id, group, group, id, w == OF_B ? " checked" : "", group, id, widths[w].words);
}

static void sides_put(const struct drawing *d, const char *name, const char *group)
{
	const struct flame_frame *root = &d->f->v.v[0];
	bool changed = root->change > 0;

	fputs("<div class=\"widths\" role=\"group\" aria-label=\"Flame graph\">\n", d->h->f);
	width_button(d->h, group, OF_B);
	width_button(d->h, group, OF_A);
	if (changed)
		width_button(d->h, group, OF_CHANGE);
	fputs("<span class=\"key\"><span class=\"swatch grew\"></span>its own part grew "
	      "<span class=\"swatch shrank\"></span>it shrank <span class=\"swatch "
	      "same\"></span>as "
	      "it was; the stronger, the more</span>\n",
	      d->h->f);
	side_put(d, OF_B, root->b, name);
	side_put(d, OF_A, root->a, name);
	if (changed)
		side_put(d, OF_CHANGE, root->change, name);
	fputs("</div>\n", d->h->f);
}

/* group: a word for the buttons of this graph, of which the page has no other. */
static void graph_put(const struct html_out *h, const struct compare_versus *v, const char *name,
		      const char *group)
{
	struct flame_diff f;
	struct drawing d = { .h = h, .f = &f, .unit = unit_of(name) };
	char a[32], b[32];

	flame_diff_read(v->a, v->b, name, &f);
	for (size_t i = 0; i < f.problems.nr; i++)
		html_note(h, f.problems.v[i]);
	if (f.v.nr) {
		CLEANUP(xfreep) char *title = xasprintf("Flame graph: %s", name);
		CLEANUP(xfreep) char *words = NULL;

		words = xasprintf("%s in A, %s in B; means of %zu and %zu runs. Red: the frame's "
				  "own part grew, blue: it shrank.",
				  amount(&d, f.v.v[0].a, a), amount(&d, f.v.v[0].b, b), f.files_a,
				  f.files_b);
		html_heading(h, 3, title);
		html_note(h, words);
		if (f.files_a && f.files_b && f.v.v[0].a > 0 && f.v.v[0].b > 0)
			sides_put(&d, name, group);
		else
			html_note(h, "One side alone has such stacks: there is nothing to draw.");
	}
	flame_diff_release(&f);
}

void diff_flames(const struct html_out *h, const struct compare_versus *v, size_t at)
{
	CLEANUP(strvec_release) struct strvec names = STRVEC_INIT;

	flame_diff_names(v->a, v->b, &names);
	for (size_t i = 0; i < names.nr; i++) {
		CLEANUP(xfreep) char *group = xasprintf("flame-%zu-%zu", at, i);

		graph_put(h, v, names.v[i], group);
	}
}
