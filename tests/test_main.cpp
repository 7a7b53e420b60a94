#define CATCH_CONFIG_MAIN
// Catch 3 has its own main in a library and other headers; both are taken.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
