#!/usr/bin/env bats
# Ways to more runs than were admitted, and to money that is locked by
# somebody else or by a change that never happened. The cluster's clock begins
# two minutes before a November in a zone whose first midnight comes twice;
# after a requeue Slurm waits 9 s, as a site may set it.
# What takes its time (runs, requeues) is done for all teams at once, before
# the tests; each test looks at a team of its own.
load tricks

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='free loop tasks down preempt nodefail again shrink far later now race raise victim own cron expedite never'
	export LAYOUT=$BATS_TEST_DIRNAME/tricks_runs.conf
	export EXTRA='PreemptType=preempt/partition_prio
PreemptMode=REQUEUE'
	! newer 24.11 || EXTRA+=$'\nScronParameters=enable'
	! newer 25.05 || EXTRA+=$'\nSlurmctldParameters=enable_expedited_requeue\nEpilog='$(failing_epilog)
	clock_begin 2026-11-01T03:58:00Z
	# 1000 micros a second: a node for a minute is held at 0.09, for
	# slurmctld ends it up to 30 s late.
	cluster_up '
mode: enforce
currency: USD
timezone: America/Havana
hold_margin: 0
partitions:
  ondemand: {price_per_node_hour: 3.60}
  low: {price_per_node_hour: 3.60}
  high: {price_per_node_hour: 3.60}
budgets:
  - {team: loop, period: year, amount: 0.092}
  - {team: tasks, period: year, amount: 0.182}
  - {team: down, period: year, amount: 0.19}
  - {team: preempt, period: year, amount: 0.091}
  - {team: nodefail, period: year, amount: 0.091}
  - {team: again, period: year, amount: 10}
  - {team: shrink, period: year, amount: 10}
  - {team: far, period: month, amount: 0.1}
  - {team: later, period: month, amount: 0.1}
  - {team: now, period: month, amount: 0.01}
  - {team: race, period: year, amount: 0.1, on_exceed: hold}
  - {team: never, period: month, amount: 0.01, on_exceed: hold}
  - {team: raise, period: year, amount: 100}
  - {team: victim, period: year, amount: 10000}
  - {team: own, period: year, amount: 10000000}
  - {team: cron, period: year, amount: 0.1}
  - {team: expedite, period: year, amount: 0.092}
'
	cluster_use
	# Their begin lies beyond the periods known before November, December.
	for at in far@2026-12-15 far@2026-12-16 later@2027-01-15 later@2027-01-16; do
		job -A "${at%@*}" --begin="${at#*@}" $ONE --wrap true
		echo "$id" >> "$D/${at%@*}"
	done
	! newer 24.11 || ! command -v scrontab >/dev/null || scrontab - <<-'C'
	#SCRON --account=cron --exclusive --nodes=1 --time=1 --output=/dev/null
	* * * * * sleep 15
	C
	act >&2 || echo 'not all of what the tests look at was done' >&2
}
teardown_file() {
	! command -v scrontab >/dev/null || scrontab -r 2>/dev/null || true
	cluster_down
}
ONE='--exclusive -N1 --time=1 -o /dev/null' # one node for a minute: 0.09
export YEAR=2026
PRICES='ondemand=1000 low=1000 high=1000 mark=0'
setup() { cluster_use; }
teardown() { last_words; scancel -A down,race,raise,victim,own,now 2>/dev/null || true; }

