// SPDX-License-Identifier: Apache-2.0
// Flags that several subcommands share.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>

#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/console/file_options.hpp"
#include "validate/console/flag_values.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/sandbox.hpp"

namespace assay {

// Flags --------------------------------------------------------------------------------------------------------------

inline const Names kBackendFlags{"auto", "simt", "cuda", "host", "ptx"};
inline const Names kKernelFlags{"--op", "--kernel", "--dtype", "-k", "--no-vendor"};
inline const Names kCaseFlags{"--suite", "--count", "--shard", "--seed", "--datasets"};

// Throws BadInput for a flag whose value is empty: it would count as none.
inline void require_values(const CLI::App& app) {
  for (const CLI::Option* o : app.get_options([](const CLI::Option* any) { return !any->get_positional(); }))
    for (const std::string& value : o->results())
      if (value.empty()) throw BadInput(fmt::format("{} is empty", o->get_name()));
}

// Throws BadInput for a list with nothing before, behind or between its commas, which CLI11 leaves out.  `words`: the command
// line.
inline void require_lists(const CLI::App& app, const std::vector<std::string>& words) {
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_delimiter() != ',') continue;
    const std::string flag = o->get_name();
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool apart = words[i] == flag && i + 1 < words.size();
      if (!apart && !words[i].starts_with(flag + "=")) continue;
      const std::string list = apart ? words[i + 1] : words[i].substr(flag.size() + 1);
      if (list.starts_with(',') || list.ends_with(',') || list.find(",,") != list.npos)
        throw BadInput(fmt::format("{}: '{}' has nothing beside one of its commas", flag, list.substr(0, 200)));
    }
  }
}

// Throws BadInput if one of these flags was given.
inline void refuse(const CLI::App& app, const Names& flags, const std::string& why) {
  for (const std::string_view flag : flags)
    if (const CLI::Option* o = app.get_option_no_throw(std::string(flag)); o && o->count())
      throw BadInput(fmt::format("{}: {}", flag, why));
}

inline void add_kernels(CLI::App& app, Selection& s) {
  app.add_option("--op", s.ops, "ops, by name, with commas between (default: all)")->delimiter(',')->allow_extra_args(false);
  app.add_option("--kernel", s.kernels, "kernels, as NAME or OP/NAME, with commas between (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--dtype", s.dtypes, "f16, bf16, f32, with commas between (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-k", s.pattern, "kernels that match a glob over 'OP/KERNEL DTYPE', like 'softmax/*' or '*/naive f16'");
  app.add_option("--seed", s.seed, "seed of the cases")->capture_default_str()->transform(seed());
  app.add_flag("--no-vendor", s.no_vendor, "leave out the kernels that call a vendor's library");
  app.add_option("--datasets", s.datasets, "folder of the datasets (default: found beside the program)")->check(datasets());
}

inline void add_selection(CLI::App& app, Selection& s) {
  add_kernels(app, s);
  app.add_option("--suite", s.suite,
                 "suite of cases: first, smoke, edges, models, random, full, sanitize, watch, long, fixed, errors")
      ->capture_default_str();
  app.add_option("--count", s.count, "how many cases the random suite draws")
      ->capture_default_str()
      ->transform(whole_number(1, 10'000'000));
  app.add_option("--shard", s.shard, "i/n: only the i-th of n equal parts, counted from 1");
}

// Refuses --count for suites that draw no cases.
inline void check_selection(const CLI::App& app, const Selection& s) {
  if (s.suite != "random" && s.suite != "full") refuse(app, {"--count"}, "only --suite random and full draw cases");
}

// Adds --json for a record file.  With "-" the records go to standard output, and all other output to standard error.
inline void add_records(CLI::App& app, std::string& path, const std::string& what) {
  writes_file(app.add_option("--json", path, what + "; - for standard output"))->transform([](const std::string& text) {
    if (text == kStdout) give_stdout_to_records();
    return text;
  });
}

inline void add_backend(CLI::App& app, BackendFlags& f) {
  app.add_option(
         "--backend", f.backend,
         "simt, cuda, host for plugins, ptx for our kernels as nvcc's PTX, or auto: cuda if there is a GPU, simt for --ptx")
      ->check(one_of("backend", kBackendFlags))
      ->capture_default_str();
  app.add_option("--skip-exit", f.skip_exit, "exit with this code if the backend is not usable here")
      ->transform(whole_number(0, 255));
  app.add_flag("--require-gpu", f.require_gpu, "fail if no GPU is usable here");
}

