import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

@Suite struct ContactListTests {
    private static let dan = RoamingContact(uri: "sip:dan@contoso.com", name: "Dan")

    private static func refusal(_ list: inout ContactList, _ kind: ContactOperation.Kind, deltaNum: UInt32?) -> EnhancedPresenceRefusal? {
        do throws(EnhancedPresenceRefusal) {
            _ = try list.apply(ContactOperation(kind, deltaNum: deltaNum))
            return nil
        } catch {
            return error
        }
    }

    /// Applies operations, each with the current version.
    private static func list(_ kinds: ContactOperation.Kind..., policy: RoamingPolicy = RoamingPolicy()) throws -> ContactList {
        var list = ContactList(policy: policy)
        for kind in kinds { _ = try list.apply(ContactOperation(kind, deltaNum: list.deltaNum)) }
        return list
    }

    @Test("MS-SIP 3.7.4.4 a new list has version 1 and the group ~")
    func new() {
        let list = ContactList()
        #expect(list.document(showsMode: false).text == #"<contactList deltaNum="1"><group id="1" name="~" externalURI=""/></contactList>"#)
        #expect(list.isPristine)
    }

    @Test("MS-SIP 3.7.4.3 a contact is added, changed and deleted, with one version each and the change as delta")
    func contact() throws {
        var list = ContactList()
        let added = try list.apply(ContactOperation(.setContact(Self.dan), deltaNum: 1))
        var shown = Self.dan
        shown.groups = [1]
        #expect(added.delta == ContactDeltaDocument(deltaNum: 2, previousDeltaNum: 1, change: .addedContact(shown)))
        shown.uri = "dan@contoso.com"
        #expect(list.contacts == [shown])
        var renamed = RoamingContact(uri: "SIP:dan@CONTOSO.com", name: "Daniel", groups: [1, 0, 1], isSubscribed: false)
        let changed = try list.apply(ContactOperation(.setContact(renamed), deltaNum: 2))
        renamed.uri = "sip:dan@contoso.com"
        renamed.groups = [1]
        #expect(changed.delta.change == .modifiedContact(renamed))
        let deleted = try list.apply(ContactOperation(.deleteContact(uri: "dan@contoso.com"), deltaNum: nil))
        #expect(
            deleted.delta == ContactDeltaDocument(deltaNum: 4, previousDeltaNum: 3, change: .deletedContact(uri: "sip:dan@contoso.com")))
        #expect(list.contacts.isEmpty && list.deltaNum == 4)
    }

    @Test("MS-SIP 3.7.4.4 a group gets the smallest free number, is renamed, and deleted when it is empty")
    func group() throws {
        var list = try Self.list(.addGroup(name: "Team", externalURI: nil), .addGroup(name: "Friends", externalURI: "ldap://x"))
        #expect(list.groups.map(\.id) == [1, 2, 3])
        _ = try list.apply(ContactOperation(.deleteGroup(id: 2), deltaNum: 3))
        let added = try list.apply(ContactOperation(.addGroup(name: "Board", externalURI: nil), deltaNum: 4))
        #expect(added.newGroup == 2)
        #expect(added.delta.change == .addedGroup(RoamingGroup(id: 2, name: "Board")))
        let renamed = try list.apply(ContactOperation(.modifyGroup(RoamingGroup(id: 3, name: "Others")), deltaNum: 5))
        #expect(renamed.delta.change == .modifiedGroup(RoamingGroup(id: 3, name: "Others")))
        #expect(list.groups.map(\.name) == ["~", "Board", "Others"])
    }

    @Test("MS-SIP 2.2.4.2 another version than the current one is 409")
    func stale() throws {
        var list = try Self.list(.setContact(Self.dan))
        let before = list
        for deltaNum: UInt32 in [0, 1, 3] {
            #expect(Self.refusal(&list, .setContact(Self.dan), deltaNum: deltaNum)?.status == 409)
            #expect(Self.refusal(&list, .deleteContact(uri: "dan@contoso.com"), deltaNum: deltaNum)?.status == 409)
        }
        #expect(list == before)
    }

    private static let wrong: [(ContactOperation.Kind, Int, Int?)] = [
        (.deleteContact(uri: "carol@contoso.com"), 404, 2001), (.deleteGroup(id: 9), 404, 2002),
        (.modifyGroup(RoamingGroup(id: 9, name: "x")), 404, 2002),
        (.setContact(RoamingContact(uri: "sip:eve@contoso.com", groups: [9])), 404, 2002),
        (.addGroup(name: "Team", externalURI: nil), 400, 2015), (.modifyGroup(RoamingGroup(id: 1, name: "Team")), 400, 2015),
        (.addGroup(name: "~", externalURI: nil), 400, 2015), (.deleteGroup(id: 1), 403, nil), (.deleteGroup(id: 2), 403, nil),
        (.setContact(RoamingContact(uri: "eve")), 400, nil),
        (.setContact(RoamingContact(uri: "sip:" + String(repeating: "e", count: 450) + "@contoso.com")), 400, nil),
        (.setContact(RoamingContact(uri: "eve@contoso.com", name: String(repeating: "e", count: 257))), 400, nil),
        (.addGroup(name: String(repeating: "g", count: 257), externalURI: nil), 400, nil),
        (.addGroup(name: "g", externalURI: String(repeating: "g", count: 1_025)), 400, nil),
    ]

    @Test("MS-SIP 3.7.4, MS-OCER a wrong operation has its status and its diagnostic, and changes nothing", arguments: wrong.indices)
    func refused(_ index: Int) throws {
        let (kind, status, diagnostic) = Self.wrong[index]
        var member = Self.dan
        member.groups = [2]
        var list = try Self.list(.addGroup(name: "Team", externalURI: nil), .setContact(member))
        let before = list
        let refusal = Self.refusal(&list, kind, deltaNum: 3)
        #expect(refusal?.status == status)
        #expect(refusal?.diagnostic?.id == diagnostic)
        #expect(list == before)
    }

    @Test("MS-OCER too many contacts, more than 64 groups and a large extension are 413 with 2007, 2008 and 2009 [R247]")
    func limits() throws {
        var policy = RoamingPolicy()
        policy.contactLimit = 1
        var list = try Self.list(.setContact(Self.dan), policy: policy)
        #expect(Self.refusal(&list, .setContact(RoamingContact(uri: "eve@contoso.com")), deltaNum: 2)?.diagnostic?.id == 2007)
        #expect(Self.refusal(&list, .setContact(Self.dan), deltaNum: 2) == nil, "who is there may change")
        for number in 2...64 {
            #expect(Self.refusal(&list, .addGroup(name: "g\(number)", externalURI: nil), deltaNum: list.deltaNum) == nil)
        }
        let before = list
        let group = Self.refusal(&list, .addGroup(name: "one more", externalURI: nil), deltaNum: list.deltaNum)
        #expect(group?.status == 413 && group?.diagnostic?.id == 2008)
        var large = Self.dan
        large.extension = try XMLFragment(
            parsing: Array("<contactExtension>\(String(repeating: "x", count: 1_024))</contactExtension>".utf8))
        let refusal = Self.refusal(&list, .setContact(large), deltaNum: list.deltaNum)
        #expect(refusal?.status == 413 && refusal?.diagnostic?.id == 2009)
        #expect(list == before)
    }

    @Test("a list read from its document is the same again")
    func restored() throws {
        var contact = Self.dan
        contact.groups = [2, 1]
        contact.externalURI = "ldap://x"
        contact.extension = try XMLFragment(parsing: Array("<contactExtension><p>1</p></contactExtension>".utf8))
        let list = try Self.list(
            .addGroup(name: "Team", externalURI: nil), .setContact(contact), .setContact(RoamingContact(uri: "eve@contoso.com")))
        let document = try ContactListDocument(parsing: list.document(showsMode: true).encoded())
        #expect(ContactList(document) == list)
    }
}

