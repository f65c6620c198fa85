/// Source of tags, branches, Call-IDs and entity-tags: 128 bits each of a ChaCha20 key stream with a separate key per use, so that
/// tokens reveal neither the next one nor one of another use (RFC 3261 19.3 requires at least 32 cryptographically random bits).
///
/// An optional prefix begins every token, so that an edge can find the shard of an in-dialog message by its tag.
public struct TokenGenerator: Sendable {
    private var tags: TokenStream
    private var branches: TokenStream
    private var callIDs: TokenStream
    private var entityTags: TokenStream
    private var others: TokenStream
    private var numbers: TokenStream
    private let repeatable: TokenKey
    /// Prefix of every token; characters of a token only (RFC 3261 25.1).
    public let prefix: String

    /// Creates a generator.
    /// - Parameters:
    ///   - key: Not shared with another generator: equal keys yield equal tokens.
    ///   - prefix: Put before every token; characters that a token must not have are dropped.
    public init(key: TokenKey, prefix: String = "") {
        tags = TokenStream(key.derived(for: "tag"))
        branches = TokenStream(key.derived(for: "branch"))
        callIDs = TokenStream(key.derived(for: "Call-ID"))
        entityTags = TokenStream(key.derived(for: "entity-tag"))
        others = TokenStream(key.derived(for: "other token"))
        numbers = TokenStream(key.derived(for: "number"))
        repeatable = key.derived(for: "repeatable tag")
        self.prefix = String(decoding: prefix.utf8.filter { ASCII.isToken($0) }, as: UTF8.self)
    }

    /// Next 64 bits, for choices and pauses; not used in tokens.
    public mutating func next() -> UInt64 { numbers.next() }

    /// Random number below `limit`; 0 for a limit of 0.
    public mutating func number(below limit: UInt64) -> UInt64 {
        limit == 0 ? 0 : next().multipliedFullWidth(by: limit).high
    }

    /// Token for other uses, such as the boundary of a multipart body.
    public mutating func token() -> String { text(others.next(), others.next()) }

    /// From or To tag (RFC 3261 19.3).
    public mutating func tag() -> String { text(tags.next(), tags.next()) }

    /// From or To tag that begins with a label instead of ``prefix``.
    /// - Parameter label: Characters of a token.
    public mutating func tag(labelled label: String) -> String { Self.digits(after: label, tags.next(), tags.next()) }

    /// Call-ID that begins with a label instead of ``prefix``.
    public mutating func callID(labelled label: String) -> String { Self.digits(after: label, callIDs.next(), callIDs.next()) }

    /// Via branch with the cookie of RFC 3261 8.1.1.7.
    public mutating func branch() -> String { Self.digits(after: "z9hG4bK" + prefix, branches.next(), branches.next()) }

    /// The parts of the same branch, to be written where it is used.
    /// - Parameter id: Id of the transaction; nil: none.
    mutating func branch(of id: UInt64?) -> Branch { Branch(prefix: prefix, words: (branches.next(), branches.next()), id: id) }

    /// Call-ID (RFC 3261 8.1.1.4), with `@host` unless the host is empty.
    public mutating func callID(host: String = "") -> String {
        let token = text(callIDs.next(), callIDs.next())
        return host.isEmpty ? token : token + "@" + host
    }

    /// Entity-tag (RFC 3903 4.1).
    public mutating func entityTag() -> String { text(entityTags.next(), entityTags.next()) }

    /// To tag of a stateless response: the same for each copy of a request (RFC 3261 8.2.7), and unpredictable.
    public func repeatableTag(for request: SIPRequest) -> String {
        let headers = request.headers
        let parts = [headers.callID, headers.fromTag, headers.topVia?.branch, headers.first(.cSeq)].map { $0 ?? "" }
        let words = repeatable.mixed(with: Array(parts.joined(separator: "\n").utf8)).words
        return text(words.0, words.1)
    }

    /// Number derived from a text: the same at every call, independent of earlier draws.
    public func repeatableNumber(for text: String) -> UInt64 {
        repeatable.derived(for: "number").mixed(with: text.utf8).words.0
    }

    private func text(_ first: UInt64, _ second: UInt64) -> String { Self.digits(after: prefix, first, second) }

    /// A label and 26 characters of 0-9, a-v: 128 bits.
    private static func digits(after label: String, _ first: UInt64, _ second: UInt64) -> String {
        String(unsafeUninitializedCapacity: label.utf8.count + 2 * digitsPerWord) { target in
            var count = 0
            func append(_ byte: UInt8) {
                target.initializeElement(at: count, to: byte)
                count += 1
            }
            for byte in label.utf8 { append(byte) }
            digits(first, append)
            digits(second, append)
            return count
        }
    }

    /// Characters of one word.
    static let digitsPerWord = 13

    /// The characters of a word, lowest bits first.
    @inline(__always)
    static func digits(_ word: UInt64, _ visit: (UInt8) -> Void) {
        var rest = word
        for _ in 0..<digitsPerWord {
            visit(digit(rest))
            rest >>= 5
        }
    }

    /// The character of the lowest five bits.
    @inline(__always)
    static func digit(_ word: UInt64) -> UInt8 {
        let digit = UInt8(word & 31)
        return digit < 10 ? 0x30 + digit : 0x57 + digit
    }
}

/// Source of random numbers for the standard library.
extension TokenGenerator: RandomNumberGenerator {}

/// Key stream of one use.
struct TokenStream: Sendable {
    private let key: TokenKey
    private var counter: UInt64 = 0
    /// Rest of the last block; each word is used once.
    private var block: [UInt64] = []

    init(_ key: TokenKey) { self.key = key }

    mutating func next() -> UInt64 {
        if block.isEmpty {
            let (low, high) = ChaCha20.halves(counter)
            block = ChaCha20.block(key, (low, high, 0, 0))
            counter &+= 1
        }
        return block.removeLast()
    }
}
