/// Parsed document: a flat array of nodes over one byte buffer, which holds the source followed by decoded text.
///
/// Elements are handles that keep the tree alive. A tree is immutable once the parser has returned it.
public final class XMLTree: @unchecked Sendable {
    @usableFromInline
    struct Node {
        /// Id of a registered name, ``XMLTree/unknownName``, or ``XMLTree/textNode`` for text.
        @usableFromInline var name: UInt32
        var parent: Int32
        @usableFromInline var next: Int32
        @usableFromInline var firstChild: Int32
        /// Range of an element in the source, or of a text in the buffer.
        var start: UInt32
        var end: UInt32
        var attributes: UInt32
        var bindings: UInt32
        /// Binding of the element's namespace; -1 for none.
        var binding: Int32
        var attributeCount: UInt16
        var bindingCount: UInt16
        var prefixLength: UInt16
        var localLength: UInt16
    }

    struct Attribute {
        var name: UInt32
        var binding: Int32
        var nameStart: UInt32
        var valueStart: UInt32
        var valueEnd: UInt32
        var prefixLength: UInt16
        var localLength: UInt16
    }

    /// Namespace declaration.
    struct Binding {
        /// Id of a registered namespace, 0 for none, ``XMLTree/unknownName`` for others.
        var namespace: UInt32
        var prefixStart: UInt32
        var prefixLength: UInt32
        var uriStart: UInt32
        var uriEnd: UInt32
    }

    @usableFromInline static var textNode: UInt32 { @inlinable get { 0 } }
    @usableFromInline static var unknownName: UInt32 { @inlinable get { 0x8000_0000 } }

    /// Storage behind a constant pointer, so that accesses need no exclusivity checks.
    @usableFromInline
    struct Storage {
        var buffer: UnsafeMutablePointer<UInt8>
        var bufferCapacity = 8_192
        @usableFromInline var nodes: UnsafeMutablePointer<Node>
        var nodeCapacity = 128
        var attributes: UnsafeMutablePointer<Attribute>
        var attributeCapacity = 128
        var bindings: UnsafeMutablePointer<Binding>
        var bindingCapacity = 16
        /// Bytes of the source, at the start of `buffer`.
        var sourceCount = 0
        var nodeCount = 0
        var attributeCount = 0
        var bindingCount = 0
    }

    @usableFromInline let storage: UnsafeMutablePointer<Storage>

    init() {
        storage = .allocate(capacity: 1)
        storage.initialize(
            to: Storage(
                buffer: .allocate(capacity: 8_192), nodes: .allocate(capacity: 128), attributes: .allocate(capacity: 128),
                bindings: .allocate(capacity: 16)))
    }

    deinit {
        storage.pointee.buffer.deallocate()
        storage.pointee.nodes.deallocate()
        storage.pointee.attributes.deallocate()
        storage.pointee.bindings.deallocate()
        storage.deallocate()
    }

    var buffer: UnsafeMutablePointer<UInt8> {
        @inline(__always) get { storage.pointee.buffer }
        @inline(__always) set { storage.pointee.buffer = newValue }
    }
    var bufferCapacity: Int {
        @inline(__always) get { storage.pointee.bufferCapacity }
        @inline(__always) set { storage.pointee.bufferCapacity = newValue }
    }
    var nodes: UnsafeMutablePointer<Node> {
        @inline(__always) get { storage.pointee.nodes }
        @inline(__always) set { storage.pointee.nodes = newValue }
    }
    var nodeCapacity: Int {
        @inline(__always) get { storage.pointee.nodeCapacity }
        @inline(__always) set { storage.pointee.nodeCapacity = newValue }
    }
    var attributes: UnsafeMutablePointer<Attribute> {
        @inline(__always) get { storage.pointee.attributes }
        @inline(__always) set { storage.pointee.attributes = newValue }
    }
    var attributeCapacity: Int {
        @inline(__always) get { storage.pointee.attributeCapacity }
        @inline(__always) set { storage.pointee.attributeCapacity = newValue }
    }
    var bindings: UnsafeMutablePointer<Binding> {
        @inline(__always) get { storage.pointee.bindings }
        @inline(__always) set { storage.pointee.bindings = newValue }
    }
    var bindingCapacity: Int {
        @inline(__always) get { storage.pointee.bindingCapacity }
        @inline(__always) set { storage.pointee.bindingCapacity = newValue }
    }
    var sourceCount: Int {
        @inline(__always) get { storage.pointee.sourceCount }
        @inline(__always) set { storage.pointee.sourceCount = newValue }
    }
    var nodeCount: Int {
        @inline(__always) get { storage.pointee.nodeCount }
        @inline(__always) set { storage.pointee.nodeCount = newValue }
    }
    var attributeCount: Int {
        @inline(__always) get { storage.pointee.attributeCount }
        @inline(__always) set { storage.pointee.attributeCount = newValue }
    }
    var bindingCount: Int {
        @inline(__always) get { storage.pointee.bindingCount }
        @inline(__always) set { storage.pointee.bindingCount = newValue }
    }

    /// Parses a document with a new parser; for many documents keep an ``XMLParser``.
    public static func parse(_ bytes: [UInt8], limits: XMLLimits = .standard) throws(XMLError) -> XMLTree {
        try XMLParser(limits: limits).parse(bytes)
    }

    /// Document element.
    public var root: XMLElement { XMLElement(tree: self, index: 0) }

    /// Line and column of a byte offset; scans from the start, so use it for messages only.
    public func position(atOffset offset: Int) -> XMLPosition {
        Self.position(in: UnsafeBufferPointer(start: buffer, count: sourceCount), offset: offset)
    }

    static func position(in bytes: UnsafeBufferPointer<UInt8>, offset: Int) -> XMLPosition {
        var line = 1
        var column = 1
        for byte in bytes.prefix(max(0, offset)) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return XMLPosition(line: line, column: column, offset: offset)
    }

    func bytes(_ start: UInt32, _ end: UInt32) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: buffer + Int(start), count: Int(end - start))
    }

    func string(_ start: UInt32, _ end: UInt32) -> String {
        String(decoding: bytes(start, end), as: UTF8.self)
    }

    static func grow<Element>(_ pointer: inout UnsafeMutablePointer<Element>, _ capacity: inout Int, keeping count: Int) {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: pointer, count: count)
        pointer.deallocate()
        pointer = larger
        capacity *= 2
    }
}
