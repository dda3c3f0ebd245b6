# make dist: build/profrig-VERSION-x86_64.tar.gz, a profrig that runs without installing anything (docs/portable.md).
#
#	profrig			static: it runs wherever the kernel does
#	profrig-dynamic		the same program for what loads libraries; it and the preloads want no glibc newer than OLD_GLIBC
#	profrig-rsmi		like it, where the build has rocm_smi.h
#
# Both take the archives of the plain build; what differs is named before them, so that the linker takes nothing of it from there.
# isa-l has no static library in Debian, so zlib inflates here.
OLD_GLIBC := 31
ARCH := $(shell uname -m)
PORTABLE := $(B)/portable
DIST_NAME := profrig-$(VERSION)-$(ARCH)
DIST := $(B)/$(DIST_NAME).tar.gz
STUBS := $(foreach l,libc.so.6 libm.so.6 ld-linux-x86-64.so.2,$(PORTABLE)/stub/$(l))

STATIC_LIBS := -lyaml -ljansson -lotf2 -lzstd -lsqlite3 -lxxhash -lnettle -lpcre2-8 -lz
PORTABLE_CLI := $(filter-out %/helper_none.o,$(call obj,$(CLI_SRC)))

# What a glibc of 2.$(OLD_GLIBC) has, out of the one that is here, to link against.
$(PORTABLE)/stub/%: mk/old_glibc.awk mk/tarball.mk
	$(call say,STUB,$@)
	$(Q)mkdir -p $(@D)
	$(Q)objdump -T $$($(CC) -print-file-name=$*) | awk -v max=$(OLD_GLIBC) -v map=$@.map -f $< >$@.S
	$(Q)$(CC) -shared -nostdlib -Wl,-soname,$* -Wl,--version-script=$@.map $@.S -o $@

$(B)/obj/mk/old_glibc.o: CFLAGS += -fno-builtin

# libpthread and libdl are parts of libc since 2.34, and empty; a program that wants their old symbols has to name them.
OLD_LINK = -pie -nodefaultlibs -s -Wl,--wrap=__libc_start_main
OLD_LIBS = -Wl,--as-needed $(STUBS) -Wl,--no-as-needed $(OWN_PTHREAD) $(OWN_DL) $(shell $(CC) -print-file-name=libc_nonshared.a) -lgcc

$(PORTABLE)/profrig: $(PORTABLE_CLI) $(B)/obj/cli/helper_exec.o $(B)/obj/base/process/dynlib_none.o $(B)/obj/base/files/gz_zlib.o $(LIBSESSION) $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -static -pthread -s $^ -o $@ $(STATIC_LIBS) -lm 2>$@.log || { cat $@.log; exit 1; }

$(PORTABLE)/profrig-dynamic: $(call obj,$(CLI_SRC)) $(B)/obj/base/files/gz_zlib.o $(B)/obj/mk/old_glibc.o $(LIBSESSION) $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE) | $(STUBS)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OLD_LINK) $^ -o $@ -Wl,-Bstatic $(STATIC_LIBS) -Wl,-Bdynamic $(OLD_LIBS)

$(PORTABLE)/profrig-rsmi: $(B)/obj/harness/sampler/source/rsmi_child.o $(B)/obj/harness/sampler/sampler_opts.o $(B)/obj/mk/old_glibc.o $(LIBBASE) | $(STUBS)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OLD_LINK) $^ -o $@ -Wl,-Bstatic -lxxhash -lnettle -lpcre2-8 -Wl,-Bdynamic $(OLD_LIBS)

PORTABLE_PROGRAMS := $(addprefix $(PORTABLE)/,profrig profrig-dynamic $(if $(RSMI),profrig-rsmi))

dist-check: $(PORTABLE_PROGRAMS) $(TRACERS)
	@for f in $(filter-out $(PORTABLE)/profrig,$^); do \
		new=$$(objdump -T $$f | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | awk -F. '$$2 > $(OLD_GLIBC)' | tr '\n' ' '); \
		[ -z "$$new" ] || { echo "$$f needs $$new"; exit 1; }; done
	@! readelf -lW $(PORTABLE)/profrig | grep -q INTERP || { echo "$(PORTABLE)/profrig is not static"; exit 1; }

dist: $(DIST) ## a profrig that runs without installing anything: build/profrig-VERSION-ARCH.tar.gz
	@sh mk/dist_facts.sh $(DIST) $(PORTABLE)/tree/$(DIST_NAME)
$(DIST): dist-check $(B)/profrig-init man $(shell find tools.d pre_scripts post_scripts -type f) README.md LICENSE
	$(call say,TAR,$@)
	$(Q)rm -rf $(PORTABLE)/tree && mkdir -p $(PORTABLE)/tree/$(DIST_NAME)
	$(Q)cp -r $(PORTABLE_PROGRAMS) $(B)/profrig-init $(TRACERS) tools.d pre_scripts post_scripts README.md LICENSE $(MAN) $(PORTABLE)/tree/$(DIST_NAME)
	$(Q)rm -f $(PORTABLE)/tree/$(DIST_NAME)/man/.done
	$(Q)strip $(PORTABLE)/tree/$(DIST_NAME)/profrig-init && strip -g $(PORTABLE)/tree/$(DIST_NAME)/libprofrig_*.so
	$(Q)tar -C $(PORTABLE)/tree --sort=name --owner=0 --group=0 --numeric-owner -cf - $(DIST_NAME) | gzip -9n >$@

.PHONY: dist dist-check
