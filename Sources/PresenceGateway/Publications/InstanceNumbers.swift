import ByteCoding
import PresenceDocuments

/// Instance numbers of one user (MS-PRES 1.3.1.1): stable over changes, refreshes and restarts, and different from those of the user's
/// clients.
struct InstanceNumbers {
    private let hash: UInt32

    /// Creates the numbers.
    /// - Parameter endpoint: the gateway's own endpoint, so that two gateways of one user use different numbers.
    init(endpoint: String, user: String) {
        hash = FNV1a32.hash("\(endpoint) \(user)".utf8)
    }

    func instance(of category: CategoryName) -> UInt32 {
        switch category {
        // Clients distinguish states by the first digit.
        case .state: 0x2000_0000 | hash >> 4 | 1
        // The first two bits encode the free/busy format: 00 for two bits per slot (MS-PRES 2.2.2.7.8).
        case .calendarData: hash >> 2 | 1
        // 0 is used by the server or by the user's clients.
        default: hash | 1
        }
    }
}
