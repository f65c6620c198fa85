import Testing

@testable import PresenceGateway

@Suite struct SlabTests {
    @Test("An element is found by its key until it is removed")
    func insertion() {
        var slab = Slab<String>()
        let alice = slab.insert("alice")
        let bob = slab.insert("bob")
        #expect(slab[alice] == "alice" && slab[bob] == "bob" && slab.count == 2)
        #expect(slab.remove(alice) == "alice")
        #expect(slab[alice] == nil && slab[bob] == "bob" && slab.count == 1)
    }

    @Test("The key of a removed element finds nothing after its slot is used again, and removes nothing")
    func staleKey() {
        var slab = Slab<String>()
        let old = slab.insert("old")
        slab.remove(old)
        let new = slab.insert("new")
        #expect(new.slot == old.slot && new != old)
        #expect(slab[old] == nil)
        #expect(slab.remove(old) == nil)
        #expect(slab[new] == "new" && slab.count == 1)
    }

    @Test("Slots of removed elements are reused before the table grows")
    func reuse() {
        var slab = Slab<Int>()
        for round in 0..<50 {
            let keys = (0..<4).map { slab.insert(round * 4 + $0) }
            #expect(keys.compactMap { slab[$0] } == (0..<4).map { round * 4 + $0 })
            keys.forEach { slab.remove($0) }
        }
        #expect(slab.count == 0 && slab.capacity == 4)
    }

    @Test("A slot is not used again after its last generation, so that no early key finds a late element")
    func lastGeneration() {
        var slab = Slab<String>(firstGeneration: .max - 1)
        let first = slab.insert("first")
        slab.remove(first)
        let last = slab.insert("last")
        #expect(last.slot == first.slot && last.generation == .max)
        slab.remove(last)
        let next = slab.insert("next")
        #expect(next.slot != first.slot && next.generation == .max - 1)
        #expect(slab[first] == nil && slab[last] == nil && slab[next] == "next")
    }

    @Test("A key of another table beyond the slots finds nothing")
    func foreignKey() {
        #expect(Slab<Int>()[SlabKey(slot: 7, generation: 0)] == nil)
    }
}

@Suite struct TicketTests {
    @Test("A ticket takes at most 16 octets")
    func size() {
        #expect(MemoryLayout<Ticket>.size <= 16)
    }

    @Test("A ticket keeps all 64 bits of a number")
    func number() {
        for number in [0, 1, UInt64(UInt32.max), UInt64(UInt32.max) + 1, .max] {
            #expect(Ticket(.kernel, kind: 3, number: number).number == number)
        }
    }

    @Test("Tickets of different flows, kinds, slots and generations differ")
    func distinction() {
        let flow = FlowID(rawValue: 1)
        let tickets = [
            Ticket(flow, SlabKey(slot: 1, generation: 1)), Ticket(.kernel, SlabKey(slot: 1, generation: 1)),
            Ticket(flow, kind: 1, SlabKey(slot: 1, generation: 1)), Ticket(flow, SlabKey(slot: 2, generation: 1)),
            Ticket(flow, SlabKey(slot: 1, generation: 2)),
        ]
        #expect(Set(tickets).count == tickets.count)
    }
}
