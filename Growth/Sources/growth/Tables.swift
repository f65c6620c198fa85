import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPSecurity
import SimplePresence
import UserDirectory
import XMLCore

private let now = DateTime(nanosecondsSince1970: 1_700_000_000_000_000_000)
private let later = DateTime(nanosecondsSince1970: 1_700_003_600_000_000_000)
private let bob = "sip:bob@contoso.com"
private let endpoint = PublishingEndpoint(from: bob, to: bob, endpointID: "e1", isRegistered: true)

private func fragment(_ text: String) -> XMLFragment? { try? XMLFragment(parsing: Array(text.utf8)) }

private func note(_ number: Int) -> XMLFragment? {
    fragment("<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"><body type=\"personal\">\(number)</body></note>")
}

private func state(_ number: Int) -> XMLFragment? {
    fragment(
        "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "xsi:type=\"machineState\"><availability>\(3_500 + number % 100)</availability></state>")
}

private func publications(
    _ size: Int, of category: CategoryName = .note, expireType: ExpireType = .static, container: (Int) -> UInt32 = { _ in 200 }
) -> CategoryPublishDocument {
    // The server computes states 0 and 1 itself (MS-PRES 3.8.5.1.2.7).
    let first = category == .state ? 2 : 0
    return CategoryPublishDocument(
        uri: bob,
        publications: (0..<size).map {
            CategoryPublication(
                categoryName: category, instance: UInt32(first + $0), container: ContainerID(Int(container($0))) ?? .default, version: 0,
                expireType: expireType, expires: expireType == .time ? 600 : nil, body: category == .state ? state($0) : note($0))
        })
}

private func members(_ size: Int, version: UInt32 = 0, from first: Int = 0) -> SetContainerMembersDocument {
    SetContainerMembersDocument(containers: [
        ContainerChange(
            id: ContainerID(300) ?? .default, version: version,
            changes: (first..<first + size).map { ContainerMemberChange(.add, ContainerMember(.user, value: "u\($0)@fabrikam.com")) })
    ])
}

private func contacts(_ size: Int) -> ContactListDocument {
    ContactListDocument(
        deltaNum: 1, groups: [ContactList.defaultGroup], contacts: (0..<size).map { RoamingContact(uri: "u\($0)@contoso.com") })
}

extension Construct {
    /// Creates a presentity with content, and the work on it.
    private static func presentity(
        _ name: String, from smallest: Int, fill: @escaping (inout EnhancedPresentity, Int) throws -> Void,
        work: @escaping (inout EnhancedPresentity, Int) throws -> Bool
    ) -> Construct {
        Construct("enhanced presence: \(name)", from: smallest) { size in
            var presentity = EnhancedPresentity(uri: bob)
            let isFilled = (try? fill(&presentity, size)) != nil
            return { isFilled && (try? work(&presentity, size)) == true }
        }
    }

    private static let watcher = WatcherIdentity(uri: "sip:eve@fabrikam.com", network: .federated)

