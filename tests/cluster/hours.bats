#!/usr/bin/env bats
# A hundred jobs whose lengths are known by their names, and hour after hour in
# some seconds each: forecasts come and go, and what lowtided makes of them is
# what lt_replan() says of the same market; whatever it does, no promise of the
# submission is broken.
load tricks

HOURS=${HOURS:-6} JOBS=${JOBS:-100}
BEGIN=1804636800 # 2027-03-10T00:00Z
NAMES='prep train eval sweep' # that run for 1, 2, 3 and 4 hours

# known AT: intensity and price as they are known at an hour: until then what
# was, from then on what is expected, which is off by more the farther it is.
known_at() {
	awk -v at="$1" -v begin=$BEGIN -v dir="$BATS_FILE_TMPDIR" '
	function noise(a, b, x) { x = sin(a * 12.9898 + b * 78.233) * 43758.5453
		return 2 * (x - int(x < 0 ? x - 1 : x)) - 1 }
	function put(file, i, value) {
		printf "%d,%.4f\n", begin + i * 3600, value > file ".next" }
	BEGIN {
		carbon = dir "/grid.csv"; price = dir "/rate.csv"
		print "time,value" > carbon ".next"; print "time,value" > price ".next"
		for (i = -2; i < 120; i++) {
			off = i <= at ? 0 : .5 * (1 - exp((at - i) / 10))
			put(carbon, i, (300 - 180 * sin(6.2831853 * (i - 4) / 24)) * (1 + off * noise(at, i)))
			put(price, i, (2 + .8 * sin(6.2831853 * i / 24)) * (1 + off * noise(i, at + 99)))
		}
	}'
	mv "$BATS_FILE_TMPDIR/grid.csv.next" "$BATS_FILE_TMPDIR/grid.csv"
	mv "$BATS_FILE_TMPDIR/rate.csv.next" "$BATS_FILE_TMPDIR/rate.csv"
}
fetched() { [ "$(grep -c 'event=fetched source=rate' "$LOG")" -gt "$1" ] &&
	[ "$(grep -c 'event=fetched source=grid' "$LOG")" -gt "$1" ]; }
# hour_is N: the cluster's clock, and what is known then. A clock that is set
# while lowtided runs is no hour that passed.
hour_is() {
	part stop lowtided
	: > "$LOG"
	known_at "$1"
	clock_is "@$((BEGIN + $1 * 3600 + 60))"
	part start lowtided
	within 30 fetched 0
}

setup_file() {
	export ACCOUNTS=vision TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export EXTRA='SlurmdTimeout=0'
	clock_begin "@$BEGIN"
	known_at 0
	cluster_up "
mode: enforce
spot_proof: said # proof.bats has what proves it
currency: USD
timezone: UTC
carbon_price_per_tonne: 2000
waiting_price_per_hour: 0
deadline_slack: 2h
sources:
  grid: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/grid.csv}
  rate: {adapter: file, quantity: price, currency: USD, path: $BATS_FILE_TMPDIR/rate.csv}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 3.60}
  spot: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: rate, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: year, amount: 10000}
"
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
}

all_run() { [ "$(squeue -h -t R | wc -l)" -eq "$1" ]; }
ended() { [ "$(squeue -h -n "$1_1,$1_2,$1_3" | wc -l)" -eq 0 ]; }
learned() { [ "$(lowtide history --json | jq -c '[.groups[] | select(.name) | [.name, .runs, (.median_s / 3600 | round)]] | sort')" = "$1" ]; }

@test "three runs of each of four names say how long these take" {
	local i name hour=0
	script run 'until [ -e "end.${SLURM_JOB_NAME%_*}" ]; do sleep .3; done'
	for name in $NAMES; do
		for i in 1 2 3; do job -A vision -J "${name}_$i" -n1 --time=12:00:00 run; done
	done
	within 30 all_run 12
	for name in $NAMES; do
		hour=$((hour + 1))
		hour_is $hour
		touch "end.$name"
		within 20 ended "$name"
	done
	within 60 learned '[["eval_#",3,3],["prep_#",3,1],["sweep_#",3,4],["train_#",3,2]]'
}

# line of each job that waits: id, limit, submission, eligible, partition, quote
waiting() {
	scontrol show job -o | sed -n 's/^JobId=\([0-9]*\) .* JobState=PENDING .* SubmitTime=\([0-9]*\) EligibleTime=\([0-9]*\) .* Partition=\([^ ]*\) .*AdminComment=\(lowtide:1 [^;]*;\).*/\1 43200 \2 \3 \4 \5/p'
}
# What the pure function makes of jobs as they stand in a list of waiting().
again() { # again MARKET LIST
	sqlite3 -readonly -separator ' ' "$D/lowtide/ledger.db" \
	    'SELECT kind, runs, median, upper, is_longest, low, high FROM kinds WHERE wide = 0' > figures
	cut -d' ' -f1-3,6- "$2" | "$BUILD/tests/tools/decide_again" "$1" figures "$(date +%s)"
}
# submit I: one of a hundred; its line of promises. None ends here: what is
# learned stays, so that all looks of an hour are by the same.
submit() {
	local i=$1 name now options latest fixed=- dearest=-
	set -- $NAMES
	shift $((i % 4))
	name=$1_$i
	now=$(date +%s)
	latest=$((now + 86400))
	case $((i / 4 % 8)) in
	0) options=--carbon-aware=carbon ;;
	1) options=--carbon-aware=cost ;;
	2) options="--carbon-aware --deadline=$(date -d "@$((now + 75600))" +%FT%T)"
		latest=$((now + 75600 - 43200)) ;;
	3) options='--carbon-aware --max-cost=0.68' dearest=680000 ;;
	4) options='--carbon-aware -p spot' fixed=spot ;;
	5) options="--carbon-aware --begin=$(date -d "@$((now + 18000))" +%FT%T)" latest=$((now + 18000)) fixed=$latest ;;
	6) options='--carbon-aware --checkpoint=write=1m' ;;
	*) options=--carbon-aware ;;
	esac
	echo "$(sbatch --parsable -A vision -J "$name" -n1 --time=12:00:00 $options --wrap 'exec sleep 900' 2> /dev/null) $latest $fixed $dearest"
}
export -f submit

