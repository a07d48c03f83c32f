#!/usr/bin/env bats
# The main job on real Slurm, with job_submit: placed, priced, admitted, run
# where it was placed, charged from slurmdbd, reported.
load helper

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='vision vision-a:vision nlp tiny tinyhold free'
	day 5 15 # six hours of 400 g, then ten of 100 g, then 400 g again
	# 3.60 an hour is 1000 micros a second: sums can be done by hand.
	cluster_up "
mode: enforce
spot_proof: said # proof.bats has what proves it
currency: USD
timezone: UTC
carbon_price_per_tonne: 100
hold_margin: 0
sources:
  day: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/day.csv, value: g}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 0.90, gpu: V100-SXM2, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}, storage_price_per_gib_month: 7.30, storage_gib_per_s: 1}
  h100: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: 36, gpu: H100-SXM5}
budgets:
  - {team: vision, period: month, amount: 10000, kg_co2e: 900}
  - {team: nlp, period: month, amount: 1000}
  - {team: tiny, period: month, amount: 0.50}
  - {team: tinyhold, period: month, amount: 0.50, on_exceed: hold}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

@test "a plain job runs where it was sent and is charged to the micro" {
	script short 'sleep 2'
	job -A vision --gpus=1 --time=10 short
	[[ "$said" != *lowtide* ]]
	within 30 state_is "$id" COMPLETED
	at_home() { [ "$(sacct -nXP -j "$id" -o Partition)" = ondemand ]; }
	within 30 at_home # slurmdbd learns it some seconds later
	within 120 settled "$id"
	elapsed=$(sacct -nXP -j "$id" -o ElapsedRaw)
	[ "$(money_of "$id")" -eq $((elapsed * 1000 / 8)) ]
	run -0 lowtide explain "$id"
	[[ "$output" == *"money = 3.60 USD/node-h x 1 node x 1/8 x $elapsed s = 0.00"*" USD"$'\n'* ]]
	# Words and figures; the equations are for who asks.
	! grep -E '\([0-9]+[a-z]?\)' <<< "$output"
	lowtide explain --formulas "$id" | grep ' USD (27)$'
	[[ "$output" != *Candidates* ]] # it asked for nothing
}

@test "the quote is in admin_comment, beside what others keep there" {
	job -A vision --gpus=1 --time=10 --hold --wrap 'true'
	[[ "$(scontrol show job "$id")" == *"lowtide:1 q="* ]]
	scancel "$id"
}

@test "--carbon-aware with a checkpoint goes to spot and is told what it saves" {
	script long 'sleep 300'
	job -A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 long
	[[ "$said" == *"lowtide: spot"* ]]
	[[ "$said" == *"; saves \$"* ]]
	[ "$(wc -L <<< "$said")" -le 100 ]
	# As cheap, and cleaner, later; but it is wanted now.
	begins() { run lowtide now "$id"; [ "$status" -eq 0 ]; }
	within 10 begins
	running_in_spot() { [ "$(field "$id" '%T %P')" = 'RUNNING spot' ]; }
	within 20 running_in_spot
	run -0 lowtide explain "$id"
	[[ "$output" == *spot* ]]
	[[ "$output" == *ondemand* ]]
	decided() { # decided: what the decision said of each partition
		lowtide explain "$id" | grep -x ' *\* spot  *\$.* kg  best' &&
		    lowtide explain "$id" | grep -x ' *h100  *\$.* kg  no better'
	}
	decided
	# 0.02 an hour, for eight hours and some.
	told='about 0.2 interruptions expected, '
	lowtide explain "$id" | grep "^  $told.* of work lost$"
	lowtide explain --formulas "$id" | grep "^  $told.* of work lost (10), (11)$"
	[ "$(lowtide explain --json "$id" | jq '.quote.interruptions | .expected > 0.16 and .expected < 0.18 and .lost_s > 0')" = true ]
	[ "$(lowtide explain --json "$id" | jq -r '[.candidates[] | "\(.partition) \(.reject)"] | join(",")')" = 'spot best,ondemand dearer,h100 dearer' ]
	within 10 has_run "$id"
	scancel "$id"
	within 120 settled "$id"
	decided # now from the ledger
}

