import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

/// Categories that a server only stores and shows to the user's own endpoints (MS-PRES 2.2.2.7.11 to 2.2.2.7.13).
@Suite struct StoredCategoriesTests {
    private static func property(_ name: String, _ type: String, _ value: String) -> String {
        "<property name=\"\(name)\" type=\"\(type)\"><value>\(value)</value></property>"
    }

    private static func list(_ properties: String...) -> String {
        "<propertyList xmlns=\"http://schemas.microsoft.com/2010/12/sip/propertyList\">\(properties.joined())</propertyList>"
    }

    private static let bodies: [(CategoryName, String)] = [
        (
            .roomSetting,
            list(
                property("ver", "numeric", "1"), property("url", "string", "ma-chan://contoso.com/6b29fc40-ca47-1067-b31d-00dd010662da"),
                property("setting", "numeric", "119"), property("name", "string", "Lab"))
        ),
        (
            .roomUpdate,
            list(
                property("ver", "numeric", "1"), property("url", "string", "ma-chan://contoso.com/6b29fc40-ca47-1067-b31d-00dd010662da"),
                property("msgid", "numeric", "17"))
        ),
        (.roomInvitation, list(property("Version", "numeric", "1"), property("Pool", "string", "p"), property("LastId", "numeric", "3"))),
        (
            .gcFilterSetting,
            list(
                property("ver", "numeric", "1"), property("notificationSettings", "numeric", "6"), property("senderscope", "numeric", "0"),
                property("Keywords", "string", "build"), property("MatchWholeWords", "boolean", "true"))
        ),
        (
            .mwi,
            "<mwi xmlns=\"http://schemas.microsoft.com/2006/09/sip/mwi\" messageWaiting=\"true\" unreadVoiceMailCount=\"2\" readVoiceMailCount=\"5\"/>"
        ),
        (
            .linkedPICContacts,
            "<LinkedPicContactList xmlns=\"http://schemas.microsoft.com/2006/09/sip/categories\"><LinkedPicContactEntry primary-Identity=\"dan@fabrikam.com\"><secondary-identities><secondary-identity>dan2@fabrikam.com</secondary-identity></secondary-identities></LinkedPicContactEntry></LinkedPicContactList>"
        ),
    ]

    @Test(
        "MS-PRES 2.2.2.7.11 to 2.2.2.7.13 voice mail counters, linked contacts and persistent chat categories are stored and echoed as they came, one instance each [R018, R016, R360]",
        arguments: bodies.map(\.0))
    func echoed(_ category: CategoryName) throws {
        let text = try #require(Self.bodies.first { $0.0 == category }).1
        let body = try XMLFragment(parsing: Array(text.utf8))
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let publications = [UInt32(0x1A2B_3C4D), 7].map { instance in
            CategoryPublication(
                categoryName: category, instance: instance, container: .selfOnly, version: 0, expireType: .static, expires: nil, body: body)
        }
        let change = try presentity.publish(
            CategoryPublishDocument(uri: Fixture.bob, publications: publications), by: Fixture.laptop, at: Fixture.start)
        let answer = presentity.publishAnswer(after: change, at: Fixture.start).encoded()
        let categories = try #require(try RoamingDataDocument(parsing: answer).categories?.categories)
        #expect(categories.map(\.instance) == [7, 0x1A2B_3C4D])
        #expect(categories.map(\.version) == [1, 1])
        #expect(String(decoding: answer, as: UTF8.self).split(separator: text, omittingEmptySubsequences: false).count == 3)
        let all = presentity.roamingData(scope: [.categories], at: Fixture.start).encoded()
        #expect(String(decoding: all, as: UTF8.self).contains(text))
    }

    @Test("MS-PRES 2.2.2.7 what stands in the container of the user's own endpoints is seen by no watcher", arguments: bodies.map(\.0))
    func hidden(_ category: CategoryName) throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let publication = CategoryPublication(
            categoryName: category, instance: 7, container: .selfOnly, version: 0, expireType: .static, expires: nil,
            body: Fixture.body("x"))
        _ = try presentity.publish(
            CategoryPublishDocument(uri: Fixture.bob, publications: [publication]), by: Fixture.laptop, at: Fixture.start)
        let alice = WatcherIdentity(uri: "sip:alice@contoso.com", network: .sameEnterprise)
        #expect(presentity.view(of: [category], for: alice).categories.flatMap(\.instances).isEmpty)
    }
}