@Suite struct UCSMigrationTests {
    private static func permitted() -> ContactList {
        var policy = RoamingPolicy()
        policy.allowsUnifiedContactStore = true
        return ContactList(policy: policy)
    }

    private static func answer(_ list: inout ContactList, _ offer: UCSOffer) -> (ContactListDocument?, EnhancedPresenceRefusal?) {
        do throws(EnhancedPresenceRefusal) {
            return (try list.answer(offer), nil)
        } catch {
            return (nil, error)
        }
    }

    private static let ready = UCSOffer(isCapable: true, isReady: true)

    @Test("MS-PRES 4.14.1 ms-ucs-ready queues the user and is answered allowed; where it is not permitted, disabled [R340]")
    func start() {
        var list = Self.permitted()
        #expect(Self.answer(&list, Self.ready).0?.ucsMode == .allowed)
        #expect(list.waitsForMigration)
        var other = ContactList()
        #expect(Self.answer(&other, Self.ready).0?.ucsMode == .disabled)
        #expect(!other.waitsForMigration)
    }

    @Test("MS-PRES 10 a client that does not know of the unified contact store is not told its mode")
    func unaware() {
        var list = Self.permitted()
        #expect(Self.answer(&list, UCSOffer()).0?.ucsMode == nil)
        #expect(Self.answer(&list, UCSOffer(isCapable: true)).0?.ucsMode == nil)
        #expect(list.mode == .disabled)
    }

