// SPDX-License-Identifier: Apache-2.0
// One include for Catch2 3.x and 2.13.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
