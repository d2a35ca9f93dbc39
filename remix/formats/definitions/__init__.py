"""One format a file: found by scanning, read and written with what is in `remix.formats`."""
