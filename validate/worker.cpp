// SPDX-License-Identifier: Apache-2.0
// One order: the case's tensors in guarded device memory, the kernel run kRuns times, everything that should not have
// changed compared.  The outputs go back as they are: judging them is the parent's.
#include "validate/worker.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <new>

#include "validate/compare.hpp"
#include "validate/guarded_buffer.hpp"
#include "validate/memory.hpp"
#include "validate/relation.hpp"
#include "validate/shared_memory.hpp"

namespace assay {

namespace {

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
    if (kernel_.least_arch > backend_.arch())
      return stopped(Reply::Status::skipped, fmt::format("needs sm_{}, this is sm_{}", kernel_.least_arch, backend_.arch()));
    if (const Legality ok = kernel_.available(); !ok) return stopped(Reply::Status::skipped, ok.why);

    make_buffers();
    if (kernel_.finite_inputs && !inputs_finite()) return stopped(Reply::Status::unsupported, "declares finite inputs");
    if (const Legality ok = kernel_.supports(problem_->args()); !ok) return stopped(Reply::Status::unsupported, ok.why);
    const std::size_t workspace = kernel_.workspace_bytes(problem_->args());
    if (workspace) workspace_ = std::make_unique<GuardedBuffer>(backend_, workspace, 0, "workspace");

