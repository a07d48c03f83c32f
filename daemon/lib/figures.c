/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "figures.h"

#include <stddef.h>

#define MONEY LT_UNIT_MONEY
#define CARBON LT_UNIT_CARBON
#define COUNT LT_UNIT_COUNT

/* ---- teams ---- */

/* Tables have them by section, where a title stands, too. */
const struct lt_figure_kind lt_team_figures[LT_TEAM_FIGURES] = {
    [LT_TEAM_CHARGES] = {"charges_micros", MONEY, "charges"},
    [LT_TEAM_CORRECTIONS] = {"corrections_micros", MONEY, "corrections"},
    [LT_TEAM_ADJUSTMENTS] = {"adjustments_micros", MONEY, "adjustments",
	.html = "Adjustments"},
    [LT_TEAM_COST] = {"cost_micros", MONEY, "cost"},
    [LT_TEAM_BUDGET] = {"budget_micros", MONEY, "budget", .absent = "none"},
    [LT_TEAM_ACTUAL] = {"actual_micros", MONEY, "actual"},
    [LT_TEAM_HELD] = {"held_micros", MONEY, "held"},
    [LT_TEAM_AVAILABLE] = {"available_micros", MONEY, "available",
	.absent = "none"},
    [LT_TEAM_BASE] = {"base_micros", MONEY, "without_lowtide"},
    [LT_TEAM_SAVED] = {"saved_micros", MONEY, "saved"},
    [LT_TEAM_CHARGES_MG] = {"charges_mg", CARBON, "charges_kg_co2e",
	.html = "Charges, kg CO2e"},
    [LT_TEAM_CORRECTIONS_MG] = {"corrections_mg", CARBON, "corrections_kg_co2e",
	.html = "Corrections, kg CO2e"},
    [LT_TEAM_ADJUSTMENTS_MG] = {"adjustments_mg", CARBON, "adjustments_kg_co2e",
	.html = "Adjustments, kg CO2e"},
    [LT_TEAM_CARBON] = {"carbon_mg", CARBON, "kg_co2e",
	.html = "Total, kg CO2e"},
    [LT_TEAM_BUDGET_MG] = {"budget_mg", CARBON, "budget_kg_co2e",
	.absent = "none", .html = "Carbon budget, kg CO2e"},
    [LT_TEAM_ACTUAL_MG] = {"actual_mg", CARBON, "actual_kg_co2e"},
    [LT_TEAM_HELD_MG] = {"held_mg", CARBON, "held_kg_co2e"},
    [LT_TEAM_AVAILABLE_MG] = {"available_mg", CARBON, "available_kg_co2e",
	.absent = "none"},
    [LT_TEAM_BASE_MG] = {"base_mg", CARBON, "without_lowtide_kg_co2e"},
    [LT_TEAM_SAVED_MG] = {"saved_mg", CARBON, "saved_kg_co2e"},
    [LT_TEAM_ENERGY] = {"energy_wh", LT_UNIT_ENERGY, "energy_wh",
	.html = "Energy, kWh"},
    [LT_TEAM_RUNS] = {"runs", COUNT, "runs"},
    [LT_TEAM_MOVED_RUNS] = {"moved_runs", COUNT, "moved_runs"},
    [LT_TEAM_UNPRICED_RUNS] = {"unpriced_runs", COUNT, "unpriced_runs"},
    [LT_TEAM_REPLAY] = {"replay", LT_UNIT_FLAG, "replayed_signals"},
    [LT_TEAM_NODES] = {"nodes_micros", MONEY, "nodes", .html = "Nodes"},
    [LT_TEAM_CARBON_CHARGE] = {"carbon_charge_micros", MONEY, "carbon_charge",
	.html = "Carbon charge"},
    [LT_TEAM_DISCOUNT] = {"discount_micros", MONEY, "discount",
	.html = "Discount for having waited"},
    [LT_TEAM_GPUS_SLURMCTLD_RUNS] = {"gpus_slurmctld_runs", COUNT},
    [LT_TEAM_GPUS_UNKNOWN_RUNS] = {"gpus_unknown_runs", COUNT},
};

