#!/usr/bin/env bats
# One line: SPANK alone decides in the client; lowtided's sweep finds what
# goes past it.
load helper

setup_file() {
	export ACCOUNTS='vision tiny' SUBMIT=0
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
partitions:
  ondemand: {carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {carbon: 300, price_per_node_hour: 0.90, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: month, amount: 10000}
  - {team: tiny, period: month, amount: 0.50}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

@test "a carbon-aware job is placed by SPANK in the client" {
	job -A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: spot"* ]]
	running_in_spot() { [ "$(field "$id" '%T %P')" = 'RUNNING spot' ]; }
	within 20 running_in_spot
	scancel "$id"
}

@test "a job that did not ask stays where it was sent, without a word" {
	job -A vision --gpus=1 --time=10 --wrap 'sleep 1'
	[[ "$said" != *lowtide* ]]
	within 30 done_job "$id"
	# slurmdbd learns the partition of a short job some seconds later.
	at_home() { [ "$(sacct -nXP -j "$id" -o Partition)" = ondemand ]; }
	within 30 at_home
	within 120 settled "$id"
	[ "$(money_of "$id")" -gt 0 ]
}

@test "sbatch of a team at its limit is refused, and told why" {
	run ! sbatch -A tiny --gpus=8 -N1 --time=1:00:00 --wrap true
	[[ "$output" == *'tiny has $0.50 of $0.50 left'* ]]
	[[ "$output" == *'$3.60'* ]]
}

@test "what slips past the plugin is held by the sweep within ten seconds" {
	: > "$D/empty.conf"
	sed "s|^PlugStackConfig=.*|PlugStackConfig=$D/empty.conf|" "$D/etc/slurm.conf" > "$D/etc/bare.conf"
	id=$(SLURM_CONF=$D/etc/bare.conf sbatch --parsable -A tiny --begin=now+30 --gpus=8 -N1 --time=1:00:00 --wrap 'sleep 30')
	held() { [ "$(field "$id" %r)" = JobHeldAdmin ]; }
	within 10 held
	scancel "$id"
}

@test "plan answers with the table and submits nothing" {
	run -0 lowtide plan -- -A vision --gpus=8 -N1 --time=8:00:00 --wrap true
	[[ "$output" == *spot* ]]
	[[ "$output" == *ondemand* ]]
	[ -z "$(squeue -h)" ] || ! squeue -h -o %j | grep -q plan
}

@test "with the daemon dead and the market gone sbatch goes on" {
	part stop lowtided KILL
	job -A vision --gpus=1 --time=10 --wrap true
	mv "$D/run/lowtide" "$D/run/away"
	job -A vision --carbon-aware --gpus=1 --time=10 --wrap true
	job -A tiny --gpus=1 --time=1 --wrap true
	mv "$D/run/away" "$D/run/lowtide"
	part start lowtided
}

@test "login and compute nodes that have none of lowtide's directories" {
	[ -n "$ROOT" ] || skip 'needs root for a mount namespace'
	script inside "mount -t tmpfs none $D/run/lowtide && mount -t tmpfs none $D/lowtide &&
exec sbatch --parsable -A vision --gpus=1 --time=10 --wrap 'echo ok'"
	id=$(unshare -m ./inside)
	within 30 done_job "$id"
	[ "$(cat "slurm-$id.out")" = ok ]
}
