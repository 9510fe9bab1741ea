// SPDX-License-Identifier: Apache-2.0
#include "validate/base/machine.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cfenv>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace assay {

namespace {

// The state of the floating-point unit, for messages: " (MXCSR 0x9fc0)".
std::string state_text() {
#if defined(__x86_64__)
  constexpr unsigned kRaised = 0x3f;  // exceptions that were raised so far
  return fmt::format(" (MXCSR {:#06x})", _mm_getcsr() & ~kRaised);
#else
  return "";
#endif
}

// Sums and products whose results are known.  Note: volatile, else the compiler computes them.
template <class T>
std::string canary(const char* type) {
  using Limits = std::numeric_limits<T>;
  const T epsilon = Limits::epsilon(), least = Limits::min(), subnormal = Limits::denorm_min();
  volatile T one = 1, half = T(0.5), three = 3, ulp = epsilon, half_ulp = epsilon / 2, normal = least, tiny = subnormal;
  const struct {
    const char* what;
    T got, want;
  } known[] = {{"1 plus half an ulp", one + half_ulp, T(1)},
               {"1 and an ulp plus half an ulp", (one + ulp) + half_ulp, T(1) + 2 * epsilon},
               {"-1 minus half an ulp", -one - half_ulp, T(-1)},
               {"half the least normal number", normal * half, least / 2},
               {"the least subnormal number times 1", tiny * one, subnormal},
               {"a third times 3", one / three * three, T(1)},
               {"the square root of 9", std::sqrt(three * three), T(3)},
               {"a fused product and sum", std::fma(one + ulp, one - ulp, -one), -epsilon * epsilon}};
  for (const auto& [what, got, want] : known)
    if (std::memcmp(&got, &want, sizeof got) != 0)  // Note: where subnormals count as zero, they are equal to it
      return fmt::format("{} comes out as {:.17g} in {}{}", what, got, type, state_text());
  return {};
}

// Starts the threads and lets them end together.  Returns how many there were.
int threads_that_start(int threads) {
  std::mutex mutex;
  std::condition_variable all_there;
  bool done = false;
  std::vector<std::thread> waiting;
  try {
    while (static_cast<int>(waiting.size()) < threads)
      waiting.emplace_back([&] {
        std::unique_lock lock(mutex);
        all_there.wait(lock, [&] { return done; });
      });
  } catch (const std::system_error&) {
  }
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  all_there.notify_all();
  for (std::thread& t : waiting) t.join();
  return static_cast<int>(waiting.size());
}

std::size_t limit_of(int resource) {
  rlimit limit{};
  const bool limited = ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? static_cast<std::size_t>(limit.rlim_cur) : std::numeric_limits<std::size_t>::max();
}

}  // namespace

std::string arithmetic_fault() {
  if (std::fegetround() != FE_TONEAREST) return fmt::format("it does not round to nearest{}", state_text());
#if defined(__x86_64__)
  constexpr unsigned kMasks = 0x1f80;
  if ((_mm_getcsr() & kMasks) != kMasks) return fmt::format("an exception of arithmetic ends the process{}", state_text());
#endif
  if (std::string fault = canary<float>("f32"); !fault.empty()) return fault;
  if (std::string fault = canary<double>("f64"); !fault.empty()) return fault;
  volatile double one = 1;  // of the C library, whose functions goldens call
  if (const double e = std::exp(one); !(std::fabs(e - 2.718281828459045) < 1e-15)) return fmt::format("exp(1) is {:.17g}", e);
  return {};
}

std::string machine_fault(int threads, int files) {
  if (std::string fault = arithmetic_fault(); !fault.empty()) return fault;
  if (const int started = threads_that_start(threads); started < threads)
    return fmt::format("{} threads are needed and {} can be started", threads, started);
  if (const std::size_t spare = spare_descriptors(); spare < static_cast<std::size_t>(files))
    return fmt::format("{} more files are needed and {} can be open (ulimit -n)", files, spare);
  return {};
}

void restore_process() {
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

std::size_t spare_descriptors() {
  std::size_t open = 0;
  DIR* const all = ::opendir("/proc/self/fd");
  if (!all) return 0;
  while (::readdir(all)) ++open;
  ::closedir(all);
  open -= 3;  // ".", ".." and the folder itself
  const std::size_t allowed = limit_of(RLIMIT_NOFILE);
  return allowed > open ? allowed - open : 0;
}

std::size_t address_space() { return limit_of(RLIMIT_AS); }

std::uint64_t killed_for_memory(const std::string& proc) {
  std::ifstream figures(proc + "/vmstat");
  std::uint64_t value = 0;
  for (std::string key; figures >> key >> value;)
    if (key == "oom_kill") return value;
  return 0;
}

}  // namespace assay
