# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of lowtide(1) for bash: subcommands, their options, and files
# where files are wanted. The lists are main.c's; tests/golden/cli.sh compares.

# The first column of a table; of the job ids, teams or sources that there are.
_lowtide_names() { # _lowtide_names RUN-DIR COMMAND...
	lowtide ${1:+--run "$1"} "${@:2}" 2>/dev/null </dev/null | sed -nE '2,$s/^([^ ]+)  .*/\1/p' | sort -u
}
_lowtide() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command= run= i choices

	# A value after "=" is a word of its own to bash.
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--run) ((i++)); [ "${COMP_WORDS[i]}" = = ] && ((i++)); run=${COMP_WORDS[i]} ;;
		-*) ;;
		*) command=${COMP_WORDS[i]} && break ;;
		esac
	done
	COMPREPLY=()
	case $before in
	--run) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
	-o | --output) # of close, a folder
		mapfile -t COMPREPLY < <(compgen "$([ "$command" = close ] && echo -d || echo -f)" -- "$word")
		return ;;
	--config | --carbon | --price | --svg) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
	--format)
		choices='table csv json html focus ood'
		[ "$command" = signals ] && choices='csv json'
		;;
	--dataset) choices='cost-and-usage billing-period' ;;
	--forecast) choices='own own-weeks yesterday hour-of-week perfect' ;;
	--again) choices='replan decide never' ;;
	--lengths) choices='exact average limit learned' ;;
	--policy) choices='nowait lowest-slot lowest-window carbon-time ecovisor wait-awhile res-first optimum lowtide lowtide-pause lowtide-suspend' ;;
	--unit) choices='s h' ;;
	--on-unknown) choices='admit refuse' ;;
	--in | --work | --jobs | --comes | --checkpoint | --slack | --interruptions | --prices | --deadline-factor | --source | --at | --limits | --names | --users | --seed | --short | --wait | --capacity | --port | --reserved | --watts | --idle | --waiting | --min-saving | --cost | --type | --map | --rate | --tolerance | --kubernetes-version | --namespace | --image | --pool-label | --team-label) return ;;
	--user | --forget) mapfile -t COMPREPLY < <(compgen -u -- "$word"); return ;;
	--team) choices=$(_lowtide_names "$run" budget) ;;
	--period | --amount | --kg-co2e | --reason | --from | --to | --name) return ;;
	export | test) [ "$command" = signals ] && choices=$(_lowtide_names "$run" signals) ;;
	adapters) [ "$command" = signals ] && choices=$(lowtide signals adapters 2>/dev/null | sed -nE '2,$s/ .*//p') ;;
	*)
		case $command in
		'' | help) choices='init check plan explain now jobs watch status signals budget alerts report close reconcile history canary notice rebuild reload simulate kube web off on doctor' ;;
		init) choices='--output --price --electricity --run --help' ;;
		check)
			case $word in
			-*) choices='--json --run --help' ;;
			*) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
			esac ;;
		plan)
			# The script, or a manifest; sbatch completes its own options.
			case $word in
			-*) mapfile -t COMPREPLY < <(compgen -W '--compare -f -n --json' -- "$word"); return ;;
			esac
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return ;;
		budget) choices='adjust moved --accept --team --amount --kg-co2e --reason --json --run --help' ;;
		signals) choices='export test adapters --errors --from --to --format --config --json --run --help' ;;
		simulate)
			case $word in
			-*) choices='--carbon --price --svg --config --source --at --unit --policy --forecast --lengths --limits --names --users --seed --again --capacity --herd --short --wait --reserved --spot --watts --idle --pauses --looks --waiting --min-saving --deadline-factor --work --jobs --comes --checkpoint --slack --interruptions --returns --prices --events --from-slurm --last --anonymous --json --run --help' ;;
			*) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
			esac ;;
		report) choices='--team --period --from --to --by --tree --balance --format --dataset --runs --no-users --tcto --carbon --unused --output --json --run --help' ;;
		reconcile)
			case $word in
			-*) choices='--from --to --cost --only --account --type --map --rate --tolerance --format --json --run --help' ;;
			*) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
			esac ;;
		close) choices='--last --output --no-users --reopen --reason --json --run --help' ;;
		kube) choices='manifest --kubernetes-version --namespace --image --on-unknown --pool-label --team-label --dry-run-pods --run --help' ;;
		web) choices='--port --socket --run --help' ;;
		notice) choices='--in --withdraw --json --run --help' ;;
		jobs) choices='--user --all --json --run --help' ;;
		doctor) choices='--config --collect --json --run --help' ;;
		explain | now | watch | canary)
			case $word in
			-*) choices='--json --run --help'; [ "$command" = watch ] && choices='--run --help'
				[ "$command" = explain ] && choices="--formulas $choices" ;;
			*) choices=$(_lowtide_names "$run" jobs) ;;
			esac ;;
		history) choices='--name --user --forget --json --run --help' ;;
		*) choices='--json --run --help' ;;
		esac
		[ -n "$command" ] || choices="$choices help --run --help --version" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o filenames -F _lowtide lowtide
