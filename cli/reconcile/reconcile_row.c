/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row of an invoice: its cells, whether it is one of the rows that were asked for, when it was,
 * what it costs, and whether it is the use of an instance.
 *
 * Tags are an object in one column or, in AWS's older report, a column each. The cost is as billed,
 * or amortised, which spreads the price of savings plans and reservations over what they covered,
 * by the kind of charge; it is in lowtide's money, at the rate of the row's time. A cell that can't
 * be read is an error that names its column.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "lookup.h"
#include "reconcile_row.h"
#include "text_mend.h"
#include "units.h"

/* Returns a cell; "" for NULL, which exports of databases write for an absent value. */
static const char *
cell_of(const struct lt_csv_row *row, enum lt_invoice_field field)
{
	return strcasecmp(row->cells[field], "null") == 0 ? "" : row->cells[field];
}

/* Returns a cell of names as it stands: an account, or a tag's value, may be called NULL. */
static const char *
raw_cell_of(const struct lt_csv_row *row, enum lt_invoice_field field)
{
	return row->cells[field];
}

/* Adds "COLUMN: " to the error; returns its code. */
static int
fail_in_column(
    const struct lt_invoice_parser *parser, enum lt_invoice_field field, struct lt_error *err)
{
	return lt_context(err, "%s", parser->columns[field].name);
}

static int
number_of(lt_wide *pico, const struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    enum lt_invoice_field field, struct lt_error *err)
{
	return lt_pico_parse(cell_of(row, field), pico, err) == LT_OK
		   ? LT_OK
		   : fail_in_column(parser, field, err);
}

const char *
lt_invoice_start_name(const struct lt_invoice_parser *parser)
{
	return parser->columns[LT_FIELD_START].name;
}

int
lt_invoice_only_parse(struct lt_invoice_filter *filter, const char *text, struct lt_error *err)
{
	static const char word[] = "tag:";
	const char *const key = text + sizeof(word) - 1;
	const char *const equals = strchr(text, '=');

	if (strncmp(text, word, sizeof(word) - 1) != 0 || equals == NULL || equals == key ||
	    !equals[1] || (size_t)(equals - key) >= sizeof(filter->key))
		return lt_fail(err, LT_EINPUT,
		    "--only: got \"%.80s\", want a tag and its value, such as tag:team=vision",
		    text);
	filter->only = text;
	snprintf(filter->key, sizeof(filter->key), "%.*s", (int)(equals - key), key);
	filter->value = equals + 1;
	return LT_OK;
}

/* Sets which columns the filter needs, before the header is read. */
static void
start_filter(struct lt_invoice_parser *parser, const struct lt_invoice_filter *filter)
{
	struct lt_csv_column *const tags = &parser->columns[LT_FIELD_TAGS];

	parser->filter = filter;
	if (filter->accounts != NULL)
		parser->columns[LT_FIELD_ACCOUNT].required = true;
	else
		parser->columns[LT_FIELD_ACCOUNT].name = NULL;
	if (filter->only == NULL) {
		tags->name = NULL;
		return;
	}
	if (parser->format->has_tag_columns) {
		snprintf(parser->tag_column, sizeof(parser->tag_column), "%s%s%s", tags->name,
		    strchr(filter->key, ':') != NULL ? "" : "user:", filter->key);
		tags->name = parser->tag_column;
	}
	tags->required = true;
}

static bool
is_listed(const char *list, const char *account)
{
	const size_t length = strlen(account);

	for (const char *at = list; length > 0; at++) {
		const size_t one = strcspn(at, ",");

		if (one == length && strncmp(at, account, length) == 0)
			return true;
		at += one;
		if (*at == '\0')
			break;
	}
	return false;
}

/* True if the row has the tag, by its name or by AWS's "user:NAME". */
static bool
has_tag(const json_t *tags, const struct lt_invoice_filter *filter)
{
	static const char *const prefixes[] = {"", "user:", "user_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		char key[LT_TIE_TAG_SIZE + 8];

		snprintf(key, sizeof(key), "%s%s", prefixes[i], filter->key);
		if (strcmp(lt_json_text(tags, key, ""), filter->value) == 0)
			return true;
	}
	return false;
}

/* Sets parser->tags_taken by the tags that were read last. */
static int
read_tags(struct lt_invoice_parser *parser, const char *text, struct lt_error *err)
{
	char object[LT_CSV_CELL_SIZE + 2];

	if (strcmp(parser->tags, text) == 0)
		return LT_OK;
	/* Azure's older exports have no braces. */
	snprintf(object, sizeof(object), text[0] == '{' ? "%s" : "{%s}", text);
	json_t *const tags = json_loads(object, 0, NULL);

	if (!json_is_object(tags)) {
		json_decref(tags);
		lt_fail(err, LT_EINPUT, "got \"%.40s\", want tags such as {\"team\": \"vision\"}",
		    text);
		return fail_in_column(parser, LT_FIELD_TAGS, err);
	}
	parser->tags_taken = has_tag(tags, parser->filter);
	strcpy(parser->tags, text);
	json_decref(tags);
	return LT_OK;
}

