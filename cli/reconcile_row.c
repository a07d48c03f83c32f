/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of invoices as tables of columns, and a row of them: when, what
 * it costs, and whether it is the use of an instance. Columns by the FOCUS
 * specification and AWS's dictionaries of the Cost and Usage Report.
 */
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "reconcile_row.h"
#include "text_mend.h"
#include "units.h"

struct kind { /* of a charge that is the use of something */
	const char *name;
	bool has_quantity; /* else it is a part of what such a use costs */
};

struct lt_invoice_format {
	const char *name;
	const char *service; /* that instances are charged as */
	const char *unit;    /* where no column says it */
	struct kind kinds[9];
	struct lt_csv_column columns[LT_FIELD_COUNT];
};

#define AWS_KINDS                                                              \
	{                                                                      \
		{"Usage", true}, {"DiscountedUsage", true},                    \
		    {"SavingsPlanCoveredUsage", true},                         \
		    {"SavingsPlanNegation", false}, {"EdpDiscount", false},    \
		    {"BundledDiscount", false},                                \
		    {"PrivateRateDiscount", false}, {"Discount", false},       \
	}

static const struct lt_invoice_format formats[] = {
    {
	.name = "FOCUS",
	.service = "Compute",
	.unit = "",
	.kinds = {{"Usage", true}},
	.columns =
	    {
		[LT_FIELD_START] = {"ChargePeriodStart", true},
		[LT_FIELD_END] = {"ChargePeriodEnd", true},
		[LT_FIELD_PERIOD_START] = {"BillingPeriodStart", false},
		[LT_FIELD_PERIOD_END] = {"BillingPeriodEnd", false},
		[LT_FIELD_COST] = {"BilledCost", true},
		[LT_FIELD_CURRENCY] = {"BillingCurrency", true},
		[LT_FIELD_KIND] = {"ChargeCategory", true},
		[LT_FIELD_QUANTITY] = {"ConsumedQuantity", false},
		[LT_FIELD_UNIT] = {"ConsumedUnit", false},
		[LT_FIELD_SERVICE] = {"ServiceCategory", false},
		[LT_FIELD_TYPE] = {"x_SkuInstanceType", false},
		[LT_FIELD_TYPE_OTHER] = {"x_InstanceType", false},
		[LT_FIELD_DETAILS] = {"SkuPriceDetails", false},
		[LT_FIELD_DETAILS_OTHER] = {"x_SkuDetails", false},
		[LT_FIELD_USAGE] = {"SkuMeter", false},
		[LT_FIELD_USAGE_OTHER] = {"x_UsageType", false},
	    },
    },
    {
	.name = "AWS CUR",
	.service = "AmazonEC2",
	.unit = "Hrs",
	.kinds = AWS_KINDS,
	.columns =
	    {
		[LT_FIELD_START] = {"lineItem/UsageStartDate", true},
		[LT_FIELD_END] = {"lineItem/UsageEndDate", true},
		[LT_FIELD_PERIOD_START] = {"bill/BillingPeriodStartDate",
		    false},
		[LT_FIELD_PERIOD_END] = {"bill/BillingPeriodEndDate", false},
		[LT_FIELD_COST] = {"lineItem/UnblendedCost", true},
		[LT_FIELD_CURRENCY] = {"lineItem/CurrencyCode", true},
		[LT_FIELD_KIND] = {"lineItem/LineItemType", true},
		[LT_FIELD_QUANTITY] = {"lineItem/UsageAmount", false},
		[LT_FIELD_UNIT] = {"pricing/unit", false},
		[LT_FIELD_SERVICE] = {"lineItem/ProductCode", false},
		[LT_FIELD_TYPE] = {"product/instanceType", false},
		[LT_FIELD_USAGE] = {"lineItem/UsageType", false},
	    },
    },
    {
	.name = "AWS CUR 2.0",
	.service = "AmazonEC2",
	.unit = "Hrs",
	.kinds = AWS_KINDS,
	.columns =
	    {
		[LT_FIELD_START] = {"line_item_usage_start_date", true},
		[LT_FIELD_END] = {"line_item_usage_end_date", true},
		[LT_FIELD_PERIOD_START] = {"bill_billing_period_start_date",
		    false},
		[LT_FIELD_PERIOD_END] = {"bill_billing_period_end_date", false},
		[LT_FIELD_COST] = {"line_item_unblended_cost", true},
		[LT_FIELD_CURRENCY] = {"line_item_currency_code", true},
		[LT_FIELD_KIND] = {"line_item_line_item_type", true},
		[LT_FIELD_QUANTITY] = {"line_item_usage_amount", false},
		[LT_FIELD_UNIT] = {"pricing_unit", false},
		[LT_FIELD_SERVICE] = {"line_item_product_code", false},
		[LT_FIELD_TYPE] = {"product_instance_type", false},
		[LT_FIELD_USAGE] = {"line_item_usage_type", false},
	    },
    },
};
enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

