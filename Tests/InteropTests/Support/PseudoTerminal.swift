import Dispatch
import Foundation

/// Terminal for a program that needs one: the test can type, and the output is discarded.
final class PseudoTerminal: Sendable {
    /// Device for the program. A session with this terminal gets SIGHUP when this value, or the test, ends.
    let device: String
    private let descriptor: Int32
    /// Created once and cancelled once; runs only on its own queue.
    private nonisolated(unsafe) let drain: any DispatchSourceRead

    init() throws {
        var (own, far): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        var size = winsize(ws_row: 25, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&own, &far, &name, nil, &size) == 0 else { throw PeerError(description: "no pseudo terminal: error \(errno)") }
        for end in [own, far] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(own, F_SETFL, O_NONBLOCK)
        device = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        descriptor = own
        drain = DispatchSource.makeReadSource(fileDescriptor: own, queue: DispatchQueue(label: "pseudo-terminal"))
        // The slave side stays open here too, so that the end of the program causes no end of file.
        drain.setCancelHandler { @Sendable [own, far] in
            close(own)
            close(far)
        }
        drain.setEventHandler { @Sendable [own] in
            var buffer = [UInt8](repeating: 0, count: 16_384)
            _ = read(own, &buffer, buffer.count)
        }
        drain.resume()
    }

    deinit { drain.cancel() }

    /// Types these characters.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