    @Test("MS-PRES 3.10.4 while migrating and after it every change is refused [R341]")
    func readOnly() throws {
        var list = Self.permitted()
        _ = Self.answer(&list, Self.ready)
        let operation = ContactOperation(.setContact(RoamingContact(uri: "dan@contoso.com")), deltaNum: 1)
        for step in [{ (list: inout ContactList) in list.beginMigration() }, { $0.completeMigration() }] {
            #expect(step(&list))
            let before = list
            #expect(throws: EnhancedPresenceRefusal.self) { try list.apply(operation) }
            #expect(list == before)
        }
        #expect(list.mode == .migrated)
    }

    @Test("MS-PRES 4.14.3.1 after migration ms-ucs is 488 with diagnostic 2165, a client without it gets the list [R343]")
    func afterwards() {
        var list = Self.permitted()
        _ = Self.answer(&list, Self.ready)
        #expect(list.beginMigration() && list.completeMigration())
        for offer in [UCSOffer(isCapable: true), Self.ready] {
            let refusal = Self.answer(&list, offer).1
            #expect(refusal?.status == 488)
            #expect(refusal?.diagnostic?.id == 2165)
        }
        #expect(Self.answer(&list, UCSOffer()).0?.deltaNum == 1)
    }

    @Test("MS-PRES 1.3.5 no step of a migration can be left out; one that fails gives the list back")
    func order() throws {
        var list = Self.permitted()
        #expect(!list.beginMigration() && !list.completeMigration())
        _ = Self.answer(&list, Self.ready)
        #expect(!list.completeMigration() && !list.cancelMigration())
        #expect(list.beginMigration() && list.cancelMigration())
        _ = try list.apply(ContactOperation(.setContact(RoamingContact(uri: "dan@contoso.com")), deltaNum: 1))
        #expect(list.waitsForMigration)
    }
}

@Suite struct AccessControlListTests {
    private static func refusal(_ list: inout AccessControlList, _ entry: AccessControlEntry, deltaNum: UInt32) -> Int? {
        do throws(EnhancedPresenceRefusal) {
            try list.set(SetACEOperation(entry: entry, deltaNum: deltaNum))
            return nil
        } catch {
            return error.status
        }
    }

    @Test("MS-SIP 3.7.5.1 an entry is added or replaced, with one version each")
    func set() throws {
        var list = AccessControlList()
        #expect(list.document.text == #"<ACLlist deltaNum="1"><userACL/></ACLlist>"#)
        #expect(Self.refusal(&list, AccessControlEntry(scope: .user, mask: "sip:dan@contoso.com", rights: "AA"), deltaNum: 1) == nil)
        #expect(Self.refusal(&list, AccessControlEntry(scope: .user, mask: "dan@CONTOSO.com", rights: "BD"), deltaNum: 2) == nil)
        #expect(Self.refusal(&list, AccessControlEntry(scope: .all, mask: "", rights: "PA"), deltaNum: 3) == nil)
        #expect(list.entries.map(\.rights) == ["BD", "PA"])
        #expect(list.deltaNum == 4)
        #expect(AccessControlList(list.document) == list)
    }

    @Test("MS-SIP 3.7.1 another version is 409, a mask that is none 400, one entry too many 413, and nothing changes")
    func refused() {
        var policy = RoamingPolicy()
        policy.accessControlLimit = 1
        var list = AccessControlList(policy: policy)
        #expect(Self.refusal(&list, AccessControlEntry(scope: .domain, mask: "fabrikam.com"), deltaNum: 1) == nil)
        let before = list
        #expect(Self.refusal(&list, AccessControlEntry(scope: .all, mask: ""), deltaNum: 1) == 409)
        #expect(Self.refusal(&list, AccessControlEntry(scope: .user, mask: "dan"), deltaNum: 2) == 400)
        #expect(Self.refusal(&list, AccessControlEntry(scope: .all, mask: ""), deltaNum: 2) == 413)
        #expect(list == before)
        #expect(Self.refusal(&list, AccessControlEntry(scope: .domain, mask: "Fabrikam.com", rights: "DD"), deltaNum: 2) == nil)
    }
}

extension MSRTCDocument {
    fileprivate var text: String { String(decoding: encoded(), as: UTF8.self) }
}
