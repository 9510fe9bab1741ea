// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "validate/judge/compare.hpp"
#include "validate/problem/relation.hpp"
#include "validate/worker/guarded_buffer.hpp"

namespace assay {

namespace {

// A problem whose tensors lie in guarded device memory.
struct Laid {
  std::vector<std::shared_ptr<GuardedBuffer>> buffers{};  // of an output that lies over an input, that one's
  std::vector<std::optional<std::size_t>> over{};         // of every tensor, the input that it lies over
  std::unique_ptr<Problem> problem{};
  std::unique_ptr<GuardedBuffer> workspace{};
  void* work() const { return workspace ? workspace->data() : nullptr; }
};

class Session {
 public:
  Session(Backend& backend, const Op& op, const Kernel& kernel, const Order& order, const Packing& packing,
          const SharedMemory& inputs, const SharedMemory& outputs)
      : backend_(backend), op_(op), kernel_(kernel), order_(order), packing_(packing), inputs_(inputs), outputs_(outputs) {}

  Reply run() {
    Reply reply{.id = order_.id};
    launcher_ = backend_.launcher(kernel_);
    if (!launcher_) return stopped(Reply::Status::skipped, fmt::format("not built for backend {}", backend_.name()));
    if (!kernel_.dtypes.has(order_.c.dtype))
      return stopped(Reply::Status::unsupported, fmt::format("declares no {}", name(order_.c.dtype)));
    if (const std::string needed = needs_arch(kernel_, backend_.arch()); !needed.empty())
      return stopped(Reply::Status::skipped, fmt::format("needs {}, this is sm_{}", needed, backend_.arch()));
    if (const Legality ok = kernel_.available(); !ok) return stopped(Reply::Status::skipped, ok.why);

    laid_ = lay_out(order_.c, packing_, inputs_.data());
    if (!takes(packing_, inputs_.data())) return stopped(Reply::Status::unsupported, "declares finite inputs");
    if (const Legality ok = kernel_.supports(laid_.problem->args()); !ok) return stopped(Reply::Status::unsupported, ok.why);
    give_workspace(laid_);

    for (int run = 0; run < kRuns; ++run) {
      const auto start = std::chrono::steady_clock::now();
      // The second run takes the threads in reverse on even seeds and shuffled on odd ones.
      const int order = run == 0 ? 0 : 1 + static_cast<int>(order_.c.seed & 1);
      launch_once(run, {.order = order, .seed = order_.c.seed, .sectors = order_.sectors && run == 0, .watch = order_.watch});
      if (run == 0) {
        reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        for (const auto& b : laid_.buffers) reply.traffic[b->label()] = backend_.traffic(b->allocation());
        if (laid_.workspace) reply.traffic["workspace"] = backend_.traffic(laid_.workspace->allocation());
        std::erase_if(reply.traffic, [](const auto& t) { return !t.second.read_bytes && !t.second.written_bytes; });
        reply.sites = backend_.sites();
      }
    }
    if (kernel_.deterministic) check_captured();
    for (std::size_t k = 0; k < order_.relations.size(); ++k) {
      const Relation* relation = find_relation(op_, order_.relations[k]);
      reply.related.push_back(relation && run_related(*relation, static_cast<std::size_t>(kRuns) + k));
    }
    return reply;
  }

 private:
  Reply stopped(Reply::Status status, std::string why) const {
    return {.id = order_.id, .status = status, .message = std::move(why)};
  }
  bool is_output(std::size_t i) const { return op_.tensors[i].role == Role::output; }
  bool given(std::size_t i) const { return is_given(op_.tensors[i]); }
  const std::byte* values(std::size_t i) const { return inputs_.data() + packing_.given[i]; }

