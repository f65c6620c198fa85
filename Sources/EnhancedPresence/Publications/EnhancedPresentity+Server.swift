import PresenceDocuments
import XMLCore

extension EnhancedPresentity {
    /// Publishes what the server knows of the user, all with one publishTime (MS-PRES 3.2.6.2).
    ///
    /// What is there already with the same data is not published again; its publishTime becomes `time`, so that the time says since
    /// when the data are so and nothing about when this presentity came to be here.
    /// - Parameters:
    ///   - publications: Keys and bodies; their expireType is static.
    ///   - time: Since when the data are so; a moment before what this presentity last committed counts as right after it.
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
