#!/usr/bin/env bats
# job_submit that has read no budget snapshot since slurmctld's start: budgets
# are not off without a word.
load helper

setup_file() {
	export ACCOUNTS='vision free' ME; ME=$(id -un)
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
on_unknown: hold
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90, gpu: V100-SXM2}
budgets:
  - {team: vision, period: month, amount: 20}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() {
	last_words
	scancel -u "$(id -un)"
	part stop lowtided
	part start lowtided
	within 20 whole
}
whole() { [ -s "$D/lowtide/budget" ] && [ -s "$D/run/lowtide/bound" ] && [ -s "$D/run/lowtide/market" ]; }

# without FILE...: a slurmctld that starts without these, and no lowtided.
without() {
	part stop lowtided
	rm -f "$@"
	part stop slurmctld
	part start slurmctld
	idle() { [ "$(sinfo -h -o %T | sort -u)" = idle ]; }
	within 60 idle
}
asks() { job --time=1:00:00 --exclusive --wrap 'sleep 1' "$@"; }
is_held() { # is_held TEXT: by lowtide, which says why
	[[ "$said" == *"held until the balance "*"is known: "*"$1"* ]] || { echo "$said"; return 1; }
	[ "$(field "$id" %T)" = PENDING ]
	[[ "$(field "$id" %r)" == JobHeld* ]]
}
is_let_go() { [[ "$said" != *"held until"* && "$(field "$id" %r)" != JobHeld* ]]; }
log_has() { grep -q "$1" "$D/log/slurmctld.log"; }

@test "no snapshot: who is bound is held, by account and by default; others run" {
	without "$D/lowtide/budget"
	asks -A vision
	is_held "budget snapshot can't be read"
	first=$id
	asks -A free
	is_let_go
	within 30 state_is "$id" COMPLETED
	# The default account is vision.
	sacctmgr -iQ modify user "$(id -un)" set defaultaccount=vision
	asks
	is_held "budget snapshot can't be read"
	log_has "budget: not read since slurmctld's start; jobs that a budget binds meet on_unknown"
	run lowtide doctor
	[[ "$output" == *"budget is not there: "*"goes by on_unknown for all whom a budget binds"* ]]
	# What was held runs, and is charged, once the balance is known.
	part start lowtided
	within 60 state_is "$first" COMPLETED
	within 60 settled "$first"
	scancel "$id"
}

@test "a snapshot of another owner is none" {
	[ -n "$ROOT" ] || skip 'needs root'
	part stop lowtided
	chown daemon "$D/lowtide/budget"
	part stop slurmctld
	part start slurmctld
	asks -A vision
	is_held "budget snapshot can't be read"
	asks -A free
	is_let_go
	chown "$(id -u)" "$D/lowtide/budget"
}

@test "a job that waits can't be made dearer, either" {
	asks -A vision --begin=now+1hour
	within 20 known "$id"
	without "$D/lowtide/budget"
	run ! scontrol update job="$id" TimeLimit=3:00:00
	run -0 scontrol update job="$id" TimeLimit=30:00
	scancel "$id"
}

@test "nor the market: one word in the state directory decides" {
	[ "$(stat -c %a "$D/lowtide/budgets")" = 644 ]
	[ "$(cat "$D/lowtide/budgets")" = yes ]
	without "$D/lowtide/budget" "$D"/run/lowtide/{bound,market}
	asks -A vision
	is_held "budgets are in force, no snapshot can be read"
	run lowtide doctor
	[[ "$output" == *"budget is not there: "*"holds every job, for budgets are in force"* ]]
	echo no > "$D/lowtide/budgets"
	sleep 1
	asks -A vision
	is_let_go
	log_has "budget: not read since slurmctld's start; no budget is known, and jobs pass"
	scancel "$id"
}

@test "nor that: jobs pass, and slurmctld says so" {
	without "$D/lowtide/budget" "$D/lowtide/budgets" "$D"/run/lowtide/{bound,market}
	: > "$D/log/slurmctld.log"
	run lowtide doctor
	[[ "$output" == *"budget is not there: "*"knows of no budget: jobs pass"* ]]
	asks -A vision
	is_let_go
	scancel "$id"
	part stop slurmctld
	: > "$D/log/slurmctld.log"
	part start slurmctld
	asks -A vision
	is_let_go
	log_has "no budget is known, and jobs pass"
}

@test "a policy without budgets, or that may refuse nothing, says no" {
	sed -i 's/^mode: enforce/mode: advise/' "$D/etc/lowtide.yaml"
	says_no() { [ "$(cat "$D/lowtide/budgets")" = no ]; }
	within 20 says_no
	sed -i 's/^mode: advise/mode: enforce/' "$D/etc/lowtide.yaml"
	says_yes() { [ "$(cat "$D/lowtide/budgets")" = yes ]; }
	within 20 says_yes
}
