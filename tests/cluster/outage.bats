#!/usr/bin/env bats
# lowtided is down for hours, or its source is silent: runs of that time are
# charged by what the source says of it once it can be asked, and by the last
# value, marked, where it says nothing. By sacct and the price list alone.
load tricks

BEGIN=1804636800 # 2027-03-10T00:00Z
# The price of each hour in USD; 0: the source has none.
PRICES=(3.60 7.20 36 72 18 0 9 3.60 0 0 144 1.80 3.60 3.60)

setup_file() {
	export ACCOUNTS=vision TZ=UTC SBATCH_OUTPUT=/dev/null EXTRA='SlurmdTimeout=0'
	clock_begin "@$((BEGIN + 300))"
	told_until 1
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
on_unknown: allow
sources:
  rate: {adapter: file, quantity: price, currency: USD, path: $BATS_FILE_TMPDIR/rate.csv, end: end}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: rate}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 0.90}
budgets:
  - {team: vision, period: year, amount: 10000}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() { last_words; }

told_until() { # told_until HOUR: the list has the hours before that one
	local i
	{
		echo time,value,end
		for ((i = 0; i < $1; i++)); do
			[ "${PRICES[i]}" = 0 ] || echo "$((BEGIN + i * 3600)),${PRICES[i]},$((BEGIN + i * 3600 + 3600))"
		done
	} > "$BATS_FILE_TMPDIR/rate.csv"
}
hour_is() { clock_is "@$((BEGIN + $1 * 3600 + 600))"; } # ten minutes into it
runs_now() { # runs_now NAME: a whole node for some seconds
	job -A vision --exclusive -N1 -p ondemand --time=5 --wrap 'sleep 3'
	echo "$id" > "$D/id.$1"
	within 30 ended "$id"
}
up() { # up HOUR: lowtided starts, and knows the hours before that one
	told_until "$1"
	: > "$D/log/lowtided.out"
	part start lowtided
	within 30 grep -q 'event=fetched source=rate' "$D/log/lowtided.out"
}
# What sacct says it is worth at that hour's price, to the micro.
is_charged() { # is_charged NAME PRICE
	local id seconds
	id=$(saved "$1")
	seconds=$(sacct -X -n -P -j "$id" -S 2027-01-01 -o ElapsedRaw)
	awk -v is="$(YEAR=2027 runs_of "$id" money_micros)" -v s="$seconds" -v p="$2" \
	    'BEGIN {off = is - s * p * 1e6 / 3600; exit !(s > 0 && off <= 1 && off >= -1)}'
}
saved() { cat "$D/id.$1"; }
quality() { # quality NAME
	lowtide report --period 2027 --format json --runs | jq -r --argjson id "$(saved "$1")" \
	    '.runs[] | select(.job_id == $id) | .quality'
}

@test "down for eight hours: each run at its own hour's price, a hole at the last value" {
	runs_now before
	within 60 is_charged before 3.60
	part stop lowtided
	hour_is 3
	runs_now dear
	hour_is 4
	runs_now cheap
	hour_is 5
	runs_now hole
	hour_is 8
	up 8
	within 60 is_charged dear 72
	within 60 is_charged cheap 18
	within 60 is_charged hole 18 # the hour before
	is_charged before 3.60
	[ "$(quality dear)" = measured ]
	[ "$(quality hole)" = "last value" ]
}

@test "a silent source: charged at the last value, and put right once it speaks" {
	part stop lowtided
	hour_is 10
	up 8 # as before: it has nothing new
	runs_now silent
	within 60 is_charged silent 3.60
	[ "$(quality silent)" = "last value" ]
	part stop lowtided
	hour_is 13
	up 13
	within 60 is_charged silent 144
	[ "$(quality silent)" = measured ]
	is_charged dear 72
	is_charged hole 18
	run -0 lowtide rebuild
	is_charged silent 144
	is_charged hole 18
}

@test "doctor names a source that has said nothing for days" {
	[[ "$(lowtide doctor || true)" != *"rate: nothing newer than"* ]]
	part stop lowtided
	hour_is 73
	up 13
	run lowtide doctor
	[[ "$output" == *"rate: nothing newer than "*" ago"* ]]
}
