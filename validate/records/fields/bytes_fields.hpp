// SPDX-License-Identifier: Apache-2.0
// The fields of the bytes that a kernel moves, which records of cases and of times have.
#pragma once

#include "validate/records/fields/fields.hpp"
#include "validate/worker/traffic.hpp"

namespace assay {

template <>
struct Fields<Traffic> {
  static constexpr std::string_view kDef = "counted";
  static constexpr std::string_view kAbout =
      "what a kernel moved of one tensor, counted by the machine; sectors are of 32 bytes and are there when asked for";
  template <class V, class T>
  static void visit(V& v, T& t) {
    v.required("read_bytes", t.read_bytes);
    v.required("written_bytes", t.written_bytes);
    v.required("unique_read_bytes", t.unique_read_bytes);
    v.required("unique_written_bytes", t.unique_written_bytes);
    std::optional<std::uint64_t> read, written;
    if (t.read_sectors || t.written_sectors) {
      read = t.read_sectors;
      written = t.written_sectors;
    }
    v.optional("read_sectors", read);
    v.optional("written_sectors", written);
    if constexpr (V::kReads) {
      t.read_sectors = read.value_or(0);
      t.written_sectors = written.value_or(0);
    }
  }
};

// Bytes of device memory that a case takes.
struct RecordedBytes {
  double formula = 0, unfused_formula = 0;
  std::map<std::string, Traffic> counted{};
};
template <>
struct Fields<RecordedBytes> {
  static constexpr std::string_view kDef = "bytes";
  static constexpr std::string_view kAbout =
      "of device memory: the contract's formula, that of one kernel a step, and by tensor as counted";
  template <class V, class B>
  static void visit(V& v, B& b) {
    v.required("formula", b.formula, {.form = form::kSize});
    v.required("unfused_formula", b.unfused_formula, {.form = form::kSize});
    v.optional("counted", b.counted);
  }
};

}  // namespace assay
