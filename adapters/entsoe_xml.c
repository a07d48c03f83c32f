/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of ENTSO-E's Transparency Platform: GL_MarketDocument (A75, actual
 * generation per type) and Acknowledgement_MarketDocument. By local names:
 * the versions of the namespace vary.
 */
#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "entsoe.h"
#include "source.h"

enum {
	DEPTH_MAX = 32,
	POSITIONS_MAX = 4096, /* of a period: 42 days of quarter hours */
	/* 35 days of quarter hours of 32 types, twice; more: refused */
	POINTS_MAX = 262144,
};

/* psrType, parts B01 to B25; B21 to B24 are grid assets and generate
 * nothing. */
const struct lt_mix_code lt_entsoe_fuels[] = {
    {"B01", LT_FUEL_BIOMASS},
    {"B02", LT_FUEL_LIGNITE},
    {"B03", LT_FUEL_COAL}, /* gas made of coal: coal's carbon */
    {"B04", LT_FUEL_GAS},
    {"B05", LT_FUEL_COAL},
    {"B06", LT_FUEL_OIL},
    {"B07", LT_FUEL_OIL_SHALE},
    {"B08", LT_FUEL_PEAT},
    {"B09", LT_FUEL_GEOTHERMAL},
    {"B10", LT_FUEL_STORAGE}, /* pumped */
    {"B11", LT_FUEL_HYDRO},
    {"B12", LT_FUEL_HYDRO},
    {"B13", LT_FUEL_MARINE},
    {"B14", LT_FUEL_NUCLEAR},
    {"B15", LT_FUEL_BIOMASS}, /* other renewable: mostly gas of waste */
    {"B16", LT_FUEL_SOLAR},
    {"B17", LT_FUEL_WASTE},
    {"B18", LT_FUEL_WIND_OFFSHORE},
    {"B19", LT_FUEL_WIND},
    {"B20", LT_FUEL_OTHER},
    {"B25", LT_FUEL_STORAGE},
    {NULL, LT_FUEL_OTHER},
};

enum root { ROOT_NONE, ROOT_DATA, ROOT_REASON };

struct reader {
	XML_Parser parser;
	const char *eic;
	struct lt_mix *mix;
	struct lt_entsoe_answer *answer;
	struct lt_error *err;
	int code;
	enum root root;
	int depth, points;
	char text[256]; /* of the element that is open; longer: cut */
	size_t text_length;
	bool in_series, in_period, in_point;
	struct { /* a TimeSeries */
		char in_eic[LT_EIC_SIZE], out_eic[LT_EIC_SIZE];
		char unit[8], curve[8], fuel[8];
	} series;
	struct { /* its Period */
		int64_t start_utc_s, end_utc_s;
		int64_t step_s;
		int last; /* greatest position with a value */
		/* NAN = skipped, INFINITY = refused: not the one before it */
		double mw[POSITIONS_MAX + 1];
	} period;
	struct {
		int64_t position;
		double mw;
	} point;
};

/* ---- areas ---- */

/* Zones as the Transparency Platform lists them; national where A75 is
 * published for a country. */
static const struct {
	const char *code, *eic;
} areas[] = {
    {"AL", "10YAL-KESH-----5"},
    {"AT", "10YAT-APG------L"},
    {"BA", "10YBA-JPCC-----D"},
    {"BE", "10YBE----------2"},
    {"BG", "10YCA-BULGARIA-R"},
    {"CH", "10YCH-SWISSGRIDZ"},
    {"CY", "10YCY-1001A0003J"},
    {"CZ", "10YCZ-CEPS-----N"},
    {"DE", "10Y1001A1001A83F"},
    {"DE-LU", "10Y1001A1001A82H"},
    {"DK", "10Y1001A1001A65H"},
    {"DK1", "10YDK-1--------W"},
    {"DK2", "10YDK-2--------M"},
    {"EE", "10Y1001A1001A39I"},
    {"ES", "10YES-REE------0"},
    {"FI", "10YFI-1--------U"},
    {"FR", "10YFR-RTE------C"},
    {"GR", "10YGR-HTSO-----Y"},
    {"HR", "10YHR-HEP------M"},
    {"HU", "10YHU-MAVIR----U"},
    {"IE", "10YIE-1001A00010"},
    {"IE-SEM", "10Y1001A1001A59C"},
    {"IT", "10YIT-GRTN-----B"},
    {"IT-NORTH", "10Y1001A1001A73I"},
    {"LT", "10YLT-1001A0008Q"},
    {"LU", "10YLU-CEGEDEL-NQ"},
    {"LV", "10YLV-1001A00074"},
    {"ME", "10YCS-CG-TSO---S"},
    {"MK", "10YMK-MEPSO----8"},
    {"NL", "10YNL----------L"},
    {"NO", "10YNO-0--------C"},
    {"NO1", "10YNO-1--------2"},
    {"NO2", "10YNO-2--------T"},
    {"NO3", "10YNO-3--------J"},
    {"NO4", "10YNO-4--------9"},
    {"NO5", "10Y1001A1001A48H"},
    {"PL", "10YPL-AREA-----S"},
    {"PT", "10YPT-REN------W"},
    {"RO", "10YRO-TEL------P"},
    {"RS", "10YCS-SERBIATSOV"},
    {"SE", "10YSE-1--------K"},
    {"SE1", "10Y1001A1001A44P"},
    {"SE2", "10Y1001A1001A45N"},
    {"SE3", "10Y1001A1001A46L"},
    {"SE4", "10Y1001A1001A47J"},
    {"SI", "10YSI-ELES-----O"},
    {"SK", "10YSK-SEPS-----K"},
    {"UA", "10Y1001C--00003F"},
    {"XK", "10Y1001C--00100H"},
};

