#!/usr/bin/env bats
# What a job gets on the node, by the GPU that is there, in every way that a
# job can start; never over the user's own value.
load helper

setup_file() {
	export ACCOUNTS='vision audit' LAYOUT=$BATS_TEST_DIRNAME/env.conf
	export SPANK_ARGS='gpu=v[1-2]:V100-SXM2,s[1-2]:A100-SXM4-40GB,a1:H100-SXM5 preemptible=spot:0.02:120:0.5'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 3.60, gpu: A100-SXM4-40GB, storage_gib_per_s: 0.5, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
  h100: {accepts: [gpu, cpu], carbon: 300, price_per_node_hour: 30, gpu: H100-SXM5}
  cpu: {carbon: 300, price_per_node_hour: 1}
budgets: []
precision:
  - {account: audit, amp: off}
  - {qos: fast, amp: fp16}
  - {partition: h100, amp: fp8}
'
	cluster_use
	sacctmgr -iQ add qos fast
	sacctmgr -iQ modify user "$(id -un)" set qos+=fast
	cd /
}
teardown_file() { cluster_down; }
setup() { cluster_use; }

W='echo "amp=${ACCELERATE_MIXED_PRECISION-unset} interval=${LOWTIDE_CHECKPOINT_INTERVAL_SECONDS-unset}"'
out_of() { within 40 done_job "$1" && cat slurm-"$1"*.out; }

@test "bf16 on Ampere: batch script, step, --export=NONE" {
	job -A vision -p spot --gpus=1 --time=5 --amp=auto --wrap "$W; srun sh -c '$W'"
	[ "$(out_of "$id" | grep -c 'amp=bf16')" -eq 2 ]
	job -A vision -p spot --gpus=1 --time=5 --amp=auto --export=NONE --wrap "$W; srun /bin/sh -c '$W'"
	[ "$(out_of "$id" | grep -c 'amp=bf16')" -eq 2 ]
}

@test "fp16 on Volta" {
	job -A vision -p ondemand --gpus=1 --time=5 --amp=auto --wrap "$W"
	[[ "$(out_of "$id")" == *amp=fp16* ]]
}

@test "srun, and srun inside salloc" {
	run -0 srun -A vision -p spot --gpus=1 --time=5 --amp=auto sh -c "$W"
	[[ "$output" == *amp=bf16* ]]
	run -0 salloc -A vision -p spot --gpus=1 --time=5 --amp=auto srun sh -c "$W"
	[[ "$output" == *amp=bf16* ]]
}

@test "arrays and heterogeneous jobs" {
	job -A vision -p spot --array=1-2 --gpus=1 --time=5 --amp=auto --wrap "$W"
	within 40 done_job "${id}_2"
	within 10 test -s "slurm-${id}_2.out"
	[ "$(cat slurm-"$id"_*.out | grep -c amp=bf16)" -eq 2 ]
	job -A vision --amp=auto -p spot --gpus=1 --time=5 : -p spot --gpus=1 --time=5 --wrap "srun --het-group=0,1 sh -c '$W'"
	[ "$(out_of "$id" | grep -c 'amp=bf16')" -ge 1 ]
}

@test "off is off, and the user's own value stands" {
	job -A vision -p spot --gpus=1 --time=5 --amp=off --wrap "$W"
	[[ "$(out_of "$id")" == *amp=unset* ]]
	ACCELERATE_MIXED_PRECISION=no job -A vision -p spot --gpus=1 --time=5 --amp=auto --wrap "$W"
	[[ "$(out_of "$id")" == *amp=no* ]]
}

@test "a site may want it for all (amp=auto), and --amp=off opts out" {
	sed -i 's/$/ amp=auto/' "$D/etc/plugstack.conf"
	job -A vision -p spot --gpus=1 --time=5 --wrap "$W"
	[[ "$(out_of "$id")" == *amp=bf16* ]]
	job -A vision -p spot --gpus=1 --time=5 --amp=off --wrap "$W"
	[[ "$(out_of "$id")" == *amp=unset* ]]
	sed -i 's/ amp=auto$//' "$D/etc/plugstack.conf"
}

