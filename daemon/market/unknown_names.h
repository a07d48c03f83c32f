/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UNKNOWN_NAMES_H
#define LT_UNKNOWN_NAMES_H

struct lt_policy;
struct lt_tables;

/* What a policy names and the batch system does not have goes to the log. */
void lt_unknown_names_log(
    const struct lt_policy *policy, const struct lt_tables *tables);

#endif
