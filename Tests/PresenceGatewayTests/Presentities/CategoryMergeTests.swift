import PresenceDocuments
import Testing

@testable import PresenceGateway

@Suite struct CategoryMergeTests {
    func element(_ name: CategoryName, _ instance: UInt32, at seconds: Int64 = 0, container: ContainerID? = nil) -> CategoryElement {
        CategoryElement(
            name: name, instance: instance, publishTime: DateTime(nanosecondsSince1970: seconds * 1_000_000_000), container: container)
    }

    @Test("MS-PRES 3.2.5.3 what a notification names is replaced whole, what it does not name stays")
    func replaces() {
        var merge = CategoryMerge([element(.state, 1), element(.state, 2), element(.note, 0)])
        merge.apply([element(.state, 3)])
        #expect(merge.elements(of: [.state]).map(\.instance) == [3])
        #expect(merge.elements(of: [.note]).map(\.instance) == [0])
        merge.apply([CategoryElement(name: .state)])
        #expect(merge.elements(of: [.state]) == [CategoryElement(name: .state)])
        #expect(merge.all.count == 1)
    }

    @Test("MS-PRES 4.5 a requested category without instance is an empty marker [R166]")
    func markers() {
        #expect(CategoryMerge().elements(of: [.contactCard]) == [CategoryElement(name: .contactCard)])
    }

    @Test("a later moment of publication alone is no change; another instance or value is")
    func changes() {
        let before = CategoryMerge([element(.state, 1, at: 1), element(.note, 0)])
        #expect(CategoryMerge([element(.state, 1, at: 9), element(.note, 0)]).changes(since: before, among: [.state, .note]) == [])
        #expect(CategoryMerge([element(.state, 2)]).changes(since: before, among: [.state, .note]) == [.state, .note])
        #expect(CategoryMerge([element(.state, 2)]).changes(since: before, among: [.note]) == [.note])
    }

    @Test("one view's silence is filled from another")
    func fills() {
        let filled = CategoryMerge([element(.state, 1), CategoryElement(name: .note)])
            .filled(from: CategoryMerge([element(.state, 7), element(.note, 8), element(.services, 9)]))
        #expect(filled.all.map(\.instance) == [1, 8, 9])
    }

    @Test("a view remembers its differences and its octets")
    func views() {
        var counters = GatewayCounters()
        let old = CategoryView(uri: "sip:rob@fabrikam.com", CategoryMerge([element(.state, 1)]))
        let new = CategoryView(uri: "sip:rob@fabrikam.com", CategoryMerge([element(.state, 2)]))
        #expect(new.changes(since: new, among: [.state]) == [])
        #expect(new.changes(since: old, among: [.state]) == [.state])
        #expect(new.document(of: [.state], counters: &counters) == new.document(of: [.state], counters: &counters))
        #expect(counters.bodiesEncoded == 1 && counters.bodiesShared == 1)
    }
}
