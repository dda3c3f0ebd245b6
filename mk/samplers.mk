# profrig-rsmi: the process in which librocm_smi64 lives. Built where its header is; the library itself is looked for at run time.
ifneq ($(wildcard /usr/include/rocm_smi/rocm_smi.h /opt/rocm/include/rocm_smi/rocm_smi.h),)
RSMI := $(B)/profrig-rsmi
$(B)/obj/harness/sampler/source/rsmi_child.o $(B)/tests/fakes/fake_rsmi.so: CPPFLAGS += -isystem /opt/rocm/include
$(B)/profrig-rsmi: $(B)/obj/harness/sampler/source/rsmi_child.o $(B)/obj/harness/sampler/sampler_opts.o $(LIBBASE)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(BASE_LIBS) $(SYS_LIBS)
all: $(RSMI)
install: install-rsmi
install-rsmi: $(RSMI)
	install -d $(DESTDIR)$(PREFIX)/lib/profrig
	install -m 755 $(RSMI) $(DESTDIR)$(PREFIX)/lib/profrig
.PHONY: install-rsmi
endif

# The samplers' tests alone, as under `make SAN=thread test-sampler`: they are the threads of the harness.
SAMPLER_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/harness/*/test_sampler_*.c tests/unit/harness/*/*/test_sampler_*.c))
SAMPLER_FAKES := $(patsubst %.c,$(B)/%.so,$(wildcard tests/fakes/*.c))
test-sampler: $(RSMI) $(SAMPLER_TESTS) $(SAMPLER_FAKES) ## the samplers' tests (SAN=thread)
	@B=$(B) tests/run.sh $(SAMPLER_TESTS)
.PHONY: test-sampler