    for (int run = 0; run < kRuns; ++run) {
      const auto start = std::chrono::steady_clock::now();
      // The second run takes the threads in reverse on even seeds and shuffled on odd ones.
      const int order = run == 0 ? 0 : 1 + static_cast<int>(order_.c.seed & 1);
      launch_once(run, {.order = order, .seed = order_.c.seed, .sectors = order_.sectors && run == 0, .watch = order_.watch});
      if (run == 0) {
        reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        for (const auto& b : buffers_) reply.traffic[b->label()] = backend_.traffic(b->allocation());
        if (workspace_) reply.traffic["workspace"] = backend_.traffic(workspace_->allocation());
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

  bool inputs_finite() const {
    for (std::size_t i = 0; i < op_.tensors.size(); ++i)
      if (given(i) && !all_finite(packing_.placements[i].tensor, values(i))) return false;
    return true;
  }
  void make_buffers() {
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      const Placement& p = packing_.placements[i];
      over_.push_back(is_output(i) ? lies_over(op_, order_.c, i) : std::nullopt);
      if (over_[i]) buffers_.push_back(buffers_[*over_[i]]);
      else buffers_.push_back(std::make_shared<GuardedBuffer>(backend_, p.bytes, p.offset, op_.tensors[i].name));
      if (given(i)) buffers_[i]->write(values(i));
      pointers.push_back(buffers_[i]->data());
    }
    problem_ = op_.make();
    attach(*problem_, order_.c, packing_.placements, pointers);
  }

  // Note: making the numbers of a model's weights anew costs more than everything else; their order reversed is other numbers.
  static bool is_large(const Tensor& t) { return t.contiguous() && t.size() > std::int64_t{1} << 22; }
  static void reverse_elements(const std::byte* from, std::byte* to, const Tensor& t) {
    const auto element = static_cast<std::size_t>(size_of(t.dtype)), bytes = static_cast<std::size_t>(t.bytes());
    for (std::size_t at = 0; at < bytes; at += element) std::memcpy(to + bytes - element - at, from + at, element);
  }

  void* workspace() const { return workspace_ ? workspace_->data() : nullptr; }

  // Outputs to garbage; those that are updated to what the fill makes of them, those that lie over an input to what it holds:
  // image(i) has the bytes of either.
  template <class Image>
  void reset_outputs(std::byte garbage, Image&& image) {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (over_[i]) buffers_[i]->write(image(*over_[i]));
      else if (is_output(i)) given(i) ? buffers_[i]->write(image(i)) : buffers_[i]->fill(garbage);
  }
  // Whether an output lies over input i.
  bool may_change(std::size_t i) const {
    return std::any_of(over_.begin(), over_.end(), [&](const auto& over) { return over == i; });
  }

  void launch_once(int run, const Variation& v) {
    const auto image = [&](std::size_t i) { return values(i); };
    reset_outputs(kGarbage[run], image);
    if (workspace_) workspace_->fill(std::byte{0xff});
    backend_.run(launcher_, problem_->args(), workspace(), v);
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (is_output(i))
        buffers_[i]->read_checked(outputs_.data() + static_cast<std::size_t>(run) * packing_.output_bytes + packing_.at[i]);
    check_inputs(image);
    if (v.watch) check_written();
  }

  // Every element of every output was written by this launch, whatever the buffer held; but for those that are updated.
  void check_written() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_output(i) || given(i)) continue;
      const Tensor& t = packing_.placements[i].tensor;
      const std::int64_t element = size_of(t.dtype);
      for (std::int64_t e = 0; e < t.size(); ++e)
        if (backend_.first_unwritten(buffers_[i]->data() + t.offset(e) * element, static_cast<std::size_t>(element)) == 0)
          throw Misdeed(fmt::format("unwritten: element {} of {} of '{}' was not written", e, t.size(), op_.tensors[i].name));
    }
  }

  // Inputs unchanged, the guards of inputs and of the workspace untouched.
  template <class Image>
  void check_inputs(Image&& image) {
    std::vector<std::byte> seen;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (is_output(i)) continue;
      seen.resize(packing_.placements[i].bytes);
      buffers_[i]->read_checked(seen.data());
      if (!may_change(i) && !seen.empty() && std::memcmp(seen.data(), image(i), seen.size()) != 0)
        throw Misdeed(fmt::format("changed its input '{}'", op_.tensors[i].name));
    }
    if (workspace_) workspace_->check();
  }

  // A captured launch, replayed on changed inputs, must give what a direct launch gives on them: a kernel that reads its
  // inputs at capture time, works on another stream or keeps an earlier result does not.
  void check_captured() {
    Case changed = order_.c;
    changed.seed ^= 0x9e3779b97f4a7c15u;
    std::vector<std::vector<std::byte>> images(buffers_.size()), replayed(buffers_.size());
    const auto change_inputs = [&] {
      for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Placement& p = packing_.placements[i];
        images[i].resize(p.bytes);
        if (over_[i]) continue;
        if (is_large(p.tensor) && given(i)) reverse_elements(values(i), images[i].data(), p.tensor);
        else fill_image(op_, changed, static_cast<int>(i), p, images[i].data(), kGarbage[1]);
        buffers_[i]->write(images[i].data());
      }
    };
    if (!backend_.run_captured(launcher_, problem_->args(), workspace(), change_inputs)) return;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_output(i)) continue;
      replayed[i].resize(packing_.placements[i].bytes);
      buffers_[i]->read(replayed[i].data());
    }
    reset_outputs(kGarbage[1], [&](std::size_t i) { return images[i].data(); });  // as before the replay
    backend_.run(launcher_, problem_->args(), workspace(), {});
    check_inputs([&](std::size_t i) { return images[i].data(); });
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_output(i)) continue;
      buffers_[i]->read_checked(images[i].data());
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
    for (std::size_t i = 0; kernel_.finite_inputs && i < op_.tensors.size(); ++i)
      if (given(i) && !all_finite(packing.placements[i].tensor, related->inputs.data() + packing.given[i])) return false;
    std::vector<std::shared_ptr<GuardedBuffer>> buffers;
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      const Placement& p = packing.placements[i];
      const std::optional<std::size_t> over = is_output(i) ? lies_over(op_, related->c, i) : std::nullopt;
      if (over) buffers.push_back(buffers[*over]);
      else buffers.push_back(std::make_shared<GuardedBuffer>(backend_, p.bytes, p.offset, op_.tensors[i].name));
      if (given(i)) buffers[i]->write(related->inputs.data() + packing.given[i]);
      else if (!over) buffers[i]->fill(kGarbage[0]);
      pointers.push_back(buffers[i]->data());
    }
    const std::unique_ptr<Problem> problem = op_.make();
    attach(*problem, related->c, packing.placements, pointers);
    if (!kernel_.supports(problem->args())) return false;
    std::unique_ptr<GuardedBuffer> workspace;
    if (const std::size_t bytes = kernel_.workspace_bytes(problem->args()))
      workspace = std::make_unique<GuardedBuffer>(backend_, bytes, 0, "workspace"), workspace->fill(std::byte{0xff});
    backend_.run(launcher_, problem->args(), workspace ? workspace->data() : nullptr, {});
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (is_output(i)) buffers[i]->read_checked(outputs_.data() + slot * packing_.output_bytes + packing.at[i]);
      else buffers[i]->check();
    }
    if (workspace) workspace->check();
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
  std::vector<std::shared_ptr<GuardedBuffer>> buffers_;  // of an output that lies over an input, that one's
  std::vector<std::optional<std::size_t>> over_;         // of every tensor, the input that it lies over
  std::unique_ptr<GuardedBuffer> workspace_;
  std::unique_ptr<Problem> problem_;
};

