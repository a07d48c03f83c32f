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
	chmod 755 "$D/run" "$D/run/lowtide"
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
	    "$BUILD/lowtide-node" --node s1 --command "$D/no_notice" --run "$D/run/lowtide" \
	    --progress 2s >> "$D/log/node.s1" 2>&1 3>&- 4>&- &
	echo $! >> "$D/pids"
	within 5 test -S "$D/run/lowtide/node.sock"
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
resumes() { counts resumes 'cat resumes.saved 2>/dev/null || echo 0' 'echo $n > resumes.saved; tell $n saved; sleep 4'; }

@test "of three scripts only the one that resumes earns spot" {
	local a b c
	resumes
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
	for id in $a $b $c; do within 20 state_is "$id" RUNNING; done
	sleep 14
	for id in $a $b $c; do lowtide canary "$id"; done
	for id in $a $b $c; do
		restarted() { [ "$(of "$id" Restarts)" = 1 ] && state_is "$id" RUNNING; }
		within 40 restarted
	done
	within 15 outcome "$a" survived
	within 15 outcome "$b" failed
	within 15 outcome "$c" failed
	end "$a" "$b" "$c"
	sleep 2
	submit resumes -A vision
	[ "$(of "$id" Partition)" = spot ]
	[[ $said != *'no proof'* ]]
	scancel "$id"
	for c in starts_over ignores; do
		submit "$c" -A vision
		[ "$(of "$id" Partition)" = ondemand ]
		[[ $said = *'no proof yet'* ]]
		scancel "$id"
	done
}
