"""The similarity of texts: vectors and cosines, a diverse choice, and a map.

The vectors are TF-IDF, or those of an embedding model. A hundred short texts need no library for it, and equal texts
have equal TF-IDF on every machine.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from html import escape

WORD = re.compile(r"[a-z]{3,}")
ROUNDS = 60
WIDTH, HEIGHT, MARGIN = 900, 640, 40
Vector = dict[str, float]
"""A unit vector. Missing entries are 0."""
Space = Sequence[Vector]


def vectors(texts: Sequence[str]) -> list[Vector]:
    """TF-IDF unit vectors. Words in nearly every text weigh little."""
    counts = [Counter(_stem(word) for word in WORD.findall(text.lower())) for text in texts]
    documents = Counter(word for count in counts for word in count)
    found: list[Vector] = []
    for count in counts:
        weights = {
            word: (1 + math.log(times)) * math.log((1 + len(texts)) / (1 + documents[word]) + 1)
            for word, times in count.items()
        }
        length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        found.append({word: weight / length for word, weight in weights.items()})
    return found


def dense(embeddings: Sequence[Sequence[float]]) -> list[Vector]:
    """Vectors of an embedding model, normalized to length one."""
    found: list[Vector] = []
    for embedding in embeddings:
        length = math.sqrt(sum(one * one for one in embedding)) or 1.0
        found.append({str(place): one / length for place, one in enumerate(embedding)})
    return found


def cosine(one: Vector, other: Vector) -> float:
    """0 for texts that have nothing in common, 1 for the same."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return sum(weight * large[word] for word, weight in small.items() if word in large)


def distinct(space: Space, *, most_alike: float) -> list[int]:
    """The indexes of texts without near-duplicates of earlier ones."""
    found: list[int] = []
    for place, vector in enumerate(space):
        if all(cosine(vector, space[other]) <= most_alike for other in found):
            found.append(place)
    return found


def diverse(space: Space, n: int) -> list[int]:
    """At most n indexes: the first text, then always the one farthest from those chosen."""
    if not space or n < 1:
        return []
    chosen = [0]
    nearest = [cosine(vector, space[0]) for vector in space]
    while len(chosen) < min(n, len(space)):
        place = min((one for one in range(len(space)) if one not in chosen), key=lambda one: (nearest[one], one))
        chosen.append(place)
        nearest = [max(near, cosine(vector, space[place])) for near, vector in zip(nearest, space, strict=True)]
    return chosen


def positions(space: Space) -> list[tuple[float, float]]:
    """Each text as a point: the first two principal components of the texts' vectors."""
    count = len(space)
    gram = [[cosine(one, other) for other in space] for one in space]
    means = [sum(row) / count for row in gram]
    mean = sum(means) / count if count else 0.0
    centred = [[gram[i][j] - means[i] - means[j] + mean for j in range(count)] for i in range(count)]
    first = _leading(centred)
    strength = _strength(centred, first)
    rest = [[centred[i][j] - strength * first[i] * first[j] for j in range(count)] for i in range(count)]
    second = _leading(rest)
    scales = [math.sqrt(max(strength, 0.0)), math.sqrt(max(_strength(rest, second), 0.0))]
    return [(x * scales[0], y * scales[1]) for x, y in zip(first, second, strict=True)]


def map_svg(titles: Sequence[str], space: Space, chosen: Sequence[int]) -> str:
    """A map of the topics as SVG: similar ones are near each other, and chosen ones are filled and named."""
    points = positions(space)
    spans = [
        (min(axis, default=0.0), max(axis, default=0.0)) for axis in ([x for x, _ in points], [y for _, y in points])
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="11">'
    ]
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    for place, (x, y) in enumerate(points):
        left, top = _scaled(x, spans[0], WIDTH), _scaled(y, spans[1], HEIGHT)
        fill = "#1f6feb" if place in chosen else "none"
        name = escape(titles[place])
        parts.append(
            f'<circle cx="{left:.1f}" cy="{top:.1f}" r="5" fill="{fill}" stroke="#1f6feb">'
            f"<title>{name}</title></circle>"
        )
        if place in chosen:
            parts.append(f'<text x="{left + 8:.1f}" y="{top + 4:.1f}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _scaled(value: float, span: tuple[float, float], size: int) -> float:
    low, high = span
    return MARGIN + (value - low) / ((high - low) or 1.0) * (size - 4 * MARGIN)


def _leading(matrix: Sequence[Sequence[float]]) -> list[float]:
    """The leading eigenvector of a symmetric matrix, by power iteration from a fixed start."""
    vector = [math.cos(place + 1.0) for place in range(len(matrix))]
    for _ in range(ROUNDS):
        fresh = [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]
        length = math.sqrt(sum(one * one for one in fresh))
        if length < 1e-12:
            break
        vector = [one / length for one in fresh]
    return vector


def _strength(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> float:
    """The eigenvalue of an eigenvector."""
    return sum(
        one * sum(a * b for a, b in zip(row, vector, strict=True)) for one, row in zip(vector, matrix, strict=True)
    )
