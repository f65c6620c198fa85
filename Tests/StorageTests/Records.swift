import PresenceGateway
import SIPCore

/// Records with everything that a column can get wrong.
enum Records {
    static let awkward = "a b=c%20d%\u{E9}"

    /// Records of the kinds that version 6 of the schema has.
    static var ofVersion6: [StoreRecord] { everyKind.filter { $0.kind != .document } }

    /// Records of every kind, several with a part of their key in common.
    static let everyKind: [StoreRecord] = [
        presentity("sip:a@example.com"), presentity("sip:b@example.com"),
        publication("sip:a@example.com", "t1"), publication("sip:a@example.com", "t2"), publication("sip:b@example.com", "t1"),
        dialog("d1", resources: 3), dialog("d2", resources: 2), dialog("d3", resources: 0),
        upstreamSubscription("l1", resources: 3), upstreamSubscription("l2", resources: 2), upstreamSubscription("l3", isResting: true),
        registration("sip:a@example.com", "e1"), registration("sip:a@example.com", "e2"), registration("sip:b@example.com", "e1"),
        contacts("sip:a@example.com", 4), contacts("sip:b@example.com", 5),
        accessList("sip:a@example.com", 6), accessList("sip:b@example.com", 7),
        bridge("sip:a@example.com"), bridge("sip:b@example.com", .publish, items: 2),
        shownWatcher("sip:a@example.com", "w@contoso.com"), shownWatcher("sip:a@example.com", awkward, signOff: 1),
        shownWatcher("sip:b@example.com", "w@contoso.com"),
        signOff("sip:a@example.com", 1), signOff("sip:a@example.com", 4_294_967_295), signOff("sip:b@example.com", 1),
        document("sip:a@example.com", "index"), document("sip:a@example.com", awkward), document("sip:b@example.com", "index"),
    ]

    static func presentity(_ user: String, document: [UInt8] = Array("<roamingData/>".utf8), isSimpleNewer: Bool = false) -> StoreRecord {
        .presentity(
            StoredPresentity(
                user: user, uri: user, document: document,
                computed: ["300/4294967295/\(awkward)", "2/0/state"], isSimpleNewer: isSimpleNewer))
    }

    static func publication(_ user: String, _ tag: String, ids: [String: String] = [:]) -> StoreRecord {
        .publication(
            StoredPublication(
                presentity: user, uri: user, tag: tag, document: Array("<presence>\(awkward)</presence>".utf8), number: 7,
                arrived: Instant(nanosecondsSince1970: 1_700_000_000_123_456_789), expiry: Instant(secondsSince1970: 1_700_000_600),
                ids: ids))
    }

    static func dialog(_ tag: String, resources: Int = 1, remoteCSeq: UInt32? = 4_294_967_295) -> StoreRecord {
        .dialog(
            StoredDialog(
                kind: .watcher,
                dialog: DialogSnapshot(
                    callID: "c \(tag)", localTag: tag, remoteTag: "", localParty: "\"A B\" <sip:a@example.com>",
                    remoteParty: "<sip:b@example.org>", remoteTarget: "sip:b@192.0.2.1;transport=tcp",
                    routeSet: ["<sip:p1.example.org;lr>", "\"x, y\" <sip:p2.example.org;lr>;a=b"], localCSeq: 3, remoteCSeq: remoteCSeq,
                    isSecure: true),
                owner: "sip:a@example.com", event: "presence;id=4", contentType: "application/pidf+xml", watcher: "sip:b@example.org",
                isBatch: resources > 1, isBestEffort: true, expiry: Instant(secondsSince1970: 1_700_000_900),
                local: TransportAddress(.tcp, "::1", 5060),
                remote: TransportAddress(.tls, "2001:db8::7", 40_000, proving: "host.example.org"), wasNotifiedActive: true,
                isUnsettled: true, listVersion: 9,
                resources: (0..<resources).map {
                    StoredDialog.Resource(
                        uri: "sip:r\($0)@example.com", categories: ["state", awkward, ""],
                        delivered: ["state": .max, awkward: 0, "*": UInt64($0)], hopMarks: $0 == 0 ? nil : "00ff, 11ee")
                },
                rejected: [
                    StoredDialog.Rejected(
                        uri: "sip:x@fabrikam.com", state: "resubscribe", reason: nil, statusCode: nil, poolFqdn: "sip:pool",
                        isNotified: false),
                    StoredDialog.Rejected(
                        uri: "sip:y@fabrikam.com", state: "terminated", reason: "noresource", statusCode: 404, poolFqdn: nil,
                        isNotified: true),
                ],
                details: ["scope": "categories containers", "": ""]))
    }

