import SIPCore

/// Messages of watchers and publishers, as octets.
public enum Traffic {
    public static let watcherDomain = "watchers.example.net"
    public static let enterpriseDomain = "contoso.com"
    public static let hostedDomain = "example.com"
    public static let remoteDomain = "example.org"

    /// SUBSCRIBE for PIDF outside a dialog.
    public static func subscribe(
        watcher: String, to presentity: String, number: Int, transport: TransportProtocol, contact: String
    ) -> [UInt8] {
        let body = ""
        return request(
            "SUBSCRIBE", watcher: watcher, to: presentity, number: number, transport: transport, contact: contact,
            extra: "Event: presence\r\nAccept: application/pidf+xml\r\nExpires: 3600\r\n", body: body)
    }

    /// Category SUBSCRIBE with BENOTIFY and piggyback (MS-PRES 3.4.5.1.1).
    public static func categorySubscribe(
        watcher: String, to presentity: String, number: Int, transport: TransportProtocol, contact: String
    ) -> [UInt8] {
        let body = """
            <batchSub xmlns="http://schemas.microsoft.com/2006/01/sip/batch-subscribe" uri="sip:\(watcher)" name="">\
            <action name="subscribe" id="1"><adhocList><resource uri="sip:\(presentity)"/></adhocList>\
            <categoryList xmlns="http://schemas.microsoft.com/2006/09/sip/categorylist">\
            <category name="state"/><category name="note"/><category name="contactCard"/><category name="services"/>\
            </categoryList></action></batchSub>
            """
        return request(
            "SUBSCRIBE", watcher: watcher, to: presentity, number: number, transport: transport, contact: contact,
            extra: "Event: presence\r\nAccept: application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related\r\n"
                + "Supported: ms-piggyback-first-notify, ms-benotify, eventlist\r\nExpires: 3600\r\n"
                + "Content-Type: application/msrtc-adrl-categorylist+xml\r\n",
            body: body)
    }

    /// PUBLISH of PIDF; `tag` names the publication to replace.
    public static func publish(
        _ presentity: String, tag: String?, document: String, number: Int, transport: TransportProtocol, contact: String
    ) -> [UInt8] {
        request(
            "PUBLISH", watcher: presentity, to: presentity, number: number, transport: transport, contact: contact,
            extra: "Event: presence\r\nExpires: 3600\r\n" + (tag.map { "SIP-If-Match: \($0)\r\n" } ?? "")
                + "Content-Type: application/pidf+xml\r\n",
            body: document)
    }

    private static func request(
        _ method: String, watcher: String, to presentity: String, number: Int, transport: TransportProtocol, contact: String,
        extra: String, body: String
    ) -> [UInt8] {
        Array(
            ("\(method) sip:\(presentity) SIP/2.0\r\nVia: SIP/2.0/\(transport.rawValue.uppercased()) \(contact);branch=z9hG4bKb\(number);rport\r\n"
                + "Max-Forwards: 70\r\nFrom: <sip:\(watcher)>;tag=w\(number)\r\nTo: <sip:\(presentity)>\r\nCall-ID: call\(number)@\(contact)\r\n"
                + "CSeq: 1 \(method)\r\nContact: <sip:\(contact);transport=\(transport.rawValue)>\r\nUser-Agent: benchmark\r\n" + extra
                + "Content-Length: \(body.utf8.count)\r\n\r\n" + body).utf8)
    }

    /// PIDF document, different for each `round`.
    public static func document(_ presentity: String, round: Int) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?><presence xmlns="urn:ietf:params:xml:ns:pidf" \
        xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:\(presentity)">\
        <tuple id="t1"><status><basic>open</basic></status><contact priority="0.8">sip:\(presentity)</contact></tuple>\
        <dm:person id="p1"><rpid:activities><rpid:\(round % 2 == 0 ? "meeting" : "on-the-phone")/></rpid:activities>\
        <dm:note>round \(round)</dm:note></dm:person></presence>
        """
    }

    /// Response of a peer to a request of the gateway: 200, with a tag where it creates a dialog; nil for BENOTIFY.
    public static func answer(to request: SIPRequest, contact: String) -> [UInt8]? {
        guard request.method != .benotify else { return nil }
        var response = SIPResponse(to: request, status: .ok, toTag: "far\(request.headers.callID ?? "")".filter { $0 != "@" })
        if request.method == .subscribe {
            response.headers.set(.contact, "<sip:\(contact);transport=tcp>")
            response.headers.set(.expires, "3600")
        }
        return response.serialized()
    }

    /// NOTIFY in the dialog of a SUBSCRIBE of the gateway.
    public static func notify(_ subscribe: SIPRequest, number: Int, contact: String, document: String) -> [UInt8] {
        let far = "far\(subscribe.headers.callID ?? "")".filter { $0 != "@" }
        return Array(
            ("NOTIFY \(subscribe.headers.contact?.uri.description ?? "sip:gone") SIP/2.0\r\n"
                + "Via: SIP/2.0/TCP \(contact);branch=z9hG4bKn\(far)\(number)\r\nMax-Forwards: 70\r\n"
                + subscribe.headers.values(.recordRoute).map { "Route: \($0)\r\n" }.joined()
                + "From: <\(subscribe.headers.to?.uri.description ?? "")>;tag=\(far)\r\nTo: \(subscribe.headers.first(.from) ?? "")\r\n"
                + "Call-ID: \(subscribe.headers.callID ?? "")\r\nCSeq: \(number) NOTIFY\r\nContact: <sip:\(contact);transport=tcp>\r\n"
                + "Event: presence\r\nSubscription-State: active;expires=3000\r\nContent-Type: application/pidf+xml\r\n"
                + "Content-Length: \(document.utf8.count)\r\n\r\n" + document).utf8)
    }
}
