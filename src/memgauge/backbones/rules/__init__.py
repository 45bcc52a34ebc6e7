"""How the extractive backbone reads: words, dates, lines, ranking, spans, facts and schemas, all by rule."""
