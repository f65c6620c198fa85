import XMLCore

extension RPID {
    /// Writes the elements with the prefix `rpid`, and place types with `lt`; both must be declared.
    func write(to writer: inout XMLWriter) {
        for list in activities { list.write("rpid:activities", to: &writer) }
        for text in classes { text.write("rpid:class", to: &writer) }
        for list in moods { list.write("rpid:mood", to: &writer) }
        for place in placeIs { place.write(to: &writer) }
        for list in placeTypes { list.write("rpid:place-type", prefix: "lt:", to: &writer) }
        for privacy in privacies { privacy.write(to: &writer) }
        for list in relationships { list.write("rpid:relationship", to: &writer) }
        for list in serviceClasses { list.write("rpid:service-class", to: &writer) }
        for list in spheres { list.write("rpid:sphere", to: &writer) }
        for text in statusIcons { text.write("rpid:status-icon", to: &writer) }
        for offset in timeOffsets { offset.write(to: &writer) }
        for input in userInputs { input.write(to: &writer) }
    }
}

extension RPIDInfo {
    /// Writes the attributes; call directly after the element is opened.
    func writeAttributes(to writer: inout XMLWriter) {
        writer.attribute("id", ifPresent: id)
        writer.attribute("from", ifPresent: from?.text)
        writer.attribute("until", ifPresent: until?.text)
        for attribute in attributes { writer.attribute(attribute) }
    }

    func writeNotes(to writer: inout XMLWriter) {
        for note in notes { note.write("rpid:note", to: &writer) }
    }
}

extension RPIDList {
    func write(_ name: String, prefix: String = "rpid:", to writer: inout XMLWriter) {
        writer.start(name)
        info.writeAttributes(to: &writer)
        info.writeNotes(to: &writer)
        for value in values {
            if value.isElementName { writer.element(prefix + value.name) } else { PIDFNote(value.name).write("rpid:other", to: &writer) }
        }
        for other in others { other.write("rpid:other", to: &writer) }
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}

extension PresenceToken {
    /// Whether the token, which may come from text, can be an element name.
    var isElementName: Bool {
        guard let first = name.utf8.first, first.isLetter else { return false }
        return name.utf8.allSatisfy { $0.isLetter || ($0 >= 0x30 && $0 <= 0x39) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) || self == UInt8(ascii: "_") }
}

extension RPIDText {
    func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        info.writeAttributes(to: &writer)
        writer.text(text)
        writer.end()
    }
}

extension RPIDPlaceIs {
    func write(to writer: inout XMLWriter) {
        writer.start("rpid:place-is")
        info.writeAttributes(to: &writer)
        info.writeNotes(to: &writer)
        for (name, value) in [("rpid:audio", audio), ("rpid:video", video), ("rpid:text", text)] {
            guard let value, RPIDSphere(value).isElementName else { continue }
            writer.start(name)
            writer.element("rpid:" + value)
            writer.end()
        }
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}

extension RPIDPrivacy {
    func write(to writer: inout XMLWriter) {
        writer.start("rpid:privacy")
        info.writeAttributes(to: &writer)
        info.writeNotes(to: &writer)
        if unknown { writer.element("rpid:unknown") }
        if audio { writer.element("rpid:audio") }
        if text { writer.element("rpid:text") }
        if video { writer.element("rpid:video") }
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}

extension RPIDTimeOffset {
    func write(to writer: inout XMLWriter) {
        writer.start("rpid:time-offset")
        info.writeAttributes(to: &writer)
        writer.attribute("description", ifPresent: description)
        writer.text(String(minutes))
        writer.end()
    }
}

extension RPIDUserInput {
    func write(to writer: inout XMLWriter) {
        writer.start("rpid:user-input")
        info.writeAttributes(to: &writer)
        writer.attribute("idle-threshold", ifPresent: idleThreshold.map { String($0) })
        writer.attribute("last-input", ifPresent: lastInput?.text)
        writer.text(isIdle ? "idle" : "active")
        writer.end()
    }
}
