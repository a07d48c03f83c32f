#!/usr/bin/env bats
# What stands twice by mistake does its work once: lowtide in JobSubmitPlugins,
# and lowtided on a host.
load helper

setup_file() {
	export ACCOUNTS='vision' SUBMIT=0
	export EXTRA='JobSubmitPlugins=lowtide,lowtide'
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
budgets:
  - {team: vision, period: month, amount: 10}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
held() { budget_of vision held_micros; }
held_is() { [ "$(held)" = "$1" ]; }

@test "a job is held once, and told once" {
	within 10 held_is 0
	job -A vision -p ondemand --exclusive --time=1:00:00 --begin=now+1hour --wrap true
	within 10 known "$id"
	one=$(held)
	[ "$one" -gt 3600000 ]
	[ "$one" -lt 4000000 ]
	# A change once, too: of 2 h, of 10 in all.
	scontrol update job="$id" TimeLimit=2:00:00
	rises() { [ "$(held)" -gt $((one * 19 / 10)) ]; }
	within 10 rises
	[ "$(held)" -lt $((one * 21 / 10)) ]
	run ! sbatch -A vision -p ondemand --exclusive --time=2:00:00 --wrap true
	[ "$(grep -c 'would need' <<< "$output")" -le 1 ]
	scancel "$id"
	within 30 held_is 0
}

@test "job after job is judged, whoever came before" {
	local i ids=()
	for i in 1 2; do
		job -A vision -p ondemand --exclusive --time=1:00:00 --begin=now+1hour --wrap true
		ids+=("$id")
		is_free() { [ "$(field "$id" %r)" = BeginTime ]; }
		within 20 is_free # the second once lowtide has seen the first
	done
	run ! sbatch -A vision -p ondemand --exclusive --time=1:00:00 --begin=now+1hour --wrap true
	run ! scontrol update job="${ids[0]}" TimeLimit=3:00:00
	scancel "${ids[@]}"
}

@test "slurmctld's log and doctor say so" {
	grep -q 'lowtide: JobSubmitPlugins names lowtide more than once' "$D/log/slurmctld.log"
	run lowtide doctor
	[[ "$output" == *"JobSubmitPlugins=lowtide,lowtide names lowtide more than once"* ]]
}

@test "a second lowtided on the port does not start" {
	mkdir -p "$D/second/run"
	run -1 timeout 20 lowtided --state "$D/second" --run "$D/second/run"
	[[ "$output" == *"port $LOWTIDE_PORT: another program listens there"* ]]
	lowtide status > /dev/null
	[ "$(lowtide status --json | jq .pid)" -gt 0 ]
}
