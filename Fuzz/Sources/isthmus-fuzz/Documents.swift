import GoldenVectors
import PresenceDocuments
import PresenceMapping
import XMLCore

extension FuzzTarget {
    static let xml = [
        FuzzTarget("xml", seeds: ["Vectors/documents", "Vectors/conversion/refused", "Fuzz/Seeds/documents"]) { bytes in
            guard let tree = try? XMLTree.parse(bytes, limits: .skippingDoctype) else { return }
            let fragment = tree.root.fragment()
            let canonical = XMLCanonical(trimsText: false)
            // The fragment repeats inherited declarations, and so may exceed a limit.
            guard let again = try? fragment.parsed() else {
                return require(fragment.bytes.count > bytes.count, "the copy of a document is not read: \(fragment.bytes)")
            }
            require(canonical.text(of: again) == canonical.text(of: tree.root), "the copy of a document reads otherwise: \(fragment.bytes)")
        }
    ]

    /// Document with elements for all kinds of selectors.
    private static let presence = Array(
        """
        <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:r="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:kai@example.com">\
        <tuple id="a"><status><basic>open</basic></status><note>one</note></tuple>\
        <tuple id="b"><status><basic>closed</basic><r:busy/></status><contact priority="0.5">sip:kai@example.com</contact></tuple>\
        <note xml:lang="en">two</note></presence>
        """.utf8)

    static let documents =
        [
            FuzzTarget("document-partial-pidf", seeds: ["Fuzz/Seeds/partial-pidf"]) { bytes in
                // Apply partial presence to a document with one of each element.
                guard let partial = try? PartialPIDFDocument(bytes), let result = try? partial.document(after: Self.presence) else {
                    return
                }
                _ = try? PIDFDocument.decode(result)
            }
        ]
        + DocumentFormats.codecs.sorted { $0.key < $1.key }.map { name, codec in
            FuzzTarget("document-\(name)", seeds: ["Vectors/documents/\(name)", "Fuzz/Seeds/documents/\(name)"]) { bytes in
                guard let written = try? codec(bytes) else { return }
                // Written output must be readable, unless it exceeds a limit, and must be written again as the same octets.
                let again: [UInt8]
                do { again = try codec(written) } catch {
                    return require(
                        (error as? DocumentError)?.code == .limit, "\(name) is written as what is refused: \(error)\n\(text(written))")
                }
                require(again == written, "\(name) is written as what reads otherwise:\n\(text(written))\n\(text(again))")
            }
        }

    static let conversions = PresenceFormat.all.map { source in
        // libFuzzer calls a target from one thread.
        nonisolated(unsafe) let converter = Converter()
        return FuzzTarget("convert-\(source.name)", seeds: ["Vectors/documents/\(source.name)", "Vectors/conversion"]) { bytes in
            for target in PresenceFormat.all {
                for isLossless in [false, true] {
                    _ = try? converter.convert(bytes, from: source, to: target, options: ConversionOptions(lossless: isLossless))
                }
            }
        }
    }
}

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
