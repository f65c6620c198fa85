import SIPCore

/// Message that waits for the changes on which it depends, so that nothing is sent that a restart would not know.
struct WaitingMessage {
    enum Content {
        /// 2xx response.
        case answer(SIPResponse, ServerTransactionID)
        /// Request that gets a response.
        case request(SIPRequest, RequestRoute, RequestOrigin)
        /// BENOTIFY (MS-SIP 3.5).
        case unanswered(SIPRequest, RequestRoute, RequestOrigin)
        /// Answer to a request that came by another way than SIP; the scope is given.
        case reply(WaitingReply)
        /// Value of a flow for another shard.
        case value(any Sendable, shard: Int, FlowID)
    }

    let content: Content
    /// Users and dialog on which it depends; nil: those in its headers.
    let scope: CommitScope?
}

/// An answer with the two ways that it may leave; one of them is called, once.
struct WaitingReply {
    /// Sends the answer; the changes that it depends on are stored.
    let send: () -> Void
    /// Sends the refusal, because they could not be stored.
    let refuse: (Refusal) -> Void
}

/// Two users and a dialog, and the newest commit that changes others of which a message shows something.
struct CommitScope {
    /// The user's `aorKey`.
    let one: String
    let other: String
    /// Local tag; nil: no dialog.
    let dialog: String?
    /// Number of the newest commit that changes others; 0: none.
    let others: UInt64

    init(_ one: String, _ other: String, ofDialog tag: String?, others: UInt64 = 0) {
        self.one = one
        self.other = other
        dialog = tag
        self.others = others
    }

    /// - Parameter tag: local tag of the dialog.
    init(_ headers: SIPHeaders, ofDialog tag: String?) {
        self.init(headers.from?.uri.aorKey ?? "", headers.to?.uri.aorKey ?? "", ofDialog: tag)
    }
}

extension WaitingMessage {
    var isAnswer: Bool {
        switch content {
        case .answer, .reply: true
        case .request, .unanswered, .value: false
        }
    }

    /// The scope by the headers; the local tag is that of To in a response, and that of From in a request.
    var scopeByHeaders: CommitScope {
        switch content {
        case .answer(let response, _): CommitScope(response.headers, ofDialog: response.headers.toTag)
        case .request(let request, _, _), .unanswered(let request, _, _): CommitScope(request.headers, ofDialog: request.headers.fromTag)
        case .reply, .value: CommitScope("", "", ofDialog: nil)
        }
    }
}
