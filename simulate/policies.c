/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of policies, and the words that options have for all choices.
 */
#include <stddef.h>

#include "internal.h"
#include "lookup.h"

const struct lt_sim_rule lt_sim_rules[LT_SIM_POLICY_COUNT] = {
    [LT_SIM_NOWAIT] = {"nowait", "each job starts when it comes", false, false,
	NULL, NULL},
    [LT_SIM_LOWEST_SLOT] = {"lowest-slot", "at the cleanest hour (GAIA)", false,
	false, lt_sim_lowest_slot, NULL},
    [LT_SIM_LOWEST_WINDOW] = {"lowest-window",
	"at the cleanest span of an average run (GAIA)", false, false,
	lt_sim_lowest_window, NULL},
    [LT_SIM_CARBON_TIME] = {"carbon-time",
	"most saved for each hour until the end (GAIA)", false, false,
	lt_sim_carbon_time, NULL},
    [LT_SIM_ECOVISOR] = {"ecovisor",
	"suspended over the 30th percentile of a day", false, false, NULL,
	lt_sim_ecovisor},
    [LT_SIM_WAIT_AWHILE] = {"wait-awhile",
	"suspended but in the cleanest hours", false, false, NULL,
	lt_sim_wait_awhile},
    [LT_SIM_RES_FIRST] = {"res-first",
	"carbon-time, and at once on free reserved CPUs (GAIA)", false, true,
	lt_sim_carbon_time, NULL},
    [LT_SIM_OPTIMUM] = {"optimum", "the cleanest start there is, all known",
	false, false, lt_sim_optimum, NULL},
    [LT_SIM_LOWTIDE] = {"lowtide",
	"lt_decide(), and lt_replan() each hour until the start", true, false,
	NULL, NULL},
    [LT_SIM_LOWTIDE_PAUSE] = {"lowtide-pause",
	"suspended but in the hours expected cleanest, anew each hour", false,
	false, NULL, lt_sim_pause},
    [LT_SIM_LOWTIDE_SUSPEND] = {"lowtide-suspend",
	"suspended and let go on as lowtided does it, by lt_pause_plan()",
	false, false, NULL, lt_sim_suspend},
};

static const char *const forecast_names[LT_SIM_FORECAST_COUNT] = {
    [LT_SIM_PERFECT] = "perfect",
    [LT_SIM_OWN] = "own",
    [LT_SIM_OWN_WEEKS] = "own-weeks",
    [LT_SIM_YESTERDAY] = "yesterday",
    [LT_SIM_WEEK] = "hour-of-week",
};

static const char *const length_names[LT_SIM_LENGTH_COUNT] = {
    [LT_SIM_EXACT] = "exact",
    [LT_SIM_AVERAGE] = "average",
    [LT_SIM_LIMIT] = "limit",
    [LT_SIM_LEARNED] = "learned",
};

const char *
lt_sim_policy_name(int policy)
{
	return policy >= 0 && policy < LT_SIM_POLICY_COUNT
		   ? LT_ROW(lt_sim_rules, policy).name
		   : NULL;
}

const char *
lt_sim_policy_help(int policy)
{
	return policy >= 0 && policy < LT_SIM_POLICY_COUNT
		   ? LT_ROW(lt_sim_rules, policy).help
		   : NULL;
}

const char *
lt_sim_forecast_name(int forecast)
{
	return LT_WORD_OR(forecast_names, forecast, NULL);
}

const char *
lt_sim_length_name(int length)
{
	return LT_WORD_OR(length_names, length, NULL);
}

static const char *const again_names[LT_SIM_AGAIN_COUNT] = {
    [LT_SIM_REPLAN] = "replan",
    [LT_SIM_DECIDE] = "decide",
    [LT_SIM_NEVER] = "never",
};

const char *
lt_sim_again_name(int again)
{
	return LT_WORD_OR(again_names, again, NULL);
}
