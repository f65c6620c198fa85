// Room: FederationRouting
