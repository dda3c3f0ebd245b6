#include "lib_peaks.h"
#include "cli.h"

#include "profrig/base/progress.h"
#include "profrig/base/xalloc.h"

int lib_peaks_get(unsigned threads, bool again, struct bench_peaks *ret, bool *ret_stored,
		  struct err *err)
{
	CLEANUP(strvec_release) struct strvec said = STRVEC_INIT;
	struct bench_peak_opts o = BENCH_PEAK_OPTS_INIT;
	struct err why = ERR_INIT;
	CLEANUP(xfreep) char *file = bench_peaks_file(&why);
	int r = 0;

	if (!file)
		strvec_pushf(&said, "peaks are not stored: %s", why.msg);
	*ret_stored = file && bench_peaks_find(file, threads, ret, &said) && !again;
	if (!*ret_stored) {
		o.threads = threads;
		progress_phase("peaks of this machine with %u thread%s", threads,
			       threads == 1 ? "" : "s");
		r = bench_peaks_measure(&o, ret, err);
		progress_end();
		if (r == 0 && file)
			bench_peaks_keep(file, ret, &said);
	}
	warn_once(&said);
	return r;
}
