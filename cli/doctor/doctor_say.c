/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers of all checks: adds a finding, looks up a text in the probe's facts. A finding beyond
 * LT_FINDINGS_MAX is dropped.
 */
#include <stdarg.h>
#include <string.h>

#include "doctor.h"

void
lt_doctor_say(struct lt_doctor *doctor, enum lt_level level, const char *check, const char *mend,
    const char *format, ...)
{
	va_list arguments;

	if (doctor->count >= LT_FINDINGS_MAX)
		return;
	struct lt_finding *const finding = &doctor->findings[doctor->count++];

	finding->level = level;
	finding->check = check;
	/* A command that was cut must not be pasted. */
	snprintf(finding->mend, sizeof(finding->mend), "%s",
	    strlen(mend) < sizeof(finding->mend) ? mend : "see the manual page");
	va_start(arguments, format);
	vsnprintf(finding->found, sizeof(finding->found), format, arguments);
	va_end(arguments);
}

const char *
lt_doctor_conf(const struct lt_doctor *doctor, const char *key, const char *fallback)
{
	const char *const text = lt_json_text(json_object_get(doctor->facts, "conf"), key, NULL);

	return text != NULL && text[0] ? text : fallback;
}
