#!/usr/bin/env bats
# lowtided against mistakes and ill will: figures too large, answers from the
# wrong hand, clients that do not let go, clocks that are set, disks that are
# full, words that are no words.
# bats file_tags=long
load helper

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='vision nlp'
	export EXTRA=SlurmdTimeout=0 # a clock that jumps must not fail nodes
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
  - {team: vision, period: month, amount: 1000}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() {
	last_words
	[ ! -s "$D/run/helpers" ] || while read -r pid; do
		kill "$pid" 2>/dev/null || true
	done < "$D/run/helpers"
	rm -f "$D/run/helpers"
}
helper() { # helper COMMAND...: in the background, ended after the test
	"$@" 3>&- 4>&- &
	echo $! >> "$D/run/helpers"
}
as_daemon() { setpriv --reuid=daemon --clear-groups "$@"; }

adjust() { lowtide budget adjust --team vision --amount="$1" --reason typo; }
spent_is() { [ "$(budget_of vision spent_micros)" = "$1" ]; }

@test "adjustments too large to add are refused, and later ones, a restart and a rebuild work" {
	journal=$D/lowtide/adjustments
	adjust 5
	size=$(stat -c %s "$journal")
	for _ in 1 2; do
		run ! adjust 9000000000000
		[[ "$output" == *'want at most'* ]]
	done
	[ "$(stat -c %s "$journal")" -eq "$size" ]
	adjust 7
	within 30 spent_is 12000000
	part stop lowtided KILL
	part start lowtided
	within 30 spent_is 12000000
	lowtide rebuild
	within 30 spent_is 12000000
	adjust -12
	within 30 spent_is 0
}

rows() { lowtide report --runs --format csv; }
ledger() { sqlite3 -cmd '.timeout 10000' "$D/lowtide/ledger.db" "$1" 3>&- 4>&-; }
alone() { [ "$(ls "/proc/$(cat "$D/run/lowtided.shpid")/task" | wc -l)" -eq 1 ]; }
in_company() { ! alone; }

