/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes FOCUS 1.4: the columns of Cost and Usage in their order, and which member of a charge each
 * has. docs/formats.md gives the reasons; those that needed a decision:
 *
 * BilledCost is 0: lowtide invoices nobody, and a row that shares out what a provider billed must
 * not count again. If the site sends invoices (billed:
 * yes), it is the part that no provider bills: focus_rows.c. The cost of a run is EffectiveCost. A
 * price that changes by the hour has no unit price whose product is exact, so the unit that is
 * priced is one of the currency:
 * ListUnitPrice 1, PricingQuantity the amount. ConsumedQuantity is the use.
 */
#include <stddef.h>
#include <string.h>

#include "cli.h"
#include "focus.h"
#include "report.h"
#include "units.h"

enum {
	NOBODYS = LT_FOCUS_UNALLOCATED | LT_FOCUS_UNALLOCATED_CORRECTED,
	NODES = LT_FOCUS_USED | LT_FOCUS_USED_CORRECTED | NOBODYS,
	CARBON = LT_FOCUS_CARBON_CHARGED | LT_FOCUS_CARBON_CORRECTED,
	DISCOUNT = LT_FOCUS_DISCOUNTED | LT_FOCUS_DISCOUNT_CORRECTED,
	CHARGES = LT_FOCUS_USED | LT_FOCUS_CARBON_CHARGED | LT_FOCUS_DISCOUNTED,
	CORRECTIONS = LT_FOCUS_USED_CORRECTED | LT_FOCUS_CARBON_CORRECTED |
		      LT_FOCUS_DISCOUNT_CORRECTED | LT_FOCUS_UNALLOCATED_CORRECTED,
	USAGE = NODES | CARBON,
	RUNS = LT_FOCUS_USED | LT_FOCUS_USED_CORRECTED | CARBON | DISCOUNT,
	SHARES = RUNS | NOBODYS,
	ADJUSTMENT = LT_FOCUS_ADJUSTMENT,
	ALL = SHARES | ADJUSTMENT,
};

enum kind {
	CONSTANT,
	TEXT,
	CATEGORY, /* a text; the column may not be there */
	CELL,
	DECIMAL,
	BILLED, /* a decimal; 0 where nobody bills */
	TIME,
	FIELD,
	JOB_TAGS
};

