#!/usr/bin/env bats
# A month that ends, is closed and written to a folder, and the late row that
# comes for it: on a real Slurm whose clock goes from October to November.
load tricks

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='vision nlp' EXTRA=SlurmdTimeout=0 SBATCH_OUTPUT=/dev/null TZ=UTC
	clock_begin 2026-10-28T10:00:00Z
	mkdir -p -m 2770 "$BATS_FILE_TMPDIR/spool"
	# A USD for a second of a node: sums can be done by hand.
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
partitions:
  ondemand: {carbon: 300, price_per_node_hour: 3600, gpu: V100-SXM2}
  spot: {carbon: 300, price_per_node_hour: 900, gpu: V100-SXM2}
  h100: {carbon: 300, price_per_node_hour: 36000, gpu: H100-SXM5}
budgets:
  - {team: vision, period: month, amount: 100000}
notify:
  spool: $BATS_FILE_TMPDIR/spool
  mail: {server: 'smtp://127.0.0.1:9', from: lowtide@hpc.example.org}
  owners: {vision: [owner@example.org], nlp: [pi@example.org]}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

at() { # at TIME: lowtided takes a clock that was set for one that was wrong
	part stop lowtided
	clock_is "$1"
	part start lowtided
}
db() { mysql --no-defaults -N -uroot -S "$D/run/db.sock" slurm_acct_db -e "$1"; }
closed() { run lowtide close 2026-10; [ "$status" -eq 0 ]; }
month() { lowtide report --period 2026-10 "$@"; }
formats() { # formats FOLDER: of October, what may not change
	mkdir -p "$1"
	month --format csv > "$1/teams.csv"
	month --format csv --runs > "$1/runs.csv"
	month --format csv --by day,team > "$1/by.csv"
	month --format json --runs > "$1/report.json"
	month --format focus > "$1/charges.csv"
	month --format focus --dataset billing-period > "$1/period.csv"
}
micros() { # micros FILE COLUMN: of a CSV file, summed up
	sqlite3 :memory: ".import --csv $1 rows" \
	    "SELECT sum(CAST(replace(\"$2\", '.', '') AS integer)) FROM rows" 3>&- 4>&-
}
of_sacct() { # what all runs before a time cost, by slurmdbd and by hand: GPUs are eighths
	sacct -nXPD -a -S 2026-10-01 -E "$1" -o ElapsedRaw,Partition,AllocTRES | awk -F'|' '
		match($3, /gres\/gpu=[0-9]+/) {
			gpus = substr($3, RSTART + 9, RLENGTH - 9)
			price = $2 == "spot" ? 250000 : $2 == "h100" ? 10000000 : 1000000
			sum += $1 * price * gpus / 8}
		END {printf "%d\n", sum}'
}
as_daemon() { if [ -n "$ROOT" ]; then become daemon "$@"; else "$@"; fi; }

@test "runs of October" {
	as_daemon sbatch -A vision -J '=HYPERLINK("x")' --gpus=1 -n1 --time=10 --wrap 'sleep 3'
	as_daemon sbatch -A vision -J secret-project -p spot --gpus=4 -n1 --time=10 --wrap 'sleep 2'
	job -A nlp --array=0-1 -p h100 --gpus=2 -n1 --time=10 --wrap 'sleep 2'
	four() { [ "$(lowtide report --format json --runs | jq '.runs | length')" -eq 4 ]; }
	within 180 four
	[ "$(lowtide report --json | jq -r '.period.label + " " + .period.state')" = '2026-10 open' ]
	run -1 lowtide close 2026-10
	[[ "$output" == *'2026-10: can be closed from 2026-11-04 on'* ]]
	lowtide status --json | jq -e '.unclosed == null'
}

