// tls - what goes over a wire, sealed: OpenSSL between two memories. It touches no socket.
//
// The certificate of the other side and its name are always verified; nothing turns that off.
#pragma once

// System.
#include <memory>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/redis/wire/redis_place.h"

struct ssl_st;
struct bio_st;

namespace fq {

class Tls {
 public:
  /// `host`: whose certificate is wanted, a name or an address. ErrorKind::config: one of the files cannot be
  /// used.
  static Result<std::unique_ptr<Tls>> make(const TlsFiles& files, const std::string& host);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  /// One more piece of the greeting: true when it is done. ErrorKind::unusable: the other side is not to be
  /// trusted, or does not trust us.
  Result<bool> greet();
  Result<void> seal(std::string_view bytes);
  /// What is to be sent now.
  std::string take_sealed();
  /// What came.
  Result<void> put_sealed(std::string_view bytes);
  /// Appends what of it is there to `to`; false: nothing now. An Error: the other side says that it ends.
  Result<bool> open(std::string& to);

 private:
  Tls(ssl_st* ssl, bio_st* in, bio_st* out) : ssl_(ssl), in_(in), out_(out) {}

  ssl_st* ssl_;
  bio_st* in_;  // both are ssl_'s
  bio_st* out_;
};

}  // namespace fq
