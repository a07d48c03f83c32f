#!/usr/bin/env bats
# A cheaper partition that Slurm closes to a job: whatever plain sbatch accepts
# is accepted with --carbon-aware, too, and where it would wait for ever it is
# not moved. Each row is tried on the real Slurm, with and without the option.
load helper

policy() { echo "
mode: enforce
currency: USD
timezone: UTC
sources:
  grid: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  home: {carbon: grid, price_per_node_hour: 24, gpu: V100-SXM2}
  cheap: {carbon: grid, price_per_node_hour: 7, gpu: V100-SXM2}
"; }
setup_file() {
	export LAYOUT=$BATS_TEST_DIRNAME/closed.conf GRES=$BATS_TEST_DIRNAME/closed.gres
	export ACCOUNTS='vision free below:free' EXTRA='GresTypes=gpu,tmp
EnforcePartLimits=ALL
SelectTypeParameters=CR_Core_Memory
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
DefMemPerCPU=1000'
	day 6 20
	cluster_up "$(policy)"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# asks ARGUMENTS...: what a job is told, where it would go. Held, so that
# nothing starts.
asks() {
	job --hold --time=60 --gpus=1 --wrap 'sleep 1' "$@" >/dev/null
	where=$(field "$id" %P) qos=$(field "$id" %q)
	scancel "$id"
}
plain_goes() { # plain_goes PARTITION ARGUMENTS...: without lowtide's options
	asks "${@:2}" && [ "$where" = "$1" ]
}
moves() { asks --carbon-aware=cost "$@" && [ "$where" = cheap ]; }
stays() { asks --carbon-aware=cost "$@" && [ "$where" = home ] || { echo "$said ($where)"; return 1; }; }
bound() { # bound OPTION...: the plan says that this option, the first, keeps it
	stays "$@"
	lowtide plan -- --carbon-aware=cost --gpus=1 --time=60 --wrap 'sleep 1' "$@" |
	    grep -q "^  cheap .*bound by ${1%%[=:]*}"
}
# lowtided reads Slurm's tables each minute, and when it starts.
reread() { later_market; }
s2_idle() { [ "$(sinfo -h -n s2 -o %T)" = idle ]; }
idle() { ! sinfo -h -N -o %T | grep -qv '^idle$'; }

@test "a job that asks for nothing special is moved" {
	moves
	moves -N1
	moves -N1-2
	plain_goes home
}

@test "what lowtide can't check elsewhere stays, and says why" {
	plain_goes home --gres=tmp:10
	stays --gres=tmp:10
	stays --gres=gpu:1,tmp:10
	plain_goes home --switches=1@10
	bound --switches=1@10
	bound --contiguous
	bound --gres-flags=enforce-binding
	bound --network=sn_single
}

@test "a class's default leaves it alone, too" {
	part stop lowtided
	{ policy; echo 'classes: {all: {account: vision, default: cost}}'; } > "$D/new.yaml"
	{ cat "$D/new.yaml"; grep listen_port "$D/etc/lowtide.yaml"; } > "$D/etc/lowtide.yaml.new"
	mv "$D/etc/lowtide.yaml.new" "$D/etc/lowtide.yaml"
	part start lowtided
	plain_goes home -A vision --gres=tmp:10
	plain_goes cheap -A vision
}

@test "a partition whose own QOS limits the job otherwise is none" {
	sacctmgr -iQ add qos small set MaxTRESPerJob=gres/gpu=2 flags=DenyOnLimit
	sacctmgr -iQ add qos large set MinTRESPerJob=gres/gpu=4 flags=DenyOnLimit
	sleep 1
	scontrol update partition=cheap qos=small
	reread
	moves
	stays --gpus=4
	scontrol update partition=cheap qos=large
	reread
	stays
	moves --gpus=4
	scontrol update partition=cheap qos=
	reread
	moves
}

# Slurm refuses the first at once; what is left of the others nobody knows.
@test "another weight of CPUs keeps a job only where something limits the sum" {
	scontrol update partition=cheap tresbillingweights=CPU=2.0
	sacctmgr -iQ add qos minutes set MaxTRESMinsPerJob=cpu=1000000 flags=RequiresReservation
	reread
	moves
	sacctmgr -iQ add qos sums set MaxTRESMinsPerJob=billing=1000000
	reread
	stays
	sacctmgr -iQ modify qos sums set MaxTRESMinsPerJob=billing=-1
	reread
	moves
	scontrol update partition=cheap tresbillingweights=
}

@test "PreemptMode=CANCEL closes one only where a higher tier shares its nodes" {
	moves
	scontrol create PartitionName=urgent Nodes=s1 PriorityTier=10
	reread
	stays
	scontrol update PartitionName=urgent Nodes=s1,v1
	reread
	moves # home's jobs may be cancelled, too
	scontrol delete PartitionName=urgent
	reread
}

@test "nor is one whose own QOS counts who uses it" {
	local limit
	for limit in MaxSubmitJobsPerUser=0 GrpSubmitJobs=0 GrpTRESMins=cpu=1 MaxTRESRunMinsPU=cpu=1 GrpWall=1 MaxJobsPerUser=0; do
		sacctmgr -iQ add qos "by_${limit%%=*}" set "$limit"
		sleep 1
		scontrol update partition=cheap qos="by_${limit%%=*}"
		reread
		plain_goes home
		stays || { echo "$limit"; return 1; }
		scontrol update partition=cheap qos=
		sacctmgr -iQ delete qos "by_${limit%%=*}"
	done
	sleep 1
	reread
	moves
}

@test "nor is one that is hidden, or for reservations only, or drained" {
	scontrol update partition=cheap hidden=yes
	reread
	stays
	scontrol update partition=cheap hidden=no
	scontrol update nodename=s[1-2] state=drain reason=test
	reread
	stays
	scontrol update nodename=s2 state=resume
	within 30 s2_idle
	reread
	moves
	scontrol update nodename=s1 state=resume
	within 30 idle
}

@test "a reservation of its nodes is kept clear of" {
	scontrol create reservation=upgrade starttime=now+30minutes duration=120 \
	    nodes=s[1-2] users=root flags=maint
	reread
	stays
	moves --time=10
	scontrol delete reservation=upgrade
	scontrol create reservation=ours starttime=now duration=120 nodes=s[1-2] users=root
	reread
	stays --time=10
	scontrol delete reservation=ours
	reread
	moves
}

@test "AllowQos and DenyQos of a job without --qos: its association's default" {
	local me; me=$(id -un)
	sacctmgr -iQ add qos long,short
	sacctmgr -iQ modify account vision set qos=normal,long,short
	scontrol update partition=cheap allowqos=normal
	reread
	moves -A vision
	moves -A free
	stays -A vision --qos=long
	sacctmgr -iQ modify user "$me" where account=vision set defaultqos=long
	reread
	plain_goes home -A vision
	[ "$qos" = long ]
	stays -A vision
	moves -A vision --qos=normal
	moves -A free
	scontrol update partition=cheap allowqos=long
	reread
	moves -A vision
	stays -A free
	scontrol update partition=cheap allowqos=ALL denyqos=short
	reread
	moves -A vision
	moves -A free
	# The only one that it has is its default.
	sacctmgr -iQ modify user "$me" where account=free set qos=short
	reread
	stays -A free
	# Root's is the default of those that have several and name none.
	sacctmgr -iQ modify account root set defaultqos=normal
	sacctmgr -iQ modify user "$me" where account=free set qos=normal,short
	reread
	moves -A free
	scontrol update partition=cheap denyqos=
	sacctmgr -iQ modify user "$me" where account=vision,free set qos=normal defaultqos=-1
}

@test "an account that is denied, or below one, stays; and one of single partitions" {
	scontrol update partition=cheap denyaccounts=free
	reread
	moves -A vision
	stays -A free
	stays -A below
	scontrol update partition=cheap denyaccounts=
	# It may have other limits in a partition of its own, and none elsewhere.
	sacctmgr -iQ add user "$(id -un)" account=free partition=other
	reread
	moves -A free
	sacctmgr -iQ add user "$(id -un)" account=free partition=home
	reread
	plain_goes home -A free -p home
	stays -A free
	sacctmgr -iQ delete user "$(id -un)" account=free partition=home
	sacctmgr -iQ add user "$(id -un)" account=free partition=cheap
	reread
	stays -A free
	moves -A vision
}
