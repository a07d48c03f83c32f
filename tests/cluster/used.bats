#!/usr/bin/env bats
# What jobs used of what they had, on real Slurm: CPU time against sacct's, GPUs
# by samples as Slurm's nvml plugin would have left them, and a site that gathers
# nothing.
load helper

setup_file() {
	export ACCOUNTS='vision' EXTRA='AccountingStorageTRES=gres/gpu,gres/gpuutil'
	# 3.60 an hour is 1000 micros a second.
	cluster_up "
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
partitions:
  ondemand: {price_per_node_hour: 3.60}
budgets:
  - {team: vision, period: month, amount: 10000}
"
	cluster_use
	local busy gpus
	job -A vision -n1 -c4 --time=10 --wrap 'timeout 6 sh -c "while :; do :; done"; true'
	busy=$id
	job -A vision -n1 --gpus=4 --time=10 --wrap 'sleep 6'
	gpus=$id
	within 60 state_is "$busy" COMPLETED
	within 60 state_is "$gpus" COMPLETED
	within 60 rows 2
	# The largest sample of its one task: 30 % of one of four GPUs.
	dbd "UPDATE tide_step_table s JOIN tide_job_table j USING (job_db_inx)
	    SET s.tres_usage_in_max = CONCAT(
	    (SELECT id FROM tres_table WHERE type = 'gres' AND name = 'gpuutil'), '=30')
	    WHERE j.id_job = $gpus"
	sed -i 's,^JobAcctGatherType=.*,JobAcctGatherType=jobacct_gather/none,' "$D/etc/slurm.conf"
	for d in slurmd slurmctld; do part stop $d; done
	for d in slurmctld slurmd; do part start $d; done
	job -A vision -n1 --time=10 --wrap 'sleep 2'
	within 60 state_is "$id" COMPLETED
	within 60 rows 3
	printf '%s\n' "$busy" "$gpus" "$id" > "$BATS_FILE_TMPDIR/ids"
	within 300 looked_at "$(sacct -nXP -j "$id" -o End | head -n 1)"
}
teardown_file() { cluster_down; }
setup() {
	cluster_use
	{ read -r busy; read -r gpus; read -r silent; } < "$BATS_FILE_TMPDIR/ids"
}

dbd() { mysql --no-defaults -N -uroot -S "$D/run/db.sock" slurm_acct_db -e "$1"; }
rows() { # that slurmdbd has of ended steps
	[ "$(dbd 'SELECT count(*) FROM tide_step_table WHERE time_end > 0')" -ge "$1" ]
}
looked_at() { # looked_at TIME
	[ "$(sqlite3 "$D/lowtide/ledger.db" "SELECT value FROM named WHERE name = 'used_until'")" -ge \
	    "$(date -d "$1" +%s)" ]
}
of() { # of JOBID MEMBER
	lowtide report --format json --runs |
	    jq -r --argjson id "$1" --arg m "$2" '.runs[] | select(.job_id == $id)[$m]'
}
# What of its cost is idle if it used CPU milliseconds MS, by sacct's figures.
idle_by_sacct() { # idle_by_sacct JOBID MS
	sacct -nXP -j "$1" -o CPUTimeRAW | awk -v ms="$2" -v cost="$(of "$1" money_micros)" \
	    '{ printf "%d", cost * (1 - ms / 1000 / $1) }'
}

@test "CPU time is sacct's, and the rest of what was held is idle" {
	local ms used
	ms=$(sacct -nP -j "$busy" -o TotalCPU | head -n 1 | awk -F'[:.]' '{ print ($1 * 60 + $2) * 1000 + $3 }')
	[ "$ms" -gt 500 ]
	used=$(of "$busy" cpu_used_ms)
	[ $((used > ms ? used - ms : ms - used)) -le 2 ] # each step is cut to ms
	local idle want
	idle=$(of "$busy" idle_micros)
	want=$(idle_by_sacct "$busy" "$ms")
	[ $((idle > want ? idle - want : want - idle)) -le 2 ]
	[ "$(of "$busy" gpu_used_ppm)" = null ]
}

@test "a GPU's largest sample is the most that was used of all that it had" {
	local ppm cost
	ppm=$(of "$gpus" gpu_used_ppm)
	[ "$ppm" -gt 30000 ]
	[ "$ppm" -le 75000 ]
	cost=$(of "$gpus" money_micros)
	[ "$(of "$gpus" idle_micros)" -ge $((cost * 925 / 1000)) ]
	[ "$(of "$gpus" idle_micros)" -lt "$cost" ]
}

@test "where nobody gathers nothing is known, and nothing is called idle" {
	[ "$(of "$silent" cpu_used_ms)" = null ]
	[ "$(of "$silent" idle_micros)" = null ]
}

@test "groups add up to the rows, and say what is measured" {
	local report
	report=$(lowtide report --format json --runs --by state)
	jq -e '([.by.state[].idle_micros] | add) == ([.runs[].idle_micros // 0] | add)' <<< "$report"
	jq -e '([.by.state[].measured_micros] | add) ==
	    ([.runs[] | select(.idle_micros != null).money_micros] | add)' <<< "$report"
	lowtide report --by user | grep 'IDLE *OF MEASURED'
	[ "$(lowtide report --by user --format csv | head -n 1 | grep -c 'measured_cost,idle_cost')" = 1 ]
}