@test "checkpoints that are kept are paid for, by size and number" {
	cost_of() { # cost_of CHECKPOINT: as expected where it goes, in micros
		job -A vision --carbon-aware=cost --checkpoint="$1" --gpus=8 -N1 --time=8:00:00 --hold --wrap true
		[ "$(field "$id" %P)" = spot ]
		lowtide explain --json "$id" | jq .quote.plan_expected.money_micros
		quote=$(scontrol show job "$id")
		script=$(fnv_of "$id")
		scancel "$id"
	}
	fnv_of() { # of its script with a NUL, as slurmctld has it: FNV-1a
		scontrol write batch_script "$1" "$BATS_TEST_TMPDIR/script" > /dev/null
		perl -0777 -e 'use integer; my $h = 0xcbf29ce484222325;
			$h = ($h ^ $_) * 0x100000001b3 for unpack("C*", <> . "\0"); printf "%016x\n", $h' "$BATS_TEST_TMPDIR/script"
	}
	cost_of write=40s > "$BATS_TEST_TMPDIR/free"
	[[ "$quote" == *" ask="*",1,40,0,0,0,0,0,$script;"* ]]
	# A second for each GiB: so the time is the same, and 120 GiB are kept.
	cost_of size=40G,keep=3 > "$BATS_TEST_TMPDIR/kept"
	[[ "$quote" == *" ask="*",1,0,0,40960,3,0,0,$script;"* ]]
	# 0.01 for a GiB and an hour: 1.20 an hour, beside 0.90 for the node.
	[ "$(jq -n "$(< "$BATS_TEST_TMPDIR/kept") / $(< "$BATS_TEST_TMPDIR/free") * 100 | round")" -eq 233 ]
}

@test "without a checkpoint the same job keeps off spot: a restart is too likely" {
	job -A vision --carbon-aware=cost --gpus=8 -N1 --time=8:00:00 --hold --wrap true
	[ "$(field "$id" %P)" = ondemand ]
	[[ "$said" != *interruptions* ]]
	lowtide explain "$id" | grep 'spot .*likely to be interrupted (15 %, at most 10 %'
	scancel "$id"
}

@test "a one-GPU job at fixed prices moves to the clean hours, and now starts it after all" {
	job -A vision --carbon-aware --gpus=1 --time=8:00:00 --wrap 'sleep 60'
	[[ "$said" == *"lowtide: ondemand, from"* ]]
	begin=$(date -d "$(scontrol show job "$id" | sed -n 's/.*EligibleTime=\([^ ]*\).*/\1/p')" +%s)
	wait_s=$((begin - $(date +%s)))
	[ "$wait_s" -gt $((3 * 3600)) ]
	[ "$wait_s" -lt $((6 * 3600)) ]
	run lowtide now "$id"
	[ "$status" -eq 0 ] || { echo "$output" >&2; false; }
	running() { [ "$(field "$id" %T)" = RUNNING ]; }
	within 20 running
	scancel "$id"
}

@test "what the user set by hand is left alone" {
	job -A vision --carbon-aware -p ondemand --begin=now+1hour --gpus=1 --time=1:00:00 --wrap true
	begin=$(date -d "$(scontrol show job "$id" | sed -n 's/.*EligibleTime=\([^ ]*\).*/\1/p')" +%s)
	[ $((begin - $(date +%s))) -lt 3700 ]
	[ "$(field "$id" %P)" = ondemand ]
	scancel "$id"
}

