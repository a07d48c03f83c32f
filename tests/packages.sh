#!/bin/bash
# The Debian packages, in a root of its own for each suite, made by debootstrap:
# built there, by lintian without errors, installed beside that suite's Slurm,
# used, refused to be removed while slurm.conf names the plugin, purged without
# a trace. Then a newer Slurm comes to a root with lowtide in it: each suite's
# root goes on to the Slurm of the next one. Needs root or sudo, and this
# machine's own Debian mirror; the roots are kept in
# ${PACKAGES_DIR:-/var/tmp/lowtide-packages} for the next time.
#
# PACKAGES_SUITES: "bookworm trixie sid", in the order of their Slurms.
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

# slurmctld itself, in a network of its own: with a plugin of slurm.conf that it
# does not load, it ends before it is the controller. -i: not each release reads
# what the one before saved.
starts() {
	unshare --mount --pid --net --uts --fork --kill-child sh -c '
		hostname localhost
		ip link set lo up
		ip addr add 192.0.2.1 dev lo # the resolver wants an address that is no loopback
		mount -t proc proc "$1/proc"
		mount --bind /dev "$1/dev"
		exec chroot "$1" sh -c "
			echo 127.0.0.1 localhost > /etc/hosts
			install -d -o munge -g munge /run/munge
			runuser -u munge munged
			timeout -s INT 10 slurmctld -D -c -i -v"' starts "$root" > "$dir/log" 2>&1 || true
	grep 'Running as primary controller' "$dir/log" || { cat "$dir/log"; return 1; }
}
slurm_is() { # slurm_is RELEASE
	[[ $(inside slurmctld -V) == "slurm-wlm $1".* ]] && starts
}
would_remove() { # would_remove PACKAGE...: apt, by a newer slurmctld alone
	local package
	quietly inside apt-get -s --no-install-recommends install slurmctld
	for package in "$@"; do
		grep "^Remv $package " "$dir/log" || { cat "$dir/log"; return 1; }
	done
}
would_keep() { # would_keep PACKAGES: apt-get upgrade, by a regular expression
	quietly inside apt-get -s upgrade && ! grep -E "^(Inst|Remv) $1" "$dir/log"
}
# slurmctld is started again when dpkg configures it: not with the plugins of the
# release before.
plugins_come_first() {
	awk '/ unpacked lowtide-slurm-plugins:/ { last = $0 } / configure slurmctld:/ { there = last } END { print there }' \
	    "$root/var/log/dpkg.log" | grep "+slurm$1"
}
slurm_of() { # slurm_of SUITE: the release that its packages are for
	echo "$dir/$1"/debs/lowtide-slurm-plugins_* | sed -nE 's/.*\+slurm([0-9.]+)_.*/\1/p'
}
upgrade() { # upgrade FROM TO
	local from to
	suite="$1 to $2" root=$dir/upgrade from=$(slurm_of "$1") to=$(slurm_of "$2")
	rm -rf --one-file-system "$root"
	cp -a "$dir/$1" "$root" # where lowtide is purged
	cp -a "$dir/$2/debs" "$root/new"
	echo "deb $(tests/debian_mirror.sh) $2 main" > "$root/etc/apt/sources.list.d/new.list"
	quietly inside apt-get update
	quietly inside sh -c 'apt-get install -y --no-install-recommends /debs/lowtide*.deb'
	check 'apt-get upgrade keeps Slurm and lowtide' would_keep '(slurm|lowtide)'
	check 'a newer Slurm alone would take out what it does not load' would_remove lowtide lowtide-slurm-plugins
	echo 'JobSubmitPlugins=lowtide' >> "$root/etc/slurm/slurm.conf"
	check 'and is refused while slurm.conf names the plugin' refuses 'take lowtide out' inside apt-get install -y slurmctld
	check 'with all left in place' inside sh -c 'test "$(dpkg-query -W -f "\${db:Status-Status} " lowtide lowtide-slurm-plugins slurmctld)" = "installed installed installed "'
	check "slurmctld $from still starts" slurm_is "$from"
	# Debian 13's Slurm is configured by no systemd of 12: with all of the suite.
	check 'all is upgraded at once' inside sh -c 'apt-get dist-upgrade -y --no-install-recommends -o Dpkg::Options::=--force-confold /new/lowtide*.deb'
	check 'the plugins before slurmctld' plugins_come_first "$to"
	check "slurmctld $to starts" slurm_is "$to"
}

mkdir -p "$dir"
read -ra suites <<< "${PACKAGES_SUITES:-bookworm trixie sid}"
for suite in "${suites[@]}"; do
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
	printf 'ClusterName=c\nSlurmctldHost=localhost\nNodeName=n NodeAddr=localhost\nPartitionName=p Nodes=n Default=YES\n' > "$root/etc/slurm/slurm.conf"
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
for ((i = 1; i < ${#suites[@]}; i++)); do
	upgrade "${suites[i - 1]}" "${suites[i]}"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
