/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of an invoice: when, what it costs, and whether it is the use of an
 * instance.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "reconcile_row.h"
#include "text_mend.h"
#include "units.h"

/* ---- the header ---- */
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
	parser->format =
	    lt_invoice_format_find(head->bytes, head->byte_count, err);
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
	lt_invoice_filter_start(parser, &ask->filter);
	lt_csv_start(csv, head->bytes, head->byte_count);
	csv->any_case = parser->format->any_case;
	if (ask->basis == LT_INVOICE_AMORTISED && parser->format->has_effective)
		parser->columns[LT_FIELD_EFFECTIVE].required = true;
	if (lt_csv_header(csv, parser->columns, LT_FIELD_COUNT, err))
		return err->code;
	lt_invoice_cost_start(parser, csv, ask);
	return check_types(parser, csv, err);
}

/* ---- cells ---- */
/* "11/30/2026" as "2026-11-30"; anything else as it is. */
static const char *
american_day(char *out, size_t size, const char *text)
{
	static const char form[] = "00/00/0000";

	if (strlen(text) != sizeof(form) - 1)
		return text;
	for (int i = 0; form[i] != '\0'; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)text[i])
				   : text[i] != form[i])
			return text;
	snprintf(out, size, "%.4s-%.2s-%.2s", text + 6, text, text + 3);
	return out;
}

/* All formats' times are UTC by their specifications; exports out of
 * databases leave that away, or write " UTC". */
static int
parse_time(int64_t *utc_s, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, enum lt_invoice_field field,
    struct lt_error *err)
{
	static const char *const zones[] = {"", "Z", "T00:00Z"};
	char day[16];
	const char *const cell = lt_invoice_cell(row, field);
	const char *const text = parser->format->is_american
				     ? american_day(day, sizeof(day), cell)
				     : cell;
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
	    "got \"%.40s\", want a time such as 2026-11-21T02:00:00Z", cell);
	return lt_invoice_in_column(parser, field, err);
}

int
lt_invoice_row_period(int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    struct lt_error *err)
{
	if (!lt_invoice_cell(row, LT_FIELD_PERIOD_START)[0] ||
	    !lt_invoice_cell(row, LT_FIELD_PERIOD_END)[0])
		return lt_fail(err, LT_EINPUT,
		    "no billing period in %s and %s; say --from and --to",
		    parser->columns[LT_FIELD_PERIOD_START].name,
		    parser->columns[LT_FIELD_PERIOD_END].name);
	if (parse_time(start_utc_s, parser, row, LT_FIELD_PERIOD_START, err) ||
	    parse_time(end_utc_s, parser, row, LT_FIELD_PERIOD_END, err))
		return err->code;
	if (parser->format->is_american)
		*end_utc_s += LT_DAY_S;
	return LT_OK;
}

/* ---- whether it is an instance, and of which type ---- */
static const struct lt_invoice_kind *
kind_of(const struct lt_invoice_parser *parser, const struct lt_csv_row *row)
{
	for (const struct lt_invoice_kind *kind = parser->format->kinds;
	     kind->name != NULL; kind++)
		if (strcmp(kind->name, lt_invoice_cell(row, LT_FIELD_KIND)) ==
		    0)
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
	const char *const service = lt_invoice_cell(row, LT_FIELD_SERVICE);
	const char *const by_usage =
	    type_of_usage(lt_invoice_cell(row, LT_FIELD_USAGE)[0]
			      ? lt_invoice_cell(row, LT_FIELD_USAGE)
			      : lt_invoice_cell(row, LT_FIELD_USAGE_OTHER));

	if ((service[0] && strcmp(service, parser->format->service) != 0) ||
	    (by_usage != NULL && !by_usage[0]))
		return "";
	for (int i = LT_FIELD_TYPE; i <= LT_FIELD_DETAILS_OTHER; i++) {
		const char *text =
		    lt_invoice_cell(row, (enum lt_invoice_field)i);

		if (text[0] && i >= LT_FIELD_DETAILS)
			text = type_of_details(parser, text);
		if (text[0] && strlen(text) < LT_TIE_NAME_SIZE)
			return text;
	}
	return by_usage != NULL && strlen(by_usage) < LT_TIE_NAME_SIZE
		   ? by_usage
		   : "";
}

/* The seconds that one of the quantity is. */
static int64_t
unit_of(const struct lt_invoice_format *format, const char *unit)
{
	/* Azure counts hours in "100 Hours" as well. */
	if (format->is_american && strspn(unit, "0123456789") > 0)
		unit += strspn(unit, "0123456789");
	return lt_time_unit(unit[0] ? unit : format->unit);
}

static int
parse_instance(struct lt_invoice_row *parsed, struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, const struct lt_invoice_kind *kind,
    struct lt_error *err)
{
	if (kind == NULL || !kind->is_use)
		return LT_OK;
	strcpy(parsed->type, type_of_row(parser, row));
	if (!parsed->type[0] || !kind->has_quantity ||
	    !lt_invoice_cell(row, LT_FIELD_QUANTITY)[0])
		return LT_OK;
	parsed->has_quantity = true;
	parsed->unit_s =
	    unit_of(parser->format, lt_invoice_cell(row, LT_FIELD_UNIT));
	return lt_invoice_number(
	    &parsed->quantity_pico, parser, row, LT_FIELD_QUANTITY, err);
}

int
lt_invoice_row_parse(struct lt_invoice_row *parsed,
    struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    struct lt_error *err)
{
	const struct lt_invoice_kind *const kind = kind_of(parser, row);
	int64_t end_utc_s;

	*parsed = (struct lt_invoice_row){0};
	if (parse_time(&parsed->start_utc_s, parser, row, LT_FIELD_START, err))
		return err->code;
	end_utc_s = parsed->start_utc_s + LT_DAY_S;
	if (parser->columns[LT_FIELD_END].name != NULL &&
	    parse_time(&end_utc_s, parser, row, LT_FIELD_END, err))
		return err->code;
	parsed->is_long = end_utc_s - parsed->start_utc_s > LT_DAY_S;
	if (lt_invoice_row_cost(parsed, parser, row, kind, err))
		return err->code;
	return parse_instance(parsed, parser, row, kind, err);
}
