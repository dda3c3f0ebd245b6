#include "test.h"

#include "profrig/report/html_out.h"

static char *text;
static size_t len;

static struct html_out begin(void)
{
	return (struct html_out){ .f = open_memstream(&text, &len) };
}

static int drop(void **state UNUSED)
{
	free(text);
	text = NULL;
	return 0;
}

TEST_WITH(test_styles_are_inline, NULL, drop)
{
	struct html_out h = begin();

	html_heading(&h, 2, "x");
	html_note(&h, "x");
	html_table(&h);
	html_cell(&h, "td", "failed", true);
	fclose(h.f);
	assert_has(text, "<h2 style=\"");
	assert_has(text, "<p style=\"");
	assert_has(text, "<table cellspacing=\"0\" style=\"");
	assert_has(text, "text-align:right;color:#b3261e");
}

TEST_WITH(test_a_style_sheet_replaces_them, NULL, drop)
{
	struct html_out h = begin();

	h.styled = true;
	html_begin(&h, "a & b", "<style>p{margin:0}</style>");
	html_heading(&h, 2, "x");
	html_note(&h, "x");
	html_table(&h);
	html_cell(&h, "td", "failed", true);
	html_cell(&h, "th", "left", false);
	html_figure(&h, "", "1.2", "1.23456");
	html_figure(&h, "slower", "3", "\"><b>");
	fclose(h.f);
	assert_has(text, "<title>a &#38; b</title><style>p{margin:0}</style></head>\n<body>\n");
	assert_has(text, "<h2>x</h2>\n<p>x</p>\n<table>\n<td class=\"num\">failed</td><th>left</th>"
			 "<td class=\"num\" title=\"1.23456\">1.2</td>"
			 "<td class=\"num slower\" title=\"&#34;&#62;&#60;b&#62;\">3</td>");
	assert_lacks(text, "style=");
}

TEST_WITH(test_long_texts_are_cut_between_letters, NULL, drop)
{
	struct html_out h = begin();

	h.max_text = 5;
	html_text(&h, "行列行");
	html_text(&h, "|12345|");
	fputs("|", h.f);
	html_text(&h, "éé1");
	fclose(h.f);
	assert_string_equal(text, "行&#8230;|1234&#8230;|éé1");
}

int main(void)
{
	return tests_run(NULL, NULL);
}
