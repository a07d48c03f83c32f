#!/bin/bash
# make passes: RUNNING (1664, all there is room for) jobs that run and WAITING
# (10000) that lowtide placed and decides again, on a private cluster that
# schedules as Slurm does by itself; then a notice of NOTICES (5) nodes at once.
# How long a pass over all of them is at work, and what slurmctld does for it,
# beside what it does for Slurm's own commands: each waits for its scheduler.
set -euo pipefail
cd "$(dirname "$0")/../.."
running=${RUNNING:-1664} waiting=${WAITING:-10000} notices=${NOTICES:-5}
. tests/scale/common.sh

# A line for each type of RPC that lowtided sends: how many, and us in all.
rpcs() {
	sdiag | awk '/Remote Procedure Call statistics by user/ { exit }
	    $1 ~ /^REQUEST_(JOB_INFO|JOB_INFO_SINGLE|UPDATE_JOB|PARTITION_INFO|NODE_INFO|BUILD_INFO|UPDATE_NODE|JOB_REQUEUE)$/ {
		k = $1; n = $0; sub(/.*count:/, "", n); sub(/.*total_time:/, "")
		print k, n + 0, $0 + 0 }'
}
# watched SECONDS NAME: passes and RPCs of that time, to $D/NAME.
watched() {
	local until=$(($(now_ms) + $1 * 1000))
	sdiag -r >/dev/null
	while [ "$(now_ms)" -lt $until ]; do
		echo "pass $(build/lowtide status --json 2>/dev/null | jq .pass.last_ms || true)"
		rpcs
		sleep .3
	done > "$D/$2"
}
longest() { awk '$1 == "pass" && $2 > m { m = $2 } END { print m + 0 }' "$D/$1"; }
# kinds NAME: each kind's count, mean, all of it between two looks at most, which
# is that of one that had to wait, and the mean of the others, ms.
kinds() {
	awk '$1 != "pass" {
		if ($3 - t[$1] > worst[$1]) { worst[$1] = $3 - t[$1]; of[$1] = $2 - n[$1] }
		n[$1] = $2; t[$1] = $3 }
	END { for (k in n) if (n[k]) {
		others = n[k] > of[k] ? (t[k] - worst[k]) / (n[k] - of[k]) : t[k] / n[k]
		printf "%s %d %.1f %.1f %.1f\n", k, n[k], t[k] / n[k] / 1000, worst[k] / 1000, others / 1000 } }' "$D/$1" | sort
}
worst() { kinds "$1" | awk '$4 > m { m = $4 } END { printf "%.0f", m }'; }
# slowest NAME: the others' mean of the slowest kind but lists of all, which cost
# whoever asks for one the same: these are counted.
slowest() { kinds "$1" | awk '$1 != "REQUEST_JOB_INFO" && $5 > m { m = $5 } END { printf "%.1f", m }'; }
lists() { kinds "$1" | awk '$1 == "REQUEST_JOB_INFO" { n = $2 } END { print n + 0 }'; }
# What slurmctld does for Slurm's own commands, with lowtided away.
commands() {
	"$cluster" stop "$D/c" lowtided
	local id watching _
	id=$(squeue -h -t PD -o %A | sed -n 1p)
	watched 45 commands &
	watching=$!
	while kill -0 $watching 2>/dev/null; do
		squeue -h -t all -o %i >/dev/null
		for _ in 1 2 3 4 5; do
			scontrol -o show job "$id" >/dev/null
			scontrol update jobid="$id" comment="$RANDOM"
			scontrol update nodename=s20 comment="$RANDOM"
		done
	done
}

cat > "$D/policy.yaml" <<-E2
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {price_per_node_hour: 3.60}
  spot: {price_per_node_hour: 1.20, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 6m}}
budgets:
  - {team: team0000, period: year, amount: 1000000000}
E2
ACCOUNTS=team0000 LAYOUT=tests/life/layout.conf POLICY=$D/policy.yaml \
    EXTRA="MaxJobCount=$((running + waiting + 2000))
SchedulerParameters=bf_interval=30" "$cluster" up "$D/c" >&2
. "$D/c/env"
until sbatch --test-only -A team0000 -n1 --time=1 --wrap true 2>/dev/null; do sleep .2; done
# Allocations without a process: what counts here is slurmctld's and ours.
seq "$running" | xargs -P 4 -I{} salloc -Q --no-shell -A team0000 -p spot,ondemand -n1 --time=10:00:00 2>/dev/null
echo "# $(squeue -h -t R | wc -l) run"
build/tests/bench/bench_submit "$waiting" team0000 cost >/dev/null
echo "# $(squeue -h -t PD | wc -l) wait, $(squeue -h -t PD -o %V | wc -l) records"
until [ "$(build/lowtide status --json | jq '.ring.highest - .ring.absorbed')" -eq 0 ]; do sleep 1; done
sleep 60 # by then lists are as rare as they get
watched 60 all
watched 75 leaving &
watching=$!
for ((i = 1; i <= notices; i++)); do build/lowtide notice "$(printf 's%02d' $i)" --in 60s >/dev/null; done
wait $watching
size_mib=$(memory VmRSS)
commands
for name in all leaving commands; do
	kinds $name | sed "s/^/# $name: /"
done
# A pass may have to wait once for the scheduler's lock, as a command may.
wait_ms=$(worst commands)
echo "# a pass takes at most $(longest all) and $(longest leaving) ms, one RPC $(worst all) and $(worst leaving), a command's $wait_ms"
goal 'a pass over all, less the longest of a command, ms' $(($(longest all) - wait_ms)) 2000
goal "the same while $notices nodes leave" $(($(longest leaving) - wait_ms)) 2000
goal 'RPCs but lists, without the longest wait, ms' "$(slowest all)" 50
goal "the same while $notices nodes leave" "$(slowest leaving)" 50
goal 'lists of all jobs' "$(lists all)" 1
goal "the same while $notices nodes leave" "$(lists leaving)" 2
goal 'lowtided, resident, MiB' "$size_mib" 64
! grep -q missed "$D/goals"
