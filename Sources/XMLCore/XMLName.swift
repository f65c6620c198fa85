import Synchronization

/// A namespace of the process-wide vocabulary (Namespaces in XML 1.0, section 2), compared by one integer.
///
/// Meant for constants: what is registered stays for the life of the process. Never build one from a peer's document.
public struct XMLNamespace: Hashable, Sendable {
    let id: UInt32
    /// The namespace name.
    public let uri: String

    public init(_ uri: String) {
        self.uri = uri
        id = uri.isEmpty ? 0 : XMLVocabulary.shared.namespaceID(uri)
    }

    /// No namespace.
    public static let none = XMLNamespace("")
    /// The namespace of `xml:lang`.
    public static let xml = XMLNamespace("http://www.w3.org/XML/1998/namespace")
    /// XML Schema instance, for `xsi:type`.
    public static let xsi = XMLNamespace("http://www.w3.org/2001/XMLSchema-instance")

    public static func == (left: XMLNamespace, right: XMLNamespace) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// An expanded name of the process-wide vocabulary (Namespaces in XML 1.0, section 2.1).
///
/// A parsed element is compared with a known name by one integer. Meant for `static let` constants, like ``XMLNamespace``.
public struct XMLName: Hashable, Sendable {
    let id: UInt32
    public let namespace: XMLNamespace
    public let localName: String

    public init(_ localName: String, in namespace: XMLNamespace = .none) {
        self.namespace = namespace
        self.localName = localName
        id = XMLVocabulary.shared.nameID(localName, namespace: namespace.id)
    }

    /// `xml:lang`
    public static let lang = XMLName("lang", in: .xml)
    /// `xsi:type`
    public static let xsiType = XMLName("type", in: .xsi)

    public static func == (left: XMLName, right: XMLName) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// Lets `switch element { case .tuple: ... }` work.
    public static func ~= (name: XMLName, element: XMLElement) -> Bool { element.is(name) }
}

/// One known name; lives forever, so that readers need no lock.
struct XMLVocabularyEntry {
    let id: UInt32
    let namespace: UInt32
    let hash: UInt32
    let bytes: UnsafeBufferPointer<UInt8>
}

/// Every known namespace and name of the process, append only.
final class XMLVocabulary: Sendable {
    static let shared = XMLVocabulary()

    private struct State: @unchecked Sendable {
        var namespaces: [String: UInt32] = [:]
        var names: [UInt32: [String: UInt32]] = [:]
        var namespaceEntries: [UnsafePointer<XMLVocabularyEntry>] = []
        var nameEntries: [UnsafePointer<XMLVocabularyEntry>] = []
    }
    private let state = Mutex(State())
    /// Grows with every registration; a parser compares it to know whether its snapshot is still good.
    let version = Atomic<Int>(0)

    func namespaceID(_ uri: String) -> UInt32 {
        state.withLock { state in
            if let id = state.namespaces[uri] { return id }
            let id = UInt32(state.namespaceEntries.count + 1)
            state.namespaces[uri] = id
            state.namespaceEntries.append(Self.entry(uri, id: id, namespace: 0))
            version.wrappingAdd(1, ordering: .releasing)
            return id
        }
    }

    func nameID(_ localName: String, namespace: UInt32) -> UInt32 {
        state.withLock { state in
            if let id = state.names[namespace]?[localName] { return id }
            let id = UInt32(state.nameEntries.count + 1)
            state.names[namespace, default: [:]][localName] = id
            state.nameEntries.append(Self.entry(localName, id: id, namespace: namespace))
            version.wrappingAdd(1, ordering: .releasing)
            return id
        }
    }

    /// The entries as of now: names, then namespaces.
    func snapshot() -> (names: [UnsafePointer<XMLVocabularyEntry>], namespaces: [UnsafePointer<XMLVocabularyEntry>], version: Int) {
        let lists = state.withLock { state in
            Unchecked((state.nameEntries, state.namespaceEntries, version.load(ordering: .acquiring)))
        }
        return lists.value
    }

    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private static func entry(_ text: String, id: UInt32, namespace: UInt32) -> UnsafePointer<XMLVocabularyEntry> {
        let utf8 = Array(text.utf8)
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(utf8.count, 1))
        _ = bytes.initialize(from: utf8)
        let stored = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(bytes)[0..<utf8.count])
        let entry = UnsafeMutablePointer<XMLVocabularyEntry>.allocate(capacity: 1)
        entry.initialize(to: XMLVocabularyEntry(id: id, namespace: namespace, hash: XMLNameHash.of(stored), bytes: stored))
        return UnsafePointer(entry)
    }
}

/// FNV-1a over the bytes of a name; the scanner computes it while it reads the name.
enum XMLNameHash {
    static let seed: UInt32 = 2_166_136_261
    @inline(__always) static func step(_ hash: UInt32, _ byte: UInt8) -> UInt32 { (hash ^ UInt32(byte)) &* 16_777_619 }
    static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 { bytes.reduce(seed, step) }
    @inline(__always) static func mix(_ hash: UInt32, _ namespace: UInt32) -> Int {
        Int(truncatingIfNeeded: (hash ^ (hash >> 15)) &+ namespace &* 0x9E37_79B1)
    }
}

/// A parser's private, lock-free copy of the vocabulary: open addressing from (namespace, bytes) to id.
struct XMLVocabularyTable {
    private var slots: [UnsafePointer<XMLVocabularyEntry>?] = [nil]
    private var mask = 0

    init(_ entries: [UnsafePointer<XMLVocabularyEntry>]) {
        var capacity = 16
        while capacity < entries.count * 3 { capacity *= 2 }
        slots = Array(repeating: nil, count: capacity)
        mask = capacity - 1
        for entry in entries {
            var slot = XMLNameHash.mix(entry.pointee.hash, entry.pointee.namespace) & mask
            while slots[slot] != nil { slot = (slot + 1) & mask }
            slots[slot] = entry
        }
    }

    /// The id, or 0 when the name is not in the vocabulary.
    @inline(__always)
    func find(_ bytes: UnsafePointer<UInt8>, _ count: Int, hash: UInt32, namespace: UInt32) -> UInt32 {
        slots.withUnsafeBufferPointer { slots in
            var slot = XMLNameHash.mix(hash, namespace) & mask
            while let entry = slots[slot] {
                if entry.pointee.hash == hash, entry.pointee.namespace == namespace, entry.pointee.bytes.count == count,
                    XMLBytes.equal(bytes, entry.pointee.bytes.baseAddress, count)
                {
                    return entry.pointee.id
                }
                slot = (slot + 1) & mask
            }
            return 0
        }
    }
}
