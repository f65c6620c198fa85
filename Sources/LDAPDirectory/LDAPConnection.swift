import CLDAP
import SIPSecurity

#if canImport(Glibc)
    import Glibc
#endif

/// One entry of a search result: its DN and the requested attributes by lower-case name.
struct LDAPEntry {
    var name: String
    var values: [String: [String]]
}

/// A connection to a directory service, used by one thread. Each operation is limited by ``LDAPSettings/timeout``.
final class LDAPConnection {
    private let handle: OpaquePointer
    private let timeout: Int

    /// Connects, starts TLS if configured, and binds.
    /// - Parameter password: the password of the bind DN; ignored without a bind DN.
    init(_ settings: LDAPSettings, password: String) throws(LDAPFailure) {
        var handle: OpaquePointer?
        let code = ldap_initialize(&handle, settings.url)
        guard code == isthmus_ldap_success(), let handle else { throw Self.failure("open", code) }
        self.handle = handle
        timeout = settings.timeout
        // All properties are set: deinit closes the connection if a later step throws.
        try configure(settings)
        if settings.startTLS { try check("STARTTLS", ldap_start_tls_s(handle, nil, nil), of: settings) }
        if settings.isSecureFromTheStart { try check("TLS", ldap_connect(handle), of: settings) }
        try bind(settings.bindDN ?? "", password: settings.bindDN == nil ? "" : password)
    }

    /// Opens a second connection without certificate verification to read the server's certificate; sends no request but STARTTLS.
    /// - Returns: nil if there is no TLS handshake or no certificate.
    static func shownCertificate(_ settings: LDAPSettings) -> Certificate? {
        var opened: OpaquePointer?
        guard ldap_initialize(&opened, settings.url) == isthmus_ldap_success(), let handle = opened else { return nil }
        defer { ldap_unbind_ext_s(handle, nil, nil) }
        func set<Value: BitwiseCopyable>(_ option: Int32, to value: Value) -> Bool {
            withUnsafeBytes(of: value) { ldap_set_option(handle, option, $0.baseAddress) } == isthmus_ldap_success()
        }
        let span = timeval(tv_sec: settings.timeout, tv_usec: 0)
        guard set(LDAP_OPT_PROTOCOL_VERSION, to: Int32(LDAP_VERSION3)), set(LDAP_OPT_NETWORK_TIMEOUT, to: span),
            set(LDAP_OPT_TIMEOUT, to: span), set(LDAP_OPT_X_TLS_REQUIRE_CERT, to: LDAP_OPT_X_TLS_NEVER),
            set(LDAP_OPT_X_TLS_NEWCTX, to: Int32(0)),
            (settings.startTLS ? ldap_start_tls_s(handle, nil, nil) : ldap_connect(handle)) == isthmus_ldap_success()
        else { return nil }
        var shown = berval()
        guard ldap_get_option(handle, LDAP_OPT_X_TLS_PEERCERT, &shown) == isthmus_ldap_success(), let bytes = shown.bv_val else {
            return nil
        }
        defer { ber_memfree(shown.bv_val) }
        return Certificate(octets: UnsafeBufferPointer(start: bytes, count: Int(shown.bv_len)).map(UInt8.init(bitPattern:)))
    }

    deinit { ldap_unbind_ext_s(handle, nil, nil) }

    private func configure(_ settings: LDAPSettings) throws(LDAPFailure) {
        try set(LDAP_OPT_PROTOCOL_VERSION, to: Int32(LDAP_VERSION3))
        try set(LDAP_OPT_NETWORK_TIMEOUT, to: span)
        try set(LDAP_OPT_TIMEOUT, to: span)
        // Referrals are not followed: the bind would send the password to servers that are not configured.
        try check("option", ldap_set_option(handle, LDAP_OPT_REFERRALS, isthmus_ldap_opt_off()))
        if let trust = settings.trust {
            try check("trust", trust.withCString { ldap_set_option(handle, LDAP_OPT_X_TLS_CACERTFILE, $0) })
        }
        try set(LDAP_OPT_X_TLS_REQUIRE_CERT, to: LDAP_OPT_X_TLS_DEMAND)
        try set(LDAP_OPT_X_TLS_NEWCTX, to: Int32(0))
    }

    private var span: timeval { timeval(tv_sec: timeout, tv_usec: 0) }

    private func set<Value: BitwiseCopyable>(_ option: Int32, to value: Value) throws(LDAPFailure) {
        try check("option", withUnsafeBytes(of: value) { ldap_set_option(handle, option, $0.baseAddress) })
    }

    private func bind(_ name: String, password: String) throws(LDAPFailure) {
        var secret = Array(password.utf8CString)
        let code = secret.withUnsafeMutableBufferPointer { bytes in
            var credentials = berval(bv_len: ber_len_t(bytes.count - 1), bv_val: bytes.baseAddress)
            return ldap_sasl_bind_s(handle, name, nil, &credentials, nil, nil, nil)
        }
        try check("bind", code)
    }

    // MARK: Search

