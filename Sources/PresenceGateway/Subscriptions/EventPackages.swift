import SIPCore
import SIPEvents

/// The event packages of the gateway, in the order of Allow-Events.
struct EventPackages {
    private var inOrder: [any EventPackage] = []
    private var byToken: [String: any EventPackage] = [:]

    /// Adds a package; one with the same token is replaced.
    mutating func register(_ package: any EventPackage) {
        if byToken.updateValue(package, forKey: package.token) != nil { inOrder.removeAll { $0.token == package.token } }
        inOrder.append(package)
    }

    subscript(token: String) -> (any EventPackage)? { byToken[token] }

    /// The package of stored dialogs of a kind.
    func package(of kind: StoredDialog.Kind) -> (any EventPackage)? { inOrder.first { $0.storedKind == kind } }

    /// Tokens of all packages.
    var tokens: [String] { inOrder.map(\.token) }

    /// Value of Allow-Events (RFC 6665 8.2.2).
    var allowed: String { tokens.joined(separator: ", ") }

    /// 489 with Allow-Events (RFC 6665 4.2.1).
    var badEvent: Refusal {
        Refusal(.badEvent, "RFC 6665 4.2.1: event package not supported", headers: [Refusal.Header(.allowEvents, allowed)])
    }
}
