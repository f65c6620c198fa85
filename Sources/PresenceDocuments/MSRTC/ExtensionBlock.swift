// MS-PRES 7.1: delimiter, end and extension, with which the category schemas grow.

import XMLCore

/// Additions of later schema generations at the end of an element (MS-PRES 7.1).
///
/// ```
/// known elements ( delimiter, elements of one generation )* end? extension?
/// ```
/// Elements with a name here are fields of their document; the block keeps the others by generation.
public struct ExtensionBlock: Hashable, Sendable {
    /// Unknown elements before any delimiter, which the schemas do not define.
    public var strays: [XMLFragment]
    /// Unknown elements after the first, second, ... delimiter.
    public var generations: [[XMLFragment]]
    /// Element `extension` with foreign content.
    public var `extension`: XMLFragment?

    public init(strays: [XMLFragment] = [], generations: [[XMLFragment]] = [], extension: XMLFragment? = nil) {
        self.strays = strays
        self.generations = generations
        self.extension = `extension`
    }

    /// Whether nothing is kept.
    public var isEmpty: Bool { strays.isEmpty && `extension` == nil && generations.allSatisfy(\.isEmpty) }
}
