#!/usr/bin/env bats
# Each fault of tests/cluster/faults: doctor finds it, as the one finding, and
# after what it says to do, done to the letter, finds nothing.
load helper
load faults

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip 'needs root to give files to others'
	export SPANK_ARGS='preemptible=spot:0.02:120 precision=account:vision:off,qos:normal:fp16,partition:spot:bf16 power_cap=yes'
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
  h100: {accepts: [gpu, cpu], carbon: 300, price_per_gpu_hour: 4.50, gpu: H100-SXM5}
budgets:
  - {team: vision, period: month, amount: 10000}
  - {team: nlp, period: month, amount: 1000}
classes:
  big: {qos: normal, account: vision, default: carbon, max_interruptions: 3}
  quick: {account: nlp, partition: h100, default: cost, max_interruptions: 2}
precision:
  - {account: vision, amp: off}
  - {qos: normal, amp: fp16}
  - {partition: spot, amp: bf16}
power_cap:
  above: 400
  rules:
    - {partition: h100, qos: normal, account: nlp, gpu_freq: 1200, slow_down: 1.08, power: 0.75}
labels:
  vision: {cost_center: \"4711\"}
"
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	. "$D/env"
	write_systemctl
	sbatch -A vision --time=1 --hold -o /dev/null --wrap true
	cp -a "$D/etc" "$D/etc.well"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# As it was before, for the fault after one that was not mended.
restore() {
	cp -a "$D"/etc.well/. "$D/etc/"
	chmod 755 "$D/etc" "$D/run/lowtide"
	chmod 700 "$D/lowtide"
	chown -R root "$D/lowtide"
	for daemon in munged slurmdbd slurmctld lowtided; do
		part stop $daemon
		part start $daemon
	done
}

@test "nothing is found where all is well" {
	within 15 is_well || { findings; false; }
}
@test "a price of a GPU is that of all that a node has" {
	job -A nlp -p h100 --gpus=8 --time=10 --hold -o /dev/null --wrap true
	of_h100() { lowtide explain "$id" > explained && grep 'price  *36 USD.node-h' explained; }
	within 20 of_h100 || { cat explained; false; }
	scancel "$id"
}
@test "files" { faults_of files 20; }
@test "plugstack's line" { faults_of plugstack 21; }
@test "names" { faults_of names 13; }
@test "daemons and slurm.conf" { FAULT_S=40 faults_of slurm 9; }
