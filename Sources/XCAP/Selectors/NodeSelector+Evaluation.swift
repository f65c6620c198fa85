import XMLCore

/// Children that one step selects (RFC 4825 6.3): by name, then by position among those, then by attribute.
struct StepMatch {
    /// Selected element; nil for none and for several.
    var selected: XMLElement?
    /// Whether several elements are selected.
    var isAmbiguous = false
    /// Number of children with the name of the step.
    var count = 0
    /// Last child with the name of the step.
    var last: XMLElement?
    /// Child at the position of the step, whatever its attributes.
    var atPosition: XMLElement?
}

extension NodeSelector {
    /// Elements that the leading steps select, one for each step; the list ends before the first step that does not select exactly one.
    func elements(in root: XMLElement, namespaces: [String]) -> [XMLElement] {
        var found: [XMLElement] = []
        for step in steps {
            guard let next = step.match(below: found.last, root: root, namespaces: namespaces).selected else { break }
            found.append(next)
        }
        return found
    }

    /// Element that all steps select; nil for none.
    func element(in root: XMLElement, namespaces: [String]) -> XMLElement? {
        let found = elements(in: root, namespaces: namespaces)
        return found.count == steps.count ? found.last : nil
    }
}

extension NodeSelector.Step {
    /// Matches the children of an element, or the root element where the context is the document.
    ///
    /// - Parameter namespaces: Default document namespaces in order; the first with a child of that name is in effect.
    func match(below parent: XMLElement?, root: XMLElement, namespaces: [String]) -> StepMatch {
        guard let name else { return scan(parent, root) { _ in true } }
        switch name.namespace {
        case .named(let namespace):
            return scan(parent, root) { $0.isNamed(name.localName, in: namespace) }
        case .documentDefault:
            for namespace in namespaces {
                let match = scan(parent, root) { $0.isNamed(name.localName, in: namespace) }
                if match.count > 0 { return match }
            }
            return StepMatch()
        }
    }

    private func scan(_ parent: XMLElement?, _ root: XMLElement, _ hasName: (XMLElement) -> Bool) -> StepMatch {
        var match = StepMatch()
        guard let parent else {
            if hasName(root) { count(root, in: &match) }
            return match
        }
        for child in parent.children where hasName(child) { count(child, in: &match) }
        return match
    }

    private func count(_ child: XMLElement, in match: inout StepMatch) {
        match.count += 1
        match.last = child
        if let position {
            guard match.count == position else { return }
            match.atPosition = child
        }
        if let attribute, case .named(let namespace) = attribute.name.namespace,
            child.value(ofAttribute: attribute.name.localName, in: namespace) != attribute.value
        {
            return
        }
        guard !match.isAmbiguous else { return }
        if match.selected == nil {
            match.selected = child
        } else {
            match.selected = nil
            match.isAmbiguous = true
        }
    }
}