mine() { # mine ARGUMENTS...: a job of the plain user's
	said=$(as_user sbatch "$@" --wrap 'exec sleep 60' 2>&1) || { echo "$said" >&2; return 1; }
	id=$(sed -n 's/^Submitted batch job //p' <<< "$said")
	[ -n "$id" ]
}
failing_epilog() { # of a job that ended with 7; where it is
	printf '#!/bin/sh\n[ "$SLURM_JOB_EXIT_CODE2" != 7:0 ]\n' > "$BATS_FILE_TMPDIR/epilog"
	chmod 755 "$BATS_FILE_TMPDIR/epilog"
	echo "$BATS_FILE_TMPDIR/epilog"
}
saved() { cat "$D/id.$1"; } # saved NAME: the job of act
is_past() { [ "$(date +%s)" -ge "$1" ]; }
# What the tests of section B look at, until the first run of each is settled
# and a job of nobody's budget has run.
act() {
	local name
	script two 'sleep 2'
	mine -A loop --requeue $ONE && echo "$id" > "$D/id.loop"
	mine -A tasks --requeue --array=1-2 $ONE && echo "$id" > "$D/id.tasks"
	mine -A preempt --requeue -p low $ONE && echo "$id" > "$D/id.preempt"
	mine -A nodefail --requeue -w v8 $ONE && echo "$id" > "$D/id.nodefail"
	mine -A shrink --exclusive -N2 --time=2 -o /dev/null && echo "$id" > "$D/id.shrink"
	said=$(as_user sbatch -A again --requeue $ONE two)
	echo "${said##* }" > "$D/id.again"
	for name in loop preempt nodefail shrink; do
		within 15 ran_for "$(saved $name)" 4
	done
	as_user scontrol requeue "$(saved loop)"
	as_user scontrol requeue "$(saved tasks)_1"
	sleeper -A free -p high -n1 --exclusive
	local high=$id
	scontrol update nodename=v8 state=down reason=test
	scontrol update jobid="$(saved shrink)" numnodes=1
	date +%s > "$D/resized"
	within 120 settled "$(saved again)"
	sacct -nXP -j "$(saved again)" -o ElapsedRaw > "$D/first_run"
	money_of "$(saved again)" > "$D/first_charge"
	as_user scontrol requeue "$(saved again)"
	within 20 is "$high" RUNNING
	end "$high"
	scontrol update nodename=v8 state=resume 2>/dev/null
	for name in loop preempt nodefail; do
		within 20 back "$(saved $name)"
	done
	local until=$(($(date +%s) + 12))
	end "$(saved shrink)"
	ended_runs() {
		settled "$(saved loop)" && settled "$(saved tasks)" &&
		    settled "$(saved preempt)" && settled "$(saved nodefail)" &&
		    settled "$(saved shrink)" 2 && settled "$(saved again)" 2
	}
	within 120 ended_runs
	# By now Slurm would have started all of them again.
	within 20 is_past "$until"
	marker
	# As it is now: a run that nobody paid may end before its test.
	for name in loop:92000 tasks:182000 preempt:91000 nodefail:91000; do
		paid "${name%:*}" "${name#*:}" > "$D/paid.${name%:*}" 2>&1 && : > "$D/paid.${name%:*}"
	done
	return 0
}
was_paid() { cat "$D/paid.$1" >&2; [ -e "$D/paid.$1" ] && [ ! -s "$D/paid.$1" ]; }

