# profrig-mpi: profrig whose `analyze` shares an archive among MPI ranks. Built where there is an MPI compiler (Debian: libopenmpi-dev); MPI=0 leaves it out.
MPICC ?= mpicc
ifneq ($(MPI),0)
MPI_FOUND := $(shell command -v $(MPICC) 2>/dev/null)
endif
ifneq ($(MPI_FOUND),)
PROFRIG_MPI := $(B)/profrig-mpi
MPI_CFLAGS := $(shell $(MPICC) --showme:compile 2>/dev/null || $(MPICC) -compile_info 2>/dev/null | cut -d' ' -f2-)
MPI_LIBS := $(shell $(MPICC) --showme:link 2>/dev/null || $(MPICC) -link_info 2>/dev/null | cut -d' ' -f2-)
MPI_INCLUDE := $(patsubst -I%,-isystem %,$(MPI_CFLAGS))
$(B)/obj/cli/ranks_mpi.o: CPPFLAGS += $(MPI_INCLUDE)
$(PROFRIG_MPI): $(B)/obj/cli/ranks_mpi.o $(filter-out %/ranks_none.o,$(call obj,$(CLI_SRC))) $(LIBSESSION) $(LIBHARNESS) $(LIBANALYSIS) $(LIBBASE)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -o $@ $(HARNESS_LIBS) $(ANALYSIS_LIBS) $(BASE_LIBS) $(MPI_LIBS) $(SYS_LIBS)
all: $(PROFRIG_MPI)
install: install-mpi
install-mpi: $(PROFRIG_MPI)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PROFRIG_MPI) $(DESTDIR)$(PREFIX)/bin
.PHONY: install-mpi
endif
