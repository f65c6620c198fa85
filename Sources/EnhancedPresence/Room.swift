// Room: EnhancedPresence
