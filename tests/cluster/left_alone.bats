#!/usr/bin/env bats
# What lowtide leaves as it is on a site with rules of its own: nodes with GPUs
# are for jobs with GPUs (job_submit.lua, which runs first and sees no
# partition), sessions that a person waits for, partitions without a node just
# now, heterogeneous jobs.
load helper

setup_file() {
	export TZ=UTC SBATCH_OUTPUT=/dev/null SUBMIT=0 ACCOUNTS='vision nlp poor'
	export EXTRA='JobSubmitPlugins=lua,lowtide'
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=c1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=c2 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+2@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=v1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+3@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
	PartitionName=main Nodes=c1 Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=cpu Nodes=c2 MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=gpu Nodes=v1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=open Nodes=v1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=kept Nodes=c2 MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	export LUA=$BATS_FILE_TMPDIR/job_submit.lua
	rules > "$LUA"
	day 6 12
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
carbon_price_per_tonne: 1000
max_delay: 24h
waiting_price_per_hour: 0
waiting_carbon_per_hour: 0
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, time: time, value: g, zone: utc}
partitions:
  main: {carbon: day, price_per_node_hour: 3.60, pue: 2}
  cpu: {carbon: day, price_per_node_hour: 1.80, pue: 2}
  gpu: {carbon: day, price_per_node_hour: 0.60, pue: 2, gpu: V100-SXM2}
  kept: {carbon: day, price_per_node_hour: 0.10, pue: 2, target: no}
  dyn: {carbon: day, price_per_node_hour: 0.20, pue: 2}
  burst: {carbon: day, price_per_node_hour: 64, pue: 2, node: {cpus: 64, memory: 500GiB}}
budgets:
  - {team: vision, period: month, amount: 100000, on_exceed: reject}
  - {team: poor, period: month, amount: 10, on_exceed: hold}
classes:
  waited-for: {name: ['*sys/dashboard/*', '*jupyter*', 'dask-worker'], default: off}
  all: {account: nlp, default: carbon}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# The commonest rule of a site, from what its users wrote: no partition named,
# nothing to see.
rules() {
	cat <<-'L'
	function slurm_job_submit(job, parts, uid)
		local p = job.partition
		if p ~= nil and string.find(p, "gpu") and job.tres_per_node == nil and job.tres_per_job == nil then
			slurm.log_user("this partition is for jobs with GPUs")
			return slurm.ERROR
		end
		return slurm.SUCCESS
	end
	function slurm_job_modify(job, rec, parts, uid) return slurm.SUCCESS end
	return slurm.SUCCESS
	L
}
partition_of() { field "$1" %P; }

@test "a job without GPUs is moved to nodes without GPUs, and to no target: no" {
	job -n16 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1'
	[ "$(partition_of "$id")" = cpu ]
	run sbatch -n16 --time=60 --expected-time=50 --carbon-aware=plan --wrap 'sleep 1'
	[[ $output == *'gpu '*'for jobs with GPUs'* ]]
	[[ $output == *'kept '*'target: no'* ]]
}

@test "one that asks for GPUs goes there, and one that its user names is theirs" {
	job -p main,gpu --gres=gpu:1 -n1 --time=60 --carbon-aware=cost --wrap 'sleep 1'
	[ "$(partition_of "$id")" = gpu ]
	job -p main,kept -n1 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1'
	[ "$(partition_of "$id")" = kept ]
	# The site's own rule has the last word on what its user names.
	run sbatch -p main,gpu -n1 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1'
	[ "$status" -ne 0 ]
	[[ $output == *'this partition is for jobs with GPUs'* ]]
}

