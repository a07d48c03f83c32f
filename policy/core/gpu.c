/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs: rows of gpu_table.c by the names that people, Slurm and devices use; the precision a GPU is
 * good for and how run time scales between two of them (docs/model.md, eq. (3)); and the types of
 * GPUs of a node, with their counts and power.
 *
 * A name that fits several rows has the figures of none of them: the most power, and the least of
 * all else. Pure; an unknown name is not an error, it is just not found.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ask_text.h"
#include "gpu.h"
#include "gpu_kinds.h"
#include "lookup.h"

/* ---- GPU types of a node ---- */

static const struct lt_gpu_kind *
kind_of(const struct lt_shape *shape, const char *type)
{
	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0; i++)
		if (strcasecmp(shape->kinds[i].type, type) == 0)
			return &shape->kinds[i];
	return NULL;
}

bool
lt_shape_has_type(const struct lt_shape *shape, const char *type)
{
	return kind_of(shape, type) != NULL;
}

uint32_t
lt_shape_gpus(const struct lt_shape *shape, const char *type)
{
	uint32_t named = 0;

	if (type[0] == '\0' || lt_gpu_kinds(type) > 1)
		return shape->gpus;
	const struct lt_gpu_kind *const kind = kind_of(shape, type);

	if (kind != NULL)
		return kind->count;
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++)
		if (shape->kinds[i].type[0] != '\0')
			named += shape->kinds[i].count;
	return named < shape->gpus ? shape->gpus - named : 0;
}

int
lt_shape_gpu_index(const struct lt_shape *shape, const char *type)
{
	const struct lt_gpu_kind *const kind = kind_of(shape, type);

	return type[0] != '\0' && kind != NULL && shape->kinds[1].count > 0 ? kind->gpu_index
									    : shape->gpu_index;
}

/* The kind of the most power with less than that, or as much and later. */
static int
next_kind(const struct lt_shape *shape, int last)
{
	int best = -1;

	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0; i++) {
		const double watts = shape->kinds[i].watts;
		const bool is_later = last < 0 || watts < shape->kinds[last].watts ||
				      (i > last && !(watts > shape->kinds[last].watts));

		if (is_later && (best < 0 || watts > shape->kinds[best].watts))
			best = i;
	}
	return best;
}

double
lt_gpus_watts(const struct lt_shape *shape, double node_gpu_w, const char *type, double gpus)
{
	const struct lt_gpu_kind *const kind = type[0] != '\0' ? kind_of(shape, type) : NULL;
	double watts = 0, named = 0;

	if (!(gpus > 0))
		return 0;
	if (kind != NULL && kind->watts > 0)
		return gpus * kind->watts;
	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0; i++) {
		if (!(shape->kinds[i].watts > 0))
			break;
		named += shape->kinds[i].count;
	}
	/* Where a model is not known, all GPUs have the power that the node draws. */
	if (named < shape->gpus || shape->gpus == 0)
		return node_gpu_w > 0 && shape->gpus > 0 ? node_gpu_w * gpus / shape->gpus
							 : LT_WATTS_UNKNOWN;
	for (int i = next_kind(shape, -1); i >= 0 && gpus > 0; i = next_kind(shape, i)) {
		const double here = gpus < shape->kinds[i].count ? gpus : shape->kinds[i].count;

		watts += here * shape->kinds[i].watts;
		gpus -= here;
	}
	return watts;
}

bool
lt_gpu_power_unknown(const struct lt_market *market, const struct lt_partition *partition)
{
	for (uint32_t i = 0; i < partition->shape_count; i++) {
		const struct lt_shape *const shape = &market->shapes[partition->first_shape + i];

		if (lt_gpus_watts(shape, partition->node_gpu_w, "", (double)shape->gpus) < 0)
			return true;
	}
	return false;
}

/* ---- GPUs by name ---- */

