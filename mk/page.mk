# The report page: npm ci, esbuild, one HTML file in build/gen, an object that embeds it. PAGE=0 embeds nothing and needs no node.
# The bundle does not depend on how the C is built, so all build folders share it.

UI := analysis/report/page/ui
PAGE_HTML := build/gen/page.html
PAGE_MODULES := $(UI)/node_modules/.installed
PAGE_MODE := $(B)/gen/page.mode
EMBED_OBJ := $(B)/obj/analysis/report/page/page_shell.o

$(PAGE_MODULES): $(UI)/package.json $(UI)/package-lock.json
	@command -v npm >/dev/null || { echo "node and npm are missing: run 'make setup', or build with PAGE=0"; exit 1; }
	$(call say,NPM,"ci ($(UI))")
	$(Q)cd $(UI) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	$(Q)touch $@

$(PAGE_HTML): $(PAGE_MODULES) $(UI)/build.mjs $(wildcard $(UI)/src/*)
	$(call say,PAGE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cd $(UI) && node build.mjs $(abspath $@)

# Changes only when PAGE does, so that switching between PAGE=0 and PAGE=1 rebuilds the object and nothing else does.
$(PAGE_MODE): FORCE
	@mkdir -p $(@D); printf '%s\n' '$(PAGE)' | cmp -s - $@ || printf '%s\n' '$(PAGE)' >$@

$(EMBED_OBJ): analysis/report/page/page_shell.S $(PAGE_MODE) $(if $(filter 0,$(PAGE)),,$(PAGE_HTML))
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(if $(filter 0,$(PAGE)),,-DPAGE_HTML='"$(PAGE_HTML)"') -c $< -o $@

# Writes the pages that tests/page looks at, from tables made in code; that of lib compare is made by profrig.
MAKE_PAGE := $(B)/tests/page/make_page
$(MAKE_PAGE): $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tests/page/*.c))) $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(ANALYSIS_LIBS) $(BASE_LIBS) $(SYS_LIBS)

test-page: $(MAKE_PAGE) $(B)/profrig ## the report page in headless Chromium
	@B=$(B) tests/run.sh tests/page/run.sh

FORCE:
.PHONY: FORCE test-page

test-build: $(if $(filter 0,$(PAGE)),,$(MAKE_PAGE))
