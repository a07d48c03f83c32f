/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mean days of climatology.c. They stand in files of their own as they
 * are written by a script, whose rows no formatter is to break.
 */
#include <stddef.h>

#include "climatology.h"

const struct lt_climatology lt_climatologies_lifecycle[] = {
#include "climatology_lifecycle.inc"
    {"", 0, 0, "", {{0}}},
};

const struct lt_climatology lt_climatologies_direct[] = {
#include "climatology_direct.inc"
    {"", 0, 0, "", {{0}}},
};
