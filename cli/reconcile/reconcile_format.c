/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of invoices, as tables of columns and kinds of charges. Columns are those of the
 * FOCUS specification, of AWS's dictionaries of the Cost and Usage Report and of Azure's of its
 * cost details; the amortised part of a commitment follows AWS's own rule for its reports. A file
 * whose columns fit no format is an error that names a missing column.
 */
#include "reconcile_row.h"
#include "text_mend.h"

static const struct lt_invoice_kind focus_kinds[] = {
    {.name = "Usage", .is_use = true, .has_quantity = true},
    {.name = NULL},
};

static const struct lt_invoice_kind aws_kinds[] = {
    {.name = "Usage", .is_use = true, .has_quantity = true},
    {.name = "DiscountedUsage", .is_use = true, .has_quantity = true, .spread = LT_SPREAD_RESERVED},
    {.name = "SavingsPlanCoveredUsage",
	.is_use = true,
	.has_quantity = true,
	.spread = LT_SPREAD_PLAN},
    {.name = "SavingsPlanNegation", .is_use = true, .spread = LT_SPREAD_NOTHING},
    {.name = "EdpDiscount", .is_use = true},
    {.name = "BundledDiscount", .is_use = true},
    {.name = "PrivateRateDiscount", .is_use = true},
    {.name = "Discount", .is_use = true},
    {.name = "SavingsPlanRecurringFee", .spread = LT_SPREAD_PLAN_FEE},
    {.name = "SavingsPlanUpfrontFee", .spread = LT_SPREAD_NOTHING},
    {.name = "RIFee", .spread = LT_SPREAD_RESERVED_FEE},
    {.name = "Fee", .spread = LT_SPREAD_UPFRONT},
    {.name = NULL},
};

/* An export has actual or amortised costs, and does not say which. The former has purchases, the
 * latter their cost where they were used, or unused. */
static const struct lt_invoice_kind azure_kinds[] = {
    {.name = "Usage", .is_use = true, .has_quantity = true, .shows = LT_INVOICE_AMORTISED},
    {.name = "UnusedReservation", .is_use = true, .shows = LT_INVOICE_AMORTISED},
    {.name = "UnusedSavingsPlan", .is_use = true, .shows = LT_INVOICE_AMORTISED},
    {.name = "Purchase", .shows = LT_INVOICE_BILLED},
    {.name = "Refund", .shows = LT_INVOICE_BILLED},
    {.name = NULL},
};

#define AZURE(COST, CURRENCY)                                                                      \
	{                                                                                          \
		.name = "Azure", .service = "Virtual Machines", .unit = "", .any_case = true,      \
		.is_american = true, .kinds = azure_kinds,                                         \
		.columns = {                                                                       \
		    [LT_FIELD_START] = {"Date", true},                                             \
		    [LT_FIELD_PERIOD_START] = {"BillingPeriodStartDate", false},                   \
		    [LT_FIELD_PERIOD_END] = {"BillingPeriodEndDate", false},                       \
		    [LT_FIELD_COST] = {COST, true},                                                \
		    [LT_FIELD_CURRENCY] = {CURRENCY, true},                                        \
		    [LT_FIELD_KIND] = {"ChargeType", true},                                        \
		    [LT_FIELD_QUANTITY] = {"Quantity", false},                                     \
		    [LT_FIELD_UNIT] = {"UnitOfMeasure", false},                                    \
		    [LT_FIELD_SERVICE] = {"MeterCategory", false},                                 \
		    [LT_FIELD_ACCOUNT] = {"SubscriptionId", false},                                \
		    [LT_FIELD_TAGS] = {"Tags", false},                                             \
		    [LT_FIELD_PRICING] = {"PricingModel", true},                                   \
		    [LT_FIELD_DETAILS] = {"AdditionalInfo", false},                                \
		},                                                                                 \
	}

