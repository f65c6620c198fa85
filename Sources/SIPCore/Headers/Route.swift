extension SIPHeaders {
    /// The Route values in order (RFC 3261 20.34).
    public var routes: [NameAddr] {
        get { parsedList(.route) }
        set { setList(.route, newValue.map(\.description)) }
    }

    /// The Record-Route values in order (RFC 3261 20.30).
    public var recordRoutes: [NameAddr] {
        get { parsedList(.recordRoute) }
        set { setList(.recordRoute, newValue.map(\.description)) }
    }
}
