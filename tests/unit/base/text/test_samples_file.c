#include "base_test.h"

#include <math.h>

#include "profrig/base/samples_file.h"

static void line_take(struct samples_header *h, const char *line)
{
	samples_header_take(h, line, strlen(line));
}

/* What is written is what is read. */
static void test_header(void **state UNUSED)
{
	struct samples_header h = SAMPLES_HEADER_INIT, back = SAMPLES_HEADER_INIT;
	struct strbuf to = STRBUF_INIT;

	h.source = "amdgpu";
	h.run_id = "r1";
	h.anchor = (struct clock_anchor){ .monotonic_ns = 5, .realtime_ns = 7, .boottime_ns = 6 };
	h.period_s = 0.1;
	h.changes = h.estimated = true;
	snprintf(h.host, sizeof(h.host), "node3");
	samples_header_put(&h, &to);
	for (char *line = to.buf, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		assert_int_equal(*line, '#');
		line_take(&back, line + 1);
	}
	assert_string_equal(back.version, SAMPLES_VERSION);
	assert_string_equal(back.clock, "CLOCK_MONOTONIC");
	assert_string_equal(back.host, "node3");
	assert_true(back.anchored && back.changes && back.estimated);
	assert_int_equal(back.anchor.monotonic_ns, 5);
	assert_int_equal(back.anchor.realtime_ns, 7);
	assert_true(back.period_s == 0.1);
	line_take(&back, "storage: every");
	line_take(&back, "anchor: monotonic_ns=x realtime_ns=7");
	line_take(&back, "period_s: often");
	assert_true(!back.changes && !back.anchored && isnan(back.period_s));
	samples_header_release(&back);
	strbuf_release(&to);
}

static void test_devices(void **state UNUSED)
{
	static const struct {
		const char *lines[2], *id, *pci;
	} rows[] = {
		{ { "device: gpu0: MI210, pci 0000:c1:00.0, x" }, "gpu0", "0000:c1:00.0" },
		{ { "device: gpu0: MI210, pci 1, x", "facts: gpu0: a=b pci=2 c=d" }, "gpu0", "2" },
		{ { "facts: gpu0: pci=2", "device: gpu0: MI210, pci 1, x" }, "gpu0", "2" },
		{ { "device: n3:gpu1: MI210, pci 3" }, "n3:gpu1", "3" },
		{ { "device: gpu0: MI210" }, "gpu0", NULL },
		{ { "device: gpu0" }, "gpu0", NULL },
		{ { "facts: gpu0: epci=4" }, "gpu0", NULL },
		{ { "device: gpu0: , pci 1" }, "gpu1", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct samples_header h = SAMPLES_HEADER_INIT;
		const char *pci;

		for (size_t k = 0; k < 2 && rows[i].lines[k]; k++)
			line_take(&h, rows[i].lines[k]);
		pci = samples_header_pci(&h, rows[i].id);
		if (!pci != !rows[i].pci || (pci && strcmp(pci, rows[i].pci) != 0))
			ROW_FAIL(i, "%s", pci ? pci : "none");
		samples_header_release(&h);
	}
}

static void test_marks(void **state UNUSED)
{
	struct strbuf to = STRBUF_INIT;
	const char *name;
	int64_t t_ns;
	size_t n;
	bool timed;

	samples_mark_put(5, "warm up", &to);
	assert_string_equal(to.buf, "# mark: 5 warm up\n");
	assert_true(samples_mark_take(to.buf + 1, to.len - 2, &t_ns, &timed, &name, &n));
	assert_true(timed && t_ns == 5 && n == 7 && memcmp(name, "warm up", n) == 0);
	assert_true(samples_mark_take("mark: soon x", 12, &t_ns, &timed, &name, &n) && !timed);
	assert_false(samples_mark_take("marks: 5 x", 10, &t_ns, &timed, &name, &n));
	strbuf_release(&to);
}

static void test_columns(void **state UNUSED)
{
	static const struct {
		const char *head, *series, *name, *device, *unit;
		bool cumulative;
	} rows[] = {
		{ "power.gpu0[W]", "power.gpu0", "power", "gpu0", "W", false },
		{ "energy.gpu0[J]", "energy.gpu0", "energy", "gpu0", "J", true },
		{ "energy.pkg0[uJ]", "energy.pkg0", "energy", "pkg0", "uJ", true },
		{ "a.b.n3:gpu1[%]", "a.b.n3:gpu1", "a.b", "n3:gpu1", "%", false },
		{ "load", "load", "load", NULL, NULL, false },
		{ "energy[]", "energy", "energy", NULL, "", false },
		{ "x[W", "x[W", "x[W", NULL, NULL, false },
		{ "]", "]", "]", NULL, NULL, false },
		{ "", "", "", NULL, NULL, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct samples_column c = samples_column_take(rows[i].head);

		if (c.series_n != strlen(rows[i].series) || c.name_n != strlen(rows[i].name) ||
		    !c.device != !rows[i].device || !c.unit != !rows[i].unit ||
		    c.cumulative != rows[i].cumulative)
			ROW_FAIL(i, "'%s'", rows[i].head);
		if (c.device && (c.device_n != strlen(rows[i].device) ||
				 memcmp(c.device, rows[i].device, c.device_n) != 0))
			ROW_FAIL(i, "'%s': device %s", rows[i].head, c.device);
		if (c.unit && (c.unit_n != strlen(rows[i].unit) ||
			       memcmp(c.unit, rows[i].unit, c.unit_n) != 0))
			ROW_FAIL(i, "'%s': unit %s", rows[i].head, c.unit);
	}
}

static void test_values(void **state UNUSED)
{
	double v;

	assert_int_equal(samples_value_take("", 0, &v), SAMPLES_ABSENT);
	assert_true(isnan(v));
	assert_int_equal(samples_value_take("NA", 2, &v), SAMPLES_FAILED);
	assert_int_equal(samples_value_take("1.5", 3, &v), SAMPLES_NUMBER);
	assert_true(v == 1.5);
	assert_int_equal(samples_value_take("1.5x", 4, &v), SAMPLES_BAD);
	assert_true(isnan(v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header), cmocka_unit_test(test_devices),
		cmocka_unit_test(test_marks),  cmocka_unit_test(test_columns),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests_name("samples_file", tests, NULL, NULL);
}
