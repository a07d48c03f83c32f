#!/bin/bash
#SBATCH --job-name=train --gpus=8 --nodes=1 --time=8:00:00
#SBATCH --carbon-aware --checkpoint=write=2m,size=40G,keep=2,signal=USR1@120
#SBATCH --open-mode=append
# A job that can go on from a checkpoint, of 40 GiB, of which the last two are
# kept (what that costs is counted): it may use preemptible nodes, is requeued
# when they are taken, and writes a checkpoint as often as lowtide
# found best for the partition's interruptions, and when its nodes are about to be
# taken or its time runs out (USR1, for the latter 120 s before; it goes on) and
# when it is requeued (TERM; it ends).
#
# It tells how far it is: lowtide believes that it goes on once it has seen it.
export LOWTIDE_PROGRESS_FILE=$PWD/train.progress
#
# Slurm sends USR1 to the steps, TERM to them and to this script: exec leaves
# no shell that would end before they have written.
exec srun --kill-on-bad-exit python3 train.py --steps 100000
