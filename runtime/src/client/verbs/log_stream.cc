// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/log_stream.h"

#include <utility>

#include "client/request/stream_queue.h"
#include "kgen/core/function.h"

namespace kgen {
namespace {

struct Line {
  std::string text;
  std::size_t credit = 0;  // bytes of the stream that may come once this line is taken
};

class LineQueue final : public client::StreamQueue<Line> {
 public:
  LineQueue(const Connection& connection, std::string what) : StreamQueue(connection, std::move(what), "log") {}

 private:
  Result<void> Split(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (line_.size() + part.size() > LogStream::kMaxLineBytes) {
        line_.clear();
        return Fail(Code::kDecode, "a line is longer than " + std::to_string(LogStream::kMaxLineBytes) +
                                       " bytes; read this log with Logs()");
      }
      line_ += part;
      if (end == std::string_view::npos) break;
      fresh_.push_back({std::exchange(line_, {})});
      bytes.remove_prefix(end + 1);
    }
    return {};
  }
  // A text that does not end with a line end is complete all the same.
  std::string_view Flush() override {
    if (!line_.empty()) fresh_.push_back({std::exchange(line_, {})});
    return {};
  }

  std::string line_{};  // that has no end yet; strand only
};

}  // namespace

class LogStream::State : public client::StreamReader<LineQueue> {
 public:
  using StreamReader::StreamReader;
};

LogStream::LogStream(Shared<State> state) noexcept : state_(std::move(state)) {}
LogStream::~LogStream() = default;
LogStream& LogStream::operator=(LogStream&& other) noexcept = default;

Result<LogStream> LogStream::Open(const RawResource& resource, std::string_view name, const LogOptions& options) {
  auto state = client::OpenStream<State, LineQueue>(resource.connection(), resource.StreamLogs(name, options));
  if (!state) return Fail(std::move(state).error());
  return LogStream(*std::move(state));
}

void LogStream::OpenAsync(const RawResource& resource, std::string_view name,
                          UniqueFunction<void(Result<LogStream>)> done, const LogOptions& options) {
  client::OpenStreamAsync<State, LineQueue>(resource.connection(), resource.StreamLogs(name, options),
                                            [done = std::move(done)](Result<Shared<State>> state) mutable {
                                              if (!state) return done(Fail(std::move(state).error()));
                                              done(LogStream(*std::move(state)));
                                            });
}

Result<std::string> LogStream::Next(std::stop_token stop) {
  Result<Line> line = state_->Take(std::move(stop));
  if (!line) return Fail(std::move(line).error());
  return std::move(line->text);
}

void LogStream::NextAsync(UniqueFunction<void(Result<std::string>)> done) {
  state_->TakeAsync([done = std::move(done)](Result<Line> line) mutable {
    if (!line) return done(Fail(std::move(line).error()));
    done(std::move(line->text));
  });
}

}  // namespace kgen
