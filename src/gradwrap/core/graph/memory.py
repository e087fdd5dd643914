"""Messages for a full device or host: the operation, and ways to need less memory."""

from __future__ import annotations

from gradwrap.core.graph.backward import backward_pass

OUT_OF_MEMORY = "gradwrap ran out of memory"


def note_memory(error: MemoryError, when: str) -> None:
    """Add to an error of a device or a host without room what needs less memory."""
    if not any(note.startswith(OUT_OF_MEMORY) for note in getattr(error, "__notes__", ())):
        error.add_note(
            f"{OUT_OF_MEMORY} {when}: a backward pass needs what the forward pass has kept. Fix: "
            "gradwrap.checkpoint computes parts of the function again; chunk_size= of vmap and of "
            'Jacobians takes a limit such as "64 MiB"; gradwrap.optimize.accumulate_gradients '
            "takes data in batches; with gradwrap.save_on_cpu(), what is kept waits on the host."
        )


def latest_op(error: BaseException) -> str:
    """Return the name of the operation whose derivative raised an error."""
    entry = error.__traceback__
    name = "its start"
    while entry is not None:
        frame = entry.tb_frame
        if frame.f_globals.get("__name__") == backward_pass.__module__:
            node = frame.f_locals.get("node")
            name = name if node is None else node.op.name
        entry = entry.tb_next
    return name