    static let enhancedTables: [Construct] = [
        Construct("enhanced presence: instances published in one request", from: 100) { size in
            let request = publications(size)
            return {
                var presentity = EnhancedPresentity(uri: bob)
                return (try? presentity.publish(request, by: endpoint, at: now)) != nil && presentity.instanceCount >= size
            }
        },
        Construct("enhanced presence: containers published in one request", from: 100) { size in
            let request = publications(size) { UInt32($0 + 100) }
            return {
                var presentity = EnhancedPresentity(uri: bob)
                return (try? presentity.publish(request, by: endpoint, at: now)) != nil
            }
        },
        Construct("enhanced presence: states published in one request", from: 100) { size in
            let request = publications(size, of: .state) { _ in 2 }
            return {
                var presentity = EnhancedPresentity(uri: bob)
                return (try? presentity.publish(request, by: endpoint, at: now)) != nil
            }
        },
        Construct("enhanced presence: publications of a stale version", from: 100) { size in
            var request = publications(size)
            for index in request.publications.indices { request.publications[index].version = 7 }
            return {
                var presentity = EnhancedPresentity(uri: bob)
                return (try? presentity.publish(request, by: endpoint, at: now)) == nil
            }
        },
        presentity(
            "a publication among many", from: 100, fill: { _ = try $0.publish(publications($1), by: endpoint, at: now) },
            work: { presentity, size in
                var request = publications(1)
                request.publications[0].instance = UInt32(size)
                return try !presentity.publish(request, by: endpoint, at: now).pairs.isEmpty
            }),
        presentity(
            "instances that a watcher sees", from: 100,
            fill: { _ = try $0.publish(publications($1) { _ in 0 }, by: endpoint, at: now) },
            work: { presentity, size in presentity.view(of: [.note], for: watcher).document(of: nil).encoded().count > 0 }),
        presentity(
            "instances that expire", from: 100, fill: { _ = try $0.publish(publications($1, expireType: .time), by: endpoint, at: now) },
            work: { presentity, _ in !presentity.expire(at: later).pairs.isEmpty }),
        presentity(
            "instances of an endpoint that ends", from: 100,
            fill: { _ = try $0.publish(publications($1, expireType: .endpoint), by: endpoint, at: now) },
            work: { presentity, _ in !presentity.endpointEnded("e1", isLast: true, at: later).pairs.isEmpty }),
        presentity(
            "instances that the user sees", from: 100, fill: { _ = try $0.publish(publications($1), by: endpoint, at: now) },
            work: { presentity, _ in !presentity.storedData(at: now).encoded().isEmpty }),
        presentity(
            "states that are aggregated", from: 100,
            fill: { _ = try $0.publish(publications($1, of: .state) { _ in 2 }, by: endpoint, at: now) },
            work: { presentity, _ in
                _ = presentity.aggregate(at: later)
                return !presentity.computedInstances.isEmpty && !presentity.computedCategories(at: later).encoded().isEmpty
            }),
        presentity(
            "members added in one request", from: 100, fill: { _, _ in },
            work: { try !$0.setContainerMembers(members($1), by: endpoint).containers.isEmpty }),
        presentity(
            "a member among many", from: 100, fill: { _ = try $0.setContainerMembers(members($1 - 1), by: endpoint) },
            work: { try !$0.setContainerMembers(members(1, version: 1, from: $1), by: endpoint).containers.isEmpty }),
        presentity(
            "containers with members in one request", from: 25, fill: { _, _ in },
            work: { presentity, size in
                let request = SetContainerMembersDocument(
                    containers: (0..<size).map {
                        ContainerChange(
                            id: ContainerID($0 + 100) ?? .default, version: 0,
                            changes: [ContainerMemberChange(.add, ContainerMember(.everyone))])
                    })
                return try !presentity.setContainerMembers(request, by: endpoint).containers.isEmpty
            }),
        presentity(
            "containers that a category is looked for in", from: 25,
            fill: { presentity, size in
                _ = try presentity.publish(publications(size) { UInt32($0 + 100) }, by: endpoint, at: now)
                for number in 0..<size {
                    let change = ContainerChange(
                        id: ContainerID(number + 100) ?? .default, version: 0,
                        changes: [ContainerMemberChange(.add, ContainerMember(.user, value: "u@fabrikam.com"))])
                    _ = try presentity.setContainerMembers(SetContainerMembersDocument(containers: [change]), by: endpoint)
                }
            },
            work: { presentity, _ in presentity.view(of: [.note], for: watcher).document(of: nil).encoded().count > 0 }),
        presentity(
            "subscribers noted one after the other", from: 500, fill: { _, _ in },
            work: { presentity, size in
                for number in 0..<size {
                    let watcher = WatcherIdentity(uri: "sip:u\(number)@fabrikam.com", network: .federated)
                    _ = try presentity.noteSubscriber(watcher, displayName: "U", by: .category(context: nil))
                }
                return presentity.subscribers.count == size
            }),
        presentity(
            "a subscriber that is acknowledged among many", from: 500,
            fill: { presentity, size in
                for number in 0..<size {
                    let watcher = WatcherIdentity(uri: "sip:u\(number)@fabrikam.com", network: .federated)
                    _ = try presentity.noteSubscriber(watcher, displayName: "U", by: .category(context: nil))
                }
            },
            work: { presentity, _ in
                try presentity.setSubscribers(SetSubscribersDocument(user: "u1@fabrikam.com"), by: endpoint).subscribersChanged
            }),
    ]

