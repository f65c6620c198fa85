import PresenceDocuments
import Testing
import XMLCore

@Suite struct CategoryPublishTests {
    @Test("MS-PRES 6.10 publications with their data verbatim")
    func read() throws {
        let document = try CategoryPublishDocument(MSRTCSamples.publish)
        #expect(document.uri == "sip:bob@contoso.com")
        #expect(document.publications.map(\.instance) == [0, 603_979_776])
        #expect(document.publications.first?.body?.source == Array(MSRTCSamples.note.utf8))
        #expect(document.publications.last?.body == nil)
        #expect(document.publications.last?.expires == 3600)
        #expect(document.publications.last?.expireType == .time)
        #expect(try document.again == document)
    }

    @Test(
        "MS-PRES 2.2.2.2.1 every attribute of a publication is required [R006]",
        arguments: [
            "categoryName", "instance", "version", "container", "expireType",
        ])
    func required(_ name: String) {
        let attributes = ["categoryName": "note", "instance": "0", "version": "0", "container": "2", "expireType": "static"]
        let written = attributes.filter { $0.key != name }.map { "\($0.key)='\($0.value)'" }.sorted().joined(separator: " ")
        let error = refusal(
            CategoryPublishDocument.self,
            "<publish xmlns='http://schemas.microsoft.com/2006/09/sip/rich-presence'><publications uri='sip:bob@contoso.com'><publication \(written)/></publications></publish>"
        )
        #expect(error?.message == "MS-PRES 6.10: publication without \(name)")
    }

    @Test(
        "MS-PRES 6.1 and 6.10 wrong values are refused [R015]",
        arguments: [
            ("container='200'", "container='32768'"), ("expireType='static'", "expireType='forever'"), ("version='0'", "version='-1'"),
            ("instance='0'", "instance='one'"), ("expireType='static'", "expireType='time' expires='-5'"),
        ])
    func refused(_ right: String, _ wrong: String) {
        let text =
            "<publish xmlns='http://schemas.microsoft.com/2006/09/sip/rich-presence'><publications uri='sip:bob@contoso.com'><publication categoryName='note' instance='0' version='0' container='200' expireType='static'/></publications></publish>"
        #expect(refusal(CategoryPublishDocument.self, text) == nil)
        #expect(refusal(CategoryPublishDocument.self, text.replacing(right, with: wrong))?.code == .invalidValue)
    }

    @Test(
        "MS-PRES 3.2.5.4 a publish without publications is refused",
        arguments: [
            "<publish xmlns='N'/>", "<publish xmlns='N'><publications uri='sip:bob@contoso.com'/></publish>",
            "<publish xmlns='N'><publications/></publish>",
        ])
    func empty(_ text: String) {
        let text = text.replacing("'N'", with: "'http://schemas.microsoft.com/2006/09/sip/rich-presence'")
        #expect(refusal(CategoryPublishDocument.self, text)?.code == .missing)
    }
}

@Suite struct PublishFaultTests {
    @Test("MS-PRES 2.2.2.2.3 operations with both versions and the stored data [R031]")
    func read() throws {
        let fault = try FaultDocument(MSRTCSamples.fault)
        #expect(fault.isWrongDelta)
        #expect(fault.operations.map(\.index) == [2, 3])
        #expect(fault.operations.map(\.currentVersion) == [4, 0])
        #expect(fault.operations.first?.currentData?.localName == "note")
        #expect(fault.text == MSRTCSamples.fault)
    }

    @Test("MS-PRES 2.2.2.2.3 a fault in a namespace is read like one without [R031]")
    func namespace() throws {
        let text = MSRTCSamples.fault.replacing("<Fault>", with: "<Fault xmlns=\"http://schemas.example.com/fault\">")
        let fault = try FaultDocument(text)
        #expect(fault.isWrongDelta && fault.operations.map(\.currentVersion) == [4, 0])
        #expect(fault.operations.first?.currentData?.localName == "note")
    }

    @Test("MS-PRES 2.2.2.10.4 both printed forms of the code are understood [R033]")
    func codes() {
        #expect(FaultDocument(faultCode: "Protocol client.BadCall.WrongDelta", operations: []).isWrongDelta)
        #expect(FaultDocument(faultCode: "Client.BadCall.WrongDelta", operations: []).isWrongDelta)
        #expect(!FaultDocument(faultCode: "Client.BadCall", operations: []).isWrongDelta)
    }
}

@Suite struct BatchSubscribeTests {
    @Test("MS-PRES 6.8 actions, resources, contexts and categories [R141]")
    func read() throws {
        let document = try BatchSubscribeDocument(MSRTCSamples.batchSub)
        #expect(document.actions.map(\.name) == [.subscribe, .unsubscribe])
        #expect(document.actions.first?.resources.map(\.uri) == ["sip:bob@contoso.com", "sip:carol@contoso.com", "sip:dan@contoso.com"])
        #expect(document.actions.first?.categories == [.state, .note])
        #expect(document.actions.last?.categories == [.state])
        #expect(try document.again == document)
    }

