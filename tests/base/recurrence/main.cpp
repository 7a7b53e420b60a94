// Lines "SPEC<TAB>ZONE<TAB>SECONDS" in, for each the first time after those seconds out, or "none": for
// cron_times_test.py, which holds it against another implementation.
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "core/base/time/recurrence.h"
#include "core/base/time/zone_file.h"

int main() {
  std::map<std::string, fq::Zone> zones;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t zone_at = line.find('\t') + 1;
    const size_t seconds_at = line.find('\t', zone_at) + 1;
    const std::string name = line.substr(zone_at, seconds_at - 1 - zone_at);
    if (!zones.contains(name)) zones.emplace(name, fq::load_zone(name).value());
    const auto recurrence = fq::Recurrence::parse(line.substr(0, zone_at - 1));
    if (!recurrence.ok()) {
      std::cout << recurrence.error().text << '\n';
      continue;
    }
    const auto next = recurrence->next(std::atoll(line.c_str() + seconds_at) * 1000, zones.at(name), 0);
    std::cout << (next ? std::to_string(*next / 1000) : "none") << '\n';
  }
}
