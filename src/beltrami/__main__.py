"""``python -m beltrami`` is the command ``beltrami``."""

from beltrami.cli.__main__ import start

if __name__ == "__main__":
    start()
