# What the tests of ways past the budget share, beside helper.bash.
load helper
RPC=$PROJECT/build/tests/tools/slurm_rpc
SLURM=$(slurmctld -V 2>/dev/null || /usr/sbin/slurmctld -V)
SLURM=${SLURM#* } # 22.05.8
newer() { # newer 24.11: this Slurm is that or later
	[ "$(printf '%s\n' "$1" "$SLURM" | sort -V | head -n 1)" = "$1" ]
}
# As somebody without rights in Slurm; without root there is nobody else.
as_user() { if [ -n "$ROOT" ]; then become daemon "$@"; else "$@"; fi; }
as_stranger() { become games "$@"; }
become() { setpriv --reuid="$1" --clear-groups "${@:2}"; } # become USER COMMAND...
# A job that sleeps, of anybody's: nothing is written anywhere.
sleeper() { job -o /dev/null --time=10 "$@" --wrap 'exec sleep 600'; }
# state JOB WANTED: also true for a job that slurmctld has forgotten.
is() { [ "$(squeue -h -j "$1" -o %T 2>/dev/null)" = "$2" ]; }
end() { # end JOB...: gone from the nodes, too
	scancel "$@" 2>/dev/null
	local j
	for j in "$@"; do within 20 ended "$j"; done
}
ended() { case $(squeue -h -j "$1" -t all -o %T 2>/dev/null) in
	'' | CANCELLED | COMPLETED | FAILED | TIMEOUT) true ;; *) false ;; esac; }
