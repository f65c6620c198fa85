import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Header fields and body of an upstream SUBSCRIBE by form, one file for each form.
extension UpstreamSubscription {
    /// Adds the header fields and the body for the subscription's shape and form.
    /// - Parameter reliable: whether the transport is reliable.
    func describe(_ request: inout SIPRequest, expires: Int, reliable: Bool) {
        request.headers.set(.event, EventToken.presence)
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
            // Ordered by preference, for notifiers that ignore q values (RFC 5263 4.4).
            (form.offersPartial ? "\(WatcherFormat.pidfDiffType), \(WatcherFormat.pidfType);q=0.9" : WatcherFormat.pidfType)
                + (shape == .list ? ", \(WatcherFormat.rlmiType), \(WatcherFormat.relatedType)" : "")
        }
    }

    /// Allows an enterprise server to put the first state into its 200, and within the enterprise to send BENOTIFY (MS-SIP 3.4, 3.5).
    func offerNotifications(_ request: inout SIPRequest, reliable: Bool) {
        guard domain.side == .enterprise else { return }
        request.headers.append(.supported, "ms-piggyback-first-notify")
        if reliable && domain.configuration.network == .sameEnterprise {
            request.headers.append(.supported, "ms-benotify")
            request.headers.append(.proxyRequire, "ms-benotify")
        }
    }

    /// URI in To of the first SUBSCRIBE; a batch is addressed to its watcher (MS-PRES 3.4.5.1.1).
    var addressee: SIPURI {
        switch shape {
        case .single: resources.first?.uri ?? target
        case .batch: watcher
        case .list: target
        }
    }
}
