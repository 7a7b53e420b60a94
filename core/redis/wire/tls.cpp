#include "core/redis/wire/tls.h"

// System.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"

namespace fq {

namespace {

constexpr size_t kSealedBytes = 16 * 1024;  // of one record

Error config(std::string_view name, const std::string& path, std::string_view what) {
  return Error{ErrorKind::config, std::string(name) + ": " + in_quotes(path) + ": " + std::string(what), 0};
}

/// What OpenSSL says of its last fault, and forgets.
std::string last_fault() {
  const unsigned long code = ::ERR_get_error();
  ::ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  return reason == nullptr ? "unknown" : reason;
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<void> trust(SSL_CTX* context, const std::string& ca) {
  if (ca.empty()) {
    if (::SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return Error{ErrorKind::unusable,
                 "TLS: there are no certificates of this machine; name some in FQ_REDIS_CA", 0};
  }
  const bool is_whole_directory = is_directory(ca);
  const int loaded = ::SSL_CTX_load_verify_locations(context, is_whole_directory ? nullptr : ca.c_str(),
                                                     is_whole_directory ? ca.c_str() : nullptr);
  return loaded == 1 ? Result<void>() : config("FQ_REDIS_CA", ca, "has no certificate that can be read");
}

Result<void> name_us(SSL_CTX* context, const TlsFiles& files) {
  if (files.certificate.empty() && files.key.empty()) return {};
  if (files.key.empty())
    return config("FQ_REDIS_CERT", files.certificate, "needs its key, too; name that in FQ_REDIS_KEY");
  if (files.certificate.empty())
    return config("FQ_REDIS_KEY", files.key, "needs its certificate, too; name that in FQ_REDIS_CERT");
  if (::SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    return config("FQ_REDIS_CERT", files.certificate, "has no certificate that can be read");
  // A key with a pass phrase would ask for it on the terminal.
  ::SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  if (::SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return config("FQ_REDIS_KEY", files.key, "has no key that can be read, or one of another certificate");
  return {};
}

bool want(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* const terms = ::SSL_get0_param(ssl);
  if (::X509_VERIFY_PARAM_set1_ip_asc(terms, host.c_str()) == 1) return true;
  ::ERR_clear_error();  // it is a name
  // What SSL_set_tlsext_host_name is, less its cast.
  std::string name = host;
  return ::SSL_set1_host(ssl, host.c_str()) == 1 &&
         ::SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

}  // namespace

Result<std::unique_ptr<Tls>> Tls::make(const TlsFiles& files, const std::string& host) {
  const std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context(::SSL_CTX_new(::TLS_client_method()),
                                                                    ::SSL_CTX_free);
  if (!context || ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return Error{ErrorKind::unusable, "TLS: " + last_fault(), 0};
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  Result<void> usable = trust(context.get(), files.ca);
  if (usable) usable = name_us(context.get(), files);
  ::ERR_clear_error();
  FQ_TRY(std::move(usable));
  SSL* const ssl = ::SSL_new(context.get());
  BIO* const in = ::BIO_new(::BIO_s_mem());
  BIO* const out = ::BIO_new(::BIO_s_mem());
  if (ssl == nullptr || in == nullptr || out == nullptr || !want(ssl, host)) {
    ::SSL_free(ssl);
    ::BIO_free(in);
    ::BIO_free(out);
    return Error{ErrorKind::unusable, "TLS: " + last_fault(), 0};
  }
  ::SSL_set_bio(ssl, in, out);
  ::SSL_set_connect_state(ssl);
  return std::unique_ptr<Tls>(new Tls(ssl, in, out));
}

Tls::~Tls() { ::SSL_free(ssl_); }

Result<bool> Tls::greet() {
  const int done = ::SSL_do_handshake(ssl_);
  if (done == 1) return true;
  const int why = ::SSL_get_error(ssl_, done);
  if (why == SSL_ERROR_WANT_READ) return false;
  const long verdict = ::SSL_get_verify_result(ssl_);
  const std::string fault = last_fault();
  if (verdict != X509_V_OK)
    return Error{
        ErrorKind::unusable,
        std::string("its certificate is not to be trusted: ") + ::X509_verify_cert_error_string(verdict), 0};
  return Error{ErrorKind::unusable, "TLS: " + fault, 0};
}

Result<void> Tls::seal(std::string_view bytes) {
  while (!bytes.empty()) {
    size_t written = 0;
    const size_t piece = std::min(bytes.size(), kSealedBytes);
    if (::SSL_write_ex(ssl_, bytes.data(), piece, &written) != 1)
      return Error{ErrorKind::io, "TLS: " + last_fault(), 0};
    bytes.remove_prefix(written);
  }
  return {};
}

std::string Tls::take_sealed() {
  std::string bytes(::BIO_ctrl_pending(out_), '\0');
  const int taken = bytes.empty() ? 0 : ::BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()));
  bytes.resize(taken > 0 ? static_cast<size_t>(taken) : 0);
  return bytes;
}

Result<void> Tls::put_sealed(std::string_view bytes) {
  // A memory takes all of it, or there is none left.
  const bool is_taken =
      ::BIO_write(in_, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
  return is_taken ? Result<void>() : Error{ErrorKind::io, "TLS: " + last_fault(), 0};
}

Result<bool> Tls::open(std::string& to) {
  char piece[kSealedBytes];
  size_t got = 0;
  const int done = ::SSL_read_ex(ssl_, piece, sizeof piece, &got);
  if (done == 1) {
    to.append(piece, got);
    return true;
  }
  const int why = ::SSL_get_error(ssl_, done);
  if (why == SSL_ERROR_WANT_READ) return false;
  const std::string fault = last_fault();
  if (why == SSL_ERROR_ZERO_RETURN) return Error{ErrorKind::io, "closed the connection", 0};
  return Error{ErrorKind::io, "TLS: " + fault, 0};
}

}  // namespace fq
