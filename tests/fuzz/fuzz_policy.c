/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the policy file: any bytes give a policy within its bounds, or a refusal that says why,
 * with a place.
 */
#include <stdint.h>
#include <string.h>

#include "policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);

static void
check_policy(const struct lt_policy *policy)
{
	for (int i = 0; i < policy->partition_count; i++) {
		const struct lt_policy_signal *carbon = &policy->partitions[i].carbon;

		for (int j = 0; j < carbon->source_count; j++)
			if (carbon->sources[j] < 0 || carbon->sources[j] >= policy->source_count)
				__builtin_trap();
		const struct lt_policy_pue *const pue = &policy->partitions[i].pue;

		for (int j = 0; j < pue->count; j++)
			if (!(pue->months[j].value >= 1) ||
			    (j > 0 && pue->months[j].from_utc_s <= pue->months[j - 1].from_utc_s))
				__builtin_trap();
	}
	for (int i = 0; i < policy->budget_count; i++)
		if (policy->budgets[i].team[0] == '\0' || policy->budgets[i].limit.money_micros < 0)
			__builtin_trap();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const char *const adapters[] = {"static", "uk_carbon_intensity", NULL};
	struct lt_policy *policy = NULL;
	struct lt_policy_errors errors = {0};

	if (lt_policy_parse_all(&policy,
		&(struct lt_policy_text){"fuzz", (const char *)bytes, byte_count}, adapters,
		&errors) == LT_OK) {
		check_policy(policy);
	} else {
		if (policy != NULL || errors.count == 0)
			__builtin_trap();
		for (int i = 0; i < errors.count; i++)
			if (strncmp(errors.items[i].text, "fuzz:", 5) != 0)
				__builtin_trap(); /* a refusal says where */
	}
	lt_policy_free(policy);
	return 0;
}
