# SPDX-License-Identifier: GPL-2.0-or-later
"""metrics.py TEXT REPORT BUDGET: are the figures of a scrape those of `lowtide
report --unused --format json` and `lowtide budget --json`, digit for digit?"""
import json
import re
import sys
from decimal import Decimal

found = {}
for line in open(sys.argv[1], encoding="utf-8"):
    match = re.fullmatch(r'(\w+)\{(.*)\} (\S+)\n', line)
    if match:
        labels = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
        name = labels.get("account", labels.get("partition"))
        if "window" not in labels:
            continue
        key = match[1], name, labels["window"]
        assert key not in found, key
        found[key] = Decimal(match[3])

wanted = {}
report = json.load(open(sys.argv[2]))
for team in report["teams"]:
    for name, key, scale in (
        ("spent", "cost_micros", 10**6),
        ("spent_grams", "carbon_mg", 1000),
        ("energy_joules", "energy_wh", Decimal(1) / 3600),
        ("saved", "saved_micros", 10**6),
        ("saved_grams", "saved_mg", 1000),
        ("runs", "runs", 1),
        ("moved_runs", "moved_runs", 1),
        ("unpriced_runs", "unpriced_runs", 1),
    ):
        wanted["lowtide_account_" + name, team["team"], report["period"]["label"]] = (
            team[key] / Decimal(scale)
        )
for row in report["unused"]["partitions"]:
    paid, unused = (
        ("lowtide_partition_" + name, row["partition"], report["period"]["label"])
        for name in ("paid", "unused")
    )
    # The site pays on, a minute at most since it was read.
    a_minute = Decimal(row["paid_micros"]) / row["paid_node_s"] * 60 / 10**6
    more = row["paid_micros"] / Decimal(10**6) - found.get(paid, 0)
    assert 0 <= more <= a_minute, (row, found)
    wanted[paid] = found[paid]
    wanted[unused] = found[paid] - row["used_micros"] / Decimal(10**6)
for row in json.load(open(sys.argv[3]))["budgets"]:
    for kind in "limit", "spent", "held":
        if row["limit_micros"] is not None:
            wanted["lowtide_budget_" + kind, row["team"], row["label"]] = (
                row[kind + "_micros"] / Decimal(10**6)
            )
        if row["limit_mg"] is not None:
            wanted["lowtide_budget_" + kind + "_grams", row["team"], row["label"]] = (
                row[kind + "_mg"] / Decimal(1000)
            )
bad = [
    (key, wanted.get(key), found.get(key))
    for key in {*wanted, *found}
    # Who was never charged is in the report alone, with 0.
    if abs(wanted.get(key, 10**9) - found.get(key, 0)) >= Decimal("1e-9")
]
for line in bad:
    print("got", line[2], "want", line[1], "of", line[0])
sys.exit(bool(bad))