@test "GPU memory that only one partition has" {
	job -A vision --carbon-aware --gpu-memory=40G --gpus=1 --time=10 --wrap true
	[[ "$said" == *"lowtide: h100, now"* ]]
	run sbatch -A vision --carbon-aware --gpu-memory=400G --gpus=1 --time=10 --hold --wrap true
	[[ "$output" == *"--gpu-memory: 409600 MiB are wanted, h100 has GPUs of "* ]]
	scancel --user "$(id -un)" --state=PENDING
}

@test "a full node split into eight array tasks costs one node to the micro" {
	script second 'sleep 3'
	job -A nlp --array=0-7 --gpus=1 --cpus-per-task=8 --time=10 second
	within 120 settled "$id" 8
	rows() { [ "$(sacct -nXP -j "$id" -o JobID | wc -l)" -eq 8 ]; }
	within 60 rows # slurmdbd may have an end before its start, which names the array
	want=0
	while read -r seconds; do want=$((want + seconds * 1000)); done \
	    < <(sacct -nXP -j "$id" -o ElapsedRaw)
	[ "$(money_of "$id")" -eq $((want / 8)) ]
}

@test "every finished run of sacct is in the report, and nothing else" {
	same() { [ -z "$(squeue -h -t R,CG)" ] && diff <(sacct -nXPD -a -S 2020-01-01 -E now -s CD,F,CA,TO,NF -o JobIDRaw,ElapsedRaw |
		awk -F'|' '$2 > 0 {print $1}' | sort -n) \
	    <(lowtide report --format json --runs | jq '.runs[].job_id' | sort -n) > "$D/diff"; }
	within 30 same || { cat "$D/diff" >&2; sacct -XPD -a -S 2020-01-01 -E now -o JobIDRaw,State,Submit,Start,End,ElapsedRaw >&2
		lowtide report --format csv --runs >&2; false; }
}