    /// Returns every entry below `base` that matches the filter, page by page (RFC 2696).
    /// - Throws: `LDAPFailure`, also at a limit of ``LDAPPaging``.
    func search(_ settings: LDAPSettings, attributes: [String]) throws(LDAPFailure) -> [LDAPEntry] {
        var entries: [LDAPEntry] = []
        var cookie: [UInt8] = []
        var paging = LDAPPaging(entryLimit: settings.entryLimit)
        repeat {
            let (page, next) = try searchPage(settings, attributes, cookie)
            try paging.count(page.count)
            entries += page
            cookie = next
        } while !cookie.isEmpty
        return entries
    }

    private func searchPage(
        _ settings: LDAPSettings, _ attributes: [String], _ cookie: [UInt8]
    ) throws(LDAPFailure) -> ([LDAPEntry], cookie: [UInt8]) {
        var control: UnsafeMutablePointer<LDAPControl>?
        var position = cookie.map(CChar.init(bitPattern:))
        let made = position.withUnsafeMutableBufferPointer { bytes in
            var value = berval(bv_len: ber_len_t(bytes.count), bv_val: bytes.baseAddress)
            return ldap_create_page_control(handle, ber_int_t(settings.pageSize), &value, 0, &control)
        }
        try check("search", made)
        defer { ldap_control_free(control) }
        var controls: [UnsafeMutablePointer<LDAPControl>?] = [control, nil]
        var names: [UnsafeMutablePointer<CChar>?] = attributes.map { strdup($0) } + [nil]
        defer { names.forEach { free($0) } }
        var limit = span
        var result: OpaquePointer?
        let code = ldap_search_ext_s(
            handle, settings.base, Int32(isthmus_ldap_scope_subtree()), settings.filter, &names, 0, &controls, nil, &limit, 0, &result)
        defer { if let result { ldap_msgfree(result) } }
        try check("search", code)
        guard let result else { return ([], []) }
        return (read(result, attributes), try nextCookie(result))
    }

    private func nextCookie(_ result: OpaquePointer) throws(LDAPFailure) -> [UInt8] {
        var code: Int32 = 0
        var controls: UnsafeMutablePointer<UnsafeMutablePointer<LDAPControl>?>?
        try check("search", ldap_parse_result(handle, result, &code, nil, nil, nil, &controls, 0))
        defer { if let controls { ldap_controls_free(controls) } }
        try check("search", code)
        // A server without paging has returned all entries in one response.
        guard let controls, let control = ldap_control_find(LDAP_CONTROL_PAGEDRESULTS, controls, nil) else { return [] }
        var count: ber_int_t = 0
        var cookie = berval()
        try check("search", ldap_parse_pageresponse_control(handle, control, &count, &cookie))
        defer { ber_memfree(cookie.bv_val) }
        guard let bytes = cookie.bv_val else { return [] }
        return UnsafeBufferPointer(start: bytes, count: Int(cookie.bv_len)).map(UInt8.init(bitPattern:))
    }

    private func read(_ result: OpaquePointer, _ attributes: [String]) -> [LDAPEntry] {
        var entries: [LDAPEntry] = []
        var next = ldap_first_entry(handle, result)
        while let current = next {
            var entry = LDAPEntry(name: "", values: [:])
            if let name = ldap_get_dn(handle, current) {
                entry.name = String(cString: name)
                ldap_memfree(name)
            }
            for attribute in attributes {
                guard let values = ldap_get_values_len(handle, current, attribute) else { continue }
                defer { ldap_value_free_len(values) }
                entry.values[attribute.lowercased()] = (0..<Int(ldap_count_values_len(values))).compactMap { index in
                    guard let value = values[index]?.pointee, let bytes = value.bv_val else { return nil }
                    let buffer = UnsafeBufferPointer(start: bytes, count: Int(value.bv_len))
                    return String(validating: buffer.map(UInt8.init(bitPattern:)), as: UTF8.self)
                }
            }
            entries.append(entry)
            next = ldap_next_entry(handle, current)
        }
        return entries
    }

    // MARK: Errors

    private func check(_ operation: String, _ code: Int32) throws(LDAPFailure) {
        guard code != isthmus_ldap_success() else { return }
        var failure = Self.failure(operation, code)
        var words: UnsafeMutablePointer<CChar>?
        if ldap_get_option(handle, LDAP_OPT_DIAGNOSTIC_MESSAGE, &words) == isthmus_ldap_success(), let words {
            let text = String(cString: words)
            if !text.isEmpty { failure.reason += " (\(text))" }
            ldap_memfree(words)
        }
        throw failure
    }

    /// Checks the result of a TLS handshake; on failure, looks for the cause in the server's certificate.
    private func check(_ operation: String, _ code: Int32, of settings: LDAPSettings) throws(LDAPFailure) {
        guard code != isthmus_ldap_success() else { return }
        guard let certificate = Self.shownCertificate(settings) else { return try check(operation, code) }
        switch settings.finding(in: certificate, at: HostMoment.now) {
        case .fault(let text): throw LDAPFailure(operation: operation, reason: text)
        case .unknown(let text):
            do throws(LDAPFailure) {
                try check(operation, code)
            } catch {
                throw LDAPFailure(operation: operation, reason: "\(error.reason); \(text)")
            }
        }
    }

    private static func failure(_ operation: String, _ code: Int32) -> LDAPFailure {
        LDAPFailure(operation: operation, reason: ldap_err2string(code).map { String(cString: $0) } ?? "error \(code)")
    }
}
