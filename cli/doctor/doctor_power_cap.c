/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: do compute nodes ask for the power caps that the policy promises?
 * Without power_cap=yes they are told to users and do not come.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "policy.h"

void
lt_doctor_power_cap(struct lt_doctor *doctor, const struct lt_policy *policy)
{
	struct lt_plugstack line;
	char mend[2048];

	if (policy->power_cap_count == 0 || !lt_doctor_own_line(doctor, &line))
		return;
	const char *const value = lt_plugstack_value(&line, "power_cap");
	const size_t length = value != NULL ? strcspn(value, " \t") : 0;

	if (length == 3 && strncmp(value, "yes", length) == 0)
		lt_doctor_say(doctor, LT_LEVEL_OK, "power_cap", "",
		    "compute nodes ask for a job's power cap");
	else if (value == NULL || (length == 2 && strncmp(value, "no", 2) == 0))
		lt_doctor_say(doctor, LT_LEVEL_WARNING, "power_cap",
		    lt_plugstack_mend(
			mend, sizeof(mend), &line, "power_cap=yes"),
		    "here and on compute nodes: jobs are told a power cap that they do not get: %s",
		    line.path);
}
