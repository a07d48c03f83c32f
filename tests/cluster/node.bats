#!/usr/bin/env bats
# lowtide-node: a cloud's notice reaches lowtided and the jobs, from the node
# that it is about and from no other. The clouds are played, by their formats;
# munge, Slurm and the rest are real, and each node has an address of its own, v1
# by its name.
load tricks

METADATA=$PROJECT/build/tests/tools/metadata_server
declare -gA ADDRESS=([v1]=127.0.0.1 [v2]=127.0.0.12) SOURCE=([v1]=aws [v2]=azure
	[s1]=aws [s2]=gcp [s3]=azure [s4]=command [s5]=aws [s6]=gcp [s7]=azure [s8]=command)
for n in 1 2 3 4 5 6 7 8; do ADDRESS[s$n]=127.0.0.2$n; done

setup_file() {
	export ACCOUNTS=vision TZ=UTC SLURM_TIME_FORMAT=%s SBATCH_OUTPUT=/dev/null
	export LAYOUT=$BATS_TEST_DIRNAME/node.conf EXTRA='KillWait=1'
	cluster_up "
mode: observe
timezone: UTC
sources:
  grid: {adapter: climatology, zone: GB, emission_factors: direct}
partitions:
  ondemand: {carbon: grid}
  spot: {carbon: grid, preemptible: {interruptions_per_hour: 0.01, notice: 2m, restart: 6m}}
  brief: {carbon: grid, preemptible: {interruptions_per_hour: 0.01, notice: 6s, restart: 6m}}
"
	D=$(cat "$BATS_FILE_TMPDIR/cluster")
	mkdir "$D/cloud"
	: > "$D/pids"
	"$METADATA" 0 "$D/cloud" > "$D/cloud.port" 2> "$D/log/cloud" 3>&- 4>&- &
	echo $! >> "$D/pids"
	for n in "${!ADDRESS[@]}"; do munged_of "$n" "${ADDRESS[$n]}"; done
	munged_of login 198.51.100.7
	munged_of nowhere 127.0.1.1
	within 10 test -s "$D/cloud.port"
	script "$D/leave" "[ -e $D/cloud/\$1/leave ] || exit 1; cat $D/cloud/\$1/leave"
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
	[ -n "$BATS_TEST_COMPLETED" ] || tail -n 20 "$D"/log/lowtided* "$D"/log/node.*
	for n in "${!ADDRESS[@]}"; do leave "$n"; done
}