@test "the totals are equal in all formats" {
	micros() { # micros FILE COLUMN: of a CSV file, summed up
		sqlite3 :memory: ".import --csv $1 rows" \
		    "SELECT sum(CAST(replace($2, '.', '') AS integer)) FROM rows" 3>&- 4>&-
	}
	lowtide report --json --runs > "$D/report.json"
	cost=$(jq .total.cost_micros "$D/report.json")
	# By slurmdbd and by hand: what these jobs have most of is GPUs, of eight.
	[ "$cost" -eq "$(sacct -nXPD -a -S 2020-01-01 -o ElapsedRaw,Partition,AllocTRES | awk -F'|' '
		match($3, /gres\/gpu=[0-9]+/) {
			price = $2 == "spot" ? 250 : $2 == "h100" ? 10000 : 1000
			sum += $1 * price * substr($3, RSTART + 9, RLENGTH - 9) / 8}
		END {print sum}')" ]
	[ "$cost" -gt 0 ]
	[ "$(jq '[.teams[].cost_micros] | add' "$D/report.json")" -eq "$cost" ]
	[ -z "$(/usr/bin/python3 "$PROJECT/tests/golden/schema.py" "$PROJECT/docs/report.schema.json" "$D/report.json")" ]
	lowtide report --format csv > "$D/teams.csv"
	[ "$(micros "$D/teams.csv" cost)" -eq "$cost" ]
	lowtide report --runs --format csv > "$D/runs.csv"
	[ "$(micros "$D/runs.csv" cost)" -eq "$cost" ]
	lowtide report --format focus > "$D/charges.csv"
	[ "$(micros "$D/charges.csv" EffectiveCost)" -eq "$cost" ]
	perl "$PROJECT/tests/golden/focus.pl" "$D/charges.csv"
	cents=$(((cost + 5000) / 10000))
	shown=$(printf '$%d.%02d' $((cents / 100)) $((cents % 100)))
	[[ "$(lowtide report | grep '^TOTAL')" == *" $shown "* ]]
	lowtide report --format html -o "$D/page.html"
	sed -n '/<tfoot>/,/<\/tfoot>/s/ class="[^"]*"//gp' "$D/page.html" | grep -qF "<td>$shown</td>"
}

@test "Open OnDemand's file has what each user has left" {
	lowtide report --format ood > "$D/ood.json"
	jq -e '.version == 1 and .config.unit == "USD" and (.balances | length) > 0 and
	    all(.balances[]; (.user | type) == "string" and (.value | type) == "number")' "$D/ood.json"
	# Of a team without caps that has spent nothing: its 0.50, in whole units.
	[ "$(jq '[.balances[] | select(.project == "tiny").value] | unique' -c "$D/ood.json")" = '[0]' ]
}

@test "an invoice is what jobs cost, what stood idle, and the rest" {
	first=$(date -u +%Y-%m-01)
	next=$(date -ud "$first +1 month" +%F)
	printf '%s\r\n' BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ServiceCategory,SkuMeter,ConsumedQuantity,ConsumedUnit,BilledCost,BillingCurrency \
	    "${first}T00:00:00Z,${next}T00:00:00Z,$(date -u +%FT00:00:00Z),$(date -ud tomorrow +%FT00:00:00Z),Usage,Compute,BoxUsage:p4d.24xlarge,24,Hours,100.000001,USD" \
	    "${first}T00:00:00Z,${next}T00:00:00Z,${first}T00:00:00Z,${next}T00:00:00Z,Tax,Other,,,,7,USD" > "$D/invoice.csv"
	run -0 lowtide reconcile "$D/invoice.csv" --map ondemand=p4d.24xlarge --json
	jq -e --argjson want "$(lowtide report --format json --runs |
	    jq '[.runs[] | select(.partition == "ondemand") | .money_micros] | add')" '
		.instances.jobs_micros == $want and $want > 0 and
		.instances.invoice_micros == 100000001 and .other_services.invoice_micros == 7000000 and
		.instances.jobs_node_s > 0 and .instances.idle_micros > 0 and
		.instances.jobs_micros + .instances.idle_micros + .instances.unexplained_micros == 100000001 and
		([.other_partitions[].partition] | index("spot")) != null' <<< "$output"
	# By munge the same, and packed.
	[ "$(gzip -c "$D/invoice.csv" | LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" lowtide reconcile - --map ondemand=p4d.24xlarge --format csv)" = \
	    "$(lowtide reconcile "$D/invoice.csv" --map ondemand=p4d.24xlarge --format csv)" ]
	run -1 lowtide reconcile "$D/invoice.csv"
	[[ "$output" == *'say --map PARTITION=TYPE'* ]]
}

