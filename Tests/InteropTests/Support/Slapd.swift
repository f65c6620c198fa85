import Foundation

/// OpenLDAP's server with users of contoso.com, on one free port of 127.0.0.1, with its data in the test's own directory.
final class Slapd {
    static let base = "dc=contoso,dc=com"
    static let manager = "cn=manager,dc=contoso,dc=com"
    static let password = "correct horse"

    let port: Int
    /// Port for LDAP over TLS, if it has a certificate.
    let securePort: Int
    private let scratch: ScratchDirectory
    private var process: ChildProcess

    var url: String { "ldap://127.0.0.1:\(port)" }
    var secureURL: String { "ldaps://127.0.0.1:\(securePort)" }
    /// File with the manager's password.
    var passwordFile: String { scratch.file("password").path }
    /// Certificate of the server, which is its own authority.
    var certificate: String { scratch.file("slapd.pem").path }

    /// - Parameters:
    ///   - entries: LDIF of the entries below the base.
    ///   - certificate: Files of its certificate and key; nil uses a self-signed one.
    init(
        in scratch: ScratchDirectory, entries: String, isEncrypted: Bool = false, certificate: (file: String, key: String)? = nil
    ) async throws {
        self.scratch = scratch
        let program = try PeerPrograms.slapd.required(package: "slapd")
        port = try Loopback.freePort()
        securePort = try Loopback.freePort()
        try FileManager.default.createDirectory(at: scratch.file("ldap"), withIntermediateDirectories: true)
        try scratch.write(Self.password + "\n", to: "password")
        var configuration = """
            include /etc/ldap/schema/core.schema
            include /etc/ldap/schema/cosine.schema
            include /etc/ldap/schema/inetorgperson.schema
            pidfile \(scratch.file("slapd.pid").path)

            """
        if isEncrypted {
            if certificate == nil { try await Self.makeCertificate(in: scratch) }
            let shown = certificate ?? (scratch.file("slapd.pem").path, scratch.file("slapd.key").path)
            configuration += "TLSCertificateFile \(shown.file)\nTLSCertificateKeyFile \(shown.key)\n"
        }
        configuration += """
            modulepath /usr/lib/ldap
            moduleload back_mdb
            database mdb
            maxsize 67108864
            directory \(scratch.file("ldap").path)
            suffix "\(Self.base)"
            rootdn "\(Self.manager)"
            rootpw "\(Self.password)"
            access to * by dn.exact="\(Self.manager)" write by anonymous auth

            """
        let file = try scratch.write(configuration, to: "slapd.conf")
        let data = try scratch.write(
            "dn: \(Self.base)\nobjectClass: dcObject\nobjectClass: organization\ndc: contoso\no: Contoso\n\n" + entries, to: "users.ldif")
        let add = try ChildProcess(
            URL(fileURLWithPath: program.path.replacingOccurrences(of: "slapd", with: "slapadd")),
            ["-f", file.path, "-l", data.path], in: scratch.url, name: "slapadd")
        guard await add.exit(within: 60) == 0 else { throw PeerError(description: "slapadd: \(add.errorText.suffix(2000))") }
        let places = "ldap://127.0.0.1:\(port)" + (isEncrypted ? " ldaps://127.0.0.1:\(securePort)" : "")
        process = try Self.start(program, file, places, scratch)
        try await waitUntilReady()
    }

    private static func start(_ program: URL, _ file: URL, _ places: String, _ scratch: ScratchDirectory) throws -> ChildProcess {
        try ChildProcess(program, ["-h", places, "-f", file.path, "-d", "0"], in: scratch.url, name: "slapd")
    }

    private func waitUntilReady() async throws {
        let isReady = await eventually(within: 20) { (try? LoopbackSocket(.stream, port: self.port)) != nil || !self.process.isRunning }
        guard isReady, process.isRunning else { throw PeerError(description: "slapd is not ready: \(process.errorText.suffix(2000))") }
    }

    private static func makeCertificate(in scratch: ScratchDirectory) async throws {
        let make = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                "subjectAltName=IP:127.0.0.1", "-keyout", scratch.file("slapd.key").path, "-out", scratch.file("slapd.pem").path,
            ], in: scratch.url, name: "openssl")
        guard await make.exit(within: 30) == 0 else { throw PeerError(description: "openssl: \(make.errorText.suffix(1000))") }
    }

    /// Changes entries; the text is LDIF with changetypes.
    func modify(_ changes: String) async throws {
        let file = try scratch.write(changes, to: "changes.ldif")
        let modify = try ChildProcess(
            try PeerPrograms.ldapmodify.required(package: "ldap-utils"),
            ["-x", "-H", url, "-D", Self.manager, "-w", Self.password, "-f", file.path], in: scratch.url, name: "ldapmodify")
        guard await modify.exit(within: 20) == 0 else { throw PeerError(description: "ldapmodify: \(modify.errorText.suffix(1000))") }
    }

    func stop() async { await process.stop() }

    /// Entry of one user in a directory without SIP attributes.
    static func entry(_ name: String, _ lines: String = "") -> String {
        "dn: uid=\(name),\(base)\nobjectClass: inetOrgPerson\nuid: \(name)\nsn: \(name)\ncn: \(name)\nlabeledURI: sip:\(name)@contoso.com\n"
            + lines + "\n"
    }
}