    @Test(
        "MS-PRES 2.2.2.4.1 both namespaces are those of the section, and no others [R141]",
        arguments: ["http://schemas.microsoft.com/2006/01/sip/batch-subscribe", "http://schemas.microsoft.com/2006/09/sip/categorylist"])
    func namespaces(_ namespace: String) {
        #expect(MSRTCSamples.batchSub.contains(namespace))
        let text = MSRTCSamples.batchSub.replacing(namespace, with: "http://schemas.microsoft.com/2099/01/sip/other")
        #expect(refusal(BatchSubscribeDocument.self, text) != nil)
    }

    @Test("MS-PRES 3.4.5.1.3 an empty context is not an absent one")
    func context() throws {
        let resources = try #require(try BatchSubscribeDocument(MSRTCSamples.batchSub).actions.first?.resources)
        #expect(resources.map { $0.context == nil } == [true, false, false])
        #expect(resources[1].context == .empty)
        guard case .content(let fragment) = resources[2].context else {
            Issue.record("the context was lost")
            return
        }
        #expect(try SubscriptionContextDocument(parsing: fragment).isContact)
    }

    @Test(
        "MS-PRES 3.4.5.3 an incomplete request is refused",
        arguments: [
            "<batchSub xmlns='B'/>", "<batchSub xmlns='B'><action name='subscribe'/></batchSub>",
            "<batchSub xmlns='B'><action name='subscribe'><adhocList/><categoryList xmlns='C'><category name='state'/></categoryList></action></batchSub>",
            "<batchSub xmlns='B'><action name='subscribe'><adhocList><resource/></adhocList><categoryList xmlns='C'><category name='state'/></categoryList></action></batchSub>",
            "<batchSub xmlns='B'><action name='subscribe'><adhocList><resource uri='sip:b@contoso.com'/></adhocList><categoryList xmlns='C'/></action></batchSub>",
            "<batchSub xmlns='B'><action name='subscribe'><adhocList><resource uri='sip:b@contoso.com'/></adhocList></action></batchSub>",
        ])
    func incomplete(_ text: String) {
        let text = text.replacing("'B'", with: "'http://schemas.microsoft.com/2006/01/sip/batch-subscribe'")
            .replacing("'C'", with: "'http://schemas.microsoft.com/2006/09/sip/categorylist'")
        #expect(refusal(BatchSubscribeDocument.self, text)?.code == .missing)
    }

    @Test("MS-PRES 3.4.5.1.3 asking for too much is a limit of its own")
    func limits() throws {
        let tree = try XMLTree.parse(Array(MSRTCSamples.batchSub.utf8))
        for limits in [BatchSubscribeLimits(actions: 1), BatchSubscribeLimits(resources: 3), BatchSubscribeLimits(categories: 1)] {
            #expect { try BatchSubscribeDocument(reading: tree.root, limits: limits) } throws: { ($0 as? DocumentError)?.code == .limit }
        }
    }

    @Test("MS-PRES 2.2.2.4.1 other actions are refused")
    func action() {
        #expect(
            refusal(BatchSubscribeDocument.self, MSRTCSamples.batchSub.replacing("\"unsubscribe\"", with: "\"poll\""))?.code
                == .invalidValue)
    }
}

@Suite struct SubscriptionContextTests {
    @Test("MS-PRES 6.13 contact and delegation")
    func read() throws {
        let context = try SubscriptionContextDocument(MSRTCSamples.subscriptionContext)
        #expect(context == SubscriptionContextDocument(isContact: true, isDelegate: true))
        #expect(context.text == MSRTCSamples.subscriptionContext)
    }
}

@Suite struct SetContainerMembersTests {
    @Test("MS-PRES 2.2.2.5.2 add is the default, remove and delete are the same [R107, R108]")
    func read() throws {
        let document = try SetContainerMembersDocument(MSRTCSamples.setContainerMembers)
        let container = try #require(document.containers.first)
        #expect(container.id.rawValue == 300 && container.version == 2)
        #expect(container.changes.map(\.action) == [.add, .remove, .remove])
        #expect(
            container.changes.map(\.member) == [
                ContainerMember(.user, value: "alice@fabrikam.com"), ContainerMember(.domain, value: "example.org"),
                ContainerMember(.federated),
            ])
        #expect(try document.again == document)
        #expect(!document.text.contains("delete"))
    }

    @Test(
        "MS-PRES 6.11 container 0, unknown types and unknown actions are refused",
        arguments: [
            ("id=\"300\"", "id=\"0\""), ("id=\"300\"", "id=\"40000\""), ("type=\"federated\"", "type=\"friends\""),
            ("\"delete\"", "\"move\""),
        ])
    func refused(_ right: String, _ wrong: String) {
        #expect(
            refusal(SetContainerMembersDocument.self, MSRTCSamples.setContainerMembers.replacing(right, with: wrong))?.code == .invalidValue
        )
    }
}