@test "accepts: [gpu, cpu] opens nodes with GPUs to all" {
	sed -i '/^  gpu:/a\  open: {carbon: day, price_per_node_hour: 0.50, gpu: V100-SXM2, accepts: [gpu, cpu]}' "$D/etc/lowtide.yaml"
	before=$(generation)
	kill -HUP "$(cat "$D/run/lowtided.shpid")"
	moved() { job -n16 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1' && [ "$(partition_of "$id")" = open ]; }
	within 30 moved
	sed -i '/^  open:/d' "$D/etc/lowtide.yaml"
	kill -HUP "$(cat "$D/run/lowtided.shpid")"
	back() { job -n16 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1' && [ "$(partition_of "$id")" = cpu ]; }
	within 30 back
}

@test "a class's default delays no session that a person waits for; its user may" {
	job -A nlp -J sim -n16 --time=60 --wrap 'sleep 1'
	is_in "$id" 6
	for name in sys/dashboard/sys/bc_desktop spawner-jupyterhub dask-worker Jupyter; do
		job -A nlp -J "$name" -n16 --time=60 --wrap 'sleep 1'
		[[ $said != *lowtide:* ]] || { echo "$said"; return 1; }
		[ "$(in_hours "$id" 0)" -lt 10 ]
		[ "$(partition_of "$id")" = main ]
	done
	job -A nlp -J jupyter -n16 --time=60 --carbon-aware=carbon --wrap 'sleep 1'
	is_in "$id" 6
	run sbatch -A nlp -J jupyter -n16 --time=60 --carbon-aware=plan --wrap 'sleep 1'
	[[ $output == *'class waited-for (by its name)'* ]]
}

money_held() { lowtide explain --json "$1" 2>/dev/null | jq -r '.quote.hold_per_task.money_micros // 0'; }
# lowtided with Slurm's partitions as they are now, and a market of them.
anew() { later_market; }
# Skips the test where Slurm alone refuses jobs of a partition without a node,
# as 24.11 does: in other releases they wait.
need_queue_of() { # need_queue_of PARTITION
	! plain_refuses -A nlp -p "$1" -n1 --time=5 || skip "this Slurm refuses jobs of a partition without a node"
}
plan_has() { [[ $(sbatch --carbon-aware=plan "${@:2}" --wrap true 2>&1) == *$1* ]]; }

@test "in a partition that never had a node, jobs of a team with a budget are held until one is there" {
	scontrol create partition=dyn MaxTime=1:00:00 DefaultTime=10
	need_queue_of dyn
	anew
	within 20 plan_has dyn -n1
	job -A vision -p dyn -n1 --time=5 --wrap 'sleep 1'
	[[ $said == *'lowtide: held until the balance '*'is known'*'no node of partition dyn is known yet'* ]]
	[[ $(field "$id" %r) == JobHeld* ]]
	# Of a team without one Slurm alone decides.
	job -A nlp -p dyn -n1 --time=5 --carbon-aware=off --wrap 'sleep 1'
	[ "$(field "$id" %r)" != JobHeldUser ]
	run lowtide doctor
	[[ $output == *'partition dyn has no node now'*'those of budgeted teams meet on_unknown'* ]]
	# Nor is it known whether it could run there, and so nothing moves it.
	job -A nlp -p dyn,cpu -n1 --time=5 --carbon-aware=cost --wrap 'sleep 1'
	[[ $said == *'dyn, left as it is: no node is there now, nor was any before'* ]]
	[[ $(partition_of "$id") == *,* ]] # in whichever order Slurm has them
	held=$(squeue -h -A vision -p dyn -o %i)
	sleep 6
	[[ $(field "$held" %r) == JobHeld* ]]
	scontrol update partition=dyn nodes=c2
	anew
	within 60 done_job "$held"
	state_is "$held" COMPLETED
}

@test "the nodes that were there last price it when none is, over a restart" {
	scontrol update partition=dyn nodes=
	need_queue_of dyn
	anew
	job -A vision -p dyn -n32 --time=60 --wrap 'sleep 1'
	[[ $said != *lowtide:* ]] || { echo "$said"; return 1; }
	priced() { [ "$(money_held "$id")" -gt 100000 ] && [ "$(money_held "$id")" -lt 110000 ]; }
	within 20 priced # half a node, 0.20 an hour, 5 % above
	[[ $(field "$id" %r) != JobHeld* ]]
	# It is no target, however cheap, unless its user names it.
	run sbatch -n1 --time=5 --carbon-aware=plan --wrap true
	[[ $output == *'dyn '*'no node there now'* ]]
	job -n16 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1'
	[ "$(partition_of "$id")" = cpu ]
	job -p main,dyn -n16 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1'
	[ "$(partition_of "$id")" = dyn ]
}

@test "else the policy's node: is one" {
	scontrol create partition=burst MaxTime=1:00:00 DefaultTime=10
	need_queue_of burst
	anew
	job -A vision -p burst -N 3 --exclusive --time=60 --wrap 'sleep 1'
	[[ $said != *lowtide:* ]] || { echo "$said"; return 1; }
	priced() { [ "$(money_held "$id")" -gt 192000000 ] && [ "$(money_held "$id")" -lt 204000000 ]; }
	within 20 priced # three nodes, $64 an hour, 5 % above
	run lowtide doctor
	[[ $output == *'partition burst has no node now: jobs there are priced by those that lowtided saw last, else by node: of the policy file'* ]]
}

@test "a partition that lowtide can't hold is as one that it does not know; others go on" {
	local long
	long=$(printf 'x%.0s' {1..64})
	scontrol create partition="$long" Nodes=c2 MaxTime=1:00:00 DefaultTime=10
	anew
	plain() { job -A nlp -p "$long" -n1 --time=5 --carbon-aware=cost --wrap 'sleep 1'; }
	plain
	[ "$(partition_of "$id")" = "$long" ]
	within 60 done_job "$id"
	state_is "$id" COMPLETED
	run sbatch -A vision -p "$long" -n1 --time=5 --wrap 'sleep 1'
	[[ $output == *'held until the balance '*'is known'* ]]
	scancel -A vision -p "$long"
	job -n16 --time=60 --expected-time=50 --carbon-aware=cost --wrap 'sleep 1'
	[ "$(partition_of "$id")" = cpu ]
	run lowtide doctor
	[[ $output == *"1 of Slurm's partitions is not known to lowtide: partition $long: a name of 64 bytes, limit 63"* ]]
	grep -q 'event=partitions_left_out count=1 ' "$D"/log/lowtided.out
	scontrol delete partitionname="$long"
}

het() { # het NAME FIRST SECOND: a script of two components
	printf '#!/bin/sh\n#SBATCH %s\n#SBATCH hetjob\n#SBATCH %s\nsleep 1\n' "$2" "$3" > "$1"
}
queue() { squeue -h -o %i | wc -l; }

@test "a heterogeneous job has one plan and one price, and none is made by it" {
	het two.sh '-A nlp -p main -N1 --exclusive --time=60 --expected-time=1:00:00 --carbon-aware=off' '-A nlp -p gpu -N1 --gres=gpu:8 --time=30 --expected-time=30:00'
	before=$(queue)
	run lowtide plan two.sh
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	# $3.60 for an hour and $0.30 for half of one.
	[[ $output == *'all 2 components together: $3.90, '*' CO2e'* ]] || { echo "$output"; return 1; }
	[[ $output != *'srun and salloc'* ]]
	[[ $output == *'het job'* ]]
	run sbatch --carbon-plan two.sh
	[ "$status" -ne 0 ]
	[[ $output == *'nothing is submitted'* ]]
	script plain.sh 'sleep 1'
	# Options of the command line, a third component, none that is named.
	run lowtide plan -A nlp -N1 --exclusive --time=60 --expected-time=1:00:00 : -A nlp -p cpu -N1 --exclusive --time=60 --expected-time=1:00:00 : -A nlp -p gpu -N1 --gres=gpu:8 --time=60 --expected-time=1:00:00 plain.sh
	[[ $output == *'all 3 components together: $6.00, '* ]] || { echo "$output"; return 1; }
	[ "$(queue)" -eq "$before" ]
}

@test "sbatch tells what all components come to, and moves none" {
	het asks.sh '-A nlp -N1 --exclusive --time=60 --expected-time=1:00:00 --carbon-aware=cost' '-A nlp -p gpu -N1 --gres=gpu:8 --time=30 --expected-time=30:00'
	job -H asks.sh
	[[ $said == *'all 2 components together: $3.90, '* ]] || { echo "$said"; return 1; }
	[[ $said != *'srun and salloc'* ]]
	[ "$(squeue -h -j "$id" -o %P | sort | tr '\n' ' ')" = 'gpu main ' ]
	scancel "$id"
}

@test "on_exceed: hold holds a heterogeneous job as it holds any other" {
	# $3.80 and $7.59 are held for it, of $10.
	het over.sh '-A poor -p main -N1 --exclusive --time=60' '-A poor -p cpu -N1 --exclusive --time=4:00:00'
	job over.sh
	[[ $said == *'lowtide: held until the budget is raised or --time lowered: '* ]] || { echo "$said"; return 1; }
	[[ $said == *'$11.39'* ]] || { echo "$said"; return 1; }
	[[ $said != *'srun'* ]]
	held_back() { [[ $(squeue -h -j "$id" -o '%r') == *JobHeld* ]]; }
	within 20 held_back
	sed -i 's/team: poor, period: month, amount: 10/team: poor, period: month, amount: 100/' "$D/etc/lowtide.yaml"
	kill -HUP "$(cat "$D/run/lowtided.shpid")"
	free_again() { [[ $(squeue -h -j "$id" -o '%r') != *JobHeld* ]]; }
	within 40 free_again
	within 60 done_job "$id"
	state_is "$id" COMPLETED
}
