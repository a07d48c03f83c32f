#!/usr/bin/env bats
# A day in a minute: the grid's hours are some seconds long, Slurm's clock is
# real. Jobs of a class that may be suspended stand still in the dirty hours;
# what they really did is in their own logs, a line for each second.
load tricks

HOUR_S=3 HOURS=24

# day: from now on, g/kWh of each "hour": dirty from 4 to 9 and from 16 to 21.
day() {
	BEGIN=$(date +%s)
	echo "$BEGIN" > "$BATS_FILE_TMPDIR/begin"
	awk -v begin="$BEGIN" -v hour=$HOUR_S 'BEGIN {
		print "time,value"
		for (i = -4; i < 200; i++) {
			h = (i + 240) % 24
			dirty = h >= 4 && h < 9 || h >= 16 && h < 21
			printf "%d,%d\n", begin + i * hour, dirty ? 9000 : 1000
		}
	}' > "$BATS_FILE_TMPDIR/grid.csv"
}

setup_file() {
	export ACCOUNTS='vision poor' TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export LAYOUT=$BATS_FILE_TMPDIR/layout
	cat > "$LAYOUT" <<-'L'
	NodeName=v[1-5] NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@,@PORT+2@,@PORT+3@,@PORT+4@,@PORT+5@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
	NodeName=s[1-2] NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+6@,@PORT+7@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
	PartitionName=own Nodes=v[1-5] Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	PartitionName=rented Nodes=s[1-2] MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	day
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
waiting_carbon_per_hour: 0
sources:
  grid: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/grid.csv}
partitions:
  own: {carbon: grid, owned: true, pue: 10, gpu: V100-SXM2}
  rented: {carbon: grid, price_per_node_hour: 36, pue: 10, gpu: V100-SXM2}
classes:
  patient: {account: vision, pause: suspend}
  poor: {account: poor, pause: suspend}
budgets:
  - {team: vision, period: year, kg_co2e: 100000}
"
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
	BEGIN=$(cat "$BATS_FILE_TMPDIR/begin")
}

@test "try" {
	script worker 'i=0; while [ $i -lt 24 ]; do date +%s >> $SLURM_JOB_NAME.log; i=$((i + 1)); sleep 1; done'
	day
	job -A vision -p own -J one --gres=gpu:8 -n1 --time=10 --carbon-aware=carbon --expected-time=0:00:24 worker
	echo "$said"
	sleep 70
	tail -n 60 "$LOG"
	lowtide explain $id
	sacct -X -o jobid,state,start,elapsed,suspended,end
	awk -v b=$BEGIN '{print ($1-b)/3}' one.log | tr '\n' ' '
	false
}
