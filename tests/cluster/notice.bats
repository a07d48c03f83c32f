#!/usr/bin/env bats
# Nodes that their owner takes back: their jobs are asked for a checkpoint,
# requeued and started elsewhere, on time; nothing twice, whoever dies.
load tricks

setup_file() {
	export ACCOUNTS=vision TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export EXTRA='KillWait=5'
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
sources:
  grid: {adapter: climatology, zone: GB, emission_factors: direct}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 3.60}
  spot: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 1.20, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: year, amount: 10000}
"
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
}
of() { scontrol show job "$1" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
state_is() { [ "$(of "$1" JobState)" = "$2" ]; }
node_has() { scontrol show node "$1" | grep -qE "State=[A-Z+]*$2"; }
runs_elsewhere() { state_is "$1" RUNNING && [ "$(of "$1" NodeList)" != "$2" ] && [ "$(of "$1" NodeList)" != '(null)' ]; }
restarted() { [ "$(of "$id" Restarts)" = "$1" ]; }
no_notice() { [ "$(lowtide notice --json | jq '.notices | length')" -eq 0 ]; }
counter() { # counter NAME: counts to a file, keeps its count at USR1 and goes on from there
	script "$1" "
srun sh -c '
n=\$(cat $1.saved 2>/dev/null || echo 0)
echo \"from \$n\" >> $1.log
trap \"echo \\\$n > $1.saved; echo signal >> $1.log\" USR1
while :; do n=\$((n + 1)); echo \$n > $1.count; sleep .2; done'"
}

@test "an admin alone may tell; a node that is not there is refused" {
	run lowtide notice nowhere
	[ "$status" -eq 1 ]
	[[ $output = *nowhere* ]]
	run lowtide notice v1 --in nonsense
	[ "$status" -eq 2 ]
	run as_user lowtide notice v1
	[ "$status" -eq 1 ]
	[[ $output = *root* ]] || { echo "$output"; false; }
	run lowtide notice
	[ "$output" = 'No node is about to be taken back.' ]
}

@test "a job that said a signal hears it at once, and goes on elsewhere from where it was" {
	local id
	counter one
	job -A vision -p spot --checkpoint=signal=USR1,write=1s --time=30 -n1 one
	within 20 state_is "$id" RUNNING
	local was
	was=$(of "$id" NodeList)
	within 20 test -s one.count
	lowtide notice "$was" --in 40s > out
	grep -q "^$was " out
	within 20 grep -q signal one.log
	node_has "$was" DRAIN
	scontrol show node "$was" | grep -q 'Reason=lowtide: taken back at '
	# KillWait and five seconds before the end, and not before.
	state_is "$id" RUNNING && [ "$(of "$id" Restarts)" = 0 ]
	within 70 runs_elsewhere "$id" "$was"
	[ "$(of "$id" Restarts)" = 1 ]
	within 10 grep -q 'from [1-9]' one.log
	[ "$(grep -c signal one.log)" -eq 1 ]
	[ "$(grep -c 'event=reclaimed job='"$id"' step=requeued' "$LOG")" -eq 1 ]
	within 30 grep -q "event=notice_over node=$was" "$LOG"
	[ "$(lowtide notice)" = 'No node is about to be taken back.' ]
	end "$id"
	scontrol update nodename="$was" state=resume
}

@test "who may not be requeued is signalled and left; told twice is told once" {
	local id was
	counter two
	job -A vision -p spot --no-requeue --checkpoint=signal=USR1,write=1s --time=30 -n1 two
	within 20 state_is "$id" RUNNING
	was=$(of "$id" NodeList)
	within 20 test -s two.count
	lowtide notice "$was" --in 60s > /dev/null
	lowtide notice "$was" --in 12s > /dev/null
	within 20 grep -q signal two.log
	within 30 grep -q "event=notice_over node=$was down=1" "$LOG"
	# Its slurmd lives here and brings it back; the job is gone with it.
	ended_by() { [ "$(sacct -nXP -j "$id" -o State | head -n 1)" = NODE_FAIL ]; }
	within 20 ended_by
	[ "$(grep -c signal two.log)" -eq 1 ]
	[ "$(grep -c 'event=reclaimed job='"$id"' step=requeued' "$LOG")" -eq 0 ]
	scontrol update nodename="$was" state=resume
	end "$id" || true
}

@test "withdrawn, the node is as it was, and an admin's own reason stays" {
	local id was
	sleeper -A vision -p spot
	within 20 state_is "$id" RUNNING
	was=$(of "$id" NodeList)
	lowtide notice "$was" --in 60s > /dev/null
	node_has "$was" DRAIN
	lowtide notice "$was" --withdraw
	within 20 node_has "$was" MIXED
	! node_has "$was" DRAIN || false
	run lowtide notice "$was" --withdraw
	[ "$status" -eq 1 ]
	lowtide notice "$was" --in 60s > /dev/null
	scontrol update nodename="$was" state=drain reason='a broken fan'
	lowtide notice "$was" --withdraw
	node_has "$was" DRAIN
	scontrol update nodename="$was" state=resume
	end "$id"
}

@test "a job of two nodes is requeued once, and lowtided killed at any step loses nothing" {
	local id n
	job -A vision -p ondemand -N2 --checkpoint --time=30 --wrap 'srun sleep 600'
	within 20 state_is "$id" RUNNING
	for n in v1 v2; do lowtide notice $n --in 14s > /dev/null; done
	for n in 1 2 3 4 5 6; do
		sleep 2
		part stop lowtided KILL
		part start lowtided
	done
	requeued() { [ "$(of "$id" Restarts)" = 1 ]; }
	within 30 requeued
	no_notice() { [ "$(lowtide notice)" = 'No node is about to be taken back.' ]; }
	within 40 no_notice
	sleep 3
	requeued
	for n in v1 v2; do scontrol update nodename=$n state=resume; done
	within 20 state_is "$id" RUNNING
	requeued
	end "$id"
}

@test "told while slurmctld is away, the node is drained when it is back" {
	part stop slurmctld
	lowtide notice a1 --in 60s | grep -q '^a1 '
	part start slurmctld
	drained() { scontrol show node a1 | grep -q 'Reason=lowtide: taken back'; }
	within 40 drained
	within 20 lowtide notice a1 --withdraw
}

@test "of an array only the tasks that are there, also by the one with the array's own id" {
	local other own where
	script tasks '
srun sh -c "trap \"echo signal >> task.\$SLURM_ARRAY_TASK_ID\" USR1; while :; do sleep .2; done"'
	job -A vision -p spot --array=0-1 -N1 --exclusive --checkpoint=signal=USR1,write=1s --time=30 tasks
	both_run() { [ "$(squeue -h -r -j "$id" -t R -o %i | wc -l)" -eq 2 ]; }
	within 20 both_run
	sleep 2
	# The last task of an array keeps its id, by which Slurm means all of them.
	own=$(squeue -h -r -j "$id" -o '%A %i' | awk -v id="$id" '$1 == id { print $2 }')
	other=$(squeue -h -r -j "$id" -o '%A %i' | awk -v id="$id" '$1 != id { print $2 }')
	[ -n "$own" ]
	[ -n "$other" ]
	where=$(squeue -h -j "$own" -o %N)
	lowtide notice "$where" --in 14s > /dev/null
	requeued() { [ "$(of "$own" Restarts)" = 1 ]; }
	within 20 requeued
	[ "$(of "$other" Restarts)" = 0 ]
	[ "$(of "$other" JobState)" = RUNNING ]
	[ "$(cat "task.${own#*_}")" = signal ]
	[ ! -e "task.${other#*_}" ]
	within 30 grep -q "event=notice_over node=$where" "$LOG"
	scontrol update nodename="$where" state=resume
	within 30 both_run || { squeue -r -o '%A %i %T %r %S'; scontrol show job "$own"; false; }
	scancel "$id"
}

@test "a heterogeneous job is requeued whole, once, when the node of a part leaves" {
	local where
	script parts '
#SBATCH hetjob
srun sleep 600'
	job -A vision -p spot -n1 --time=30 : -A vision -p ondemand -n1 --time=30 parts
	parts_run() { [ "$(squeue -h -j "$id" -t R -o %i | wc -l)" -eq 2 ]; }
	within 30 parts_run
	where=$(squeue -h -j "$id" -t R -o "%i %N" | sed -n "s/.*+1 //p")
	[ -n "$where" ]
	lowtide notice "$where" --in 14s > /dev/null
	restarts() { [ "$(scontrol show job "$id" | grep -o 'Restarts=[0-9]*' | sort | uniq -c | xargs)" = "$1" ]; }
	within 20 restarts '2 Restarts=1'
	within 30 grep -q "event=notice_over node=$where" "$LOG"
	restarts '2 Restarts=1'
	scontrol update nodename="$where" state=resume
	scancel "$id"
}

@test "withdrawn and told again, a job is asked again" {
	local was
	counter three
	job -A vision -p spot --checkpoint=signal=USR1,write=1s --time=30 -n1 three
	within 20 state_is "$id" RUNNING
	was=$(of "$id" NodeList)
	within 20 test -s three.count
	lowtide notice "$was" --in 60s > /dev/null
	within 20 grep -q signal three.log
	lowtide notice "$was" --withdraw
	sleep 3
	lowtide notice "$was" --in 60s > /dev/null
	twice() { [ "$(grep -c signal three.log)" -eq 2 ]; }
	within 20 twice
	lowtide notice "$was" --withdraw
	end "$id"
}

@test "what lowtided finds after the end goes on elsewhere, and a restart forgets no node" {
	local was
	counter late
	job -A vision -p spot --checkpoint=signal=USR1,write=1s --time=30 -n1 late
	within 20 state_is "$id" RUNNING
	was=$(of "$id" NodeList)
	within 20 test -s late.count
	lowtide notice "$was" --in 12s > /dev/null
	part stop lowtided KILL
	sleep 12
	part start lowtided
	within 20 restarted 1
	within 20 state_is "$id" RUNNING
	within 20 no_notice
	# The node was left the time to end it.
	grep -q "event=notice_over node=$was down=0" "$LOG"
	was=$(of "$id" NodeList)
	lowtide notice "$was" --in 60s > /dev/null
	part stop lowtided KILL
	part start lowtided
	[ "$(lowtide notice --json | jq -r '.notices[].node')" = "$was" ]
	lowtide notice "$was" --withdraw
	end "$id"
}
