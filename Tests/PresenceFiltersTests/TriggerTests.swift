import PresenceDocuments
import PresenceFilters
import Testing

/// Triggers of notifications (RFC 4661 3.6).
@Suite struct TriggerTests {
    static func tuple(_ id: String, _ basic: String = "open", _ rest: String = "") -> String {
        "<tuple id=\"\(id)\"><status><basic>\(basic)</basic></status>\(rest)</tuple>"
    }

    func isTriggered(_ triggers: [FilterTrigger], _ old: String, _ new: String) throws -> Bool {
        try Samples.filter(nil, triggers).isTriggered(from: Samples.presence(old), to: Samples.presence(new))
    }

    func changes(_ change: FilterChange, _ old: String, _ new: String) throws -> Bool {
        try isTriggered([FilterTrigger(changes: [change])], old, new)
    }

    @Test("RFC 4661 3.6.1: each change of a selected value is one, and no other")
    func changed() throws {
        let basic = FilterChange("//pidf:basic")
        #expect(try changes(basic, Self.tuple("a"), Self.tuple("a", "closed")))
        #expect(try !changes(basic, Self.tuple("a"), Self.tuple("a", "open", "<note>new</note>")))
        #expect(try !changes(basic, Self.tuple("a"), Self.tuple("a", " open ")))
        #expect(try !changes(basic, Self.tuple("a"), Self.tuple("a") + Self.tuple("b", "closed")))
        #expect(try !changes(basic, Self.tuple("a") + Self.tuple("b", "closed"), Self.tuple("b", "closed") + Self.tuple("a")))
        #expect(try changes(basic, Self.tuple("a") + Self.tuple("b"), Self.tuple("b", "closed") + Self.tuple("a")))
        // Elements without text: the change of a child or an attribute.
        let tuple = FilterChange("//pidf:tuple")
        #expect(try changes(tuple, Self.tuple("a"), Self.tuple("a", "open", "<note>new</note>")))
        #expect(
            try changes(
                tuple, Self.tuple("a", "open", "<contact priority=\"1\">a:b</contact>"), Self.tuple("a", "open", "<contact>a:b</contact>")))
        #expect(try !changes(tuple, Self.tuple("a"), Self.tuple("a") + "<note>new</note>"))
    }

    @Test(
        "RFC 4661 3.6.1.1, 3.6.1.2: from and to compare the values before and after",
        arguments: [
            ("closed", "open", true), ("closed", nil, true), (nil, "open", true), (nil, nil, true), ("open", nil, false),
            (nil, "closed", false),
            ("closed", "closed", false), ("CLOSED", "OPEN", false), ("open", "closed", false),
        ] as [(String?, String?, Bool)])
    func fromTo(_ from: String?, _ to: String?, _ expected: Bool) throws {
        let change = FilterChange("//pidf:tuple[@id='a']/pidf:status/pidf:basic", from: from, to: to)
        #expect(try changes(change, Self.tuple("a", "closed"), Self.tuple("a", "open")) == expected)
        #expect(try !changes(change, Self.tuple("a", "open"), Self.tuple("a", "open", "<note>1</note>")))
    }

    @Test(
        "RFC 4661 3.6.1.3: by is the smallest difference of numbers",
        arguments: [
            ("0.2", "0.3", "0.1", true), ("0.3", "0.2", "0.1", true), ("0.2", "0.29", "0.1", false), ("0.2", "0.9", "-0.5", true),
            ("0.2", "low", "0.1", false), ("0.2", "0.20", "0", true), ("-1", "1", "2", true), ("-1", "1", "2.001", false),
        ])
    func by(_ old: String, _ new: String, _ by: String, _ expected: Bool) throws {
        func document(_ value: String) -> String { "<x:level v=\"\(value)\">\(value)</x:level>" }
        #expect(try changes(FilterChange("//x:level", by: by), document(old), document(new)) == expected)
        #expect(try changes(FilterChange("//x:level/@v", by: by), document(old), document(new)) == expected)
    }

    @Test("RFC 4661 3.6.1.4: from, to and by hold together")
    func combined() throws {
        let change = FilterChange("//x:level", from: "1", to: "5", by: "4")
        #expect(try changes(change, "<x:level>1</x:level>", "<x:level>5</x:level>"))
        #expect(try !changes(FilterChange("//x:level", from: "1", to: "5", by: "5"), "<x:level>1</x:level>", "<x:level>5</x:level>"))
        #expect(try !changes(change, "<x:level>0</x:level>", "<x:level>5</x:level>"))
        #expect(try !changes(change, "<x:level>1</x:level>", "<x:level>6</x:level>"))
    }

    @Test("RFC 4661 3.6.2, 3.6.3: added and removed compare the selected elements and attributes")
    func addedRemoved() throws {
        let added = [FilterTrigger(additions: ["//pidf:tuple"])]
        let removed = [FilterTrigger(removals: ["//pidf:tuple"])]
        let (one, two) = (Self.tuple("a"), Self.tuple("a") + Self.tuple("b"))
        #expect(try isTriggered(added, one, two) && !isTriggered(removed, one, two))
        #expect(try isTriggered(removed, two, one) && !isTriggered(added, two, one))
        #expect(try isTriggered(added, one, Self.tuple("b")) && isTriggered(removed, one, Self.tuple("b")))
        #expect(try !isTriggered(added, one, Self.tuple("a", "closed", "<note>1</note>")))
        let priority = [FilterTrigger(additions: ["//pidf:contact/@priority"])]
        let without = Self.tuple("a", "open", "<contact>a:b</contact>")
        #expect(try isTriggered(priority, without, Self.tuple("a", "open", "<contact priority=\"1\">a:b</contact>")))
        #expect(try !isTriggered(priority, without, Self.tuple("a", "open", "<contact>a:c</contact>")))
        // A note without id is known by its position.
        let note = [FilterTrigger(additions: ["/pidf:presence/pidf:note"])]
        #expect(
            try isTriggered(note, "<note>1</note>", "<note>1</note><note>2</note>")
                && !isTriggered(note, "<note>1</note>", "<note>2</note>"))
        // A predicate that begins to hold adds to the selection.
        #expect(
            try isTriggered([FilterTrigger(additions: ["//pidf:tuple[pidf:status/pidf:basic='closed']"])], one, Self.tuple("a", "closed")))
    }

    @Test("RFC 4661 3.6: one of the triggers is enough, and all conditions of a trigger are needed")
    func alternatives() throws {
        let basic = FilterChange("//pidf:basic", to: "closed")
        let both = [FilterTrigger(changes: [basic], additions: ["//pidf:note"])]
        let either = [FilterTrigger(changes: [basic]), FilterTrigger(additions: ["//pidf:note"])]
        let three = [FilterTrigger(changes: [basic], additions: ["//pidf:note"], removals: ["//pidf:contact"])]
        let old = Self.tuple("a", "open", "<contact>a:b</contact>")
        let closed = Self.tuple("a", "closed", "<contact>a:b</contact>")
        let note = old + "<note>1</note>"
        #expect(try !isTriggered(both, old, closed) && !isTriggered(both, old, note) && isTriggered(both, old, closed + "<note>1</note>"))
        #expect(try isTriggered(either, old, closed) && isTriggered(either, old, note) && !isTriggered(either, closed, old))
        #expect(
            try !isTriggered(three, old, closed + "<note>1</note>") && isTriggered(three, old, Self.tuple("a", "closed") + "<note>1</note>")
        )
    }

    @Test("RFC 4660 5.3: the first notification needs no trigger, and a document that stays the same is not notified")
    func first() throws {
        let filter = try Samples.filter(nil, [FilterTrigger(additions: ["//rpid:mood"])])
        #expect(filter.isTriggered(from: nil, to: Samples.rich) && !filter.isTriggered(from: Samples.rich, to: Samples.rich))
        #expect(try Samples.filter().isTriggered(from: nil, to: Samples.rich))
    }

    @Test("RFC 4660 5.3: without trigger each change of the content is notified, and no other")
    func content() throws {
        let filter = try Samples.filter(FilterContent(includes: [FilterSelection("//pidf:basic")]))
        let old = Samples.presence(Self.tuple("a"))
        #expect(filter.isTriggered(from: old, to: Samples.presence(Self.tuple("a", "closed"))))
        #expect(!filter.isTriggered(from: old, to: Samples.presence(Self.tuple("a", "open", "<note>1</note>"))))
        #expect(filter.isTriggered(from: old, to: Samples.presence("<note>1</note>")))
        #expect(!filter.isTriggered(from: Samples.presence("<note>1</note>"), to: Samples.presence("<note>2</note>")))
        #expect(try Samples.filter().isTriggered(from: old, to: Samples.presence(Self.tuple("a", "open", "<note>1</note>"))))
    }

    @Test("RFC 4660 5.3.1: a trigger selects no content; with both, the trigger looks at the whole document")
    func both() throws {
        let triggers = [FilterTrigger(changes: [FilterChange("//pidf:basic")])]
        #expect(try Samples.filter(nil, triggers).content(of: Samples.rich) == Samples.rich)
        let filter = try Samples.filter(FilterContent(includes: [FilterSelection("//pidf:note")]), triggers)
        let new = Samples.presence(Self.tuple("a", "closed"))
        #expect(try filter.isTriggered(from: Samples.presence(Self.tuple("a")), to: new) && filter.content(of: new) == nil)
    }

    @Test("A change to or from a document that cannot be read is notified")
    func unreadable() throws {
        let filter = try Samples.filter(nil, [FilterTrigger(additions: ["//rpid:mood"])])
        #expect(filter.isTriggered(from: Array("<a".utf8), to: Samples.rich) && filter.isTriggered(from: Samples.rich, to: []))
    }
}