# Classes of --amp on GPUs that were asked for, and their memory; all of them, and
# the rules', are in matrix.bats. Without and with a value of the user's own:
# one job a GPU runs a step for each, which is what a user's srun does.
@test "the precision that each GPU has, and the user's own before it" {
	local gpu partition amp accelerate lightning memory tf32 gpus
	script amps "echo \"\$1:\${ACCELERATE_MIXED_PRECISION-unset},\${PL_TRAINER_PRECISION-unset},\${NVIDIA_TF32_OVERRIDE-unset},\${LOWTIDE_GPU_MEMORY_MIB-unset}\""
	while read -r gpu partition memory amp accelerate lightning; do
		tf32=unset gpus=--gpus=1
		if [ "$amp" = off ]; then tf32=0; fi
		if [ "$gpu" = none ]; then gpus=; fi
		run -0 --separate-stderr srun -A vision -p "$partition" $gpus --time=5 --amp="$amp" ./amps "$gpu $amp" < /dev/null
		echo "$output" | tee -a seen
		[ "$output" = "$gpu $amp:$accelerate,$lightning,$tf32,$memory" ]
		ACCELERATE_MIXED_PRECISION=no NVIDIA_TF32_OVERRIDE=1 run -0 --separate-stderr \
		    srun -A vision -p "$partition" $gpus --time=5 --amp="$amp" ./amps "$gpu $amp" < /dev/null
		[ "$output" = "$gpu $amp:no,unset,1,$memory" ]
		PL_TRAINER_PRECISION=32-true run -0 --separate-stderr \
		    srun -A vision -p "$partition" $gpus --time=5 --amp="$amp" ./amps "$gpu $amp" < /dev/null
		[ "$output" = "$gpu $amp:unset,32-true,$tf32,$memory" ]
	done <<- E
	v100 ondemand 16384 auto fp16 16-mixed
	v100 ondemand 16384 bf16 fp16 16-mixed
	v100 ondemand 16384 fp8 fp16 16-mixed
	v100 ondemand 16384 off unset unset
	a100 spot 40960 auto bf16 bf16-mixed
	a100 spot 40960 fp16 fp16 16-mixed
	a100 spot 40960 fp8 bf16 bf16-mixed
	a100 spot 40960 off unset unset
	h100 h100 81559 auto bf16 bf16-mixed
	h100 h100 81559 fp8 fp8 bf16-mixed
	h100 h100 81559 off unset unset
	none cpu unset auto unset unset
	none cpu unset fp8 unset unset
	none cpu unset off unset unset
	E
	[ "$(wc -l < seen)" -eq 14 ]
}

@test "fp8 on a card without it: told once and truly, and the job runs" {
	job -A vision -p spot --gpus=1 --time=5 --amp=fp8 --wrap "$W"
	[ "$(grep -c 'no fp8 on A100-SXM4-40GB: bf16' <<< "$said")" -eq 1 ]
	[[ "$said" != *"can't run"* ]]
	[[ "$(out_of "$id")" == *amp=bf16* ]]
	job -A vision -p h100 --gpus=1 --time=5 --amp=fp8 --wrap "$W"
	[[ "$said" != *fp8* ]]
	run -1 sbatch -A vision -p ondemand --gpus=1 --time=5 --amp=fp8 --carbon-aware=plan --wrap true
	[ "$(grep -c 'no fp8 on V100-SXM2: fp16' <<< "$output")" -eq 1 ]
	[[ "$output" != *"can't run"* ]]
}

rules() { # rules LIST: plugstack's line has them
	sed -i -E "s/ precision=[^ ]*//; s/\$/ precision=$1/" "$D/etc/plugstack.conf"
}
no_rules() { sed -i -E 's/ precision=[^ ]*//' "$D/etc/plugstack.conf"; }

