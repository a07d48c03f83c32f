# lowtide: the products and their installation. Tests stand in tests/tests.mk,
# packages in packaging/packaging.mk. `make help` lists the targets; V=1 shows
# commands; prefix, libdir, DESTDIR, CFLAGS, LDFLAGS are the packager's.
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
CFLAGS ?= $(if $(SAN),-O1,-O2) -g1# lines for backtraces; a debugger wants "-Og -g"
V ?= 0
Q := $(if $(filter 0,$(V)),@)
# By make itself: an echo would be one more process for each object.
say = $(if $(filter 0,$(V)),$(info $() $() $(1)))

WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Wmissing-prototypes -Wformat=2
ifeq ($(CI),true)
WARN += -Werror
endif
override CFLAGS += -std=gnu11 -fPIC -D_GNU_SOURCE -DLT_VERSION='"$(VERSION)"' \
	-fno-math-errno -ffp-contract=off -fstack-protector-strong $(WARN)
override LDFLAGS += -Wl,-z,relro,-z,now
ifneq ($(SAN),)
override CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
override LDFLAGS += -fsanitize=$(SAN)
endif

include layers.mk
LIBLOWTIDE_SRC := $(wildcard policy/core/*.c policy/model/*.c policy/snapshot/*.c)
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
obj = $(patsubst %.c,$(B)/%.o,$(1))
quiet_obj = $(patsubst %.c,$(B)/ndebug/%.o,$(1))
ALL_SRC := $(filter-out build/% examples/%,$(wildcard */*.c */*/*.c */*/*/*.c))
DIRS := $(sort $(dir $(call obj,$(ALL_SRC)) $(call quiet_obj,$(LIBLOWTIDE_SRC))))

PRODUCTS := $(B)/lowtide $(B)/lowtided $(B)/lowtide-kube $(B)/lowtide-node $(B)/lowtide-notify $(B)/spank_lowtide.so \
	$(B)/job_submit_lowtide.so $(B)/liblowtide.so $(B)/liblowtide.a $(B)/lowtide.pc

# libcurl is no line here: curl_library.c loads it, so that lowtided is without it.
DAEMON_LIBS := -lslurm -ljansson -lyaml -lsqlite3 -lmicrohttpd -lmunge -lexpat -lnettle -lm -lpthread
CLI_LIBS := -ljansson -lyaml -lmunge -lexpat -lnettle -lelf -lz -lmicrohttpd -lm -lpthread

# All processors, unless -j is given (which wins) or a goal removes; makes below this one share them.
ifeq ($(MAKELEVEL)$(filter clean uninstall,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

.PHONY: FORCE all help deps install install-common install-kube uninstall clean
.SECONDARY:
.DELETE_ON_ERROR:
## make            build everything into $(B)/
all: $(PRODUCTS)
help:
	@sed -n 's/^## //p' $(filter-out %.d,$(MAKEFILE_LIST))

# The headers decide whether the packages are there.
## make deps       install what is missing (Debian 12; starts no service)
deps:
	$(Q)packaging/deps.sh

# Changes with the compiler or its flags, and then all is built anew. All that
# is built waits for it, so the folders are made here, once.
$(B)/flags: FORCE
	@mkdir -p $(DIRS)
	@printf '%s\n' $(call quoted,$(CC) $(CFLAGS) $(LDFLAGS)) | cmp -s - $@ || \
	    printf '%s\n' $(call quoted,$(CC) $(CFLAGS) $(LDFLAGS)) > $@
quoted = '$(subst ','\'',$(1))'

$(B)/%.o: %.c Makefile layers.mk $(B)/flags
	$(call say,CC      $<)
	$(Q)$(CC) $(CFLAGS) $(OBJFLAGS) $(INC_$(patsubst %/,%,$(dir $<))) -c -o $@ $<

comma := ,
define link
$(call say,LD      $@)
$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(1) -o $@ $(filter %.o %.a,$^) $(2)
endef

# Second objects, without assertions: what others load ends no process of
# theirs, and slurmctld's least of all.
$(B)/ndebug/%.o: %.c Makefile layers.mk $(B)/flags
	$(call say,CC      $< (NDEBUG))
	$(Q)$(CC) $(CFLAGS) $(OBJFLAGS) -DNDEBUG $(INC_$(patsubst %/,%,$(dir $<))) -c -o $@ $<

$(B)/checked.a: $(call obj,$(LIBLOWTIDE_SRC))
$(B)/liblowtide.a: $(call quiet_obj,$(LIBLOWTIDE_SRC))
%.a:
	$(call say,AR      $@)
	$(Q)rm -f $@ && ar qcs $@ $^

$(B)/liblowtide.so: $(call quiet_obj,$(LIBLOWTIDE_SRC)) policy/liblowtide.map
	$(call link,-shared -Wl$(comma)-soname$(comma)liblowtide.so.0 -Wl$(comma)--version-script=$(filter %.map,$^),-lm)

# Always: the packager's prefix may have changed since the last build.
$(B)/lowtide.pc: policy/lowtide.pc.in FORCE
	@mkdir -p $(@D)
	$(Q)sed -e 's|@prefix@|$(prefix)|;s|@libdir@|$(libdir)|' \
	    -e 's|@includedir@|$(includedir)|;s|@version@|$(VERSION)|' $< > $@

SPANK_OBJ := $(call obj,$(wildcard plugin/common/*.c plugin/spank/*.c))
SUBMIT_OBJ := $(call obj,$(wildcard plugin/common/*.c plugin/job_submit/*.c))

$(B)/spank_lowtide.so: $(SPANK_OBJ) $(B)/liblowtide.a plugin/spank/spank.map
	$(call link,-shared -Wl$(comma)--version-script=$(filter %.map,$^),-lm)

$(B)/job_submit_lowtide.so: $(SUBMIT_OBJ) $(B)/liblowtide.a plugin/job_submit/job_submit.map
	$(call link,-shared -Wl$(comma)--version-script=$(filter %.map,$^),-lm)

# That of tests/life writes down when it looks at jobs that may stand still.
$(B)/tests/life/lowtided: $(B)/tests/life/looks.o
$(B)/lowtided $(B)/tests/life/lowtided: $(call obj,$(DAEMON_SRC) $(FILE_SRC) $(LEDGER_SRC) $(ADAPTER_SRC) $(SLURM_SRC)) $(B)/checked.a \
    adapters/slurm/missing.map daemon/http/no_tls.map
	$(call link,$(if $(filter %/looks.o,$^),-Wl$(comma)--wrap=lt_pause_plan) \
	    $(addprefix -Wl$(comma)--dynamic-list=,$(filter %.map,$^)),$(DAEMON_LIBS))

# The same daemon on another system: no libslurm.
$(B)/lowtide-kube: $(call obj,$(DAEMON_SRC) $(FILE_SRC) $(LEDGER_SRC) $(ADAPTER_SRC) $(BATCH_SRC) $(KUBE_SRC)) $(B)/checked.a daemon/http/no_tls.map
	$(call link,-Wl$(comma)--dynamic-list=$(filter %.map,$^),$(filter-out -lslurm,$(DAEMON_LIBS)))

# Three files of the daemon, which know nothing of it: most commands send no page.
$(B)/lowtide: $(call obj,$(CLI_SRC) $(SIMULATE_SRC) $(FILE_SRC) $(ADAPTER_SRC) daemon/http/no_tls.c \
    daemon/lib/door.c daemon/lib/figures.c) $(B)/checked.a daemon/http/no_tls.map
	$(call link,-Wl$(comma)--dynamic-list=$(filter %.map,$^),$(CLI_LIBS))

# On compute nodes: no libslurm, no policy.
$(B)/lowtide-node: $(call obj,$(NODE_SRC) $(NODE_OTHERS)) $(B)/checked.a
	$(call link,,-ljansson -lmunge -lm -lpthread)

# As a user without rights in Slurm: no libslurm, no ledger.
$(B)/lowtide-notify: $(call obj,$(NOTIFY_SRC) $(FILE_SRC) $(NOTIFY_OTHERS)) $(B)/checked.a
	$(call link,,-ljansson -lyaml -lnettle -lm -lpthread)

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

# Two packages of one source: a Slurm site gets nothing of Kubernetes, and a
# Kubernetes site neither needs libslurm nor gets what does.
MAN1 := $(wildcard man/*.1)
MAN5 := $(wildcard man/*.5)
KUBE_MAN8 := man/lowtide-kube.8
SLURM_MAN8 := $(filter-out $(KUBE_MAN8),$(wildcard man/*.8))
UNITS := $(notdir $(wildcard packaging/systemd/*))
# As they lie here, so that their links hold; examples/ is a link, too.
DOCS := README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md LICENSE man/lowtide.yaml.5 \
	$(wildcard docs/*.md docs/*.json docs/sources/*.md docs/licenses/* docs/pictures/*.svg)
put = install -D -m $(1) -t $(DESTDIR)$(2) $(3)

install-common: $(B)/lowtide
	$(call put,755,$(bindir),$(B)/lowtide)
	$(call put,644,$(mandir)/man1,$(MAN1))
	$(call put,644,$(mandir)/man5,$(MAN5))
	install -D -m 644 packaging/completion/lowtide.bash $(DESTDIR)$(completiondir)/lowtide
	$(call put,644,$(datadir)/examples,$(wildcard examples/*.yaml))
	$(call put,644,$(datadir)/examples/signals,$(wildcard examples/signals/*))
	$(call put,755,$(datadir)/examples/jobs,$(wildcard examples/jobs/*.sh))
	$(call put,644,$(datadir)/examples/jobs,$(wildcard examples/jobs/*.py) examples/jobs/README.md)
	$(call put,644,$(datadir)/prometheus,packaging/prometheus/lowtide.rules.yml)
	$(call put,644,$(datadir)/grafana,packaging/grafana/lowtide.json)
	for doc in $(DOCS); do install -D -m 644 $$doc $(DESTDIR)$(docdir)/$$doc || exit; done
	ln -sfn $(shell realpath -m --relative-to=$(docdir) $(datadir)/examples) $(DESTDIR)$(docdir)/examples

## make install    DESTDIR, prefix, slurmlibdir
install: all install-common
	install -D -m 644 packaging/completion/lowtide-slurm.bash $(DESTDIR)$(bashdir)/lowtide-slurm
	$(call put,755,$(sbindir),$(B)/lowtided $(B)/lowtide-node $(B)/lowtide-notify)
	$(call put,644,$(sysusersdir),packaging/sysusers/lowtide-notify.conf)
	$(call put,644,$(tmpfilesdir),packaging/tmpfiles/lowtide-notify.conf)
	$(call put,755,$(slurmlibdir),$(B)/spank_lowtide.so $(B)/job_submit_lowtide.so)
	install -D -m 755 $(B)/liblowtide.so $(DESTDIR)$(libdir)/liblowtide.so.0
	ln -sf liblowtide.so.0 $(DESTDIR)$(libdir)/liblowtide.so
	$(call put,644,$(libdir),$(B)/liblowtide.a)
	$(call put,644,$(libdir)/pkgconfig,$(B)/lowtide.pc)
	$(call put,644,$(includedir)/lowtide,policy/include/*.h)
	$(call put,644,$(mandir)/man8,$(SLURM_MAN8))
	$(call put,644,$(unitdir),packaging/systemd/*)
	sed -i 's|/usr/sbin/|$(sbindir)/|; s|/usr/bin/lowtide|$(bindir)/lowtide|' \
	    $(addprefix $(DESTDIR)$(unitdir)/,$(UNITS))

## make install-kube   for Kubernetes instead: DESTDIR, prefix; wants no Slurm
install-kube: $(B)/lowtide-kube install-common
	$(call put,755,$(sbindir),$(B)/lowtide-kube)
	$(call put,644,$(mandir)/man8,$(KUBE_MAN8))
	$(call put,644,$(datadir)/kubernetes,packaging/kubernetes/*.yaml)

# Not while slurmctld could not start again without them.
uninstall:
	$(Q)test -e $(DESTDIR)$(bindir)/lowtide || ! test -e $(DESTDIR)$(slurmlibdir)/job_submit_lowtide.so || \
	    { echo 'uninstall: the plugins are there, but no $(DESTDIR)$(bindir)/lowtide: say prefix= as it was installed' >&2; exit 1; }
	$(Q)test -n "$(DESTDIR)" || packaging/plugins-in-use.sh
	rm -f $(addprefix $(DESTDIR)$(sbindir)/,lowtided lowtide-kube lowtide-node lowtide-notify) \
	    $(addprefix $(DESTDIR)$(slurmlibdir)/,spank_lowtide.so job_submit_lowtide.so) \
	    $(addprefix $(DESTDIR)$(libdir)/,liblowtide.so.0 liblowtide.so liblowtide.a pkgconfig/lowtide.pc) \
	    $(addprefix $(DESTDIR)$(unitdir)/,$(UNITS)) $(DESTDIR)$(sysusersdir)/lowtide-notify.conf \
	    $(DESTDIR)$(tmpfilesdir)/lowtide-notify.conf $(DESTDIR)$(completiondir)/lowtide \
	    $(DESTDIR)$(bashdir)/lowtide-slurm $(DESTDIR)$(bindir)/lowtide
	rm -rf $(DESTDIR)$(includedir)/lowtide $(DESTDIR)$(datadir) $(DESTDIR)$(docdir)
	rm -f $(addprefix $(DESTDIR)$(mandir)/man1/,$(notdir $(MAN1))) \
	    $(addprefix $(DESTDIR)$(mandir)/man5/,$(notdir $(MAN5))) \
	    $(addprefix $(DESTDIR)$(mandir)/man8/,$(notdir $(SLURM_MAN8) $(KUBE_MAN8)))

clean:
	rm -rf $(B)
include tests/tests.mk packaging/packaging.mk

# They take a second to read, and who removes needs none.
-include $(if $(filter-out clean help uninstall,$(or $(MAKECMDGOALS),all)),$(shell find $(B) -name '*.d' 2>/dev/null))
