/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of simulate_site_print.c as a picture: of each setting what part of
 * money and of carbon it saves, with its interval.
 */
#include <math.h>

#include "simulate_site.h"
#include "units.h"

enum {
	WIDTH = 960,
	LEFT = 190, /* of the bars; room for their names */
	RIGHT = 850,
	TOP = 70,
	ROW = 52,
	BAR = 16,
};

struct scale { /* percent from low to high between LEFT and RIGHT */
	double low, high;
};

static double
x_of(const struct scale *scale, double part)
{
	return LEFT + (RIGHT - LEFT) * (part * 100 - scale->low) /
			  (scale->high - scale->low);
}

static void
stretch(struct scale *scale, const struct lt_jackknife *part)
{
	if (!part->has_part)
		return;
	const double low = (part->has_interval ? part->low : part->part) * 100;
	const double high =
	    (part->has_interval ? part->high : part->part) * 100;

	while (low < scale->low && scale->low > -100)
		scale->low -= 10;
	while (high > scale->high && scale->high < 100)
		scale->high += 10;
}

static double
within(const struct scale *scale, double part)
{
	return fmin(fmax(part, scale->low / 100), scale->high / 100);
}

static void
draw_bar(FILE *out, const struct scale *scale, const struct lt_jackknife *part,
    const char *color, int y)
{
	if (!part->has_part)
		return;
	const double zero = x_of(scale, 0);
	const double end = x_of(scale, within(scale, part->part));
	const int middle = y + BAR / 2;

	fprintf(out,
	    "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
	    fmin(zero, end), y, fabs(end - zero), BAR, color);
	if (part->has_interval) {
		const double low = x_of(scale, within(scale, part->low));
		const double high = x_of(scale, within(scale, part->high));

		fprintf(out,
		    "<path d=\"M%.1f %dH%.1fM%.1f %dv%dM%.1f %dv%d\" stroke=\"#000\"/>\n",
		    low, middle, high, low, y + 3, BAR - 6, high, y + 3,
		    BAR - 6);
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\">%.1f %%</text>\n", RIGHT + 12,
	    y + BAR - 4, part->part * 100);
}

static void
draw_scale(FILE *out, const struct scale *scale, int bottom)
{
	for (double at = scale->low; at <= scale->high + 0.5; at += 10)
		fprintf(out,
		    "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>"
		    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g %%</text>\n",
		    x_of(scale, at / 100), TOP - 10, bottom,
		    x_of(scale, at / 100), bottom + 16, at);
}

static void
draw(FILE *out, const struct lt_site_page *page)
{
	const int bottom = TOP + (int)page->setting_count * ROW;
	const bool has_money = page->market.currency[0] != '\0';
	struct lt_jackknife money[LT_SITE_SETTINGS_MAX] = {0};
	struct lt_jackknife carbon[LT_SITE_SETTINGS_MAX];
	struct scale scale = {0, 10};
	char from[40], to[40], waiting[32];

	for (uint32_t i = 0; i < page->setting_count; i++) {
		if (has_money)
			money[i] =
			    lt_site_part(&page->results[i], LT_SITE_MONEY);
		carbon[i] = lt_site_part(&page->results[i], LT_SITE_CARBON);
		stretch(&scale, &money[i]);
		stretch(&scale, &carbon[i]);
	}
	fprintf(out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	    "font-family=\"sans-serif\" font-size=\"12\">\n"
	    "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	    "<text x=\"20\" y=\"24\" font-size=\"15\" font-weight=\"bold\">What lowtide would have saved, %.10s to %.10s, %u runs</text>\n"
	    "<text x=\"20\" y=\"44\">%s<tspan fill=\"#383\">green: of CO2e</tspan>; line: 95 %%; each run as if its user had asked</text>\n",
	    WIDTH, bottom + 40,
	    lt_utc_text(from, sizeof(from), page->from_utc_s),
	    lt_utc_text(to, sizeof(to), page->to_utc_s),
	    page->results[0].all.runs,
	    has_money ? "<tspan fill=\"#06c\">blue: of money</tspan>; " : "");
	draw_scale(out, &scale, bottom);
	for (uint32_t i = 0; i < page->setting_count; i++) {
		const int y = TOP + (int)i * ROW;

		fprintf(out, "<text x=\"20\" y=\"%d\">%s, waiting %s</text>\n",
		    y + BAR + 4, lt_objective_name(page->settings[i].objective),
		    lt_site_waiting_text(
			waiting, sizeof(waiting), page->settings[i].waiting));
		draw_bar(out, &scale, &money[i], "#06c", y);
		draw_bar(out, &scale, &carbon[i], "#383", y + BAR + 4);
	}
	fputs("</svg>\n", out);
}

int
lt_site_write_svg(
    const struct lt_site_page *page, const char *path, struct lt_error *err)
{
	struct lt_output output;

	if (lt_output_open(&output, path, err) != LT_OK)
		return err->code;
	draw(output.out, page);
	return lt_output_close(&output, err);
}
