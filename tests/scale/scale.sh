#!/bin/bash
# make scale: sites of real size, a private cluster each. JOBS and RUNS are
# lists of sizes (default 22000 and 100000); of several, the last lines say what
# grows faster than its work.
#
# JOBS wait, each with a hold; five are cancelled one by one, then all at once,
# with some that run. RUNS ended while lowtided was away, as many a day as of
# a million a year: it catches up, all is rebuilt and reported.
# WAIT_S: how long the queue is watched (60; 600 from 50,000 jobs on).
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/scale/common.sh
RUNNING=50 # tasks of an array that run

submit_all() { # submit_all JOBS
	local rate
	sdiag -r >/dev/null
	rate=$(build/tests/bench/bench_submit "$1" team0000)
	until [ "$(held)" -ge $((($1 + RUNNING) * job_micros)) ]; do sleep 1; done
	local asked
	asked=$(asked_ms)
	echo "# $size submitted: $rate a second; lists of jobs: $(asked_count REQUEST_JOB_INFO), single ones: $(asked_count REQUEST_JOB_INFO_SINGLE)"
	goal 'slurmctld for lowtided while they come, ms a job' "$(calc "$asked / $1" 3)" 1
	grew 'slurmctld while they come' "$1" "$asked"
}

all_wait() { # all_wait JOBS
	local wait_s=${WAIT_S:-$(($1 < 50000 ? 60 : 600))} from asked
	sdiag -r >/dev/null
	from=$(ticks lowtided)
	ask
	sleep "$wait_s"
	answered 'all wait'
	from=$(($(ticks lowtided) - from))
	asked=$(asked_ms)
	echo "# $size lists of jobs in $wait_s s: $(asked_count REQUEST_JOB_INFO), single ones: $(asked_count REQUEST_JOB_INFO_SINGLE)"
	goal 'lowtided, CPU of a core, all wait, %' "$(calc "$from / $wait_s")" 3
	goal 'slurmctld, of a core, for it, %' "$(calc "$asked / $wait_s / 10")" 0.5
	goal 'lowtided, resident, all wait, MiB' "$(memory VmRSS)" 64
	grew 'CPU while all wait' "$1" "$from"
	grew 'slurmctld while all wait' "$1" "$asked"
}

cancel_one() { # cancel_one ID: seconds until its money is back
	local before began
	before=$(held)
	began=$(now_ms)
	scancel "$1"
	until [ "$(held)" -le $((before - job_micros)) ]; do sleep .2; done
	calc "($(now_ms) - $began) / 1000"
}

# A scancel that was answered late once waits a second from job to job from then
# on: on a busy machine for hours. So each has a few thousand.
cancel_ids() { # cancel_ids FIRST JOBS
	seq "$1" $(($1 + $2)) | xargs -n 5000 scancel -Q
	scancel -Q -A team0000
}

cancel_all() { # cancel_all FIRST JOBS
	local from began sent rows settled
	ask
	from=$(ticks lowtided)
	began=$(now_ms)
	cancel_ids "$1" "$2"
	sent=$(now_ms)
	echo "# $size cancelled: $((sent - began)) ms"
	# Less than one: --test-only leaves a hold that no job has, for a minute.
	until [ "$(held)" -lt $job_micros ]; do sleep .5; done
	goal 'all holds free after scancel, s' "$(calc "($(now_ms) - $sent) / 1000")" 60
	grew 'CPU of all cancelled' "$2" $(($(ticks lowtided) - from))
	until [ "$(dbd 'SELECT count(*) FROM tide_job_table WHERE time_start > 0 AND time_end = 0')" = 0 ]; do sleep .5; done
	rows=$(now_ms)
	until [ "$(ledger 'SELECT count(*) FROM runs')" -ge $RUNNING ]; do sleep .5; done
	settled=$(now_ms)
	goal 'settled after the last row, s' "$(calc "($settled - $rows) / 1000")" 10
	answered 'all cancelled'
	goal 'lowtided, resident, after it, MiB' "$(memory VmRSS)" 64
}

