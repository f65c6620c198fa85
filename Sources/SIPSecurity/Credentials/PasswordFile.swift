/// The form of password files.
public enum PasswordFile {
    /// Returns the password: the first line, without LF or CR LF.
    /// - Parameter octets: The content of the file.
    /// - Returns: nil if the first line is empty or is not UTF-8.
    public static func password(in octets: some Collection<UInt8>) -> String? {
        // By octet: as a Character, CR LF is not LF.
        var line = Array(octets.prefix { $0 != 0x0A })
        if line.last == 0x0D { line.removeLast() }
        return line.isEmpty ? nil : String(validating: line, as: UTF8.self)
    }
}
