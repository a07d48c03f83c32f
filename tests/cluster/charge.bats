#!/usr/bin/env bats
# `charge:` and `deferral_discount:`: months of real slurmdbd rows whose
# statements add up to what charge_month.pl works out, to the cent; and a real
# job that waits, is held for and charged with both.
load tricks

T=1805274000 # 2027-03-17T09:00Z

policy() { echo "
mode: enforce
currency: USD
timezone: UTC
charge: {carbon_per_tonne: 250}
deferral_discount: {share: 40, most_per_month: 1.50}
sources:
  grid: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/grid.csv}
  spot: {adapter: file, quantity: price, currency: USD, path: $BATS_FILE_TMPDIR/spot.csv}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 3.6, node_idle_w: 400, node_cpu_w: 600, node_gpu_w: 1}
  spot: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: spot, node_idle_w: 400, node_cpu_w: 600, node_gpu_w: 1}
budgets:
  - {team: vision, period: year, amount: 1000000}
"; }
month() { perl "$BATS_TEST_DIRNAME/charge_month.pl" "$1" "$BATS_FILE_TMPDIR" "$T" "${@:2}"; }
db() { mysql --no-defaults -N -uroot -S "$D/run/db.sock" slurm_acct_db "$@"; }
setup_file() {
	export ACCOUNTS='vision eyes:vision nlp words:nlp' SBATCH_OUTPUT=/dev/null TZ=UTC EXTRA='SlurmdTimeout=0'
	month signals
	clock_begin 2027-02-13T12:00:00Z
	cluster_up "$(policy)"
	cluster_use
	part stop lowtided
	clock_is @$T
	assoc() { db -e "SELECT id_assoc FROM tide_assoc_table WHERE user = '$(id -un)' AND acct = '$1'"; }
	month rows "$(id -u)" "$(for a in vision eyes nlp words; do printf '%s=%s,' $a "$(assoc $a)"; done)" | db
	month rates | sqlite3 "$D/lowtide/signals.db"
	part start lowtided
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

reports() {
	local m
	for m in 2027-02 2027-03; do
		lowtide report --period $m --format json --runs > "$BATS_FILE_TMPDIR/$m.json" || return
	done
}
is_in() { reports && month check 2027-02 2027-03 > "$BATS_FILE_TMPDIR/check"; }

@test "two months with charge and discount add up to the cent, run by run" {
	within 60 is_in || { cat "$BATS_FILE_TMPDIR/check"; false; }
	cat "$BATS_FILE_TMPDIR/check"
}

@test "each team had the most of some month, and the one with a budget no more for having two accounts" {
	most() { # most ACCOUNT...: of the months
		jq -s --arg of "$*" '[.[] | [.teams[] | select(.team | IN($of | split(" ")[])).discount_micros] | add] | max' \
		    "$BATS_FILE_TMPDIR"/2027-0[23].json
	}
	[ "$(most vision eyes)" = 1500000 ]
	[ "$(most eyes)" -gt 0 ]
	[ "$(most nlp)" = 1500000 ]
	[ "$(most nlp words)" -gt 1500000 ]
}

@test "a rebuild changes nothing" {
	before=$(jq -c '[.runs[] | [.job_id, .money_micros, .carbon_charge_micros, .discount_micros]] | sort' "$BATS_FILE_TMPDIR/2027-03.json")
	lowtide rebuild
	reports
	[ "$(jq -c '[.runs[] | [.job_id, .money_micros, .carbon_charge_micros, .discount_micros]] | sort' "$BATS_FILE_TMPDIR/2027-03.json")" = "$before" ]
}

@test "explain tells the parts; a hold has the charge at the worst intensity, and no discount" {
	gained=$(jq '[.runs[] | select(.discount_micros > 20000)][0].job_id' "$BATS_FILE_TMPDIR/2027-03.json")
	run -0 lowtide explain --formulas "$gained"
	[[ $output == *'charge for its carbon (27a): 0.'*'discount for having waited (30c): -0.'*'charged in all: '* ]]
	# 3.6 an hour and 1001 W of the least and the most grams that a kWh has, and 5 % more.
	job -A vision -p ondemand -n1 --exclusive --time=2:00:00 --carbon-aware --wrap true
	held=$(lowtide explain "$id" --json | jq .quote.hold_per_task.money_micros)
	[ "$held" -gt $((7591500 + 120 * 1001 * 250 * 21 / 10000)) ]
	[ "$held" -lt $((7591500 + 589 * 1001 * 250 * 21 / 10000)) ]
}
