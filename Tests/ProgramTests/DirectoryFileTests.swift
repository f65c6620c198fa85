import Foundation
import SIPCore
import SIPSecurity
import Testing
import UserDirectory

@testable import GatewayService
@testable import isthmus

@Suite struct DirectoryFileTests {
    static let example = """
        # Who works here.
        users:
          sip:bob@contoso.com:
            display-name: Bob Baker
            email: bob@contoso.com
            work-phone: "+1 555 0100"
            secondary-uris: [ "sip:baker@contoso.com" ]
            other-emails: [ baker@contoso.com ]
          # The lobby has no person.
          "sip:lobby@contoso.com": { display-name: Lobby, hidden: true, enabled: false }
          sip:carol@contoso.com:
        """

    @Test("every key of an example becomes a value") func example() throws {
        let file = try DirectoryFile(reading: Self.example, file: "users.yaml")
        #expect(file.users.map(\.uri.description) == ["sip:bob@contoso.com", "sip:lobby@contoso.com", "sip:carol@contoso.com"])
        let bob = file.users[0]
        #expect(bob.displayName == "Bob Baker")
        #expect(bob.email == "bob@contoso.com")
        #expect(bob.phone == "+1 555 0100")
        #expect(bob.secondaryURIs == ["sip:baker@contoso.com"])
        #expect(bob.otherEmails == ["baker@contoso.com"])
        #expect(bob.isEnabled && !bob.isHidden)
        #expect(!file.users[1].isEnabled && file.users[1].isHidden)
        #expect(file.lines["sip:carol@contoso.com"] == 11)
    }

    @Test("nothing but comments, and no users, are empty directories", arguments: ["", "# none yet\n", "users:\n", "users: {}\n"])
    func empty(_ text: String) throws {
        #expect(try DirectoryFile(reading: text, file: "users.yaml").users.isEmpty)
    }

    static let mistakes: [(text: String, position: String, part: String)] = [
        ("user: {}", "1:1", "unknown key"),
        ("users: [ sip:bob@contoso.com ]", "1:8", "must be a mapping"),
        ("users:\n  bob@contoso.com: {}", "2:3", "must be a SIP URI of the form sip:user@domain (MS-PRES 8.3)"),
        ("users:\n  sip:bob@contoso.com: { shoe-size: 43 }", "2:26", "unknown key; known here: display-name"),
        ("users:\n  sip:bob@contoso.com: { email: bob }", "2:33", "\"bob\" must be a mail address"),
        ("users:\n  sip:bob@contoso.com: { enabled: yes }", "2:35", "must be true or false"),
        ("users:\n  sip:bob@contoso.com: {}\n  sip:bob@CONTOSO.com: {}", "3:3", "is the user of line 2 once more"),
        ("users:\n  sip:bob@contoso.com: {}\n  sip:bob@contoso.com: {}", "2:3", "more than once"),
        ("users:\n  sip:bob@contoso.com: { other-emails: [ x ] }", "2:42", "mail address"),
        ("users:\n  sip:bob@contoso.com: { secondary-uris: [ baker ] }", "2:44", "SIP URI"),
        ("users: {", "2:1", "not valid YAML"),
    ]

    @Test("a mistake is reported with its line, column, key and rule", arguments: mistakes)
    func mistake(text: String, position: String, part: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try DirectoryFile(reading: text, file: "users.yaml") }
        #expect(error.lines.count == 1)
        #expect(error.lines[0].hasPrefix("users.yaml:\(position):"), "\(error.lines[0])")
        #expect(error.lines[0].contains(part), "\(error.lines[0])")
    }

    @Test("verifiers that cannot be read, or are another's, are refused without being repeated")
    func secrets() throws {
        let nt = String(repeating: "a", count: 32)
        let sha = String(repeating: "c", count: 64)
        for (verifiers, part) in [
            ("v1 bob contoso.com nt=\(nt) md5=\(nt)", "cannot be read"),
            ("v1 bob fabrikam.com nt=\(nt) md5=\(nt) sha256=\(sha)", "another domain"),
            ("v1 carol contoso.com nt=\(nt) md5=\(nt) sha256=\(sha)", "another account"),
        ] {
            let error = try #require(throws: ConfigurationError.self) {
                try DirectoryFile(reading: "users:\n  sip:bob@contoso.com: { verifiers: \"\(verifiers)\" }", file: "users.yaml")
            }
            #expect(error.lines.count == 1)
            #expect(error.lines[0].contains(part) && !error.lines[0].contains(nt), "\(error.lines[0])")
        }
    }
}

/// `isthmus user`, on temporary files.
@Suite struct UserCommandTests {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-users-\(UUID().uuidString)")
    var file: String { directory.appendingPathComponent("users.yaml").path }

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

    func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    @Test("a new file is made for its owner only, and holds the user")
    func create() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(
            await Isthmus.run([
                "user", "add", "sip:bob@contoso.com", "--file", file, "--no-password", "--display-name", "Bob \"B\" Baker",
                "--set", "office=7/110: west",
            ]) == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        let users = try DirectoryFile.read(file).users
        #expect(users.map(\.displayName) == ["Bob \"B\" Baker"])
        #expect(users[0][.office] == "7/110: west")
        #expect(users[0].verifiers == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["users.yaml"])
        #expect(await Isthmus.run(["user", "list", "--file", file]) == 0)
    }

