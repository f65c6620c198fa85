import Glibc
import LiveLoad
import Measurement

/// Partner B: sends at full speed; 40 % SUBSCRIBE for new dialogs, 40 % OPTIONS, 20 % NOTIFYs without a dialog.
///
/// Runs in its own process, so that its cost is not measured as delay of the gateway.
enum Flooder {
    /// - Parameters:
    ///   - report: File for `sent`, the seconds, and the responses by status.
    static func run(isOverTCP: Bool, to gateway: Int, seconds: Int, atLeast least: Int, report: String) {
        let socket = isOverTCP ? PlainSocket.connected(to: gateway, from: "127.0.0.3") : .udp(to: gateway, from: "127.0.0.3")
        _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
        let templates = ["SUBSCRIBE", "SUBSCRIBE", "OPTIONS", "OPTIONS", "NOTIFY"].map {
            Template($0, transport: isOverTCP ? "tcp" : "udp", contact: socket.name)
        }
        var (sent, statuses) = (0, [Int: Int]())
        var (output, written) = ([UInt8](), 0)
        var input = [UInt8](repeating: 0, count: 1 << 18)
        let start = clockNow()
        let end = start + UInt64(seconds) * 1_000_000_000
        while sent < least || clockNow() < end {
            if written == output.count {
                (output, written) = ([], 0)
                for _ in 0..<(isOverTCP ? 64 : 1) {
                    sent += 1
                    output += templates[sent % templates.count].message(sent)
                }
            }
            var state = pollfd(fd: socket.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0)
            guard poll(&state, 1, 1_000) > 0 else { continue }
            if Int32(state.revents) & POLLOUT != 0 {
                let count = output.withUnsafeBytes {
                    send(socket.descriptor, $0.baseAddress! + written, $0.count - written, Int32(MSG_NOSIGNAL))
                }
                if count > 0 { written += count }
                if count < 0, errno != EAGAIN { break }
            }
            if Int32(state.revents) & POLLIN != 0 {
                let count = recv(socket.descriptor, &input, input.count, 0)
                if count > 0 { note(input[..<count], &statuses) } else if count == 0 { break }
            }
        }
        let span = Double(clockNow() - start) / 1e9
        guard let file = fopen(report, "w") else { return }
        let answers = statuses.sorted { $0.key < $1.key }.map { "\($0.value) x \($0.key)" }.joined(separator: ", ")
        fputs("\(sent) messages, \(text(Double(sent) / span, 0)) a second, answered \(answers.isEmpty ? "not at all" : answers)", file)
        fclose(file)
    }

    /// Counts complete responses in the input.
    private static func note(_ bytes: ArraySlice<UInt8>, _ statuses: inout [Int: Int]) {
        let sign = Array("SIP/2.0 ".utf8)
        var place = bytes.startIndex
        while place + 11 <= bytes.endIndex {
            if bytes[place] == sign[0], bytes[place..<place + 8].elementsEqual(sign),
                let status = Int(String(decoding: bytes[place + 8..<place + 11], as: UTF8.self))
            {
                statuses[status, default: 0] += 1
                place += 40
            }
            place += 1
        }
    }

    /// Message in which only a number of nine digits changes.
    private struct Template {
        private let bytes: [UInt8]
        private var places: [Int] = []

        init(_ method: String, transport: String, contact: String) {
            let zero = "000000000"
            let target = "sip:user\(zero)@\(FloodBenchmark.hostedDomain)"
            let more =
                method == "NOTIFY" ? "Subscription-State: active;expires=600\r\n" : "Accept: application/pidf+xml\r\nExpires: 600\r\n"
            bytes = Array(
                ("\(method) \(target) SIP/2.0\r\nVia: SIP/2.0/\(transport.uppercased()) \(contact);branch=z9hG4bK\(zero)\r\nMax-Forwards: 70\r\n"
                    + "From: <sip:eve\(zero)@\(FloodBenchmark.floodingDomain)>;tag=f\(zero)\r\nTo: <\(target)>"
                    + (method == "NOTIFY" ? ";tag=none\(zero)" : "") + "\r\nCall-ID: flood\(zero)\(transport)\r\nCSeq: 1 \(method)\r\n"
                    + "Contact: <sip:\(contact);transport=\(transport)>\r\nEvent: presence\r\n\(more)Content-Length: 0\r\n\r\n").utf8)
            let digits = Array(zero.utf8)
            var place = 0
            while place + 9 <= bytes.count {
                if bytes[place..<place + 9].elementsEqual(digits) {
                    places.append(place)
                    place += 8
                }
                place += 1
            }
        }

        func message(_ number: Int) -> [UInt8] {
            var message = bytes
            for place in places {
                var rest = number
                for digit in stride(from: place + 8, through: place, by: -1) {
                    message[digit] = 48 + UInt8(rest % 10)
                    rest /= 10
                }
            }
            return message
        }
    }
}
