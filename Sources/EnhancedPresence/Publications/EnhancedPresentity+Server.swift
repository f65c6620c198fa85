import PresenceDocuments
import XMLCore

extension EnhancedPresentity {
    /// Publishes the server's data about the user with one publishTime (MS-PRES 3.2.6.2).
    ///
    /// Data that are already stored keep their version; their publishTime becomes `time`, so that it is the age of the data and not
    /// that of the presentity on this node.
    /// - Parameters:
    ///   - publications: Keys and bodies; their expireType is static.
    ///   - time: Age of the data; for changed data a time before the last commit becomes 1 ms after it.
    /// - Returns: The pairs with changed data; aggregates are not recomputed.
    public mutating func publishByServer(_ publications: [(id: PublicationID, body: XMLFragment)], at time: DateTime) -> PresentityChange {
        var change = PresentityChange()
        var committed: DateTime?
        for (id, body) in publications {
            var instance = store[id] ?? CategoryInstance(id: id, version: 0, publishTime: time)
            if instance.version > 0, instance.body == body, instance.expireType == .static {
                instance.publishTime = time.truncatedToMilliseconds
            } else {
                let moment = committed ?? commitTime(time)
                committed = moment
                instance = CategoryInstance(
                    id: id, version: CategoryInstance.successor(of: instance.version), publishTime: moment, expireType: .static, body: body)
                change.pairs.insert(id.pair)
            }
            store.put(instance)
        }
        return change
    }
}
