#!/bin/bash
# Both plugins loaded without a cluster, against stubs. BUILD: the build folder.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-$PWD/build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
CMOCKA_MESSAGE_OUTPUT=${CMOCKA_MESSAGE_OUTPUT:-TAP} "$build/tests/fake_slurm/fake_slurm" "$build" "$dir"