/* Names that devices report and that no row starts with. */
static const struct {
	const char *device, *row; /* device as plain() leaves it */
} aliases[] = {
    {"a10080gbpcie", "A100-PCIE-80GB"},
    {"h10080gbhbm3", "H100-SXM5"},
    {"h100sxm", "H100-SXM5"},
    {"a100sxm", "A100-SXM4"},
    {"v100sxm", "V100-SXM2"},
    {"k40m", "K40"},
    {"k40c", "K40"},
    {"gh200120gb", "GH200-480GB"},
    {"b300sxm6ac", "B300-SXM6"},
    {"rtx6000", "Quadro-RTX-6000"},
    {"rtxpro6000blackwell", "RTX-PRO-6000"},
    {"rtxpro6000blackwellserveredition", "RTX-PRO-6000-Server"},
    {"rtxpro6000blackwellworkstationedition", "RTX-PRO-6000-Workstation"},
    {"rtxpro6000blackwellmaxqworkstationedition", "RTX-PRO-6000-Max-Q"},
    {"titanx(pascal)", "TITAN-X-Pascal"},
    {"hl225", "Gaudi2"},
    {"hl325l", "Gaudi3"},
};

static bool
is_joint(char c)
{
	return c == '-' || c == '_' || c == ' ';
}

static char
lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Behind the vendor's words. */
static const char *
without_vendor(const char *name)
{
	static const char *const vendors[] = {
	    "nvidia", "tesla", "geforce", "amd", "instinct", "radeon", "intel", "habana"};
	size_t i = 0;

	while (is_joint(*name))
		name++;
	while (i < sizeof(vendors) / sizeof(vendors[0])) {
		const size_t length = strlen(vendors[i]);

		if (strncasecmp(name, vendors[i++], length) != 0)
			continue;
		name += length;
		while (is_joint(*name))
			name++;
		i = 0;
	}
	return name;
}

/* Lower case, without vendor words and what joins words. What does not fit is longer than all that
 * are known. */
static void
plain(char out[LT_GPU_NAME_SIZE], const char *name)
{
	size_t at = 0;

	for (name = without_vendor(name); *name != '\0' && at < LT_GPU_NAME_SIZE - 1; name++)
		if (!is_joint(*name))
			out[at++] = lower(*name);
	out[at] = '\0';
}

/* True if the row's name begins with these whole words. "a100" does begin "A100-SXM4-40GB"; "a1"
 * doesn't. *whole: nothing follows. */
static bool
begins(const char *row, const char *wanted, bool *whole)
{
	for (; *wanted != '\0'; row++) {
		if (*row == '-')
			continue;
		if (lower(*row) != *wanted)
			return false;
		wanted++;
	}
	*whole = *row == '\0';
	return *row == '\0' || *row == '-';
}

/* The same, where people leave out the words of a family: "2080ti". */
static bool
names_row(const char *row, const char *wanted, bool *whole)
{
	static const char *const families[] = {"Quadro-", "RTX-", "GTX-", "RX-", "PRO-"};

	if (begins(row, wanted, whole))
		return true;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const size_t length = strlen(families[i]);

		if (strncmp(row, families[i], length) != 0)
			continue;
		row += length;
		if (begins(row, wanted, whole))
			return true;
	}
	return false;
}

/* A family is no GPU. */
static bool
is_family(const char *wanted)
{
	static const char *const families[] = {
	    "quadro", "rtx", "gtx", "rx", "pro", "titan", "quadrortx", "rtxpro"};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strcmp(wanted, families[i]) == 0)
			return true;
	return false;
}

struct slice {	     /* of a GPU: MIG */
	unsigned of; /* compute slices, 0 = all of it */
	unsigned part;
	double gigabytes;
	char profile[LT_GPU_NAME_SIZE]; /* "3g.20gb+me" */
};

struct wanted {
	char name[LT_GPU_NAME_SIZE]; /* as plain() leaves it */
	double gigabytes;	     /* 0 = not said */
	struct slice slice;
};

enum { MEMORY_SLICES = 8 };

static double
gigabytes_of(const struct lt_gpu *row)
{
	return row->memory_mib / 1024.0;
}

/* GPUs of four slices have as many of memory; all others seven, and eight. */
static unsigned
slices_of(const struct lt_gpu *row)
{
	return row->mig_slices;
}

static unsigned
memory_slices_of(const struct lt_gpu *row)
{
	return slices_of(row) == 4 ? 4 : MEMORY_SLICES;
}

/* Memory slices of a profile on this GPU; 0: it has none such. "1g.10gb" has two of A100-40GB's,
 * "3g.20gb" four. */
