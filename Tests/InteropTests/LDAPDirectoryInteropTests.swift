import Foundation
import LDAPDirectory
import Logging
import PresenceDocuments
import SIPCore
import SIPSecurity
import SIPTransport
import Synchronization
import Testing
import UserDirectory

@testable import GatewayService
@testable import isthmus

extension RealSockets {
    /// Users read from OpenLDAP.
    @Suite(.enabled(if: PeerPrograms.areReady(PeerPrograms.slapd, PeerPrograms.ldapmodify)), .timeLimit(.minutes(10)))
    struct LDAPDirectoryInteropTests {
        static let domains: Set<String> = ["contoso.com"]
        static let moment = DateTime(nanosecondsSince1970: 1_700_000_000_000_000_000)

        static func settings(_ slapd: Slapd) -> LDAPSettings {
            var settings = LDAPSettings(url: slapd.url, base: Slapd.base)
            settings.filter = "(objectClass=inetOrgPerson)"
            settings.bindDN = Slapd.manager
            settings.passwordFile = slapd.passwordFile
            settings.timeout = 5
            settings.attributes[.uri] = "labeledURI"
            settings.attributes[.text(.account)] = "uid"
            settings.attributes[.text(.company)] = "o"
            settings.attributes[.enabled] = "employeeType"
            settings.attributes[.verifiers] = "description"
            return settings
        }

        static func read(_ settings: LDAPSettings) async -> LDAPRefresher.Outcome {
            let (outcomes, continuation) = AsyncStream.makeStream(of: LDAPRefresher.Outcome.self)
            let refresher = LDAPRefresher(settings, domains: domains) { continuation.yield($0) }
            defer { refresher.stop() }
            for await outcome in outcomes { return outcome }
            return .failure(LDAPFailure(operation: "test", reason: "no outcome"))
        }