// Adds the flag for a set of kernels.
inline CLI::Option* add_set_flag(CLI::App& app, std::string& set, const std::string& what) {
  return app.add_option("--set", set, what + ": trial, watch, hostile, or the file of one");
}

// Adds the flags by which kernels are judged that are not built in.
inline void add_loaded(CLI::App& app, RunFlags& f, const std::string& what = "judge the kernels of this {}") {
  CLI::Option* plugin = reads_file(app.add_option("--plugin", f.plugin, fmt::format(fmt::runtime(what), "shared object")));
  app.add_option("--worker", f.worker, fmt::format(fmt::runtime(what), "program, a command of a shell (docs/worker-protocol.md)"))
      ->excludes(plugin);
  CLI::Option* ptx = reads_file(app.add_option("--ptx", f.ptx, fmt::format(fmt::runtime(what), "PTX module (docs/ptx.md)")));
  ptx->excludes(plugin)->excludes("--worker");
  CLI::Option* cu = reads_file(app.add_option("--cu", f.cu, fmt::format(fmt::runtime(what), "CUDA source (docs/triton.md)")));
  cu->excludes(plugin)->excludes("--worker")->excludes(ptx);
  CLI::Option* launch = reads_file(app.add_option("--launch", f.launch, "the launch file of the --ptx or the --cu"));
  ptx->needs(launch);
  cu->needs(launch);
  CLI::Option* set = add_set_flag(app, f.set, fmt::format(fmt::runtime(what), "set"));
  set->excludes(plugin)->excludes("--worker")->excludes(ptx)->excludes(cu);
}
// Call it once the flags are read.
inline void check_loaded(const CLI::App& app, RunFlags& f) {
  f.machine.plugin = !f.plugin.empty();
  if (f.ptx.empty() && f.cu.empty()) refuse(app, {"--launch"}, "only a --ptx or a --cu has a launch file");
  if (!f.worker.empty())
    refuse(app, {"--backend", "--skip-exit", "--require-gpu"}, "a --worker runs on the machine that it chooses");
}

inline void add_timeout(CLI::App& app, double& timeout_s) {
  app.add_option("--timeout", timeout_s, "time limit for one kernel on one case, and for its golden: 60, 60s, 500ms, 2m")
      ->capture_default_str()
      ->transform(duration());
}

inline void add_sandbox_flags(CLI::App& app) {
  app.add_flag_callback("--no-sandbox", leave_out_sandbox, "let workers write files and reach other processes (SECURITY.md)");
  app.add_flag_callback("--network", give_network, "let a --worker, and kernels on a GPU, use the network");
  app.add_option_function<std::string>("--pass-env", pass_on,
                                       "give workers this variable of the environment too, like HF_HOME (repeatable)")
      ->allow_extra_args(false)
      ->trigger_on_parse();
}

inline void add_colour(CLI::App& app, std::string& colour) {
  app.add_option("--color", colour, "auto, always or never; auto: on a terminal, unless NO_COLOR is set")
      ->capture_default_str()
      ->check(one_of("choice of colours", {"auto", "always", "never"}));
}

inline void add_partial(CLI::App& app, bool& partial) {
  app.add_flag("--partial", partial, "accept incomplete evidence: exit code 0 instead of 3");
}

inline void add_run_flags(CLI::App& app, RunFlags& f) {
  add_selection(app, f.selection);
  add_backend(app, f.machine);
  add_records(app, f.json, "write one record per case to this file, as JSON Lines");
  writes_file(app.add_option("--junit", f.junit, "write a JUnit report to this file"));
  writes_file(app.add_option("--md", f.markdown, "write a Markdown summary to this file"));
  add_timeout(app, f.timeout_s);
  app.add_option("--budget", f.budget_s, "time limit for the whole run, like 90s or 5m; cases left then are skipped")
      ->transform(duration());
  app.add_option("--jobs", f.jobs, "how many worker processes run at a time (default: one per core, two on simt)")
      ->transform(whole_number(1, 1024));
  app.add_flag("--fail-fast", f.fail_fast, "stop at the first bad verdict");
  app.add_flag("--watch", f.watch, "also find races, uninitialised reads and unwritten outputs (simt; slower)");
  app.add_flag("--sectors", f.sectors, "also count 32-byte sectors (simt; slower)");
  add_sandbox_flags(app);
  add_colour(app, f.colour);
  app.add_flag("--quiet", f.quiet, "print only the last line");
}

inline void add_json_flag(CLI::App& app, bool& json) { app.add_flag("--json", json, "print JSON"); }

}  // namespace assay
