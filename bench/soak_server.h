// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The server of the soak (bench/soak.cc): reference pods over HTTP/2 and TLS, and updates of them at a given rate.
#ifndef KGEN_BENCH_SOAK_SERVER_H_
#define KGEN_BENCH_SOAK_SERVER_H_

#include <string>
#include <vector>

namespace kgen::bench {

// Returns the microseconds of a clock that all processes of the machine share. The server uses them as the resource
// version of each update, so that a handler knows how old the update is.
long NowMicroseconds();

// main() of the server's process. Arguments: the number of pods, and a file for the certificate of its authority.
// Prints "serving URL" and then executes each line of standard input:
//
//   update COUNT RATE   updates COUNT pods, one after the other, RATE a second (0: as fast as the client reads); prints
//                       "updated VERSION LAG": the last version, and the delay of the latest update in microseconds
//   expire              changes a tenth of the pods and ends the watch with 410, so that the client lists again; prints
//                       "expired VERSION 0": the version of that list
int ServePods(const std::vector<std::string>& arguments);

}  // namespace kgen::bench

#endif  // KGEN_BENCH_SOAK_SERVER_H_
