# lowtide: one GNU Makefile, no per-directory ones. `make help` lists the
# targets; V=1 shows commands; prefix, libdir, DESTDIR, CFLAGS, LDFLAGS are the
# packager's.
VERSION := 0.3.0
prefix ?= /usr/local
bindir ?= $(prefix)/bin
sbindir ?= $(prefix)/sbin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir ?= $(prefix)/share/man
datadir ?= $(prefix)/share/lowtide
docdir ?= $(prefix)/share/doc/lowtide
completiondir ?= $(prefix)/share/bash-completion/completions
sysconfdir ?= /etc
# Read as a shell starts, beside Slurm's own completion of its commands.
bashdir ?= $(sysconfdir)/bash_completion.d
unitdir ?= /lib/systemd/system
sysusersdir ?= $(prefix)/lib/sysusers.d
tmpfilesdir ?= $(prefix)/lib/tmpfiles.d
# Where Slurm looks for plugins.
slurmlibdir ?= $(shell packaging/plugin-dir.sh)
CC ?= cc
B ?= build
CFLAGS ?= $(if $(SAN),-O1 -g1,-O2 -g)
V ?= 0
Q := $(if $(filter 0,$(V)),@)
# By make itself: an echo would be one more process for each object.
say = $(if $(filter 0,$(V)),$(info $() $() $(1)))

WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla \
	-Wmissing-prototypes -Wformat=2
ifeq ($(CI),true)
WARN += -Werror
endif
override CFLAGS += -std=gnu11 -fPIC -D_GNU_SOURCE -DLT_VERSION='"$(VERSION)"' \
	-fno-math-errno -ffp-contract=off -fstack-protector-strong $(WARN)
override LDFLAGS += -Wl,-z,relro,-z,now
# Optimizing unit tests, and all that a sanitizer checks, takes longer than it
# saves when they run; not so what computes for seconds (SLOW) or is fuzzed for
# hours. A packager's fortification would warn at -O0.
QUICK := $(if $(findstring fuzzer,$(SAN)),,$(if $(SAN),%,tests/unit/%))
SLOW := policy/core/% policy/model/% tests/unit/test_decide_brute.c \
	tests/unit/test_forecast_error.c tests/unit/test_series_properties.c
OBJFLAGS = -MMD -MP $(if $(filter-out $(SLOW),$(filter $(QUICK),$<)),-O0 -U_FORTIFY_SOURCE)
ifneq ($(SAN),)
override CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
override LDFLAGS += -fsanitize=$(SAN)
endif

# Each directory's -I list is the rule of who may include whom. adapters/ is
# for quoted includes only: <slurm/slurm.h> is Slurm's.

INC_policy/core := -Ipolicy/core -Ipolicy/include
INC_policy/snapshot := -Ipolicy/snapshot -Ipolicy/include
INC_policy/file := -Ipolicy/file -Ipolicy/core -Ipolicy/include
INC_policy/model := -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_policy/ledger := -Ipolicy/ledger -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_adapters := -iquoteadapters -Iadapters/lib -Ipolicy/core -Ipolicy/include
INC_adapters/lib := -Iadapters/lib -Ipolicy/core -Ipolicy/include
INC_adapters/batch := -Iadapters/batch -Ipolicy/core -Ipolicy/include
INC_adapters/slurm := -Iadapters/slurm -Iadapters/batch -Ipolicy/core -Ipolicy/include
# libyaml, as policy/file, for kubeconfig.c.
INC_kubernetes := -Ikubernetes -Idaemon/lib -Iadapters/lib -Iadapters/batch -Ipolicy/core -Ipolicy/include
INC_plugin/common := -Iplugin/common -I$(B)/plugin/common -Ipolicy/core -Ipolicy/include
INC_plugin/job_submit := -Iplugin/job_submit $(INC_plugin/common)
INC_plugin/spank := -Iplugin/spank $(INC_plugin/common)
# What lowtided stands on, and its rooms: each sees those before it, and up to life nothing else.
# The others see daemon.h too, which has the state of all rooms in it.
DAEMON_BASE := -iquoteadapters -Iadapters/lib -Iadapters/batch -Ipolicy/file \
	-Ipolicy/ledger -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_daemon/lib := -Idaemon/lib -Ipolicy/model -Ipolicy/core -Ipolicy/include
