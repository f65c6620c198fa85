import Foundation

/// Reads files named on the command line; `-` is standard input.
package enum InputFile {
    /// Returns the content of a file.
    /// - Throws: `ServiceFailure` naming the file and the reason.
    package static func read(_ path: String) throws(ServiceFailure) -> [UInt8] {
        if path == "-" { return [UInt8](FileHandle.standardInput.readDataToEndOfFile()) }
        do {
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw ServiceFailure("\(path): \(reason(error))")
        }
    }

    package static func text(_ path: String) throws(ServiceFailure) -> String {
        let bytes = try read(path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ServiceFailure("\(path): not UTF-8 text")
        }
        return text
    }

    /// Describes a failed file operation in the system's words.
    package static func reason(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
        if underlying.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(underlying.code))) }
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile?: return "No such file or directory"
        case .fileReadNoPermission?: return "Permission denied"
        default: return error.localizedDescription
        }
    }
}
