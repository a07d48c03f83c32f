/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of ENTSO-E's Transparency Platform: documents of series of values (GL_MarketDocument,
 * Publication_MarketDocument), of which the adapters choose series, and
 * Acknowledgement_MarketDocument. By local names: the versions of the namespace vary.
 */
#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "entsoe.h"
#include "text_mend.h"
#include "units.h"

enum {
	DEPTH_MAX = 32,
	POSITIONS_MAX = 4096, /* of a period: 42 days of quarter hours */
	/* 35 days of quarter hours of 32 types, twice; more: refused */
	POINTS_MAX = 262144,
};

enum root { ROOT_NONE, ROOT_DATA, ROOT_REASON };

struct reader {
	XML_Parser parser;
	const struct lt_entsoe_document *document; /* NULL: reasons only */
	void *sink;
	struct lt_entsoe_answer *answer;
	struct lt_error *err;
	int code;
	enum root root;
	int depth, points;
	char text[256]; /* of the element that is open; longer: cut */
	size_t text_length;
	bool in_series, in_period, in_point;
	struct lt_entsoe_series series;
	struct { /* its Period */
		int64_t start_utc_s, end_utc_s;
		int64_t step_s;
		int last; /* greatest position with a value */
		/* NAN = skipped, INFINITY = refused: not the one before it */
		double values[POSITIONS_MAX + 1];
	} period;
	struct {
		int64_t position;
		double value;
	} point;
};

/* ---- reading ---- */

#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define line_of XML_GetCurrentLineNumber
#define column_of XML_GetCurrentColumnNumber
#else /* which calls those deprecated */
#define line_of XML_GetCurrentLineNumber64
#define column_of XML_GetCurrentColumnNumber64
#endif

static void
stop_reading(struct reader *reader, enum lt_code code, const char *what)
{
	if (reader->code != LT_OK)
		return;
	reader->code = lt_fail(reader->err, code, "%s", what);
	lt_error_at(reader->err, (int)line_of(reader->parser), (int)column_of(reader->parser) + 1);
	XML_StopParser(reader->parser, XML_FALSE);
}

static const char *
local_name(const char *name)
{
	const char *const colon = strrchr(name, ':');

	return colon == NULL ? name : colon + 1;
}

static void
start_root(struct reader *reader, const char *name)
{
	const char *const wanted =
	    reader->document == NULL ? "Acknowledgement_MarketDocument" : reader->document->root;
	char text[160];

	if (reader->document != NULL && strcmp(name, wanted) == 0) {
		reader->root = ROOT_DATA;
	} else if (strcmp(name, "Acknowledgement_MarketDocument") == 0) {
		reader->root = ROOT_REASON;
		reader->answer->kind = LT_ENTSOE_REFUSED;
	} else {
		snprintf(text, sizeof(text), "got <%.60s>, want <%s>", name, wanted);
		stop_reading(reader, LT_EINPUT, text);
	}
}

static void
start_period(struct reader *reader)
{
	reader->in_period = true;
	reader->period.start_utc_s = reader->period.end_utc_s = 0;
	reader->period.step_s = reader->period.last = 0;
}

static void
on_start(void *data, const char *full_name, const char **attributes)
{
	struct reader *const reader = data;
	const char *const name = local_name(full_name);

	(void)attributes;
	reader->text_length = 0;
	if (++reader->depth > DEPTH_MAX) {
		stop_reading(reader, LT_ELIMIT, "XML with more than 32 levels");
	} else if (reader->depth == 1) {
		start_root(reader, name);
	} else if (reader->root != ROOT_DATA) {
		return;
	} else if (strcmp(name, "TimeSeries") == 0) {
		reader->in_series = true;
		memset(&reader->series, 0, sizeof(reader->series));
	} else if (strcmp(name, "Period") == 0 && reader->in_series) {
		start_period(reader);
	} else if (strcmp(name, "Point") == 0 && reader->in_period) {
		reader->in_point = true;
		reader->point.position = 0;
		reader->point.value = INFINITY;
	}
}

static void
on_text(void *data, const char *text, int length)
{
	struct reader *const reader = data;
	const size_t room = sizeof(reader->text) - 1 - reader->text_length;
	const size_t count = (size_t)length < room ? (size_t)length : room;

	memcpy(reader->text + reader->text_length, text, count);
	reader->text_length += count;
}

/* Returns the element's text without the blanks around it. */
static const char *
trimmed(struct reader *reader)
{
	static const char blanks[] = " \t\r\n";
	char *const text = reader->text + strspn(reader->text, blanks);
	size_t length = strlen(text);

	while (length > 0 && strchr(blanks, text[length - 1]) != NULL)
		text[--length] = '\0';
	return text;
}