@test "a month is not closed before close_after, nor by somebody else" {
	part stop slurmdbd # what ends now it has not heard of
	job -A nlp -J late --gpus=8 -N1 --time=10 --wrap 'sleep 2'
	echo "$id" > "$D/late"
	ends() { [ -z "$(squeue -h -t PD,R,CG)" ]; }
	within 60 ends
	at 2026-11-02T12:00:00Z
	run -1 lowtide close 2026-10
	[[ "$output" == *'2026-10: can be closed from 2026-11-04 on: close_after is 72 h after its end'* ]]
	# A timer asks each day, and wakes nobody.
	run -0 lowtide close --last --output "$D"
	[[ "$output" == 'Not yet: 2026-10: can be closed from 2026-11-04 on'* ]]
	[ ! -e "$D/2026-10" ]
	[ "$(lowtide close --last --json | jq -r .not_yet)" = "${output#Not yet: }" ]
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	for what in 2026-10 --last; do
		run -1 as_daemon lowtide close $what
		[[ "$output" == *'only for root and SlurmUser'* ]]
	done
	LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" run -1 as_daemon lowtide close 2026-10
	[[ "$output" == *'only for root and SlurmUser'* ]]
}

@test "nor while a run that ended in it is not settled" {
	at 2026-11-04T00:30:00Z
	run -1 lowtide close 2026-10
	[[ "$output" == *'2026-10: runs that ended in it are not settled yet'* ]]
	run -0 lowtide close --last
	[[ "$output" == 'Not yet: 2026-10: runs that ended in it'* ]]
	lowtide close --json | jq -e '.closed == []'
	run lowtide doctor # a note where none was ever closed
	[[ "$output" == *'note    close '*'2026-10 is not closed, and can be since 2026-11-04'* ]]
	part start slurmdbd
	within 300 closed
	[[ "$output" == *'2026-10 is closed since '*', by '*sha256:* ]]
	month --json | jq -e '.period.state == "closed" and .total.runs == 5 and .complete'
}

@test "the totals of the closed month are equal in all formats, and slurmdbd's" {
	formats "$D/first"
	cd "$D/first"
	cost=$(jq .total.cost_micros report.json)
	within 60 settled "$(cat "$D/late")"
	[ "$cost" -eq "$(of_sacct 2026-11-01)" ]
	[ "$cost" -gt 8000000 ] # the late one is a node for two seconds and more
	[ "$(jq '[.runs[].money_micros] | add' report.json)" -eq "$cost" ]
	[ "$(micros teams.csv cost)" -eq "$cost" ]
	[ "$(micros runs.csv cost)" -eq "$cost" ]
	[ "$(micros by.csv cost)" -eq "$cost" ]
	[ "$(micros charges.csv EffectiveCost)" -eq "$cost" ]
	perl "$PROJECT/tests/golden/focus.pl" charges.csv
	cents=$(((cost + 5000) / 10000))
	shown=$(printf '$%d.%02d' $((cents / 100)) $((cents % 100)))
	[[ "$(month | grep '^TOTAL')" == *" $shown "* ]]
	month --format html -o page.html
	sed -n '/<tfoot>/,/<\/tfoot>/s/ class="[^"]*"//gp' page.html | grep -qF "<td>$shown</td>"
	carbon=$(jq .total.carbon_mg report.json)
	[ "$(micros teams.csv kg_co2e)" -eq "$carbon" ]
	[ "$(micros runs.csv kg_co2e)" -eq "$carbon" ]
	[ "$(micros charges.csv x_CarbonKg)" -eq "$carbon" ]
}

files='SHA256SUMS billing-period.csv focus.csv runs.csv statement.csv statement.html statement.json '

@test "its statement is written to a folder of the viewers' group, once" {
	mkdir "$D/statements"
	[ -z "$ROOT" ] || chgrp games "$D/statements"
	chmod 2750 "$D/statements"
	run -0 lowtide close --last --output "$D/statements"
	[[ "$output" == *"$D/statements/2026-10" ]]
	cd "$D/statements/2026-10"
	[ "$(ls | tr '\n' ' ')" = "$files" ]
	[ "$(stat -c %a .)" = 2750 ]
	[ "$(stat -c '%a %G' -- * . | sort -u)" = "$(printf '%s\n' "2750 $(stat -c %G ..)" "640 $(stat -c %G ..)")" ]
	sha256sum --strict -c SHA256SUMS
	cmp runs.csv "$D/first/runs.csv"
	cmp focus.csv "$D/first/charges.csv"
	cmp billing-period.csv "$D/first/period.csv"
	cmp statement.csv "$D/first/teams.csv"
	cmp statement.json <(month --json)
	cp -a . "$D/written"
	inodes=$(stat -c '%n %i' -- *)
	# The day after: nothing is touched.
	lowtide close --last --output "$D/statements"
	[ "$(stat -c '%n %i' -- *)" = "$inodes" ]
	diff -r . "$D/written" >&2
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	setpriv --reuid=games --regid=games --clear-groups cat statement.html > "$D/read"
	run ! become news cat runs.csv
}

