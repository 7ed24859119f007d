# dualsvm, for GNU make 3.82 or later. `make` only builds. `make demo`, `make test` and `make lint` first install missing packages.
#
#   make              the programs, into $(BUILD) and as links here
#   make demo         set up, build, and run a worked example          (tools/demo)
#   make test         set up, build, and run the tests                 (tests/run)
#   make check        all tests, with the tests of the tag slow too, but installs
#                     nothing: it names missing packages and stops
#   make check-asan   the same tests under address and undefined-behaviour sanitizers (TAGS='!long':
#                     without those that take over 2 seconds there, or run no program of it)
#   make check-optima certified bounds against a plain solver, for COUNT seeds from SEED
#                     (FAMILY=mc: one family; WIDE=1: numbers over many decades, verified
#                     in 640 bits, which needs MPFR) (tests/optima)
#   make lint         set up, and check format, scripts, manual and layers (tests/lint)
#   make check-faults makes each call that can fail fail, in every program (tests/fault)
#   make coverage     lines and branches that the tests reach, and messages they do not (tests/coverage)
#   make mutate       which of MUTANTS one-token changes, drawn by SEED, the tests find (tests/mutate)
#   make bench        run times relative to installed peers            (tests/bench)
#   make ablation     problems that need each algorithm, in at most an hour    (tests/ablation)
#   make fuzz         each fuzz target for FUZZ_SECONDS, needs clang   (tests/fuzz)
#   make check-fuzz   inputs of the fuzz targets under clang's sanitizer; skipped without clang
#   make manual       options in doc/reference.md and the manual pages, from --help  (tools/manual)
#   make install      programs, the library, the Python package, manual pages, documents, tools and
#                     completions (below DESTDIR)
#   make uninstall    removes what install has installed
#   make clean
#
# Settings: CC, ARCH (instruction set; ARCH= for binaries that run on any machine of this family),
# OPTIMIZE, CFLAGS, CPPFLAGS, LDFLAGS, BUILD (folder of the build); for installation DESTDIR, PREFIX,
# BINDIR, LIBDIR, INCLUDEDIR, PKGCONFIGDIR, DATADIR, MANDIR, DOCDIR, PKGDATADIR, BASHCOMPDIR,
# ZSHCOMPDIR, PYTHONDIR. Tools are installed in PKGDATADIR/tools, with links dualsvm-NAME in BINDIR.
# V=1: every command of the build and the installation in full.
# ISAL=0: zlib unpacks gzip, even if ISA-L is installed; ISAL=1: ISA-L does.
# MPI=1: programs that also run over several machines under mpirun or srun, compiled by MPICC, in
# build-mpi, from the objects in OBJECT_FOLDER (build) and one of MPI; `make MPI=1 test` runs their
# tests, tests/cluster_*.bats (doc/cluster.md).
# Builds are reproducible: the same compiler and flags make the same bytes in any folder at any time.
ifeq ($(filter undefine,$(.FEATURES)),)
# 3.81 would lose -ffp-contract=off: it has no `private`.
$(error GNU make 3.82 or later is needed, this is $(MAKE_VERSION))
endif
UNAME := $(shell uname -s)
CC ?= cc
# not all compilers of macOS know -march=native
ARCH ?= $(if $(filter Darwin,$(UNAME)),,-march=native)
OPTIMIZE ?= -O3
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
CFLAGS ?= -g
MPICC ?= mpicc
# With MPI one object differs; the others are those of the build without it.
ifeq ($(MPI),1)
BUILD ?= build-mpi
OBJECT_FOLDER ?= build
endif
BUILD ?= build
OBJECT_FOLDER ?= $(BUILD)
LINKER = $(if $(filter 1,$(MPI)),$(MPICC),$(CC))
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/dualsvm
PKGDATADIR ?= $(DATADIR)/dualsvm
BASHCOMPDIR ?= $(DATADIR)/bash-completion/completions
ZSHCOMPDIR ?= $(DATADIR)/zsh/site-functions
# The package folder of a Python below PREFIX, if there is one.
SITE = import site; print(min((p for p in site.getsitepackages() \
       if p.startswith("$(PREFIX)/lib/python3")), key=len))
