import PresenceDocuments

extension UpstreamContent {
    /// A PIDF document (RFC 3863); its entity may be written as `pres:` or in another form that only the far side knows.
    mutating func takePIDF(_ document: PIDFDocument) {
        report(on: subject(named: document.entity)) { $0.pidf = document }
    }

    /// A msrtc.pidf document (MS-PRES 2.2.2.9).
    mutating func takeMSRTC(_ document: MSRTCPIDFDocument) {
        report(on: subject(named: document.uri)) { $0.msrtc = document }
    }
}
