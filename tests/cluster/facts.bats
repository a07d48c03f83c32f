#!/usr/bin/env bats
# The facts that charges rest on, on real Slurm: a cluster whose slurmdbd
# counts no GPUs (Slurm's default); suspended, resized and requeued jobs.
# bats file_tags=long
load helper

setup_file() {
	# 22.05 resizes running jobs; the line comes after the cluster's own.
	export ACCOUNTS='vision vision-a:vision nlp' EXTRA='AccountingStorageTRES=fs/disk'
	# 3.60 an hour is 1000 micros a second.
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 500, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 500, price_per_node_hour: 0.90, gpu: V100-SXM2}
  h100: {accepts: [gpu, cpu], carbon: 500, price_per_node_hour: 36, gpu: H100-SXM5}
budgets:
  - {team: vision, period: month, amount: 10000}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

run_of() { # run_of JOBID: its first run as JSON
	lowtide report --format json --runs | jq -c --argjson id "$1" \
	    '[.runs[] | select(.job_id == $id)] | sort_by(.submit)[0]'
}
elapsed_of() { sacct -nXPD -j "$1" -o ElapsedRaw | head -n 1; }
running() { [ "$(field "$1" %T)" = RUNNING ]; }

@test "GPUs that slurmdbd does not count are charged by slurmctld's record" {
	job -A vision --gpus=4 -n1 --time=10 --wrap 'sleep 3'
	within 120 settled "$id"
	[[ "$(sacct -nXP -j "$id" -o AllocTRES)" != *gpu* ]]
	[ "$(money_of "$id")" -eq $(($(elapsed_of "$id") * 500)) ]
	[ "$(run_of "$id" | jq -r '"\(.gpus) \(.gpus_from) \(.share)"')" = "4 slurmctld 1/2" ]
	lowtide explain "$id" | grep "4 GPUs by slurmctld's record"
	lowtide report | grep "by the GPUs of slurmctld's records"
}

@test "doctor calls it an error, with the line to paste" {
	run lowtide doctor
	[ "$status" -eq 1 ]
	[[ "$output" == *"error   gpus"*"slurmdbd does not count GPUs"*"write AccountingStorageTRES=fs/disk,gres/gpu, then: systemctl restart slurmctld"* ]]
}

@test "each task of an array has its own GPUs" {
	job -A vision --array=0-1 --gpus=2 -n1 --time=10 --wrap 'sleep 3'
	within 120 settled "$id" 2
	[ "$(runs_of "$id" gpus)" -eq 4 ]
}

@test "the GPUs outlive a restart of lowtided" {
	job -A vision --gpus=8 -n1 --time=10 --wrap 'sleep 4'
	within 20 running "$id"
	noted() { [ "$(sqlite3 "$D/lowtide/ledger.db" "select gpus from gpus where job_id = $id")" = 8 ]; }
	within 20 noted
	part stop lowtided KILL
	within 30 state_is "$id" COMPLETED
	part start lowtided
	within 120 settled "$id"
	[ "$(run_of "$id" | jq -r '"\(.gpus) \(.share)"')" = "8 1/1" ]
}

@test "a suspended job pays for its GPUs, not for its CPUs" {
	# 32 CPUs of 64, 1 GPU of 8: 500 micros a second, 125 while suspended.
	job -A vision -n32 --gpus=1 --time=10 --wrap 'sleep 9'
	within 20 running "$id"
	scontrol suspend "$id"
	suspended_for() { [ $(($(date +%s) - began)) -ge "$1" ]; }
	began=$(date +%s)
	within 20 suspended_for 4
	scontrol resume "$id"
	within 120 settled "$id"
	ran=$(elapsed_of "$id") # sacct's elapsed has no suspended time
	off=$(run_of "$id" | jq .suspended_s)
	[ "$off" -ge 3 ]
	[ "$off" -le 8 ]
	wall=$(run_of "$id" | jq -r '((.end | fromdate) - (.start | fromdate))')
	[ "$((ran + off))" -eq "$wall" ]
	[ "$(money_of "$id")" -eq $((ran * 500 + off * 125)) ]
	run -0 lowtide explain "$id"
	[[ "$output" == *"x (1/2 x $ran s + 1/8 x $off s suspended)"* ]]
}

@test "a job that gives back a node while it runs is charged for no second twice" {
	job -A vision -N2 --exclusive --gpus-per-node=8 --time=10 --wrap 'sleep 14'
	within 20 running "$id"
	sleep_from=$(date +%s)
	aged() { [ $(($(date +%s) - sleep_from)) -ge 4 ]; }
	within 20 aged
	scontrol update jobid="$id" numnodes=1 || skip "this Slurm does not resize"
	within 120 settled "$id" 2
	lowtide report --format json --runs | jq -e --argjson id "$id" '
	    [.runs[] | select(.job_id == $id)] | sort_by(.submit) |
	    .[1].start == .[1].submit and .[0].end <= .[1].start' >/dev/null
	want=$(lowtide report --format json --runs | jq --argjson id "$id" '
	    [.runs[] | select(.job_id == $id) |
	    ((.end | fromdate) - (.start | fromdate)) * .nodes] | add * 1000')
	[ "$(money_of "$id")" -eq "$want" ]
}

@test "the end of a run that had ended never moves later" {
	job -A vision -n1 --time=10 --wrap 'sleep 2'
	within 120 settled "$id"
	before=$(run_of "$id" | jq -c '[.start, .end, .money_micros]')
	[ "$(run_of "$id" | jq .money_micros)" -gt 0 ]
	scontrol requeue "$id"
	asked=$(date +%s)
	scanned() { [ "$(sqlite3 "$D/lowtide/ledger.db" "select value from named where name = 'settled_until'")" -gt $((asked + 5)) ]; }
	within 100 scanned # all rows of the last hour were read again
	[ "$(run_of "$id" | jq -c '[.start, .end, .money_micros]')" = "$before" ]
	scancel "$id"
}

@test "a charge above its hold has the reason that the facts prove" {
	# Held for 90 s each: 45000 micros of half a node.
	job -A vision -p spot -n32 --time=1 --wrap 'sleep 110'
	late=$id
	job -A vision -n32 --time=1 --wrap 'sleep 110'
	longer=$id
	job -A vision -p h100 -n96 --time=1 --wrap 'sleep 50'
	dearer=$id
	within 20 running "$late"
	within 20 running "$longer"
	within 20 running "$dearer"
	within 20 has_run "$late"
	noted() { [ "$(sqlite3 "$D/lowtide/ledger.db" "select count(*) from admissions a join holds h using (quote_id) where job_id in ($late, $longer, $dearer)")" = 3 ]; }
	within 20 noted
	scontrol update partitionname=spot overtimelimit=UNLIMITED
	more() { scontrol update jobid="$longer" timelimit=3; }
	within 20 more
	sed -i 's/price_per_node_hour: 36,/price_per_node_hour: 144,/' "$D/etc/lowtide.yaml"
	reason_of() { run_of "$1" | jq -r .over_reason; }
	within 120 settled "$dearer"
	within 120 settled "$longer"
	within 120 settled "$late"
	[ "$(reason_of "$dearer")" = price ]
	[ "$(reason_of "$longer")" = admin ]
	[ "$(reason_of "$late")" = OverTimeLimit ]
	lowtide explain "$longer" | grep 'above its hold because of: admin'
	lowtide doctor | grep '1 runs of the last 30 days were settled above their holds because of: admin'
}

policy() { sed -i "$@" "$D/etc/lowtide.yaml"; }
loaded() { [ "$(grep -c policy_loaded "$D/log/lowtided.out")" -gt "$1" ]; }
refused() { [ "$(grep -c policy_refused "$D/log/lowtided.out")" -gt "$1" ]; }

@test "a partition that leaves the policy keeps its rates for what runs there" {
	job -A vision -p spot --gpus=8 -n1 --time=10 --wrap 'sleep 6' # 250 a second
	within 20 running "$id"
	before=$(grep -c policy_loaded "$D/log/lowtided.out" || true)
	policy '/^  spot:/d'
	within 20 loaded "$before"
	within 120 settled "$id"
	seconds=$(elapsed_of "$id")
	echo "$seconds seconds of $(run_of "$id")"
	[ "$(money_of "$id")" -eq $((seconds * 250)) ]
	# 2600 W + 4.5 W of one core at 500 g/kWh: 361 mg a second.
	mg=$(runs_of "$id" carbon_mg)
	[ "$mg" -ge $((seconds * 355)) ]
	[ "$mg" -le $((seconds * 366)) ]
	before=$(grep -c policy_loaded "$D/log/lowtided.out" || true)
	policy 's/^partitions:/&\n  spot: {carbon: 500, price_per_node_hour: 0.90, gpu: V100-SXM2}/'
	within 20 loaded "$before"
}

@test "another currency is refused while there are amounts in the old one" {
	total=$(lowtide report --format json | jq .total.charges_micros)
	[ "$total" -gt 0 ]
	before=$(grep -c policy_refused "$D/log/lowtided.out" || true)
	policy 's/^currency: USD/currency: EUR/'
	within 20 refused "$before"
	[[ "$(lowtide status --json | jq -r .policy.error)" == *'currency: got "EUR", want "USD"'* ]]
	[ "$(lowtide report --format json | jq -r '"\(.currency) \(.total.charges_micros)"')" = "USD $total" ]
	# Started with it, it goes by the last good policy, and says so.
	part stop lowtided
	part start lowtided
	[[ "$(lowtide status --json | jq -r .policy.error)" == *'the ledger has amounts in it'* ]]
	[ "$(lowtide report --format json | jq -r '"\(.currency) \(.total.charges_micros)"')" = "USD $total" ]
	policy 's/^currency: EUR/currency: USD/'
	mended() { lowtide status --json | jq -e '.policy.error == null' > /dev/null; }
	within 20 mended
}

@test "a deleted account keeps its charges with its parent" {
	job -A vision-a --gpus=8 -n1 --time=10 --wrap 'sleep 2'
	within 120 settled "$id"
	counted() { [ "$(budget_of vision spent_micros)" -ge "$1" ]; }
	of_a=$(lowtide report --format json --team vision-a | jq .total.charges_micros)
	all=$(lowtide report --format json --team vision | jq .total.charges_micros)
	[ "$of_a" -gt 0 ]
	within 20 counted "$all"
	sacctmgr -iQ delete account vision-a
	part stop lowtided
	part start lowtided # it reads the accounts anew
	counted "$all"
	[ "$(lowtide report --format json --team vision | jq .total.charges_micros)" -eq "$all" ]
	[ "$(lowtide report --format json | jq '.teams[] | select(.team == "vision-a").charges_micros')" -eq "$of_a" ]
}

@test "a rebuild keeps what slurmdbd purged, says so, and needs nobody's text" {
	ledger() { lowtide report --format json --runs | jq -S 'del(.settled, .as_of, .forecast)'; }
	quiet() { [ -z "$(squeue -h -t R,CG)" ]; }
	idle() { [ "$(lowtide report --format json | jq .settled)" = true ]; }
	scanned() { # rows, and half a minute later their steps
		[ "$(sqlite3 "$D/lowtide/ledger.db" "select min(value) from named where name in ('settled_until', 'used_until') having count(*) = 2")" -gt "$ended" ]
	}
	job -A vision --carbon-aware=cost --expected-time=10 --gpus=8 -N1 --time=10 --wrap 'sleep 2' # moved; of seconds, as learned, it would not be
	within 120 settled "$id"
	moved=$id
	job -A vision --gpus=1 -n1 --time=10 --wrap 'sleep 2'
	within 120 settled "$id"
	within 120 quiet
	ended=$(($(date +%s) + 5))
	within 160 scanned
	[ "$(run_of "$moved" | jq .moved)" = true ]
	ledger > "$D/before"
	sql() { mysql --no-defaults -N -uroot -S "$D/run/db.sock" slurm_acct_db -e "$1"; }
	# What jobstats leaves of it at each job's end, and PurgeJobAfter.
	sql "update tide_job_table set admin_comment = 'JS1:Short' where id_job = $moved"
	sql "delete from tide_job_table where id_job = $id"
	run -0 lowtide rebuild
	[[ "$output" == *"; 1 of them ("*") slurmdbd has no more: kept as they were charged" ]]
	within 60 idle
	ledger > "$D/after"
	diff "$D/before" "$D/after" >&2
	# What is lost is found again.
	part stop lowtided
	sqlite3 "$D/lowtide/ledger.db" "delete from runs where job_id = $moved; delete from entries where job_id = $moved"
	part start lowtided
	lowtide rebuild
	[ "$(money_of "$moved")" -eq "$(jq --argjson id "$moved" '[.runs[] | select(.job_id == $id)][0].money_micros' "$D/before")" ]
}

@test "the quote on the job is the one in force, among slurm-bridge's JSON too" {
	job -A vision --gpus=1 -n1 --time=1 --hold --wrap true
	quote() { scontrol show job "$id" | sed -n 's/.*AdminComment=//p' | sed 's/ *$//'; }
	quoted() { [[ "$(quote)" == *"hold=$1,"* ]]; }
	quoted 11251
	noted() { [ "$(sqlite3 "$D/lowtide/ledger.db" "select count(*) from admissions a join holds h using (quote_id) where job_id = $id")" = 1 ]; }
	within 20 noted
	# 22.05 has no plain way to write {"pods":[...]} at a submission.
	ours=$(quote)
	scontrol update jobid="$id" admincomment="{\"pods\":[\"ns/a\"],\"lowtide\":\"$ours\"}"
	raised() { scontrol update jobid="$id" timelimit=10; }
	within 20 raised
	within 20 quoted 78751
	[[ "$(quote)" == '{"pods":["ns/a"],"lowtide":"lowtide:1 q='*';"}' ]]
	[ "$(quote | jq -c .pods)" = '["ns/a"]' ]
	scancel "$id"
}

# The last: job ids begin again.
@test "GPUs that nobody saw are unknown: no price, and said" {
	part stop lowtided
	job -A nlp -p spot --gpus=8 -n1 --time=10 --wrap 'sleep 2'
	within 30 state_is "$id" COMPLETED
	forgotten() { ! scontrol show job "$id" >/dev/null 2>&1; }
	part stop slurmctld
	rm -f "$D"/state/job_state*
	part start slurmctld
	within 20 forgotten
	part start lowtided
	within 120 settled "$id" # it saw no end: slurmdbd is asked each minute
	[ "$(run_of "$id" | jq -c '[.gpus, .gpus_from, .money_micros, .carbon_mg]')" = '[null,"unknown",null,null]' ]
	lowtide explain "$id" | grep 'how many GPUs it had is not known: not charged'
	lowtide report | grep 'of unknown GPUs, not charged'
	grep "gpus_unknown job=$id" "$D"/log/lowtided.out
}
