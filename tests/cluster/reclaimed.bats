#!/usr/bin/env bats
# Nodes that were taken back are used again: a cloud's when Slurm has powered it
# down, another when a machine of its name has booted, any on a late withdrawal.
# A drain that is not lowtide's stays.
# bats file_tags=long
load tricks

setup_file() {
	export ACCOUNTS='vision free' TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export EXTRA='KillWait=3
SlurmdTimeout=15'
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=o[1-2] NodeHostname=@HOST@ NodeAddr=127.0.0.[31-32] Port=@PORT+1@,@PORT+2@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=s[1-2] NodeHostname=@HOST@ NodeAddr=127.0.0.[21-22] Port=@PORT+3@,@PORT+4@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	PartitionName=ondemand Nodes=o[1-2] Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=spot Nodes=s[1-2] MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {carbon: 300, price_per_node_hour: 3.60}
  spot: {carbon: 300, price_per_node_hour: 1.20, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: year, amount: 10000}
"
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	. "$D/env"
	to_cloud
}
# The spot nodes become a cloud's, powered down: a machine is a slurmd.
to_cloud() {
	local n
	cat > "$D/resume.sh" <<-E
	#!/bin/bash
	export SLURM_CONF=$D/etc/slurm.conf PATH=$PATH:/usr/sbin
	for n in \$(scontrol show hostnames "\$1"); do
		echo "resume \$n" >> $D/power.log
		setsid slurmd -D -N \$n -b </dev/null >> $D/log/slurmd.\$n.cloud 2>&1 3>&- 4>&- &
		echo \$! > $D/run/slurmd.\$n.cloudpid
	done
	E
	cat > "$D/suspend.sh" <<-E
	#!/bin/bash
	export SLURM_CONF=$D/etc/slurm.conf PATH=$PATH:/usr/sbin
	for n in \$(scontrol show hostnames "\$1"); do
		echo "suspend \$n" >> $D/power.log
		kill \$(cat $D/run/slurmd.\$n.cloudpid) 2>/dev/null
	done
	true
	E
	chmod 755 "$D"/*.sh
	part stop lowtided
	for n in s1 s2; do kill "$(cat "$D/run/slurmd.$n.shpid")"; rm "$D/run/slurmd.$n.shpid"; done
	part stop slurmctld
	sed -i "s/^NodeName=s.*/& State=CLOUD/; /^NodeName=o/i SuspendProgram=$D/suspend.sh\nResumeProgram=$D/resume.sh\nSuspendTime=15\nSuspendTimeout=5\nResumeTimeout=60\nSuspendExcParts=ondemand\nSuspendRate=0\nResumeRate=0" "$D/etc/slurm.conf"
	rm -rf "$D"/state/*
	part start slurmctld
	part start lowtided
}
teardown_file() {
	local n
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	for n in s1 s2; do machine_goes $n; done
	cluster_down
}
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
}
machine_goes() { kill -9 "$(cat "$D/run/slurmd.$1.cloudpid" 2>/dev/null)" 2>/dev/null || true; }
of() { scontrol show job "$1" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
state_is() { [ "$(of "$1" JobState)" = "$2" ]; }
node_state() { scontrol show node "$1" -o | sed -nE 's/.* State=([^ ]*).*/\1/p'; }
is_drained() { [[ $(node_state "$1") = *DRAIN* ]]; }
is_not_drained() { ! is_drained "$1"; }
listed() { lowtide notice --json | jq -r '.drained[].node' | grep -qx "$1"; }
not_listed() { ! listed "$1"; }
over() { within 30 grep -q "event=notice_over node=$1" "$LOG"; }
reason_is() { scontrol show node "$1" | grep -q "Reason=$2"; }
clean_log() { : > "$LOG"; }

@test "a cloud's node that was taken back is used again" {
	local id was
	job -A free -p spot --requeue -n1 --exclusive --time=20 --wrap 'sleep 600'
	within 60 state_is "$id" RUNNING
	was=$(of "$id" NodeList)
	lowtide notice "$was" --in 15s > /dev/null
	over "$was"
	machine_goes "$was"
	lowtide notice > out
	grep -q "^$was " out || { cat out; false; }
	lowtide status | grep -q "^drained .*$was"
	lowtide doctor --json | jq -e --arg n "$was" '.findings[] | select(.check == "drained" and .level == "note" and (.found | contains($n)))'
	is_drained "$was"
	scancel "$id"
	# 22.05 shows no powered-down node of a cloud: its next job does.
	within 120 not_listed "$was"
	grep -q "^suspend $was" "$D/power.log"
	grep -q "event=notice_done node=$was why=\"back\"" "$LOG"
	[ "$(lowtide status | grep -c '^drained ')" = 0 ]
	job -A free -p spot -w "$was" --time=20 --wrap 'sleep 600'
	within 60 state_is "$id" RUNNING
	[ "$(of "$id" NodeList)" = "$was" ]
	end "$id"
}

@test "a job that names the node is told what it waits for" {
	local id
	lowtide notice o1 --in 300s > /dev/null
	job -A vision -p ondemand -w o1 --time=20 --wrap 'sleep 600'
	told() { lowtide explain "$id" | grep -q 'named node o1, which was taken back'; }
	within 20 told || { lowtide explain "$id"; scontrol show job "$id"; false; }
	lowtide jobs | grep "$id" | grep -q 'PENDING for o1'
	lowtide notice o1 --withdraw
	within 20 state_is "$id" RUNNING
	! told || false
	end "$id"
}

@test "a late withdrawal resumes, twice is once, and a ledger that knows nothing of it, too" {
	clean_log
	lowtide notice o1 --in 2s > /dev/null
	over o1
	is_drained o1
	listed o1
	lowtide notice o1 --withdraw
	is_not_drained o1
	not_listed o1
	run lowtide notice o1 --withdraw
	[ "$status" -eq 1 ]
	[[ $output = *'no notice of it'* ]]
	clean_log
	lowtide notice o1 --in 2s > /dev/null
	over o1
	part stop lowtided
	sqlite3 "$D/lowtide/ledger.db" 'DELETE FROM notices'
	part start lowtided
	is_drained o1
	lowtide notice o1 --withdraw
	is_not_drained o1
}

@test "withdrawn while slurmctld is away, the node is resumed when it is back" {
	clean_log
	lowtide notice o1 --in 2s > /dev/null
	over o1
	part stop slurmctld
	lowtide notice o1 --withdraw | grep -q '^o1 .*when slurmctld answers'
	part stop lowtided KILL
	part start slurmctld
	is_drained o1
	part start lowtided
	within 30 is_not_drained o1
	within 30 not_listed o1
}

@test "a node that boots again without power saving is used again, not one that only restarts its slurmd" {
	local n
	clean_log
	lowtide notice o2 --in 2s > /dev/null
	over o2
	kill "$(cat "$D/run/slurmd.o2.shpid")"
	slurmd_of() { setsid slurmd -D -N o2 "$@" < /dev/null >> "$D/log/slurmd.o2.out" 2>&1 3>&- 4>&- & echo $! > "$D/run/slurmd.o2.shpid"; }
	sleep 2
	slurmd_of
	sleep 14
	is_drained o2
	listed o2
	kill "$(cat "$D/run/slurmd.o2.shpid")"
	sleep 2
	slurmd_of -b
	within 40 is_not_drained o2
	within 10 not_listed o2
}

@test "a drain of an admin's is left alone, before the notice and after it" {
	clean_log
	scontrol update nodename=o1 state=drain reason='a broken fan'
	lowtide notice o1 --in 2s > /dev/null
	reason_is o1 'a broken fan'
	over o1
	within 20 not_listed o1
	is_drained o1
	reason_is o1 'a broken fan'
	run lowtide notice o1 --withdraw
	[ "$status" -eq 1 ]
	is_drained o1
	scontrol update nodename=o1 state=resume
	clean_log
	lowtide notice o1 --in 2s > /dev/null
	over o1
	scontrol update nodename=o1 reason='lowtide: taken back at noon, says the admin'
	within 20 not_listed o1
	is_drained o1
	scontrol update nodename=o1 state=resume
}

@test "lowtided killed at any step loses no node" {
	local n
	for n in o1 o2 s1; do lowtide notice $n --in 6s > /dev/null; done
	for n in 1 2 3 4 5; do
		part stop lowtided KILL
		part start lowtided
		sleep 1
	done
	gone() { listed o1 && listed o2; }
	within 30 gone
	is_drained o1
	is_drained o2
	# Powered down or not, the machine is Slurm's to start.
	within 60 not_listed s1
	grep -q 'event=notice_done node=s1 why="back"' "$LOG"
	for n in o1 o2; do lowtide notice $n --withdraw > /dev/null; done
	is_not_drained o1
	is_not_drained o2
}

@test "a machine of that name that boots while lowtided is away keeps its jobs" {
	local id
	clean_log
	lowtide notice o2 --in 5s > /dev/null
	part stop lowtided KILL
	sleep 6
	kill "$(cat "$D/run/slurmd.o2.shpid")"
	sleep 2
	setsid slurmd -D -N o2 -b < /dev/null >> "$D/log/slurmd.o2.out" 2>&1 3>&- 4>&- &
	echo $! > "$D/run/slurmd.o2.shpid"
	booted() { [ "$(scontrol show node o2 | sed -nE 's/.*BootTime=([0-9]+).*/\1/p')" -gt $(($(date +%s) - 60)) ]; }
	within 20 booted
	scontrol update nodename=o2 state=resume
	job -A vision -p ondemand -w o2 --requeue --time=20 --wrap 'sleep 600'
	part start lowtided
	within 40 state_is "$id" RUNNING
	within 20 not_listed o2
	sleep 3
	[ "$(of "$id" Restarts)" = 0 ]
	is_not_drained o2
	end "$id"
}

@test "a node that is gone from slurm.conf is forgotten" {
	clean_log
	lowtide notice s2 --in 3s > /dev/null
	part stop lowtided KILL
	sqlite3 "$D/lowtide/ledger.db" "UPDATE notices SET node = 'nowhere' WHERE node = 's2'"
	part start lowtided
	within 30 grep -q 'event=notice_done node=nowhere why="no such node"' "$LOG"
	not_listed nowhere
	[ "$(lowtide notice --json | jq '.notices | length')" = 0 ]
	lowtide notice s2 --withdraw || true
}
