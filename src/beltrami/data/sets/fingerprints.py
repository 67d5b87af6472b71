"""What the files of the data folder hold, to the last byte: a path enters, or an error leaves.

A set whose rows are in another order has the right shape and other splits, so results on it would
be compared with those of the papers in vain.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from beltrami.core.errors import CorruptDataError

SHA256: Mapping[str, str] = MappingProxyType(
    {
        "brown.jsonl.xz": "482ec01722d88c54e510158e37240606ee1bfd05ef6104c06b2ca6a6703bf502",
        "coil20.npz": "faedea48d75cfa142cd8a24dd554506bba35a382767a777ff1634eccab55fcf4",
        "isolet.npz": "e0d2ba21d9fdd17e1e843be5bf6f6755635444b508d69cbc18ba1a8e7d08a352",
        "lds_g10n.npz": "932d7663570427a2c2e3f2635ca6641ffd5d767c39ee749f32d821b18f3251d8",
        "lds_g50c.npz": "40d8d7c1cd8cb307fcc53f55bbfacdc796e412072104acef67c40a26cbbb6781",
        "lds_text.npz": "eb446353bfbee82e03f81769bdc554f34bf97cc4e112fbdd8c3af53e3891eebd",
        "lds_uspst.npz": "36795e81ee89de6505cdcb6c05077b9738a486bd895b88c55485e4327907837c",
        "mnist.npz": "88762cfa573eb50a59e7aad79a13dcf0ee4115666c6a5b2db757668d8300925a",
        "newsgroups20.jsonl.xz": "35a3e8aec4fb9546b448c564d81315560bfe12106af6fcba86e9bd865cdcb6cb",
        "phoneme_esl.npz": "d109a72d6efae058943a8d8d5a2ed50cfa85d7374258651942a4f381b1614e63",
        "smart-stop-words.txt": "9869c9b6c582d7485871e136b05b64556a1741657c2401fb0698d56a6cf190fe",
        "sslbook_bci.npz": "9d614970a28c591bd32be80e673b705782bb3112e4a3edd591173e8a12413162",
        "sslbook_coil.npz": "d422ee59e523ece9e28dae90c99846497e4615558c40d6a342b5f3928e45dca2",
        "sslbook_coil2.npz": "ecd979a67cb9acb6c8027b7a9b020d07fd8e53642f260c64d6d96bda2738b2bd",
        "sslbook_digit1.npz": "f46872eb7abcfc6c1615cb9dbc057bd965d28ea6ba918ce38c2e420255fabb6c",
        "sslbook_g241c.npz": "685b731e14672058318fa55263739109d9c540030b0e6a001cc7ea23753ba64c",
        "sslbook_g241d.npz": "3dfd9ba6bb4ee3f55de4c8812c033e05e68038c271ad8c02fbedcbfbabbb2d13",
        "sslbook_secstr.npz": "1a55976a95a34f721d79c72e7dddbad0d9da58df3a85ed45a6cb14d2c54f7b22",
        "sslbook_text.npz": "78dd7cffd0c8600a88b67dccdbdf4070fe4287a3b70a4f9dee371de257fa6a06",
        "sslbook_usps.npz": "82c23a6f74441d13f3a8298e1b918c7109be13453cbc1eb0ca7d065c34ce423f",
        "timit_demo.npz": "6145eec501c18babbec09caad57382edb0bb906e876c4cef70d651e024f81612",
        "usps_esl.npz": "e206433c0bf88d510a7848451613dd611f4b602859848e422bc3e31e6fde2576",
    }
)
"""Of every file that a data set is read from."""


def require_published(path: Path) -> None:
    """Raise where a file of the data folder holds other bytes than the one the name stands for.

    Tens of megabytes take a tenth of a second.
    """
    if not path.is_file():
        raise CorruptDataError(path=str(path), reason="it is no regular file")
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CorruptDataError(path=str(path), reason=error.strerror or str(error)) from error
    if digest != SHA256[path.name]:
        raise CorruptDataError(
            path=str(path),
            reason=f"its SHA-256 begins {digest[:12]}, that of the published set "
            f"{SHA256[path.name][:12]}",
        )