    @Test("a second entry of one user is refused unless it replaces the first; comments and other users stay")
    func replace() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try (DirectoryFileTests.example + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let add = ["user", "add", "sip:bob@Contoso.com", "--file", file, "--no-password", "--email", "b@contoso.com"]
        #expect(await Isthmus.run(add) == 1)
        #expect(try text() == DirectoryFileTests.example + "\n")
        #expect(await Isthmus.run(add + ["--replace"]) == 0)
        let users = try DirectoryFile.read(file).users
        #expect(users.count == 3)
        #expect(users.first { $0.key == "sip:bob@contoso.com" }?.email == "b@contoso.com")
        #expect(try text().contains("# Who works here.") && text().contains("# The lobby has no person."))
    }

    @Test("a file whose lines end in CR LF is changed like others: the other lines stay as they are, new ones end in CR LF")
    func carriageReturns() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let lines = ["# Staff.", "users:", "  sip:bob@contoso.com:", "    email: bob@contoso.com", "  sip:carol@contoso.com: {}", ""]
        try lines.joined(separator: "\r\n").write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            await Isthmus.run(["user", "add", "sip:dan@contoso.com", "--file", file, "--no-password", "--email", "d@contoso.com"]) == 0)
        #expect(await Isthmus.run(["user", "remove", "sip:bob@contoso.com", "--file", file]) == 0)
        #expect(try DirectoryFile.read(file).users.map(\.key).sorted() == ["sip:carol@contoso.com", "sip:dan@contoso.com"])
        let changed = try text()
        #expect(changed.hasPrefix("# Staff.\r\nusers:\r\n  sip:carol@contoso.com: {}\r\n"))
        #expect(changed.utf8.count { $0 == UInt8(ascii: "\r") } == changed.utf8.count { $0 == UInt8(ascii: "\n") })
    }

    @Test("a user is removed with his lines and no others; one who is not there is refused")
    func remove() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try DirectoryFileTests.example.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(await Isthmus.run(["user", "remove", "sip:bob@contoso.com", "--file", file]) == 0)
        #expect(
            try text() == """
                # Who works here.
                users:
                  # The lobby has no person.
                  "sip:lobby@contoso.com": { display-name: Lobby, hidden: true, enabled: false }
                  sip:carol@contoso.com:
                """)
        #expect(await Isthmus.run(["user", "remove", "sip:bob@contoso.com", "--file", file]) == 1)
        for user in ["lobby", "carol"] { #expect(await Isthmus.run(["user", "remove", "sip:\(user)@contoso.com", "--file", file]) == 0) }
        #expect(try DirectoryFile.read(file).users.isEmpty)
        #expect(await Isthmus.run(["user", "add", "sip:dan@contoso.com", "--file", file, "--no-password"]) == 0)
        #expect(try DirectoryFile.read(file).users.map(\.key) == ["sip:dan@contoso.com"])
    }

    @Test("a file whose entries stand in one line, or that has mistakes, is refused and stays as it is")
    func unchangeable() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        for text in ["users: { sip:bob@contoso.com: {}, sip:carol@contoso.com: {} }\n", "users:\n  bob: {}\n"] {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            #expect(await Isthmus.run(["user", "remove", "sip:bob@contoso.com", "--file", file]) == 1)
            #expect(await Isthmus.run(["user", "add", "sip:dan@contoso.com", "--file", file, "--no-password"]) == 1)
            #expect(try self.text() == text)
        }
    }

    @Test("a changed file keeps its mode and its owner, so that the service that reads it still can")
    func mode() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try DirectoryFileTests.example.write(toFile: file, atomically: true, encoding: .utf8)
        var before = stat()
        // Only root can give a file away.
        if geteuid() == 0 { #expect(chown(file, 65_534, 65_534) == 0) }
        #expect(chmod(file, 0o640) == 0 && stat(file, &before) == 0)
        #expect(await Isthmus.run(["user", "remove", "sip:bob@contoso.com", "--file", file]) == 0)
        var after = stat()
        #expect(stat(file, &after) == 0 && after.st_ino != before.st_ino)
        #expect(after.st_mode == before.st_mode && after.st_uid == before.st_uid && after.st_gid == before.st_gid)
    }

    @Test("what is no user is refused before the file is touched")
    func refused() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(await Isthmus.run(["user", "add", "bob", "--file", file, "--no-password"]) == 1)
        #expect(await Isthmus.run(["user", "add", "sip:bob@contoso.com", "--file", file, "--no-password", "--email", "bob"]) == 1)
        #expect(await Isthmus.run(["user", "add", "sip:bob@contoso.com", "--file", file, "--no-password", "--set", "shoe=43"]) == 2)
        #expect(await Isthmus.run(["user", "add", "sip:bob@contoso.com", "--file", file, "--no-password", "--password-stdin"]) == 2)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(await Isthmus.run(["user", "list", "--file", file]) == 1)
        #expect(await Isthmus.run(["user", "add", "sip:b@contoso.com", "--file", "/no/such/place/u.yaml", "--no-password"]) == 1)
    }

    @Test("a password on standard input becomes verifiers and is in the file nowhere")
    func password() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = Process()
        // Built beside this test program.
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("isthmus")
        process.arguments = ["user", "add", "sip:bob@contoso.com", "--file", file, "--password-stdin"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(Data("correct horse battery\nanother line\n".utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let bob = try #require(try DirectoryFile.read(file).users.first)
        #expect(bob.verifiers?.user == "bob")
        #expect(bob.verifiers?.realm == "contoso.com")
        #expect(try !text().contains("correct"))
    }
}
