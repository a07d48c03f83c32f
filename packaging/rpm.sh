#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the RPM packages of this tree, for the Slurm of the machine that it runs
# on, into build/rpm; arguments are rpmbuild's. Where rpm does not manage the
# machine (Debian) it can't know that what the build needs is there.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v rpmbuild >/dev/null || {
	echo 'rpm: missing rpmbuild: dnf install rpm-build, or apt-get install rpm' >&2
	exit 1
}
options=()
[ ! -e /etc/debian_version ] || options+=(--nodeps)
out=$PWD/build/rpm
rm -rf "$out"
mkdir -p "$out/lowtide"
tar -c --exclude=./build --exclude=./.git . | tar -x -C "$out/lowtide"
cd "$out/lowtide"
rpmbuild -bb --build-in-place "${options[@]}" --define "_topdir $out/work" \
    --define "_rpmdir $out" --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
    "$@" packaging/rpm/lowtide.spec
rm -rf "$out/lowtide" "$out/work"
ls "$out"/*.rpm
