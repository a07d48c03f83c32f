# SPDX-License-Identifier: GPL-2.0-or-later
# Passes on what make quality prints, and adds how it stands with its goals.
# Columns are counted from the last one: perfect, own, own-weeks, yesterday,
# hour-of-week.

function figure(text) { gsub(/[(),%]/, "", text); return text + 0 }
function off(a, b) { return a > b ? a - b : b - a }
function most(a, b) { return a > b ? a : b }
function goal(name, value, relation, want) {
	met = relation == "<=" ? value <= want : value >= want
	printf "goal %-52s %-8s %-8s %s\n", name, value, relation want, met ? "met" : "missed"
}

{ print; fflush() }
/^GAIA's baselines/ { golden = 1; next }
/^$/ { golden = 0 }
golden && NF >= 5 && $NF + 0 > 0 {
	baselines++
	carbon_off = most(carbon_off, off($(NF - 3), $(NF - 2)))
	money_off = most(money_off, off($(NF - 1), $NF))
}
/^exact, replan/ { exact = $(NF - 3) }
/^average, replan/ { average = $(NF - 3) }
/^suspended/ { suspended = $(NF - 3) }
/^limit x 3: ratio learned/ { three = figure($(NF - 2)) }
/^lognormal: ratio learned/ { ratio = figure($(NF - 2)) }
/^lognormal: .* names learned/ { names = figure($(NF - 2)) }
/^1\.3 x load, booked, replan/ {
	perfect = $(NF - 5); perfect_late = figure($(NF - 4))
	own = $(NF - 3); own_late = figure($(NF - 2))
}
/^busy / { busy++; worse += $(NF - 3) < 0 }
/^[A-Z-]+ replan .* weeks\)$/ { # two words behind the columns
	zones++
	below += $(NF - 4) < $(NF - 3) || $(NF - 4) < $(NF - 2)
}
/^mean replan/ { mean = $(NF - 3) }
/^mean suspended/ { mean_suspended = $(NF - 3) }
/^ *all / { late = $(NF - 1); told = figure($NF) }

END {
	goal("GAIA's baselines that were compared", baselines + 0, ">=", 8)
	goal("their carbon, off by at most", carbon_off + 0, "<=", 0.001)
	goal("their dollars, off by at most", money_off + 0, "<=", 0.01)
	goal("exact lengths, carbon over no waiting", exact, "<=", 0.678)
	goal("average lengths, the same", average, "<=", 0.720)
	goal("limit x 3, % of the saving kept", three, ">=", 80)
	goal("lognormal limits, ratio learned, %", ratio, ">=", 68)
	goal("the same by 60 names, beyond that", names - ratio, ">=", 0.1)
	goal("suspend and resume, carbon over no waiting", suspended, "<=", 0.611)
	goal("zones that were compared", zones + 0, ">=", 5)
	goal("their mean, % of the saving kept", mean, ">=", 71)
	goal("zones below a simple forecast", below + 0, "<=", 0)
	goal("their mean, suspended", mean_suspended, ">=", 74)
	goal("capacity 1.3 x, perfect forecast, %", perfect, ">=", 71)
	goal("the same, late of 1000", perfect_late, "<=", 3)
	goal("capacity 1.3 x, own forecast, %", own, ">=", 55)
	goal("the same, late of 1000", own_late, "<=", 3)
	goal("busy clusters, 60 to 110 %, that were compared", busy + 0, ">=", 6)
	goal("of these, more is emitted than by plain Slurm", worse + 0, "<=", 0)
	goal("arrays with a deadline, late, %", late, "<=", 5)
	goal("arrays, told off by, %", told, "<=", 3)
}
