#!/usr/bin/env bats
# Hours whose prices differ a hundred times: a job that was held for in a cheap
# one and may start in a dear one, released, freed by a dependency or by an
# empty node. In real time: an hour of these lasts as long as a test wants.
load tricks

setup_file() {
	export ACCOUNTS='vision free'
	flat 3.60
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
sources:
  rate: {adapter: file, quantity: price, currency: USD, path: $FILE}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: rate}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60}
budgets:
  - {team: vision, period: year, amount: 2, on_exceed: hold}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() { last_words; scancel -u "$(id -un)" || true; }

# prices FROM PRICE [FROM PRICE]...: as they are known, in seconds from now, in
# a file of its own: a source that is read anew at once.
prices() {
	local now
	now=$(date +%s) FILE=$BATS_FILE_TMPDIR/rate.$RANDOM.csv
	{
		echo time,value
		while [ $# -gt 0 ]; do
			echo "$((now + $1)),$2"
			shift 2
		done
	} > "$FILE"
	[ -z "${D:-}" ] || sed -i "s#path: [^}]*}#path: $FILE}#" "$D/etc/lowtide.yaml"
}
flat() { prices -86400 "$1" 864000 "$1"; }
fetched() { [ "$(grep -c 'event=fetched source=rate' "$D/log/lowtided.out")" -gt "$1" ]; }
known_prices() { # known_prices ARGUMENTS: lowtided has them
	local before
	before=$(grep -c 'event=fetched source=rate' "$D/log/lowtided.out" || true)
	"$@"
	within 20 fetched "$before"
}
# A whole node for a minute.
asks() { job -p ondemand --exclusive -N1 --time=1 -o /dev/null "$@" --wrap 'sleep 20'; }
reason_is() { [ "$(field "$1" %r)" = "$2" ]; }
holds() { [ "$(held_micros "$1")" -ge "$2" ]; }
holds_less() { [ "$(held_micros "$1")" -lt "$2" ]; }

@test "before a dear hour holds are raised; what does not fit is held back, and guarded" {
	known_prices flat 3.60
	script until_told 'until [ -e go ]; do sleep .2; done'
	rm -f go
	job -A free -p spot -n1 --time=10 until_told
	blocker=$id
	asks -A vision --hold
	mine=$id
	asks -A vision --dependency="afterany:$blocker"
	after=$id
	asks -A vision --begin=now+300 # the smallest: it stays
	small=$id
	within 10 known "$after"
	holds vision 250000
	holds_less vision 400000
	# A node for a minute is 10 in it: of 2 nothing fits.
	known_prices prices -86400 3.60 60 360.00 1800 3.60
	within 40 reason_is "$after" JobHeldAdmin
	reason_is "$mine" JobHeldUser
	run ! scontrol release "$mine"
	grep -q "job $mine: held by lowtide, which releases it when the budget allows it" "$D/log/slurmctld.log"
	touch go
	within 20 ended "$blocker"
	sleep 3
	reason_is "$after" JobHeldAdmin
	holds_less vision 2000000
	grep -q 'event=holds_repriced jobs=3 beyond=3' "$D/log/lowtided.out"
	# It is over sooner than it was known to be: they go on, and his own
	# hold is his own.
	known_prices flat 3.60
	within 40 state_is "$after" RUNNING
	reason_is "$mine" JobHeldUser
	scontrol release "$mine"
	within 20 state_is "$mine" RUNNING
	scancel "$small"
}
