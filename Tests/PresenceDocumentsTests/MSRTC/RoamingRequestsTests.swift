import PresenceDocuments
import Testing
import XMLCore

@Suite struct SetSubscribersTests {
    private static let sample = """
        <setSubscribers xmlns="http://schemas.microsoft.com/2006/09/sip/presence-subscribers">
          <subscriber user="dan@contoso.com" acknowledged="true"/>
        </setSubscribers>
        """

    @Test("MS-PRES 2.2.2.6.2 a setSubscribers request names one subscriber")
    func read() throws {
        let document = try SetSubscribersDocument(Self.sample)
        #expect(document.user == "dan@contoso.com")
        #expect(try document.again == document)
    }

    @Test(
        "MS-PRES 6.12 setSubscribers without, with an empty, with an unacknowledged and with two subscribers is refused",
        arguments: [
            ("<subscriber user=\"dan@contoso.com\" acknowledged=\"true\"/>", ""), ("dan@contoso.com", " "),
            ("acknowledged=\"true\"", "acknowledged=\"false\""), ("acknowledged=\"true\"", ""), ("user=\"dan@contoso.com\"", ""),
            ("</setSubscribers>", "<subscriber user=\"eve@contoso.com\" acknowledged=\"true\"/></setSubscribers>"),
            ("presence-subscribers", "presence-watchers"),
        ])
    func refused(_ right: String, _ wrong: String) {
        #expect(refusal(SetSubscribersDocument.self, Self.sample.replacing(right, with: wrong)) != nil)
    }
}

@Suite struct SetDelegatesTests {
    private static let sample = """
        <setDelegates xmlns="http://schemas.microsoft.com/2007/09/sip/delegate-management" version="1">
          <delegate uri="sip:dan@contoso.com" action="add"><publishOperation authorization="allow"/>
            <redelegateOperation authorization="deny"/></delegate></setDelegates>
        """

    @Test("MS-PRES 2.2.2.10.2 a setDelegates request names one delegate; an absent child denies")
    func read() throws {
        let document = try SetDelegatesDocument(Self.sample)
        #expect(document.version == 1)
        #expect(document.change == DelegateChange(uri: "sip:dan@contoso.com", action: .add, mayPublish: true))
        #expect(try document.again == document)
        let bare = try SetDelegatesDocument(Self.sample.replacing("<publishOperation authorization=\"allow\"/>", with: ""))
        #expect(!bare.change.mayPublish)
    }

    @Test(
        "MS-PRES 6.14 a setDelegates request without version, with another action or authorization, or with two delegates is refused",
        arguments: [
            (" version=\"1\"", ""), ("action=\"add\"", "action=\"delete\""), ("\"allow\"", "\"maybe\""),
            ("authorization=\"deny\"", ""), ("uri=\"sip:dan@contoso.com\"", ""),
            ("</setDelegates>", "<delegate uri=\"sip:e@contoso.com\" action=\"remove\"/></setDelegates>"),
        ])
    func refused(_ right: String, _ wrong: String) {
        #expect(refusal(SetDelegatesDocument.self, Self.sample.replacing(right, with: wrong)) != nil)
    }
}

@Suite struct ContactListTests {
    private static let sample =
        #"<contactList deltaNum="16" ucsMode="allowed"><group id="1" name="~" externalURI=""/><group id="3" name="Team" externalURI="ldap://x"/><contact uri="dan@contoso.com" name="Dan" groups="1 3" subscribed="true" externalURI=""><contactExtension><phone>1</phone></contactExtension></contact></contactList>"#

    @Test(
        "MS-PRES 10 a contact list has deltaNum, ucsMode, groups and contacts [R344]",
        arguments: ["disabled", "allowed", "migrating", "migrated"])
    func read(_ mode: String) throws {
        let document = try ContactListDocument(Self.sample.replacing("\"allowed\"", with: "\"\(mode)\""))
        #expect(document.deltaNum == 16)
        #expect([UCSMode.disabled, .allowed, .migrating, .migrated].contains(try #require(document.ucsMode)))
        #expect(document.groups == [RoamingGroup(id: 1, name: "~"), RoamingGroup(id: 3, name: "Team", externalURI: "ldap://x")])
        #expect(document.contacts.first?.groups == [1, 3])
        #expect(document.contacts.first?.extension?.localName == "contactExtension")
        #expect(document.text == Self.sample.replacing("\"allowed\"", with: "\"\(mode)\""))
    }

    @Test("MS-SIP 3.7.5.2 trailing blanks in groups and uri are read, and so is the namespace of the schema")
    func lenient() throws {
        let text =
            "<contactList xmlns='http://schemas.microsoft.com/sip/types' deltaNum='685'><contact uri='dan@contoso.com ' groups='1 2 '/></contactList>"
        let document = try ContactListDocument(text)
        #expect(document.contacts == [RoamingContact(uri: "dan@contoso.com", groups: [1, 2])])
        #expect(document.ucsMode == nil)
    }

