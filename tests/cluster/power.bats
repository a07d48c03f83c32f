#!/usr/bin/env bats
# Which partitions' idle nodes Slurm powers down, by slurm.conf, as the market
# has it: LT_PARTITION_STAYS_ON.
load helper

setup_file() {
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=v1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=m1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+2@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	PartitionName=down Nodes=v1 Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=kept Nodes=m1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=never Nodes=m1 MaxTime=7-00:00:00 DefaultTime=1:00:00 SuspendTime=INFINITE
	PartitionName=own Nodes=v1 MaxTime=7-00:00:00 DefaultTime=1:00:00 SuspendTime=4000
	L
	export EXTRA='SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=3000
SuspendExcParts=other,kept'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
partitions:
  down: {price_per_node_hour: 3.60}
  kept: {price_per_node_hour: 3.60}
  never: {price_per_node_hour: 3.60}
  own: {price_per_node_hour: 3.60}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

stays_on() { # stays_on PARTITION: 1 or 0; the flags are behind its name
	perl -0777 -ne '/\Q'"$1"'\E\0{'$((64 - ${#1}))'}(....)/s and print unpack("V", $1) >> 17 & 1' \
	    "$(find "$D" -name market -type f)"
}

@test "SuspendProgram, SuspendTime and SuspendExcParts" {
	[ "$(stays_on down)" = 0 ]
	[ "$(stays_on own)" = 0 ]
	[ "$(stays_on kept)" = 1 ]
	[ "$(stays_on never)" = 1 ]
}
