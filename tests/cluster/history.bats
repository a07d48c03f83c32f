#!/usr/bin/env bats
# How long jobs ran is what the next ones are planned by: on real Slurm, of
# runs that ended in every way, by name, for each user their own, and erased.
# Runs of less than a minute teach nothing, so all that do take longer.
load helper

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='vision'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
carbon_price_per_tonne: 100
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  h100: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 36, gpu: H100-SXM5}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.36, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.05, notice: 2m, restart: 6m}}
classes:
  large: {account: vision, require_smoke: {above_node_hours: 0.2, within: 7d}}
budgets:
  - {team: vision, period: month, amount: 10000}
'
	cluster_use
	run_them >&2 || echo 'not all of what the tests look at was done' >&2
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# What takes its time is done for all tests at once.
run_them() {
	local i
	export SBATCH_OUTPUT=/dev/null
	job -A vision -J slow_1 --time=1 --wrap 'sleep 600'
	echo "$id" > "$D/slow"
	for i in 62 63 65; do
		job -A vision -J "train_0$i" -n2 --time=10 --wrap "sleep $i"
		echo "$id" >> "$D/train"
	done
	for i in 1 2 3; do
		job -A vision -J "gpu_$i" -p ondemand --gpus=1 -n1 --time=10 --wrap "sleep $((66 + 3 * i))"
		echo "$id" >> "$D/ondemand"
		job -A vision -J "gpu_$i" -p h100 --gpus=1 -n1 --time=10 --wrap "sleep $((60 + i))"
		echo "$id" >> "$D/h100"
		job -A vision -J "fails_$i" --time=10 --wrap 'sleep 1; exit 1'
		echo "$id" >> "$D/fails"
		job -A vision -J "goes_$i" --time=10 --wrap 'sleep 60'
		echo "$id" >> "$D/goes"
	done
	job -A vision --time=10 --wrap 'sleep 64'
	echo "$id" > "$D/wrap"
	job -A vision -J brief --time=10 --wrap 'sleep 5'
	echo "$id" > "$D/brief"
	srun -A vision -J talk --time=10 sleep 64 &
	job -A vision -J again --checkpoint=write=30s --requeue --time=10 --wrap 'sleep 62'
	again=$id
	echo "$again" > "$D/again"
	runs() { [ "$(field "$again" %T)" = RUNNING ]; }
	within 30 runs
	within 30 has_run "$again"
	scontrol requeue "$again"
	waits() { [ "$(field "$again" %T)" = PENDING ]; }
	within 30 waits
	scancel $(cat "$D/goes")
	starts_now() { scontrol update jobid="$again" starttime=now; }
	within 30 starts_now
	for i in $(cat "$D/train" "$D/fails" "$D/goes" "$D/ondemand" "$D/h100" "$D/wrap" "$D/brief"); do within 120 done_job "$i"; done
	within 120 state_is "$again" COMPLETED
	wait
	within 200 state_is "$(cat "$D/slow")" TIMEOUT
	for i in $(cat "$D/train" "$D/fails" "$D/slow" "$D/ondemand" "$D/h100" "$D/wrap" "$D/brief"); do within 120 settled "$i"; done
	within 120 settled "$again" 2
}

elapsed_of() { sacct -nXP -D -j "$1" -o ElapsedRaw; } # each of its runs
groups() { lowtide history --json "$@"; }
# groups_are JQ WANTED [ARGUMENTS]: figures follow runs within some seconds.
groups_are() { [ "$(groups "${@:3}" | jq -c ".groups | $1")" = "$2" ]; }
# The plan of a job as the trainings were.
plan() { lowtide plan -- -A vision -J train_99 -n2 --time=15 "$@" --wrap true; }

median_of() { for j in $(cat "$D/$1"); do elapsed_of "$j"; done | sort -n | sed -n 2p; }

@test "three runs of a name are what the next one is planned by" {
	median=$(median_of train)
	within 60 groups_are '.[0] | [.name, .runs, .median_s]' "[\"train_#\",3,$median]" --name train_7
	told="expected 1m $((median - 60))s (median of 3 runs; limit 0:15)"
	planned() { plan | grep -F "$told"; }
	within 60 planned
	job -A vision -J train_4711 -n2 --time=15 --hold --wrap true
	within 20 known "$id"
	run -0 lowtide explain "$id"
	[[ "$output" == *"$told"* ]]
	[ "$(lowtide explain --json "$id" | jq -c '.quote.run_time | [.expected_s, .upper_s, .from, .runs, .limit_s]')" = \
	    "[$median,900,\"name\",3,900]" ]
	# What it is to cost: 2 of 64 CPUs at 1000 micros a second, for so long.
	[ "$(lowtide explain --json "$id" | jq .quote.home_expected.money_micros)" -eq $(((median * 1000 * 2 + 32) / 64)) ]
	# Of three runs nothing is sure.
	[[ "$output" != *"% within"* ]]
	# Held for by its limit all the same.
	[ "$(lowtide explain --json "$id" | jq .quote.hold_per_task.money_micros)" -eq 29064 ]
	scancel "$id"
}

