/// A login name, from NTLM's AUTHENTICATE message or Digest's username.
public struct LoginName: Hashable, Sendable {
    /// The user name without a domain, as received.
    public var user: String
    /// The SIP domain in lower case.
    public var domain: String

    /// Creates a login name; `domain` must be in lower case.
    public init(user: String, domain: String) {
        self.user = user
        self.domain = domain
    }
}

/// A user that may sign in with a password.
public struct Account: Hashable, Sendable {
    /// The key of the user's address of record (``SIPCore/SIPURI/aorKey``), which From must have.
    public var identity: String
    /// The verifiers of the password.
    public var verifiers: CredentialVerifiers

    /// Creates an account.
    public init(identity: String, verifiers: CredentialVerifiers) {
        self.identity = identity
        self.verifiers = verifiers
    }
}

/// Finds the account of a login name, ignoring the case of its user; nil if there is none.
public typealias AccountLookup = @Sendable (LoginName) -> Account?
