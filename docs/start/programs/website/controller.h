// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef WEBSITE_CONTROLLER_H_
#define WEBSITE_CONTROLLER_H_

#include <kgen/controller/manager.h>

// Adds the controller to a manager that does not run yet.
kgen::Result<void> AddWebsiteController(const kgen::Manager& manager);

#endif  // WEBSITE_CONTROLLER_H_