    @Test(
        "MS-SIP 9.1 a list without deltaNum or with a group number above 64 is refused",
        arguments: [("deltaNum=\"16\"", ""), ("groups=\"1 3\"", "groups=\"1 65\""), ("groups=\"1 3\"", "groups=\"one\""), ("id=\"3\"", "")])
    func refused(_ right: String, _ wrong: String) {
        #expect(refusal(ContactListDocument.self, Self.sample.replacing(right, with: wrong)) != nil)
    }

    private static let changes: [ContactChange] = [
        .addedGroup(RoamingGroup(id: 2, name: "Team")), .modifiedGroup(RoamingGroup(id: 2, name: "Others")), .deletedGroup(id: 2),
        .addedContact(RoamingContact(uri: "sip:dan@contoso.com", name: "Dan & Co", groups: [1])),
        .modifiedContact(RoamingContact(uri: "sip:dan@contoso.com", groups: [1, 2], isSubscribed: false)),
        .deletedContact(uri: "sip:dan@contoso.com"),
    ]

    @Test("MS-SIP 2.2.4.1 every kind of change comes back as it was written", arguments: changes)
    func delta(_ change: ContactChange) throws {
        let document = ContactDeltaDocument(deltaNum: 8, previousDeltaNum: 7, ucsMode: .disabled, change: change)
        #expect(try document.again == document)
    }

    @Test(
        "MS-SIP 9.1 a delta has exactly one change and both versions",
        arguments: [
            "<contactDelta deltaNum='8' prevDeltaNum='7'/>", "<contactDelta deltaNum='8'><deletedGroup id='1'/></contactDelta>",
            "<contactDelta deltaNum='8' prevDeltaNum='7'><deletedGroup id='2'/><deletedGroup id='3'/></contactDelta>",
            "<contactList deltaNum='8' prevDeltaNum='7'><deletedGroup id='2'/></contactList>",
        ])
    func deltaRefused(_ text: String) {
        #expect(refusal(ContactDeltaDocument.self, text) != nil)
    }
}

@Suite struct ContactOperationTests {
    private static func envelope(_ operation: String, soap: String = "http://schemas.xmlsoap.org/soap/envelope/") -> [UInt8] {
        Array(
            "<s:Envelope xmlns:s=\"\(soap)\" xmlns:m=\"http://schemas.microsoft.com/winrtc/2002/11/sip\"><s:Body>\(operation)</s:Body></s:Envelope>"
                .utf8)
    }

    private static func read(_ operation: String) throws(DocumentError) -> ContactOperation? {
        try ContactOperation(reading: SOAPEnvelope(parsing: envelope(operation)).operation)
    }

