// Room: SIPEvents
