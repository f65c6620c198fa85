import XMLCore

/// Status element that makes liblinphone show an open user with activities as online; without it, any activity besides `open`, free
/// text included, is shown as busy (`PresenceModel::isOnline`).
enum LinphoneOnline {
    static let name = XMLName("online", in: XMLNamespace("http://www.linphone.org/xsds/pidfonline.xsd"))
    static let fragment = try? XMLFragment(parsing: Array("<online xmlns=\"http://www.linphone.org/xsds/pidfonline.xsd\"/>".utf8))
}
