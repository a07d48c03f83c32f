# Packages for the Slurm of this machine, their trials in roots of their own, and
# the manifests of Kubernetes that the command has in it.
.PHONY: deb packages rpm rpm-check bare
## make deb        Debian packages for the Slurm of this machine, into build/deb
# Of this machine's Slurm, into build/deb.
deb:
	$(Q)packaging/deb.sh
## make packages   those packages built, installed, used, upgraded and purged in roots of their own
packages: deps
	$(Q)tests/packages.sh
	$(Q)tests/upgrade.sh
## make rpm        RPM packages for the Slurm of this machine, into build/rpm
rpm:
	$(Q)packaging/rpm.sh
## make rpm-check  those packages built, installed, used and removed in a copy of this root
rpm-check: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/rpm.sh
## make bare       the quick starts from a bare Debian 12, in a root of its own: minutes, typed commands
bare:
	$(Q)tests/bare.sh

# The manifests, in the order in which they are applied, as bytes of C.
KUBE_YAML := $(addprefix packaging/kubernetes/,namespace.yaml serviceaccount.yaml rbac.yaml \
	configmap.yaml pvc.yaml deployment.yaml cronjob.yaml policy-suspend.yaml \
	policy-suspended.yaml policy-budget.yaml policy-guard.yaml policy-own.yaml dry-run.yaml)
$(B)/cli/kube_manifest.h: $(KUBE_YAML) Makefile
	@mkdir -p $(@D)
	$(Q)for f in $(KUBE_YAML); do echo "# $$f"; sed 1d "$$f"; done | \
	    od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g' > $@
$(B)/cli/kube.o warnings/cli: $(B)/cli/kube_manifest.h