@test "requeued by its user: no second run that the budget can't pay" {
	was_paid loop
	# Money lets it go on.
	lowtide budget adjust --team loop --amount -1 --reason more
	within 30 is "$(saved loop)" RUNNING
	scancel "$(saved loop)"
}
@test "requeued by its user: a task of an array, by its own id" {
	was_paid tasks
}
@test "preempted: no second run that the budget can't pay" {
	was_paid preempt
}
@test "its node went down: no second run that the budget can't pay" {
	was_paid nodefail
}
@test "a completed job requeued is charged for its runs, no more" {
	local first
	first=$(< "$D/first_run")
	[ "$(< "$D/first_charge")" -eq $((first * 1000)) ]
	[ "$(money_of "$(saved again)")" -le $((first * 1000 + 4000)) ] # the other: 2 to 4 s
}
@test "a running job gives up a node: no second is charged twice" {
	local rows start resized ended
	rows=$(sacct -nXPD -j "$(saved shrink)" -o Start,End | tr '|' '\n' |
	    while read -r t; do date -d "$t" +%s; done | sort -n)
	start=$(head -n 1 <<< "$rows") ended=$(tail -n 1 <<< "$rows") resized=$(< "$D/resized")
	# Two nodes until the change, one after it; a second off at each.
	[ "$(money_of "$(saved shrink)")" -le $(((resized - start + 1) * 2000 + (ended - resized + 1) * 1000)) ]
	[ "$(money_of "$(saved shrink)")" -ge $(((resized - start - 1) * 2000 + (ended - resized - 1) * 1000)) ]
}
@test "--requeue=expedite: one run starts at once, and is held for, over the limit" {
	newer 25.05 || skip "no expedited requeue, this is Slurm $SLURM"
	# A job that fails, on a node whose epilog fails, goes on elsewhere.
	local node
	id=$(as_user sbatch --parsable -A expedite --requeue=expedite $ONE --wrap '
		[ "$SLURM_RESTART_COUNT" ] || { sleep 8; exit 7; }; exec sleep 60')
	within 15 told "$id"
	within 15 ran_for "$id" 2
	node=$(squeue -h -j "$id" -o %N)
	again() { is "$id" RUNNING && [ "$(shown "$id" Restarts)" = 1 ]; }
	within 60 again
	# The second run in full, and of the first its share or its charge.
	both() { [ $(($(held_micros expedite) + $(budget_of expedite spent_micros))) -ge 92000 ]; }
	within 20 both
	end "$id"
	scontrol update nodename="$node" state=resume
}
@test "slurmdbd down: each ended run keeps a share of its own" {
	mine -A down --requeue $ONE
	within 10 ran_for "$id" 2
	part stop slurmdbd
	as_user scontrol requeue "$id"
	within 20 back "$id"
	# Two shares of 0.09 fit into 0.19: the second run is admitted.
	within 30 ran_for "$id" 2
	[ "$(held_micros down)" -ge 180000 ]
	as_user scontrol requeue "$id"
	within 20 back "$id"
	within 20 is_past $(($(date +%s) + 12))
	marker
	! is "$id" RUNNING
	[ "$(shown "$id" Reason)" = JobHeldAdmin ]
	part start slurmdbd
	within 120 settled "$id" 2
	within 30 is "$id" RUNNING
	paid down 190000
}
@test "money is freed, and an salloc comes in the same second: one of them runs" {
	mine -A race $ONE
	local first=$id pids=()
	within 10 ran_for "$first" 2
	mine -A race $ONE
	local waits=$id
	[[ "$(shown "$waits" Reason)" == JobHeld* ]]
	scancel "$first"
	for n in 1 2 3; do
		until_granted "$waits" &
		pids+=($!)
	done
	wait "${pids[@]}"
	marker
	paid race 100000
}
until_granted() { # until_granted JOB: try until one is granted, or JOB runs
	local until=$((SECONDS + 40))
	while [ $SECONDS -lt $until ] && ! is "$1" RUNNING; do
		for _ in 1 2 3 4 5; do
			! as_user "$RPC" allocate account=race time_limit=1 shared=0 \
			    min_nodes=1 max_nodes=1 >/dev/null 2>&1 || return 0
		done
	done
}
@test "a raised hold outlives a rebuild: the quote on the job is the one in force" {
	mine -A raise --hold $ONE
	known "$id"
	scontrol update jobid="$id" timelimit=10:00:00
	raised() { [ "$(held_micros raise)" -ge 36000000 ] && [ "$(hold_of "$id")" -ge 36000000 ]; }
	within 15 raised
	lowtide rebuild
	marker
	raised
}

@test "held while it runs, by its user: no sacct by time has it, charges and a rebuild do" {
	mine -A again $ONE
	within 20 ran_for "$id" 3
	as_user scontrol hold "$id"
	scancel "$id"
	within 20 state_is "$id" CANCELLED
	by_time() { sacct -nXa -S now-1days -E now+1hours -o jobid | grep -qx " *$id *"; }
	run ! by_time
	within 120 settled "$id"
	local charge
	charge=$(money_of "$id")
	[ "$charge" -ge 3000 ]
	[ "$charge" -eq $(($(sacct -nXP -j "$id" -o ElapsedRaw) * 1000)) ]
	[ "$(lowtide rebuild --json | jq .kept_runs)" -eq 0 ]
	[ "$(money_of "$id")" -eq "$charge" ]
}

# plus_one TEAM BEFORE: what is held again once a job of 0.09 came after it.
plus_one() { [ "$(held_micros "$1")" -le $(($2 + 90002)) ] && [ "$(held_micros "$1")" -gt "$2" ]; }
@test "a stranger's change: Invalid user id, and no money of the team is held" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	mine -A victim --hold $ONE
	known "$id"
	local before
	before=$(held_micros victim)
	for limit in 5-0 9-0 2:00 7-0; do
		run as_stranger scontrol update jobid="$id" timelimit="$limit"
		[ "$status" -ne 0 ]
		[[ "$output" == *'Invalid user id'* ]] || [[ "$output" == *'denied'* ]]
		# Whatever is asked, the answer is one: it tells nothing.
		[[ "$output" != *ccounting* ]]
		[[ "$output" != *lowtide* ]]
		[ "${answer:=$output}" = "$output" ]
	done
	mine -A victim --hold $ONE
	within 15 told "$id"
	marker
	within 10 plus_one victim "$before"
}
@test "an own change that Slurm refuses holds nothing" {
	[ -n "$ROOT" ] || skip 'needs a user who is not SlurmUser'
	mine -A own --hold $ONE
	known "$id"
	local before
	before=$(held_micros own)
	run ! as_user scontrol update jobid="$id" timelimit=UNLIMITED
	run ! as_user scontrol update jobid="$id" oversubscribe=no
	mine -A own --hold $ONE
	within 15 told "$id"
	marker
	within 20 plus_one own "$before"
	# One that Slurm takes is held.
	as_user scontrol update jobid="$id" timelimit=10
	grown() { [ "$(held_micros own)" -ge $((before + 600000)) ]; }
	within 20 grown
}

