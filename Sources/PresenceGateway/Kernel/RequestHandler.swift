import SIPCore

/// Serves the requests of some methods. Allow, 405 and OPTIONS are computed from the handlers of a shard.
protocol RequestHandler: AnyObject {
    /// The methods, in the order in which Allow lists them.
    var methods: [SIPMethod] { get }

    /// Serves a request that passed admission and screening.
    /// - Parameter transaction: nil: the request gets no response.
    /// - Throws: the refusal; the request changed nothing then.
    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal)
}

/// The handlers of a shard, by method; a few, so that a search is faster than a hash.
struct RequestHandlers {
    private var methods: [SIPMethod] = []
    /// The handler of each method.
    private var handlers: [any RequestHandler] = []
    /// The value of Allow (RFC 3261 20.5).
    private(set) var allow = ""

    /// Adds a handler; methods with an earlier handler keep it.
    mutating func add(_ handler: any RequestHandler) {
        for method in handler.methods where self[method] == nil {
            methods.append(method)
            handlers.append(handler)
        }
        allow = methods.map(\.rawValue).joined(separator: ", ")
    }

    /// The handler of a method; nil: none.
    subscript(method: SIPMethod) -> (any RequestHandler)? {
        methods.firstIndex(of: method).map { handlers[$0] }
    }

    /// The handler of a request.
    /// - Throws: 405 or 501 for a method without a handler, and 481 within a dialog (RFC 3261 8.2.1, 12.2.2).
    func handler(of request: SIPRequest) throws(Refusal) -> any RequestHandler {
        if let handler = self[request.method] { return handler }
        let isCall = [SIPMethod.bye, .info, .message, .update, .prack, .refer].contains(request.method)
        if isCall, request.headers.toTag != nil { throw .noSuchDialog }
        throw request.method.isKnown ? .methodNotAllowed(allow) : Refusal(.notImplemented, "RFC 3261 8.2.1: unknown method")
    }
}