int
lt_invoice_filter_row(bool *taken, struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    struct lt_error *err)
{
	const struct lt_invoice_filter *const filter = parser->filter;
	const char *const tags = cell_of(row, LT_FIELD_TAGS);

	*taken = filter->accounts == NULL ||
		 is_listed(filter->accounts, raw_cell_of(row, LT_FIELD_ACCOUNT));
	if (!*taken || filter->only == NULL)
		return LT_OK;
	if (parser->format->has_tag_columns) {
		*taken = strcmp(raw_cell_of(row, LT_FIELD_TAGS), filter->value) == 0;
		return LT_OK;
	}
	if (tags[0] && read_tags(parser, tags, err))
		return err->code;
	*taken = tags[0] && parser->tags_taken;
	return LT_OK;
}

/* A cost is plus + also - minus; 0: no such column. */
static const struct spread {
	enum lt_invoice_field plus, also, minus;
	bool is_fee; /* without these columns it is reported apart */
} spreads[LT_SPREAD_COUNT] = {
    [LT_SPREAD_PLAN] = {.plus = LT_FIELD_EFFECTIVE},
    [LT_SPREAD_RESERVED] = {.plus = LT_FIELD_RESERVED},
    [LT_SPREAD_PLAN_FEE] = {.plus = LT_FIELD_COMMITTED, .minus = LT_FIELD_USED, .is_fee = true},
    [LT_SPREAD_RESERVED_FEE] = {.plus = LT_FIELD_UNUSED_UPFRONT,
	.also = LT_FIELD_UNUSED_FEE,
	.is_fee = true},
};

/* Chooses how costs are added up, as asked or as the header allows. */
static void
start_cost(
    struct lt_invoice_parser *parser, const struct lt_csv *csv, const struct lt_invoice_ask *ask)
{
	parser->basis = ask->basis;
	if (ask->basis != LT_INVOICE_AUTO || parser->columns[LT_FIELD_PRICING].name != NULL)
		return; /* Azure's rows show the basis */
	parser->basis = csv->index[LT_FIELD_EFFECTIVE] >= 0 || csv->index[LT_FIELD_RESERVED] >= 0
			    ? LT_INVOICE_AMORTISED
			    : LT_INVOICE_BILLED;
}

const char *
lt_invoice_cost_name(const struct lt_invoice_parser *parser)
{
	const bool is_effective =
	    parser->basis == LT_INVOICE_AMORTISED && parser->format->has_effective;

	return parser->columns[is_effective ? LT_FIELD_EFFECTIVE : LT_FIELD_COST].name;
}

static int
convert(struct lt_invoice_row *parsed, const struct lt_invoice_parser *parser, const char *currency,
    struct lt_error *err)
{
	struct lt_invoice_rate *rate = NULL;
	char day[32];

	if (parser->rates != NULL)
		rate = lt_invoice_rate_find(parser->rates, currency, parsed->start_utc_s);
	if (rate == NULL) {
		lt_fail(err, LT_EINPUT,
		    "got \"%.40s\", lowtide's money is %s, and the policy's exchange_rates: have none of it for %.10s; --rate says what it is worth",
		    currency, parser->currency, lt_utc_text(day, sizeof(day), parsed->start_utc_s));
		return fail_in_column(parser, LT_FIELD_CURRENCY, err);
	}
	rate->rows++;
	if (lt_invoice_convert(&parsed->cost_pico, rate->pico, err) ||
	    lt_invoice_convert(&parsed->billed_pico, rate->pico, err) ||
	    lt_invoice_convert(&parsed->fee_pico, rate->pico, err))
		return fail_in_column(parser, LT_FIELD_COST, err);
	return LT_OK;
}

static bool
is_there(const struct lt_csv_row *row, enum lt_invoice_field field)
{
	return field != 0 && cell_of(row, field)[0];
}

/* Reads the number of a column; 0 if there is no such column. */
static int
read_part(lt_wide *value, const struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    enum lt_invoice_field field, struct lt_error *err)
{
	*value = 0;
	return is_there(row, field) ? number_of(value, parser, row, field, err) : LT_OK;
}

