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
teardown() { last_words; kill -CONT "$(cat "$D/run/lowtided.shpid")" || true; }
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

@test "accepted, its past stays with the team that paid it" {
	was=$(spent)
	run -0 lowtide budget moved sub --accept
	[[ "$output" == "sub is below other from now on; what it has spent stays with vision" ]]
	within 20 moved_is '[]'
	free() { asks --begin=now+1hour > "$D/said"; }
	within 20 free
	end "$(sed -n 's/^Submitted batch job //p' "$D/said")"
	grep -q 'event=account_accepted account=sub from=vision to=other uid=' "$D"/log/lowtided*.out
	[ "$(spent)" = "$was" ]
	# What it runs from now on is the other team's.
	job -A sub -p ondemand --exclusive -N1 --time=10 --wrap 'sleep 5'
	within 60 settled "$id"
	[ "$(spent)" = "$was" ]
	[ "$(cost_below vision)" = "$was" ]
	[ "$(cost_below other)" = "$(runs_of "$id" money_micros)" ]
	[ "$(cost_below other)" -gt 0 ]
	# With all below, sub has a row below each, with what was booked there.
	lowtide report --tree --json > "$D/tree.json"
	[ "$(jq -c '[.tree[] | select(.team == "sub").parent] | sort' "$D/tree.json")" = '["other","vision"]' ]
	[ "$(jq '.tree[] | select(.team == "vision").cost_micros' "$D/tree.json")" = "$was" ]
	[ "$(jq '.tree[] | select(.team == "other").cost_micros' "$D/tree.json")" = "$(cost_below other)" ]
	[ "$(jq '[.tree[].own_micros] | add' "$D/tree.json")" = "$(jq .total.cost_micros "$D/tree.json")" ]
	# Back is a move, too.
	sacctmgr -iQ modify account sub set parent=vision
	reread
	within 20 moved_is '[["sub","other","vision"]]'
	[ "$(spent)" = "$was" ]
	run -0 lowtide budget moved sub --accept
	within 20 moved_is '[]'
	[ "$(spent)" = "$was" ]
}
# Of all that a report of the team has.
cost_below() { lowtide report --team "$1" --format json | jq '[.teams[].cost_micros] | add // 0'; }

@test "a new account that its coordinator moves before anybody looks stays, too" {
	[ -n "$ROOT" ] || skip 'needs root'
	sacctmgr -iQ add user daemon account=vision
	sacctmgr -iQ add coordinator account=vision names=daemon
	# Elsewhere he can make none.
	run ! as_user sacctmgr -iQ add account theirs parent=other
	run ! as_user sacctmgr -iQ add account theirs
	[ -z "$(sacctmgr -nP show account theirs format=account)" ]
	# His own can't be read between the two steps.
	kill -STOP "$(cat "$D/run/lowtided.shpid")"
	as_user sacctmgr -iQ add account fresh parent=vision
	as_user sacctmgr -iQ add user root account=fresh
	# From 23.11 on only to where he is a coordinator, too.
	if newer 23.11; then
		run ! as_user sacctmgr -iQ modify account fresh set parent=other
		[[ "$output" == *"doesn't have privilege"* ]]
		sacctmgr -iQ add coordinator account=other names=daemon
	fi
	as_user sacctmgr -iQ modify account fresh set parent=other
	kill -CONT "$(cat "$D/run/lowtided.shpid")"
	[ "$(sacctmgr -nP show assoc account=fresh user= format=parentname)" = other ]
	reread
	within 20 moved_is '[["fresh","vision","other"]]'
	asked() { run ! sbatch -A fresh -p ondemand --exclusive -N1 --time=60 --wrap true &&
		[[ "$output" == *"vision has "* ]]; }
	within 20 asked
	# What an admin makes is where it is made.
	sacctmgr -iQ add account plain parent=other
	sacctmgr -iQ add user root account=plain
	reread
	plain() { sbatch -A plain -p ondemand --exclusive -N1 --time=60 --begin=now+1hour --wrap true > "$D/said"; }
	within 20 plain
	moved_is '[["fresh","vision","other"]]'
}

db() { mysql --no-defaults -N -uroot -S "$D/run/db.sock" slurm_acct_db -e "$1"; }
@test "slurmdbd does not say where an account was made: that one waits, all others are read" {
	sacctmgr -iQ modify account sub set parent=other
	sacctmgr -iQ add account later parent=vision
	sacctmgr -iQ add user root account=later
	sacctmgr -iQ modify account later set parent=other
	db 'RENAME TABLE txn_table TO kept_table'
	reread
	within 20 moved_is '[["fresh","vision","other"],["sub","vision","other"]]'
	grep -q 'event=accounts_left_out count=1 first=later error="slurmdbd: transactions' "$D"/log/lowtided*.out
	job -A later -p ondemand --exclusive -N1 --time=60 --wrap true
	[[ "$said" == *"the account is not known to lowtide"* ]]
	[ "$(shown "$id" Priority)" = 0 ]
	scancel "$id"
	db 'RENAME TABLE kept_table TO txn_table'
	reread
	within 20 moved_is '[["fresh","vision","other"],["later","vision","other"],["sub","vision","other"]]'
	run -0 lowtide budget moved sub --accept
}

# default_is ACCOUNT: by Slurm, and lowtided has not read it.
default_is() { sacctmgr -iQ modify user root set defaultaccount="$1"; }
waits() { job -p ondemand --exclusive -N1 --time="$1" --begin=now+1hour --wrap true; }
@test "a job without -A is charged where it was judged, whatever the default is by now" {
	default_is vision
	reread
	refused() { run ! sbatch -p ondemand --exclusive -N1 --time=60 --wrap true; }
	within 20 refused
	# The table says vision, which has no room, Slurm says other.
	default_is other
	refused
	[[ "$output" == *"vision has "* ]]
	waits 1
	[ "$(shown "$id" Account)" = vision ]
	# The table says other, Slurm says vision, whose budget would bind.
	reread
	by_other() { waits 60 && [ "$(shown "$id" Account)" = other ]; }
	within 20 by_other
	default_is vision
	waits 60
	[ "$(shown "$id" Account)" = other ]
}
