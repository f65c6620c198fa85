import PresenceGateway
import SIPCore
import SIPTransport

/// `listen`, and `tls-dsk`, which listeners offer.
extension ConfigurationReader {
    mutating func readListen(_ listen: ConfigurationNode, hasDirectory: Bool, hasTLSDSK: Bool) {
        guard let elements = listen.elements() else { return }
        if elements.isEmpty { listen.refuse("at least one listener is needed") }
        let hosted = configuration.domains.filter(\.value.hosted).keys.min()
        for element in elements {
            guard let listener = ListenerReader(element) else { continue }
            let address = listener.address
            if address.port != 0, configuration.listeners.contains(address) {
                listener.node.refuse("is listed twice")
            } else {
                if listener.advertised != nil,
                    configuration.listeners.contains(where: { $0.transport == address.transport && $0.family == address.family })
                {
                    listener.node.refuse(
                        "`advertised` is for the first listener of a transport and address family, which Via and Contact name; "
                            + "move this listener before it, or leave the key out")
                }
                configuration.listeners.append(address)
                configuration.advertised.append(listener.advertised)
                if listener.takesClientsWithoutCertificate { configuration.transport.optionalCertificateListeners.insert(address) }
                configuration.listenerAuthentication.append(
                    listener.authentication(hosted: hosted, hasDirectory: hasDirectory, hasTLSDSK: hasTLSDSK))
            }
        }
    }

    mutating func readTLSDSK(_ tlsDSK: ConfigurationNode) {
        guard let fields = tlsDSK.fields(["certificate", "key", "client-ca", "sts-uri"]) else { return }
        let paths = ["certificate", "key", "client-ca"].map { fields[$0]?.string().map { path($0) } }
        for (name, value) in zip(["certificate", "key", "client-ca"], paths) where value == nil && fields[name] == nil {
            tlsDSK.refuse("`\(name)` is missing: the path of a file in PEM form")
        }
        var service: String?
        if let field = fields["sts-uri"], let text = field.string() {
            let isURI =
                text.hasPrefix("https://")
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            if isURI { service = text } else { field.refuse("must be an https URI") }
        }
        guard let certificate = paths[0], let key = paths[1], let authority = paths[2] else { return }
        // Checked only without other mistakes: an unreadable value could cause a false report here.
        if problems.all.isEmpty, !isTLSDSKOffered {
            tlsDSK.refuse(
                "no listener offers it: mark one with `authentication: tls-dsk`, or with `any` where an enterprise domain is hosted")
        }
        configuration.signIn.tlsDSK = TLSDSKFiles(
            certificate: certificate, key: key, clientAuthority: authority, certificateService: service)
    }

    /// Whether a listener offers TLS-DSK to users of hosted domains.
    private var isTLSDSKOffered: Bool {
        let sides = Set(configuration.domains.values.filter(\.hosted).map(\.side))
        return configuration.listenerAuthentication.contains { listener in sides.contains { listener.offersTLSDSK(to: $0) } }
    }
}
