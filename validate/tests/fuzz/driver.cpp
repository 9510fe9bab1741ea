// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer where the compiler has none: replays a corpus, then mutates it at random, without coverage.
//   fuzz_X [-runs=0] [-max_total_time=SECONDS] [-seed=N] FILE_OR_FOLDER...
// -runs=0 replays only.  An input that ends the program is left in crash-input.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "validate/tests/fuzz/fuzz.hpp"

namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

const std::string* current = nullptr;  // the input that is being tried

void keep_current() {
  const int fd = ::open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || !current) return;
  [[maybe_unused]] const ssize_t n = ::write(fd, current->data(), current->size());
  ::close(fd);
  static constexpr char kSaid[] = "\nthe input was written to crash-input\n";
  [[maybe_unused]] const ssize_t m = ::write(STDERR_FILENO, kSaid, sizeof kSaid - 1);
}
void on_signal(int number) {
  keep_current();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void try_it(const std::string& input) {
  current = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One of: a bit flipped, a byte set, a piece removed, repeated, put elsewhere or taken from another input, a number or a mark
// of the formats put in.
void mutate(std::string& s, const std::vector<std::string>& corpus, Random& random) {
  static constexpr std::string_view kPieces[] = {
      "0",  "-1", "1e308",  "9223372036854775807", "18446744073709551616", "nan", "\"", "{}", "[]", ",", ":", "=", "null",
      "\n", " ",  "\\u0000"};
  const auto below = [&](std::size_t n) { return n ? static_cast<std::size_t>(random() % n) : 0; };
  const std::size_t at = below(s.size() + 1), length = below(std::min<std::size_t>(s.size() - at, 32) + 1);
  switch (random() % 7) {
    case 0:
      if (at < s.size()) s[at] = static_cast<char>(s[at] ^ (1 << random() % 8));
      break;
    case 1:
      if (at < s.size()) s[at] = static_cast<char>(random());
      break;
    case 2: s.erase(at, length); break;
    case 3: s.insert(at, s.substr(at, length)); break;
    case 4: s.insert(below(s.size() + 1), s.substr(at, length)); break;
    case 5: {
      const std::string& other = corpus[below(corpus.size())];
      const std::size_t from = below(other.size() + 1);
      s.insert(at, other.substr(from, 1 + below(64)));
      break;
    }
    default: s.insert(at, kPieces[below(std::size(kPieces))]);
  }
  if (s.size() > 8192) s.resize(8192);
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  bool replay_only = false;
  std::uint64_t seed = 1;
  std::vector<std::string> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "-runs=0") replay_only = true;
    else if (word.starts_with("-max_total_time=")) seconds = std::atof(argv[i] + 16);
    else if (word.starts_with("-seed=")) seed = std::strtoull(argv[i] + 6, nullptr, 10);
    else if (fs::is_directory(word)) {
      for (const fs::directory_entry& e : fs::recursive_directory_iterator(word))
        if (e.is_regular_file()) corpus.push_back(read(e.path()));
    } else if (fs::is_regular_file(word)) corpus.push_back(read(word));
    else {
      std::fprintf(stderr, "%s: '%s' is no flag, file or folder\n", argv[0], argv[i]);
      return 2;
    }
  }
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) ::signal(number, on_signal);
  for (const std::string& input : corpus) try_it(input);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no inputs\n", argv[0]);
    return 2;
  }

  Random random(seed);
  std::uint64_t tried = corpus.size();
  const auto start = std::chrono::steady_clock::now();
  while (!replay_only && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    std::string input = corpus[random() % corpus.size()];
    for (std::uint64_t n = 1 + random() % 8; n > 0; --n) mutate(input, corpus, random);
    try_it(input);
    ++tried;
  }
  std::printf("%llu inputs, none of which ended the program\n", static_cast<unsigned long long>(tried));
}
