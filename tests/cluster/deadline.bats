#!/usr/bin/env bats
# Five jobs with deadlines on spot nodes that are taken and given back as in a trace: what lowtide
# decides of them on a real Slurm, and in which runs they end, is what `lowtide simulate` says of
# the same trace, event by event. The nodes are gone for Slurm alone: lowtide has to find out.
# bats file_tags=long
load tricks

setup_file() {
	export ACCOUNTS='vision' TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null EXTRA='KillWait=2'
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
  ondemand: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 360}
  spot: {accepts: [gpu, cpu], carbon: grid, price_per_node_hour: 120, preemptible: {interruptions_per_hour: 0.01, restart: 0}}
budgets:
  - {team: vision, period: year, amount: 10000}
"
}
teardown_file() { cluster_down; }
setup() { cluster_use; }
teardown() {
	last_words
	scancel -u "$(id -un)"
	scontrol delete reservationname=others 2>/dev/null || true
}
# Ticks of 5 s: taken at 10 s, back at 175 s; once in 100 hours, as the policy has it.
TAKEN=10 BACK=175
# The jobs: when they come, deadline (of a minute's work), interruptions that they bear. Each has a
# limit of 2 min, and what a run may lose and Slurm's wait after it are 4 more.
COMES=(0 0 0 0 20)
FACTOR=(30 30 9.2 7.5 8)
BEARS=(1 0 0 0 0)
at() { # at SECOND: of the trace
	local left=$((began + $1 - $(date +%s)))
	[ "$left" -le 0 ] || sleep "$left"
}
resumed() { # one may come back by itself
	scontrol update nodename=s1,s2 state=resume 2>/dev/null || true
	! scontrol show node s1,s2 | grep -q 'State=DOWN'
}
submit() { # submit INDEX
	local due
	due=$(awk -v f="${FACTOR[$1]}" -v now="$(date +%s)" 'BEGIN {printf "@%d", now + f * 60}')
	job -A vision --carbon-aware=cost --checkpoint=every=10m,write=1m --time=2 -n1 --mem=100 \
	    $([ "${BEARS[$1]}" = 0 ] || echo "--max-interruptions=${BEARS[$1]}") \
	    --deadline="$(date -d "$due" +%Y-%m-%dT%H:%M:%S)" --wrap 'exec sleep 60'
	ids[$1]=$id
}
simulated() { # simulated INDEX: its events into sim.csv
	lowtide simulate trace.json --jobs 1 --comes "${COMES[$1]}s" --work 60s --limits 2 --slack 0 \
	    --deadline-factor "${FACTOR[$1]}" --checkpoint 10m,1m,0 --events sim.csv \
	    $([ "${BEARS[$1]}" = 0 ] || echo "--interruptions ${BEARS[$1]}") > /dev/null
}
# Decisions, with "submitted" before the first that changes something; a job without any has none.
decided_there() { awk -F, '$3 == "submitted" {first = $4 " submitted"}
	$3 == "decided" {if (first) print first; first = ""; print $4, $5}' sim.csv; }
decided_here() { lowtide explain --json "$1" | jq -r '.plans[] | "\(.partition) \(.why)"'; }
runs_there() { awk -F, '$3 == "taken" || $3 == "ended" {print $4, $3}' sim.csv; }
runs_here() { # of slurmdbd
	sacct -nXPD -j "$1" -S now-30minutes -o Start,Partition,State | sort -n |
	    awk -F'|' '$1 ~ /^[0-9]+$/ {print $2, $3 ~ /COMPLETED/ ? "ended" : $3 ~ /NODE_FAIL|REQUEUED/ ? "taken" : $3}'
}
completed() { # completed JOB
	[ "$(sacct -nXP -j "$1" -S now-30minutes -o State)" = COMPLETED ]
}

@test "what becomes of five jobs is what the simulator says" {
	jq -nc '{metadata: {gap_seconds: 5}, data: [range(72000) | if . >= 2 and . < 35 then 1 else 0 end]}' > trace.json
	local began ids=() i j
	began=$(date +%s)
	for i in 0 1 2 3; do submit "$i"; done
	for i in 0 1 2 3; do within 20 is "${ids[i]}" RUNNING; done
	at $TAKEN
	scontrol create reservationname=others starttime=now duration=30 users=root nodes=s1,s2 flags=ignore_jobs > /dev/null
	scontrol update nodename=s1,s2 state=down reason=taken
	within 10 resumed
	at 20
	submit 4
	at $BACK
	scontrol delete reservationname=others
	for j in "${ids[@]}"; do within 120 completed "$j"; done
	for i in "${!ids[@]}"; do
		simulated "$i"
		echo "job $i (${ids[i]})"
		diff <(decided_there) <(decided_here "${ids[i]}")
		diff <(runs_there) <(runs_here "${ids[i]}")
		# In time, by slurmdbd's clock.
		[ "$(sacct -nXP -j "${ids[i]}" -S now-30minutes -o End)" -le \
		    "$(awk -v f="${FACTOR[i]}" -v from=$((began + COMES[i])) 'BEGIN {printf "%d", from + f * 60 + 5}')" ]
	done
	# Both kinds of leaving, and staying, were among them.
	for i in "${!ids[@]}"; do decided_here "${ids[i]}"; done > decided
	[ "$(sort decided | uniq -c | awk '{printf "%s %s %s;", $1, $2, $3}')" = \
	    '3 ondemand deadline;1 ondemand interrupted;4 spot submitted;' ]
}
