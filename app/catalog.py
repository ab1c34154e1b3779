"""Every lab once; navigation, the home page, links and tests iterate this. No torch and no Streamlit here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lab:
    """One page: where it stands in the navigation, which question it answers, and what it can and cannot show."""

    slug: str  # name in links; the page lives at /<slug>, the first lab at /
    title: str
    group: str  # heading in the sidebar
    question: str
    section: str  # where the article treats it
    page: str  # path from app/
    shows: str
    shows_not: str
    summary: str  # one line on the home page


LABS: tuple[Lab, ...] = (
    Lab(
        slug="home",
        title="One sentence, many machines",
        group="Start",
        question="What does each trained system keep of your sentence, and what does it make of it?",
        section="article 0x0C.1",
        page="labs/home.py",
        shows="Every system translates the same sentence now, on this server; its state, reads, schedule and times "
        "are those of this run.",
        shows_not="One sentence ranks nothing: for quality look at the stored test figures. Times belong to this "
        "machine and to these small models.",
        summary="Give one sentence to every trained system and compare outputs, alignments and the four answers.",
    ),
    Lab(
        slug="fixed_context",
        title="Fixed context",
        group="Reading the source",
        question="What crosses from the encoder to the decoder, and what is lost when it is one vector?",
        section="article 0x02, 0x03",
        page="labs/fixed_context.py",
        shows="The tensors that the decoder receives in this run, and how one edited word travels through them.",
        shows_not="A small distance between two contexts does not say which facts are lost, only that the decoder "
        "has little to tell them apart by.",
        summary="Follow what crosses from encoder to decoder, compare two sentences, and transplant a context.",
    ),
    Lab(
        slug="alignment",
        title="Alignment",
        group="Reading the source",
        question="Which source rows does each output word read, and when in the step does it read them?",
        section="article 0x04",
        page="labs/alignment.py",
        shows="Each row is one decision; its weights mix the annotations of the source into the context that this "
        "step receives.",
        shows_not="A large weight is not a reason. Open “Move the weights” to see how little the output may change.",
        summary="Read scores, weights and contexts step by step; force a read; move the weights.",
    ),
    Lab(
        slug="state_space",
        title="State space",
        group="Keeping a state",
        question="How can one layer be a recurrence and a convolution at once, and what does selection cost?",
        section="article 0x0C.1 to 0x0C.6",
        page="labs/state_space.py",
        shows="A small linear layer that you can redraw, run by both schedules at once; what a trained selective layer "
        "decides about each of your words; and what each system keeps for its next token, weighed on this server.",
        shows_not="What survives in a state is not what is used, and a small state is not a fast one: times are those "
        "of this machine and of these small models.",
        summary="Draw an input through one layer both ways, watch Mamba decide what to keep, weigh the states.",
    ),
    Lab(
        slug="masks",
        title="Masks and families",
        group="Rules of reading",
        question="Who may read whom in each Transformer family, and what breaks when you paint it otherwise?",
        section="article 0x07 to 0x09",
        page="labs/masks.py",
        shows="The trained model runs with the relation you painted: its weights, its decisions, what can reach a row "
        "and what does.",
        shows_not="An open cell permits a read; it does not make one. No family was trained under what you paint, so a "
        "worse output does not say that the relation is worse.",
        summary="Paint the visibility matrix of a trained Transformer and watch weights, decisions and leaks.",
    ),
    Lab(
        slug="receptive_fields",
        title="Receptive fields",
        group="Rules of reading",
        question="Which rows can each output see, and how many layers does it take?",
        section="article 0x05, 0x07E to 0x07H, 0x0C.2",
        page="labs/receptive.py",
        shows="What a schedule of layers permits each output to read, as a graph, and what a real network on this "
        "server does with it.",
        shows_not="Reachable is not used, and used is not understood. Neither layers nor counted edges are time.",
        summary="Edit a dilation schedule, watch its field grow, and compare what is permitted with what is measured.",
    ),
)

BY_SLUG = {one.slug: one for one in LABS}


def lab(slug: str) -> Lab:
    """The lab named `slug`. KeyError where there is none."""
    return BY_SLUG[slug]


def groups() -> dict[str, list[Lab]]:
    """Labs by sidebar heading, in catalog order."""
    found: dict[str, list[Lab]] = {}
    for one in LABS:
        found.setdefault(one.group, []).append(one)
    return found
