/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "follow.h"
int lt_follow(struct lt_daemon *d, int s){(void)d;(void)s;return 1;}
