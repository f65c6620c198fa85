/// Text, references and CDATA sections (XML 1.0 2.4, 2.7, 4.1).
extension XMLScanner {
    mutating func scanContent() throws(XMLError) {
        if base[at] != UInt8(ascii: "<") { try scanText() }
        guard at < end else {
            let open = nodes[Int(frames[depth].node)]
            let name = tree.string(open.start + 1, open.start + 1 + UInt32(nameLength(open)))
            throw failure(.truncated, "XML 1.0 3: the document ends inside element '\(name)'")
        }
        switch base[at + 1] {
        case UInt8(ascii: "/"): try scanEndTag()
        case UInt8(ascii: "!"):
            if starts(with: "<!--") {
                try scanComment()
            } else if starts(with: "<![CDATA[") {
                try scanCDATA()
            } else if at + 9 >= end {
                throw truncated("markup")
            } else {
                throw failure(.notWellFormed, "XML 1.0 3.1: a declaration inside an element")
            }
        case UInt8(ascii: "?"): try scanInstruction()
        default: try scanStartTag()
        }
    }

    mutating func scanText() throws(XMLError) {
        let start = at
        let classes = classes
        let base = base
        var cursor = start
        // White space between tags is not kept; white space that is an element's only content is.
        while XMLBytes.isSpace(base[cursor]), base[cursor] != 0x0D { cursor += 1 }
        if base[cursor] == UInt8(ascii: "<") {
            at = cursor
            return isBetweenTags ? () : try appendText(start, cursor)
        }
        while true {
            while classes[Int(base[cursor])] & XMLCharacterClass.textSpecial == 0 { cursor += 1 }
            at = cursor
            switch base[cursor] {
            case UInt8(ascii: "<"):
                return try appendText(start, cursor)
            case UInt8(ascii: "]"):
                try checkCDATAEnd()
                cursor += 1
            case UInt8(ascii: "&"), 0x0D:
                return try scanTextWithReferences(from: start)
            default:
                guard at >= end else { throw illegal() }
                return
            }
        }
    }

    /// The way through text with references or carriage returns: decoded behind the source.
    mutating func scanTextWithReferences(from start: Int) throws(XMLError) {
        let decodedStart = arena
        var hasReference = false
        copy(start, at)
        while true {
            let byte = base[at]
            if classes[Int(byte)] & XMLCharacterClass.textSpecial == 0 {
                put(byte)
                at += 1
                continue
            }
            switch byte {
            case UInt8(ascii: "<"):
                if isBetweenTags, !hasReference, isSpace(from: decodedStart, to: arena) {
                    arena = decodedStart
                    return
                }
                return try appendText(decodedStart, arena)
            case UInt8(ascii: "&"):
                hasReference = true
                try scanReference()
            case 0x0D:
                put(0x0A)
                at += base[at + 1] == 0x0A ? 2 : 1
            case UInt8(ascii: "]"):
                try checkCDATAEnd()
                put(byte)
                at += 1
            default:
                guard at >= end else { throw illegal() }
                return
            }
        }
    }

    /// Whether white space that ends here stands between two tags, not beside text.
    var isBetweenTags: Bool {
        let last = frames[depth].lastChild
        if last >= 0, nodes[Int(last)].name == XMLTree.textNode { return false }
        let follows = base[at + 1]
        return follows == UInt8(ascii: "/") ? last >= 0 : follows != UInt8(ascii: "!") && follows != UInt8(ascii: "?")
    }

    func isSpace(from low: Int, to high: Int) -> Bool {
        for index in low..<high where !XMLBytes.isSpace(base[index]) { return false }
        return true
    }

    func checkCDATAEnd() throws(XMLError) {
        if base[at + 1] == UInt8(ascii: "]"), base[at + 2] == UInt8(ascii: ">") {
            throw failure(.notWellFormed, "XML 1.0 2.4: ']]>' in text")
        }
    }

    mutating func scanCDATA() throws(XMLError) {
        let start = at
        at += 9
        let first = at
        let decodedStart = arena
        var decoded = false
        while true {
            let byte = base[at]
            if byte == UInt8(ascii: "]"), base[at + 1] == byte, base[at + 2] == UInt8(ascii: ">") {
                if at > first { try decoded ? appendText(decodedStart, arena) : appendText(first, at) }
                at += 3
                return
            }
            if byte == 0x0D {
                if !decoded {
                    copy(first, at)
                    decoded = true
                }
                put(0x0A)
                at += base[at + 1] == 0x0A ? 2 : 1
                continue
            }
            try skip(byte, in: "a CDATA section", start)
            if decoded { put(byte) }
        }
    }

    /// A character or predefined entity reference (XML 1.0 4.1, 4.6), decoded into the arena.
    mutating func scanReference() throws(XMLError) {
        let start = at
        at += 1
        if base[at] == UInt8(ascii: "#") {
            at += 1
            let hexadecimal = base[at] == UInt8(ascii: "x")
            if hexadecimal { at += 1 }
            var value: UInt32 = 0
            var digits = 0
            while let digit = Self.digit(base[at], hexadecimal: hexadecimal) {
                value = min(value * (hexadecimal ? 16 : 10) + digit, 0x11_0000)
                digits += 1
                at += 1
            }
            guard digits > 0, base[at] == UInt8(ascii: ";") else {
                if at >= end { throw truncated("a reference", at: start) }
                throw failure(.notWellFormed, "XML 1.0 4.1: malformed character reference", at: start)
            }
            at += 1
            let allowed =
                value == 0x9 || value == 0xA || value == 0xD || (0x20...0xD7FF).contains(value) || (0xE000...0xFFFD).contains(value)
                || (0x10000...0x10FFFF).contains(value)
            guard allowed else {
                throw failure(.notWellFormed, "XML 1.0 4.1: a reference to a character that XML does not allow", at: start)
            }
            arena += XMLEncoding.write(value, to: base + arena)
            return
        }
        let name = try scanName("entity reference")
        guard base[at] == UInt8(ascii: ";") else {
            if at >= end { throw truncated("a reference", at: start) }
            throw failure(.notWellFormed, "XML 1.0 4.1: '&' that is not a reference; write '&amp;'", at: start)
        }
        at += 1
        if equals(name, "amp") {
            put(UInt8(ascii: "&"))
        } else if equals(name, "lt") {
            put(UInt8(ascii: "<"))
        } else if equals(name, "gt") {
            put(UInt8(ascii: ">"))
        } else if equals(name, "quot") {
            put(UInt8(ascii: "\""))
        } else if equals(name, "apos") {
            put(UInt8(ascii: "'"))
        } else {
            let text = tree.string(UInt32(name.start), UInt32(min(name.end, name.start + 40)))
            throw failure(.documentType, "XML 1.0 4.1: entity '\(text)' is not defined, and DTDs are not read", at: start)
        }
    }

    @inline(__always)
    static func digit(_ byte: UInt8, hexadecimal: Bool) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46 where hexadecimal: UInt32(byte - 0x41 + 10)
        case 0x61...0x66 where hexadecimal: UInt32(byte - 0x61 + 10)
        default: nil
        }
    }
}
