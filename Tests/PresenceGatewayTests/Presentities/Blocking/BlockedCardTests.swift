import PresenceGateway
import SIPCore
import Testing
import UserDirectory

/// A category that a client publishes for others, and not into container 32000, stays hidden from a blocked watcher (MS-PRES 3.2.5.3).
@Suite struct BlockedCardTests {
    static let number = "+15550142"

    /// The ways in which a watcher can ask for presence.
    struct Form: CustomTestStringConvertible, Sendable {
        var name: String
        var watcher: String
        var accept: String
        var extra = ""
        var isCategories = false

        var testDescription: String { name }
    }

    static let forms = [
        Form(
            name: "categories", watcher: "eve@contoso.com", accept: Bench.categoryTypes, extra: "Supported: eventlist\r\n",
            isCategories: true),
        Form(name: "msrtc.pidf", watcher: "eve@contoso.com", accept: "text/xml+msrtc.pidf"),
        Form(name: "PIDF", watcher: "eve@example.org", accept: "application/pidf+xml"),
        Form(name: "partial PIDF", watcher: "eve@example.org", accept: "application/pidf-diff+xml, application/pidf+xml"),
        Form(name: "xpidf", watcher: "eve@example.org", accept: "application/xpidf+xml"),
    ]

    static func card(_ number: String, in container: Int, version: Int = 0) -> Bench.Publication {
        Bench.Publication(
            name: "contactCard",
            body:
                "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><phone type=\"work\" visibility=\"\"><uri>tel:"
                + "\(number)</uri></phone></contactCard>", container: container, version: version, instance: 3)
    }

    /// Subscribes, and returns everything that the watcher is sent in answer.
    static func watch(_ bench: Bench, _ form: Form, as watcher: String, expires: Int = 3_600) throws -> String {
        let peer = watcher.hasSuffix("example.org") ? Bench.simple : Bench.enterprise
        bench.send(
            bench.subscribe(
                watcher, to: "bob@fabrikam.com", accept: form.accept, expires: expires, extra: form.extra,
                body: form.isCategories
                    ? Bench.batchBody([
                        Bench.Action(resources: ["bob@fabrikam.com"], categories: ["state", "note", "contactCard", "services"])
                    ])
                    : "",
                contentType: form.isCategories ? "application/msrtc-adrl-categorylist+xml" : "", via: peer), from: peer)
        return try bench.nextResponse(200, at: peer).text + received(bench, at: peer)
    }

    static func received(_ bench: Bench, at peer: TransportAddress) throws -> String {
        try bench.takeNotifies(at: peer).map(\.text).joined()
    }

    @Test(
        "MS-PRES 3.2.5.3: a number that a user publishes for colleagues reaches a colleague, and no format carries it to a blocked watcher [R073, R093]",
        arguments: forms, [false, true])
    func card(form: Form, hasDirectory: Bool) throws {
        let bench = Bench(
            directory: hasDirectory
                ? try Fabrikam.directory(Fabrikam.user("bob", [.displayName: "Bob", .email: "bob@fabrikam.com"])) : .none)
        let peer = form.watcher.hasSuffix("example.org") ? Bench.simple : Bench.enterprise
        let friend = form.watcher.replacingOccurrences(of: "eve", with: "fred")
        for container in [100, 200, 300, 400] {
            try bench.setMembers("bob@fabrikam.com", container, container == 100 ? "federated" : "domain:colleagues.example.net")
        }
        try bench.setMembers("bob@fabrikam.com", 32_000, "user:\(form.watcher)")
        try bench.publish("bob@fabrikam.com", .legacyInterop(3_500, in: 100), .state(3_500, in: 100))
        var sent = try Self.watch(bench, form, as: form.watcher)
        var friends = try Self.watch(bench, form, as: friend)
        // Live, and to later polls.
        for (version, container) in [100, 200, 300, 400].enumerated() {
            try bench.publish("bob@fabrikam.com", Self.card("\(Self.number)\(version)", in: container))
            for notify in try bench.takeNotifies(at: peer) {
                if notify.headers.to?.uri.description.contains("fred") == true { friends += notify.text } else { sent += notify.text }
            }
        }
        try bench.publish("bob@fabrikam.com", Self.card("+15550199", in: 100, version: 1))
        for notify in try bench.takeNotifies(at: peer) {
            if notify.headers.to?.uri.description.contains("fred") == true { friends += notify.text } else { sent += notify.text }
        }
        sent += try Self.watch(bench, form, as: form.watcher, expires: 0)
        #expect(!sent.contains("155501"), "\(sent)")
        #expect(!sent.contains("3500"), "\(sent)")
        #expect(!sent.isEmpty)
        // xpidf has no place for a number, and msrtc.pidf has the number of the directory.
        if form.name != "xpidf", form.name != "msrtc.pidf" || !hasDirectory {
            #expect(friends.contains("+15550142") && friends.contains("+15550199"))
        }
    }

    @Test(
        "MS-PRES 3.2.5.3: a block by domain outweighs a container of the watcher's class, and leaves one with the watcher's name its right [R074, R075]"
    )
    func precedence() throws {
        let bench = Bench()
        try bench.setMembers("bob@fabrikam.com", 100, "federated")
        try bench.setMembers("bob@fabrikam.com", 400, "user:fred@contoso.com")
        try bench.setMembers("bob@fabrikam.com", 32_000, "domain:contoso.com")
        try bench.publish("bob@fabrikam.com", Self.card("+15550142", in: 100), Self.card("+15550199", in: 400))
        #expect(try !Self.watch(bench, Self.forms[0], as: "eve@contoso.com").contains("155501"))
        #expect(try Self.watch(bench, Self.forms[0], as: "fred@contoso.com").contains("+15550199"))
        #expect(try Self.watch(bench, Self.forms[2], as: "dan@example.org").contains("+15550142"))
    }
}