@test "a report of many runs is streamed: whole, or cut off and seen to be" {
	id=$(sbatch --parsable -A nlp -n1 --time=1 -o /dev/null --wrap 'sleep 3')
	within 60 settled "$id"
	columns=$(ledger "SELECT group_concat(name) FROM pragma_table_info('runs') WHERE name != 'job_id'")
	ledger "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
		INSERT INTO runs (job_id, $columns) SELECT 1000000 + i, $columns
		FROM n, (SELECT * FROM runs WHERE job_id = $id)"
	# Each with what it was charged.
	columns=$(ledger "SELECT group_concat(name) FROM pragma_table_info('entries') WHERE name NOT IN ('id', 'job_id')")
	ledger "INSERT INTO entries (job_id, $columns) SELECT r.job_id, $columns
		FROM (SELECT job_id FROM runs WHERE job_id > 1000000) r,
		    (SELECT $columns FROM entries WHERE job_id = $id)"
	days() { # days OPERATOR: by 20001
		local sums
		sums=$(ledger "SELECT group_concat(name || ' = ' || name || ' $1 20001') FROM pragma_table_info('days') WHERE name NOT IN ('day', 'account', 'uid', 'kind')")
		ledger "UPDATE days SET $sums WHERE account = 'nlp' AND kind = 0"
	}
	days '*'
	lowtide report --runs --format json > "$D/whole"
	[ "$(jq -c '[(.runs | length), ([.runs[].money_micros] | add)]' "$D/whole")" = \
	    "[$(ledger 'SELECT count(*), sum(money_micros) FROM runs' | tr '|' ,)]" ]
	rows > "$D/rows"
	[ "$(wc -l < "$D/rows")" -eq "$(ledger 'SELECT 1 + (SELECT count(*) FROM runs) + (SELECT count(*) FROM entries WHERE kind = 2)')" ]
	# By TCP they come page by page, by account.
	cmp <(LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" rows | sort) <(sort "$D/rows")
	# What can't be written is said, either way.
	into_full() { rows > /dev/full; }
	run -1 into_full
	LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" run -1 into_full
	[[ "$output" == *"can't write the report"* ]]
	# Its reader goes away, and nobody else notices.
	rows | head -c 100000 > /dev/null
	within 10 alone
	lowtide status > /dev/null
	# lowtided is stopped while somebody reads slowly.
	{ rows 2> "$D/said" || echo > "$D/cut"; } | { sleep 3; cat > "$D/part"; } 3>&- 4>&- &
	within 10 in_company
	part stop lowtided
	wait $!
	[ -e "$D/cut" ]
	grep -q 'the rows are not all: lowtided' "$D/said"
	[ "$(wc -l < "$D/part")" -lt 20000 ]
	part start lowtided
	ledger 'DELETE FROM runs WHERE job_id > 1000000; DELETE FROM entries WHERE job_id > 1000000'
	days /
}

@test "a journal with a line that 0.1 refused: lowtided starts, says so, and goes on" {
	journal=$D/lowtide/adjustments
	adjust 3
	within 30 spent_is 3000000
	part stop lowtided
	# As 0.1 left it: two lines whose sum passes 64 bits, each well formed.
	cat "$PROJECT/tests/fixtures/journal/sum_passes_64_bits" >> "$journal"
	part start lowtided
	grep -q 'event=adjustments_refused count=1' "$D/log/lowtided.out"
	[ "$(lowtide status --json | jq .adjustments_refused)" = 1 ]
	run lowtide doctor
	[[ "$output" == *'could not be added up'* ]]
	adjust 4
	lowtide rebuild
	[ "$(lowtide status --json | jq .adjustments_refused)" = 1 ]
	[ "$(grep -c '^refused ' "$journal")" -eq 1 ]
	# The line that fits, of nlp, stays: 9,000,000,000,000.
	lowtide report --format json --team nlp --period 2026 |
	    jq -e '.teams[0].adjustments_micros == 9000000000000000000'
	within 30 spent_is 7000000
}

follow() { # follow PORT: a follower of its own, in $D/login
	rm -rf "$D/login"
	mkdir "$D/login"
	LOWTIDE_RUN_DIR=$D/login helper lowtided --follow "127.0.0.1:$1" \
	    --log "$D/log/follow.out"
}

@test "whoever answers on the controller's port with a credential of his own gets nothing installed" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	impostor=$BUILD/tests/tools/impostor
	helper setpriv --reuid=daemon --clear-groups "$impostor" \
	    "$D/run/munge.sock" 0 "$D/run/lowtide/market" > "$D/log/impostor.out"
	within 10 test -s "$D/log/impostor.out"
	: > "$D/log/follow.out"
	follow "$(cat "$D/log/impostor.out")"
	within 30 grep -q 'event=follow_failed.*made by uid' "$D/log/follow.out"
	[ ! -e "$D/login/market" ]
	# The same answers by SlurmUser's hand are taken: it is the hand.
	helper "$impostor" "$D/run/munge.sock" 0 "$D/run/lowtide/market" \
	    > "$D/log/impostor2.out"
	within 10 test -s "$D/log/impostor2.out"
	follow "$(cat "$D/log/impostor2.out")"
	within 30 test -s "$D/login/market"
}

answers() { timeout 5 "$@" lowtide status --json > "$D/answer" 2>/dev/null && jq -e .pid "$D/answer" >/dev/null; }

@test "320 connections of one user keep nobody else waiting, and each ends in time" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	rm -f "$D/log/hog"
	helper setpriv --reuid=daemon --clear-groups "$BUILD/tests/tools/hog" \
	    "$D/run/lowtide/lowtided.sock" 320 > "$D/log/hog"
	within 10 grep -qx 32 "$D/log/hog" # his own bound, no more
	answers
	answers setpriv --reuid=games --clear-groups
	# None of his was silent for a second: it is the deadline that ends them.
	within 25 grep -qx 0 "$D/log/hog"
	within 20 answers setpriv --reuid=daemon --clear-groups
}

@test "connections of a host that say nothing, or a byte a second, keep nobody of that host out" {
	rm -f "$D/log/hog"
	helper "$BUILD/tests/tools/hog" "$LOWTIDE_PORT" 320 > "$D/log/hog"
	# At once, of the same address: none of them has shown a credential.
	answers env LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT"
	answers # by the Unix socket meanwhile
	within 10 grep -qx 0 "$D/log/hog"
	answers env LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT"
}

