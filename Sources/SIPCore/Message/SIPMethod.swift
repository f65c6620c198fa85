/// Request method (RFC 3261 7.1): case-sensitive; unknown methods are kept.
public struct SIPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }

    /// RFC 3261 13.
    public static var invite: SIPMethod { SIPMethod(rawValue: "INVITE") }
    /// RFC 3261 17.1.1.3.
    public static var ack: SIPMethod { SIPMethod(rawValue: "ACK") }
    /// RFC 3261 15.
    public static var bye: SIPMethod { SIPMethod(rawValue: "BYE") }
    /// RFC 3261 9.
    public static var cancel: SIPMethod { SIPMethod(rawValue: "CANCEL") }
    /// RFC 3261 10.
    public static var register: SIPMethod { SIPMethod(rawValue: "REGISTER") }
    /// RFC 3261 11.
    public static var options: SIPMethod { SIPMethod(rawValue: "OPTIONS") }
    /// RFC 6665.
    public static var subscribe: SIPMethod { SIPMethod(rawValue: "SUBSCRIBE") }
    /// RFC 6665.
    public static var notify: SIPMethod { SIPMethod(rawValue: "NOTIFY") }
    /// RFC 3903.
    public static var publish: SIPMethod { SIPMethod(rawValue: "PUBLISH") }
    /// RFC 3428.
    public static var message: SIPMethod { SIPMethod(rawValue: "MESSAGE") }
    /// RFC 6086.
    public static var info: SIPMethod { SIPMethod(rawValue: "INFO") }
    /// RFC 3311.
    public static var update: SIPMethod { SIPMethod(rawValue: "UPDATE") }
    /// RFC 3262.
    public static var prack: SIPMethod { SIPMethod(rawValue: "PRACK") }
    /// RFC 3515.
    public static var refer: SIPMethod { SIPMethod(rawValue: "REFER") }
    /// MS-SIP 3.6: a SOAP or category request, answered like any other non-INVITE request.
    public static var service: SIPMethod { SIPMethod(rawValue: "SERVICE") }
    /// MS-SIP 3.5: a NOTIFY without response and retransmission.
    public static var benotify: SIPMethod { SIPMethod(rawValue: "BENOTIFY") }
    /// MS-SIPCOMP: compression negotiation.
    public static var negotiate: SIPMethod { SIPMethod(rawValue: "NEGOTIATE") }

    /// Whether this stack knows the method: 405 refuses a known one that is not supported, 501 an unknown one (RFC 3261 8.2.1).
    public var isKnown: Bool { Self.known.contains(self) }

    private static let known: Set<SIPMethod> = [
        .invite, .ack, .bye, .cancel, .register, .options, .subscribe, .notify, .publish, .message, .info, .update, .prack, .refer,
        .service, .benotify, .negotiate,
    ]
}
