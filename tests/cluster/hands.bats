#!/usr/bin/env bats
# What a user has in hand while his jobs wait and run, on real Slurm: several
# jobs at once by now, all of them by jobs, one by watch.
load helper

policy() { echo "
mode: enforce
currency: USD
timezone: UTC
carbon_price_per_tonne: 1000
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3.60, gpu: V100-SXM2}
  h100: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 360, gpu: H100-SXM5}
budgets:
  - {team: vision, period: month, amount: 10000}
"; }
setup_file() {
	export ACCOUNTS='vision free' USERS='daemon'
	day 6 20
	cluster_up "$(policy)"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

as() { setpriv --reuid="$1" --regid="$(id -g "$1")" --init-groups "${@:2}"; }
waits() { job -A vision --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60' "$@"; }
state() { squeue -h -r -j "$1" -o %T; }
runs() { [ "$(state "$1")" = RUNNING ]; }

@test "several jobs start at once, and one that can't stops no other" {
	waits; a=$id
	waits; b=$id
	waits; c=$id
	for id in $a $b $c; do is_in "$id" 6; within 20 known "$id"; done
	run -1 --separate-stderr lowtide now "$a" 999999 "$b"
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[0]}" == "job $a starts as soon as"* ]]
	[[ "${lines[1]}" == "job $b starts as soon as"* ]]
	[ "$stderr" = 'lowtide: job 999999: not known here' ]
	within 30 runs "$a"
	within 30 runs "$b"
	[ "$(state "$c")" = PENDING ]
	run -0 lowtide now --json "$c"
	[ "$(jq -r .job_id <<< "$output")" = "$c" ]
	run -1 lowtide now --json "$c" "$b"
	[ "$(jq -c '[.[].job]' <<< "$output")" = "[\"$c\",\"$b\"]" ]
	[[ "$(jq -r '.[1].error' <<< "$output")" == *"only a pending job can start now" ]]
	# A slip is found before the first job is started.
	waits
	run -2 lowtide now "$id" 12x
	[ "$(state "$id")" = PENDING ]
	scancel "$a" "$b" "$c" "$id"
}

@test "one task of an array starts, and the others wait on" {
	waits --array=1-4
	within 20 known "$id"
	is_in "$id" 6
	later=$(begin "$id")
	run -0 lowtide now "${id}_2"
	[[ "$output" == "job ${id}_2 starts as soon as"* ]]
	within 30 runs "${id}_2"
	for task in 1 3 4; do
		[ "$(state "${id}_$task")" = PENDING ]
		[ "$(begin "${id}_$task")" = "$later" ]
	done
	# All four are held for, once.
	four() { [ "$(lowtide explain "$id" --json | jq -c '[.hold.state, .hold.live_tasks]')" = '["open",4]' ]; }
	within 20 four
	run -1 lowtide now "${id}_2"
	[[ "$output" == *"job ${id}_2 is RUNNING: only a pending job can start now" ]]
	run -1 lowtide now "${id}_9"
	[[ "$output" == *"job ${id}_9: not known here" ]]
	# The rest, as one.
	run -0 lowtide now "$id"
	for task in 1 3 4; do within 30 runs "${id}_$task"; done
	scancel "$id"
}

@test "a begin time of the user's own is his to change" {
	for more in --carbon-aware ''; do
		job -A vision $more --begin=now+5hours --gpus=1 --time=1:00:00 --wrap 'sleep 60'
		within 20 known "$id"
		was=$(begin "$id")
		run -1 lowtide now "$id"
		[[ "$output" == *"job $id: "*"is its user's own begin time"*"scontrol update JobId=$id StartTime=now does" ]]
		[ "$(begin "$id")" = "$was" ]
		scontrol update JobId="$id" StartTime=now
		within 30 runs "$id"
		scancel "$id"
	done
	# And so is one that he set afterwards.
	waits
	within 20 known "$id"
	scontrol update JobId="$id" StartTime="$(date -d '+9 hours' +%FT%T)"
	run -1 lowtide now "$id"
	[[ "$output" == *"is its user's own begin time"* ]]
	is_in "$id" 9
	scancel "$id"
}

@test "nobody starts what is another's" {
	[ -n "$ROOT" ] || skip 'wants other users'
	waits
	within 20 known "$id"
	run -1 as daemon lowtide now "$id"
	[[ "$output" == *"job $id is not yours" ]]
	[ "$(state "$id")" = PENDING ]
	scancel "$id"
}

jobs() { lowtide jobs --json "$@"; }
one() { jobs | jq -c --arg id "$1" ".jobs[] | select(.id == \$id) | $2"; }
listed() { [ -n "$(one "$1" .id)" ]; }

@test "jobs shows what waits, as Slurm and explain have it" {
	waits; a=$id
	waits --array=2-4 -J lines; array=$id
	for id in $a $array; do within 20 known "$id"; done
	within 20 listed "${array}_[2-4]"
	[ "$(jobs | jq -r '.jobs[] | select(.ended | not) | "\(.id) \(.state) \(.partition) \(.name)"' | sort)" = \
	    "$(squeue -h -A vision -o '%i %T %P %j' | sort)" ]
	for id in $a $array; do
		lowtide explain "$id" --json > "$BATS_TEST_TMPDIR/story"
		record=$a
		[ "$id" = "$a" ] || record="${array}_[2-4]"
		[ "$(one "$record" '[.plan.start, .expected, .home.partition]')" = \
		    "$(jq -c '.quote | [.plan_start, .plan_expected, .home]' "$BATS_TEST_TMPDIR/story")" ]
		[ "$(one "$record" .most.money_micros)" = \
		    "$(jq '.quote.hold_per_task.money_micros * .hold.live_tasks' "$BATS_TEST_TMPDIR/story")" ]
		[ "$(one "$record" .saves.carbon_mg)" = \
		    "$(jq '.quote | .home_expected.carbon_mg - .plan_expected.carbon_mg' "$BATS_TEST_TMPDIR/story")" ]
		[ "$(one "$record" .saves.carbon_mg)" -gt 0 ]
		[ "$(one "$record" '.plan.start | fromdateiso8601')" = "$(begin "$id")" ]
		[ "$(one "$record" '(.next_decision | fromdateiso8601) - now | . > -5 and . <= 3600')" = true ]
		[ "$(one "$record" '[.so_far, .charged, .ended]')" = '[null,null,false]' ]
	done
	# Held by its user, nobody decides it.
	scontrol hold "$a"
	stays() { [ "$(one "$a" .next_decision)" = null ]; }
	within 20 stays
	# The table says the same.
	run -0 lowtide jobs
	[[ "${lines[0]}" == JOBID*NAME*USER*STATE*PARTITION*START*EXPECTED*'SO FAR'*SAVES*'DECIDED NEXT'* ]]
	grep -qE "^${array}_\[2-4\] +lines +root +PENDING +ondemand +" <<< "$output"
	scancel "$a" "$array"
}

@test "jobs shows what a run has cost so far, and then its charge" {
	job -A vision --gpus=1 --time=10 --wrap 'sleep 12'
	within 30 runs "$id"
	costs() { [ "$(one "$id" '.so_far.money_micros // 0')" -gt 1000 ]; }
	within 20 costs
	# 3.60 an hour is 1000 micros a second; an eighth of the node is its GPU.
	was=$(jobs | jq -c --argjson id "$id" '.now as $now | .jobs[] | select(.job_id == $id) |
	    [.so_far.money_micros, (($now | fromdateiso8601) - (.start | fromdateiso8601)) * 125]')
	[ "$(jq '.[0] - .[1] | . >= -1 and . <= 1' <<< "$was")" = true ]
	within 90 settled "$id"
	[ "$(one "$id" '[.state, .ended, .so_far, .charged.money_micros]')" = \
	    "[\"COMPLETED\",true,null,$(money_of "$id")]" ]
}

@test "jobs of others are for who may see them" {
	[ -n "$ROOT" ] || skip 'wants other users'
	waits; mine=$id
	his=$(as daemon sbatch --parsable -A free --time=1 --hold --output=/dev/null --wrap 'sleep 1')
	for id in $mine $his; do within 20 known "$id"; done
	ids() { jq -c '[.jobs[] | select(.ended | not) | .job_id] | sort'; }
	[ "$(jobs | ids)" = "[$mine]" ]
	[ "$(jobs --all | ids)" = "[$mine,$his]" ]
	[ "$(jobs --user daemon | ids)" = "[$his]" ]
	[ "$(as daemon lowtide jobs --json | ids)" = "[$his]" ]
	[ "$(as daemon lowtide jobs --json --all | ids)" = "[$his]" ]
	run -1 as daemon lowtide jobs --user root
	[[ "$output" == *'user root: only for'* ]]
	# By munge as well.
	[ "$(LOWTIDE_SERVER=127.0.0.1:$LOWTIDE_PORT as daemon lowtide jobs --json | ids)" = "[$his]" ]
	scancel "$mine" "$his"
}

# watch_it ID: in the background; its pid in $watcher, what it prints in $seen.
watch_it() {
	seen=$BATS_TEST_TMPDIR/watch
	lowtide watch "$1" > "$seen" 2> "$seen.err" 3>&- 4>&- &
	watcher=$!
}
ends() { wait "$watcher" && status=0 || status=$?; }
shown() { grep -qE "$1" "$seen"; }

@test "watch follows a job from its plan to its charge, and outlives lowtided" {
	job -A vision --carbon-aware -p h100 --gpus=1 --time=2:00:00 --wrap 'sleep 14'
	within 20 known "$id"
	watch_it "$id"
	within 10 shown "^[A-Z][a-z]+ [0-9:]+ [A-Z]+  $id  PENDING \([A-Za-z]+\), h100 from .*, expected [\$]"
	restart
	lowtide now "$id"
	within 60 shown "  $id  RUNNING, h100 since .*, so far [\$][0-9.]+ of [\$][0-9.]+ expected\$"
	within 60 shown "  $id  COMPLETED, h100 since .*, charged "
	ends
	[ "$status" -eq 0 ]
	# The charge is the ledger's: 1.25 cents a second.
	cents=$(($(money_of "$id") / 10000))
	last=$(tail -n 1 "$seen")
	told=$(sed -n 's/.*charged \$\([0-9]*\)\.\([0-9][0-9]\).*/\1\2/p' <<< "$last")
	off=$((10#$told - cents))
	[ "$off" -ge 0 ]
	[ "$off" -le 1 ]
	[ "$cents" -ge 17 ]
	# The cost grew before our eyes, and no line says what the one before did.
	[ "$(grep -o 'so far \$[0-9.]*' "$seen" | sort -u | wc -l)" -ge 2 ]
	[ -z "$(sed 's/^[A-Z][a-z]* [0-9:]*  //' "$seen" | uniq -d)" ]
	! grep -q $'\r' "$seen"
}

@test "watch of a job that is cancelled, of none, of another's, and interrupted" {
	waits
	within 20 known "$id"
	watch_it "$id"
	within 10 shown PENDING
	scancel "$id"
	ends
	[ "$status" -eq 0 ]
	[[ "$(tail -n 1 "$seen")" == *"CANCELLED, ondemand" ]]

	run -1 lowtide watch 999999
	[ "$output" = 'lowtide: job 999999: not known here' ]
	run -2 lowtide watch 12x
	if [ -n "$ROOT" ]; then
		run -1 as daemon lowtide watch "$id"
		[[ "$output" == *"job $id is not yours" ]]
	fi

	waits
	within 20 known "$id"
	watch_it "$id"
	within 10 shown PENDING
	kill -INT "$watcher"
	ends
	[ "$status" -eq 130 ]
	scancel "$id"
}

@test "watch on a terminal shows a cost that grows in one line" {
	command -v script > /dev/null || skip 'wants script(1)'
	job -A vision -p h100 --gpus=1 --time=10 --wrap 'sleep 10'
	within 30 runs "$id"
	TERM=xterm timeout 90 script -qec "stty cols 120; lowtide watch $id" "$BATS_TEST_TMPDIR/tty" < /dev/null > /dev/null
	grep -q $'\r\033\\[K.*RUNNING.*so far' "$BATS_TEST_TMPDIR/tty"
	grep -q 'COMPLETED.*charged' "$BATS_TEST_TMPDIR/tty"
}
