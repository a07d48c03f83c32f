#!/usr/bin/env bats
# Mails to users who asked Slurm for some, and to owners of a budget, from
# lowtided by the spool and lowtide-notify to a real mail server; none twice,
# whoever is killed.
load tricks

setup_file() {
	export ACCOUNTS='vision small' SBATCH_OUTPUT=/dev/null EXTRA='KillWait=2'
	M=$BATS_FILE_TMPDIR/mail
	mkdir -p "$M" "$BATS_FILE_TMPDIR/spool" "$BATS_FILE_TMPDIR/state"
	chmod 2770 "$BATS_FILE_TMPDIR/spool"
	/usr/bin/python3 "$PROJECT/tests/golden/notify_server.py" "$M" 300 > "$M.log" 2>&1 3>&- 4>&- &
	echo $! > "$M.pid"
	within 10 test -s "$M/ports"
	day 12 20
	cluster_up "
mode: enforce
spot_proof: said # proof.bats has what proves it
currency: USD
timezone: UTC
carbon_price_per_tonne: 1000
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3600, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
budgets:
  - {team: vision, period: year, amount: 1000000}
  - {team: small, period: year, amount: 100000, alert_at: [1, 50, 100]}
notify:
  spool: $BATS_FILE_TMPDIR/spool
  mail: {server: 'smtp://127.0.0.1:$(cut -d' ' -f1 "$M/ports")', from: lowtide@hpc.example.org}
  owners: {small: [owner@example.org]}
"
}
teardown_file() {
	kill "$(< "$BATS_FILE_TMPDIR/mail.pid")" || true
	cluster_down
}
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
	M=$BATS_FILE_TMPDIR/mail S=$BATS_FILE_TMPDIR/spool
}
of() { scontrol show job "$1" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
state_is() { [ "$(of "$1" JobState)" = "$2" ]; }
send() { "$BUILD/lowtide-notify" --config "$D/etc/lowtide.yaml" --state "$BATS_FILE_TMPDIR/state" --once; }
waits() { ls "$S" | grep -qE "^(u[0-9]+-)?$1"; } # waits BEGINNING: of a name in the spool
mails_to() { grep -l "^from=.* to=$1\$" "$M"/mail.* 2> /dev/null | wc -l; }
mail_to() { tr -d '\r' < "$(grep -l "^from=.* to=$1\$" "$M"/mail.* | tail -n 1)"; }

@test "a plan that moves by more than an hour is mailed, once, to who asked" {
	job -A vision -J train --mail-type=ALL --mail-user=alice@example.org --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	asked=$id
	job -A vision --mail-type=END --mail-user=bob@example.org --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	not=$id
	job -A vision --mail-type=BEGIN --mail-user='a@example.org,b@example.org' --carbon-aware --gpus=1 --time=6:00:00 --wrap 'sleep 60'
	two=$id
	job -A vision --mail-type=REQUEUE --mail-user=carol -p spot --checkpoint=write=1s --no-kill --time=30 -n1 --wrap 'sleep 300'
	echo "$id" > "$BATS_FILE_TMPDIR/runs"
	is_in "$asked" 12
	was=$(of "$asked" EligibleTime)
	within 20 eval "lowtide explain $asked --json | jq -e '.hold.state == \"open\"'"
	lowtide explain "$asked" | grep -q "^lowtide lets it wait until .* UTC. At once: lowtide now $asked$"
	day 4 14
	restart
	within 40 is_in "$asked" 4
	within 15 waits "moved-$asked-"
	[ "$(ls "$S" | wc -l)" -eq 1 ]
	within 10 grep -q "event=mail_refused job=$two " "$LOG"
	# Nobody takes it away: a finding, after a quarter of an hour.
	doctor() { lowtide doctor --json | jq -r '.findings[] | select(.check == "notify") | .level + " " + .found'; }
	[ "$(doctor)" = "ok $S: 1 messages wait" ]
	touch -d '-16 minutes' "$S"/*-moved-*
	[ "$(doctor)" = "warning 1 messages wait in $S, the oldest for 16 min" ]
	chmod 2775 "$S"
	[[ $(doctor) == "error spool: $S: mode 2775 lets all users in, want 2770"* ]]
	chmod 2770 "$S"
	send
	[ "$(mails_to alice@example.org)" -eq 1 ]
	[ "$(ls "$M"/mail.* | wc -l)" -eq 1 ]
	said=$(mail_to alice@example.org)
	grep -q "^Subject: lowtide: job $asked starts .*, not .* UTC$" <<< "$said"
	# What was, what is, why, what to type.
	grep -q "^Job $asked (train) was to start .* $(date -d "$was" +%H:%M) UTC in ondemand\.$" <<< "$said"
	grep -q "^It starts .* $(date -d "$(of "$asked" EligibleTime)" +%H:%M) UTC in ondemand: by today's forecasts" <<< "$said"
	grep -q "lowtide now $asked$" <<< "$said"
	echo "$asked" > "$BATS_FILE_TMPDIR/asked"
	scancel "$not" "$two"
	# For the one after the next: all of that takes a minute.
	id=$(< "$BATS_FILE_TMPDIR/runs")
	within 20 state_is "$id" RUNNING
	of "$id" NodeList > "$BATS_FILE_TMPDIR/node"
	lowtide notice "$(< "$BATS_FILE_TMPDIR/node")" --in 5s > /dev/null
}

@test "killed between the spool and its note: the same message, sent by nobody" {
	asked=$(< "$BATS_FILE_TMPDIR/asked")
	# As the ledger was before that note: the user knows of twelve hours.
	part stop lowtided KILL
	first=$(sqlite3 "$D/lowtide/ledger.db" "SELECT start_utc_s FROM plans ORDER BY made_utc_s LIMIT 1")
	sqlite3 "$D/lowtide/ledger.db" "UPDATE mails SET start_utc_s = $first WHERE job_id = $asked"
	part start lowtided
	within 25 waits "moved-$asked-"
	send
	[ "$(ls "$S" | grep -c -- -moved-)" -eq 0 ]
	[ "$(mails_to alice@example.org)" -eq 1 ]
	# Killed at any other time nothing is said anew; nor of what users do.
	part stop lowtided KILL
	part start lowtided
	within 20 lowtide now "$asked"
	sleep 8
	[ "$(ls "$S" | grep -c -- -moved-)" -eq 0 ]
	[ "$(sqlite3 "$D/lowtide/ledger.db" "SELECT count(*) FROM mails WHERE job_id = $asked")" -eq 1 ]
	scancel "$asked"
}

@test "what a job cost, once it is settled, to who asked for a mail at the end" {
	asked=$(< "$BATS_FILE_TMPDIR/asked")
	within 60 waits "ended-$asked-"
	send
	[ "$(mails_to alice@example.org)" -eq 2 ]
	said=$(mail_to alice@example.org)
	cost=$(runs_of "$asked" money_micros | awk '{printf "$%.2f", $1 / 1e6}')
	grep -q "^Subject: lowtide: job $asked cost .* CO2e" <<< "$said"
	grep -qF "Job $asked (train) of vision has ended (CANCELLED" <<< "$said"
	grep -qF "It cost $cost" <<< "${said//,/}"
	part stop lowtided KILL
	part start lowtided
	sleep 8
	[ "$(ls "$S" | grep -c -- -ended-)" -eq 0 ]
	# Who was cancelled while he waited has cost nothing.
	[ "$(mails_to bob@example.org)" -eq 0 ]
}

@test "a job that lost its nodes and runs again" {
	id=$(< "$BATS_FILE_TMPDIR/runs") was=$(< "$BATS_FILE_TMPDIR/node")
	again() { state_is "$id" RUNNING && [ "$(of "$id" Restarts)" = 1 ]; }
	within 40 again
	within 40 waits "interrupted-$id-"
	send
	[ "$(mails_to carol)" -eq 1 ]
	grep -q "^Job $id (wrap) lost its nodes, and runs again since .* in .* on $(of "$id" NodeList)\.$" <<< "$(mail_to carol)"
	scontrol update nodename="$was" state=resume
}

@test "a budget's owners hear of it once: once a day, and of all of it at once" {
	job -A small -N1 --exclusive --time=10 --wrap 'sleep 3600'
	within 20 state_is "$id" RUNNING
	# 3600 a node-hour: 1 a second, so no percent of it yet.
	within 20 has_run "$id"
	scancel "$id"
	within 30 settled "$id"
	[ "$(ls "$S" | wc -l)" -eq 0 ]
	lowtide budget adjust --team small --amount 50000 --reason test
	rows() { sqlite3 "$D/lowtide/ledger.db" "SELECT count(*) FROM alerts WHERE told_utc_s $1 0"; }
	due() { [ "$(rows =)" -eq 2 ]; } # of 1 % and 50 %
	within 15 due
	[ "$(ls "$S" | wc -l)" -eq 0 ]
	lowtide alerts | grep -q '^small .* due .* small has spent 50 % of its budget for 20'
	part stop lowtided KILL
	# As if it had been yesterday.
	sqlite3 "$D/lowtide/ledger.db" 'UPDATE alerts SET made_utc_s = made_utc_s - 86400'
	part start lowtided
	within 20 waits 'digest_3a'
	send
	[ "$(mails_to owner@example.org)" -eq 1 ]
	said=$(mail_to owner@example.org)
	grep -q '^Subject: lowtide: 1 budget passed an alert' <<< "$said"
	grep -q '^small has spent \$50,0[0-9.]* of \$100,000.00 for .*: 50 % and more\.$' <<< "$said"
	[ "$(rows =)" -eq 0 ]
	[ "$(lowtide alerts --json | jq '[.alerts[] | select(.sent != null and .due == null)] | length')" -eq 2 ]
	lowtide budget adjust --team small --amount 50000 --reason test
	within 15 waits 'alert_3asmall'
	send
	[ "$(mails_to owner@example.org)" -eq 2 ]
	said=$(mail_to owner@example.org)
	grep -q '^Subject: lowtide: small has spent 100 % of its budget for 20' <<< "$said"
	part stop lowtided KILL
	part start lowtided
	within 20 lowtide status > /dev/null
	# Nor again of the job that runs since.
	sleep 8
	[ "$(ls "$S" | wc -l)" -eq 0 ]
	[ "$(lowtide status --json | jq .error)" = null ]
	scancel "$(< "$BATS_FILE_TMPDIR/runs")"
}

@test "a run that is over at once is mailed, too" {
	for _ in 1 2 3 4; do # most begin and end in one second
		job -A vision --mail-type=END --mail-user=dave -n1 --time=1 --wrap true
	done
	all() { [ "$(ls "$S" | grep -c -- -ended-)" -eq 4 ]; }
	within 120 all
	send
	[ "$(mails_to dave)" -eq 4 ]
}
