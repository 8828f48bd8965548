"""Mining topics from task texts: which are stateful, in which system, and a diverse choice of these."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.records import Record
from synth.environments.mining.similarity import Vector, dense, distinct, diverse, map_svg, vectors
from synth.environments.mining.tasks import read_tasks, report_text
from synth.llm.endpoint import Embedder
from synth.llm.prompt import Prompt
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker, gather_all

PROMPT = Prompt.load(Path(__file__).with_name("mine.md"))
AT_ONCE = 15
JUDGED_FOR_EACH = 8
FEWEST_JUDGED = 60
LEAST_SCORE = 6
MOST_ALIKE, MOST_ALIKE_EMBEDDED = 0.6, 0.85
"""The similarity above which titles count as equal. Embeddings of different texts are closer than their words."""
MOST_COMPARED = 4000
"""The number of texts of a large file, evenly spread, from which those to be judged are chosen."""


class TaskJudgement(Record):
    """What the writer says of one text."""

    number: int
    stateful: bool
    reason: str
    title: str
    introduction: str
    usefulness: int
    modelability: int


class TaskJudgements(Record):
    """What the writer gives for some texts."""

    judgements: tuple[TaskJudgement, ...]


class TopicSelection(NamedTuple):
    """The topics without near-duplicates, the best first, their vectors, and the indexes of the chosen ones."""

    every: list[Topic]
    space: list[Vector]
    chosen: list[int]


async def mine(
    tasks: Path, n: int, folder: Path, asker: Callable[[str], Asker], embedder: Embedder | None = None
) -> Sequence[Topic]:
    """At most n diverse topics. Writes `mining.txt`, the counts of each step, and `themes.svg`, a map.

    Raises:
        RequestError: the file's format or language is not supported, or no text is stateful.
    """
    read = read_tasks(tasks)
    some = read.texts[:: -(-len(read.texts) // MOST_COMPARED)]
    texts = [some[place] for place in diverse(vectors(some), max(FEWEST_JUDGED, JUDGED_FOR_EACH * n))]
    parts = [texts[at : at + AT_ONCE] for at in range(0, len(texts), AT_ONCE)]
    answers = await gather_all(
        [_judged(part, asker(f"mine/{number:06}")) for number, part in enumerate(parts, start=1)]
    )
    found = [topic for answer, part in zip(answers, parts, strict=True) for topic in topics_of(answer, part)]
    if not found:
        raise RequestError(
            f"{tasks}: none of {len(texts)} texts that were judged asks for a stateful, modelable system"
        )
    every, space, chosen = await select(found, n, embedder)
    stateful = sum(one.stateful for answer in answers for one in answer.judgements)
    titles = [every[place].title for place in chosen]
    _write(folder / "mining.txt", report_text(read, len(texts), stateful, titles))
    _write(folder / "themes.svg", map_svg([one.title for one in every], space, chosen))
    return [every[place] for place in chosen]


async def select(topics: Sequence[Topic], n: int, embedder: Embedder | None = None) -> TopicSelection:
    """Choose n diverse topics, by their embeddings if there are any, else by their words."""
    ranked = sorted(topics, key=lambda one: (-(one.modelability or 0), -(one.usefulness or 0), one.title, one.task))
    once = list({one.title.casefold(): one for one in reversed(ranked)}.values())[::-1]
    words = [_words(one) for one in once]
    if embedder is None:
        kept = distinct(vectors(words), most_alike=MOST_ALIKE)
        space = vectors([words[place] for place in kept])
    else:
        every = dense(await embedder.vectors([f"{one.title}\n{one.introduction}" for one in once]))
        kept = distinct(every, most_alike=MOST_ALIKE_EMBEDDED)
        space = [every[place] for place in kept]
    return TopicSelection([once[place] for place in kept], space, diverse(space, n))


def topics_of(answer: TaskJudgements, texts: Sequence[str]) -> list[Topic]:
    """The topics of judged texts that are worth an environment."""
    return [
        Topic(
            title=one.title.strip(),
            introduction=one.introduction.strip(),
            task=texts[one.number - 1],
            usefulness=one.usefulness,
            modelability=one.modelability,
        )
        for one in answer.judgements
        if one.stateful and min(one.usefulness, one.modelability) >= LEAST_SCORE
    ]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)


def _words(topic: Topic) -> str:
    return f"{topic.title} {topic.title} {topic.introduction}"


async def _judged(texts: Sequence[str], asker: Asker) -> TaskJudgements:
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))

    async def accept(answer: TaskJudgements) -> list[str]:
        return judgement_findings(answer.judgements, len(texts))

    return await asker.ask(PROMPT.fill(texts=listed), TaskJudgements, accept)


def judgement_findings(judgements: Sequence[TaskJudgement], count: int) -> list[str]:
    """The faults of the judgements of `count` texts."""
    given = [one.number for one in judgements]
    wanted = range(1, count + 1)
    found = [
        f"judgements: number {one} occurs {given.count(one)} times, not once" for one in wanted if given.count(one) != 1
    ]
    found += [f"judgements: there is no text {one}" for one in sorted(set(given) - set(wanted))]
    for one in judgements:
        if not (1 <= one.usefulness <= 10 and 1 <= one.modelability <= 10):
            found.append(f"judgements.{one.number}: scores go from 1 to 10")
        if one.stateful and not (3 <= len(one.title.strip()) <= 60 and len(one.introduction.strip()) >= 60):
            found.append(
                f"judgements.{one.number}: is stateful, so give a title of 3 to 60 characters and three sentences"
            )
    return found
