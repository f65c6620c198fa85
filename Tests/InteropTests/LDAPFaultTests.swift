import Foundation
import SIPSecurity
import Testing

@testable import LDAPDirectory

extension RealSockets {
    /// Faults of directory servers and settings that need no OpenLDAP.
    @Suite(.timeLimit(.minutes(10))) struct LDAPFaultTests {
        private func refusal(of settings: LDAPSettings) async throws -> LDAPFailure {
            guard case .failure(let failure) = await LDAPDirectoryInteropTests.read(settings) else {
                throw PeerError(description: "the read succeeded")
            }
            return failure
        }

        @Test("RFC 2696: a server that sends empty pages with a cookie for ever is a failure that names the limit")
        func emptyPages() async throws {
            let server = try EmptyPagesServer()
            defer { server.stop() }
            let failure = try await refusal(of: LDAPSettings(url: "ldap://127.0.0.1:\(server.port)", base: "dc=contoso,dc=com"))
            #expect(failure.operation == "search")
            #expect(failure.reason == "more than 100 pages without an entry: the server does not end the search")
        }

        @Test("a page without an entry counts toward its limit, and pages with entries toward the limit of entries")
        func paging() throws {
            var paging = LDAPPaging(entryLimit: 250)
            for _ in 0..<LDAPPaging.emptyPageLimit { try paging.count(0) }
            for _ in 0..<250 { try paging.count(1) }
            var full = paging
            #expect(throws: LDAPFailure(operation: "search", reason: "more than 250 entries")) { try full.count(1) }
            #expect(throws: LDAPFailure.self) { try paging.count(0) }
        }

        @Test(
            "RFC 4513 5.1.2: a bind DN without a password is refused before a connection, for it would be an unauthenticated bind",
            arguments: ["", "\n", "\r\n", "\nsecret\n", nil])
        func unauthenticatedBind(text: String?) async throws {
            let scratch = try ScratchDirectory("ldap")
            defer { scratch.remove() }
            let server = try EmptyPagesServer()
            defer { server.stop() }
            var settings = LDAPSettings(url: "ldap://127.0.0.1:\(server.port)", base: "dc=contoso,dc=com")
            settings.bindDN = "cn=isthmus,dc=contoso,dc=com"
            if let text { settings.passwordFile = try scratch.write(text, to: "password").path }
            let failure = try await refusal(of: settings)
            #expect(failure.operation == "bind" && failure.reason.contains("RFC 4513 5.1.2"), "\(failure)")
        }

        @Test("a finding about a certificate claims what was examined: an intermediate or the system's roots are not an unknown CA")
        func findings() async throws {
            let scratch = try ScratchDirectory("ldap")
            defer { scratch.remove() }
            let certificates = try await PartnerCertificates(in: scratch)
            var settings = LDAPSettings(url: "ldaps://sip.contoso.com", base: "dc=contoso,dc=com")
            func finding(_ name: String) throws -> LDAPSettings.CertificateFinding {
                let text = [UInt8](try Data(contentsOf: certificates.certificate(name)))
                return settings.finding(in: try #require(Certificate.all(inPEM: text).first), at: HostMoment.now)
            }
            func unknown(_ name: String, _ words: String) throws {
                let result = try finding(name)
                guard case .unknown(let text) = result else {
                    Issue.record("\(name): \(result)")
                    return
                }
                #expect(text.contains(words) && text.contains("is valid now and proves the name sip.contoso.com"), "\(text)")
                #expect(!text.contains("unknown CA"))
            }
            func fault(_ name: String, _ words: String) throws {
                let result = try finding(name)
                guard case .fault(let text) = result else {
                    Issue.record("\(name): \(result)")
                    return
                }
                #expect(text.contains(words), "\(text)")
            }
            try unknown("contoso", "was not compared with the system's roots")
            try unknown("self-signed", "was not compared with the system's roots")
            try fault("expired", "has expired")
            settings.trust = certificates.roots.path
            try unknown("contoso", "is issued by a root of")
            for name in ["chained", "chained-expired", "foreign"] {
                try unknown(name, "the server's intermediate certificates were not examined")
            }
            try fault("self-signed", "is self-signed and no root of \(certificates.roots.path) (unknown CA)")
            try fault("wrong-name", "(name mismatch)")
            try fault("client-only", "extendedKeyUsage is not for servers")
        }
    }
}
