// SPDX-License-Identifier: Apache-2.0
// Flags that several subcommands have.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/flag_values.hpp"

namespace assay {

inline const Names kBackendFlags{"auto", "simt", "cuda"};
inline const Names kKernelFlags{"--op", "--kernel", "--dtype", "-k", "--no-vendor"};
inline const Names kCaseFlags{"--suite", "--count", "--shard", "--seed", "--datasets"};

// Throws where one of these flags was given.
inline void refuse(const CLI::App& app, const Names& flags, const std::string& why) {
  for (const std::string_view flag : flags)
    if (const CLI::Option* o = app.get_option_no_throw(std::string(flag)); o && o->count())
      throw BadInput(fmt::format("{}: {}", flag, why));
}

inline void add_kernels(CLI::App& app, Selection& s) {
  app.add_option("--op", s.ops, "ops, by name (default: all)")->delimiter(',')->allow_extra_args(false);
  app.add_option("--kernel", s.kernels, "kernels, as NAME or OP/NAME (default: all)")->delimiter(',')->allow_extra_args(false);
  app.add_option("--dtype", s.dtypes, "f16, bf16, f32 (default: all)")->delimiter(',')->allow_extra_args(false);
  app.add_option("-k", s.pattern, "kernels by a glob over 'OP/KERNEL DTYPE', like 'softmax/*' or '*/naive f16'");
  app.add_option("--seed", s.seed, "of the cases")->capture_default_str()->check(seed());
  app.add_flag("--no-vendor", s.no_vendor, "leave out the kernels that call a vendor's library");
  app.add_option("--datasets", s.datasets, "folder of the datasets (default: found beside the program)");
}

inline void add_selection(CLI::App& app, Selection& s) {
  add_kernels(app, s);
  app.add_option("--suite", s.suite, "smoke, edges, models, random, full, sanitize, watch, long, fixed, errors")
      ->capture_default_str();
  app.add_option("--count", s.count, "cases of the random suite")->capture_default_str()->check(CLI::Range(1, 10'000'000));
  app.add_option("--shard", s.shard, "i/n: the i-th of n equal parts, from 1");
}

// A suite that draws nothing has no use for a count of draws.
inline void check_selection(const CLI::App& app, const Selection& s) {
  if (s.suite != "random" && s.suite != "full") refuse(app, {"--count"}, "only --suite random and full draw cases");
}

// A file of records; of "-", standard output, and all else that is printed goes to standard error.
inline void add_records(CLI::App& app, std::string& path, const std::string& what) {
  app.add_option("--json", path, what + "; - for standard output")->transform([](const std::string& text) {
    if (text == kStdout) give_stdout_to_records();
    return text;
  });
}

inline void add_backend(CLI::App& app, BackendFlags& f) {
  app.add_option("--backend", f.backend, "simt, cuda, or auto: cuda where there is a GPU")
      ->check(one_of("backend", kBackendFlags))
      ->capture_default_str();
  app.add_option("--skip-exit", f.skip_exit, "exit code when the backend is missing here")->check(CLI::Range(0, 255));
  app.add_flag("--require-gpu", f.require_gpu, "fail where auto finds no GPU");
}

inline void add_timeout(CLI::App& app, double& timeout_s) {
  app.add_option("--timeout", timeout_s, "for one kernel on one case: 60, 60s, 500ms, 2m")
      ->capture_default_str()
      ->transform(duration());
}

inline void add_colour(CLI::App& app, RunFlags& f) {
  app.add_option("--color", f.colour, "auto, always or never; auto: on a terminal, where NO_COLOR is not set")
      ->capture_default_str()
      ->check(one_of("choice of colours", {"auto", "always", "never"}));
}

inline void add_partial(CLI::App& app, RunFlags& f) {
  app.add_flag("--partial", f.partial, "accept incomplete evidence: exit code 0 in place of 3");
}

inline void add_run_flags(CLI::App& app, RunFlags& f) {
  add_selection(app, f.selection);
  add_backend(app, f.machine);
  add_records(app, f.json, "write one record a case here, JSON Lines");
  app.add_option("--junit", f.junit, "write a JUnit file here");
  app.add_option("--md", f.markdown, "write a Markdown summary here");
  add_timeout(app, f.timeout_s);
  app.add_option("--budget", f.budget_s, "for the whole run, like 90s or 5m; the rest is skipped")->transform(duration());
  app.add_option("--jobs", f.jobs, "worker processes at a time (default: one a core)")->check(CLI::Range(1, 1024));
  app.add_flag("--fail-fast", f.fail_fast, "stop at the first bad verdict");
  app.add_flag("--watch", f.watch, "races, uninitialised reads and unwritten outputs fail a kernel (simt; slower)");
  app.add_flag("--sectors", f.sectors, "count 32-byte sectors too (simt; slower)");
  add_colour(app, f);
  app.add_flag("--quiet", f.quiet, "the last line only");
}

inline void add_shrink_flags(CLI::App& app, RunFlags& f) {
  constexpr double kUsual = 5;
  f.shrink_s = kUsual;
  CLI::Option* shrink =
      app.add_option("--shrink", f.shrink_s, "time to make a failing case smaller in, the first of each reason; like 5s or 500ms")
          ->capture_default_str()
          ->transform(duration());
  app.add_flag_callback(
         "--no-shrink", [&f] { f.shrink_s = 0; }, "leave failing cases as they are")
      ->excludes(shrink);
}

inline void add_document(CLI::App& app, bool& json) { app.add_flag("--json", json, "as one JSON document"); }

}  // namespace assay
