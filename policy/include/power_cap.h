/*
 * Power caps of dirty hours: the frequencies that the site's rules may set, and what a plan says of
 * the one that it has. The rules themselves are in the market; docs/model.md, (9a) to (9c).
 */
#ifndef LT_POWER_CAP_H
#define LT_POWER_CAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "brief.h"
#include "limits.h"

enum { LT_SLOW_DOWN_MAX = 10 }; /* times as long: more is no cap */

/* "", low, medium, high, highm1 or a number (MHz of GPUs, kHz of CPUs): what srun of all releases
 * takes, whatever else its site allows. Anything else would stop the srun of a job that asked for
 * nothing. */
bool lt_frequency_is_good(const char *text);

/* How a plan's run is slowed, as it is told and as the node does it. Both frequencies "": it is
 * not. */
struct lt_capped {
	char gpu_freq[LT_FREQUENCY_SIZE], cpu_freq[LT_FREQUENCY_SIZE];
	int64_t until_utc_s;	  /* holds for starts before that */
	uint32_t longer_ppm;	  /* of the run without */
	int64_t less_wh;	  /* all tasks; may be negative */
	uint32_t above_g, mean_g; /* per kWh: the site's bound, the window's */
};

static inline bool
lt_is_capped(const struct lt_capped *capped)
{
	return capped->gpu_freq[0] != '\0' || capped->cpu_freq[0] != '\0';
}

/* "GPUs at 1200 MHz above 400 g/kWh (523 g): 8 % longer, 1.9 kWh less"; "" for none. Returns
 * out. */
const char *lt_capped_text(char *out, size_t size, const struct lt_capped *capped);

/* The same behind what, "capped: ", in parts that a line may leave out; none where nothing is
 * capped. */
void lt_capped_note(struct lt_brief *notes, const char *what, const struct lt_capped *capped);

/* "<gpu>,<cpu>,<until>,<longer ppm>,<less Wh>,<above>,<mean>", "-" for a frequency that is left
 * alone. LT_ELIMIT when it does not fit. */
int lt_capped_pack(char *out, size_t size, const struct lt_capped *capped);
/* False when it is not exactly as that writes it. */
bool lt_capped_unpack(struct lt_capped *capped, const char *text);

#endif
