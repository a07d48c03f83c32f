#!/usr/bin/env bats
# A job of a class with pause: requeue leaves its node in the dirty hours and
# comes back after them: one checkpoint, one requeue, one begin time, whoever
# dies. What it really did is in its own log, a line for each second at work.
load tricks

# Of the day, from BEGIN on: dirty from, until. Long enough for a busy machine to
# have all asked, requeued and told before the clean hours begin.
DIRTY_S=10 CLEAN_S=45
WORK=40 # seconds

the_day() { # the_day SECONDS dirty|clean: begins in so many
	local begin
	begin=$(($(date +%s) + $1))
	echo "$begin" > "$BATS_FILE_TMPDIR/begin"
	{
		echo time,value
		echo "$((begin - 60)),1000"
		if [ "$2" = dirty ]; then
			echo "$((begin + DIRTY_S)),9000"
			echo "$((begin + CLEAN_S)),1000"
		fi
		echo "$((begin + 600)),1000"
	} > "$BATS_FILE_TMPDIR/grid.csv"
}

setup_file() {
	export ACCOUNTS='vision poor plain free' TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export LAYOUT=$BATS_FILE_TMPDIR/layout EXTRA='KillWait=2'
	cat > "$LAYOUT" <<-'L'
	NodeName=v[1-9] NodeHostname=@HOST@ NodeAddr=127.0.0.1 Port=@PORT+1@,@PORT+2@,@PORT+3@,@PORT+4@,@PORT+5@,@PORT+6@,@PORT+7@,@PORT+8@,@PORT+9@ CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:v100:8
	PartitionName=own Nodes=v[1-9] Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00
	L
	the_day 0 clean
	# 28.9 kW, 9 kg/kWh and 10 minutes are held for: 46 kg a run of poor's.
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
waiting_carbon_per_hour: 0
spot_proof: said
sources:
  grid: {adapter: file, quantity: carbon, path: $BATS_FILE_TMPDIR/grid.csv}
partitions:
  own: {carbon: grid, owned: true, pue: 10, gpu: V100-SXM2}
classes:
  patient: {account: vision, pause: requeue}
  free: {account: free, pause: requeue}
  poor: {account: poor, pause: requeue}
budgets:
  - {team: vision, period: year, kg_co2e: 100000}
  - {team: poor, period: year, kg_co2e: 70}
"
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
	BEGIN=$(cat "$BATS_FILE_TMPDIR/begin")
}
# Of the same hours, known anew: lowtided reads them when it starts.
dirty_day() {
	part stop lowtided
	the_day 1 dirty
	part start lowtided
	setup
}
teardown() {
	[ -n "$BATS_TEST_COMPLETED" ] || tail -n 40 "$D"/log/lowtided*
}