@test "a team at its limit is refused by sbatch, srun and salloc, and told why" {
	for command in "sbatch --wrap true" "srun true" "salloc true"; do
		run ${command%% *} -A tiny --gpus=8 -N1 --time=1:00:00 ${command#* }
		[ "$status" -ne 0 ]
		[[ "$output" == *'tiny has $0.50 of $0.50 left'* ]]
		[[ "$output" == *'spent'* ]]
		[[ "$output" == *'held'* ]]
		[[ "$output" == *'$3.63'* ]]
	done
}

@test "account names are compared as Slurm will: in lower case" {
	run ! sbatch -A Tiny --gpus=8 -N1 --time=1:00:00 --wrap true
	[[ "$output" == *'tiny has'* ]]
}

@test "what was refused is in the report, by team" {
	tell() { lowtide report --json | jq '[.refused.teams[]? | select(.team == "tiny").jobs] | add // 0'; }
	counted() { before=$(tell); sleep 4; [ "$(tell)" -eq "$before" ]; }
	within 30 counted # those of the tests before
	for _ in 1 2 3; do run ! sbatch -A tiny --gpus=8 -N1 --time=1:00:00 --wrap true; done
	three_more() { [ "$(tell)" -eq $((before + 3)) ]; }
	within 20 three_more
	lowtide report | grep -E "^lowtide moved .* It refused [0-9]+ jobs\.$"
	[ "$(lowtide report --balance --json | jq '.balance.months[11].refused_jobs')" -eq "$(lowtide report --json | jq .refused.jobs)" ]
	[ "$(lowtide report --team vision --json | jq '.refused')" = null ]
}

@test "a team without a budget is never refused, and is charged" {
	job -A free --gpus=8 -N1 --time=7-00:00:00 --wrap 'sleep 1'
	within 120 settled "$id"
	[ "$(money_of "$id")" -gt 0 ]
}

@test "scontrol update of time limit, partition, account can't pass the budget" {
	job -A tiny --gpus=1 -N1 --time=1:00:00 --hold --wrap true
	within 20 known "$id"
	run ! scontrol update jobid="$id" timelimit=2-00:00:00
	run ! scontrol update jobid="$id" partition=h100
	run ! scontrol update jobid="$id" numnodes=2
	[ "$(field "$id" '%l %P')" = '1:00:00 ondemand' ]
	scontrol update jobid="$id" timelimit=10
	scancel "$id"
	job -A vision --gpus=8 -N1 --time=1:00:00 --hold --wrap true
	within 20 known "$id"
	run ! scontrol update jobid="$id" account=tiny
	[ "$(field "$id" %a)" = vision ]
	scancel "$id"
}

@test "on_exceed: hold holds the job, the user can't release it, money can" {
	job -A tinyhold --gpus=8 -N1 --time=1:00:00 --wrap true
	[ "$(field "$id" '%T')" = PENDING ]
	[[ "$said" == *"lowtide: held until the budget "*": \$"*" left, it may cost \$"* ]]
	held_by_admin() { [[ "$(field "$id" %r)" == JobHeldAdmin ]]; }
	within 20 held_by_admin
	if [ -n "$ROOT" ]; then run ! setpriv --reuid=daemon --clear-groups scontrol release "$id"; fi
	lowtide budget adjust --team tinyhold --amount -10 --reason 'grant from the dean'
	within 30 done_job "$id"
	run -0 lowtide report --team tinyhold --format json
	[ "$(jq '.teams[0].adjustments_micros' <<< "$output")" -eq -10000000 ]
}

@test "srun and salloc are never held: they are refused" {
	lowtide budget adjust --team tinyhold --amount 10 --reason 'taken back'
	refused() { ! srun -A tinyhold --gpus=8 -N1 --time=1:00:00 true 2>/dev/null; }
	within 20 refused
}

@test "a cancelled pending array task frees its share" {
	job -A nlp --array=0-9 --gpus=1 --time=1:00:00 --hold --wrap true
	held() { [ "$(budget_of nlp held_micros)" -ge "$1" ]; }
	less() { [ "$(budget_of nlp held_micros)" -lt "$1" ]; }
	within 20 held 4500000
	scancel "${id}_[5-9]"
	# Freed when slurmdbd has been asked too: see docs/budgets.md.
	within 150 less 4500000
	scancel "$id"
}

@test "a heterogeneous job is admitted by its sum, and stays where it is" {
	job -A vision --carbon-aware -N1 --gpus=1 --time=10 : -N1 --time=10 --wrap true
	[ "$(field "$id" %P | sort -u)" = ondemand ] || within 20 done_job "$id"
	run ! sbatch -A tiny -N1 --gpus=1 --time=10 : -A tiny -N1 --gpus=8 --time=10:00:00 --wrap true
	[[ "$output" == *'tiny has'* ]]
	scancel --user "$(id -un)" --state=PENDING
}

@test "--test-only leaves no job, and its hold goes away" {
	before=$(budget_of nlp held_micros)
	left=$(budget_of nlp available_micros)
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sbatch -A nlp --gpus=8 -N1 --time=1:00:00 --test-only --wrap true
	done
	more() { [ "$(budget_of nlp held_micros)" -gt "$before" ]; }
	within 10 more
	echo "of $left left $(($(budget_of nlp held_micros) - before)) are held"
	[ "$(($(budget_of nlp held_micros) - before))" -le "$((left / 10))" ]
	same() { [ "$(budget_of nlp held_micros)" -le "$before" ]; }
	within 20 same
}

@test "plan prints every partition with its reason and submits nothing" {
	jobs=$(squeue -h -r | wc -l)
	run -0 lowtide plan -- -A vision --gpus=8 -N1 --time=8:00:00 --wrap true
	[[ "$output" == *ondemand* ]]
	[[ "$output" == *spot* ]]
	[[ "$output" == *h100* ]]
	[ "$(squeue -h -r | wc -l)" -eq "$jobs" ]
	[[ "$output" != *'<job>'* ]]
	# By what the script says; and each objective beside the others.
	printf '#!/bin/sh\n#SBATCH --carbon-aware=carbon --time=2:00:00\ntrue\n' > wishes
	run -0 lowtide plan -A vision --gpus=8 -N1 wishes
	[[ "$output" == 'plan: carbon'* ]]
	run -0 lowtide plan -A vision --gpus=8 -N1 --carbon-aware=cost wishes
	[[ "$output" == 'plan: cost'* ]]
	run -0 lowtide plan --compare -A vision --gpus=8 -N1 wishes
	[ "$(cut -d' ' -f1 <<< "$output" | paste -sd' ')" = 'OBJECTIVE balanced cost carbon fast' ]
	[ "$(squeue -h -n wishes | wc -l)" -eq 0 ]
}

@test "a submission says what its user would else find out later" {
	job -A vision --carbon-aware --gpus=1 --array=1-4 --time=2:00:00 --expected-time=5:00:00 --hold --wrap true
	[[ "$said" == *" for 4 tasks"* ]]
	[[ "$said" == *"lowtide: its expected time of 5h is beyond its limit of 2h"* ]]
	scancel "$id"
	run ! sbatch -A vision --carbon-aware --checkpoint= --wrap true
	[[ "$output" == *'--checkpoint=: got nothing behind the ='* ]]
}

@test "an option that can't be read is refused with what is wanted" {
	run ! sbatch -A vision --checkpoint=wrote=2m --wrap true
	[[ "$output" == *write* ]]
	run ! sbatch -A vision --carbon-aware=ballanced --wrap true
	[[ "$output" == *balanced* ]]
}

@test "options come from the environment, under the command line" {
	SBATCH_CARBON_AWARE=cost SBATCH_CHECKPOINT=write=30s \
	    job -A vision --gpus=8 -N1 --time=8:00:00 --hold --wrap true
	[ "$(field "$id" %P)" = spot ]
	scancel "$id"
	SBATCH_CARBON_AWARE=cost job -A vision --carbon-aware=off --checkpoint=write=30s \
	    --gpus=8 -N1 --time=8:00:00 --hold --wrap true
	[ "$(field "$id" %P)" = ondemand ]
	scancel "$id"
	script directive '#SBATCH --carbon-aware=off
true'
	SBATCH_CARBON_AWARE=cost job -A vision --checkpoint=write=30s \
	    --gpus=8 -N1 --time=8:00:00 --hold directive
	[ "$(field "$id" %P)" = spot ]
	scancel "$id"
}

@test "--max-cost is kept" {
	run sbatch -A vision --max-cost=0.10 --gpus=8 -N1 --time=1:00:00 --hold --wrap true
	[ "$status" -ne 0 ]
	[[ "$output" == *'$0.10'* ]]
}

@test "a requeued run is charged by itself, and held again" {
	script again 'sleep 20'
	job -A nlp --gpus=1 --time=10 --requeue again
	running() { [ "$(field "$id" %T)" = RUNNING ]; }
	within 20 running
	within 10 has_run "$id"
	scontrol requeue "$id"
	within 120 settled "$id" # the scan of slurmdbd is each minute
	held() { [ "$(budget_of nlp held_micros)" -gt 0 ]; }
	within 30 held
	scancel "$id"
}

# Slurm's default empties the file at each run.
@test "what lowtide made requeueable appends to its output; an --open-mode is the user's" {
	is_waiting() { [[ "$(scontrol show job "$id")" == *JobState=PENDING* ]]; }
	for mode in '' --open-mode=truncate; do
		job -A vision --carbon-aware=cost --checkpoint=write=30s --gpus=8 -N1 --time=8:00:00 -o runs.out $mode \
		    --wrap 'echo "run ${SLURM_RESTART_COUNT:-0}"; sleep $((SLURM_RESTART_COUNT ? 2 : 300))'
		[[ "$said" == *'it may be requeued, and then appends to its output'* ]]
		[[ "$(scontrol show job "$id")" == *Requeue=1* ]]
		within 10 lowtide now "$id"
		within 40 grep -qx 'run 0' runs.out
		[ "$(field "$id" %P)" = spot ]
		scontrol requeue "$id"
		within 40 is_waiting
		sleep 2 # as in examples.bats
		scontrol update job="$id" starttime=now
		within 60 state_is "$id" COMPLETED
		# Slurm's own words of the requeue may be there, too.
		case $mode in
		'') [ "$(grep ^run runs.out)" = $'run 0\nrun 1' ] ;;
		*) [ "$(grep ^run runs.out)" = 'run 1' ] ;;
		esac
		rm runs.out
	done
}