    static let otherTables: [Construct] = [
        Construct("contacts: added one after the other", from: 100) { size in
            {
                var list = ContactList()
                for number in 0..<size {
                    let contact = RoamingContact(uri: "u\(number)@contoso.com")
                    guard (try? list.apply(ContactOperation(.setContact(contact), deltaNum: list.deltaNum))) != nil else { return false }
                }
                return true
            }
        },
        Construct("contacts: a list that is restored", from: 500) { size in
            let document = contacts(size)
            return { ContactList(document).document(showsMode: true).contacts.count == size }
        },
        Construct("contacts: one that is deleted among many", from: 100) { size in
            var list = ContactList(contacts(size))
            return { (try? list.apply(ContactOperation(.deleteContact(uri: "u1@contoso.com"), deltaNum: nil))) != nil }
        },
        Construct("contacts: groups that one names", from: 1_000) { size in
            var list = ContactList()
            var contact = RoamingContact(uri: "u@contoso.com")
            contact.groups = [UInt32](repeating: 1, count: size)
            return { (try? list.apply(ContactOperation(.setContact(contact), deltaNum: list.deltaNum))) != nil }
        },
        Construct("access control: entries set one after the other", from: 100) { size in
            {
                var list = AccessControlList()
                for number in 0..<size {
                    let entry = AccessControlEntry(scope: .user, mask: "u\(number)@fabrikam.com")
                    guard (try? list.set(SetACEOperation(entry: entry, deltaNum: list.deltaNum))) != nil else { return false }
                }
                return true
            }
        },
        Construct("access control: a list that is restored", from: 100) { size in
            let document = AccessControlListDocument(
                deltaNum: 1, entries: (0..<size).map { AccessControlEntry(scope: .user, mask: "u\($0)@fabrikam.com") })
            return { AccessControlList(document).document.entries.count == size }
        },
        composition("publications", from: 25) { number, size in
            pidf("<tuple id=\"t\(number)\"><status><basic>open</basic></status></tuple>")
        },
        composition("publications with the same ids", from: 25) { number, _ in
            pidf("<tuple id=\"t\"><status><basic>open</basic></status></tuple>")
        },
        composition("publications with persons", from: 25) { number, _ in
            pidf("<dm:person id=\"p\"><r:activities><r:busy/></r:activities><dm:note>\(number)</dm:note></dm:person>")
        },
        composition("publications with notes", from: 25) { number, _ in pidf((0..<4).map { "<note>\(number) \($0)</note>" }.joined()) },
        composition("publications with extensions", from: 25) { number, _ in
            pidf((0..<4).map { "<e:x n=\"\(number) \($0)\"/>" }.joined())
        },
        composition("tuples of a publication", from: 125, one: true) { _, size in
            pidf((0..<size).map { "<tuple id=\"t\($0)\"><status><basic>open</basic></status></tuple>" }.joined())
        },
        composition("notes of a publication", from: 100, one: true) { _, size in pidf((0..<size).map { "<note>\($0)</note>" }.joined()) },
        composition("extensions of a publication", from: 100, one: true) { _, size in pidf((0..<size).map { "<e:x n=\"\($0)\"/>" }.joined())
        },
        composition("persons of a publication", from: 100, one: true) { _, size in
            pidf((0..<size).map { "<dm:person id=\"p\($0)\"><r:activities><r:other>\($0)</r:other></r:activities></dm:person>" }.joined())
        },
        composition("devices of a publication", from: 100, one: true) { _, size in
            pidf((0..<size).map { "<dm:device id=\"d\($0)\"><dm:deviceID>urn:x:\($0)</dm:deviceID></dm:device>" }.joined())
        },
        Construct("composition: publications that expire", from: 25) { size in
            var composer = PublicationComposer(entity: "sip:kai@example.com")
            for number in 0..<size {
                guard let document = pidf("<note>\(number)</note>") else { break }
                try? composer.publish(document, tag: "t\(number)", until: now, at: now)
            }
            return { composer.expire(at: later) && composer.isEmpty }
        },
        Construct("partial PIDF: operations", from: 50) { size in
            let before = Array(
                "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:kai@example.com\"><note>x</note></presence>".utf8)
            let operations = (0..<size).map { "<p:add sel=\"*\"><note>\($0)</note></p:add>" }.joined()
            let patch = Array(
                "<p:pidf-diff xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\" version=\"2\">\(operations)</p:pidf-diff>"
                    .utf8)
            return { (try? PartialPIDFDocument(patch).document(after: before)) != nil }
        },
        Construct("partial PIDF: tuples of the document", from: 250) { size in
            let tuples = (0..<size).map { "<tuple id=\"t\($0)\"><status/></tuple>" }.joined()
            let before = Array("<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:kai@example.com\">\(tuples)</presence>".utf8)
            let patch = Array(
                "<p:pidf-diff xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\" version=\"2\"><p:remove sel=\"*/tuple[@id='t\(size - 1)']\"/></p:pidf-diff>"
                    .utf8)
            return { (try? PartialPIDFDocument(patch).document(after: before)) != nil }
        },
        partial("tuples that change", from: 125) { number, version in
            "<tuple id=\"t\(number)\"><status><basic>\(version == 0 ? "open" : "closed")</basic></status></tuple>"
        },
        partial("tuples that are replaced by others", from: 125) { number, version in "<tuple id=\"t\(version)\(number)\"><status/></tuple>"
        },
        partial("notes that change", from: 250) { number, version in "<note>\(version) \(number)</note>" },
        partial("extensions that change", from: 250) { number, version in "<e:x n=\"\(version) \(number)\"/>" },
        Construct("directory: users that are read", from: 250) { size in
            let users = (0..<size).compactMap { directoryUser($0) }
            return { (try? UserDirectory(users))?.count == size }
        },
        Construct("directory: users that fit", from: 500) { size in
            let directory = try? UserDirectory((0..<size).compactMap { directoryUser($0) })
            let filters = [DirectorySearchFilter("givenName", "a")]
            return {
                directory?.search(filters, in: "contoso.com", for: bob, limit: size).users.count == size
            }
        },
        Construct("directory: conditions of a search", from: 25) { size in
            let directory = try? UserDirectory((0..<200).compactMap { directoryUser($0) })
            let filters = (0..<size).map { _ in DirectorySearchFilter("givenName", "a") }
            return { directory?.search(filters, in: "contoso.com", for: bob, limit: 100) != nil }
        },
        Construct("sign-in: parameters of credentials", from: 4) { size in
            let request = credentials("Digest realm=\"example.com\"" + (0..<size - 1).map { ", p\($0)=\"1\"" }.joined())
            return { check(request) }
        },
        Construct("sign-in: characters of credentials", from: 1_000) { size in
            let request = credentials("Digest realm=\"example.com\", nonce=\"\(String(repeating: "\\a", count: size))\"")
            return { check(request) }
        },
        Construct("sign-in: lines of credentials", from: 25) { size in
            var request = credentials("Other x=\"1\"")
            for number in 0..<size { request.headers.append(.authorization, "Other x=\"\(number)\"") }
            return { check(request) && request.headers.values(.authorization).count > size }
        },
    ]

