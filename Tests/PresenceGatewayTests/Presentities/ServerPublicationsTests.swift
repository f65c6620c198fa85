import EnhancedPresence
import PresenceDocuments
import SIPCore
import Testing
import UserDirectory

@testable import PresenceGateway

/// Every transition of the server's own publications for one user.
@Suite struct ServerPublicationsTests {
    let start = Instant(nanosecondsSince1970: 1_795_342_380_000_000_000)
    private let card = PresentityChange(pairs: [ContainerCategory(category: .contactCard, container: .default)])

    private func user(_ name: String) throws -> DirectoryUser {
        var user = try DirectoryUser("sip:alice@contoso.com")
        try user.set(.displayName, name)
        return user
    }

    @Test("MS-PRES 3.2.6.2 the publications follow the directory entry")
    func use() throws {
        var server = ServerPublications()
        server.use(try user("Alice"))
        let first = server.list.first { $0.id.category == .contactCard }?.body
        #expect(first != nil)
        server.use(try user("Alice Liddell"))
        #expect(server.list.first { $0.id.category == .contactCard }?.body != first)
    }

    @Test("MS-PRES 3.2.6.2 a client that changes one of them starts the timer, and another change does not restart it")
    func timer() throws {
        var server = ServerPublications()
        server.use(try user("Alice"))
        server.changed(card, isUnchanged: false, at: start)
        #expect(server.due == start + ServerPublications.period)
        server.changed(card, isUnchanged: false, at: start + .seconds(30))
        #expect(server.due == start + ServerPublications.period)
    }

    @Test("a change of another category, or one that leaves them in force, starts no timer")
    func noTimer() throws {
        var server = ServerPublications()
        server.use(try user("Alice"))
        let note = PresentityChange(pairs: [ContainerCategory(category: .note, container: .default)])
        server.changed(note, isUnchanged: false, at: start)
        server.changed(card, isUnchanged: true, at: start)
        #expect(server.due == nil)
    }

    @Test("publishing again, or the loss of the directory entry, ends the timer")
    func ends() throws {
        var server = ServerPublications()
        server.use(try user("Alice"))
        server.changed(card, isUnchanged: false, at: start)
        server.use(try user("Alice"))
        #expect(server.due == nil)
        server.changed(card, isUnchanged: false, at: start)
        server.noEntry()
        #expect(server.due == nil)
        #expect(!server.list.isEmpty)
    }

    @Test("a removed user has no entry, and its return publishes again")
    func removed() throws {
        var server = ServerPublications()
        server.use(try user("Alice"))
        server.userEnded()
        #expect(server.user == nil)
        server.use(try user("Alice"))
        #expect(server.user != nil)
    }

    @Test("the record that blocked watchers see has the timer of the true presentity")
    func timerOfLook() throws {
        var live = ServerPublications()
        live.use(try user("Alice"))
        live.changed(card, isUnchanged: false, at: start)
        var look = ServerPublications()
        look.use(try user("Alice"))
        look.takeTimer(of: live)
        #expect(look.due == live.due)
    }
}
