#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the folder where Slurm looks for plugins: the first of PluginDir, as
# slurmctld has it, else as slurm.conf says; else where Slurm's own plugins lie;
# else the usual one of this machine. --here asks no slurmctld: a package is for
# the Slurm that is installed where it is built.
first() { sed -nE 's/^[[:space:]]*PluginDir[[:space:]]*=[[:space:]]*"?([^":[:space:]]+).*/\1/Ip' | sed -n 1p; }

dir=
if [ "${1:-}" != --here ]; then
	conf=${SLURM_CONF:-/etc/slurm/slurm.conf}
	if command -v scontrol >/dev/null 2>&1; then
		dir=$(timeout 10 scontrol show config 2>/dev/null | first)
	fi
	if [ -z "$dir" ] && [ -r "$conf" ]; then
		dir=$(first < "$conf")
	fi
fi
for file in /usr/lib/*/slurm-wlm/auth_munge.so /usr/lib/*/slurm/auth_munge.so \
    /usr/lib64/slurm/auth_munge.so /usr/lib/slurm/auth_munge.so; do
	if [ -z "$dir" ] && [ -e "$file" ]; then dir=${file%/*}; fi
done
echo "${dir:-/usr/lib/$(${CC:-cc} -print-multiarch 2>/dev/null)/slurm-wlm}"
