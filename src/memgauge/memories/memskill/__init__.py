"""MemSkill: skills, recipes for writing memories, that are chosen for every span of text and evolve (paper 2, M8)."""
