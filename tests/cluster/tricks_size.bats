#!/usr/bin/env bats
# Ways to get more of a cluster than what was held: what Slurm allocates is
# compared, by its own figures, with the hold on the job.
# bats file_tags=long
load tricks

# 3.60 for eleven hours, then 36.
hours_of_price() {
	local from h
	from=$(($(date +%s) / 3600 * 3600 - 3600))
	echo time,price
	for h in $(seq 0 99); do
		echo "$(date -u -d @$((from + h * 3600)) +%FT%TZ),$([ "$h" -lt 12 ] && echo 3.60 || echo 36)"
	done
}
setup_file() {
	[ "$(id -u)" -ne 0 ] || export USERS=daemon
	export ACCOUNTS='vision names counts grows walls short pernode twice cut once hours free' LAYOUT=$BATS_TEST_DIRNAME/tricks_size.conf
	export EXTRA='SelectTypeParameters=CR_Core_Memory
GresTypes=gpu,shard
AccountingStorageTRES=gres/gpu,gres/shard
DefMemPerCPU=100
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,permit_job_expansion'
	hours_of_price > "$BATS_FILE_TMPDIR/hours.csv"
	# 1000 micros a second; the limit of four is a node for 15 minutes.
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
hold_margin: 0
assume_time: 10m
sources:
  hours: {adapter: file, quantity: price, value: price, path: '"$BATS_FILE_TMPDIR/hours.csv"'}
partitions:
  ondemand: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], price_per_node_hour: 0.90, gpu: V100-SXM2}
  h100: {accepts: [gpu, cpu], price_per_node_hour: 36, gpu: H100-SXM5}
  long: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  sizes: {price_per_node_hour: 3.60}
  few: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  threads: {price_per_node_hour: 3.60}
  nolimit: {price_per_node_hour: 3.60}
  week: {price_per_node_hour: 3.60}
  whole: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  gpucpus: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  memcpus: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  shards: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  future: {price_per_node_hour: 3.60}
  later: {accepts: [gpu, cpu], price_per_node_hour: 3.60, gpu: V100-SXM2}
  byhour: {accepts: [gpu, cpu], price_per_node_hour: hours, gpu: V100-SXM2}
budgets:
  - {team: vision, period: year, amount: 10000}
  - {team: names, period: year, amount: 0.90}
  - {team: counts, period: year, amount: 0.90}
  - {team: grows, period: year, amount: 0.90}
  - {team: short, period: year, amount: 0.96}
  - {team: walls, period: year, amount: 10000}
  - {team: pernode, period: year, amount: 0.90}
  - {team: twice, period: year, amount: 0.90}
  - {team: cut, period: year, amount: 0.90}
  - {team: once, period: year, amount: 7}
  - {team: hours, period: year, amount: 3}
'
}
teardown_file() { cluster_down; }
PRICES='ondemand=1000 spot=250 h100=10000 long=1000 nolimit=1000 week=1000 threads=1000 whole=1000 gpucpus=1000 memcpus=1000 shards=1000 future=1000 later=1000'
setup() {
	cluster_use
	busy=
}
teardown() { last_words; scancel --user "$(id -un)" 2>/dev/null || true; within 20 nothing_left; }
nothing_left() { [ -z "$(squeue -h -t PD,R,CG -o %i)" ]; }

# each NAME ARGUMENTS: a job of vision, started alone, and what it was given.
each() {
	starts -A vision "$@"
	covered "$id"
	end "$id"
}
# taken each ARGUMENTS...: passes over a job that this Slurm alone refuses.
taken() {
	if job -A vision -o /dev/null "${@:2}" --wrap true 2>/dev/null; then
		end "$id"
	elif plain_refuses -A vision "${@:2}"; then
		return
	fi
	"$@"
}
# All nodes of the partition with CPUS each taken.
crowd() { # crowd CPUS
	sleeper -A free -N3 --ntasks-per-node="$1" -n $((3 * $1)) --mem-per-cpu=10
	within 10 is "$id" RUNNING
	busy=$id
}
raw() { # raw FIELDS...: starts it as raw fields of the request
	id=$("$RPC" submit account=vision time_limit=10 "$@" 2>"$D/why") || return 1
	waits_or_runs "$id"
}

