import COpenSSL
import SIPCore
import Synchronization

/// One end of a TLS handshake with flights in SIP header fields: octets in, octets out, no socket.
///
/// OpenSSL draws the random numbers of the handshake, which influence only the keys. Certificates are verified for the time given by
/// the caller.
final class TLSHandshake: Sendable {
    /// The result of a finished handshake.
    struct Established: Sendable {
        var keys: TLSDSKKeys
        var peer: PeerCertificate
    }

    enum Step: Sendable {
        /// Octets for the peer; empty while a flight of the peer is incomplete.
        case more([UInt8])
        /// The handshake is finished; the octets, if any, complete it for the peer.
        case done([UInt8], Established)
        /// The handshake failed; the text is OpenSSL's.
        case failed(String)
    }

    /// Used only while `isOver` is locked.
    private nonisolated(unsafe) let connection: OpaquePointer
    private nonisolated(unsafe) let input: OpaquePointer
    private nonisolated(unsafe) let output: OpaquePointer
    private let isOver = Mutex(false)

    /// - Parameter context: Not freed; the caller may free it before the handshake ends.
    init?(context: OpaquePointer, isServer: Bool) {
        guard let connection = SSL_new(context) else { return nil }
        guard let input = BIO_new(BIO_s_mem()) else {
            SSL_free(connection)
            return nil
        }
        guard let output = BIO_new(BIO_s_mem()) else {
            BIO_free(input)
            SSL_free(connection)
            return nil
        }
        SSL_set_bio(connection, input, output)
        if isServer { SSL_set_accept_state(connection) } else { SSL_set_connect_state(connection) }
        (self.connection, self.input, self.output) = (connection, input, output)
    }

    deinit { SSL_free(connection) }

    /// Processes octets of the peer: a flight or a part of one.
    func step(_ octets: [UInt8], at now: Instant) -> Step {
        isOver.withLock { isOver in
            guard !isOver else { return .failed("the handshake is over") }
            X509_VERIFY_PARAM_set_time(SSL_get0_param(connection), Int(now.secondsSince1970))
            ERR_clear_error()
            if !octets.isEmpty, BIO_write(input, octets, Int32(clamping: octets.count)) != Int32(clamping: octets.count) {
                isOver = true
                return .failed("out of memory")
            }
            let result = SSL_do_handshake(connection)
            if result != 1, SSL_get_error(connection, result) == SSL_ERROR_WANT_READ { return .more(drain()) }
            isOver = true
            guard result == 1 else { return .failed(problem()) }
            guard let established = established() else { return .failed("the handshake gives no keys") }
            return .done(drain(), established)
        }
    }

    private func drain() -> [UInt8] {
        let count = BIO_ctrl_pending(output)
        guard count > 0 else { return [] }
        var octets = [UInt8](repeating: 0, count: count)
        let read = BIO_read(output, &octets, Int32(clamping: count))
        return TLSRecords.packed(Array(octets.prefix(Int(max(0, read)))))
    }

    private func problem() -> String {
        let verdict = SSL_get_verify_result(connection)
        if verdict != Int(X509_V_OK) { return String(cString: X509_verify_cert_error_string(verdict)) }
        return ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "the peer broke off"
    }

    private func established() -> Established? {
        guard let certificate = SSL_get0_peer_certificate(connection), let peer = PeerCertificate(certificate),
            let suite = SSL_get_current_cipher(connection), let hash = Self.hash(SSL_CIPHER_get_digest_nid(suite))
        else { return nil }
        var material = [UInt8](repeating: 0, count: TLSDSKKeys.materialLength)
        let label = TLSDSKKeys.label
        let isDone = SSL_export_keying_material(connection, &material, material.count, label, label.utf8.count, nil, 0, 0)
        return isDone == 1 ? Established(keys: TLSDSKKeys(material: material, hash: hash), peer: peer) : nil
    }

    private static func hash(_ identifier: Int32) -> HashAlgorithm? {
        switch identifier {
        case NID_sha1: .sha1
        case NID_sha256: .sha256
        default: nil
        }
    }
}
