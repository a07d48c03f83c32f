#!/usr/bin/env bats
# What a job gets on the node, by the GPU that is there, in every way that a
# job can start; never over the user's own value.
load helper

setup_file() {
	export ACCOUNTS='vision'
	export SPANK_ARGS='gpu=v[1-2]:V100-SXM2,s[1-2]:A100-SXM4-40GB preemptible=spot:0.02'
	cluster_up '
mode: enforce
currency: USD
timezone: UTC
partitions:
  ondemand: {carbon: 300, price_per_node_hour: 3.60, gpu: V100-SXM2}
  spot: {carbon: 300, price_per_node_hour: 3.60, gpu: A100-SXM4-40GB, preemptible: {interruptions_per_hour: 0.02, notice: 2m, restart: 6m}}
budgets: []
'
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

@test "a checkpoint interval for --checkpoint jobs only" {
	job -A vision -p spot --gpus=1 --time=5 --checkpoint=every=30m --wrap "$W"
	[[ "$(out_of "$id")" == *interval=1800* ]]
	job -A vision -p spot --gpus=1 --time=5 --checkpoint=write=2m --wrap "$W"
	[[ "$(out_of "$id")" =~ interval=[1-9][0-9]+ ]]
	job -A vision -p spot --gpus=1 --time=5 --wrap "$W"
	[[ "$(out_of "$id")" == *interval=unset* ]]
}

@test "requeue only for --checkpoint jobs, a signal only where one was named" {
	job -A vision -p spot --no-requeue --hold --gpus=1 --time=5 --wrap true
	[[ "$(scontrol show job "$id")" == *Requeue=0* ]]
	scancel "$id"
}
