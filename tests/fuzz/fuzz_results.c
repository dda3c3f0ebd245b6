/* What a workload may print or leave as its results: the first byte says as what it is read. */
#include "fuzz.h"
#include "results_priv.h"
#include "run_oom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void results_require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "violated: %s\n", what);
	abort();
}

static void values(const char *path, struct results_conf *rc)
{
	struct values vs;

	values_init(&vs);
	values_read(path, rc, &vs, NULL);
	for (size_t i = 0; i < vs.v.nr; i++)
		results_require(vs.v.v[i].name < vs.names.nr && vs.v.v[i].unit < vs.units.nr &&
					vs.v.v[i].line > 0 && !isinf(vs.v.v[i].value),
				"values have names, units and lines");
	for (uint32_t name = 0; name < vs.names.nr; name++) {
		struct picked p = values_pick(&vs, name, rc);

		results_require(p.matches > 0 && (!isnan(p.value) || *p.why),
				"a pick, or why there is none");
	}
	values_release(&vs);
}

static void rows(const char *path)
{
	struct result_rows rr = { .problems = STRVEC_INIT };
	int r = result_rows_read(path, &rr);

	results_require(r == 0 || rr.problems.nr > 0, "what is wrong is said");
	results_require(r < 0 || rr.v.nr > 0 || rr.problems.nr > 0, "rows, or why there are none");
	result_rows_read(path, &rr);
	result_rows_merge(&rr);
	for (size_t i = 0; i < rr.v.nr; i++)
		results_require(rr.v.v[i].model && rr.v.v[i].metric && !isinf(rr.v.v[i].value),
				"rows are whole");
	result_rows_release(&rr);
}

static void results_scan(const char *path, const struct results_conf *rc)
{
	struct scan sc = { .found = 0 };

	scan_file(path, rc, &sc, NULL);
	results_require(sc.lines.nr <= SCAN_KEPT && sc.lines.nr <= sc.found,
			"lines that were found");
	scan_release(&sc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct results_conf rc;
	char path[64];

	if (n == 0 || fd < 0) {
		close(fd);
		return 0;
	}
	if (write(fd, data + 1, n - 1) != (ssize_t)n - 1)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	results_conf_init(&rc);
	rc.pick = data[0] / 4 % 6;
	switch (data[0] % 4) {
	case 0:
		values(path, &rc);
		break;
	case 1:
		rc.pattern = xstrdup("(?<name>\\w+)[=:](?<value>\\S*) (?<unit>\\S*)");
		values(path, &rc);
		break;
	case 2:
		rows(path);
		break;
	default:
		results_scan(path, &rc);
		break;
	}
	results_conf_release(&rc);
	close(fd);
	return 0;
}
