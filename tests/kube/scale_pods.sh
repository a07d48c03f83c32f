#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make kube-scale: PODS pods of OWNERS Deployments run on a played API server.
# What lowtide-kube needs for them, how long it takes to charge an hour of all,
# and how much its files grow. Ends with lines `goal NAME VALUE WANT met|missed`.
#
#   scale_pods.sh [PODS [OWNERS]]   (10000 200)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"
pods=${1:-10000} owners=${2:-200}
goals=()
goal() { # goal NAME VALUE WANT: at most
	local word
	word=$(awk -v got="$2" -v want="$3" 'BEGIN { print got <= want + 0 ? "met" : "missed" }')
	goals+=("$(printf 'goal\t%s\t%s\t%s\t%s' "$1" "$2" "$3" "$word")")
	echo "# ${goals[-1]}"
}
memory_mib() { # of lowtide-kube and what it started
	{ cat "/proc/$pid/status"; for child in $(pgrep -P "$pid"); do cat "/proc/$child/status"; done; } 2>/dev/null |
	    awk '/^VmRSS/ { sum += $2 } END { printf "%.1f\n", sum / 1024 }'
}
size_kib() { cat "$L/state/"*.db "$L/state/"*-wal 2>/dev/null | wc -c | awk '{ printf "%d\n", $1 / 1024 }'; }
ms() { date +%s%3N; }
rows() { sqlite3 -readonly "$L/state/ledger.db" 'SELECT coalesce(sum(nodes), 0) FROM runs WHERE end_utc_s = '"$1"; }
charged_until() { [ "$(rows "$1")" -ge "$pods" ]; }
hour() { echo $((($(now) - 60) / 3600 * 3600)); }

k_up "$work/kube" >/dev/null || exit 1
k_get /api/v1/nodes | jq --argjson more $((pods / 100 + 1)) '[.items[0] as $node | range($more) as $i | $node |
    .metadata = {name: "\(.metadata.name)-\($i)", labels: .metadata.labels} |
    .metadata.labels["kubernetes.io/hostname"] = .metadata.name]' >"$work/nodes.json"
k_down
k_up "$work/kube" --history 100000 --nodes "$work/nodes.json" || exit 1
k_namespace team-a managed >/dev/null
l_day 0 90
l_policy 'budgets:
  - {team: team-a, period: month, amount: 1000000000000}'
from=$(ms)
for i in $(seq 1 "$owners"); do
	jq -n --arg name "web$i-5d4f8" '{kind: "Pod", apiVersion: "v1"} + '"$K_TEMPLATE"' |
	    .metadata += {generateName: "\($name)-", labels: {"pod-template-hash": "5d4f8"},
		ownerReferences: [{apiVersion: "apps/v1", kind: "ReplicaSet", name: $name, uid: $name, controller: true}]} |
	    .metadata.annotations["test/run-seconds"] = "100000000" |
	    .spec.containers[0].resources.requests = {cpu: "100m", memory: "256Mi"}' |
	    k_curl "$K_CORE/team-a/pods?n=[1-$((pods / owners))]" -H 'Content-Type: application/json' --data-binary @- -o /dev/null
done
echo "# $pods pods created in $(($(ms) - from)) ms"
running() { [ "$(k_get "$K_CORE/team-a/pods" | jq '[.items[] | select(.status.phase == "Running")] | length')" -ge "$pods" ]; }
within 120 running
from=$(ms)
l_up || exit 1
known() { [ "$(sqlite3 -readonly "$L/state/kube.db" 'SELECT count(*) FROM runs WHERE parts = 1')" -ge "$pods" ]; }
within 120 known
goal 'start until all are known, s' "$(awk "BEGIN { print ($(ms) - $from) / 1000 }")" 30
goal 'resident, all known, MiB' "$(memory_mib)" 96
sleep 12 # the cluster is marked as watched
for ahead in 1 2 3; do
	l_ahead $ahead
	size=$(size_kib)
	from=$(ms)
	until charged_until "$(hour)"; do
		sleep 0.2
		[ $(($(ms) - from)) -lt 180000 ] || break
	done

	took=$(($(ms) - from))
	echo "# hour $ahead charged $took ms after the clock was set; files grew by $(($(size_kib) - size)) KiB"
done
goal 'rows of the ledger an hour' "$(sqlite3 -readonly "$L/state/ledger.db" 'SELECT count(*) FROM runs WHERE end_utc_s = '"$(hour)")" $((owners * 2))
status=$(lowtide status --json)
goal 'hour charged after, s, where the watch is marked each 10 s' "$(awk "BEGIN { print $took / 1000 }")" 30
goal 'last pass, ms' "$(jq '.pass.last_ms' <<<"$status")" 200
goal 'resident, all charged, MiB' "$(memory_mib)" 96
printf '%s\n' "${goals[@]}"
