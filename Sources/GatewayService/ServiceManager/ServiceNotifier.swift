import Glibc
import SIPCore

/// Sends states of the service to the datagram socket of a service manager (sd_notify(3)).
///
/// A manager that is gone or takes nothing delays the gateway by at most two seconds for each state, and never ends it.
package final class ServiceNotifier: Sendable {
    /// Time within which the manager expects each keep-alive; nil without a watchdog.
    package let watchdog: TimeSpan?
    private let descriptor: Int32
    private let address: sockaddr_un
    private let addressLength: socklen_t

    /// - Throws: `ServiceFailure` when the address cannot be used or no socket can be opened.
    package init(_ environment: ServiceManagerEnvironment) throws(ServiceFailure) {
        let name = Array(environment.socket.utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        let isAbstract = name.first == UInt8(ascii: "@")
        guard isAbstract || name.first == UInt8(ascii: "/"), name.count > 1, !name.contains(0) else {
            throw ServiceFailure("NOTIFY_SOCKET: \(environment.socket): neither an absolute path nor a name that begins with @")
        }
        // A path needs its final zero; an abstract name has its length.
        guard name.count < capacity || (isAbstract && name.count == capacity) else {
            throw ServiceFailure("NOTIFY_SOCKET: \(environment.socket): longer than \(capacity - 1) octets")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: name)
            if isAbstract { path[0] = 0 }
        }
        let length = MemoryLayout.size(ofValue: address) - capacity + name.count + (isAbstract ? 0 : 1)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ServiceFailure("NOTIFY_SOCKET: no socket: \(String(cString: strerror(errno)))") }
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
        self.address = address
        addressLength = socklen_t(length)
        watchdog = environment.watchdog
    }

    deinit { close(descriptor) }

    /// Sends a state, and waits for at most two seconds while the queue of the manager is full.
    /// - Throws: `ServiceFailure` when the manager did not take it.
    package func send(_ state: ServiceState) throws(ServiceFailure) {
        if let problem = deliver(state.text, flags: 0) { throw ServiceFailure("the service manager was not notified: \(problem)") }
    }

    /// Sends a keep-alive from an event loop: never waits, and leaves a keep-alive out that the manager does not take.
    func sendAlive() {
        _ = deliver(ServiceState.alive.text, flags: Int32(MSG_DONTWAIT))
    }

    /// Returns what went wrong.
    private func deliver(_ text: String, flags: Int32) -> String? {
        let octets = Array(text.utf8)
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                while true {
                    let sent = sendto(descriptor, octets, octets.count, flags | Int32(MSG_NOSIGNAL), address, addressLength)
                    if sent >= 0 || errno != EINTR { return sent }
                }
            }
        }
        return sent == octets.count ? nil : String(cString: strerror(errno))
    }

    /// CLOCK_MONOTONIC in microseconds, as `MONOTONIC_USEC` has it.
    static func monotonicMicroseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }
}
