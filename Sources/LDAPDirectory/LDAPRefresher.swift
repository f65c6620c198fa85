import Dispatch
import Foundation
import PresenceDocuments
import UserDirectory

/// Reads the users of a directory service again and again, on a thread of its own: no event loop ever waits for the service.
public final class LDAPRefresher: Sendable {
    public typealias Outcome = Result<LDAPSnapshot, LDAPFailure>

    private let stopping = DispatchSemaphore(value: 0)

    /// Starts reading at once.
    /// - Parameter deliver: Called on the refresher's thread with each outcome, in order; a failed one changes nothing.
    public init(_ settings: LDAPSettings, domains: Set<String>, deliver: @escaping @Sendable (Outcome) -> Void) {
        let stopping = stopping
        let thread = Thread {
            repeat {
                deliver(Self.read(settings, domains))
            } while stopping.wait(timeout: .now() + .seconds(settings.refresh)) == .timedOut
        }
        thread.name = "ldap"
        thread.start()
    }

    /// No reading begins after this; one that is under way may still be delivered.
    public func stop() { stopping.signal() }

    private static func read(_ settings: LDAPSettings, _ domains: Set<String>) -> Outcome {
        let now = DateTime(nanosecondsSince1970: Int64(Date().timeIntervalSince1970) * 1_000_000_000)
        do throws(LDAPFailure) {
            return .success(try LDAPReader.read(settings, domains: domains, at: now))
        } catch {
            return .failure(error)
        }
    }
}
