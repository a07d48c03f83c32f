#!/usr/bin/env bats
# lowtide broken in every way: slurmctld goes on, budgeted teams follow
# on_unknown, and no total changes whatever is killed, when.
load helper

setup_file() {
	export ACCOUNTS='vision free tiny'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
on_unknown: reject
partitions:
  ondemand: {price_per_node_hour: 3.60}
  spot: {price_per_node_hour: 0.90}
budgets:
  - {team: vision, period: month, amount: 10000}
  - {team: tiny, period: month, amount: 0.50}
'
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

# What the runs cost by sacct: one CPU of 64, 1000 micros a second; in 64ths
# of a micro, and the report within half a micro of it. What never ran has no
# nodes: sacct shows the CPUs that it asked for.
by_sacct() {
	sacct -nXPD -a -S 2020-01-01 -E now -s CD,F,CA,TO,NF,RQ -o ElapsedRaw,AllocCPUS,NodeList |
	    awk -F'|' '$3 != "None assigned" {total += $1 * 1000 * $2} END {print total + 0}'
}
by_report() { lowtide report --format json | jq '.total | .charges_micros + .corrections_micros'; }
agree() {
	[ -z "$(squeue -h -t R,CG)" ] || return 1
	local reported difference
	reported=$(by_report) && [ -n "$reported" ] || return 1
	difference=$(($(by_sacct) - 64 * reported))
	[ "${difference#-}" -le 32 ]
}

@test "kill -9 of lowtided again and again: every run is charged once" {
	script short 'sleep 1'
	for i in 1 2 3 4 5 6; do
		# Until it has loaded all jobs, on_unknown refuses.
		within 60 job -A vision -n1 --time=10 short
		job -A free -n1 --time=10 short
		sleep 0.$((RANDOM % 9 + 1))
		part stop lowtided KILL
		job -A vision -n1 --time=10 short
		part start lowtided
	done
	within 120 agree
	[ "$(by_report)" -gt 0 ]
}

# slurmctld writes what changed up to 5 s later; a job whose end it forgot
# would be running for minutes in its books.
idle() { ! squeue -h -t PD,R,CG -o %r | grep -qv JobHeldUser; }
state_saved() { within 40 idle && sleep 6; }

@test "kill -9 of slurmctld: holds survive in the ring, totals agree" {
	script short 'sleep 1'
	for i in 1 2 3; do
		state_saved
		# Held: Slurm gives a lost job's number again, while it still runs.
		job -A vision -n1 --time=10 --hold short
		part stop slurmctld KILL
		part start slurmctld
		job -A vision -n1 --time=10 short
	done
	within 120 agree
}

@test "a budget that the ring alone knows is still a budget" {
	state_saved
	part stop lowtided KILL
	part stop slurmctld KILL
	part start slurmctld
	# 0.45, of 7 minutes and 30 s, fits once into 0.50; nobody absorbs it, slurmctld restarts between.
	job -A tiny -N1 --exclusive --time=7 --hold --wrap true
	part stop slurmctld KILL
	part start slurmctld
	run ! sbatch -A tiny -N1 --exclusive --time=7 --hold --wrap true
	[[ "$output" == *tiny* ]]
	part start lowtided
	run ! sbatch -A tiny -N1 --exclusive --time=7 --hold --wrap true
	scancel --user "$(id -un)" --state=PENDING
}

@test "lowtided stopped (SIGSTOP): jobs submit, sbatch does not wait for it" {
	kill -STOP "$(cat "$D/run/lowtided.shpid")"
	job -A free -n1 --time=10 --wrap true
	job -A vision -n1 --time=10 --wrap true
	kill -CONT "$(cat "$D/run/lowtided.shpid")"
	within 120 agree
}

@test "slurmdbd takes its time (SIGSTOP): what would change something waits for the end of the pass" {
	kill -STOP "$(cat "$D/run/slurmdbd.shpid")"
	lowtide rebuild > "$D/rebuilt" 2>&1 3>&- 4>&- &
	rebuild=$!
	sleep 1
	(sleep 18; kill -CONT "$(cat "$D/run/slurmdbd.shpid")") 3>&- 4>&- &
	lowtide budget --team vision
	[ "$(lowtide close 2020-01 --json | jq -r .label)" = 2020-01 ]
	wait "$rebuild"
}

@test "torn files: unbudgeted teams submit, budgeted ones follow on_unknown" {
	part stop lowtided
	for f in "$D/lowtide/budget" "$D/run/lowtide/market" "$D/lowtide/terms"; do
		cp "$f" "$f.good"
		head -c $(($(stat -c %s "$f") / 2)) "$f.good" > "$f.torn"
		chmod --reference="$f" "$f.torn"
		mv "$f.torn" "$f"
	done
	# slurmctld has tried it, and says so, with the first job.
	refused() { job -A free -n1 --time=10 --wrap true && grep -q 'budget: ' "$D/log/slurmctld.log"; }
	within 20 refused
	# It was loaded before: slurmctld remembers who has a budget.
	run sbatch -A vision -n1 --time=10 --wrap true
	[ "$status" -ne 0 ] || [[ "$output" == *Submitted* ]]
	for f in "$D/lowtide/budget" "$D/run/lowtide/market" "$D/lowtide/terms"; do mv "$f.good" "$f"; done
	part start lowtided
	job -A vision -n1 --time=10 --wrap true
	within 120 agree
}

@test "a file that others could have written is not believed" {
	part stop lowtided
	chmod 666 "$D/lowtide/budget"
	touch "$D/lowtide/budget"
	refused() { job -A free -n1 --time=10 --wrap true && grep -q 'budget: mode is 0666' "$D/log/slurmctld.log"; }
	within 20 refused
	chmod 600 "$D/lowtide/budget"
	part start lowtided
}

@test "all snapshots gone, even over a restart: unbudgeted teams submit" {
	part stop lowtided
	mv "$D/lowtide" "$D/away"
	mkdir -m 700 "$D/lowtide"
	rm -f "$D/run/lowtide/"*
	job -A free -n1 --time=10 --wrap true
	state_saved
	part stop slurmctld KILL
	part start slurmctld
	job -A free -n1 --time=10 --wrap true
	rm -rf "$D/lowtide"
	job -A free -n1 --time=10 --wrap true
	mv "$D/away" "$D/lowtide"
	part start lowtided
	within 120 agree
}

@test "slurmdbd down over the end of jobs: rows come later, nothing is lost" {
	part stop slurmdbd KILL
	script short 'sleep 1'
	job -A vision -n1 --time=10 short
	job -A free -n1 --time=10 short
	within 30 idle # slurmctld has seen the end of both
	part start slurmdbd
	within 120 agree
}

@test "cancelled while it waited, and then requeued: its row may have a time, and costs nothing" {
	within 120 agree
	before=$(by_report)
	script short 'sleep 2'
	# 22.05 gives its row a time, but not where slurmdbd was away just before:
	# another job, then. Newer ones give it none, or leave it as it was.
	row() {
		case $(slurmctld -V) in
		*' 22.05'*) sacct -nXPD -j "$waited" -o State,ElapsedRaw | grep -qE '^REQUEUED\|[1-9]' ;;
		*) [ "$(sacct -nXPD -j "$waited" -o State | wc -l)" -ge 2 ] ;;
		esac
	}
	requeued() {
		job -A vision -N1 --exclusive --time=10 --hold --wrap true
		waited=$id
		scancel "$waited"
		within 30 state_is "$waited" CANCELLED
		job -A free -n1 --time=10 short # a time passes
		within 30 done_job "$id"
		scontrol requeue "$waited"
		within 20 row && return
		scancel "$waited"
		return 1
	}
	within 150 requeued
	within 120 settled "$id"
	within 120 agree
	[ $(($(by_report) - before)) -lt 1000 ] # a CPU for some seconds; a node is 1000 each
	# A slurmctld that was killed and forgot that it ran leaves its TRES there.
	mysql --no-defaults -uroot -S "$D/run/db.sock" slurm_acct_db -e "update tide_job_table
		set tres_alloc = '1=64,4=1,5=64', time_start = time_end - 3600
		where id_job = $waited and nodelist = 'None assigned' and time_end > 0"
	[ "$(sacct -nXPD -j "$waited" -o AllocTRES,NodeList | grep -c 'cpu=64.*|None assigned')" -ge 1 ]
	lowtide rebuild
	within 120 agree
	[ $(($(by_report) - before)) -lt 1000 ]
	scancel "$waited"
}

