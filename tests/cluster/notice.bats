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
  ondemand: {carbon: grid, price_per_node_hour: 3.60}
  spot: {carbon: grid, price_per_node_hour: 1.20, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 6m}}
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
node_has() { sinfo -h -N -n "$1" -o %T | head -n 1 | grep -q "$2"; }
runs_on() { state_is "$1" RUNNING && [ "$(of "$1" NodeList)" = "$2" ]; }
runs_elsewhere() { state_is "$1" RUNNING && [ "$(of "$1" NodeList)" != "$2" ] && [ "$(of "$1" NodeList)" != '(null)' ]; }
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
	[[ $output = *admin* ]]
	run lowtide notice
	[ "$output" = 'No node is about to be taken back.' ]
}