        @Test("every user is read, page by page, with the fields of the attribute map; entries that are no users are left out by name")
        func reads() async throws {
            let scratch = try ScratchDirectory("ldap")
            defer { scratch.remove() }
            let verifiers =
                "v1 bob contoso.com nt=\(String(repeating: "a", count: 32)) md5=\(String(repeating: "b", count: 32)) "
                + "sha256=\(String(repeating: "c", count: 64))"
            var entries =
                Slapd.entry(
                    "bob",
                    "displayName: Bob Bäker\nmail: bob@contoso.com\ntelephoneNumber: +1 555 0100\no: Contoso\nl: Springfield\n"
                        + "employeeType: TRUE\ndescription: \(verifiers)\n")
                + Slapd.entry("carol", "employeeType: FALSE\n") + Slapd.entry("dan", "mail: no address\n")
                + "dn: uid=erin,\(Slapd.base)\nobjectClass: inetOrgPerson\nuid: erin\nsn: erin\ncn: erin\nlabeledURI: sip:erin@fabrikam.com\n\n"
                + "dn: uid=frank,\(Slapd.base)\nobjectClass: inetOrgPerson\nuid: frank\nsn: frank\ncn: frank\nlabeledURI: not a user\n\n"
                + "dn: uid=bob2,\(Slapd.base)\nobjectClass: inetOrgPerson\nuid: bob2\nsn: bob\ncn: bob\nlabeledURI: sip:bob@CONTOSO.com\n\n"
            for number in 0..<250 { entries += Slapd.entry("user\(number)") }
            let slapd = try await Slapd(in: scratch, entries: entries)
            var settings = Self.settings(slapd)
            settings.pageSize = 40
            settings.passwordFile = try scratch.write("\(Slapd.password)\r\nnot this\r\n", to: "windows.password").path
            let snapshot = try await Self.read(settings).get()
            #expect(snapshot.directory.count == 253)
            let bob = try #require(snapshot.directory["sip:bob@contoso.com"])
            #expect(bob.displayName == "Bob Bäker")
            #expect(bob.email == "bob@contoso.com")
            #expect(bob.phone == "+1 555 0100")
            #expect(bob[.company] == "Contoso" && bob[.city] == "Springfield")
            #expect(bob.verifiers?.text == verifiers)
            #expect(snapshot.directory.enabledUser("sip:carol@contoso.com") == nil)
            #expect(snapshot.directory["sip:dan@contoso.com"] != nil && snapshot.directory["sip:dan@contoso.com"]?.email == nil)
            #expect(snapshot.problemCount == 3)
            for name in ["uid=dan", "uid=frank", "uid=bob"] { #expect(snapshot.problems.contains { $0.hasPrefix(name) }, "\(name)") }
            await slapd.stop()
        }

        @Test("a wrong password, base or filter, too many entries and a dead server are failures that say what was being done")
        func failures() async throws {
            let scratch = try ScratchDirectory("ldap")
            defer { scratch.remove() }
            let slapd = try await Slapd(in: scratch, entries: Slapd.entry("bob") + Slapd.entry("carol"))
            let good = Self.settings(slapd)
            let wrong = try scratch.write("wrong\n", to: "wrong").path
            let empty = try scratch.write("\n", to: "empty").path
            let cases: [(String, String, (inout LDAPSettings) -> Void)] = [
                ("bind", "Invalid credentials", { $0.passwordFile = wrong }),
                ("bind", "cannot be read", { $0.passwordFile = "/no/such/file" }),
                ("bind", "no password in its first line", { $0.passwordFile = empty }),
                ("search", "No such object", { $0.base = "dc=fabrikam,dc=com" }),
                ("search", "Bad search filter", { $0.filter = "(((" }),
                ("search", "more than 1 entries", { $0.entryLimit = 1 }),
                ("STARTTLS", "", { $0.startTLS = true }),
            ]
            for (operation, reason, change) in cases {
                var settings = good
                change(&settings)
                guard case .failure(let failure) = await Self.read(settings) else {
                    Issue.record("\(operation) did not fail")
                    continue
                }
                #expect(failure.operation == operation && (reason.isEmpty || failure.reason.contains(reason)), "\(failure)")
            }
            await slapd.stop()
            guard case .failure(let failure) = await Self.read(good) else { throw PeerError(description: "a dead server answered") }
            #expect(failure.operation == "bind" && failure.reason.contains("contact"))
        }

        @Test("STARTTLS encrypts with a server whose certificate is trusted, and refuses one whose is not")
        func startTLS() async throws {
            let scratch = try ScratchDirectory("ldap")
            defer { scratch.remove() }
            let slapd = try await Slapd(in: scratch, entries: Slapd.entry("bob"), isEncrypted: true)
            var settings = Self.settings(slapd)
            settings.startTLS = true
            guard case .failure(let failure) = await Self.read(settings) else {
                throw PeerError(description: "an unknown certificate was trusted")
            }
            #expect(failure.operation == "STARTTLS")
            settings.trust = slapd.certificate
            #expect(try await Self.read(settings).get().directory.count == 1)
            await slapd.stop()
        }

        @Test(
            "a certificate that is refused is named as what it is, by STARTTLS and over ldaps: expired, not yet valid, name, unknown CA",
            arguments: [
                ("expired", "has expired: it ended 2021-01-01"), ("early", "is not yet valid: it begins 2190-01-01"),
                ("example", "does not prove the name 127.0.0.1 (name mismatch)"), ("", "(unknown CA)"), ("address", ""),
            ], [true, false])
        func certificates(_ shown: (name: String, words: String), startTLS: Bool) async throws {
            let scratch = try ScratchDirectory("ldap")
            defer { scratch.remove() }
            let certificates = try await PartnerCertificates(in: scratch)
            let slapd = try await Slapd(
                in: scratch, entries: Slapd.entry("bob"), isEncrypted: true,
                certificate: shown.name.isEmpty ? nil : (certificates.certificate(shown.name).path, certificates.key(shown.name).path))
            var settings = Self.settings(slapd)
            settings.startTLS = startTLS
            if !startTLS { settings.url = slapd.secureURL }
            settings.trust = certificates.roots.path
            switch await Self.read(settings) {
            case .success(let snapshot): #expect(shown.words.isEmpty && snapshot.directory.count == 1)
            case .failure(let failure):
                #expect(failure.operation == (startTLS ? "STARTTLS" : "TLS"))
                #expect(!shown.words.isEmpty && failure.reason.contains(shown.words), "\(failure)")
            }
            await slapd.stop()
        }

        @Test("a gateway follows the service: users come and go, and a dead service leaves the last snapshot in use")
        func follows() async throws {
            let scratch = try ScratchDirectory("ldap")
            defer { scratch.remove() }
            let slapd = try await Slapd(in: scratch, entries: Slapd.entry("bob"))
            let text = """
                node: { name: test.example.net, shards: 2 }
                listen: [ "tcp:127.0.0.1:0" ]
                domains: { contoso.com: { side: enterprise, hosted: true }, example.org: { side: simple, route: "udp:127.0.0.1:9" } }
                directory:
                  ldap:
                    url: "\(slapd.url)"
                    base: "\(Slapd.base)"
                    filter: "(objectClass=inetOrgPerson)"
                    bind-dn: "\(Slapd.manager)"
                    password-file: password
                    refresh: 1
                    timeout: 5
                    attributes: { uri: labeledURI, account: uid }
                """
            let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let gateway = try await RunningGateway.start(
                ConfigurationReader.read(text, file: scratch.file("isthmus.yaml").path), logger: quiet)
            let tcp = gateway.server.listeners[0]
            #expect(try await Self.status(of: "bob", at: tcp) == 200)
            #expect(try await Self.status(of: "carol", at: tcp) == 404)
            try await slapd.modify(
                Slapd.entry("carol").replacingOccurrences(of: "objectClass", with: "changetype: add\nobjectClass")
                    + "dn: uid=bob,\(Slapd.base)\nchangetype: delete\n")
            #expect(try await Self.becomes(200, "carol", at: tcp))
            #expect(try await Self.status(of: "bob", at: tcp) == 404)
            await slapd.stop()
            let before = gateway.feed.current.refreshCounts.failed
            #expect(await eventually(within: 20) { gateway.feed.current.refreshCounts.failed > before + 1 })
            #expect(try await Self.status(of: "carol", at: tcp) == 200)
            #expect(try await Self.status(of: "bob", at: tcp) == 404)
            await gateway.stop(drain: .seconds(1))
        }

        @Test("a gateway whose service is dead from the start serves, and says 503 of users it cannot know")
        func dead() async throws {
            let port = try Loopback.freePort()
            let text = """
                listen: [ "tcp:127.0.0.1:0" ]
                domains: { contoso.com: { side: enterprise, hosted: true }, example.org: { side: simple, route: "udp:127.0.0.1:9" } }
                directory: { ldap: { url: "ldap://127.0.0.1:\(port)", base: "\(Slapd.base)", timeout: 2 } }
                """
            let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let gateway = try await RunningGateway.start(ConfigurationReader.read(text, file: "isthmus.yaml"), logger: quiet)
            #expect(try await Self.status(of: "bob", at: gateway.server.listeners[0]) == 503)
            await gateway.stop(drain: .seconds(1))
        }

        /// Status of a SUBSCRIBE to a user.
        private static func status(of user: String, at address: TransportAddress) async throws -> Int? {
            let text =
                "SUBSCRIBE sip:\(user)@contoso.com SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1:9;branch=z9hG4bK\(UUID().uuidString)\r\n"
                + "Max-Forwards: 70\r\nFrom: <sip:ann@example.org>;tag=a\r\nTo: <sip:\(user)@contoso.com>\r\n"
                + "Call-ID: \(UUID().uuidString)\r\nCSeq: 1 SUBSCRIBE\r\nContact: <sip:127.0.0.1:9;transport=tcp>\r\nEvent: presence\r\n"
                + "Accept: application/pidf+xml\r\nExpires: 0\r\nContent-Length: 0\r\n\r\n"
            return try await withCheckedThrowingContinuation { continuation in
                let thread = Thread {
                    continuation.resume(
                        with: Result {
                            let socket = try LoopbackSocket(.stream, port: address.port)
                            socket.send(Array(text.utf8))
                            let line = socket.receive(until: "\r\n\r\n").split(separator: " ")
                            return line.count > 1 ? Int(line[1]) : nil
                        })
                }
                thread.start()
            }
        }

        private static func becomes(_ status: Int, _ user: String, at address: TransportAddress) async throws -> Bool {
            for _ in 0..<100 {
                if try await Self.status(of: user, at: address) == status { return true }
                try await Task.sleep(for: .milliseconds(200))
            }
            return false
        }
    }
}