/* Sets the cost to the kind's part of a commitment. */
static int
amortise(struct lt_invoice_row *parsed, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, const struct spread *spread, struct lt_error *err)
{
	const bool known = (is_there(row, spread->plus) || is_there(row, spread->also)) &&
			   (spread->minus == 0 || is_there(row, spread->minus));
	lt_wide plus, also, minus;

	parsed->cost_pico = 0;
	if (spread->plus != 0 && !known && spread->is_fee) {
		parsed->fee_pico = parsed->billed_pico;
		return LT_OK;
	}
	if (spread->plus != 0 && !known) {
		lt_fail(err, LT_EINPUT,
		    "got \"\", want what this row's part of a commitment costs; --cost billed adds up %s",
		    parser->columns[LT_FIELD_COST].name);
		return fail_in_column(parser, spread->plus, err);
	}
	if (read_part(&plus, parser, row, spread->plus, err) ||
	    read_part(&also, parser, row, spread->also, err) ||
	    read_part(&minus, parser, row, spread->minus, err))
		return err->code;
	parsed->cost_pico = plus + also - minus;
	return LT_OK;
}

/* Returns which of Azure's exports, actual or amortised, the row is from; LT_INVOICE_AUTO if it
 * does not show that. */
static enum lt_invoice_basis
shown_by(const struct lt_invoice_row *parsed, const struct lt_csv_row *row,
    const struct lt_invoice_kind *kind)
{
	const char *const pricing = cell_of(row, LT_FIELD_PRICING);

	if (kind == NULL ||
	    (strcmp(pricing, "Reservation") != 0 && strcmp(pricing, "SavingsPlan") != 0))
		return LT_INVOICE_AUTO;
	/* Actual costs of a use that a commitment covers are 0. */
	return kind->is_use && parsed->billed_pico == 0 ? LT_INVOICE_AUTO : kind->shows;
}

/* Sets the costs of *parsed, in lowtide's money; kind may be NULL. */
static int
cost_of_row(struct lt_invoice_row *parsed, const struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, const struct lt_invoice_kind *kind, struct lt_error *err)
{
	const char *const currency = cell_of(row, LT_FIELD_CURRENCY);
	enum lt_invoice_spread spread = kind != NULL ? kind->spread : LT_SPREAD_NONE;

	if (number_of(&parsed->billed_pico, parser, row, LT_FIELD_COST, err))
		return err->code;
	parsed->cost_pico = parsed->billed_pico;
	parsed->shows = shown_by(parsed, row, kind);
	if (spread == LT_SPREAD_UPFRONT && !is_there(row, LT_FIELD_RESERVATION))
		spread = LT_SPREAD_NONE;
	if (parser->basis != LT_INVOICE_AMORTISED)
		spread = LT_SPREAD_NONE;
	else if (parser->format->has_effective &&
		 number_of(&parsed->cost_pico, parser, row, LT_FIELD_EFFECTIVE, err))
		return err->code;
	if (spread != LT_SPREAD_NONE &&
	    amortise(parsed, parser, row, &LT_ROW(spreads, spread), err))
		return err->code;
	return strcmp(currency, parser->currency) == 0 ? LT_OK
						       : convert(parsed, parser, currency, err);
}

/* ---- the header ---- */
/* Checks that a column of types exists: else all would be other services. */
static int
check_types(const struct lt_invoice_parser *parser, const struct lt_csv *csv, struct lt_error *err)
{
	char names[256] = "";

	for (int i = LT_FIELD_TYPE; i < LT_FIELD_COUNT; i++) {
		const char *const name = parser->columns[i].name;
		const size_t used = strlen(names);

		if (csv->index[i] >= 0)
			return LT_OK;
		if (name != NULL)
			snprintf(
			    names + used, sizeof(names) - used, "%s%s", used ? ", " : "", name);
	}
	lt_fail(err, LT_EINPUT,
	    "no column that says the instance type, want one of: %s; --type says another", names);
	lt_error_at(err, 1, 1);
	return LT_EINPUT;
}

int
lt_invoice_parser_start(struct lt_invoice_parser *parser, struct lt_csv *csv,
    const struct lt_invoice_head *head, const struct lt_invoice_ask *ask, struct lt_error *err)
{
	parser->format = lt_invoice_format_find(head->bytes, head->byte_count, err);
	if (parser->format == NULL)
		return err->code;
	memcpy(parser->columns, parser->format->columns, sizeof(parser->columns));
	parser->currency = ask->currency;
	parser->rates = ask->rates;
	if (ask->cost != NULL)
		parser->columns[LT_FIELD_COST].name = ask->cost;
	if (ask->type != NULL)
		parser->columns[LT_FIELD_TYPE] = (struct lt_csv_column){ask->type, true};
	start_filter(parser, &ask->filter);
	lt_csv_start(csv, head->bytes, head->byte_count);
	csv->any_case = parser->format->any_case;
	if (ask->basis == LT_INVOICE_AMORTISED && parser->format->has_effective)
		parser->columns[LT_FIELD_EFFECTIVE].required = true;
	if (lt_csv_header(csv, parser->columns, LT_FIELD_COUNT, err))
		return err->code;
	start_cost(parser, csv, ask);
	return check_types(parser, csv, err);
}