@Suite struct RoamingSelfTests {
    @Test("MS-PRES 6.6 scopes of both namespaces")
    func list() throws {
        let document = try RoamingListDocument(MSRTCSamples.roamingList)
        #expect(document.scopes == [.categories, .containers, .delegates])
        #expect(document.text == MSRTCSamples.roamingList)
        #expect(
            refusal(RoamingListDocument.self, "<roamingList xmlns='http://schemas.microsoft.com/2006/09/sip/roaming-self'/>")?.code
                == .missing)
        #expect(
            refusal(
                RoamingListDocument.self,
                "<roamingList xmlns='http://schemas.microsoft.com/2006/09/sip/roaming-self'><roaming type='delegates'/></roamingList>")?
                .code
                == .invalidValue)
    }

    @Test("MS-PRES 6.7 all four parts, bodies verbatim")
    func data() throws {
        let document = try RoamingDataDocument(MSRTCSamples.roamingData)
        let categories = try #require(document.categories?.categories)
        #expect(categories.map(\.container?.rawValue) == [200, 2, 2, 400])
        #expect(categories.map(\.version) == [3, 1, 1, nil])
        #expect(categories.map(\.expireType) == [.static, .endpoint, .time, nil])
        #expect(categories[1].endpointID == "6B29FC40-CA47-1067-B31D-00DD010662DA")
        #expect(categories[2].expires == 3600)
        #expect(categories[3].isEmptyMarker)
        #expect(
            document.containers?.containers.first?.members == [
                ContainerMember(.sameEnterprise), ContainerMember(.user, value: "alice@fabrikam.com"),
            ])
        #expect(document.subscribers?.subscribers.first?.type == .federated)
        #expect(document.subscribers?.subscribers.first?.context?.localName == "subscriptionContext")
        #expect(
            document.delegates
                == DelegatesDocument(version: 1, delegates: [DelegateElement(uri: "carol@contoso.com", publish: true, redelegate: false)]))
        #expect(document.text.contains(MSRTCSamples.aggregateState))
        #expect(try document.again == document)
    }

    @Test("MS-PRES 6.7 parts outside the scope are absent")
    func parts() throws {
        let text = RoamingDataDocument(containers: ContainersDocument()).text
        #expect(
            text
                == #"<roamingData xmlns="http://schemas.microsoft.com/2006/09/sip/roaming-self"><containers xmlns="http://schemas.microsoft.com/2006/09/sip/containers"/></roamingData>"#
        )
    }
}

@Suite struct ForeignContentTests {
    /// Adds a foreign attribute to every start tag of the sample, and a foreign element before every end tag of the named elements.
    private static func strange(_ text: String, in names: [String], withElements: Bool) -> String {
        var result = text
        for name in names {
            result = result.replacing("<\(name) ", with: "<\(name) xmlns:z='urn:example:z' z:mark='7' ")
            result = result.replacing("<\(name)>", with: "<\(name) xmlns:z='urn:example:z' z:mark='7'>")
            guard withElements else { continue }
            result = result.replacing("</\(name)>", with: "<z:more xmlns:z='urn:example:z'/></\(name)>")
        }
        return result
    }

    private static func check<Document: MSRTCDocument & Equatable>(
        _ type: Document.Type, _ sample: String, in names: [String], marks: Int, elements: Int
    ) throws {
        let strange = Self.strange(sample, in: names, withElements: elements > 0)
        let document = try Document(strange)
        #expect(try document.again.text == document.text)
        #expect(document.text.components("mark=") == marks)
        #expect(document.text.components(":more") == elements)
    }

    @Test("MS-PRES 6.8, 6.10, 6.11, 6.6 and 6.5 foreign attributes and elements come back")
    func survive() throws {
        try Self.check(CategoryPublishDocument.self, MSRTCSamples.publish, in: ["publish", "publications"], marks: 2, elements: 2)
        try Self.check(CategoryPublishDocument.self, MSRTCSamples.publish, in: ["publication"], marks: 2, elements: 0)
        try Self.check(BatchSubscribeDocument.self, MSRTCSamples.batchSub, in: ["batchSub", "action", "resource"], marks: 7, elements: 5)
        try Self.check(
            SetContainerMembersDocument.self, MSRTCSamples.setContainerMembers, in: ["setContainerMembers", "container", "member"],
            marks: 5,
            elements: 2)
        try Self.check(RoamingListDocument.self, MSRTCSamples.roamingList, in: ["roamingList"], marks: 1, elements: 1)
        try Self.check(RoamingDataDocument.self, MSRTCSamples.roamingData, in: ["roamingData", "delegate"], marks: 2, elements: 1)
    }
}
