import LDAPDirectory

extension ConfigurationReader {
    /// Reads `directory.ldap`.
    /// - Returns: Settings; nil when mistakes were recorded.
    func readLDAP(_ ldap: ConfigurationNode) -> LDAPSettings? {
        let known = [
            "url", "base", "filter", "bind-dn", "password-file", "start-tls", "trust", "refresh", "timeout", "page-size", "limit",
            "attributes",
        ]
        guard let fields = ldap.fields(known) else { return nil }
        guard let urlNode = fields["url"], let baseNode = fields["base"] else {
            ldap.refuse("needs `url` and `base`")
            return nil
        }
        guard let url = urlNode.string(), let base = baseNode.string() else { return nil }
        let isPlain = url.hasPrefix("ldap://")
        guard isPlain || url.hasPrefix("ldaps://"), !url.hasSuffix("//"), !url.dropFirst(8).contains(where: { "/? ".contains($0) }) else {
            urlNode.refuse("must be ldap://HOST:PORT or ldaps://HOST:PORT")
            return nil
        }
        var settings = LDAPSettings(url: url, base: base)
        if let filter = fields["filter"], let text = filter.string() {
            if !text.hasPrefix("(") || !text.hasSuffix(")") {
                filter.refuse("must be a filter in brackets (RFC 4515), as in (objectClass=person)")
            }
            settings.filter = text
        }
        settings.bindDN = fields["bind-dn"]?.string()
        settings.passwordFile = fields["password-file"]?.string().map(path)
        if let file = fields["password-file"], settings.bindDN == nil { file.refuse("needs `bind-dn`") }
        if let bindDN = fields["bind-dn"], fields["password-file"] == nil { bindDN.refuse("needs `password-file`") }
        if let startTLS = fields["start-tls"], let value = startTLS.bool() {
            if value, !isPlain { startTLS.refuse("is for ldap URLs: ldaps is encrypted from the start") }
            settings.startTLS = value
        }
        settings.trust = fields["trust"]?.string().map(path)
        if let value = fields["refresh"]?.integer(1...86_400) { settings.refresh = value }
        if let value = fields["timeout"]?.integer(1...600) { settings.timeout = value }
        if let value = fields["page-size"]?.integer(1...10_000) { settings.pageSize = value }
        if let value = fields["limit"]?.integer(1...500_000) { settings.entryLimit = value }
        if let attributes = fields["attributes"] { readAttributes(attributes, into: &settings) }
        return settings
    }

    private func readAttributes(_ node: ConfigurationNode, into settings: inout LDAPSettings) {
        guard let fields = node.fields(LDAPField.allCases.map(\.name)) else { return }
        for field in LDAPField.allCases {
            guard let node = fields[field.name], let name = node.string() else { continue }
            let isName = name.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ";") || (48...57).contains($0)
                    || (97...122).contains($0 | 0x20)
            }
            if isName { settings.attributes[field] = name } else { node.refuse("must be the name of an attribute (RFC 4512 2.5)") }
        }
    }
}
