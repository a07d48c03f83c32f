/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls the function that answers requests in the midst of long work; breath.h says what may be
 * answered. Without such a function it only waits.
 */
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