@test "a market that belongs to another user is refused, with the reason, until it is lowtided's again" {
	[ -n "$ROOT" ] || skip 'needs root to give a file away'
	log=$D/log/slurmctld.log
	part stop lowtided # which would replace it within a minute
	chown daemon "$D/run/lowtide/market"
	refused() {
		scancel --user "$(id -un)" --state=PENDING
		sbatch -A nlp -n1 --time=1 --hold --wrap true >/dev/null 2>&1
		grep -q 'run/lowtide/market: owned by uid .*, want root' "$log"
	}
	# slurmctld has the one before in memory: it reads one that changed.
	touch "$D/run/lowtide/market"
	within 20 refused
	part start lowtided
	owned() { [ "$(stat -c %u "$D/run/lowtide/market")" = "$(id -u)" ]; }
	within 20 owned
	priced() { job -A nlp -n1 --time=1 --hold --wrap true &&
		[[ "$(scontrol show job "$id")" == *'lowtide:1 '* ]]; }
	within 20 priced
	scancel --user "$(id -un)" --state=PENDING
}

@test "what a user calls a partition or an account is no line of slurmctld's log" {
	forged=$'x\n[2026-11-22T05:00:00.000] error: forged\e[31m'
	job -A vision -n1 --time=1 --hold --wrap true
	log=$D/log/slurmctld.log
	for field in Partition Account; do
		told() {
			scontrol update "jobid=$id" "$field=$forged" 2>/dev/null
			grep -q "lowtide: job $id: .*x?\[2026.*forged" "$log"
		}
		within 20 told # as soon as lowtided has seen the job
	done
	run ! sbatch -A "$forged" -n1 --time=1 --wrap true
	[[ "$output" == *forged* && "$output" != *$'\e'* ]]
	run ! sbatch -A vision -p "$forged" -n1 --time=1 --wrap true
	[[ "$output" == *forged* && "$output" != *$'\e'* ]]
	scancel "$id"
	run ! grep -q '^\[2026-11-22T05:00:00.000\] error: forged' "$log" "$D/log/lowtided.out"
	run ! grep -q $'\e' "$log" "$D/log/lowtided.out"
	# On the command's own terminal neither.
	run ! lowtide budget adjust --team "$forged" --amount 1 --reason "$forged"
	[[ "$output" == *forged* && "$output" != *$'\e'* ]]
}

# An allocation without a step: slurmctld's own scheduler waits by the wall
# clock, and slurmd's credentials expire by it.
admitted() {
	salloc -A vision -n1 --time=1 sleep 2 2> "$D/salloc" || return 1
	id=$(sed -n 's/.*Granted job allocation //p' "$D/salloc")
}

# A user without an account, who never stops to ask for names that nobody has.
asks_for_names() {
	for _ in {1..24}; do
		# Not as_daemon: its pid would be that of a shell around it.
		helper setpriv --reuid=daemon --clear-groups bash -c 'for ((i = 0;; i++)); do
			for what in history jobs; do
				curl -sm 20 --unix-socket "$1" "http://localhost/v1/$what?user=x$$-$i" || sleep 1
			done
			[ -S "$1" ] || exit
		done > /dev/null' - "$D/run/lowtide/lowtided.sock"
	done
}

@test "a directory of users that takes 5 s: submissions stay known, others are answered" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	part stop lowtided
	WITH="env LD_PRELOAD=$BUILD/tests/tools/slow_users.so SLOW_USERS=$D/slow" \
	    part start lowtided
	within 60 admitted
	echo 5 > "$D/slow"
	asks_for_names
	# 60 s without lowtided make a balance unknown; its tables are read
	# meanwhile, and who is in which account with them.
	for ((end = SECONDS + 80; SECONDS < end;)); do
		answers
		admitted
		sleep 1
	done
	rm "$D/slow"
	part stop lowtided
	part start lowtided
}