    /// Without rejected resources.
    static func unmixedDialog(_ tag: String, resources: Int = 1) -> StoreRecord {
        guard case .dialog(var stored) = dialog(tag, resources: resources) else { return dialog(tag) }
        stored.rejected = []
        return .dialog(stored)
    }

    static func bridge(_ user: String, _ way: StoredBridge.Way = .service, items: Int = 3) -> StoreRecord {
        .bridge(
            StoredBridge(
                user: user, way: way, uri: user, document: way == .publish ? Array("<roamingData/>".utf8) : [],
                details: ["tag": awkward, "hop-marks": "00ff, 11ee", "": ""],
                items: (0..<items).map {
                    StoredBridge.Item(
                        kind: $0 == 0 ? "source" : "standing", name: "\(100 - $0)/4294967295/\(awkward)",
                        document: $0 == 0 ? Array("<presence>\(awkward)</presence>".utf8) : [], details: ["version": "\($0)"])
                }))
    }

    /// - Parameter isResting: it was lost, and has no dialog.
    static func upstreamSubscription(_ tag: String, resources: Int = 1, isResting: Bool = false) -> StoreRecord {
        .upstreamSubscription(
            StoredUpstreamSubscription(
                tag: tag, owner: "sip:r0@example.com", watcher: "sip:b@example.org", domain: "example.com",
                dialog: isResting
                    ? nil
                    : DialogSnapshot(
                        callID: "c \(tag)", localTag: tag, remoteTag: awkward, localParty: "<sip:b@example.org>",
                        remoteParty: "<sip:r0@example.com>", remoteTarget: "sip:192.0.2.9;transport=tcp", routeSet: ["<sip:p;lr>"],
                        localCSeq: 9, remoteCSeq: resources == 1 ? nil : 4, isSecure: false),
                hasNotified: !isResting, expiry: isResting ? nil : Instant(secondsSince1970: 1_700_003_600),
                restsUntil: isResting ? Instant(secondsSince1970: 1_700_000_030) : nil, failures: isResting ? 3 : 0, expires: 3_600,
                target: "sip:pool.example.com;gruu", shape: resources == 1 ? "single" : "batch", format: "categories", maxForwards: 68,
                hopMarks: resources == 1 ? "" : "00ff, 11ee",
                resources: (0..<resources).map {
                    StoredUpstreamSubscription.Resource(
                        uri: "sip:r\($0)@example.com", categories: ["state", awkward], sinks: ["d1", "d\($0)"])
                }))
    }

    static func registration(_ user: String, _ place: String, endpoint: String? = nil) -> StoreRecord {
        .registration(
            StoredRegistration(
                user: user, place: place, endpoint: endpoint, contact: "<sip:192.0.2.1:4711;ms-opaque=x>", callID: awkward, cSeq: 1,
                expiry: Instant(secondsSince1970: 1_700_007_200), local: TransportAddress(.tls, "192.0.2.9", 5061),
                remote: TransportAddress(.tls, "192.0.2.1", 4_711)))
    }

    static func shownWatcher(_ presentity: String, _ watcher: String, signOff: UInt32? = nil) -> StoreRecord {
        .shownWatcher(
            StoredShownWatcher(
                presentity: presentity, watcher: watcher, shownAt: Instant(nanosecondsSince1970: 1_700_000_000_123_456_789),
                signOff: signOff))
    }

    static func signOff(_ presentity: String, _ number: UInt32, document: [UInt8] = Array("<roamingData/>".utf8)) -> StoreRecord {
        .signOff(
            StoredSignOff(
                presentity: presentity, number: number, uri: presentity, moment: Instant(nanosecondsSince1970: 1_700_000_000_123_456_789),
                document: document, computed: ["300/4294967295/\(awkward)", "2/0/state"]))
    }

    static func document(_ user: String, _ name: String) -> StoreRecord {
        .document(
            StoredXCAPDocument(
                user: user, auid: "resource-lists", name: name, tag: "0f1e2d", mediaType: "application/resource-lists+xml",
                octets: Array("<?xml version='1.0'?>\r\n<resource-lists>\(awkward)\u{1F600}</resource-lists>\n".utf8)))
    }

    static func contacts(_ user: String, _ number: UInt32) -> StoreRecord {
        .contacts(StoredUserDocument(user: user, deltaNumber: number, document: [0x3C, 0xFF, 0x00, 0x3E]))
    }

    static func accessList(_ user: String, _ number: UInt32) -> StoreRecord {
        .accessList(StoredUserDocument(user: user, deltaNumber: number, document: []))
    }
}
