// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// PrinterColumn: a column that `kubectl get` shows of a custom resource. Generated types hold the columns that their
// CRD declares.
//
//   for (const kgen::PrinterColumn& column : Order::kPrinterColumns) ...
//
// Types of versions that declare no columns have no such member. kgen does not evaluate the paths.
#ifndef KGEN_CORE_PRINTER_COLUMN_H_
#define KGEN_CORE_PRINTER_COLUMN_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace kgen {

// A column as the CRD declares it; "" stands for what it does not declare.
struct PrinterColumn {
  std::string_view name;       // the heading: "Age"
  std::string_view type;       // "string", "integer", "number", "boolean", "date"
  std::string_view format;     // "int32", "byte", ...
  std::string_view json_path;  // ".metadata.creationTimestamp"; may hold filters, quotes and escaped dots
  std::int32_t priority = 0;   // above 0: with `-o wide` only
  std::string_view description;
};

// The columns of a kind, as `kubectl get` shows them.
using PrinterColumns = std::span<const PrinterColumn>;

}  // namespace kgen

#endif  // KGEN_CORE_PRINTER_COLUMN_H_
