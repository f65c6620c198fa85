/// Source of tags, branches, Call-IDs and entity-tags: 128 bits each of a key stream (ChaCha20) that has a key of its own for each use, so
/// that no number of them tells the next one, or one of another use (RFC 3261 19.3 asks for at least 32 cryptographically random bits).
///
/// An optional prefix stands at the front of every token, so that an edge can find the shard of an in-dialog message by its tag.
public struct TokenGenerator: Sendable {
    private var tags: TokenStream
    private var branches: TokenStream
    private var callIDs: TokenStream
    private var entityTags: TokenStream
    private var others: TokenStream
    private var numbers: TokenStream
    private let repeatable: TokenKey
    /// Stands before every token; only characters of a token (RFC 3261 25.1).
    public let prefix: String

    /// - Parameters:
    ///   - key: Of no other generator: the same key makes the same tokens.
    ///   - prefix: Put before every token; characters that no token may have are dropped.
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

    /// The next 64 bits, for choices and pauses; no token is made of them.
    public mutating func next() -> UInt64 { numbers.next() }

    /// A whole number below `limit`; 0 for a limit of 0.
    public mutating func number(below limit: UInt64) -> UInt64 {
        limit == 0 ? 0 : next().multipliedFullWidth(by: limit).high
    }

    /// A token that is none of the others, such as the boundary of a multipart body.
    public mutating func token() -> String { text(others.next(), others.next()) }

    /// A From or To tag (RFC 3261 19.3).
    public mutating func tag() -> String { text(tags.next(), tags.next()) }

    /// A Via branch with the cookie of RFC 3261 8.1.1.7.
    public mutating func branch() -> String { "z9hG4bK" + text(branches.next(), branches.next()) }

    /// A Call-ID (RFC 3261 8.1.1.4), with `@host` unless the host is empty.
    public mutating func callID(host: String = "") -> String {
        let token = text(callIDs.next(), callIDs.next())
        return host.isEmpty ? token : token + "@" + host
    }

    /// An entity-tag (RFC 3903 4.1).
    public mutating func entityTag() -> String { text(entityTags.next(), entityTags.next()) }

    /// The To tag of an answer for which nothing is kept: the same for each copy of a request (RFC 3261 8.2.7), and not
    /// to be foretold.
    public func repeatableTag(for request: SIPRequest) -> String {
        let headers = request.headers
        let parts = [headers.callID, headers.fromTag, headers.topVia?.branch, headers.first(.cSeq)].map { $0 ?? "" }
        let words = repeatable.mixed(with: Array(parts.joined(separator: "\n").utf8)).words
        return text(words.0, words.1)
    }

    /// A number for a choice that is made of what it is about, and not of what was drawn before: the same whenever it is asked for.
    public func repeatableNumber(for text: String) -> UInt64 {
        repeatable.derived(for: "number").mixed(with: text.utf8).words.0
    }

    /// The prefix and 26 characters of 0-9, a-v: 128 bits.
    private func text(_ first: UInt64, _ second: UInt64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(26)
        for var word in [first, second] {
            for _ in 0..<13 {
                let digit = UInt8(word & 31)
                bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
                word >>= 5
            }
        }
        return prefix + String(decoding: bytes, as: UTF8.self)
    }
}

/// Also a source for the draws of the standard library.
extension TokenGenerator: RandomNumberGenerator {}

/// The key stream of one use.
struct TokenStream: Sendable {
    private let key: TokenKey
    private var counter: UInt64 = 0
    /// What is left of the last block; each word is used once.
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
