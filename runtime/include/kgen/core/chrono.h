// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The durations, time points, clocks and literals of <chrono>, without its calendars and streams.
//
// In libstdc++ they have a header of their own; <chrono> adds <sstream> to it, which takes a tenth of the time in which
// a user's file compiles. A program that uses anything else of <chrono> includes it itself.
#ifndef KGEN_CORE_CHRONO_H_
#define KGEN_CORE_CHRONO_H_

#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif

#endif  // KGEN_CORE_CHRONO_H_
