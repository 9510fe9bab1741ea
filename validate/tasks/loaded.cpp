// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/loaded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>

#include "validate/base/build.hpp"
#include "validate/base/error.hpp"
#include "validate/tasks/sets.hpp"
#include "validate/worker/plugin.hpp"
#include "validate/worker/process.hpp"

namespace assay {

namespace {

// All kernels of a worker, which may take several answers.
Listing whole_listing(WorkerProcess& worker, double timeout_s) {
  Listing all = worker.ask(0, timeout_s);
  while (all.refused.empty() && all.kernels.size() < all.total) {
    Listing more = worker.ask(all.kernels.size(), timeout_s);
    if (!more.refused.empty() || more.kernels.empty())
      throw BadInput(fmt::format("it lists {} kernels and says that there are {}", all.kernels.size(), all.total));
    std::move(more.kernels.begin(), more.kernels.end(), std::back_inserter(all.kernels));
  }
  if (!all.refused.empty()) throw BadInput(all.refused);
  return all;
}

// The listing of a set.  Throws BadInput if it is none, or not built as this program is.
Listing listing_of_set(const std::vector<std::string>& command, double timeout_s) {
  WorkerProcess worker(command, WorkerOutput::Begin::held);
  Listing listing;
  try {
    listing = whole_listing(worker, timeout_s);
  } catch (const std::runtime_error& e) {
    worker.closed();
    const std::string said = worker.first_words();
    throw BadInput(fmt::format("{}{}", e.what(), said.empty() ? "" : ": " + said));
  }
  if (listing.built.empty()) throw BadInput("it is a worker and no set, which says what it was built with  (--worker)");
  if (listing.built != build_text())
    throw BadInput(fmt::format("it was built with {}, and this program with {}", listing.built, build_text()));
  return listing;
}

// Makes kernels of a listing.
std::vector<Kernel> take_listing(const std::string& flags, const std::vector<std::string>& command, bool of_set,
                                 double timeout_s) {
  static Listing listing;
  static Loaded loaded;
  try {
    if (of_set) {
      listing = listing_of_set(command, timeout_s);
    } else {
      WorkerProcess worker(command);
      listing = whole_listing(worker, timeout_s);
    }
    const Names backends{"simt", "cuda", "host"};
    if (std::find(backends.begin(), backends.end(), listing.backend) == backends.end())
      throw BadInput(unknown("backend", listing.backend, backends));
    for (const std::string& check : listing.checks)
      if (std::find(kChecks.begin(), kChecks.end(), check) == kChecks.end())
        throw BadInput(unknown("check", check, Names(kChecks.begin(), kChecks.end())));
    std::vector<Kernel> all = kernels_of(listing.kernels);
    loaded = {.flags = flags,
              .command = command,
              .of_set = of_set,
              .backend = listing.backend,
              .device = listing.device,
              .not_checked = left_unchecked(listing.backend, listing.checks)};
    for (Kernel& k : all) k.loaded = &loaded;
    return all;
  } catch (const std::runtime_error& e) {
    throw BadInput(fmt::format("{}: {}", flags, e.what()));
  }
}

const Loaded& use(std::vector<Kernel> all) {
  const Loaded& loaded = *all.front().loaded;
  use_kernels(std::move(all));
  return loaded;
}

std::vector<Kernel> kernels_of_set(const std::string& set, std::string_view backend, double timeout_s) {
  return take_listing(flag_text("--set", set), worker_of_set(set, backend), true, timeout_s);
}

}  // namespace

const Loaded& load_kernels(const std::string& flags, const std::vector<std::string>& command, double timeout_s) {
  return use(take_listing(flags, command, false, timeout_s));
}

const Loaded& load_set(const std::string& set, std::string_view backend, double timeout_s) {
  return use(kernels_of_set(set, backend, timeout_s));
}

void add_set(const std::string& set, std::string_view backend, double timeout_s) {
  std::vector<Kernel> all(built_in_kernels().begin(), built_in_kernels().end());
  for (Kernel& k : kernels_of_set(set, backend, timeout_s))
    if (!find_kernel(k.op, k.name)) all.push_back(std::move(k));
  use_kernels(std::move(all));
}

namespace {

constexpr const char* kPtxFlags = "--backend ptx";

}  // namespace

std::string use_ptx_kernels(const std::string& device) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path() / "ptx";
  if (!fs::is_directory(folder, error))
    return fmt::format("there is no {}; where nvcc is, `cmake --build BUILD --target ptx_kernels` makes it", folder.string());
  static std::map<std::string_view, Loaded> programs;
  static std::map<std::string_view, std::string> codes;
  std::vector<Kernel> all(kernels().begin(), kernels().end());
  std::erase_if(all, [](const Kernel& k) { return k.broken || k.variant || is_vendor(k); });
  for (Kernel& k : all) {
    const auto [at, fresh] = programs.try_emplace(k.op);
    if (fresh) {
      const std::string program = folder / k.op;
      at->second = {.flags = kPtxFlags, .command = {program}, .backend = "simt", .device = device, .not_checked = {}};
      codes[k.op] = fs::exists(program, error) ? file_hash(program) : "";
    }
    k.loaded = &at->second;
    k.code = codes[k.op];
  }
  use_kernels(std::move(all));
  return "";
}

void check_ptx_kernels(std::span<const Task> tasks) {
  for (const Task& t : tasks)
    for (const Kernel* k : t.kernels)
      if (k->loaded && k->loaded->flags == kPtxFlags && k->code.empty())
        throw BadInput(fmt::format("{}: there is no {}; where nvcc is, `cmake --build BUILD --target ptx_{}` makes it", kPtxFlags,
                                   k->loaded->command[0], k->op));
}

std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("._/=+-,:@").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted;
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("'{}'", quoted);
}

std::string flag_text(const std::string& flag, const std::string& value) { return fmt::format("{} {}", flag, shell_word(value)); }

}  // namespace assay
