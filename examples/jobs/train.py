#!/usr/bin/env python3
"""A training loop that checkpoints, goes on from its checkpoint and stops early.

Fits a line with PyTorch, on the GPU where there is one, else on the CPU. What
it takes from lowtide are environment variables with defaults, so it runs
anywhere. train-checkpoint.sh submits it.
"""
import argparse
import os
import signal
import time

asked_by = []
# USR1: a checkpoint is wanted, as --checkpoint=signal= asked, for the node will
# be taken or the time limit comes; what ends now would be done for good, so it
# goes on. TERM: the job is requeued, or over. A step is finished first, so that
# what is written is whole. Before torch: its import may take a minute, and until
# there is a handler a signal ends the program.
for number in (signal.SIGUSR1, signal.SIGTERM):
    signal.signal(number, lambda received, _: asked_by.append(signal.Signals(received).name))

import torch

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=1000)
parser.add_argument("--pause", type=float, default=0.0, help="seconds that each step takes longer")
parser.add_argument("--checkpoint", default="train.checkpoint")
args = parser.parse_args()
every = float(os.environ.get("LOWTIDE_CHECKPOINT_INTERVAL_SECONDS", 3600))

progress = os.environ.get("LOWTIDE_PROGRESS_FILE")

torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(1, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
step = 0


def tell(word=""):
    """How far it is, for lowtide: by that a job proves that it goes on."""
    if progress:
        with open(progress, "w") as file:
            file.write(f"{step} {word}\n")


def save():
    """The new one takes the old one's place at once: a kill leaves either, whole."""
    with open(args.checkpoint + ".new", "wb") as file:
        torch.save({
            "step": step,
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "random": torch.get_rng_state(),
        }, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(args.checkpoint + ".new", args.checkpoint)
    tell("saved")
    print(f"checkpoint at {step}", flush=True)


if os.path.exists(args.checkpoint):
    state = torch.load(args.checkpoint, map_location="cpu")
    step = state["step"]
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    print(f"resumed at {step}, restart {os.environ.get('LOWTIDE_RESTARTS', 0)}", flush=True)

tell()
written = time.monotonic()
while step < args.steps:
    x = torch.rand(64, 1).to(device)
    loss = torch.nn.functional.mse_loss(model(x), 3 * x + 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    time.sleep(args.pause)
    tell()
    if asked_by:
        by = asked_by.pop(0)
        save()
        written = time.monotonic()
        print(f"asked for it by {by}", flush=True)
        if by == "SIGTERM":
            print(f"stopped early by {by}", flush=True)
            raise SystemExit(0)
    if time.monotonic() - written >= every:
        save()
        written = time.monotonic()
if os.path.exists(args.checkpoint):
    os.remove(args.checkpoint)
print(f"trained {step} steps: y = {model.weight.item():.3f} x + {model.bias.item():.3f}", flush=True)
