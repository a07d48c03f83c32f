/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times within a report's period in which nobody watched the cluster: what
 * ended then is charged as estimated. A period without any has no such member.
 */
#include "api.h"
#include "batch.h"
#include "out.h"
#include "report_parts.h"

enum { MOST = 20 };

int
lt_report_put_away(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	struct lt_batch_away aways[MOST];
	const struct lt_period *const period = view->period;
	const int count =
	    lt_batch_aways(aways, MOST, period->start_utc_s, period->end_utc_s);
	json_t *const list = count > 0 ? json_array() : NULL;

	(void)err;
	if (list == NULL)
		return LT_OK;
	for (int i = 0; i < count; i++)
		json_array_append_new(
		    list, json_pack("{s:o,s:o}", "from",
			      lt_api_time(aways[i].from_utc_s), "to",
			      lt_api_time(aways[i].to_utc_s)));
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "away", list));
	return LT_OK;
}
