// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>
#include <vector>

#include "generator/commands/command.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return kgen::generator::commands::RunKgen(arguments, {std::cin, std::cout, std::cerr});
}
