#!/usr/bin/env bats
# A site from its first day: the policy that init writes, budgets in carbon,
# those that only warn, a balance that went stale, a login node of its own.
load helper

setup_file() {
	export ACCOUNTS='vision free warned green'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
on_unknown: reject
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
  h100: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 36, gpu: H100-SXM5}
budgets:
  - {team: vision, period: quarter, amount: 10000}
  - {team: warned, period: year, amount: 0.50, on_exceed: warn}
  - {team: green, period: {from: 2026-01-01, to: 2099-01-01}, kg_co2e: 0.5}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

@test "the policy that init writes from this Slurm is good, and observes" {
	lowtide init --output "$D/first.yaml"
	run -0 lowtide check "$D/first.yaml"
	grep -q '^mode: observe' "$D/first.yaml"
	for p in ondemand spot h100; do grep -q "^  $p:" "$D/first.yaml"; done
	run ! lowtide init --output "$D/first.yaml" # never over a file
}

@test "a carbon budget refuses in kilograms" {
	run ! sbatch -A green --gpus=8 -N1 --time=10:00:00 --wrap true
	[[ "$output" == *'green has 500 g of 500 g CO2e left'* ]]
	job -A green --gpus=1 -N1 --time=10 --hold --wrap true
	scancel "$id"
}

@test "on_exceed: warn says so and lets the job run" {
	job -A warned --gpus=8 -N1 --time=1:00:00 --wrap 'sleep 1'
	[[ "$said" == *'over the budget: $0.50 left of $0.50 in warned'*', it may cost $'* ]]
	within 30 done_job "$id"
	within 120 settled "$id"
}

@test "a balance older than a minute is unknown: on_unknown, for budgeted teams only" {
	kill -STOP "$(cat "$D/run/lowtided.shpid")"
	unknown() { ! sbatch -A vision -n1 --time=1 --hold --wrap true 2>"$D/why"; }
	within 90 unknown
	grep -q 'vision has a budget, and its balance is not known' "$D/why"
	job -A free -n1 --time=1 --wrap true
	kill -CONT "$(cat "$D/run/lowtided.shpid")"
	known() { sbatch -A vision -n1 --time=1 --wrap true 2>/dev/null; }
	within 30 known
	scancel --user "$(id -un)" --state=PENDING
}

@test "lowtided --follow keeps the market of another host, and goes on without it" {
	mkdir "$D/login"
	LOWTIDE_RUN_DIR=$D/login lowtided --follow "127.0.0.1:$LOWTIDE_PORT" \
	    >"$D/log/follow.out" 2>&1 3>&- 4>&- &
	follower=$!
	echo "$follower" > "$D/run/follow.shpid"
	same() { cmp -s "$D/login/market" "$D/run/lowtide/market"; }
	within 30 same
	part stop lowtided
	kill -0 "$follower"
	test -s "$D/login/market"
	part start lowtided
	within 90 same
	kill "$follower"
}