@test "two threads a core: --ntasks=1 is given a whole core" {
	each -p threads -n1
}
@test "two threads a core: --hint=nomultithread is given every second thread" {
	each -p threads -n16 --hint=nomultithread
	each -p threads -n32 --hint=nomultithread
}
@test "two threads a core: --ntasks-per-core=1" {
	each -p threads -n16 --ntasks-per-core=1
}
@test "two threads a core: --threads-per-core=1" {
	each -p threads -n16 --threads-per-core=1
}
@test "--ntasks-per-gpu=1 without --gpus: GPUs follow from the tasks" {
	each -n8 --ntasks-per-gpu=1
}
@test "--ntasks-per-gpu=1 in either of two partitions" {
	each -n8 --ntasks-per-gpu=1 -p ondemand,h100
	# Where the cheaper one is full, the dearer one takes it.
	crowd 64
	each -n8 --ntasks-per-gpu=1 -p ondemand,h100
}
@test "no --time: DefaultTime of the first partition, in a dearer one too" {
	crowd 64
	job -A vision -p long,h100 -n1 -o /dev/null --wrap 'exec sleep 600'
	within 10 is "$id" RUNNING
	[ "$(field "$id" %P)" = h100 ]
	[ "$(field "$id" %l)" = 10:00:00 ]
	covered "$id"
	end "$id"
}
# lowtided reads the tables of slurmdbd each minute.
in_tables() { part stop lowtided; part start lowtided; }
@test "no --time, no DefaultTime: MaxWall of a QOS, longer than assume_time" {
	sacctmgr -iQ add qos wide set MaxWall=02:00:00
	sacctmgr -iQ modify user "$(id -un)" where account=walls set qos+=wide
	in_tables
	waits_for_two_hours() {
		job -A walls -p nolimit --qos=wide --exclusive -o /dev/null --wrap 'exec sleep 600' 2>/dev/null &&
		    { [ "$(field "$id" %l)" = 2:00:00 ] || { scancel "$id"; false; }; }
	}
	within 15 waits_for_two_hours
	within 10 is "$id" RUNNING
	covered "$id"
	end "$id"
}
@test "no --time, no DefaultTime: MaxWall of the association, shorter than MaxTime" {
	sacctmgr -iQ modify user "$(id -un)" where account=short set MaxWall=00:15:00
	in_tables
	fits() { job -A short -p week --exclusive -o /dev/null --wrap 'exec sleep 600' 2>/dev/null; }
	within 15 fits
	[ "$(field "$id" %l)" = 15:00 ]
	within 10 is "$id" RUNNING
	covered "$id"
	end "$id"
}
@test "raw: tasks per node and GPUs per task without a number of tasks" {
	local item=gres:gpu:2
	newer 24.11 && item=gres/gpu:2
	raw min_nodes=2 ntasks_per_node=4 tres_per_task=$item || grep -q . "$D/why"
	[ -z "$id" ] || covered "$id"
}
@test "--gres=gpu:1 of an open number of nodes, nodes partly busy" {
	crowd 60
	each -n8 --gres=gpu:1
}
@test "--gpus-per-node=1 of an open number of nodes, nodes partly busy" {
	crowd 60
	each -n8 --gpus-per-node=1
}
@test "--mem is per node: more tasks than one node has free" {
	crowd 40
	each -n40 --mem=400G
}
@test "--spread-job with --gpus-per-node, --exclusive, --mem" {
	each -n2 --spread-job --gpus-per-node=8
	each -n2 --spread-job --exclusive
	each -n2 --spread-job --mem=250G
}
@test "--ntasks-per-socket=1" {
	each -n4 --ntasks-per-socket=1 --gpus-per-node=8
	each -n4 --ntasks-per-socket=1 --exclusive
}
@test "--mincpus" {
	crowd 44
	each --mincpus=15 -n5
	[ -n "$busy" ] || crowd 44
	each --mincpus=15 -n5 --gpus-per-node=8
}
@test "--gpus-per-socket with --sockets-per-node" {
	each -n2 --gpus-per-socket=1 --sockets-per-node=1 --ntasks-per-socket=1
}
@test "OverSubscribe=EXCLUSIVE: one task is given the node" {
	each -p whole -n1
	[ "$(sacct -nXP -j "$id" -o AllocCPUS)" = 64 ]
}
@test "--gpus=+8 and --gpus=' 8': Slurm 22.05 takes both for 8" {
	local gpus
	for gpus in +8 ' 8'; do
		if newer 24.11; then
			run sbatch -A vision -n1 --gpus="$gpus" --wrap true
			[ "$status" -ne 0 ]
		else
			each -n1 --gpus="$gpus"
		fi
	done
}
@test "raw: memory per GPU with a unit, as Slurm reads it" {
	local item=gres:gpu
	newer 24.11 && item=gres/gpu
	raw min_nodes=1 num_tasks=1 tres_per_job=$item:1 mem_per_tres=$item:256kb
	[ "$(allocated "$id" mem)" -ge 255000 ] # half of a node
	covered "$id"
}
@test "nodes of three sizes: the job is never kept to fewer than it needs" {
	# 4, 4, 8, 8 and 64 CPUs.
	starts -A vision -p sizes -n86 --exclusive
	[ "$(shown "$id" NumNodes)" = 5 ]
	[ "$(hold_of "$id")" -ge 3000000 ]
	end "$id"
	starts -A vision -p sizes -n24 --exclusive -x v1
	[ "$(shown "$id" NumNodes)" = 4 ]
	[ "$(hold_of "$id")" -ge 2400000 ]
}
@test "MinNodes: as many, where the job is kept to as few as it needs" {
	scontrol update partition=sizes MinNodes=2
	part stop lowtided
	part start lowtided
	starts -A vision -p sizes -n2 --exclusive
	[ "$(shown "$id" NumNodes)" = 2 ]
	[ "$(hold_of "$id")" -ge 1200000 ]
	end "$id"
	scontrol update partition=sizes MinNodes=1
	part stop lowtided
	part start lowtided
}
@test "a QOS that lifts the partition's MaxNodes" {
	sacctmgr -iQ add qos big set flags=PartitionMaxNodes
	sacctmgr -iQ modify user "$(id -un)" set qos+=big
	lifted() { starts -A vision -p few -N1-3 -n3 --exclusive --qos=big 2>/dev/null; }
	within 15 lifted
	[ "$(shown "$id" NumNodes)" = 3 ]
	[ "$(hold_of "$id")" -ge 1800000 ] # three nodes for ten minutes
}
@test "DefCpuPerGPU of the partition" {
	each -p gpucpus -n1 --gpus=2 --mem=100
}
@test "MaxMemPerCPU: more memory is more CPUs" {
	each -p memcpus -n1 --mem=64000
	each -p memcpus -n1 --mem-per-cpu=8000
}
@test "gres/shard: a part of a GPU, in the hold as in the charge" {
	local micros
	starts -A vision -p shards -n1 --gres=shard:4
	[ "$(allocated "$id" gres/shard)" = 4 ]
	# 4 of 16 shards: a quarter of 1000 micros a second, for 630; 1 is for the carry.
	[ "$(hold_of "$id")" = 157501 ]
	end "$id"
	settled() { lowtide explain "$id" --json | jq -e '.runs[0].share'; }
	within 120 settled
	[ "$(lowtide explain "$id" --json | jq -r '.runs[0].share')" = 1/4 ]
}
@test "raw: named nodes with exclusive, no number of nodes" {
	raw req_nodes='v[1-2]' shared=0 || grep -q . "$D/why"
	[ -z "$id" ] || covered "$id"
}

