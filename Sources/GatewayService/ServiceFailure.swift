/// Configuration, file or listener that the gateway cannot use.
package struct ServiceFailure: Error, Hashable {
    /// One line per mistake, each with its file or key and the broken rule.
    package var lines: [String]

    package init(_ lines: [String]) {
        self.lines = lines
    }

    package init(_ line: String) {
        self.init([line])
    }
}
