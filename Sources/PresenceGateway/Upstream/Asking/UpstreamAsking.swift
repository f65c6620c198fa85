import PresenceDocuments
import SIPCore
import SIPEvents

/// What a SUBSCRIBE of a far leg says besides who asks whom; one file for each form.
extension UpstreamSubscription {
    /// Writes what makes the request a presence subscription of the chosen shape and form.
    /// - Parameter reliable: whether it goes over a connection.
    func describe(_ request: inout SIPRequest, expires: Int, reliable: Bool) {
        request.headers.set(.event, EventPackage.presence.token)
        request.headers.set(.expires, String(expires))
        request.headers.set(.accept, accept)
        switch format {
        case .categories, .batch: describeCategories(&request, expires: expires, reliable: reliable)
        case .msrtc: offerNotifications(&request, reliable: reliable)
        case .pidf: if shape == .list { describeList(&request) }
        }
    }

    private var accept: String {
        switch format {
        case .categories, .batch: "\(WatcherFormat.categoriesType), \(WatcherFormat.rlmiType), \(WatcherFormat.relatedType)"
        case .msrtc: WatcherFormat.msrtcType
        case .pidf:
            // The order of preference, for those who read no q value too (RFC 5263 4.4).
            (offersPartial ? "\(WatcherFormat.pidfDiffType), \(WatcherFormat.pidfType);q=0.9" : WatcherFormat.pidfType)
                + (shape == .list ? ", \(WatcherFormat.rlmiType), \(WatcherFormat.relatedType)" : "")
        }
    }

    /// Lets an enterprise server put the first state into its 200, and inside the enterprise spare us the answers (MS-SIP 3.4, 3.5).
    func offerNotifications(_ request: inout SIPRequest, reliable: Bool) {
        guard domain.side == .enterprise else { return }
        request.headers.append(.supported, "ms-piggyback-first-notify")
        if reliable && domain.configuration.network == .sameEnterprise {
            request.headers.append(.supported, "ms-benotify")
            request.headers.append(.proxyRequire, "ms-benotify")
        }
    }

    /// To whom the first SUBSCRIBE is addressed; a batch comes from the watcher to itself (MS-PRES 3.4.5.1.1).
    var addressee: SIPURI {
        switch shape {
        case .single: resources.first?.uri ?? target
        case .batch: watcher
        case .list: target
        }
    }
}
