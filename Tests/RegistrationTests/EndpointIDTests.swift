import Registration
import SIPCore
import Testing

/// MS-SIPRE 3.3.3: the identifier of an endpoint, and the GRUU that is made of it.
@Suite struct EndpointIDTests {
    static let pairs = [
        ("01010101", "4b1682a8-f968-5701-83fc-7c6741dc6697", "qIIWS2j5AVeD_HxnQdxmlwAA"),
        ("84d3db8c23", "221ef77e-3a68-5570-86ed-6ea5bd4b7ff8", "fvceImg6cFWG7W6lvUt_-AAA"),
        ("3b09add8bc", "b7d9fc43-19d7-5311-9e00-c6c5b1d81bfb", "Q_zZt9cZEVOeAMbFsdgb-wAA"),
        ("2be779d608", "bd2807c7-8590-530e-b54c-93c749f2e470", "xwcovZCFDlO1TJPHSfLkcAAA"),
        ("ffad8b59dc", "a8f9a3a8-ee61-56d7-b306-c67b08fb28d8", "qKP5qGHu11azBsZ7CPso2AAA"),
        ("c8ca638a15", "34d859db-6585-5f91-a3b4-de853c15347d", "21nYNIVlkV-jtN6FPBU0fQAA"),
    ]

    @Test("MS-SIPRE 3.3.3: an epid gives its UUID and its GRUU, and both lead back", arguments: pairs)
    func derivation(epid: String, uuid: String, token: String) throws {
        let id = EndpointID(epid: epid)
        #expect(id.description == uuid)
        #expect(EndpointID("<urn:uuid:\(uuid.uppercased())>") == id)
        let gruu = id.gruu(of: try #require(SIPURI("sip:bob@contoso.com;transport=tls")))
        #expect(gruu.description == "sip:bob@contoso.com;opaque=user:epid:\(token);gruu")
        #expect(EndpointID(gruu: gruu) == id)
    }

    @Test(
        "what is no UUID is no endpoint",
        arguments: ["", "221ef77e", "221ef77e-3a68-5570-86ed-6ea5bd4b7ff", "221ef77e-3a68-5570-86ed-6ea5bd4b7ffg", "urn:uuid:"])
    func noUUID(text: String) { #expect(EndpointID(text) == nil) }

    @Test(
        "MS-SIPRE 2.2.3: only an endpoint's GRUU names one",
        arguments: [
            "sip:bob@contoso.com", "sip:bob@contoso.com;opaque=user:epid:fvceImg6cFWG7W6lvUt_-AAA", "sip:bob@contoso.com;gruu",
            "sip:pool@contoso.com;gruu;opaque=srvr:HomeServer:fvceImg6cFWG7W6lvUt_-AAA",
            "sip:bob@contoso.com;opaque=user:epid:fvceImg6cFWG7W6lvUt_-AAB;gruu", "sip:bob@contoso.com;opaque=user:epid:fvce;gruu",
            "sip:bob@contoso.com;opaque=user:epid:fvceImg6cFWG7W6lvUt.-AAA;gruu",
        ])
    func noGRUU(text: String) throws { #expect(EndpointID(gruu: try #require(SIPURI(text))) == nil) }

    @Test("an epid of any length gives a UUID of version 5", arguments: 0...140)
    func everyLength(length: Int) {
        let text = EndpointID(epid: String(repeating: "a", count: length)).description
        let fields = text.split(separator: "-").map(String.init)
        #expect(fields[2].first == "5" && "89ab".contains(fields[3].first ?? " "))
    }

    @Test("the sender's endpoint: +sip.instance, else the GRUU, else the epid")
    func sender() {
        var headers = SIPHeaders()
        headers.append(.from, "<sip:bob@contoso.com>;tag=1;epid=01010101")
        #expect(EndpointID(of: headers) == EndpointID(epid: "01010101"))
        headers.set(.contact, "<sip:bob@contoso.com;opaque=user:epid:fvceImg6cFWG7W6lvUt_-AAA;gruu>")
        #expect(EndpointID(of: headers) == EndpointID(epid: "84d3db8c23"))
        headers.set(.contact, "<sip:192.0.2.1>;+sip.instance=\"<urn:uuid:b7d9fc43-19d7-5311-9e00-c6c5b1d81bfb>\"")
        #expect(EndpointID(of: headers) == EndpointID(epid: "3b09add8bc"))
        #expect(EndpointID(of: SIPHeaders()) == nil)
    }
}