const struct lt_section lt_sections[LT_SECTIONS] = {
    [LT_SECTION_STATEMENT] = {"Statement", true,
	{{LT_TEAM_CHARGES, "CHARGES"}, {LT_TEAM_CORRECTIONS, "CORRECTIONS"},
	    {LT_TEAM_ADJUSTMENTS, "ADJUSTMENTS"}, {LT_TEAM_COST, "COST"}}},
    [LT_SECTION_PARTS] = {"The same cost by what it is for", true,
	{{LT_TEAM_NODES, "NODES"}, {LT_TEAM_CARBON_CHARGE, "CARBON CHARGE"},
	    {LT_TEAM_DISCOUNT, "LESS DISCOUNT"},
	    {LT_TEAM_ADJUSTMENTS, "ADJUSTMENTS"}, {LT_TEAM_COST, "COST"}}},
    [LT_SECTION_BUDGET] = {"Budget", true,
	{{LT_TEAM_BUDGET, "BUDGET"}, {LT_TEAM_ACTUAL, "ACTUAL"},
	    {LT_TEAM_HELD, "HELD"}, {LT_TEAM_AVAILABLE, "AVAILABLE"}}},
    [LT_SECTION_CARBON] = {"Carbon statement, kg CO2e", false,
	{{LT_TEAM_CHARGES_MG, "CHARGES"},
	    {LT_TEAM_CORRECTIONS_MG, "CORRECTIONS"},
	    {LT_TEAM_ADJUSTMENTS_MG, "ADJUSTMENTS"}, {LT_TEAM_CARBON, "CO2e"}}},
    [LT_SECTION_CARBON_BUDGET] = {"Carbon budget, kg CO2e", false,
	{{LT_TEAM_BUDGET_MG, "BUDGET"}, {LT_TEAM_ACTUAL_MG, "ACTUAL"},
	    {LT_TEAM_HELD_MG, "HELD"}, {LT_TEAM_AVAILABLE_MG, "AVAILABLE"}}},
    [LT_SECTION_RUNS] =
	{"Runs, and what was saved against the plan without lowtide", false,
	    {{LT_TEAM_RUNS, "RUNS"}, {LT_TEAM_MOVED_RUNS, "MOVED"},
		{LT_TEAM_UNPRICED_RUNS, "UNPRICED"},
		{LT_TEAM_ENERGY, "ENERGY kWh"}, {LT_TEAM_CARBON, "CO2e kg"},
		{LT_TEAM_SAVED_MG, "SAVED CO2e kg"}, {LT_TEAM_SAVED, "SAVED"}}},
};

/* ---- groups ---- */

const struct lt_figure_kind lt_group_figures[LT_GROUP_FIGURES] = {
    [LT_GROUP_RUNS] = {"runs", COUNT, "runs", "RUNS"},
    [LT_GROUP_COST] = {"cost_micros", MONEY, "cost", "COST"},
    [LT_GROUP_CARBON] = {"carbon_mg", CARBON, "kg_co2e", "CO2e kg"},
    [LT_GROUP_ENERGY] = {"energy_wh", LT_UNIT_ENERGY, "energy_wh",
	"ENERGY kWh"},
    [LT_GROUP_BASE] = {"base_micros", MONEY, "without_lowtide"},
    [LT_GROUP_BASE_MG] = {"base_mg", CARBON, "without_lowtide_kg_co2e"},
    [LT_GROUP_CPU_S] = {"cpu_s", LT_UNIT_HOURS, "cpu_seconds"},
    [LT_GROUP_GPU_S] = {"gpu_s", LT_UNIT_HOURS, "gpu_seconds", "GPU-HOURS"},
    [LT_GROUP_NODE_S] = {"node_s", LT_UNIT_HOURS, "node_seconds", "NODE-HOURS"},
    [LT_GROUP_FAILED_RUNS] = {"failed_runs", COUNT, "failed_runs", "FAILED"},
    [LT_GROUP_FAILED] = {"failed_micros", MONEY, "failed_cost",
	"COST OF FAILED"},
    [LT_GROUP_ESTIMATED_RUNS] = {"estimated_runs", COUNT, "estimated_runs"},
    [LT_GROUP_ESTIMATED_MG] = {"estimated_mg", CARBON, "estimated_kg_co2e"},
    [LT_GROUP_MEASURED] = {"measured_micros", MONEY, "measured_cost",
	"OF MEASURED"},
    [LT_GROUP_IDLE] = {"idle_micros", MONEY, "idle_cost", "IDLE"},
    [LT_GROUP_CARBON_CHARGE] = {"carbon_charge_micros", MONEY, "carbon_charge",
	"CARBON CHARGE"},
    [LT_GROUP_DISCOUNT] = {"discount_micros", MONEY, "discount", "DISCOUNT"},
    [LT_GROUP_UNPRICED] = {"unpriced_runs", COUNT, "unpriced_runs", "UNPRICED"},
    [LT_GROUP_EARLIER] = {"earlier_micros", MONEY},
    [LT_GROUP_ENDED] = {"", COUNT},
};

const enum lt_group_figure lt_group_csv[] = {LT_GROUP_RUNS, LT_GROUP_COST,
    LT_GROUP_CARBON, LT_GROUP_ENERGY, LT_GROUP_BASE, LT_GROUP_BASE_MG,
    LT_GROUP_NODE_S, LT_GROUP_CPU_S, LT_GROUP_GPU_S, LT_GROUP_FAILED_RUNS,
    LT_GROUP_FAILED, LT_GROUP_ESTIMATED_RUNS, LT_GROUP_ESTIMATED_MG,
    LT_GROUP_MEASURED, LT_GROUP_IDLE, LT_GROUP_CARBON_CHARGE, LT_GROUP_DISCOUNT,
    LT_GROUP_FIGURES};
const enum lt_group_figure lt_group_more_csv[] = {
    LT_GROUP_UNPRICED, LT_GROUP_FIGURES};

