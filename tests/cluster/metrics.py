# SPDX-License-Identifier: GPL-2.0-or-later
"""metrics.py TEXT REPORT BUDGET: are the figures of a scrape those of `lowtide
report --format json` and `lowtide budget --json`, digit for digit?"""
import json
import re
import sys
from decimal import Decimal

found = {}
for line in open(sys.argv[1], encoding="utf-8"):
    match = re.fullmatch(r'(\w+)\{(.*)\} (\S+)\n', line)
    if match:
        labels = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
        if "account" not in labels:
            continue
        key = match[1], labels["account"], labels["window"]
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
    if abs(wanted.get(key, 10**9) - found.get(key, -(10**9))) >= Decimal("1e-9")
]
for line in bad:
    print("got", line[2], "want", line[1], "of", line[0])
sys.exit(bool(bad))
