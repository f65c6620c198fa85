// Room: PresenceMapping
