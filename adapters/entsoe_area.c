/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The areas of ENTSO-E's Transparency Platform: short codes, and energy
 * identification codes with their check characters. For both of its adapters.
 */
#include <string.h>

#include "entsoe.h"

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

int
lt_entsoe_area_option(const struct lt_source_options *options, const char **eic,
    struct lt_error *err)
{
	const char *const area = lt_source_option(options, "area", "");

	*eic = lt_entsoe_area(area);
	if (*eic != NULL)
		return LT_OK;
	return lt_option_fail(options, "area", err,
	    "%s: area: got \"%s\", want a known short code such as DE, FR or NO1, or an EIC code of 16 characters whose check character is right",
	    options->name, area);
}
