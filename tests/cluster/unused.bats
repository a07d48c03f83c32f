#!/usr/bin/env bats
# What a site pays for nodes of its own and nobody uses: by sinfo's nodes, the
# clock and sacct, on a real Slurm whose clock goes from October to November.
load tricks

setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='vision nlp' SBATCH_OUTPUT=/dev/null TZ=UTC
	# low has the nodes of ondemand too, one that is to come, and a cloud's
	# that is powered down.
	export EXTRA='SlurmdTimeout=0
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=86400
SuspendExcNodes=v[1-2],s[1-2],a1
NodeName=f1 NodeAddr=127.0.0.1 Port=17 CPUs=64 State=FUTURE
NodeName=c1 NodeAddr=127.0.0.1 Port=19 CPUs=64 State=CLOUD
PartitionName=low Nodes=v[1-2],s1,f1,c1'
	clock_begin 2026-10-28T10:20:00Z
	# A USD for a second of a node: sums can be done by hand.
	cluster_up '
mode: observe
currency: USD
timezone: UTC
partitions:
  ondemand: {carbon: 300, price_per_node_hour: 3600, gpu: V100-SXM2, owned: true, electricity_price_per_kwh: 0.10}
  low: {carbon: 300, price_per_node_hour: 900, gpu: V100-SXM2, owned: true, electricity_price_per_kwh: 0.10}
  h100: {carbon: 300, price_per_node_hour: 36000, gpu: H100-SXM5}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

at() { # at TIME: lowtided takes a clock that was set for one that was wrong
	part stop lowtided
	clock_is "$1"
	part start lowtided
}
october() { lowtide report --period 2026-10 --unused --json | jq .unused; }
of() { # of PARTITION FIELD: a figure, or a time in seconds
	october | jq --arg p "$1" ".partitions[] | select(.partition == \$p).$2 |
		if type == \"string\" then fromdate else . end"
}
of_sacct() { # of_sacct PARTITION: node-seconds by slurmdbd, GPUs being eighths
	sacct -nXPD -a -S 2026-10-01 -E 2026-11-01 -o ElapsedRaw,Partition,AllocTRES | awk -F'|' -v p="$1" '
		$2 == p && match($3, /gres\/gpu=[0-9]+/) {sum += $1 * substr($3, RSTART + 9, RLENGTH - 9) / 8}
		END {print sum + 0}'
}
rows() { [ "$(october | jq '.partitions | length')" -eq 2 ]; }