  // Whether the inputs are as finite as the kernel declares.
  bool takes(const Packing& packing, const std::byte* inputs) const {
    for (std::size_t i = 0; kernel_.finite_inputs && i < op_.tensors.size(); ++i)
      if (given(i) && !all_finite(packing.placements[i].tensor, inputs + packing.given[i])) return false;
    return true;
  }
  Laid lay_out(const Case& c, const Packing& packing, const std::byte* inputs) const {
    Laid laid;
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      const Placement& p = packing.placements[i];
      laid.over.push_back(is_output(i) ? lies_over(op_, c, i) : std::nullopt);
      if (laid.over[i]) laid.buffers.push_back(laid.buffers[*laid.over[i]]);
      else laid.buffers.push_back(std::make_shared<GuardedBuffer>(backend_, p.bytes, p.offset, op_.tensors[i].name));
      if (given(i)) laid.buffers[i]->write(inputs + packing.given[i]);
      pointers.push_back(laid.buffers[i]->data());
    }
    laid.problem = op_.make();
    attach(*laid.problem, c, packing.placements, pointers);
    return laid;
  }
  void give_workspace(Laid& laid) const {
    if (const std::size_t bytes = kernel_.workspace_bytes(laid.problem->args()))
      laid.workspace = std::make_unique<GuardedBuffer>(backend_, bytes, 0, "workspace");
  }

  // Note: making the numbers of a model's weights anew costs more than everything else; their order reversed is other numbers.
  static bool is_large(const Tensor& t) { return t.contiguous() && t.size() > std::int64_t{1} << 22; }
  static void reverse_elements(const std::byte* from, std::byte* to, const Tensor& t) {
    const auto element = static_cast<std::size_t>(size_of(t.dtype)), bytes = static_cast<std::size_t>(t.bytes());
    for (std::size_t at = 0; at < bytes; at += element) std::memcpy(to + bytes - element - at, from + at, element);
  }

  // Outputs to garbage; those that are updated to what the fill makes of them, those that lie over an input to what it holds:
  // image(i) has the bytes of either.
  template <class Image>
  void reset_outputs(std::byte garbage, Image&& image) {
    for (std::size_t i = 0; i < laid_.buffers.size(); ++i)
      if (laid_.over[i]) laid_.buffers[i]->write(image(*laid_.over[i]));
      else if (is_output(i)) given(i) ? laid_.buffers[i]->write(image(i)) : laid_.buffers[i]->fill(garbage);
  }
  // Whether an output lies over input i.
  bool may_change(std::size_t i) const {
    return std::any_of(laid_.over.begin(), laid_.over.end(), [&](const auto& over) { return over == i; });
  }

  void launch_once(int run, const Variation& v) {
    const auto image = [&](std::size_t i) { return values(i); };
    reset_outputs(kGarbage[run], image);
    if (laid_.workspace) laid_.workspace->fill(std::byte{0xff});
    backend_.run(launcher_, laid_.problem->args(), laid_.work(), v);
    for (std::size_t i = 0; i < laid_.buffers.size(); ++i)
      if (is_output(i))
        laid_.buffers[i]->read_checked(outputs_.data() + static_cast<std::size_t>(run) * packing_.output_bytes + packing_.at[i]);
    check_inputs(image);
    if (v.watch) check_written();
  }

  // Every element of every output was written by this launch, whatever the buffer held; but for those that are updated.
  void check_written() {
    for (std::size_t i = 0; i < laid_.buffers.size(); ++i) {
      if (!is_output(i) || given(i)) continue;
      const Tensor& t = packing_.placements[i].tensor;
      const std::int64_t element = size_of(t.dtype);
      for (std::int64_t e = 0; e < t.size(); ++e)
        if (backend_.first_unwritten(laid_.buffers[i]->data() + t.offset(e) * element, static_cast<std::size_t>(element)) == 0)
          throw Misdeed(fmt::format("unwritten: element {} of {} of '{}' was not written", e, t.size(), op_.tensors[i].name));
    }
  }

  // Inputs unchanged, the guards of inputs and of the workspace untouched.
  template <class Image>
  void check_inputs(Image&& image) {
    std::vector<std::byte> seen;
    for (std::size_t i = 0; i < laid_.buffers.size(); ++i) {
      if (is_output(i)) continue;
      seen.resize(packing_.placements[i].bytes);
      laid_.buffers[i]->read_checked(seen.data());
      if (!may_change(i) && !seen.empty() && std::memcmp(seen.data(), image(i), seen.size()) != 0)
        throw Misdeed(fmt::format("changed its input '{}'", op_.tensors[i].name));
    }
    if (laid_.workspace) laid_.workspace->check();
  }