PYTHONDIR ?= $(shell for python in python3 /usr/bin/python3; do $$python -c '$(SITE)' 2>/dev/null && \
               exit; done; echo '$(PREFIX)/lib/python3/dist-packages')
FUZZ_SECONDS ?= 60
SEED ?= 1
COUNT ?= 10000
FAMILY ?=
MUTANTS ?= 100
MPI ?=

# Debian has cblas.h in the compiler's default path, Fedora in /usr/include/openblas.
INCLUDES = -I. $(addprefix -I,$(wildcard /usr/include/openblas))
PREDEFINED := $(shell printf '' | $(CC) $(CPPFLAGS) $(CFLAGS) -dM -E - 2>/dev/null | \
                      sed -n '/ __i386__ /p; / __clang__ /p')
# Doubles must be evaluated as doubles; the x87 registers of i386 are wider.
I386 := $(if $(filter __i386__,$(PREDEFINED)),-msse2 -mfpmath=sse)
# A sum must not depend on the code around it. clang's `fast` fuses products and sums across
# expressions of a basic block, so equal rows could get different sums; its `on` fuses only within an
# expression. gcc has only `fast`.
CONTRACT = $(if $(filter __clang__,$(PREDEFINED)),on,fast)
ALL_CFLAGS = -std=c11 $(OPTIMIZE) $(ARCH) $(I386) $(WARN) $(CPPFLAGS) $(CFLAGS) \
             -ffp-contract=$(CONTRACT) -fopenmp-simd $(INCLUDES) "-ffile-prefix-map=$(CURDIR)=." \
             -fPIC -fvisibility=hidden -pthread $(SANITIZE)
ALL_LDFLAGS = $(LDFLAGS) $(SANITIZE)
# ISA-L unpacks gzip faster than zlib.
ifeq ($(origin ISAL),undefined)
ISAL := $(shell echo 'int main(void) { return !isal_inflate; }' | \
            $(CC) $(CPPFLAGS) $(CFLAGS) -include isa-l/igzip_lib.h -x c -o /dev/null - $(LDFLAGS) \
            -lisal 2>/dev/null && echo 1)
endif
# Multiple precision, only for `make check-optima WIDE=1`.
MPFR := $(shell echo 'int main(void) { return !mpfr_get_emax; }' | \
          $(CC) $(CFLAGS) -include mpfr.h -x c -o /dev/null - $(LDFLAGS) -lmpfr -lgmp 2>/dev/null && echo 1)
LIBS = -lopenblas $(if $(filter 1,$(ISAL)),-lisal) -lz -lm -pthread

