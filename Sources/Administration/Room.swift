// Room: Administration
