#!/bin/bash
# A private Slurm (munged, MariaDB, slurmdbd, slurmctld, a slurmd per node)
# with lowtide in it, in one folder and on its own ports, beside any other
# Slurm of the machine. Used by the tests and the demo.
#
#   cluster.sh up DIR        start; then `. DIR/env` points Slurm's and lowtide's
#                            commands at it
#   cluster.sh down DIR      stop what was started, by pid; DIR stays
#   cluster.sh start DIR X   start one of: munged mariadb slurmdbd slurmctld
#                            slurmd lowtided
#   cluster.sh stop DIR X [SIGNAL]
#
# Settings, by environment, for `up`:
#   LAYOUT    slurm.conf lines of nodes and partitions, with @HOST@ and @PORT+n@
#             (default: layout.conf here); GRES: a gres.conf for it, with @DIR@,
#             if its nodes have more than one type of GPU
#   EXTRA     lines for slurm.conf
#   SUBMIT    1: JobSubmitPlugins=lowtide (default 1)
#   SPANK     1: the plugstack line (default 1); SPANK_ARGS: more arguments
#   POLICY    policy file for lowtided; none: lowtided is not started
#   ACCOUNTS  "name name:parent" (default "vision nlp")
#   USERS     further users to give every account to
#   SACCTMGR  a file of sacctmgr commands, given before slurmctld starts
#   WITH      for start: a command to run slurmctld or lowtided with, as env
#   BUILD     folder of the built products (default: build of this project)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
verb=${1:?up, down, start or stop} D=${2:?a folder}
mkdir -p "$D"
D=$(cd "$D" && pwd)
BUILD=${BUILD:-$(cd "$here/../.." && pwd)/build}
user=$(id -un)
PATH=$PATH:/usr/sbin:/sbin

say() { echo "cluster: $*" >&2; }

wait_for() { # wait_for SECONDS WHAT COMMAND...
	local until=$((SECONDS + $1)) what=$2
	shift 2
	while ! "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || { say "no $what; see $D/log"; return 1; }
		sleep .1
	done
}

# A base port with 40 free ones above it, below Linux's own for clients. Two
# that start at once are given a PORT_LANE, 0 to 9, each.
free_ports() {
	local base i
	for _ in $(seq 50); do
		base=$((10000 + ${PORT_LANE:-$((RANDOM % 10))} * 2270 + RANDOM % 2200))
		for i in $(seq 0 39); do
			{ { :; } 3<>"/dev/tcp/127.0.0.1/$((base + i))"; } 2>/dev/null && continue 2
		done
		echo $base
		return
	done
	say "no 40 free ports"
	return 1
}

write_env() {
	cat > "$D/env" <<-E
	export SLURM_CONF=$D/etc/slurm.conf
	export LOWTIDE_CONFIG=$D/etc/lowtide.yaml LOWTIDE_STATE_DIR=$D/lowtide
	export LOWTIDE_OFF_FILE=$D/etc/off
	export LOWTIDE_RUN_DIR=$D/run/lowtide LOWTIDE_PORT=$((base + 4))
	export LOWTIDE_MUNGE_SOCKET=$D/run/munge.sock LOWTIDED=$BUILD/lowtided
	export PATH=$BUILD:\$PATH CLUSTER_DIR=$D CLUSTER_BASE=$base BUILD=$BUILD
	unset LOWTIDE_SERVER
	E
}

