extension SIPHeaders {
    /// Route values in order (RFC 3261 20.34); malformed ones are omitted.
    public var routes: [NameAddr] {
        get { parsedList(.route) }
        set { setList(.route, newValue.map(\.description)) }
    }

    /// Record-Route values in order (RFC 3261 20.30); malformed ones are omitted.
    public var recordRoutes: [NameAddr] {
        get { parsedList(.recordRoute) }
        set { setList(.recordRoute, newValue.map(\.description)) }
    }
}
