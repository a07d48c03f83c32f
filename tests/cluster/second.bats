#!/usr/bin/env bats
# The second look: what a job's record and its allocation say against its
# hold, after a partition was changed behind the market's back.
load tricks

policy() { # policy [LINES]
	cat <<-P
	mode: enforce
	currency: USD
	timezone: UTC
	hold_margin: 0
	partitions:
	  ondemand: {price_per_node_hour: 3.60}
	  first: {price_per_node_hour: 3.60}
	  second: {price_per_node_hour: 3.60}
	  third: {price_per_node_hour: 3.60}
	  gpu: {price_per_node_hour: 3.60, gpu: V100-SXM2}
	  mark: {price_per_node_hour: 3.60}
	budgets:
	  - {team: wide, period: year, amount: 100}
	  - {team: array, period: year, amount: 100}
	  - {team: het, period: year, amount: 100}
	  - {team: tight, period: year, amount: 0.30, on_exceed: hold}
	  - {team: start, period: year, amount: 0.30}
	  - {team: back, period: year, amount: 0.30}
	  - {team: sleepy, period: year, amount: 0.046}
	P
	printf '%s\n' "$@"
}
setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='free wide array het tight start back sleepy'
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=v[1-4] NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@,@PORT+2@,@PORT+3@,@PORT+4@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=m1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+5@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=g1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+6@ Gres=gpu:v100:8 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	PartitionName=gpu Nodes=g1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=ondemand Nodes=v[1-4] Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=first Nodes=v[1-4] MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=second Nodes=v[1-4] MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=third Nodes=v[1-4] MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=mark Nodes=m1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	# 1000 micros a second: 10 minutes and 30 s are 630000 for a node, 9844 for one of
	# its 64 CPUs.
	cluster_up "$(policy)"
}
teardown_file() { cluster_down; }
PRICES='ondemand=1000 first=1000 second=1000 third=1000 mark=1000'
WHOLE=630000
setup() { cluster_use; }
teardown() { last_words; scancel -A wide,array,het,tight,start,back,sleepy 2>/dev/null || true; }

mine() { # mine ARGUMENTS...: a job of the plain user's, one CPU for 10 minutes
	said=$(as_user sbatch -n1 --time=10 -o /dev/null "$@" --wrap 'exec sleep 600' 2>&1) ||
	    { echo "$said" >&2; return 1; }
	id=$(sed -n 's/^Submitted batch job //p' <<< "$said")
	[ -n "$id" ]
}
whole_nodes() { scontrol update partitionname="$1" oversubscribe=exclusive; }
LATER=--begin=now+2hours
job_log() { grep "event=$1 .*job=$2\b" "$D/log/lowtided.out"; } # job_log EVENT JOB

