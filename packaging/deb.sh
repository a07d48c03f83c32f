#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian packages of this tree, for the Slurm of the machine that it
# runs on, into build/deb. Slurm's plugins load into the release that they were
# built for: build on what the site runs.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=()
for p in debhelper dpkg-dev fakeroot; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] || {
	echo "deb: missing ${missing[*]}: apt-get install ${missing[*]}" >&2
	exit 1
}
out=$PWD/build/deb
rm -rf "$out"
mkdir -p "$out/lowtide"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$out/lowtide"
cd "$out/lowtide"
cp -r packaging/debian debian
dpkg-buildpackage -us -uc -b
rm -rf "$out/lowtide"
ls "$out"/*.deb
