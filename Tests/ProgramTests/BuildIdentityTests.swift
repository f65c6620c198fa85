import Testing

@testable import isthmus

@Suite struct BuildIdentityTests {
    @Test("the version names commit and build id, and says what the build was not told") func text() {
        #expect(BuildIdentity(version: "1.2", commit: "12ab", buildID: "00ff").description == "1.2 (commit 12ab, build id 00ff)")
        #expect(
            BuildIdentity(version: "1.2", commit: "", buildID: nil).description == "1.2 (commit unknown: built without git, no build id)")
        #expect(Isthmus.version.hasPrefix("0.1.0 (commit "))
    }

    @Test("ELF notes are read with their padding, and what a damaged segment lacks is left out") func notes() {
        func octets(_ numbers: [UInt32]) -> [UInt8] { numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } } }
        let name = Array("GNU\0".utf8)
        let note = octets([4, 3, 3]) + name + [1, 2, 3, 0]
        let abi = octets([4, 4, 1]) + name + [9, 9, 9, 9]
        let expected = [ELFNote(name: name, type: 1, value: [9, 9, 9, 9]), ELFNote(name: name, type: 3, value: [1, 2, 3])]
        func read(_ octets: [UInt8]) -> [ELFNote] { octets.withUnsafeBytes { ELFNote.notes(in: $0) } }
        #expect(read(abi + note) == expected)
        for count in 0..<(abi + note).count - 1 {
            #expect(read(Array((abi + note).prefix(count))) == (count < abi.count ? [] : [expected[0]]))
        }
        #expect(read(octets([.max, .max, 3]) + name) == [])
    }
}

@Suite struct VectorsDirectoryTests {
    @Test("the vectors are looked for beside the program, in the package's directory, and in the current directory") func places() throws {
        let places = VectorsDirectory.places(program: "/opt/isthmus/bin/isthmus")
        #expect(places == ["/opt/isthmus/bin/Vectors", "/usr/share/isthmus/Vectors", "Vectors"])
        #expect(VectorsDirectory.places(program: nil) == ["/usr/share/isthmus/Vectors", "Vectors"])
        for place in places {
            #expect(try VectorsDirectory.find(named: nil, among: places) { $0 == place } == place)
        }
        #expect(try VectorsDirectory.find(named: nil, among: places) { _ in true } == places[0])
        #expect(try VectorsDirectory.find(named: "mine", among: places) { _ in true } == "mine")
    }

    @Test("an error names every place that was looked at; a named directory is the only one") func missing() {
        let error = #expect(throws: CommandFailure.self) {
            try VectorsDirectory.find(named: nil, among: ["/a/Vectors", "Vectors"]) { _ in false }
        }
        #expect(error?.lines == ["no golden vectors in /a/Vectors, Vectors; name their directory with --vectors"])
        let named = #expect(throws: CommandFailure.self) { try VectorsDirectory.find(named: "mine", among: ["Vectors"]) { $0 != "mine" } }
        #expect(named?.lines == ["mine: no such directory"])
    }
}
