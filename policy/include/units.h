/*
 * Units: the only place where text for people becomes a number of one unit, and back. Money is
 * int64_t micros (millionths of the site's currency), carbon int64_t milligrams CO2e, time int64_t
 * UTC seconds.
 */
#ifndef LT_UNITS_H
#define LT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum {
	LT_MINUTE_S = 60,
	LT_HOUR_S = 3600,
	LT_DAY_S = 86400,
	LT_MICROS = 1000000,
	LT_MG_PER_TONNE = 1000000000
};

/* "2m", "24h", "1d", "90s", "7d12h" -> seconds. A number alone is refused:
 * its unit would be a guess. "0" is allowed. *seconds only on success. */
int lt_duration_parse(const char *text, int64_t *seconds, struct lt_error *err);

/* Slurm's time: "min", "min:s", "h:m:s", "d-h", "d-h:m", "d-h:m:s",
 * or lt_duration_parse()'s form. */
int lt_slurm_time_parse(const char *text, int64_t *seconds, struct lt_error *err);

/* "40G", "40GiB", "81920M", "81920MiB", "1T" -> MiB (binary, as Slurm and devices count). A number
 * alone is MiB, as with Slurm's --mem. */
int lt_mebibytes_parse(const char *text, int64_t *mebibytes, struct lt_error *err);

/* "5000", "32.77", "-0.5" -> micros, exact decimal; more than six decimals
 * or an exponent is refused. */
int lt_micros_parse(const char *text, int64_t *micros, struct lt_error *err);

/* A decimal number by the C locale's rules whatever the process's locale;
 * NaN, infinity, hex and trailing text are refused. */
int lt_double_parse(const char *text, double *value, struct lt_error *err);

/* An integer in [min, max], decimal, nothing after it. */
int lt_int64_parse(
    const char *text, int64_t min, int64_t max, int64_t *value, struct lt_error *err);

/* ISO 8601 UTC: "2026-11-21T02:00Z", "...T02:00:00Z", fractions of a second and "+00:00" style
 * offsets too; a text without zone is refused. */
int lt_utc_parse(const char *text, int64_t *utc_s, struct lt_error *err);

/*
 * Text for people, into out (size bytes, always ended, cut if too small).
 * All return out. Money: "$1,234.57" (USD, EUR, GBP, JPY by sign, others as
 * "1,234.57 CHF"), rounded half away from zero to the decimals that the
 * currency has by ISO 4217: "1,235 KRW", "1.235 KWD"; as digits without sign
 * or code. Carbon: "850 g" below 1 kg, "3.1 kg" below 1 t, "2.40 t".
 */
const char *lt_money_text(char *out, size_t size, int64_t micros, const char *currency);
const char *lt_money_digits(char *out, size_t size, int64_t micros, const char *currency);
const char *lt_carbon_text(char *out, size_t size, int64_t mg);
/* "141 %"; with a decimal about 100, so that what is over never reads as 100 % and what is within
 * never as more. "all": there is no whole. */
enum { LT_PERCENT_SIZE = 32 };
const char *lt_percent_text(char out[LT_PERCENT_SIZE], int64_t part, int64_t whole);
const char *lt_duration_text(char *out, size_t size, int64_t seconds); /* "1d 2h", "12m" */
const char *lt_hours_text(
    char *out, size_t size, int64_t seconds); /* "2:10", "1-02:10"; short ones "4m 10s", which
					       * nobody takes for hours */
const char *lt_slurm_time_text(char *out, size_t size, int64_t seconds); /* "2-03:00:00" */
const char *lt_utc_text(char *out, size_t size, int64_t utc_s); /* "2026-11-21T02:00:00Z" */
/* Exact decimals for CSV and JSON: micros as "1234.567890", milligrams as kilograms "0.003100". */
const char *lt_micros_exact(char *out, size_t size, int64_t micros);
const char *lt_kg_exact(char *out, size_t size, int64_t mg);

/*
 * amount * numerator / denominator, rounded up: for holds; 128 bits inside. False when denominator
 * <= 0 or the result passes int64_t.
 */
bool lt_scale_up(int64_t amount, int64_t numerator, int64_t denominator, int64_t *result)
    __attribute__((warn_unused_result, nonnull));

/* *sum += addend unless it passes int64_t; false and unchanged then. */
bool lt_add(int64_t *sum, int64_t addend) __attribute__((warn_unused_result, nonnull));

/* FNV-1a, 32 bits, of a lower-cased name: names inside 64-byte records. */
uint32_t lt_name_hash(const char *name);

/* The next 64 bits at random: splitmix64 (Steele et al., OOPSLA 2014). The same state, the same
 * bits; not for secrets. */
uint64_t lt_random(uint64_t *state) __attribute__((nonnull));

/* CRC-32C (Castagnoli), start with 0. */
uint32_t lt_crc32c(uint32_t crc, const void *bytes, size_t byte_count);

#endif
