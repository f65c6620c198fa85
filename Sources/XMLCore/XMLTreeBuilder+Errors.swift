import CLibXML2

/// Translation of libxml2 errors to ``XMLError``.
extension XMLTreeBuilder {
    /// Handles a DOCTYPE: skips it if the limits allow and it has no internal subset, else rejects the document.
    mutating func documentType(_ context: xmlParserCtxtPtr) {
        let place = position(context)
        guard limits.doctype == .skip else {
            return refuse(.documentType, "a DOCTYPE is not allowed in this document", at: tag(before: place), context)
        }
        guard base[place] == UInt8(ascii: "[") else { return }
        refuse(.documentType, "a DOCTYPE with an internal subset is not allowed", at: place, context)
    }

    /// Handles an error of libxml2; ignores warnings and namespace names that are not URIs (Namespaces 1.0 2).
    @inline(never)
    mutating func refuse(_ error: UnsafePointer<xmlError>, _ context: xmlParserCtxtPtr) {
        let code = error.pointee.code
        guard error.pointee.level != XML_ERR_WARNING, code != Self.code(XML_WAR_NS_URI), code != Self.code(XML_WAR_NS_URI_RELATIVE) else {
            return
        }
        guard failure == nil else { return xmlStopParser(context) }
        let place = position(context)
        let subject = error.pointee.str1.map { String(cString: $0) } ?? ""
        let element = depth > 0 ? openName : ""
        func refuse(_ code: XMLError.Code, _ message: String, at offset: Int? = nil) {
            self.refuse(code, message, at: offset ?? place, context)
        }
        switch code {
        case Self.code(XML_ERR_NO_MEMORY):
            refuse(.limit, "there is no memory left")
        case Self.code(XML_ERR_NAME_TOO_LONG):
            refuse(.limit, "a name is longer than \(Self.maximumNameLength) bytes")
        case Self.code(XML_ERR_UNDECLARED_ENTITY), Self.code(XML_WAR_UNDECLARED_ENTITY):
            refuse(.documentType, "XML 1.0 4.1: entity '\(subject.prefix(40))' is not defined, and DTDs are not read")
        case Self.code(XML_ERR_TAG_NAME_MISMATCH):
            refuse(.notWellFormed, "XML 1.0 3: this end tag does not close '\(element)'", at: tag(before: place))
        case _ where place >= end || isCutMarkup(place):
            if depth > 0 {
                refuse(.truncated, "XML 1.0 3: the document ends inside element '\(element)'", at: end)
            } else if tree.pointee.nodeCount == 0, isSpace(0, end) {
                refuse(.truncated, "XML 1.0 2.1: there is no document element", at: end)
            } else {
                refuse(.truncated, "XML 1.0 2.1: the document ends too early", at: end)
            }
        case Self.code(XML_ERR_DOCUMENT_EMPTY):
            refuse(.notWellFormed, "XML 1.0 2.1: a document starts with an element, not with text")
        case Self.code(XML_ERR_DOCUMENT_END):
            refuse(.notWellFormed, "XML 1.0 2.1: something follows the end of the document element")
        case Self.code(XML_ERR_ATTRIBUTE_REDEFINED), Self.code(XML_NS_ERR_ATTRIBUTE_REDEFINED):
            refuse(.notWellFormed, "XML 1.0 3.1: attribute '\(subject.prefix(80))' occurs twice")
        case Self.code(XML_NS_ERR_UNDEFINED_NAMESPACE):
            refuse(.notWellFormed, "Namespaces 1.0 5: the prefix '\(subject.prefix(80))' is not declared", at: tag(before: place))
        case Self.code(XML_ERR_LT_IN_ATTRIBUTE):
            refuse(.notWellFormed, "XML 1.0 3.1: '<' in an attribute value")
        case Self.code(XML_ERR_ATTRIBUTE_WITHOUT_VALUE):
            refuse(.notWellFormed, "XML 1.0 3.1: an attribute without a value")
        case Self.code(XML_ERR_ATTRIBUTE_NOT_STARTED):
            refuse(.notWellFormed, "XML 1.0 3.1: an attribute value without quotes")
        case Self.code(XML_ERR_MISPLACED_CDATA_END):
            refuse(.notWellFormed, "XML 1.0 2.4: ']]>' in text")
        case Self.code(XML_ERR_HYPHEN_IN_COMMENT):
            refuse(.notWellFormed, "XML 1.0 2.5: '--' inside a comment")
        case Self.code(XML_ERR_RESERVED_XML_NAME):
            refuse(.notWellFormed, "XML 1.0 2.6: an XML declaration may only be the very first thing")
        case Self.code(XML_ERR_UNKNOWN_VERSION):
            refuse(.notWellFormed, "XML 1.0 2.8: only XML version 1.0 is read")
        case Self.code(XML_ERR_NAME_REQUIRED), Self.code(XML_ERR_ENTITYREF_SEMICOL_MISSING):
            refuse(.notWellFormed, "XML 1.0 2.3: a name is malformed, or '&' is not written as '&amp;'")
        case Self.code(XML_ERR_INVALID_CHAR):
            refuse(.notWellFormed, "XML 1.0 2.2: a character that XML does not allow")
        default:
            // libxml2 reports its own stack and memory limits this way; for other errors its message is used.
            var words = error.pointee.message.map { String(cString: $0) } ?? "error \(code)"
            while words.last?.isWhitespace == true { words.removeLast() }
            let rule = error.pointee.domain == Int32(XML_FROM_NAMESPACE.rawValue) ? "Namespaces 1.0" : "XML 1.0"
            refuse(words.contains("XML_PARSE_HUGE") ? .limit : .notWellFormed, "\(rule): \(words.prefix(200))")
        }
    }

    private static func code(_ code: xmlParserErrors) -> Int32 { Int32(truncatingIfNeeded: code.rawValue) }

    /// Name of the innermost open element, as written.
    private var openName: String {
        let node = tree.pointee.nodes[Int(frames[depth].node)]
        let start = Int(node.start) + 1
        return string(start, start + Int(node.localLength) + (node.prefixLength > 0 ? Int(node.prefixLength) + 1 : 0))
    }

    /// Offset of the tag that libxml2 is reading or has just read.
    private func tag(before place: Int) -> Int {
        var start = min(place, end - 1)
        while start > 0, base[start] != UInt8(ascii: "<") { start -= 1 }
        return max(start, 0)
    }

    /// Whether only the beginning of a comment, CDATA section or DOCTYPE is left.
    private func isCutMarkup(_ place: Int) -> Bool {
        let start = place > 0 && base[place] != UInt8(ascii: "<") ? place - 1 : place
        let left = end - start
        guard left > 1, left < 9, base[start] == UInt8(ascii: "<"), base[start + 1] == UInt8(ascii: "!") else { return false }
        let beginnings: [StaticString] = ["<![CDATA[", "<!DOCTYPE", "<!--"]
        return beginnings.contains { $0.utf8CodeUnitCount >= left && XMLBytes.equal(base + start, $0.utf8Start, left) }
    }
}