FAKETIME=$(ls /usr/lib/*/faketime/libfaketime.so.1 2>/dev/null | head -n 1)

# slurmctld and lowtided by a wall clock that the test sets: it is off by the
# seconds in $D/clock. The monotonic clock is true.
with_clock() {
	echo '+0' > "$D/clock"
	for part in slurmctld lowtided; do part stop $part; done
	for part in slurmctld lowtided; do
		WITH="env LD_PRELOAD=$FAKETIME FAKETIME_TIMESTAMP_FILE=$D/clock
		    FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1" \
		    part start $part
	done
}
budget_age() { lowtide status --json | jq -e "(.budget.generation > $1) and .error == null" >/dev/null; }
generation() { lowtide status --json | jq .budget.generation; }
@test "wall clock back by 20 min, then forward by an hour: nothing waits, nothing is lost" {
	[ -n "$FAKETIME" ] || skip 'needs libfaketime'
	with_clock
	within 60 admitted
	within 120 settled "$id"
	adjust 1
	for by in -1200 +2400; do
		before=$(generation)
		echo "$by" > "$D/clock"
		within 10 grep -q 'event=clock_was_set' "$D/log/lowtided.out"
		# The snapshot goes on, teams with a budget submit, run, are charged.
		within 20 budget_age "$((before + 1))"
		within 20 admitted
		within 120 settled "$id"
		# Not a moment of "unknown" for longer than lowtided's own turn.
		for _ in 1 2 3; do admitted; done
	done
	[ "$(grep -cE 'event=clock_was_set by_s=-?[0-9]{4}' "$D/log/lowtided.out")" -eq 2 ]
	for part in slurmctld lowtided; do part stop $part; done
	for part in slurmctld lowtided; do part start $part; done
	within 60 admitted
}

@test "a budget file that can't be written: status tells the age on disk, and why" {
	old() { [ "$(lowtide status --json | jq .budget.age_s)" -ge 20 ]; }
	# .new can't be made where a directory of that name has something in it.
	mkdir -p "$D/lowtide/budget.new/here"
	within 60 old
	grep -q 'event=step_failed step=budget error=".*budget.new' "$D/log/lowtided.out"
	run -0 lowtide status
	[[ "$output" == *'age on disk '*' s'* ]]
	[[ "$output" == *'the last step that failed: '* ]]
	rm -r "$D/lowtide/budget.new"
	young() { [ "$(lowtide status --json | jq .budget.age_s)" -lt 20 ]; }
	within 20 young
	grep -q 'event=step_works step=budget' "$D/log/lowtided.out"
}

@test "a wrong policy: reload fails and says why, a restart goes on with the last good one" {
	local file=$LOWTIDE_CONFIG
	cp "$file" "$D/policy.good"
	put() { cp "$1" "$file.next"; mv "$file.next" "$file"; }
	has_error() { [ "$(lowtide status --json | jq -r .policy.error)" != null ]; }
	sed 's/amount: 1000}/amount: 1000, per_user: {amount: 2000}}/' "$D/policy.good" > "$D/policy.bad"
	run ! lowtide check "$D/policy.bad"
	[[ "$output" == *'per_user: got amount'* ]]
	put "$D/policy.bad"
	run ! lowtide reload
	[[ "$output" == *'per_user: got amount'*'the policy before it stays in force'* ]]
	[ -z "$ROOT" ] || run ! as_daemon lowtide reload
	part stop lowtided KILL
	part start lowtided
	within 20 has_error
	[ "$(lowtide status --json | jq -r .policy.in_force)" = "$D/lowtide/policy.last" ]
	lowtide status | grep -q 'is not in force: .*per_user'
	run lowtide doctor
	[[ "$output" == *'per_user: got amount'* ]]
	[ "$(budget_of vision limit_micros)" = 1000000000 ]
	put "$D/policy.good"
	lowtide reload | grep -qx "$file: in force, mode enforce"
	! has_error
	[ "$(lowtide status --json | jq -r .policy.in_force)" = "$file" ]
}

@test "a slurmctld that was killed and started is asked for all jobs" {
	part stop slurmctld KILL
	part start slurmctld
	seen() { grep -q event=slurmctld_started "$D"/log/lowtided*; }
	within 80 seen
}
