import Administration
import ArgumentParser
import Glibc
import Logging
import SIPTransport

/// Format of log lines on standard error.
enum LogFormat: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
    /// `time=... level=info msg="..." key=value`, one line per record.
    case logfmt
    /// One JSON object per line.
    case json
}

/// Writes records with a constant message and keyed values to standard error, one line each.
struct StructuredLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    let format: LogFormat

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.merging(event.metadata ?? [:]) { $1 }.map { (key: $0.key, value: "\($0.value)") }
        fields.sort { $0.key < $1.key }
        Terminal.complainVerbatim(
            Self.line(time: Self.timestamp(), level: "\(event.level)", message: "\(event.message)", fields: fields, format: format))
    }

    static func line(time: String, level: String, message: String, fields: [(key: String, value: String)], format: LogFormat) -> String {
        let all = [("time", time), ("level", level), ("msg", message)] + fields
        switch format {
        case .json: return JSONText.object(all.map { ($0.0, JSONText.string($0.1)) }) + "\n"
        case .logfmt: return all.map { "\($0.0)=\(quotedIfNeeded($0.1))" }.joined(separator: " ") + "\n"
        }
    }

    private static func quotedIfNeeded(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") && $0 < 0x7F }
        return isPlain ? text : JSONText.string(text)
    }

    /// RFC 3339 in UTC with milliseconds.
    static func timestamp() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return DateText.utc(Int64(now.tv_sec), milliseconds: now.tv_nsec / 1_000_000)
    }
}
