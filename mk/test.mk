# Tests. tests/unit/<archive>/test_*.c link only the archives that folder may use; everything speaks TAP and tests/run.sh adds it up.

TEST_LIBS_base := $(LIBBASE)
TEST_LIBS_harness := $(LIBHARNESS) $(LIBBASE)
TEST_LIBS_analysis := $(LIBANALYSIS) $(LIBBASE)
TEST_LIBS_analysis/session := $(LIBSESSION) $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
TEST_LINK_base := $(BASE_LIBS)
TEST_LINK_harness := $(HARNESS_LIBS) $(BASE_LIBS)
TEST_LINK_analysis := $(ANALYSIS_LIBS) $(BASE_LIBS)
TEST_LINK_analysis/session := $(HARNESS_LIBS) $(ANALYSIS_LIBS) $(BASE_LIBS)

UNIT_SRC := $(sort $(wildcard $(foreach d,* */* */*/*,tests/unit/$(d)/test_*.c)))
UNIT_BIN := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(UNIT_SRC))

define UNIT_RULE
$(B)/tests/unit/$(1)/%: $(B)/obj/tests/unit/$(1)/%.o $(B)/obj/tests/unit/test_main.o $(TEST_LIBS_$(1))
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(LDFLAGS) $$(filter %.o,$$^) $$(filter %.a,$$^) -o $$@ -lcmocka $(TEST_LINK_$(1)) $$(SYS_LIBS)
endef
$(foreach d,base harness analysis analysis/session,$(eval $(call UNIT_RULE,$(d))))

# Simulated programs, of several tests.
$(patsubst %.c,$(B)/%,$(wildcard tests/unit/analysis/energy/test_power_*.c)): $(addprefix $(B)/obj/tests/unit/analysis/energy/,power_sim.o sim_program.o)

FAKES := $(patsubst tests/fakes/%.c,$(B)/tests/fakes/%.so,$(sort $(wildcard tests/fakes/*.c)))
$(B)/tests/fakes/%.so: tests/fakes/%.c Makefile
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(AGENT_FLAGS) -fPIC -shared $< -o $@
$(B)/tests/fakes/fake_gpu_blas.so $(B)/tests/fakes/fake_gpu_lt.so: tests/fakes/fake_gpu.h

# Every parser has an entry fuzz_<name>.c in tests/fuzz, or in its readers/ for a trace format; plain gcc replays its corpus, clang fuzzes it (make fuzz T=60).
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c tests/fuzz/readers/fuzz_*.c))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(FUZZ_SRC))
$(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/seeds/replay.o $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(HARNESS_LIBS) $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)

# Lets the n-th of a system call fail, for the scripts beside it.
NTH_CALL := $(B)/tests/e2e/nth_call
$(NTH_CALL): $(B)/obj/tests/e2e/nth_call.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)

# A campaign's scheduler by hand, for tests/slurm/*.sh.
SLURM_DRIVE := $(B)/tests/slurm/drive
$(SLURM_DRIVE): $(B)/obj/tests/slurm/drive.o $(LIBHARNESS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(HARNESS_LIBS) $(BASE_LIBS) $(SYS_LIBS)

test-build: all $(UNIT_BIN) $(FAKES) $(FUZZ_BIN) $(LIBRARY_SEEDS) $(NTH_CALL) $(SLURM_DRIVE)

test-unit: test-build ## unit tests and corpus replay only
	@B=$(B) tests/run.sh $(UNIT_BIN) $(if $(FUZZ_BIN),tests/fuzz/replay.sh)

# The long ones first: they run side by side, and a long one at the end would run beside nothing.
TEST_SCRIPTS := $(if $(filter 0,$(PAGE)),,$(wildcard tests/page/run.sh)) $(sort $(wildcard tests/slurm/*.sh)) $(sort $(wildcard tests/publish/*.sh)) $(sort $(wildcard tests/e2e/*.sh)) $(sort $(wildcard tests/cli/*.sh))

test: setup-test ## set up, build, then every test (SAN=…: the unit tests)
	@$(MAKE) --no-print-directory test-build
	@B=$(B) tests/run.sh $(UNIT_BIN) $(if $(FUZZ_BIN),tests/fuzz/replay.sh) $(if $(SAN),,$(TEST_SCRIPTS))

stress: test-build ## campaigns disturbed N=100 times (SEED=…, WHERE="local docker slurm", KEEP=FOLDER)
	@B=$(B) tests/stress/run.sh

# The threads of analysis and of sampling, as under `make SAN=thread test-threads`.
THREAD_TESTS := $(patsubst %,$(B)/tests/unit/%,base/process/test_workers analysis/profile/test_profile analysis/profile/test_profile_otf2 analysis/readers/tef/test_tef_speed analysis/readers/rocprof/test_rocprof_ahead analysis/compare/test_comparison analysis/session/test_run_analyses harness/sampler/test_readings harness/sampler/test_sampler_loop harness/sampler/test_sampler_failures harness/sampler/test_sampler_busy)
test-threads: $(THREAD_TESTS) ## the tests of the worker pool, of streaming, of reading, analysing and comparing by several threads and of sampling (SAN=thread)
	@B=$(B) tests/run.sh $(THREAD_TESTS)

.PHONY: test test-build test-unit stress test-threads
.SECONDARY:
