#!/usr/bin/env bats
# A job that lost its nodes goes on where lt_replan() says: on spot again, on
# demand when that was too often or the time is short, never beyond its budget.
# bats file_tags=long
load tricks

setup_file() {
	export ACCOUNTS='vision rigid poor rover' TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export EXTRA='KillWait=2'
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
deadline_slack: 0
max_delay: 0
spot_proof: said
sources:
  grid: {adapter: climatology, zone: GB, emission_factors: direct}
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 3.60}
  spot: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 1.20, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 1s}}
classes:
  patient: {account: rigid, max_interruptions: 1}
  rover: {account: rover, pause: requeue, max_delay: 5m}
budgets:
  - {team: vision, period: year, amount: 10000}
  - {team: rigid, period: year, amount: 10000}
  - {team: rover, period: year, amount: 10000}
  - {team: poor, period: year, amount: 2}
"
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
}
teardown() { # all nodes are there again, and lowtided knows it
	last_words
	scancel -u "$(id -un)"
	scontrol delete reservationname=others 2>/dev/null || true
	for n in s1 s2; do
		lowtide notice $n --withdraw > /dev/null 2>&1 || true
		scontrol update nodename=$n state=resume 2>/dev/null || true
	done
	idle() { [ "$(scontrol show node s1,s2 | grep -cE 'State=IDLE( |$)')" -eq 2 ]; }
	within 20 idle
	later_market
}
# A signal is heard by steps: this one goes on.
DEAF='srun sh -c "trap : USR1; while :; do sleep 1; done"'
of() { shown "$1" "$2"; }
runs_in() { [ "$(of "$1" JobState) $(of "$1" Partition)" = "RUNNING $2" ]; }
# placed OPTIONS: a job that lowtide puts on spot at once; its id in $id.
placed() {
	job -o /dev/null --carbon-aware=cost --checkpoint=signal=USR1,write=1s --time=10 -n1 --exclusive "$@" \
	    --wrap "$DEAF"
	within 20 runs_in "$id" spot
	within 20 known "$id"
}
taken() { lowtide notice "$(of "$1" NodeList)" --in 8s > /dev/null; } # taken JOB
restarted() { [ "$(of "$1" Restarts)" = "$2" ]; }
plans() { lowtide explain --json "$1" | jq -r '[.plans[].why] | join(" ")'; }
hold_of() { lowtide jobs --json | jq --argjson id "$1" '.jobs[] | select(.job_id == $id) | .most.money_micros'; }
# Ten minutes of a node at 3.60 an hour, and at 1.20.
ON_DEMAND=600000 SPOT=200000

@test "interrupted as often as its user allows, it goes on on demand, held for" {
	placed -A vision --max-interruptions=1
	local first
	first=$(hold_of "$id")
	[ "$first" -ge "$SPOT" ]
	[ "$first" -lt "$ON_DEMAND" ]
	taken "$id"
	within 40 runs_in "$id" ondemand
	restarted "$id" 1
	[ "$(plans "$id")" = 'submitted interrupted' ]
	[ "$(hold_of "$id")" -ge "$ON_DEMAND" ]
	lowtide explain "$id" | grep -q 'interrupted too often: off preemptible nodes'
	end "$id"
}

@test "by its class too; below that it goes on on spot" {
	placed -A vision --max-interruptions=2
	taken "$id"
	again() { restarted "$id" 1 && runs_in "$id" spot; }
	within 40 again
	end "$id"
	placed -A rigid --max-interruptions=2
	taken "$id"
	within 40 runs_in "$id" ondemand
	[ "$(plans "$id")" = 'submitted interrupted' ]
}

@test "what the budget can't pay stays on spot, and is told so once" {
	# 1.20 on spot are held for; 3.60 on demand were more than there is.
	job -o /dev/null -A poor --carbon-aware=cost --checkpoint=signal=USR1,write=1s --max-interruptions=1 \
	    --time=60 -n1 --exclusive --wrap "$DEAF"
	within 20 runs_in "$id" spot
	within 20 known "$id"
	local before
	before=$(hold_of "$id")
	taken "$id"
	again() { restarted "$id" 1 && runs_in "$id" spot; }
	within 60 again
	grep -q "event=stays job=$id why=over_budget" "$LOG"
	[ "$(plans "$id")" = 'submitted over_budget' ]
	[ "$(hold_of "$id")" -eq "$before" ]
	lowtide explain "$id" | grep -q "its team's budget allows no others"
	end "$id"
}

@test "a node that fails without notice is an interruption, too" {
	placed -A vision --max-interruptions=1
	scontrol update nodename="$(of "$id" NodeList)" state=down reason=burnt
	within 90 runs_in "$id" ondemand
	[ "$(plans "$id")" = 'submitted interrupted' ]
	end "$id"
}

@test "one that stays on spot then starts when that is decided, not two minutes later" {
	placed -A vision --max-interruptions=2
	scontrol update nodename="$(of "$id" NodeList)" state=down reason=burnt
	again() { restarted "$id" 1 && runs_in "$id" spot; }
	within 60 again
	[ $(($(of "$id" StartTime) - $(of "$id" SubmitTime))) -le 45 ]
	[ -z "$(plans "$id")" ]
	end "$id"
}

@test "one task of an array goes on demand; the others and their hold stay" {
	job -o /dev/null -A vision --carbon-aware=cost --checkpoint=signal=USR1,write=1s --max-interruptions=1 \
	    --array=1-2 --time=10 --exclusive --wrap "$DEAF"
	within 20 runs_in "${id}_1" spot
	within 20 runs_in "${id}_2" spot
	local kept=${id}_1 other=${id}_2
	lowtide notice "$(of "$kept" NodeList)" --in 8s > /dev/null
	within 50 runs_in "$kept" ondemand
	runs_in "$other" spot
	restarted "$other" 0
	# Of both what the dearer may cost, until one has ended: whole nodes for 10 minutes.
	[ "$(hold_of "$(of "$other" JobId)")" -ge 600000 ]
}

@test "one that waits for spot nodes leaves in time for its deadline" {
	# Spot's nodes are kept for somebody else: nothing that lowtide knows of.
	scontrol create reservationname=others starttime=now duration=30 users=root nodes=s1,s2 flags=ignore_jobs > /dev/null
	local began
	began=$(date +%s)
	job -o /dev/null -A vision --carbon-aware=cost --checkpoint=signal=USR1,write=1s --time=2 \
	    --deadline="$(date -d "@$((began + 120 + 75))" +%Y-%m-%dT%H:%M:%S)" -n1 --exclusive --wrap 'sleep 3'
	[ "$(of "$id" Partition)" = spot ]
	within 60 runs_in "$id" ondemand
	[ $(($(date +%s) - began)) -gt 8 ]
	[ "$(plans "$id")" = 'submitted deadline' ]
	completed() { [ "$(of "$id" JobState)" = COMPLETED ]; }
	within 20 completed
}

@test "what is done is off the limit of a job with a deadline, or Slurm would cancel it" {
	# Two minutes of limit in 150 s: after 40 s of it no whole limit fits any more.
	local began
	began=$(date +%s)
	job -o /dev/null -A vision --carbon-aware=cost --checkpoint=signal=USR1,write=1s,every=5s --time=2 \
	    --deadline="$(date -d "@$((began + 160))" +%Y-%m-%dT%H:%M:%S)" -n1 --exclusive --wrap "$DEAF"
	within 20 runs_in "$id" spot
	sleep $((began + 65 - $(date +%s)))
	taken "$id"
	again() { restarted "$id" 1 && [ "$(of "$id" JobState)" = RUNNING ]; }
	within 40 again
	[ "$(of "$id" TimeLimit)" = 00:01:00 ]
	# On time for its limit: it goes on until that, not until Slurm cancels it.
	[ $(($(of "$id" EndTime) - began)) -le 160 ]
}

@test "on demand for want of spot nodes, it goes back once they are there, by its class" {
	scontrol update nodename=s1,s2 state=drain reason=gone
	later_market
	local one other stays
	for one in rover rover vision; do
		job -o /dev/null -A $one --carbon-aware=cost --checkpoint=signal=USR1,write=1s --time=60 -n1 \
		    --wrap "$DEAF"
		within 20 runs_in "$id" ondemand
		within 20 known "$id"
		other=${stays:-} stays=$id
		[ "$one" = vision ] || first=${first:-$id}
	done
	# Less than a restart costs is not worth one.
	sleep 12
	for one in s1 s2; do scontrol update nodename=$one state=resume; done
	later_market
	within 60 runs_in "$first" spot
	within 60 runs_in "$other" spot
	for one in "$first" "$other"; do
		restarted "$one" 1
		[ "$(plans "$one")" = 'submitted better' ]
		[ "$(grep -c "event=pause job=$one step=asked_away" "$LOG")" -eq 1 ]
		[ "$(sqlite3 -readonly "$D/lowtide/ledger.db" "SELECT sum(counts) FROM interruptions WHERE job_id = $one")" = 0 ]
	done
	# One at a time: the second after the first was told.
	[ "$(of "$first" StartTime)" -lt "$(of "$other" StartTime)" ]
	runs_in "$stays" ondemand
	restarted "$stays" 0
	# One that is held meanwhile is in nobody's way for long.
	job -o /dev/null -A rover --carbon-aware=cost --checkpoint=signal=USR1,write=1s --time=60 -n1 -H \
	    --wrap "$DEAF"
	within 20 known "$id"
	part stop lowtided
	sqlite3 "$D/lowtide/ledger.db" "INSERT INTO pauses VALUES
	    ($id, 1, 8, $(date +%s), $(($(date +%s) + 4)), 0, 0, NULL, NULL)"
	part start lowtided
	away() { [ "$(sqlite3 -readonly "$D/lowtide/ledger.db" 'SELECT count(*) FROM pauses WHERE step >= 7')" -eq "$1" ]; }
	away 1
	within 12 away 0
}
