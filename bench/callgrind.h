// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The macros that begin and end the counting of instructions. They do nothing where valgrind's header is missing.
#ifndef KGEN_BENCH_CALLGRIND_H_
#define KGEN_BENCH_CALLGRIND_H_

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#endif  // KGEN_BENCH_CALLGRIND_H_
