#!/bin/bash
# The quick starts of docs/quickstart.md from a bare Debian 12: how many minutes
# and typed commands until a first plan is printed. In a root of its own, made
# anew by debootstrap (not counted), an admin with sudo installs Debian's Slurm
# as "a Slurm that works", types the lines that install lowtide, and then, for
# each kind of site, the commands of its section: each on a copy of what was
# installed, with a Slurm of that kind, and without a network, so also without
# a key. Ends with lines `goal NAME VALUE WANT met|missed`; not 0 when one is.
#
# Needs root or sudo, and this machine's own Debian mirror. The root stays in
# ${BARE_DIR:-/var/tmp/lowtide-bare}, to look at; all processes and mounts end
# with their namespaces.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -eq 0 ] || exec sudo -E "$PWD/tests/bare.sh" "$@"
root=${BARE_DIR:-/var/tmp/lowtide-bare}
page=docs/quickstart.md
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

say() { echo "bare: $*" >&2; }
# All of it is gone with its command, and that with unshare, which heeds KILL only.
apart() {
	local result=0
	unshare --mount --pid --fork --kill-child --uts "$@" </dev/null &
	child=$!
	wait "$child" || result=$?
	child=
	return "$result"
}
mounts() { # mounts ROOT: what the kernel shows in it, by the pid namespace that it is called in
	hostname bare
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount --rbind /dev "$1/dev"
}
as_root() { chroot "$root" env -i PATH="$PATH" DEBIAN_FRONTEND=noninteractive "$@"; }
# A login: with an environment that has nothing of this machine's.
typed() { chroot "$root" runuser -l admin -c "cd lowtide && $1"; }
# The lines of the first block of a section, or of those before all sections.
block() {
	awk -v want="$1" '/^## / { heading = substr($0, 4) } heading != want { next }
	    /^```$/ { if (inside++) exit; next } inside' "$page"
}

type_block() { # type_block HEADING: what its last command said in $said
	local line
	while read -r line; do
		echo "\$ $line"
		said=$(typed "$line" </dev/null 2>&1) || { echo "$said"; return 1; }
		echo "$said"
	done < <(block "$1")
}

install_slurm() {
	mounts "$root"
	as_root apt-get update
	as_root apt-get install -y slurmctld slurmd slurm-client munge
}
install_lowtide() {
	mounts "$root"
	type_block ''
}

# A Slurm of Debian's packages: what an admin had to write for it. One host has
# a node of each partition; Slurm is to believe how large they are. Neither
# cgroups nor their plugin, as these are the machine's, not the root's.
write_conf() { # write_conf PARTITION[:GRES]...: the first is the default
	local n=0 partition name gres default=' Default=YES'
	touch "$root"/run/gpu{1..8}
	cat > "$root/etc/slurm/slurm.conf" <<-E
	ClusterName=bare
	SlurmctldHost=bare
	SlurmUser=slurm
	StateSaveLocation=/var/lib/slurm/slurmctld
	SlurmdSpoolDir=/var/lib/slurm/slurmd.%n
	SlurmdPidFile=/run/slurmd.%n.pid
	SlurmctldLogFile=/var/log/slurm/slurmctld.log
	SlurmdLogFile=/var/log/slurm/slurmd.%n.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	GresTypes=gpu
	SlurmdParameters=config_overrides
	E
	for partition; do
		n=$((n + 1)) name=${partition%%:*} gres=${partition#"${partition%%:*}"}
		[ -z "$gres" ] || echo "NodeName=n$n Name=gpu Type=$(cut -d: -f3 <<< "$gres") File=/run/gpu[1-${gres##*:}]" >> "$root/etc/slurm/gres.conf"
		cat >> "$root/etc/slurm/slurm.conf" <<-E
		NodeName=n$n NodeHostname=bare Port=$((6900 + n)) CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000${gres:+ Gres=${gres#:}}
		PartitionName=$name Nodes=n$n$default MaxTime=7-00:00:00 DefaultTime=1:00:00
		E
		default=
	done
}
start_slurm() { # start_slurm NODES: until all are idle
	local n until=$((SECONDS + 60))
	as_root systemctl start munge slurmctld
	for n in $(seq "$1"); do
		as_root setsid slurmd -D -N "n$n" </dev/null >>"$root/var/log/slurm/slurmd.out" 2>&1 &
	done
	while [ $SECONDS -lt $until ]; do
		[ "$(as_root sinfo -h -N -t idle 2>/dev/null | wc -l)" -lt "$1" ] || return 0
		sleep .2
	done
	as_root sinfo -N || true
	tail -n 20 "$root"/var/log/slurm/* "$root"/var/log/*.out || true
	return 1
}

# follow HEADING PARTITION WORDS PARTITIONS...: in namespaces of its own, and on
# what was installed, which stays as it is. Its last line: seconds of Slurm's
# start, seconds of the commands.
follow() {
	local heading=$1 want=$2 words=$3 work=$4 began slurm_s said=
	shift 4
	# An address, and no way out: with none but 127.0.0.1 Slurm resolves nothing.
	ip address add 192.0.2.1/32 dev lo
	ip link set lo up
	mount -t tmpfs none "$work"
	mkdir "$work"/{upper,work,root}
	mount -t overlay -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/work" none "$work/root"
	root=$work/root
	mounts "$root"
	write_conf "$@"
	began=$SECONDS
	start_slurm $#
	slurm_s=$((SECONDS - began)) began=$SECONDS
	type_block "$heading"
	grep -qE "^[* ] $want " <<< "$said" || { say "$heading: no row of $want"; return 1; }
	grep -qE "^$want, .*: $words" <<< "$said" || { say "$heading: no plan for $want"; return 1; }
	local typed_s=$((SECONDS - began)) found
	# What such a site lacks, a slurmdbd and the second line, is no error.
	found=$(typed 'lowtide doctor' 2>&1 || true)
	! grep '^error ' <<< "$found" || { say "$heading: doctor finds errors"; return 1; }
	grep -qE '^ok +lowtided ' <<< "$found" || { echo "$found"; return 1; }
	echo "$slurm_s $typed_s"
}

goal() { # goal NAME VALUE WANT: met if VALUE <= WANT
	printf 'goal %-52s %-10s <=%-8s %s\n' "$1" "$2" "$3" \
	    "$(awk -v v="$2" -v w="$3" 'BEGIN { print v <= w ? "met" : "missed" }')"
}
# seconds_of NAME COMMAND...: into $took; what it says goes to a file beside the root
seconds_of() {
	local name=$1 began=$SECONDS
	shift
	"$@" > "$root.$name.log" 2>&1 || { tail -n 30 "$root.$name.log" >&2; say "$name failed"; exit 1; }
	took=$((SECONDS - began))
	say "$name: $took s"
}

case ${1:-} in
slurm) install_slurm; exit ;;
lowtide) install_lowtide; exit ;;
follow) shift; follow "$@"; exit ;;
esac

. tests/debian_root.sh
child='' work=$(mktemp -d)
trap '[ -z "$child" ] || kill -KILL "$child"; rmdir "$work"' EXIT
trap 'exit 1' INT TERM
make_root bookworm "$root"
# What Debian's installer leaves: an admin with sudo, a name in /etc/hosts.
DEBIAN_FRONTEND=noninteractive chroot "$root" sh -c 'apt-get update && apt-get install -y sudo' > "$root.log" 2>&1
chroot "$root" useradd -m -s /bin/bash admin
echo 'admin ALL=(ALL:ALL) NOPASSWD: ALL' > "$root/etc/sudoers.d/admin"
printf '127.0.0.1 localhost\n192.0.2.1 bare\n' > "$root/etc/hosts"
copy_project "$root/home/admin/lowtide"
chroot "$root" chown -R admin: /home/admin/lowtide
# No systemd is the first process there. What it would do for these services:
# their folders, user and command, by their own units.
cat > "$root/usr/local/bin/systemctl" <<'E'
#!/bin/bash
for unit; do
	file=/lib/systemd/system/${unit%.service}.service
	[ -e "$file" ] || continue
	of() { sed -n "s/^$1=//p" "$file"; }
	user=$(of User)
	user=${user:-root}
	for dir in $(of RuntimeDirectory); do install -d -o "$user" "/run/$dir"; done
	for dir in $(of StateDirectory); do install -d -o "$user" -m 700 "/var/lib/$dir"; done
	setsid runuser -u "$user" -- sh -c "exec $(of ExecStart)" </dev/null >>"/var/log/$unit.out" 2>&1 &
	post=$(of ExecStartPost | sed 's/^-//; s|%t|/run|g')
	runuser -u "$user" -- sh -c "$post" || true
done
E
chmod 755 "$root/usr/local/bin/systemctl"

seconds_of slurm apart tests/bare.sh slurm
before=$took
seconds_of lowtide apart tests/bare.sh lowtide
before=$((before + took))
goals=()
kind() { # kind NAME HEADING PARTITION WORDS PARTITIONS...
	local slurm_s typed_s
	seconds_of "$1" apart --net tests/bare.sh follow "$2" "$3" "$4" "$work" "${@:5}"
	sed '$d' "$root.$1.log"
	read -r slurm_s typed_s < <(tail -n 1 "$root.$1.log")
	say "$1: Slurm started in $slurm_s s, commands in $typed_s s"
	goals+=("$(goal "$2, minutes to a plan" "$(awk "BEGIN { printf \"%.1f\", ($before + $slurm_s + $typed_s) / 60 }")" 10)"
	    "$(goal "$2, typed commands" $(($(block '' | wc -l) + $(block "$2" | wc -l))) 6)")
}
carbon='[0-9.]+ k?g CO2e'
kind owned 'Nodes of your own' gpu "€[0-9.]+, $carbon" cpu gpu:gpu:h100:8
kind cloud 'Cloud burst, with spot nodes' cloud-spot "\\\$[0-9.]+, $carbon" own:gpu:v100:8 cloud:gpu:v100:8 cloud-spot:gpu:v100:8
kind cpu 'CPUs only' batch "€[0-9.]+, $carbon" batch highmem
kind carbon 'Carbon only' gpu "$carbon" batch gpu:gpu:v100:4
printf '%s\n' "${goals[@]}"
! printf '%s\n' "${goals[@]}" | grep -q 'missed$'
