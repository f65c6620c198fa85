import PresenceGateway
import SIPCore
import Testing

/// A hosted user who lives as users do, and at one moment blocks some watchers or signs off.
final class LivingUser {
    static let name = RecordingWatcher.presentity
    private unowned let rig: BlockedRig
    /// Whether it publishes for watchers that are in no container of its own, too.
    private let usesDefaultContainer: Bool
    private let address = TransportAddress(.tcp, "192.0.2.30", 5060)
    private var connection: UInt64 = 1_000
    private var serial = 0
    /// Versions by key, and what each request that is not answered was about.
    private var versions: [String: Int] = [:]
    private var asked: [String: (key: String, isRemoval: Bool)] = [:]
    private var entityTag: String?

    init(_ rig: BlockedRig, usesDefaultContainer: Bool) {
        self.rig = rig
        self.usesDefaultContainer = usesDefaultContainer
        rig.join(address) { [self] in receive($0) }
    }

    /// Puts the watchers into container 32000, by one request.
    func blocks(_ members: [String]) { setMembers(32_000, members) }

    /// What clients put into container 32000 for those who are in there (MS-PRES 4.4.2).
    func fillsBlockedContainer() {
        let plausible: [Bench.Publication] = [
            .state(18_500, in: 32_000),
            .init(name: "note", body: "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"/>", container: 32_000),
            .init(name: "services", body: "<services xmlns=\"http://schemas.microsoft.com/2006/09/sip/service\"/>", container: 32_000),
            .legacyInterop(18_500, in: 32_000),
            .init(
                name: "contactCard",
                body: "<contactCard xmlns=\"http://schemas.microsoft.com/2006/09/sip/contactcard\"><identity><name><displayName>Rob"
                    + "</displayName></name></identity></contactCard>", container: 32_000),
        ]
        plausible.forEach { publish($0) }
    }

    /// Signs off cleanly: withdraws the document (RFC 3903 4.5), and the last endpoint goes (MS-PRES 3.2.5.5), all in one tick.
    func signsOff() {
        if let entityTag {
            rig.give(
                request("PUBLISH", "", "", expires: 0, ifMatch: entityTag).text, from: address,
                connection: ConnectionID(rawValue: connection))
        }
        rig.close(ConnectionID(rawValue: connection))
    }

    /// Moments end in 0, so that they never meet those of watchers.
    /// - Parameter isOpen: whether it begins as one whom partners and colleagues see.
    func lives(_ random: SplitMix, isOpen: Bool, until end: Int) {
        var random = random
        guard end > 10 else { return }
        rig.at(10) { [self] in
            // A container that always has a member decides that those in none are in none.
            setMembers(400, ["user:friend@contoso.com", "user:keeper@contoso.com"])
            if isOpen { setMembers(300, ["federated", "sameEnterprise"]) }
        }
        var moment = 20
        while moment < end {
            let chance = random
            rig.at(moment) { [self] in act(chance) }
            _ = random.next()
            _ = random.next()
            moment += random.number(1...1_400) * 10
        }
    }

    private func act(_ chance: SplitMix) {
        var random = chance
        let containers = usesDefaultContainer ? [0, 2, 3, 100, 200, 300, 400] : [2, 3, 100, 200, 300, 400]
        switch random.number(0...19) {
        case 0...6:
            let container = random.pick(containers)
            var publication: Bench.Publication
            var lifetimes = ["static", "static", "user", "endpoint", "time"]
            switch random.number(0...6) {
            case 0, 1:
                let availability = random.pick([3_500, 5_000, 6_500, 9_500, 15_500, 18_500])
                publication = .state(availability, in: container)
                if [2, 3].contains(container) {
                    // Into 2 and 3 go inputs, of which the server computes what the others see (MS-PRES 3.8.5).
                    let type = random.pick(["userState", "machineState", "calendarState"])
                    publication.body = publication.body.replacingOccurrences(of: "aggregateState", with: type)
                    if type != "userState" { lifetimes = ["user", "endpoint"] }
                } else if availability < 18_000 {
                    // A client that says where its user is lets that end with its sign-off.
                    lifetimes = ["user", "endpoint"]
                }
            case 2: publication = .note("note \(random.number(1...9))", in: container)
            case 3:
                publication = .legacyInterop(random.pick([3_500, 6_500, 9_500]), in: container)
                lifetimes = ["user", "endpoint"]
            case 4: publication = BlockedCardTests.card("+1555010\(random.number(10...99))", in: container)
            case 5:
                publication = .init(
                    name: random.pick(["routing", "userInformation"]), body: "<x xmlns=\"urn:example:private\"/>", container: container)
            default:
                publication = .init(
                    name: "services", body: "<services xmlns=\"http://schemas.microsoft.com/2006/09/sip/service\"/>", container: container)
            }
            publication.instance = random.number(7...9)
            publication.expireType = random.pick(lifetimes)
            if publication.expireType == "time" { publication.expires = random.number(1...60) }
            publish(publication)
        case 7, 8:
            let container = random.pick(containers)
            var removal = Bench.Publication(
                name: random.pick(["state", "note", "services", "contactCard"]), body: "", container: container)
            removal.instance = random.number(7...9)
            removal.expires = 0
            publish(removal)
        case 9:
            // Refused: nobody learns of it either.
            send("SERVICE", "application/msrtc-category-publish+xml", "<publish/>")
        case 10...12:
            let sign = random.pick(["", "", "-"])
            let member = random.pick([
                "federated", "sameEnterprise", "user:friend@contoso.com", "user:ulla@contoso.com", "user:otto@fabrikam.com",
                "domain:example.org", "domain:contoso.com", "domain:fabrikam.com",
            ])
            setMembers(random.pick([100, 200, 300, 400]), [sign + member])
        case 13:
            setMembers(32_000, [random.pick(["", "-"]) + "user:somebody@contoso.com"])
            if random.number(0...1) == 0 { fillsBlockedContainer() }
        case 14...17:
            let activity = random.pick(["busy", "away", "on-the-phone", nil])
            let body = Bench.pidf(
                Self.name, basic: random.pick(["open", "closed"]), activity: activity, note: random.pick(["hi", nil]))
            let isOver = random.number(0...3) == 0
            send(
                "PUBLISH", "application/pidf+xml", entityTag != nil && isOver ? "" : body, expires: isOver ? 0 : random.pick([60, 90, 600]))
        default:
            rig.close(ConnectionID(rawValue: connection))
            connection += 1
        }
    }

    private func publish(_ publication: Bench.Publication) {
        var publication = publication
        let key = "\(publication.name)/\(publication.container)/\(publication.instance)"
        publication.version = versions[key, default: 0]
        let id = send(
            "SERVICE", "application/msrtc-category-publish+xml", Bench.publishBody(Self.name, [publication]))
        asked[id] = (key, publication.expires == 0)
        settle(id)
    }

    private func setMembers(_ container: Int, _ members: [String]) {
        let key = "members/\(container)"
        let id = send(
            "SERVICE", "application/msrtc-setcontainermembers+xml",
            Bench.membersBody(container, version: versions[key, default: 0], members.map { Bench.member($0) }))
        asked[id] = (key, false)
        settle(id)
    }

    private var answers: [String: SIPResponse] = [:]

    private func receive(_ message: SIPMessage) {
        guard case .response(let response) = message, let id = response.headers.callID else { return }
        if let tag = response.headers.sipETag { entityTag = response.headers.expires == 0 ? nil : tag }
        if response.status.rawValue == 412 { entityTag = nil }
        answers[id] = response
    }

    /// Takes over what the answer says about versions.
    private func settle(_ id: String) {
        guard let (key, isRemoval) = asked.removeValue(forKey: id), let response = answers.removeValue(forKey: id) else { return }
        if response.status == .ok {
            versions[key] = isRemoval ? nil : versions[key, default: 0] + 1
        } else if let number = response.text.split(separator: "curVersion=\"").dropFirst().first?.prefix(while: { $0.isNumber }) {
            versions[key] = Int(number)
        }
    }

    @discardableResult
    private func send(_ method: String, _ type: String, _ body: String, expires: Int? = nil) -> String {
        let (id, text) = request(method, type, body, expires: expires, ifMatch: entityTag)
        rig.send(text, from: address, connection: ConnectionID(rawValue: connection))
        return id
    }

    private func request(_ method: String, _ type: String, _ body: String, expires: Int?, ifMatch: String?) -> (id: String, text: String) {
        serial += 1
        let id = "user\(serial)"
        let headers =
            method == "PUBLISH"
            ? "Event: presence\r\nExpires: \(expires ?? 600)\r\n" + (ifMatch.map { "SIP-If-Match: \($0)\r\n" } ?? "")
            : "Contact: <sip:192.0.2.30:5060>;+sip.instance=\"<urn:uuid:221ef77e-3a68-5570-86ed-6ea5bd4b7ff8>\"\r\n"
        return (
            id,
            "\(method) sip:\(Self.name) SIP/2.0\r\nVia: SIP/2.0/TCP 192.0.2.30:5060;branch=z9hG4bK\(id)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:\(Self.name)>;tag=u\r\nTo: <sip:\(Self.name)>\r\nCall-ID: \(id)\r\nCSeq: 1 \(method)\r\n" + headers
                + (body.isEmpty ? "" : "Content-Type: \(type)\r\n") + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}
