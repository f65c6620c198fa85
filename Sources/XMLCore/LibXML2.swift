import CLibXML2

/// libxml2 as a referee and a yardstick: tests compare this room's own parser with it, benchmarks relate their numbers to it.
///
/// Nothing of the program's running path calls it. One value is one reused parser context; not Sendable.
public final class LibXML2 {
    private let context: xmlParserCtxtPtr
    private let state: UnsafeMutablePointer<State>

    private struct State {
        /// Nil while only counting.
        var events: [UInt8]?
        var elements = 0
        var attributes = 0
        var textBytes = 0
        var stopped = false
    }

    /// What a bare SAX parse sees.
    public struct Counts: Hashable, Sendable {
        public var elements: Int
        public var attributes: Int
        public var textBytes: Int
    }

    public init?() {
        xmlInitParser()
        guard let context = xmlNewParserCtxt() else { return nil }
        self.context = context
        state = .allocate(capacity: 1)
        state.initialize(to: State())
        context.pointee._private = UnsafeMutableRawPointer(state)
        var handler = xmlSAXHandler()
        handler.initialized = UInt32(XML_SAX2_MAGIC)
        handler.internalSubset = { context, _, _, _ in
            LibXML2.state(context)?.pointee.stopped = true
            xmlStopParser(context?.assumingMemoryBound(to: xmlParserCtxt.self))
        }
        handler.startElementNs = { context, name, _, uri, _, _, count, _, values in
            guard let state = LibXML2.state(context) else { return }
            state.pointee.elements += 1
            state.pointee.attributes += Int(count)
            guard state.pointee.events != nil else { return }
            LibXML2.record(state, "<", uri, name)
            var lines: [[UInt8]] = []
            for index in 0..<Int(count) {
                guard let values, let start = values[index * 5 + 3], let end = values[index * 5 + 4] else { continue }
                var line = LibXML2.bytes(values[index * 5 + 2]) + [UInt8(ascii: "|")] + LibXML2.bytes(values[index * 5])
                line.append(UInt8(ascii: "="))
                line += LibXML2.decoded(Array(UnsafeBufferPointer(start: start, count: end - start)))
                lines.append(line)
            }
            for line in lines.sorted(by: { $0.lexicographicallyPrecedes($1) }) { state.pointee.events?.append(contentsOf: [0x40] + line) }
        }
        handler.endElementNs = { context, _, _, _ in LibXML2.state(context)?.pointee.events?.append(UInt8(ascii: ">")) }
        let characters: charactersSAXFunc = { context, text, count in
            guard let state = LibXML2.state(context), let text else { return }
            state.pointee.textBytes += Int(count)
            state.pointee.events?.append(contentsOf: UnsafeBufferPointer(start: text, count: Int(count)))
        }
        handler.characters = characters
        handler.ignorableWhitespace = characters
        handler.cdataBlock = characters
        context.pointee.sax.pointee = handler
    }

    deinit {
        xmlFreeParserCtxt(context)
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Parses with SAX and only counts: the yardstick of the benchmarks. Nil when libxml2 refuses the document, or it has a DOCTYPE.
    public func count(_ bytes: [UInt8]) -> Counts? {
        state.pointee = State()
        guard parse(bytes) else { return nil }
        return Counts(
            elements: state.pointee.elements, attributes: state.pointee.attributes, textBytes: state.pointee.textBytes)
    }

    /// The document as a flat record of its names, values and text, comparable with ``XMLTree/referee()``; nil when it is refused.
    public func record(_ bytes: [UInt8]) -> [UInt8]? {
        state.pointee = State(events: [])
        guard parse(bytes) else { return nil }
        return state.pointee.events
    }

    private func parse(_ bytes: [UInt8]) -> Bool {
        let options = Int32(
            XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue | XML_PARSE_COMPACT.rawValue)
        let document = bytes.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                xmlCtxtReadMemory(context, bytes.baseAddress, Int32(bytes.count), nil, nil, options)
            }
        }
        if let document { xmlFreeDoc(document) }
        // A namespace name that is no URI is a warning only (Namespaces 1.0 2), though libxml2 notes it as an error.
        let last = context.pointee.lastError.code
        let onlyURI = last == Int32(XML_WAR_NS_URI.rawValue) || last == Int32(XML_WAR_NS_URI_RELATIVE.rawValue)
        return context.pointee.wellFormed != 0 && (context.pointee.nsWellFormed != 0 || onlyURI) && !state.pointee.stopped
    }

    private static func state(_ context: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<State>? {
        context?.assumingMemoryBound(to: xmlParserCtxt.self).pointee._private?.assumingMemoryBound(to: State.self)
    }

    private static func bytes(_ text: UnsafePointer<xmlChar>?) -> [UInt8] {
        guard let text else { return [] }
        return Array(UnsafeBufferPointer(start: text, count: Int(xmlStrlen(text))))
    }

    private static func record(
        _ state: UnsafeMutablePointer<State>, _ mark: StaticString, _ uri: UnsafePointer<xmlChar>?, _ name: UnsafePointer<xmlChar>?
    ) {
        state.pointee.events?.append(contentsOf: UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount))
        state.pointee.events?.append(contentsOf: bytes(uri) + [UInt8(ascii: "|")] + bytes(name))
    }

    /// Without entity substitution libxml2 hands out an ampersand in a value as `&#38;`.
    private static func decoded(_ value: [UInt8]) -> [UInt8] {
        let escaped = Array("&#38;".utf8)
        var result: [UInt8] = []
        var index = 0
        while index < value.count {
            result.append(value[index])
            index += value[index] == UInt8(ascii: "&") && value[index...].starts(with: escaped) ? escaped.count : 1
        }
        return result
    }
}

extension XMLTree {
    /// The tree in the form of ``LibXML2/record(_:)``. Only white space between tags, which the tree does not keep, may differ.
    public func referee() -> [UInt8] {
        var result: [UInt8] = []
        record(0, into: &result)
        return result
    }

    private func record(_ index: Int32, into result: inout [UInt8]) {
        let element = XMLElement(tree: self, index: index)
        result += Array("<\(element.namespace)|\(element.localName)".utf8)
        let lines = element.attributes.map { Array("@\($0.namespace)|\($0.localName)=\($0.value)".utf8) }
        for line in lines.sorted(by: { $0.lexicographicallyPrecedes($1) }) { result += line }
        var next = nodes[Int(index)].firstChild
        while next >= 0 {
            let child = nodes[Int(next)]
            if child.name == XMLTree.textNode { result += Array(bytes(child.start, child.end)) } else { record(next, into: &result) }
            next = child.next
        }
        result.append(UInt8(ascii: ">"))
    }
}
