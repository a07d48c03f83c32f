# Seeded faults: each breaks one thing of a site that works, and says what
# doctor must find. What doctor says to do is then done to the letter.
#
#   fault NAME 'LEVEL CHECK FOUND' COMMAND...
#
# FOUND is a part of the finding. In tables of tests/cluster/faults, a line
# each: NAME | LEVEL CHECK FOUND | COMMAND, with @POLICY@, @PLUGSTACK@, @CONF@,
# @RUN@, @STATE@ and @D@ for the cluster's own.

# systemctl as this cluster has it, for the lines that doctor says.
write_systemctl() {
	mkdir -p "$D/bin"
	cat > "$D/bin/systemctl" <<-E
	#!/bin/bash
	[ "\$1" = restart ] || { echo "systemctl: \$*" >&2; exit 1; }
	name=\${2/#munge/munged}
	[ "\$name" = munged ] || name=\$2
	for verb in stop start; do
		"$CLUSTER" \$verb "$D" "\$name" 3>&- 4>&-
	done
	E
	chmod 755 "$D/bin/systemctl"
}

doctor() { lowtide doctor --json > "$D/doctor.json" 2>"$D/doctor.err" || true; }
findings() { # all that is no "ok" and no "note"
	jq -r '.findings[] | select(.level == "error" or .level == "warning")
	    | "\(.level) \(.check) \(.found)"' "$D/doctor.json"
}
is_well() { doctor; [ -z "$(findings)" ]; }

# To the letter: a command, or a line of slurm.conf and a command.
apply() {
	local mend=$1 file line rest
	case $mend in
	'in '*' write '*', then: '*)
		file=${mend#in } file=${file%% write *}
		line=${mend#* write } line=${line%%, then: *}
		rest=${mend##*, then: }
		sed -i "/^${line%%=*}=/d" "$file"
		echo "$line" >> "$file"
		PATH=$D/bin:$PATH bash -c "$rest" ;;
	*) PATH=$D/bin:$PATH bash -c "$mend" ;;
	esac
}

fault() { # fault NAME 'LEVEL CHECK FOUND' COMMAND
	local name=$1 want=$2 level check found mend got looked=0
	level=${want%% *} want=${want#* }
	check=${want%% *} found=${want#* }
	bash -c "$3" || { echo "$name: could not be broken" >&2; return 1; }
	# Again, as lowtided may have written the file anew in between.
	seen() {
		[ $((++looked % 5)) -ne 0 ] || bash -c "$3"
		doctor
		mend=$(jq -r --arg l "$level" --arg c "$check" --arg f "$found" \
		    '[.findings[] | select(.level == $l and .check == $c
		    and (.found | contains($f)))][0].mend // ""' "$D/doctor.json")
		[ -n "$mend" ]
	}
	within "${FAULT_S:-15}" seen "$@" || {
		echo "$name: want $level $check \"$found\", found:" >&2
		cat "$D/doctor.json" >&2
		return 1
	}
	got=$(findings | wc -l)
	[ "$got" -le "${FAULT_MOST:-1}" ] || {
		echo "$name: $got findings for one fault:" >&2
		findings >&2
		return 1
	}
	apply "$mend" || { echo "$name: the mend fails: $mend" >&2; return 1; }
	within "${FAULT_S:-15}" is_well || {
		echo "$name: not well after: $mend" >&2
		findings >&2
		return 1
	}
	faults=$((faults + 1))
}

faults_of() { # faults_of TABLE: all of it; says each that is not as it should be
	local name want command bad=0
	faults=0
	while IFS='|' read -r name want command; do
		case $name in '#'* | '') continue ;; esac
		command=$(sed "s|@POLICY@|$LOWTIDE_CONFIG|g; s|@PLUGSTACK@|$D/etc/plugstack.conf|g
		    s|@CONF@|$SLURM_CONF|g; s|@RUN@|$LOWTIDE_RUN_DIR|g; s|@STATE@|$LOWTIDE_STATE_DIR|g
		    s|@D@|$D|g; s|@CLUSTER@|$CLUSTER|g; s|@BUILD@|$BUILD|g" <<< "$command")
		want=$(sed 's/^ *//; s/ *$//' <<< "$want")
		fault "${name%% *}" "$want" "$command" < /dev/null || {
			bad=$((bad + 1))
			restore
		}
	done < "$BATS_TEST_DIRNAME/faults/$1"
	echo "$faults of $1 found and mended, $bad not" >&3
	[ $bad -eq 0 ]
	[ $faults -ge "$2" ]
}
