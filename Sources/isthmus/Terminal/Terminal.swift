import Glibc
import XMLCore

/// Writes to standard output and standard error without buffering, so that lines appear immediately and do not interleave.
enum Terminal {
    static func write(_ text: String) {
        write(Array(text.utf8))
    }

    /// Writes a document and a line end, indented for people if `isPretty`, by default on a terminal.
    static func write(document: [UInt8], isPretty: Bool?) {
        let shown = isPretty ?? outputIsTerminal ? XMLIndentation.indented(document) ?? document : document
        write(shown.last == UInt8(ascii: "\n") ? shown : shown + [UInt8(ascii: "\n")])
    }

    static func write(_ bytes: [UInt8]) {
        put(bytes, to: 1)
    }

    /// Writes one line `isthmus: TEXT` to standard error.
    static func complain(_ text: String) {
        put(Array("isthmus: \(text)\n".utf8), to: 2)
    }

    /// Writes text to standard error unchanged: usage messages, reports, progress, logs.
    static func complainVerbatim(_ text: String) {
        put(Array(text.utf8), to: 2)
    }

    static var errorIsTerminal: Bool { isatty(2) == 1 }
    static var outputIsTerminal: Bool { isatty(1) == 1 }

    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    static func exit(_ code: Int32) -> Never {
        Glibc.exit(code)
    }

    private static func put(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            sent += count
        }
    }
}
