#ifndef ISTHMUS_COPENSSL_SHIM_H
#define ISTHMUS_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Swift does not see function-like macros. */

static inline int isthmus_ssl_set_versions(SSL_CTX *context, int minimum, int maximum) {
    return SSL_CTX_set_min_proto_version(context, minimum) && SSL_CTX_set_max_proto_version(context, maximum);
}

/* No session outlives its handshake, buffers are given back between two rounds, and the server's order of cipher suites counts. */
static inline void isthmus_ssl_restrict(SSL_CTX *context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static inline int isthmus_ssl_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

/* As RFC 4514 writes a name; negative when out of memory. */
static inline int isthmus_x509_print_name(BIO *out, const X509_NAME *name) {
    return X509_NAME_print_ex(out, name, 0, XN_FLAG_RFC2253);
}

#endif
