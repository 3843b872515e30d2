// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "http_price_service.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace {

constexpr std::size_t kMaxAnswerBytes = 64 << 10;

// libcurl ends a transfer when a callback returns less than it was given, or progress that is not zero.
std::size_t Append(const char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& body = *static_cast<std::string*>(to);
  if (body.size() + size * count > kMaxAnswerBytes) return 0;
  body.append(bytes, size * count);
  return size * count;
}

int StopRequested(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

kgen::Result<Quote> Parse(const std::string& body) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  const auto text = [&](const char* member) -> std::string {
    if (!answer.is_object() || !answer.contains(member) || !answer[member].is_string()) return "";
    return answer[member].get<std::string>();
  };
  auto time = kgen::Time::Parse(text("time"));
  if (text("price").empty() || !time) {
    return kgen::Error(kgen::Code::kDecode, R"(the response is not {"price": TEXT, "time": RFC 3339}, but begins ")" +
                                                body.substr(0, 80) + "\"");
  }
  return Quote{.price = text("price"), .time = *std::move(time)};
}

}  // namespace

HttpPriceService::HttpPriceService(std::string url) : url_(std::move(url)) {
  static const CURLcode kSetUp = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (kSetUp != CURLE_OK) throw std::runtime_error(std::string("libcurl: ") + curl_easy_strerror(kSetUp));
}

kgen::Result<Quote> HttpPriceService::Fetch(std::string_view pair, std::stop_token stop, kgen::Nanos timeout) {
  const std::string url = url_ + "/" + std::string(pair);
  const auto fail = [&](kgen::Code code, const std::string& message) {
    return kgen::Error(code, "GET " + url + ": " + message);
  };
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) return fail(kgen::Code::kUnavailable, "libcurl has no memory for a request");
  std::string body;
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);  // its timeouts would use SIGALRM, which threads share
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(limit));
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "kgen-external-api");
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, &StopRequested);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &stop);
  const CURLcode done = curl_easy_perform(curl.get());
  if (done == CURLE_ABORTED_BY_CALLBACK) return fail(kgen::Code::kCancelled, "stopped");
  if (done == CURLE_OPERATION_TIMEDOUT) {
    return fail(kgen::Code::kTimeout, "no answer within " + std::to_string(limit) + " ms");
  }
  if (done == CURLE_WRITE_ERROR) return fail(kgen::Code::kDecode, "the response is larger than 64 KiB");
  if (done != CURLE_OK) return fail(kgen::Code::kUnavailable, curl_easy_strerror(done));

  long status = 0;
  curl_off_t pause = 0;  // 0 without Retry-After
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl.get(), CURLINFO_RETRY_AFTER, &pause);
  if (status != 200) {
    return fail(kgen::Code::kUnavailable, "the service answered HTTP " + std::to_string(status))
        .WithRetryAfter(
            static_cast<std::int32_t>(std::min<curl_off_t>(pause, std::numeric_limits<std::int32_t>::max())));
  }
  auto quote = Parse(body);
  if (!quote) return fail(quote.error().code(), quote.error().message());
  return quote;
}