write_conf() {
	local host plugins
	host=$(hostname -s)
	plugins=$(dirname "$(ls /usr/lib/*/slurm-wlm/select_cons_tres.so \
	    /usr/lib/*/slurm/select_cons_tres.so \
	    /usr/lib64/slurm/select_cons_tres.so 2>/dev/null | head -n 1)")
	[ -s "$D/etc/munge.key" ] ||
	    dd if=/dev/urandom of="$D/etc/munge.key" bs=1k count=1 status=none
	chmod 600 "$D/etc/munge.key"
	cat > "$D/etc/slurmdbd.conf" <<-E
	AuthType=auth/munge
	AuthInfo=socket=$D/run/munge.sock
	DbdHost=localhost
	DbdPort=$((base + 2))
	SlurmUser=$user
	LogFile=$D/log/slurmdbd.log
	PidFile=$D/run/slurmdbd.pid
	StorageType=accounting_storage/mysql
	StorageHost=127.0.0.1
	StoragePort=$((base + 3))
	StorageUser=slurm
	StoragePass=slurm
	StorageLoc=slurm_acct_db
	E
	chmod 600 "$D/etc/slurmdbd.conf"
	cat > "$D/etc/slurm.conf" <<-E
	ClusterName=tide
	SlurmctldHost=$host(127.0.0.1)
	SlurmctldPort=$base
	SlurmdPort=$((base + 10))
	AuthType=auth/munge
	AuthInfo=socket=$D/run/munge.sock
	CredType=cred/munge
	SlurmUser=$user
	SlurmdUser=$user
	StateSaveLocation=$D/state
	SlurmdSpoolDir=$D/spool/%n
	SlurmctldPidFile=$D/run/slurmctld.pid
	SlurmdPidFile=$D/run/slurmd.%n.pid
	SlurmctldLogFile=$D/log/slurmctld.log
	SlurmdLogFile=$D/log/slurmd.%n.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	MpiDefault=none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	GresTypes=gpu
	SlurmdParameters=config_overrides
	ReturnToService=2
	KillWait=5
	AccountingStorageType=accounting_storage/slurmdbd
	AccountingStorageHost=localhost
	AccountingStoragePort=$((base + 2))
	AccountingStoragePass=$D/run/munge.sock
	AccountingStorageTRES=gres/gpu
	AccountingStoreFlags=job_comment
	AccountingStorageEnforce=associations,limits,qos
	JobAcctGatherType=jobacct_gather/linux
	JobCompType=jobcomp/none
	MaxArraySize=10001
	MaxJobCount=500000
	SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0
	MinJobAge=300
	PluginDir=$plugins:$BUILD
	PlugStackConfig=$D/etc/plugstack.conf
	E
	if [ "${SUBMIT:-1}" = 1 ]; then
		echo JobSubmitPlugins=lowtide >> "$D/etc/slurm.conf"
	fi
	[ -z "${EXTRA:-}" ] || printf '%s\n' "$EXTRA" >> "$D/etc/slurm.conf"
	local layout=${LAYOUT:-$here/layout.conf} n=0
	# @PORT+n@ and @HOST@ are ours; @DIR@ the folder.
	sed -E -e "s|@HOST@|$host|g; s|@DIR@|$D|g" "$layout" > "$D/etc/layout"
	for n in $(seq 1 28); do
		sed -i "s|@PORT+$n@|$((base + 10 + n))|g" "$D/etc/layout"
	done
	# GRES has all of it.
	{ [ -z "${GRES:-}" ] && grep -E '^Node.*Gres=' "$D/etc/layout" || true; } |
	    sed -E 's/^NodeName=([^ ]+).*Gres=gpu:([a-z0-9]+):([0-9]+).*/\1 \2 \3/' |
	    while read -r names type count; do
		local i
		for i in $(seq 0 $((count - 1))); do : > "$D/gpu/g$i"; done
		echo "NodeName=$names Name=gpu Type=$type File=$D/gpu/g[0-$((count - 1))]"
	    done > "$D/etc/gres.conf"
	[ -z "${GRES:-}" ] || {
		sed "s|@DIR@|$D|g" "$GRES" > "$D/etc/gres.conf"
		touch "$D"/gpu/g{0..7}
	}
	cat "$D/etc/layout" >> "$D/etc/slurm.conf"
	if [ "${SPANK:-1}" = 1 ]; then
		echo "optional $BUILD/spank_lowtide.so run_dir=$D/run/lowtide off_file=$D/etc/off ${SPANK_ARGS:-}" \
		    > "$D/etc/plugstack.conf"
	else
		: > "$D/etc/plugstack.conf"
	fi
	# slurmd 23.11 and later stop without it, 22.05 stops because of it.
	local v
	v=$(slurmctld -V | grep -oE '[0-9]+\.[0-9]+' | head -n 1)
	if [ "${v%%.*}" -ge 23 ] && [ "$v" != 23.02 ]; then
		echo CgroupPlugin=disabled > "$D/etc/cgroup.conf"
	fi
	[ -z "${POLICY:-}" ] || {
		cat "$POLICY"
		grep -q '^listen_port:' "$POLICY" || echo "listen_port: $((base + 4))"
	} > "$D/etc/lowtide.yaml"
}

