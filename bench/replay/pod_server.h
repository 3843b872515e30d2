// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The server of the soak (bench/soak.cc) and of bench/scale.cc: pods over HTTP/2 and TLS, which it makes as it sends
// them (bench/replay/made_pods.h), and updates of them at a given rate. Its memory does not depend on the number of
// pods, but on the number of pods that were updated and of watches.
//
// It answers lists, streaming lists and watches, in JSON and in protobuf, whichever the client asks for first.
#ifndef KGEN_BENCH_REPLAY_POD_SERVER_H_
#define KGEN_BENCH_REPLAY_POD_SERVER_H_

#include <string>
#include <vector>

namespace kgen::bench {

// Returns the microseconds of a clock that all processes of the machine share, in 15 digits. The server uses them as
// the resource version of each update, so that a handler knows how old the update is.
long NowMicroseconds();

// main() of the server's process. Arguments: the number of pods, a file for the certificate of its authority, and
// perhaps "shards": it then sends what the parameter `shardSelector` selects, as API servers with the gate
// ShardedListAndWatch, and otherwise ignores the parameter, as servers without it. Prints "serving URL" and then
// executes each line of standard input, once every client that began a list watches:
//
//   update COUNT RATE   updates COUNT pods, one after the other, RATE a second (0: as fast as the clients read), and
//                       sends a bookmark; prints "updated VERSION LAG": the last version, which is the bookmark's, and
//                       the delay of the latest update in microseconds
//   expire              changes a tenth of the pods and ends the watches with 410, so that clients list again; prints
//                       "expired VERSION 0": the version of that list
int ServePods(const std::vector<std::string>& arguments);

}  // namespace kgen::bench

#endif  // KGEN_BENCH_REPLAY_POD_SERVER_H_
