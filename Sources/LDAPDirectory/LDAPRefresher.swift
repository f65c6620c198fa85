import Dispatch
import Foundation
import PresenceDocuments
import UserDirectory

/// Reads the users of a directory service periodically on its own thread, so that no event loop waits for the service.
package final class LDAPRefresher: Sendable {
    /// A snapshot, or the reason the read failed.
    package typealias Outcome = Result<LDAPSnapshot, LDAPFailure>

    private let stopping = DispatchSemaphore(value: 0)

    /// Starts the first read at once; later reads follow ``LDAPSettings/refresh`` seconds after the end of the previous
    /// one.
    /// - Parameter deliver: Called on the refresher's thread with each outcome, in order; failures are delivered too.
    package init(_ settings: LDAPSettings, domains: Set<String>, deliver: @escaping @Sendable (Outcome) -> Void) {
        let stopping = stopping
        let thread = Thread {
            repeat {
                deliver(Self.read(settings, domains))
            } while stopping.wait(timeout: .now() + .seconds(settings.refresh)) == .timedOut
        }
        thread.name = "ldap"
        thread.start()
    }

    /// Starts no further read; a read in progress is still delivered.
    package func stop() { stopping.signal() }

    private static func read(_ settings: LDAPSettings, _ domains: Set<String>) -> Outcome {
        let now = DateTime(nanosecondsSince1970: Int64(Date().timeIntervalSince1970) * 1_000_000_000)
        do throws(LDAPFailure) {
            return .success(try LDAPReader.read(settings, domains: domains, at: now))
        } catch {
            return .failure(error)
        }
    }
}
