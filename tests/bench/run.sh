#!/bin/bash
# make bench: what lowtide costs, against the same without it, in the same run.
# Two private clusters stand side by side, one with the plugins and one
# without; runs alternate between them, so that a drift of the machine's speed
# falls on both. Printed: the median of the paired ratios with a 95 % interval
# (order statistics), the target, and whether it was met.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${ROUNDS:-21} pairs=${PAIRS:-150} jobs=${JOBS:-60}
D=$(mktemp -d "${TMPDIR:-/tmp}/lowtide-bench.XXXXXX")
chmod 755 "$D"
mkdir "$D/fake"
cluster=tests/cluster/cluster.sh
trap '"$cluster" down "$D/with"; "$cluster" down "$D/without"; rm -rf "$D"' EXIT

# Median and the order statistics that hold it with 95 %, of stdin.
interval() {
	sort -g | awk '{v[NR] = $1} END {
		h = 0.98 * sqrt(NR); lo = int(NR / 2 - h); hi = int(NR / 2 + h + 1.5)
		if (lo < 1) lo = 1; if (hi > NR) hi = NR
		m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
		printf "%.4g [%.4g, %.4g]", m, v[lo], v[hi]}'
}
line() { printf '%-52s %-28s target %s\n' "$1" "$2" "$3"; }

echo "# $(nproc) cores, $(uname -m), Slurm $(slurmctld -V | awk '{print $2}'); $pairs and $rounds paired rounds"
build/tests/bench/bench_decide | sed 's/^/decide: /'
# DATA: a folder as docs/quality.md names it, for the row of its trace.
build/tests/bench/bench_simulate ${DATA:+"$DATA"}
build/tests/bench/bench_site
build/tests/bench/bench_metrics
tests/bench/submit.sh
build/tests/bench/bench_parse | while read -r what ms; do
	line "${what%_ms}, parsed, ms" "$ms" '<= 100'
done
# Recorded grids are not all the project's to give away: CARBON names a folder
# with DE.csv, FR.csv, GB.csv, US-CAL-CISO.csv (umassos/pause-resume), AU-SA.csv
# (nesl/CarbonX) and ES_2022_hourly.csv (umassos/decarbonization-potential);
# CARBONX names data/forecasting-data of a checkout of nesl/CarbonX.
if [ -n "${CARBON:-}" ]; then
	build/tests/bench/bench_forecast "$CARBON" ${CARBONX:+"$CARBONX"}
else
	echo "forecast: CARBON=FOLDER of recorded grids measures it"
fi

ACCOUNTS=team0000 SPANK_ARGS=job_submit=yes "$cluster" up "$D/with" >&2
SUBMIT=0 SPANK=0 ACCOUNTS=team0000 "$cluster" up "$D/without" >&2
# No lowtided: the snapshots alone, at the size that is promised.
build/tests/tools/make_snapshot --partitions 64 --days 7 --teams 1000 \
    --run "$D/with/run/lowtide" --state "$D/with/lowtide" --partition ondemand \
    --uid "$(id -u)" --team team0000 >/dev/null
rate() { (. "$D/$1/env"; build/tests/bench/bench_submit "$jobs" team0000); }
rate with >/dev/null
rate without >/dev/null
# Many short blocks: what else the machine does falls into few of them.
for i in $(seq "$pairs"); do
	if ((i % 2)); then a=$(rate with) b=$(rate without)
	else b=$(rate without) a=$(rate with); fi
	echo "$a $b" >> "$D/rates"
done
line "submissions a second, with / without" \
    "$(awk '{print $1 / $2}' "$D/rates" | interval)" '>= 0.98'
line "  with" "$(awk '{print $1}' "$D/rates" | interval)" '-'
line "  without" "$(awk '{print $2}' "$D/rates" | interval)" '-'

sbatch_ms() {
	(. "$D/$1/env"; s=$(date +%s%N)
	for _ in 1 2 3 4 5; do sbatch -A team0000 --begin=now+30days --wrap true >/dev/null; done
	echo $((($(date +%s%N) - s) / 5000)))
}
for i in $(seq "$rounds"); do
	if ((i % 2)); then a=$(sbatch_ms with) b=$(sbatch_ms without)
	else b=$(sbatch_ms without) a=$(sbatch_ms with); fi
	echo "$a $b" >> "$D/sbatch"