until_s() { # until_s S: of the day
	local left
	left=$(awk -v at=$((BEGIN + $1)) -v now="$(date +%s.%N)" 'BEGIN { print at - now }')
	[ "${left%.*}" -ge -8 ] 2> /dev/null || { echo "late for $1 by $left s" >&2; return 1; }
	case $left in -*) ;; *) sleep "$left" ;; esac
}
# It counts its work, and keeps what it has done when it is asked to.
worker() {
	script worker '
export NAME=$SLURM_JOB_NAME
srun sh -c '"'"'
trap "echo \$n > \$NAME.saved; echo asked >> \$NAME.asked" USR1
n=$(cat $NAME.saved 2> /dev/null || echo 0)
while [ $n -lt '$WORK' ]; do
	date +%s >> $NAME.log
	n=$((n + 1))
	sleep 1
done'"'"
}
submit() { # submit NAME WORDS-OF-CHECKPOINT ARGUMENTS...
	job -J "$1" --gres=gpu:8 -N1 -n1 --time=10 --carbon-aware=carbon --checkpoint="$2" \
	    --expected-time=0:00:$WORK "${@:3}" worker
	echo "$id" > "$1"
}
id_of() { cat "$1"; }
of() { scontrol show job "$(id_of "$1")" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
is_now() { [ "$(of "$1" JobState)" = "$2" ]; }
step_is() { [ "$(sqlite3 -readonly "$D/lowtide/ledger.db" "SELECT step FROM pauses WHERE job_id = $(id_of "$1")")" = "$2" ]; }
events() { grep -c "event=pause job=$(id_of "$1") step=$2" "$LOG" || true; }
waits() { # waits NAME [S]: requeued once, until then; for the first clean second
	is_now "$1" PENDING && [ "$(of "$1" Restarts)" = 1 ] &&
	    [ "$(of "$1" EligibleTime)" = $((BEGIN + ${2:-$CLEAN_S})) ]
}
at_work() { # at_work NAME FROM TO: seconds
	awk -v from=$((BEGIN + $2)) -v to=$((BEGIN + $3)) '$1 >= from && $1 < to { n++ } END { print n + 0 }' "$1.log"
}

@test "dirty hours: asked, requeued, and back in the clean ones, whoever dies" {
	local name
	worker
	submit one write=2s,signal=USR1 -A vision -w v1
	submit free write=2s,signal=USR1 -A free -w v2
	submit slow write=10s,signal=USR1 -A vision -w v3
	submit now write=20s,signal=USR1 -A free -w v4
	submit silent write=1s -A vision -w v6
	submit plain write=1s,signal=USR1 -A plain -w v7
	submit old write=1s -A plain -w v9
	for name in one free slow now silent plain old; do within 20 is_now "$name" RUNNING; done
	dirty_day
	until_s 2
	# It is planned for the clean hours, but for less than a minute nobody
	# is made to wait.
	submit planned write=2s,signal=USR1 -A free -w v8
	# One run of what dirty hours cost fits into its budget.
	submit poor write=1s,signal=USR1 -A poor -w v5
	until_s $DIRTY_S
	within 8 step_is slow 5
	within 8 step_is now 5
	lowtide explain "$(id_of now)" | grep -q '^Asked for a checkpoint by lowtide, then back in the queue until .*: saves .* CO2e'
	lowtide now "$(id_of now)" | grep -q 'goes on, and is not paused again'
	# Killed while one is asked. Meanwhile others have their rows, and
	# slurmctld was not asked for their requeue; one of them was submitted
	# long ago: its day of waiting ends at 60.
	part stop lowtided KILL
	sqlite3 "$D/lowtide/ledger.db" "INSERT INTO pauses VALUES
	    ($(id_of silent), $(of silent StartTime), 6, $(date +%s), $((BEGIN + CLEAN_S)), 0, 0, NULL, NULL),
	    ($(id_of old), $(of old StartTime), 6, $(date +%s), $((BEGIN + 90)), 0, 0, NULL, NULL);
	    UPDATE holds SET made_utc_s = $((BEGIN + 60 - 86400)) WHERE job_id = $(id_of old)"
	part start lowtided
	for name in one free slow silent planned; do within 20 waits "$name"; done
	within 10 waits old 60
	scancel "$(id_of old)"
	lowtide explain "$(id_of one)" | grep -q 'back in the queue until then'
	within 10 step_is one ''
	until_s $CLEAN_S
	for name in one free slow silent planned; do
		within 20 is_now "$name" RUNNING
		[ "$(of "$name" StartTime)" -ge $((BEGIN + CLEAN_S)) ]
	done
	for name in one free slow planned now plain; do within 60 is_now "$name" COMPLETED; done
	for name in one free slow planned; do
		[ "$(of "$name" Restarts)" = 1 ]
		[ "$(wc -l < "$name.asked")" -eq 1 ]
		[ "$(events "$name" asked)" -eq 1 ]
		[ "$(at_work "$name" $((CLEAN_S - 10)) $CLEAN_S)" -eq 0 ]
		# All of its work, and again what it did while it was waited for:
		# it went on from what it had written.
		[ "$(wc -l < "$name.log")" -eq $((WORK + $(at_work "$name" -600 $CLEAN_S) - $(cat "$name.saved"))) ]
		step_is "$name" ''
	done
	for name in now poor plain; do [ "$(of "$name" Restarts)" = 0 ]; done
	for name in poor silent plain; do [ "$(events "$name" asked)" -eq 0 ]; done
	for name in now plain; do [ "$(wc -l < "$name.log")" -eq $WORK ]; done
}

@test "each run is charged once, and is no interruption" {
	local id
	id=$(id_of one)
	both() { [ "$(sqlite3 -readonly "$D/lowtide/ledger.db" "SELECT count(*) FROM runs WHERE job_id = $id AND carbon_mg > 0")" -eq 2 ]; }
	within 60 both
	[ "$(sacct -DnXP -j "$id" -o State | sort | tr '\n' ' ')" = 'COMPLETED REQUEUED ' ]
	# Seconds that count as done: those up to the signal.
	[ "$(sqlite3 -readonly "$D/lowtide/ledger.db" "SELECT count(*), counts, done_s > 2 AND done_s < $WORK FROM interruptions WHERE job_id = $id")" = '1|0|1' ]
}
