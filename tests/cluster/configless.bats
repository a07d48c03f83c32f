#!/usr/bin/env bats
# Hosts that have no slurm.conf: slurmd and commands get slurm.conf and
# plugstack.conf from slurmctld. v1 has spank_lowtide.so, s1 has not. And a
# slurmctld that sees no more of the machine than a container would.
load helper

setup_file() {
	[ -n "$ROOT" ] || return 0
	export ACCOUNTS='vision small' EXTRA='SlurmctldParameters=enable_configless'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60}
budgets:
  - {team: small, period: month, amount: 5}
'
	cluster_use
	# Of a slurm.conf that names it, hosts would read the file of that path.
	sed -i /^PlugStackConfig=/d "$SLURM_CONF"
	part stop slurmd
	scontrol reconfigure
	script "$D/host" "set -e
mount -t tmpfs none /run
mkdir /run/munge
ln -s '$D/run/munge.sock' /run/munge/munge.socket.2
mount -t tmpfs none /etc/slurm
mount -t tmpfs none '$D/etc'
if [ \$1 = s1 ]; then mount -t tmpfs none '$BUILD'; fi
unset SLURM_CONF
exec slurmd -D -N \$1 --conf-server 127.0.0.1:$CLUSTER_BASE"
	host v1
	host s1
	within 30 has_come v1
	within 30 has_come s1
	cd /
}
teardown_file() { cluster_down; }
setup() {
	[ -n "$ROOT" ] || skip 'needs root for mount namespaces'
	cluster_use
}
teardown() {
	[ -n "$BATS_TEST_COMPLETED" ] || tail -n 20 "$D"/log/host.*
	last_words
}

host() { # host NAME: with its slurmd
	setsid unshare -m "$D/host" "$1" < /dev/null >> "$D/log/host.$1" 2>&1 3>&- 4>&- &
	echo $! > "$D/run/slurmd.$1.shpid"
}
has_come() { on "$1" test -s /run/slurm/conf/slurm.conf && [ "$(sinfo -h -n "$1" -o %T)" = idle ]; }
on() { # on HOST COMMAND...
	nsenter -m -r -t "$(cat "$D/run/slurmd.$1.shpid")" env -u SLURM_CONF --chdir="$PWD" "${@:2}"
}
line() { # line TEXT: of plugstack.conf, on the controller; slurmctld sends it
	echo "$1" > "$D/etc/plugstack.conf"
	scontrol reconfigure
	within 10 sent v1
	within 10 sent s1
}
sent() { on "$1" cat /run/slurm/conf/plugstack.conf | cmp -s - "$D/etc/plugstack.conf"; }
# A job's batch script and step say what interval they were given.
W='i=LOWTIDE_CHECKPOINT_INTERVAL_SECONDS; printenv $i || echo none; srun sh -c "printenv $i || echo none" 2> /dev/null'
submit() { # submit FROM TO ARGUMENTS...: what the job said, in one line, is in $wrote
	rm -f out
	said=$(on "$1" timeout 30 sbatch -A vision -p "$([ "$2" = v1 ] && echo ondemand || echo spot)" -w "$2" \
	    --wait -o "$PWD/out" "${@:3}" --wrap "$W" 2>&1) || return 1
	wrote=$(paste -sd' ' out 2> /dev/null || true)
}

@test "where the .so is, options reach the job; where it is not, jobs run" {
	local so
	for so in spank_lowtide.so "$BUILD/spank_lowtide.so"; do
		line "optional $so run_dir=$D/run/lowtide"
		submit v1 v1 --checkpoint=every=60s
		[ "$wrote" = '60 60' ]
		submit v1 s1 --checkpoint=every=60s
		[ "$wrote" = 'none none' ]
		submit s1 s1
		[ "$wrote" = 'none none' ]
		# 26.05 says nothing of an optional plugin that is missing.
		if [[ "$(slurmctld -V)" == *' 26.05.'* ]]; then
			[[ "$said" != *spank_lowtide* ]]
		else
			[[ "$said" == *error:*spank_lowtide.so* ]]
		fi
		run ! submit s1 v1 --checkpoint=every=60s
		[[ "$(on s1 sbatch --checkpoint=every=60s --wrap true 2>&1)" == *'unrecognized option'* ]]
	done
}

@test "include names files of each host: slurmctld does not send them" {
	local dir
	mkdir "$D/etc/plugstack.conf.d"
	echo "optional spank_lowtide.so run_dir=$D/run/lowtide" > "$D/etc/plugstack.conf.d/lowtide.conf"
	for dir in "$D/etc/plugstack.conf.d" plugstack.conf.d; do
		line "include $dir/*"
		run ! submit v1 v1 --checkpoint=every=60s
		submit v1 v1
		[ "$wrote" = 'none none' ]
	done
	line 'include /etc/slurm/plugstack.conf.d/*'
	on v1 mkdir /etc/slurm/plugstack.conf.d
	on v1 cp /dev/stdin /etc/slurm/plugstack.conf.d/lowtide.conf < "$D/etc/plugstack.conf.d/lowtide.conf"
	submit v1 v1 --checkpoint=every=60s
	[ "$wrote" = '60 60' ]
	# s1 has no such folder: not a word of lowtide there.
	submit s1 s1
	[ "$wrote" = 'none none' ]
	[[ "$said" != *spank* ]]
}