const struct lt_group_column lt_group_columns[LT_GROUP_COLUMNS] = {
    {LT_GROUP_RUNS, LT_GROUP_FIGURES}, {LT_GROUP_COST, LT_GROUP_FIGURES},
    {LT_GROUP_CARBON, LT_GROUP_FIGURES}, {LT_GROUP_ENERGY, LT_GROUP_FIGURES},
    {LT_GROUP_NODE_S, LT_GROUP_FIGURES}, {LT_GROUP_GPU_S, LT_GROUP_FIGURES},
    {LT_GROUP_FAILED_RUNS, LT_GROUP_FIGURES},
    {LT_GROUP_FAILED, LT_GROUP_FIGURES}, {LT_GROUP_IDLE, LT_GROUP_MEASURED},
    {LT_GROUP_MEASURED, LT_GROUP_MEASURED},
    {LT_GROUP_CARBON_CHARGE, LT_GROUP_CARBON_CHARGE},
    {LT_GROUP_DISCOUNT, LT_GROUP_DISCOUNT},
    {LT_GROUP_UNPRICED, LT_GROUP_UNPRICED}};

/* ---- trees ---- */

const struct lt_figure_kind lt_tree_figures[LT_TREE_FIGURES] = {
    {"own_micros", MONEY, "own_cost", "OWN", .total = "cost_micros"},
    {"cost_micros", MONEY, "cost_with_below", "WITH BELOW",
	.total = "cost_micros"},
    {"budget_micros", MONEY, "budget", "BUDGET", .absent = "none"},
    {"available_micros", MONEY, "available", "AVAILABLE", .absent = "none"},
    {"saved_micros", MONEY, .csv = "saved_with_below"},
    {"own_mg", CARBON, "own_kg_co2e", "OWN CO2e kg", .total = "carbon_mg"},
    {"carbon_mg", CARBON, "kg_co2e_with_below", "WITH BELOW",
	.total = "carbon_mg"},
    {"budget_mg", CARBON, .csv = "budget_kg_co2e"},
    {"available_mg", CARBON, .csv = "available_kg_co2e"},
    {"energy_wh", LT_UNIT_ENERGY, .csv = "energy_wh_with_below"},
    {"own_runs", COUNT, "own_runs", "OWN RUNS", .total = "runs"},
    {"runs", COUNT, "runs_with_below", "WITH BELOW", .total = "runs"},
};

/* ---- lowtide's own balance ---- */

const struct lt_figure_kind lt_balance_figures[LT_BALANCE_FIGURES] = {
    [LT_BALANCE_RUNS] = {"runs", COUNT, "runs", "RUNS"},
    [LT_BALANCE_MOVED_RUNS] = {"moved_runs", COUNT, "moved_runs", "MOVED",
	.html = "Moved"},
    [LT_BALANCE_SAVED] = {"saved_micros", MONEY, "saved", "SAVED",
	.html = "Saved"},
    [LT_BALANCE_MEASURED] = {"measured_micros", MONEY, "saved_measured",
	"MEASURED", .html = "Measured"},
    [LT_BALANCE_SAVED_MG] = {"saved_mg", CARBON, "saved_kg_co2e",
	"SAVED CO2e kg", .html = "kg CO2e"},
    [LT_BALANCE_MEASURED_MG] = {"measured_mg", CARBON, "saved_kg_co2e_measured",
	"MEASURED", .html = "Measured"},
    [LT_BALANCE_WAITED] = {"waited_s", LT_UNIT_HOURS, "waited_s", "WAITED h",
	.html = "Hours"},
    [LT_BALANCE_WORSE_JOBS] = {"worse_jobs", COUNT, "worse_jobs", "WORSE",
	.html = "Worse"},
    [LT_BALANCE_WORSE_OF_JOBS] = {"worse_of_jobs", COUNT, "worse_of_jobs",
	"OF JOBS"},
    [LT_BALANCE_REFUSED_JOBS] = {"refused_jobs", COUNT, "refused_jobs",
	"REFUSED", .html = "Refused"},
};

/* ---- owned nodes ---- */

const struct lt_figure_kind lt_unused_figures[LT_UNUSED_FIGURES] = {
    [LT_UNUSED_PAID_S] = {"paid_node_s", LT_UNIT_HOURS, NULL, "PAID h",
	.html = "Paid h"},
    [LT_UNUSED_USED_S] = {"used_node_s", LT_UNIT_HOURS, NULL, "USED h",
	.html = "Used h"},
    [LT_UNUSED_REST_S] = {"unused_node_s", LT_UNIT_HOURS, NULL, "UNUSED h",
	.html = "Not used h"},
    [LT_UNUSED_PAID] = {"paid_micros", MONEY, NULL, "PAID", .html = "Paid"},
    [LT_UNUSED_USED] = {"used_micros", MONEY, NULL, "USED", .html = "Used"},
    [LT_UNUSED_REST] = {"unused_micros", MONEY, NULL, "UNUSED",
	.html = "Not used"},
};
