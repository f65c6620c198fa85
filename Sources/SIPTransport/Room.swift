// Room: SIPTransport
