extension String {
    /// An address without the scheme `sip`, `sips` or `pres`.
    var withoutScheme: String {
        for scheme in ["sip:", "sips:", "pres:"] where lowercased().hasPrefix(scheme) { return String(dropFirst(scheme.count)) }
        return self
    }

    /// An address as a URI, by default with the scheme `sip`.
    var withScheme: String {
        let lower = lowercased()
        return ["sip:", "sips:", "pres:", "tel:"].contains { lower.hasPrefix($0) } ? self : "sip:" + self
    }
}
