#!/usr/bin/env bats
# Time slicing: jobs that Slurm suspends in turns. What is held, what is
# charged, and a requeue of one that is suspended.
load tricks

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='free sliced'
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=v1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=m1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+2@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	PartitionName=ondemand Nodes=v1 Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00 OverSubscribe=FORCE:2
	PartitionName=mark Nodes=m1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	export EXTRA='PreemptMode=GANG
SchedulerTimeSlice=5'
	# 1000 micros a second: a node for a minute is held at 0.09.
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
partitions:
  ondemand: {price_per_node_hour: 3.60}
  mark: {price_per_node_hour: 3.60}
budgets:
  - {team: sliced, period: year, amount: 0.185}
'
}
teardown_file() { cluster_down; }
PRICES='ondemand=1000 mark=1000'
setup() { cluster_use; }

mine() { # mine SCRIPT-LINE: a job of the plain user's, a node for a minute
	said=$(as_user sbatch -A sliced -n64 --time=1 --requeue -o /dev/null --wrap "$1" 2>&1) ||
	    { echo "$said" >&2; return 1; }
	id=$(sed -n 's/^Submitted batch job //p' <<< "$said")
	[ -n "$id" ]
}

@test "two jobs in turns on one node: each pays for its own time, within its hold" {
	mine 'exec sleep 50'
	local first=$id
	within 20 is "$first" RUNNING
	mine 'exec sleep 50'
	local second=$id
	in_turns() { is "$1" SUSPENDED && is "$2" RUNNING; }
	within 30 in_turns "$first" "$second"
	within 30 in_turns "$second" "$first"
	[ "$(held_micros sliced)" -le 180010 ] # CPUs are given away: no more
	# Requeued while it is suspended: an admin's hold until there is money.
	within 30 in_turns "$second" "$first"
	as_user scontrol requeue "$second"
	waits() { [ "$(squeue -h -j "$second" -t PD -o '%r %Q')" = 'JobHeldAdmin 0' ]; }
	within 30 waits
	lowtide explain "$second" | grep -q 'Held after a requeue'
	end "$first"
	ended_runs() { settled "$first" && settled "$second"; }
	within 120 ended_runs
	local job ran
	for job in "$first" "$second"; do
		ran=$(sacct -nXPD -j "$job" -o State,ElapsedRaw | grep -v PENDING | head -n 1 | cut -d'|' -f2)
		[ "$(money_of "$job")" -le $((ran * 1000 + 1000)) ]
		[ "$(money_of "$job")" -ge $((ran * 1000 - 1000)) ]
		[ "$(money_of "$job")" -le 60001 ]
	done
	paid sliced 125000
}