done
line "sbatch with SPANK and job_submit, ms more" \
    "$(awk '{print ($1 - $2) / 1000}' "$D/sbatch" | interval)" '<= 0.5'

"$cluster" down "$D/with"
rm -rf "$D/with"
ACCOUNTS='vision nlp' POLICY=examples/showback.yaml "$cluster" up "$D/with" >&2
sleep 15
line "lowtided, idle cluster, resident MiB" "$(awk '/^VmRSS/ {printf "%.1f", $2 / 1024}' \
    "/proc/$(cat "$D/with/run/lowtided.shpid")/status")" '<= 10'

# 200 teams with budgets in money and carbon, and a month of 20,000 runs.
"$cluster" down "$D/with"
rm -rf "$D/with"
{
	printf 'mode: observe\ncurrency: USD\npartitions:\n'
	echo '  ondemand: {carbon: 300, price_per_node_hour: 3.60, owned: true, electricity_price_per_kwh: 0.10}'
	printf 'budgets:\n'
	printf '  - {team: team%04d, period: month, amount: 100000, kg_co2e: 100000}\n' $(seq 0 199)
} > "$D/teams.yaml"
ACCOUNTS=team0000 POLICY=$D/teams.yaml "$cluster" up "$D/with" >&2
(
	. "$D/with/env"
	teams=$(seq -s, -f team%04g 1 199)
	sacctmgr -iQ add account "$teams"
	sacctmgr -iQ add user "$(id -un)" account="$teams"
) > "$D/accounts"
"$cluster" stop "$D/with" lowtided
build/tests/tools/make_ledger "$D/with/lowtide" 20000 "$(date -u -d "$(date -u +%Y-%m-01)" +%s)" "$(date +%s)"
(umask 077; openssl rand -hex 24 > "$D/with/token")
port=$(. "$D/with/env"; echo $((CLUSTER_BASE + 5)))
echo "metrics: {listen: $port, token_file: $D/with/token}" >> "$D/with/etc/lowtide.yaml"
"$cluster" start "$D/with" lowtided >&2
until curl -s -H "Authorization: Bearer $(< "$D/with/token")" "http://127.0.0.1:$port/metrics" |
    grep -q '^lowtide_partition_unused{'; do sleep 1; done
build/tests/bench/bench_metrics "$port" "$D/with/token"

# 64 partitions, 20 sources with 90 days of quarters of an hour each.
"$cluster" down "$D/with"
rm -rf "$D/with"
mkdir -p "$D/with/lowtide"
cp tests/cluster/layout.conf "$D/layout"
printf 'PartitionName=p%d Nodes=v1 MaxTime=1-0\n' $(seq 3 63) >> "$D/layout"
{
	printf 'mode: observe\nsources:\n'
	for i in $(seq 20); do
		printf '  grid%d: {adapter: file, path: %s, quantity: carbon}\n' "$i" "$D/signal.csv"
	done
	printf 'partitions:\n'
	k=0
	for p in ondemand spot h100 $(seq -f p%g 3 63); do
		printf '  %s: {carbon: grid%d}\n' "$p" $((++k % 20 + 1))
	done
} > "$D/many.yaml"
now=$(($(date +%s) / 900 * 900))
{
	echo time,value
	for i in $(seq -192 192); do echo "$((now + i * 900)),$((300 + i % 50))"; done
} > "$D/signal.csv"
build/tests/tools/make_history "$D/many.yaml" "$D/with/lowtide" 90
LAYOUT=$D/layout POLICY=$D/many.yaml "$cluster" up "$D/with" >&2
sleep 75 # all sources fetched, the market compiled twice
line "lowtided, 64 partitions, 20 sources, 90 days, MiB" "$(awk '/^VmRSS/ {printf "%.1f", $2 / 1024}' \
    "/proc/$(cat "$D/with/run/lowtided.shpid")/status")" '<= 24'
