import XMLCore

extension FuzzTarget {
    private static let namespace = XMLNamespace("urn:example:patch")

    /// Document with prefixes, identifiers, repeated names, and text on both sides of elements.
    private static let source = Array(
        """
        <root xmlns="urn:example:d" xmlns:x="urn:example:x" k="1"> one <a id="i">t</a><x:b x:k="2"/> two \
        <a xml:id="j"> <x:b>3</x:b></a>&lt;end&gt;</root>
        """.utf8)

    /// Patches of XML documents (RFC 5261).
    static let patches = [
        FuzzTarget("xml-patch", seeds: ["Fuzz/Seeds/xml-patch"]) { bytes in
            guard let document = try? XMLTree.parse(source, limits: .keepingSpace).root else { fatalError("the document is not read") }
            let canonical = XMLCanonical(trimsText: false)
            let before = canonical.text(of: document)
            guard let tree = try? XMLTree.parse(bytes, limits: .keepingSpace),
                let patch = try? XMLPatch(tree.root, namespace: namespace)
            else { return }
            let result = try? patch.applied(to: document, dialect: XMLPatch.Dialect(identifier: "id"))
            require(canonical.text(of: document) == before, "a patch changes the document that it is given")
            guard let result else { return }
            do {
                let changed = try XMLTree.parse(result, limits: .keepingSpace).root
                let hasOperations = tree.root.children.contains { _ in true }
                require(hasOperations || canonical.text(of: changed) == before, "no operation changes something")
            } catch {
                // Attributes that are added one by one may exceed a limit of the parser.
                require(
                    (error as? XMLError)?.code == .limit,
                    "the result of a patch is not read: \(error)\n\(String(decoding: result, as: UTF8.self))")
            }
        }
    ]
}