const char *
lt_invoice_format_name(const struct lt_invoice_parser *parser)
{
	return parser->format->name;
}

const char *
lt_invoice_cost_name(const struct lt_invoice_parser *parser)
{
	return parser->columns[LT_FIELD_COST].name;
}

const char *
lt_invoice_start_name(const struct lt_invoice_parser *parser)
{
	return parser->columns[LT_FIELD_START].name;
}

/* ---- the header ---- */
/* By the column that says when, which each format has under another name. */
static const struct lt_invoice_format *
find_format(const struct lt_invoice_head *head, struct lt_error *err)
{
	for (int i = 0; i < FORMAT_COUNT; i++) {
		struct lt_csv csv;

		lt_csv_start(&csv, head->bytes, head->byte_count);
		*err = (struct lt_error){0};
		if (lt_csv_header(&csv, &formats[i].columns[LT_FIELD_START], 1,
			err) == LT_OK)
			return &formats[i];
	}
	const struct lt_error last = *err;

	*err = (struct lt_error){0};
	lt_fail(err, LT_EINPUT,
	    "no invoice of FOCUS (%s), AWS CUR (%s) or CUR 2.0: %s",
	    formats[0].columns[LT_FIELD_START].name,
	    formats[1].columns[LT_FIELD_START].name, last.text);
	lt_error_at(err, last.line, last.column);
	return NULL;
}

/* Without any of them all would be other services. */
static int
check_types(const struct lt_invoice_parser *parser, const struct lt_csv *csv,
    struct lt_error *err)
{
	char names[256] = "";

	for (int i = LT_FIELD_TYPE; i < LT_FIELD_COUNT; i++) {
		const char *const name = parser->columns[i].name;
		const size_t used = strlen(names);

		if (csv->index[i] >= 0)
			return LT_OK;
		if (name != NULL)
			snprintf(names + used, sizeof(names) - used, "%s%s",
			    used ? ", " : "", name);
	}
	lt_fail(err, LT_EINPUT,
	    "no column that says the instance type, want one of: %s; --type says another",
	    names);
	lt_error_at(err, 1, 1);
	return LT_EINPUT;
}

int
lt_invoice_parser_start(struct lt_invoice_parser *parser, struct lt_csv *csv,
    const struct lt_invoice_head *head, const struct lt_invoice_ask *ask,
    struct lt_error *err)
{
	parser->format = find_format(head, err);
	if (parser->format == NULL)
		return err->code;
	memcpy(
	    parser->columns, parser->format->columns, sizeof(parser->columns));
	parser->currency = ask->currency;
	parser->rates = ask->rates;
	if (ask->cost != NULL)
		parser->columns[LT_FIELD_COST].name = ask->cost;
	if (ask->type != NULL)
		parser->columns[LT_FIELD_TYPE] =
		    (struct lt_csv_column){ask->type, true};
	lt_csv_start(csv, head->bytes, head->byte_count);
	if (lt_csv_header(csv, parser->columns, LT_FIELD_COUNT, err))
		return err->code;
	return check_types(parser, csv, err);
}

