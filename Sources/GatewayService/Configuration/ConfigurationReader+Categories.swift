import PresenceDocuments

/// `domains.NAME.categories`: additional category names that its users may publish (MS-PRES 3.2.5.4).
extension ConfigurationReader {
    func readCategories(_ list: ConfigurationNode) -> Set<CategoryName> {
        var names: Set<CategoryName> = []
        for node in list.elements() ?? [] {
            guard let text = node.string() else { continue }
            guard text.utf8.count <= 64, text.utf8.first.map(Self.isLetter) == true, text.utf8.allSatisfy(Self.isNameByte) else {
                node.refuse("is no name of a category: a letter, then letters, digits, `-`, `_` and `.`, at most 64 in all")
                continue
            }
            guard !CategoryName(text).isRegistered else {
                node.refuse("is registered already")
                continue
            }
            names.insert(CategoryName(text))
        }
        return names
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}
