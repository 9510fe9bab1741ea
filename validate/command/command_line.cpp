// SPDX-License-Identifier: Apache-2.0
// The flags of the subcommands, each read into what its callback owns, and what is wrong with a command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <memory>

#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/command/commands.hpp"

namespace assay {

namespace {

const Names kBackendFlags{"auto", "simt", "cuda"};

// One of some names; what is none of them is answered with the nearest.
CLI::Validator one_of(const char* kind, Names names) {
  const auto check = [kind, names](std::string& word) {
    return std::find(names.begin(), names.end(), word) == names.end() ? unknown(kind, word, names) : std::string();
  };
  return CLI::Validator(check, "", kind);
}

// Note: CLI::Range lets NaN through.
CLI::Validator number(const char* kind, double least, double most, const char* what) {
  const auto check = [least, most, what](std::string& text) {
    double v = 0;
    const bool read = CLI::detail::lexical_cast(text, v);
    return read && v >= least && v <= most ? std::string() : fmt::format("'{}' is not {}", text, what);
  };
  return CLI::Validator(check, "", kind);
}
constexpr double kAboveZero = std::numeric_limits<double>::min();
CLI::Validator seconds() { return number("seconds", kAboveZero, 1e6, "a number of seconds above 0, at most 1000000"); }

// Note: CLI11 takes -1 and 2^64 for the largest number.
CLI::Validator seed() {
  const auto check = [](std::string& text) {
    std::uint64_t v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::string() : fmt::format("'{}' is not a whole number from 0 to 2^64 - 1", text);
  };
  return CLI::Validator(check, "", "seed");
}

void add_kernels(CLI::App& app, Selection& s) {
  app.add_option("--op", s.ops, "ops, by name (default: all)")->delimiter(',')->allow_extra_args(false);
  app.add_option("--kernel", s.kernels, "kernels, by name (default: all)")->delimiter(',')->allow_extra_args(false);
  app.add_option("--dtype", s.dtypes, "f16, bf16, f32 (default: all)")->delimiter(',')->allow_extra_args(false);
  app.add_option("--seed", s.seed, "of the cases")->capture_default_str()->check(seed());
  app.add_flag("--no-vendor", s.no_vendor, "leave out the kernels that call a vendor's library");
  app.add_option("--datasets", s.datasets, "folder of the datasets (default: found beside the program)");
}

void add_selection(CLI::App& app, Selection& s) {
  add_kernels(app, s);
  app.add_option("--suite", s.suite, "smoke, edges, models, random, full, sanitize, watch, long, fixed, errors")
      ->capture_default_str();
  app.add_option("--count", s.count, "cases of the random suite")->capture_default_str()->check(CLI::Range(1, 10'000'000));
  app.add_option("--shard", s.shard, "i/n: the i-th of n equal parts, from 1");
}

void add_backend(CLI::App& app, BackendFlags& f) {
  app.add_option("--backend", f.backend, "simt, cuda, or auto: cuda where there is a GPU")
      ->check(one_of("backend", kBackendFlags))
      ->capture_default_str();
  app.add_option("--skip-exit", f.skip_exit, "exit code when the backend is missing here")->check(CLI::Range(0, 255));
  app.add_flag("--require-gpu", f.require_gpu, "fail where auto finds no GPU");
}

void add_timeout(CLI::App& app, double& timeout_s) {
  app.add_option("--timeout", timeout_s, "seconds for one kernel on one case")->capture_default_str()->check(seconds());
}

void add_run_flags(CLI::App& app, RunFlags& f) {
  add_selection(app, f.selection);
  add_backend(app, f.machine);
  app.add_option("--json", f.json, "write one record a case here, JSON Lines");
  app.add_option("--junit", f.junit, "write a JUnit file here");
  app.add_option("--md", f.markdown, "write a Markdown summary here");
  add_timeout(app, f.timeout_s);
  app.add_option("--budget", f.budget_s, "seconds for the whole run; the rest is skipped")
      ->check(seconds())
      ->transform([](std::string text) {
        if (!text.empty() && text.back() == 's') text.pop_back();
        return text;
      });
  app.add_option("--jobs", f.jobs, "worker processes at a time (default: one a core)")->check(CLI::Range(1, 1024));
  app.add_flag("--fail-fast", f.fail_fast, "stop at the first bad verdict");
  app.add_flag("--watch", f.watch, "races, uninitialised reads and unwritten outputs fail a kernel (simt; slower)");
  app.add_flag("--sectors", f.sectors, "count 32-byte sectors too (simt; slower)");
  app.add_flag("--quiet", f.quiet, "the last line only");
}

void add_shrink_flags(CLI::App& app, RunFlags& f) {
  constexpr double kUsual = 5;
  f.shrink_s = kUsual;
  app.add_option("--shrink", f.shrink_s, "seconds to make a failing case smaller in, the first of each kernel and dtype")
      ->capture_default_str()
      ->check(seconds());
  app.add_flag_callback(
      "--no-shrink", [&f] { f.shrink_s = 0; }, "show failing cases as they come");
}

void add_list(CLI::App& app, int& code) {
  const auto what = std::make_shared<std::string>("kernels");
  const auto listed = std::make_shared<Selection>();
  CLI::App& list = *app.add_subcommand("list", "what there is");
  list.add_option("what", *what, "ops, kernels, cases or backends")
      ->check(one_of("list", {"ops", "kernels", "cases", "backends"}));
  add_selection(list, *listed);
  list.callback([=, &code] { code = list_command(*what, *listed); });
}

void add_describe(CLI::App& app, int& code) {
  const auto op = std::make_shared<std::string>();
  CLI::App& describe = *app.add_subcommand("describe", "an op: formula, axes, tensors, kernels, fills");
  describe.add_option("op", *op, "the op's name")->required();
  describe.callback([=, &code] { code = describe_command(*op); });
}

void add_run(CLI::App& app, int& code) {
  const auto f = std::make_shared<RunFlags>();
  CLI::App& run = *app.add_subcommand("run", "judge kernels over a suite of cases");
  add_run_flags(run, *f);
  add_shrink_flags(run, *f);
  run.add_flag("--all-relations", f->all_relations, "every relation on every case, not one on one case in four (slower)");
  run.add_option("--same-as", f->same_as, "a record file: every case must get the verdict that it has there");
  run.add_flag("--bit-equal", f->bit_equal, "with --same-as: the outputs must be equal bit for bit too");
  run.add_flag("--reduced", f->reduced, "fewer tokens in model shapes, as on simt, so that records can be compared");
  run.callback([f, &code] { code = run_command(*f); });
}

void add_selfcheck(CLI::App& app, int& code) {
  const auto f = std::make_shared<SelfcheckFlags>();
  CLI::App& trial = *app.add_subcommand("selfcheck", "the judge on trial: every broken kernel must fail");
  add_run_flags(trial, f->run);
  trial.get_option("--md")->description("write the matrix here, as Markdown");
  trial.add_flag("--every-case", f->every_case, "judge on where a kernel has failed already");
  trial.add_flag("--policies", f->policies, "judge the same outputs by the rules of other suites too");
  trial.add_option("--policy", f->policy, "judge by this rule instead")
      ->check(one_of("policy", Names(kPolicies.begin(), kPolicies.end())));
  trial.add_flag("--corpus", f->corpus,
                 "check the corpus: every broken kernel passes a case, half of them allclose-1e-2 on one fixed shape");
  trial.callback([f, &code] { code = selfcheck_command(*f); });
}

void add_replay(CLI::App& app, int& code) {
  const auto f = std::make_shared<RunFlags>();
  const auto words = std::make_shared<std::vector<std::string>>();  // of a repro line, quoted or not
  CLI::App& replay = *app.add_subcommand("replay", "one case, everything printed");
  replay.add_option("line", *words, "a repro line")->required();
  add_backend(replay, f->machine);
  replay.add_flag("--watch", f->watch, "races, uninitialised reads and unwritten outputs fail it (simt)");
  add_timeout(replay, f->timeout_s);
  add_shrink_flags(replay, *f);
  replay.callback([=, &code] { code = replay_command(fmt::format("{}", fmt::join(*words, " ")), *f); });
}

void add_bench(CLI::App& app, int& code) {
  const auto f = std::make_shared<BenchFlags>();
  CLI::App& bench = *app.add_subcommand("bench", "time kernels on a GPU; on simt, count their bytes");
  add_kernels(bench, f->selection);
  add_backend(bench, f->machine);
  add_timeout(bench, f->timeout_s);
  bench.add_option("--json", f->json, "write one record a row here, JSON Lines");
  bench.add_option("--suite", f->suite,
                   "rows that a document reported, by the name of a file in datasets/bench/suites; default: the ops' own shapes");
  bench.add_option("--shape", f->shapes, "axes of one row of the table, like 'rows=16384 cols=8192' (repeatable)");
  bench.add_option("--baseline", f->baseline, "the kernel that ratios refer to beside unfused and the vendor's; or vendor")
      ->capture_default_str();
  bench.add_option("--seconds", f->seconds, "of timing for each row")
      ->capture_default_str()
      ->check(number("seconds", 0.01, 60, "0.01 to 60 seconds"));
  bench.add_option("--processes", f->processes, "that time each row, one after the other")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  bench.add_option("--ab", f->ab, "another build's validate: its processes take turns with this one's");
  bench.add_option("--ab-json", f->ab_json, "write the other build's records here");
  bench.add_flag("--sites", f->sites, "bytes, sectors and bank wavefronts by source line, as counted on simt");
  bench.add_flag("--memory", f->memory, "bytes of device memory instead, tensors and workspace: allocated, and not run");
  bench.add_flag("--dram", f->dram, "bytes of device memory too, by the GPU's counters, beside the formula's");
  bench.add_flag("--resources", f->resources, "registers, shared memory and occupancy of each function too");
  bench.add_flag("--once", f->once,
                 "each kernel once instead, on the first row that it takes: for a profiler that watches (.ci/profile)");
  bench.add_flag("--times-only", f->times_only, "leave out the counting of bytes on simt");
  bench.callback([f, &code] { code = bench_command(*f); });
}

void add_compare(CLI::App& app, int& code) {
  const auto f = std::make_shared<CompareFlags>();
  CLI::App& compare = *app.add_subcommand("compare", "FASTER, SLOWER, SAME or INCONCLUSIVE: records against a baseline");
  compare.add_option("files", f->files, "the baseline, then the new file")->required();
  compare.add_flag("--calibrate", f->calibrate, "of one file: its processes against each other, and the false alarms");
  compare.add_flag("--accept", f->accept, "make the new file the baseline");
  compare.add_option("-m", f->reason, "why it is accepted");
  compare.add_flag("--all", f->all, "every row, those that are the same too");
  compare.add_option("--floor", f->floor_percent, "the least difference of interest, in percent")
      ->capture_default_str()
      ->check(number("percent", 0.1, 100, "0.1 to 100 percent"));
  compare.add_option("--seed", f->seed, "of the bootstrap")->capture_default_str()->check(seed());
  compare.callback([f, &code] { code = compare_command(*f); });
}

void add_report(CLI::App& app, int& code) {
  const auto f = std::make_shared<ReportFlags>();
  CLI::App& report = *app.add_subcommand("report", "records as one offline page, as Markdown or as CSV");
  report.add_option("files", f->files, "files of records; of a row that several have, the latest counts")->required();
  report.add_option("-o", f->output, "FILE.html, FILE.md or FILE.csv")->required();
  report.callback([f, &code] { code = report_command(*f); });
}

void add_probe(CLI::App& app, int& code) {
  const auto f = std::make_shared<ProbeFlags>();
  CLI::App& probe = *app.add_subcommand("probe", "the instructions of the device layer, one by one, against another machine");
  add_backend(probe, f->machine);
  probe.add_option("--json", f->json, "write digests of the results here, JSON Lines");
  probe.add_option("--against", f->against, "such a file, whose results must be met; or simt, which is run beside it");
  probe.callback([f, &code] { code = probe_command(*f); });
}

void add_cost(CLI::App& app, int& code) {
  const auto costed = std::make_shared<Selection>();
  const auto lines = std::make_shared<std::vector<std::string>>();
  CLI::App& cost = *app.add_subcommand("cost", "seconds of judging a case beside the kernel: inputs, golden, comparison");
  add_selection(cost, *costed);
  cost.add_option("lines", *lines, "repro lines, instead of a suite");
  cost.callback([=, &code] { code = cost_command(*costed, *lines); });
}

void add_doctor(CLI::App& app, int& code) {
  CLI::App& doctor = *app.add_subcommand("doctor", "what this machine can do, and what is missing");
  doctor.callback([&code] { code = doctor_command(); });
}

// What is wrong with a command line, with the nearest right name where a name is wrong.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, std::string_view first) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  Names names;
  if (chosen.empty()) {
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
    if (first.empty()) return fmt::format("a subcommand is required: {}", fmt::join(names, ", "));
    return first.starts_with('-') ? unknown("flag", first.substr(0, first.find('=')), {"--help", "--version"})
                                  : unknown("subcommand", first, names);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    std::vector<std::string> flags;
    for (const CLI::Option* o : chosen.front()->get_options()) flags.push_back(o->get_name());
    for (const std::string& flag : flags)
      if (flag.starts_with('-')) names.push_back(flag);
    for (const std::string& extra : app.remaining(true))
      if (extra.starts_with('-')) return unknown("flag", extra.substr(0, extra.find('=')), names);
    for (const std::string& extra : app.remaining(true)) return fmt::format("'{}' was not expected here", extra);
  }
  return error.what();
}

}  // namespace

int command_line(int argc, char** argv) {
  CLI::App app{"Assay proves GPU kernels right and shows what they are worth.", "validate"};
  app.set_version_flag("--version", std::string(version()) + " " + std::string(commit()));
  app.require_subcommand(1);
  int code = 0;
  for (const auto add : {add_list, add_describe, add_run, add_selfcheck, add_replay, add_bench, add_compare, add_report,
                         add_probe, add_cost, add_doctor})
    add(app, code);
  // Note: the test of the documentation's command lines reads them and must not run them.
  if (std::getenv("ASSAY_PARSE_ONLY")) app.parse_complete_callback([] { throw CLI::Success(); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    throw BadInput(usage_error(app, e, argc > 1 ? argv[1] : "") + "  (validate --help)");
  }
  return code;
}

}  // namespace assay
