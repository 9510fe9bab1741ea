// SPDX-License-Identifier: Apache-2.0
// replay: one case, everything printed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "validate/base/error.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/console.hpp"

namespace assay {

int replay_command(const std::string& line, const RunFlags& flags) {
  std::string backend;
  int code = 0;
  if (!backend_ready(flags.machine, backend, code)) return code;
  check_watch(flags, backend);
  const std::vector<OpShape> shapes = op_shapes();
  const Repro repro_line = parse_repro(line, shapes);
  const Op& op = op_named(repro_line.what.op);
  std::vector<const Kernel*> chosen;
  Names names;
  for (const Kernel& k : kernels())
    if (k.op == op.name) {
      names.push_back(k.name);
      if (repro_line.kernel.empty() ? !k.broken : k.name == repro_line.kernel) chosen.push_back(&k);
    }
  if (chosen.empty()) throw BadInput(unknown("kernel", repro_line.kernel, names) + "  (validate list kernels)");
  check(repro_line.what, op.shape());

  const std::vector<Task> tasks{{&op, repro_line.what, chosen}};
  JudgeOptions options = judge_options(flags, backend);
  options.sectors = true, options.relations = Relations::all;
  std::vector<Record> failed;
  Tally tally = judge(tasks, options, [&](const Record& r) {
    fmt::print("{}\n", r.repro);
    fmt::print("  verdict        {}{}\n", name(r.verdict), r.reason.empty() ? "" : ": " + r.reason);
    if (r.compared) fmt::print("  compared       {} elements, {} wrong\n", r.compared, r.wrong);
    if (r.margin) fmt::print("  err/bound      {:.4g}{}\n", *r.margin, r.exact ? "  (the answer is exactly representable)" : "");
    if (r.worst) {
      fmt::print("  worst          {}  {}\n", where_text(r), r.worst->tile);
      fmt::print("                 got {:.10g}  golden {:.10g}  bound ±{:.3g}\n", r.worst->got, r.worst->golden, r.worst->bound);
    }
    if (!r.pattern.empty()) fmt::print("  pattern        {}\n", r.pattern);
    if (!r.reads_like.empty()) fmt::print("  reads like     {}\n", r.reads_like);
    if (!r.stages.empty()) {
      std::string text;
      for (const auto& [output, margin] : r.stages) text += fmt::format("{} {:.3g}  ", output, margin);
      fmt::print("  stages         {}\n", text);
    }
    if (r.end_to_end) fmt::print("  end to end     {:.2g} of the golden, from the inputs on (not judged)\n", *r.end_to_end);
    if (r.rms_ratio)
      fmt::print("  together       rms error {:.3g} and mean error {:.2g} of the rms that the numerics predict\n", *r.rms_ratio,
                 r.bias.value_or(0));
    if (!r.relations.empty()) fmt::print("  relations      {}\n", fmt::join(r.relations, " "));
    if (r.deterministic) fmt::print("  deterministic  {}\n", *r.deterministic ? "yes" : "no");
    if (r.digest) fmt::print("  digest         {}\n", digest_text(r));
    if (!r.rows_checked.empty())
      fmt::print("  golden         {} of {} rows{}\n", r.rows_checked.size(), r.rows,
                 r.sweep_margin ? fmt::format("; all rows by a sweep, err/bound {:.3g}", *r.sweep_margin) : "");
    fmt::print("  bytes          {:.0f} by formula (unfused {:.0f})\n", r.cost.bytes(), r.cost.unfused_bytes);
    for (const auto& [tensor, t] : r.traffic)
      fmt::print("    {:<12} read {} (unique {}, {} sectors) · written {} (unique {}, {} sectors)\n", tensor, t.read_bytes,
                 t.unique_read_bytes, t.read_sectors, t.written_bytes, t.unique_written_bytes, t.written_sectors);
    print_sites(r.sites);
    fmt::print("  time           {:.3f} s on {}\n\n", r.seconds, backend);
    std::fflush(stdout);
    if (flags.shrink_s > 0 && can_shrink(r)) failed.push_back(r);
  });
  for (const Record& r : failed) {
    if (stop_requested) break;
    const Shrunk s = shrink(r, options, flags.shrink_s);
    if (!s.label.empty()) fmt::print("  label          {}\n", label_text(s));
    if (s.smallest)
      fmt::print("  smallest       validate replay '{}'\n                 {}   (shrunk from {}; {} cases tried)\n\n",
                 s.smallest->repro, s.smallest->reason, difference(r.c, s.smallest->c, op.shape()), s.tried);
    else fmt::print("  smallest       this one; of {} smaller cases none fails as it does\n\n", s.tried);
  }
  fmt::print("{}\n", tally.sentence());
  return exit_code(tally);
}

}  // namespace assay