# Without FUTURE and CLOUD ones: their slurmd would bring them up.
nodes() { sed -nE '/ State=(FUTURE|CLOUD)/d; s/^NodeName=([^ ]+).*/\1/p' "$D/etc/layout" |
	while read -r names; do scontrol show hostnames "$names"; done; }

background() { # background NAME COMMAND...: its pid goes to run/NAME.shpid
	local name=$1
	shift
	setsid "$@" </dev/null >>"$D/log/$name.out" 2>&1 &
	echo $! > "$D/run/$name.shpid"
}

alive() { [ -s "$D/run/$1.shpid" ] && kill -0 "$(cat "$D/run/$1.shpid")" 2>/dev/null; }

controller_up() { scontrol ping 2>/dev/null | grep -q 'is UP'; }
nodes_up() { ! sinfo -h -N -o %T 2>/dev/null | grep -qvE '^(idle~?|mixed|allocated)$' &&
	[ -n "$(sinfo -h -o %T 2>/dev/null)" ]; }

start() {
	case $1 in
	munged)
		background munged munged --foreground --force --socket="$D/run/munge.sock" \
		    --key-file="$D/etc/munge.key" --pid-file="$D/run/munged.pid" \
		    --log-file="$D/log/munged.log" --seed-file="$D/run/munge.seed"
		wait_for 10 munged munge -S "$D/run/munge.sock" -n ;;
	mariadb)
		# A temporary folder of its own: a server that starts removes what
		# temporary tables are there, and one that had them then dies.
		mkdir -p "$D/db.tmp"
		[ -d "$D/db/mysql" ] || mysql_install_db --no-defaults --user="$user" \
		    --datadir="$D/db" --tmpdir="$D/db.tmp" --skip-test-db \
		    --auth-root-authentication-method=normal >"$D/log/db.install" 2>&1
		background mariadb "$(command -v mysqld || command -v mariadbd)" --no-defaults \
		    --user="$user" --datadir="$D/db" --tmpdir="$D/db.tmp" \
		    --socket="$D/run/db.sock" --port=$((base + 3)) --bind-address=127.0.0.1 \
		    --pid-file="$D/run/db.pid" --log-error="$D/log/db.log" \
		    --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
		    --innodb-flush-log-at-trx-commit=2
		wait_for 60 MariaDB mysqladmin --no-defaults -uroot -S "$D/run/db.sock" ping
		mysql --no-defaults -uroot -S "$D/run/db.sock" <<-E
		create database if not exists slurm_acct_db;
		create user if not exists 'slurm'@'localhost' identified by 'slurm';
		create user if not exists 'slurm'@'127.0.0.1' identified by 'slurm';
		grant all on slurm_acct_db.* to 'slurm'@'localhost';
		grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';
		E
		;;
	slurmdbd)
		background slurmdbd slurmdbd -D
		wait_for 60 slurmdbd sacctmgr -n show cluster ;;
	slurmctld)
		# 26.05 wants -i to start again where a file is missing, as after a
		# kill in its first minutes.
		local ignore= file
		for file in assoc_usage job_state; do
			[ ! -e "$D/state/clustername" ] || [ -e "$D/state/$file" ] || ignore=-i
		done
		background slurmctld ${WITH:-} slurmctld -D $ignore
		wait_for 30 slurmctld controller_up ;;
	slurmd)
		local n
		for n in $(nodes); do
			mkdir -p "$D/spool/$n"
			background "slurmd.$n" slurmd -D -N "$n"
		done
		wait_for 60 "all nodes" nodes_up ;;
	lowtided)
		mkdir -p "$D/run/lowtide"
		background lowtided ${WITH:-} "$BUILD/lowtided"
		wait_for 120 lowtided "$BUILD/lowtide" status
		# A source that hangs is waited for by who tests that.
		wait_for 3 sources sources_tried 2>/dev/null || true ;;
	*) say "start what?"; return 2 ;;
	esac
}