PROGRAMS = $(patsubst %.c,%,$(wildcard svm-*.c))
# All objects, from which programs and tests are linked.
OBJECT_ARCHIVE = $(BUILD)/objects.a
VERSION := $(shell sed -n 's/^.define DUALSVM_VERSION "\(.*\)"$$/\1/p' include/dualsvm.h)
SONAME = libdualsvm.so.0
SHARED = $(BUILD)/libdualsvm.so
# macOS has programs and tools only: its linker has no version scripts, and it has no objcopy.
LIBRARY = $(if $(filter Darwin,$(UNAME)),,$(SHARED) $(BUILD)/libdualsvm.a)
CHECK = $(patsubst %.c,$(OBJECT_FOLDER)/%.o,$(wildcard check/*.c))
CLUSTER = common/distributed/cluster
GZIP = common/data/gzip_$(if $(filter 1,$(ISAL)),zlib,isal).c # the one left out
SOURCES = $(filter-out $(CLUSTER).c $(CLUSTER)_mpi.c $(GZIP),$(wildcard common/*/*.c fit/*.c methods/*.c families/*/*.c \
            families/*/*/*.c driver/*.c library/*.c))
CLUSTER_MPI = $(BUILD)/$(CLUSTER)_mpi.o
OBJECTS = $(patsubst %.c,$(OBJECT_FOLDER)/%.o,$(SOURCES)) $(CHECK) \
          $(if $(filter 1,$(MPI)),$(CLUSTER_MPI),$(BUILD)/$(CLUSTER).o)
# Without the objects that only programs need.
LIBRARY_OBJECTS = $(filter-out $(CHECK) $(patsubst %,$(OBJECT_FOLDER)/driver/%.o,program signals blas_start help), \
                    $(OBJECTS))
GENERATOR = $(patsubst %.c,$(OBJECT_FOLDER)/%.o,$(wildcard datasets/*.c))
UNITS = $(patsubst %.c,$(BUILD)/%,$(wildcard $(addprefix tests/unit/,*/*.c */*/*.c */*/*/*.c)))
ADVERSARY = $(BUILD)/tests/optima/adversary
WIDE_ADVERSARY = $(BUILD)/tests/optima/wide/adversary
FUZZERS = $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(wildcard tests/fuzz/*.c))
FUZZ_SHARED = $(BUILD)/tests/fuzz/shared/closed.o
REPLAYS = $(addsuffix -replay,$(FUZZERS))
ABLATION = $(patsubst %,$(BUILD)/ablation/%,$(filter %-train,$(PROGRAMS)))
BENCHES = $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(wildcard tests/bench/*.c))
FAULTS = $(BUILD)/tests/fault/shim.so $(BUILD)/tests/fault/api
comma = ,
WRAPPED = malloc calloc realloc aligned_alloc pthread_create
MANUALS = $(wildcard doc/*.1)
OVERVIEW = doc/dualsvm.7
DOCUMENTS = README CHANGELOG COPYRIGHT $(wildcard doc/*.md)
# data that the documents use
EXAMPLES = $(addprefix datasets/,README rank.train rank.test retention.csv candidates.csv)
INSTALLED = $(PROGRAMS) svm-generate
# Tools for users; the others are for developers.
TOOLS = $(filter-out $(addprefix tools/,demo manual setup smm-study lib),$(wildcard tools/*))
TOOL_LINKS = $(patsubst tools/%,dualsvm-%,$(TOOLS))
TOOL_MODULES = lib lib/formats lib/exports # shared by the Python tools
PYTHON = $(wildcard python/dualsvm/*.py)
OBJCOPY ?= objcopy
SETUP = CC='$(LINKER)' CFLAGS='$(I386) $(CPPFLAGS) $(CFLAGS) $(INCLUDES)' LDFLAGS='$(LDFLAGS)' \
        MACHINE='$(OPTIMIZE) $(ARCH)' MPI='$(MPI)' tools/setup

# Recursive makes use all processors unless the user gives -j.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN))
# -g1: lines for reports, in three quarters of the time to compile.
ASAN = BUILD=build-asan OPTIMIZE=-O1 SANITIZE='-g1 -fsanitize=address,undefined \
       -fno-sanitize-recover=all -fno-omit-frame-pointer'
COVERAGE = OPTIMIZE=-O1 SANITIZE='--coverage -fprofile-update=atomic'
FUZZ = BUILD=build-fuzz OPTIMIZE=-O1 CC=clang SANITIZE='-fsanitize=address,undefined \
       -fno-sanitize-recover=all -fsanitize=fuzzer-no-link'
# Builds four times faster than FUZZ.
REPLAY = BUILD=build-replay OPTIMIZE=-O0 CC=clang SANITIZE='-fsanitize=undefined \
         -fno-sanitize-recover=all'

# One short line a file; V=1 shows the whole command.
ifeq ($(V),1)
say =
else
quiet = @
say = @echo '$(1) $(patsubst $(BUILD)/%,%,$(2))' &&
.SILENT: install uninstall
endif

all: $(addprefix $(BUILD)/,$(INSTALLED)) $(BUILD)/datasets/generate $(LIBRARY)
ifeq ($(BUILD),build)
all: $(INSTALLED)
endif

units: $(UNITS) $(ABLATION) $(ADVERSARY) $(if $(MPFR),$(WIDE_ADVERSARY)) $(REPLAYS) $(FAULTS) \
       $(addprefix $(BUILD)/fault/,$(PROGRAMS) api)

$(OBJECT_ARCHIVE): $(OBJECTS)
	$(call say,AR,$@) rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/$(SONAME): $(LIBRARY_OBJECTS) library/exports
	$(call say,LINK,$@) $(LINKER) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script=library/exports $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) \
	    -o $@ $(LIBRARY_OBJECTS) $(LIBS)

$(SHARED): $(BUILD)/$(SONAME)
	$(quiet)ln -sf $(SONAME) $@

# One relocatable object, so that internal symbols can be hidden.
$(BUILD)/libdualsvm.a: $(LIBRARY_OBJECTS)
	$(call say,LD,$(BUILD)/dualsvm.o) $(LD) -r -o $(BUILD)/dualsvm.o $(LIBRARY_OBJECTS)
	$(quiet)$(OBJCOPY) --localize-hidden $(BUILD)/dualsvm.o
	$(call say,AR,$@) rm -f $@ && $(AR) rcs $@ $(BUILD)/dualsvm.o

define compile
$(1)/%.o: %.c $(1)/flags | $(BUILD)/libraries
	@mkdir -p $$(@D)
	$$(call say,CC,$$<) $$(CC) $$(ALL_CFLAGS) -MMD -MP -c -o $$@ $$<
endef
$(foreach folder,$(sort $(BUILD) $(OBJECT_FOLDER)),$(eval $(call compile,$(folder))))
$(CLUSTER_MPI): private override CC = $(MPICC)

$(BUILD)/svm-%: $(OBJECT_FOLDER)/svm-%.o $(OBJECT_ARCHIVE)
	$(call say,LINK,$@) $(LINKER) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/unit/%: $(OBJECT_FOLDER)/tests/unit/%.o $(OBJECT_ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(LINKER) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# Linked with the static library, so that the shim and sanitizers see all of it.
$(BUILD)/tests/fault/api: $(BUILD)/tests/fault/api.o $(BUILD)/libdualsvm.a
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/fault/shim.so: tests/fault/shim.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@) \
	    $(CC) $(filter-out $(SANITIZE),$(ALL_CFLAGS)) -fvisibility=default -shared -o $@ $< -ldl

$(BUILD)/tests/fault/wrap.o: tests/fault/shim.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) -DFAULT_WRAP -c -o $@ $<

# The programs with the shim linked in: sanitizers must come first in front of malloc.
$(BUILD)/fault/svm-%: $(BUILD)/svm-%.o $(BUILD)/tests/fault/wrap.o $(OBJECT_ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) $(addprefix -Wl$(comma)--wrap=,$(WRAPPED)) -o $@ $^ $(LIBS)

$(BUILD)/fault/api: $(BUILD)/tests/fault/api.o $(BUILD)/tests/fault/wrap.o $(OBJECT_ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) $(addprefix -Wl$(comma)--wrap=,$(WRAPPED)) -o $@ $^ $(LIBS)

# Trainers in which an environment variable disables a row of a policy.
$(BUILD)/ablation/svm-%: $(BUILD)/svm-%.o $(BUILD)/tests/ablation/enabled.o $(OBJECT_ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# It shares no code with the programs that it tests.
$(ADVERSARY): $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/optima/*.c))
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -o $@ $^ -lm

# The same, but verified in multiple precision.
$(BUILD)/wide/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(ALL_CFLAGS) -DOPTIMA_WIDE -MMD -MP -c -o $@ $<

$(WIDE_ADVERSARY): $(patsubst %.c,$(BUILD)/wide/%.o,$(filter-out tests/optima/judge.c, \
                       $(wildcard tests/optima/*.c)) $(wildcard tests/optima/wide/*.c))
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -o $@ $^ -lmpfr -lgmp -lm

# A fuzz target that reads given files; any compiler builds it.
$(BUILD)/tests/fuzz/%-replay: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay/replay.o \
                              $(FUZZ_SHARED) $(OBJECT_ARCHIVE)
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(FUZZ_SHARED) $(OBJECT_ARCHIVE)
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(OBJECT_ARCHIVE)
	$(call say,LINK,$@) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# Without contraction the generated text is the same on every machine.
$(GENERATOR): private CONTRACT = off

# Double-double arithmetic is made of sums and products that must not be fused
# (common/double_double/dd.h); svm-check is made of nothing else.
$(OBJECT_FOLDER)/%_dd.o $(OBJECT_FOLDER)/check/%.o: private CONTRACT = off

$(BUILD)/datasets/generate: $(GENERATOR) $(OBJECT_ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(LINKER) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# The generator under its installed name.
$(BUILD)/svm-generate: $(BUILD)/datasets/generate
	$(quiet)ln -sf datasets/generate $@

# The programs in the top folder, as in LIBSVM.
$(INSTALLED): %: $(BUILD)/%
	@ln -sf $< $@

# Rewritten when the compiler or its flags change, which then recompiles everything.
$(sort $(BUILD)/flags $(OBJECT_FOLDER)/flags): .always
	@mkdir -p $(@D)
	@echo '$(if $(filter $(BUILD)/%,$@),$(LINKER),$(CC)) $(ALL_CFLAGS) / $(ALL_LDFLAGS) / $(LIBS)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/libraries:
	@mkdir -p $(@D)
	@$(SETUP) --check build
	@touch $@

demo:
	@$(SETUP) build
	@$(MAKE) --no-print-directory $(JOBS) all
	@DUALSVM_BIN='$(BUILD)' tools/demo

# The two unit programs of the tests over several processes.
PROCESS_UNITS = $(addprefix $(BUILD)/tests/unit/common/,data/dump distributed/cluster)
tested: all $(if $(filter 1,$(MPI)),$(PROCESS_UNITS),units)

test:
	@$(SETUP) test
	@$(MAKE) --no-print-directory $(JOBS) tested
	@DUALSVM_BIN='$(BUILD)' DUALSVM_TAGS='!slow' tests/run

check-asan:
	@$(SETUP) test
	@$(MAKE) --no-print-directory $(JOBS) $(ASAN) all units
	@DUALSVM_BIN=build-asan DUALSVM_QUICK=1 DUALSVM_TAGS='$(TAGS)' tests/run

check-faults:
	@$(SETUP) test
	@$(MAKE) --no-print-directory $(JOBS) all $(FAULTS)
	@DUALSVM_BIN='$(BUILD)' tests/fault/run
	@$(MAKE) --no-print-directory $(JOBS) $(ASAN) all units
	@DUALSVM_BIN=build-asan FAULT_OWN=1 tests/fault/run

check-optima:
	$(if $(WIDE),@$(SETUP) test)
	@$(MAKE) --no-print-directory $(JOBS) all units
	@DUALSVM_BIN='$(BUILD)' WIDE='$(WIDE)' tests/optima/run '$(SEED)' '$(COUNT)' $(FAMILY)

check:
	@$(SETUP) --check test
	@$(MAKE) --no-print-directory $(JOBS) tested
	@DUALSVM_BIN='$(BUILD)' tests/run

lint:
	@tools/setup lint
	@tests/lint

bench:
	@$(MAKE) --no-print-directory $(JOBS) all benches
	@DUALSVM_BIN='$(BUILD)' tests/bench/run

# At most an hour; see tests/ablation/run.
ablation:
	@$(MAKE) --no-print-directory $(JOBS) all $(ABLATION) $(BUILD)/tests/unit/fit/policy
	@DUALSVM_BIN='$(BUILD)' tests/ablation/run

benches: $(BENCHES)

fuzz:
	@command -v clang >/dev/null || { echo 'make fuzz needs clang (package clang)' >&2; exit 1; }
	@$(MAKE) --no-print-directory $(JOBS) $(FUZZ) fuzzers
	@DUALSVM_BIN=build-fuzz FUZZ_SECONDS='$(FUZZ_SECONDS)' tests/fuzz/run

replays: $(REPLAYS)

# clang's sanitizer detects undefined behaviour that gcc's does not. Without clang one test is skipped.
check-fuzz:
	@if echo 'int main(void) { return 0; }' | \
	    clang -fsanitize=undefined -x c -o /dev/null - 2>/dev/null; then \
	    $(MAKE) --no-print-directory $(JOBS) $(REPLAY) replays && \
	        DUALSVM_BIN=build-replay tests/run tests/fuzz.bats; \
	else \
	    echo 'ok 1 fuzz targets under clang # skip no clang with its sanitizers (clang, libclang-rt-dev)'; \
	    echo '0 passed, 0 failed, 1 skipped'; \
	fi

# Of the plain build, and of the tests over processes in one with MPI.
coverage:
	@$(SETUP) test
	@CC='$(MPICC)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' MPI=1 tools/setup test
	@$(MAKE) --no-print-directory $(JOBS) $(COVERAGE) BUILD=build-coverage all units
	@$(MAKE) --no-print-directory $(JOBS) $(COVERAGE) BUILD=build-coverage-mpi OBJECT_FOLDER=build-coverage MPI=1 tested
	@find build-coverage build-coverage-mpi -name '*.gcda' -delete
	@export DUALSVM_QUICK=1 GCOV_ERROR_FILE=/dev/null; status=0; \
	for build in build-coverage build-coverage-mpi; do \
	    DUALSVM_BIN=$$build tests/run || status=1; \
	done; \
	DUALSVM_BIN=build-coverage tests/fault/run 1 15 || status=1; tests/coverage; exit $$status

mutate:
	@$(MAKE) --no-print-directory $(JOBS) $(ASAN) all units
	@tests/mutate/run --seed '$(SEED)' --count '$(MUTANTS)' --build build-asan

fuzzers: all $(FUZZERS)

manual: all
	@DUALSVM_BIN='$(BUILD)' tools/manual

# to FOLDER MODE FILES: installs the files, by their own names
to = install -d '$(DESTDIR)$(1)' && install -m $(2) $(3) '$(DESTDIR)$(1)'

# A shell's path of PKGDATADIR as seen from BINDIR: up to the folder that both are in, and down.
RELATIVE = base='$(BINDIR)'; up=; \
           while [ -n "$$base" ] && case '$(PKGDATADIR)/' in "$$base"/*) false ;; esac; do \
               case $$base in */*) base=$${base%/*} ;; *) base= ;; esac; up=../$$up; \
           done; \
           down='$(PKGDATADIR)'; relative=$$up$${down\#"$$base"/}

install: all
	$(call to,$(BINDIR),755,$(addprefix $(BUILD)/,$(PROGRAMS)))
	install -m 755 $(BUILD)/datasets/generate '$(DESTDIR)$(BINDIR)/svm-generate'
ifneq ($(LIBRARY),)
	$(call to,$(LIBDIR),644,$(BUILD)/$(SONAME) $(BUILD)/libdualsvm.a)
	ln -sf $(SONAME) '$(DESTDIR)$(LIBDIR)/libdualsvm.so'
	$(call to,$(INCLUDEDIR),644,include/dualsvm.h)
	install -d '$(DESTDIR)$(PKGCONFIGDIR)'
	sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' \
	    -e 's|@LIBS@|$(LIBS)|; s|^\([a-z]*dir=\)$(PREFIX)/|\1$${prefix}/|; /^[a-z]*=/s/ /\\ /g' library/dualsvm.pc.in >'$(DESTDIR)$(PKGCONFIGDIR)/dualsvm.pc'
	chmod 644 '$(DESTDIR)$(PKGCONFIGDIR)/dualsvm.pc'
	$(call to,$(PYTHONDIR)/dualsvm,644,$(PYTHON))
endif
	$(call to,$(MANDIR)/man1,644,$(MANUALS))
	$(call to,$(DOCDIR),644,$(DOCUMENTS))
	$(call to,$(DOCDIR)/datasets,644,$(EXAMPLES))
	$(call to,$(MANDIR)/man7,644,$(OVERVIEW))
	$(call to,$(PKGDATADIR)/tools,755,$(TOOLS))
	$(RELATIVE); for tool in $(notdir $(TOOLS)); do \
	    ln -sf "$$relative/tools/$$tool" '$(DESTDIR)$(BINDIR)'/dualsvm-$$tool || exit 1; \
	done
	$(foreach module,$(TOOL_MODULES),$(call to,$(PKGDATADIR)/tools/$(module),644,$(wildcard tools/$(module)/*.py)) &&) :
	$(call to,$(BASHCOMPDIR),644,completions/svm-rank-train)
	for program in $(filter-out svm-rank-train,$(INSTALLED)) $(TOOL_LINKS); do \
	    ln -sf svm-rank-train '$(DESTDIR)$(BASHCOMPDIR)'/$$program || exit 1; \
	done
	$(call to,$(ZSHCOMPDIR),644,completions/_dualsvm)
	@$(if $(DESTDIR),:,printf '%s\n' 'Programs and tools (dualsvm-NAME) are in $(BINDIR).' $(if $(LIBRARY), \
	    'Programs linked with libdualsvm find it after ldconfig (as root) if the loader searches $(LIBDIR)$(comma)' \
	    'else by -Wl$(comma)-rpath$(comma)$(LIBDIR) or LD_LIBRARY_PATH.' \
	    'If Python does not find dualsvm: PYTHONPATH=$(PYTHONDIR)'))

# from FOLDER FILES: removes these files, and with `mine` as third argument the folder if it is empty
from = if cd '$(DESTDIR)$(1)' 2>/dev/null; then \
           rm -f $(2) && { test '$(3)' != mine || rmdir '$(DESTDIR)$(1)' 2>/dev/null || :; }; fi

uninstall:
	$(call from,$(BINDIR),$(INSTALLED) $(TOOL_LINKS))
	$(call from,$(LIBDIR),$(SONAME) libdualsvm.so libdualsvm.a)
	$(call from,$(INCLUDEDIR),dualsvm.h)
	$(call from,$(PKGCONFIGDIR),dualsvm.pc)
	$(call from,$(MANDIR)/man1,$(notdir $(MANUALS)))
	$(call from,$(MANDIR)/man7,$(notdir $(OVERVIEW)))
	$(call from,$(DOCDIR)/datasets,$(notdir $(EXAMPLES)),mine)
	$(call from,$(DOCDIR),$(notdir $(DOCUMENTS)),mine)
	rm -rf $(foreach module,$(TOOL_MODULES),'$(DESTDIR)$(PKGDATADIR)/tools/$(module)/__pycache__')
	$(call from,$(PKGDATADIR)/tools/lib/exports,$(notdir $(wildcard tools/lib/exports/*.py)),mine)
	$(call from,$(PKGDATADIR)/tools/lib/formats,$(notdir $(wildcard tools/lib/formats/*.py)),mine)
	$(call from,$(PKGDATADIR)/tools/lib,$(notdir $(wildcard tools/lib/*.py)),mine)
	$(call from,$(PKGDATADIR)/tools,$(notdir $(TOOLS)),mine)
	$(call from,$(PKGDATADIR),,mine)
	$(call from,$(BASHCOMPDIR),$(INSTALLED) $(TOOL_LINKS))
	$(call from,$(ZSHCOMPDIR),_dualsvm)
	rm -rf '$(DESTDIR)$(PYTHONDIR)/dualsvm/__pycache__'
	$(call from,$(PYTHONDIR)/dualsvm,$(notdir $(PYTHON)),mine)

clean:
	rm -rf $(BUILD) build-mpi build-pip build-asan build-fuzz build-replay build-coverage build-mutate $(INSTALLED)

-include $(shell find $(sort $(BUILD) $(OBJECT_FOLDER)) -name '*.d' 2>/dev/null)

.PHONY: all units tested demo test check-asan check-optima check-faults check-fuzz lint bench benches fuzz \
        ablation fuzzers replays coverage mutate manual check install uninstall clean .always
.SECONDARY:
