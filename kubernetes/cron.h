/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a CronJob makes its next Job: five fields, @hourly and the like, and
 * @every, as kube-controller-manager reads them.
 */
#ifndef LT_KUBE_CRON_H
#define LT_KUBE_CRON_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The first tick of the schedule after this time, in a zone that is so far east
 * of UTC then. False: the schedule can't be read, or has no tick within five
 * years. Pure. Source: github.com/robfig/cron v3, ParseStandard().
 */
bool lt_kube_cron_next(int64_t *next_utc_s, const char *schedule,
    int64_t after_utc_s, int32_t zone_offset_s);

#endif
