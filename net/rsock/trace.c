// SPDX-License-Identifier: GPL-2.0
#include "ep.h"

#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "trace.h"
#endif
