#!/usr/bin/env bats
# Jobs that lowtide moved and that Slurm can't start there, on real Slurm: they
# go home, run, are told why, and the same request is not moved there again.
# bats file_tags=long
load helper

setup_file() {
	export ACCOUNTS='vision free small' LAYOUT=$BATS_TEST_DIRNAME/afterwards.conf
	day -1 200
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
carbon_price_per_tonne: 1000
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {carbon: day, price_per_node_hour: 3.60, gpu: V100-SXM2}
  cheap: {carbon: day, price_per_node_hour: 0.36, gpu: V100-SXM2}
budgets:
  - {team: vision, period: month, amount: 10000}
  - {team: small, period: month, amount: 1}
"
	cluster_use
	sacctmgr -i add qos floor set MinTRESPerJob=cpu=32 > /dev/null
}
teardown_file() { cluster_down; }
# Slurm as it was, and a lowtided that has read it so and knows nothing barred.
setup() {
	cluster_use
	scancel -u "$(id -un)" 2> /dev/null
	scontrol update partition=cheap state=up MaxTime=7-00:00:00 QOS=
	scontrol update node=s[1-2] availablefeatures=fast activefeatures=fast
	day -1 200
	within 30 are_idle
	restart
}

# A node that was resumed answers a moment later.
are_idle() { [ "$(sinfo -h -p cheap -o %T | sort -u)" = idle ]; }

where() { field "$1" '%T %P'; }
is_at() { [ "$(where "$1")" = "$2" ]; }
went_home() { grep -q "event=cannot_start job=$1 partition=cheap reason=$2 home=1" "$LOG"; }
asked() { lowtide status --json | jq .afterwards.asked; }
aware() { job -A "${team:-vision}" --carbon-aware --gpus=1 "$@"; }
market() { lowtide status --json | jq .market.generation; }

@test "a limit that lowtide does not read: home, told, and charged as home is" {
	scontrol update partition=cheap QOS=floor
	aware --time=1:00:00 --wrap 'sleep 3'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	within 30 went_home "$id" QOSMinCpuNotSatisfied
	within 30 state_is "$id" COMPLETED
	[ "$(sacct -nXP -j "$id" -o Partition)" = ondemand ]
	run -0 lowtide explain "$id"
	[[ "$output" == *"back home: Slurm can't start it where lowtide had put it"* ]]
	[[ "$output" == *"Slurm could not start it there"* ]]
	[ "$(lowtide explain "$id" --json | jq -c '[.plans[] | .why]')" = '["submitted","cannot_start"]' ]
	within 40 settled "$id"
	[ "$(lowtide report --format json --runs | jq -r --argjson id "$id" \
	    '.runs[] | select(.job_id == $id) | .partition')" = ondemand ]
	# An eighth of a node at $3.60 an hour for as long as it ran: at a tenth
	# of the price it would be less than half of this.
	[ "$(money_of "$id")" -ge 250 ]
}

@test "the same request stays at home until Slurm's tables change; others go" {
	scontrol update partition=cheap QOS=floor
	aware --time=2:00:00 --wrap 'sleep 60'
	within 30 went_home "$id" QOSMinCpuNotSatisfied
	was=$(market)
	newer_market() { [ "$(market)" -gt "$was" ]; }
	within 30 newer_market
	aware --time=2:00:00 --wrap 'sleep 60'
	[[ "$said" != *"lowtide: cheap"* ]]
	within 20 is_at "$id" 'RUNNING ondemand'
	run -0 lowtide explain "$id"
	[[ "$output" == *cheap*"Slurm could not start it there"* ]]
	# What asks for enough is another request, and runs there.
	aware --time=2:00:00 --ntasks=32 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	within 20 is_at "$id" 'RUNNING cheap'
}

@test "nodes that lost a feature before the begin: Slurm is asked, home at once" {
	day 4 14
	restart
	part stop lowtided
	aware --time=6:00:00 -C fast --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, from"* ]]
	is_at "$id" 'PENDING cheap'
	lost() { scontrol update node=s[1-2] availablefeatures= activefeatures=; }
	lost
	held=$(scontrol show job "$id" | grep -o 'hold=[^ ]*')
	part start lowtided
	within 30 is_at "$id" 'RUNNING ondemand'
	went_home "$id" asked
	[ "$(scontrol show job "$id" | grep -o 'hold=[^ ]*')" != "$held" ]
}

@test "nodes that were reserved unseen: home at once, not when they are free" {
	part stop lowtided
	scontrol create reservation ReservationName=course StartTime=now \
	    Duration=1-00:00:00 Nodes=s[1-2] Accounts=free Flags=IGNORE_JOBS > /dev/null
	aware --time=7:00:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	part start lowtided
	within 60 is_at "$id" 'RUNNING ondemand'
	went_home "$id" asked
	scontrol delete ReservationName=course
}

@test "nodes that were drained unseen: home at once" {
	part stop lowtided
	scontrol update node=s[1-2] state=drain reason=os-upgrade
	aware --time=7:10:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	part start lowtided
	within 60 is_at "$id" 'RUNNING ondemand'
	went_home "$id" asked
	scontrol update node=s[1-2] state=resume
}

@test "nodes that will be reserved before it ends: home at once" {
	part stop lowtided
	scontrol create reservation ReservationName=maint StartTime=now+2hours \
	    Duration=1-00:00:00 Nodes=s[1-2] Users=root Flags=MAINT > /dev/null
	aware --time=7:20:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	part start lowtided
	within 60 is_at "$id" 'RUNNING ondemand'
	scontrol delete ReservationName=maint
}

