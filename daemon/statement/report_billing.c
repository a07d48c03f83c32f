/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sends invoices, and to whom: by the policy, or of a closed period by the
 * one with which it was closed.
 */
#include <stdlib.h>

#include "report_parts.h"

static const char *
first_said(const char *text, const char *other)
{
	return text[0] != '\0' ? text : other;
}

json_t *
lt_report_billing_now(const struct lt_report_work *w)
{
	const struct lt_policy_billing *const b = &w->billing;
	const char *const id = first_said(b->account_id, w->cluster);

	return b->is_billed
		   ? json_pack("{s:s,s:s,s:s}", "issuer",
			 first_said(b->issuer, w->cluster), "account_id", id,
			 "account_name", first_said(b->account_name, id))
		   : NULL;
}

json_t *
lt_report_billing(const struct lt_report_work *w, struct lt_ledger *ledger,
    struct lt_span span)
{
	struct lt_closed closed;

	if (lt_ledger_closed(ledger, span, &closed, NULL) != LT_OK &&
	    lt_ledger_closed_around(ledger, span, &closed, NULL) != LT_OK)
		return lt_report_billing_now(w);
	json_t *const head = json_loads(closed.head, 0, NULL);
	json_t *const billing = json_incref(json_object_get(head, "billing"));

	json_decref(head);
	return billing;
}