@test "precision rules: in batch scripts, steps without an environment, salloc" {
	rules account:audit:off,partition:spot:fp8
	local T='echo "amp=${ACCELERATE_MIXED_PRECISION-unset} tf32=${NVIDIA_TF32_OVERRIDE-unset}"'
	job -A audit -p spot --gpus=1 --time=5 --wrap "$T; srun sh -c '$T'"
	[ "$(out_of "$id" | grep -c '^amp=unset tf32=0$')" -eq 2 ]
	job -A audit -p spot --gpus=1 --time=5 --export=NONE --wrap "$T; srun /bin/sh -c '$T'"
	[ "$(out_of "$id" | grep -c '^amp=unset tf32=0$')" -eq 2 ]
	run -0 salloc -A audit -p spot --gpus=1 --time=5 srun sh -c "$T"
	[[ "$output" == *'amp=unset tf32=0'* ]]
	# The user's own word goes before the site's.
	job -A audit -p spot --gpus=1 --time=5 --amp=bf16 --wrap "$T"
	[ "$(out_of "$id")" = 'amp=bf16 tf32=unset' ]
	# Where the job really runs: moved while it waits.
	job -A vision -p ondemand --hold --gpus=1 --time=5 --wrap "$T"
	scontrol update job="$id" partition=spot
	scontrol release "$id"
	[ "$(out_of "$id")" = 'amp=bf16 tf32=unset' ]
	no_rules
}

# 50 minutes on a V100 are 40 on an A100 where FP32 may be the bound (15.7 and
# 19.5 TFLOPS), 29 where the memory is (900 and 1555 GB/s) as with FP16; a GPU is
# 0.45 an hour.
@test "a plan counts the rules, and what the user said before them" {
	local given=(-A vision --gpus=1 --time=60 --expected-time=50m --carbon-aware=plan --wrap true)
	run -1 sbatch "${given[@]}"
	[[ "$output" == *'lowtide: spot, now, done by '*': $0.30, '* ]]
	run -1 sbatch --qos=fast "${given[@]}"
	[[ "$output" == *'lowtide: spot, now, done by '*': $0.22, '* ]]
	run -1 sbatch --qos=fast --amp=off "${given[@]}"
	[[ "$output" == *'lowtide: spot, now, done by '*': $0.30, '* ]]
}

@test "doctor says the line that the rules need, and when it is there" {
	run lowtide doctor
	[[ "$output" == *precision=account:audit:off,qos:fast:fp16,partition:h100:fp8* ]]
	rules account:audit:off,qos:fast:fp16,partition:h100:fp8
	run lowtide doctor
	[[ "$output" == *"plugstack's line has the policy's rules"* ]]
	[[ "$output" == *preemptible=spot:0.02:120:0.5* ]]
	no_rules
}

# values: what scripts ask of the place, by the job's own environment.
V='echo "values=${LOWTIDE_RESTARTS-unset},${LOWTIDE_PARTITION_KIND-unset},${LOWTIDE_PREEMPTIBLE-unset},${LOWTIDE_NOTICE_SECONDS-unset},${LOWTIDE_CHECKPOINT_INTERVAL_SECONDS-unset},${LOWTIDE_DEADLINE-unset}"'

@test "where the job is, with --checkpoint" {
	job -A vision -p ondemand --time=5 --checkpoint --wrap "$V"
	[[ "$(out_of "$id")" == *values=0,on_demand,0,0,3600,unset* ]]
	job -A vision -p ondemand --time=5 --checkpoint=every=30m --wrap "$V; srun sh -c '$V'"
	[ "$(out_of "$id" | grep -c values=0,on_demand,0,0,1800,unset)" -eq 2 ]
	job -A vision -p spot --time=5 --checkpoint=every=30m --export=NONE --wrap "$V; srun /bin/sh -c '$V'"
	[ "$(out_of "$id" | grep -c values=0,preemptible,1,120,1800,unset)" -eq 2 ]
	LOWTIDE_CHECKPOINT_INTERVAL_SECONDS=7 LOWTIDE_RESTARTS=mine job -A vision -p spot --time=5 --checkpoint --wrap "$V"
	[[ "$(out_of "$id")" == *values=mine,preemptible,1,120,7,unset* ]]
}

@test "without an option of lowtide's there is none of them" {
	job -A vision -p spot --gpus=1 --time=5 --wrap 'env | grep -c -e ^LOWTIDE_[A-Z_]*= -e ^NVIDIA_TF32; true'
	env | grep -e ^LOWTIDE_ | cut -d= -f1 | sort > before
	[ "$(out_of "$id")" -eq "$(wc -l < before)" ]
}

