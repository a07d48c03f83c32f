#!/usr/bin/env bats
# A day in a minute: the grid's hours are some seconds long, Slurm's clock is
# real. Jobs of a class that may be suspended stand still in the dirty hours.
# What they really did is in their own logs, a line for each second at work.
load tricks

HOUR_S=4

# Of a day whose hours are S seconds long, from B on: 9000 g/kWh in 4 to 9, 14 to
# 19 and so on, else 1000 g/kWh.
grid() { # grid B S FIRST LAST
	awk -v begin="$1" -v hour="$2" -v first="$3" -v last="$4" 'BEGIN {
		print "time,value"
		for (i = first; i < last; i++)
			printf "%d,%d\n", begin + i * hour, (i + 1000) % 10 >= 4 && (i + 1000) % 10 < 9 ? 9000 : 1000
	}'
}

# the_day SECONDS: begins in so many. Its last hour is dirty, and goes on: nobody
# waits for what comes after it.
the_day() {
	echo $(($(date +%s) + $1)) > "$BATS_FILE_TMPDIR/begin"
	grid "$(cat "$BATS_FILE_TMPDIR/begin")" $HOUR_S -10 199 > "$BATS_FILE_TMPDIR/grid.csv"
}

setup_file() {
	export ACCOUNTS='vision poor plain' TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=v[1-6] NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@,@PORT+2@,@PORT+3@,@PORT+4@,@PORT+5@,@PORT+6@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
	NodeName=s1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+7@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
	NodeName=b1 NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+8@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
	PartitionName=own Nodes=v[1-6] Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=rented Nodes=s1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=busy Nodes=b1 MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	the_day -86400 # nothing of it is left
	# 28.9 kW, 9 kg/kWh and 10 minutes are held for: 46 kg; a minute more is 4.6.
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
waiting_carbon_per_hour: 0
sources:
  grid: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/grid.csv}
partitions:
  own: {carbon: grid, owned: true, pue: 10, gpu: V100-SXM2}
  busy: {carbon: grid, owned: true, pue: 10, gpu: V100-SXM2}
  rented: {carbon: grid, price_per_node_hour: 36, pue: 10, gpu: V100-SXM2}
classes:
  patient: {account: vision, pause: suspend}
  poor: {account: poor, pause: suspend}
budgets:
  - {team: vision, period: year, kg_co2e: 100000}
  - {team: poor, period: year, kg_co2e: 48}
"
	# It begins once all is up: lowtided reads it when it starts.
	cluster_use
	part stop lowtided
	the_day 5
	part start lowtided
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
	BEGIN=$(cat "$BATS_FILE_TMPDIR/begin")
}