# munge on a host: the cluster's key, and an address of its own.
munged_of() { # munged_of HOST ADDRESS
	munged --foreground --force --origin="$2" --socket="$D/run/munge.$1" \
	    --key-file="$D/etc/munge.key" --pid-file="$D/run/munged.$1.pid" \
	    --log-file="$D/log/munged.$1.log" --seed-file="$D/run/munge.$1.seed" \
	    >> "$D/log/munged.$1.out" 2>&1 3>&- 4>&- &
	echo $! >> "$D/pids"
	within 10 munge -S "$D/run/munge.$1" -n >/dev/null
}
on() { # on HOST COMMAND...: lowtide or lowtide-node as if there
	exec env LOWTIDE_SERVER="127.0.0.1:$LOWTIDE_PORT" LOWTIDE_RUN_DIR=/nowhere \
	    LOWTIDE_MUNGE_SOCKET="$D/run/munge.$1" "${@:2}"
}
watch() { # watch NODE: lowtide-node there, with nothing to say yet
	mkdir -p "$D/cloud/$1"
	rm -f "$D/cloud/$1"/*
	: > "$D/log/node.$1"
	watch_on "$1"
}
watch_on() { # watch_on NODE: as the cloud has it
	local from=(--run "$D/run/node.$1" --source "${SOURCE[$1]}" --metadata "http://127.0.0.1:$(cat "$D/cloud.port")/$1")
	[ "${SOURCE[$1]}" != command ] || from=(--run "$D/run/node.$1" --command "$D/leave")
	on "$1" "$BUILD/lowtide-node" --node "$1" "${from[@]}" --notice 10s >> "$D/log/node.$1" 2>&1 3>&- 4>&- &
	echo $! > "$D/run/node.$1.pid"
}
leave() { # leave NODE: its watcher ends, cleanly
	[ -s "$D/run/node.$1.pid" ] || return 0
	kill "$(cat "$D/run/node.$1.pid")"
	wait "$(cat "$D/run/node.$1.pid")"
	rm "$D/run/node.$1.pid"
}
cloud() { # cloud NODE FILE TEXT: what its metadata service says from now on
	printf '%s' "$3" > "$D/cloud/$1/.$2"
	mv "$D/cloud/$1/.$2" "$D/cloud/$1/$2"
}
event() { # event VM SECONDS: one of Azure's
	printf '{"EventId":"A123BC45-%s","EventStatus":"Scheduled","EventType":"Preempt","ResourceType":"VirtualMachine","Resources":["%s"],"NotBefore":"%s","Description":"","EventSource":"Platform","DurationInSeconds":-1}' \
	    "$1" "$1" "$(date -u -d "now + $2 seconds" '+%a, %d %b %Y %T GMT')"
}
take_back() { # take_back NODE SECONDS: the cloud's notice; Google's is 10 s
	case ${SOURCE[$1]} in
	aws) cloud "$1" instance-action "{\"action\":\"terminate\",\"time\":\"$(date -u -d "now + $2 seconds" +%FT%TZ)\"}" ;;
	gcp) cloud "$1" preempted TRUE ;;
	azure) cloud "$1" events "{\"DocumentIncarnation\":2,\"Events\":[$(event other 2),$(event "$1" "$2")]}" ;;
	command) cloud "$1" leave "$(date -u -d "now + $2 seconds" +%FT%TZ)" ;;
	esac
}
keep() { rm -f "$D/cloud/$1"/{instance-action,preempted,events,leave}; } # keep NODE: it is gone
of() { scontrol show job "$1" -o | sed -nE "s/.* $2=([^ ]*).*/\1/p"; }
state_is() { [ "$(of "$1" JobState)" = "$2" ]; }
node_has() { scontrol show node "$1" | grep -qE "State=[A-Z+]*$2"; }
count() { [ "$(grep -c "$1" "$2")" -eq "$3" ]; } # count TEXT FILE TIMES
runs_of() { sacct -nXPD -j "$1" -o State | wc -l; }
# A job, in $id, that writes down where it runs and from which count on, keeps its
# count at a signal, with the time, and ends when all may.
worker() { # worker NAME
	script "$1" "
srun sh -c '
n=\$(cat $1.saved 2>/dev/null || echo 0)
trap \"echo \\\$n > $1.saved; date +%s.%N >> $1.signals\" USR1
echo \$n >> $1.runs
while [ ! -e enough ]; do n=\$((n + 1)); sleep .1; done'"
	: > "$1.signals"
	: > "$1.runs"
	job -A vision -p spot -N1 -n1 --checkpoint=signal=USR1,write=1s --time=10 "$1"
}
latency() { # latency SINCE FILE...: of the first and last signal
	cat "${@:2}" | awk -v s="$1" '{ d = $1 - s; if (!n++ || d < low) low = d; if (d > high) high = d }
		END { printf "# notice to signal: %d, after %.2f to %.2f s\n", n, low, high }' >&3
}

@test "a node is spoken for by root there, by an admin where no node is, and by nobody else" {
	run on s1 lowtide notice s1 --in 60s
	[ "$status" -eq 0 ]
	node_has s1 DRAIN
	run on login lowtide notice s1 --withdraw
	[ "$status" -eq 0 ] || { echo "$output"; false; }
	! node_has s1 DRAIN || false
	run on s2 lowtide notice s1 --in 60s
	[ "$status" -eq 1 ]
	[ "$output" = 'lowtide: node s1: the request is from 127.0.0.22, which is node s2; Slurm has s1 at 127.0.0.21' ]
	run on nowhere lowtide notice s1 --in 60s
	[ "$status" -eq 1 ]
	[[ $output = *'from 127.0.1.1, by munge there, which is no host'* ]] || { echo "$output"; false; }
	run on s1 lowtide notice nowhere --in 60s
	[ "$status" -eq 1 ]
	[[ $output = *'node nowhere'* ]] || { echo "$output"; false; }
	if [ -n "$ROOT" ]; then
		chmod 755 "$D/run"
		run on s1 setpriv --reuid=daemon --clear-groups lowtide notice s1 --in 60s
		[ "$status" -eq 1 ]
		[[ $output = *'is of uid 1, want root or SlurmdUser of the node itself'* ]] || { echo "$output"; false; }
	fi
	! node_has s1 DRAIN || false
	[ "$(lowtide notice)" = 'No node is about to be taken back.' ]
}

@test "doctor says where a notice leaves jobs no more than KillWait" {
	lowtide doctor > doctor.out || true
	grep -q 'brief: the notice is no longer than KillWait (1 s) and 5 s' doctor.out
}

@test "a metadata service that fails is no notice, and a refusal is no end; each is said once" {
	watch s1
	cloud s1 fault /status/500
	# As if started with another node's name.
	mkdir -p "$D/cloud/s5"
	cloud s5 leave 60
	on s2 "$BUILD/lowtide-node" --run "$D/run/node.s2" --node s5 --command "$D/leave" > "$D/log/node.s2" 2>&1 3>&- 4>&- &
	echo $! > "$D/run/node.s2.pid"
	within 20 grep -q 'event=tell_failed.*which is node s2' "$D/log/node.s2"
	within 20 grep -q 'event=source_failed.*status 500' "$D/log/node.s1"
	cloud s1 fault /html
	within 20 grep -q 'event=source_failed.*log in' "$D/log/node.s1"
	sleep 5
	count event=source_failed "$D/log/node.s1" 2
	count event=tell_failed "$D/log/node.s2" 1
	rm "$D/cloud/s1/fault"
	within 20 grep -q event=source_works "$D/log/node.s1"
	[ "$(lowtide notice)" = 'No node is about to be taken back.' ]
	leave s1
	count event=ended "$D/log/node.s1" 1
}

# Notices of a wave, all in one second: who runs there now shall hear it.
declare -gA HEARS RESTARTS
wave() { # wave SECONDS NODE...: those in $taken to the end
	local name node
	at=$(date +%s.%N)
	while read -r name node; do
		case " ${*:2} " in *" $node "*) HEARS[$name]=$((${HEARS[$name]:-0} + 1)) ;; esac
		case " $taken " in *" $node "*) RESTARTS[$name]=$((${RESTARTS[$name]:-0} + 1)) ;; esac
	done < <(squeue -h -t R -o '%j %N')
	for node in "${@:2}"; do take_back "$node" "$1"; done
}
all_run() { [ "$(squeue -h -t R -o %j | wc -l)" -eq 10 ]; }
all_told() { # all_told TIMES NODE...
	local node
	for node in "${@:2}"; do count "event=told " "$D/log/node.$node" "$1" || return 1; done
}
all_heard() { # as often as they should have by now
	local name
	for name in "${!HEARS[@]}"; do [ "$(wc -l < "$name.signals")" -eq "${HEARS[$name]}" ] || return 1; done
}
all_restarted() {
	local name
	for name in "${!RESTARTS[@]}"; do [ "$(wc -l < "$name.runs")" -eq $((${RESTARTS[$name]} + 1)) ] || return 1; done
}

