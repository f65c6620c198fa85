/// Values behind one reference: a copy counts one reference, however many the values have. A change makes new values.
package struct SharedValues<Values: Hashable & Sendable>: Hashable, Sendable {
    private final class Storage: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    private var storage: Storage

    /// Creates the values.
    package init(_ values: Values) { storage = Storage(values) }

    /// The values; reading copies none of them.
    package var values: Values {
        _read { yield storage.values }
        set { storage = Storage(newValue) }
    }

    /// Whether the values are equal.
    package static func == (left: SharedValues, right: SharedValues) -> Bool {
        left.storage === right.storage || left.values == right.values
    }

    /// Hashes the values.
    package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