static const struct column {
	const char *name;
	enum kind kind;
	unsigned rows;	  /* that have a value */
	const char *text; /* CONSTANT */
	size_t at;	  /* of struct lt_focus_charge; FIELD: of its fields */
} columns[] = {
#define SAYS(rows, text) CONSTANT, rows, text, 0
#define OF(kind, rows, member) kind, rows, NULL, offsetof(struct lt_focus_charge, member)
#define RUNS_OWN(field) FIELD, RUNS, NULL, field
    {"AllocatedMethodId", SAYS(SHARES, "lowtide-node-share")},
    {"AllocatedResourceId", RUNS_OWN(LT_FOCUS_JOB_ID)},
    {"AllocatedResourceName", RUNS_OWN(LT_FOCUS_NAME)},
    {"AllocatedTags", JOB_TAGS, RUNS, NULL, 0},
    {"BilledCost", OF(BILLED, ALL, billed)},
    {"BillingAccountId", OF(TEXT, ALL, account_id)},
    {"BillingAccountName", OF(TEXT, ALL, account_name)},
    {"BillingCurrency", OF(TEXT, ALL, currency)},
    {"BillingPeriodEnd", OF(TIME, ALL, period_end)},
    {"BillingPeriodStart", OF(TIME, ALL, period_start)},
    {"ChargeCategory", SAYS(USAGE, "Usage")},
    {"ChargeClass", OF(TEXT, SHARES, class)},
    {"ChargeDescription", OF(TEXT, ALL, description)},
    {"ChargeFrequency", SAYS(SHARES, "Usage-Based")},
    {"ChargePeriodEnd", OF(TIME, ALL, end)},
    {"ChargePeriodStart", OF(TIME, ALL, start)},
    {"ConsumedQuantity", OF(DECIMAL, USAGE, consumed)},
    {"ConsumedUnit", SAYS(NODES, "Node-Hours")},
    {"ContractedCost", OF(DECIMAL, USAGE, cost)},
    {"ContractedUnitPrice", SAYS(USAGE, "1")},
    {"EffectiveCost", OF(DECIMAL, ALL, cost)},
    {"HostProviderName", OF(TEXT, ALL, cluster)},
    {"InvoiceIssuerName", OF(TEXT, ALL, issuer)},
    {"ListCost", OF(DECIMAL, USAGE, cost)},
    {"ListUnitPrice", SAYS(USAGE, "1")},
    {"PricingCategory", OF(CATEGORY, USAGE, category)},
    {"PricingQuantity", OF(DECIMAL, USAGE, cost)},
    {"PricingUnit", SAYS(USAGE, "Units")},
    {"ResourceId", OF(TEXT, SHARES, resource)},
    {"ResourceName", OF(TEXT, SHARES, partition)},
    {"ResourceType", SAYS(SHARES, "Partition")},
    {"ServiceCategory", SAYS(ALL, "Compute")},
    {"ServiceName", SAYS(ALL, "Slurm")},
    {"ServiceProviderName", OF(TEXT, ALL, cluster)},
    {"ServiceSubcategory", SAYS(ALL, "Other (Compute)")},
    {"SkuId", SAYS(NODES, "lowtide-node-share")},
    {"SkuMeter", SAYS(NODES, "Node share")},
    {"SkuPriceDetails", SAYS(0, NULL)},
    {"SkuPriceId", OF(TEXT, NODES, sku_price)},
    {"SubAccountId", OF(TEXT, ALL, account)},
    {"SubAccountName", OF(TEXT, ALL, account)},
    {"Tags", OF(CELL, ALL, tags)},
    {"x_AdjustedBy", OF(TEXT, ADJUSTMENT, who)},
    {"x_CarbonKg", OF(DECIMAL, ALL, carbon)},
    {"x_CpuCount", RUNS_OWN(LT_FOCUS_CPUS)},
    {"x_DataQuality", RUNS_OWN(LT_FOCUS_QUALITY)},
    {"x_EnergyKwh", OF(DECIMAL, ALL, energy)},
    {"x_Entry", SAYS(CHARGES, "Charge")},
    {"x_GpuCount", RUNS_OWN(LT_FOCUS_GPUS)},
    {"x_GpuModel", RUNS_OWN(LT_FOCUS_GPU)},
    {"x_MemoryMebibytes", RUNS_OWN(LT_FOCUS_MEMORY)},
    {"x_NodeCount", RUNS_OWN(LT_FOCUS_NODES)},
    {"x_Partition", OF(TEXT, SHARES, partition)},
    {"x_SlurmArrayJobId", RUNS_OWN(LT_FOCUS_ARRAY_JOB_ID)},
    {"x_SlurmArrayTaskId", RUNS_OWN(LT_FOCUS_ARRAY_TASK)},
    {"x_SlurmCluster", OF(TEXT, ALL, cluster)},
    {"x_SlurmExitCode", RUNS_OWN(LT_FOCUS_EXIT_CODE)},
    {"x_SlurmJobId", RUNS_OWN(LT_FOCUS_JOB_ID)},
    {"x_SlurmQos", RUNS_OWN(LT_FOCUS_QOS)},
    {"x_SlurmState", RUNS_OWN(LT_FOCUS_STATE)},
    {"x_SlurmSubmit", RUNS_OWN(LT_FOCUS_SUBMIT)},
    {"x_SlurmUser", RUNS_OWN(LT_FOCUS_USER)},
    {"x_SlurmWckey", RUNS_OWN(LT_FOCUS_WCKEY)},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* Constants of single kinds of rows. */
static const struct {
	const char *name;
	unsigned rows;
	const char *text;
} others[] = {
    {"ChargeCategory", ADJUSTMENT, "Adjustment"},
    {"ChargeCategory", DISCOUNT, "Credit"},
    {"ChargeFrequency", ADJUSTMENT, "One-Time"},
    {"ConsumedUnit", CARBON, "Kilograms"},
    {"SkuId", CARBON, "lowtide-carbon"},
    {"SkuMeter", CARBON, "CO2e"},
    {"SkuPriceId", CARBON, "lowtide-carbon"},
    {"x_Entry", CORRECTIONS, "Correction"},
    {"x_Entry", ADJUSTMENT, "Adjustment"},
    {"x_Entry", LT_FOCUS_UNALLOCATED, "Unallocated"},
};

/* True for columns that have the billed cost. In the specification these are all costs but
 * EffectiveCost, for a credit and for an adjustment that belongs to no other charge. */
static bool
is_as_billed(const struct column *column, unsigned entry)
{
	return !(entry & USAGE) && (strcmp(column->name, "ListCost") == 0 ||
				       strcmp(column->name, "ContractedCost") == 0);
}

static const char *
other_constant(const struct column *column, unsigned entry)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if ((others[i].rows & entry) && strcmp(others[i].name, column->name) == 0)
			return others[i].text;
	return "";
}

