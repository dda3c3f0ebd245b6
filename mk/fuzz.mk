# Fuzzing with clang: `make fuzz T=60` gives every entry 60 seconds, FUZZ=tef only that one. Finds go to build-fuzzer-…/fuzz/<entry>/, crashes beside them;
# a crash that was fixed is kept as a file in tests/fuzz/corpus/<name>/.
# FUZZ=library_log FAMILY=nccl: logs of one library alone. It begins with records of that library and with what the corpus has of it
# (library_log/nccl*); the dictionary is what its parser has between quotes.

T ?= 60
FUZZ ?=
FAMILY ?=
FUZZ_SAN := fuzzer-no-link,address,undefined
# libotf2 forgets memory when a record does not end as it should, and asks for as much as a file says before it looks.
FUZZ_ENV := LSAN_OPTIONS=suppressions=tests/fuzz/lsan.supp:print_suppressions=0 ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=2000
FUZZ_ENTRIES := $(patsubst fuzz_%.c,%,$(notdir $(sort $(wildcard tests/fuzz/fuzz_*.c tests/fuzz/readers/fuzz_*.c))))

fuzz: ## fuzz every parser for T seconds (needs clang and libclang-rt-14-dev)
	@command -v clang >/dev/null || { echo "clang is missing: apt-get install clang libclang-rt-14-dev"; exit 1; }
	$(Q)$(MAKE) --no-print-directory DEV= CC=clang SAN=$(FUZZ_SAN) fuzz-run T=$(T) FUZZ="$(FUZZ)" FAMILY="$(FAMILY)"

# Sources of a family: its parser, its folder, and what all of them share.
FAMILY_SRC = $(or $(wildcard analysis/library/*/parse_$(FAMILY).c),$(wildcard analysis/library/*/parse_$(firstword $(subst _, ,$(FAMILY))).c)) \
	$(if $(filter blas,$(FAMILY)),,$(wildcard analysis/library/$(FAMILY)/*.c)) $(wildcard analysis/library/library_*.c analysis/library/blas/library_*.c)
# Writes the seeds of a family; without arguments it lists the families.
LIBRARY_SEEDS := $(B)/tests/fuzz/seeds/library_seeds
$(LIBRARY_SEEDS): $(B)/obj/tests/fuzz/seeds/library_seeds.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@

fuzz-run: $(foreach e,$(or $(FUZZ),$(FUZZ_ENTRIES)),$(B)/fuzz/fuzz_$(e)) $(if $(FAMILY),$(LIBRARY_SEEDS))
	$(Q)for e in $(or $(FUZZ),$(FUZZ_ENTRIES)); do \
		at=$(B)/fuzz/$$e$(FAMILY:%=.%); mkdir -p $$at; dirs=; dict=; \
		if [ -n "$(FAMILY)" ]; then \
			rm -rf $$at.seeds && mkdir $$at.seeds && $(LIBRARY_SEEDS) "$(FAMILY)" $$at.seeds || exit 1; \
			for f in tests/fuzz/corpus/$$e/$(FAMILY)*; do if [ -f "$$f" ]; then cp "$$f" $$at.seeds/; fi; done; \
			LC_ALL=C awk -f mk/fuzz_dict.awk $(sort $(FAMILY_SRC)) >$$at.dict; dict=-dict=$$at.dict; dirs=$$at.seeds; \
		else \
			for d in tests/fuzz/corpus/$$e tests/fixtures/$$e; do if [ -d $$d ]; then dirs="$$dirs $$d"; fi; done; \
			if [ -f tests/fuzz/$$e.dict ]; then dict=-dict=tests/fuzz/$$e.dict; fi; \
		fi; \
		echo "  FUZZ   $$e $(FAMILY)"; \
		$(FUZZ_ENV) $(B)/fuzz/fuzz_$$e -max_total_time=$(T) -timeout=20 -rss_limit_mb=3000 -artifact_prefix=$$at. -print_final_stats=1 $$dict \
			$$at $$dirs 2>$$at.log || { tail -n 60 $$at.log; exit 1; }; \
		grep -E 'stat::number_of_executed_units|stat::peak_rss_mb' $$at.log; \
	done

define FUZZER_RULE
$(B)/fuzz/fuzz_%: $(B)/obj/tests/fuzz/$(1)fuzz_%.o $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) -pthread -fsanitize=fuzzer,address,undefined $$^ -o $$@ $(HARNESS_LIBS) $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)
endef
$(eval $(call FUZZER_RULE,))
$(eval $(call FUZZER_RULE,readers/))

.PHONY: fuzz fuzz-run
