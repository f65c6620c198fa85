import CZlib

/// Content coding of message bodies (RFC 3261 20.12, RFC 9110 8.4.1).
public enum ContentCoding: String, CaseIterable, Hashable, Sendable {
    /// RFC 1952.
    case gzip
    /// zlib format (RFC 1950); bare deflate data (RFC 1951), which some senders write under this name, are read too.
    case deflate
    case identity

    /// All codings as a value of Accept-Encoding.
    public static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// Largest number of codings of one body; more are refused as unknown.
    public static let limit = 2

    /// Coding by name, ignoring case and the prefix `x-`; nil for an unknown name.
    public init?(_ name: Substring) {
        let name = name.lowercased()
        self.init(rawValue: name.hasPrefix("x-") ? String(name.dropFirst(2)) : name)
    }

    /// Reason why a body cannot be decoded.
    public enum Failure: Error, Hashable, Sendable {
        /// An unknown coding, or more than ``ContentCoding/limit``.
        case unknown(String)
        /// More octets than the limit; decoding stops there.
        case tooLarge
        /// The octets are not valid data of the coding.
        case malformed(String)
    }

    /// Decodes a body, the coding applied last first.
    /// - Parameters:
    ///   - codings: Values of Content-Encoding, in the order in which they were applied.
    ///   - limit: Octets of the result, and of each intermediate result.
    public static func decode(_ body: [UInt8], codings: [String], limit: Int) throws(Failure) -> [UInt8] {
        let names = codings.flatMap { $0.split { $0 == "," || $0 == " " || $0 == "\t" } }
        guard names.count <= Self.limit else { throw .unknown(names.joined(separator: ", ")) }
        var steps: [ContentCoding] = []
        for name in names {
            guard let coding = ContentCoding(name) else { throw .unknown(String(name)) }
            if coding != .identity { steps.append(coding) }
        }
        var bytes = body
        for step in steps.reversed() where !bytes.isEmpty { bytes = try step.decode(bytes, limit: limit) }
        return bytes
    }

    private func decode(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        switch self {
        case .identity: return bytes
        case .gzip: return try Inflation(.gzip).run(bytes, limit: limit)
        case .deflate:
            guard Self.hasZlibHeader(bytes) else { return try Inflation(.bare).run(bytes, limit: limit) }
            do throws(Failure) {
                return try Inflation(.zlib).run(bytes, limit: limit)
            } catch {
                // Bare data may begin like a zlib header.
                if error == .tooLarge { throw error }
                guard let bare = try? Inflation(.bare).run(bytes, limit: limit) else { throw error }
                return bare
            }
        }
    }

    /// Whether the data begin with a zlib header (RFC 1950 2.2): method 8 and a valid check of the first two octets.
    private static func hasZlibHeader(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && bytes[0] & 0x0F == 8 && (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
    }

    /// Encodes a body, for clients and tests; empty if zlib fails.
    public func encode(_ bytes: [UInt8]) -> [UInt8] {
        guard self != .identity else { return bytes }
        // zlib keeps the address of its stream.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        guard isthmus_deflateInit2(stream, Inflation.Form(self).windowBits) == Z_OK else { return [] }
        defer { deflateEnd(stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(stream, UInt(bytes.count))) + 32)
        let count = output.count
        let status = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.pointee.next_in = source.baseAddress
                stream.pointee.avail_in = UInt32(clamping: source.count)
                stream.pointee.next_out = target.baseAddress
                stream.pointee.avail_out = UInt32(clamping: count)
                return zlibDeflate(stream, Z_FINISH)
            }
        }
        return status == Z_STREAM_END ? Array(output.prefix(count - Int(stream.pointee.avail_out))) : []
    }
}

/// Run of zlib's inflate with a limit of the octets written.
private struct Inflation {
    /// Format around the deflate data.
    enum Form {
        case gzip, zlib, bare

        init(_ coding: ContentCoding) { self = coding == .gzip ? .gzip : .zlib }

        /// Window of 32 KiB, in zlib's notation of formats.
        var windowBits: Int32 {
            switch self {
            case .gzip: 15 + 16
            case .zlib: 15
            case .bare: -15
            }
        }
    }

    private let form: Form
    /// Octets written at a time.
    private static let chunk = 16_384

    init(_ form: Form) { self.form = form }

    func run(_ bytes: [UInt8], limit: Int) throws(ContentCoding.Failure) -> [UInt8] {
        // zlib keeps the address of its stream.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        guard isthmus_inflateInit2(stream, form.windowBits) == Z_OK else { throw .malformed("zlib has no memory") }
        defer { inflateEnd(stream) }
        var input = bytes
        let result: Result<[UInt8], ContentCoding.Failure> = input.withUnsafeMutableBufferPointer { source in
            stream.pointee.next_in = source.baseAddress
            stream.pointee.avail_in = UInt32(clamping: source.count)
            return inflateAll(stream, limit: limit)
        }
        return try result.get()
    }

    private func inflateAll(_ stream: UnsafeMutablePointer<z_stream>, limit: Int) -> Result<[UInt8], ContentCoding.Failure> {
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: Self.chunk)
        while true {
            // Room for one octet beyond the limit, to detect a longer result.
            let room = min(Self.chunk, limit - output.count + 1)
            let (status, written) = chunk.withUnsafeMutableBufferPointer { target in
                stream.pointee.next_out = target.baseAddress
                stream.pointee.avail_out = UInt32(clamping: room)
                return (inflate(stream, Z_NO_FLUSH), room - Int(stream.pointee.avail_out))
            }
            output += chunk[..<written]
            guard output.count <= limit else { return .failure(.tooLarge) }
            switch status {
            case Z_OK where written > 0 || stream.pointee.avail_in > 0: continue
            case Z_STREAM_END:
                // RFC 1952 2.2: gzip data may have several members. Octets after the data of other formats are ignored.
                let rest = UnsafeBufferPointer(start: stream.pointee.next_in, count: Int(stream.pointee.avail_in))
                guard form == .gzip, rest.starts(with: [0x1F, 0x8B]) else { return .success(output) }
                guard inflateReset(stream) == Z_OK else { return .failure(.malformed("a further member cannot be read")) }
            case Z_OK, Z_BUF_ERROR: return .failure(.malformed("the data end too early"))
            case Z_NEED_DICT: return .failure(.malformed("the data need a dictionary"))
            default: return .failure(.malformed("the data are damaged"))
            }
        }
    }
}

/// zlib's function, which ``ContentCoding/deflate`` hides inside the type.
private func zlibDeflate(_ stream: UnsafeMutablePointer<z_stream>, _ flush: Int32) -> Int32 { deflate(stream, flush) }