static unsigned
memory_part(const struct lt_gpu *row, const struct slice *slice)
{
	const unsigned all = memory_slices_of(row);
	const double parts = slice->gigabytes * all / gigabytes_of(row);
	const unsigned part = (unsigned)lround(parts);
	const unsigned g = slice->of;
	/* As published: of seven 1g has one or two, 3g four, 7g all. */
	const unsigned least = slices_of(row) == 4 ? g : g == 3 ? 4 : g >= 5 ? MEMORY_SLICES : g;
	const unsigned most = g == 1 ? 2 : least;

	if (slices_of(row) == 0 || g > slices_of(row) || fabs(parts - part) > 0.25 ||
	    part < least || part > most)
		return 0;
	return part;
}

static bool
is_wanted(const struct lt_gpu *row, const struct wanted *wanted, bool *whole)
{
	return names_row(row->name, wanted->name, whole) &&
	       (wanted->gigabytes <= 0 || fabs(wanted->gigabytes / gigabytes_of(row) - 1) < 0.1) &&
	       (wanted->slice.of == 0 || memory_part(row, &wanted->slice) > 0);
}

/* Its share of all: slices of one GPU come to the GPU at most. */
static struct lt_gpu
sliced(const struct lt_gpu *row, const struct slice *slice)
{
	struct lt_gpu gpu = *row;

	if (slice->of == 0)
		return gpu;
	const unsigned memory = memory_part(row, slice);
	const double part = (double)slice->part / slices_of(row);

	gpu.memory_mib = row->memory_mib * memory / memory_slices_of(row);
	gpu.power_w = row->power_w * slice->part / slices_of(row);
	gpu.bandwidth_gb_s = row->bandwidth_gb_s * memory / memory_slices_of(row);
	for (int i = 0; i < LT_PRECISION_COUNT; i++)
		gpu.tflops[i] = row->tflops[i] * part;
	gpu.mig_slices = 0;
	return gpu;
}

/* One that may be either: the most power, the least of all else. */
static void
merge(struct lt_gpu *gpu, const struct lt_gpu *other)
{
	if (other->power_w > gpu->power_w)
		gpu->power_w = other->power_w;
	if (other->memory_mib < gpu->memory_mib)
		gpu->memory_mib = other->memory_mib;
	if (other->compute_capability < gpu->compute_capability)
		gpu->compute_capability = other->compute_capability;
	if (other->mig_slices != gpu->mig_slices)
		gpu->mig_slices = 0;
	gpu->bandwidth_gb_s = fmin(gpu->bandwidth_gb_s, other->bandwidth_gb_s);
	for (int i = 0; i < LT_PRECISION_COUNT; i++)
		gpu->tflops[i] = fmin(gpu->tflops[i], other->tflops[i]);
}

/* "20gb", "80g", "40": of a whole word. 0 = another word. */
static double
word_gigabytes(const char *word, size_t length)
{
	const size_t digits = strspn(word, "0123456789");
	static const char *const units[] = {"", "g", "gb", "gib"};

	if (digits < 1 || digits > 3 || digits > length)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i]) == length - digits &&
		    strncasecmp(word + digits, units[i], length - digits) == 0)
			return atof(word);
	return 0;
}

/* The first word but one that is a size, out of name. */
static void
take_memory(struct wanted *wanted, const char *name)
{
	char rest[LT_GPU_NAME_SIZE] = "";
	size_t at = 0;

	name = without_vendor(name);
	for (const char *word = name; *word != '\0';) {
		const size_t length = strcspn(word, "-_ ");
		const double gigabytes =
		    word > name && wanted->gigabytes <= 0 ? word_gigabytes(word, length) : 0;

		if (gigabytes > 0)
			wanted->gigabytes = gigabytes;
		else if (at + length < sizeof(rest)) {
			memcpy(rest + at, word, length);
			at += length;
		}
		word += length;
		word += strspn(word, "-_ ");
	}
	rest[at] = '\0';
	plain(wanted->name, rest);
}

static void
resolve_alias(char name[LT_GPU_NAME_SIZE])
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(aliases[i].device, name) == 0) {
			plain(name, aliases[i].row);
			return;
		}
}

/* "[1c.]3g.20gb[+me]" at text; false: none is there. */
static bool
read_slice(struct slice *slice, const char *text)
{
	unsigned compute = 0, of = 0, gigabytes = 0;
	int end = 0;

	if (sscanf(text, "%1uc.%1ug.%3ugb%n", &compute, &of, &gigabytes, &end) != 3 || end == 0) {
		end = 0;
		if (sscanf(text, "%1ug.%3ugb%n", &of, &gigabytes, &end) != 2 || end == 0)
			return false;
		compute = of;
	}
	if (of == 0 || compute == 0 || compute > of || gigabytes == 0 ||
	    (text[end] != '\0' && strchr("+-._", text[end]) == NULL) ||
	    strlen(text) >= sizeof(slice->profile))
		return false;
	slice->of = of;
	slice->part = compute;
	slice->gigabytes = gigabytes;
	for (size_t i = 0; i <= strlen(text); i++)
		slice->profile[i] = lower(text[i]);
	return true;
}

