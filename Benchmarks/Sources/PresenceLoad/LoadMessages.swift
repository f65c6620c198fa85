import Glibc

/// Domains of the load.
public enum LoadDomains {
    public static let hosted = "example.com"
    public static let enterprise = "contoso.com"
    public static let watchers = "watchers.example.net"
    public static let remote = "example.org"
}

/// Messages of watchers, publishers and the remote domain.
struct LoadMessages {
    /// Word in every Call-ID and branch of this load, so that late messages of another one are noticed.
    let run: String
    let presentityDomain: [UInt8]
    let watcherDomain: [UInt8]
    let isCategories: Bool
    private var branch = 0
    private let body = Octets(capacity: 2_048)

    init(shape: LoadShape) {
        run = String(UInt32.random(in: 1 ... .max), radix: 16)
        presentityDomain = Array((shape.isBridged ? LoadDomains.remote : LoadDomains.hosted).utf8)
        watcherDomain = Array((shape.isCategories ? LoadDomains.enterprise : LoadDomains.watchers).utf8)
        isCategories = shape.isCategories
    }

    /// SUBSCRIBE of a watcher: outside a dialog, or within the dialog when its route is known.
    mutating func subscribe(_ dialog: LoadDialog, number: Int, port: Int, expires: Int, to output: Octets) {
        output.append("SUBSCRIBE ")
        if dialog.target.isEmpty {
            output.append("sip:p")
            output.append(dialog.presentity)
            output.append("@")
            output.append(presentityDomain)
        } else {
            output.append(dialog.target)
        }
        via(port, to: output)
        for route in dialog.routes {
            output.append("Route: ")
            output.append(route)
            output.append("\r\n")
        }
        output.append("From: <sip:w")
        output.append(number)
        output.append("@")
        output.append(watcherDomain)
        output.append(">;tag=w")
        output.append(number)
        output.append("\r\nTo: ")
        if dialog.remote.isEmpty {
            output.append("<sip:p")
            output.append(dialog.presentity)
            output.append("@")
            output.append(presentityDomain)
            output.append(">")
        } else {
            output.append(dialog.remote)
        }
        output.append("\r\nCall-ID: s")
        identify(number, to: output)
        output.append("\r\nCSeq: ")
        output.append(dialog.ownSequence)
        output.append(" SUBSCRIBE\r\n")
        contact(port, to: output)
        output.append("Event: presence\r\nExpires: ")
        output.append(expires)
        body.removeAll()
        if isCategories {
            output.append(
                "\r\nAccept: application/msrtc-event-categories+xml, application/rlmi+xml, multipart/related\r\nSupported: ms-piggyback-first-notify, ms-benotify, eventlist\r\nContent-Type: application/msrtc-adrl-categorylist+xml"
            )
            batch(dialog.presentity, number)
        } else {
            output.append("\r\nAccept: application/pidf+xml")
        }
        end(output)
    }

    /// PUBLISH of PIDF; an entity-tag names the publication to replace.
    mutating func publish(_ presentity: Int, sequence: Int, tag: [UInt8], port: Int, to output: Octets) {
        output.append("PUBLISH sip:p")
        output.append(presentity)
        output.append("@")
        output.append(presentityDomain)
        via(port, to: output)
        output.append("From: <sip:p")
        output.append(presentity)
        output.append("@")
        output.append(presentityDomain)
        output.append(">;tag=p")
        output.append(presentity)
        output.append("\r\nTo: <sip:p")
        output.append(presentity)
        output.append("@")
        output.append(presentityDomain)
        output.append(">\r\nCall-ID: p")
        identify(presentity, to: output)
        output.append("\r\nCSeq: ")
        output.append(sequence)
        output.append(" PUBLISH\r\n")
        contact(port, to: output)
        output.append("Event: presence\r\nExpires: 3600\r\nContent-Type: application/pidf+xml")
        if !tag.isEmpty {
            output.append("\r\nSIP-If-Match: ")
            output.append(tag)
        }
        document(presentity, round: sequence)
        end(output)
    }

    /// NOTIFY of the remote domain.
    mutating func notify(_ upstream: Upstream, sequence: Int, to output: Octets) {
        output.append("NOTIFY ")
        output.append(upstream.target)
        via(upstream.port, to: output)
        output.append(upstream.dialogHeaders)
        output.append("CSeq: ")
        output.append(sequence)
        output.append(" NOTIFY\r\n")
        contact(upstream.port, to: output)
        output.append("Event: presence\r\nSubscription-State: active;expires=3000\r\nContent-Type: application/pidf+xml")
        document(upstream.presentity, round: sequence)
        end(output)
    }

    private mutating func via(_ port: Int, to output: Octets) {
        branch += 1
        output.append(" SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1:")
        output.append(port)
        output.append(";branch=z9hG4bK")
        identify(branch, to: output)
        output.append(";rport\r\nMax-Forwards: 70\r\n")
    }

    private func contact(_ port: Int, to output: Octets) {
        output.append("Contact: <sip:127.0.0.1:")
        output.append(port)
        output.append(";transport=tcp>\r\nUser-Agent: benchmark\r\n")
    }

    private func identify(_ number: Int, to output: Octets) {
        output.append(number)
        output.append("-")
        var run = run
        run.withUTF8 { output.append($0.baseAddress!, $0.count) }
    }

    private func end(_ output: Octets) {
        output.append("\r\nContent-Length: ")
        output.append(body.count)
        output.append("\r\n\r\n")
        output.append(body)
    }

    /// PIDF document, different in each round.
    private func document(_ presentity: Int, round: Int) {
        func uri() {
            body.append("sip:p")
            body.append(presentity)
            body.append("@")
            body.append(presentityDomain)
        }
        body.removeAll()
        body.append(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><presence xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\" xmlns:rpid=\"urn:ietf:params:xml:ns:pidf:rpid\" entity=\""
        )
        uri()
        body.append("\"><tuple id=\"t1\"><status><basic>open</basic></status><contact priority=\"0.8\">")
        uri()
        body.append("</contact></tuple><dm:person id=\"p1\"><rpid:activities>")
        body.append(round % 2 == 0 ? "<rpid:meeting/>" : "<rpid:on-the-phone/>")
        body.append("</rpid:activities><dm:note>round ")
        body.append(round)
        body.append("</dm:note></dm:person></presence>")
    }

    /// Category subscription to one presentity (MS-PRES 3.4.5.1.1).
    private func batch(_ presentity: Int, _ watcher: Int) {
        body.append("<batchSub xmlns=\"http://schemas.microsoft.com/2006/01/sip/batch-subscribe\" uri=\"sip:w")
        body.append(watcher)
        body.append("@")
        body.append(watcherDomain)
        body.append("\" name=\"\"><action name=\"subscribe\" id=\"1\"><adhocList><resource uri=\"sip:p")
        body.append(presentity)
        body.append("@")
        body.append(presentityDomain)
        body.append(
            "\"/></adhocList><categoryList xmlns=\"http://schemas.microsoft.com/2006/09/sip/categorylist\"><category name=\"state\"/><category name=\"note\"/><category name=\"contactCard\"/><category name=\"services\"/></categoryList></action></batchSub>"
        )
    }
}
