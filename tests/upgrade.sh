#!/bin/bash
# An upgrade and a removal of the Debian packages where systemd is PID 1: in a
# root of its own (debootstrap) that systemd-nspawn boots, with a real slurmctld,
# slurmd and a job that runs. What ran is restarted by the new files, what its
# admin had stopped or never started stays so, and a removal stops all. Needs root
# or sudo. The root is kept in ${UPGRADE_DIR:-/var/tmp/lowtide-upgrade}.
#
#   upgrade.sh [COMMIT]   from the packages of that commit of this repository;
#                         without one, from this tree's own as an older version
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || exec sudo -E "$PWD/tests/upgrade.sh" "$@"
dir=${UPGRADE_DIR:-/var/tmp/lowtide-upgrade} suite=bookworm
root=$dir/root passed=0 failed=0 pid=
PATH=$PATH:/usr/sbin:/sbin
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
. tests/debian_root.sh
command -v systemd-nspawn >/dev/null ||
    apt-get install -qq -y --no-install-recommends systemd-container >/dev/null
trap '[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null' EXIT

check() { # check NAME COMMAND...
	if "${@:2}" > "$dir/out" 2>&1; then
		echo "ok - $1"
		passed=$((passed + 1))
	else
		echo "not ok - $1"
		tail -n 15 "$dir/out" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}
within() { # within SECONDS COMMAND...
	local until=$((SECONDS + $1))
	shift
	until "$@" > /dev/null 2>&1; do
		[ $SECONDS -lt $until ] || return 1
		sleep .5
	done
}
# The booted system's first process is a child of nspawn.
inside() { nsenter -t "$init" -m -u -i -n -p -C -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }
boot() {
	systemd-nspawn --boot -q --register=no --keep-unit --private-network --hostname=ctl -D "$root" \
	    </dev/null >"$dir/boot.log" 2>&1 &
	pid=$!
	within 30 has_init
	init=$(pgrep -P "$pid")
	# The resolver wants an address that is no loopback.
	nsenter -t "$init" -n ip addr add 192.0.2.1 dev lo
	within 60 inside systemctl list-units
	within 60 booted
}
has_init() { pgrep -P "$pid"; }
booted() { [[ $(inside systemctl is-system-running) =~ running|degraded ]]; }
build() { # build TREE VERSION TO: its packages, as that version
	sed -i "1s/([^)]*)/($2)/" "$1/packaging/debian/changelog"
	(cd "$1" && packaging/deb.sh) > "$dir/build.log" 2>&1 || { tail "$dir/build.log"; return 1; }
	mkdir -p "$3"
	rm -f "$3"/*.deb
	cp "$1"/build/deb/lowtide_*.deb "$1"/build/deb/lowtide-slurm-plugins_*.deb "$3/"
}
is() { # is STATE UNIT...
	local unit
	for unit in "${@:2}"; do
		[ "$(inside systemctl show -P ActiveState "$unit")" = "$1" ] || {
			inside systemctl status --no-pager "$unit" || true
			return 1
		}
	done
}
main_pid() { inside systemctl show -P MainPID "$1"; }
other_pid() { [ "$(main_pid "$1")" != "$2" ] && [ "$(main_pid "$1")" != 0 ]; }
install_debs() { inside sh -c "apt-get install -y --no-install-recommends --allow-downgrades $1/*.deb"; }
job_runs() { inside squeue -h -n long -o %T | grep -qx RUNNING; }
submits() { inside sbatch -o /dev/null --wrap 'sleep 1'; }
market_new() { inside test -e /run/lowtide/market && inside lowtide status; }

mkdir -p "$dir"
work=$(mktemp -d "$dir/work.XXXXXX")
for tree in old new; do
	mkdir "$work/$tree"
	git -c safe.directory="$PWD" ls-files -coz --exclude-standard |
	    xargs -0 cp --parents --preserve=mode,timestamps -t "$work/$tree"
done
[ $# -eq 0 ] || { rm -rf "$work/old"; mkdir "$work/old"; git archive "$1" | tar -x -C "$work/old"; }
check "packages of the older version are built" build "$work/old" 0.1.9 "$dir/old"
check "packages of this tree are built" build "$work/new" 0.9.9 "$dir/new"
rm -rf "$work"

make_root "$suite" "$root"
chroot "$root" apt-get install -qq -y --no-install-recommends systemd systemd-sysv dbus slurmctld slurmd slurm-client munge > "$dir/log" 2>&1
rm "$root/usr/sbin/policy-rc.d"
install -d -m 755 "$root/etc/lowtide" "$root/debs" "$root/etc/slurm"
cat > "$root/etc/slurm/slurm.conf" <<'C'
ClusterName=c
SlurmctldHost=ctl(127.0.0.1)
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=ctl NodeAddr=127.0.0.1 CPUs=2
PartitionName=p Nodes=ctl Default=YES
C
echo ctl > "$root/etc/hostname"
printf '127.0.0.1 localhost ctl\n' > "$root/etc/hosts"
printf 'mode: observe\ncurrency: USD\ntimezone: UTC\npartitions:\n  p: {carbon: 300, price_per_node_hour: 1}\n' > "$root/etc/lowtide/lowtide.yaml"
cp -r "$dir/old" "$dir/new" "$root/debs/"
# What they need: the booted system has a network of its own.
for debs in old new; do
	chroot "$root" sh -c "apt-get install -qq -y --no-install-recommends --download-only /debs/$debs/*.deb" > "$dir/log" 2>&1
done
boot
check "the older packages install" install_debs /debs/old
check "nothing of them starts by itself" is inactive lowtided.service lowtide-node.service lowtide-close.timer
inside sh -c 'echo JobSubmitPlugins=lowtide >> /etc/slurm/slurm.conf; systemctl restart munge slurmctld slurmd'
inside systemctl enable --now lowtided.service lowtide-notify.path lowtide-close.timer > /dev/null 2>&1
# Enabled and stopped by its admin, and started without being enabled.
inside systemctl enable lowtide-node.service > /dev/null 2>&1
check "lowtided runs beside slurmctld" within 60 market_new
inside sbatch -J long -o /dev/null --wrap 'sleep 600' > /dev/null
check "a job runs" within 60 job_runs
was=$(main_pid lowtided.service) ctld=$(main_pid slurmctld.service)
check "the upgrade succeeds" install_debs /debs/new
check "what ran runs, by the new files" within 30 other_pid lowtided.service "$was"
check "slurmctld has the new plugin" within 30 other_pid slurmctld.service "$ctld"
check "what waited waits on" is active lowtide-notify.path lowtide-close.timer
check "what was stopped stays stopped" is inactive lowtide-node.service lowtided-follow.service
check "the job runs on" job_runs
check "lowtided has a market, and answers" within 60 market_new
check "jobs are taken" submits
inside sh -c 'sed -i /JobSubmitPlugins/d /etc/slurm/slurm.conf; systemctl restart slurmctld'
check "slurmctld starts without the plugin" within 30 inside scontrol ping
check "a removal succeeds" inside apt-get purge -y lowtide lowtide-slurm-plugins
check "and stops all" is inactive lowtided.service lowtide-notify.path lowtide-close.timer
gone() { ! inside pgrep -x lowtided; }
check "no lowtided is left" gone
check "the job still runs" job_runs
inside systemctl poweroff > /dev/null 2>&1 || true
within 30 sh -c "! kill -0 $pid" || true
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
