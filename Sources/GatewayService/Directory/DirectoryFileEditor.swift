import Administration
import Foundation
import SIPCore
import SIPSecurity
import UserDirectory

/// Changes whole entries in a file of users and leaves all other lines, including comments, unchanged.
///
/// The result is parsed before it replaces the file: an entry that is not written with one key per line is refused.
package struct DirectoryFileEditor {
    let path: String

    package init(path: String) { self.path = path }

    /// Adds a user.
    /// - Parameters:
    ///   - replaces: Whether an existing entry of the user is replaced.
    ///   - hint: What the refusal of an existing entry ends with.
    /// - Throws: `ServiceFailure`; the file is then unchanged.
    package func put(_ user: DirectoryUser, replaces: Bool, hint: String = "") throws(ServiceFailure) {
        try change { text, file throws(ServiceFailure) in
            var text = text
            if let line = file.lines[user.key] {
                guard replaces else {
                    throw ServiceFailure("\(path):\(line): \(user.uri) is there already\(hint)")
                }
                text = Self.removing(line, from: text)
            }
            return (Self.appending(user, to: text), file.users.filter { $0.key != user.key } + [user])
        }
    }

    /// Removes the user with this `aorKey`.
    package func remove(_ key: String) throws(ServiceFailure) {
        try change { text, file throws(ServiceFailure) in
            guard let line = file.lines[key] else { throw ServiceFailure("\(path): no user \(key)") }
            return (Self.removing(line, from: text), file.users.filter { $0.key != key })
        }
    }

    // MARK: text

    /// Lines of a user's entry.
    static func entry(of user: DirectoryUser) -> [String] {
        var lines = ["  \(JSONText.string(user.uri.description)):"]
        func add(_ key: String, _ value: String) { lines.append("    \(key): \(value)") }
        for field in DirectoryField.allCases {
            if let text = user[field] { add(field.rawValue, JSONText.string(text)) }
        }
        if !user.isEnabled { add("enabled", "false") }
        if user.isHidden { add("hidden", "true") }
        for (key, list) in [("secondary-uris", user.secondaryURIs), ("other-emails", user.otherEmails)] where !list.isEmpty {
            add(key, "[\(list.map { JSONText.string($0) }.joined(separator: ", "))]")
        }
        for (key, path) in [("rules", user.rulesFile), ("lists", user.listsFile)] { if let path { add(key, JSONText.string(path)) } }
        if let verifiers = user.verifiers { add("verifiers", JSONText.string(verifiers.text)) }
        if lines.count == 1 { lines[0] += " {}" }
        return lines
    }

    /// The lines of a text, without LF. CR stays at the end of a line: as Characters, CR LF would not be split.
    private static func lines(of text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func appending(_ user: DirectoryUser, to text: String) -> String {
        var lines = Self.lines(of: text)
        // New lines end as the first line does.
        let ending = lines.first?.utf8.last == UInt8(ascii: "\r") ? "\r" : ""
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        if let place = lines.firstIndex(where: { $0.hasPrefix("users:") }) {
            let rest = lines[place].dropFirst("users:".count).filter { !$0.isWhitespace }
            if rest == "{}" || rest == "null" || rest == "~" { lines[place] = "users:" + ending }
        } else {
            lines.append("users:" + ending)
        }
        return (lines + entry(of: user).map { $0 + ending }).joined(separator: "\n") + "\n"
    }

    /// Removes the entry that starts at a line, counted from 1, with the more indented lines below it.
    private static func removing(_ line: Int, from text: String) -> String {
        var lines = Self.lines(of: text)
        guard lines.indices.contains(line - 1) else { return text }
        func indentation(_ line: String) -> Int { line.prefix { $0 == " " }.count }
        let own = indentation(lines[line - 1])
        var end = line
        var keep = line
        while end < lines.count {
            let isBlank = lines[end].allSatisfy(\.isWhitespace)
            guard isBlank || indentation(lines[end]) > own else { break }
            end += 1
            if !isBlank { keep = end }
        }
        lines.removeSubrange((line - 1)..<keep)
        return lines.joined(separator: "\n")
    }

    // MARK: file

    private func change(
        _ edit: (String, DirectoryFile) throws(ServiceFailure) -> (text: String, users: [DirectoryUser])
    ) throws(ServiceFailure) {
        let directory = (path as NSString).deletingLastPathComponent
        let lock = open(directory.isEmpty ? "." : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw ServiceFailure("\(path): \(String(cString: strerror(errno)))") }
        defer { close(lock) }
        // Lock, so that concurrent changes are not lost.
        flock(lock, LOCK_EX)
        let text = FileManager.default.fileExists(atPath: path) ? try InputFile.text(path) : ""
        let (changed, users) = try edit(text, try DirectoryFile.parse(text, path))
        let again = try? DirectoryFile(reading: changed, file: path)
        guard let again, Set(again.users) == Set(users), again.users.count == users.count else {
            throw ServiceFailure(
                "\(path): its entries are not written one key per line, so that they cannot be changed here; change it by hand")
        }
        try Self.replace(path, with: changed)
    }

    /// Replaces the file atomically: writes a new file beside it with the owner and mode of the old one (0600 if there is none), then
    /// renames it.
    private static func replace(_ path: String, with text: String) throws(ServiceFailure) {
        let temporary = "\(path).\(getpid()).new"
        func fail() -> ServiceFailure {
            let reason = String(cString: strerror(errno))
            unlink(temporary)
            return ServiceFailure("\(path): cannot be written: \(reason)")
        }
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fail() }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fail() }
            rest = rest.dropFirst(count)
        }
        var status = stat()
        if stat(path, &status) == 0 {
            // Only root can give a file away; others own the file, or get a new one that is theirs.
            if geteuid() == 0, fchown(descriptor, status.st_uid, status.st_gid) != 0 { throw fail() }
            guard fchmod(descriptor, status.st_mode & 0o777) == 0 else { throw fail() }
        }
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw fail() }
    }
}
