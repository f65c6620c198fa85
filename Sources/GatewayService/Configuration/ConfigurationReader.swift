import FederationRouting
import PresenceGateway
import SIPCore
import SIPTransport
import Yams

/// Reads a configuration file (YAML) into a `ProgramConfiguration`, or reports all of its mistakes.
///
/// Unknown keys and unsupported values are mistakes: nothing in the file is silently ignored.
package struct ConfigurationReader {
    static let unsupported = "is not supported in this version"

    /// Base of relative paths: empty, or ends with a slash.
    let folder: String
    var configuration = ProgramConfiguration()
    let problems = ConfigurationProblems()
    /// Names that domains claim besides their own, in the order of the file.
    var claims: [NameClaim] = []
    /// Certificate keys of domains, in the order of the file.
    var certificateClaims: [CertificateClaim] = []
    /// Domains that need TLS.
    var entriesOverTLS: [ConfigurationNode] = []
    /// Paths of domains' own roots, by domain.
    var domainTrust: [String: String] = [:]

    /// - Parameter file: Name used in reports; its folder is the base of relative paths. The file is not read here.
    package static func read(_ text: String, file: String) throws(ConfigurationError) -> ProgramConfiguration {
        var reader = ConfigurationReader(folder: file.lastIndex(of: "/").map { String(file[...$0]) } ?? "")
        // Two nodes with the same name would take each other's requests for loops.
        reader.configuration.node.name = MachineName.current
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ConfigurationError(file: file, problems: [syntaxProblem(error)])
        }
        guard let root else {
            let problem = ConfigurationProblem(
                line: 1, column: 1, key: "", value: nil, rule: "the file is empty; `listen` and `domains` are needed")
            throw ConfigurationError(file: file, problems: [problem])
        }
        reader.readRoot(ConfigurationNode(node: root, key: "", problems: reader.problems))
        guard reader.problems.all.isEmpty else { throw ConfigurationError(file: file, problems: reader.problems.all) }
        return reader.configuration
    }

    /// Converts an error of the YAML parser to a mistake with its position.
    static func syntaxProblem(_ error: any Error) -> ConfigurationProblem {
        func problem(_ mark: Mark?, _ rule: String) -> ConfigurationProblem {
            ConfigurationProblem(line: mark?.line ?? 1, column: mark?.column ?? 1, key: "", value: nil, rule: rule)
        }
        switch error as? YamlError {
        case .scanner(_, let text, let mark, _), .parser(_, let text, let mark, _), .composer(_, let text, let mark, _):
            return problem(mark, "not valid YAML: \(text)")
        case .duplicatedKeysInMapping(let names, let context):
            return problem(context.mark, "key given more than once: \(Set(names).sorted().joined(separator: ", "))")
        case .reader(let text, _, _, _):
            return problem(nil, "not valid YAML: \(text)")
        default:
            return problem(nil, "not valid YAML: \(error)")
        }
    }

    // MARK: Sections

    private mutating func readRoot(_ root: ConfigurationNode) {
        let known = [
            "node", "listen", "tls", "store", "directory", "domains", "limits", "timing", "transport", "mappings", "admin",
            "tls-dsk", "capture", "dns", "xcap",
        ]
        guard let fields = root.fields(known) else { return }
        if let node = fields["node"] { readNode(node) }
        if let tls = fields["tls"] { readTLS(tls) }
        if let store = fields["store"] { readStore(store) }
        // Before the domains, which may override it.
        if let timing = fields["timing"] { readTiming(timing) }
        if let domains = fields["domains"] { readDomains(domains) } else { root.refuse("`domains` is missing: nobody could be reached") }
        // After the domains: listeners require sign-in only when a domain is hosted.
        if let listen = fields["listen"] {
            readListen(listen, hasDirectory: fields["directory"] != nil, hasTLSDSK: fields["tls-dsk"] != nil)
        } else {
            root.refuse("`listen` is missing: at least one listener is needed")
        }
        if let directory = fields["directory"] { readDirectory(directory) }
        if let tlsDSK = fields["tls-dsk"] { readTLSDSK(tlsDSK) }
        if let xcap = fields["xcap"] { readXCAP(xcap, hasDirectory: fields["directory"] != nil, hasTLS: fields["tls"] != nil) }
        if let limits = fields["limits"] { readLimits(limits) }
        if let transport = fields["transport"] { readTransport(transport) }
        // The largest message must pass while its buffer grows, which takes twice its size.
        for path in [\TransportOptions.unfinishedOctets, \.unfinishedOctetsPerAddress] {
            configuration.transport[keyPath: path] = max(
                configuration.transport[keyPath: path], configuration.transport.maximumBodyBytes * 4)
        }
        if let capture = fields["capture"] { readCapture(capture) }
        if let dns = fields["dns"] { readDNS(dns) }
        finishTLS(root, tls: fields["tls"])
        if let mappings = fields["mappings"] { configuration.mappingsDirectory = mappings.string() }
        if let admin = fields["admin"] { readAdmin(admin) }
    }

    private mutating func readNode(_ node: ConfigurationNode) {
        guard let fields = node.fields(["name", "advertised", "shards", "list-server", "epid"]) else { return }
        if let name = fields["name"], let text = name.string() {
            if Self.isDomainName(text.lowercased()) { configuration.node.name = text } else { name.refuse("is no host name") }
        }
        configuration.node.advertisedHost = fields["advertised"]?.string()
        if let shards = fields["shards"]?.integer(1...256) { configuration.node.shards = shards }
        if let epid = fields["epid"], let text = epid.string() {
            if (1...16).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0 | 0x20) }) {
                configuration.node.publisherEPID = text
            } else {
                epid.refuse("is not 1 to 16 hexadecimal digits (MS-SIPRE 2.2.1)")
            }
        }
        guard let server = fields["list-server"], let text = server.string() else { return }
        guard let uri = SIPURI(text), uri.scheme == .sip || uri.scheme == .sips, uri.user?.isEmpty == false else {
            return server.refuse("is no sip: or sips: URI with a user; as in sip:lists@example.org")
        }
        configuration.core.listServer = uri
    }

    /// Path relative to the configuration file's folder.
    func path(_ text: String) -> String { text.hasPrefix("/") ? text : folder + text }
}
