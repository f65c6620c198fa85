import XMLCore

extension XMLWriter {
    mutating func attribute(_ name: String, ifPresent value: UInt32?) {
        if let value { attribute(name, String(value)) }
    }

    mutating func attribute(_ name: String, ifPresent value: Int64?) {
        if let value { attribute(name, String(value)) }
    }

    mutating func attribute(_ name: String, ifPresent value: Bool?) {
        if let value { attribute(name, value ? "true" : "false") }
    }

    mutating func attribute(_ name: String, ifPresent value: (some RawRepresentable<String>)?) {
        if let value { attribute(name, value.rawValue) }
    }

    mutating func attributes(_ attributes: [XMLAttribute]) {
        for attribute in attributes { self.attribute(attribute) }
    }

    mutating func fragments(_ fragments: [XMLFragment]) {
        for fragment in fragments { self.fragment(fragment) }
    }

    mutating func element(_ name: String, ifPresent text: String?) {
        if let text { element(name, text) }
    }

    mutating func element(_ name: String, ifPresent value: Bool?) {
        if let value { element(name, value ? "true" : "false") }
    }

    /// Writes the generations of a type: after each delimiter its known and its kept elements, then `end` and `extension`.
    ///
    /// Without content there is no delimiter and no end (MS-PRES 7.1).
    /// - Parameter known: Number of generations with fields, which `write` writes; it gets the generation, counted from 0.
    mutating func generations(
        _ block: ExtensionBlock, known: Int = 0, write: (Int, inout XMLWriter) -> Void = { _, _ in }
    ) {
        fragments(block.strays)
        let kept = block.generations.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0
        for index in 0..<max(kept, known) {
            commonType("delimiter")
            if index < known { write(index, &self) }
            if index < kept { fragments(block.generations[index]) }
        }
        if max(kept, known) > 0 { commonType("end") }
        if let fragment = block.extension { self.fragment(fragment) }
    }

    private mutating func commonType(_ name: String) {
        start(name)
        namespace("", .msCommonTypes)
        end()
    }
}
