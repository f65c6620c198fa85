import XCAP

/// Server of one XCAP root.
struct XCAPFixture {
    static let root = XCAPRoot("https://xcap.example.com/xcap-root")!
    static let lists = "/xcap-root/resource-lists/users/sip:mara@example.com/index"
}

/// Octets in a URI that clients have to escape in a node selector.
func escaped(_ selector: String) -> String {
    var result = ""
    for character in selector {
        switch character {
        case "[": result += "%5B"
        case "]": result += "%5D"
        case "\"": result += "%22"
        case " ": result += "%20"
        default: result.append(character)
        }
    }
    return result
}
