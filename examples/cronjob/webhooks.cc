// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "webhooks.h"

#include <kgen/core/field_errors.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "api/cronjob_v1.h"
#include "api/cronjob_v2.h"
#include "schedule.h"

namespace v1 = tutorial::batch_tutorial::v1;
namespace v2 = tutorial::batch_tutorial::v2;

namespace {

// A Job's name is the name of its CronJob and 11 characters, and at most 63 long because it is a label of its pods.
constexpr std::size_t kLongestName = 52;

kgen::Result<void> SetDefaults(v1::CronJob& job, const kgen::Admission&) {
  if (!job.spec->concurrencyPolicy.has_value()) job.spec->concurrencyPolicy = v1::ConcurrencyPolicy::kAllow;
  if (!job.spec->suspend.has_value()) job.spec->suspend = false;
  if (!job.spec->successfulJobsHistoryLimit.has_value()) job.spec->successfulJobsHistoryLimit = 3;
  if (!job.spec->failedJobsHistoryLimit.has_value()) job.spec->failedJobsHistoryLimit = 1;
  return {};
}

kgen::Result<kgen::FieldErrors> Validate(const v1::CronJob& job, const kgen::Admission& request) {
  kgen::FieldErrors errors;
  if (job.metadata.name.size() > kLongestName) {
    errors.Invalid("metadata.name", job.metadata.name, "must be no more than 52 characters");
  }
  const auto schedule = Schedule::Parse(job.spec->schedule);
  if (!schedule) {
    errors.Invalid("spec.schedule", job.spec->schedule, schedule.error().message());
  } else if (!schedule->After({})) {
    request.Warn("spec.schedule: no such day exists, so this CronJob never runs");
  }
  return errors;
}

// ---- Versions. What agrees by name and type is converted by the library.

kgen::Result<void> ToV1(const v2::CronJob& from, v1::CronJob& to) {
  if (!from.spec->schedule.has_value()) return {};
  std::string text;
  for (const kgen::String* field :
       {&from.spec->schedule->minute, &from.spec->schedule->hour, &from.spec->schedule->dayOfMonth,
        &from.spec->schedule->month, &from.spec->schedule->dayOfWeek}) {
    text += text.empty() ? "" : " ";
    text += field->has_value() ? std::string_view(*field) : "*";
  }
  to.spec->schedule = text;
  return {};
}

kgen::Result<void> FromV1(const v1::CronJob& from, v2::CronJob& to) {
  // Does not validate: whatever is stored must have a form in v2. What is not five fields stays in the first ones.
  if (!from.spec->schedule.has_value()) return {};
  std::string_view rest = from.spec->schedule;
  v2::CronSchedule schedule;
  for (kgen::String* field :
       {&schedule.minute, &schedule.hour, &schedule.dayOfMonth, &schedule.month, &schedule.dayOfWeek}) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view text = rest.substr(0, rest.find(' '));
    rest.remove_prefix(text.size());
    if (!text.empty() && text != "*") *field = text;
  }
  to.spec->schedule = std::move(schedule);
  return {};
}

}  // namespace

void AddCronJobWebhooks(const kgen::Manager& manager) {
  manager.Webhook<v1::CronJob>()
      .Default(SetDefaults)
      .ValidateCreate(Validate)
      .ValidateUpdate([](const v1::CronJob&, const v1::CronJob& now, const kgen::Admission& request) {
        return Validate(now, request);
      });
  manager.Conversion<v1::CronJob>().Spoke<v2::CronJob>(ToV1, FromV1);
}