void
lt_focus_header(FILE *out, bool has_category)
{
	for (int i = 0; i < COLUMNS; i++)
		if (has_category || columns[i].kind != CATEGORY)
			fprintf(out, "%s%s", i > 0 ? "," : "", columns[i].name);
	fputs("\r\n", out);
}

/* Writes text inside a quoted cell. */
static void
put_quoted(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"')
			fputc('"', out);
		fputc(text[i], out);
	}
}

void
lt_focus_tags(FILE *out, const json_t *labels)
{
	json_t *const tags = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)labels, key, value)
		if (json_is_string(value))
			json_object_set(tags, key, value);
	char *const text =
	    json_object_size(tags) > 0 ? json_dumps(tags, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	if (text != NULL) {
		fputc('"', out);
		put_quoted(out, text, strlen(text));
		fputc('"', out);
	}
	free(text);
	json_decref(tags);
}

/* Writes the tags that identify the job in its team. The specification wants a prefix, "lowtide/",
 * for tags that no user made. */
static void
put_job_tags(FILE *out, const struct lt_field *fields)
{
	static const struct {
		const char *key;
		enum lt_focus_field field;
	} tags[] = {{"account", LT_FOCUS_ACCOUNT}, {"name", LT_FOCUS_NAME}, {"qos", LT_FOCUS_QOS},
	    {"user", LT_FOCUS_USER}, {"wckey", LT_FOCUS_WCKEY}};
	bool first = true;

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		const struct lt_field *const field = &fields[tags[i].field];

		if (field->length <= 2 || *field->at != '"')
			continue;
		fprintf(out, "%s\"\"lowtide/%s\"\":", first ? "\"{" : ",", tags[i].key);
		put_quoted(out, field->at, field->length);
		first = false;
	}
	fputs(first ? "" : "}\"", out);
}

static void
put_figure(FILE *out, const struct lt_figure *figure, enum kind kind)
{
	char text[48];

	if (!figure->known)
		return;
	fputs(kind == TIME ? lt_utc_text(text, sizeof(text), figure->value)
			   : lt_micros_exact(text, sizeof(text), figure->value),
	    out);
}

static void
put_billed(FILE *out, const struct lt_focus_charge *charge)
{
	if (charge->billed.known)
		put_figure(out, &charge->billed, DECIMAL);
	else
		fputc('0', out);
}

