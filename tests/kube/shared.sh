#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A played cluster of 50 nodes that 500 pods of others share: the same random
# Jobs run on it without lowtide and with it, and what kube-scheduler alone would
# have run by its deadline, lowtide has run by then, too. SEED: of the Jobs and
# of the others. BUILD: the build folder.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/kube/lowtide.sh
. "$top/tests/kube/lowtide.sh"
seed=${SEED:-2} jobs=60 foreign=500
echo "# seed $seed"

# Pools by price, the dearest last. The first by name is not the cheapest.
#   cheap   1 a second, 12 nodes of 32 CPUs
#   mine    2, 8 nodes, a taint of the site's own
#   spot    3, 12 nodes, a taint for spot nodes
#   gpu     4, 6 nodes with 4 GPUs, and their taint
#   able    5, 12 nodes, of which one is twice as large
jq -n 'def taint($key): [{key: $key, value: "true", effect: "NoSchedule"}];
    def nodes($pool; $count; $taints; $gpus): range($count) as $n | {metadata: {name: "\($pool)-\($n)", labels: {"lowtide.dev/pool": $pool,
	"kubernetes.io/os": "linux", "kubernetes.io/arch": (if $n % 4 == 3 then "arm64" else "amd64" end),
	"topology.kubernetes.io/zone": "zone-\($n % 3)"}}, spec: {taints: $taints},
	status: {capacity: ({cpu: (if $pool == "able" and $n == 0 then "64" else "32" end), memory: "128Gi", pods: "40"} + $gpus)}};
    [nodes("cheap"; 12; []; {}), nodes("mine"; 8; taint("dedicated"); {}), nodes("spot"; 12; taint("lowtide.dev/spot"); {}),
	nodes("gpu"; 6; taint("nvidia.com/gpu"); {"nvidia.com/gpu": "4"}), nodes("able"; 12; []; {})]' >"$work/nodes.json"
is 'the cluster has 50 nodes' 50 "$(jq length "$work/nodes.json")"
{
	printf 'mode: enforce\ncurrency: USD\ntimezone: UTC\nmax_delay: 24h\n'
	printf 'sources:\n  day: {adapter: file, quantity: carbon, path: %s/day.csv, value: g}\npartitions:\n' "$work"
	for pool in cheap:3600 mine:7200 spot:10800 gpu:14400 able:18000; do
		printf '  %s: {accepts: [gpu, cpu], carbon: day, price_per_node_hour: %s}\n' "${pool%:*}" "${pool#*:}"
	done
} >"$work/policy.yaml"

# What others run: each node is filled to a random part, and cheap ones to more.
# A line of curl's configuration for each request: all by one connection.
awk -v seed="$seed" -v count=$foreign '
    function of(n) { return int(rand() * n) }
    BEGIN {
	srand(seed)
	split("cheap 12 mine 8 spot 12 gpu 6 able 12", p, " ")
	for (i = 1; i <= 9; i += 2)
	    for (n = 0; n < p[i + 1]; n++) { name[nodes] = p[i] "-" n; left[nodes++] = p[i] == "cheap" ? 22 + of(11) : 12 + of(21) }
	for (made = 0; made < count;) {
	    n = of(nodes); cpus = of(4)
	    if (cpus > left[n] || pods[n] == 30) { if (++tries < 100000) continue; cpus = 0 }
	    left[n] -= cpus; pods[n]++
	    printf "%s %s other-%d\n", name[n], cpus == 0 ? "50m" : cpus, made++
	}
    }' >"$work/foreign"
foreign_come() {
	jq -nRr --arg url "$K_URL$K_CORE/other/pods" --arg token "$(cat "$KUBE/admin-token")" --arg ca "$KUBE/ca.crt" '
	    [inputs | split(" ")] | to_entries[] | .value as [$node, $cpus, $name] |
	    {kind: "Pod", apiVersion: "v1", metadata: {name: $name, annotations: {"test/run-seconds": "10000000"},
		ownerReferences: [{apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "web", controller: true}]},
	     spec: {nodeName: $node, containers: [{name: "main", image: "played", resources: {requests: {cpu: $cpus, memory: "256Mi"}}}]}} |
	    "url = \($url | tojson)\ncacert = \($ca | tojson)\nheader = \("Authorization: Bearer \($token)" | tojson)\n" +
	    "header = \"Content-Type: application/json\"\ndata = \(tojson | tojson)\noutput = \"/dev/null\"\nsilent\nnext"' \
	    <"$work/foreign" | sed '$d' | curl -K -
}

