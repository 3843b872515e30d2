// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What `kubectl get` shows of a custom resource: the columns that its CRD declares, as generated types hold them.
//
//   for (const kgen::PrinterColumn& column : Order::kPrinterColumns) ...
//
// Types of versions that declare none have no such member. Data only: nothing here evaluates a path.
#ifndef KGEN_CORE_PRINTER_COLUMN_H_
#define KGEN_CORE_PRINTER_COLUMN_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace kgen {

// Everything as the CRD says it; "" where it says nothing.
struct PrinterColumn {
  std::string_view name;       // the heading: "Age"
  std::string_view type;       // "string", "integer", "number", "boolean", "date"
  std::string_view format;     // "int32", "byte", ...
  std::string_view json_path;  // ".metadata.creationTimestamp"; may hold filters, quotes and escaped dots
  std::int32_t priority = 0;   // above 0: with `-o wide` only
  std::string_view description;
};

using PrinterColumns = std::span<const PrinterColumn>;

}  // namespace kgen

#endif  // KGEN_CORE_PRINTER_COLUMN_H_
