import Foundation
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
    }
}
