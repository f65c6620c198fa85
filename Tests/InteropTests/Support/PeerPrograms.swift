import Foundation

/// Where the programs are that the suite talks to, and whether a test may go without one.
enum PeerPrograms {
    static let kamailio = find("kamailio")
    static let sipp = find("sipp")
    static let tshark = find("tshark")
    static let sngrep = find("sngrep")
    static let baresip = find("baresip")
    static let finch = find("finch")
    static let busSession = find("dbus-run-session")
    static let busCaller = find("dbus-send")
    static let python = find("python3")
    static let compiler = find("gcc")
    static let slapd = find("slapd")
    static let nsd = find("nsd")
    static let openSSL = find("openssl")
    static let ldapmodify = find("ldapmodify")

    /// The newest one that is installed.
    static let postgres: URL? = {
        let root = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return versions.compactMap { Int($0) }.sorted(by: >).lazy
            .map { root.appendingPathComponent("\($0)/bin/postgres") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// In continuous integration a missing peer is a failure, elsewhere a skip with its reason.
    static let mustBePresent = ProcessInfo.processInfo.environment["CI"] == "true"

    /// Whether a suite that needs these programs is to run: it is not when one is absent, except where it must be present.
    static func areReady(_ programs: URL?...) -> Bool {
        mustBePresent || programs.allSatisfy { $0 != nil }
    }

    /// The files of this suite: configurations and scenarios.
    static let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Peers")

    /// The program under test, built beside this test bundle.
    static var isthmus: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("isthmus")
    }

    private static func find(_ name: String) -> URL? {
        ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
            .map { URL(fileURLWithPath: $0).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

/// Why a peer could not be used.
struct PeerError: Error, CustomStringConvertible {
    var description: String
}

extension Optional where Wrapped == URL {
    /// The program, or the error that names its Debian package.
    func required(package: String) throws -> URL {
        guard let program = self else { throw PeerError(description: "the Debian package \(package) is not installed") }
        return program
    }
}