# keep LIST: is each plan one that the pure function would keep?
keep() {
	waiting > "$1"
	again "$LOWTIDE_RUN_DIR/market" "$1" > "$1.again"
	! grep -qv ' keep ' "$1.again"
}

# keeps LIST: what gains just enough some seconds after lowtided looked, or by a
# market that it made since, stands until its next look: at a start that is all.
keeps() {
	within 10 keep "$1" 2> /dev/null && return
	part stop lowtided
	part start lowtided
	within 20 keep "$1" || { grep -v ' keep ' "$1.again" >&2; false; }
}

# as_said BEFORE AFTER: is what waited put where the pure function puts it, at
# this hour, by the market that there was or by today's? lowtided looks as soon
# as it is up, and again with what it has fetched; what was changed by both, or
# together with others, is for keep() to judge.
as_said() {
	again market.before "$1" > said
	again "$LOWTIDE_RUN_DIR/market" "$1" >> said
	sed -n 's/.*event=replanned job=\([0-9]*\) .*/\1/p' "$LOG" > changed
	sed -n 's/.*event=replanned job=\([0-9]*\) why=together .*/\1/p' "$LOG" > together
	# A start at once is that of some seconds ago.
	awk 'FILENAME == "changed" { times[$1]++; next }
	FILENAME == "together" { times[$1] = 2; next }
	FILENAME == "said" { place[$1, ++n[$1]] = $3; start[$1, n[$1]] = $4; next }
	times[$1] < 2 {
		found = 0
		for (i = 1; i <= n[$1]; i++) {
			off = start[$1, i] - $4
			found += place[$1, i] == $5 && off > -60 && off < 60
		}
		if (!found) print
	}' changed together said "$2" > other
	[ ! -s other ] || { cat other >&2; return 1; }
}

# Of all that wait: none later, dearer or elsewhere than was promised.
promises() { # promises PROMISED LIST
	awk 'NR == FNR { latest[$1] = $2; fixed[$1] = $3; dearest[$1] = $4; next }
	{
		cost = $0; sub(/.* exp=/, "", cost); cost += 0
		if ($4 > latest[$1]) print "later: " $0
		if (fixed[$1] ~ /^[0-9]/ && $4 != fixed[$1]) print "its begin: " $0
		if (fixed[$1] ~ /^[a-z]/ && $5 != fixed[$1]) print "its partition: " $0
		if (dearest[$1] != "-" && cost > dearest[$1]) print "dearer: " $0
	}' "$1" "$2"
}

@test "hour after hour plans follow what is known, within what was promised" {
	local hour
	export NAMES
	seq "$JOBS" | xargs -P 3 -I{} bash -c 'submit {}' > promised
	[ "$(grep -c '^[0-9]' promised)" -eq "$JOBS" ]
	keeps before
	[ "$(wc -l < before)" -gt $((JOBS / 2)) ] # the others start at once
	# All are planned by their names, whatever their limits say.
	[ "$(grep -c ' run=[0-9a-f]*,name,' before)" -eq "$(wc -l < before)" ]
	for hour in $(seq 5 $((4 + HOURS))); do
		cp "$LOWTIDE_RUN_DIR/market" market.before
		hour_is "$hour"
		keeps after
		as_said before after
		promises promised after > broken
		[ ! -s broken ] || { cat broken >&2; false; }
		cat changed >> all_changed
		mv after before
	done
	[ "$(wc -l < all_changed)" -gt $((JOBS / 3)) ]
	# What explain tells of them in order ends with what stands; meanwhile
	# some may be placed anew together.
	awk 'NR == FNR { seen[$1]; next } $1 in seen { print $1 }' all_changed before | head -n 5 > told
	[ -s told ]
	ends_so() {
		waiting > now
		for id in $(cat told); do
			[ "$(lowtide explain --json "$id" | jq -r '.plans[-1] | "\(.partition)@\(.start | fromdateiso8601)"')" = \
			    "$(awk -v id="$id" '$1 == id { print $5 "@" $4 }' now)" ] || return 1
		done
	}
	within 20 ends_so
	for id in $(cat told); do
		[ "$(lowtide explain --json "$id" | jq -r '[.plans[].why] | unique | inside(["submitted", "better", "no_room", "cannot_run", "together"])')" = true ]
	done
	# Nor did any start later: the clock goes by the hour.
	sacct -nXP -S 2027-03-10 -o JobIDRaw,Start,State |
	    awk -F'|' 'NR == FNR { split($0, p, " "); latest[p[1]] = p[2]; next }
		$1 in latest && ($3 ~ /DEADLINE|FAIL/ || $2 > latest[$1] + 3700 && $2 ~ /^[0-9]+$/)' promised - > broken
	[ ! -s broken ] || { cat broken >&2; false; }
	scancel -A vision
}
