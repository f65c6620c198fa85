import Foundation
import SIPCore
import SIPSecurity
import SIPTransport

/// Certificates of throw-away authorities, made once by OpenSSL's command; no key of them stays on the disk.
struct PartnerCertificates: Sendable {
    static let made = Result { try PartnerCertificates() }

    private var files: [String: [UInt8]] = [:]

    private init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Support/make-partner-certificates")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-partners-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = try Process.run(script.standardizedFileURL, arguments: [folder.path])
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            files[name] = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
        }
    }

    subscript(_ file: String) -> [UInt8] { files[file]! }

    func certificates(_ name: String) -> [Certificate] { Certificate.all(inPEM: self[name + ".pem"]) }

    /// An identity as it was good on its first day, whatever became of it.
    func identity(_ name: String) throws -> TLSSettings.Identity {
        let first = certificates(name)[0].notBefore
        return try TLSSettings.Identity(
            chainPEM: self[name + ".pem"], keyPEM: self[name + ".key"], at: Instant(secondsSince1970: first + 1))
    }

    /// Settings with this identity that trust the first authority and nobody else.
    func settings(_ name: String, names: [String: String] = [:]) throws -> TLSSettings {
        TLSSettings(
            identity: try identity(name), names: try names.mapValues { try identity($0) },
            roots: [PeerIdentity.commonRoots: certificates("authority")])
    }
}