@test "jobs that wait: held for whole nodes once their partition gives those" {
	mine -A wide -p first $LATER
	local wide=$id
	# Its tasks are those of -n: what lowtided writes is to leave them.
	mine -A tight -p first $LATER -N1 --ntasks-per-node=2
	local tight=$id
	mine -A array -p first $LATER --array=1-3
	local array=$id
	said=$(as_user sbatch -A het -p first $LATER -n1 --time=10 -o /dev/null : -p first -n1 --time=20 --wrap true)
	local het=${said##* }
	mine -A wide -p second $LATER
	local other=$id
	known "$other"
	# One CPU of 64 each, rounded up.
	[ "$(held_micros wide)" -ge 18750 ]
	[ "$(held_micros wide)" -le 19700 ]
	whole_nodes first
	raised() { [ "$(held_micros "$1")" -ge "$2" ]; }
	within 90 raised wide $((WHOLE + 9843))
	within 10 raised array $((3 * WHOLE))
	within 10 raised het $((3 * WHOLE - 30000)) # 10 minutes of a node, and 20
	# That of the other partition is what it was.
	[ "$(held_micros wide)" -le $((WHOLE + 9844 + 10)) ]
	[ "$(hold_of "$other")" -le 9850 ]
	within 10 written "$wide" $WHOLE
	within 10 written "$array" $((3 * WHOLE))
	both() { [ "$(hold_of "$het" | sort -n | tr '\n' ' ')" = "$((WHOLE + 1)) $((2 * WHOLE - 30000 + 1)) " ]; }
	within 10 both # its components: scontrol shows them together
	# It does not fit into 0.30: an admin's hold, until it does.
	waits() { [ "$(squeue -h -j "$1" -o '%r %Q')" = 'JobHeldAdmin 0' ]; }
	within 20 waits "$tight"
	explained() { lowtide explain "$1" | grep -q "$2"; }
	explained "$tight" 'Held back'
	freed() { [ "$(squeue -h -j "$1" -o %r)" = BeginTime ]; }
	within 20 freed "$wide"
	lowtide budget adjust --team tight --amount -1 --reason more
	within 20 freed "$tight"
	raised tight $WHOLE
	[ "$(shown "$tight" NumTasks)" -eq 1 ]
}
written() { [ "$(hold_of "$1")" -ge "$2" ]; } # the quote on the job

@test "a start on more than was held: held and charged over the limit, by the word size" {
	unseen second start -N1 --ntasks-per-node=2
	local ran=$id
	[ "$(allocated "$ran" cpu)" -eq 64 ]
	over() { [ "$(held_micros start)" -ge $WHOLE ]; }
	within 15 over # the limit is 300000
	job_log underheld "$ran" | grep -q 'why=size'
	within 10 written "$ran" $WHOLE
	# It runs on; another one of the team waits for nothing: it is refused.
	marker
	is "$ran" RUNNING
	run ! mine -A start -p mark
	scancel "$ran"
}
# unseen PARTITION TEAM [OPTIONS]: its nodes are given whole, and a job of the team's runs
# there, before lowtided can see either.
unseen() {
	local lowtided
	lowtided=$(cat "$D/run/lowtided.shpid")
	kill -STOP "$lowtided"
	whole_nodes "$1"
	mine -A "$2" -p "$1" "${@:3}" && within 60 is "$id" RUNNING || true
	kill -CONT "$lowtided"
	is "$id" RUNNING
}

@test "on_underheld: requeue: back to the queue once, judged by what it was given" {
	{ policy 'on_underheld: requeue'; grep ^listen_port: "$D/etc/lowtide.yaml"; } > "$D/next.yaml"
	mv "$D/next.yaml" "$D/etc/lowtide.yaml"
	reloaded() { grep -c event=policy_loaded "$D/log/lowtided.out" | grep -qx 2; }
	within 20 reloaded
	unseen third back
	local job=$id
	# squeue keeps the text of Slurm's requeue; the hold is an admin's.
	locked() { job_log locked "$job" && [ "$(squeue -h -j "$job" -t PD -o %Q)" = 0 ]; }
	within 40 locked
	show "$job" | grep -q Restarts=1
	lowtide explain "$job" | grep -q 'Requeued by lowtide'
	within 120 settled "$job"
	run ! as_user scontrol release "$job"
	lowtide budget adjust --team back --amount -1 --reason more
	within 30 job_log released "$job"
	[ "$(squeue -h -j "$job" -t PD -o %Q)" = 0 ] # now its user's
	freed() { as_user scontrol release "$job"; }
	within 10 freed # the terms come with the next sheet
	as_user scontrol update jobid="$job" starttime=now
	within 90 is "$job" RUNNING
	# What it is given again is what is held now: it stays.
	within 20 ran_for "$job" 6
	marker
	is "$job" RUNNING
	show "$job" | grep -q Restarts=1
	covered "$job"
}

@test "suspended by others: the hold grows by what the GPUs cost, over the limit" {
	# Half the node's CPUs, and 4 GPUs of 8, for a minute and 30 s: 500 micros a second,
	# as much while it is suspended. The limit is 46000.
	script turns 'for i in $(seq 40); do sleep 1; done'
	said=$(as_user sbatch -A sleepy -p gpu -n32 --gpus=4 --time=1 -o /dev/null turns)
	local job=${said##* }
	within 20 is "$job" RUNNING
	within 10 written "$job" 45000
	[ "$(hold_of "$job")" -le 45010 ]
	scontrol suspend "$job"
	within 15 written "$job" 75000 # for the minute that began
	[ "$(hold_of "$job")" -le 75010 ]
	held() { [ "$(held_micros sleepy)" -ge "$1" ]; }
	within 10 held 75000
	lowtide explain "$job" | grep -q 'Suspended for'
	within 80 written "$job" 105000 # the next one
	scontrol resume "$job"
	within 10 is "$job" RUNNING
	marker
	written "$job" 105000 # what it used is not freed
	within 120 settled "$job"
	[ "$(money_of "$job")" -gt 46000 ]
	[ "$(money_of "$job")" -le 105001 ]
	over() { lowtide report --format json --runs | jq -r --argjson id "$job" \
	    '.runs[] | select(.job_id == $id) | .over_reason'; }
	[ "$(over)" = suspend ]
}
