# SPDX-License-Identifier: GPL-2.0-or-later
# lowtide's options of sbatch, srun and salloc for bash, on top of the
# completion that is there for these commands already: Slurm's own, or none.
# It is read as a shell starts: bash-completion would take one of the two. The lists are options.c's; tests/golden/cli.sh compares.
declare -A _lowtide_before # by command: the function that completes the rest

# The function of a command's completion; "" = none, but bash-completion's for
# any command.
_lowtide_function_of() {
	local spec
	spec=$(complete -p "$1" 2>/dev/null) && [[ $spec =~ -F\ ([^ ]+) ]] || return
	case ${BASH_REMATCH[1]} in _minimal | _comp_complete_minimal) ;;
	*) printf '%s\n' "${BASH_REMATCH[1]}" ;;
	esac
}

# Ours in its place, with its settings (-o filenames).
_lowtide_take() {
	local command=$1 spec
	[[ $(complete -p "$command" 2>/dev/null) != *_lowtide_slurm* ]] || return
	_lowtide_before[$command]=$(_lowtide_function_of "$command")
	if [ -n "${_lowtide_before[$command]}" ]; then
		spec=$(complete -p "$command")
		eval "${spec/-F ${_lowtide_before[$command]} /-F _lowtide_slurm }"
	else
		complete -o bashdefault -o default -F _lowtide_slurm "$command"
	fi
}

# bash-completion reads a command's file only when it is first asked. Slurm's is
# one for all commands: each is then Slurm's, and taken again.
_lowtide_load() {
	local loader command
	[ -z "${_lowtide_before[$1]}" ] || return
	for loader in _comp_load _completion_loader; do
		declare -F "$loader" >/dev/null || continue
		"$loader" "$1" >/dev/null 2>&1
		for command in sbatch srun salloc; do _lowtide_take $command; done
		break
	done
	: "${_lowtide_before[$1]:=:}" # there is none, and no other try
}

_lowtide_slurm() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} choices=
	local options='--carbon-aware --carbon-plan --checkpoint --amp= --gpu-memory= --expected-time= --max-cost= --max-price= --max-interruptions='

	# A value after "=" is a word of its own to bash.
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $before != --amp ]]; then
		before= # the others want "="
	fi
	case $before in
	--carbon-aware) choices='balanced cost carbon fast off plan' ;;
	--amp) choices='auto off bf16 fp16 fp8' ;;
	--checkpoint) choices='write= every= size= keep= signal= off' ;;
	esac
	COMPREPLY=()
	if [ -z "$choices" ]; then
		_lowtide_load "${1##*/}"
		"${_lowtide_before[${1##*/}]:-:}" "$@"
		[[ $word == -* ]] || return
		choices=$options
	fi
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$choices" -- "$word")
	case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac
}

for _lowtide_command in sbatch srun salloc; do _lowtide_take $_lowtide_command; done
unset _lowtide_command
