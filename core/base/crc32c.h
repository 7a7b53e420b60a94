// crc32c - the check sum of everything that fq keeps (Castagnoli polynomial, reflected).
//
// crc32c(0, "123456789") is 0xe3069283. The seed is a sum over what came before, so sums chain:
// crc32c(crc32c(0, a), b) is the sum of a and b together. Two paths give the same numbers: the processor's
// own instruction, chosen once at the start, and tables for processors without it.
#pragma once

// System.
#include <cstdint>
// fq, this room.
#include "core/base/bytes.h"

namespace fq {

uint32_t crc32c(uint32_t seed, Bytes bytes);
/// The way back: the seed with which `bytes` give `sum`.
uint32_t crc32c_seed(uint32_t sum, Bytes bytes);

/// The two paths themselves, for the test that they agree.
uint32_t crc32c_by_tables(uint32_t seed, Bytes bytes);
/// Needs: crc32c_has_hardware().
uint32_t crc32c_by_hardware(uint32_t seed, Bytes bytes);
bool crc32c_has_hardware();

}  // namespace fq
