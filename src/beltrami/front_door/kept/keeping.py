"""What a fitted learner that can be kept adds to others: `save`."""

from pathlib import Path

from beltrami.front_door.kept.labeller import KeptLabeller


class Keeping:
    """A learner whose answers to new points can be kept in a file."""

    def save(self, path: Path | str) -> Path:
        """Keep what answers new points in one file, written whole or not at all.

        `beltrami.load` brings it back: the same probabilities to the last bit on the same machine.
        The file holds arrays and JSON, nothing that is run, and the prepared points of the fit.

        Parameters
        ----------
        path : path
            Where to.

        Returns
        -------
        Path
            Where it is.
        """
        return KeptLabeller.of(self).save(path)