until_hour() { # until_hour H: sleeps; fails where that is long past
	local left
	left=$(awk -v at="$(awk -v b="$BEGIN" -v s=$HOUR_S -v h="$1" 'BEGIN { print b + h * s }')" -v now="$(date +%s.%N)" 'BEGIN { print at - now }')
	[ "${left%.*}" -ge -$((2 * HOUR_S)) ] 2> /dev/null || { echo "late for hour $1 by $left s" >&2; return 1; }
	case $left in -*) ;; *) sleep "$left" ;; esac
}
submit() { # submit NAME ARGUMENTS...: 12 hours of work; its id in the file NAME
	job -J "$1" --gres=gpu:8 -N1 -n1 --time=10 --carbon-aware=carbon --expected-time=0:00:$((12 * HOUR_S)) "${@:2}" worker
	echo "$id" > "$1"
}
id_of() { cat "$1"; }
of() { scontrol show job "$(id_of "$1")" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
is_now() { [ "$(of "$1" JobState)" = "$2" ]; }
# at_work NAME FROM TO: seconds at work in these hours, without their edges: a
# pause begins and ends with a pass of lowtided.
at_work() {
	awk -v from=$((BEGIN + $2 * HOUR_S + 2)) -v to=$((BEGIN + $3 * HOUR_S)) \
	    '$1 >= from && $1 < to { n++ } END { print n + 0 }' "$1.log"
}
# event NAME TEXT: how often lowtided's log has that of its job
events() { grep -c "event=$2 job=$(id_of "$1") .*$3" "$LOG" || true; }
row_of() { sqlite3 -readonly "$D/lowtide/ledger.db" "SELECT step FROM pauses WHERE job_id = $(id_of "$1")"; }

test_dbd_row() { [ "$(row_of "$1")" = "$2" ]; }

@test "a day: who stands still when, whoever dies" {
	local name
	script worker 'i=0; while [ $i -lt '$((12 * HOUR_S))' ]; do date +%s >> $SLURM_JOB_NAME.log; i=$((i + 1)); sleep 1; done'
	until_hour 0
	submit one -A vision -w v1
	submit now -A vision -w v2
	submit admin -A vision -w v3
	submit poor -A poor -w v4
	submit unasked -A plain -w v5
	submit asked -A plain -w v6
	submit rented -A vision -p rented
	submit busy -A vision -p busy
	job -J behind -A plain -p busy --gres=gpu:8 -N1 -n1 --time=10 worker
	echo "$id" > behind
	until_hour 5
	for name in one now admin; do within $HOUR_S is_now "$name" SUSPENDED; done
	for name in poor unasked asked rented busy; do is_now "$name" RUNNING; done
	# What its user reads, here and as it is watched.
	lowtide jobs --json | jq -c '.jobs[] | [.name, .pause]' > said
	grep -q '^\["one",{"until":"'"$(date -u -d "@$((BEGIN + 9 * HOUR_S))" +%FT%TZ)"'","saves":{"money_micros":null,"carbon_mg":[1-9]' said || { cat said; false; }
	grep -q '^\["rented",null\]' said
	lowtide explain "$(id_of one)" | grep -q '^Paused by lowtide until .*: saves .* CO2e'
	lowtide jobs | grep -q ' SUSPENDED until '
	# Their own word: the user's, and an admin's by Slurm.
	lowtide now "$(id_of now)" | grep -q 'goes on, and is not paused again'
	scontrol resume "$(id_of admin)"
	# Killed in the pause. What it had written and not done meanwhile: a job
	# that slurmctld was not asked to suspend, one that it was not asked to let
	# go on.
	part stop lowtided KILL
	scontrol suspend "$(id_of asked)"
	sqlite3 "$D/lowtide/ledger.db" "INSERT INTO pauses VALUES
	    ($(id_of unasked), $(of unasked StartTime), 0, $(date +%s), $((BEGIN + 30 * HOUR_S)), 120, 0, NULL, NULL),
	    ($(id_of asked), $(of asked StartTime), 2, $(date +%s), $(date +%s), 120, $(of asked SuspendTime), NULL, NULL)"
	part start lowtided
	within 20 is_now asked RUNNING
	is_now unasked RUNNING
	is_now now RUNNING
	within 20 test_dbd_row asked ''
	within 20 test_dbd_row unasked 2
	until_hour 10
	is_now one RUNNING
	# Suspended by hand, it is not lowtide's to let go on.
	scontrol suspend "$(id_of admin)"
	# Who comes for its node ends a pause.
	within $((4 * HOUR_S)) is_now busy COMPLETED
	scancel "$(id_of behind)"
	submit late -A vision -p busy
	within $((2 * HOUR_S)) is_now late RUNNING
	until_hour 15
	within $HOUR_S is_now late SUSPENDED
	job -J crowd -A plain -p busy --gres=gpu:8 -N1 -n1 --time=10 worker
	within $((2 * HOUR_S)) is_now late RUNNING
	[ "$(events late pause_over why=waited_for)" -eq 1 ]
	until_hour 16
	is_now one SUSPENDED
	until_hour 21
	is_now one RUNNING
	is_now admin SUSPENDED
	scontrol resume "$(id_of admin)"
	within $((5 * HOUR_S)) is_now one COMPLETED
	test_dbd_row unasked ''
	# In hours at work and not; now was in dirty ones, once its user said so.
	[ "$(at_work one 5 9)" -eq 0 ]
	[ "$(at_work one 15 19)" -eq 0 ]
	[ "$(at_work one 10 14)" -ge $((3 * HOUR_S)) ]
	[ "$(at_work now 7 9)" -ge $HOUR_S ]
	[ "$(events one pause step=suspending)" -eq 2 ]
	[ "$(events one pause step=left)" -eq 0 ]
	[ "$(events now pause step=suspending)" -eq 1 ]
	[ "$(events admin pause step=suspending)" -eq 1 ]
	[ "$(events admin pause_over '')" -eq 0 ]
	for name in rented poor busy; do [ "$(events "$name" pause '')" -eq 0 ]; done
	grep -q "event=pause_unaffordable error=\"job $(id_of poor)" "$LOG"
}

# Each pause of a job as lowtided had it: the hours that it began in and was to
# end with.
as_done() {
	sed -nE "s/^([^ ]*) event=pause job=$(id_of "$1") step=suspending until=([0-9]*) .*/\1 \2/p" "$LOG" |
	    while read -r at until; do
		echo "$((($(date -d "$at" +%s) - BEGIN) / HOUR_S)),$(((until - BEGIN) / HOUR_S))"
	    done
}

@test "the simulator has the same pauses, by the same function" {
	local midnight=1792800000 # 2026-10-24T00:00Z
	printf 'arrival_time,length,cpus\n0,12,1\n' > trace.csv
	grid $midnight 3600 -24 199 | awk -F, 'NR > 1 { $1 = strftime("%Y-%m-%dT%H:%M:%SZ", $1, 1) } { print $1 "," $2 }' > hours.csv
	lowtide simulate trace.csv --unit h --at 2026-10-24T00:00Z --carbon hours.csv --forecast perfect \
	    --policy lowtide-suspend --wait 24h,24h --min-saving 5 --watts 26045 --idle 2000 --pauses pauses.csv
	tail -n +2 pauses.csv | while IFS=, read -r _ from until; do
		echo "$((($(date -d "$from" +%s) - midnight) / 3600)),$((($(date -d "$until" +%s) - midnight) / 3600))"
	done > simulated
	[ "$(cat simulated)" = "$(printf '4,9\n14,19')" ]
	as_done one | diff - simulated
}

@test "what it is charged is by sacct's figures, and within what was held" {
	local id start end suspended charged held
	id=$(id_of one)
	charge() { [ "$(runs_of "$id" carbon_mg)" -gt 0 ]; }
	within 60 charge
	read -r start end suspended < <(sacct -nXP -j "$id" -o Start,End,Suspended | tr '|' ' ')
	suspended=$(awk -F: '{ print $1 * 3600 + $2 * 60 + $3 }' <<< "$suspended")
	# As long as the dirty hours, but for some seconds.
	[ "$suspended" -ge $((10 * HOUR_S - 6)) ]
	[ "$suspended" -le $((10 * HOUR_S + 6)) ]
	# (41): a CPU, its node and 8 GPUs, of which the CPU is given away while
	# it is suspended; evenly over its time.
	charged=$(runs_of "$id" carbon_mg)
	awk -F, -v from="$start" -v to="$end" -v off="$suspended" -v hour=$HOUR_S -v charged="$charged" '
	NR > 1 {
		low = $1 > from ? $1 : from
		high = $1 + hour < to ? $1 + hour : to
		if (high > low) g += $2 * (high - low)
	}
	END {
		t = to - from
		w = 10 * (200 + 8 * 300 + 4.5 * (t - off) / t)
		mg = w / 1000 * g / 3600 * 1000
		exit !(charged > mg - 2 && charged < mg + 2)
	}' "$BATS_FILE_TMPDIR/grid.csv"
	held=$(lowtide explain --json "$id" | jq '.quote.hold_per_task.carbon_mg')
	[ "$charged" -le "$held" ]
}
