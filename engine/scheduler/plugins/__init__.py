"""The in-tree plugins, one file each; `registry` lists them."""
