# Fuzzing with clang: `make fuzz T=60` gives every entry 60 seconds, FUZZ=tef only that one. Finds go to build-fuzzer-…/fuzz/<entry>/, crashes beside them;
# a crash that was fixed is kept as a file in tests/fuzz/corpus/<name>/.

T ?= 60
FUZZ ?=
FUZZ_SAN := fuzzer-no-link,address,undefined
# libotf2 forgets memory when a record does not end as it should, and asks for as much as a file says before it looks.
FUZZ_ENV := LSAN_OPTIONS=suppressions=tests/fuzz/lsan.supp:print_suppressions=0 ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=2000
FUZZ_ENTRIES := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

fuzz: ## fuzz every parser for T seconds (needs clang and libclang-rt-14-dev)
	@command -v clang >/dev/null || { echo "clang is missing: apt-get install clang libclang-rt-14-dev"; exit 1; }
	$(Q)$(MAKE) --no-print-directory DEV= CC=clang SAN=$(FUZZ_SAN) fuzz-run T=$(T) FUZZ="$(FUZZ)"

fuzz-run: $(foreach e,$(or $(FUZZ),$(FUZZ_ENTRIES)),$(B)/fuzz/fuzz_$(e))
	$(Q)for e in $(or $(FUZZ),$(FUZZ_ENTRIES)); do \
		mkdir -p $(B)/fuzz/$$e; dirs=; \
		for d in tests/fuzz/corpus/$$e tests/fixtures/$$e; do if [ -d $$d ]; then dirs="$$dirs $$d"; fi; done; \
		dict=; if [ -f tests/fuzz/$$e.dict ]; then dict=-dict=tests/fuzz/$$e.dict; fi; \
		echo "  FUZZ   $$e"; \
		$(FUZZ_ENV) $(B)/fuzz/fuzz_$$e -max_total_time=$(T) -timeout=20 -rss_limit_mb=3000 -artifact_prefix=$(B)/fuzz/$$e. -print_final_stats=1 $$dict \
			$(B)/fuzz/$$e $$dirs 2>$(B)/fuzz/$$e.log || { tail -n 60 $(B)/fuzz/$$e.log; exit 1; }; \
		grep -E 'stat::number_of_executed_units|stat::peak_rss_mb' $(B)/fuzz/$$e.log; \
	done

$(B)/fuzz/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -pthread -fsanitize=fuzzer,address,undefined $^ -o $@ $(HARNESS_LIBS) $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)

.PHONY: fuzz fuzz-run
