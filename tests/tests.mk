# Tests, benches and long runs: what they are built of, and what starts them.
# Included by the Makefile, whose variables it uses.
.PHONY: check check-fast demo bench bench-submit scale soak reports passes lint size matrix fuzz tests \
	cluster-tools warnings cover mutants storm life week signals-accuracy quality holdout-quality spot- \
	quality deadline-quality places replay-site demo-kube kube kube-scale versions slurm-objects \
	pictures
# Tests link both sides.
TEST_LIBS := $(DAEMON_LIBS) -lelf -lz
# Links them in less than half the time; not every binutils has it any more.
GOLD := $(if $(wildcard /usr/bin/ld.gold),-fuse-ld=gold)
INC_tests := -Iadapters/slurm -Itests -Icli $(CLI_ROOMS:%=-Icli/%) -Inode -Inotify -Isimulate $(INC_daemon) -Ikubernetes -Ipolicy/snapshot -Iplugin/common \
	-DCMOCKA_DISABLE_DEPRECATION_WARNINGS

# Optimizing unit tests, and all that a sanitizer checks, takes longer than it
# saves when they run; not so what computes for seconds (SLOW) or is fuzzed for
# hours. A packager's fortification would warn at -O0.
QUICK := $(if $(findstring fuzzer,$(SAN)),,$(if $(SAN),%,tests/unit/%))
SLOW := policy/core/% policy/model/% tests/unit/test_decide_brute.c \
	tests/unit/test_forecast_error.c tests/unit/test_series_properties.c
OBJFLAGS = -MMD -MP $(if $(filter-out $(SLOW),$(filter $(QUICK),$<)),-O0 -U_FORTIFY_SOURCE)

# tests/<kind>/x.c see everything.
$(B)/tests/%.o: tests/%.c Makefile layers.mk $(B)/flags
	$(call say,CC      $<)
	$(Q)$(CC) $(CFLAGS) $(OBJFLAGS) $(INC_tests) -c -o $@ $<


# All but the mains, and what would take TLS from the tests' server. Shared, so that a test's link copies none of
# it; a function that a test defines itself stands in for the one in here, which
# a packager's -Bsymbolic would forbid.
INTERNAL_SRC := $(filter-out daemon/main.c daemon/http/no_tls.c,$(DAEMON_SRC)) \
	$(filter-out cli/main.c,$(CLI_SRC)) $(filter-out node/main.c,$(NODE_SRC)) $(filter-out notify/main.c,$(NOTIFY_SRC)) $(SIMULATE_SRC) $(FILE_SRC) $(LEDGER_SRC) \
	$(ADAPTER_SRC) $(SLURM_SRC) $(filter-out $(KUBE_BATCH_SRC),$(KUBE_SRC)) $(LIBLOWTIDE_SRC)
$(B)/internal.so: $(call obj,$(INTERNAL_SRC))
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(filter-out -Wl$(comma)-Bsymbolic%,$(LDFLAGS)) $(GOLD) \
	    -shared -Wl,-soname,$(@F) -o $@ $^ $(TEST_LIBS)
INTERNAL := $(GOLD) -Wl,--as-needed $(B)/internal.so -Wl,-rpath,'$$ORIGIN/../..'
# For benches and libFuzzer.
$(B)/internal.a: $(call obj,$(INTERNAL_SRC))

