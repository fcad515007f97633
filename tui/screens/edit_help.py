"""What F1 says on the Edit step: how it works as a whole, then each section, the one that is asked from first."""

from __future__ import annotations

from collections.abc import Mapping

HELP_TEXT = (
    "Left: what you decide. Right: what follows, live. F5 shows the exact bytes there, F6 goes there and back: enter on a "
    "finding shows its line among the bytes, on a changelog line it takes it out or in, e opens the place in $EDITOR.\n"
    "F3 and F4 walk the sections; f r o m jump to fields, rows, overrides, comments when not typing."
)

HELP_OF_SECTIONS: Mapping[str, str] = {
    "fields": "Fields know the values this checkout uses: alt+↓ alt+↑ walk them, → takes the one in grey. `was …` is what the "
    "checkout says; set a field back to it and the spec leaves it alone. ↓ ↑ and tab lead on, esc leaves the fields.",
    "space": "Rows: enter opens the row under the cursor, a adds one like it without points, c copies it points and "
    "all, d drops it, J K move it. Concurrencies are typed as 1 2 4 8, 16-48/8 (steps of 8) or 4..64 (doubling). A "
    "dram row takes a backend (`lmcache 0.5.6`) and a tier with its unit and scope: 256 GiB per rank, or 1024 GB per "
    "server. dram-utilization takes a number, or auto: the smallest that covers the tier.",
    "recipe": "Overrides: the first line is the recipe's base, what holds at every point: its box shows what base says "
    "now, and takes what is to differ (anything that is no argument or variable goes under `anything else`, as it "
    "stands in the file: frontend: { container_image: … }). Below it come rules over points, later ones win. enter "
    "opens one, a adds one for the same arm, d drops, J K move, p shows every point with its settings. In a rule, "
    "draft tokens, admission (1x, 2x or a number), graphs (auto) and tier are written under the engine's own names.",
    "notes": "Comments: enter rewrites the block under the cursor, d drops it (again: keeps it), r restores it, a adds "
    "one at a place you name.",
}
