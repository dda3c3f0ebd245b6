# Set-up in two commands on a fresh Debian: `make demo` and `make test` install what is missing first, build, then do their work.
PAGE_GROUP := $(if $(filter 0,$(PAGE)),,page)

setup: ## install what building needs (apt-get), or say how
	@sh mk/setup.sh build $(PAGE_GROUP)

setup-test:
	@sh mk/setup.sh build $(PAGE_GROUP) test

demo: setup ## build, run the example profiled, print the path of its report (ENGINE=docker|podman|host)
	@$(MAKE) --no-print-directory all
	@B=$(B) sh mk/demo.sh $(ENGINE)

install: all ## install to PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/profrig $(DESTDIR)$(PREFIX)/share/profrig
	install -m 755 $(B)/profrig $(DESTDIR)$(PREFIX)/bin/profrig
	install -m 755 $(B)/profrig-init $(TRACERS) $(DESTDIR)$(PREFIX)/lib/profrig
	cp -r tools.d pre_scripts post_scripts $(DESTDIR)$(PREFIX)/share/profrig/
	install -m 644 analysis/cost/peaks.json $(DESTDIR)$(PREFIX)/share/profrig/

.PHONY: setup setup-test demo install
