import SIPCore
import Yams

/// `directory`: the users of the hosted domains.
extension ConfigurationReader {
    mutating func readDirectory(_ directory: ConfigurationNode) {
        guard let fields = directory.fields(["file", "ldap"]) else { return }
        switch (fields["file"], fields["ldap"]) {
        case (let file?, nil): configuration.directory = file.string().map { .file(path($0)) }
        case (nil, let ldap?): configuration.directory = readLDAP(ldap).map(DirectorySource.ldap)
        case (nil, nil) where directory.node.mapping?.isEmpty != true: break
        default: directory.refuse("needs `file` or `ldap`, and not both")
        }
        if configuration.directoryDomains.isEmpty { directory.refuse("is for hosted domains, and there is none") }
    }
}