@test "runs of a name on two GPUs say how much faster one is" {
	local home there
	home=$(median_of ondemand)
	there=$(median_of h100)
	[ "$there" -lt "$home" ]
	within 60 groups_are '.[0].by_gpu | map([.gpu, .runs, .median_s])' \
	    "[[\"H100-SXM5\",3,$there],[\"V100-SXM2\",3,$home]]" --name gpu_7
	lowtide history --name gpu_7 | grep -F 'on H100-SXM5 (3 runs)'
	# As fast as can be: there, and the quote has by how much.
	moved() {
		job -A vision -J gpu_8 --gpus=1 -n1 --time=10 --begin=now --carbon-aware=fast --wrap true
		[ "$(field "$id" %P)" = h100 ] || return 1
		within 20 known "$id"
		[ "$(sqlite3 "$D/lowtide/ledger.db" "select h.run from holds h where job_id = $id" | cut -d, -f7)" -eq \
		    $(((there * 1000000 + home / 2) / home)) ]
	}
	within 30 moved
}

@test "short runs before a long one say nothing of it, nor do its limits" {
	# They are the smoke runs that it needs.
	run -1 sbatch -A vision -J never_1 -n2 --time=8:00:00 --wrap true
	[[ "$output" == *"needs a COMPLETED run of its name"* ]]
	# By the three short runs it would go to spot nodes, for less than a cent.
	run -0 plan --time=8:00:00 --carbon-aware=cost
	[[ "$output" != *"expected"* ]]
	[[ "$output" == *"over max_restart_risk"* || "$output" == *"33 %, at most 10 %"* ]]
	run -1 sbatch -A vision -J train_98 -n2 --time=8:00:00 --carbon-aware --max-cost=0.80 --wrap true
	[[ "$output" == *"--max-cost: \$0.80 is the most, and on ondemand it would be \$0.90."* ]]
	# What the runs of its size took counts, as far as it is sure: of three, by the limit.
	run -1 sbatch -A vision -J train_98 -n2 --time=15 -p ondemand --max-cost=0.02 --wrap true
	[[ "$output" == *"on ondemand it may be \$0.03."* ]]
	run -0 plan -p ondemand --max-cost=0.03
}

@test "what is short, interactive or has no name teaches others nothing" {
	groups_are 'length' 0 --name brief
	groups_are 'length' 0 --name wrap
	run -0 lowtide plan -- -A vision -J talk -n1 --time=10 --wrap true
	[[ "$output" == *"(median of the user's "* ]]
	within 60 groups_are '.[0] | [.runs, .interactive, .limit_up_to_s]' '[1,true,900]' --name talk
}

@test "another shape, another name: by the user's parts of their limits" {
	run -0 lowtide plan -- -A vision -J train_99 -n4 --time=15 --wrap true
	[[ "$output" == *"(median of the user's "*" runs by their limits; limit 0:15)"* ]]
	run -0 lowtide plan -- -A vision -J other -n2 --time=15 --wrap true
	[[ "$output" == *"(median of the user's "* ]]
	run -0 lowtide plan -- -A vision -J other -n2 --time=16 --wrap true
	[[ "$output" != *"(median of"* ]]
}

@test "--expected-time wins" {
	run -0 plan --expected-time=10:00
	[[ "$output" == *"expected 0:10 (--expected-time; limit 0:15)"* ]]
}

@test "what failed or was cancelled says nothing, what met its limit says at least" {
	groups_are 'length' 0 --name fails_1
	groups_are 'length' 0 --name goes_1
	within 60 groups_are '.[0] | [.runs, .median_s]' '[1,null]' --name slow_1
}

@test "a job that went on after its requeue is one run, of both its lengths" {
	again=$(cat "$D/again")
	[ "$(elapsed_of "$again" | wc -l)" -eq 2 ]
	both=$(elapsed_of "$again" | paste -sd+ | bc)
	within 60 groups_are '.[0] | [.runs, .median_s]' "[1,$both]" --name again
}

@test "a user sees his own, and operators see others'" {
	run -0 lowtide history
	[[ "$output" == *"train_#"*"vision"* ]]
	[ -n "$ROOT" ] || skip 'there is nobody else'
	as_daemon() { setpriv --reuid=daemon --clear-groups "$@"; }
	run -0 as_daemon lowtide history
	[[ "$output" == 'no finished runs'* ]]
	run -1 as_daemon lowtide history --user root
	[[ "$output" == *"only for root, SlurmUser, operators and viewers"* ]]
	run -1 as_daemon lowtide history --forget root
	run -1 as_daemon cat "$LOWTIDE_STATE_DIR/history"
	# The account's parts of their limits are all that he is planned by.
	run -0 as_daemon lowtide plan -- -A vision -J train_99 -n2 --time=15 --wrap true
	[[ "$output" == *"(median of the account's "* ]]
	run -0 lowtide history --user daemon
	[[ "$output" == 'no finished runs'* ]]
	[ "$(stat -c %a "$LOWTIDE_STATE_DIR/history")" = 600 ]
	! grep -aq 'train_' "$LOWTIDE_RUN_DIR/market"
}

@test "erased it is gone, also where rebuild reads the runs again" {
	me=$(id -un)
	run -0 lowtide history --forget "$me"
	[[ "$output" == "erased: "*" runs of $me" ]]
	run -0 lowtide history
	[[ "$output" == 'no finished runs'* ]]
	unplanned() { ! plan | grep expected; }
	within 30 unplanned
	lowtide rebuild > /dev/null
	run -0 lowtide history
	[[ "$output" == 'no finished runs'* ]]
	unplanned
	# What ends from now on is learned anew.
	job -A vision -J train_1 -n2 --time=10 --wrap 'sleep 61'
	within 100 state_is "$id" COMPLETED
	within 120 groups_are '.[0] | [.name, .runs]' '["train_#",1]' --name train_1
}
