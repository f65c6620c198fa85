import XMLCore

/// The status element by which liblinphone counts somebody as online whose activities are not empty; without it any activity beside
/// `open`, a free text too, is shown as busy (`PresenceModel::isOnline`).
enum LinphoneOnline {
    static let name = XMLName("online", in: XMLNamespace("http://www.linphone.org/xsds/pidfonline.xsd"))
    static let fragment = try? XMLFragment(parsing: Array("<online xmlns=\"http://www.linphone.org/xsds/pidfonline.xsd\"/>".utf8))
}
