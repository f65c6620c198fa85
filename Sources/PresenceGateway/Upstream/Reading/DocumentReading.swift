import PresenceDocuments

extension UpstreamContent {
    /// Adds a PIDF document (RFC 3863), with an entity in `pres:` or another form.
    mutating func takePIDF(_ document: PIDFDocument) {
        report(on: subject(named: document.entity)) { $0.take(document) }
    }

    /// Adds a msrtc.pidf document (MS-PRES 2.2.2.9).
    mutating func takeMSRTC(_ document: MSRTCPIDFDocument) {
        report(on: subject(named: document.uri)) { $0.take(document) }
    }
}
