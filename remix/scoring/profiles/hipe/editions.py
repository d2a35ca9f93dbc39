"""What the editions of HIPE-scorer count otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace

_TAGS_2020 = """
COMP.DEMONYM COMP.FUNCTION COMP.NAME COMP.QUALIFIER COMP.TITLE LOC LOC.ADD.ELEC LOC.ADD.PHYS LOC.ADM.NAT LOC.ADM.REG
LOC.ADM.SUP LOC.ADM.TOWN LOC.FAC LOC.ORO LOC.PHYS.ASTRO LOC.PHYS.GEO LOC.PHYS.HYDRO LOC.UNK ORG ORG.ADM ORG.ENT
ORG.ENT.PRESSAGENCY PERS PERS.COLL PERS.IND PERS.IND.ARTICLEAUTHOR PROD PROD.DOCTR PROD.MEDIA TIME TIME.DATE.ABS
"""
_TAGS_2022 = """
BUILDING COMP COMP.DEMONYM COMP.FUNCTION COMP.NAME COMP.QUALIFIER COMP.TITLE DATE HUMANPROD LOC LOC.ADD LOC.ADD.ELEC
LOC.ADD.PHYS LOC.ADM LOC.ADM.NAT LOC.ADM.REG LOC.ADM.SUP LOC.ADM.TOWN LOC.ADMIN.SUP LOC.FAC LOC.ORO LOC.PHYS
LOC.PHYS.ASTRO LOC.PHYS.GEO LOC.PHYS.HYDRO LOC.UNK OBJECT OBJECT.MANUSCR OBJECT.MUSEUM ORG ORG.ADM ORG.ENT
ORG.ENT.PRESSAGENCY PER PER.AUTHOR PERS PERS.AUTHOR PERS.COLL PERS.EDITOR PERS.IND PERS.IND.ARTICLEAUTHOR PERS.MYTH
PERS.OTHER PROD PROD.DOCTR PROD.MEDIA SCOPE STREET TIME TIME.DATE.ABS WORK WORK.PRIMLIT WORK.SECLIT
"""


@dataclass(frozen=True, kw_only=True)
class Edition:
    """The rules in which one edition of the scorer differs from another.

    - `tags`: the types that are wrong in an answer where the layer of gold has them nowhere; another type is none;
    - `links_alone`: whether mentions of a layer of links are cut by its cells alone: neighbours with one link are one
      mention, whatever their types are; else they are those of the layer of types, as far as these are linked alike;
    - `times_nil`: whether all that a run calls a time is NIL in both layers of links, whatever it is linked to;
    - `relaxes_gold`: whether what stands for another entity is mapped in gold as well as in a run;
    - `texts`: whether an answer has to have gold's text, and the tokens of a run without documents gold's;
    - `hashes`: whether a token with # anywhere is none, on each side by its own text, not only one that begins with it;
    """

    name: str
    tags: frozenset[str]
    links_alone: bool
    times_nil: bool
    relaxes_gold: bool
    texts: bool
    hashes: bool = False


HIPE_2020 = Edition(
    name="hipe-2020",
    tags=frozenset(_TAGS_2020.split()),
    links_alone=True,
    times_nil=True,
    relaxes_gold=True,
    texts=False,
)
HIPE_2022 = Edition(
    name="hipe",
    tags=frozenset(_TAGS_2022.split()),
    links_alone=False,
    times_nil=False,
    relaxes_gold=False,
    texts=True,
)
HIPE_2024 = replace(HIPE_2022, name="hipe-2024", hashes=True)