@test "users see what is theirs, by munge too" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	run -0 env LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" lowtide budget --json
	[ "$(jq '.budgets | length' <<< "$output")" -ge 4 ]
	sacctmgr -iQ add account secret >/dev/null
	run -0 setpriv --reuid=daemon --clear-groups lowtide report --format json
	[ "$(jq '[.teams[] | select(.team == "secret")] | length' <<< "$output")" -eq 0 ]
	run ! setpriv --reuid=daemon --clear-groups lowtide budget adjust --team vision --amount 1 --reason mine
}

@test "doctor finds nothing to mend here, and names what is broken elsewhere" {
	run lowtide doctor
	[[ "$output" == *job_submit* ]]
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	run ! env SLURM_CONF=/nonexistent lowtide doctor
}

@test "a bad policy never replaces a good one" {
	cp "$D/etc/lowtide.yaml" "$D/good.yaml"
	echo 'max_delya: 3h' >> "$D/etc/lowtide.yaml"
	shown() { lowtide status | grep -q 'did you mean max_delay'; }
	within 20 shown
	job -A vision --gpus=1 --time=10 --hold --wrap true
	scancel "$id"
	cp "$D/good.yaml" "$D/etc/lowtide.yaml"
	gone() { ! shown; }
	within 20 gone
}

