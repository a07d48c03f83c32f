#!/usr/bin/env bats
# The job scripts of examples/jobs on a real Slurm: they checkpoint, go on from
# there after a requeue, and stop early.
load helper

setup_file() {
	export ACCOUNTS='vision'
	export SPANK_ARGS='preemptible=spot:0.02:120'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.36, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
budgets: []
'
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	mkdir -p "$BATS_TEST_NUMBER"
	cd "$BATS_TEST_NUMBER"
	cp "$PROJECT"/examples/jobs/* .
	out=out # of the job
}

says() { grep -q -- "$1" out; }
is_waiting() { [[ "$(scontrol show job "$id")" == *JobState=PENDING* ]]; }
again() { # the job runs anew, without Slurm's two minutes
	scontrol requeue "$id"
	within 40 is_waiting
	# slurmd takes no credential of the second in which it revoked the last.
	sleep 2
	scontrol update job="$id" starttime=now
}
numbers() { sed -nE "s/^$1 ([0-9]+).*/\1/p" out; } # numbers "checkpoint at"

# requeued COMMAND...: what it wrote last is where it goes on, once.
requeued() {
	job -A vision -p spot --time=5 --requeue --open-mode=append -o out --checkpoint=every=2s "$@"
	within 60 says '^checkpoint at'
	again
	within 60 says '^resumed at .*restart 1'
	within 90 state_is "$id" COMPLETED
	cat out
	says '^stopped early by .*TERM'
	[ "$(numbers 'resumed at')" -gt 0 ]
	[ "$(sed -n '/^resumed at/q; p' out | sed -nE 's/^checkpoint at ([0-9]+).*/\1/p' | tail -n 1)" -eq "$(numbers 'resumed at')" ]
	[ "$(grep -c '^checkpoint at' out)" -ge 3 ]
}

@test "the counter goes on where it was after a requeue" {
	requeued counter.sh 12
	says '^counted to 12$'
	[ ! -e counter.checkpoint ]
}

@test "the counter stops early by USR1, and the next job goes on" {
	job -A vision -p spot --time=5 -o out counter.sh 8
	within 40 state_is "$id" RUNNING
	sleep 3
	scancel -b -s USR1 "$id"
	within 40 state_is "$id" COMPLETED
	cat out
	says '^stopped early by USR1'
	[ "$(numbers 'checkpoint at')" -eq "$(cat counter.checkpoint)" ]
	local from
	from=$(cat counter.checkpoint)
	job -A vision -p ondemand --time=5 -o out counter.sh 8
	within 60 state_is "$id" COMPLETED
	says "^resumed at $from, restart 0"
	says '^counted to 8$'
}

@test "the training writes a checkpoint at USR1 and goes on, and stops early by TERM" {
	python3 -c 'import torch' 2> /dev/null || skip "needs python3-torch"
	sed -i 's/--steps 100000/--steps 2000 --pause 0.15/; s/--gpus=8 //' train-checkpoint.sh
	job -A vision -p spot --time=5 -o out --checkpoint=every=2s train-checkpoint.sh
	within 60 says '^checkpoint at'
	scancel -s USR1 "$id"
	within 10 says '^asked for it by SIGUSR1'
	sleep 1
	[ "$(squeue -h -j "$id" -o %T)" = RUNNING ]
	[ -s train.progress ]
	scancel -s TERM "$id"
	within 40 state_is "$id" COMPLETED
	cat out
	says '^stopped early by SIGTERM'
	[ -s train.checkpoint ]
}

@test "the training goes on where it was after a requeue" {
	python3 -c 'import torch' 2> /dev/null || skip "needs python3-torch"
	sed -i 's/--steps 100000/--steps 80 --pause 0.15/; s/--gpus=8 //' train-checkpoint.sh
	requeued train-checkpoint.sh
	says '^trained 80 steps: y = '
}
