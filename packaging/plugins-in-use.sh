#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Before the plugins are removed: does Slurm still need them? A slurmctld that
# starts without a plugin that its slurm.conf names ends, and a required line of
# plugstack.conf fails every job. Says which line is to go first; 1 if there is
# one. SLURM_CONF names another slurm.conf.
conf=${SLURM_CONF:-/etc/slurm/slurm.conf}
used=0

say() {
	echo "lowtide's plugins are in use: $1" >&2
	used=1
}

# A slurm.conf as Slurm reads it: without comments, lines that end in a backslash
# joined to the next, and included files in their place.
lines_of() { # lines_of FILE DEPTH
	sed -E ':more
s/#[^\n]*//
/\\[[:space:]]*$/ { N; s/\\[[:space:]]*\n//; b more; }' "$1" | while read -r line; do
		case $line in
		[Ii][Nn][Cc][Ll][Uu][Dd][Ee][[:space:]]*) ;;
		*)
			printf '%s\n' "$line"
			continue
			;;
		esac
		file=$(printf '%s\n' "${line#????????}" | tr -d '[:space:]' | sed "s/%c/$cluster/g")
		case $file in /*) ;; *) file=$(dirname "$conf")/$file ;; esac
		[ ! -r "$file" ] || [ "$2" -ge 4 ] || lines_of "$file" $(($2 + 1))
	done
}
# Slurm's keys are in any case; the last line of a key counts.
value() { # value KEY, of the lines on stdin
	sed -nE "s/^[[:space:]]*$1[[:space:]]*[-+*\/]?=[[:space:]]*\"?([^\"[:space:]]*).*/\1/Ip" | tail -n 1
}
files_of() { # files_of PLUGSTACK: it and what it includes, by patterns
	echo "$1"
	sed -nE 's/^[[:space:]]*include[[:space:]]+([^#[:space:]]+).*/\1/p' "$1" |
	    while read -r pattern; do
		case $pattern in /*) ;; *) pattern=$(dirname "$1")/$pattern ;; esac
		# shellcheck disable=SC2086
		printf '%s\n' $pattern
	done
}
names_it() { # names_it LIST
	case ,$1, in *,lowtide,*) true ;; *) false ;; esac
}

if [ -r "$conf" ]; then
	cluster=$(lines_of "$conf" 4 | value ClusterName | tr '[:upper:]' '[:lower:]')
	text=$(lines_of "$conf" 0)
	list=$(printf '%s\n' "$text" | value JobSubmitPlugins)
	if names_it "$list"; then
		say "$conf has JobSubmitPlugins=$list: take lowtide out, then restart slurmctld"
	fi
	stack=$(printf '%s\n' "$text" | value PlugStackConfig)
	stack=${stack:-$(dirname "$conf")/plugstack.conf}
	line=
	if [ -r "$stack" ]; then
		line=$(files_of "$stack" | xargs -d '\n' grep -HsE '^[[:space:]]*required[[:space:]].*spank_lowtide\.so')
	fi
	if [ -n "$line" ]; then
		say "\"$line\": take the line out, on all hosts"
	fi
fi
if command -v scontrol >/dev/null 2>&1; then
	list=$(timeout 10 scontrol show config 2>/dev/null |
	    sed -n 's/^JobSubmitPlugins *= *//p')
	if names_it "$list"; then
		say "the running slurmctld has JobSubmitPlugins=$list: restart it once slurm.conf has no lowtide in it"
	fi
fi
exit $used
