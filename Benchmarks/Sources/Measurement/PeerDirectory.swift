import Glibc

/// Temporary directory for the files of one peer.
public final class PeerDirectory {
    public let path: String

    public init?() {
        var template = Array("/tmp/isthmus-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a file.
    /// - Returns: Path of the file; nil when it cannot be written.
    public func write(_ text: String, to name: String) -> String? {
        guard let file = fopen("\(path)/\(name)", "w") else { return nil }
        defer { fclose(file) }
        fputs(text, file)
        return "\(path)/\(name)"
    }

    /// Removes the directory with its content.
    public func remove() { ChildProgram("/bin/rm", ["-rf", path], awaitsGreeting: false)?.wait() }
}
