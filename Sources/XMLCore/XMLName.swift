import ByteCoding
import Synchronization

/// Namespace of the process-wide vocabulary (Namespaces in XML 1.0, 2), compared by one integer.
///
/// For constants only: a registration stays for the life of the process. Do not create one from a peer's document.
public struct XMLNamespace: Hashable, @unchecked Sendable {
    @usableFromInline let id: UInt32
    private let entry: UnsafePointer<XMLVocabularyEntry>?

    /// Registers a namespace name; an empty one is no namespace.
    public init(_ uri: String) {
        entry = uri.isEmpty ? nil : XMLVocabulary.shared.namespace(uri)
        id = entry?.pointee.id ?? 0
    }

    init(entry: UnsafePointer<XMLVocabularyEntry>?) {
        self.entry = entry
        id = entry?.pointee.id ?? 0
    }

    /// Namespace name; empty for no namespace.
    public var uri: String { entry?.pointee.text ?? "" }

    /// No namespace.
    public static let none = XMLNamespace("")
    /// The namespace of `xml:lang`.
    public static let xml = XMLNamespace("http://www.w3.org/XML/1998/namespace")
    /// XML Schema instance, for `xsi:type`.
    public static let xsi = XMLNamespace("http://www.w3.org/2001/XMLSchema-instance")

    public static func == (left: XMLNamespace, right: XMLNamespace) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Expanded name of the process-wide vocabulary (Namespaces in XML 1.0, 2.1).
///
/// A parsed element is compared with a registered name by one integer. For `static let` constants, like ``XMLNamespace``. Both are
/// trivial values: copies count no references.
public struct XMLName: Hashable, @unchecked Sendable {
    @usableFromInline let id: UInt32
    private let entry: UnsafePointer<XMLVocabularyEntry>

    /// Registers an expanded name; by default in no namespace.
    public init(_ localName: String, in namespace: XMLNamespace = .none) {
        entry = XMLVocabulary.shared.name(localName, in: namespace)
        id = entry.pointee.id
    }

    /// Local name, without prefix.
    public var localName: String { entry.pointee.text }
    /// Namespace of the name; ``XMLNamespace/none`` for none.
    public var namespace: XMLNamespace { XMLNamespace(entry: entry.pointee.namespaceEntry) }

    /// `xml:lang`
    public static let lang = XMLName("lang", in: .xml)
    /// `xsi:type`
    public static let xsiType = XMLName("type", in: .xsi)

    public static func == (left: XMLName, right: XMLName) -> Bool { left.id == right.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// Supports `switch element { case .tuple: ... }`.
    @inlinable
    public static func ~= (name: XMLName, element: XMLElement) -> Bool { element.is(name) }
}

/// Registered name; never freed, so that readers need no lock.
struct XMLVocabularyEntry {
    let id: UInt32
    let namespace: UInt32
    let namespaceEntry: UnsafePointer<XMLVocabularyEntry>?
    let hash: UInt32
    let bytes: UnsafeBufferPointer<UInt8>
    let text: String
}

/// Registered namespaces and names of the process; append-only.
final class XMLVocabulary: Sendable {
    static let shared = XMLVocabulary()

    private struct State: @unchecked Sendable {
        var namespaces: [String: UnsafePointer<XMLVocabularyEntry>] = [:]
        var names: [UInt32: [String: UnsafePointer<XMLVocabularyEntry>]] = [:]
        var namespaceEntries: [UnsafePointer<XMLVocabularyEntry>] = []
        var nameEntries: [UnsafePointer<XMLVocabularyEntry>] = []
    }
    private let state = Mutex(State())
    /// Number of registrations; a parser compares it to detect an outdated snapshot.
    let version = Atomic<Int>(0)

    func namespace(_ uri: String) -> UnsafePointer<XMLVocabularyEntry> {
        state.withLock { state in
            if let entry = state.namespaces[uri] { return Unchecked(entry) }
            let entry = Self.entry(uri, id: UInt32(state.namespaceEntries.count + 1), namespace: nil)
            state.namespaces[uri] = entry
            state.namespaceEntries.append(entry)
            version.wrappingAdd(1, ordering: .releasing)
            return Unchecked(entry)
        }.value
    }

    func name(_ localName: String, in namespace: XMLNamespace) -> UnsafePointer<XMLVocabularyEntry> {
        let parent = namespace.uri.isEmpty ? nil : self.namespace(namespace.uri)
        let shared = Unchecked(parent)
        return state.withLock { state in
            if let entry = state.names[namespace.id]?[localName] { return Unchecked(entry) }
            let entry = Self.entry(localName, id: UInt32(state.nameEntries.count + 1), namespace: shared.value)
            state.names[namespace.id, default: [:]][localName] = entry
            state.nameEntries.append(entry)
            version.wrappingAdd(1, ordering: .releasing)
            return Unchecked(entry)
        }.value
    }

    /// Registered names, then namespaces.
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

    private static func entry(
        _ text: String, id: UInt32, namespace: UnsafePointer<XMLVocabularyEntry>?
    ) -> UnsafePointer<XMLVocabularyEntry> {
        let utf8 = Array(text.utf8)
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(utf8.count, 1))
        _ = bytes.initialize(from: utf8)
        let stored = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(bytes)[0..<utf8.count])
        let entry = UnsafeMutablePointer<XMLVocabularyEntry>.allocate(capacity: 1)
        entry.initialize(
            to: XMLVocabularyEntry(
                id: id, namespace: namespace?.pointee.id ?? 0, namespaceEntry: namespace, hash: XMLNameHash.of(stored), bytes: stored,
                text: text))
        return UnsafePointer(entry)
    }
}

/// FNV-1a over the bytes of a name.
enum XMLNameHash {
    static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 { FNV1a32.hash(bytes) }
    @inline(__always) static func mix(_ hash: UInt32, _ namespace: UInt32) -> Int {
        Int(truncatingIfNeeded: (hash ^ (hash >> 15)) &+ namespace &* 0x9E37_79B1)
    }
}

/// Private, lock-free copy of the vocabulary for a parser: open addressing from (namespace, bytes) to id.
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

    /// Id of a name; 0 when it is not registered.
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
