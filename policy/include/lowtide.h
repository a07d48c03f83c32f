/*
 * liblowtide: the policy library as one header. examples/embed shows it.
 */
#ifndef LOWTIDE_H
#define LOWTIDE_H

#include "array_text.h"
#include "budget.h"
#include "decide.h"
#include "edits.h"
#include "error.h"
#include "files.h"
#include "gpu.h"
#include "history.h"
#include "history_file.h"
#include "holdout.h"
#include "interruption.h"
#include "limits.h"
#include "market.h"
#include "options.h"
#include "pause.h"
#include "quote.h"
#include "refusal.h"
#include "replan.h"
#include "ring.h"
#include "series.h"
#include "size.h"
#include "terms.h"
#include "units.h"
#include "zone.h"

#endif
