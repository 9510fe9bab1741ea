// SPDX-License-Identifier: Apache-2.0
// A report as key figures and tables of text.  The HTML and Markdown writers render these.
#pragma once

#include <string>
#include <vector>

#include "validate/report/report.hpp"

namespace assay {

// One of the numbers that a report begins with.
struct Figure {
  std::string value, label, note;
  bool bad = false;
};
std::vector<Figure> figures_of(const Report&);  // at most four

// An op's ratios over its shapes: the time of the best other over ours.
struct OpStanding {
  std::string op, other;                 // other: the library that is most often the best
  std::size_t shapes = 0, faster = 0;    // faster: shapes on which ours is
  double mean = 0, least = 0, most = 0;  // the mean is geometric
};
std::vector<OpStanding> by_op(const Report&);  // the highest mean first

struct Cell {
  std::string text;                  // empty: shown as a dash
  std::vector<std::string> notes{};  // small print, in HTML only
  bool bad = false;
};
struct Table {
  struct Column {
    std::string name;
    bool number = false;
  };
  struct Row {
    std::string op;
    std::vector<Cell> cells;
  };
  std::string title;
  std::vector<Column> columns;
  std::vector<Row> rows;
};
struct Section {
  std::string id, title, about;
  std::vector<Table> tables;
  bool in_summary = false;  // also in Markdown
};
std::vector<Section> sections_of(const Report&);  // without empty sections, tables and (outside "suites") columns

// The sections that tables_counts.cpp makes.
Section traffic_section(const Report&);
Section resources_section(const Report&);
Section profiles_section(const Report&);
Section models_section(const Report&);
Section runs_section(const Report&);

inline std::string run_name(const Report& report, const RecordFile* file) {
  return "R" + std::to_string(file - report.files.data() + 1);
}
std::string margin_text(double err_per_bound);
std::string figure_text(double v);                                // three digits or more: 0.0123, 4.56, 789
std::string share_text(std::optional<double> v, int digits = 0);  // "12 %"; empty: not recorded
std::string ratio_text(double v);                                 // "1.23×"; empty for 0: unknown
std::string megabytes(std::optional<double> bytes);               // 1e6 bytes; empty: not recorded

}  // namespace assay
