#!/usr/bin/env bats
# lowtide simulate --from-slurm: what a site that installed lowtide today is
# shown, against sacct's own figures.
load helper

setup_file() {
	export ACCOUNTS='vision'
	# 3.60 an hour is 1000 micros a second, 0.90 are 250.
	cluster_up "
mode: observe
currency: USD
timezone: UTC
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90, preemptible: {interruptions_per_hour: 0.001, notice: 2m, restart: 6m}}
"
	cluster_use
	local all=() i
	for i in 2 3; do
		job -A vision -J "secret_$i" --exclusive -N1 --time=10 --wrap "sleep $i"
		all+=("$id")
	done
	job -A vision -J secret_array --exclusive -N1 --time=10 --array=0-2 --wrap 'sleep 2'
	all+=("$id")
	job -A vision -J secret_spot -p spot --exclusive -N1 --time=10 --wrap 'sleep 2'
	all+=("$id")
	job -A vision -J secret_later --begin=now+4 --exclusive -N1 --time=10 --wrap 'sleep 2'
	all+=("$id")
	job -A vision -J secret_long --wrap 'sleep 600'
	for i in "${all[@]}"; do within 60 done_job "$i"; done
	ended() { [ "$(runs | wc -l)" -eq 7 ]; }
	within 20 ended
	lowtide simulate --from-slurm --last 1d --json > "$BATS_FILE_TMPDIR/all.json"
}
teardown_file() { cluster_down; }
setup() { cluster_use; all=$BATS_FILE_TMPDIR/all.json; }

runs() { # job, partition and seconds of what ran, by sacct
	sacct -anXDP -S now-1days -o JobID,Partition,ElapsedRaw,JobName,State | awk -F'|' '$5 == "COMPLETED"'
}
of() { jq -r --arg o "$1" --argjson w "$2" '.settings[] | select(.objective == $o and .waiting == $w).'"$3" "$all"; }

@test "it counts each run that sacct has, and says what has not run" {
	[ "$(jq .rows_read "$all")" -eq "$(runs | wc -l)" ]
	[ "$(jq .runs.counted "$all")" -eq "$(runs | wc -l)" ]
	[ "$(jq .runs.unended "$all")" -eq 1 ]
	[ "$(jq -r '.partitions_of | "\(.objective) \(.waiting == 1)"' "$all")" = 'balanced true' ]
	[ "$(jq .runs.fixed "$all")" -eq 1 ]
	[ "$(jq '.settings | length' "$all")" -eq 9 ]
}

@test "what it cost, and what the cheap nodes would have saved, to the cent" {
	local cost saved
	cost=$(runs | awk -F'|' '{ sum += $3 * ($2 == "spot" ? 250 : 1000) } END { print sum }')
	# One that named its partition stays, and one that named its hour.
	saved=$(runs | awk -F'|' '$2 != "spot" && $4 != "secret_later" { sum += $3 * 750 } END { print sum }')
	[ "$(jq '.base_micros | round' "$all")" -eq "$cost" ]
	[ "$(of cost 1 saved_micros)" -eq "$saved" ]
	[ "$(of balanced 4 saved_micros)" -eq "$saved" ]
	[ "$(of cost 1 moved)" -eq 5 ]
	# A constant intensity: nothing to win, and no two weeks.
	[ "$(of carbon 1 saved_mg)" -eq 0 ]
	[ "$(of cost 1 money.low)" = null ]
	[ "$(jq '[.notes[] | select(startswith("no interval"))] | length' "$all")" -eq 1 ]
}

@test "Slurm's own pass after the submit fixes nothing, two minutes of its user do" {
	local sacct=$BATS_TEST_TMPDIR/sacct before fixed
	for before in 50 120; do
		# Submitted that much earlier, eligible when they were.
		printf '#!/bin/sh\nd=$(printf "%%s\\n" "$@" | sed -n s/^--delimiter=//p)\n%s "$@" | awk -F"$d" -v OFS="$d" "{\$6 -= %d; print}"\n' \
		    "$(command -v sacct)" $before > "$sacct"
		chmod 755 "$sacct"
		fixed=$(PATH=$BATS_TEST_TMPDIR:$PATH lowtide simulate --from-slurm --last 1d --json | jq .runs.fixed)
		[ "$fixed" -eq "$([ $before -eq 50 ] && echo 1 || echo 7)" ]
	done
}

@test "a name and a command with line feeds and delimiters forge no rows" {
	local row cut
	row=$(printf '99\037%s' 0 vision ondemand normal "$(date +%s)" "$(date +%s)" "$(date +%s)" $(($(date +%s) + 1)) 9 1 64 cpu=64 '' '' x y)
	job -A vision -J $'forged\n'"$row" --exclusive -N1 --time=10 --comment=$'a\n'"$row"$'\n' --wrap 'sleep 2'
	within 60 done_job "$id"
	more() { lowtide simulate --from-slurm --last 1d --json > more.json && [ "$(jq .rows_read more.json)" -ge 8 ]; }
	within 20 more
	[ "$(jq .rows_read more.json)" -eq 8 ]
	[ "$(jq .runs.counted more.json)" -eq 8 ]
	# An answer that is cut off is an error, not fewer runs.
	for cut in 1 30; do
		printf '#!/bin/sh\n%s "$@" | head -c -%d\n' "$(command -v sacct)" $((cut + 1)) > "$BATS_TEST_TMPDIR/sacct"
		chmod 755 "$BATS_TEST_TMPDIR/sacct"
		PATH=$BATS_TEST_TMPDIR:$PATH run -1 lowtide simulate --from-slurm --last 1d
		[[ "$output" == *'sacct: its answer ends within a row'* ]]
	done
	scancel "$id"
}

@test "the table, the picture, and neither with a name" {
	local out=$BATS_TEST_TMPDIR/page.svg
	run lowtide simulate --from-slurm --last 1d --svg "$out"
	[ "$status" -eq 0 ]
	[[ "$output" == *"8 runs that were submitted from"* ]]
	[[ "$output" == *ondemand* ]]
	[ "$(grep -c '<rect' "$out")" -ge 7 ]
	run lowtide simulate --from-slurm --last 1d --anonymous --svg "$out"
	[ "$status" -eq 0 ]
	[[ "$output" == *partition-1* ]]
	[ "$(grep -cwE 'ondemand|secret_[a-z0-9]+|vision|tide' <<< "$output$(cat "$out")")" -eq 0 ]
	[ "$(lowtide simulate --from-slurm --last 1d --anonymous --json | grep -cwE 'ondemand|secret_[a-z0-9]+|vision|tide')" -eq 0 ]
}

@test "what can't be counted is an error that says why" {
	run lowtide simulate --from-slurm --last 1m --run "$BATS_TEST_TMPDIR"
	[ "$status" -eq 1 ]
	[[ "$output" == *"market"* ]]
	sleep 1
	# Nobody has run anything: the head of the table alone.
	printf '#!/bin/sh\nexec %s "$@" --user=nobody\n' "$(command -v sacct)" > "$BATS_TEST_TMPDIR/sacct"
	PATH=$BATS_TEST_TMPDIR:$PATH
	chmod 755 "$BATS_TEST_TMPDIR/sacct"
	run lowtide simulate --from-slurm --last 1d
	[ "$status" -eq 1 ]
	[[ "$output" == *"no run of that time can be counted"* ]]
}
