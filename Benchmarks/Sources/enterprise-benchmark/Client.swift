import Glibc
import SIPCore

/// One signed-in user of the hosted domain: connection, dialogs and pending requests.
final class Client {
    enum Purpose: Int, CaseIterable {
        case register, contacts, contactList, selfState, members, batch, publish, poll, short
    }

    let index: Int
    let descriptor: Int32
    let port: Int
    var framer = StreamFramer()
    var output: [UInt8] = []
    var sent = 0
    var isWriting = false
    /// Purpose and time of pending requests, by number.
    var awaiting: [Int: (purpose: Purpose, since: UInt64)] = [:]
    var lastNumber = 0
    /// Version for the next publication of the user's own state.
    var stateVersion = 0
    var began: UInt64 = 0
    var isSignedIn = false
    var listLeft = 0
    /// Endpoint id that the registrar derived from the epid.
    var endpointID = ""

    init?(index: Int, gateway port: Int) {
        self.index = index
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let own = descriptor
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(own, $0, size) }
        }
        guard connected == 0 else {
            close(descriptor)
            return nil
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var local = sockaddr_in()
        var length = size
        withUnsafeMutablePointer(to: &local) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(own, $0, &length) }
        }
        self.port = Int(UInt16(bigEndian: local.sin_port))
    }

    var user: String { Self.user(index) }
    var epid: String { "e" + String(index, radix: 16) }
    static func user(_ index: Int) -> String { "u\(index)@contoso.com" }

    /// Queues one request and records its purpose.
    func ask(
        _ purpose: Purpose, _ method: String, to target: String, dialog: String, _ headers: [String], body: String = "", at now: UInt64
    ) {
        lastNumber += 1
        awaiting[lastNumber] = (purpose, now)
        let sequence = method == "REGISTER" ? 1 : lastNumber
        var text = "\(method) sip:\(target) SIP/2.0\r\n"
        text += "Via: SIP/2.0/TCP 127.0.0.1:\(port);branch=z9hG4bKn\(lastNumber)\r\n"
        text +=
            "Max-Forwards: 70\r\nFrom: <sip:\(user)>;tag=\(dialog);epid=\(epid)\r\nTo: <sip:\(method == "REGISTER" ? user : target)>\r\n"
        text += "Call-ID: \(dialog)\r\nCSeq: \(sequence) \(method)\r\n"
        text += "Contact: <sip:127.0.0.1:\(port);transport=tcp>\(method == "REGISTER" ? ";proxy=replace" : "")\r\n"
        for header in headers { text += header + "\r\n" }
        text += "Content-Length: \(body.utf8.count)\r\n\r\n"
        output += Array(text.utf8)
        output += Array(body.utf8)
    }

    /// Writes what the socket accepts; returns true when output is left.
    func flush() -> Bool {
        while sent < output.count {
            let count = output.withUnsafeBytes { send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return true }
            sent += count
        }
        output.removeAll(keepingCapacity: false)
        sent = 0
        return false
    }

    // MARK: the requests of a client

    private static let selfSupport = [
        "Supported: com.microsoft.autoextend", "Supported: ms-benotify", "Proxy-Require: ms-benotify",
        "Supported: ms-piggyback-first-notify",
    ]
    private static let categories = ["calendarData", "contactCard", "note", "state"]

    func register(at now: UInt64) {
        ask(
            .register, "REGISTER", to: "contoso.com", dialog: "r\(index)",
            ["Supported: gruu-10, adhoclist, msrtc-event-categories", "Event: registration", "ms-keep-alive: UAC;hop-hop=yes"], at: now)
    }

    func subscribeToOwn(at now: UInt64) {
        ask(
            .contacts, "SUBSCRIBE", to: user, dialog: "c\(index)",
            ["Event: vnd-microsoft-roaming-contacts", "Accept: application/vnd-microsoft-roaming-contacts+xml"] + Self.selfSupport, at: now)
        let type = "application/vnd-microsoft-roaming-self+xml"
        ask(
            .selfState, "SUBSCRIBE", to: user, dialog: "s\(index)",
            ["Event: vnd-microsoft-roaming-self", "Accept: \(type)", "Content-Type: \(type)"] + Self.selfSupport,
            body: "<roamingList xmlns=\"http://schemas.microsoft.com/2006/09/sip/roaming-self\"><roaming type=\"categories\"/>"
                + "<roaming type=\"containers\"/><roaming type=\"subscribers\"/></roamingList>", at: now)
    }

    func addContacts(_ contacts: [Int], at now: UInt64) {
        listLeft = contacts.count
        for (place, contact) in contacts.enumerated() {
            ask(
                .contactList, "SERVICE", to: user, dialog: "l\(index)-\(place)", ["Content-Type: application/SOAP+xml"],
                body: "<SOAP-ENV:Envelope xmlns:SOAP-ENV=\"http://schemas.xmlsoap.org/soap/envelope/\"><SOAP-ENV:Body>"
                    + "<m:setContact xmlns:m=\"http://schemas.microsoft.com/winrtc/2002/11/sip\"><m:displayName>User \(contact)</m:displayName>"
                    + "<m:groups>1</m:groups><m:subscribed>true</m:subscribed><m:URI>sip:\(Self.user(contact))</m:URI><m:externalURI/>"
                    + "<m:deltaNum>\(place + 1)</m:deltaNum></m:setContact></SOAP-ENV:Body></SOAP-ENV:Envelope>", at: now)
        }
    }

    func setMembers(at now: UInt64) {
        ask(
            .members, "SERVICE", to: user, dialog: "m\(index)", ["Content-Type: application/msrtc-setcontainermembers+xml"],
            body: "<setContainerMembers xmlns=\"http://schemas.microsoft.com/2006/09/sip/container-management\">"
                + "<container id=\"200\" version=\"0\"><member action=\"add\" type=\"sameEnterprise\"/></container>"
                + "<container id=\"100\" version=\"0\"><member action=\"add\" type=\"federated\"/></container></setContainerMembers>",
            at: now)
    }

    func watch(_ contacts: [Int], at now: UInt64) {
        let resources = contacts.map { "<resource uri=\"sip:\(Self.user($0))\"/>" }.joined()
        ask(
            .batch, "SUBSCRIBE", to: user, dialog: "b\(index)",
            [
                "Event: presence", "Require: adhoclist, categoryList", "Supported: eventlist",
                "Accept: application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related",
                "Supported: ms-piggyback-first-notify", "Supported: ms-benotify", "Proxy-Require: ms-benotify",
                "Content-Type: application/msrtc-adrl-categorylist+xml",
            ], body: batch(uri: user, resources), at: now)
    }

    private func batch(uri: String, _ resources: String) -> String {
        "<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\" uri=\"sip:\(uri)\" name=\"\">"
            + "<action name=\"subscribe\" id=\"1\"><adhocList>\(resources)</adhocList>"
            + "<categoryList xmlns=\"http://schemas.microsoft.com/2006/09/sip/categorylist\">"
            + Self.categories.map { "<category name=\"\($0)\"/>" }.joined() + "</categoryList></action></batchSub>"
    }

    /// Category subscription to a single user: a poll, or a short one (MS-PRES 3.4.5.1.2).
    func subscribeOnce(_ purpose: Purpose, to contact: Int, at now: UInt64) {
        ask(
            purpose, "SUBSCRIBE", to: Self.user(contact), dialog: "p\(index)-\(lastNumber + 1)",
            [
                "Event: presence", "Expires: \(purpose == .poll ? 0 : 600)",
                "Accept: application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related",
                "Supported: ms-piggyback-first-notify", "Supported: ms-benotify", "Proxy-Require: ms-benotify",
                "Content-Type: application/msrtc-adrl-categorylist+xml",
            ], body: batch(uri: Self.user(contact), "<resource uri=\"sip:\(Self.user(contact))\"/>"), at: now)
    }

    /// First publication (device, machine state, user state), or a change of the user's state.
    func publish(_ availability: Int, isFirst: Bool, at now: UInt64) {
        var body =
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:\(user)\">"
        let instance = 0x3000_0000 + index
        if isFirst {
            body +=
                "<publication categoryName=\"device\" instance=\"\(index + 1)\" container=\"2\" version=\"0\" expireType=\"endpoint\">"
                + "<device xmlns=\"http://schemas.microsoft.com/2006/09/sip/device\" endpointId=\"\(endpointID)\">"
                + "<capabilities preferred=\"false\" uri=\"sip:\(user)\"><text capture=\"true\" render=\"true\" publish=\"false\"/>"
                + "<voice capture=\"true\" render=\"true\" publish=\"false\"/></capabilities><timezone>00:00:00+01:00</timezone>"
                + "<machineName>desk</machineName></device></publication>"
            for container in [2, 3] {
                body += Self.state(instance, container, 0, "endpoint", "machineState", availability: 3500)
            }
        }
        for container in [2, 3] {
            body += Self.state(0x2000_0000, container, stateVersion, "static", "userState", availability: availability)
        }
        body += "</publications></publish>"
        stateVersion += 1
        ask(
            .publish, "SERVICE", to: user, dialog: "v\(index)-\(stateVersion)", ["Content-Type: application/msrtc-category-publish+xml"],
            body: body, at: now)
    }

    private static func state(
        _ instance: Int, _ container: Int, _ version: Int, _ life: String, _ type: String, availability: Int
    ) -> String {
        "<publication categoryName=\"state\" instance=\"\(instance)\" container=\"\(container)\" version=\"\(version)\" expireType=\"\(life)\">"
            + "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" manual=\"\(type == "userState")\" "
            + "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"\(type)\"><availability>\(availability)</availability></state></publication>"
    }
}
