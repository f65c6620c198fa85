/// Ranges of tree parts in the source, for readers that skip a faulty part and parse the rest again.
extension XMLElement {
    /// Range of the element in ``XMLTree/source``, including its tags.
    public var sourceRange: Range<Int> { Int(node.pointee.start)..<Int(node.pointee.end) }

    /// Ranges of an unqualified attribute in ``XMLTree/source``: with the white space before its name, and of its value alone; nil
    /// when absent.
    public func sourceRange(ofAttribute localName: String) -> (whole: Range<Int>, value: Range<Int>)? {
        let first = Int(node.pointee.attributes)
        for index in first..<first + attributeCount {
            let attribute = tree.attributes[index]
            let nameEnd = attribute.nameStart + UInt32(attribute.localLength)
            guard attribute.prefixLength == 0, tree.equals(attribute.nameStart, nameEnd, localName) else { continue }
            let limit = sourceRange.upperBound
            var low = Int(nameEnd)
            while low < limit, tree.buffer[low] != UInt8(ascii: "\""), tree.buffer[low] != UInt8(ascii: "'") { low += 1 }
            guard low < limit else { return nil }
            var high = low + 1
            while high < limit, tree.buffer[high] != tree.buffer[low] { high += 1 }
            guard high < limit else { return nil }
            var start = Int(attribute.nameStart)
            while start > 0, XMLBytes.isSpace(tree.buffer[start - 1]) { start -= 1 }
            return (start..<high + 1, low + 1..<high)
        }
        return nil
    }
}

extension XMLTree {
    /// Document as UTF-8, as it was parsed.
    public var source: [UInt8] { Array(bytes(0, UInt32(sourceCount))) }
}