@test "a job that waits in line stays; when its limit is lowered, it goes" {
	job -A free -p cheap --exclusive -N2 --time=30 --wrap 'sleep 600'
	first=$id
	within 20 is_at "$first" 'RUNNING cheap'
	part stop lowtided # it would see that cheap is full
	aware --time=3:00:00 --wrap 'sleep 60'
	part start lowtided
	is_at "$id" 'PENDING cheap'
	before=$(asked)
	was_asked() { [ "$(asked)" -gt "${before:-0}" ]; }
	within 60 was_asked
	sleep 5
	is_at "$id" 'PENDING cheap'
	[ "$(grep -c "event=cannot_start job=$id " "$LOG")" -eq 0 ]
	scontrol update partition=cheap MaxTime=60
	within 60 is_at "$id" 'RUNNING ondemand'
	went_home "$id" PartitionTimeLimit
	scancel "$first"
}

@test "an array goes home whole, and what is left of one too" {
	job -A free -p cheap -N2 --exclusive --time=30 --wrap 'sleep 600'
	first=$id
	within 20 is_at "$first" 'RUNNING cheap'
	part stop lowtided
	aware --array=1-3 --time=3:10:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	part start lowtided
	scontrol update partition=cheap MaxTime=60
	all() { [ "$(squeue -h -r -j "$id" -o '%T %P' | sort | uniq -c | tr -s ' ')" = ' 3 RUNNING ondemand' ]; }
	within 60 all
	scancel "$id" "$first"
	scontrol update partition=cheap MaxTime=7-00:00:00
	restart
	aware --array=1-3%1 --time=3:20:00 --wrap 'sleep 20'
	one() { squeue -h -r -t R -j "$id" -o '%T %P' | grep -q 'RUNNING cheap'; }
	within 30 one
	scontrol update partition=cheap state=down
	rest() { [ "$(squeue -h -r -t PD,R -j "$id" -o %P | grep -c ondemand)" -ge 2 ]; }
	within 60 rest
}

@test "what its user has changed since is theirs; so is what they hold" {
	day 4 14
	restart
	team=free aware --time=6:00:00 -C fast --wrap 'sleep 60'
	changed=$id
	team=free aware --time=6:00:00 -C fast --wrap 'sleep 60'
	held=$id
	within 20 known "$changed"
	within 20 known "$held"
	part stop lowtided
	is_at "$changed" 'PENDING cheap'
	scontrol update job="$changed" starttime=now+2hours
	scontrol hold "$held"
	scontrol update node=s[1-2] availablefeatures= activefeatures=
	part start lowtided
	sleep 15
	is_at "$changed" 'PENDING cheap'
	is_at "$held" 'PENDING cheap'
	[ "$(grep -c event=cannot_start "$LOG")" -eq 0 ]
}

@test "home is too dear for the team: it stays, and is told so once" {
	scontrol update partition=cheap QOS=floor
	team=small aware --time=8:00:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	stays() { grep -q "event=stays job=$id why=stuck" "$LOG"; }
	within 30 stays
	is_at "$id" 'PENDING cheap'
	run -0 lowtide explain "$id"
	[[ "$output" == *"home is over its budget"* ]]
	scontrol update partition=cheap QOS=
	within 60 is_at "$id" 'RUNNING cheap'
}

@test "lowtided that was killed before it told slurmctld does it again" {
	scontrol update partition=cheap QOS=floor
	part stop lowtided
	aware --time=5:00:00 --wrap 'sleep 60'
	part start lowtided
	part stop lowtided KILL
	part start lowtided
	within 60 is_at "$id" 'RUNNING ondemand'
	open() { [ "$(lowtide explain "$id" --json | jq -r '.hold.state + " " + .quote.partition')" = 'open ondemand' ]; }
	within 30 open
}

@test "nobody passes a budget by asking as lowtided does" {
	# A user's job of that name is a job as any other.
	run ! sbatch -A small -J lowtide:can-start --time=2-0 --exclusive --wrap hostname
	[[ "$output" == *"small has"* ]]
	# SlurmUser's own, with a number, is a question: no job comes of it.
	run ! sbatch --jobid=4242 -A small -J lowtide:can-start --wrap hostname
	[ -z "$(squeue -h -j 4242 2> /dev/null)" ]
}

@test "without job_submit, where SPANK decides, all of it is the same" {
	sed -i '/^JobSubmitPlugins/d' "$D/etc/slurm.conf"
	part stop slurmctld
	part start slurmctld
	# A node that has not answered yet ("unknown" at first) is no target.
	within 60 are_idle
	restart
	# It has read Slurm's tables: the QOS comes after that.
	moves() { lowtide plan -- -A vision --carbon-aware --gpus=1 --time=2:30:00 --wrap true | grep -q '^\* cheap'; }
	within 60 moves
	scontrol update partition=cheap QOS=floor
	aware --time=2:30:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, now"* ]]
	within 60 is_at "$id" 'RUNNING ondemand'
	went_home "$id" QOSMinCpuNotSatisfied
	was=$(market)
	newer_market() { [ "$(market)" -gt "$was" ]; }
	within 30 newer_market
	aware --time=2:30:00 --wrap 'sleep 60'
	[[ "$said" != *"lowtide: cheap"* ]]
	within 20 is_at "$id" 'RUNNING ondemand'
	scontrol update partition=cheap QOS=
	# What SPANK placed waits for its hour, and Slurm is asked about it.
	day 4 14
	restart
	aware --time=6:00:00 -C fast --wrap 'sleep 60'
	[[ "$said" == *"lowtide: cheap, from"* ]]
	within 20 known "$id"
	part stop lowtided
	scontrol update node=s[1-2] availablefeatures= activefeatures=
	part start lowtided
	within 60 is_at "$id" 'RUNNING ondemand'
	went_home "$id" asked
}