@test "slurmdbd killed in the middle of an answer: lowtided goes on" {
	within 120 agree
	db=(mysql --no-defaults -uroot -S "$D/run/db.sock")
	"${db[@]}" -e 'lock tables slurm_acct_db.tide_job_table write; select sleep(60)' >/dev/null 3>&- 4>&- &
	locker=$!
	lowtide rebuild >/dev/null 2>&1 3>&- 4>&- &
	waits() { "${db[@]}" -e 'show processlist' | grep -q 'Waiting for table metadata lock'; }
	within 30 waits
	before=$(cat "$D/run/lowtided.shpid")
	part stop slurmdbd KILL
	"${db[@]}" -e 'show processlist' | awk '/sleep\(60\)/ {print "kill", $1 ";"}' | "${db[@]}"
	wait "$locker" || true # it was killed
	part start slurmdbd
	within 120 agree
	[ "$(lowtide status --json | jq .pid)" -eq "$before" ]
}

@test "kill -9 in the middle of a rebuild loses nothing" {
	within 120 agree
	for delay in 0.01 0.03 0.06 0.1; do
		lowtide rebuild >/dev/null 2>&1 3>&- 4>&- &
		sleep $delay
		part stop lowtided KILL
		part start lowtided
		within 120 agree
	done
	[ "$(by_report)" -gt 0 ]
}

@test "rebuild after all of that gives the same total" {
	within 120 agree
	before=$(by_report)
	lowtide rebuild
	[ "$(by_report)" -eq "$before" ]
}
