// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KGEN_TRY(): takes the value of a Result, or returns its error from the function.
//
//   kgen::Result<void> Reconcile(kgen::Request& request) {
//     KGEN_TRY(const auto order, request.Get<Order>());   // declares `order`, or returns why the cache cannot say
//     if (!order) return {};                              // it is gone
//     KGEN_TRY(const Job job, request.client().Create(JobFor(*order)));
//     ...
//   }
//
// The first argument is a declaration, or a variable that exists. It must not contain a comma: use `auto`, or an alias
// of the type. The rest is an expression of type Result<T>, which may contain commas. The function around it returns a
// Result of any type; in a lambda, KGEN_TRY returns from the lambda. It expands to several statements, so an `if` or a
// loop around it needs braces.
//
// For a Result<void>, write `if (auto done = client.Delete(order); !done) return done.error();`.
#ifndef KGEN_CORE_TRY_H_
#define KGEN_CORE_TRY_H_

#include <utility>

#include "kgen/core/result.h"

#define KGEN_TRY(declaration, ...) KGEN_TRY_AS(KGEN_TRY_NAME(__LINE__), declaration, __VA_ARGS__)

#define KGEN_TRY_NAME(line) KGEN_TRY_JOIN(kgen_try_, line)
#define KGEN_TRY_JOIN(a, b) a##b
#define KGEN_TRY_AS(result, declaration, ...)                                       \
  auto&& result = (__VA_ARGS__);                                                    \
  if (!result) return ::kgen::Fail(std::forward<decltype(result)>(result).error()); \
  declaration = *std::forward<decltype(result)>(result)

#endif  // KGEN_CORE_TRY_H_