@test "twenty notices of four kinds, twice told, withdrawn, lowtided killed: nothing lost or doubled" {
	local at taken name node
	local -A ID
	for node in "${!ADDRESS[@]}"; do watch "$node"; done
	for name in j0 j1 j2 j3 j4 j5 j6 j7 j8 j9; do
		worker $name
		ID[$name]=$id
	done
	within 20 all_run
	started() { [ "$(cat j?.runs | wc -l)" -eq 10 ]; }
	within 10 started
	# Eight at once, five of them to the end.
	taken='s1 s2 s3 s4 s5' wave 10 s1 s2 s3 s4 s5
	wave 60 s7 s8 v1
	within 20 all_heard
	latency "$at" j?.signals
	within 20 all_told 1 s1 s2 s3 s4 s5 s7 s8 v1
	# One is gone while its lowtide-node is.
	leave s7
	for node in s7 s8 v1; do keep $node; done
	watch_on s7
	# Told anew by a new lowtide-node, and by an admin.
	for node in s1 s4; do
		leave $node
		watch_on $node
	done
	lowtide notice s5 --in 5s > /dev/null
	within 20 all_told 2 s1 s4
	within 20 all_restarted
	for node in s7 s8 v1; do
		count event=withdrawn "$D/log/node.$node" 1
		! node_has $node DRAIN || false
	done
	all_heard
	# lowtided is killed, and away when the next are noticed.
	within 10 all_run
	part stop lowtided KILL
	taken='s6 v2 s7' wave 12 s6 v2 s7
	wave 60 s8 v1
	within 20 grep -q event=tell_failed "$D/log/node.s8"
	part start lowtided
	within 20 all_heard
	count event=told "$D/log/node.v2" 1
	# An end that moves; the same again, of both; one that is withdrawn.
	take_back s7 14
	leave v1
	watch_on v1
	lowtide notice v2 --in 7s > /dev/null
	keep s8
	within 20 all_restarted
	within 10 all_run
	count event=told "$D/log/node.s7" 3
	count event=told "$D/log/node.v1" 3
	count event=withdrawn "$D/log/node.s8" 2
	# The twentieth: told again after all.
	wave 60 s8
	within 20 all_heard
	for node in s8 v1; do keep $node; done
	touch enough
	ended() { [ "$(squeue -h -o %j | wc -l)" -eq 0 ]; }
	within 60 ended
	for name in "${!ID[@]}"; do
		[ "$(wc -l < $name.signals)" -eq "${HEARS[$name]:-0}" ]
		[ "$(of "${ID[$name]}" JobState)" = COMPLETED ]
		[ "$(of "${ID[$name]}" Restarts)" -eq "${RESTARTS[$name]:-0}" ]
		[ "$(runs_of "${ID[$name]}")" -eq $((${RESTARTS[$name]:-0} + 1)) ]
		# Each run went on from where the one before was asked.
		[ "$(head -n 1 $name.runs)" -eq 0 ]
		sort -nuc $name.runs
	done
}