@test "paid is nodes x price x time, used is what the runs were charged" {
	within 60 rows
	job -A vision --gpus=4 -n1 --time=10 --wrap 'sleep 4'
	one=$id
	job -A nlp --gpus=8 -N1 -p h100 --time=10 --wrap 'sleep 2'
	within 30 done_job "$one"
	within 180 settled "$one"
	within 60 settled "$id"
	nodes=$(sinfo -h -N -p ondemand -o %N | sort -u | wc -l)
	[ "$nodes" -eq 2 ]
	start=$(date -u -d 2026-10-28T10:00:00Z +%s)
	[ "$(of ondemand from)" -eq "$start" ] # the hour in which it was seen
	before=$(date +%s)
	lowtide report --period 2026-10 --unused --json > "$D/report.json"
	after=$(date +%s)
	row() { jq "[.unused.partitions[] | select(.partition == \"$1\")][0].$2" "$D/report.json"; }
	to=$(row ondemand 'to | fromdate')
	[ "$before" -le "$to" ]
	[ "$to" -le "$after" ]
	[ "$(row ondemand paid_node_s)" -eq $((nodes * (to - start))) ]
	[ "$(row ondemand paid_micros)" -eq $((nodes * (to - start) * 1000000)) ]
	used=$(row ondemand used_micros)
	[ "$used" -gt 0 ]
	[ "$used" -eq "$(awk "BEGIN {printf \"%d\", $(of_sacct ondemand) * 1000000}")" ]
	[ "$(row ondemand unused_micros)" -eq $((nodes * (to - start) * 1000000 - used)) ]
	# v1 and v2 are paid in ondemand, f1 and c1 not at all.
	[ "$(row low paid_node_s)" -eq $((to - start)) ]
	[ "$(row low paid_micros)" -eq $(((to - start) * 250000)) ]
	[ "$(row low used_node_s)" -eq 0 ]
	[ "$(row h100 partition)" = null ]
	# Beside the teams: what they cost is what ran, in any partition.
	[ "$(jq .total.cost_micros "$D/report.json")" -eq $((used + $(lowtide report --json --by partition |
	    jq '.by.partition[] | select(.partition == "h100").cost_micros'))) ]
	[ -z "$(/usr/bin/python3 "$PROJECT/tests/golden/schema.py" "$PROJECT/docs/report.schema.json" "$D/report.json")" ]
	lowtide report --unused | grep -q '^ondemand (from 2026-10-28 10:00 UTC) '
	lowtide report --format html | grep -q 'id="unused"'
}

@test "who does not see all teams is not told, and his statement is made all the same" {
	[ -n "$ROOT" ] || skip 'needs root to be somebody else'
	run -1 as_user lowtide report --unused
	[[ "$output" == *'to who sees all teams'* ]]
	as_user lowtide report --no-users --format html > "$D/own.html"
	grep -q '</html>' "$D/own.html"
	run ! grep -q 'id="unused"' "$D/own.html"
}

@test "a drained node is paid, one that left the partition is not" {
	scontrol update nodename=v2 state=drain reason=fan
	at 2026-10-28T12:00:00Z
	[ "$(of ondemand paid_node_s)" -ge 14400 ]
	[ "$(of ondemand paid_node_s)" -lt 14600 ]
	part stop lowtided
	scontrol update partitionname=ondemand nodes=v1
	clock_is 2026-10-28T13:00:00Z
	part start lowtided # sees it now, and low has v2 from now on
	fewer() { [ "$(sqlite3 "$D/lowtide/signals.db" "SELECT count(*) FROM rates WHERE rate = 6")" -eq 4 ]; }
	within 30 fewer
	at 2026-10-28T15:00:00Z
	within 30 rows
	# 2 x 3 h + 2 h, and the seconds until it was seen, and until now.
	for p in ondemand low; do
		paid=$(of $p paid_node_s)
		echo "$p $paid"
	done
	[ "$(of ondemand paid_node_s)" -ge $((8 * 3600)) ]
	[ "$(of ondemand paid_node_s)" -lt $((8 * 3600 + 240)) ]
	[ "$(of low paid_node_s)" -ge $((7 * 3600 - 240)) ]
	[ "$(of low paid_node_s)" -lt $((7 * 3600 + 240)) ]
}

@test "what is sold is paid until the end of its hour" {
	sed -i 's/^  low: .*/  low: {carbon: 300, price_per_node_hour: 900, gpu: V100-SXM2}/' "$D/etc/lowtide.yaml"
	sold() { [ "$(sqlite3 "$D/lowtide/signals.db" "SELECT count(*) FROM rates WHERE rate = 6 AND value = -1")" -eq 1 ]; }
	within 60 sold
	at 2026-10-28T18:00:00Z
	within 30 rows
	[ "$(of low to)" -eq "$(date -u -d 2026-10-28T16:00:00Z +%s)" ]
	[ "$(of ondemand to)" -ge "$(date -u -d 2026-10-28T18:00:00Z +%s)" ]
}

@test "a closed month stays to the byte, whatever becomes of nodes and price" {
	at 2026-11-04T00:30:00Z
	closed() { run lowtide close 2026-10; [ "$status" -eq 0 ]; }
	within 300 closed
	october > "$D/closed"
	lowtide report --period 2026-10 --format html > "$D/closed.html"
	[ "$(of ondemand to)" -eq "$(date -u -d 2026-11-01T00:00:00Z +%s)" ]
	scontrol update partitionname=ondemand nodes=v[1-2],s[1-2]
	sed -i 's/price_per_node_hour: 3600,/price_per_node_hour: 7200,/' "$D/etc/lowtide.yaml"
	at 2026-11-04T09:00:00Z
	twice() { [ "$(lowtide report --unused --json | jq '.unused.partitions[0] | .paid_micros > .paid_node_s * 1000000')" = true ]; }
	within 60 twice
	cmp "$D/closed" <(october)
	cmp "$D/closed.html" <(lowtide report --period 2026-10 --format html)
}
