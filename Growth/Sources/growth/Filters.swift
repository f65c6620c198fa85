import PresenceDocuments
import PresenceFilters

private let bindings = [SimpleFilterDocument.Binding(prefix: "p", namespace: "urn:ietf:params:xml:ns:pidf")]

private func presence(_ size: Int, basic: String = "open") -> [UInt8] {
    let tuples = (0..<size).map { "<tuple id=\"t\($0)\"><status><basic>\(basic)</basic></status><note>\($0)</note></tuple>" }
    return Array(
        ("<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:kai@example.com\">" + tuples.joined() + "</presence>").utf8)
}

extension Construct {
    /// Content of a document with many tuples.
    private static func content(_ name: String, includes: [String] = [], excludes: [String] = []) -> Construct {
        Construct("filter: \(name)", from: 250) { size in
            let document = presence(size)
            let what = FilterContent(includes: includes.map { FilterSelection($0) }, excludes: excludes.map { FilterSelection($0) })
            let filter = try? CompiledFilter(SimpleFilter(id: "f", what: what), bindings: bindings)
            return { (try? filter?.content(of: document)) != nil }
        }
    }

    /// Comparison of two documents with many tuples.
    private static func trigger(_ name: String, _ trigger: FilterTrigger, basic: String = "closed") -> Construct {
        Construct("filter: \(name)", from: 250) { size in
            let (old, new) = (presence(size), presence(size + 1, basic: basic))
            let filter = try? CompiledFilter(SimpleFilter(id: "f", triggers: [trigger]), bindings: bindings)
            return { filter?.isTriggered(from: old, to: new) == true }
        }
    }

    /// Event notification filters on documents of growing size.
    static let filters = [
        content("elements by path", includes: ["/p:presence/p:tuple/p:status/p:basic"]),
        content("elements anywhere", includes: ["//p:basic"]),
        content("each element below each", includes: ["//*//*//*"]),
        content("elements by a value below", includes: ["//p:tuple[p:status/p:basic='open' or p:note='7']"]),
        content("elements by the text of their parent", includes: ["//p:tuple[..='']"]),
        content("excluded elements and attributes", excludes: ["//p:note", "//@id"]),
        trigger("changed values", FilterTrigger(changes: [FilterChange("//p:basic", to: "closed")])),
        trigger("changed elements", FilterTrigger(changes: [FilterChange("//p:tuple")])),
        trigger("added elements", FilterTrigger(additions: ["//p:tuple"])),
    ]
}