show() { scontrol show job "$1"; }
said() { # said TEXT NAME: of scontrol's, the first; a process costs more than bash
	[[ " ${1//$'\n'/ } " =~ \ $2=([^ ]*) ]] && printf '%s\n' "${BASH_REMATCH[1]}" || true
}
shown() { said "$(show "$1")" "$2"; } # shown JOB FIELD
# One item of the allocated TRES, memory in MiB; 0 if it has none.
allocated() { tres_of "$(show "$1")" "$2"; } # allocated JOB TRES
tres_of() { # tres_of TEXT TRES: of what scontrol shows of a job
	local text
	text=$(said "$1" AllocTRES)
	[ -n "$text" ] || text=$(said "$1" TRES) # 22.05 has one list
	awk -v RS=, -F= -v want="$2" '
		$1 == want {v = $2 + 0
			if ($2 ~ /G$/) v *= 1024
			if ($2 ~ /T$/) v *= 1048576
			print v; found = 1; exit}
		END {if (!found) print 0}' <<< "$text"
}
# What a job that runs is charged at its limit: price x limit x the greatest
# part of its nodes that it was given, by what scontrol says of job and node.
# PRICES: "partition micros-per-second" pairs of the file's policy.
charge_of() { # charge_of JOB
	local text node limit
	text=$(show "$1")
	node=$(scontrol show hostnames "$(said "$text" NodeList)" | head -n 1)
	limit=$(squeue -h -j "$1" -o %l | awk -F: '
		{n = split($0, p, /[-:]/)
		 if (n == 2) print p[1] * 60 + p[2]
		 if (n == 3) print p[1] * 3600 + p[2] * 60 + p[3]
		 if (n == 4) print p[1] * 86400 + p[2] * 3600 + p[3] * 60 + p[4]}')
	scontrol show node "$node" | tr ' ' '\n' | awk -F= \
	    -v cpus="$(tres_of "$text" cpu)" -v memory="$(tres_of "$text" mem)" \
	    -v gpus="$(tres_of "$text" gres/gpu)" -v limit="$limit" \
	    -v per_second="$(said "$PRICES" "$(said "$text" Partition)")" '
		$1 == "CPUTot" {all["cpu"] = $2}
		$1 == "RealMemory" {all["mem"] = $2}
		$1 == "Gres" && match($2, /:[0-9]+/) {all["gpu"] = substr($2, RSTART + 1, RLENGTH - 1)}
		END {
			part = cpus / all["cpu"]
			if (all["gpu"] && gpus / all["gpu"] > part) part = gpus / all["gpu"]
			if (memory / all["mem"] > part) part = memory / all["mem"]
			printf "%d\n", per_second * limit * part
		}'
}
gpus_of() { allocated "$1" gres/gpu; }
# The hold in force, of all the quote's tasks, by the quote on the job.
hold_of() { # hold_of JOB
	show "$1" | sed -n 's/.*lowtide:1 .* hold=\([0-9-]*\),.* n=\([0-9]*\) .*/\1 \2/p' |
	    awk '{print $1 * $2}'
}
covered() { # covered JOB: it runs, and its hold is at least what it is charged
	local hold charge
	hold=$(hold_of "$1") charge=$(charge_of "$1")
	[ -n "$hold" ] && [ "$charge" -gt 0 ] && [ "$hold" -ge "$charge" ] || {
		echo "job $1: held ${hold:-nothing}, charged at the limit $charge;" \
		    "$(shown "$1" NodeList) $(shown "$1" TRES)$(shown "$1" AllocTRES)" >&2
		return 1
	}
}
# starts ARGUMENTS...: sbatch; what can't start on busy nodes because its
# nodes were bounded says so in NumNodes, and starts when they are free.
starts() {
	sleeper "$@"
	waits_or_runs "$id"
}
waits_or_runs() { # waits_or_runs JOB
	id=$1
	running() { is "$id" RUNNING; }
	within 4 running 2>/dev/null && return
	[[ "$(shown "$id" NumNodes)" =~ ^[0-9]+(-[0-9]+)?$ ]]
	[ -z "${busy:-}" ] || end $busy
	busy=
	within 10 running
}
held_micros() { budget_of "$1" held_micros; }
spent_micros() { budget_of "$1" spent_micros; }
# In the terms: job_modify knows the job and would admit a change of it.
known() { # known JOB
	within 15 scontrol update jobid="$1" timelimit="$(squeue -h -j "$1" -o %l)" 2>/dev/null
}
# All that could start and be seen by now has been: a job of nobody's budget,
# submitted after it, runs, and lowtided has told of it.
marker() {
	local before=${id:-}
	sleeper -A free -p "${MARK:-mark}" -n1
	within 15 is "$id" RUNNING
	within 15 told "$id"
	end "$id"
	id=$before
}
told() { lowtide explain "$1" >/dev/null 2>&1; }
# Settled, and what runs at its limit, in micros; the limit must cover it.
spent_and_running() { # spent_and_running TEAM
	local sum j
	sum=$(spent_micros "$1")
	for j in $(squeue -h -A "$1" -t R -o %i); do
		sum=$((sum + $(charge_of "$j")))
	done
	echo "$sum"
}
paid() { # paid TEAM LIMIT-MICROS: at this moment
	local sum
	sum=$(spent_and_running "$1")
	[ "$sum" -le "$2" ] || {
		echo "$1: spent and running $sum of $2" >&2
		squeue -A "$1" -o '%i %T %r %l %M %p' >&2
		return 1
	}
}
ran_for() { # ran_for JOB SECONDS
	local start
	is "$1" RUNNING || return 1
	start=$(date -d "$(shown "$1" StartTime)" +%s)
	[ $(($(date +%s) - start)) -ge "$2" ]
}
# Back in the queue and out of its nodes, after a requeue.
back() { [ "$(squeue -h -j "$1" -t PD -o %T)" = PENDING ]; }
# As in helper.bash, of the whole year: the month begins meanwhile.
runs_of() { # runs_of JOBID FIELD
	lowtide report --period "${YEAR:-$(date +%Y)}" --format json --runs | jq --argjson id "$1" \
	    "[.runs[] | select(.job_id == \$id or .array_job_id == \$id) | .$2] | add // 0"
}
settled() { # settled JOBID [RUNS]
	[ "$(lowtide report --period "${YEAR:-$(date +%Y)}" --format json --runs | jq --argjson id "$1" \
	    '[.runs[] | select(.job_id == $id or .array_job_id == $id)] | length')" -ge "${2:-1}" ]
}
# The clock of the whole cluster: see tests/tools/lib/clock_shift.c.
clock_is() { # clock_is TIME: for the cluster, and the commands from here on
	local shift=$(($(date -d "$1" +%s) - $(env -u LD_PRELOAD date +%s)))
	[ -s "$CLOCK_SHIFT" ] || printf '%16s' 0 > "$CLOCK_SHIFT"
	printf '%16d' "$shift" 1<> "$CLOCK_SHIFT" # in place
}
clock_begin() { # clock_begin TIME: in setup_file, before the cluster
	export CLOCK_SHIFT=$BATS_FILE_TMPDIR/clock
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	clock_is "$1"
	export LD_PRELOAD=$PROJECT/build/tests/tools/clock_shift.so
}
