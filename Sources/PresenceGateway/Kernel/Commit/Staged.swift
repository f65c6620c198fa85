import SIPCore

/// Message that waits for the commit, so that nothing is sent that a restart would not know.
enum Staged {
    /// 2xx response.
    case answer(SIPResponse, ServerTransactionID)
    /// Request that gets a response.
    case request(SIPRequest, RequestRoute, RequestOrigin)
    /// BENOTIFY (MS-SIP 3.5).
    case unanswered(SIPRequest, RequestRoute, RequestOrigin)
}
