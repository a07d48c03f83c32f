#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The systemd units as `make install` leaves them: systemd itself finds nothing
# wrong, and they may do no more than they must.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 bad=0
check() { # check NAME OFFENDERS: passes when there are none
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		bad=$((bad + 1))
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /' | head -n 20
	fi
}

# Of a unit above 1.5: each item that a comment of its own does not begin with.
open_items() { # open_items UNIT
	local item
	systemd-analyze security --offline=true --threshold=15 "$1" >/dev/null 2>&1 && return
	systemd-analyze security --offline=true --threshold=100 --json=short "$1" |
	    jq -r '.[] | select(.exposure) | .name' | while read -r item; do
		grep -qF "# $item " "$1" || echo "$item has no word"
	done
}

cd "$top" || exit 1
# -o all: what is built is installed, nothing is built.
said=$(make -o all B="${BUILD:-build}" install prefix="$work/usr" unitdir="$work/units" sysconfdir="$work/etc" slurmlibdir="$work/usr/lib/slurm" 2>&1 >/dev/null)
check 'make install' "$said"
check 'each unit is installed' "$(diff <(ls packaging/systemd) <(ls "$work/units"))"
check 'what they start is there' "$(sed -nE 's/^ExecStart=([^ ]+).*/\1/p' "$work"/units/*.service |
	while read -r program; do [ -x "$program" ] || echo "$program"; done)"
# As far as to ask lowtided, which is not there.
check 'the timer runs a command that there is' "$(
	line=$(sed -nE "s|^ExecStart=$work/usr/bin/lowtide ||p" "$work/units/lowtide-close.service")
	line=${line/'${LOWTIDE_CLOSE_FOLDER}'/$work} line=${line/'$LOWTIDE_CLOSE_OPTIONS'/--no-users}
	# shellcheck disable=SC2086
	SLURM_CONF=/nonexistent "${BUILD:-build}/lowtide" --run "$work" $line 2>&1 | grep -v 'no socket')"
if command -v systemd-analyze >/dev/null; then
	for unit in "$work"/units/*; do
		check "${unit##*/}: systemd-analyze verify" \
		    "$(systemd-analyze verify --man=no "$unit" 2>&1)"
	done
	for unit in "$work"/units/*.service; do
		check "${unit##*/}: exposure of 1.5 at most, or what is left is argued in it" "$(open_items "$unit")"
	done
else
	check 'what systemd-analyze says of them # SKIP it is not here' ''
fi

# slurmctld would not start again without what its slurm.conf names.
uninstall() { # uninstall SLURM.CONF
	SLURM_CONF=$1 make B="${BUILD:-build}" uninstall prefix="$work/usr" \
	    unitdir="$work/units" sysconfdir="$work/etc" slurmlibdir="$work/usr/lib/slurm" 2>&1
}
printf 'ClusterName=x\njobsubmitplugins = require_timelimit,lowtide # ours\n' > "$work/slurm.conf"
printf 'required %s/spank_lowtide.so amp=off\n' "$work" > "$work/plugstack.conf"
said=$(uninstall "$work/slurm.conf")
check 'uninstall stops while slurm.conf names the plugin' "$(
	grep -q 'take lowtide out, then restart slurmctld' <<< "$said" || echo "$said"
	[ -e "$work/usr/lib/slurm/job_submit_lowtide.so" ] || echo 'it is gone')"
check 'and a line of plugstack.conf requires the other' "$(
	grep -q 'required .*spank_lowtide.so amp=off": take the line out' <<< "$said" || echo "$said")"
mkdir "$work/stack.d"
mv "$work/plugstack.conf" "$work/stack.d/lowtide.conf"
printf 'ClusterName=x\n' > "$work/slurm.conf"
for pattern in "$work/stack.d/*" 'stack.d/*.conf'; do
	printf 'include %s # all of them\n' "$pattern" > "$work/plugstack.conf"
	check "and one that it includes by ${pattern#"$work/"}" "$(uninstall "$work/slurm.conf" |
		grep 'stack.d/lowtide.conf:required .*take the line out' >/dev/null || echo 'not said')"
done
printf 'JobSubmitPlugins=lowtides\n' > "$work/slurm.conf"
printf 'optional %s/spank_lowtide.so\n' "$work" > "$work/plugstack.conf"
check 'uninstall with another prefix takes nothing away' "$(
	make B="${BUILD:-build}" uninstall prefix="$work/other" unitdir="$work/units" \
	    sysconfdir="$work/etc" slurmlibdir="$work/usr/lib/slurm" 2>&1 |
		grep 'say prefix= as it was installed' >/dev/null || echo 'not said'
	[ -e "$work/usr/lib/slurm/job_submit_lowtide.so" ] || echo 'it is gone')"
said=$(uninstall "$work/slurm.conf") || echo "$said"
check 'uninstall leaves nothing else' "$(find "$work/usr" "$work/units" ! -type d)"
echo "1..$n"
[ "$bad" -eq 0 ]