static const struct lt_invoice_format
    formats[] =
	{
	    {
		.name = "FOCUS",
		.service = "Compute",
		.unit = "",
		.has_effective = true,
		.kinds = focus_kinds,
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
			[LT_FIELD_EFFECTIVE] = {"EffectiveCost", false},
			[LT_FIELD_ACCOUNT] = {"SubAccountId", false},
			[LT_FIELD_TAGS] = {"Tags", false},
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
		.has_tag_columns = true,
		.service = "AmazonEC2",
		.unit = "Hrs",
		.kinds = aws_kinds,
		.columns =
		    {
			[LT_FIELD_START] = {"lineItem/UsageStartDate", true},
			[LT_FIELD_END] = {"lineItem/UsageEndDate", true},
			[LT_FIELD_PERIOD_START] = {"bill/BillingPeriodStartDate", false},
			[LT_FIELD_PERIOD_END] = {"bill/BillingPeriodEndDate", false},
			[LT_FIELD_COST] = {"lineItem/UnblendedCost", true},
			[LT_FIELD_CURRENCY] = {"lineItem/CurrencyCode", true},
			[LT_FIELD_KIND] = {"lineItem/LineItemType", true},
			[LT_FIELD_QUANTITY] = {"lineItem/UsageAmount", false},
			[LT_FIELD_UNIT] = {"pricing/unit", false},
			[LT_FIELD_SERVICE] = {"lineItem/ProductCode", false},
			[LT_FIELD_EFFECTIVE] = {"savingsPlan/SavingsPlanEffectiveCost", false},
			[LT_FIELD_RESERVED] = {"reservation/EffectiveCost", false},
			[LT_FIELD_COMMITTED] = {"savingsPlan/TotalCommitmentToDate", false},
			[LT_FIELD_USED] = {"savingsPlan/UsedCommitment", false},
			[LT_FIELD_UNUSED_UPFRONT] =
			    {"reservation/UnusedAmortizedUpfrontFeeForBillingPeriod", false},
			[LT_FIELD_UNUSED_FEE] = {"reservation/UnusedRecurringFee", false},
			[LT_FIELD_RESERVATION] = {"reservation/ReservationARN", false},
			[LT_FIELD_ACCOUNT] = {"lineItem/UsageAccountId", false},
			[LT_FIELD_TAGS] = {"resourceTags/", false},
			[LT_FIELD_TYPE] = {"product/instanceType", false},
			[LT_FIELD_USAGE] = {"lineItem/UsageType", false},
		    },
	    },
	    {
		.name = "AWS CUR 2.0",
		.service = "AmazonEC2",
		.unit = "Hrs",
		.kinds = aws_kinds,
		.columns =
		    {
			[LT_FIELD_START] = {"line_item_usage_start_date", true},
			[LT_FIELD_END] = {"line_item_usage_end_date", true},
			[LT_FIELD_PERIOD_START] = {"bill_billing_period_start_date", false},
			[LT_FIELD_PERIOD_END] = {"bill_billing_period_end_date", false},
			[LT_FIELD_COST] = {"line_item_unblended_cost", true},
			[LT_FIELD_CURRENCY] = {"line_item_currency_code", true},
			[LT_FIELD_KIND] = {"line_item_line_item_type", true},
			[LT_FIELD_QUANTITY] = {"line_item_usage_amount", false},
			[LT_FIELD_UNIT] = {"pricing_unit", false},
			[LT_FIELD_SERVICE] = {"line_item_product_code", false},
			[LT_FIELD_EFFECTIVE] = {"savings_plan_savings_plan_effective_cost", false},
			[LT_FIELD_RESERVED] = {"reservation_effective_cost", false},
			[LT_FIELD_COMMITTED] = {"savings_plan_total_commitment_to_date", false},
			[LT_FIELD_USED] = {"savings_plan_used_commitment", false},
			[LT_FIELD_UNUSED_UPFRONT] =
			    {"reservation_unused_amortized_upfront_fee_for_billing_period", false},
			[LT_FIELD_UNUSED_FEE] = {"reservation_unused_recurring_fee", false},
			[LT_FIELD_RESERVATION] = {"reservation_reservation_a_r_n", false},
			[LT_FIELD_ACCOUNT] = {"line_item_usage_account_id", false},
			[LT_FIELD_TAGS] = {"resource_tags", false},
			[LT_FIELD_TYPE] = {"product_instance_type", false},
			[LT_FIELD_USAGE] = {"line_item_usage_type", false},
		    },
	    },
	    AZURE("CostInBillingCurrency", "BillingCurrency"),
	    AZURE("CostInBillingCurrency", "BillingCurrencyCode"),
	    AZURE("Cost", "BillingCurrency"),
};
enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

static bool
has_columns(const struct lt_invoice_format *format, int count, const char *bytes, size_t byte_count,
    struct lt_error *err)
{
	struct lt_csv csv;

	lt_csv_start(&csv, bytes, byte_count);
	csv.any_case = format->any_case;
	*err = (struct lt_error){0};
	return lt_csv_header(&csv, format->columns, count, err) == LT_OK;
}

const struct lt_invoice_format *
lt_invoice_format_find(const char *bytes, size_t byte_count, struct lt_error *err)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		if (has_columns(&formats[i], LT_FIELD_COUNT, bytes, byte_count, err))
			return &formats[i];
	/* Incomplete: choose by the time columns, to name what is missing. */
	for (int i = 0; i < FORMAT_COUNT; i++)
		if (has_columns(&formats[i], LT_FIELD_START + 1, bytes, byte_count, err))
			return &formats[i];
	const struct lt_error last = *err;

	*err = (struct lt_error){0};
	lt_fail(err, LT_EINPUT, "no invoice of FOCUS (%s), AWS CUR (%s), CUR 2.0 (%s) or Azure: %s",
	    formats[0].columns[LT_FIELD_START].name, formats[1].columns[LT_FIELD_START].name,
	    formats[2].columns[LT_FIELD_START].name, last.text);
	lt_error_at(err, last.line, last.column);
	return NULL;
}
