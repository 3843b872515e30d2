// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kgen::controller {
namespace {

std::string Contents(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The fields of /proc/self/stat from the third one on, as proc(5) numbers them. The second one is the name of the
// program, which may contain anything.
class Stat {
 public:
  Stat() {
    const std::string text = Contents("/proc/self/stat");
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) return;
    std::istringstream rest(text.substr(end + 1));
    std::string state;
    rest >> state;
    for (std::size_t i = 4; i <= kLast && rest >> fields_[i]; ++i) read_ = i;
  }

  std::optional<double> Field(std::size_t number) const {
    if (number > read_) return std::nullopt;
    return static_cast<double>(fields_[number]);
  }

 private:
  static constexpr std::size_t kLast = 24;
  std::array<std::int64_t, kLast + 1> fields_{};
  std::size_t read_ = 0;
};

// When the machine was started, in seconds since 1970.
std::optional<double> BootTime() {
  std::istringstream lines(Contents("/proc/stat"));
  for (std::string name; lines >> name;) {
    double seconds = 0;
    if (name == "btime" && lines >> seconds) return seconds;
    lines.ignore(1 << 20, '\n');
  }
  return std::nullopt;
}

std::optional<double> OpenFiles() {
  std::error_code error;
  const auto files = std::filesystem::directory_iterator("/proc/self/fd", error);
  if (error) return std::nullopt;
  return static_cast<double>(std::distance(begin(files), end(files)));
}

std::optional<double> MaxFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

std::optional<double> ResidentBytes(const Stat& stat) {
  const auto pages = stat.Field(24);
  return pages ? std::optional(*pages * static_cast<double>(sysconf(_SC_PAGESIZE))) : std::nullopt;
}

}  // namespace

std::optional<double> ResidentBytes() { return ResidentBytes(Stat()); }

std::vector<MetricFamily> ProcessFamilies() {
  std::vector<MetricFamily> families;
  const auto add = [&](std::string_view name, std::string_view help, std::optional<double> value,
                       MetricType type = MetricType::kGauge) {
    if (!value) return;
    families.push_back(
        {.name = std::string(name), .help = std::string(help), .type = type, .samples = {{.value = *value}}});
  };
  const Stat stat;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (const auto user = stat.Field(14), system = stat.Field(15); user && system) {
    add("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", (*user + *system) / ticks,
        MetricType::kCounter);
  }
  if (const auto started = stat.Field(22), boot = BootTime(); started && boot) {
    add("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
        *boot + *started / ticks);
  }
  add("process_virtual_memory_bytes", "Virtual memory size in bytes.", stat.Field(23));
  add("process_resident_memory_bytes", "Resident memory size in bytes.", ResidentBytes(stat));
  add("process_threads", "Number of OS threads in the process.", stat.Field(20));
  add("process_open_fds", "Number of open file descriptors.", OpenFiles());
  add("process_max_fds", "Maximum number of open file descriptors.", MaxFiles());
  families.push_back({.name = "kgen_build_info",
                      .help = "The version of kgen and of its compiler; always 1",
                      .samples = {{.labels = {{"compiler", __VERSION__}, {"version", KGEN_VERSION}}, .value = 1}}});
  return families;
}

}  // namespace kgen::controller
