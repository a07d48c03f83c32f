/*
 * Result codes and the caller's error text. Used everywhere; see
 * docs/style: the first failure stays, callers add context outward.
 */
#ifndef LT_ERROR_H
#define LT_ERROR_H

#include "limits.h"

enum lt_code {
	LT_OK = 0,
	LT_EBUG = -1,	   /* our own mistake; never abort in shared code */
	LT_EINPUT = -2,	   /* what was given can't be used */
	LT_ELIMIT = -3,	   /* a bound of limits.h */
	LT_EIO = -4,	   /* the system said no */
	LT_EVERSION = -5,  /* a file of another version */
	LT_ECHECKSUM = -6, /* a torn or damaged file */
	LT_ENOENT = -7,	   /* no such file, partition, job */
	LT_ENOMEM = -8,
	LT_ESTALE = -9,	    /* older than allowed */
	LT_ENET = -10,	    /* a source or peer can't be reached or misbehaves */
	LT_EDENIED = -11,   /* not permitted */
	LT_EOVERFLOW = -12, /* passes int64_t */
	LT_ECONFLICT = -13, /* not as things are now */
};

struct lt_error { /* caller's; start as { 0 } */
	enum lt_code code;
	int line;   /* 1-based in the input; 0 = none */
	int column; /* 1-based in the input; 0 = none */
	char text[LT_ERROR_TEXT_SIZE];
};

/*
 * Write code and text, unless err already holds a failure or is NULL.
 * Returns code, so that "return lt_fail(err, ...)" reads as one step.
 */
int lt_fail(struct lt_error *err, enum lt_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "<context>: " before the text that is there. Returns err->code, or LT_EBUG without a failure
 * or an err. */
int lt_context(struct lt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