static void refuse(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
refuse(struct reader *reader, const char *format, ...)
{
	char text[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reader->document->refuse(reader->sink, text);
}

static void
end_point(struct reader *reader)
{
	const int position = (int)reader->point.position;

	reader->in_point = false;
	if (++reader->points > POINTS_MAX) {
		stop_reading(reader, LT_ELIMIT, "more than 262144 points");
		return;
	}
	if (position == 0 || isinf(reader->point.value))
		refuse(reader, "a point without a position of 1 to %d or a %s of at most %d",
		    POSITIONS_MAX, reader->document->value, reader->document->value_max);
	if (position == 0)
		return;
	for (int i = reader->period.last + 1; i < position; i++)
		reader->period.values[i] = NAN;
	reader->period.values[position] = reader->point.value;
	if (position > reader->period.last)
		reader->period.last = position;
}

/* Curve A03 gives a position only where the value changes; in A01 one that is not there is
 * missing. */
static void
put_period(struct reader *reader, int count)
{
	const bool carry = strcmp(reader->series.curve, "A03") == 0;
	const int64_t step_s = reader->period.step_s;
	double value = NAN;

	for (int i = 1; i <= count; i++) {
		const double said = i <= reader->period.last ? reader->period.values[i] : NAN;
		const int64_t start_utc_s = reader->period.start_utc_s + (i - 1) * step_s;

		if (!carry || !isnan(said))
			value = said;
		if (isfinite(value))
			reader->document->put(reader->sink, &reader->series,
			    &(struct lt_entsoe_step){start_utc_s, start_utc_s + step_s, value});
	}
}

static void
end_period(struct reader *reader)
{
	const char *const curve = reader->series.curve;
	const int64_t step_s = reader->period.step_s;
	const int64_t start_utc_s = reader->period.start_utc_s;
	const int64_t length_s = reader->period.end_utc_s - start_utc_s;

	reader->in_period = false;
	if (!reader->document->wanted(reader->sink, &reader->series))
		return;
	if (curve[0] != '\0' && strcmp(curve, "A01") != 0 && strcmp(curve, "A03") != 0) {
		refuse(reader, "curveType: got %s, want A01 or A03", curve);
		return;
	}
	if (step_s == 0 || length_s <= 0 || length_s % step_s != 0 ||
	    length_s / step_s > POSITIONS_MAX || start_utc_s % step_s != 0 ||
	    reader->period.last > length_s / step_s) {
		refuse(reader,
		    "a period%s%s: want whole steps of PT15M, PT30M or PT60M, at most %d, on the clock",
		    reader->series.fuel[0] == '\0' ? "" : " of ", reader->series.fuel,
		    POSITIONS_MAX);
		return;
	}
	put_period(reader, (int)(length_s / step_s));
}

static int64_t
step_of(const char *resolution)
{
	static const struct {
		const char *text;
		int seconds;
	} steps[] = {{"PT15M", 900}, {"PT30M", 1800}, {"PT60M", 3600}, {"PT1H", 3600}};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (strcmp(steps[i].text, resolution) == 0)
			return steps[i].seconds;
	return 0;
}

static void
end_in_point(struct reader *reader, const char *name, const char *text)
{
	if (strcmp(name, "position") == 0) {
		if (lt_int64_parse(text, 1, POSITIONS_MAX, &reader->point.position, NULL) != LT_OK)
			reader->point.position = 0;
	} else if (strcmp(name, reader->document->value) == 0) {
		if (lt_double_parse(text, &reader->point.value, NULL) != LT_OK ||
		    fabs(reader->point.value) > reader->document->value_max)
			reader->point.value = INFINITY;
	} else if (strcmp(name, "Point") == 0) {
		end_point(reader);
	}
}

static void
end_in_period(struct reader *reader, const char *name, const char *text)
{
	if (strcmp(name, "start") == 0) {
		if (lt_utc_parse(text, &reader->period.start_utc_s, NULL) != LT_OK)
			reader->period.start_utc_s = 0;
	} else if (strcmp(name, "end") == 0) {
		if (lt_utc_parse(text, &reader->period.end_utc_s, NULL) != LT_OK)
			reader->period.end_utc_s = 0;
	} else if (strcmp(name, "resolution") == 0) {
		reader->period.step_s = step_of(text);
	} else if (strcmp(name, "Period") == 0) {
		end_period(reader);
	}
}

static void
end_in_series(struct reader *reader, const char *name, const char *text)
{
	struct lt_entsoe_series *const series = &reader->series;
	const struct {
		const char *name;
		char *out;
		size_t size;
	} texts[] = {
	    {"inBiddingZone_Domain.mRID", series->in_eic, LT_EIC_SIZE},
	    {"outBiddingZone_Domain.mRID", series->out_eic, LT_EIC_SIZE},
	    {"in_Domain.mRID", series->in_eic, LT_EIC_SIZE},
	    {"out_Domain.mRID", series->out_eic, LT_EIC_SIZE},
	    {"quantity_Measure_Unit.name", series->unit, 8},
	    {"price_Measure_Unit.name", series->unit, 8},
	    {"currency_Unit.name", series->currency, 8},
	    {"contract_MarketAgreement.type", series->contract, 8},
	    {"classificationSequence_AttributeInstanceComponent.position", series->sequence, 8},
	    {"curveType", series->curve, 8},
	    {"psrType", series->fuel, 8},
	};

	if (strcmp(name, "TimeSeries") == 0)
		reader->in_series = false;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].name, name) == 0)
			snprintf(texts[i].out, texts[i].size, "%s", text);
}

