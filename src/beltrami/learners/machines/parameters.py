"""Parameters that may be names or objects: kernels, smoothness, approximations."""

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from beltrami.core.errors import InvalidInputError


class ComposedParameters(BaseEstimator):
    """An estimator whose parameters are names or objects with parameters of their own."""

    _objects: ClassVar[dict[str, str]] = {"kernel": "RbfKernel()"}
    """For each such parameter, an object to give in place of a name."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of objects, as ``kernel__width`` and the like.

        Parameters
        ----------
        **params : object
            New values by name.

        Returns
        -------
        ComposedParameters
            Itself.
        """
        for name in params:
            outer, _, inner = name.partition("__")
            value = params.get(outer, getattr(self, outer, None))
            if inner and outer in self._objects and not hasattr(value, "set_params"):
                example = f"{type(self).__name__}({outer}={self._objects[outer]})"
                raise InvalidInputError(
                    f"{name} cannot be set: {outer}={value!r} is no object with parameters. Give "
                    f"one, as in {example}, and set {name} then."
                )
        super().set_params(**params)
        return self