    // MARK: makers

    private static func pidf(_ content: String) -> PIDFDocument? {
        try? PIDFDocument.decode(
            Array(
                ("<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:dm=\"urn:ietf:params:xml:ns:pidf:data-model\" "
                    + "xmlns:r=\"urn:ietf:params:xml:ns:pidf:rpid\" xmlns:e=\"urn:example:extension\" entity=\"sip:kai@example.com\">\(content)</presence>")
                    .utf8))
    }

    /// Publications that are accepted one after the other, then composed and written once; with `one` a single one.
    private static func composition(
        _ name: String, from smallest: Int, one: Bool = false, _ document: @escaping (Int, Int) -> PIDFDocument?
    ) -> Construct {
        Construct("composition: \(name)", from: smallest) { size in
            let documents = (0..<(one ? 1 : size)).compactMap { document($0, size) }
            return {
                var composer = PublicationComposer(entity: "sip:kai@example.com")
                for (number, document) in documents.enumerated() {
                    guard (try? composer.publish(document, tag: "t\(number)", until: later, at: now)) != nil else { return false }
                }
                return !documents.isEmpty && !composer.document.encode().isEmpty
            }
        }
    }

    /// Difference that a notifier computes and writes between two documents.
    private static func partial(_ name: String, from smallest: Int, _ entry: @escaping (Int, Int) -> String) -> Construct {
        Construct("partial PIDF written: \(name)", from: smallest) { size in
            let documents = (0..<2).compactMap { version in pidf((0..<size).map { entry($0, version) }.joined()) }
            let trees = documents.compactMap { try? XMLTree.parse($0.encode()) }
            return {
                guard trees.count == 2 else { return false }
                let difference = PartialPIDF(from: trees[0].root, to: trees[1].root) ?? PartialPIDF(full: trees[1].root)
                return !difference.encoded(version: 2).isEmpty
            }
        }
    }

    private static func directoryUser(_ number: Int) -> DirectoryUser? {
        guard var user = try? DirectoryUser("sip:user\(number)@contoso.com") else { return nil }
        try? user.set(.givenName, "Ann \(number)")
        return user
    }

    private static let authenticator = Authenticator(targetName: "edge1.example.net", secret: [UInt8](repeating: 3, count: 32)) { _ in nil }

    private static func credentials(_ value: String) -> SIPRequest {
        var request = SIPRequest(.register, requestURI: "sip:example.com")
        request.headers.append(.from, "<sip:ann@example.com>;tag=f1")
        request.headers.append(.authorization, value)
        return request
    }

    private static func check(_ request: SIPRequest) -> Bool {
        let source = MessageSource(local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.9", 40_000))
        let demand = AuthenticationDemand(offersNTLM: true, digestAlgorithms: [.md5])
        let outcome = authenticator.check(request, from: source, under: demand, at: Instant(secondsSince1970: 1_700_000_000))
        if case .accepted = outcome { return false }
        return true
    }
}