@test "what is there and differs is named, and never written over" {
	cd "$D/statements/2026-10"
	echo more >> runs.csv
	rm focus.csv statement.html
	run -1 lowtide close 2026-10 --output "$D/statements"
	[[ "$output" == *"$D/statements/2026-10/runs.csv: is there, and not what lowtided says now"* ]]
	[ "$(tail -n 1 runs.csv)" = more ]
	[ -z "$(ls -- *.new 2>/dev/null)" ]
	cp "$D/written/runs.csv" .
	lowtide close 2026-10 --output "$D/statements"
	cmp focus.csv "$D/written/focus.csv"
	[ -s statement.html ]
	run -1 lowtide close --last --output /nonexistent
	[[ "$output" == */nonexistent* ]]
	# Something else of that name.
	mkdir "$D/odd"
	ln -s "$D/statements" "$D/odd/2026-10"
	run -1 lowtide close --last --output "$D/odd"
	[[ "$output" == *"$D/odd/2026-10: want a folder"* ]]
}

@test "a folder without users, of a group that only the folder around it has" {
	[ -n "$ROOT" ] || skip 'needs root to give a folder away'
	grep -rq secret-project "$D/written"
	mkdir -m 755 "$D/names"
	chgrp mail "$D/names"
	lowtide close 2026-10 --output "$D/names" --no-users
	[ "$(stat -c '%a %G' "$D/names/2026-10")" = '2750 mail' ]
	[ "$(stat -c %G "$D"/names/2026-10/* | sort -u)" = mail ]
	run ! grep -rE 'daemon|secret-project|HYPERLINK' "$D/names"
	[ "$(micros "$D/names/2026-10/runs.csv" cost)" -eq "$(micros "$D/written/runs.csv" cost)" ]
}

statements() { ls "$BATS_FILE_TMPDIR"/spool/statement_3a"$1"_3a*.json; }

