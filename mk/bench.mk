# make bench: ratios and costs, medians; machines are noisy, so bare seconds only inform.
bench: all ## costs of the tracers and the samplers
	@B=$(B) tests/bench/tracers.sh

BENCH_SAMPLER := $(B)/tests/bench/bench_sampler
$(BENCH_SAMPLER): $(B)/obj/tests/bench/bench_sampler.o $(LIBHARNESS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(HARNESS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-sampler
bench-sampler: $(BENCH_SAMPLER) $(B)/tests/fakes/fake_nvml.so ## what sampling at 1 kHz costs
	@B=$(B) $(BENCH_SAMPLER)

BENCH_ATTRIBUTION := $(B)/tests/bench/bench_attribution
$(BENCH_ATTRIBUTION): $(B)/obj/tests/bench/bench_attribution.o $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-attribution
bench-attribution: $(BENCH_ATTRIBUTION) ## how fast energy is attributed to calls
	@$(BENCH_ATTRIBUTION)

BENCH_POWER := $(B)/tests/bench/bench_power
$(BENCH_POWER): $(B)/obj/tests/bench/bench_power.o $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-power
bench-power: $(BENCH_POWER) ## how long the powers of 100 000 classes take
	@$(BENCH_POWER)

BENCH_SQLITE := $(B)/tests/bench/bench_sqlite
$(BENCH_SQLITE): $(B)/obj/tests/bench/bench_sqlite.o $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-sqlite
bench-sqlite: $(BENCH_SQLITE) ## what reading a database costs beside stepping over its rows (BENCH_ROWS=1000000)
	@$(BENCH_SQLITE)

BENCH_PERFETTO := $(B)/tests/bench/bench_perfetto
$(BENCH_PERFETTO): $(B)/obj/tests/bench/bench_perfetto.o $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-perfetto
bench-perfetto: $(BENCH_PERFETTO) ## how fast a Perfetto trace is read (BENCH_SLICES=2000000)
	@$(BENCH_PERFETTO)

BENCH_XPLANE := $(B)/tests/bench/bench_xplane
$(BENCH_XPLANE): $(B)/obj/tests/bench/bench_xplane.o $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
MAKE_XPLANE := $(B)/tests/bench/make_xplane
$(MAKE_XPLANE): $(B)/obj/tests/bench/make_xplane.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)
bench: bench-xplane
bench-xplane: $(BENCH_XPLANE) $(MAKE_XPLANE) ## how fast recordings of compiled programs (XLA) are read (BENCH_EVENTS=2000000)
	@$(BENCH_XPLANE) $(MAKE_XPLANE)

bench: bench-campaign
bench-campaign: all ## what a campaign costs beside its runs (RUNS=1000 ROUNDS=5)
	@B=$(B) tests/bench/campaign.sh

.PHONY: bench bench-sampler bench-attribution bench-power bench-sqlite bench-perfetto bench-xplane bench-campaign

# Archives of any size with known answers, for tests of the command line and for the bench.
MAKE_OTF2 := $(B)/tests/fixtures/gen/make_otf2
$(MAKE_OTF2): $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tests/fixtures/gen/*.c))) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ -lotf2 $(BASE_LIBS) $(SYS_LIBS)
test-build: $(MAKE_OTF2)

OTF2_COUNT := $(B)/tests/bench/otf2_count
$(OTF2_COUNT): $(B)/obj/tests/bench/otf2_count.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ -lotf2
BENCH_OTF2 := $(B)/tests/bench/bench_otf2
$(BENCH_OTF2): $(B)/obj/tests/bench/bench_otf2.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)
bench: bench-otf2
bench-otf2: all $(BENCH_OTF2) $(OTF2_COUNT) $(MAKE_OTF2) ## what analyzing an archive costs (BENCH_EVENTS=100000000)
	@$(BENCH_OTF2) $(B)
.PHONY: bench-otf2

# Reading JSON traces, beside JSON libraries: simdjson (libsimdjson-dev, g++) where it is there.
BENCH_TEF := $(patsubst %,$(B)/tests/bench/%,bench_tef make_tef tef_jansson)
$(BENCH_TEF): $(B)/tests/bench/%: $(B)/obj/tests/bench/%.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ -ljansson $(BASE_LIBS) $(SYS_LIBS)
TEF_DOM := $(if $(and $(wildcard /usr/include/simdjson.h),$(shell command -v g++)),$(B)/tests/bench/tef_dom)
$(B)/tests/bench/tef_dom: tests/bench/tef_dom.cpp
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)g++ -O2 $< -o $@ -lsimdjson
bench: bench-tef
bench-tef: all $(BENCH_TEF) $(TEF_DOM) ## what reading a PyTorch trace costs (BENCH_EVENTS=1000000)
	@$(B)/tests/bench/bench_tef $(B)
.PHONY: bench-tef

BENCH_ANALYSES := $(B)/tests/bench/bench_analyses
$(BENCH_ANALYSES): $(B)/obj/tests/bench/bench_analyses.o $(LIBSESSION) $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(HARNESS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-analyses
bench-analyses: all $(BENCH_ANALYSES) $(BENCH_TEF) $(MAKE_OTF2) ## what all analyses and the page cost, beside reading the trace (BENCH_SPANS=1000000)
	@$(BENCH_ANALYSES) $(B)
.PHONY: bench-analyses

BENCH_RANKS_PROGRAM := $(B)/tests/bench/bench_ranks
$(BENCH_RANKS_PROGRAM): $(B)/obj/tests/bench/bench_ranks.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)
bench: bench-ranks
bench-ranks: all $(BENCH_RANKS_PROGRAM) $(BENCH_TEF) ## many rank files, in memory and beyond a budget (BENCH_RANKS=20 BENCH_SPANS=20000 BENCH_MEMORY=64M)
	@$(BENCH_RANKS_PROGRAM) $(B)
.PHONY: bench-ranks

BENCH_COMPARE := $(B)/tests/bench/bench_compare
$(BENCH_COMPARE): $(B)/obj/tests/bench/bench_compare.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)
bench: bench-compare
bench-compare: all $(BENCH_COMPARE) ## what comparing two analyses of a million functions takes (BENCH_ROWS=1000000)
	@$(BENCH_COMPARE) $(B)
.PHONY: bench-compare

bench: bench-csv
bench-csv: all ## rocprofv3's CSV against python3's csv module (BENCH_ROWS=500000)
	@B=$(B) tests/bench/rocprof_csv.sh

.PHONY: bench-csv

BENCH_LIBRARY := $(B)/tests/bench/bench_library
$(BENCH_LIBRARY): $(B)/obj/tests/bench/bench_library.o $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-library
bench-library: $(BENCH_LIBRARY) ## counting calls in each library's log against grep, sort and uniq (BENCH_MB=200, BENCH_ONLY=nccl)
	@$(BENCH_LIBRARY) $(B)
.PHONY: bench-library

OUT_WRITER := $(B)/tests/bench/out_writer
$(OUT_WRITER): $(B)/obj/tests/bench/out_writer.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)
bench: bench-run
bench-run: all $(OUT_WRITER) ## what `profrig run` adds to a command, on host, docker and podman (BENCH_N=20)
	@B=$(B) tests/bench/run.sh
.PHONY: bench-run

# One call of a library as a program makes it, beside which tests hold what lib perf measures.
DIRECT_CALLS := $(B)/tests/bench/direct_calls
$(DIRECT_CALLS): $(patsubst %,$(B)/obj/tests/bench/%.o,direct_calls direct_call direct_onednn) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)
test-build: $(DIRECT_CALLS)

BENCH_STORE := $(B)/tests/bench/bench_store
$(BENCH_STORE): $(B)/obj/tests/bench/bench_store.o $(LIBHARNESS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(HARNESS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
bench: bench-store
bench-store: $(BENCH_STORE) ## what a campaign's store costs, beside runs and with many (BENCH_RUNS=100000)
	@$(BENCH_STORE)
.PHONY: bench-store
