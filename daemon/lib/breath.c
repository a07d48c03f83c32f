/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <poll.h>
#include <stddef.h>

#include "breath.h"

static lt_breath_function *breathe; /* set before any work */

void
lt_breath_by(lt_breath_function *function)
{
	breathe = function;
}

void
lt_breath(enum lt_turn turn)
{
	if (breathe != NULL)
		breathe(turn, -1);
}

void
lt_breath_until(enum lt_turn turn, int fd)
{
	if (breathe != NULL)
		breathe(turn, fd);
	else
		(void)poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
}
