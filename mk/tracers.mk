# LD_PRELOAD libraries that run inside the workload: only libc, and nothing of it newer than 2.17 (make lint looks).
TRACER_FLAGS = $(filter-out --coverage -fsanitize=% -fno-sanitize-recover=%,$(CFLAGS)) -fPIC -fvisibility=hidden -U_FORTIFY_SOURCE -fno-stack-protector
$(B)/obj/tracers/%.o: harness/tracers/%.c harness/tracers/spool.h harness/tracers/record.h Makefile mk/tracers.mk
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(TRACER_FLAGS) $(if $(findstring tracer_,$<),-fvisibility=default) -c $< -o $@

TRACER_SONAME_roctx := libroctx64.so.4
# Up to glibc 2.33 dlsym is in libdl and pthread_create in libpthread, which a program need not have loaded. Since then these are empty and
# -ldl names no file, hence their paths.
OWN_DL := $(shell $(CC) -print-file-name=libdl.so.2)
OWN_PTHREAD := $(shell $(CC) -print-file-name=libpthread.so.0)
TRACER_LIBS_switch := $(OWN_PTHREAD)
# It records nothing, and must load with any libc that has versions of its own or none.
TRACER_ALONE_wrap := yes
$(B)/libprofrig_%.so: $(B)/obj/tracers/tracer_%.o $(B)/obj/tracers/spool.o $(B)/obj/tracers/record.o harness/tracers/%.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,--no-as-needed -Wl,--version-script=harness/tracers/$*.map -Wl,-soname,$(or $(TRACER_SONAME_$*),libprofrig_$*.so) $(if $(TRACER_ALONE_$*),$<,$(filter %.o,$^)) -o $@ -lc $(TRACER_LIBS_$*) $(OWN_DL)
