#!/usr/bin/env bats
# Jobs that wait are decided again, on real Slurm: plans follow what is known
# of the hours to come, and nothing that was promised or set by hand is broken.
# bats file_tags=long
load helper

policy() { echo "
mode: enforce
spot_proof: said # proof.bats has what proves it
currency: USD
timezone: UTC
carbon_price_per_tonne: 1000
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: $1, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: $2, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: month, amount: $3}
  - {team: small, period: month, amount: 2}
"; }
setup_file() {
	export ACCOUNTS='vision free small'
	day 12 20
	cluster_up "$(policy 3.60 3.60 10000)"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

quote() { scontrol show job "$1" | grep -o 'lowtide:1 [^;]*'; }
plan() { quote "$1" | grep -o 'plan=[^ ]*'; }
hold() { lowtide explain "$1" --json | jq -c '[.hold.state, .quote.partition, (.quote.plan_start | fromdateiso8601)]'; }
held_now() { # held_now JOBID; by the month it may be the next one's
	lowtide explain "$1" --json |
	    jq 'if .hold.state == "open" then .hold.live_tasks * .quote.hold_per_task.money_micros else 0 end'
}

@test "clean hours that come earlier take the job along, once" {
	job -A vision --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	echo "$id" > "$BATS_FILE_TMPDIR/id"
	is_in "$id" 12
	held=$(quote "$id" | grep -o 'hold=[^ ]*')
	day 4 14
	restart
	moved() { is_in "$id" 4; }
	within 40 moved
	[ "$(grep -c "event=replanned job=$id " "$LOG")" -eq 1 ]
	# Price and size are as they were: so is what is held.
	[ "$(quote "$id" | grep -o 'hold=[^ ]*')" = "$held" ]
	[ "$(plan "$id")" = "plan=ondemand@$(begin "$id")" ]
	follows() { [ "$(hold "$id")" = "[\"open\",\"ondemand\",$(begin "$id")]" ]; }
	within 20 follows
	# Both plans are told, in order, and why the second took the place.
	[ "$(lowtide explain "$id" --json | jq -c '[.plans[] | .why]')" = '["submitted","better"]' ]
	run -0 lowtide explain "$id"
	[[ "$output" == *"Decided 2 times:"*"better by newer figures"* ]]
	# What it was asked for is still there, and where it would have gone.
	quote "$id" | grep -q ' base=ondemand@.* ask=1,'
}

@test "the same figures change nothing" {
	id=$(< "$BATS_FILE_TMPDIR/id")
	was=$(quote "$id")
	restart
	sleep 6
	[ "$(quote "$id")" = "$was" ]
	[ "$(grep -c event=replanned "$LOG")" -eq 0 ]
}

@test "clean hours that come later are followed; out of reach, the job starts" {
	id=$(< "$BATS_FILE_TMPDIR/id")
	day 16 26
	restart
	later() { is_in "$id" 16; }
	within 40 later
	day 30 50 # a day is the most that a job waits
	restart
	running() { [ "$(field "$id" %T)" = RUNNING ]; }
	within 60 running
	scancel "$id"
}

@test "what the user set by hand is left alone, by scontrol too" {
	day 4 14
	restart
	job -A vision --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	mine=$id
	job -A vision --carbon-aware --begin=now+7hours --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	given=$id
	is_in "$mine" 4
	later() { scontrol update jobid="$mine" starttime="$(date -d '+9 hours' +%FT%T)"; }
	within 20 later # lowtided has to know the job
	day 0 3
	restart
	sleep 8
	is_in "$mine" 9
	is_in "$given" 7
	scancel "$mine" "$given"
}

@test "a partition that has become dear is left, and its hold with it" {
	day 4 14
	sed -i 's/^  spot: {accepts: \[gpu, cpu\], carbon: day, price_per_node_hour: 3.60/  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 0.90/' "$D/etc/lowtide.yaml"
	restart
	job -A vision --carbon-aware --checkpoint=write=1m --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	[ "$(field "$id" %P)" = spot ]
	is_in "$id" 4
	rich=$id
	job -A small --carbon-aware --checkpoint=write=1m --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	[ "$(field "$id" %P)" = spot ]
	poor=$id
	id=$rich
	sed -i 's/^  spot: {accepts: \[gpu, cpu\], carbon: day, price_per_node_hour: 0.90/  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 9/' "$D/etc/lowtide.yaml"
	left() { [ "$(field "$id" %P)" = ondemand ]; }
	within 60 left
	follows() { [ "$(hold "$id")" = "[\"open\",\"ondemand\",$(begin "$id")]" ]; }
	within 20 follows
	# 3.60 for six hours and 30 s on an eighth of a node, and the margin of 5 %.
	within 20 eval '[ "$(quote "$id" | sed -n "s/.* hold=\([0-9]*\),.*/\1/p")" -eq 2838939 ]'
	# Who can't pay what it costs now is held back, and not moved.
	back() { [ "$(field "$poor" '%P %r')" = 'spot JobHeldAdmin' ]; }
	within 20 back
	scancel "$id" "$poor"
}

@test "hours that are clean now start the job" {
	day 4 14
	restart
	job -A vision --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	is_in "$id" 4
	day 0 7
	restart
	running() { [ "$(field "$id" %T)" = RUNNING ]; }
	within 60 running
	scancel "$id"
}

@test "an array moves as one, and so does a job of no budget" {
	day 4 14
	restart
	job -A vision --carbon-aware --gpus=1 --array=1-4 --time=6:00:00 --wrap 'sleep 60'
	array=$id
	job -A free --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	is_in "$array" 4
	is_in "$id" 4
	all_held() { [ "$(held_now "$array")" -gt 11000000 ]; } # 2.839 a task
	within 20 all_held
	held=$(held_now "$array")
	day 9 19
	restart
	moved() { is_in "$array" 9 && is_in "$id" 9; }
	within 60 moved
	[ "$(squeue -h -r -j "$array" -o %i | wc -l)" -eq 4 ]
	[ "$(grep -c "event=replanned job=$array " "$LOG")" -eq 1 ]
	same() { [ "$(held_now "$array")" = "$held" ]; }
	within 20 same
	# One task is cancelled: the others are decided on, and stay held.
	scancel "${array}_2"
	day 5 11
	restart
	back() { is_in "$id" 5; }
	within 60 back
	scancel "$array" "$id"
	free() { [ "$(held_now "$array")" -eq 0 ]; }
	within 60 free
}

@test "now is now: a job that its user started is left alone" {
	day 4 14
	restart
	job -A vision --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	begins() { run lowtide now "$id"; [ "$status" -eq 0 ]; }
	within 20 begins
	day 9 19
	restart
	sleep 6
	[ "$(grep -c "event=replanned job=$id " "$LOG")" -eq 0 ]
	running() { [ "$(field "$id" %T)" = RUNNING ]; }
	within 20 running
	scancel "$id"
}

@test "as many at one hour as there are nodes, whatever market they came in" {
	scancel -A vision
	day 4 14
	restart
	nodes=$(sinfo -h -p ondemand -o %D)
	ids=()
	for i in $(seq $((2 * nodes + 1))); do
		job -A vision --carbon-aware -p ondemand --exclusive --gpus=1 --time=3:00:00 --wrap 'sleep 60'
		ids+=("$id")
		case $((i % 3)) in 0) sleep 4 ;; esac # for another market
	done
	begins() { for id in "${ids[@]}"; do begin "$id"; done; }
	[ "$(begins | at_once 10800)" -le "$nodes" ]
	# All are within the ten clean hours, or the three before the first of them.
	for id in "${ids[@]}"; do [ "$(in_hours "$id" 4)" -gt -3700 ]; done
	# Together they are not worse for having been looked at again.
	restart
	sleep 8
	[ "$(begins | at_once 10800)" -le "$nodes" ]
	printf '%s\n' "${ids[@]}" > "$BATS_FILE_TMPDIR/ids"
}

