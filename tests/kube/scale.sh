#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make kube-scale: JOBS Jobs wait on a played API server. What lowtide-kube needs
# for them, how fast it decides them all when a signal changes, and how it
# releases them. Ends with lines `goal NAME VALUE WANT met|missed`.
#
#   scale.sh [JOBS]   (5000)
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"
jobs=${1:-5000}
# Of a CPU for an hour, what a wait saves has to show.
L_DIRTY=9900 L_CLEAN=10
goals=()
goal() { # goal NAME VALUE WANT: at most, or exactly where both are words
	local word
	word=$(awk -v got="$2" -v want="$3" 'BEGIN { print (got ~ /^[0-9.]+$/ ? got <= want + 0 : got == want) ? "met" : "missed" }')
	goals+=("$(printf 'goal\t%s\t%s\t%s\t%s' "$1" "$2" "$3" "$word")")
	echo "# ${goals[-1]}"
}
requests() { k_get /faults | jq ".requests.$1 // 0"; }
memory_mib() { # of lowtide-kube and what it started
	{ cat "/proc/$pid/status"; for child in $(pgrep -P "$pid"); do cat "/proc/$child/status"; done; } 2>/dev/null |
	    awk '/^VmRSS/ { sum += $2 } END { printf "%.1f\n", sum / 1024 }'
}
ms() { date +%s%3N; }
quoted() { sqlite3 -readonly "$L/state/ledger.db" 'SELECT count(*) FROM holds WHERE state = 0 AND job_id != 0' 2>/dev/null || echo 0; }
all_held() { [ "$(quoted)" -ge "$jobs" ]; }
annotated() { k_get "$K_JOBS/team-a/jobs" | jq "[.items[] | select(.metadata.annotations[\"lowtide.dev/$1\"])] | length"; }
all_told() { [ "$(annotated quote)" -ge "$jobs" ]; }
decided() { grep -c "event=$1" "$L/log"; }

policy() { l_policy 'budgets:
  - {team: team-a, period: month, amount: 1000000000}'; }
# As many nodes as run all of them in one hour, else few plans could change.
k_up "$work/kube" || exit 1
k_get /api/v1/nodes | jq --argjson more $((jobs / 256 + 1)) '[.items[] | . as $node | range($more) as $i | $node |
    .metadata = {name: "\(.metadata.name)-\($i)", labels: .metadata.labels} |
    .metadata.labels["kubernetes.io/hostname"] = .metadata.name]' >"$work/nodes.json"
k_down
k_up "$work/kube" --history 100000 --mutate --nodes "$work/nodes.json" || exit 1
k_namespace team-a managed >/dev/null
l_day 3 9
policy
l_up || exit 1
echo "# without Jobs: $(memory_mib) MiB"
l_end

from=$(ms)
k_jobs "$jobs" team-a "$(wishes carbon 3600) | .metadata.annotations[\"lowtide.dev/checkpoint\"] = \"write=10s\" | $(runs 600)"
echo "# $jobs Jobs created in $(($(ms) - from)) ms"
pages=$(requests list.jobs)
patches=$(requests patch.jobs)
from=$(ms)
l_up || exit 1
within 600 all_held
echo "# all decided after $(($(ms) - from)) ms, $(memory_mib) MiB"
goal 'lists of Jobs, pages' "$(($(requests list.jobs) - pages))" $((jobs / 500 + 2))
most=0
last=$(requests patch.jobs) at=$(ms)
until all_told; do
	sleep 1
	now_patches=$(requests patch.jobs) now_at=$(ms)
	rate=$(((now_patches - last) * 1000 / (now_at - at)))
	[ "$rate" -le "$most" ] || most=$rate
	last=$now_patches at=$now_at
	[ $(($(ms) - from)) -lt 900000 ] || break
done
took=$(($(ms) - from))
patches=$(($(requests patch.jobs) - patches))
echo "# all told after $took ms, $patches patches, at most $most a second"
goal 'patches a Job, first plan' "$(awk "BEGIN { print $patches / $jobs }")" 1.05
# A second's allowance may have been saved.
goal 'requests a second' "$most" 55
goal 'resident, all wait, MiB' "$(memory_mib)" 64

# The clean hours come later: all plans are looked at, and those that change
# are written. A file is read every five minutes, and at a start.
patches=$(requests patch.jobs)
l_day 12 18
from=$(ms)
l_restart
stamp() { date -d "$(grep "$1" "$L/log" | tail -n 1 | cut -d' ' -f1)" +%s; }
again() { grep -q "event=decided_again jobs=$jobs " "$L/log"; }
if within 60 again; then
	goal 'a signal changes: until all are decided, s' "$(($(stamp event=decided_again) - $(stamp event=fetched)))" 5
else
	goal 'a signal changes: all are decided anew' no yes
fi
moved() { grep 'event=replanned' "$L/log" | grep -o 'job=[0-9]*' | sort -u | wc -l; }
all_moved() { [ "$(moved)" -ge "$jobs" ]; }
within 600 all_moved
echo "# $(decided replanned) plans changed, the last $(($(ms) - from)) ms after the restart; $(($(requests patch.jobs) - patches)) patches, $(decided update_failed) put off"
goal 'plans that should change and did not' $((jobs - $(moved))) 0
goal 'resident, all decided anew, MiB' "$(memory_mib)" 64

# Due ones first: at their hour
l_ahead 19
started() { [ "$(decided started_job)" -ge "$jobs" ]; }
from=$(ms)
within 300 started
took=$(($(ms) - from))
echo "# $(decided started_job) released in $took ms"
order=$(grep -o 'started_job job=[0-9]*' "$L/log" | cut -d= -f2 | while read -r id; do echo "$id"; done >"$work/order"
    sqlite3 -readonly "$L/state/ledger.db" "SELECT job_id, plan_start_utc_s FROM holds" -separator ' ' >"$work/starts"
    awk 'NR == FNR { at[$1] = $2; next } { if (at[$1] < last) wrong++; last = at[$1] } END { print wrong + 0 }' "$work/starts" "$work/order")
goal 'released before one that was due earlier' "$order" 0
goal 'releases a second' "$(awk "BEGIN { printf \"%.1f\", $jobs * 1000 / $took }")" 55
goal 'resident, all released, MiB' "$(memory_mib)" 64
printf '%s\n' "${goals[@]}"
[ -z "${KEEP_LOG-}" ] || cp "$L/log" "$KEEP_LOG"
