# SPDX-License-Identifier: GPL-2.0-or-later
# Passes on what make deadline-quality prints, and adds how it stands with its
# goals: of times that are said with 95 %, 3 to 7 % are passed.

{ print; fflush() }
/^all / {
	name = $0
	sub(/^all +/, "", name)
	sub(/ +[0-9]+ +[0-9]+ +[-0-9.]+$/, "", name)
	met = $NF >= 3 && $NF <= 7
	goals[++count] = sprintf("goal %-40s %-8s %-8s %s", name ", late, %",
	    $NF, "3 to 7", met ? "met" : "missed")
}
END { for (i = 1; i <= count; i++) print goals[i] }