@test "the deadline in UTC, with --export=NONE and in a step too" {
	local deadline said_utc
	deadline=$(date -d '2 hours' +%Y-%m-%dT%H:%M:00)
	said_utc=$(date -u -d "$deadline" +%Y-%m-%dT%H:%M:%SZ)
	job -A vision -p spot --time=5 --deadline="$deadline" --checkpoint --wrap "$V"
	[[ "$(out_of "$id")" == *",$said_utc"* ]]
	job -A vision -p spot --time=5 --deadline="$deadline" --checkpoint --export=NONE --wrap "$V; srun /bin/sh -c '$V'"
	[ "$(out_of "$id" | grep -c ",$said_utc")" -eq 2 ]
	run -0 srun -A vision -p spot --time=5 --deadline="$deadline" --checkpoint sh -c "$V"
	[[ "$output" == *",$said_utc"* ]]
	job -A vision -p spot --time=5 --deadline="$deadline" --wrap "$V"
	[[ "$(out_of "$id")" == *,unset ]]
}

# Submitted within a job, a job has its own values.
@test "a job of a job: none of the outer one's values" {
	job -A vision -p spot --time=5 --checkpoint=every=30m --wrap "sbatch --wait -A vision -p ondemand -o inner --time=5 --checkpoint --wrap '$V'"
	within 60 done_job "$id"
	[[ "$(cat inner)" == *values=0,on_demand,0,0,3600,unset* ]]
}

@test "after a requeue into another partition: what is there" {
	job -A vision -p ondemand --requeue --open-mode=append --gpus=1 --time=5 --amp=auto --checkpoint --wrap "$W; $V; [ \$SLURM_RESTART_COUNT ] || sleep 100"
	within 40 grep -q values= "slurm-$id.out"
	[[ "$(cat "slurm-$id.out")" == *amp=fp16*values=0,on_demand,0,0,3600,unset* ]]
	scontrol requeue "$id"
	is_plain() { [[ "$(scontrol show job "$id")" == *JobState=PENDING* ]]; }
	within 40 is_plain
	scontrol update job="$id" partition=spot
	sleep 2 # as in examples.bats
	scontrol update job="$id" starttime=now
	within 60 state_is "$id" COMPLETED
	cat "slurm-$id.out"
	[[ "$(tail -n 2 "slurm-$id.out")" == *amp=bf16*values=1,preemptible,1,120,* ]]
}

# The plan's text has the interval that the node then gives.
@test "the plan and the node have one checkpoint interval" {
	local part said_s
	for part in write=2m size=60G write=10m every=45m; do
		run -1 sbatch -A vision -p spot --gpus=1 --time=5 --checkpoint="$part" --carbon-aware=plan --wrap true
		if [ "$part" = write=10m ]; then
			[[ "$output" == *'does not fit into the notice of 2m'* ]]
		else
			[[ "$output" == *'fits into the notice of 2m'* ]]
		fi
		said_s=$(sed -nE 's/.*checkpoints: every ([^;]*);.*/\1/p' <<< "$output" |
		    sed -E 's/([0-9]+)d/\1*86400+/; s/([0-9]+)h/\1*3600+/; s/([0-9]+)m/\1*60+/; s/([0-9]+)s/\1+/; s/ //g; s/\+$//')
		job -A vision -p spot --gpus=1 --time=5 --checkpoint="$part" --wrap "$W"
		[[ "$(out_of "$id")" =~ interval=([0-9]+) ]]
		# The text has no more than two units: to a minute.
		echo "$part: plan $((said_s)), node ${BASH_REMATCH[1]}"
		[ $((BASH_REMATCH[1] - said_s)) -ge -60 ]
		[ $((BASH_REMATCH[1] - said_s)) -le 60 ]
	done
}

@test "a checkpoint interval for --checkpoint jobs only" {
	job -A vision -p spot --gpus=1 --time=5 --wrap "$W"
	[[ "$(out_of "$id")" == *interval=unset* ]]
	job -A vision -p spot --gpus=1 --time=5 --amp=auto --wrap "$W"
	[[ "$(out_of "$id")" == *interval=unset* ]]
}

@test "requeue only for --checkpoint jobs, a signal only where one was named" {
	job -A vision -p spot --no-requeue --hold --gpus=1 --time=5 --wrap true
	[[ "$(scontrol show job "$id")" == *Requeue=0* ]]
	scancel "$id"
}
