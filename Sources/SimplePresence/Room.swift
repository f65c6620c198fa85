// Room: SimplePresence
