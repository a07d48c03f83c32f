#!/bin/bash
# The cluster tests on newer Slurms: Debian 13 has 24.11, sid 26.05. Each runs
# in a folder made by debootstrap (kept in ${MATRIX_DIR:-/var/tmp/lowtide-matrix}
# for the next time), with the project copied in and built there. Needs root or
# sudo, and the packages from this machine's own Debian mirror. The last lines
# are each suite's `N passed, N failed`; its log is beside its folder.
#
#   matrix.sh [COMMAND...]   another command there, by its exit status:
#                            matrix.sh tests/cover/cover.sh 3000
#                            matrix.sh tests/run.sh cluster tests/cluster/judge.bats
#
# MATRIX_SUITES: "trixie sid". One run at a time in a suite: the next one waits.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || exec sudo -E "$PWD/tests/matrix.sh" "$@"
dir=${MATRIX_DIR:-/var/tmp/lowtide-matrix}
PATH=$PATH:/usr/sbin:/sbin
. tests/debian_root.sh
# All that packaging/deps.sh names, by the names that the suite has.
packages=(gcc make pkg-config libc6-dev slurmctld slurmd slurmdbd slurm-client
	munge mariadb-server libslurm-dev slurm-wlm-basic-plugins libmunge-dev
	libcurl4-openssl-dev libjansson-dev libyaml-dev libsqlite3-dev
	libmicrohttpd-dev libexpat1-dev libelf-dev zlib1g-dev libcmocka-dev bats jq hostname procps
	tzdata util-linux ccache xz-utils sqlite3 faketime python3-jsonschema python3-aiosmtpd)

install_packages() { # install_packages FOLDER: what the last run had not
	[ "$(cat "$1/.ready" 2>/dev/null)" != "${packages[*]}" ] || return 0
	DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get install -qq -y \
	    --no-install-recommends "${packages[@]}" >/dev/null
	echo "${packages[*]}" > "$1/.ready"
}

run_suite() { # run_suite SUITE COMMAND...: the first process of its namespaces
	local root=$dir/$1
	if [ ! -e "$root/.ready" ]; then
		echo "debootstrap into $root"
		make_root "$1" "$root"
	fi
	install_packages "$root"
	shift
	copy_project "$root/lowtide"
	rm -rf "$root"/tmp/lowtide-test.*
	# slurmdbd is localhost; the host's name is no public DNS name.
	printf '%s\n' '127.0.0.1 localhost' "127.0.1.1 $(hostname)" > "$root/etc/hosts"
	mount --bind "$root" "$root" # a test unshares mounts: / must be one
	mount --bind /proc "$root/proc"
	mount --bind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	exec chroot "$root" env -u TMPDIR HOME=/root PATH="/usr/lib/ccache:$PATH" \
	    sh -c 'cd /lowtide && slurmctld -V && exec "$@"' matrix "$@"
}

if [ "${1:-}" = --inside ]; then
	shift
	run_suite "$@"
fi
mkdir -p "$dir"
pids=()
# A pid namespace each: whatever a suite started ends with its first process,
# and that with unshare, which heeds no other signal.
trap '[ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
command=("$@")
[ $# -gt 0 ] || command=(tests/run.sh cluster)
read -ra suites <<< "${MATRIX_SUITES:-trixie sid}"
for suite in "${suites[@]}"; do
	(flock 9 && exec unshare --mount --propagation private --pid --fork --kill-child \
	    --mount-proc tests/matrix.sh --inside "$suite" "${command[@]}" >"$dir/$suite.$$.log" 2>&1) \
	    9>"$dir/$suite.lock" &
	pids+=($!)
done
status=0 results=()
for i in "${!suites[@]}"; do
	suite=${suites[i]}
	log=$dir/$suite.$$.log # another run has its own
	echo "== $suite, log in $log until it ends"
	ended=0
	wait "${pids[i]}" || ended=$?
	cat "$log"
	result=$(tail -n 1 "$log")
	case $result in
	*' passed, '*' failed') ;;
	*) if [ $# -eq 0 ]; then
		result="0 passed, 1 failed" ended=1
	fi ;;
	esac
	[ "$ended" -eq 0 ] || status=1
	results+=("$suite, $(grep -m 1 '^slurm' "$log" || echo 'no Slurm'): $result")
	mv "$log" "$dir/$suite.log"
done
pids=()
echo
printf '%s\n' "${results[@]}"
exit $status
