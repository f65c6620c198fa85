/// The name that somebody signs in with: what NTLM's AUTHENTICATE or Digest's username says, taken apart.
public struct LoginName: Hashable, Sendable {
    /// Without a domain, as given.
    public var user: String
    /// The SIP domain in lower case.
    public var domain: String

    public init(user: String, domain: String) {
        self.user = user
        self.domain = domain
    }
}

/// What a directory knows of one user who may sign in.
public struct Account: Hashable, Sendable {
    /// The key of the user's address of record (``SIPCore/SIPURI/aorKey``): whom the user may say to be in From.
    public var identity: String
    public var verifiers: CredentialVerifiers

    public init(identity: String, verifiers: CredentialVerifiers) {
        self.identity = identity
        self.verifiers = verifiers
    }
}

/// Finds the account of a login name, without regard to the case of its user; nil: there is none.
public typealias AccountLookup = @Sendable (LoginName) -> Account?
