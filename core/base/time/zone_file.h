// zone_file - a zone by its name, from the system's time zone database.
//
// The one place that opens its files. `directory` is where it lies; none is kSystemZones.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/base/time/zone.h"

namespace fq {

inline constexpr std::string_view kSystemZones = "/usr/share/zoneinfo";
inline constexpr size_t kZoneNameBytesMax = 64;

/// "Europe/Berlin", "UTC" or a rule as in TZ. ErrorKind::usage: there is no such zone; ErrorKind::config:
/// there is no database, or its file cannot be read.
Result<Zone> load_zone(std::string_view name, const std::string& directory = {});

/// Whether the C library takes this file for a zone: another one is UTC to it, without a word.
bool is_zone_file(const std::string& path);

/// The zone that /etc/localtime names, or "UTC" where it names none.
std::string system_zone_name();

}  // namespace fq
