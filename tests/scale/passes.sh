#!/bin/bash
# make passes: RUNNING (1664, all there is room for) jobs that run and WAITING
# (10000) that lowtide placed and decides again, on a private cluster; then a
# notice of NOTICES (5) nodes at once. How long a pass over all of them is at
# work, and what slurmctld does for it.
set -euo pipefail
cd "$(dirname "$0")/../.."
running=${RUNNING:-1664} waiting=${WAITING:-10000} notices=${NOTICES:-5}
. tests/scale/common.sh

pass() { build/lowtide status --json | jq ".pass.$1_ms"; }
watch_passes() { # watch_passes SECONDS: the longest that was seen meanwhile
	local most=0 took until=$(($(now_ms) + $1 * 1000))
	while [ "$(now_ms)" -lt $until ]; do
		took=$(pass last)
		[ "$took" -le $most ] || most=$took
		sleep .3
	done
	echo $most
}
slowest_rpc() { # of the types that lowtided sends: the mean of one, ms
	sdiag | awk '/Remote Procedure Call statistics by user/ { exit }
	    $1 ~ /^REQUEST_(JOB_INFO|JOB_INFO_SINGLE|UPDATE_JOB|PARTITION_INFO|NODE_INFO|BUILD_INFO|UPDATE_NODE|JOB_REQUEUE)$/ {
		sub(/.*ave_time:/, ""); if ($1 + 0 > m) m = $1 + 0 } END { printf "%.1f", m / 1000 }'
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
    EXTRA="MaxJobCount=$((running + waiting + 2000))" "$cluster" up "$D/c" >&2
. "$D/c/env"
until sbatch --test-only -A team0000 -n1 --time=1 --wrap true 2>/dev/null; do sleep .2; done
# Allocations without a process: what counts here is slurmctld's and ours.
seq "$running" | xargs -P 4 -I{} salloc -Q --no-shell -A team0000 -p spot,ondemand -n1 --time=10:00:00 2>/dev/null
echo "# $(squeue -h -t R | wc -l) run"
build/tests/bench/bench_submit "$waiting" team0000 cost >/dev/null
echo "# $(squeue -h -t PD | wc -l) wait, $(squeue -h -t PD -o %V | wc -l) records"
until [ "$(build/lowtide status --json | jq '.ring.highest - .ring.absorbed')" -eq 0 ]; do sleep 1; done
sleep 20
sdiag -r >/dev/null
goal 'a pass over all, ms' "$(watch_passes 60)" 2000
goal 'an RPC of lowtided in slurmctld, the slowest kind, ms' "$(slowest_rpc)" 50
for ((i = 1; i <= notices; i++)); do build/lowtide notice "$(printf 's%02d' $i)" --in 60s >/dev/null; done
goal "a pass while $notices nodes leave, ms" "$(watch_passes 75)" 2000
goal 'an RPC then, the slowest kind, ms' "$(slowest_rpc)" 50
goal 'lowtided, resident, MiB' "$(memory VmRSS)" 64
! grep -q missed "$D/goals"