INC_daemon/signals := -Idaemon/signals -Idaemon/lib $(DAEMON_BASE)
ROOMS := market jobs charges holds plans life alerts pass http statement explain metrics api
INC_daemon/market := -Idaemon/market $(INC_daemon/signals)
INC_daemon/jobs := -Idaemon/jobs $(INC_daemon/market)
INC_daemon/charges := -Idaemon/charges $(INC_daemon/jobs)
INC_daemon/holds := -Idaemon/holds $(INC_daemon/charges)
INC_daemon/plans := -Idaemon/plans $(INC_daemon/holds)
INC_daemon/life := -Idaemon/life $(INC_daemon/plans)
INC_daemon := $(ROOMS:%=-Idaemon/%) -Idaemon $(INC_daemon/signals)
$(foreach room,alerts pass http statement explain metrics api,$(eval INC_daemon/$(room) := -Idaemon/$(room) $(INC_daemon)))
INC_node := -Inode -Idaemon/lib -Iadapters/lib -Ipolicy/core -Ipolicy/include
# As lowtide-node, and the policy: it says where messages go.
INC_notify := -Inotify -Idaemon/lib -Iadapters/lib -Ipolicy/file -Ipolicy/core -Ipolicy/include
INC_simulate := -Isimulate -Ipolicy/model -Ipolicy/core -Ipolicy/include
# The command's rooms: lib for all, html over report, main over all.
CLI_BASE := -Icli/lib -iquoteadapters -Iadapters/lib -Idaemon/lib -Ipolicy/file -Ipolicy/core -Ipolicy/include
CLI_ROOMS := lib report html doctor init reconcile signals simulate web
$(foreach room,$(CLI_ROOMS),$(eval INC_cli/$(room) := -Icli/$(room) -I$(B)/cli/$(room) $(CLI_BASE)))
INC_cli/report += -Icli/html
INC_cli/html += -Icli/report
INC_cli/simulate += -Isimulate
INC_cli/reconcile += -Icli/signals
INC_cli := -Icli -I$(B)/cli -Isimulate $(CLI_ROOMS:%=-Icli/%) $(CLI_BASE)
INC_tests := -Iadapters/slurm -Itests -Icli $(CLI_ROOMS:%=-Icli/%) -Inode -Inotify -Isimulate $(INC_daemon) -Ikubernetes -Ipolicy/snapshot -Iplugin/common \
	-DCMOCKA_DISABLE_DEPRECATION_WARNINGS