@test "a period begins: the oldest of those that begin far off is admitted, the rest waits" {
	within 120 is_past "$(date -d 2026-11-01T04:00:05Z +%s)"
	held_back() { [ "$(squeue -h -A far -o '%r' | sort | tr '\n' ' ')" = 'BeginTime JobHeldAdmin ' ]; }
	within 20 held_back
	[ "$(shown "$(head -n 1 "$D/far")" Reason)" = BeginTime ]
}
@test "midnight comes twice: the period contains now" {
	within 120 is_past "$(date -d 2026-11-01T04:00:05Z +%s)"
	is_past "$(date -d 2026-11-01T05:00:00Z +%s)" && skip 'too late: the second midnight is over'
	run -0 lowtide budget --json --team far
	[ "$(jq -r '.budgets[0].label' <<< "$output")" = 2026-11 ]
	[ "$(jq -r '.budgets[0].start' <<< "$output")" = 2026-11-01T04:00:00Z ]
}
@test "--begin beyond the known periods, then now: refused, and by scontrol asked for in full" {
	mine -A now --begin="$(date -d 'now + 120 days' +%F)" $ONE
	within 15 told "$id"
	run -1 lowtide now "$id"
	[[ "$output" == *"is its user's own begin time"* ]]
	marker
	! is "$id" RUNNING
	paid now 10000
	run as_user scontrol update jobid="$id" starttime=now
	marker
	paid now 10000
}
@test "each run from scrontab is admitted" {
	newer 24.11 && command -v scrontab >/dev/null || skip "needs scrontab, this is Slurm $SLURM"
	ran() { [ "$(spent_micros cron)" -ge 10001 ]; }
	within 150 ran
	next_minute=$(($(date +%s) / 60 * 60 + 65))
	within 90 is_past "$next_minute"
	marker
	paid cron 70000
}
@test "lowtided down over a period's start: the same" {
	part stop lowtided
	part stop slurmctld
	clock_is 2026-12-01T05:10:00Z
	part start slurmctld
	part start lowtided
	held_back() { [ "$(squeue -h -A later -o '%r' | sort | tr '\n' ' ')" = 'BeginTime JobHeldAdmin ' ]; }
	within 40 held_back
}
@test "lowtided down, the clock set out of the known periods: nobody starts" {
	december() { [ "$(lowtide budget --json --team now | jq -r '.budgets[0].label')" = 2026-12 ]; }
	within 30 december
	sleep 3 # it is written, too
	part stop lowtided
	# slurmctld reads it while the clock is right.
	for _ in 1 2; do mine -A free $ONE; sleep 1; done
	for at in 2026-11-30T12:00:00Z 2027-02-15T12:00:00Z; do
		clock_is $at
		mine -A now $ONE
		[[ "$said" == *'the clock was set since lowtided wrote the balance'* ]]
		[ "$(scontrol show job "$id" | grep -o 'Priority=[0-9]*')" = Priority=0 ]
	done
	clock_is 2026-12-01T05:15:00Z
	part start lowtided
}
@test "the clock set out of the known periods under lowtided: what is held stays so" {
	set_times() { grep -c event=clock_was_set "$D/log/lowtided.out" || true; }
	is_held() { [ "$(squeue -h -j "$id" -o '%r %Q')" = 'JobHeldAdmin 0' ]; }
	mine -A never $ONE
	within 40 is_held
	for at in 2026-10-20T12:00:00Z 2027-03-15T12:00:00Z 2026-12-01T05:30:00Z; do
		before=$(set_times)
		clock_is $at
		was_set() { [ "$(set_times)" -gt "$before" ]; }
		within 20 was_set
		sleep 5
		is_held
	done
	run ! grep "event=released job=$id " "$D/log/lowtided.out"
	scancel "$id"
}
