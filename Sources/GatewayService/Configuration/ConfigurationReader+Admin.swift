import Administration
import SIPCore
import SIPTransport

/// `admin`: listeners of the administration interface.
extension ConfigurationReader {
    /// Octets of messages that an event loop may hold.
    private static let recallLimit = 64 << 20

    mutating func readAdmin(_ admin: ConfigurationNode) {
        guard let fields = admin.fields(["http", "inspect", "socket", "recall"]) else { return }
        let inspects = fields["inspect"].map { $0.bool() ?? false } ?? false
        if let http = fields["http"], let text = http.string() {
            do {
                let (host, port) = try TransportAddress.parseHostPort(text[...], defaultPort: nil)
                let address = AdministrationAddress.http(host: host, port: port)
                if inspects, !address.isLocal {
                    fields["inspect"]?.refuse(
                        "shows who watches whom to everybody who reaches \(text); only on loopback, else use `socket`")
                }
                configuration.admin.append(.init(address: address, inspects: inspects))
            } catch {
                http.refuse("\(error.rule); as in 127.0.0.1:8080")
            }
        } else {
            fields["inspect"]?.refuse("goes with `http`; a socket always shows who watches whom")
        }
        if let socket = fields["socket"]?.string() { configuration.admin.append(.init(address: .socket(path(socket)), inspects: true)) }
        if let recall = fields["recall"], let octets = recall.integer(0...Self.recallLimit) {
            if !configuration.admin.contains(where: \.inspects) {
                recall.refuse("goes with `inspect: true` or `socket`, which show the messages")
            }
            configuration.transport.recalledOctets = octets
        }
    }
}
