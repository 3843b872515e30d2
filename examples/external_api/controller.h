// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller of api/rates_v1.h: asks a service for the price of each pair of currencies, and writes it into the
// status of every ExchangeRate of that pair.
//
//   ExchangeRates --pair--> WorkQueue --> PriceService::Fetch() --> status of all ExchangeRates of the pair
//
// The key of a request is the pair instead of an object. The queue runs one call for a key at a time, so ten objects of
// one pair need one request to the service, and a pair without objects is not asked for.
#ifndef KGEN_EXAMPLES_EXTERNAL_API_CONTROLLER_H_
#define KGEN_EXAMPLES_EXTERNAL_API_CONTROLLER_H_

#include <kgen/controller/manager.h>

#include <memory>

#include "price_service.h"

// Adds the controller to a manager that does not run yet; the controller keeps the service. Up to four pairs are asked
// for at the same time, each on a thread for blocking work and for ten seconds at the longest.
//
// After a failure the pause is 1 s, 2 s, 4 s, ... up to five minutes, or what the service asks for if that is longer,
// up to an hour. Meanwhile nothing asks it for that pair, new objects included.
kgen::Result<void> AddRateController(const kgen::Manager& manager, std::shared_ptr<PriceService> service);

#endif  // KGEN_EXAMPLES_EXTERNAL_API_CONTROLLER_H_
