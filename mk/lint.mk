# make lint: what a reader should not have to look for. The parts can be run alone (make lint-text);
# what was checked is not checked again until it, a header of it or the rules change.

LINT := $(B)/lint
ifneq ($(filter lint lint-% format,$(MAKECMDGOALS)),)
OUR_TEXT := $(shell git ls-files --cached --others --exclude-standard --deduplicate)
OUR_TEXT := $(wildcard $(filter-out tests/fuzz/corpus/% tests/fixtures/% %.png,$(OUR_TEXT)) \
	$(filter %.c %.h %.sh,$(filter tests/fixtures/%,$(OUR_TEXT))))
OUR_C := $(filter %.c,$(OUR_TEXT))
OUR_H := $(filter %.h,$(OUR_TEXT))
-include $(wildcard $(addprefix $(LINT)/,$(addsuffix .d,$(OUR_C) $(OUR_H))))
endif

lint: lint-format lint-text lint-scripts lint-layers lint-paths lint-headers lint-tracers lint-tidy ## format, layering, headers, tracer symbols, clang-tidy
	@echo "lint: clean"

lint-format: $(LINT)/format
$(LINT)/format: .clang-format $(OUR_C) $(OUR_H)
	$(call say,FORMAT,"$(words $(filter %.c %.h,$^)) files")
	$(Q)mkdir -p $(@D)
	$(Q)clang-format --dry-run -Werror $(filter %.c %.h,$(if $(filter .clang-format,$?),$^,$?))
	$(Q)touch $@

format: ## let clang-format decide
	$(Q)clang-format -i $(OUR_C) $(OUR_H)

# The folder this checkout lies in is a path of this machine, unless it is a common one.
FOREIGN := $(CURDIR)/ $(filter-out / /tmp/ /home/ /root/ /srv/ /opt/ /usr/src/ /mnt/,$(dir $(CURDIR)))
lint-text:
	@LC_ALL=C awk -v paths="$(FOREIGN)" -f mk/text.awk $$(grep -lI "" $(OUR_TEXT))

lint-scripts:
	@for f in $$(grep -lE '^#!/(usr/bin/env |bin/)(ba)?sh' $(OUR_TEXT)) $(filter %.sh,$(OUR_TEXT)); do \
		case $$(head -n 1 $$f) in *bash*) bash -n $$f;; *) sh -n $$f;; esac || exit 1; done

lint-layers:
	@awk -f mk/layers.awk $(filter base/% harness/% analysis/% cli/% include/%,$(OUR_C) $(OUR_H))
	@dup=$$(printf '%s\n' $(notdir $(filter base/% harness/% analysis/% cli/%,$(OUR_C) $(OUR_H))) | sort | uniq -d); \
	 [ -z "$$dup" ] || { echo "base names must be unique in the tree: $$dup"; exit 1; }

lint-paths:
	@awk -f mk/paths.awk $(filter base/% harness/% analysis/% cli/%,$(OUR_C))

# Alone: also without the headers that banned.h brings into every file.
HEADER_FLAGS = $(subst -include profrig/base/banned.h,,$(CPPFLAGS)) $(CFLAGS) -Werror -Wno-unused-function
lint-headers: $(OUR_H:%=$(LINT)/%.alone)
$(LINT)/%.h.alone: %.h
	@mkdir -p $(@D)
	@$(CC) $(HEADER_FLAGS) -MMD -MP -MT $@ -MF $(LINT)/$<.d -fsyntax-only -x c $<
	@touch $@

lint-tracers: $(TRACERS)
	@for f in $(TRACERS); do \
		new=$$(objdump -T $$f | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | awk -F. '$$2 > 17'); \
		[ -z "$$new" ] || { echo "$$f needs $$new: tracers must load with glibc 2.17"; exit 1; }; done

# clang-tidy reads banned.h too, so a banned call is found also in what is built without it.
lint-tidy: $(patsubst %,$(LINT)/%.tidy,$(if $(PROFRIG_MPI),$(OUR_C),$(filter-out %/ranks_mpi.c,$(OUR_C))))
$(LINT)/cli/ranks_mpi.c.tidy: CPPFLAGS += $(MPI_INCLUDE)
$(LINT)/%.c.tidy: %.c .clang-tidy
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu17 -MM -MP -MT $@ -MF $(LINT)/$<.d $<
	$(Q)clang-tidy --quiet --warnings-as-errors='*' $< -- $(CPPFLAGS) -std=gnu17 2>$@.log >$@.out || { cat $@.out $@.log; exit 1; }
	$(Q)touch $@

.PHONY: lint format lint-format lint-text lint-scripts lint-layers lint-paths lint-headers lint-tracers lint-tidy
