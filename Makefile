# profrig: the only build system. `make help` lists its doors.
#
#   DEV=1           warnings are errors (CI)
#   SAN=address,undefined   sanitizers, in their own build folder
#   PAGE=0          build without node; reports are plain tables
#   PREFIX=/usr/local, DESTDIR=
#   V=1             show commands

SHELL := /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
PAGE ?= 1
comma := ,
B := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(COVERAGE),-coverage)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))

VERSION := 0.1.0
# Messages are cut to their buffers on purpose, so truncation is no warning.
WARN := -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wpointer-arith -Wcast-align -Wnull-dereference $(if $(findstring clang,$(CC)),,-Wduplicated-cond -Wlogical-op -Wno-format-truncation)
OPT ?= $(if $(SAN),-O1 -g,-O2 -g)
# A room's private headers are found by their names, which are unique; mk/layers.awk says which room may have which. Not by <…>.
PRIVATE := $(sort $(dir $(wildcard $(foreach d,base harness analysis cli tests/unit tests/fuzz,$(d)/*.h $(d)/*/*.h $(d)/*/*/*.h $(d)/*/*/*/*.h)) tests/fixtures/gen/))
CPPFLAGS += -Iinclude -D_GNU_SOURCE -include profrig/base/banned.h -DPROFRIG_VERSION='"$(VERSION)"' -I$(B)/gen $(addprefix -iquote ,. $(PRIVATE:/=))
CFLAGS += -std=gnu17 $(OPT) -fno-omit-frame-pointer -pthread $(WARN) $(if $(DEV),-Werror) $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined) $(if $(COVERAGE),--coverage)
LDFLAGS += -pthread $(if $(SAN),-fsanitize=$(SAN)) $(if $(COVERAGE),--coverage)

# libotf2 has no pkg-config file in Debian; its headers and library are in the default paths.
BASE_LIBS := -lyaml -ljansson -lxxhash -lnettle -lpcre2-8 -lisal
HARNESS_LIBS := -lsqlite3
ANALYSIS_LIBS := -lotf2 -lzstd -lsqlite3
SYS_LIBS := -ldl -lm

src = $(sort $(wildcard $(1)))
BASE_SRC := $(call src,base/*/*.c)
# What only the portable build links (mk/tarball.mk).
BASE_SRC := $(filter-out base/files/gz_zlib.c base/process/dynlib_none.c,$(BASE_SRC))
CLI_SRC := $(call src,cli/*.c cli/*/*.c)
# rsmi_child.c is a program of its own (mk/samplers.mk), as are the agent and the tracers.
HARNESS_SRC := $(filter-out harness/agent/% harness/tracers/% %/rsmi_child.c,$(call src,harness/*/*.c harness/*/*/*.c))
SESSION_SRC := $(call src,analysis/session/*.c)
ANALYSIS_SRC := $(filter-out $(SESSION_SRC),$(call src,analysis/*/*.c analysis/*/*/*.c))
# ranks_mpi.c is of profrig-mpi (mk/mpi.mk), helper_exec.c of the portable build (mk/tarball.mk).
CLI_SRC := $(filter-out %/ranks_mpi.c %/helper_exec.c,$(CLI_SRC))
AGENT_SRC := $(call src,harness/agent/*.c)
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

LIBBASE := $(B)/libbase.a
LIBHARNESS := $(B)/libharness.a
LIBANALYSIS := $(B)/libanalysis.a
LIBSESSION := $(B)/libsession.a
TRACERS := $(patsubst harness/tracers/tracer_%.c,$(B)/libprofrig_%.so,$(wildcard harness/tracers/tracer_*.c))
PROGRAMS := $(if $(CLI_SRC),$(B)/profrig) $(if $(AGENT_SRC),$(B)/profrig-init)

all: check-tools $(LIBBASE) $(LIBHARNESS) $(LIBANALYSIS) $(LIBSESSION) $(PROGRAMS) $(TRACERS) ## build everything

include $(wildcard mk/*.mk)

$(B)/obj/%.o: %.c Makefile
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(LIBBASE): $(call obj,$(BASE_SRC))
$(LIBHARNESS): $(call obj,$(HARNESS_SRC)) $(EMBEDDED_OBJ)
$(LIBANALYSIS): $(call obj,$(ANALYSIS_SRC)) $(EMBED_OBJ) $(EMBEDDED_PEAKS_OBJ)
$(LIBSESSION): $(call obj,$(SESSION_SRC))
$(LIBBASE) $(LIBHARNESS) $(LIBANALYSIS) $(LIBSESSION):
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

$(B)/profrig: $(call obj,$(CLI_SRC)) $(LIBSESSION) $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(HARNESS_LIBS) $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)

# The agent runs inside any image: static, never sanitized.
AGENT_FLAGS := $(filter-out --coverage -fsanitize=% -fno-sanitize-recover=%,$(CFLAGS))
$(B)/obj/agent/%.o: %.c Makefile
	$(call say,CC,"$< (agent)")
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(AGENT_FLAGS) -MMD -MP -c $< -o $@
AGENT_BASE := base/core/err.c base/core/xalloc.c base/text/strbuf.c base/text/strvec.c base/process/clock.c base/process/proc.c base/text/json_out.c base/text/num.c base/files/fs_own.c base/files/fs_path.c base/files/door.c
$(B)/profrig-init: $(patsubst %.c,$(B)/obj/agent/%.o,$(AGENT_SRC) $(AGENT_BASE))
	$(call say,LD,$@)
	$(Q)$(CC) -static -pthread $^ -o $@ -ljansson

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

clean: ## remove what was built
	rm -rf build build-*

help: ## this list
	@awk -F'## ' '/^[a-z-]+:.*## /{split($$1,a,":"); printf "  make %-12s %s\n", a[1], $$2}' $(MAKEFILE_LIST)

check-tools:
	@command -v $(CC) >/dev/null || { echo "$(CC) is missing: run 'make setup'"; exit 1; }

.PHONY: all clean help check-tools