    @Test("MS-SIP 4.6 setContact as a client writes it")
    func setContact() throws {
        let operation = try Self.read(
            "<m:setContact><m:displayName>sip:dan@contoso.com</m:displayName><m:groups>2</m:groups><m:subscribed>true</m:subscribed><m:URI>sip:dan@contoso.com</m:URI><m:externalURI /><m:deltaNum>1</m:deltaNum></m:setContact>"
        )
        #expect(
            operation
                == ContactOperation(
                    .setContact(RoamingContact(uri: "sip:dan@contoso.com", name: "sip:dan@contoso.com", groups: [2])), deltaNum: 1))
    }

    private static let operations: [ContactOperation] = [
        ContactOperation(
            .setContact(
                RoamingContact(uri: "sip:dan@contoso.com", name: "<Dan>", groups: [], isSubscribed: false, externalURI: "ldap://x")),
            deltaNum: 12),
        ContactOperation(.deleteContact(uri: "sip:dan@contoso.com"), deltaNum: 15),
        ContactOperation(.deleteContact(uri: "sip:dan@contoso.com"), deltaNum: nil),
        ContactOperation(.addGroup(name: "Friends", externalURI: nil), deltaNum: 16),
        ContactOperation(.modifyGroup(RoamingGroup(id: 2, name: "Team", externalURI: "ldap://x")), deltaNum: 17),
        ContactOperation(.deleteGroup(id: 2), deltaNum: 18),
    ]

    @Test("MS-SIP 2.2.4.2 every operation comes back as it was written", arguments: operations)
    func again(_ operation: ContactOperation) throws {
        #expect(try ContactOperation(reading: SOAPEnvelope(parsing: operation.encoded()).operation) == operation)
    }

    @Test("MS-SIP 9.1 a contactExtension is kept in no namespace, whatever prefix it came with")
    func contactExtension() throws {
        let operation = try Self.read(
            "<m:setContact><m:URI>sip:dan@contoso.com</m:URI><m:deltaNum>1</m:deltaNum><m:contactExtension><p xmlns='urn:example:p'>1</p></m:contactExtension></m:setContact>"
        )
        guard case .setContact(let contact)? = operation?.kind else {
            Issue.record("no contact")
            return
        }
        #expect(contact.extension?.namespace.isEmpty == true)
        let list = ContactListDocument(deltaNum: 1, contacts: [contact])
        #expect(list.text.contains("<contactExtension><p xmlns='urn:example:p'>1</p></contactExtension>"))
    }

    @Test(
        "MS-SIP 9 an operation without what it needs is refused",
        arguments: [
            "<m:setContact><m:URI>sip:dan@contoso.com</m:URI></m:setContact>", "<m:setContact><m:deltaNum>1</m:deltaNum></m:setContact>",
            "<m:setContact><m:URI/><m:deltaNum>1</m:deltaNum></m:setContact>",
            "<m:setContact><m:URI>sip:dan@contoso.com</m:URI><m:deltaNum>-1</m:deltaNum></m:setContact>",
            "<m:setContact><m:URI>sip:dan@contoso.com</m:URI><m:subscribed>often</m:subscribed><m:deltaNum>1</m:deltaNum></m:setContact>",
            "<m:deleteContact/>", "<m:addGroup><m:deltaNum>1</m:deltaNum></m:addGroup>", "<m:addGroup><m:name>x</m:name></m:addGroup>",
            "<m:modifyGroup><m:name>x</m:name><m:deltaNum>1</m:deltaNum></m:modifyGroup>",
            "<m:deleteGroup><m:deltaNum>1</m:deltaNum></m:deleteGroup>",
        ])
    func refused(_ operation: String) {
        #expect(throws: DocumentError.self) { try Self.read(operation) }
    }

    @Test("another operation, or one of another namespace, is nobody's contact")
    func other() throws {
        #expect(try Self.read("<m:directorySearch/>") == nil)
        #expect(try Self.read("<setContact xmlns='urn:example:x'/>") == nil)
    }

    @Test("MS-PRES 2.2.1 the envelope's namespace is read with and without its last slash, its Body must hold something")
    func envelope() throws {
        let bare = Self.envelope("<m:deleteGroup/>", soap: "http://schemas.xmlsoap.org/soap/envelope")
        #expect(try SOAPEnvelope(parsing: bare).operation.localName == "deleteGroup")
        #expect(throws: DocumentError.self) { try SOAPEnvelope(parsing: Self.envelope("")) }
        #expect(throws: DocumentError.self) { try SOAPEnvelope(parsing: Self.envelope("<m:x/>", soap: "urn:example:soap")) }
        #expect(throws: DocumentError.self) { try SOAPEnvelope(parsing: Array("<deltaNum/>".utf8)) }
    }

    @Test("MS-SIP 4.8 the answer to addGroup tells the number")
    func answer() throws {
        let answer = try SOAPEnvelope(parsing: ContactOperation.addGroupAnswer(groupID: 4)).operation
        #expect(answer.localName == "addGroup" && answer.children.map(\.trimmedText) == ["4"])
        let fault = String(decoding: SOAPFault.wrongDelta(current: 9).encoded(), as: UTF8.self)
        #expect(fault.contains("<Faultcode>Client.BadCall.WrongDelta</Faultcode>") && fault.contains(">9</m:deltaNum>"))
    }
}

@Suite struct AccessControlDocumentTests {
    private static let sample =
        #"<ACLlist deltaNum="282"><userACL><ace type="USER" mask="sip:dan@contoso.com" rights="BA"/><ace type="ALL" rights="PD"/></userACL></ACLlist>"#

    @Test("MS-SIP 2.2.3 an access control list with its entries, also where they stand by themselves")
    func read() throws {
        let document = try AccessControlListDocument(Self.sample)
        #expect(
            document.entries == [
                AccessControlEntry(scope: .user, mask: "sip:dan@contoso.com", rights: "BA"),
                AccessControlEntry(scope: .all, mask: "", rights: "PD"),
            ])
        #expect(document.text == Self.sample)
        let bare = try AccessControlListDocument("<ACLlist deltaNum='1'><ACE type='USER' mask='dan@contoso.com'/></ACLlist>")
        #expect(bare.entries == [AccessControlEntry(scope: .user, mask: "dan@contoso.com", rights: "AA")])
    }

    @Test(
        "MS-SIP 8 wrong types and rights are refused",
        arguments: [("\"USER\"", "\"FRIEND\""), ("\"BA\"", "\"XA\""), ("\"BA\"", "\"B\""), ("\"BA\"", "\"AB\""), ("deltaNum=\"282\"", "")])
    func refused(_ right: String, _ wrong: String) {
        #expect(refusal(AccessControlListDocument.self, Self.sample.replacing(right, with: wrong)) != nil)
    }

    @Test("MS-SIP 4.10 setACE comes back as it was written, and is refused without mask or rights")
    func setACE() throws {
        let operation = SetACEOperation(
            entry: AccessControlEntry(scope: .domain, mask: "fabrikam.com", rights: "DD"), deltaNum: 2)
        #expect(try SetACEOperation(reading: SOAPEnvelope(parsing: operation.encoded()).operation) == operation)
        for (right, wrong) in [("fabrikam.com", ""), ("DD", ""), ("DOMAIN", "HOST")] {
            let text = String(decoding: operation.encoded(), as: UTF8.self).replacing(right, with: wrong)
            #expect(throws: DocumentError.self) {
                try SetACEOperation(reading: SOAPEnvelope(parsing: Array(text.utf8)).operation)
            }
        }
    }
}