# All that Slurm's headers are in, for tests/versions.sh.
slurm-objects: $(sort $(SPANK_OBJ) $(SUBMIT_OBJ) $(call obj,$(wildcard adapters/slurm/*.c)))

UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(UNIT_SRC))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(FUZZ_SRC))
# Helpers of tests and benches: programs of one file each.
TOOL_BIN := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,$(wildcard tests/tools/*.c))
BENCH_BIN := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(wildcard tests/bench/*.c))
# Preloaded by the daemons of a private cluster whose clock is not now.
CLOCK_SO := $(B)/tests/tools/clock_shift.so
# Preloaded by lowtided: a directory of users that is slow.
USERS_SO := $(B)/tests/tools/slow_users.so
# Random requests for a real Slurm.
COVER_BIN := $(B)/tests/cover/client
# A played Kubernetes API server.
KUBE_BIN := $(B)/tests/kube/server
# Loads the plugins without a cluster; its own symbols stand for Slurm's.
FAKE_BIN := $(B)/tests/fake_slurm/fake_slurm
FAKE_SRC := $(wildcard tests/fake_slurm/*.c)
tests: cluster-tools $(UNIT_BIN) $(FUZZ_BIN) $(FAKE_BIN) $(KUBE_BIN)
# What tests/cluster wants.
cluster-tools: $(B)/job_fields.ok $(B)/wait_reasons.ok $(B)/attributes.ok all $(TOOL_BIN) $(COVER_BIN) $(CLOCK_SO) $(USERS_SO)

# A second compiler's warnings on all that is compiled: a folder in one run,
# nothing made. Those that only optimizing finds are left to the builds.
warnings: $(patsubst %,warnings/%,$(patsubst %/,%,$(sort $(dir $(ALL_SRC))))) warnings/ndebug
warnings/ndebug: FORCE
	$(call say,WARN    policy (NDEBUG))
	$(Q)$(CC) $(CFLAGS) -fsyntax-only -DNDEBUG $(INC_policy/core) $(INC_policy/model) \
	    $(INC_policy/snapshot) $(LIBLOWTIDE_SRC)
warnings/%: FORCE
	$(call say,WARN    $*)
	$(Q)$(CC) $(CFLAGS) -fsyntax-only $(if $(filter tests/%,$*),$(INC_tests),$(INC_$*)) \
	    $(wildcard $*/*.c)

$(COVER_BIN): $(call obj,$(wildcard tests/cover/*.c))
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lslurm

$(KUBE_BIN): $(call obj,$(wildcard tests/kube/*.c))
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lmicrohttpd -ljansson -lpthread

# A field of Slurm's job description that nobody judged fails here.
$(B)/job_fields.ok: plugin/common/job_fields.sh plugin/common/job_fields.h $(wildcard /usr/include/slurm/slurm.h)
	$(Q)CC='$(CC)' plugin/common/job_fields.sh --check && mkdir -p $(@D) && touch $@

# A reason to wait that nobody judged fails here.
$(B)/wait_reasons.ok: tests/wait_reasons.sh adapters/slurm/reasons.c $(wildcard /usr/include/slurm/slurm.h)
	$(Q)CC='$(CC)' tests/wait_reasons.sh && mkdir -p $(@D) && touch $@

# An attribute of partitions, nodes or QOS that nobody judged fails here.
$(B)/attributes.ok: tests/attributes.sh tests/attributes.txt $(wildcard adapters/slurm/*.[ch] /usr/include/slurm/*.h)
	$(Q)CC='$(CC)' tests/attributes.sh && mkdir -p $(@D) && touch $@

$(CLOCK_SO) $(USERS_SO): $(B)/tests/tools/%.so: $(B)/tests/tools/lib/%.o
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $^ -ldl -lpthread

$(FAKE_BIN): $(call obj,$(FAKE_SRC)) $(B)/checked.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -rdynamic -o $@ $^ -lcmocka -lm -lpthread -ldl

$(B)/tests/unit/test_job_from_slurm: $(B)/plugin/common/job_from_slurm.o $(B)/plugin/common/job_pins.o
# "Can't Be Late", which only these play.
LATE_OBJ := $(call obj,$(wildcard tests/late/*.c))
$(B)/tests/unit/test_late $(B)/tests/unit/test_late_regimes $(B)/tests/bench/bench_spot: $(LATE_OBJ)
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/internal.so
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(INTERNAL) \
	    -lcmocka $(TEST_LIBS)
# As lowtided is: GnuTLS loaded with it, and these before GnuTLS's own.
$(B)/tests/unit/test_no_tls: $(B)/tests/unit/test_no_tls.o $(B)/daemon/http/no_tls.o
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--dynamic-list=daemon/http/no_tls.map -o $@ $^ \
	    -Wl,--no-as-needed -lmicrohttpd -lcmocka -ldl
# Alone in the build with TSan, which then makes the library only.
$(B)/tests/unit/test_budget_threads: $(B)/tests/unit/test_budget_threads.o $(B)/checked.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka -lm -lpthread
$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/driver.o $(B)/internal.so
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(INTERNAL) $(TEST_LIBS)
$(B)/tests/tools/%: $(B)/tests/tools/%.o $(B)/internal.so
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(INTERNAL) $(TEST_LIBS)
# What they measure is what slurmctld loads.
$(B)/tests/bench/%: $(B)/tests/bench/%.o $(B)/liblowtide.a $(B)/internal.a
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TEST_LIBS)

## make check      all tests, on a private Slurm
check: deps
	$(Q)tests/run.sh all
## make check-fast units, golden texts and fuzz corpora only
check-fast:
	$(Q)tests/run.sh fast
## make demo       the story on a private Slurm; KEEP=1 leaves it running
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)examples/demo.sh
## make pictures   draw README's session anew, from a run on a private Slurm
# The session of README, drawn from a new run.
pictures: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)docs/pictures/session.sh
## make demo-kube  ten Jobs on a played Kubernetes cluster
# As any user, without a cluster.
demo-kube: deps
	$(Q)$(MAKE) --no-print-directory all $(KUBE_BIN)
	$(Q)examples/demo-kube.sh
## make kube       KUBECONFIG=file: the story on that cluster, in a namespace of its own
# The whole story on the cluster of a kubeconfig.
kube: deps
	$(Q)test -n "$(KUBECONFIG)" || { echo 'KUBECONFIG=FILE: whose cluster gets a namespace for it' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/kube/real.sh
## make kube-scale JOBS=5000 that wait, PODS=10000 of no Job, on a played Kubernetes cluster
kube-scale: deps
	$(Q)$(MAKE) --no-print-directory all $(KUBE_BIN) $(CLOCK_SO)
	$(Q)tests/kube/scale.sh $(or $(JOBS),5000)
	$(Q)tests/kube/scale_pods.sh $(or $(PODS),10000)
## make cover      N=n random requests on a private Slurm: holds against AllocTRES
cover: deps
	$(Q)tests/cover/cover.sh $(or $(N),300)
## make places     SITES=n JOBS=n SEED=n random sites: what plain sbatch takes starts where lowtide moves it
places: deps
	$(Q)SITES=$(or $(SITES),10) JOBS=$(or $(JOBS),50) $(if $(SEED),SEED=$(SEED)) tests/places/places.sh
## make replay-site FILE=site, by lowtide doctor --collect: the same on that site; JOBS=n
replay-site: deps
	$(Q)test -n "$(FILE)" || { echo 'FILE=file: as lowtide doctor --collect writes it' >&2; exit 2; }
	$(Q)JOBS=$(or $(JOBS),50) $(if $(SEED),SEED=$(SEED)) tests/places/places.sh $(FILE)
## make storm      CYCLES=n SEED=n: everything killed in any order, against a model
storm: deps
	$(Q)tests/storm/storm.sh $(or $(CYCLES),300)
## make week       HOUR_S=10: jobs that stand still through a week of a real grid, against the simulator
week: deps
	$(Q)$(MAKE) --no-print-directory all $(B)/tests/life/lowtided
	$(Q)HOUR_S=$(or $(HOUR_S),10) tests/life/week.sh
## make life       NOTICES=n JOBS=n SEED=n: nodes taken from jobs that resume, lowtided killed
life: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)NOTICES=$(or $(NOTICES),100) JOBS=$(or $(JOBS),20) SEED=$(SEED) tests/life/life.sh
## make mutants    P=pattern: break the code on purpose, see the unit tests fail
mutants: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)tests/mutants/run.sh '$(P)'
## make bench      measure, as ratios against a baseline; CARBON=dir of grids, DATA=dir as quality
bench: deps
	$(Q)$(MAKE) --no-print-directory all $(BENCH_BIN) $(TOOL_BIN) $(FAKE_BIN)
	$(Q)tests/bench/run.sh
## make bench-submit   the part of it that slurmctld waits for: job_submit, plain and --carbon-aware
bench-submit: deps
	$(Q)$(MAKE) --no-print-directory all $(TOOL_BIN) $(FAKE_BIN)
	$(Q)tests/bench/submit.sh
## make signals-accuracy DATA=dir, a checkout of emmayly/EnsembleCI: how far forecasts are off
# WHEN=before: the half-year that the model was chosen by.
signals-accuracy:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: a checkout of github.com/emmayly/EnsembleCI, or its data folder' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_accuracy
	$(Q)$(B)/tests/bench/bench_accuracy "$(DATA)" $(WHEN)
## make quality DATA=dir, of grids and jobs: how good decisions are (docs/quality.md)
# Of the data that docs/quality.md names.
quality:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: with carbon/ and jobs/, as docs/quality.md says' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_quality $(B)/tests/bench/bench_arrays
	$(Q){ $(B)/tests/bench/bench_quality "$(DATA)" && $(B)/tests/bench/bench_arrays; } | \
	    awk -f tests/bench/quality_goals.awk
## make deadline-quality DATA=dir, with spot/: how often "95 % sure" is late
deadline-quality:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: with spot/, as docs/quality.md says' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_deadlines
	$(Q)$(B)/tests/bench/bench_deadlines "$(DATA)" | awk -f tests/bench/deadline_goals.awk
## make spot-quality DATA=dir, with spot/: what jobs with a deadline cost (docs/quality.md)
spot-quality:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: with spot/, as docs/quality.md says' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_spot
	$(Q)$(B)/tests/bench/bench_spot "$(DATA)"
## make holdout-quality: how often the interval of what was measured holds the truth
# Made-up months: does the interval of what moving saved hold the truth?
holdout-quality:
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_holdout
	$(Q)$(B)/tests/bench/bench_holdout tests/fixtures/simulate/pai_1k.csv $(or $(MONTHS),1000)
## make matrix     cluster tests on Slurm 24.11 and 26.05 (debootstrap)
matrix: deps
	$(Q)tests/matrix.sh
## make versions   SLURM=dir, a clone of SchedMD/slurm: compiled against each release
versions: deps
	$(Q)test -n "$(SLURM)" || { echo 'SLURM=dir: a clone of github.com/SchedMD/slurm' >&2; exit 2; }
	$(Q)tests/versions.sh "$(SLURM)"
## make fuzz MINUTES=n
fuzz: deps
	$(Q)tests/fuzz/run.sh $(or $(MINUTES),1)
## make scale      queues of JOBS="22000 ...", cancelled; RUNS="100000 ..." that ended
## make soak       MINUTES=60 of 20 submissions a second, cancels, requeues, reports
## make reports    of RUNS="1000000 ..." in a ledger: sums, streams, and who waits meanwhile
## make passes     RUNNING=1664 WAITING=10000: how long lowtided is at work on all of them
scale soak reports passes: deps
	$(Q)$(MAKE) --no-print-directory all $(BENCH_BIN) $(TOOL_BIN)
	$(Q)tests/scale/$@.sh

## make lint       clang-format
lint:
	$(Q)clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

## make size       files, lines and functions by room, and complexity
size: deps
	$(Q)tests/size.pl
