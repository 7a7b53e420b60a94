// replay - runs a fuzz target over kept inputs, where there is no libFuzzer: replay DIRECTORY.
//
// The first input is empty, as libFuzzer's is. An input that breaks the target ends the process.

// System.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const uint8_t nothing = 0;
  LLVMFuzzerTestOneInput(&nothing, 0);
  int inputs = 0;
  for (const auto& each : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(each.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::fprintf(stderr, "%s\n", each.path().filename().c_str());  // the last one is what broke it
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  std::printf("%d inputs\n", inputs);
  return inputs == 0 ? 1 : 0;
}