/* ---- cells ---- */
/* Exports of databases write NULL for what is not there. */
static const char *
cell_of(const struct lt_csv_row *row, enum lt_invoice_field field)
{
	return strcasecmp(row->cells[field], "null") == 0 ? ""
							  : row->cells[field];
}

/* "COLUMN: ..." */
static int
in_column(const struct lt_invoice_parser *parser, enum lt_invoice_field field,
    struct lt_error *err)
{
	return lt_context(err, "%s", parser->columns[field].name);
}

/* Both formats' times are UTC by their specifications; exports out of
 * databases leave that away, or write " UTC". */
static int
parse_time(int64_t *utc_s, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, enum lt_invoice_field field,
    struct lt_error *err)
{
	static const char *const zones[] = {"", "Z", "T00:00Z"};
	const char *const text = cell_of(row, field);
	int length = (int)strlen(text);

	if (length > 4 && strcmp(text + length - 4, " UTC") == 0)
		length -= 4;
	for (int i = 0; i < 3; i++) {
		char with_zone[64];

		snprintf(with_zone, sizeof(with_zone), "%.*s%s",
		    length < 40 ? length : 40, text, zones[i]);
		if (lt_utc_parse(with_zone, utc_s, NULL) == LT_OK)
			return LT_OK;
	}
	lt_fail(err, LT_EINPUT,
	    "got \"%.40s\", want a time such as 2026-11-21T02:00:00Z", text);
	return in_column(parser, field, err);
}

int
lt_invoice_row_period(int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    struct lt_error *err)
{
	if (!cell_of(row, LT_FIELD_PERIOD_START)[0] ||
	    !cell_of(row, LT_FIELD_PERIOD_END)[0])
		return lt_fail(err, LT_EINPUT,
		    "no billing period in %s and %s; say --from and --to",
		    parser->columns[LT_FIELD_PERIOD_START].name,
		    parser->columns[LT_FIELD_PERIOD_END].name);
	if (parse_time(start_utc_s, parser, row, LT_FIELD_PERIOD_START, err) ||
	    parse_time(end_utc_s, parser, row, LT_FIELD_PERIOD_END, err))
		return err->code;
	return LT_OK;
}

static int
parse_number(lt_wide *pico, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, enum lt_invoice_field field,
    struct lt_error *err)
{
	return lt_pico_parse(cell_of(row, field), pico, err) == LT_OK
		   ? LT_OK
		   : in_column(parser, field, err);
}

/* ---- whether it is an instance, and of which type ---- */
static const struct kind *
kind_of(const struct lt_invoice_parser *parser, const struct lt_csv_row *row)
{
	for (const struct kind *kind = parser->format->kinds;
	     kind->name != NULL; kind++)
		if (strcmp(kind->name, cell_of(row, LT_FIELD_KIND)) == 0)
			return kind;
	return NULL;
}

/*
 * AWS's usage types are "EUW2-SpotUsage:p4d.24xlarge" for an instance's hours.
 * The rest is something else, though of the same instance: EBSOptimized: and
 * Reservation: have its hours a second time. The part after the colon; "": not
 * an instance's hours, NULL: not such a text.
 */
static const char *
type_of_usage(const char *usage)
{
	static const char *const words[] = {"BoxUsage:", "SpotUsage:",
	    "DedicatedUsage:", "HeavyUsage:", "UnusedBox:", "UnusedDed:"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *const at = strstr(usage, words[i]);

		if (at != NULL && (at == usage || at[-1] == '-'))
			return at + strlen(words[i]);
	}
	return strchr(usage, ':') != NULL ? "" : NULL;
}

/* Of an object such as {"InstanceType": "p4d.24xlarge", "CoreCount": 96}. */
static const char *
type_of_details(struct lt_invoice_parser *parser, const char *details)
{
	static const char *const keys[] = {
	    "InstanceType", "x_InstanceType", "ServiceType", "x_ServiceType"};

	if (strcmp(parser->details, details) == 0)
		return parser->details_type;
	json_t *const object = json_loads(details, 0, NULL);
	const char *type = "";

	for (size_t i = 0; !type[0] && i < sizeof(keys) / sizeof(keys[0]); i++)
		type = lt_json_text(object, keys[i], "");
	snprintf(parser->details, sizeof(parser->details), "%s", details);
	snprintf(parser->details_type, sizeof(parser->details_type), "%s",
	    strlen(type) < LT_TIE_NAME_SIZE ? type : "");
	json_decref(object);
	return parser->details_type;
}

