#include "profrig/model/warnings.h"

#include <string.h>

/* In the order of warnings.h: shape of the trace, reading it, clocks, counters, attribution. */
const struct warning_info warning_table[] = {
	{ W_SPAN_OVERLAP, SEV_WARNING,
	  "spans of one thread start inside another and end after it, which calls cannot do; the "
	  "part "
	  "beyond the parent counts as a piece of its own, so times still add up. Look for "
	  "asynchronous work recorded on a thread, or for two clocks on one thread" },
	{ W_DEEP_STACK, SEV_NOTE,
	  "calls are nested so deep that writing every path would not fit in memory; the deepest "
	  "ones share the frame [deeper]" },
	{ W_MEMORY_LIMIT, SEV_WARNING,
	  "a file has so many records for its size that keeping all of them would take more than "
	  "twice its text and 64 MiB; the text says what was put together or left out" },
	{ W_OPEN_SPAN, SEV_WARNING,
	  "calls were entered and never left; they end at the last event of their thread. The "
	  "recording was stopped or the program died inside them" },
	{ W_STRAY_LEAVE, SEV_WARNING,
	  "calls were left that were never entered; they are not counted. The recording began "
	  "inside "
	  "them, or events were lost" },
	{ W_LEAVE_MISMATCH, SEV_WARNING,
	  "calls were left under another name than they were entered with; the innermost open one "
	  "was "
	  "closed. Enter and leave do not pair up, so names and times of that thread are in "
	  "doubt" },
	{ W_NEGATIVE_DURATION, SEV_WARNING,
	  "spans end before they start; they are kept with zero length. Usually start and end came "
	  "from different clocks" },
	{ W_ZERO_DURATION, SEV_NOTE,
	  "events of a device's trace begin and end at one time of the host's clock; those that "
	  "have "
	  "cycles get their length from these" },
	{ W_BAD_NUMBER, SEV_WARNING,
	  "a value is no number or does not fit its type; it was left out" },
	{ W_BAD_FACT, SEV_WARNING,
	  "arguments of spans state what cannot be (a negative size, one above 2^50, more than 16 "
	  "dimensions, text that is no list); such a number or list counts as not stated" },
	{ W_BAD_SHAPES, SEV_NOTE,
	  "shapes of operators do not fit each other, or are too large for any device: such calls "
	  "have neither flops nor bytes" },
	{ W_FACTS_TWICE, SEV_WARNING,
	  "spans have facts of one kind twice; the first ones count. The file holds records "
	  "twice, or was put together of several" },
	{ W_OP_WITHOUT_MODULE, SEV_NOTE,
	  "operations of compiled programs lie in no execution of a module, so it is not known to "
	  "which they belong: the recording began in the midst of one" },
	{ W_HLO_MISSING, SEV_WARNING,
	  "operations are of a module that no given dump has; nothing is known of their sizes. "
	  "Give "
	  "the compiler's dump of the same run" },
	{ W_HLO_OTHER, SEV_WARNING,
	  "operations are not in the dump of their module, which is of another compilation" },
	{ W_HLO_GROUPS, SEV_WARNING,
	  "collectives of a program have groups of different sizes, or are several in one "
	  "operation; "
	  "they have no size" },
	{ W_COMPILE_OUTSIDE, SEV_NOTE,
	  "ranges of the compiler lie in no compilation of a program, so table `compile` leaves "
	  "them out: the recording began in the midst of one" },
	{ W_LONG_TEXT, SEV_WARNING,
	  "names or arguments are longer than 64 KiB, or those above 1 KiB have more than 32 MiB "
	  "together; what is kept of them ends in an ellipsis and a hash of the whole" },
	{ W_TIME_RANGE, SEV_ERROR,
	  "times lie more than 73 years before or 146 years behind where their clock begins, or "
	  "cannot be read: events were moved to the edge or left out, so the input is incomplete" },
	{ W_BAD_EVENT, SEV_WARNING,
	  "events lack a field they need or have one of the wrong type; they were left out, or "
	  "taken to have no length where only a duration is missing" },
	{ W_TRUNCATED, SEV_ERROR,
	  "the input ends early or is damaged; what came before was read. Check that the program "
	  "ended by itself and that the disk was not full" },
	{ W_TORN_RECORD, SEV_WARNING,
	  "records of a library's log have lost a part: processes wrote to one stream at the same "
	  "time, or the file was cut. They are not counted. Let each process write its own file" },
	{ W_BAD_CALL, SEV_WARNING,
	  "records of a library's log tell calls that no library executes (negative or too large "
	  "sizes, a leading dimension less than the rows); they are not counted" },
	{ W_LIBRARY_ROWS, SEV_WARNING,
	  "library calls have more than 262144 configurations; those of later ones are counted by "
	  "library and operation alone, in rows [other]" },
	{ W_LIBRARY_GRAPHS, SEV_WARNING,
	  "the trace launches graphs more often than it makes them; libraries log the calls of a "
	  "graph once, when it is captured, so counts of library calls are too low" },
	{ W_LIBRARY_UNMATCHED, SEV_NOTE,
	  "calls that a log of a library tells cannot be told apart in the trace, so they have no "
	  "time and no kernels there; the column unmatched of library_calls says why" },
	{ W_UNTERMINATED, SEV_WARNING,
	  "a file that is written by appending has no end mark, or its last record is cut; all "
	  "before it was read. The recording program died or is still running" },
	{ W_MISSING_LOCATION, SEV_ERROR,
	  "the archive names a location (thread, stream, counter) whose events are not there; its "
	  "data "
	  "is missing from all results. Copy the whole directory of the archive" },
	{ W_EVENT_COUNT, SEV_WARNING,
	  "the definitions of an archive state fewer events of a location than its file holds; all "
	  "of the file was read. They were written by a tracer that does not count, or belong to "
	  "another recording" },
	{ W_LOST_EVENTS, SEV_WARNING,
	  "the recorder says that it could not keep up and lost events or samples; what it kept is "
	  "right, sums are too small. Record less, or give it larger buffers" },
	{ W_MISSING_DEFINITIONS, SEV_WARNING,
	  "an archive has no local definitions or does not tell its clock; events were read "
	  "without "
	  "clock correction and mapping of local ids, so times and names may be wrong" },
	{ W_UNKNOWN_REFERENCE, SEV_WARNING,
	  "events refer to something the input never defines; names are made up from ids, or the "
	  "event "
	  "is left out" },
	{ W_UNKNOWN_VERSION, SEV_WARNING,
	  "an input states a version of its format that profrig does not know; what it has in "
	  "common with known versions was read" },
	{ W_TIME_ORDER, SEV_WARNING,
	  "enter and leave events of one thread go back in time; they were paired in the order of "
	  "the "
	  "input, so durations around them are in doubt" },
	{ W_DUPLICATE_TIME, SEV_NOTE,
	  "a series has several values for one time; the last one counts, the total stays the "
	  "same" },
	{ W_UNLINKED_WORK, SEV_NOTE,
	  "device work names a launch that is not in the trace (it was launched before the "
	  "recording, "
	  "or launches were not recorded); it appears as [unattributed] in call paths" },
	{ W_CLOCK_ASSUMED, SEV_WARNING,
	  "the times of a trace count from when its recording began, and nothing tells when that "
	  "was; the start of the workload is taken, so it may lie too early by the time the tool "
	  "took to begin. A tool that leaves a clock file beside its trace is placed exactly "
	  "(docs/tools.md)" },
	{ W_CYCLE_STAMPS, SEV_WARNING,
	  "events of a device lack some of the stamps of its cycle counter, or have stamps that go "
	  "back; they keep the host's times and are in no table of cycles" },
	{ W_DEVICE_CLOCK, SEV_WARNING,
	  "the cycle counter of a device does not go with the host's clock, or runs at another "
	  "frequency than was stated (docs/aiu.md); the table device_clocks has what was "
	  "measured" },
	{ W_RANK_TWICE, SEV_WARNING,
	  "several inputs have work of one device at one time, although the files of one device "
	  "follow each other: they are of different ranks that are called alike, and their times "
	  "and "
	  "cycles are mixed" },
	{ W_IDEAL_MATCH, SEV_WARNING,
	  "the ideal cycles that were given do not fit the kernels of the trace, or the clocks "
	  "that "
	  "were stated: which table is meant is uncertain, kernels have no row, or take less than "
	  "their ideal time" },
	{ W_NO_TIMES, SEV_NOTE,
	  "kernels of a file have lengths and an order, and no times, as each was run again by "
	  "itself; they stand one behind the other, so idle time and overlap mean nothing" },
	{ W_KERNEL_NOT_JOINED, SEV_WARNING,
	  "counters of kernels were read for which the trace beside them has no kernel of that "
	  "name and number on the device; they are in no table. The text says how many, and the "
	  "first" },
	{ W_NOT_ALIGNED, SEV_WARNING,
	  "the clock of an input cannot be related to the others; its times are shown as recorded "
	  "and "
	  "must not be compared with them. Record in a run directory, or with a tracer that stores "
	  "a "
	  "real time" },
	{ W_COUNTER_UNKNOWN, SEV_NOTE,
	  "a counter is not in the table of known counters; it is listed and not integrated" },
	{ W_COUNTER_WRAP, SEV_NOTE, "a counter of known width wrapped around and was unwrapped" },
	{ W_COUNTER_RESET, SEV_WARNING,
	  "a cumulative counter went backwards; what it counted in that interval is unknown and "
	  "left "
	  "out" },
	{ W_COUNTER_STUCK, SEV_WARNING,
	  "a counter stands still although its device draws power, or never changes; its energy in "
	  "that time is unknown and unattributed. The device may not have this sensor" },
	{ W_COUNTER_STALE, SEV_NOTE,
	  "a counter is read more often than its sensor refreshes; short calls get blurred "
	  "values" },
	{ W_COUNTER_GAP, SEV_WARNING,
	  "a series has holes longer than ten median periods; values in them are interpolated "
	  "unless "
	  "--max-gap forbids it" },
	{ W_COUNTER_RATE, SEV_WARNING,
	  "a counter changes faster than its device can; single intervals are not to be trusted, "
	  "long "
	  "ones are" },
	{ W_COUNTER_SHORT, SEV_WARNING,
	  "a series has fewer than two values, so nothing can be integrated" },
	{ W_COUNTER_UNITS, SEV_WARNING,
	  "exact units were asked for, but a counter's values are no whole steps of its library's, "
	  "so they are kept as recorded; the library may have changed" },
	{ W_POWER_UNKNOWN, SEV_WARNING,
	  "an energy counter in the events of a trace tells no power in some of its intervals: "
	  "more "
	  "would follow than the device can take, or it may have turned unseen. Power and energy "
	  "are "
	  "unknown there, and not 0" },
	{ W_POWER_FILTERED, SEV_NOTE,
	  "a power reading lags behind its device: it went through a low-pass filter, so the "
	  "energy "
	  "of anything shorter than several time constants is wrong. Use the energy counter, or "
	  "--tau fit; table power_filter has the details" },
	{ W_TAU_UNKNOWN, SEV_NOTE,
	  "--tau fit was asked for, but no filter was found behind a power reading: its device has "
	  "no energy counter to compare with, or shows no step of power. It is taken at face "
	  "value" },
	{ W_UNUSED_RULE, SEV_NOTE,
	  "an entry of --counters matches no counter of the inputs; look for a misspelling" },
	{ W_OUTSIDE_SAMPLES, SEV_NOTE,
	  "calls lie partly outside the sampled time; they get what was sampled, never an "
	  "extrapolation" },
	{ W_ESTIMATED, SEV_NOTE,
	  "values come from a model of the machine and not from a sensor; compare them with each "
	  "other, "
	  "not with measured ones" },
	{ W_READ_FAILED, SEV_WARNING,
	  "single reads of a sensor failed; the series has no value there" },
	{ W_EMPTY_INPUT, SEV_WARNING,
	  "an input was read and holds neither spans nor samples, or none of the device work "
	  "that its format is made for" },
	{ W_DOUBLE_COUNTING, SEV_WARNING,
	  "independent attribution was asked for: every process gets all of a shared device, so "
	  "the "
	  "rows must not be added" },
	{ W_NO_SHARER, SEV_NOTE,
	  "no call or device work belongs to a counter's device; all of its energy is "
	  "[unattributed]" },
	{ W_IDLE_UNKNOWN, SEV_WARNING,
	  "there was idle time around the workload, but a counter has too few readings in it to "
	  "tell its idle power; make --idle longer or the period shorter" },
	{ W_IDLE_UNSETTLED, SEV_WARNING,
	  "the power of a counter was still changing in the idle time, so its idle power is not "
	  "what the device comes down to; make --idle longer" },
	{ W_IDLE_STATED, SEV_WARNING,
	  "idle power was stated for a device that no counter of power or energy has; nothing "
	  "came of it" },
	{ W_NODE_ENERGY, SEV_WARNING,
	  "devices of a node counted more energy than the node itself, which stands upstream of "
	  "them: a counter has another unit or measures something else than it is taken for, or "
	  "the same thing is counted twice. Table node_energy has the sums" },
	{ W_TOPOLOGY, SEV_WARNING,
	  "a rule of the topology file matches no process, or names a device that neither a "
	  "counter nor a queue has; it has no effect. Look for a slip in it, or for an input that "
	  "is missing" },
	{ W_VISIBLE_DEVICES, SEV_NOTE,
	  "a run's variables (ROCR_VISIBLE_DEVICES and the like) or a trace's device numbers do "
	  "not tell which devices its processes saw; nothing is concluded from them. A topology "
	  "file can say it" },
	{ W_DEVICE_OF_SEVERAL, SEV_WARNING,
	  "several inputs have work on a device of one number, and state neither host nor rank: it "
	  "is one device, and its time and energy are those of all of them. Where each input has a "
	  "device of its own, name the files by rank (rank-0.json, rank-1.json); which processes "
	  "share a device says --topology" },
	{ W_IGNORED_RECORD, SEV_NOTE, "records of a kind that no analysis uses were skipped" },
	{ W_UNREADABLE, SEV_ERROR,
	  "an input cannot be read, so nothing of it is in the results; the text says why" },
	{ W_DUPLICATE_INPUT, SEV_NOTE,
	  "an input was named more than once, or holds in another format what was read; it was "
	  "read "
	  "once, so nothing counts twice" },
	{ W_LEFT_OUT, SEV_WARNING,
	  "a recording is there in several formats, one was read, and of another one not all could "
	  "be read or it has more; the text says what, and its files can be named alone" },
	{ W_IGNORED_FILE, SEV_NOTE,
	  "a folder holds files that no reader knows; they are not part of the results" },
	{ W_DIFFERENT_RUNS, SEV_WARNING,
	  "the runs of an ensemble are of different models, commands or tools, so their "
	  "differences "
	  "are no mere noise" },
	{ W_FAILED_RUN, SEV_WARNING,
	  "a run of an ensemble did not end well; its numbers count all the same. Leave it out "
	  "where they should not" },
	{ W_APPROXIMATE, SEV_NOTE,
	  "medians and percentiles come from counts of sizes, as no call is kept (--sink profile); "
	  "they are at most 0.8 % off, everything else is exact" },
	{ W_WINDOW_IGNORED, SEV_WARNING,
	  "the run recorded in windows, and what lies outside counts too: --sink profile keeps no "
	  "single calls that could be cut" },
	{ W_NOT_IN_PROFILE, SEV_WARNING,
	  "an analysis needs single calls, which --sink profile does not keep; its tables are "
	  "missing. "
	  "With enough memory --sink model makes them" },
	{ W_QUEUE_OVERLAP, SEV_WARNING,
	  "kernels of one queue, which runs one after the other, overlap by the trace's clock; "
	  "where "
	  "time is not added up, each moment counts once" },
	{ W_GRAPH_WORK_MISSING, SEV_WARNING,
	  "graphs were launched, and their work is not in the trace; a device may have been busy "
	  "where it looks idle" },
	{ W_LAUNCH_WITHOUT_WORK, SEV_NOTE,
	  "calls launched kernels that are not in the trace: they were captured into a graph, ran "
	  "behind the end of the recording, or were lost" },
	{ W_CLOCK_ALIGNED, SEV_NOTE,
	  "clocks of ranks differ; their times were moved onto a common one, found from the ends "
	  "of collectives (--align)" },
	{ W_COLLECTIVE_INCOMPLETE, SEV_WARNING,
	  "collectives lack ranks of their group, or their parts do not agree; they are listed and "
	  "not measured. Look for traces of ranks that are missing, for windows that differ, and "
	  "for ranks that ran another program" },
	{ W_COLLECTIVE_GROUPS, SEV_WARNING,
	  "some groups of collectives have fewer ranks than the inputs, and the inputs do not "
	  "state "
	  "their sizes: they may be parts of one group that ranks name differently, as a program "
	  "that was compiled into others has another name. Their bandwidths and clocks are of "
	  "these ranks alone" },
	{ W_ALL_WARMUP, SEV_WARNING,
	  "a program ran so few times that all of its executions are warm-up; they are kept as "
	  "steady ones. Record more of them" },
	{ W_MISSING_RANKS, SEV_NOTE,
	  "the job had more ranks than the inputs have; medians and outliers of ranks, and what "
	  "collectives waited for, are of those that are there" },
	{ NULL, SEV_NOTE, NULL },
};

const struct warning_info *warning_find(const char *code)
{
	for (const struct warning_info *w = warning_table; w->code; w++) {
		if (w->code == code || strcmp(w->code, code) == 0)
			return w;
	}
	return NULL;
}

bool warning_keeps_texts(const struct warning_info *info)
{
	return info->severity == SEV_ERROR && strcmp(info->code, W_TIME_RANGE) != 0;
}
