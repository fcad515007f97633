"""Saving the spec: under a name of its own, in the user's state directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.errors import BenchscribeError

if TYPE_CHECKING:
    from .app import BenchscribeApp


def save_spec(app: BenchscribeApp) -> None:
    """Keep the spec, remember it as recent, say where it is."""
    changes = app.model.data.get("changes") or [{}]
    name = str(changes[0].get("config-key", "spec"))
    try:
        path = app.drafts.save_spec(name, app.model.text)
        app.drafts.remember(path, app.checkout.git_root)
    except BenchscribeError as error:
        app.notify(str(error), title="The spec could not be saved", severity="error", markup=False)
        return
    app.model.mark_saved()
    app.notify(f"{path}\nbenchscribe --from-spec takes it.", title="Spec saved", timeout=8, markup=False)
