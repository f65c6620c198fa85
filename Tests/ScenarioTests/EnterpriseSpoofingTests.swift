import FederationRouting
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Testing

/// What somebody else could try on an enterprise user whose home this node is: erin@pool.example.net, whose endpoint is a known host.
@Suite struct EnterpriseSpoofingTests {
    private static let erin = "sip:erin@pool.example.net"
    private static let membersType = "application/msrtc-setcontainermembers+xml"
    private static let publishType = "application/msrtc-category-publish+xml"

    /// The border, with erin behind it and clara, who watches her from a federated domain.
    private final class World {
        let border: BorderWorld
        let home: CategoryPublisher
        let clara: SimpleWatcher
        private var number = 0

        init() throws {
            border = try BorderWorld { configuration in
                configuration.domains["pool.example.net"] = DomainConfiguration(side: .enterprise, hosted: true)
                configuration.domains["pool.example.net"]?.federation.trust = DomainTrust(peers: "192.0.2.41") ?? DomainTrust()
                configuration.domains["example.com"]?.federation.network = .publicCloud
            }
            home = CategoryPublisher(
                name: "home", presentity: erin, address: TransportAddress(.udp, "192.0.2.41", 5060), nextHop: border.nobody.target, seed: 6)
            let place = TransportAddress(.tls, "192.0.2.22", 5061)
            clara = SimpleWatcher(
                name: "clara", watcher: "sip:clara@example.org", presentity: erin, address: place, nextHop: border.mallory.target, seed: 6)
            border.network.attach(home, name: "home", at: [home.address])
            border.network.attach(clara, name: "clara", at: [place], proving: BorderWorld.certificate("example.org"))
            // Container 100 is for federated watchers; everybody else sees container 0.
            let helper = UnauthorizedPeer(address: TransportAddress(.udp, "192.0.2.41", 5070), target: border.nobody.target)
            border.network.attach(helper, name: "helper", at: [helper.address])
            try border.says(helper, service(membersType, members("type=\"federated\"", in: 100), as: erin, by: helper))
            #expect(helper.statuses == [200])
            home.publish([state(18_500, in: 0), state(3_500, in: 100)], at: border.network.now)
            clara.subscribe(at: border.network.now)
            try border.network.run(for: .seconds(2))
        }

        func state(_ availability: Int, in container: Int) -> CategoryPublisher.Publication {
            .init(
                "state", instance: 1, container: container,
                body:
                    "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                    + "xsi:type=\"aggregateState\"><availability>\(availability)</availability></state>")
        }

        func members(_ member: String, in container: Int) -> String {
            "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\"><container id=\"\(container)\" "
                + "version=\"0\"><member action=\"add\" \(member)/></container></setContainerMembers>"
        }

        func service(_ type: String, _ body: String, as user: String, of presentity: String = erin, by unauthorizedPeer: UnauthorizedPeer)
            -> SIPRequest
        {
            number += 1
            var request = SIPRequest(.service, requestURI: presentity)
            request.headers.append(.maxForwards, "70")
            request.headers.append(.from, "<\(user)>;tag=evil\(number);epid=0011223344")
            request.headers.append(.to, "<\(presentity)>")
            request.headers.append(.callID, "service\(number)")
            request.headers.append(.contentType, type)
            request.body = Array(body.utf8)
            return border.renewed(request, by: unauthorizedPeer)
        }

        /// What clara and erin's endpoint could notice, besides what the others could.
        var sight: [String] {
            let toThem = border.network.transcript.entries.filter { ["clara", "home"].contains($0.to) && $0.fate == .delivered }
            return ["\(border.sight)", "\(clara.notifications.count)", clara.presence?.basic ?? "", "\(toThem.count)"]
        }
    }

    @Test("MS-SIPRE 2.2.15: a partner's forged network moves nobody into another container", arguments: ["ms-source-network", "mark"])
    func network(header: String) throws {
        let world = try World()
        #expect(world.clara.presence?.basic == "open", "federated watchers see container 100")
        let before = world.sight
        let forged: (SIPHeaderName, String) =
            header == "mark"
            ? (.msEdgeProxyMessageTrust, "ms-source-type=DirectPartner;ms-ep-fqdn=edge1.example.net;ms-source-network=federation")
            : (.msSourceNetwork, "federation")
        let mallory = world.border.mallory
        try world.border.says(
            mallory, world.border.subscribe("sip:mallory@example.com", to: Self.erin, by: mallory, extra: [forged]))
        #expect(mallory.statuses.first == 200)
        let shown = mallory.requests.filter { $0.method == .notify }.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(!shown.isEmpty && shown.allSatisfy { $0.contains("<basic>closed</basic>") }, "\(shown)")
        #expect(world.sight.dropFirst() == before.dropFirst())
    }

    @Test("MS-PRES 3.2.5.4: nobody else publishes erin's categories, fills her containers, reads her own data or signs in as her")
    func ownData() throws {
        let world = try World()
        let border = world.border
        let publication =
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"\(Self.erin)\"><publication "
            + "categoryName=\"state\" instance=\"1\" container=\"100\" version=\"1\" expireType=\"time\" expires=\"0\"/></publications></publish>"
        let before = world.sight
        func attempts(as user: String, by unauthorizedPeer: UnauthorizedPeer) -> [SIPRequest] {
            var own = border.subscribe(user, to: Self.erin, by: unauthorizedPeer)
            own.headers.set(.event, "vnd-microsoft-roaming-self")
            own.headers.set(.accept, "application/vnd-microsoft-roaming-self+xml")
            own.headers.set(.contentType, "application/vnd-microsoft-roaming-self+xml")
            own.body = Array(
                "<roamingList xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\"><roaming type=\"containers\"/></roamingList>"
                    .utf8)
            var register = own
            register.method = .register
            register.headers.set(.event, "registration")
            register.headers.remove(.contentType)
            register.body = []
            return [
                world.service(Self.publishType, publication, as: user, by: unauthorizedPeer),
                world.service(Self.membersType, world.members("type=\"publicCloud\"", in: 100), as: user, by: unauthorizedPeer),
                own, border.renewed(register, by: unauthorizedPeer),
            ]
        }
        for unauthorizedPeer in [border.mallory, border.nobody] {
            for request in attempts(as: Self.erin, by: unauthorizedPeer) { try border.says(unauthorizedPeer, request) }
            #expect(unauthorizedPeer.statuses == [403, 403, 403, 403])
        }
        // In her own name she gets as far: she is not erin.
        for request in attempts(as: "sip:mallory@example.com", by: border.mallory) { try border.says(border.mallory, request) }
        let own = border.mallory.statuses.dropFirst(4)
        #expect(own.count == 4 && own.allSatisfy { (400..<500).contains($0) }, "\(own)")
        // And what erin's endpoint said is not taken once more from anybody else.
        let heard = try #require(border.overheardRequest("SERVICE", from: "home", to: "gateway"))
        for unauthorizedPeer in [border.mallory, border.nobody] {
            try border.says(unauthorizedPeer, border.renewed(heard, by: unauthorizedPeer))
        }
        #expect(border.mallory.statuses.last == 403 && border.nobody.statuses.last == 403)
        #expect(world.sight == before)
        #expect(border.mallory.requests.isEmpty && border.nobody.requests.isEmpty)
        // Erin's own endpoint goes on with the versions that it knows: nothing was published in between.
        world.home.publish([world.state(18_500, in: 100)], at: border.network.now)
        try border.network.run(for: .seconds(10))
        #expect(world.home.lastAnswer?.status == .ok && world.home.conflicts == 0)
        #expect(world.clara.presence?.basic == "closed")
    }
}
