// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The events of an observer as sentences, for the lines of a log in text form.
#ifndef KGEN_SRC_CORE_OBSERVERS_LOG_SENTENCES_H_
#define KGEN_SRC_CORE_OBSERVERS_LOG_SENTENCES_H_

#include <string>

#include "kgen/core/observer.h"

namespace kgen::detail {

std::string Sentence(const Observer::ListOrWatchFailed& event);
std::string Sentence(const Observer::Recovered& event);
std::string Sentence(const Observer::ObjectRefused& event);
std::string Sentence(const Observer::FieldRefused& event);
std::string Sentence(const Observer::SavedCacheFailed& event);
std::string Sentence(const Observer::HandlerFailed& event);
std::string Sentence(const Observer::ReconcileFailed& event);
std::string Sentence(const Observer::Logged& event);
std::string Sentence(const Observer::LeadershipChanged& event);
std::string Sentence(const Observer::EventDropped& event);
std::string Sentence(const Observer::CheckFailed& event);
std::string Sentence(const Observer::HandlerSlow& event);
std::string Sentence(const Observer::BacklogHigh& event);
std::string Sentence(const Observer::Relisted& event);
std::string Sentence(const Observer::ConnectionChanged& event);
std::string Sentence(const Observer::ServerWarned& event);
std::string Sentence(const Observer::Requested& event);
std::string Sentence(const Observer::LimiterWaited& event);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OBSERVERS_LOG_SENTENCES_H_
