// journal_name - the names in journal/ that are ours. Everything else there is reported and left alone.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

inline constexpr const char* kJournalDirectory = "journal";
/// Keeps "the next number" from overflowing. Far away: 2^31 files of 512 KiB are a petabyte of records.
inline constexpr uint32_t kJournalNumberMax = INT32_MAX;

/// The number of "7.fqj"; none for any other spelling ("07.fqj", "+7.fqj", "7.fqj~").
std::optional<uint32_t> parse_journal_name(std::string_view name);
/// Whether this is the name that a file has while it is made: "new-7.tmp".
bool is_temporary_name(std::string_view name);
/// "journal/new-7.tmp"
std::string temporary_name(uint32_t number);

}  // namespace fq
