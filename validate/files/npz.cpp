// SPDX-License-Identifier: Apache-2.0
// .npz: a zip file of .npy members, stored or deflated.  Only the directory at its end is trusted to say where members lie.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "validate/base/error.hpp"
#include "validate/base/memory.hpp"
#include "validate/files/formats.hpp"

namespace assay {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::uint64_t kMostMembers = 65'536, kMostRatio = 1032;  // of deflate: what 258 bytes take at least
constexpr std::uint32_t kIn64 = 0xffffffff;                        // the value is in the field for large files

// The bytes of a file, read at any place of it.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> all) : all_(all) {}
  std::uint64_t size() const { return all_.size(); }
  template <class T>
  T at(std::uint64_t place) const {
    T v{};
    std::memcpy(&v, part(place, sizeof v).data(), sizeof v);
    return v;
  }
  std::span<const std::byte> part(std::uint64_t begin, std::uint64_t bytes) const {
    if (begin > size() || bytes > size() - begin)
      throw BadInput(fmt::format("it has {} bytes, and its directory names {} from byte {} on", size(), bytes, begin));
    return all_.subspan(begin, bytes);
  }

 private:
  std::span<const std::byte> all_;
};

struct Member {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t sum = 0;
  std::uint64_t packed = 0, bytes = 0, local = 0, begin = 0;
};

struct Directory {
  std::uint64_t begin = 0, bytes = 0, members = 0;
};

// Finds the end of the directory, which a comment of up to 64 KiB may follow.
Directory directory_of(const Bytes& file) {
  for (std::uint64_t comment = 0; comment <= 0xffff && comment + kEndBytes <= file.size(); ++comment) {
    const std::uint64_t at = file.size() - kEndBytes - comment;
    if (file.at<std::uint32_t>(at) != kEnd || file.at<std::uint16_t>(at + 20) != comment) continue;
    Directory d{file.at<std::uint32_t>(at + 16), file.at<std::uint32_t>(at + 12), file.at<std::uint16_t>(at + 10)};
    if (at >= kLocator64Bytes && file.at<std::uint32_t>(at - kLocator64Bytes) == kLocator64) {
      const auto large = file.at<std::uint64_t>(at - kLocator64Bytes + 8);
      if (file.part(large, kEnd64Bytes); file.at<std::uint32_t>(large) != kEnd64)
        throw BadInput("its end of the directory is damaged");
      d = {file.at<std::uint64_t>(large + 48), file.at<std::uint64_t>(large + 40), file.at<std::uint64_t>(large + 32)};
    }
    if (d.members > kMostMembers)
      throw BadInput(fmt::format("it has {} members, and at most {} are taken", d.members, kMostMembers));
    file.part(d.begin, d.bytes);
    return d;
  }
  throw BadInput("it begins as a zip file and has no directory at its end");
}

// The sizes and the place of a large member are in an extra field.
void read_large(const Bytes& file, std::uint64_t at, std::uint64_t bytes, Member& m) {
  for (const std::uint64_t end = at + bytes; at + 4 <= end;) {
    const auto id = file.at<std::uint16_t>(at);
    const std::uint64_t begin = at + 4, next = begin + file.at<std::uint16_t>(at + 2);
    if (next > end) break;
    std::uint64_t value = begin;
    for (std::uint64_t* field : {&m.bytes, &m.packed, &m.local})
      if (id == 1 && *field == kIn64 && value + 8 <= next) {
        *field = file.at<std::uint64_t>(value);
        value += 8;
      }
    at = next;
  }
}

