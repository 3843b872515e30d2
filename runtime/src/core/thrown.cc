// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/thrown.h"

#include <exception>
#include <new>
#include <string>

#include "core/out_of_memory.h"

namespace kgen::detail {

Error ErrorOfThrown(std::string_view who) noexcept {
  try {
    try {
      throw;
    } catch (const Exception& thrown) {
      return thrown.error();  // of Must()
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    } catch (const std::exception& thrown) {
      return {Code::kUserCode, std::string(who) + " threw: " + thrown.what()};
    } catch (...) {
      return {Code::kUserCode, std::string(who) + " threw something that is not a std::exception"};
    }
  } catch (...) {  // no memory for the text
    return OutOfMemory();
  }
}

}  // namespace kgen::detail
