import Administration
import HTTPTransport
import PresenceGateway
import SIPCore
import XCAP

/// `xcap`: listeners for documents of users (RFC 4825), and their root.
extension ConfigurationReader {
    mutating func readXCAP(_ xcap: ConfigurationNode, hasDirectory: Bool, hasTLS: Bool) {
        guard let fields = xcap.fields(["listen", "root"]) else { return }
        var documents = ProgramConfiguration.Documents()
        if let root = fields["root"], let text = root.string() {
            if XCAPRoot(text.hasPrefix("/") ? "https://localhost" + text : text) != nil {
                documents.root = text
            } else {
                root.refuse("must be a path or an https URI without query, as in /xcap-root or https://xcap.example.com/xcap-root")
            }
        }
        guard let listen = fields["listen"] else {
            return xcap.refuse("`listen` is missing, as in [ \"https:127.0.0.1:8443\" ]")
        }
        guard let elements = listen.elements() else { return }
        if elements.isEmpty { listen.refuse("at least one listener is needed") }
        for element in elements {
            guard let address = Self.address(element, hasTLS: hasTLS) else { continue }
            if address.port != 0, documents.listeners.contains(address) { element.refuse("is listed twice") }
            documents.listeners.append(address)
        }
        if !hasDirectory { xcap.refuse("users reach their documents with a password: name a `directory`") }
        // Checked only without other mistakes: an unreadable domain could cause a false report here.
        if problems.all.isEmpty, !configuration.domains.values.contains(where: \.hosted) {
            xcap.refuse("no domain is hosted, so that no user has documents here")
        }
        configuration.documents = documents
    }

    private static func address(_ node: ConfigurationNode, hasTLS: Bool) -> HTTPAddress? {
        guard let text = node.string() else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "https" || parts[0] == "http" else {
            node.refuse("must begin with https: or http:, as in https:127.0.0.1:8443")
            return nil
        }
        let isSecure = parts[0] == "https"
        do throws(AddressTextError) {
            let (host, port) = try TransportAddress.parseHostPort(parts[1], defaultPort: nil)
            if isSecure, !hasTLS { node.refuse("needs `tls: { certificate: PATH, key: PATH }` at the highest level") }
            if !isSecure, !AdministrationAddress.isLoopback(host) {
                node.refuse("is without TLS, which is for loopback addresses only: write https:")
            }
            return HTTPAddress(isSecure: isSecure, host: host, port: port)
        } catch {
            node.refuse("\(error.rule); as in https:127.0.0.1:8443")
            return nil
        }
    }
}

extension ProgramConfiguration {
    /// XCAP server.
    package struct Documents: Hashable, Sendable {
        package var listeners: [HTTPAddress] = []
        /// Path, or URI where clients know the server by another name.
        package var root = "/xcap-root"
        package var options = HTTPOptions()
    }

    /// URI of the XCAP root: as configured, else of the first listener, by the name of the node where it listens on all addresses. nil:
    /// no documents are served.
    package var xcapRoot: String? {
        guard let documents, let first = documents.listeners.first else { return nil }
        guard documents.root.hasPrefix("/") else { return documents.root }
        let host = ["0.0.0.0", "::"].contains(first.host) ? node.name : first.host
        let name = host.contains(":") ? "[\(host)]" : host
        let port = first.port == (first.isSecure ? 443 : 80) ? "" : ":\(first.port)"
        return "\(first.scheme)://\(name)\(port)\(documents.root)"
    }
}
