import EnhancedPresence
import PresenceDocuments
import PresenceGateway
import Registration
import SIPCore
import SIPEvents
import XMLCore

private let now = Instant(secondsSince1970: 1_700_000_000)
private let limits = GatewayLimits()

/// Table of bindings with the default limits, and the REGISTERs that fill it.
private struct Bindings {
    var registrar = Registrar(
        policy: Registrar.Policy(
            expiry: ExpiryPolicy(minimum: 60, standard: 7_200, maximum: 86_400), bindingsPerUser: limits.registrationsPerUser,
            bindings: limits.registrations, connectionGrace: .seconds(20)))
    private let source = MessageSource(
        local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.30", 40_000),
        connection: ConnectionID(rawValue: 1))

    /// Sends a REGISTER of a user with some Contacts; returns false when the user has too many (403), true otherwise.
    mutating func register(_ user: Int, contacts: Range<Int>) -> Bool {
        let uri = "sip:u\(user)@example.com"
        var request = SIPRequest(.register, requestURI: "sip:example.com")
        request.headers.append(.from, "<\(uri)>;tag=1")
        request.headers.append(.to, "<\(uri)>")
        request.headers.append(.callID, "c\(user)-\(contacts.lowerBound)")
        request.headers.append(.cSeq, "1 REGISTER")
        request.headers.append(.contact, contacts.map { "<sip:u\(user)@192.0.2.30:\(40_000 + $0)>" }.joined(separator: ", "))
        do throws(RegistrationRefusal) {
            _ = try registrar.register(RegistrationRequest(request, model: .simple), user: uri, from: source, at: now)
        } catch {
            return error.status != .forbidden
        }
        return true
    }

    /// Creates a table of users with one binding each.
    init(users: Int = 0) {
        for user in 0..<users { _ = register(user, contacts: 0..<1) }
    }
}

/// Applies a patch (RFC 5262); returns false when a limit refuses it, true otherwise.
private func isTaken(_ patch: [UInt8], after document: [UInt8]) -> Bool {
    do throws(PartialPIDFError) { _ = try PartialPIDFDocument(patch).document(after: document) } catch {
        if case .patch(let error) = error { return error.condition != .limit }
    }
    return true
}

private func patch(_ operations: String) -> [UInt8] {
    Array(
        ("<p:pidf-diff xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\" version=\"2\">\(operations)"
            + "</p:pidf-diff>").utf8)
}

private func pidfBytes(_ content: String) -> [UInt8] {
    Array("<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:kai@example.com\">\(content)</presence>".utf8)
}

extension Construct {
    static let registrations: [Construct] = [
        Construct("registrations: users one after the other", from: 500) { size in
            var bindings = Bindings()
            return {
                for user in 0..<size { _ = bindings.register(user, contacts: 0..<1) }
                return bindings.registrar.count == size
            }
        },
        Construct("registrations: users whose registrations expire", from: 500) { size in
            var bindings = Bindings(users: size)
            return { bindings.registrar.advance(to: now + .seconds(7_200)).count == size }
        },
        Construct("registrations: users of a connection that closes", from: 500) { size in
            var bindings = Bindings(users: size)
            return {
                bindings.registrar.connectionClosed(ConnectionID(rawValue: 1), at: now)
                return bindings.registrar.advance(to: now + .seconds(20)).count == size
            }
        },
    ]

    /// Work that grows faster than linear, or could, up to a limit of the default configuration.
    static let bounds: [Construct] = [
        .bounded("registrations: endpoints of one user", by: "registrationsPerUser (16, then 403)", from: 8) { size in
            var bindings = Bindings()
            return { (0..<size).allSatisfy { bindings.register(1, contacts: $0..<$0 + 1) } }
        },
        .bounded("registrations: Contacts of one REGISTER", by: "registrationsPerUser (16, then 403)", from: 8) { size in
            var bindings = Bindings()
            return { bindings.register(1, contacts: 0..<size) }
        },
        .bounded("enhanced presence: delegates added one after the other", by: "delegateLimit (25, then 413)", from: 16) { size in
            let bob = "sip:bob@contoso.com"
            let endpoint = PublishingEndpoint(from: bob, to: bob, endpointID: "e1", isRegistered: true)
            return {
                var presentity = EnhancedPresentity(uri: bob)
                for number in 0..<size {
                    let change = DelegateChange(uri: "sip:u\(number)@contoso.com", action: .add, mayPublish: true)
                    let request = SetDelegatesDocument(version: presentity.delegates.version, change: change)
                    do throws(EnhancedPresenceRefusal) {
                        _ = try presentity.setDelegates(request, by: endpoint) { _ in true }
                    } catch {
                        return error.status != 413
                    }
                }
                return presentity.delegates.entries.count == size
            }
        },
        .bounded("content coding: octets of a decoded body", by: "body-bytes (262,144, then 413)", from: 100_000) { size in
            let body = ContentCoding.gzip.encode([UInt8](repeating: 0x20, count: size))
            return {
                do throws(ContentCoding.Failure) {
                    _ = try ContentCoding.decode(body, codings: ["gzip"], limit: limits.bodyBytes)
                } catch {
                    return error != .tooLarge
                }
                return true
            }
        },
        .bounded("partial PIDF: operations of one patch", by: "500 operations of a patch", from: 200) { size in
            let operations = patch((0..<size).map { "<p:add sel=\"*\"><note>\($0)</note></p:add>" }.joined())
            return { isTaken(operations, after: pidfBytes("<note>x</note>")) }
        },
        .bounded("partial PIDF: operations that look at every element", by: "1,000,000 visits of a patch", from: 60) { size in
            let before = pidfBytes("<note>x</note>" + String(repeating: "<x/>", count: size * 20))
            let operations = patch((0..<size).map { "<p:replace sel=\"*/note/text()\">\($0)</p:replace>" }.joined())
            return { isTaken(operations, after: before) }
        },
    ]
}
