/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: does plugstack's line give compute nodes the policy's precision
 * rules? There the policy file is not read.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "policy.h"

bool
lt_precision_argument(
    const struct lt_policy *policy, const char *line, char *want, size_t size)
{
	const char *const found = strstr(line, "precision=");
	const char *const at = found != NULL ? found : "";
	const size_t length = strcspn(at, " \t\n");

	lt_policy_precision_text(want, size, policy);
	return strlen(want) == length && strncmp(at, want, length) == 0;
}

void
lt_doctor_precision(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	enum { RULE_SIZE = LT_NAME_SIZE + 24 };
	char want[LT_PRECISION_RULES_MAX * RULE_SIZE];
	char mend[sizeof(want) + 1200];
	struct lt_plugstack line;

	if (!lt_doctor_own_line(doctor, &line))
		return; /* said by lt_doctor_plugstack() */
	if (lt_precision_argument(policy, line.text, want, sizeof(want))) {
		if (want[0] != '\0')
			lt_doctor_say(doctor, LT_LEVEL_OK, "precision", "",
			    "plugstack's line has the policy's rules");
		return;
	}
	if (want[0] != '\0')
		(void)lt_plugstack_mend(mend, sizeof(mend), &line, want);
	else
		snprintf(mend, sizeof(mend),
		    "sed -i '%ds|[ \\t]precision=[^ \\t]*||' %s", line.line,
		    line.path);
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "precision", mend,
	    "here and on compute nodes: jobs get other precision rules than the policy's: %s",
	    line.path);
}