static bool
has_words(const char *text, const char *words)
{
	return strcasestr(text, words) != NULL;
}

static void
end_reason(struct reader *reader, const char *text)
{
	struct lt_entsoe_answer *const answer = reader->answer;

	if (answer->reason[0] != '\0')
		return;
	snprintf(answer->reason, sizeof(answer->reason), "%s", text);
	lt_text_mend(answer->reason);
	if (has_words(text, "no matching data found"))
		answer->kind = LT_ENTSOE_NO_DATA;
	else if (has_words(text, "exceeds allowed limit") ||
		 has_words(text, "exceeds the allowed limit"))
		answer->kind = LT_ENTSOE_TOO_MUCH;
}

static void
on_end(void *data, const char *full_name)
{
	struct reader *const reader = data;
	const char *const name = local_name(full_name);

	reader->text[reader->text_length] = '\0';
	const char *const text = trimmed(reader);
	char what[160];

	if (reader->root == ROOT_REASON) {
		if (strcmp(name, "text") == 0)
			end_reason(reader, text);
	} else if (reader->in_point) {
		end_in_point(reader, name, text);
	} else if (reader->in_period) {
		end_in_period(reader, name, text);
	} else if (reader->in_series) {
		end_in_series(reader, name, text);
	} else if (reader->depth == 2 && strcmp(name, "type") == 0 &&
		   strcmp(text, reader->document->type) != 0) {
		snprintf(what, sizeof(what), "a document of another type than %s, %s",
		    reader->document->type, reader->document->title);
		stop_reading(reader, LT_EINPUT, what);
	}
	reader->depth--;
	reader->text_length = 0;
}

static void
on_doctype(
    void *data, const char *name, const char *system_id, const char *public_id, int has_subset)
{
	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_subset;
	stop_reading(data, LT_EINPUT, "XML with a document type: refused");
}

/* Returns an error of expat in words that are easier to understand. */
static const char *
xml_words(enum XML_Error code)
{
	switch (code) {
	case XML_ERROR_NO_ELEMENTS:
	case XML_ERROR_UNCLOSED_TOKEN:
		return "no element found: the answer is cut off";
	case XML_ERROR_TAG_MISMATCH:
		return "an end of another element than the open one";
	case XML_ERROR_INVALID_TOKEN:
	case XML_ERROR_SYNTAX:
		return "bytes that can't stand there";
	default:
		return XML_ErrorString(code);
	}
}

int
lt_entsoe_read(const struct lt_answer *answer, const struct lt_entsoe_document *document,
    void *sink, struct lt_entsoe_answer *said, struct lt_error *err)
{
	const size_t byte_count = answer->byte_count;
	struct reader reader = {.document = document, .sink = sink, .answer = said, .err = err};
	char what[120];

	*said = (struct lt_entsoe_answer){0};
	if (byte_count == 0)
		return lt_fail(err, LT_EINPUT, "empty, want XML");
	if (byte_count > INT32_MAX)
		return lt_fail(err, LT_ELIMIT, "XML of %zu bytes", byte_count);
	reader.parser = XML_ParserCreate(NULL);
	if (reader.parser == NULL)
		return lt_fail(err, LT_ENOMEM, "XML of %zu bytes", byte_count);
	XML_SetUserData(reader.parser, &reader);
	XML_SetElementHandler(reader.parser, on_start, on_end);
	XML_SetCharacterDataHandler(reader.parser, on_text);
	XML_SetStartDoctypeDeclHandler(reader.parser, on_doctype);
	if (XML_Parse(reader.parser, answer->bytes, (int)byte_count, XML_TRUE) != XML_STATUS_OK) {
		snprintf(
		    what, sizeof(what), "not XML: %s", xml_words(XML_GetErrorCode(reader.parser)));
		stop_reading(&reader, LT_EINPUT, what);
	}
	XML_ParserFree(reader.parser);
	return reader.code;
}
