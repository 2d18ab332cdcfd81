"""The commits at which the history of a shallow clone begins; they seem to have made every file."""

from __future__ import annotations

from pathlib import Path

from rag_assets.sources.git import GitError, open_git, run_git, stop


def cut_commits(git_dir: Path) -> frozenset[str]:
    """The ids of the commits whose parents a shallow clone lacks, so that their changes are unknown. Empty, after one
    short call of git, for a complete clone. Raises GitError.

    git also lists a root commit that it was asked to stop at. That one has no parents: it did make its files.
    """
    listed = Path(run_git("rev-parse", "--git-path", "shallow", git_dir=git_dir).decode().removesuffix("\n"))
    try:
        ids = listed.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return frozenset()
    return frozenset(commit for commit, header in _headers(git_dir, ids).items() if b"\nparent " in header)


def _headers(git_dir: Path, ids: list[str]) -> dict[str, bytes]:
    """Id → headers of a commit, for those that the clone has, read from the objects themselves."""
    process = open_git("cat-file", "--batch", git_dir=git_dir)
    try:
        answers, _ = process.communicate("".join(f"{commit}\n" for commit in ids).encode())
    finally:
        stop(process)
    if process.returncode != 0:
        raise GitError("cat-file", process.returncode, "the commits at which the clone was cut could not be read")
    found: dict[str, bytes] = {}
    at = 0
    for commit in ids:
        end = answers.index(b"\n", at)
        stated = answers[at:end].split()
        at = end + 1
        if len(stated) == 3:  # else `id missing`: the clone was fetched anew and pruned
            size = int(stated[2])
            found[commit] = answers[at : at + size].partition(b"\n\n")[0]
            at += size + 1
    return found
