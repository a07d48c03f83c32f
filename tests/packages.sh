#!/bin/bash
# The Debian packages, in a root of its own for each suite, made by debootstrap:
# built there, by lintian without errors, installed beside that suite's Slurm,
# used, refused to be removed while slurm.conf names the plugin, purged without
# a trace. Needs root or sudo, and this machine's own Debian mirror; the roots
# are kept in ${PACKAGES_DIR:-/var/tmp/lowtide-packages} for the next time.
#
# PACKAGES_SUITES: "bookworm trixie sid".
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || exec sudo -E "$PWD/tests/packages.sh" "$@"
dir=${PACKAGES_DIR:-/var/tmp/lowtide-packages}
PATH=$PATH:/usr/sbin:/sbin
. tests/debian_root.sh
passed=0 failed=0
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

check() { # check NAME COMMAND...
	if "${@:2}" > "$dir/out" 2>&1; then
		echo "ok - $suite: $1"
		passed=$((passed + 1))
	else
		echo "not ok - $suite: $1"
		tail -n 15 "$dir/out" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}
inside() { # with /proc, which is gone with the command
	unshare --mount sh -c 'root=$1; shift; mount --bind /proc "$root/proc" && exec chroot "$root" "$@"' inside "$root" "$@"
}
quietly() { "$@" > "$dir/log" 2>&1 || { tail -n 20 "$dir/log" >&2; return 1; }; }
build() { # build: into $root/lowtide/build/deb
	copy_project "$root/lowtide"
	quietly inside apt-get install -y --no-install-recommends build-essential debhelper fakeroot lintian
	inside sh -c 'cd /lowtide && cp -r packaging/debian debian && apt-get build-dep -y --no-install-recommends ./ && rm -r debian && packaging/deb.sh'
}
no_errors() {
	inside sh -c 'lintian --allow-root --fail-on error /lowtide/build/deb/*.changes'
}
refuses() { # refuses WORDS COMMAND...: it fails, and says so
	local out
	out=$("${@:2}" 2>&1) && return 1
	[[ $out == *"$1"* ]] || { echo "$out"; return 1; }
}
loads() { # Slurm's own library resolves what the plugin needs
	inside sh -c 'for p in /usr/lib/*/slurm-wlm/*lowtide.so; do ldd "$p" | grep "not found" && exit 1; done; sbatch --help | grep -- --carbon-aware'
}
traces() { # what is left that was not there before
	! comm -13 <(echo "$before") <(files) | grep -i lowtide
}
files() { (cd "$root" && find etc usr lib var -xdev \( -path var/cache -o -path var/lib/apt -o -path var/log \) -prune -o -print | sort); }

mkdir -p "$dir"
for suite in ${PACKAGES_SUITES:-bookworm trixie sid}; do
	root=$dir/$suite-build
	[ -e "$root/.ready" ] || make_root "$suite" "$root"
	touch "$root/.ready"
	check 'builds' build
	check 'lintian finds no error' no_errors
	built=$root/lowtide/build/deb
	# Anew each time: it is to be clean.
	root=$dir/$suite
	make_root "$suite" "$root"
	quietly inside apt-get install -y --no-install-recommends slurmctld slurm-client
	mkdir -p "$root/etc/slurm" "$root/debs"
	printf 'ClusterName=c\nSlurmctldHost=localhost\nNodeName=n\nPartitionName=p Nodes=n Default=YES\n' > "$root/etc/slurm/slurm.conf"
	before=$(files)
	cp "$built"/*.deb "$root/debs/"
	rm -f "$root"/debs/*dbgsym*
	conf=$(cat "$root/etc/slurm/slurm.conf")
	check 'installs beside Slurm' inside sh -c 'apt-get install -y --no-install-recommends /debs/*.deb'
	check 'touches no file of Slurm' test "$conf" = "$(cat "$root/etc/slurm/slurm.conf")"
	echo 'optional spank_lowtide.so' > "$root/etc/slurm/plugstack.conf"
	check 'its plugin loads into sbatch' loads
	check 'the command is there, with its manual page' inside sh -c 'lowtide --version && test -e /usr/share/man/man1/lowtide.1.gz'
	check 'a program is built with the library' inside sh -c 'test -e /usr/include/lowtide/decide.h && ls /usr/lib/*/pkgconfig/lowtide.pc'
	echo 'JobSubmitPlugins=lowtide' >> "$root/etc/slurm/slurm.conf"
	check 'the plugin stays while slurm.conf names it' refuses 'take lowtide out' inside apt-get remove -y lowtide-slurm-plugins
	check 'it is still whole' inside sh -c 'dpkg -V lowtide-slurm-plugins && test "$(dpkg-query -W -f "\${db:Status-Status}" lowtide-slurm-plugins)" = installed'
	printf '%s\n' "$conf" > "$root/etc/slurm/slurm.conf"
	rm "$root/etc/slurm/plugstack.conf"
	check 'is purged' inside apt-get purge -y lowtide lowtide-slurm-plugins liblowtide0 liblowtide-dev
	check 'without a trace' traces
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
