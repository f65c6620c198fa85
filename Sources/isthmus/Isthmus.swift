import ArgumentParser

@main struct Isthmus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "isthmus",
        abstract: "SIP presence interoperability gateway between MS-PRES and PIDF/RPID.")
}