static void
put_column(FILE *out, const struct column *column, const struct lt_focus_charge *charge)
{
	const void *const at = (const char *)charge + column->at;
	const char *text;

	switch (column->kind) {
	case CONSTANT:
		fputs(column->text, out);
		break;
	case TEXT:
	case CATEGORY:
		memcpy(&text, at, sizeof(text));
		lt_csv_text(out, text != NULL ? text : "");
		break;
	case CELL:
		memcpy(&text, at, sizeof(text));
		fputs(text, out);
		break;
	case BILLED:
		put_billed(out, charge);
		break;
	case DECIMAL:
	case TIME:
		put_figure(out, at, column->kind);
		break;
	case FIELD:
		lt_field_csv(out, &charge->fields[column->at]);
		break;
	case JOB_TAGS:
		put_job_tags(out, charge->fields);
		break;
	}
}

void
lt_focus_print(FILE *out, const struct lt_focus_charge *charge)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (columns[i].kind == CATEGORY && !charge->has_category)
			continue;
		if (i > 0)
			fputc(',', out);
		if (is_as_billed(&columns[i], charge->entry))
			put_billed(out, charge);
		else if (columns[i].rows & charge->entry)
			put_column(out, &columns[i], charge);
		else
			fputs(other_constant(&columns[i], charge->entry), out);
	}
	fputs("\r\n", out);
}

/* ---- members that all charges have: cluster, currency, billing period, issuer
 * and times ---- */

int
lt_focus_span(
    struct lt_figure *start, struct lt_figure *end, const json_t *period, struct lt_error *err)
{
	start->known = end->known = true;
	if (lt_utc_parse(lt_json_text(period, "start", ""), &start->value, err) ||
	    lt_utc_parse(lt_json_text(period, "end", ""), &end->value, err))
		lt_context(err, "focus: the period");
	return err->code;
}

const json_t *
lt_focus_months(const json_t *report, struct lt_error *err)
{
	const json_t *const months = json_object_get(json_object_get(report, "period"), "months");

	if (json_array_size(months) > 0)
		return months;
	lt_fail(err, LT_EVERSION,
	    "focus: lowtided does not say which months it bills; it is an older release");
	return NULL;
}

int
lt_focus_start(struct lt_focus_charge *charge, const json_t *report, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	const json_t *months;

	*charge = (struct lt_focus_charge){
	    .cluster = lt_json_text(report, "cluster", ""),
	    .currency = currency,
	    .sku_price = LT_FOCUS_NODE_SHARE,
	    .category = "Other",
	    .consumed.known = true, /* a correction: nothing more */
	};
	if (strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
		return lt_fail(err, LT_EINPUT,
		    "focus: got the currency \"%s\", want one of ISO 4217, such as USD", currency);
	if (charge->cluster[0] == '\0')
		return lt_fail(err, LT_EINPUT, "focus: the cluster has no name");
	if (lt_focus_span(&charge->from, &charge->to, json_object_get(report, "period"), err) ||
	    (months = lt_focus_months(report, err)) == NULL)
		return err->code;
	const json_t *const month = json_array_get(months, 0);
	const json_t *const billing = json_object_get(month, "billing");

	charge->issuer = lt_json_text(billing, "issuer", charge->cluster);
	charge->account_id = lt_json_text(billing, "account_id", charge->cluster);
	charge->account_name = lt_json_text(billing, "account_name", charge->cluster);
	return lt_focus_span(&charge->period_start, &charge->period_end, month, err);
}

void
lt_focus_times(struct lt_focus_charge *charge, int64_t start, int64_t end, int64_t from, int64_t to)
{
	const int64_t first = start > from ? start : from;
	const int64_t last = end < to ? end : to;

	charge->start = (struct lt_figure){true, first};
	charge->end = (struct lt_figure){true, last > first ? last : first + 1};
}

int
lt_focus_start_row(struct lt_focus_charge *charge, const struct lt_rows *rows, struct lt_error *err)
{
	if (lt_focus_start(charge, rows->report, err))
		return err->code;
	charge->billing = rows->own;
	charge->has_category = rows->kind->flags & LT_FOCUS_HAS_CATEGORY;
	return LT_OK;
}