@test "required: without the .so nothing runs, and the node or its slurmd goes" {
	echo "required spank_lowtide.so run_dir=$D/run/lowtide" > "$D/etc/plugstack.conf"
	scontrol reconfigure
	within 10 sent v1
	submit v1 v1 --checkpoint=every=60s
	[ "$wrote" = '60 60' ]
	if [[ "$(slurmctld -V)" == *' 22.05.'* ]]; then
		within 10 sent s1
		run ! submit s1 v1
		[[ "$(on s1 sbatch --wrap true 2>&1)" == *'Failed to load plugin spank_lowtide.so. Aborting.'* ]]
		submit v1 s1 || true
		[ ! -s out ]
		drained() { [[ "$(sinfo -h -n s1 -o %T)" == dr* ]]; }
		within 10 drained
		line "optional spank_lowtide.so run_dir=$D/run/lowtide"
		scontrol update nodename=s1 state=resume
	else
		within 20 grep -q 'slurmd initialization failed' "$D/log/host.s1"
		echo "optional spank_lowtide.so run_dir=$D/run/lowtide" > "$D/etc/plugstack.conf"
		scontrol reconfigure
		host s1
	fi
	within 30 has_come s1
	submit s1 s1
	[ "$wrote" = 'none none' ]
}

@test "PlugStackConfig in slurm.conf: the file that was sent is not read" {
	line "optional spank_lowtide.so run_dir=$D/run/lowtide"
	echo "PlugStackConfig=/etc/slurm/plugstack.conf" >> "$SLURM_CONF"
	scontrol reconfigure
	named() { on v1 grep -q PlugStackConfig /run/slurm/conf/slurm.conf; }
	within 10 named
	run ! submit v1 v1 --checkpoint=every=60s
	submit v1 v1
	[ "$wrote" = 'none none' ]
	sed -i /^PlugStackConfig=/d "$SLURM_CONF"
	scontrol reconfigure
}

@test "lowtided --follow needs no other slurm.conf" {
	mkdir "$D/login"
	nsenter -m -r -t "$(cat "$D/run/slurmd.v1.shpid")" env -u SLURM_CONF LOWTIDE_RUN_DIR="$D/login" \
	    "$BUILD/lowtided" --follow "127.0.0.1:$LOWTIDE_PORT" \
	    > "$D/log/follow.out" 2>&1 3>&- 4>&- &
	echo $! > "$D/run/follow.shpid"
	within 20 test -s "$D/login/market"
	part stop follow
}

# What the container has: Slurm's programs, job_submit_lowtide.so, slurm.conf,
# StateSaveLocation, munge's socket, and lowtided's two directories.
@test "slurmctld in a container: the .so, lowtided's two directories, its name" {
	part stop lowtided
	part stop slurmctld
	sed -i "s/^SlurmctldHost=.*/SlurmctldHost=ctl(127.0.0.1)/" "$SLURM_CONF"
	script "$D/named" 'hostname ctl && exec "$@"'
	script "$D/container" "set -e
root=$D/container.root
mkdir \$root
mount -t tmpfs none \$root
cd \$root
mkdir -p usr etc proc dev tmp '.$D/run' '.$BUILD'
for d in bin lib lib64 sbin; do ln -s usr/\$d \$d; done
for d in usr proc dev; do mount --rbind /\$d \$d; done
for f in alternatives passwd group hosts nsswitch.conf ld.so.cache; do cp -a /etc/\$f etc/; done
for d in etc state log run/lowtide lowtide; do mkdir -p '.$D/'\$d; mount --bind '$D/'\$d '.$D/'\$d; done
touch '.$D/run/munge.sock'
mount --bind '$D/run/munge.sock' '.$D/run/munge.sock'
cp '$BUILD/job_submit_lowtide.so' '.$BUILD/'
hostname ctl
exec chroot . \"\$@\""
	WITH="unshare -mui $D/container" part start slurmctld
	[ ! -e "/proc/$(cat "$D/run/slurmctld.shpid")/root/$BUILD/lowtided" ]
	# Under the machine's own name lowtided takes it for another's slurmctld.
	lowtided > "$D/log/elsewhere" 2>&1 3>&- 4>&- &
	local pid=$!
	within 10 grep -q "event=waiting.*not in charge" "$D/log/elsewhere"
	kill "$pid"
	WITH="unshare -u $D/named" part start lowtided
	job -A small -p ondemand --gpus=1 --time=60 --begin=now+1hour --wrap true
	within 10 known "$id"
	# By the plugin's own hold, not found later in slurmctld's list.
	run -1 grep -q "event=adopted job=$id " "$D/log/lowtided.out"
	run ! sbatch -A small -p ondemand -N1 --exclusive --time=2:00:00 --wrap true
	[[ "$output" == *'small has '*' of $5.00 left'* ]]
	scancel "$id"
}
