#!/bin/bash
# make week: a week of South Australia's grid (tests/fixtures/simulate), an hour
# of it in HOUR_S (5) seconds, on a private Slurm: a job of 48 hours in a class
# that may be suspended. When it stands still and goes on has to be as
# `lowtide simulate` has it of the same week, event by event.
set -euo pipefail
cd "$(dirname "$0")/../.."
hour=${HOUR_S:-5} work=48 from=2022-09-19
cluster=$PWD/tests/cluster/cluster.sh
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-life.XXXXXX")
chmod 755 "$D"
trap '"$cluster" down "$D/c"; rm -rf "$D"' EXIT
goal() { # goal NAME VALUE WANT: met if VALUE <= WANT
	printf 'goal %-52s %-10s <=%-8s %s\n' "$1" "$2" "$3" \
	    "$(awk -v v="$2" -v w="$3" 'BEGIN { print v <= w ? "met" : "missed" }')" | tee -a "$D/goals"
}
# grid BEGIN SECONDS: the week, an hour in so many seconds. 15 times as dirty,
# for a second is to be worth something; then worse than all, for ever: nobody
# waits for what comes after.
grid() {
	awk -F, -v begin="$1" -v hour="$2" -v from="$from" '
		BEGIN { print "time,value" }
		substr($1, 1, 10) == from { on = 1 }
		on && i < 168 { printf "%d,%.2f\n", begin + i++ * hour, 15 * $2 }
		END { for (; i < 400; i++) printf "%d,9999\n", begin + i * hour }' tests/fixtures/simulate/au-sa.csv
}

cat > "$D/layout" <<'E2'
NodeName=v1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
PartitionName=own Nodes=v1 Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
E2
cat > "$D/policy.yaml" <<E2
mode: enforce
currency: USD
timezone: UTC
waiting_carbon_per_hour: 0
sources:
  grid: {adapter: file, quantity: carbon, path: $D/grid.csv}
partitions:
  own: {carbon: grid, owned: true, pue: 10, gpu: V100-SXM2}
classes:
  patient: {account: vision, pause: suspend}
E2
grid $(($(date +%s) - 86400)) "$hour" > "$D/grid.csv"
LAYOUT=$D/layout POLICY=$D/policy.yaml ACCOUNTS=vision "$cluster" up "$D/c"
. "$D/c/env"
"$cluster" stop "$D/c" lowtided
begin=$(($(date +%s) + 5))
grid $begin "$hour" > "$D/grid.csv"
"$cluster" start "$D/c" lowtided
while [ "$(date +%s)" -lt $begin ]; do sleep .1; done
id=$(sbatch --parsable -o /dev/null -A vision --gres=gpu:8 -N1 -n1 --time=$((work * hour / 60 + 2)) \
    --carbon-aware=carbon --expected-time=0:00:$((work * hour)) --wrap "
i=0; while [ \$i -lt $((work * hour)) ]; do i=\$((i + 1)); sleep 1; done" 2>/dev/null)
echo "# job $id: $work hours of work in a week of $((168 * hour)) s"
while squeue -h -j "$id" -t R,S,PD -o %T | grep -q .; do sleep 2; done
sed -nE "s/^([^ ]*) event=pause job=$id step=suspending until=([0-9]*) .*/\1 \2/p" "$D/c/log/lowtided.out" |
    while read -r at until; do
	echo "$((($(date -d "$at" +%s) - begin) / hour)),$(((until - begin) / hour))"
    done > "$D/done"
midnight=$(date -u -d "$from" +%s)
printf 'arrival_time,length,cpus\n0,%d,1\n' $work > "$D/trace.csv"
grid "$midnight" 3600 | awk -F, 'NR > 1 { $1 = strftime("%Y-%m-%dT%H:%M:%SZ", $1, 1) } { print $1 "," $2 }' > "$D/hours.csv"
lowtide simulate "$D/trace.csv" --unit h --at "${from}T00:00Z" --carbon "$D/hours.csv" --forecast perfect \
    --policy lowtide-suspend --wait 168h,168h --min-saving 5 --watts 26045 --idle 2000 --pauses "$D/pauses.csv" >/dev/null
tail -n +2 "$D/pauses.csv" | while IFS=, read -r _ at until; do
	echo "$((($(date -d "$at" +%s) - midnight) / 3600)),$((($(date -d "$until" +%s) - midnight) / 3600))"
done > "$D/simulated"
echo "# on Slurm:  $(tr '\n' ' ' < "$D/done")"
echo "# simulated: $(tr '\n' ' ' < "$D/simulated")"
sacct -nXP -j "$id" -o State,ElapsedRaw,Suspended | sed 's/^/# /'
goal 'pauses of one and not of the other' "$(diff "$D/done" "$D/simulated" | grep -c '^[<>]')" 0
goal 'pauses that the simulator has none of' "$([ -s "$D/simulated" ] && echo 0 || echo 1)" 0
! grep -q missed "$D/goals"
