// SPDX-License-Identifier: Apache-2.0
// Includes Catch2 2.x or 3.x: that which CMake found (ASSAY_CATCH), since a machine may have headers of both.
#pragma once

#ifndef ASSAY_CATCH
#if __has_include(<catch2/catch_test_macros.hpp>)
#define ASSAY_CATCH 3
#else
#define ASSAY_CATCH 2
#endif
#endif

#if ASSAY_CATCH == 3
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