/* The profile at the name's end; where the name of its GPU ends, else its length. */
static size_t
take_slice(struct slice *slice, const char *name)
{
	for (const char *at = name; *at != '\0'; at++) {
		if (at > name && !is_joint(at[-1]) && at[-1] != '.')
			continue;
		if (!read_slice(slice, at))
			continue;
		size_t length = (size_t)(at - name);

		while (length > 0 && (is_joint(name[length - 1]) || name[length - 1] == '.'))
			length--;
		if (length >= 3 && strncasecmp(name + length - 3, "mig", 3) == 0 &&
		    (length == 3 || is_joint(name[length - 4])))
			length -= 3;
		while (length > 0 && is_joint(name[length - 1]))
			length--;
		return length;
	}
	return strlen(name);
}

/* As it is written, for all who write it: lower case, without the vendor. */
static void
name_as_written(char out[LT_GPU_NAME_SIZE], const char *name)
{
	size_t at = 0;

	for (name = without_vendor(name); *name != '\0' && at < LT_GPU_NAME_SIZE - 1; name++)
		out[at++] = is_joint(*name) ? '-' : lower(*name);
	out[at] = '\0';
}

/* Joins all rows that are wanted. One row keeps its name, several get the written one. */
static uint32_t
merged(struct lt_gpu *room, const struct wanted *wanted, const char *written)
{
	uint32_t found = 0;
	bool whole;
	int count;
	const struct lt_gpu *const table = lt_gpu_table(&count);

	for (int i = 0; i < count; i++) {
		if (!is_wanted(&table[i], wanted, &whole))
			continue;
		const struct lt_gpu gpu = sliced(&table[i], &wanted->slice);

		if (whole || found++ == 0)
			*room = gpu;
		else
			merge(room, &gpu);
		if (whole) {
			found = 1;
			break;
		}
	}
	if (found > 1)
		name_as_written(room->name, written);
	return found;
}

static void
add_profile(struct lt_gpu *gpu, const struct slice *slice)
{
	const size_t length = strlen(gpu->name);

	if (slice->of > 0)
		(void)snprintf(
		    gpu->name + length, sizeof(gpu->name) - length, "-%s", slice->profile);
}

/* Reads the name of a GPU; model is its name alone, without a slice's part. */
static bool
read_wanted(struct wanted *wanted, char model[LT_GPU_NAME_SIZE], const char *name)
{
	*wanted = (struct wanted){0};
	const size_t length = take_slice(&wanted->slice, name);

	if (length >= LT_GPU_NAME_SIZE)
		return false;
	memcpy(model, name, length);
	model[length] = '\0';
	plain(wanted->name, model);
	resolve_alias(wanted->name);
	return wanted->name[0] != '\0' && !is_family(wanted->name);
}

static uint32_t
find_rows(struct lt_gpu *room, struct wanted *wanted, const char *model)
{
	uint32_t found = merged(room, wanted, model);

	if (found == 0) {
		take_memory(wanted, model);
		resolve_alias(wanted->name);
		if (wanted->gigabytes > 0 && wanted->name[0] != '\0' && !is_family(wanted->name))
			found = merged(room, wanted, model);
	}
	return found;
}

const struct lt_gpu *
lt_gpu_find(struct lt_gpu *room, const char *name)
{
	struct wanted wanted;
	char model[LT_GPU_NAME_SIZE];

	if (!read_wanted(&wanted, model, name) || find_rows(room, &wanted, model) == 0)
		return NULL;
	add_profile(room, &wanted.slice);
	return room;
}

bool
lt_gpu_may_be(const char *name, const struct lt_gpu *row)
{
	struct wanted wanted;
	char model[LT_GPU_NAME_SIZE];
	struct lt_gpu room;
	bool whole;

	return read_wanted(&wanted, model, name) && find_rows(&room, &wanted, model) > 0 &&
	       is_wanted(row, &wanted, &whole);
}