sources_tried() {
	"$BUILD/lowtide" status --json |
	    jq -e 'all(.sources[]; .issued != null or .last_error != null)'
}

# Ended, or only waiting for a parent that never asks.
gone() {
	local stat=
	{ read -r stat < "/proc/$1/stat"; } 2>/dev/null || true
	case ${stat##*) } in "" | Z*) true ;; *) false ;; esac
}

stop() { # stop NAME [SIGNAL]
	local f pid files=()
	for f in "$D/run/$1.shpid" "$D/run/$1".*.shpid; do
		[ -s "$f" ] && files+=("$f")
	done
	for f in "${files[@]}"; do
		kill "-${2:-TERM}" "$(cat "$f")" 2>/dev/null || true
	done
	for f in "${files[@]}"; do
		pid=$(cat "$f")
		for _ in $(seq 100); do
			gone "$pid" && break
			sleep .1
		done
		gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
		rm -f "$f"
	done
}

# Job steps outlive their slurmd: this cluster's, by its slurm.conf.
stop_steps() {
	local p child comm
	for p in /proc/[0-9]*; do
		{ read -r comm < "$p/comm"; } 2>/dev/null || continue
		[ "$comm" = slurmstepd ] || continue
		tr '\0' '\n' 2>/dev/null < "$p/environ" |
		    grep -qxF "SLURM_CONF=$D/etc/slurm.conf" || continue
		p=${p#/proc/}
		for child in $(cat "/proc/$p/task/$p/children" 2>/dev/null); do
			kill -KILL -- "-$child" 2>/dev/null || true
		done
		kill -KILL "$p" 2>/dev/null || true
	done
}

accounts() {
	local a parent u
	for a in ${ACCOUNTS:-vision nlp}; do
		parent=root
		case $a in *:*) parent=${a#*:} a=${a%%:*} ;; esac
		sacctmgr -iQ add account "$a" parent="$parent" >/dev/null
		for u in "$user" ${USERS:-}; do
			sacctmgr -iQ add user "$u" account="$a" >/dev/null
		done
	done
	set -- ${ACCOUNTS:-vision nlp}
	for u in "$user" ${USERS:-}; do
		sacctmgr -iQ modify user "$u" set defaultaccount="${1%%:*}" >/dev/null
	done
}

case $verb in
up)
	mkdir -p "$D"/{run,log,state,spool,db,gpu,etc,lowtide,run/lowtide}
	# Only what others need is open to them: jobs of other users read the
	# configuration, the sockets and the market.
	chmod 755 "$D" "$D/run" "$D/run/lowtide" "$D/etc"
	chmod 700 "$D/lowtide" "$D/state"
	base=$(free_ports)
	write_env
	write_conf
	. "$D/env"
	trap '"$0" down "$D"' ERR
	start munged
	start mariadb
	start slurmdbd
	sacctmgr -iQ add cluster tide >/dev/null 2>&1 || true
	accounts
	[ -z "${SACCTMGR:-}" ] || sacctmgr -iQ < "$SACCTMGR" > "$D/log/sacctmgr.out" 2>&1 ||
	    say "see $D/log/sacctmgr.out"
	start slurmctld
	start slurmd
	[ -z "${POLICY:-}" ] || start lowtided
	;;
down)
	for x in follow lowtided slurmd; do stop $x; done
	stop_steps
	for x in slurmctld slurmdbd mariadb munged; do stop $x; done ;;
start)
	. "$D/env"; base=$CLUSTER_BASE; start "${3:?what}" ;;
stop)
	stop "${3:?what}" "${4:-TERM}" ;;
*)
	say "up, down, start or stop"; exit 2 ;;
esac