@test "counts of features are nodes, beside those that are named" {
	for wish in '-C ib*3' '-C [ib*3]' '--prefer=ib*3' '-C ib*2 -w v3' '-n2 --mem=100G -C ib*3'; do
		taken each -n1 $wish # 26.05: no more nodes than tasks
	done
	for wish in '-C ib*3' '-C [ib*3]' '--prefer=ib*3'; do
		each -n3 --mem=100G $wish
	done
}

@test "--cpus-per-gpu bound to GPUs: on each node, whether it has one or not" {
	for wish in -n1 -N2 '-N2 --gpus=2' '-N3 --gpus-per-node=1' '-n2 --gpus-per-task=1'; do
		taken each $wish --cpus-per-gpu=15 --gres-flags=enforce-binding
	done
}

# These teams can pay a node for 15 minutes: two never fit.
within_limit() { # within_limit JOB: if it runs, it is paid for
	! is "$1" RUNNING || [ "$(charge_of "$1")" -le 900000 ]
}
freed() { # freed JOB: released; what runs of it is paid for
	scontrol release "$1"
	marker
	within_limit "$1"
	end "$1"
}
marker() { # all that could start has started
	local before=$id
	sleeper -A free -p spot -n1
	within 10 is "$id" RUNNING
	end "$id"
	id=$before
}
@test "scontrol update ReqNodeList names more nodes than are held" {
	sleeper -A names -n2 --exclusive --hold
	known "$id"
	scontrol update jobid="$id" reqnodelist='v[1-2]' || true
	freed "$id"
}
@test "scontrol update Features counts more nodes than are held" {
	sleeper -A counts -n1 --exclusive --hold
	known "$id"
	scontrol update jobid="$id" features='ib*2' || true
	freed "$id"
}
@test "--dependency=expand: the limit and the whole nodes of the job that it expands" {
	local long short whole
	sleeper -A vision -n1 --time=60
	long=$id
	sleeper -A vision -n1 --time=10
	short=$id
	sleeper -A vision --exclusive --time=10
	whole=$id
	for id in "$long" "$short" "$whole"; do
		within 10 is "$id" RUNNING
		known "$id"
	done
	run job -A grows --exclusive --time=1 -d "expand:$long" -o /dev/null --wrap 'sleep 60'
	[[ "$output" == *'may cost $3.'* ]]
	# Two of them: up to 24.11 Slurm takes the limit of the last one.
	run job -A grows -n1 --time=1 -d "expand:$short,expand:$long" -o /dev/null --wrap 'sleep 60'
	[[ "$output" == *'may cost $'* ]]
	# Within a minute slurmctld would give the limit, to a held job too; not
	# while the other waits.
	sleeper -A grows --exclusive --time=1 -d "expand:$short" --hold
	scontrol requeuehold "$short"
	[ "$(hold_of "$id")" -ge 600000 ]
	within 15 told "$id"
	marker
	run ! scontrol update jobid="$id" timelimit=1
	run ! scontrol update jobid="$id" numnodes=2
	marker
	[[ $(shown "$id" Dependency) == expand:* ]]
	[ "$(hold_of "$id")" -ge 600000 ]
	end "$id" "$short"
	nothing_held() { [ "$(held_micros grows)" = 0 ]; }
	within 15 nothing_held
	# It is given the whole node that the other has.
	sleeper -A grows -n1 --time=1 -d "expand:$whole"
	[ "$(hold_of "$id")" -ge 600000 ]
	within 10 is "$id" RUNNING
	[ "$(allocated "$id" cpu)" = 64 ]
	covered "$id"
	end "$id"
	sleeper -A grows -n1 --exclusive --time=1 --hold
	known "$id"
	run ! scontrol update jobid="$id" dependency="expand:$long"
	end "$id" "$long" "$whole"
}
@test "scontrol update Gres of a job of two nodes is for each node" {
	sleeper -A pernode -N2 --gpus-per-node=1 --hold
	known "$id"
	if newer 24.11; then
		scontrol update jobid="$id" trespernode=gres/gpu:8 || true
	else
		scontrol update jobid="$id" gres=gpu:8 || true
	fi
	freed "$id"
}
@test "two changes in one pass are priced together" {
	sleeper -A twice -N1 --gpus-per-node=1 --hold
	known "$id"
	scontrol update jobid="$id" timelimit=40 || true
	if newer 24.11; then
		scontrol update jobid="$id" trespernode=gres/gpu:8 || true
	else
		scontrol update jobid="$id" gres=gpu:8 || true
	fi
	freed "$id"
}
@test "a job named by a number that Slurm cuts: its own terms judge it" {
	sleeper -A cut --exclusive --hold
	local own=$id
	# The next but one has no budget.
	sleeper -A free -n1 --hold
	sleeper -A free -n1 --hold
	known "$own"
	known "$id"
	for name in "$own+4294967296" "$own+4294967294" $((own + 4294967296)) \
	    $((own + 4294967296))+0; do
		run ! "$RPC" update job_id_str="$name" time_limit=600
		[ "$(field "$own" %l)" = 10:00 ]
	done
	# The same, for what it may be; newer Slurms don't cut it.
	if "$RPC" update job_id_str="$own+4294967296" time_limit=9; then
		[ "$(field "$own" %l)" = 9:00 ]
	else
		newer 23.02
	fi
	"$RPC" update job_id_str="$id" time_limit=600
}
held_is() { [ "$(held_micros "$1")" -ge "$2" ] && [ "$(held_micros "$1")" -le $(($2 + 100)) ]; }
@test "an array of which tasks run: what a change raises is held once" {
	# 0.30 a task; slurmctld asks for each of the five records.
	sleeper -A once -n32 --array=0-9%4
	four_run() { [ "$(squeue -h -r -j "$id" -t R | wc -l)" -eq 4 ]; }
	within 10 four_run
	within 15 scontrol update jobid="$id" timelimit=10 2>/dev/null
	within 10 held_is once 3150000
	scontrol update jobid="$id" timelimit=20
	within 10 held_is once 6150000
	marker
	held_is once 6150000
}
@test "a begin that is moved into dear hours is held at their price" {
	sleeper -A hours -p byhour --exclusive --hold
	known "$id"
	local at
	at=$(date -d '14 hours' +%FT%T)
	run ! scontrol update jobid="$id" starttime="$at"
	lowtide budget adjust --team hours --amount -4 --reason more
	within 10 scontrol update jobid="$id" starttime="$at" 2>/dev/null
	within 15 held_is hours 6300000
}
@test "-p a,b: the time limit stays changeable" {
	sleeper -A vision -p ondemand,h100 -n1 --hold
	local pair=$id
	sleeper -A vision -n1 --hold
	known "$id"
	scontrol update jobid="$pair" timelimit=5
	[ "$(field "$pair" %l)" = 5:00 ]
	scontrol update jobid="$pair" timelimit=9
	[ "$(field "$pair" %l)" = 9:00 ]
}
@test "lowtided dead: a job without a budget is as it was, and any may be touched" {
	sleeper -A free -n1 --hold
	local before=$id
	sleeper -A vision -n1 --hold
	known "$before"
	known "$id"
	part stop lowtided KILL
	scontrol update jobid="$before" timelimit=5
	[ "$(field "$before" %l)" = 5:00 ]
	scontrol release "$before"
	within 10 is "$before" RUNNING
	sleeper -A vision -n1 --hold
	scontrol update jobid="$id" jobname=since
	[ "$(field "$id" %j)" = since ]
	run scontrol update jobid="$id" timelimit=20
	[ "$status" -ne 0 ]
	part start lowtided
	within 60 known "$id"
}

