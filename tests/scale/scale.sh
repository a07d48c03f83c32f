#!/bin/bash
# make scale: a queue of real size. JOBS (default 22000) jobs wait in a private
# cluster, each with a hold, and are cancelled at once. Printed: how long the
# holds lasted, and how long lowtided kept somebody waiting meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
jobs=${JOBS:-22000}
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-scale.XXXXXX")
chmod 755 "$D"
cluster=tests/cluster/cluster.sh
asking=
trap '[ -z "$asking" ] || kill "$asking" 2>/dev/null; "$cluster" down "$D/c"; rm -rf "$D"' EXIT

goal() { # goal NAME VALUE WANT: met if VALUE <= WANT
	printf 'goal %-38s %-10s <=%-8s %s\n' "$1" "$2" "$3" \
	    "$(awk -v v="$2" -v w="$3" 'BEGIN { print v <= w ? "met" : "missed" }')"
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }
ticks() { awk '{ print $14 + $15 }' "/proc/$(cat "$D/c/run/$1")/stat"; } # CPU, 10 ms each
resident() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$(cat "$D/c/run/lowtided.shpid")/status"; }
held() { build/lowtide budget --json | jq '[.budgets[].held_micros // 0] | add'; }

cat > "$D/policy.yaml" <<'E2'
mode: enforce
currency: USD
partitions:
  ondemand: {price_per_node_hour: 3.60}
budgets:
  - {team: team0000, period: year, amount: 1000000000}
hold_margin: 0
E2
ACCOUNTS=team0000 POLICY=$D/policy.yaml EXTRA="MaxJobCount=$((jobs + 1000))" "$cluster" up "$D/c" >&2
. "$D/c/env"
until sbatch --test-only -A team0000 -n1 --time=1 --wrap true 2>/dev/null; do sleep .2; done
echo "# $(nproc) cores, Slurm $(slurmctld -V | awk '{print $2}'), $jobs jobs"

rate=$(build/tests/bench/bench_submit "$jobs" team0000)
echo "# submitted: $rate a second"
until [ "$(held)" -ge $((jobs * 9375)) ]; do sleep 1; done # a CPU of 64 for 10 minutes
from=$(ticks lowtided.shpid)
sleep 20
to=$(ticks lowtided.shpid)
goal 'lowtided, CPU of a core, all wait, %' "$(awk -v t=$((to - from)) 'BEGIN { print t / 20 }')" 3
goal 'lowtided, resident, all wait, MiB' "$(resident)" 64

while :; do # somebody asks all the while
	from=$(now_ms)
	build/lowtide status --json >/dev/null 2>&1 || echo failed
	echo $(($(now_ms) - from))
	sleep .2
done > "$D/answers" &
asking=$!
began=$(now_ms)
scancel -A team0000
sent=$(now_ms)
echo "# cancelled: $((sent - began)) ms"
# Less than one: --test-only above leaves a hold that no job has, for a minute.
until [ "$(held)" -lt 9375 ]; do sleep .5; done
goal 'all holds free after scancel, s' "$(awk -v t=$(($(now_ms) - sent)) 'BEGIN { print t / 1000 }')" 60
kill "$asking"
asking=
goal 'an answer, worst, ms' "$(sort -n "$D/answers" | tail -n 1)" 50
goal 'answers that failed' "$(grep -c failed "$D/answers" || true)" 0
goal 'lowtided, resident, after it, MiB' "$(resident)" 64