queue() { # queue JOBS
	local first worst=0 took id
	size="$1 jobs: "
	up "$1"
	sbatch -Q -A team0000 -n1 --time=10 --array=1-$RUNNING -o /dev/null --wrap 'sleep 100000'
	until [ "$(squeue -h -r -t R -o %i | wc -l)" = $RUNNING ]; do sleep .5; done
	first=$(sbatch --parsable -A team0000 -n1 --time=10 --begin=now+1days --wrap true)
	submit_all "$1"
	all_wait "$1"
	for id in 1 2 3 4 5; do
		took=$(cancel_one $((first + id)))
		worst=$(calc "($took > $worst) ? $took : $worst")
	done
	goal 'one cancelled: its money is back, worst of 5, s' "$worst" 5
	cancel_all "$first" "$1"
	compare 15.625 # a CPU of 64
	"$cluster" down "$D/c"
}

catch_up() { # catch_up RUNS DAYS
	local since began own
	since=$(($(date +%s) - ($2 + 1) * 86400))
	sbatch -Q -W -A team0000 -n8 --time=1 -o /dev/null --wrap 'sleep 1'
	until [ "$(ledger 'SELECT count(*) FROM runs')" = 1 ]; do sleep .5; done
	"$cluster" stop "$D/c" lowtided
	tests/scale/history.sh "$D/c" "$1" "$2"
	sqlite3 "$D/c/lowtide/ledger.db" \
	    "UPDATE named SET value = $since WHERE name IN ('since', 'settled_until')"
	began=$(now_ms)
	"$cluster" start "$D/c" lowtided >&2
	ask
	until [ "$(ledger "SELECT value FROM named WHERE name = 'settled_until'")" -gt $((since + 86400)) ]; do
		sleep .5
	done
	echo "# $size of $2 days: caught up after $(calc "($(now_ms) - $began) / 1000" 1) s"
	own=$(own_ticks lowtided)
	answered 'catching up'
	goal 'catching up, runs a second of its CPU' $(($1 * 100 / own)) 50000 '>='
	goal 'lowtided, resident at most, MiB' "$(memory VmHWM)" 64
	grew 'CPU of catching up' "$1" "$own"
}

dbd_ms() { # what slurmdbd took to tell of jobs, its database with it, ms
	sacctmgr -n show stats | awk '$1 == "DBD_GET_JOBS_COND" {
		sub(/.*total_time:/, ""); n = $1 } END { printf "%.0f", n / 1000 }'
}

rebuild() { # rebuild RUNS
	local slurms own took
	own=$(own_ticks lowtided)
	slurms=$(dbd_ms)
	ask
	took=$(seconds build/lowtide rebuild)
	answered 'rebuild'
	own=$(($(own_ticks lowtided) - own))
	slurms=$(calc "($(dbd_ms) - $slurms) / 1000")
	echo "# $size rebuild: $took s, CPU of lowtided $(calc "$own / 100") s; slurmdbd answered for $slurms s"
	goal 'rebuild, beside what slurmdbd takes, s' "$(calc "$took - $slurms")" 120
	goal 'lowtided, resident at most, MiB' "$(memory VmHWM)" 64
	grew 'CPU of a rebuild' "$1" "$own"
}

report() { # report RUNS
	local took year
	year=$(date +%Y)
	goal 'report of a year, s' "$(seconds build/lowtide report --period "$year")" 1
	took=$(now_ms)
	rows=$(build/lowtide report --period "$year" --runs --format csv | wc -l)
	goal 'report --runs, rows a second' $((rows * 1000 / ($(now_ms) - took + 1))) 200000 '>='
}

past() { # past RUNS
	local days=$(($1 * 365 / 1000000))
	size="$1 runs: "
	up 0
	catch_up "$1" $((days > 10 ? days : 10))
	compare 125 # 8 CPUs of 64
	rebuild "$1"
	compare 125
	report "$1"
	"$cluster" down "$D/c"
}

echo "# $(nproc) cores, Slurm $(slurmctld -V | awk '{print $2}')"
for n in ${JOBS-22000}; do queue "$n"; done
for n in ${RUNS-100000}; do past "$n"; done
curve
cat "$D/goals"