static const char *
type_of_row(struct lt_invoice_parser *parser, const struct lt_csv_row *row)
{
	const char *const service = cell_of(row, LT_FIELD_SERVICE);
	const char *const by_usage =
	    type_of_usage(cell_of(row, LT_FIELD_USAGE)[0]
			      ? cell_of(row, LT_FIELD_USAGE)
			      : cell_of(row, LT_FIELD_USAGE_OTHER));

	if ((service[0] && strcmp(service, parser->format->service) != 0) ||
	    (by_usage != NULL && !by_usage[0]))
		return "";
	for (int i = LT_FIELD_TYPE; i <= LT_FIELD_DETAILS_OTHER; i++) {
		const char *text = cell_of(row, (enum lt_invoice_field)i);

		if (text[0] && i >= LT_FIELD_DETAILS)
			text = type_of_details(parser, text);
		if (text[0] && strlen(text) < LT_TIE_NAME_SIZE)
			return text;
	}
	return by_usage != NULL && strlen(by_usage) < LT_TIE_NAME_SIZE
		   ? by_usage
		   : "";
}

static int
parse_instance(struct lt_invoice_row *parsed, struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, struct lt_error *err)
{
	const struct kind *const kind = kind_of(parser, row);
	const char *const unit = cell_of(row, LT_FIELD_UNIT);

	if (kind == NULL)
		return LT_OK;
	strcpy(parsed->type, type_of_row(parser, row));
	if (!parsed->type[0] || !kind->has_quantity ||
	    !cell_of(row, LT_FIELD_QUANTITY)[0])
		return LT_OK;
	parsed->has_quantity = true;
	parsed->unit_s = lt_time_unit(unit[0] ? unit : parser->format->unit);
	return parse_number(
	    &parsed->quantity_pico, parser, row, LT_FIELD_QUANTITY, err);
}

/* In lowtide's money, at the rate of the row's time. */
static int
convert(struct lt_invoice_row *parsed, const struct lt_invoice_parser *parser,
    const char *currency, struct lt_error *err)
{
	struct lt_invoice_rate *rate = NULL;
	char day[32];

	if (parser->rates != NULL)
		rate = lt_invoice_rate_find(
		    parser->rates, currency, parsed->start_utc_s);
	if (rate == NULL) {
		lt_fail(err, LT_EINPUT,
		    "got \"%.40s\", lowtide's money is %s, and the policy's exchange_rates: have none of it for %.10s; --rate says what it is worth",
		    currency, parser->currency,
		    lt_utc_text(day, sizeof(day), parsed->start_utc_s));
		return in_column(parser, LT_FIELD_CURRENCY, err);
	}
	rate->rows++;
	return lt_invoice_convert(&parsed->cost_pico, rate->pico, err) == LT_OK
		   ? LT_OK
		   : in_column(parser, LT_FIELD_COST, err);
}

int
lt_invoice_row_parse(struct lt_invoice_row *parsed,
    struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    struct lt_error *err)
{
	const char *const currency = cell_of(row, LT_FIELD_CURRENCY);
	int64_t end_utc_s;

	*parsed = (struct lt_invoice_row){0};
	if (parse_time(
		&parsed->start_utc_s, parser, row, LT_FIELD_START, err) ||
	    parse_time(&end_utc_s, parser, row, LT_FIELD_END, err) ||
	    parse_number(&parsed->cost_pico, parser, row, LT_FIELD_COST, err))
		return err->code;
	if (strcmp(currency, parser->currency) != 0 &&
	    convert(parsed, parser, currency, err) != LT_OK)
		return err->code;
	parsed->is_long = end_utc_s - parsed->start_utc_s > LT_DAY_S;
	return parse_instance(parsed, parser, row, err);
}