Reply execute(Backend& backend, const Order& order, int input_fd, int output_fd) {
  try {
    const Op* op = find_op(order.c.op);
    const Kernel* kernel = op ? find_kernel(order.c.op, order.kernel) : nullptr;
    if (!kernel) throw std::runtime_error("unknown kernel " + order.c.op + "/" + order.kernel);
    const Packing packing = pack(*op, order.c);
    const SharedMemory inputs(input_fd, packing.input_bytes, false);
    const SharedMemory outputs(output_fd, (kRuns + order.relations.size()) * packing.output_bytes, true);
    return Session(backend, *op, *kernel, order, packing, inputs, outputs).run();
  } catch (const Misdeed& m) {
    return {.id = order.id, .status = Reply::Status::failed, .message = m.what(), .outputs = true};
  } catch (const BackendFinding& f) {
    return {.id = order.id, .status = Reply::Status::failed, .message = f.kind + ": " + f.what()};
  } catch (const std::bad_alloc&) {
    return {.id = order.id,
            .status = Reply::Status::failed,
            .message = "asked for more memory than a worker may have",
            .tainted = true};
  } catch (const std::exception& e) {
    return {.id = order.id, .status = Reply::Status::failed, .message = e.what(), .tainted = true};
  }
}

// One message with two descriptors; false at the end of the conversation.
bool receive(std::string& text, int (&fds)[2]) {
  std::vector<char> buffer(1 << 16);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)];
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  const ssize_t n = ::recvmsg(kWorkerSocket, &message, MSG_CMSG_CLOEXEC);
  if (n <= 0) return false;
  text.assign(buffer.data(), static_cast<std::size_t>(n));
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (!head || head->cmsg_len != CMSG_LEN(sizeof fds)) return false;
  std::memcpy(fds, CMSG_DATA(head), sizeof fds);
  return true;
}

bool reply_with(const Reply& reply) {
  const std::string text = to_text(reply);
  return ::send(kWorkerSocket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// A candidate that allocates without end meets a limit of its own before the machine runs out, and where the machine does,
// the system ends the worker and not the judge.  Counted is what may be written; address space that is only reserved is not.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)  // whose shadow memory is larger than any limit
  const std::size_t most = available_memory() / 4 * 3;
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);  // a crash is a verdict, not a file in somebody's folder
}

}  // namespace

int serve(std::string_view backend_name) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN);  // the parent decides when a run ends
  limit_memory();
  std::unique_ptr<Backend> backend;
  std::string text;
  int fds[2];
  while (receive(text, fds)) {
    const Order order = order_from(text);
    Reply reply;
    try {
      if (!backend) backend = open_backend(backend_name);
      reply = execute(*backend, order, fds[0], fds[1]);
    } catch (const std::exception& e) {
      reply = {.id = order.id, .status = Reply::Status::failed, .message = e.what(), .tainted = true};
    }
    if (!reply_with(reply)) return kSocketLost;
  }
  return 0;
}

}  // namespace assay
