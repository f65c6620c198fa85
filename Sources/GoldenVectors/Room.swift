// Room: GoldenVectors
