/* Each format with texts that it has to escape, against the text that is wanted; and what of a
 * run.json is left out. */
#include "publish_formats.h"
#include "test.h"

#define ID "20260304T050607Z-mlp-3fa9c1"

static const char awkward[] =
	"{\"schema\": \"profrig.run/1\", \"id\": \"" ID "\", \"model\": \"the mlp, v=1\","
	" \"started_utc\": \"2026-03-04T05:06:07.000001Z\","
	" \"ended_utc\": \"2026-03-04T05:06:09.123456Z\", \"status\": \"failed\","
	" \"reason\": \"it said \\\"no\\\" \\\\ twice\\nand ended\", \"exit_code\": 3,"
	" \"signal\": null, \"engine\": \"host\", \"image\": null,"
	" \"durations_s\": {\"build\": null, \"workload\": 1.5, \"$odd\": 2, \"pre\": 0},"
	" \"labels\": {\"cell\": \"a=b, c\\\\\", \"note\": \"zwölf\\n\\\"x\\\"\", \"$oid\": \"y\"},"
	" \"host\": {\"hostname\": \"node 1\"}, \"devices\": [{\"id\": \"gpu0\", \"name\": "
	"\"MI\"}],"
	" \"versions\": {\"profrig\": \"0.1.0\"}, \"tools\": [{\"name\": \"perf\"}],"
	" \"metrics\": [{\"name\": \"perf, \\\"best\\\"\", \"value\": 12.5, \"unit\": \"s/é\"},"
	" {\"name\": \"no number\", \"value\": null, \"unit\": \"s\"},"
	" {\"name\": \"text\", \"value\": \"inf\", \"unit\": \"s\"},"
	" {\"name\": \"energy\", \"value\": 1e+20, \"unit\": \"J\","
	" \"source\": \"energy_totals: energy.cpu0 of cpu0\"},"
	" {\"name\": \"twice\", \"value\": 1, \"unit\": \"\"},"
	" {\"name\": \"twice\", \"value\": 2, \"unit\": \"\"}]}";

static void record_parse(const char *text, const char *folder, struct publish_record *ret)
{
	struct err err = ERR_INIT;

	if (publish_record_parse(text, strlen(text), folder, ret, &err) < 0)
		fail_msg("%s", err.msg);
}

TEST(prometheus_text_escapes_values)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	CLEANUP(xfreep) char *text = NULL;

	record_parse(awkward, ID, &rec);
	text = publish_prometheus_text(&rec);
	assert_string_equal(
		text, "# HELP profrig_run_info The last run of this group.\n"
		      "# TYPE profrig_run_info gauge\n"
		      "profrig_run_info{run=\"" ID "\",model=\"the mlp, v=1\",host=\"node 1\","
		      "status=\"failed\",engine=\"host\",repeat=\"\",version=\"0.1.0\"} 1\n"
		      "# HELP profrig_run_success 1 when the run ended with status success.\n"
		      "# TYPE profrig_run_success gauge\n"
		      "profrig_run_success{run=\"" ID "\"} 0\n"
		      "# HELP profrig_run_end_timestamp_seconds When the run ended.\n"
		      "# TYPE profrig_run_end_timestamp_seconds gauge\n"
		      "profrig_run_end_timestamp_seconds{run=\"" ID "\"} 1772600769.123456\n"
		      "# HELP profrig_run_duration_seconds How long its parts took.\n"
		      "# TYPE profrig_run_duration_seconds gauge\n"
		      "profrig_run_duration_seconds{run=\"" ID "\",part=\"workload\"} 1.5\n"
		      "profrig_run_duration_seconds{run=\"" ID "\",part=\"pre\"} 0\n"
		      "# HELP profrig_metric The results of the run, in their units.\n"
		      "# TYPE profrig_metric gauge\n"
		      "profrig_metric{run=\"" ID "\",metric=\"perf, \\\"best\\\"\",key=\"\","
		      "unit=\"s/é\"} 12.5\n"
		      "profrig_metric{run=\"" ID "\",metric=\"energy\",key=\"energy.cpu0 of cpu0\","
		      "unit=\"J\"} 1e+20\n"
		      "profrig_metric{run=\"" ID "\",metric=\"twice\",key=\"\",unit=\"\"} 1\n"
		      "profrig_metric{run=\"" ID "\",metric=\"twice\",key=\"#2\",unit=\"\"} 2\n");
	assert_int_equal(rec.left_out, 2);
}