@test "settled above the hold: the reason is a finding, not the price" {
	part stop lowtided KILL
	scontrol update partitionname=later oversubscribe=exclusive
	job -A vision -p later -n1 --time=1 -o /dev/null --wrap 'sleep 4'
	local ran=$id
	within 20 ended "$ran"
	scontrol update partitionname=later oversubscribe=no
	part start lowtided
	within 120 settled "$ran"
	[ "$(lowtide report --format json --runs | jq -r --argjson id "$ran" \
	    '.runs[] | select(.job_id == $id) | .over_reason')" = size ]
}

@test "never moved to where it can't run: features, excluded nodes, disk" {
	for wish in '-C ib' '-x s1,s2' '--tmp=50000'; do
		sleeper -A vision --carbon-aware=cost --gpus=1 $wish --hold
		[ "$(field "$id" %P)" = ondemand ]
		within 15 scontrol release "$id" 2>/dev/null
		within 10 is "$id" RUNNING
		end "$id"
	done
	# Without such a wish it goes to the cheaper one.
	sleeper -A vision --carbon-aware=cost --gpus=1 --hold
	[ "$(field "$id" %P)" = spot ]
}

# Slurm shows no FUTURE nodes: nothing is known of what a job there may get.
@test "a partition of FUTURE nodes is unknown, never free; priced when they are there" {
	sleeper -A vision -p future -n1
	[[ "$said" == *'held until the balance '*'is known: no node of partition future is known'* ]]
	[[ $(field "$id" %r) == JobHeld* ]]
	unpriced=$id
	sed -i '/^NodeName=f1 /s/ State=FUTURE//' "$SLURM_CONF"
	part stop slurmctld
	part start slurmctld
	known() { sleeper -A vision -p future -n1 2>/dev/null && [ "$(hold_of "$id")" -gt 0 ]; }
	within 90 known
	# One CPU of 64 for 630 s at 1000 micros a second; memory is less.
	[ "$(hold_of "$id")" = 9845 ]
}
