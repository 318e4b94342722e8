"""Presets: all choices of a measure at once, named after those whose numbers they reproduce."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """A name that stands for one measure.

    Attributes
    ----------
    stands_for : str
        A measure in the grammar of `hashbench.measures.grammar`; ``{K}`` is the preset's argument.
    reproduces : str
        Whose numbers it gives.
    """

    stands_for: str
    reproduces: str

    @property
    def takes_cutoff(self) -> bool:
        """True if the preset is written with a cutoff, as ``topk(50)``."""
        return "{K}" in self.stands_for


PRESETS = {
    "edsh": Preset("AP(norm=retrieved,ties=index)@100", "the EDSH paper's mAP@100"),
    "dcmh": Preset("AP(empty=zero,ties=index)", "full mAP of DCMH, DLFH, SSAH and DJSRH"),
    "seph": Preset("AP(ties=index)", "full mAP of SePH, DCH and BATCH"),
    "topk": Preset(
        "AP(norm=retrieved,ties=index)@{K}",
        "mAP@50 of LSSH and CCQ, mAP@100 of CVH and STMH, DLFH's top-k mAP",
    ),
    "hashnet": Preset(
        "AP(no_hits=skip,norm=retrieved,ties=index)@{K}", "mAP@K of HashNet and DeepHash"
    ),
    "topmap": Preset(
        "AP(empty=zero,norm=retrieved,ties=index)@{K}",
        "calculate_top_map of the DeepHash collections",
    ),
    "torchcmh": Preset(
        "AP(cut=hits,empty=zero,ties=index)@{K}", "calc_map_k, PyTorch code that descends from DCMH"
    ),
    "trec": Preset("AP(norm=all)@{K}", "trec_eval's map_cut and ranx, for rankings without ties"),
    "talr": Preset("AP", "the tie-aware AP of He et al. 2018"),
    "habir": Preset(
        "PRarea(empty=zero,mean=micro)", "the mAP of the HABIR toolbox and of ITQ's demo code"
    ),
}
