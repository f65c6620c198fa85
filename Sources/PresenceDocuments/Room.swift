// Room: PresenceDocuments
