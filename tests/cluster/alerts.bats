#!/usr/bin/env bats
# What owners and users hear of without having asked: a team that is expected to
# pass its budget, a day that cost far more than usual, a run that is dear, GPUs
# that did nothing. On a real Slurm whose clock goes on by a month, then by
# minutes, to a mail server and a webhook of which each fails once.
load tricks

T=1805274000 # 2027-03-17T09:00Z

setup_file() {
	export ACCOUNTS='vision lab:vision nlp' SBATCH_OUTPUT=/dev/null TZ=UTC
	export EXTRA='SlurmdTimeout=0
AccountingStorageTRES=gres/gpu,gres/gpuutil'
	M=$BATS_FILE_TMPDIR/mail S=$BATS_FILE_TMPDIR/spool
	mkdir -p "$M" "$S" "$BATS_FILE_TMPDIR/state"
	chmod 2770 "$S"
	echo s3cret > "$M/secret"
	chmod 600 "$M/secret"
	clock_begin 2027-02-15T12:00:00Z
	/usr/bin/python3 "$PROJECT/tests/golden/notify_server.py" "$M" 300 > "$M.log" 2>&1 3>&- 4>&- &
	echo $! > "$M.pid"
	within 10 test -s "$M/ports"
	# A USD for a second of a node: sums can be done by hand.
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {price_per_node_hour: 3600}
budgets:
  - {team: vision, period: month, amount: 215, alert_at: [100], alert_on: [spent, forecast]}
notify:
  spool: $S
  mail: {server: 'smtp://127.0.0.1:$(cut -d' ' -f1 "$M/ports")', from: lowtide@hpc.example.org}
  webhook: {url: 'http://127.0.0.1:$(cut -d' ' -f2 "$M/ports")/in', secret_file: $M/secret}
  owners: {vision: [owner@example.org], nlp: [pi@example.org]}
  run_above: 3
  idle_gpus: 10m
  unusual_day: {percent: 50, amount: 20}
"
	cluster_use
	part stop lowtided
	clock_is @$T
	past_month
	part start lowtided
	# Nothing is known of jobs like this one: it is expected to use its limit.
	job -A nlp -n1 --gpus=2 --time=10:00:00 --wrap "until [ -e '$D/end' ]; do sleep .3; done"
	echo "$id" > "$D/idle"
	for i in 1 2 3; do job -A nlp -J "train_$i" -n2 --time=10:00:00 --wrap 'sleep 62'; done
}
teardown_file() {
	kill "$(< "$BATS_FILE_TMPDIR/mail.pid")" || true
	cluster_down
}
setup() {
	cluster_use
	M=$BATS_FILE_TMPDIR/mail S=$BATS_FILE_TMPDIR/spool
}
db() { mysql --no-defaults -N -uroot -S "$D/run/db.sock" slurm_acct_db -e "$1"; }
# Whole nodes: on each of 29 days two seconds of vision and of the account below
# it, and 100 of vision yesterday.
past_month() {
	db "INSERT INTO tide_job_table (mod_time, account, cpus_req, job_name, id_assoc,
	    id_array_job, id_array_task, id_job, id_qos, id_resv, id_wckey, id_user,
	    id_group, het_job_id, het_job_offset, mem_req, state_reason_prev, nodelist,
	    nodes_alloc, node_inx, \`partition\`, priority, state, timelimit, time_submit,
	    time_eligible, time_start, time_end, work_dir, tres_alloc, tres_req)
	SELECT UNIX_TIMESTAMP(), a.acct, 64, 'past', a.id_assoc, 0, 4294967294,
	    n.id + a.id_assoc * 100, 1, 0, 0, $(id -u), 0, 0, 4294967294, 0, 0, 'v1', 1, '0',
	    'ondemand', 1, 3, 60, n.start, n.start, n.start, n.start + n.lasts, '/tmp',
	    '1=64,2=64000,4=1,5=64', '1=64,2=64000,4=1,5=64'
	FROM (SELECT 10000000 + seq AS id, $T - seq * 86400 AS start, 2 AS lasts FROM seq_1_to_29
	      UNION SELECT 10000030, $T - 80000, 100) n
	JOIN tide_assoc_table a ON a.user = '$(id -un)' AND a.acct IN ('vision', 'lab')
	    AND (n.lasts < 100 OR a.acct = 'vision')"
}
at() { # at SECONDS after T: lowtided takes a clock that was set for one that was wrong
	part stop lowtided "${2:-TERM}"
	clock_is @$((T + $1))
	part start lowtided
}
send() { "$BUILD/lowtide-notify" --config "$D/etc/lowtide.yaml" --state "$BATS_FILE_TMPDIR/state" --once; }
waits() { ls "$S" | grep -qE "^(u[0-9]+-)?$1"; } # waits BEGINNING: of a name in the spool
is_empty() { [ -z "$(ls "$S")" ]; }
mails() { # mails TO SUBJECT: how many came
	grep -l "^from=.* to=$1\$" "$M"/mail.* 2> /dev/null | xargs -r grep -l "^Subject: lowtide: $2" | wc -l
}
hooks() { # hooks SUBJECT: POSTs, taken or not
	grep -h '^{' "$M"/hook.* 2> /dev/null | jq -r .subject | grep -c "^lowtide: $1" || true
}
text_of() { # text_of SUBJECT
	lowtide alerts --json | jq -r --arg s "lowtide: $1" '.alerts[] | select(.subject | startswith($s)).text'
}
micros() { tr -d '$,' <<< "$1" | awk '{printf "%d\n", $1 * 1000000}'; }

@test "a budget that is expected to pass, and an unusual day: each recipient once, though one fails" {
	within 60 waits 'alert_3avision.*forecast_3a100'
	within 60 waits 'day_3avision'
	[ "$(ls "$S" | wc -l)" -eq 2 ]
	echo http-500 > "$M/mode"
	run -1 send
	rm "$M/mode"
	send
	is_empty
	send
	for what in 'vision is expected to spend 100 % of its budget for 2027-03' \
	    'vision spent unusually much on 2027-03-16'; do
		[ "$(mails owner@example.org "$what")" -eq 1 ]
		[ "$(hooks "$what")" -eq 2 ] # refused, then taken
	done
	[ "$(ls "$M"/mail.* | wc -l)" -eq 2 ]
	[ "$(ls "$M"/hook.* | wc -l)" -eq 4 ]
	! grep -L 'signed=True fresh=True' "$M"/hook.* | grep .
}

@test "what they say is what was spent, and the report's forecast" {
	report=$(lowtide report --team vision --period 2027-03 --format json)
	# Of sixteen days of March, and 100; no more than three times that of a day to come.
	[ "$(jq .total.cost_micros <<< "$report")" -eq 164000000 ]
	expected=$(jq .forecast.expected_micros <<< "$report")
	[ "$expected" -gt $((164000000 + 14 * 4000000)) ]
	[ "$expected" -lt $((164000000 + 15 * 12000000)) ]
	said=$(text_of 'vision is expected')
	[[ $said =~ ^'vision is expected to spend '(\$[0-9.]+)' of $215.00 for 2027-03: 100 % and more.' ]]
	told=$(micros "${BASH_REMATCH[1]}")
	# Some minutes of today are less of what is to come.
	[ $((told > expected ? told - expected : expected - told)) -lt 1000000 ]
	[[ $said == *'It has spent $164.00 so far. In 8 of 10 cases it comes to between $'* ]]
	# As it may be typed.
	days=$(sed -n 's/^By day: *//p' <<< "$said")
	[ "$days" = 'lowtide report --team vision --from 2027-03-01 --to 2027-03-31 --format html -o vision.html' ]
	$days
	grep -q 'is expected to have been spent' vision.html
	[[ $(text_of 'vision spent unusually') == 'vision spent $104.00 on 2027-03-16, against a mean of $4.00 on the same day of the 3 weeks before.'* ]]
}

@test "a run that costs three times what was expected, to its user and the owner" {
	learned() { lowtide history --json --name train_9 | jq -e '.groups[0].runs == 3'; }
	within 150 learned # a run of less than a minute teaches nothing
	planned() { lowtide plan -- -A nlp -J train_9 -n2 --time=10:00:00 --wrap true | grep -q 'median of 3 runs'; }
	within 60 planned
	job -A nlp -J train_9 -n2 --time=10:00:00 --wrap 'sleep 7200'
	echo "$id" > "$D/dear"
	within 20 is "$id" RUNNING
	within 20 is "$(< "$D/idle")" RUNNING
	within 20 known "$id"
	is_empty
	at 1200
	within 30 waits "run_3a${id}_3a"
	[ "$(ls "$S" | wc -l)" -eq 1 ]
	echo rcpt-451 > "$M/mode"
	run -1 send
	rm "$M/mode"
	send
	send
	is_empty
	what="job $id has cost more than 3 times what was expected"
	for to in "$(id -un)" pi@example.org; do [ "$(mails "$to" "$what")" -eq 1 ]; done
	# Owners alone hear of runs: not the site.
	[ "$(hooks "$what")" -eq 0 ]
	[[ $(text_of "$what") == "Job $id (train_9) of $(id -un) in nlp has cost \$"*' was expected of all of it.'* ]]
}

@test "GPUs that did nothing, by slurmdbd; of all else nothing anew" {
	idle=$(< "$D/idle") dear=$(< "$D/dear")
	touch "$D/end"
	within 60 state_is "$idle" COMPLETED
	ended() { [ "$(db "SELECT count(*) FROM tide_step_table JOIN tide_job_table j USING (job_db_inx)
	    WHERE j.id_job = $idle AND tide_step_table.time_end > 0")" -ge 1 ]; }
	within 30 ended
	# As Slurm's nvml plugin would have left it: no sample above 0 %.
	db "UPDATE tide_step_table s JOIN tide_job_table j USING (job_db_inx)
	    SET s.tres_usage_in_max = CONCAT(
	    (SELECT id FROM tres_table WHERE type = 'gres' AND name = 'gpuutil'), '=0')
	    WHERE j.id_job = $idle"
	# A month of runs that have no steps would be looked at a day a second.
	part stop lowtided
	sqlite3 "$D/lowtide/ledger.db" "UPDATE named SET value = $T WHERE name = 'used_until'"
	at 3600
	within 60 waits "idle_3a${idle}_3a"
	[ "$(ls "$S" | wc -l)" -eq 1 ]
	send
	for to in "$(id -un)" pi@example.org; do
		[ "$(mails "$to" "the GPUs of job $idle did nothing")" -eq 1 ]
	done
	[[ $(text_of "the GPUs of job $idle") == "Job $idle of $(id -un) in nlp had 2 GPUs for 20m"*', and by Slurm'\''s accounting they did nothing.'* ]]
	is "$dear" RUNNING
	at 5400 KILL
	within 20 lowtide status > /dev/null
	sleep 6
	is_empty
	[ "$(lowtide alerts --json | jq -c '[.alerts[] | [.kind, .team, .times, .sent != null]] | sort')" = \
	    '[["budget","vision",1,true],["day","vision",1,true],["idle","nlp",1,true],["run","nlp",1,true]]' ]
	[ "$(lowtide status --json | jq .error)" = null ]
	scancel "$dear"
}