/* 16 characters, the last a check: 36 - (sum of weight * value - 1) mod 37,
 * weights 16 to 2, "-" is 36 (ENTSO-E, EIC data exchange guide). */
static bool
is_eic(const char *text)
{
	static const char values[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-";
	int sum = 0;

	if (strlen(text) != LT_EIC_SIZE - 1 ||
	    strspn(text, values) != LT_EIC_SIZE - 1)
		return false;
	for (int i = 0; i < LT_EIC_SIZE - 2; i++)
		sum += (16 - i) * (int)(strchr(values, text[i]) - values);
	return text[LT_EIC_SIZE - 2] == values[36 - (sum + 36) % 37];
}

const char *
lt_entsoe_area(const char *text)
{
	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++)
		if (strcmp(areas[i].code, text) == 0)
			return areas[i].eic;
	return is_eic(text) ? text : NULL;
}

/* ---- reading ---- */

#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define line_of XML_GetCurrentLineNumber
#define column_of XML_GetCurrentColumnNumber
#else /* which calls those deprecated */
#define line_of XML_GetCurrentLineNumber64
#define column_of XML_GetCurrentColumnNumber64
#endif

static void
stop(struct reader *reader, enum lt_code code, const char *what)
{
	if (reader->code != LT_OK)
		return;
	reader->code = lt_fail(reader->err, code, "%s", what);
	lt_error_at(reader->err, (int)line_of(reader->parser),
	    (int)column_of(reader->parser) + 1);
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
	char text[160];

	if (strcmp(name, "GL_MarketDocument") == 0) {
		reader->root = ROOT_DATA;
	} else if (strcmp(name, "Acknowledgement_MarketDocument") == 0) {
		reader->root = ROOT_REASON;
		reader->answer->kind = LT_ENTSOE_REFUSED;
	} else {
		snprintf(text, sizeof(text),
		    "got <%.60s>, want <GL_MarketDocument>", name);
		stop(reader, LT_EINPUT, text);
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
		stop(reader, LT_ELIMIT, "XML with more than 32 levels");
	} else if (reader->depth == 1) {
		start_root(reader, name);
	} else if (reader->root != ROOT_DATA || reader->mix == NULL) {
		return;
	} else if (strcmp(name, "TimeSeries") == 0) {
		reader->in_series = true;
		memset(&reader->series, 0, sizeof(reader->series));
	} else if (strcmp(name, "Period") == 0 && reader->in_series) {
		start_period(reader);
	} else if (strcmp(name, "Point") == 0 && reader->in_period) {
		reader->in_point = true;
		reader->point.position = 0;
		reader->point.mw = INFINITY;
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

/* The element's text without the blanks around it. */
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

static void
end_point(struct reader *reader)
{
	const int position = (int)reader->point.position;

	reader->in_point = false;
	if (++reader->points > POINTS_MAX) {
		stop(reader, LT_ELIMIT, "more than 262144 points");
		return;
	}
	if (position == 0 || isinf(reader->point.mw))
		lt_mix_refuse(reader->mix,
		    "a point without a position of 1 to %d or a quantity of at most %d",
		    POSITIONS_MAX, LT_MIX_MW_MAX);
	if (position == 0)
		return;
	for (int i = reader->period.last + 1; i < position; i++)
		reader->period.mw[i] = NAN;
	reader->period.mw[position] = reader->point.mw;
	if (position > reader->period.last)
		reader->period.last = position;
}

/* Production of the area that was asked for, in MW? What pumps draw
 * (outBiddingZone) is passed over: it is no generation. */
static bool
is_wanted(struct reader *reader)
{
	const bool consumption = reader->series.out_eic[0] != '\0';
	const char *const curve = reader->series.curve;

	if (strcmp(consumption ? reader->series.out_eic : reader->series.in_eic,
		reader->eic) != 0)
		lt_mix_refuse(reader->mix, "zone: got %s, want %s",
		    consumption ? reader->series.out_eic
				: reader->series.in_eic,
		    reader->eic);
	else if (consumption)
		return false;
	else if (strcmp(reader->series.unit, "MAW") != 0)
		lt_mix_refuse(reader->mix, "unit: got \"%s\", want MAW",
		    reader->series.unit);
	else if (curve[0] != '\0' && strcmp(curve, "A01") != 0 &&
		 strcmp(curve, "A03") != 0)
		lt_mix_refuse(
		    reader->mix, "curveType: got %s, want A01 or A03", curve);
	else if (reader->series.fuel[0] == '\0')
		lt_mix_refuse(reader->mix, "a series without psrType");
	else
		return true;
	return false;
}

/* Curve A03 gives a position only where the value changes; in A01 one that is
 * not there is missing. */
static void
put_period(struct reader *reader, int count)
{
	const bool carry = strcmp(reader->series.curve, "A03") == 0;
	const int column = lt_mix_column(reader->mix, reader->series.fuel);
	const int64_t step_s = reader->period.step_s;
	double mw = NAN;

	for (int i = 1; i <= count; i++) {
		const double said =
		    i <= reader->period.last ? reader->period.mw[i] : NAN;
		const int64_t start_utc_s =
		    reader->period.start_utc_s + (i - 1) * step_s;

		if (!carry || !isnan(said))
			mw = said;
		if (isfinite(mw))
			lt_mix_put(reader->mix, column, start_utc_s,
			    start_utc_s + step_s, mw);
	}
}

static void
end_period(struct reader *reader)
{
	const int64_t step_s = reader->period.step_s;
	const int64_t start_utc_s = reader->period.start_utc_s;
	const int64_t length_s = reader->period.end_utc_s - start_utc_s;

	reader->in_period = false;
	if (!is_wanted(reader))
		return;
	if (step_s == 0 || length_s <= 0 || length_s % step_s != 0 ||
	    length_s / step_s > POSITIONS_MAX || start_utc_s % step_s != 0 ||
	    reader->period.last > length_s / step_s) {
		lt_mix_refuse(reader->mix,
		    "a period of %s: want whole steps of PT15M, PT30M or PT60M, at most %d, on the clock",
		    reader->series.fuel, POSITIONS_MAX);
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
	} steps[] = {
	    {"PT15M", 900}, {"PT30M", 1800}, {"PT60M", 3600}, {"PT1H", 3600}};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (strcmp(steps[i].text, resolution) == 0)
			return steps[i].seconds;
	return 0;
}

static void
end_in_point(struct reader *reader, const char *name, const char *text)
{
	if (strcmp(name, "position") == 0) {
		if (lt_int64_parse(text, 1, POSITIONS_MAX,
			&reader->point.position, NULL) != LT_OK)
			reader->point.position = 0;
	} else if (strcmp(name, "quantity") == 0) {
		if (lt_double_parse(text, &reader->point.mw, NULL) != LT_OK ||
		    fabs(reader->point.mw) > LT_MIX_MW_MAX)
			reader->point.mw = INFINITY;
	} else if (strcmp(name, "Point") == 0) {
		end_point(reader);
	}
}

static void
end_in_period(struct reader *reader, const char *name, const char *text)
{
	if (strcmp(name, "start") == 0) {
		if (lt_utc_parse(text, &reader->period.start_utc_s, NULL) !=
		    LT_OK)
			reader->period.start_utc_s = 0;
	} else if (strcmp(name, "end") == 0) {
		if (lt_utc_parse(text, &reader->period.end_utc_s, NULL) !=
		    LT_OK)
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
	const struct {
		const char *name;
		char *out;
		size_t size;
	} texts[] = {
	    {"inBiddingZone_Domain.mRID", reader->series.in_eic, LT_EIC_SIZE},
	    {"outBiddingZone_Domain.mRID", reader->series.out_eic, LT_EIC_SIZE},
	    {"quantity_Measure_Unit.name", reader->series.unit, 8},
	    {"curveType", reader->series.curve, 8},
	    {"psrType", reader->series.fuel, 8},
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
		   strcmp(text, "A75") != 0) {
		stop(reader, LT_EINPUT,
		    "a document of another type than A75, actual generation per type");
	}
	reader->depth--;
	reader->text_length = 0;
}

static void
on_doctype(void *data, const char *name, const char *system_id,
    const char *public_id, int has_subset)
{
	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_subset;
	stop(data, LT_EINPUT, "XML with a document type: refused");
}

/* What expat's short words mean for who reads them. */
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
lt_entsoe_read(const struct lt_answer *answer, const char *eic,
    struct lt_mix *mix, struct lt_entsoe_answer *said, struct lt_error *err)
{
	const size_t byte_count = answer->byte_count;
	struct reader reader = {
	    .eic = eic, .mix = mix, .answer = said, .err = err};
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
	if (XML_Parse(reader.parser, answer->bytes, (int)byte_count,
		XML_TRUE) != XML_STATUS_OK) {
		snprintf(what, sizeof(what), "not XML: %s",
		    xml_words(XML_GetErrorCode(reader.parser)));
		stop(&reader, LT_EINPUT, what);
	}
	XML_ParserFree(reader.parser);
	return reader.code;
}
