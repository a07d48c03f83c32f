#!/usr/bin/env bats
# A coordinator moves an account out of its team: the team's budget binds it
# until an admin accepts that.
load tricks

setup_file() {
	export ACCOUNTS='vision sub:vision other'
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3600, gpu: V100-SXM2}
budgets:
  - {team: vision, period: month, amount: 2000}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
asks() { sbatch -A sub -p ondemand --exclusive -N1 --time=60 "$@" --wrap 'sleep 5' 2>&1; }
# Slurm's tables are read each minute, and at a reload.
reread() { kill -HUP "$(lowtide status --json | jq .pid)"; }
moved_is() { [ "$(lowtide status --json | jq -c '[.moved[] | [.account, .from, .to]]')" = "$1" ]; }
spent() { budget_of vision spent_micros; }
has_spent() { [ "$(spent)" -gt 0 ]; }

@test "its past stays with the team, and its jobs are refused as before" {
	job -A sub -p ondemand --exclusive -N1 --time=10 --wrap 'sleep 5'
	within 60 settled "$id"
	within 20 has_spent
	was=$(spent)
	run ! asks
	[[ "$output" == *"vision has "* ]]
	sacctmgr -iQ modify account sub set parent=other
	reread
	within 20 moved_is '[["sub","vision","other"]]'
	[ "$(spent)" = "$was" ]
	run ! asks
	[[ "$output" == *"vision has "* ]]
	grep -q 'event=account_moved account=sub from=vision to=other' "$D"/log/lowtided*.out
	run lowtide doctor
	[[ "$output" == *"sub was moved from vision to other: until an admin accepts it"* ]]
	run -0 lowtide budget moved
	[[ "$output" == "sub: from vision to other; "*"lowtide budget moved sub --accept" ]]
	# A restart, or a report, changes nothing.
	part stop lowtided
	part start lowtided
	within 20 moved_is '[["sub","vision","other"]]'
	within 20 known_balance
	[ "$(spent)" = "$was" ]
}
known_balance() { lowtide status --json | jq -e .budget.ready > /dev/null; }

@test "who is no admin accepts nothing" {
	[ -n "$ROOT" ] || skip 'needs root'
	run ! as_user lowtide budget moved sub --accept
	moved_is '[["sub","vision","other"]]'
	run ! lowtide budget moved vision --accept
	[[ "$output" == *"vision: not one that was moved"* ]]
}

@test "accepted, it is where Slurm has it" {
	run -0 lowtide budget moved sub --accept
	[[ "$output" == "sub is below other from now on, with what it has spent" ]]
	within 20 moved_is '[]'
	free() { [ "$(spent)" = 0 ] && asks --begin=now+1hour > "$D/said"; }
	within 20 free
	grep -q 'event=account_accepted account=sub from=vision to=other uid=' "$D"/log/lowtided*.out
	# Its past can't fill the team: back is a move, too.
	sacctmgr -iQ modify account sub set parent=vision
	reread
	within 20 moved_is '[["sub","other","vision"]]'
	[ "$(spent)" = 0 ]
}