  // A captured launch, replayed on changed inputs, must give what a direct launch gives on them: a kernel that reads its
  // inputs at capture time, works on another stream or keeps an earlier result does not.
  void check_captured() {
    Case changed = order_.c;
    changed.seed ^= 0x9e3779b97f4a7c15u;
    std::vector<std::vector<std::byte>> images(laid_.buffers.size()), replayed(laid_.buffers.size());
    const auto change_inputs = [&] {
      for (std::size_t i = 0; i < laid_.buffers.size(); ++i) {
        const Placement& p = packing_.placements[i];
        images[i].resize(p.bytes);
        if (laid_.over[i]) continue;
        if (is_large(p.tensor) && given(i)) reverse_elements(values(i), images[i].data(), p.tensor);
        else fill_image(op_, changed, static_cast<int>(i), p, images[i].data(), kGarbage[1]);
        laid_.buffers[i]->write(images[i].data());
      }
    };
    if (!backend_.run_captured(launcher_, laid_.problem->args(), laid_.work(), change_inputs)) return;
    for (std::size_t i = 0; i < laid_.buffers.size(); ++i) {
      if (!is_output(i)) continue;
      replayed[i].resize(packing_.placements[i].bytes);
      laid_.buffers[i]->read(replayed[i].data());
    }
    reset_outputs(kGarbage[1], [&](std::size_t i) { return images[i].data(); });  // as before the replay
    backend_.run(launcher_, laid_.problem->args(), laid_.work(), {});
    check_inputs([&](std::size_t i) { return images[i].data(); });
    for (std::size_t i = 0; i < laid_.buffers.size(); ++i) {
      if (!is_output(i)) continue;
      laid_.buffers[i]->read_checked(images[i].data());
      Tensor a = packing_.placements[i].tensor, b = a;
      a.data = images[i].data(), b.data = replayed[i].data();
      if (!same_elements(a, b))
        throw Misdeed(fmt::format("graph replay on changed inputs gives another '{}' than a direct launch", op_.tensors[i].name));
    }
  }

  // The kernel on the inputs that a relation makes of the case's; its outputs go into the slot.  False: it does not apply.
  bool run_related(const Relation& relation, std::size_t slot) {
    const std::optional<Related> related = relate(op_, order_.c, relation, packing_, inputs_.data(), outputs_.data());
    if (!related) return false;
    const Packing packing = pack(op_, related->c);
    if (packing.output_bytes > packing_.output_bytes) return false;
    if (!takes(packing, related->inputs.data())) return false;
    Laid laid = lay_out(related->c, packing, related->inputs.data());
    for (std::size_t i = 0; i < op_.tensors.size(); ++i)
      if (!given(i) && !laid.over[i]) laid.buffers[i]->fill(kGarbage[0]);
    if (!kernel_.supports(laid.problem->args())) return false;
    give_workspace(laid);
    if (laid.workspace) laid.workspace->fill(std::byte{0xff});
    backend_.run(launcher_, laid.problem->args(), laid.work(), {});
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (is_output(i)) laid.buffers[i]->read_checked(outputs_.data() + slot * packing_.output_bytes + packing.at[i]);
      else laid.buffers[i]->check();
    }
    if (laid.workspace) laid.workspace->check();
    return true;
  }

  Backend& backend_;
  const Op& op_;
  const Kernel& kernel_;
  const Order& order_;
  const Packing& packing_;
  const SharedMemory& inputs_;
  const SharedMemory& outputs_;
  Launcher launcher_ = nullptr;
  Laid laid_;
};

}  // namespace

Reply run_order(Backend& backend, const Op& op, const Kernel& kernel, const Order& order, const Packing& packing,
                const SharedMemory& inputs, const SharedMemory& outputs) {
  return Session(backend, op, kernel, order, packing, inputs, outputs).run();
}

}  // namespace assay