std::vector<Member> members_of(const Bytes& file) {
  const Directory d = directory_of(file);
  std::vector<Member> all;
  std::uint64_t at = d.begin;
  for (std::uint64_t k = 0; k < d.members; ++k) {
    if (at + kEntryBytes > d.begin + d.bytes || file.at<std::uint32_t>(at) != kEntry)
      throw BadInput(fmt::format("its directory has {} members by its end, and {} are there", d.members, k));
    const auto name = file.at<std::uint16_t>(at + 28), extra = file.at<std::uint16_t>(at + 30);
    const std::span<const std::byte> text = file.part(at + kEntryBytes, name);
    Member m{.name = {reinterpret_cast<const char*>(text.data()), text.size()},
             .flags = file.at<std::uint16_t>(at + 8),
             .method = file.at<std::uint16_t>(at + 10),
             .sum = file.at<std::uint32_t>(at + 16),
             .packed = file.at<std::uint32_t>(at + 20),
             .bytes = file.at<std::uint32_t>(at + 24),
             .local = file.at<std::uint32_t>(at + 42)};
    file.part(at + kEntryBytes + name, extra);
    read_large(file, at + kEntryBytes + name, extra, m);
    file.part(m.local, kLocalBytes);
    if (file.at<std::uint32_t>(m.local) != kLocal)
      throw BadInput(fmt::format("there is no member where '{}' should begin", m.name));
    m.begin = m.local + kLocalBytes + file.at<std::uint16_t>(m.local + 26) + file.at<std::uint16_t>(m.local + 28);
    file.part(m.begin, m.packed);
    all.push_back(std::move(m));
    at += kEntryBytes + name + extra + file.at<std::uint16_t>(at + 32);
  }
  return all;
}

// Members neither share a name nor lie in each other.
void require_apart(const std::vector<Member>& all) {
  std::vector<const Member*> in_order;
  for (const Member& m : all) in_order.push_back(&m);
  std::sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->name < b->name; });
  for (std::size_t k = 1; k < in_order.size(); ++k)
    if (in_order[k - 1]->name == in_order[k]->name) throw BadInput(fmt::format("it has '{}' twice", in_order[k]->name));
  std::sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->local < b->local; });
  for (std::size_t k = 1; k < in_order.size(); ++k)
    if (in_order[k - 1]->begin + in_order[k - 1]->packed > in_order[k]->local)
      throw BadInput(fmt::format("'{}' lies where another member does", in_order[k]->name));
}

