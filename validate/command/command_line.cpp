// SPDX-License-Identifier: Apache-2.0
// The flags of the subcommands, each read into what its callback owns, and what is wrong with a command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/flags.hpp"
#include "validate/command/usage.hpp"

namespace assay {

namespace {

void add_list(CLI::App& app, int& code) {
  const auto what = std::make_shared<std::string>("kernels");
  const auto listed = std::make_shared<Selection>();
  CLI::App& list = *app.add_subcommand("list", "what there is");
  list.add_option("what", *what, "ops, kernels, cases or backends")
      ->check(one_of("list", {"ops", "kernels", "cases", "backends"}));
  add_selection(list, *listed);
  const auto json = std::make_shared<bool>();
  add_document(list, *json);
  list.callback([=, &list, &code] {
    const std::string why = fmt::format("'list {}' takes no such flag", *what);
    if (*what != "cases") refuse(list, kCaseFlags, why);
    if (*what == "ops" || *what == "backends") refuse(list, kKernelFlags, why);
    check_selection(list, *listed);
    code = list_command(*what, *listed, *json);
  });
}

void add_describe(CLI::App& app, int& code) {
  const auto op = std::make_shared<std::string>();
  CLI::App& describe = *app.add_subcommand("describe", "an op: formula, axes, tensors, kernels, fills");
  describe.add_option("op", *op, "the op's name")->required();
  const auto json = std::make_shared<bool>();
  add_document(describe, *json);
  describe.callback([=, &code] { code = describe_command(*op, *json); });
}

void add_run(CLI::App& app, int& code) {
  const auto f = std::make_shared<RunFlags>();
  CLI::App& run = *app.add_subcommand("run", "judge kernels over a suite of cases");
  add_run_flags(run, *f);
  add_shrink_flags(run, *f);
  add_partial(run, *f);
  run.add_flag("--all-relations", f->all_relations, "every relation on every case, not one on one case in four (slower)");
  run.add_option("--same-as", f->same_as, "a record file: every case must get the verdict that it has there");
  run.add_flag("--bit-equal", f->bit_equal, "with --same-as: the outputs must be equal bit for bit too");
  run.add_option("--last-failed", f->last_failed, "a record file: only its bad cases, instead of a suite");
  run.add_flag("--reduced", f->reduced, "fewer tokens in model shapes, as on simt, so that records can be compared");
  run.callback([f, &run, &code] {
    check_selection(run, f->selection);
    if (!f->last_failed.empty())
      for (const Names& flags : {kCaseFlags, Names{"--reduced"}})
        refuse(run, flags, "--last-failed takes its cases from the records");
    if (f->bit_equal && f->same_as.empty())
      throw BadInput("--bit-equal compares with a record file: --same-as RECORDS  (validate run --same-as RECORDS --bit-equal)");
    code = run_command(*f);
  });
}

void add_selfcheck(CLI::App& app, int& code) {
  if (std::none_of(kernels().begin(), kernels().end(), [](const Kernel& k) { return k.broken; })) return;
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
  trial.callback([f, &trial, &code] {
    check_selection(trial, f->run.selection);
    code = selfcheck_command(*f);
  });
}

void add_replay(CLI::App& app, int& code) {
  const auto f = std::make_shared<RunFlags>();
  const auto words = std::make_shared<std::vector<std::string>>();  // of a repro line, quoted or not
  CLI::App& replay = *app.add_subcommand("replay", "one case, everything printed");
  replay.add_option("line", *words, "a repro line");
  replay.add_option("--from", f->last_failed, "a record file: each of its bad cases, instead of a line");
  add_backend(replay, f->machine);
  replay.add_flag("--watch", f->watch, "races, uninitialised reads and unwritten outputs fail it (simt)");
  add_timeout(replay, f->timeout_s);
  add_colour(replay, *f);
  add_partial(replay, *f);
  add_shrink_flags(replay, *f);
  replay.callback([=, &code] {
    if (words->empty() == f->last_failed.empty())
      throw BadInput("replay takes a repro line, or --from RECORDS  (validate replay 'softmax/naive f16 rows=3 cols=257')");
    code = replay_command(fmt::format("{}", fmt::join(*words, " ")), *f);
  });
}

void add_bench(CLI::App& app, int& code) {
  const auto f = std::make_shared<BenchFlags>();
  CLI::App& bench = *app.add_subcommand("bench", "time kernels on a GPU; on simt, count their bytes");
  add_kernels(bench, f->selection);
  add_backend(bench, f->machine);
  add_timeout(bench, f->timeout_s);
  add_records(bench, f->json, "write one record a row here, JSON Lines");
  bench.add_option("--suite", f->suite,
                   "rows that a document reported, by the name of a file in datasets/bench/suites; default: the ops' own shapes");
  bench.add_option("--shape", f->shapes, "axes of one row of the table, like 'rows=16384 cols=8192' (repeatable)");
  bench.add_option("--baseline", f->baseline, "the kernel that ratios refer to beside unfused and the vendor's; or vendor")
      ->capture_default_str();
  bench.add_option("--seconds", f->seconds, "of timing for each row, like 0.3 or 300ms")
      ->capture_default_str()
      ->transform(duration(0.01, 60));
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
  add_records(probe, f->json, "write digests of the results here, JSON Lines");
  probe.add_option("--against", f->against, "such a file, whose results must be met; or simt, which is run beside it");
  probe.callback([f, &code] { code = probe_command(*f); });
}

void add_cost(CLI::App& app, int& code) {
  const auto costed = std::make_shared<Selection>();
  const auto lines = std::make_shared<std::vector<std::string>>();
  CLI::App& cost = *app.add_subcommand("cost", "seconds of judging a case beside the kernel: inputs, golden, comparison");
  add_selection(cost, *costed);
  cost.add_option("lines", *lines, "repro lines, instead of a suite");
  cost.callback([=, &cost, &code] {
    if (!lines->empty())
      for (const Names& flags : {kCaseFlags, kKernelFlags}) refuse(cost, flags, "a repro line says it all itself");
    check_selection(cost, *costed);
    code = cost_command(*costed, *lines);
  });
}

void add_doctor(CLI::App& app, int& code) {
  CLI::App& doctor = *app.add_subcommand("doctor", "what this machine can do, and what is missing");
  const auto json = std::make_shared<bool>();
  add_document(doctor, *json);
  doctor.callback([=, &code] { code = doctor_command(*json); });
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
  app.add_flag_callback(
         "--man",
         [&app] {
           fmt::print("{}", man_page(app));
           throw CLI::Success();
         },
         "the man page, as roff")
      ->group("");
  add_footers(app);
  // Note: the test of the documentation's command lines reads them and must not run them.
  if (std::getenv("ASSAY_PARSE_ONLY")) app.parse_complete_callback([] { throw CLI::Success(); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    throw BadInput(with_next_step(app, usage_error(app, e, argc > 1 ? argv[1] : "")));
  } catch (const BadInput& e) {
    throw BadInput(with_next_step(app, e.what()));
  }
  return code;
}

}  // namespace assay
