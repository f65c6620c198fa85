import XMLCore

extension XMLElement {
    /// Path from the root with names as written, and positions where siblings have the same name: `resource-lists/list[2]/entry`.
    var path: String {
        guard let parent else { return qualifiedName }
        let name = qualifiedName
        var count = 0
        var own = 0
        for sibling in parent.children where sibling.qualifiedName == name {
            count += 1
            if sibling.sourceRange == sourceRange { own = count }
        }
        return parent.path + "/" + name + (count > 1 ? "[\(own)]" : "")
    }

    /// Path with line and column, for phrases.
    var place: String { "\(path) at \(position)" }
}
