import EnhancedPresence
import PresenceDocuments
import XMLCore

/// Bob's presentity and the words of the tests about it.
enum Fixture {
    static let bob = "sip:bob@contoso.com"
    static let laptop = PublishingEndpoint(
        from: bob, to: bob, endpointID: "6B29FC40-CA47-1067-B31D-00DD010662DA", isRegistered: true)
    static let start = DateTime(nanosecondsSince1970: 1_772_439_330_117_000_000)

    static func time(_ seconds: Int64) -> DateTime {
        DateTime(nanosecondsSince1970: start.nanosecondsSince1970 + seconds * 1_000_000_000)
    }

    static func container(_ number: Int) -> ContainerID { ContainerID(number) ?? .default }

    static func id(_ category: CategoryName, _ number: Int, _ instance: UInt32 = 0) -> PublicationID {
        PublicationID(category: category, container: container(number), instance: instance)
    }

    static func pair(_ category: CategoryName, _ number: Int) -> ContainerCategory {
        ContainerCategory(category: category, container: container(number))
    }

    static func body(_ text: String) -> XMLFragment? {
        NoteDocument(bodies: [NoteBody(text)]).fragment
    }

    static func publication(
        _ category: CategoryName, _ number: Int, _ instance: UInt32 = 0, version: UInt32 = 0, type: ExpireType = .static,
        expires: UInt32? = nil, text: String? = "here"
    ) -> CategoryPublication {
        CategoryPublication(
            categoryName: category, instance: instance, container: container(number), version: version, expireType: type,
            expires: expires, body: text.flatMap(body))
    }

    static func request(_ publications: CategoryPublication...) -> CategoryPublishDocument {
        CategoryPublishDocument(uri: bob, publications: publications)
    }

    static func members(_ number: Int, version: UInt32 = 0, _ changes: ContainerMemberChange...) -> SetContainerMembersDocument {
        SetContainerMembersDocument(containers: [ContainerChange(id: container(number), version: version, changes: changes)])
    }

    /// A presentity with these publications, and these members per container.
    static func presentity(
        _ publications: [CategoryPublication] = [], members: [Int: [ContainerMember]] = [:],
        policy: EnhancedPresencePolicy = .standard
    ) throws -> EnhancedPresentity {
        var presentity = EnhancedPresentity(uri: bob, policy: policy)
        if !publications.isEmpty {
            _ = try presentity.publish(CategoryPublishDocument(uri: bob, publications: publications), by: laptop, at: start)
        }
        for (number, members) in members.sorted(by: { $0.key < $1.key }) {
            _ = try presentity.setContainerMembers(
                SetContainerMembersDocument(containers: [
                    ContainerChange(id: container(number), version: 0, changes: members.map { ContainerMemberChange(.add, $0) })
                ]), by: laptop)
        }
        return presentity
    }
}

extension EnhancedPresentity {
    /// The refusal of a publish request, or nil; the presentity is as it becomes.
    mutating func refusal(
        of request: CategoryPublishDocument, by endpoint: PublishingEndpoint = Fixture.laptop, at now: DateTime = Fixture.start
    ) -> EnhancedPresenceRefusal? {
        do throws(EnhancedPresenceRefusal) {
            _ = try publish(request, by: endpoint, at: now)
            return nil
        } catch {
            return error
        }
    }

    mutating func refusal(
        of request: SetContainerMembersDocument, by endpoint: PublishingEndpoint = Fixture.laptop
    ) -> EnhancedPresenceRefusal? {
        do throws(EnhancedPresenceRefusal) {
            _ = try setContainerMembers(request, by: endpoint)
            return nil
        } catch {
            return error
        }
    }
}
