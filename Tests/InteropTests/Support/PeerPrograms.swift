import Foundation

/// Locations of the peer programs, and whether a test may be skipped without one.
enum PeerPrograms {
    static let kamailio = find("kamailio")
    static let sipp = find("sipp")
    static let tshark = find("tshark")
    static let sngrep = find("sngrep")
    static let baresip = find("baresip")
    static let finch = find("finch")
    static let linphone = find("linphonec")
    static let busSession = find("dbus-run-session")
    static let busCaller = find("dbus-send")
    static let python = find("python3")
    static let curl = find("curl")
    static let chromium = find("chromium")
    static let chromeDriver = find("chromedriver")
    static let compiler = find("gcc")
    static let slapd = find("slapd")
    static let nsd = find("nsd")
    static let openSSL = find("openssl")
    static let ldapmodify = find("ldapmodify")
    static let systemdAnalyze = find("systemd-analyze")

    /// Newest installed version.
    static let postgres: URL? = {
        let root = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return versions.compactMap { Int($0) }.sorted(by: >).lazy
            .map { root.appendingPathComponent("\($0)/bin/postgres") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// In continuous integration a missing peer is a failure; elsewhere the test is skipped with a reason.
    static let mustBePresent = ProcessInfo.processInfo.environment["CI"] == "true"

    /// Whether a suite that needs these programs runs: not when one is missing, except where it is required.
    static func areReady(_ programs: URL?...) -> Bool {
        mustBePresent || programs.allSatisfy { $0 != nil }
    }

    /// Configurations and scenarios of this suite.
    static let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Peers")

    /// Files of the Debian package: unit, configuration, scripts.
    static let packaging = files.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("packaging")

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

/// Error of a peer program.
struct PeerError: Error, CustomStringConvertible {
    var description: String
}

extension Optional where Wrapped == URL {
    /// Returns the program; throws an error with its Debian package when it is missing.
    func required(package: String) throws -> URL {
        guard let program = self else { throw PeerError(description: "the Debian package \(package) is not installed") }
        return program
    }
}
