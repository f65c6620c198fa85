import SIPCore
import SIPTransport

extension ConfigurationReader {
    /// Reads `capture`: the collector for copies of all messages.
    mutating func readCapture(_ capture: ConfigurationNode) {
        guard let fields = capture.fields(["hep", "agent", "password"]) else { return }
        guard let hep = fields["hep"] else { return capture.refuse("`hep` is missing: the collector, as in udp:192.0.2.9:9060") }
        guard let collector = hep.address() else { return }
        guard collector.transport == .udp, collector.port != 0 else {
            return hep.refuse("must be udp:HOST:PORT with a port: copies are sent as datagrams")
        }
        var options = CaptureOptions(collector: collector)
        if let agent = fields["agent"]?.integer(0...4_294_967_295) { options.agent = UInt32(agent) }
        if let password = fields["password"], let text = password.string() {
            if text.utf8.count > 1_024 { password.refuse("must not be longer than 1024 octets") }
            options.password = text
        }
        configuration.transport.capture = options
    }
}
