"""Files of tensors, and the layers that names and sizes suggest, before a tensor is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

from normgeo.base.arguments import instance_of
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.checkpoints.modules import LEAST_AXES, ROLES, Module, modules, why_left_out
from normgeo.checkpoints.pairing import Norms
from normgeo.checkpoints.proposal import Proposal, proposals_of, with_sharing
from normgeo.checkpoints.written.families import FAMILIES, conventions_of
from normgeo.datasets.model_folders import configuration, resolved
from normgeo.datasets.tensor import Tensor
from normgeo.datasets.tensor_files import Files, list_tensors
from normgeo.normalizers.normalizer import Normalizer

__all__ = ["Checkpoint", "Proposal"]


@final
@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Files of tensors, and the layers that their names suggest.

    Attributes:
        tensors: known by their headers. roles: the role of each by its name, corrected or found.
        proposals: the layers, sorted by name.

    """

    tensors: tuple[Tensor, ...]
    roles: Mapping[str, str]
    proposals: tuple[Proposal, ...]

    @cached_property
    def of_role(self) -> Mapping[str, Tensor]:
        """The last tensor of each role."""
        return {self.roles[tensor.name]: tensor for tensor in self.tensors}

    @cached_property
    def left_out(self) -> Mapping[str, str]:
        """Why each unused tensor of two axes or more is not a layer, by its name."""
        return {
            tensor.name: why_left_out(tensor.name, tensor.shape)
            for tensor in self.tensors
            if self.roles[tensor.name] == "other" and sum(n > 1 for n in tensor.shape) > 1
        }

    def without(self, *roles: str) -> Checkpoint:
        """Return the checkpoint without the tensors of some roles."""
        kept = {name: "other" if role in roles else role for name, role in self.roles.items()}
        return replace(self, roles=kept)

    @classmethod
    def of(
        cls,
        files: Files,
        roles: Mapping[str, str] | None = None,
        *,
        norm: str | None = None,
        place: str | None = None,
        normalizer: str | Normalizer | None = None,
        groups: int | None = None,
        eps: float | None = None,
        one_plus: bool | None = None,
    ) -> Checkpoint:
        """Read the headers of files and propose layers.

        Args:
            files: one or more paths, of files or of folders of models; config.json tells the family
                of the network and its ε. roles: corrections, tensor → a word of ROLES.
            norm: the path of the norm, "" for none. place, normalizer, groups, eps: of the norm.
            one_plus: whether 1 is added to the gain of the file, as in Gemma. All of these correct
                every layer; None keeps what is found.

        Raises:
            ValueError: bad files, an unknown tensor or word, or no weights in them.
            OSError: a file that can't be read.

        """
        tensors = list_tensors(files)
        given = files if isinstance(files, list | tuple) else [files]
        said = configuration(resolved(given))
        if eps is None:
            family = FAMILIES.get(said.family)
            eps = said.eps if family is None or family.eps is None else family.eps
        corrected = _checked_roles({} if roles is None else roles, tensors)
        if not corrected and sum(len(t.shape) == 2 for t in tensors) == len(tensors) == 1:
            corrected = {tensors[0].name: "weight"}  # a file of one matrix
        found = modules(tensors, corrected)
        norms, of_norm = Norms.of(found, tensors, conventions_of(said.family)), _norm(norm, found)
        proposals = [
            proposal.corrected(of_norm, place, normalizer, groups, eps, one_plus)
            for module in found.values()
            if module.is_layer
            for proposal in proposals_of(module, norms)
        ]
        if not proposals:
            raise Refusal(
                "The files must hold weights, a tensor of two axes or more; none of their "
                "{count} tensors is known for one. Say which with `roles`: {example}.",
                count=len(tensors),
                example='{"name": "weight"}',
            )
        of_module = {t.name: r for m in found.values() for r, t in m.tensors.items()}
        named = {t.name: of_module.get(t.name, "other") for t in tensors}
        return cls(tensors, named, with_sharing(proposals))

    def norms_for(self, proposal: Proposal) -> tuple[str, ...]:
        """The paths of the norms whose sizes fit a layer, sorted."""
        return tuple(
            path
            for path, module in modules(self.tensors, self.roles).items()
            if module.is_norm and replace(proposal, norm=module).places
        )

    def choose(self, name: str | None) -> Proposal:
        """Return the layer that has this name, or whose weights have it; for None the only layer.

        Raises:
            ValueError: no such layer, or several.

        """
        if name is not None:
            instance_of("layer", name, str)
        names = [proposal.name for proposal in self.proposals]
        found = [p for p in self.proposals if name in {None, p.name, p.weight.name, p.module.path}]
        if len(found) != 1:
            shown = ", ".join(one[:80] for one in names[:8]) + (", …" if len(names) > 8 else "")
            raise Refusal(
                "Choose one of the {count} layers of the files by its name; got {name!r}, and "
                "they are {names!s}.",
                count=len(names),
                name=name and name[:80],
                names=shown,
            )
        return found[0]


def _norm(path: str | None, found: Mapping[str, Module]) -> Module | str | None:
    """The norm at a path: "" for no norm, None if no path is given."""
    if path is not None:
        instance_of("norm", path, str)
    norms = [name for name, module in found.items() if module.is_norm]
    if not path or path in norms:
        return found[path] if path else path
    raise Refusal(
        "`norm` must be the path of a norm in the files; got {path!r}, and they hold {norms!s}.",
        path=path[:80],
        norms=", ".join(norms[:8]) + (", …" if len(norms) > 8 else "") or text("none"),
    )


def _checked_roles(roles: Mapping[str, str], tensors: tuple[Tensor, ...]) -> dict[str, str]:
    axes = {tensor.name: len(tensor.shape) for tensor in tensors}
    for name, role in instance_of("roles", roles, Mapping).items():
        if name in axes and role in LEAST_AXES and axes[name] < LEAST_AXES[role]:
            raise Refusal(
                "A tensor of {axes} axes is no {role}; got this for {name!r}. Correct another "
                "tensor.",
                axes=axes[name],
                role=ROLES[role],
                name=name[:80],
            )
        if name not in axes or role not in ROLES:
            raise Refusal(
                "A correction gives a tensor of the files one of {roles}; got {name!r} and "
                "{role!r}.",
                roles=", ".join(ROLES),
                name=str(name)[:80],
                role=str(role)[:40],
            )
    return dict(roles)
