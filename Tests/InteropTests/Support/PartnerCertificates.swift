import Foundation

/// Temporary authorities of `Tests/Support/make-partner-certificates`, in the scratch directory.
struct PartnerCertificates {
    private let folder: URL

    init(in scratch: ScratchDirectory) async throws {
        folder = scratch.file("certificates")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = PeerPrograms.files.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Support/make-partner-certificates")
        let making = try ChildProcess(script, [folder.path], in: scratch.url, name: "certificates")
        guard await making.exit(within: 60) == 0 else { throw PeerError(description: "no certificates: \(making.errorText)") }
    }

    var roots: URL { certificate("authority") }

    func certificate(_ name: String) -> URL { folder.appendingPathComponent("\(name).pem") }
    func key(_ name: String) -> URL { folder.appendingPathComponent("\(name).key") }

    /// Value of `tls:` for a gateway with this certificate.
    func settings(_ name: String) -> String {
        "tls: { certificate: \(certificate(name).path), key: \(key(name).path), trust: \(roots.path) }"
    }

    /// Replaces one certificate by another, as a renewal does.
    func replace(_ name: String, by other: String) throws {
        try Data(contentsOf: certificate(other)).write(to: certificate(name))
        try Data(contentsOf: key(other)).write(to: key(name))
    }
}
