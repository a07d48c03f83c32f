#!/bin/bash
#SBATCH --job-name=finetune --gpus=1 --time=8:00:00
#SBATCH --carbon-aware --gpu-memory=40G --amp=auto
# A job without a checkpoint: it waits for the clean or cheap hours, goes only
# where a GPU has 40 GiB, and gets BF16 or FP16 as a default where the GPU is
# made for it. `lowtide plan -- one-gpu.sh` shows what would happen.
srun python finetune.py
