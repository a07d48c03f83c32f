#!/usr/bin/env bats
# One judge for every way money gets reserved: a run after a requeue, a period
# that begins, a change, a job's record as slurmctld has it.
load helper

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS='daemon bin news mail'
	export ACCOUNTS='free loop tasks het uheld own dept rights:dept other'
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=v[1-4] NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@,@PORT+2@,@PORT+3@,@PORT+4@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	NodeName=g1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+5@ Gres=gpu:v100:8 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000
	PartitionName=gpu Nodes=g1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=ondemand Nodes=v[1-4] Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	# 1000 micros a second: a node for a minute is held at 0.09, for
	# slurmctld ends it up to 30 s late.
	cluster_up "$(policy enforce)"
	if [ -n "$ROOT" ]; then
		cluster_use
		sacctmgr -iQ add coordinator account=dept names=news
		sacctmgr -iQ modify user mail set adminlevel=operator
		part stop lowtided
		part start lowtided # it reads the tables
	fi
}
policy() { # policy MODE
	cat <<-P
	mode: $1
	currency: USD
	timezone: UTC
	hold_margin: 0
	partitions:
	  ondemand: {price_per_node_hour: 3.60}
	budgets:
	  - {team: loop, period: year, amount: 0.092}
	  - {team: tasks, period: year, amount: 10}
	  - {team: het, period: year, amount: 10}
	  - {team: uheld, period: year, amount: 10}
	  - {team: own, period: year, amount: 10000000}
	  - {team: rights, period: year, amount: 0.50}
	P
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() { # the nodes are free for the next, and lowtided works again
	last_words
	[ -n "$BATS_TEST_COMPLETED" ] || lowtide status >/dev/null 2>&1 ||
	    part start lowtided
	scancel --user daemon 2>/dev/null || true
	scancel --user bin 2>/dev/null || true
	scancel --user "$(id -un)" 2>/dev/null || true
	idle() { [ -z "$(squeue -h -t R,CG)" ]; }
	within 30 idle
}

as_user() { if [ -n "$ROOT" ]; then setpriv --reuid="${PLAIN:-daemon}" --clear-groups "$@"; else "$@"; fi; }
mine() { # mine ARGUMENTS...: a batch job of the plain user's, one node for a minute
	said=$(as_user sbatch --exclusive -N1 --time=1 -o /dev/null "$@" --wrap 'exec sleep 50' 2>&1) ||
	    { echo "$said" >&2; return 1; }
	id=$(sed -n 's/^Submitted batch job //p' <<< "$said")
	[ -n "$id" ]
}
known() { [ "$(lowtide explain --json "$1" | jq -r '.hold.state')" = open ] && told_twice; }
# The terms are written with the sheet after the pass that saw the job.
told_twice() {
	local from
	for _ in 1 2; do
		from=$(lowtide status --json | jq .budget.generation)
		newer() { [ "$(lowtide status --json | jq .budget.generation)" -gt "$from" ]; }
		within 30 newer || return
	done
	sleep .5 # slurmctld looks at files each 0.2 s
}
is() { [ "$(field "$1" '%T %r')" = "$2" ]; }
waits() { [ "$(squeue -h -j "$1" -t PD -o '%r %Q')" = 'JobHeldAdmin 0' ]; }
runs() { [ "$(field "$1" %T)" = RUNNING ]; }
restarts() { scontrol show job "$1" | grep -q "Restarts=$2"; }
soon() { as_user scontrol update jobid="$1" starttime=now; }
# slurmctld looks each minute, or sooner; when a requeued job's nodes are clean
# only now, it lets it wait anew.
starts() { runs "$1" || { soon "$1" 2>/dev/null && sleep 5 && runs "$1"; }; }
explained() { lowtide explain "$1" | grep -q "$2"; }

@test "requeued, it waits until its team has money for another run; so does the next" {
	mine -A loop
	within 20 runs "$id"
	within 10 known "$id"
	within 10 has_run "$id"
	told_twice # the terms know that it runs
	as_user scontrol requeue "$id"
	# Slurm would let it wait for two minutes; nobody shortens that.
	again() { squeue -h -j "$id" -t PD -o %T | grep -q PENDING; }
	within 20 again
	run ! soon "$id"
	within 8 waits "$id" # a pass is 2 s; Slurm waits for 121
	run ! soon "$id"
	if [ -n "$ROOT" ]; then run ! as_user scontrol release "$id"; fi
	# Once the terms have it; until then the next pass holds it again.
	nice_refused() { ! as_user scontrol update jobid="$id" nice=5 2>/dev/null; }
	within 20 nice_refused
	within 20 waits "$id"
	explained "$id" 'Held after a requeue'
	within 120 settled "$id"
	waits "$id" # 0.092 less what it used is not enough
	# For one more, which is held at 0.09, and no third.
	used=$(lowtide budget --team loop --json | jq '.budgets[0].spent_micros')
	lowtide budget adjust --team loop --amount "$(awk -v used="$used" 'BEGIN { printf "%.6f", (0.092 - 0.091) - used / 1e6 }')" \
	    --reason 'for one more'
	released() { [ "$(squeue -h -j "$id" -t PD -o %r)" = BeginTime ]; }
	within 30 released
	soon "$id"
	within 90 starts "$id"
	restarts "$id" 1
	within 20 running_known
	as_user scontrol requeue "$id"
	within 20 waits "$id"
	state_is_found() { [ "$(sacct -nXPDa -S 00:00 -o JobID | grep -cx "$id")" -ge 2 ]; }
	within 60 state_is_found # both runs, in the site's own accounting
}
running_known() { lowtide explain "$id" | grep -q '1 of 1 tasks live'; }

@test "killed just after it admitted a second run, lowtided lets it run, held for once" {
	mine -A own
	within 20 runs "$id"
	within 10 known "$id"
	as_user scontrol requeue "$id"
	admitted() { grep -q "event=run_admitted job=$id " "$D/log/lowtided.out"; }
	within 60 admitted
	kill -KILL "$(cat "$D/run/lowtided.shpid")" # its next pass would tell slurmctld
	part stop lowtided
	waits "$id" # slurmctld was not told
	part start lowtided
	told_released() { [ "$(squeue -h -j "$id" -t PD -o %r)" = BeginTime ]; }
	within 30 told_released
	# The run that ended has its own share until it is charged.
	held_once() { [ "$(lowtide explain --json "$id" | jq '[.hold.live_tasks, (.runs | length)] == [1, 1]')" = true ]; }
	within 90 held_once
	soon "$id"
	within 90 starts "$id"
	restarts "$id" 1
	[ "$(grep -c "event=run_admitted job=$id " "$D/log/lowtided.out")" -eq 1 ]
}

@test "a task of an array, by its own id; the others go on" {
	mine -A tasks --array=1-3
	all_run() { [ "$(squeue -h -r -j "$id" -o %T | sort | uniq -c | tr -s ' ')" = ' 3 RUNNING' ]; }
	within 20 all_run
	within 10 known "$id"
	as_user scontrol requeue "${id}_2"
	again() { squeue -h -j "${id}_2" -t PD -o %T | grep -q PENDING; }
	within 20 again
	run ! soon "${id}_2"
	# There is money for it; the share of the run that ended stays beside it.
	four() { [ "$(budget_of tasks held_micros)" -ge 180000 ] && [ "$(field "${id}_2" %r)" = BeginTime ]; }
	within 40 four
	[ "$(squeue -h -r -j "$id" -t R -o %T | wc -l)" -eq 2 ]
}

@test "a heterogeneous job comes back whole" {
	said=$(as_user sbatch -A het -o /dev/null --exclusive -N1 --time=1 : --exclusive -N1 --time=1 --wrap 'exec sleep 50')
	id=${said##* }
	both() { [ "$(field "$id" '%T' | sort -u)" = RUNNING ]; }
	within 20 both
	within 10 known "$((id + 1))"
	as_user scontrol requeue "$id"
	back() { [ "$(field "$id" '%T' | sort -u)" = PENDING ]; }
	within 20 back
	# Two shares are of the runs that ended, two of the new ones.
	admitted() { [ "$(field "$id" %r | sort -u)" = BeginTime ] && [ "$(run_admitted)" -eq 2 ]; }
	run_admitted() { grep -c "event=run_admitted.* account=het" "$D/log/lowtided.out"; }
	within 40 admitted
}

@test "requeued held by its user: judged, and then its user's to release" {
	mine -A uheld
	within 20 runs "$id"
	within 10 known "$id"
	scontrol requeuehold "$id"
	by_user() { [[ "$(squeue -h -j "$id" -t PD -o %r)" =~ JobHeldUser|requeued.in.held ]]; }
	# Its first hold is as large: not before the new run has one.
	run_admitted() { grep -q "event=run_admitted.* account=uheld" "$D/log/lowtided.out"; }
	locked() { explained "$id" 'Held after a requeue'; }
	admitted() { run_admitted && by_user && [ "$(budget_of uheld held_micros)" -ge 60000 ] && ! locked; }
	within 40 admitted
	as_user scontrol release "$id"
	released() { [ "$(squeue -h -j "$id" -t PD -o %r)" = BeginTime ] || runs "$id"; }
	within 20 released
}

@test "no budget, no hold after a requeue" {
	mine -A free
	within 20 runs "$id"
	within 10 known "$id"
	as_user scontrol requeue "$id"
	again() { [ "$(squeue -h -j "$id" -t PD -o %r)" = BeginTime ]; }
	within 20 again
	# Slurm revokes a run's credential by the second: a second run in it ends
	# as "Job credential revoked".
	sleep 2
	soon "$id"
	within 90 starts "$id"
}

@test "a stranger's change, and one that Slurm refuses, hold nothing" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	mine -A own --hold
	within 10 known "$id"
	local first=$id before
	before=$(budget_of own held_micros)
	for limit in 5-0 2:00 700-0; do
		run ! setpriv --reuid=games --clear-groups scontrol update jobid="$first" timelimit=$limit
		[[ "$output" == *'Invalid user id'* || "$output" == *'denied'* ]]
		[[ "$output" != *ccounting* && "$output" != *lowtide* ]]
	done
	run ! as_user scontrol update jobid="$first" timelimit=UNLIMITED
	within 10 told change_refused
	mine -A own --hold
	within 10 known "$id"
	[ "$(budget_of own held_micros)" -le $((before + 90002)) ]
	# One that Slurm takes is held.
	as_user scontrol update jobid="$first" timelimit=5
	grown() { [ "$(budget_of own held_micros)" -ge $((before + 300000)) ]; }
	within 10 grown
}
told() { grep -q "event=$1 " "$D/log/lowtided.out"; }

@test "who may change a job of others: a coordinator of the account above, an operator" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	mine -A rights --hold
	within 10 known "$id"
	as() { setpriv --reuid="$1" --clear-groups "${@:2}"; }
	for user in news mail; do
		# A node for a minute is 0.09: for 20 it is more than there is.
		run ! as $user scontrol update jobid="$id" timelimit=20
		[[ "$output" == *ccounting* ]]
	done
	run ! as news scontrol update jobid="$id" timelimit=20 account=other
	[[ "$output" == *'Invalid user id'* && "$output" != *ccounting* ]]
	run ! as games scontrol update jobid="$id" timelimit=20
	[[ "$output" == *'Invalid user id'* && "$output" != *ccounting* ]]
	[ "$(budget_of rights held_micros)" -le 90002 ]
	# What fits is held when they ask for it, not a pass later.
	part stop lowtided
	as news scontrol update jobid="$id" timelimit=4
	[ "$(field "$id" %l)" = 4:00 ]
	run ! mine -A rights --time=5 --hold # 0.24 and 0.30
	part start lowtided
	four() { [ "$(budget_of rights held_micros)" -ge 240000 ]; }
	within 20 four
}

@test "lowtided dead: a new job without budget, of a user who has a budget too" {
	[ -n "$ROOT" ] || skip 'a cluster of one user: all are SlurmUser'
	listed() { # the job list of now is in the sheet, a minute after the start
		[ $(($(date +%s) - began)) -ge 63 ] && newer "$before"
	}
	local PLAIN=bin # who has asked for no budget's money yet
	local began before newest
	began=$(stat -c %Y "$D/run/slurmctld.pid")
	before=$(generation)
	within 90 listed
	newest=$(generation)
	within 30 newer "$newest"
	part stop lowtided KILL
	mine -A free --hold
	local free=$id
	as_user scontrol update jobid="$free" timelimit=2
	as_user scontrol release "$free"
	within 20 runs "$free"
	# As soon as he asks for a budget's money, nobody knows which is which.
	mine -A own --hold
	local own=$id
	mine -A free --hold
	run ! as_user scontrol update jobid="$own" timelimit=2
	run ! as_user scontrol release "$own"
	run ! as_user scontrol update jobid="$id" timelimit=2
	part start lowtided
	within 20 known "$own"
	as_user scontrol update jobid="$own" timelimit=2
}
