#!/usr/bin/env bats
# Who is believed to resume: by what a job's own progress shows after an
# interruption, told by the node where it runs; for the same user, account, name
# and script, and for no other.
load tricks

setup_file() {
	export ACCOUNTS='vision auto' TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export LAYOUT=$BATS_TEST_DIRNAME/proof.conf EXTRA='KillWait=2'
	[ -z "$ROOT" ] || export USERS=daemon
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
sources:
  grid: {adapter: climatology, zone: GB, emission_factors: direct}
partitions:
  ondemand: {carbon: grid, price_per_node_hour: 3.60}
  spot: {carbon: grid, price_per_node_hour: 0.60, preemptible: {interruptions_per_hour: 2, notice: 2m, restart: 1m}}
classes:
  auto: {account: auto, canary: true}
"
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	mkdir -m 755 "$D/run/node"
	chmod 755 "$D/run"
	sed -i "s|\$| node_dir=$D/run/node|" "$D/etc/plugstack.conf"
	: > "$D/pids"
	# munge of the node s1: the cluster's key, and an address of its own.
	munged --foreground --force --origin=127.0.0.21 --socket="$D/run/munge.s1" \
	    --key-file="$D/etc/munge.key" --pid-file="$D/run/munged.s1.pid" \
	    --log-file="$D/log/munged.s1.log" --seed-file="$D/run/munge.s1.seed" \
	    >> "$D/log/munged.s1.out" 2>&1 3>&- 4>&- &
	echo $! >> "$D/pids"
	within 10 munge -S "$D/run/munge.s1" -n > /dev/null
	. "$D/env"
	printf '#!/bin/sh\nexit 1\n' > "$D/no_notice"
	chmod 755 "$D/no_notice"
	env LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" LOWTIDE_MUNGE_SOCKET="$D/run/munge.s1" \
	    "$BUILD/lowtide-node" --node s1 --command "$D/no_notice" --run "$D/run/node" \
	    --progress 2s >> "$D/log/node.s1" 2>&1 3>&- 4>&- &
	echo $! >> "$D/pids"
	within 20 test -S "$D/run/node/node.sock"
}
teardown_file() {
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	[ ! -s "$D/pids" ] || kill $(cat "$D/pids") 2>/dev/null || true
	cluster_down
}
setup() {
	cluster_use
	LOG=$(ls "$D"/log/lowtided*.out)
}
teardown() {
	[ -n "$BATS_TEST_COMPLETED" ] || tail -n 30 "$D"/log/lowtided* "$D"/log/node.*
}
of() { scontrol show job "$1" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
state_is() { [ "$(of "$1" JobState)" = "$2" ]; }
outcome() { grep -q "event=proof job=$1 outcome=$2" "$LOG"; }
# A job that counts, five times a second, into the file of its progress: NAME
# and what it does at the signal, which sh reads, and where it begins.
counts() { # counts NAME FROM AT-SIGNAL
	script "$1" "
export LOWTIDE_PROGRESS_FILE=\$PWD/$1.progress
srun sh -c '
asked=
trap \"asked=1\" USR1
n=\$($2)
tell() { echo \"\$*\" > $1.next && mv $1.next $1.progress; }
while :; do
	n=\$((n + 1))
	tell \$n
	[ -z \"\$asked\" ] || { asked=; $3; }
	sleep .2
done'"
}
submit() { # submit NAME SBATCH-ARGUMENTS...
	job --carbon-aware --checkpoint=write=1s,signal=USR1 --time=3:00:00 -n1 -J train "${@:2}" "$1"
}
resumes() { # resumes [NAME]
	counts "${1:-resumes}" "cat ${1:-resumes}.saved 2>/dev/null || echo 0" "echo \$n > ${1:-resumes}.saved; tell \$n saved; sleep 4"
}

restarted() { [ "$(of "$1" Restarts)" = 1 ] && state_is "$1" RUNNING; }
progress_of() { # progress_of JOB: what lowtided has of it, from its own database
	sqlite3 "file:$D/lowtide/ledger.db?mode=ro" "SELECT newest FROM lives WHERE job_id = $1"
}

@test "of three scripts only the one that resumes earns spot, and no other user with it" {
	local a b c n
	resumes
	# Of the class, for the next test.
	resumes by_class
	job --checkpoint=write=1s,every=8s,signal=USR1 --time=3:00:00 -n1 -J by_class -A auto -p spot by_class
	echo "$id" > class_job
	counts by_hand 'cat by_hand.progress 2>/dev/null || echo 0' ':'
	job --checkpoint --time=3:00:00 -n1 -J by_hand -A vision -p spot by_hand
	echo "$id" > hand_job
	counts starts_over 'echo 0' 'tell $n saved; sleep 4'
	counts ignores 'echo 0' ':'
	submit resumes -A vision
	[[ $said = *'no proof yet that it can resume'* ]] || { echo "$said"; false; }
	[ "$(of "$id" Partition)" = ondemand ]
	scancel "$id"
	submit resumes -A vision -p spot
	a=$id
	submit starts_over -A vision -p spot
	b=$id
	submit ignores -A vision -p spot
	c=$id
	for n in $a $b $c; do within 20 state_is "$n" RUNNING; done
	# Who has told little has nothing to lose, and can show nothing.
	begun() { [[ $(lowtide canary "$1" 2>&1) = "job $1 is asked for a checkpoint now"* ]]; }
	too_soon() { [[ $(lowtide canary "$1" 2>&1) = *'too short a time'* ]]; }
	within 10 too_soon "$a"
	for n in $a $b $c; do within 30 begun "$n"; done
	run lowtide canary "$c"
	[ "$status" -eq 1 ]
	[[ $output = *'being interrupted just now'* ]] || { echo "$output"; false; }
	# Its user's own requeue, which no signal announced: for the next test.
	scontrol requeue "$(cat hand_job)"
	for n in $a $b $c; do within 40 restarted "$n"; done
	within 15 outcome "$a" survived
	within 15 outcome "$b" failed
	within 15 outcome "$c" failed
	lowtide explain "$a" | grep 'survived 1 interruption'
	end "$a" "$b" "$c"
	submit resumes -A vision
	[ "$(of "$id" Partition)" = spot ]
	[[ $said != *'no proof'* ]]
	scancel "$id"
	for n in starts_over ignores; do
		submit "$n" -A vision
		[ "$(of "$id" Partition)" = ondemand ]
		[[ $said = *'no proof yet'* ]]
		scancel "$id"
	done
	# Another account, another name, a script with one more line.
	submit resumes -A auto
	[ "$(of "$id" Partition)" = ondemand ]
	scancel "$id"
	submit resumes -A vision -J other
	[ "$(of "$id" Partition)" = ondemand ]
	scancel "$id"
	[ -z "$ROOT" ] || {
		said=$(as_user sbatch --carbon-aware --checkpoint=write=1s,signal=USR1 --time=3:00:00 -n1 -J train -A vision resumes 2>&1)
		[[ $said = *'no proof yet'* ]]
		scancel -u daemon
	}
	echo '# changed' >> resumes
	submit resumes -A vision
	[ "$(of "$id" Partition)" = ondemand ]
	[[ $said = *'no proof yet'* ]]
	scancel "$id"
}

@test "a class has the first run of a script interrupted, once, and says so" {
	resumes first
	job --carbon-aware --checkpoint=write=1s,every=8s,signal=USR1 --time=3:00:00 -n1 -J by_class -A auto --hold first
	scancel "$id"
	[[ $said = *'it will be signalled and requeued once to see'* ]]
	id=$(cat class_job)
	within 60 restarted "$id"
	within 20 outcome "$id" survived
	[ "$(grep -c "event=canary job=$id" "$LOG")" -eq 1 ]
	# Proven, the next one is left alone.
	end "$id"
	job --checkpoint=write=1s,every=8s,signal=USR1 --time=3:00:00 -n1 -J by_class -A auto -p spot by_class
	echo "$id" > class_job
}

@test "any interruption shows it, a canary or not" {
	id=$(cat hand_job)
	waits() { [ "$(of "$id" Restarts)" = 1 ] && state_is "$id" PENDING; }
	within 20 waits
	scontrol update jobid="$id" starttime=now
	within 20 restarted "$id"
	within 15 outcome "$id" survived
	lowtide explain "$id" --json | jq -e '.proof.survived == 1 and .proof.counts'
	end "$id"
}

@test "who may not be interrupted is told why" {
	refused() { # refused WORDS SBATCH-ARGUMENTS...
		job --time=3:00:00 -n1 -J no -A vision -p spot -o /dev/null "${@:2}" --wrap 'exec sleep 600'
		within 20 state_is "$id" RUNNING
		run lowtide canary "$id"
		[ "$status" -eq 1 ]
		[[ $output = *"$1"* ]] || { echo "$output"; return 1; }
		scancel "$id"
	}
	refused 'no --checkpoint'
	refused 'named no signal' --checkpoint
	refused 'may not be requeued' --checkpoint=signal=USR1 --no-requeue
	refused 'told no progress' --checkpoint=signal=USR1
	run lowtide canary 999999
	[ "$status" -eq 1 ]
	[ -z "$ROOT" ] || {
		sleeper -A vision
		run as_user lowtide canary "$id"
		[ "$status" -eq 1 ]
		scancel "$id"
	}
	# It would have its whole limit again, which ends after the deadline.
	resumes
	job --checkpoint=write=1s,signal=USR1 --time=1:00:00 --deadline=now+80minutes -n1 -J near -A vision -p spot resumes
	within 20 state_is "$id" RUNNING
	near() { [[ $(lowtide canary "$id" 2>&1) = *deadline* ]]; }
	within 30 near
	end "$id"
}

@test "only a plain file of at most 4 KiB is read, as the job's user" {
	local kind good
	head -c 5000 /dev/zero | tr '\0' 7 > large.first
	echo 41 > secret
	chmod 600 secret
	writes() { # writes NAME WHAT: after the reader's first look
		script "$1" "
export LOWTIDE_PROGRESS_FILE=\$PWD/$1.progress
srun sh -c 'sleep 4; $2; sleep 600'"
		job --checkpoint --time=10 -n1 -A vision -p spot "$1"
	}
	writes good 'echo 7 > good.progress'
	good=$id
	writes link 'ln -s secret link.progress'
	kind=$id
	writes large 'cp large.first large.progress'
	kind="$kind $id"
	writes fifo 'mkfifo fifo.progress'
	kind="$kind $id"
	writes words 'echo none yet > words.progress'
	kind="$kind $id"
	if [ -n "$ROOT" ]; then
		# Only root may go there: as root the reader would.
		mkdir -m 700 "$D/private"
		said=$(as_user env LOWTIDE_PROGRESS_FILE="$D/private/progress" sbatch --checkpoint --time=10 -n1 -A vision -p spot \
		    --chdir=/ --wrap 'exec sleep 600' 2>&1)
		id=${said##* }
		kind="$kind $id"
		within 20 state_is "$id" RUNNING
		sleep 3
		echo 43 > "$D/private/progress"
	fi
	is_read() { [ "$(progress_of "$good")" = 7.0 ]; }
	within 30 is_read
	sleep 6
	for id in $kind; do
		state_is "$id" RUNNING
		[ -z "$(progress_of "$id")" ]
	done
	end "$good" $kind
}

@test "a class leaves alone what is proven" {
	id=$(cat class_job)
	long_enough() { [ "$(($(date +%s) - $(of "$id" StartTime)))" -ge 25 ]; }
	within 30 long_enough
	state_is "$id" RUNNING
	[ "$(of "$id" Restarts)" = 0 ]
	[ "$(grep -c "event=canary job=$id" "$LOG")" -eq 0 ]
	end "$id"
}

@test "the reader ends with the job and delays nothing" {
	script short '
export LOWTIDE_PROGRESS_FILE=$PWD/short.progress
srun sh -c "echo 1 > short.progress; sleep 5"'
	processes() { pgrep -c -f "^slurmstepd: \[$id" || true; }
	job --checkpoint --time=10 -n1 -A vision -p spot short
	within 20 state_is "$id" RUNNING
	[ "$(processes)" -ge 1 ]
	within 20 state_is "$id" COMPLETED
	[ "$(($(of "$id" EndTime) - $(of "$id" StartTime)))" -le 7 ]
	gone() { [ "$(processes)" -eq 0 ]; }
	within 20 gone
}

@test "the reader is the job's user in all, has nothing of the step daemon's, and ends with it" {
	local pid groups
	[ -n "$ROOT" ] || skip "other users are root's"
	said=$(setpriv --reuid=daemon --regid=daemon --init-groups env LOWTIDE_PROGRESS_FILE=/nowhere/progress sbatch --time=10 -n1 -A vision -p spot --chdir=/ \
	    --wrap 'exec sleep 600' 2>&1)
	id=${said##* }
	within 20 state_is "$id" RUNNING
	reader() { pgrep -u daemon -f "^slurmstepd: \[$id"; }
	within 20 reader
	pid=$(reader)
	[ "$(awk '/^Uid:/ {print $2, $3, $4, $5}' "/proc/$pid/status")" = "$(id -u daemon) $(id -u daemon) $(id -u daemon) $(id -u daemon)" ]
	[ "$(awk '/^Gid:/ {print $2, $3, $4, $5}' "/proc/$pid/status")" = "$(id -g daemon) $(id -g daemon) $(id -g daemon) $(id -g daemon)" ]
	groups=$(awk '/^Groups:/ {$1 = ""; print}' "/proc/$pid/status" | tr ' ' '\n' | grep . | sort)
	[ "$groups" = "$(id -G daemon | tr ' ' '\n' | sort)" ]
	[ "$(ls "/proc/$pid/fd" | xargs)" = '0 1 2 3 4' ]
	kill -KILL "$(pgrep -u root -f "^slurmstepd: \[$id")"
	gone() { ! reader; }
	within 20 gone
	scancel "$id"
}