CORE_SRC := $(wildcard policy/core/*.c)
MODEL_SRC := $(wildcard policy/model/*.c)
SNAPSHOT_SRC := $(wildcard policy/snapshot/*.c)
LIBLOWTIDE_SRC := $(CORE_SRC) $(MODEL_SRC) $(SNAPSHOT_SRC)
FILE_SRC := $(wildcard policy/file/*.c)
LEDGER_SRC := $(wildcard policy/ledger/*.c)
BATCH_SRC := $(wildcard adapters/batch/*.c)
SLURM_SRC := $(BATCH_SRC) $(wildcard adapters/slurm/*.c)
KUBE_SRC := $(wildcard kubernetes/*.c)
# Those that stand where adapters/slurm stands.
KUBE_BATCH_SRC := $(wildcard kubernetes/batch_*.c)
ADAPTER_SRC := $(wildcard adapters/*.c adapters/lib/*.c)
DAEMON_SRC := $(wildcard daemon/*.c daemon/*/*.c)
SIMULATE_SRC := $(wildcard simulate/*.c)
CLI_SRC := $(wildcard cli/*.c cli/*/*.c)
NODE_SRC := $(wildcard node/*.c)
NOTIFY_SRC := $(wildcard notify/*.c)
# What they need of others, which have more libraries.
NODE_OTHERS := $(addprefix adapters/lib/,curl_library.c http.c json.c plain_file.c text_mend.c \
	seal.c slurm_conf.c) $(addprefix daemon/lib/,child.c log.c program.c)
NOTIFY_OTHERS := $(addprefix adapters/lib/,base64.c curl_library.c guard.c http.c option.c secret.c smtp.c \
	text_mend.c) $(addprefix daemon/lib/,child.c log.c message.c program.c spool.c)
PLUGIN_SRC := $(wildcard plugin/common/*.c)
obj = $(patsubst %.c,$(B)/%.o,$(1))
quiet_obj = $(patsubst %.c,$(B)/ndebug/%.o,$(1))
ALL_SRC := $(filter-out build/% examples/%,$(wildcard */*.c */*/*.c */*/*/*.c))
DIRS := $(sort $(dir $(call obj,$(ALL_SRC)) $(call quiet_obj,$(LIBLOWTIDE_SRC))))

PRODUCTS := $(B)/lowtide $(B)/lowtided $(B)/lowtide-kube $(B)/lowtide-node $(B)/lowtide-notify $(B)/spank_lowtide.so \
	$(B)/job_submit_lowtide.so $(B)/liblowtide.so $(B)/liblowtide.a \
	$(B)/lowtide.pc

# libcurl is no line here: curl_library.c loads it, so that lowtided is without it.
DAEMON_LIBS := -lslurm -ljansson -lyaml -lsqlite3 -lmicrohttpd \
	-lmunge -lexpat -lnettle -lm -lpthread
CLI_LIBS := -ljansson -lyaml -lmunge -lexpat -lnettle -lelf -lz -lmicrohttpd -lm -lpthread
# Tests link both sides.
TEST_LIBS := $(DAEMON_LIBS) -lelf -lz
# Links them in less than half the time; not every binutils has it any more.
GOLD := $(if $(wildcard /usr/bin/ld.gold),-fuse-ld=gold)

.PHONY: FORCE all help check check-fast demo bench bench-submit scale soak reports passes deps lint size install install-common install-kube uninstall clean \
	matrix fuzz tests cluster-tools warnings cover mutants storm life week signals-accuracy quality holdout-quality spot-quality deadline-quality \
	places replay-site demo-kube kube kube-scale deb packages rpm rpm-check bare versions slurm-objects pictures
all: $(PRODUCTS)

help:
	@echo 'make            build everything into $(B)/'
	@echo 'make deps       install what is missing (Debian 12; starts no service)'
	@echo 'make check      all tests, on a private Slurm'
	@echo 'make check-fast units, golden texts and fuzz corpora only'
	@echo 'make demo       the story on a private Slurm; KEEP=1 leaves it running'
	@echo 'make pictures   draw README'\''s session anew, from a run on a private Slurm'
	@echo 'make demo-kube  ten Jobs on a played Kubernetes cluster'
	@echo 'make kube       KUBECONFIG=file: the story on that cluster, in a namespace of its own'
	@echo 'make kube-scale JOBS=5000 that wait, PODS=10000 of no Job, on a played Kubernetes cluster'
	@echo 'make scale      queues of JOBS="22000 ...", cancelled; RUNS="100000 ..." that ended'
	@echo 'make passes     RUNNING=1664 WAITING=10000: how long lowtided is at work on all of them'
	@echo 'make reports    of RUNS="1000000 ..." in a ledger: sums, streams, and who waits meanwhile'
	@echo 'make soak       MINUTES=60 of 20 submissions a second, cancels, requeues, reports'
	@echo 'make bench      measure, as ratios against a baseline; CARBON=dir of grids, DATA=dir as quality'
	@echo 'make bench-submit   the part of it that slurmctld waits for: job_submit, plain and --carbon-aware'
	@echo 'make signals-accuracy DATA=dir, a checkout of emmayly/EnsembleCI: how far forecasts are off'
	@echo 'make quality DATA=dir, of grids and jobs: how good decisions are (docs/quality.md)'
	@echo 'make deadline-quality DATA=dir, with spot/: how often "95 % sure" is late'
	@echo 'make spot-quality DATA=dir, with spot/: what jobs with a deadline cost (docs/quality.md)'
	@echo 'make holdout-quality: how often the interval of what was measured holds the truth'
	@echo 'make cover      N=n random requests on a private Slurm: holds against AllocTRES'
	@echo 'make places     SITES=n JOBS=n SEED=n random sites: what plain sbatch takes starts where lowtide moves it'
	@echo 'make replay-site FILE=site, by lowtide doctor --collect: the same on that site; JOBS=n'
	@echo 'make life       NOTICES=n JOBS=n SEED=n: nodes taken from jobs that resume, lowtided killed'
	@echo 'make deb        Debian packages for the Slurm of this machine, into build/deb'
	@echo 'make packages   those packages built, installed, used, upgraded and purged in roots of their own'
	@echo 'make rpm        RPM packages for the Slurm of this machine, into build/rpm'
	@echo 'make rpm-check  those packages built, installed, used and removed in a copy of this root'
	@echo 'make bare       the quick starts from a bare Debian 12, in a root of its own: minutes, typed commands'
	@echo 'make versions   SLURM=dir, a clone of SchedMD/slurm: compiled against each release'
	@echo 'make week       HOUR_S=10: jobs that stand still through a week of a real grid, against the simulator'
	@echo 'make storm      CYCLES=n SEED=n: everything killed in any order, against a model'
	@echo 'make mutants    P=pattern: break the code on purpose, see the unit tests fail'
	@echo 'make matrix     cluster tests on Slurm 24.11 and 26.05 (debootstrap)'
	@echo 'make lint       clang-format'
	@echo 'make size       files, lines and functions by room, and complexity'
	@echo 'make fuzz MINUTES=n'
	@echo 'make install    DESTDIR, prefix, slurmlibdir=$(slurmlibdir)'
	@echo 'make install-kube   for Kubernetes instead: DESTDIR, prefix; wants no Slurm'

# The headers decide whether the packages are there.
deps:
	$(Q)packaging/deps.sh

# Changes with the compiler or its flags, and then all is built anew. All that
# is built waits for it, so the folders are made here, once.
$(B)/flags: FORCE
	@mkdir -p $(DIRS)
	@printf '%s\n' $(call quoted,$(CC) $(CFLAGS) $(LDFLAGS)) | cmp -s - $@ || \
	    printf '%s\n' $(call quoted,$(CC) $(CFLAGS) $(LDFLAGS)) > $@
quoted = '$(subst ','\'',$(1))'

$(B)/%.o: %.c Makefile $(B)/flags
	$(call say,CC      $<)
	$(Q)$(CC) $(CFLAGS) $(OBJFLAGS) $(INC_$(patsubst %/,%,$(dir $<))) -c -o $@ $<

# Second objects, without assertions: what others load ends no process of
# theirs, and slurmctld's least of all.
$(B)/ndebug/%.o: %.c Makefile $(B)/flags
	$(call say,CC      $< (NDEBUG))
	$(Q)$(CC) $(CFLAGS) $(OBJFLAGS) -DNDEBUG $(INC_$(patsubst %/,%,$(dir $<))) -c -o $@ $<

# tests/<kind>/x.c see everything.
$(B)/tests/%.o: tests/%.c Makefile $(B)/flags
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
comma := ,
INTERNAL := $(GOLD) -Wl,--as-needed $(B)/internal.so -Wl,-rpath,'$$ORIGIN/../..'
# For benches and libFuzzer.
$(B)/internal.a: $(call obj,$(INTERNAL_SRC))
$(B)/checked.a: $(call obj,$(LIBLOWTIDE_SRC))
$(B)/liblowtide.a: $(call quiet_obj,$(LIBLOWTIDE_SRC))
$(B)/internal.a $(B)/checked.a $(B)/liblowtide.a:
	$(call say,AR      $@)
	$(Q)rm -f $@ && ar qcs $@ $^

$(B)/liblowtide.so: $(call quiet_obj,$(LIBLOWTIDE_SRC)) policy/liblowtide.map
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,liblowtide.so.0 \
	    -Wl,--version-script=policy/liblowtide.map -o $@ \
	    $(filter %.o,$^) -lm

# Always: the packager's prefix may have changed since the last build.
$(B)/lowtide.pc: policy/lowtide.pc.in FORCE
	@mkdir -p $(@D)
	$(Q)sed -e 's|@prefix@|$(prefix)|;s|@libdir@|$(libdir)|' \
	    -e 's|@includedir@|$(includedir)|;s|@version@|$(VERSION)|' $< > $@

SPANK_OBJ := $(call obj,$(PLUGIN_SRC) $(wildcard plugin/spank/*.c))
SUBMIT_OBJ := $(call obj,$(PLUGIN_SRC) $(wildcard plugin/job_submit/*.c))

# All that Slurm's headers are in, for tests/versions.sh.
slurm-objects: $(sort $(SPANK_OBJ) $(SUBMIT_OBJ) $(call obj,$(wildcard adapters/slurm/*.c)))

$(B)/spank_lowtide.so: $(SPANK_OBJ) $(B)/liblowtide.a plugin/spank/spank.map
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared \
	    -Wl,--version-script=plugin/spank/spank.map -o $@ $(filter %.o %.a,$^) -lm

$(B)/job_submit_lowtide.so: $(SUBMIT_OBJ) $(B)/liblowtide.a plugin/job_submit/job_submit.map
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared \
	    -Wl,--version-script=plugin/job_submit/job_submit.map -o $@ \
	    $(filter %.o %.a,$^) -lm

LOWTIDED_EXPORTS := adapters/slurm/missing.map daemon/http/no_tls.map
# That of tests/life writes down when it looks at jobs that may stand still.
$(B)/tests/life/lowtided: $(B)/tests/life/looks.o
$(B)/lowtided $(B)/tests/life/lowtided: $(call obj,$(DAEMON_SRC) $(FILE_SRC) $(LEDGER_SRC) $(ADAPTER_SRC) $(SLURM_SRC)) $(B)/checked.a $(LOWTIDED_EXPORTS)
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(if $(filter %/looks.o,$^),-Wl$(comma)--wrap=lt_pause_plan) \
	    $(LOWTIDED_EXPORTS:%=-Wl,--dynamic-list=%) -o $@ $(filter %.o %.a,$^) $(DAEMON_LIBS)

# The same daemon on another system: no libslurm.
$(B)/lowtide-kube: $(call obj,$(DAEMON_SRC) $(FILE_SRC) $(LEDGER_SRC) $(ADAPTER_SRC) $(BATCH_SRC) $(KUBE_SRC)) $(B)/checked.a daemon/http/no_tls.map
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--dynamic-list=daemon/http/no_tls.map \
	    -o $@ $(filter %.o %.a,$^) $(filter-out -lslurm,$(DAEMON_LIBS))

# Three files of the daemon, which know nothing of it: most commands send no page.
$(B)/lowtide: $(call obj,$(CLI_SRC) $(SIMULATE_SRC) $(FILE_SRC) $(ADAPTER_SRC) daemon/http/no_tls.c \
    daemon/lib/door.c daemon/lib/figures.c) $(B)/checked.a daemon/http/no_tls.map
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--dynamic-list=daemon/http/no_tls.map \
	    -o $@ $(filter %.o %.a,$^) $(CLI_LIBS)

# On compute nodes: no libslurm, no policy.
NODE_LIBS := -ljansson -lmunge -lm -lpthread
$(B)/lowtide-node: $(call obj,$(NODE_SRC) $(NODE_OTHERS)) $(B)/checked.a
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(NODE_LIBS)

# As a user without rights in Slurm: no libslurm, no ledger.
NOTIFY_LIBS := -ljansson -lyaml -lnettle -lm -lpthread
$(B)/lowtide-notify: $(call obj,$(NOTIFY_SRC) $(FILE_SRC) $(NOTIFY_OTHERS)) $(B)/checked.a
	$(call say,LD      $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(NOTIFY_LIBS)

# The manifests, in the order in which they are applied, as bytes of C.
KUBE_YAML := $(addprefix packaging/kubernetes/,namespace.yaml serviceaccount.yaml rbac.yaml \
	configmap.yaml pvc.yaml deployment.yaml cronjob.yaml policy-suspend.yaml \
	policy-suspended.yaml policy-budget.yaml policy-guard.yaml policy-own.yaml dry-run.yaml)
$(B)/cli/kube_manifest.h: $(KUBE_YAML) Makefile
	@mkdir -p $(@D)
	$(Q)for f in $(KUBE_YAML); do echo "# $$f"; sed 1d "$$f"; done | \
	    od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g' > $@
$(B)/cli/kube.o warnings/cli: $(B)/cli/kube_manifest.h

# Fields of a job description that only this Slurm has: each pins.
JOB_FIELDS_NEW := $(B)/plugin/common/job_fields_new.h
$(JOB_FIELDS_NEW): plugin/common/job_fields.sh plugin/common/job_fields.h $(wildcard /usr/include/slurm/slurm.h)
	@mkdir -p $(@D)
	$(Q)CC='$(CC) $(CFLAGS)' plugin/common/job_fields.sh > $@
$(B)/plugin/common/job_pins.o warnings/plugin/common: $(JOB_FIELDS_NEW)

# The page of "lowtide web", a file an array.
WEB_FILES := $(addprefix cli/web/,index.html page.css page.js)
$(B)/cli/web/web_files.h: $(WEB_FILES) Makefile
	@mkdir -p $(@D)
	$(Q)for f in $(WEB_FILES); do \
	    echo "static const unsigned char web_$$(basename $$f | tr . _)[] = {"; \
	    od -An -v -tx1 "$$f" | sed 's/ \(..\)/0x\1,/g'; echo '};'; done > $@
$(B)/cli/web/web_serve.o warnings/cli/web: $(B)/cli/web/web_files.h

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
.SECONDARY:
.DELETE_ON_ERROR:

check: deps
	$(Q)tests/run.sh all
check-fast:
	$(Q)tests/run.sh fast
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)examples/demo.sh
# The session of README, drawn from a new run.
pictures: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)docs/pictures/session.sh
# As any user, without a cluster.
demo-kube: deps
	$(Q)$(MAKE) --no-print-directory all $(KUBE_BIN)
	$(Q)examples/demo-kube.sh
# The whole story on the cluster of a kubeconfig.
kube: deps
	$(Q)test -n "$(KUBECONFIG)" || { echo 'KUBECONFIG=FILE: whose cluster gets a namespace for it' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/kube/real.sh
kube-scale: deps
	$(Q)$(MAKE) --no-print-directory all $(KUBE_BIN) $(CLOCK_SO)
	$(Q)tests/kube/scale.sh $(or $(JOBS),5000)
	$(Q)tests/kube/scale_pods.sh $(or $(PODS),10000)
cover: deps
	$(Q)tests/cover/cover.sh $(or $(N),300)
places: deps
	$(Q)SITES=$(or $(SITES),10) JOBS=$(or $(JOBS),50) $(if $(SEED),SEED=$(SEED)) tests/places/places.sh
replay-site: deps
	$(Q)test -n "$(FILE)" || { echo 'FILE=file: as lowtide doctor --collect writes it' >&2; exit 2; }
	$(Q)JOBS=$(or $(JOBS),50) $(if $(SEED),SEED=$(SEED)) tests/places/places.sh $(FILE)
storm: deps
	$(Q)tests/storm/storm.sh $(or $(CYCLES),300)
week: deps
	$(Q)$(MAKE) --no-print-directory all $(B)/tests/life/lowtided
	$(Q)HOUR_S=$(or $(HOUR_S),10) tests/life/week.sh
life: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)NOTICES=$(or $(NOTICES),100) JOBS=$(or $(JOBS),20) SEED=$(SEED) tests/life/life.sh
mutants: deps
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)tests/mutants/run.sh '$(P)'
bench: deps
	$(Q)$(MAKE) --no-print-directory all $(BENCH_BIN) $(TOOL_BIN) $(FAKE_BIN)
	$(Q)tests/bench/run.sh
bench-submit: deps
	$(Q)$(MAKE) --no-print-directory all $(TOOL_BIN) $(FAKE_BIN)
	$(Q)tests/bench/submit.sh
# WHEN=before: the half-year that the model was chosen by.
signals-accuracy:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: a checkout of github.com/emmayly/EnsembleCI, or its data folder' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_accuracy
	$(Q)$(B)/tests/bench/bench_accuracy "$(DATA)" $(WHEN)
# Of the data that docs/quality.md names.
quality:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: with carbon/ and jobs/, as docs/quality.md says' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_quality $(B)/tests/bench/bench_arrays
	$(Q){ $(B)/tests/bench/bench_quality "$(DATA)" && $(B)/tests/bench/bench_arrays; } | \
	    awk -f tests/bench/quality_goals.awk
deadline-quality:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: with spot/, as docs/quality.md says' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_deadlines
	$(Q)$(B)/tests/bench/bench_deadlines "$(DATA)" | awk -f tests/bench/deadline_goals.awk
spot-quality:
	$(Q)test -n "$(DATA)" || { echo 'DATA=dir: with spot/, as docs/quality.md says' >&2; exit 2; }
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_spot
	$(Q)$(B)/tests/bench/bench_spot "$(DATA)"
# Made-up months: does the interval of what moving saved hold the truth?
holdout-quality:
	$(Q)$(MAKE) --no-print-directory $(B)/tests/bench/bench_holdout
	$(Q)$(B)/tests/bench/bench_holdout tests/fixtures/simulate/pai_1k.csv $(or $(MONTHS),1000)
matrix: deps
	$(Q)tests/matrix.sh
versions: deps
	$(Q)test -n "$(SLURM)" || { echo 'SLURM=dir: a clone of github.com/SchedMD/slurm' >&2; exit 2; }
	$(Q)tests/versions.sh "$(SLURM)"
# Of this machine's Slurm, into build/deb.
deb:
	$(Q)packaging/deb.sh
packages: deps
	$(Q)tests/packages.sh
	$(Q)tests/upgrade.sh
rpm:
	$(Q)packaging/rpm.sh
rpm-check: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/rpm.sh
bare:
	$(Q)tests/bare.sh
fuzz: deps
	$(Q)tests/fuzz/run.sh $(or $(MINUTES),1)
scale soak reports passes: deps
	$(Q)$(MAKE) --no-print-directory all $(BENCH_BIN) $(TOOL_BIN)
	$(Q)tests/scale/$@.sh

lint:
	$(Q)clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

size: deps
	$(Q)tests/size.pl

# Two packages of one source: a Slurm site gets nothing of Kubernetes, and a
# Kubernetes site neither needs libslurm nor gets what does.
MAN1 := $(wildcard man/*.1)
MAN5 := $(wildcard man/*.5)
KUBE_MAN8 := man/lowtide-kube.8
SLURM_MAN8 := $(filter-out $(KUBE_MAN8),$(wildcard man/*.8))
UNITS := $(notdir $(wildcard packaging/systemd/*))
KUBE_FILES := $(wildcard packaging/kubernetes/*.yaml)
# As they lie here, so that their links hold; examples/ is a link, too.
DOCS := README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md LICENSE man/lowtide.yaml.5 \
	$(wildcard docs/*.md docs/*.json docs/sources/*.md docs/licenses/* docs/pictures/*.svg)
install_docs = for doc in $(1); do install -D -m 644 $$doc $(DESTDIR)$(docdir)/$$doc || exit; done

install-common: $(B)/lowtide
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(sbindir) $(DESTDIR)$(mandir)/man1 \
	    $(DESTDIR)$(mandir)/man5 $(DESTDIR)$(mandir)/man8 \
	    $(DESTDIR)$(datadir)/examples/signals $(DESTDIR)$(datadir)/examples/jobs \
	    $(DESTDIR)$(datadir)/prometheus $(DESTDIR)$(datadir)/grafana \
	    $(DESTDIR)$(completiondir)
	install -m 755 $(B)/lowtide $(DESTDIR)$(bindir)/
	install -m 644 $(MAN1) $(DESTDIR)$(mandir)/man1/
	install -m 644 $(MAN5) $(DESTDIR)$(mandir)/man5/
	install -m 644 packaging/completion/lowtide.bash $(DESTDIR)$(completiondir)/lowtide
	install -m 644 $(wildcard examples/*.yaml) $(DESTDIR)$(datadir)/examples/
	install -m 644 $(wildcard examples/signals/*) $(DESTDIR)$(datadir)/examples/signals/
	install -m 755 $(wildcard examples/jobs/*.sh) $(DESTDIR)$(datadir)/examples/jobs/
	install -m 644 packaging/prometheus/lowtide.rules.yml $(DESTDIR)$(datadir)/prometheus/
	install -m 644 packaging/grafana/lowtide.json $(DESTDIR)$(datadir)/grafana/
	install -m 644 $(wildcard examples/jobs/*.py) examples/jobs/README.md \
	    $(DESTDIR)$(datadir)/examples/jobs/
	$(call install_docs,$(DOCS))
	ln -sfn $(shell realpath -m --relative-to=$(docdir) $(datadir)/examples) $(DESTDIR)$(docdir)/examples

install: all install-common
	install -d $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/lowtide \
	    $(DESTDIR)$(slurmlibdir) $(DESTDIR)$(unitdir) $(DESTDIR)$(sysusersdir) \
	    $(DESTDIR)$(tmpfilesdir) $(DESTDIR)$(bashdir)
	install -m 644 packaging/completion/lowtide-slurm.bash $(DESTDIR)$(bashdir)/lowtide-slurm
	install -m 755 $(B)/lowtided $(B)/lowtide-node $(B)/lowtide-notify $(DESTDIR)$(sbindir)/
	install -m 644 packaging/sysusers/lowtide-notify.conf $(DESTDIR)$(sysusersdir)/
	install -m 644 packaging/tmpfiles/lowtide-notify.conf $(DESTDIR)$(tmpfilesdir)/
	install -m 755 $(B)/spank_lowtide.so $(B)/job_submit_lowtide.so $(DESTDIR)$(slurmlibdir)/
	install -m 755 $(B)/liblowtide.so $(DESTDIR)$(libdir)/liblowtide.so.0
	ln -sf liblowtide.so.0 $(DESTDIR)$(libdir)/liblowtide.so
	install -m 644 $(B)/liblowtide.a $(DESTDIR)$(libdir)/
	install -m 644 $(B)/lowtide.pc $(DESTDIR)$(libdir)/pkgconfig/
	install -m 644 policy/include/*.h $(DESTDIR)$(includedir)/lowtide/
	install -m 644 $(SLURM_MAN8) $(DESTDIR)$(mandir)/man8/
	for unit in $(UNITS); do \
	    sed 's|/usr/sbin/|$(sbindir)/|; s|/usr/bin/lowtide|$(bindir)/lowtide|' packaging/systemd/$$unit \
	        > $(DESTDIR)$(unitdir)/$$unit; \
	done

install-kube: $(B)/lowtide-kube install-common
	install -d $(DESTDIR)$(datadir)/kubernetes
	install -m 755 $(B)/lowtide-kube $(DESTDIR)$(sbindir)/
	install -m 644 $(KUBE_MAN8) $(DESTDIR)$(mandir)/man8/
	install -m 644 $(KUBE_FILES) $(DESTDIR)$(datadir)/kubernetes/

# Not while slurmctld could not start again without them.
uninstall:
	$(Q)test -e $(DESTDIR)$(bindir)/lowtide || ! test -e $(DESTDIR)$(slurmlibdir)/job_submit_lowtide.so || \
	    { echo 'uninstall: the plugins are there, but no $(DESTDIR)$(bindir)/lowtide: say prefix= as it was installed' >&2; exit 1; }
	$(Q)test -n "$(DESTDIR)" || packaging/plugins-in-use.sh
	rm -f $(DESTDIR)$(bindir)/lowtide $(DESTDIR)$(sbindir)/lowtided \
	    $(DESTDIR)$(sbindir)/lowtide-kube $(DESTDIR)$(sbindir)/lowtide-node \
	    $(DESTDIR)$(sbindir)/lowtide-notify $(DESTDIR)$(sysusersdir)/lowtide-notify.conf \
	    $(DESTDIR)$(tmpfilesdir)/lowtide-notify.conf \
	    $(DESTDIR)$(slurmlibdir)/spank_lowtide.so \
	    $(DESTDIR)$(slurmlibdir)/job_submit_lowtide.so \
	    $(DESTDIR)$(libdir)/liblowtide.so.0 $(DESTDIR)$(libdir)/liblowtide.so \
	    $(DESTDIR)$(libdir)/liblowtide.a $(DESTDIR)$(libdir)/pkgconfig/lowtide.pc \
	    $(addprefix $(DESTDIR)$(unitdir)/,$(UNITS)) $(DESTDIR)$(completiondir)/lowtide \
	    $(DESTDIR)$(bashdir)/lowtide-slurm
	rm -rf $(DESTDIR)$(includedir)/lowtide $(DESTDIR)$(datadir) $(DESTDIR)$(docdir)
	rm -f $(addprefix $(DESTDIR)$(mandir)/man1/,$(notdir $(MAN1))) \
	    $(addprefix $(DESTDIR)$(mandir)/man5/,$(notdir $(MAN5))) \
	    $(addprefix $(DESTDIR)$(mandir)/man8/,$(notdir $(SLURM_MAN8) $(KUBE_MAN8)))

clean:
	rm -rf $(B)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
