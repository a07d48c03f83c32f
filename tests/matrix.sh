#!/bin/bash
# The cluster tests on newer Slurms: Debian 13 has 24.11, sid 26.05. Each runs
# in a folder made by debootstrap (kept in ${MATRIX_DIR:-/var/tmp/lowtide-matrix}
# for the next time), with the project copied in and built there. Needs root or
# sudo, and the packages from this machine's own Debian mirror.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" -ne 0 ]; then exec sudo -E "$0" "$@"; fi
dir=${MATRIX_DIR:-/var/tmp/lowtide-matrix}
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends debootstrap >/dev/null
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -oE '(URIs: *|^deb +(\[[^]]*\] *)?)[a-z]+://[^ ]+' | grep -oE '[a-z]+://.*' |
    grep -v security | head -n 1 || true)
[ -n "$mirror" ] || { echo "matrix: no Debian mirror in /etc/apt" >&2; exit 1; }
# All that packaging/deps.sh names, by the names that the suite has.
packages=gcc,make,pkg-config,libc6-dev,slurmctld,slurmd,slurmdbd,slurm-client,munge,mariadb-server,libslurm-dev,slurm-wlm-basic-plugins,libmunge-dev,libcurl4-openssl-dev,libjansson-dev,libyaml-dev,libsqlite3-dev,libmicrohttpd-dev,libexpat1-dev,libcmocka-dev,bats,jq,hostname,procps,tzdata,util-linux
status=0
run_suite() {
	local suite=$1 root=$dir/$1
	if [ ! -e "$root/.ready" ]; then
		echo "matrix: $suite: debootstrap into $root"
		rm -rf --one-file-system "$root"
		mkdir -p "$dir"
		debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$dir/$suite.log" 2>&1 ||
		    { tail -n 5 "$dir/$suite.log" >&2; return 1; }
		cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
		printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
		chmod 755 "$root/usr/sbin/policy-rc.d"
		chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
		    --no-install-recommends ${packages//,/ } >>"$dir/$suite.log" 2>&1 ||
		    { tail -n 5 "$dir/$suite.log" >&2; return 1; }
		touch "$root/.ready"
	fi
	rm -rf "$root/lowtide"
	mkdir "$root/lowtide"
	git ls-files -z | xargs -0 cp --parents -t "$root/lowtide"
	# A mount namespace of its own: nothing stays mounted whatever happens.
	unshare --mount --propagation private sh -c '
		mount --bind /proc "$0/proc"; mount --bind /sys "$0/sys"
		mount --rbind /dev "$0/dev"
		grep -q "$(hostname)" "$0/etc/hosts" 2>/dev/null ||
			echo "127.0.1.1 $(hostname)" >> "$0/etc/hosts"
		exec chroot "$0" sh -c "cd /lowtide && slurmctld -V && HOME=/root tests/run.sh cluster"
	' "$root" || status=1
}
for suite in ${MATRIX_SUITES:-trixie sid}; do
	echo "== $suite"
	run_suite "$suite" || status=1
done
exit $status
