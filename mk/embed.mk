# Texts that the program carries: files of their own, each embedded as a text without its last line end, embedded_<file>_<ending>.

EMBEDDED := $(wildcard cli/completion/profrig.*) harness/madengine/list_models.py harness/madengine/rocprof.sh harness/madengine/rtl.sh
EMBEDDED_OBJ := $(B)/obj/embedded.o

EMBEDDED_PEAKS_OBJ := $(B)/obj/embedded_peaks.o

$(EMBEDDED_OBJ): $(EMBEDDED) mk/embed.mk
$(EMBEDDED_PEAKS_OBJ): analysis/cost/peaks.json mk/embed.mk
$(EMBEDDED_OBJ) $(EMBEDDED_PEAKS_OBJ):
	$(call say,AS,$@)
	$(Q)mkdir -p $(@D)
	$(Q)for f in $(filter-out %.mk,$^); do \
		name=embedded_$$(basename $$f | tr . _); \
		printf '.section .rodata\n.global %s\n%s: .incbin "%s", 0, %d\n.byte 0\n' $$name $$name $$f $$(($$(wc -c <$$f) - 1)); \
	done >$@.s
	$(Q)printf '.section .note.GNU-stack, "", %%progbits\n' >>$@.s
	$(Q)$(CC) -c $@.s -o $@