@test "each team's owners get its figures of the closed month, once" {
	local team to cents
	for team in vision:owner nlp:pi; do
		to=${team#*:}@example.org team=${team%:*}
		within 60 statements "$team"
		[ "$(statements "$team" | wc -l)" -eq 1 ]
		cents=$(((($(month --team "$team" --json | jq .total.cost_micros)) + 5000) / 10000))
		[ "$cents" -gt 0 ]
		jq -e --arg to "$to" --arg team "$team" --arg shown "$(printf '$%d.%02d' $((cents / 100)) $((cents % 100)))" '
			.kind == "statement" and .to == [$to] and
			(.subject | startswith("lowtide: \($team), 2026-10: \($shown), ")) and
			(.text | contains("is closed: \($shown), ") and contains("lowtide report --team \($team) --period 2026-10"))' \
			"$(statements "$team")"
	done
	jq -r .text "$(statements vision)" | grep '^0 % of its money budget of the period$'
	lowtide alerts --json | jq -e '[.alerts[] | select(.kind == "statement") | .sent != null] == [true, true]'
	rm "$BATS_FILE_TMPDIR"/spool/statement_*
	lowtide close 2026-10
	at "$(date '+%F %T')"
	lowtide rebuild
	sleep 3
	[ -z "$(ls "$BATS_FILE_TMPDIR/spool")" ]
}

@test "a late row leaves the closed month to the byte, and is a correction that names it" {
	# An eighth of a node: ten minutes of October, and ten on each side of its end.
	[ "$(date -u -d @1793491200 +%FT%T)" = 2026-11-01T00:00:00 ]
	db "INSERT INTO tide_job_table (mod_time, account, cpus_req, job_name, id_assoc,
	    id_array_job, id_array_task, id_job, id_qos, id_resv, id_wckey, id_user,
	    id_group, het_job_id, het_job_offset, mem_req, state_reason_prev, nodelist,
	    nodes_alloc, node_inx, \`partition\`, priority, state, timelimit, time_submit,
	    time_eligible, time_start, time_end, work_dir, tres_alloc, tres_req)
	SELECT UNIX_TIMESTAMP(), account, 8, 'came late', id_assoc, 0, 4294967294,
	    n.id, 1, 0, 0, 0, 0, 0, 4294967294, 0, 0, 'v1', 1, '0', 'ondemand', 1, 3, 60,
	    n.start, n.start, n.start, n.start + n.lasts, '/tmp', '1=8,2=64000,4=1,5=8', '1=8,2=64000,4=1,5=8'
	FROM (SELECT account, id_assoc FROM tide_job_table WHERE account = 'nlp' LIMIT 1) a,
	    (SELECT 10000001 AS id, 1793491200 - 7200 AS start, 600 AS lasts
	     UNION SELECT 10000002, 1793491200 - 600, 1200) n"
	lowtide rebuild
	formats "$D/second"
	diff -r "$D/first" "$D/second" -x page.html >&2
	lowtide close --last --output "$D/statements"
	diff -r -x statement.html "$D/statements/2026-10" "$D/written" >&2

	lowtide report --period 2026-11 --json --runs > "$D/november.json"
	jq -e '.total | .corrections_micros == 150000000 and .charges_micros == 75000000' "$D/november.json"
	[ "$(jq -c '[.runs[] | [.job_id, .corrects, .corrections_micros, .money_micros]] | sort' "$D/november.json")" = \
	    '[[10000001,"2026-10",75000000,75000000],[10000002,"2026-10",75000000,150000000]]' ]
	# FOCUS, too, has them in November as corrections of October.
	lowtide report --period 2026-11 --format focus > "$D/november.csv"
	perl "$PROJECT/tests/golden/focus.pl" "$D/november.csv"
	[ "$(sqlite3 :memory: ".import --csv $D/november.csv rows" "SELECT count(*),
	    sum(CAST(replace(EffectiveCost, '.', '') AS integer)) FROM rows WHERE ChargeClass = 'Correction'
	    AND BillingPeriodStart = '2026-11-01T00:00:00Z' AND ChargePeriodStart < '2026-11'" 3>&- 4>&-)" = '2|150000000' ]
	# All its node-hours: ten minutes of an eighth of a node each, and as many in November.
	[ "$(sqlite3 :memory: ".import --csv $D/november.csv rows" "SELECT group_concat(ChargePeriodStart || ' ' ||
	    ChargePeriodEnd || ' ' || ConsumedQuantity, ', ') FROM (SELECT * FROM rows ORDER BY ChargePeriodStart)" 3>&- 4>&-)" = \
	    '2026-10-31T22:00:00Z 2026-10-31T22:10:00Z 0.020833, '\
'2026-10-31T23:50:00Z 2026-11-01T00:00:00Z 0.020833, '\
'2026-11-01T00:00:00Z 2026-11-01T00:10:00Z 0.020833' ]
	# A quarter is billed as its months are; so are days over an end.
	lowtide report --period 2026-Q4 --format focus > "$D/quarter.csv"
	tail -n +2 "$D/november.csv" | cat "$D/first/charges.csv" - | cmp - "$D/quarter.csv"
	lowtide report --from 2026-10-31 --to 2026-11-01 --format focus > "$D/days.csv"
	perl "$PROJECT/tests/golden/focus.pl" "$D/days.csv"
	[ "$(sqlite3 :memory: ".import --csv $D/days.csv rows" "SELECT group_concat(DISTINCT BillingPeriodStart || BillingPeriodEnd)
	    FROM rows" 3>&- 4>&-)" = 2026-11-01T00:00:00Z2026-12-01T00:00:00Z ]
	[ "$(lowtide report --period 2026-Q4 --format focus --dataset billing-period | cut -d, -f4,5)" = \
	    "$(printf '%s\n' BillingPeriodStart,BillingPeriodStatus 2026-10-01T00:00:00Z,Closed 2026-11-01T00:00:00Z,Open)" ]
	# A quarter of both has all that slurmdbd has.
	[ "$(lowtide report --period 2026-Q4 --json | jq .total.cost_micros)" -eq \
	    $(($(jq .total.cost_micros "$D/first/report.json") + 225000000)) ]
}

@test "a month's PUE that is put right is charged from then on, and never in what is closed" {
	pues() { lowtide report --period "$1" --carbon --json > "$D/pues.json" &&
		[ "$(jq -c '[.carbon.rows[] | [.month, .pue]] | unique' "$D/pues.json")" = "$2" ]; }
	wh() { jq '[.carbon.rows[] | select(.month == "2026-11") | .energy_wh] | add' "$D/pues.json"; }
	pues 2026-11 '[["2026-10",1],["2026-11",1]]'
	jq -e '.carbon.total | .undated_hours == 0 and .issued_last < "2026-10-29"' "$D/pues.json"
	before=$(wh)
	sed -i 's/^  ondemand: {/&pue: {2026-10: 1.5, 2026-11: 1.25}, /' "$D/etc/lowtide.yaml"
	# Charged already, and not with that.
	within 60 pues 2026-11 '[["2026-10",1],["2026-11",null]]'
	[ "$(wh)" -eq "$before" ]
	lowtide rebuild
	pues 2026-11 '[["2026-10",1],["2026-11",1.25]]'
	[ $((4 * $(wh) - 5 * before)) -ge -8 ]
	[ $((4 * $(wh) - 5 * before)) -le 8 ]
	pues 2026-10 '[["2026-10",1]]'
	formats "$D/again"
	diff -r "$D/first" "$D/again" -x page.html >&2
}

@test "what is closed stays so over a restart, and months are closed in their order" {
	part stop lowtided KILL
	at 2027-01-05T00:00:00Z
	formats "$D/third"
	diff -r "$D/first" "$D/third" -x page.html >&2
	[ "$(lowtide close --json | jq -c '[.closed[].label]')" = '["2026-10"]' ]
	# A month that nobody closed is nothing that passes: it has to be looked at.
	run -1 lowtide close --last --output "$D/statements"
	[[ "$output" == *'2026-12: 2026-11 is not closed; close it first: lowtide close 2026-11'* ]]
	run lowtide doctor
	[[ "$output" == *'warning close '*'2026-11 is not closed, and can be since 2026-12-04'*'-> lowtide close 2026-11;'* ]]
	run -0 lowtide status
	[[ "$output" == *'2026-11    can be closed since 2026-12-04, and is not'* ]]
	november() { lowtide close 2026-11 --output "$D/statements" 2>/dev/null; }
	within 300 november
	within 60 lowtide close --last --output "$D/statements"
	[ "$(ls "$D/statements" | tr '\n' ' ')" = '2026-10 2026-11 2026-12 ' ]
	lowtide status --json | jq -e '.unclosed == null'
	[ "$(micros "$D/statements/2026-11/focus.csv" EffectiveCost)" -eq 225000000 ]
}

@test "a site that bills from now on has its own nodes in the file, and what is closed as it was" {
	sed -i -e 's/^currency: USD/&\nbilled: yes\nissuer: Example Centre\nbilling_account: {id: "4711"}/' \
	    -e 's/^  ondemand: {/&owned: yes, electricity_price_per_kwh: 0.2, /' "$D/etc/lowtide.yaml"
	billed() { lowtide report --period 2027-01 --format focus > "$D/january.csv" && grep -q ',Unallocated,' "$D/january.csv"; }
	within 60 billed
	perl "$PROJECT/tests/golden/focus.pl" "$D/january.csv"
	# A USD for a second of each node, and nobody used one.
	nodes=$(sinfo -h -p ondemand -o %D | awk '{n += $1} END {print n}')
	run -0 sqlite3 :memory: ".import --csv $D/january.csv rows" \
	    "SELECT InvoiceIssuerName, BillingAccountId, SubAccountId, ResourceName, PricingCategory,
		BilledCost = EffectiveCost, CAST(EffectiveCost AS real) =
		$nodes * (strftime('%s', ChargePeriodEnd) - strftime('%s', ChargePeriodStart)) FROM rows" 3>&- 4>&-
	[ "$output" = 'Example Centre|4711||ondemand|Standard|1|1' ]
	formats "$D/fourth"
	diff -r "$D/first" "$D/fourth" -x page.html >&2
	# Nor is a folder written anew, or found to differ.
	run -0 lowtide close 2026-11 --output "$D/statements"
	run -1 grep -l Centre "$D"/statements/*/focus.csv
}

@test "what is opened again has what came for it, once, and is closed a second time" {
	told() { lowtide alerts --json | jq -c '[.alerts[] | select(.kind == "statement")]'; }
	all_told() { told | jq -e 'length > 0 and all(.sent != null)'; }
	within 60 all_told
	told=$(told)
	run -1 lowtide close --reopen 2026-10 --reason 'slurmdbd was down'
	[[ "$output" == *'2026-10: 2026-12 is closed, too, and has or follows it; open that first: lowtide close --reopen 2026-12'* ]]
	run -2 lowtide close --reopen 2026-12
	[[ "$output" == *'--reopen wants --reason TEXT'* ]]
	if [ -n "$ROOT" ]; then
		run -1 as_daemon lowtide close --reopen 2026-12 --reason r
		[[ "$output" == *'only for root and SlurmUser'* ]]
	fi
	quarter=$(lowtide report --period 2026-Q4 --json | jq .total.cost_micros)
	for period in 2026-12 2026-11 2026-10; do
		run -0 lowtide close --reopen $period --reason 'slurmdbd was down'
		[[ "$output" == "$period is open again."* ]]
	done
	# The late rows are October's now, and nothing is there twice.
	month --json | jq -e '.total.corrections_micros == 0 and .period.state == "ended" and .total.runs == 7'
	[ "$(month --json | jq .total.cost_micros)" -eq $(($(jq .total.cost_micros "$D/first/report.json") + 150000000)) ]
	lowtide report --period 2026-11 --json | jq -e '.total | .corrections_micros == 0 and .charges_micros == 75000000'
	[ "$(lowtide report --period 2026-Q4 --json | jq .total.cost_micros)" -eq "$quarter" ]
	[ "$quarter" -eq $(($(of_sacct 2027-01-01) + 225000000)) ] # three late sixths of an hour
	# A timer leaves it to who opened it; he closes by name.
	run -1 lowtide close --last --output "$D/statements"
	[[ "$output" == *'close it first: lowtide close 2026-10'* ]]
	again() { run lowtide close 2026-10 --output "$D/statements"; [ "$status" -eq 0 ]; }
	within 300 again
	[[ "$output" == *'It is closing 2 of this period, in total against the one before: +$150.00, +'*' CO2e.'* ]]
	[[ "$output" == *"$D/statements/2026-10.2" ]]
	(cd "$D/statements/2026-10.2" && sha256sum -c --quiet SHA256SUMS)
	diff -r "$D/statements/2026-10" "$D/written" -x statement.html >&2 # what was given out stays
	[ "$(micros "$D/statements/2026-10.2/runs.csv" cost)" -eq $(($(micros "$D/written/runs.csv" cost) + 150000000)) ]
	run -0 lowtide close
	[[ "$output" == *'2026-10 was reopened '*' by '*': slurmdbd was down. Until then: sha256:'* ]]
	lowtide close --json | jq -e '.closed[0] | .closing == 2 and .difference.cost_micros == 150000000'
	lowtide close --json | jq -e '[.reopened[].label] == ["2026-12", "2026-11", "2026-10"]'
	month | grep -E '^reopened on 2027-01-05 by [a-z]+: slurmdbd was down$'
	month --format html | grep -q '<p>Reopened on 5 January 2027 by <bdi>'
	lowtide close 2026-11
	run -0 lowtide close --last
	[[ "$output" == 'Not yet: 2026-12: '*' opened it again, and closes it by its name: lowtide close 2026-12'* ]]
	run -0 lowtide close 2026-12
	[[ "$output" == *'It is closing 2 of this period, in total against the one before: $0.00, 0 g CO2e.'* ]]
	sleep 3
	[ "$(told)" = "$told" ] # by himself nobody is told of it
}
