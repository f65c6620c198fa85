extension XMLSelector {
    /// Element on the path of a selector, with its position in the draft.
    struct Place {
        var element: XMLDraft
        /// Nil for the root.
        var parent: XMLDraft?
        /// Index among the parent's children.
        var index = 0
        /// The root is 1.
        var depth = 1
    }

    /// Node that a selector selects.
    enum Node {
        case element(Place)
        /// Text child at `index` of the element of `place`.
        case text(Place, index: Int)
        case attribute(Place, index: Int)
        case declaration(Place, index: Int)
        /// Comment or processing instruction; a draft has none.
        case unkept
    }

    /// State of a search for selected nodes in one draft.
    struct Search {
        var root: XMLDraft
        /// Names accepted for the root in the first step, besides its own.
        var aliases: [XMLName]
        /// Unqualified attribute of type xs:ID, besides `xml:id`.
        var identifier: String?
        /// Nodes that may still be visited.
        var budget: Int
    }

    /// Locates the selected node.
    /// - Returns: The node; nil when there is none, more than one, or the budget is exhausted.
    func locate(in search: inout Search) -> Node? {
        guard let place = element(in: &search) else { return nil }
        switch target {
        case .element:
            return .element(place)
        case .attribute(let test):
            let found = place.element.attributes.firstIndex { test.matches(namespace: $0.namespace, localName: $0.localName) }
            return found.map { .attribute(place, index: $0) }
        case .declaration(let prefix):
            let found = place.element.declarations.firstIndex { $0.prefix == prefix }
            return found.map { .declaration(place, index: $0) }
        case .text(let position):
            let texts = place.element.children.indices.filter { index in
                if case .text = place.element.children[index] { true } else { false }
            }
            guard let position else { return texts.count == 1 ? .text(place, index: texts[0]) : nil }
            return position <= texts.count ? .text(place, index: texts[position - 1]) : nil
        case .unkept:
            return .unkept
        }
    }

    private func element(in search: inout Search) -> Place? {
        let root = Place(element: search.root)
        var places: [Place]
        var rest = steps[...]
        if let identifier {
            places = Self.descendants(of: root, budget: &search.budget).filter { $0.element.hasIdentifier(identifier, search.identifier) }
        } else {
            guard let first = rest.popFirst() else { return nil }
            places = first.test.matches(search.root) || search.aliases.contains(where: first.test.matches) ? [root] : []
            filter(&places, by: first.predicates, budget: &search.budget)
        }
        for step in rest {
            var next: [Place] = []
            for place in places {
                var children = step.children(of: place, budget: &search.budget)
                filter(&children, by: step.predicates, budget: &search.budget)
                next += children
            }
            places = next
        }
        return places.count == 1 && search.budget > 0 ? places[0] : nil
    }

    private func filter(_ places: inout [Place], by predicates: [Predicate], budget: inout Int) {
        for predicate in predicates {
            switch predicate {
            case .position(let number):
                places = number <= places.count ? [places[number - 1]] : []
            case .attribute(let test, let value):
                places = places.filter { place in
                    place.element.attributes.contains {
                        test.matches(namespace: $0.namespace, localName: $0.localName) && $0.value == value
                    }
                }
            case .text(let value):
                places = places.filter { $0.element.text(budget: &budget) == value }
            case .child(let test, let value):
                places = places.filter { place in
                    place.element.children.contains { child in
                        guard case .element(let element) = child, test.matches(element) else { return false }
                        return element.text(budget: &budget) == value
                    }
                }
            }
        }
    }

    private static func descendants(of root: Place, budget: inout Int) -> [Place] {
        var result: [Place] = []
        var open = [root]
        while let place = open.popLast(), budget > 0 {
            result.append(place)
            for (index, child) in place.element.children.enumerated() {
                budget -= 1
                guard case .element(let element) = child else { continue }
                open.append(Place(element: element, parent: place.element, index: index, depth: place.depth + 1))
            }
        }
        return result
    }
}

extension XMLSelector.Step {
    fileprivate func children(of place: XMLSelector.Place, budget: inout Int) -> [XMLSelector.Place] {
        var result: [XMLSelector.Place] = []
        budget -= place.element.children.count
        guard budget > 0 else { return [] }
        for (index, child) in place.element.children.enumerated() {
            guard case .element(let element) = child, test.matches(element) else { continue }
            result.append(XMLSelector.Place(element: element, parent: place.element, index: index, depth: place.depth + 1))
        }
        return result
    }
}

extension XMLSelector.NameTest {
    fileprivate func matches(namespace: String, localName: String) -> Bool {
        (self.localName ?? localName) == localName && (self.namespace ?? namespace) == namespace
    }

    fileprivate func matches(_ element: XMLDraft) -> Bool { matches(namespace: element.namespace, localName: element.localName) }

    fileprivate func matches(_ name: XMLName) -> Bool { matches(namespace: name.namespace.uri, localName: name.localName) }
}

extension XMLDraft {
    fileprivate func hasIdentifier(_ value: String, _ name: String?) -> Bool {
        attributes.contains { attribute in
            guard attribute.value == value else { return false }
            if attribute.namespace == XMLNamespace.xml.uri { return attribute.localName == "id" }
            return attribute.namespace.isEmpty && attribute.localName == name
        }
    }

    /// Text of the element and its descendants (XPath 1.0 5.2); incomplete once the budget is exhausted.
    fileprivate func text(budget: inout Int) -> String {
        var result = ""
        budget -= children.count + 1
        guard budget > 0 else { return result }
        for child in children {
            switch child {
            case .text(let text): result += text
            case .element(let element): result += element.text(budget: &budget)
            }
        }
        return result
    }
}