/* ---- cells ---- */
/* Writes "11/30/2026" as "2026-11-30"; other text unchanged. */
static const char *
american_day(char *out, size_t size, const char *text)
{
	static const char form[] = "00/00/0000";

	if (strlen(text) != sizeof(form) - 1)
		return text;
	for (int i = 0; form[i] != '\0'; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return text;
	snprintf(out, size, "%.4s-%.2s-%.2s", text + 6, text, text + 3);
	return out;
}

/* Reads a time. All formats are in UTC by their specifications; exports from databases omit the
 * zone, or write " UTC". */
static int
parse_time(int64_t *utc_s, const struct lt_invoice_parser *parser, const struct lt_csv_row *row,
    enum lt_invoice_field field, struct lt_error *err)
{
	static const char *const zones[] = {"", "Z", "T00:00Z"};
	char day[16];
	const char *const cell = cell_of(row, field);
	const char *const text =
	    parser->format->is_american ? american_day(day, sizeof(day), cell) : cell;
	int length = (int)strlen(text);

	if (length > 4 && strcmp(text + length - 4, " UTC") == 0)
		length -= 4;
	for (int i = 0; i < 3; i++) {
		char with_zone[64];

		snprintf(with_zone, sizeof(with_zone), "%.*s%s", length < 40 ? length : 40, text,
		    zones[i]);
		if (lt_utc_parse(with_zone, utc_s, NULL) == LT_OK)
			return LT_OK;
	}
	lt_fail(err, LT_EINPUT, "got \"%.40s\", want a time such as 2026-11-21T02:00:00Z", cell);
	return fail_in_column(parser, field, err);
}

int
lt_invoice_row_period(int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_invoice_parser *parser, const struct lt_csv_row *row, struct lt_error *err)
{
	if (!cell_of(row, LT_FIELD_PERIOD_START)[0] || !cell_of(row, LT_FIELD_PERIOD_END)[0])
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
	for (const struct lt_invoice_kind *kind = parser->format->kinds; kind->name != NULL; kind++)
		if (strcmp(kind->name, cell_of(row, LT_FIELD_KIND)) == 0)
			return kind;
	return NULL;
}

/*
 * Returns the part of AWS's usage type after the colon, for an instance's hours:
 * "EUW2-SpotUsage:p4d.24xlarge". "": not an instance's hours, though perhaps of an instance:
 * EBSOptimized: and Reservation: have its hours a second time. NULL: not such a text.
 */
static const char *
type_of_usage(const char *usage)
{
	static const char *const words[] = {"BoxUsage:", "SpotUsage:", "DedicatedUsage:",
	    "HeavyUsage:", "UnusedBox:", "UnusedDed:"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *const at = strstr(usage, words[i]);

		if (at != NULL && (at == usage || at[-1] == '-'))
			return at + strlen(words[i]);
	}
	return strchr(usage, ':') != NULL ? "" : NULL;
}

/* Finds the type in an object such as {"InstanceType": "p4d.24xlarge", "CoreCount": 96}. */
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
	    type_of_usage(cell_of(row, LT_FIELD_USAGE)[0] ? cell_of(row, LT_FIELD_USAGE)
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
	return by_usage != NULL && strlen(by_usage) < LT_TIE_NAME_SIZE ? by_usage : "";
}

/* Returns the seconds of one unit; 0 if it is not a unit of time. */
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
    const struct lt_csv_row *row, const struct lt_invoice_kind *kind, struct lt_error *err)
{
	if (kind == NULL || !kind->is_use)
		return LT_OK;
	strcpy(parsed->type, type_of_row(parser, row));
	if (!parsed->type[0] || !kind->has_quantity || !cell_of(row, LT_FIELD_QUANTITY)[0])
		return LT_OK;
	parsed->has_quantity = true;
	parsed->unit_s = unit_of(parser->format, cell_of(row, LT_FIELD_UNIT));
	return number_of(&parsed->quantity_pico, parser, row, LT_FIELD_QUANTITY, err);
}

int
lt_invoice_row_parse(struct lt_invoice_row *parsed, struct lt_invoice_parser *parser,
    const struct lt_csv_row *row, struct lt_error *err)
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
	if (cost_of_row(parsed, parser, row, kind, err))
		return err->code;
	return parse_instance(parsed, parser, row, kind, err);
}
