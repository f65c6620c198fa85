import FederationRouting
import PresenceDocuments
import SIPCore
import UserDirectory

/// Directory searches: SERVICE to the domain itself (MS-PRES 3.1).
extension HomeServerFlow {
    /// Whether a SERVICE is a search: SOAP for a domain instead of a user (MS-PRES 3.1.5.1).
    static func isDirectorySearch(_ request: SIPRequest) -> Bool {
        guard let to = request.headers.to?.uri, to.user?.isEmpty ?? true else { return false }
        return request.headers.contentType?.essence == SOAPEnvelope.mediaType.name || request.body.isEmpty
    }

    func searchDirectory(_ request: SIPRequest, _ transaction: ServerTransactionID?, at now: Instant) throws(Refusal) {
        guard let to = request.headers.to?.uri, let from = request.headers.from?.uri else {
            throw .search(.badRequest, .badCall, "RFC 3261 20.39: To cannot be read")
        }
        guard let domain = configuration.domain(to.domainKey), domain.hosted, domain.side == .enterprise else {
            throw Refusal(.notFound, "MS-PRES 3.1.5.1: this node is not the home server of that domain", errorID: 4005)
        }
        guard request.headers.require.isEmpty else {
            throw .search(.badRequest, .badCall, "MS-PRES 3.1.5.1: a search has no Require")
        }
        guard !request.body.isEmpty else { throw .search(.badRequest, .badCall, "MS-PRES 3.1.5.1: a search needs a body") }
        let search: DirectorySearchRequest
        do {
            search = try DirectorySearchRequest(parsing: request.body, limits: documentLimits)
        } catch {
            throw .search(.badRequest, .badCall, "the search cannot be read: \(error)")
        }
        guard search.filters.count <= configuration.limits.directorySearchConditions else {
            throw .search(
                .badRequest, .badCall, "MS-PRES 3.1.5.4: the search has more conditions than limits.directory-search-conditions allows")
        }
        let users = try searchedDirectory()
        guard from.domainKey == to.domainKey, users.enabledUser(from.aorKey) != nil else {
            throw .search(.forbidden, .userSearchNotAuthorized, "MS-PRES 3.1.5.4: only users of the domain may search in it")
        }
        guard searchRates.take(from.aorKey, limit: configuration.limits.directorySearchesPerSecond, at: now) else {
            counters.directorySearchesRefused += 1
            throw .busy("this user has searched too often in this second", retryAfter: 1)
        }
        let limit = min(Int(clamping: search.maxResults), configuration.limits.directorySearchResults)
        let matches = users.search(search.filters, in: to.domainKey, for: from.aorKey, limit: limit)
        counters.directorySearches += 1
        counters.directoryComparisons += UInt64(matches.comparisons)
        log(
            .debug, "directory searched",
            ["user": from.aorKey, "filters": String(search.filters.count), "returned": String(matches.users.count)])
        var response = SIPResponse(to: request, status: .ok, toTag: tokens.tag())
        response.headers.append(.contentType, Refusal.soapType)
        response.body = DirectorySearchResponse(rows: matches.rows, moreAvailable: matches.moreAvailable).encoded()
        respond(response, transaction, at: now)
    }

    private func searchedDirectory() throws(Refusal) -> UserDirectory {
        switch directory.state {
        case .known(let users) where !isShuttingDown: return users
        case .none: throw .search(.serverInternalError, .unknownError, "no directory is configured")
        default:
            throw .busy("the directory cannot be searched now", retryAfter: configuration.timing.retryAfter)
        }
    }
}

/// Number of directory searches per user in the current second; earlier seconds are dropped, which bounds the table.
struct SearchRates {
    private var second: Int64 = .min
    private var counts: [String: Int] = [:]

    /// Counts a search; returns false at the limit.
    mutating func take(_ user: String, limit: Int, at now: Instant) -> Bool {
        if now.secondsSince1970 != second {
            second = now.secondsSince1970
            counts.removeAll(keepingCapacity: counts.count < 1_024)
        }
        guard counts[user, default: 0] < limit else { return false }
        counts[user, default: 0] += 1
        return true
    }
}

extension Refusal {
    /// Spelled as in the samples; clients compare without case (MS-PRES 4.1).
    static let soapType = "application/SOAP+xml"

    /// Refuses a search with a SOAP fault (MS-PRES 3.1.5.4).
    fileprivate static func search(_ status: SIPStatus, _ fault: SOAPFault, _ explanation: String) -> Refusal {
        Refusal(status, explanation, body: Body(contentType: soapType, bytes: fault.encoded()))
    }

    fileprivate static func busy(_ explanation: String, retryAfter: Int) -> Refusal {
        var refusal = search(.serviceUnavailable, .busy, explanation)
        refusal.headers.append(Header(.retryAfter, String(retryAfter)))
        return refusal
    }
}
