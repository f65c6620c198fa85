import Glibc

/// Name of this machine, the default name of a node.
enum MachineName {
    /// Host name in lower case, with its domain if the machine knows it; `localhost` when it is not a valid host name.
    static var current: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return fallback }
        return hostName(String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    static func hostName(_ text: String) -> String {
        let name = text.lowercased()
        return ConfigurationReader.isDomainName(name) ? name : fallback
    }

    private static let fallback = "localhost"
}
