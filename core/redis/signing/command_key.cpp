#include "core/redis/signing/command_key.h"

// System.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
// fq, below us.
#include "core/base/assert.h"

namespace fq {

namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string CommandKey::mac(std::string_view text) const {
  std::string mac(kMacBytes, '\0');
  const unsigned char* const made =
      ::HMAC(::EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), bytes_of(text), text.size(),
             reinterpret_cast<unsigned char*>(mac.data()), nullptr);
  FQ_ASSERT(made != nullptr);
  return mac;
}

std::string CommandKey::name() const { return mac("fq: the name of this key").substr(0, kKeyNameBytes); }

std::string hash_of(std::string_view text) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  ::SHA256(bytes_of(text), text.size(), reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

bool are_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fq