@test "rebuild makes the same ledger again" {
	within 60 quiet
	ledger > "$D/before"
	moved=$(lowtide report --format json --runs | jq '[.runs[] | select(.moved)][0].job_id')
	told_of "$moved" > "$D/told"
	grep -q best "$D/told"
	run -0 lowtide rebuild
	[[ "$output" == *" runs are charged as slurmdbd has them"* ]]
	# Two at once wait for the same one.
	lowtide rebuild --json > "$D/first" &
	lowtide rebuild --json > "$D/second"
	wait $!
	diff "$D/first" "$D/second" >&2
	jq -e '.state == "done" and .runs > 5 and .kept_runs == 0' "$D/first"
	told_of "$moved" | diff "$D/told" - >&2
	ledger > "$D/after"
	diff "$D/before" "$D/after" >&2
}
told_of() { lowtide explain "$1" | sed '1,/^Candidates/d; /^Hold/,$d'; } # told_of JOBID
# What was charged and adjusted.
ledger() { lowtide report --format json --runs |
	jq -S '.total.charges_micros + .total.corrections_micros, .total.adjustments_micros,
	    ([.runs[] | {job_id, submit, money_micros, partition}] | sort_by(.job_id, .submit)[])'; }
quiet() { [ -z "$(squeue -h -t R,CG)" ]; }
