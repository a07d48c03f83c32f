#!/bin/bash
# The RPM packages: built, compared with what `make install` installs, and
# installed, used, refused to be removed and removed in a copy of this machine's
# root that is gone afterwards. Debian's Slurm is not known to rpm there, so
# nothing is said of what packages depend on but by reading it. Needs root,
# rpmbuild and this machine's Slurm.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || exec sudo -E "$PWD/tests/rpm.sh" "$@"
[ "${1:-}" = --inside ] || exec unshare --mount "$PWD/tests/rpm.sh" --inside
passed=0 failed=0
work=$(mktemp -d)
trap 'umount -R "$work/root" 2>/dev/null; umount "$work"; rmdir "$work"' EXIT
mount -t tmpfs none "$work"

check() { # check NAME COMMAND...
	if "${@:2}" > "$work/out" 2>&1; then
		echo "ok - $1"
		passed=$((passed + 1))
	else
		echo "not ok - $1"
		tail -n 15 "$work/out" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}
inside() { chroot "$work/root" "$@"; }
refuses() { # refuses WORDS COMMAND...: it fails, and says so
	local out
	out=$("${@:2}" 2>&1) && return 1
	[[ $out == *"$1"* ]] || { echo "$out"; return 1; }
}
of() { rpm -qp "${@:2}" build/rpm/"$1"-[0-9]*.rpm; } # of PACKAGE OPTIONS

plugins=$(dirname "$(ls /usr/lib/*/slurm*/select_cons_tres.so /usr/lib64/slurm/select_cons_tres.so 2>/dev/null | head -n 1)")
check 'builds' packaging/rpm.sh --define "slurmlibdir $plugins"

listed() { # what the packages have, but for what only a package needs; its text may be compressed
	rpm -qpl build/rpm/*.rpm | grep -vE '/(doc|licenses)/|\.build-id|/usr/lib/lowtide(/|$)' |
	    sed 's/\.gz$//' | grep -vxFf <(rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' build/rpm/*.rpm | sed -n 's/^d[^ ]* //p') | sort
}
made() {
	make --no-print-directory -o all install DESTDIR="$work/made" prefix=/usr libdir="$(rpm --eval %_libdir)" \
	    slurmlibdir="$plugins" unitdir="$(rpm -qpl build/rpm/lowtide-[0-9]*.rpm | sed -n 's|/lowtided.service$||p')" > "$work/log" 2>&1
	(cd "$work/made" && find . ! -type d | sed 's/^\.//' | sort)
}
same() { made > "$work/wanted" && test -s "$work/wanted" && listed | diff "$work/wanted" -; }
check 'has what make install installs, each file once' same
check 'is of the version of the sources' test "$(of lowtide --qf '%{VERSION}')" = "$(sed -n 's/^VERSION := //p' Makefile)"
check 'the plugins want the Slurm they were built for' \
    grep -x "(slurm >= $(slurmctld -V | grep -oE '[0-9]+\.[0-9]+' | head -n 1) with slurm < .*\.999)" <(of lowtide-slurm-plugins --requires)

mkdir "$work"/{root,upper,work}
mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" none "$work/root"
mount -t tmpfs none "$work/root/etc/slurm"
mount --bind /proc "$work/root/proc"
mkdir "$work/root/rpms"
cp build/rpm/*.rpm "$work/root/rpms/"
printf 'ClusterName=c\nSlurmctldHost=localhost\nNodeName=n\nPartitionName=p Nodes=n Default=YES\n' > "$work/root/etc/slurm/slurm.conf"
echo 'optional spank_lowtide.so' > "$work/root/etc/slurm/plugstack.conf"
# Loaded by the dynamic loader from folders that are not Debian's.
check 'installs beside Slurm' inside sh -c 'rpm --initdb && rpm -i --nodeps /rpms/*.rpm'
check 'its plugin loads into sbatch' inside sh -c 'env -u SLURM_CONF sbatch --help | grep -- --carbon-aware'
check 'the command and the daemon start' inside sh -c '/usr/bin/lowtide --version && /usr/sbin/lowtided --version'
echo 'JobSubmitPlugins=lowtide' >> "$work/root/etc/slurm/slurm.conf"
check 'the plugins stay while slurm.conf names them' refuses 'take lowtide out' inside env -u SLURM_CONF rpm -e --nodeps lowtide-slurm-plugins
check 'they are still whole' inside rpm -V --nodeps lowtide-slurm-plugins
sed -i /^JobSubmitPlugins/d "$work/root/etc/slurm/slurm.conf"
rm "$work/root/etc/slurm/plugstack.conf"
check 'are removed' inside sh -c 'env -u SLURM_CONF rpm -e --nodeps lowtide-slurm-plugins lowtide liblowtide-devel liblowtide0'
check 'without a trace' sh -c "! rpm -qpl build/rpm/*.rpm | while read -r f; do [ ! -e '$work/root'\"\$f\" ] || echo \"\$f\"; done | grep lowtide"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
