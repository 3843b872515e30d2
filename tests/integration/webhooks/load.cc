// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/webhooks/load.h"

#include <tutorial/clientset.h>

#include <algorithm>
#include <stop_token>
#include <utility>

#include "examples/cronjob/api/cronjob_v1.h"
#include "examples/cronjob/api/cronjob_v2.h"
#include "tests/integration/eventually.h"
#include "tests/integration/webhooks/webhook_fixture.h"

namespace kgen::integration {

namespace v1 = tutorial::batch_tutorial::v1;
using std::chrono::milliseconds;

Load::Load(const Connection& connection, int threads)
    : connection_(connection), workers_(static_cast<std::size_t>(threads)) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].thread = std::jthread([this, i](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        Round("load-" + std::to_string(i) + "-" + std::to_string(workers_[i].rounds));
        ++workers_[i].rounds;
      }
    });
  }
}

bool Load::Passes(int count) const {
  std::vector<int> until;
  for (const Worker& each : workers_) until.push_back(each.rounds + count + 1);  // the current one has begun before
  return Eventually(
      [&] {
        return std::ranges::equal(workers_, until, std::greater_equal(),
                                  [](const Worker& w) { return w.rounds.load(); });
      },
      std::chrono::minutes(2));
}

std::vector<std::string> Load::End() {
  for (Worker& each : workers_) each.thread.request_stop();
  for (Worker& each : workers_) {
    if (each.thread.joinable()) each.thread.join();
  }
  return std::exchange(failures_, {});
}

void Load::Note(std::string failure) {
  const std::scoped_lock lock(mutex_);
  failures_.push_back(std::move(failure));
}

template <typename Call>
auto Load::Timed(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  auto result = call();
  const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count();
  for (auto slowest = slowest_.load(); took > slowest && !slowest_.compare_exchange_weak(slowest, took);) {
  }
  if (!result) Note(result.error().ToString());
  return result;
}

void Load::Round(const std::string& name) {
  const tutorial::Clientset clients(connection_);
  const auto old = clients.BatchTutorialV1().CronJobs("default");
  const auto now = clients.BatchTutorialV2().CronJobs("default");
  const auto job = Must(Decode<v1::CronJob>(WebhookTest::CronJob(name).dump()));
  const auto created = Timed([&] { return old.Create(job); });
  if (!created) return;
  if (created->spec->successfulJobsHistoryLimit != 3) Note(name + " has no defaults");
  if (auto read = Timed([&] { return now.Get(name); })) {
    if (read->spec->schedule->minute != "*/5") Note(name + " was not converted");
    read->spec->schedule->minute = "7";
    const auto updated = Timed([&] { return now.Update(*read); });
    if (updated && updated->spec->schedule->minute != "7") Note(name + " was not updated");
  }
  if (const auto read = Timed([&] { return old.Get(name); }); read && read->spec->schedule != "7 * * * *") {
    Note(name + " was not converted back");
  }
  (void)Timed([&] { return old.Delete(name); });
}

}  // namespace kgen::integration