# A market's generation is the second that it was made in: one of a later second
# has the jobs that run now.
restart_later() {
	local before
	before=$(date +%s)
	sleep 1
	restart
	since() { [ "$(lowtide status --json | jq .market.generation)" -gt "$before" ]; }
	within 20 since
}

@test "a full partition: a job has the first start with room, and comes sooner when there is some" {
	mapfile -t ids < "$BATS_FILE_TMPDIR/ids"
	scancel "${ids[@]}"
	day 0 200 # all hours are alike
	nodes=$(sinfo -h -p ondemand -o %D)
	job -A vision -p ondemand --exclusive -N "$nodes" --time=5:00:00 --wrap 'sleep 900'
	full=$id
	running() { [ "$(field "$full" %T)" = RUNNING ]; }
	within 30 running
	restart_later
	job -A vision --carbon-aware -p ondemand --exclusive --gpus=1 --time=1:00:00 --wrap 'sleep 60'
	waits=$id
	[[ "$said" == *"There is no room before"* ]]
	[ "$(in_hours "$waits" 5)" -gt -60 ] # until a quarter of an hour ends
	[ "$(in_hours "$waits" 5)" -lt 960 ]
	scancel "$full"
	starts() { [ "$(field "$waits" %T)" = RUNNING ]; }
	within 90 starts
	scancel "$waits"
}

# behind CLEAN DIRTY: a carbon-aware job behind others whose limits are 4 h: by
# them it starts in four to eight hours.
behind() {
	local i
	day "$1" "$2"
	nodes=$(sinfo -h -p ondemand -o %D)
	ids=()
	for ((i = 0; i <= nodes; i++)); do
		job -A vision -p ondemand --exclusive -N1 --time=4:00:00 --wrap 'sleep 900'
		ids+=("$id")
	done
	running() { [ "$(squeue -h -t R -p ondemand -o %i | wc -l)" -eq "$nodes" ]; }
	within 30 running
	restart_later
	job -A vision --carbon-aware=carbon -p ondemand --exclusive -N1 --time=3:00:00 --wrap 'sleep 60'
	waits=$id
}

@test "behind others, a clean start that was told is kept though their limits were too long" {
	behind 3 12
	[[ "$said" != *"Nothing better"* ]]
	[ "$(in_hours "$waits" 3)" -gt -3700 ]
	[ "$(in_hours "$waits" 9)" -lt 0 ]
	# Two nodes are there hours before.
	scancel "${ids[@]}"
	empty() { [ -z "$(squeue -h -t R,CG -p ondemand -o %i)" ]; }
	within 90 empty
	sleep 5
	[ "$(field "$waits" '%T %r')" = 'PENDING BeginTime' ]
	scancel "$waits"
}

@test "where an hour before is no worse it stays in line, and is told what all of them come to" {
	behind 0 3
	[[ "$said" == *"ondemand, in line, until about "*"g to 3.5 kg CO2e"* ]] # less than 1 kg at a full hour
	[[ "$(field "$waits" %r)" != BeginTime ]]
	scancel "${ids[@]}"
	started() { [ "$(field "$waits" %T)" = RUNNING ]; }
	within 60 started
	scancel "$waits"
}