bool
lt_gpu_is_slice(const char *type)
{
	struct slice slice = {0};

	(void)take_slice(&slice, type);
	return slice.of > 0;
}

bool
lt_gpu_slice(struct lt_gpu *gpu, const char *type)
{
	struct slice slice = {0};

	(void)take_slice(&slice, type);
	if (slice.of == 0)
		return true;
	if (memory_part(gpu, &slice) == 0)
		return false;
	*gpu = sliced(gpu, &slice);
	add_profile(gpu, &slice);
	return true;
}

/* ---- Precision and speed ---- */

enum lt_precision
lt_gpu_best_precision(const struct lt_gpu *gpu)
{
	if (gpu == NULL)
		return LT_PRECISION_OFF;
	if (gpu->tflops[LT_PRECISION_BF16] > 0)
		return LT_PRECISION_BF16;
	/* Pascal has FP16 arithmetic, but no tensor cores to gain by it. */
	if (gpu->tflops[LT_PRECISION_FP16] > 0 && gpu->compute_capability >= 70)
		return LT_PRECISION_FP16;
	return LT_PRECISION_OFF;
}

bool
lt_gpu_lacks(const struct lt_gpu *gpu, enum lt_precision wanted)
{
	return wanted > LT_PRECISION_TF32 && wanted < LT_PRECISION_COUNT &&
	       !(gpu->tflops[wanted] > 0);
}

enum lt_precision
lt_gpu_top_precision(const struct lt_gpu *gpu)
{
	return gpu != NULL && gpu->tflops[LT_PRECISION_FP8] > 0 ? LT_PRECISION_FP8
								: lt_gpu_best_precision(gpu);
}

enum lt_precision
lt_precision_used(enum lt_precision wanted, enum lt_precision top)
{
	if (top == LT_PRECISION_AUTO || top == LT_PRECISION_OFF)
		return LT_PRECISION_OFF;
	if (wanted == LT_PRECISION_AUTO)
		wanted = LT_PRECISION_BF16; /* FP8 must be asked for */
	return wanted < top ? wanted : top; /* BF16 on Volta would be slow */
}

const struct lt_precision_words *
lt_precision_words(enum lt_precision used)
{
	static const struct lt_precision_words words[LT_PRECISION_COUNT] = {
	    [LT_PRECISION_FP16] = {"fp16", "16-mixed"},
	    [LT_PRECISION_BF16] = {"bf16", "bf16-mixed"},
	    [LT_PRECISION_FP8] = {"fp8", "bf16-mixed"},
	};

	return (unsigned)used < LT_PRECISION_COUNT && LT_ROW(words, used).accelerate != NULL
		   ? &LT_ROW(words, used)
		   : NULL;
}

/* Returns the TFLOPS in use: nothing said and exact both may mean plain FP32; a precision that the
 * GPU lacks becomes its best. */
static double
tflops_at(const struct lt_gpu *gpu, enum lt_precision precision)
{
	if (precision == LT_PRECISION_AUTO || precision == LT_PRECISION_OFF)
		precision = LT_PRECISION_FP32;
	if ((unsigned)precision >= LT_PRECISION_COUNT)
		return 0;
	if (lt_gpu_lacks(gpu, precision))
		precision = lt_precision_used(precision, lt_gpu_top_precision(gpu));
	return gpu->tflops[precision == LT_PRECISION_OFF ? LT_PRECISION_FP32 : precision];
}

/* Where nothing is said: as if it used the GPU's best mixed precision. */
static double
tflops_best(const struct lt_gpu_use *use)
{
	return tflops_at(use->gpu,
	    use->precision == LT_PRECISION_AUTO ? lt_gpu_best_precision(use->gpu) : use->precision);
}

double
lt_gpu_time_ratio(const struct lt_gpu_use *from, const struct lt_gpu_use *to, bool *known)
{
	*known = false;
	if (from->gpu == NULL || to->gpu == NULL)
		return 1.0;
	const double before = tflops_at(from->gpu, from->precision);
	const double after = tflops_at(to->gpu, to->precision);
	if (!(before > 0 && after > 0 && from->gpu->bandwidth_gb_s > 0 &&
		to->gpu->bandwidth_gb_s > 0))
		return 1.0;
	*known = true;
	return fmax(fmax(before / after, tflops_best(from) / tflops_best(to)),
	    from->gpu->bandwidth_gb_s / to->gpu->bandwidth_gb_s);
}