// The bytes of a member: as they lie in the file, or unpacked into memory that `to` owns.
std::span<const std::byte> unpacked(const Bytes& file, const Member& m, TensorFile& to) {
  std::span<const std::byte> packed = file.part(m.begin, m.packed);
  if (m.method == 0) return packed;
  if (m.bytes / kMostRatio > m.packed || m.bytes > available_memory())
    throw BadInput(fmt::format("its {} bytes are said to unpack to {}, for which there is no room", m.packed, m.bytes));
  const auto room = std::make_shared<std::vector<std::byte>>(m.bytes);
  z_stream z{};
  if (::inflateInit2(&z, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  std::span<std::byte> free = *room;
  int state = Z_OK;
  while (state == Z_OK) {  // zlib counts in 32 bits
    constexpr std::size_t kPart = std::size_t{1} << 30;
    const auto in = static_cast<uInt>(std::min(packed.size(), kPart)), out = static_cast<uInt>(std::min(free.size(), kPart));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    z.avail_in = in;
    z.next_out = reinterpret_cast<Bytef*>(free.data());
    z.avail_out = out;
    state = ::inflate(&z, Z_NO_FLUSH);
    packed = packed.subspan(in - z.avail_in);
    free = free.subspan(out - z.avail_out);
  }
  ::inflateEnd(&z);
  if (state != Z_STREAM_END || !free.empty() || !packed.empty()) throw BadInput("its deflated bytes are damaged");
  to.memory.push_back(room);
  return *room;
}

// Note: zlib takes no bytes at no address for the wish to begin anew.
std::uint32_t sum_of(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  if (bytes.empty()) return before;
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
void put(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A zip file that is being made of stored members.
class Zip {
 public:
  Zip(std::deque<std::string>& own, std::vector<std::string_view>& pieces) : own_(own), pieces_(pieces) {}

  void add(const std::string& name, const std::string& header, std::span<const std::byte> data) {
    const std::uint64_t bytes = header.size() + data.size();
    if (bytes + end_ >= kIn64) throw BadInput("an .npz of 4 GiB or more is not written; .safetensors has no such limit");
    const std::uint32_t sum = sum_of(data, sum_of(std::as_bytes(std::span(header))));
    const std::string file = name + ".npy";
    std::string both;  // what an entry and a local header have in common
    for (const int word : {20, 0, 0, 0, 0x21}) put(both, static_cast<std::uint16_t>(word));  // version, flags, method, time, date
    put(both, sum);
    put(both, static_cast<std::uint32_t>(bytes));
    put(both, static_cast<std::uint32_t>(bytes));
    put(both, static_cast<std::uint16_t>(file.size()));
    put(both, std::uint16_t{0});
    put(directory_, kEntry);
    put(directory_, std::uint16_t{20});
    directory_ += both;
    directory_.append(10, '\0');
    put(directory_, static_cast<std::uint32_t>(end_));
    directory_ += file;
    std::string local;
    put(local, kLocal);
    local += both + file + header;
    write(std::move(local));
    pieces_.emplace_back(reinterpret_cast<const char*>(data.data()), data.size());
    end_ += data.size();
    ++members_;
  }

  void finish() {
    std::string text = directory_;
    put(text, kEnd);
    put(text, std::uint32_t{0});
    put(text, members_);
    put(text, members_);
    put(text, static_cast<std::uint32_t>(directory_.size()));
    put(text, static_cast<std::uint32_t>(end_));
    put(text, std::uint16_t{0});
    write(std::move(text));
  }

 private:
  void write(std::string text) {
    end_ += text.size();
    pieces_.emplace_back(own_.emplace_back(std::move(text)));
  }
  std::deque<std::string>& own_;
  std::vector<std::string_view>& pieces_;
  std::string directory_;
  std::uint64_t end_ = 0;
  std::uint16_t members_ = 0;
};

}  // namespace

TensorFile npz_in(std::span<const std::byte> bytes) {
  const Bytes file(bytes);
  const std::vector<Member> members = members_of(file);
  require_apart(members);
  TensorFile to;
  for (const Member& m : members) try {
      if (!m.name.ends_with(".npy")) throw BadInput("it is no .npy file");
      if (m.flags & 1) throw BadInput("it is encrypted");
      if (m.method != 0 && m.method != 8)
        throw BadInput(fmt::format("it is packed by method {}, and 0 and 8 are read", m.method));
      if (m.method == 0 && m.packed != m.bytes)
        throw BadInput(fmt::format("it is stored in {} bytes and said to have {}", m.packed, m.bytes));
      const std::span<const std::byte> member = unpacked(file, m, to);
      if (sum_of(member) != m.sum) throw BadInput("its bytes have another checksum than its directory says");
      add_npy(m.name.substr(0, m.name.size() - 4), member, to);
    } catch (const BadInput& e) {
      throw BadInput(fmt::format("'{}': {}", m.name, e.what()));
    }
  return to;
}

void npz_pieces(const TensorFile& file, std::deque<std::string>& own, std::vector<std::string_view>& pieces) {
  Zip zip(own, pieces);
  for (const auto& [name, text] : file.metadata) {
    if (file.find(name)) continue;
    std::string wide;  // UTF-32
    for (const char c : text) put(wide, static_cast<std::uint32_t>(static_cast<unsigned char>(c)));
    zip.add(name, npy_header(fmt::format("<U{}", text.size()), {}) + wide, {});
  }
  for (const FileTensor& t : file.tensors) {
    const std::string_view descr = t.known == f16    ? "<f2"
                                   : t.known == bf16 ? "<u2"
                                   : t.known == f32  ? "<f4"
                                   : t.known == f64  ? "<f8"
                                   : t.known == i32  ? "<i4"
                                   : t.known == i64  ? "<i8"
                                   : t.known == i8   ? "|i1"
                                                     : "|u1";
    zip.add(t.name, npy_header(descr, t.shape), t.data);
  }
  zip.finish();
}

}  // namespace assay