TEST(prometheus_groups_are_paths)
{
	static const struct {
		const char *group, *job, *campaign, *cell, *host, *model, *want;
	} rows[] = {
		{ "cell", "j", "c", "x1", "h", "m", "/metrics/job/j/campaign/c/cell/x1" },
		{ "cell", "j", "", "", "h", "m", "/metrics/job/j/host/h/model/m" },
		{ "cell", "j", "c", "", "h", "m", "/metrics/job/j/host/h/model/m" },
		{ "cell", "a/b", "", "", "", "é",
		  "/metrics/job@base64/YS9i/host@base64/=/model@base64/w6k" },
		{ "cell", "..", "", "", "a b", "abc?",
		  "/metrics/job@base64/Li4/host@base64/YSBi/model@base64/YWJjPw" },
		{ "run", "j", "c", "x1", "h", "m", "/metrics/job/j/run/r.1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct publish_target t = { .job = xstrdup(rows[i].job),
						  .group = xstrdup(rows[i].group) };
		struct publish_record rec = { .tools = STRVEC_INIT, .devices = STRVEC_INIT };
		CLEANUP(xfreep) char *path = NULL;

		rec.id = xstrdup("r.1");
		rec.campaign = xstrdup(rows[i].campaign);
		rec.cell = xstrdup(rows[i].cell);
		rec.host = xstrdup(rows[i].host);
		rec.model = xstrdup(rows[i].model);
		path = publish_prometheus_path(&t, &rec);
		if (strcmp(path, rows[i].want) != 0)
			ROW_FAIL(i, "%s, not %s", path, rows[i].want);
		publish_record_release(&rec);
		free(t.job);
		free(t.group);
	}
}

TEST(influx_text_escapes_tags_and_fields)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	CLEANUP(xfreep) char *text = NULL;

	record_parse(awkward, ID, &rec);
	text = publish_influx_text(&rec);
#define TAGS "cell=a\\=b\\,\\ c/,host=node\\ 1,"
#define MODEL "model=the\\ mlp\\,\\ v\\=1,run=" ID
#define AT " 1772600769123456000\n"
	assert_string_equal(
		text,
		"profrig_run," TAGS MODEL " success=false,status=\"failed\","
		"reason=\"it said \\\"no\\\" \\\\ twice\nand ended\",engine=\"host\","
		"tools=\"perf\",devices=\"gpu0 MI\",profrig=\"0.1.0\",exit_code=3i,"
		"started_ns=1772600767000001000i,workload_s=1.5,pre_s=0,"
		"label_cell=\"a=b, c\\\\\",label_note=\"zwölf\n\\\"x\\\"\",label_$oid=\"y\"" AT
		"profrig_metric," TAGS "metric=perf\\,\\ \"best\"," MODEL ",unit=s/é value=12.5" AT
		"profrig_metric," TAGS "key=energy.cpu0\\ of\\ cpu0,metric=energy," MODEL
		",unit=J value=1e+20" AT "profrig_metric," TAGS "metric=twice," MODEL " value=1" AT
		"profrig_metric," TAGS "key=#2,metric=twice," MODEL " value=2" AT);
}

TEST(json_has_no_key_of_a_workload)
{
	CLEANUP(publish_record_release) struct publish_record rec;
	CLEANUP(xfreep) char *text = NULL;
	size_t n;

	record_parse(awkward, ID, &rec);
	text = publish_json_line(&rec, &n);
	assert_int_equal(n, strlen(text));
	assert_string_equal(
		text,
		"{\"_id\":\"" ID "\",\"run\":\"" ID "\",\"model\":\"the mlp, v=1\","
		"\"campaign\":null,\"cell\":\"a=b, c\\\\\",\"repeat\":null,\"block\":null,"
		"\"labels\":[{\"name\":\"cell\",\"value\":\"a=b, c\\\\\"},"
		"{\"name\":\"note\",\"value\":\"zwölf\\n\\\"x\\\"\"},"
		"{\"name\":\"$oid\",\"value\":\"y\"}],\"status\":\"failed\","
		"\"reason\":\"it said \\\"no\\\" \\\\ twice\\nand ended\",\"exit_code\":3,"
		"\"signal\":null,\"started_utc\":\"2026-03-04T05:06:07.000001Z\","
		"\"ended_utc\":\"2026-03-04T05:06:09.123456Z\",\"host\":\"node 1\","
		"\"engine\":\"host\",\"image\":null,\"image_digest\":null,"
		"\"devices\":[\"gpu0 MI\"],\"tools\":[\"perf\"],"
		"\"durations_s\":{\"workload\":1.5,\"pre\":0},\"metrics\":["
		"{\"name\":\"perf, \\\"best\\\"\",\"key\":\"\",\"unit\":\"s/é\",\"value\":12.5},"
		"{\"name\":\"energy\",\"key\":\"energy.cpu0 of cpu0\",\"unit\":\"J\","
		"\"value\":1e+20},{\"name\":\"twice\",\"key\":\"\",\"unit\":\"\",\"value\":1},"
		"{\"name\":\"twice\",\"key\":\"#2\",\"unit\":\"\",\"value\":2}],"
		"\"metrics_left_out\":2,\"profrig\":\"0.1.0\"}");
}
