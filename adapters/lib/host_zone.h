/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time zone of this host, by its name.
 */
#ifndef LT_HOST_ZONE_H
#define LT_HOST_ZONE_H

#include <stddef.h>

/* Writes "Europe/London" by TZ or /etc/localtime, "UTC" if there is neither; "" for a zone without
 * a name, as TZ=CET-1CEST. */
void lt_host_zone(char *out, size_t size);

#endif
