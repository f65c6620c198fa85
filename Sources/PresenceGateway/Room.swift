// Room: PresenceGateway