# Random Jobs: how large, which pods they bear, which nodes they choose, when
# lowtide may run them. One in ten is larger than any node.
RANDOM=$seed
one_of() { shift $((RANDOM % $#)); echo "$1"; }
for i in $(seq $jobs); do
	pods=$((1 + RANDOM % 3))
	filter="$(wishes "$(one_of cost carbon balanced fast)" 36000) | $(runs $((1 + RANDOM % 3))) | .spec.parallelism = $pods | .spec.completions = $pods |
	    .metadata.annotations[\"lowtide.dev/deadline\"] = \"24h\" |
	    .spec.template.spec.containers[0].resources.requests = {cpu: \"$((i % 10 == 0 ? 70 + RANDOM % 10 : 1 + RANDOM % 30))\", memory: \"$((1 + RANDOM % 16))Gi\"}"
	case $((RANDOM % 8)) in
	0 | 1) filter+=" | .spec.template.spec.tolerations = [{key: \"dedicated\", operator: \"Exists\"}]" ;;
	2) filter+=" | .spec.template.spec.tolerations = [{key: \"lowtide.dev/spot\", operator: \"Exists\"}]" ;;
	3) filter+=" | .spec.template.spec.containers[0].resources.limits[\"nvidia.com/gpu\"] = \"$((1 + RANDOM % 4))\" |
	    .spec.template.spec.containers[0].resources.requests.cpu = \"$((1 + RANDOM % 8))\" |
	    .spec.template.spec.tolerations = [{key: \"nvidia.com/gpu\", operator: \"Exists\"}]" ;;
	esac
	case $((RANDOM % 8)) in
	0) filter+=" | .spec.template.spec.nodeSelector[\"kubernetes.io/arch\"] = \"$(one_of amd64 arm64)\"" ;;
	1) filter+=" | .spec.template.spec.nodeSelector[\"topology.kubernetes.io/zone\"] = \"zone-$((RANDOM % 4))\"" ;;
	2) filter+=" | .spec.template.spec.nodeSelector[\"lowtide.dev/pool\"] = \"$(one_of cheap able mine)\"" ;;
	3) filter+=" | .spec.template.spec.affinity.podAntiAffinity = {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: \"kubernetes.io/hostname\"}]}" ;;
	esac
	k_job_file "job-$i" "$filter" >"$work/job-$i.json"
done
jobs_come() { for i in $(seq $jobs); do k_post "$K_JOBS/team-a/jobs" "$work/job-$i.json"; done >/dev/null; }
done_jobs() { # that ended well by their deadline
	k_get "$K_JOBS/team-a/jobs" | jq -r '[.items[] | select(.status.completionTime != null and
	    (.status.completionTime | fromdateiso8601) <= (.metadata.creationTimestamp | fromdateiso8601) + 86400) | .metadata.name] | sort | .[]'
}
settle() { # until no more has ended for two seconds
	local was=-1 is=0
	while [ "$is" != "$was" ]; do
		was=$is
		sleep 2
		is=$(done_jobs | wc -l)
	done
}
up() { # up NAME OPTION...
	k_up "$work/$1" --nodes "$work/nodes.json" "${@:2}" || exit 1
	k_namespace other >/dev/null
	k_namespace team-a managed >/dev/null
	foreign_come
	is "$1: others have their pods" "$foreign" "$(k_get "$K_CORE/other/pods" | jq '[.items[] | select(.spec.nodeName)] | length')"
}

up without
jobs_come
settle
done_jobs >"$work/without.done"
k_down

up with --mutate
l_day 3 15
l_up || exit 1
jobs_come
for i in $(seq $jobs); do planned "team-a/job-$i"; done
# In minutes: one that is due waits for a plan, one that finds no node for
# another, and not only for hours.
for minutes in 0 3 180 183 186 720 723 726 1080 1083 1086 1320 1323 1326 1329; do
	l_seconds_ahead $((minutes * 60))
	settle
done
done_jobs >"$work/with.done"
echo "# of $jobs Jobs kube-scheduler alone ran $(wc -l <"$work/without.done"), with lowtide ran $(wc -l <"$work/with.done")"
is 'kube-scheduler alone runs most of them' true "$([ "$(wc -l <"$work/without.done")" -gt $((jobs / 2)) ] && echo true)"
is 'and not all' true "$([ "$(wc -l <"$work/without.done")" -lt $jobs ] && echo true)"
is 'none that it would have run did lowtide not run' '' "$(comm -23 "$work/without.done" "$work/with.done" | paste -sd' ')"
quotes() { sqlite3 -readonly "$L/state/ledger.db" "SELECT count(*) FROM holds WHERE $1"; }
is 'each was decided' "$jobs" "$(k_get "$K_JOBS/team-a/jobs" | jq '[.items[] | select(.metadata.annotations["lowtide.dev/quote"])] | length')"
placed() { k_get "$K_JOBS/team-a/jobs" | jq "[.items[] | select(.metadata.annotations[\"lowtide.dev/quote\"] | $1)] | length"; }
is 'some of them in another place' true "$([ "$(placed 'capture("plan=(?<a>[^@]*)@.* base=(?<b>[^@]*)@") | .a != .b')" -gt 5 ] && echo true)"
is 'some at another hour' true "$([ "$(placed 'capture("plan=[^@]*@(?<a>[0-9]*) base=[^@]*@(?<b>[0-9]*)") | (.a | tonumber) > (.b | tonumber) + 3600')" -gt 5 ] && echo true)"
the_end
