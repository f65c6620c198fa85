import Administration
import FederationRouting
import Foundation
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Testing
import ThrowAwayCertificates

@testable import GatewayService
@testable import isthmus

/// `tls`, and the certificate keys of listeners and domains.
@Suite(.timeLimit(.minutes(10))) struct TLSConfigurationTests {
    private static let head = "listen: [ \"tls:127.0.0.1:0\" ]\ntls: { certificate: own.pem, key: own.key, trust: roots.pem }\n"

    private func read(_ text: String) throws -> ProgramConfiguration { try ConfigurationReader.read(text, file: "/etc/isthmus/x.yaml") }

    @Test("every key becomes a value, and paths start where the file is") func values() throws {
        let configuration = try read(
            """
            listen: [ { address: "tls:0.0.0.0:5061", client-certificate: optional }, "tls:127.0.0.1:5062" ]
            tls:
              certificate: own.pem
              key: /keys/own.key
              trust: roots.pem
              names: { Sip.Fabrikam.com: { certificate: f.pem, key: f.key } }
              warn-days: 14
              handshake-seconds: 5
              handshakes: 77
            domains:
              contoso.com:  { side: enterprise, route: "tls:sip.contoso.com" }
              example.org:  { side: simple, route: "tls:192.0.2.7:5061", trust: example-roots.pem }
              fabrikam.com: { side: enterprise, route: "tls:192.0.2.8:5061", certificate-names: [ edge.fabrikam.com, Sip.fabrikam.com ], wildcards: true }
            """)
        let tls = try #require(configuration.tls)
        #expect(tls.own == TLSFiles.Pair(certificate: "/etc/isthmus/own.pem", key: "/keys/own.key"))
        #expect(tls.names == ["sip.fabrikam.com": TLSFiles.Pair(certificate: "/etc/isthmus/f.pem", key: "/etc/isthmus/f.key")])
        #expect(tls.trust == "/etc/isthmus/roots.pem")
        #expect(tls.domainTrust == ["example.org": "/etc/isthmus/example-roots.pem"])
        #expect(tls.warningTime == .seconds(14 * 86_400))
        #expect(tls.handshakeTimeout == .seconds(5))
        #expect(tls.maximumHandshakes == 77)
        #expect(configuration.transport.optionalCertificateListeners == [TransportAddress(.tls, "0.0.0.0", 5061)])

        // Without names, an enterprise server must prove its host name, and a SIMPLE domain's server the domain.
        let lenient = PeerNameRule(allowsCommonName: true, takesHostsBesideDomains: true, allowsWildcards: true)
        let expected = [
            "contoso.com": PeerExpectation(["sip.contoso.com"], by: .enterprise),
            "example.org": PeerExpectation(["example.org"], by: PeerNameRule(roots: "example.org")),
            "fabrikam.com": PeerExpectation(["edge.fabrikam.com", "sip.fabrikam.com"], by: lenient),
        ]
        for (name, expectation) in expected {
            let domain = try #require(configuration.domains[name])
            #expect(domain.certificate == expectation)
            #expect(domain.route?.provenName == expectation.names[0])
            #expect(tls.expectations[expectation.names[0]] == expectation)
            #expect(configuration.routingTable[name]?.certificate == expectation)
        }
        // All partners are known: other certificates are refused; one for the domain itself is accepted, as with "*".
        let domains = [PeerExpectation(["contoso.com"], by: .enterprise), PeerExpectation(["fabrikam.com"], by: lenient)]
        #expect(Set(tls.clientExpectations ?? []) == Set(expected.values).union(domains))
        #expect(configuration.routingTable.decide(SIPURI("sips:bob@contoso.com")!).domain != nil)
    }

    @Test("with a domain for everybody, or users of our own, any certificate that names somebody is taken") func openFederation() throws {
        let open = try read(
            Self.head
                + "domains: { a.example: { side: simple, route: \"tls:a.example\" }, \"*\": { side: enterprise, route: \"tls:b.example\" } }"
        )
        #expect(open.tls?.clientExpectations == nil)
        #expect(open.tls?.defaultRule == .enterprise)
        let closed = try read(
            Self.head + "domains: { a.example: { side: simple, route: \"tls:a.example\" }, \"*\": { refuse: 403 } }")
        #expect(closed.tls?.clientExpectations?.count == 1)
        #expect(closed.tls?.defaultRule == .domain)
    }

    @Test("what partners prove counts by whatever way they are reached: several routes, users' routes, discovery") func everyWay() throws {
        let configuration = try read(
            Self.head + """
                domains:
                  contoso.com:
                    side: enterprise
                    routes: [ "tls:edge1.contoso.com:5061", { to: "tls:edge2.contoso.com:5061", priority: 2 } ]
                    trust: contoso.pem
                  example.org:
                    side: simple
                    route: "tcp:192.0.2.9:5060"
                    users: { "lab-*": { route: "tls:192.0.2.7:5061" } }
                    wildcards: true
                  fabrikam.com: { side: enterprise, discover: true, trust: fabrikam.pem }
                  example.net: { side: simple, discover: tls }
                """)
        let tls = try #require(configuration.tls)
        #expect(tls.domainTrust == ["contoso.com": "/etc/isthmus/contoso.pem", "fabrikam.com": "/etc/isthmus/fabrikam.pem"])
        var contoso = PeerNameRule.enterprise
        contoso.roots = "contoso.com"
        #expect(tls.expectations["edge2.contoso.com"] == PeerExpectation(["edge2.contoso.com"], by: contoso))
        #expect(configuration.domains["contoso.com"]?.certificate?.names == ["edge1.contoso.com", "edge2.contoso.com"])
        #expect(configuration.domains["contoso.com"]?.hops.map(\.address.provenName) == ["edge1.contoso.com", "edge2.contoso.com"])
        #expect(tls.expectations["example.org"] == PeerExpectation(["example.org"], by: PeerNameRule(allowsWildcards: true)))
        #expect(configuration.domains["example.org"]?.userRoutes[0].hops[0].address.provenName == "example.org")
        #expect(configuration.domains["example.org"]?.route?.provenName == nil)
        var fabrikam = PeerNameRule.enterprise
        fabrikam.roots = "fabrikam.com"
        #expect(tls.expectationsWithin["fabrikam.com"] == PeerExpectation([], by: fabrikam))
        #expect(tls.expectationsWithin["example.net"] == PeerExpectation(["example.net"], by: .domain))
        // The servers of fabrikam.com are known only after a DNS lookup.
        #expect(tls.clientExpectations == nil)
    }

    @Test("a partner without TLS leaves the others known, and nobody else's certificate is taken") func onePlainPartner() throws {
        let configuration = try read(
            Self.head
                + "domains: { a.example: { side: simple, route: \"tls:a.example\" }, b.example: { side: simple, route: \"tcp:b.example\" } }"
        )
        #expect(configuration.tls?.clientExpectations == [PeerExpectation(["a.example"])])
    }

    static let mistakes: [(text: String, position: String, part: String)] = [
        ("listen: [ \"tls:a:5061\" ]\ndomains: { a: { refuse: 403 } }", "1:1", "`tls` is missing"),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a.example: { side: simple, route: \"tls:b.example\" } }", "2:23",
            "a route over TLS needs `tls`"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ntls: { certificate: a, key: b, trust: c }\ndomains: { a: { refuse: 403 } }", "2:6",
            "nothing uses it"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ntls: { certificate: a, key: b, trust: c }\n"
                + "domains: { a.example: { side: simple, route: \"tls:b.example\" } }", "2:6", "needs a listener with TLS"
        ),
        ("listen: [ \"tls:a:5061\" ]\ntls: { key: b, trust: c }\ndomains: { a: { refuse: 403 } }", "2:6", "`certificate` is missing"),
        ("listen: [ \"tls:a:5061\" ]\ntls: { certificate: b, trust: c }\ndomains: { a: { refuse: 403 } }", "2:6", "`key` is missing"),
        ("listen: [ \"tls:a:5061\" ]\ntls: { certificate: a, key: b }\ndomains: { a: { refuse: 403 } }", "2:6", "`trust` is missing"),
        (
            "listen: [ \"tls:a:5061\" ]\ntls: { certificate: a, key: b }\ndomains: { a.example: { side: simple, route: \"tls:b.example\" } }",
            "3:23", "has no roots"
        ),
        (
            "listen: [ \"tls:a:5061\" ]\ntls: { certificate: a, key: b, trust: c, warn-days: -1 }\ndomains: { a: { refuse: 403 } }",
            "2:53", "0"
        ),
        (
            "listen: [ \"tls:a:5061\" ]\ntls: { certificate: a, key: b, trust: c, handshakes: 0 }\ndomains: { a: { refuse: 403 } }",
            "2:54", "1"
        ),
        (
            "listen: [ \"tls:a:5061\" ]\ntls: { certificate: a, key: b, trust: c, names: { \"*.b.example\": { certificate: a, key: b } } }\n"
                + "domains: { a: { refuse: 403 } }", "2:51", "no host name"
        ),
        (
            "listen: [ \"tls:a:5061\" ]\ntls: { certificate: a, key: b, trust: c, names: { b.example: { certificate: a } } }\n"
                + "domains: { a: { refuse: 403 } }", "2:62", "`key` is missing"
        ),
        (
            "listen: [ { address: \"tcp:a:5061\", client-certificate: required } ]\ndomains: { a: { refuse: 403 } }", "1:56",
            "is for listeners with TLS"
        ),
        (head + "domains: { a.example: { side: enterprise, route: \"tls:192.0.2.1:5061\" } }", "3:50", "no certificate proves"),
        (
            head + "domains: { a.example: { side: simple, route: \"tls:b.example\", certificate-names: [ 192.0.2.1 ] } }", "3:84",
            "no certificate proves"
        ),
        (
            head + "domains: { a.example: { side: simple, route: \"tls:b.example\", certificate-names: [] } }", "3:82",
            "at least one name"
        ),
        (head + "domains: { a.example: { side: simple, route: \"udp:b.example\", wildcards: true } }", "3:74", "is for a route over TLS"),
        (head + "domains: { a.example: { side: simple, route: \"udp:b.example\", trust: x.pem } }", "3:70", "is for a route over TLS"),
        (
            head + "domains: { \"*\": { side: enterprise, route: \"tls:b.example\", trust: x.pem } }", "3:68",
            "is for domains with a name"
        ),
        (
            head + "domains: { a.example: { side: simple, hosted: true, trust: x.pem } }\n", "3:60", "is for partners"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a.example: { side: simple, routes: [ \"tls:b.example\" ] } }", "2:23",
            "a route over TLS needs `tls`"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a.example: { side: enterprise, discover: true } }", "2:23",
            "a route over TLS needs `tls`"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { \"*\": { side: simple, discover: tls } }", "2:17", "a route over TLS needs `tls`"),
        (head + "domains: { a.example: { side: enterprise, routes: [ \"tls:192.0.2.1:5061\" ] } }", "3:51", "no certificate proves"),
        (head + "domains: { \"*\": { side: enterprise, discover: true, trust: x.pem } }", "3:60", "is for domains with a name"),
        (
            head + "domains: { a.example: { side: simple, routes: [ \"tcp:b.example\" ], wildcards: true } }", "3:79",
            "is for a route over TLS"
        ),
        (
            head + "domains:\n  a.example: { side: enterprise, route: \"tls:hub.example\" }\n"
                + "  b.example: { side: enterprise, route: \"tls:hub.example\", wildcards: true }", "5:14", "as that of a.example"
        ),
    ]

    @Test("what is missing, unused or contradictory is named with its place and rule", arguments: mistakes)
    func mistake(text: String, position: String, part: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        let problems = error?.problems.map { "\($0.line):\($0.column) \($0.rule)" } ?? []
        #expect(problems.contains { $0.hasPrefix(position + " ") && $0.contains(part) }, "\(problems)")
    }

    // MARK: Files

    /// Creates a folder of temporary certificates, deleted at the end.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-tls-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try ThrowAwayCertificates.partners.make(in: folder)
        try await body(folder)
    }

    private static func text(_ certificate: String, _ key: String, trust: String = "authority.pem", pinned: String = "private.pem")
        -> String
    {
        """
        node: { name: edge1.example.net }
        listen: [ "tls:127.0.0.1:0" ]
        tls: { certificate: \(certificate), key: \(key), trust: \(trust) }
        domains:
          contoso.com: { side: simple, route: "tls:192.0.2.1:5061", trust: \(pinned) }
          fabrikam.com: { side: simple, route: "tls:192.0.2.2:5061" }
        """
    }

    @Test("files that are missing, have ended or do not belong together stop serve and check with their key, name and rule")
    func files() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("isthmus.yaml")
            func problems(_ text: String) async throws -> [String] {
                try Data(text.utf8).write(to: file)
                let check = await Isthmus.run(["check", "--config", file.path])
                do {
                    let configuration = try ConfigurationReader.read(text, file: file.path)
                    let gateway = try await RunningGateway.start(configuration, logger: RunningGatewayTests.quiet)
                    await gateway.stop(drain: .zero)
                    #expect(check == 0)
                    return []
                } catch let failure as ServiceFailure {
                    #expect(check == 1)
                    return failure.lines
                }
            }
            #expect(try await problems(Self.text("example.pem", "example.key")) == [])
            #expect(
                try await problems(Self.text("gone.pem", "example.key"))
                    == ["tls.certificate: \(folder.path)/gone.pem: No such file or directory"])
            #expect(
                try await problems(Self.text("example.pem", "contoso.key"))
                    == [
                        "tls.key: \(folder.path)/contoso.key: is not the key of the certificate of CN=sip.example.net "
                            + "(sip:example.net, sip.example.net)"
                    ])
            let expired = try await problems(Self.text("expired.pem", "expired.key")).first
            #expect(expired?.hasPrefix("tls.certificate: \(folder.path)/expired.pem: CN=sip.contoso.com") == true)
            #expect(expired?.hasSuffix("has expired at 2021-01-01T00:00:00Z") == true)
            #expect(
                try await problems(Self.text("early.pem", "early.key")).first?.hasSuffix("is not valid before 2190-01-01T00:00:00Z") == true
            )
            #expect(
                try await problems(Self.text("example.key", "example.key"))
                    == ["tls.certificate: \(folder.path)/example.key: holds no certificate in PEM form"])
            #expect(
                try await problems(Self.text("example.pem", "example.key", trust: "example.key"))
                    == ["tls.trust: \(folder.path)/example.key: holds no certificate in PEM form"])
            #expect(
                try await problems(Self.text("example.pem", "example.key", pinned: "gone.pem"))
                    == ["domains.contoso.com.trust: \(folder.path)/gone.pem: No such file or directory"])
        }
    }

    @Test("SIGHUP takes over renewed certificates, and leaves all as it was when they cannot be used") func reload() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("isthmus.yaml").path
            func configuration(_ name: String, _ key: String) throws -> ProgramConfiguration {
                try ConfigurationReader.read(Self.text("\(name).pem", "\(key).key"), file: file)
            }
            let gateway = try await RunningGateway.start(try configuration("example", "example"), logger: RunningGatewayTests.quiet)
            let tls = try #require(gateway.tls)
            func subject() -> String { tls.settings.identity.chain[0].subject }
            #expect(subject() == "CN=sip.example.net")
            try await gateway.reload(try configuration("fabrikam", "fabrikam"))
            #expect(subject() == "CN=sip.fabrikam.com")
            for (name, key) in [("example", "contoso"), ("expired", "expired"), ("gone", "gone")] {
                await #expect(throws: ServiceFailure.self) { try await gateway.reload(try configuration(name, key)) }
            }
            #expect(subject() == "CN=sip.fabrikam.com")
            #expect(tls.statistics.reloads == 1)
            let page = Metric.text(StatusPages.tlsMetrics(tls.statistics))
            #expect(page.contains("isthmus_tls_reloads_total 1\n"))
            #expect(
                page.contains(
                    "isthmus_tls_certificate_not_after_seconds{certificate=\"CN=sip.fabrikam.com (sip:fabrikam.com, sip.fabrikam.com)\","
                        + "whose=\"own\"} 7258118399\n"), "\(page)")
            await gateway.stop(drain: .zero)
        }
    }
}
