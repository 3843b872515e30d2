// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// GoogleTest, precompiled in Clang trees for all tests. Tests include what they use nevertheless.
#ifndef KGEN_TESTS_SUPPORT_PRECOMPILED_GTEST_H_
#define KGEN_TESTS_SUPPORT_PRECOMPILED_GTEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#endif  // KGEN_TESTS_SUPPORT_PRECOMPILED_GTEST_H_
